"""`sdc protect`: microdata or a table in, primary cells by rules, a table with a safe pattern out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdc_tasks.cli.interrupt import Interruption
from sdc_tasks.cli.options import INPUT, RULES, AskedLayout, names_in, takes
from sdc_tasks.cli.searches.check import CheckOption, check
from sdc_tasks.cli.searches.pattern import PatternSearch, TableAtHand, publisher, search
from sdc_tasks.cli.shared import require_columns
from sdc_tasks.errors import InvalidInput

if TYPE_CHECKING:
    from sdc_tasks.intake.tables.microdata import ContributorColumns, ProtectedTable
    from sdc_tasks.methods.contributions import ContributionRules

LAYOUT = takes(
    "dims", "value", "total", "hierarchy", "tolerance", "count", "min_contributors", needed=("dims",)
)


@dataclass(frozen=True)
class AskedRules:
    """Which cells are confidential, and how far they are protected."""

    p: Annotated[
        float | None,
        typer.Option(
            "--p",
            help="p%: no contributor may estimate another one more closely than this, in percent",
            rich_help_panel=RULES,
        ),
    ] = None
    q: Annotated[
        float | None,
        typer.Option(
            "--q",
            help="with --p: how closely everybody can estimate a contributor beforehand, in "
            "percent; default: 100",
            rich_help_panel=RULES,
        ),
    ] = None
    nk: Annotated[
        list[str] | None,
        typer.Option(
            "--nk",
            help="N,K: the N largest contributors may not hold more than K percent; may be given again",
            rich_help_panel=RULES,
        ),
    ] = None
    minimum: Annotated[
        int | None,
        typer.Option(
            "--min-frequency", help="a cell with fewer contributors is primary", rich_help_panel=RULES
        ),
    ] = None
    frequency_range: Annotated[
        float | None,
        typer.Option(
            "--frequency-range",
            help="with --min-frequency: the level of such cells, in percent of the value; default: 10",
            rich_help_panel=RULES,
        ),
    ] = None
    requests: Annotated[
        str | None,
        typer.Option(
            "--request-percent",
            help="the shares above which contributors who asked with 1, 2 … are protected, in "
            "percent, such as 70,85",
            rich_help_panel=RULES,
        ),
    ] = None

    def rules(self) -> ContributionRules:
        """Raises InvalidInput for half of a rule, and for what is none."""
        from sdc_tasks.methods.contributions import ContributionRules

        if self.p is None and self.q is not None:
            raise InvalidInput("--q goes with --p. Remedy: give both, or neither")
        if self.minimum is None and self.frequency_range is not None:
            raise InvalidInput("--frequency-range goes with --min-frequency. Remedy: give both, or neither")
        return ContributionRules(
            self.p,
            100.0 if self.q is None else self.q,
            self._pairs(),
            self.minimum,
            10.0 if self.frequency_range is None else self.frequency_range,
            self._shares(),
        )

    def _pairs(self) -> tuple[tuple[int, float], ...]:
        try:
            return tuple((int(n), float(k)) for n, k in (each.split(",") for each in self.nk or []))
        except ValueError as error:
            raise InvalidInput("--nk: N,K is expected, such as 1,75. Remedy: give it so") from error

    def _shares(self) -> tuple[float, ...]:
        try:
            return tuple(float(each) for each in self.requests.split(",")) if self.requests else ()
        except ValueError as error:
            raise InvalidInput(
                "--request-percent: shares are expected, such as 70,85. Remedy: give them so"
            ) from error


@dataclass(frozen=True)
class AskedContributions:
    """The columns that tell of contributions: of microdata, or of a table those of the largest ones."""

    contributor: Annotated[
        str | None,
        typer.Option(
            help="microdata: the contributors; without it each record is another contributor",
            rich_help_panel=INPUT,
        ),
    ] = None
    holding: Annotated[
        str | None,
        typer.Option(
            help="microdata: the holdings; a holding counts as one contributor", rich_help_panel=INPUT
        ),
    ] = None
    waiver: Annotated[
        str | None,
        typer.Option(
            help="microdata: 1 where the contributor has waived protection, else 0", rich_help_panel=INPUT
        ),
    ] = None
    request: Annotated[
        str | None,
        typer.Option(
            help="microdata: 0, or 1, 2 … where the contributor asked to be protected by that "
            "share of --request-percent",
            rich_help_panel=INPUT,
        ),
    ] = None
    weight: Annotated[
        str | None, typer.Option(help="microdata: sampling weights, at least 1", rich_help_panel=INPUT)
    ] = None
    top: Annotated[
        str | None,
        typer.Option(
            help="a table: sizes of the largest contributions, as TOP1,TOP2; --count tells of how many",
            rich_help_panel=INPUT,
        ),
    ] = None

    @property
    def columns(self) -> ContributorColumns:
        from sdc_tasks.intake.tables.microdata import ContributorColumns

        return ContributorColumns(self.contributor, self.holding, self.waiver, self.request, self.weight)


def protect(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="microdata, or with --top a table: CSV or Parquet")],
    layout: Annotated[AskedLayout, LAYOUT],
    given: AskedContributions,
    rules: AskedRules,
    asked: PatternSearch,
    pattern: CheckOption = None,
) -> None:
    """Makes a table, finds its confidential cells by rules on contributions, and the cheapest
    secondary cells that protect them.

    Ctrl-C and the limit of time end with the best pattern found so far. With --check a pattern is judged, and
    none sought. Exit codes: 0 a safe pattern, 2 bad input, 3 none.

    Example: sdc protect firms.csv --dims REGION,BRANCH --p 10 --out protected.csv
    """
    interruption: Interruption = context.obj

    def read() -> TableAtHand:
        from sdc_tasks.intake.tables.given.earlier import read_earlier_csv
        from sdc_tasks.intake.tables.jj import write_private
        from sdc_tasks.methods.suppression.prior_patterns.earlier import hidden_in

        found = _protected(file, layout, given, rules, asked)
        more = {f"primary_by_{rule}": count for rule, count in found.by_rule.items()}
        table = found.table
        return TableAtHand(
            table.problem,
            table.keys,
            lambda to, hidden: write_private(to, table.text(hidden)),
            lambda _: more,
            lambda path: hidden_in(
                table.problem, read_earlier_csv(path, table.dimensions, table.value, table.keys)
            ),
            table.consistent,
            publisher(table),
        )

    if pattern is not None:
        check([file], read, pattern, asked)
    search([file], read, asked, interruption)


def _protected(
    file: Path, asked_layout: AskedLayout, given: AskedContributions, rules: AskedRules, asked: PatternSearch
) -> ProtectedTable:
    """The table of a file, with its primary cells by the rules."""
    from sdc_tasks.intake.tables.microdata import ContributorColumns, problem_by_rules, problem_of_cells
    from sdc_tasks.intake.tables.rows import read_rows

    require_columns(file)
    made = rules.rules()
    layout = replace(asked_layout.of(file), cost=asked.column)
    if given.top is not None:
        if given.columns != ContributorColumns():
            raise InvalidInput(
                "--top is for tables, and contributors are columns of microdata. Remedy: leave out one "
                "or the other"
            )
        top = names_in(given.top)
        return problem_of_cells(read_rows(file), layout, made, top, asked.costs, asked.margins)
    if layout.count is not None:
        raise InvalidInput(
            "--count is for tables, of which --top names contributions. Remedy: give both, or neither"
        )
    return problem_by_rules(read_rows(file), layout, made, given.columns, asked.costs, asked.margins)
