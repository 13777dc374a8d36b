"""The registry of content checks: for each check its name, its question, the meaning of a failure, and the remedy.

A new check needs an entry here, its question in `columns.py`, and its severity: a field of `CheckOptions` (domains/deliveries.py) with the
name of the check, or a rule of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sdc_tasks.checks import columns
from sdc_tasks.checks.columns import Answers
from sdc_tasks.domains.schema import Domain
from sdc_tasks.model.findings import CheckResult, Severity
from sdc_tasks.model.problem import NationalTable
from sdc_tasks.model.profiles import RESPONDENTS
from sdc_tasks.model.table import Bools

EachCell = Callable[[NationalTable, Domain], Answers]
SomeCell = Callable[[NationalTable, Domain], Bools]
SinceBefore = Callable[[NationalTable, Domain, NationalTable], Answers]


@dataclass(frozen=True)
class Check:
    """One check. Its question is to `each` cell, or to all cells of which `some` must pass, or to each cell `since` the previous delivery.

    `meaning` and `remedy` are for the operator: what failing cells are, and who must do what. `severity` is set by the domain, None where
    the check is switched off.
    """

    name: str
    meaning: str
    remedy: str
    each: EachCell | None = None
    some: SomeCell | None = None
    since: SinceBefore | None = None
    rule: Callable[[Domain], Severity | None] | None = None

    def severity(self, domain: Domain) -> Severity | None:
        if self.rule is not None:
            return self.rule(domain)
        found: Severity | None = getattr(domain.checks, self.name)
        return found


def _shares_are_no_error(domain: Domain) -> Severity | None:
    """Missing shares are a warning: the domain file has a level for cells without shares."""
    return domain.checks.shares and Severity.WARNING


def _where_respondents_attack(domain: Domain) -> Severity | None:
    return Severity.ERROR if set(RESPONDENTS) & set(domain.audit.profiles) else None


_ALL = (
    Check(
        "additivity",
        "totals that are not the sum of their parts",
        "Correct the total or its parts. If complete_keys fails too, correct that first, and look for parts without a record.",
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
        "cells with impossible shares: outside 0 to 100, the second above the first, or in contradiction to the number of units",
        "Correct shares and units. Shares are in percent of the cell's value, the largest unit first.",
        each=columns.shares,
    ),
    Check(
        "shares_for_rule",
        "primary cells without the shares that the rule of their flag needs",
        "Send the shares of the two largest units; without them the level is a percentage of the value, as the domain file sets it.",
        each=columns.shares_for_rule,
        rule=_shares_are_no_error,
    ),
    Check(
        "units_known",
        "suppressed cells without their number of units: the attacks of respondents (profiles internal, coalition) cannot be computed",
        "Send UNITS with every suppressed cell, secondary ones too. Or state in the domain file what a flag means without it "
        "(units_unknown: one). Or leave these profiles out.",
        each=columns.units_known,
        rule=_where_respondents_attack,
    ),
    Check(
        "lone_suppressed",
        "suppressed cells that are the only suppressed one in a relation: anybody can compute them from the national table",
        "The NSI should add a secondary suppression. EU aggregates cannot protect these cells.",
        each=columns.lone_suppressed,
    ),
    Check("all_free", "tables without a single primary cell", "Ask the NSI whether the flags were left out.", some=columns.primary),
    Check("all_suppressed", "tables without a single published cell", "Ask the NSI whether the flags are right.", some=columns.published),
    Check(
        "vintage_change",
        "cells that changed since the previous delivery by more than the ratio of the domain file",
        "Ask the NSI for the reason. Check unit and decimals.",
        since=columns.vintage_change,
    ),
)
CHECKS: Mapping[str, Check] = {check.name: check for check in _ALL}


def describe(result: CheckResult) -> str:
    """The meaning of a result and the remedy, in words."""
    asked = CHECKS[result.check]
    if result.passed:
        return f"{result.check}: passed ({result.checked} checked)."
    cells = f" ({', '.join(result.cells)}" if result.cells else ""
    if result.cells:
        cells += f" and {result.failed - len(result.cells)} more)" if result.failed > len(result.cells) else ")"
    return f"{result.check} ({result.severity}): {result.failed} of {result.checked} checked: {asked.meaning}{cells}. {asked.remedy}"
