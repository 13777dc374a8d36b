"""The registry of content checks: for each check its name, its question, the meaning of a failure, and the
remedy.

A new check needs an entry here, its question in `columns.py`, and its severity: a field of `CheckOptions`
(domains/deliveries.py) with the name of the check, or a rule of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sdc_tasks.checks import columns, proportion
from sdc_tasks.checks.columns import Answers
from sdc_tasks.checks.proportion import Among
from sdc_tasks.domains.schema import Domain
from sdc_tasks.model.findings import CheckResult, Severity
from sdc_tasks.model.problem import NationalTable
from sdc_tasks.model.profiles import RESPONDENTS
from sdc_tasks.model.table import Bools

EachCell = Callable[[NationalTable, Domain], Answers]
SomeCell = Callable[[NationalTable, Domain], Bools]
SinceBefore = Callable[[NationalTable, Domain, NationalTable], Answers]
AmongOthers = Callable[[NationalTable, Domain, Among], Answers]


@dataclass(frozen=True)
class Check:
    """One check. Its question is to `each` cell, or to all cells of which `some` must pass, or to each cell
    `since` the previous delivery, or since the `last` period, or `among` the other countries of the period.

    `meaning` and `remedy` are for the operator: what failing cells are, and who must do what. `severity` is
    set by the domain, None where the check is switched off. One that may be `confirmed` only warns of
    countries whose unit somebody has looked at.
    """

    name: str
    meaning: str
    remedy: str
    each: EachCell | None = None
    some: SomeCell | None = None
    since: SinceBefore | None = None
    last: SinceBefore | None = None
    among: AmongOthers | None = None
    rule: Callable[[Domain], Severity | None] | None = None
    confirmed: bool = False

    def severity(self, domain: Domain, country: str = "") -> Severity | None:
        """That of the domain file, for a country of which somebody may have confirmed the unit."""
        if self.rule is not None:
            return self.rule(domain)
        found: Severity | None = getattr(domain.checks, self.name)
        return (
            Severity.WARNING
            if found and self.confirmed and country in domain.checks.proportion_confirmed
            else found
        )


def _shares_are_no_error(domain: Domain) -> Severity | None:
    """Missing shares are a warning: the domain file has a level for cells without shares."""
    return domain.checks.shares and Severity.WARNING


def _where_respondents_attack(domain: Domain) -> Severity | None:
    return Severity.ERROR if set(RESPONDENTS) & set(domain.audit.profiles) else None


_CONFIRM = (
    "Ask the NSI for the unit and the multiplier of what it sent. If they are right, have the country named "
    "in "
    "checks.proportion_confirmed of the domain file; then this is a warning."
)
_ALL = (
    Check(
        "additivity",
        "totals that are not the sum of their parts",
        "Correct the total or its parts. If complete_keys fails too, correct that first, and look for parts "
        "without a record.",
        each=columns.additivity,
    ),
    Check(
        "complete_keys",
        "totals that are absent or zero while their parts are not",
        "Send a record for every total.",
        each=columns.complete_keys,
    ),
    Check(
        "non_negative",
        "negative values of an indicator that cannot be negative",
        "Correct the sign, or have the indicator declared as signed in the domain file.",
        each=columns.non_negative,
    ),
    Check(
        "shares",
        "cells with impossible shares: outside 0 to 100, the second above the first, or in contradiction to "
        "the number of units: "
        "the largest of n units holds at least 100/n",
        "Correct shares and units. Shares are in percent of the cell's value, the largest unit first.",
        each=columns.shares,
    ),
    Check(
        "shares_for_rule",
        "primary cells without the shares that the rule of their flag needs",
        "Send the shares of the two largest units; without them the level is a percentage of the value, as "
        "the domain file sets it.",
        each=columns.shares_for_rule,
        rule=_shares_are_no_error,
    ),
    Check(
        "units_known",
        "suppressed cells without their number of units: the attacks of respondents (profiles internal, "
        "coalition) cannot be computed",
        "Send UNITS with every suppressed cell, secondary ones too. Or state in the domain file what a flag "
        "means without it "
        "(units_unknown: one). Or leave these profiles out.",
        each=columns.units_known,
        rule=_where_respondents_attack,
    ),
    Check(
        "unflagged",
        "public cells that the rule of a flag protects elsewhere in the table: of so few units, or with so "
        "large shares",
        "Ask the NSI whether flags were lost, or stand in other rows. Cells that it may publish with consent "
        "stay as they are.",
        each=columns.unflagged,
    ),
    Check(
        "units_fit",
        "totals with fewer units than one of their parts, or values without units",
        "Ask the NSI whether UNITS stands in other rows.",
        each=columns.units_fit,
    ),
    Check(
        "lone_suppressed",
        "suppressed cells that are the only suppressed one in a relation: anybody can compute them from the "
        "national table",
        "The NSI should add a secondary suppression. EU aggregates cannot protect these cells.",
        each=columns.lone_suppressed,
    ),
    Check(
        "all_free",
        "tables without a single primary cell",
        "Ask the NSI whether the flags were left out.",
        some=columns.primary,
    ),
    Check(
        "all_suppressed",
        "tables without a single published cell",
        "Ask the NSI whether the flags are right.",
        some=columns.published,
    ),
    Check(
        "vintage_change",
        "cells that changed since the previous delivery by more than the ratio of the domain file",
        "Ask the NSI for the reason. Check unit and decimals.",
        since=columns.vintage_change,
    ),
    Check(
        "period_proportion",
        "indicators of which the values are out of proportion to the last period, such as by another unit "
        "multiplier or currency",
        _CONFIRM,
        last=proportion.period_proportion,
        confirmed=True,
    ),
    Check(
        "period_change",
        "indicators of which the values moved a lot since the last period, as by another currency",
        "Ask the NSI for the reason. Check unit and currency.",
        last=proportion.period_change,
    ),
    Check(
        "code_change",
        "totals of codes that moved many times more than the rest of the table since the last period",
        "Ask the NSI for the reason. Check whether codes or rows were exchanged.",
        last=proportion.code_change,
    ),
    Check(
        "columns_lost",
        "indicators without units or shares, which the last period had",
        "Ask the NSI whether a column was left out or renamed.",
        last=proportion.columns_lost,
    ),
    Check(
        "repeated",
        "indicators with exactly the values of the last period",
        "Ask the NSI whether the file of that period was sent again under the new one.",
        last=proportion.repeated,
    ),
    Check(
        "proportion",
        "indicators of which the values are out of proportion to the other countries, such as by another "
        "unit multiplier",
        _CONFIRM,
        among=proportion.proportion,
        confirmed=True,
    ),
    Check(
        "size",
        "indicators of which the values are many times larger or smaller than those of the other countries; "
        "without units nobody can say "
        "whether the country is, or the unit is another one",
        "Look at the unit and the multiplier. Send UNITS, which settles it.",
        among=proportion.size,
    ),
    Check(
        "code_proportion",
        "totals of codes of which the value per unit is out of proportion to the rest of the table",
        "Ask the NSI whether this part of the table is in another unit.",
        among=proportion.code_proportion,
    ),
    Check(
        "copied",
        "indicators with exactly the values of another country",
        "Ask both NSIs whose table it is.",
        among=proportion.copied,
    ),
)
CHECKS: Mapping[str, Check] = {check.name: check for check in _ALL}


# Any expectation of a suite that the office adds.
OF_THE_OFFICE = Check(
    "suite",
    "an expectation of the office's own suite, by its number and type, is not met",
    "See the suite of the domain file, and ask the NSI to correct the cells, or change the suite.",
)


def describe(result: CheckResult) -> str:
    """The meaning of a result and the remedy, in words."""
    asked = CHECKS.get(result.check, OF_THE_OFFICE)
    if result.passed:
        return f"{result.check}: passed ({result.checked} checked)."
    cells = f" ({', '.join(result.cells)}" if result.cells else ""
    if result.cells:
        cells += (
            f" and {result.failed - len(result.cells)} more)" if result.failed > len(result.cells) else ")"
        )
    return (
        f"{result.check} ({result.severity}): {result.failed} of {result.checked} "
        f"checked: {asked.meaning}{cells}. {asked.remedy}"
    )
