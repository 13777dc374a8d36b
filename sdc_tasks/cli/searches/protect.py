"""`sdc protect`: microdata or a table in, primary cells by rules, a table with a safe pattern out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdc_tasks.cli.interrupt import Interruption
from sdc_tasks.cli.searches.check import CheckOption, check
from sdc_tasks.cli.searches.pattern import PatternSearch, TableAtHand, search
from sdc_tasks.cli.searches.suppress import (
    COLUMNS,
    CostsOption,
    CrowdOption,
    FactsOption,
    GapOption,
    HierarchyOption,
    LimitOption,
    MarginsOption,
    MethodOption,
    OrderOption,
    PlotOption,
    TotalsOption,
)  # fmt: skip
from sdc_tasks.cli.shared import codes_of_totals, dimensions_of, parents_by_dimension, require_columns
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.tolerances import GAP

if TYPE_CHECKING:
    from sdc_tasks.methods.contributions import ContributionRules

RULES = "rules: which cells are confidential, and how far they are protected"


def protect(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="microdata, or with --top a table: CSV or Parquet")],
    dims: Annotated[str, typer.Option(help="the dimensions, such as REGION,ACTIVITY")],
    p: Annotated[
        float | None,
        typer.Option(
            "--p",
            help="p%: no contributor may estimate another one more closely than this, in percent",
            rich_help_panel=RULES,
        ),
    ] = None,
    q: Annotated[
        float | None,
        typer.Option(
            "--q",
            help="with --p: how closely everybody can estimate a contributor beforehand, in "
            "percent [default: 100]",
            rich_help_panel=RULES,
        ),
    ] = None,
    nk: Annotated[
        list[str] | None,
        typer.Option(
            "--nk",
            help="N,K: the N largest contributors may not hold more than K percent; may be given again",
            rich_help_panel=RULES,
        ),
    ] = None,
    minimum: Annotated[
        int | None,
        typer.Option(
            "--min-frequency", help="a cell with fewer contributors is primary", rich_help_panel=RULES
        ),
    ] = None,
    frequency_range: Annotated[
        float | None,
        typer.Option(
            "--frequency-range",
            help="with --min-frequency: the level of such cells, in percent of the value [default: 10]",
            rich_help_panel=RULES,
        ),
    ] = None,
    requests: Annotated[
        str | None,
        typer.Option(
            "--request-percent",
            help="the shares above which contributors who asked with 1, 2 … are protected, in "
            "percent, such as 70,85",
            rich_help_panel=RULES,
        ),
    ] = None,
    value: Annotated[str, typer.Option(help="the values", rich_help_panel=COLUMNS)] = "VALUE",
    contributor: Annotated[
        str | None,
        typer.Option(
            help="microdata: the contributors; without it each record is another contributor",
            rich_help_panel=COLUMNS,
        ),
    ] = None,
    holding: Annotated[
        str | None,
        typer.Option(
            help="microdata: the holdings; a holding counts as one contributor", rich_help_panel=COLUMNS
        ),
    ] = None,
    waiver: Annotated[
        str | None,
        typer.Option(
            help="microdata: 1 where the contributor has waived protection, else 0", rich_help_panel=COLUMNS
        ),
    ] = None,
    request: Annotated[
        str | None,
        typer.Option(
            help="microdata: 0, or 1, 2 … where the contributor asked to be protected by that "
            "share of --request-percent",
            rich_help_panel=COLUMNS,
        ),
    ] = None,
    weight: Annotated[
        str | None, typer.Option(help="microdata: sampling weights, at least 1", rich_help_panel=COLUMNS)
    ] = None,
    top: Annotated[
        str | None,
        typer.Option(
            "--top", help="a table: sizes of the largest contributions, as TOP1,TOP2", rich_help_panel=COLUMNS
        ),
    ] = None,
    frequency: Annotated[
        str | None,
        typer.Option(help="with --top: the count of contributors [default: COUNT]", rich_help_panel=COLUMNS),
    ] = None,
    totals: TotalsOption = None,
    hierarchy: HierarchyOption = None,
    margins: MarginsOption = 1.0,
    min_contributors: CrowdOption = 0,
    method: MethodOption = "auto",
    costs: CostsOption = "value",
    time_limit: LimitOption = None,
    gap: GapOption = GAP,
    seed: OrderOption = 1,
    place: Annotated[
        Path | None, typer.Option("--out", help="the table, CSV: codes, value, STATUS u m s z; true values")
    ] = None,
    facts: FactsOption = None,
    plot: PlotOption = None,
    pattern: CheckOption = None,
) -> None:
    """Makes a table, finds its confidential cells by rules on contributions, and the cheapest
    secondary cells that protect them.

    Ctrl-C and the time limit end with the best pattern found so far. With --check a pattern is judged, and
    none sought. Exit codes: 0 a safe pattern, 2 bad input, 3 none.
    """
    interruption: Interruption = context.obj

    def read() -> TableAtHand:
        from sdc_tasks.intake.tables.crossed import Wanted
        from sdc_tasks.intake.tables.given.earlier import read_earlier_csv
        from sdc_tasks.intake.tables.jj import write_private
        from sdc_tasks.intake.tables.microdata import ContributorColumns, problem_by_rules, problem_of_cells
        from sdc_tasks.intake.tables.rows import read_rows
        from sdc_tasks.methods.suppression.given.earlier import hidden_in

        require_columns(file)
        rules = _rules(p, q, nk or [], minimum, frequency_range, requests)
        wanted = Wanted(
            dimensions_of(file, dims),
            value,
            codes_of_totals(totals),
            parents_by_dimension(hierarchy),
            minimum=min_contributors,
        )
        columns = ContributorColumns(contributor, holding, waiver, request, weight)
        if top is None:
            if frequency is not None:
                raise InvalidInput(
                    "--frequency is for tables, of which --top names contributions. Remedy: give both, or "
                    "neither"
                )
            found = problem_by_rules(read_rows(file), wanted, rules, columns, costs, margins)
        else:
            if columns != ContributorColumns():
                raise InvalidInput(
                    "--top is for tables, and contributors are columns of microdata. Remedy: leave out one "
                    "or the other"
                )
            found = problem_of_cells(
                read_rows(file),
                wanted,
                rules,
                frequency or "COUNT",
                [name.strip() for name in top.split(",")],
                costs,
                margins,
            )
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
        )

    asked = PatternSearch(method, costs, time_limit, gap, seed, place, facts, plot)
    if pattern is not None:
        check([file], read, pattern, asked)
    search([file], read, asked, interruption)


def _rules(
    p: float | None,
    q: float | None,
    nk: list[str],
    minimum: int | None,
    frequency_range: float | None,
    requests: str | None,
) -> ContributionRules:
    from sdc_tasks.methods.contributions import ContributionRules

    if p is None and q is not None:
        raise InvalidInput("--q goes with --p. Remedy: give both, or neither")
    if minimum is None and frequency_range is not None:
        raise InvalidInput("--frequency-range goes with --min-frequency. Remedy: give both, or neither")
    try:
        pairs = tuple((int(n), float(k)) for n, k in (each.split(",") for each in nk))
    except ValueError as error:
        raise InvalidInput("--nk: N,K is expected, such as 1,75. Remedy: give it so") from error
    try:
        shares = tuple(float(each) for each in requests.split(",")) if requests else ()
    except ValueError as error:
        raise InvalidInput(
            "--request-percent: shares are expected, such as 70,85. Remedy: give them so"
        ) from error
    return ContributionRules(
        p,
        100.0 if q is None else q,
        pairs,
        minimum,
        10.0 if frequency_range is None else frequency_range,
        shares,
    )
