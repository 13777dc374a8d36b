"""`sdc round-table`: controlled rounding, or random rounding with quadratic programming, of any table.

Nothing is written before a table is found, verified and protected; on bad input nothing is written at all.
"""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sdc_tasks.cli.options import METHOD, OUTPUT, AskedLayout, takes
from sdc_tasks.cli.screen import out
from sdc_tasks.cli.searches.told import tell_consistent, tell_sums
from sdc_tasks.cli.shared import SeedOption, is_jj, refuse_place
from sdc_tasks.errors import InvalidInput
from sdc_tasks.solver.names import SolverName

if TYPE_CHECKING:
    from collections.abc import Callable

    from sdc_tasks.api.rounding import Fact
    from sdc_tasks.methods.rounding.separable import SearchOptions
    from sdc_tasks.model.sensitive import SensitiveTable
    from sdc_tasks.model.table import Floats


@dataclass(frozen=True)
class TableRounding:
    """How to round."""

    base: Annotated[
        str,
        typer.Option(
            help="the rounding base; auto (quadratic): the least that the levels allow, of five digits at "
            "most, a divisor of their sum if possible",
            rich_help_panel=METHOD,
        ),
    ]
    method: Annotated[
        Literal["controlled", "quadratic"],
        typer.Option(
            help="controlled: all cells become multiples; quadratic: sensitive cells become "
            "multiples, others are adjusted, "
            "totals stay that tell no sensitive cell",
            rich_help_panel=METHOD,
        ),
    ] = "controlled"
    zero_restricted: Annotated[
        bool,
        typer.Option(
            "--zero-restricted", help="controlled: multiples of the base stay", rich_help_panel=METHOD
        ),
    ] = False
    reach: Annotated[
        int,
        typer.Option(
            min=1,
            help="controlled: how many multiples a cell may move at most; smaller numbers are tried first",
            rich_help_panel=METHOD,
        ),
    ] = 4
    weights: Annotated[
        Literal["one", "inverse", "sqrt"],
        typer.Option(help="controlled: what moving a cell costs, 1, 1/a or 1/√a", rich_help_panel=METHOD),
    ] = "one"
    solver: Annotated[
        SolverName, typer.Option(help="the solver of the mixed-integer models", rich_help_panel=METHOD)
    ] = "highs"
    seconds: Annotated[float, typer.Option(min=0.1, help="limit of the search", rich_help_panel=METHOD)] = (
        60.0
    )
    gap: Annotated[
        float,
        typer.Option(
            min=0.0,
            help="stop when (distance − bound) / distance is proven to be no more than this",
            rich_help_panel=METHOD,
        ),
    ] = 1e-3
    seed: SeedOption = None
    attainable: Annotated[
        bool,
        typer.Option(
            "--attainable",
            help="lowers each level that is not kept where every cell may have any value, and names its "
            "cell; else such a table is refused",
            rich_help_panel=METHOD,
        ),
    ] = False


LAYOUT = takes(
    "dims", "value", "total", "hierarchy", "tolerance", "singleton", "respondent", "missing", missing="zero"
)


