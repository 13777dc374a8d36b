"""National tables, however they came, as the protection problem of a release."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sdc_tasks.errors import InvalidInput

if TYPE_CHECKING:
    from sdc_tasks import intake
    from sdc_tasks.domains import Domain
    from sdc_tasks.model.problem import NationalTable, ProtectionProblem
    from sdc_tasks.model.secret import Secret


@dataclass(frozen=True)
class Delivered:
    """The protection problem of deliveries, before the receiver sets secondaries. `own`: the countries that
    have set some; `tables`: the national tables.
    """

    problem: ProtectionProblem = field(repr=False)
    own: Mapping[str, bool]
    tables: Sequence[NationalTable] = field(repr=False)

    def secured(self, spec: Domain, before: Sequence[ProtectionProblem] = ()) -> ProtectionProblem:
        """The problem with the promises of earlier tables, and with the secondaries of the receiver."""
        from sdc_tasks import pipeline

        return pipeline.secured(self.problem, self.own, spec, before)


def delivered_by_sheets(sheets: Iterable[intake.Sheet], spec: Domain, salt: Secret) -> Delivered:
    """The sheets of all countries as one problem; every delivery must be accepted.

    Raises InvalidInput with file, line, cell, rule and remedy of what refuses one.
    """
    from sdc_tasks import intake, pipeline

    by_country: dict[str, list[intake.Sheet]] = {}
    for sheet in sheets:
        by_country.setdefault(sheet.country or sheet.file, []).append(sheet)
    tables, converted = [], set[str]()
    for country in sorted(by_country):
        delivery = intake.together(by_country[country], spec)
        tables.append(_accepted(delivery, spec))
        if delivery.converted:
            converted.add(country)
    _compare(tables, converted, spec)
    own = {table.country: pipeline.sets_secondaries(table, spec) for table in tables}
    return Delivered(pipeline.build_problem(tables, spec, salt), own, tables)


def _accepted(delivery: intake.Delivery, spec: Domain) -> NationalTable:
    """The table of a delivery. Raises InvalidInput if it is refused."""
    from sdc_tasks.checks import suite
    from sdc_tasks.checks.registry import describe

    if delivery.table is None:
        raise _refused(delivery.file, _why(delivery) or "`sdc release` shows why")
    if wrong := suite.refusals(suite.check(delivery.table, spec)):
        raise _refused(delivery.file, "; ".join(map(describe, wrong)) or "`sdc release` shows why")
    return delivery.table


def _compare(tables: Sequence[NationalTable], converted: Collection[str], spec: Domain) -> None:
    """Raises InvalidInput for a table that the others contradict. `converted`: countries with values in
    another unit than the domain's.
    """
    from sdc_tasks.checks import suite
    from sdc_tasks.checks.proportion import Among
    from sdc_tasks.checks.registry import describe

    for table in tables:
        peers = [other for other in tables if other is not table]
        if wrong := suite.refusals(suite.compare(table, spec, Among(peers, table.country in converted))):
            raise _refused(table.country, "; ".join(map(describe, wrong)))


def _refused(whose: str, why: str) -> InvalidInput:
    return InvalidInput(f"{whose}: this delivery is refused; {why}. All deliveries are needed here")


def _why(delivery: intake.Delivery) -> str:
    """The first finding that refuses the delivery: line, cell, rule and remedy."""
    from sdc_tasks.model.findings import Severity

    wrong = [each for each in delivery.findings if each.severity is Severity.ERROR]
    if not wrong:
        return ""
    first = wrong[0]
    place = "".join(
        f"{word} {told}: " for word, told in (("line", first.line), ("cell", first.cell)) if told is not None
    )
    more = f" ({len(wrong) - 1} more findings)" if len(wrong) > 1 else ""
    return f"{place}{first.message}{more}"
