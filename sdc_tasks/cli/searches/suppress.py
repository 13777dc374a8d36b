"""`sdc suppress`: a table with primaries in, the same with secondaries out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdc_tasks.cli.interrupt import Interruption
from sdc_tasks.cli.options import AskedLayout, takes
from sdc_tasks.cli.searches.check import CheckOption, check
from sdc_tasks.cli.searches.given import GivenFiles, given_problem
from sdc_tasks.cli.searches.pattern import PatternSearch, TableAtHand, publisher, search
from sdc_tasks.cli.searches.together import published_as, table_name, together
from sdc_tasks.cli.shared import is_jj
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.suppression.names import CellCosts

if TYPE_CHECKING:
    from collections.abc import Callable

    from sdc_tasks.methods.suppression.prior_patterns.earlier import EarlierPattern
    from sdc_tasks.model.layout import TableLayout
    from sdc_tasks.model.table import Bools, Floats

OF_A_CELL = ("status", "primary", "level", "lpl", "upl", "spl", "lb", "ub", "singleton", "respondent")
LAYOUT = takes(
    "dims", "value", "total", "hierarchy", "tolerance", *OF_A_CELL, "count", "missing", "min_contributors",
    meanings={
        "hierarchy": "DIMENSION=FILE, of one of several tables TABLE:DIMENSION=FILE: a CSV file code,parent, "
        "or a τ-ARGUS .hrc; repeat, also for a second tree"
    },
)  # fmt: skip


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
    layout: Annotated[AskedLayout, LAYOUT],
    given: GivenFiles,
    asked: PatternSearch,
    pattern: CheckOption = None,
) -> None:
    """Finds cheap secondary cells that keep every primary cell of a table at its protection levels.

    Ctrl-C and the limit of time end with the best pattern found so far. With --check a pattern is judged, and
    none sought. Exit codes: 0 a safe pattern, 2 bad input, 3 none.

    Example: sdc suppress table.csv --dims TOWN,JOB --primary SECRET --level LEVEL --out safe.csv
    """
    interruption: Interruption = context.obj
    of_each = layout.each({table_name(file): file for file in files}) if len(files) > 1 else {}

    def read_one(file: Path) -> TableAtHand:
        beside = given
        if len(files) > 1 and given.previous is not None:
            beside = replace(given, previous=published_as(file, given.previous))
        if is_jj(file):
            layout.refuse_for_jj(file)
            asked.refuse_for_jj(file)
            return _jj(file, asked.costs, beside)
        if given.count_file is not None:
            raise InvalidInput(
                "--count-file: for JJ files alone. Remedy: name the column of counts, as --count COUNT"
            )
        mine = of_each.get(table_name(file), layout)
        own = replace(mine.of(file), cost=asked.column)
        return _crossed(file, own, asked, beside, needed=mine.own if of_each else None)

    read = _reader(files, given, (asked.place, asked.published), read_one)
    if pattern is not None:
        check(files, read, pattern, asked)
    search(files, read, asked, interruption)


def _reader(
    files: list[Path],
    given: GivenFiles,
    places: tuple[Path | None, Path | None],
    read_one: Callable[[Path], TableAtHand],
) -> Callable[[], TableAtHand]:
    """How one table is read, or several as one. `places`: the folders of several, of tables with their
    patterns and of those to be published.
    """

    def read() -> TableAtHand:
        if len(files) == 1:
            if given.link is not None:
                raise InvalidInput(
                    "--link goes with several tables. Remedy: name all of them, or leave it out"
                )
            return read_one(files[0])
        if any(each is not None for each in (given.count_file, given.apriori, given.keep)):
            raise InvalidInput(
                "--count-file, --apriori and --keep go with one table alone. Remedy: write statuses, levels "
                "and costs into the tables"
            )
        return together(files, given.link, places, read_one)

    return read


def _crossed(
    file: Path,
    layout: TableLayout,
    asked: PatternSearch,
    given_files: GivenFiles,
    needed: frozenset[str] | None,
) -> TableAtHand:
    """`needed`: of one of several tables, which has only some of the dimensions, those that it must have."""
    from sdc_tasks.intake.tables.crossed import suppression_in
    from sdc_tasks.intake.tables.given.earlier import read_earlier_csv
    from sdc_tasks.intake.tables.jj import write_private
    from sdc_tasks.intake.tables.rows import read_rows
    from sdc_tasks.methods.suppression.prior_patterns.earlier import hidden_in
    from sdc_tasks.methods.suppression.prior_patterns.instructions import kept_open

    rows = read_rows(file)
    own = layout if needed is None else layout.among(rows.header)
    if lost := sorted((needed or frozenset()).difference(own.dims)):
        raise InvalidInput(
            f"{file}: a hierarchy of {lost[0]}, which is no dimension of this table. Remedy: correct "
            f"--hierarchy, or name it in --dims"
        )
    table = suppression_in(rows, own, asked.costs, asked.margins)

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
        table.consistent,
        publisher(table),
    )


def _jj(file: Path, costs: CellCosts, given_files: GivenFiles) -> TableAtHand:
    from sdc_tasks.intake.tables.given.earlier import read_earlier_jj
    from sdc_tasks.intake.tables.jj import read_jj, write_jj
    from sdc_tasks.intake.tables.suppression import suppressed, suppression_of
    from sdc_tasks.methods.suppression.prior_patterns.earlier import hidden_in
    from sdc_tasks.methods.suppression.prior_patterns.instructions import kept_open

    table = read_jj(file)
    n = len(table.a)
    problem = suppression_of(table, costs, _frequencies(given_files.count_file, costs, n))
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
            "costs by frequency need --count-file FILE, and no others do. Remedy: give both, or neither"
        )
    return None if counts is None else read_frequencies(counts, n)
