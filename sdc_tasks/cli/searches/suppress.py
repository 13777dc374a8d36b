"""`sdc suppress`: a table with primaries in, the same with secondaries out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdc_tasks.cli.interrupt import Interruption
from sdc_tasks.cli.searches.check import CheckOption, check
from sdc_tasks.cli.searches.given import (
    APRIORI_HELP,
    DISCOUNT_HELP,
    KEEP_HELP,
    PREVIOUS_HELP,
    GivenFiles,
    given_problem,
)
from sdc_tasks.cli.searches.pattern import PatternSearch, TableAtHand, search
from sdc_tasks.cli.searches.together import LINK_HELP, published_as, together
from sdc_tasks.cli.searches.told import FACTS_HELP, PLOT_HELP
from sdc_tasks.cli.shared import codes_of_totals, dimensions_of, is_jj, parents_by_dimension
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.suppression.names import COSTS, METHODS, CellCosts, PatternMethod
from sdc_tasks.model.tolerances import GAP

if TYPE_CHECKING:
    from sdc_tasks.intake.tables.crossed import Wanted
    from sdc_tasks.methods.suppression.given.earlier import EarlierPattern
    from sdc_tasks.model.table import Bools, Floats

METHOD_HELP = "; ".join(f"{name}: {what}" for name, what in METHODS.items())
COST_HELP = "what a secondary costs. " + "; ".join(f"{name}: {what}" for name, what in COSTS.items())
DIMENSIONS, COLUMNS = "tables of dimensions, CSV or Parquet", "columns of CSV or Parquet"

MethodOption = Annotated[PatternMethod, typer.Option(help=METHOD_HELP)]
CostsOption = Annotated[CellCosts, typer.Option(help=COST_HELP)]
LimitOption = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        min=0.0,
        help="seconds of the search; without it the search ends by counted work, the same on every machine",
    ),
]
GapOption = Annotated[
    float, typer.Option(min=0.0, help="stop when (cost − bound) / cost is proven to be no more than this")
]
OrderOption = Annotated[int, typer.Option("--seed", min=0, help="another seed searches in another order")]
FactsOption = Annotated[Path | None, typer.Option("--json", help=FACTS_HELP)]
PlotOption = Annotated[Path | None, typer.Option("--plot", help=PLOT_HELP.format(what="pattern and bound"))]
TotalsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--totals",
        help="the code of totals, as CODE or DIMENSION=CODE, none for none; else TOTAL, _T or Total; repeat",
        rich_help_panel=DIMENSIONS,
    ),
]
HierarchyOption = Annotated[
    list[str] | None,
    typer.Option(
        help="DIMENSION=FILE: a CSV file code,parent, or a τ-ARGUS .hrc; may be given again",
        rich_help_panel=DIMENSIONS,
    ),
]
CrowdOption = Annotated[
    int,
    typer.Option(
        "--min-contributors",
        min=0,
        help="the least number of contributors behind what is hidden in a relation",
        rich_help_panel=DIMENSIONS,
    ),
]
MarginsOption = Annotated[
    float,
    typer.Option(
        min=0.001,
        help="the factor on the cost of a cell, for each dimension in which it is a total",
        rich_help_panel=DIMENSIONS,
    ),
]


def suppress(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="a τ-ARGUS JJ file, FILE.jj or FILE.jj.gz, with status u for primaries; or, with "
            "--dims, CSV or Parquet; several are "
            "protected at once",
        ),
    ],
    method: MethodOption = "auto",
    costs: CostsOption = "value",
    counts: Annotated[
        Path | None, typer.Option("--counts", help="JJ, with costs by frequency: a CSV file cell,count")
    ] = None,
    link: Annotated[Path | None, typer.Option("--link", help=LINK_HELP)] = None,
    apriori: Annotated[Path | None, typer.Option("--apriori", help=APRIORI_HELP)] = None,
    previous: Annotated[Path | None, typer.Option("--previous", help=PREVIOUS_HELP)] = None,
    keep: Annotated[Path | None, typer.Option("--keep", help=KEEP_HELP)] = None,
    keep_discount: Annotated[
        float | None, typer.Option("--keep-discount", help=f"{DISCOUNT_HELP} [default: 10]")
    ] = None,
    time_limit: LimitOption = None,
    gap: GapOption = GAP,
    seed: OrderOption = 1,
    place: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="table with its pattern, .jj or .jj.gz, else CSV: u, m secondary, s, z; of several a folder",
        ),
    ] = None,
    facts: FactsOption = None,
    plot: PlotOption = None,
    pattern: CheckOption = None,
    dims: Annotated[
        str | None, typer.Option(help="the dimensions, such as REGION,ACTIVITY", rich_help_panel=DIMENSIONS)
    ] = None,
    totals: TotalsOption = None,
    hierarchy: HierarchyOption = None,
    empty: Annotated[
        bool,
        typer.Option(
            "--empty",
            help="inner cells without a record are empty, and everybody may know this",
            rich_help_panel=DIMENSIONS,
        ),
    ] = False,
    margins: MarginsOption = 1.0,
    min_contributors: CrowdOption = 0,
    value: Annotated[str, typer.Option(help="the values", rich_help_panel=COLUMNS)] = "VALUE",
    status: Annotated[
        str | None,
        typer.Option(
            help="the statuses: u primary, z stays open, s or m free [STATUS]", rich_help_panel=COLUMNS
        ),
    ] = None,
    primary: Annotated[
        str | None,
        typer.Option(help="instead of statuses: 1 for a primary cell, else 0", rich_help_panel=COLUMNS),
    ] = None,
    level: Annotated[
        str | None, typer.Option(help="the protection level, the same on both sides", rich_help_panel=COLUMNS)
    ] = None,
    lpl: Annotated[str | None, typer.Option(help="the level below [LPL]", rich_help_panel=COLUMNS)] = None,
    upl: Annotated[str | None, typer.Option(help="the level above [UPL]", rich_help_panel=COLUMNS)] = None,
    singletons: Annotated[
        str | None,
        typer.Option(
            help="1 for a cell with one respondent, who knows it, else 0 [SINGLETON]", rich_help_panel=COLUMNS
        ),
    ] = None,
    respondent: Annotated[
        str | None,
        typer.Option(
            help="the only respondent of a cell, or his holding; empty where there are several [RESPONDENT]",
            rich_help_panel=COLUMNS,
        ),
    ] = None,
    cost: Annotated[
        str | None, typer.Option(help="with costs of the file: the costs [COST]", rich_help_panel=COLUMNS)
    ] = None,
    frequency: Annotated[
        str | None, typer.Option(help="with costs by frequency: the counts [COUNT]", rich_help_panel=COLUMNS)
    ] = None,
) -> None:
    """Finds the cheapest secondary cells that keep every primary cell of a table at its protection levels.

    Ctrl-C and the time limit end with the best pattern found so far. With --check a pattern is judged, and
    none sought. Exit codes: 0 a safe pattern, 2 bad input, 3 none.
    """
    interruption: Interruption = context.obj
    alone = GivenFiles(apriori, previous, keep, keep_discount)

    def given_with(file: Path) -> GivenFiles:
        if len(files) == 1:
            return alone
        return GivenFiles(None, None if previous is None else published_as(file, previous), None, None)

    def read_one(file: Path) -> TableAtHand:
        from sdc_tasks.intake.tables.crossed import Wanted
        from sdc_tasks.intake.tables.keyed import Columns

        if not is_jj(file):
            if counts is not None:
                raise InvalidInput(
                    "--counts: for JJ files alone. Remedy: name the column of counts, as --frequency COUNT"
                )
            columns = Columns(
                status=status,
                primary=primary,
                level=level,
                lpl=lpl,
                upl=upl,
                singleton=singletons,
                respondent=respondent,
                cost=cost,
                count=frequency,
            )
            wanted = Wanted(
                dimensions_of(file, dims),
                value,
                codes_of_totals(totals),
                parents_by_dimension(hierarchy),
                columns,
                "zero" if empty else "refuse",
                min_contributors,
            )
            return _crossed(file, wanted, costs, margins, given_with(file), some=len(files) > 1)
        of_others = (
            dims,
            totals,
            hierarchy,
            status,
            primary,
            level,
            lpl,
            upl,
            singletons,
            respondent,
            cost,
            frequency,
        )
        if (
            empty
            or min_contributors
            or margins != 1
            or value != "VALUE"
            or any(each is not None for each in of_others)
        ):
            raise InvalidInput(
                f"{file}: a JJ file brings its own relations and columns. Remedy: leave out options of "
                f"dimensions and columns"
            )
        return _jj(file, costs, counts, given_with(file))

    def read() -> TableAtHand:
        if len(files) == 1:
            if link is not None:
                raise InvalidInput(
                    "--link goes with several tables. Remedy: name all of them, or leave it out"
                )
            return read_one(files[0])
        if any(each is not None for each in (counts, apriori, keep)):
            raise InvalidInput(
                "--counts, --apriori and --keep go with one table alone. Remedy: write statuses, levels and "
                "costs into the tables"
            )
        return together(files, link, place, read_one)

    asked = PatternSearch(method, costs, time_limit, gap, seed, place, facts, plot)
    if pattern is not None:
        check(files, read, pattern, asked)
    search(files, read, asked, interruption)


def _crossed(
    file: Path, wanted: Wanted, costs: CellCosts, margins: float, given_files: GivenFiles, some: bool
) -> TableAtHand:
    """`some`: of the dimensions those that the table has, as others have others."""
    from sdc_tasks.intake.tables.crossed import suppression_in
    from sdc_tasks.intake.tables.given.earlier import read_earlier_csv
    from sdc_tasks.intake.tables.jj import write_private
    from sdc_tasks.intake.tables.rows import read_rows
    from sdc_tasks.methods.suppression.given.earlier import hidden_in
    from sdc_tasks.methods.suppression.given.instructions import kept_open

    rows = read_rows(file)
    table = suppression_in(rows, wanted.among(rows.header) if some else wanted, costs, margins)

    def read_pattern(path: Path) -> EarlierPattern:
        return read_earlier_csv(path, table.dimensions, table.value, table.keys)

    given = given_problem(given_files, table.problem, table.keys, read_pattern)
    stays = table.stays | kept_open(given.instructions, len(table.keys))
    after = replace(table, problem=given.problem, stays=stays)
    return TableAtHand(
        given.problem,
        table.keys,
        lambda place, hidden: write_private(place, after.text(hidden)),
        given.facts,
        lambda path: hidden_in(given.problem, read_pattern(path)),
    )


def _jj(file: Path, costs: CellCosts, counts: Path | None, given_files: GivenFiles) -> TableAtHand:
    from sdc_tasks.intake.tables.given.earlier import read_earlier_jj
    from sdc_tasks.intake.tables.jj import read_jj, write_jj
    from sdc_tasks.intake.tables.suppression import suppressed, suppression_of
    from sdc_tasks.methods.suppression.given.earlier import hidden_in
    from sdc_tasks.methods.suppression.given.instructions import kept_open

    table = read_jj(file)
    n = len(table.a)
    problem = suppression_of(table, costs, _frequencies(counts, costs, n))
    keys = [(str(i),) for i in range(n)]
    given = given_problem(given_files, problem, keys, lambda path: read_earlier_jj(path, table.A))
    stays = kept_open(given.instructions, n)

    def write(place: Path, hidden: Bools) -> None:
        write_jj(place, suppressed(table, given.problem, hidden, stays))

    return TableAtHand(
        given.problem,
        keys,
        write,
        given.facts,
        lambda path: hidden_in(given.problem, read_earlier_jj(path, table.A)),
    )


def _frequencies(counts: Path | None, costs: CellCosts, n: int) -> Floats | None:
    from sdc_tasks.intake.tables.suppression import read_frequencies

    if (counts is None) == (costs == "frequency"):
        raise InvalidInput(
            "costs by frequency need --counts FILE, and no others do. Remedy: give both, or neither"
        )
    return None if counts is None else read_frequencies(counts, n)