def round_table(
    file: Annotated[
        Path,
        typer.Argument(
            help="a τ-ARGUS JJ file, FILE.jj or FILE.jj.gz, or a CSV or Parquet file with a line "
            "for each cell"
        ),
    ],
    layout: Annotated[AskedLayout, LAYOUT],
    asked: TableRounding,
    rounded: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="the rounded table, .csv: codes or number of each cell, and its value",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    facts: Annotated[
        Path | None,
        typer.Option(
            "--json",
            help="confidential, because the seed repeats the rounding and the distance is a sum "
            "over hidden cells: base, bound, …; no cell",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
) -> None:
    """Rounds a table so that it still adds up and keeps the protection levels of its primary cells.

    Exit codes: 0 rounded, 2 bad input, 3 no table keeps all levels.

    Example: sdc round-table table.csv --dims TOWN,JOB --base 5 --out rounded.csv
    """
    from sdc_tasks.cli.searches.lowered import LoweredLevels
    from sdc_tasks.intake.tables.jj import write_private
    from sdc_tasks.methods.rounding.separable import SearchOptions
    from sdc_tasks.methods.suppression.attainable import attainable
    from sdc_tasks.model.secret import drawn_seed
    from sdc_tasks.solver.clock import Limit

    for place in (rounded, facts):
        refuse_place(place, file)
    base = _base(asked.base, asked.method)
    source = _source(file, layout)
    levels = attainable(source.table) if asked.attainable else None
    table = source.table if levels is None else levels.problem
    lowered = LoweredLevels() if levels is None else LoweredLevels.of(levels)
    out.print(
        f"{file}: {len(table.a)} cells, {len(table.rhs)} relations, {len(table.primaries)} primaries",
        style="dim",
    )
    tell_consistent(out, source.consistent)
    began = time.monotonic()

    def progress(line: str) -> None:
        out.print(f"{time.monotonic() - began:7.1f} s  {line}")

    search = SearchOptions(drawn_seed(asked.seed), asked.solver, Limit(asked.seconds), asked.gap)
    x, found = _rounded(table, base, asked, search, progress)
    found["seconds"] = round(time.monotonic() - began, 3)
    body: dict[str, float | int | str | bool | None] = {
        "method": asked.method,
        "cells": len(table.a),
        "relations": len(table.rhs),
        "primaries": len(table.primaries),
        **({"totals_made_consistent": source.consistent} if source.consistent else {}),
        **found,
    }
    if rounded is not None:
        write_private(rounded, source.text(x))
    if facts is not None:
        told = {**body, **(lowered.facts if asked.attainable else {}), "seed": str(search.seed)}
        write_private(facts, json.dumps(told, indent=1) + "\n")
    _show(body)
    lowered.show("table")
    tell_sums(facts)
    if rounded is not None:
        out.print(f"rounded table: {rounded}")


def _rounded(
    table: SensitiveTable,
    base: float | None,
    asked: TableRounding,
    search: SearchOptions,
    progress: Callable[[str], None],
) -> tuple[Floats, dict[str, Fact]]:
    """The table (n,) rounded, and the facts of the run. `base`: None for the least that the levels allow."""
    from sdc_tasks.api.rounding import controlled, quadratic

    if asked.method == "quadratic":
        return quadratic(table, base, search, progress)
    assert base is not None
    return controlled(table, base, asked.zero_restricted, asked.reach, asked.weights, search, progress)


@dataclass(frozen=True)
class Source:
    """The table that was read, and how to write it with other values."""

    table: SensitiveTable
    header: list[str]
    keys: list[tuple[str, ...]]
    consistent: int = 0

    def text(self, x: Floats) -> str:
        from sdc_tasks.intake.tables.jj import printed

        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows(
            (*key, printed(number + 0.0)) for key, number in zip(self.keys, x.tolist(), strict=True)
        )
        return text.getvalue()


def _source(file: Path, layout: AskedLayout) -> Source:
    from sdc_tasks.intake.tables.jj import read_jj, sensitive_of
    from sdc_tasks.intake.tables.respondents import table_with_respondents
    from sdc_tasks.intake.tables.rows import read_rows

    if is_jj(file):
        layout.refuse_for_jj(file)
        table = sensitive_of(read_jj(file))
        return Source(table, ["cell", "value"], [(str(i),) for i in range(len(table.a))])
    own = layout.of(file)
    read = table_with_respondents(read_rows(file), own)
    return Source(read.table, [*read.dimensions, own.value], list(read.keys), read.consistent)


def _base(text: str, method: str) -> float | None:
    """The base; None for auto."""
    if text == "auto":
        if method == "quadratic":
            return None
        raise InvalidInput("--base auto: only for the quadratic method. Remedy: give a number")
    try:
        base = float(text)
    except ValueError:
        base = -1.0
    if not 0 < base < float("inf"):
        raise InvalidInput(f"--base {text}: not a number above 0. Remedy: give a number such as 5")
    return base


def _show(body: Mapping[str, float | int | str | bool | None]) -> None:
    from rich.table import Table

    shown = Table(show_header=False)
    for name, fact in body.items():
        shown.add_row(name.replace("_", " "), f"{fact:.10g}" if isinstance(fact, float) else str(fact))
    out.print(shown)
