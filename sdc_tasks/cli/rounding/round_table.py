"""`sdc round-table`: controlled rounding, or random rounding with quadratic programming, of any table.

Nothing is written before a table is found, verified and protected; on bad input nothing is written at all.
"""

from __future__ import annotations

import csv
import io
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Table

from sdc_tasks.cli.searches.told import tell_sums
from sdc_tasks.cli.shared import (
    SeedOption,
    codes_of_totals,
    dimensions_of,
    is_jj,
    parents_by_dimension,
    refuse_place,
)
from sdc_tasks.cli.terminal import out
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.secret import drawn_seed
from sdc_tasks.solver.names import SolverName

if TYPE_CHECKING:
    from sdc_tasks.model.sensitive import SensitiveTable
    from sdc_tasks.model.table import Floats


def round_table(
    file: Annotated[
        Path,
        typer.Argument(
            help="a τ-ARGUS JJ file, FILE.jj or FILE.jj.gz, or a CSV or Parquet file with a line "
            "for each cell"
        ),
    ],
    base: Annotated[
        str,
        typer.Option(
            help="the rounding base; auto (quadratic): the least that the levels allow, a divisor "
            "of their sum if possible"
        ),
    ],
    method: Annotated[
        Literal["controlled", "quadratic"],
        typer.Option(
            help="controlled: all cells become multiples; quadratic: sensitive cells become "
            "multiples, others are adjusted, "
            "totals stay that tell no sensitive cell"
        ),
    ] = "controlled",
    dims: Annotated[str | None, typer.Option(help="CSV: its dimensions, such as REGION,ACTIVITY")] = None,
    value: Annotated[str, typer.Option(help="CSV: the column of values")] = "VALUE",
    totals: Annotated[
        list[str] | None,
        typer.Option(
            "--totals",
            help="CSV: the code of totals, as CODE or DIMENSION=CODE, none for none; else TOTAL, "
            "_T or Total; repeat",
        ),
    ] = None,
    hierarchy: Annotated[
        list[str] | None, typer.Option(help="CSV: DIMENSION=FILE, a CSV file code,parent; may be given again")
    ] = None,
    zero_restricted: Annotated[
        bool, typer.Option("--zero-restricted", help="controlled: multiples of the base stay")
    ] = False,
    reach: Annotated[
        int,
        typer.Option(
            min=1,
            help="controlled: how many multiples a cell may move at most; smaller numbers are tried first",
        ),
    ] = 4,
    weights: Annotated[
        Literal["one", "inverse", "sqrt"],
        typer.Option(help="controlled: what moving a cell costs, 1, 1/a or 1/√a"),
    ] = "one",
    solver: Annotated[SolverName, typer.Option(help="the solver of the mixed-integer models")] = "highs",
    time_limit: Annotated[float, typer.Option("--time-limit", min=0.1, help="seconds of the search")] = 60.0,
    gap: Annotated[
        float,
        typer.Option(
            min=0.0, help="stop when (distance − bound) / distance is proven to be no more than this"
        ),
    ] = 1e-3,
    seed: SeedOption = None,
    rounded: Annotated[
        Path | None,
        typer.Option("--out", help="the rounded table, .csv: codes or number of each cell, and its value"),
    ] = None,
    facts: Annotated[
        Path | None,
        typer.Option(
            "--json",
            help="confidential, because the seed repeats the rounding and the distance is a sum "
            "over hidden cells: base, bound, …; no cell",
        ),
    ] = None,
) -> None:
    """Rounds a table so that it still adds up and keeps the protection levels of its primary cells.

    Exit codes: 0 rounded, 2 bad input, 3 no table keeps all levels.
    """
    from sdc_tasks.api.rounding import controlled, quadratic
    from sdc_tasks.intake.tables.jj import write_private
    from sdc_tasks.methods.rounding.separable import SearchOptions
    from sdc_tasks.solver.clock import Limit

    for place in (rounded, facts):
        refuse_place(place, file)
    wanted = _base(base, method)
    source = _source(file, dims, value, totals or [], hierarchy or [])
    table = source.table
    out.print(
        f"{file}: {len(table.a)} cells, {len(table.rhs)} relations, {len(table.primaries)} primaries",
        style="dim",
    )
    began = time.monotonic()

    def progress(line: str) -> None:
        out.print(f"{time.monotonic() - began:7.1f} s  {line}")

    search = SearchOptions(drawn_seed(seed), solver, Limit(time_limit), gap)
    if method == "controlled":
        assert wanted is not None
        x, found = controlled(table, wanted, zero_restricted, reach, weights, search, progress)
    else:
        x, found = quadratic(table, wanted, search, progress)
    found["seconds"] = round(time.monotonic() - began, 3)
    body: dict[str, float | int | str | bool | None] = {
        "method": method,
        "cells": len(table.a),
        "relations": len(table.rhs),
        "primaries": len(table.primaries),
        **found,
    }
    if rounded is not None:
        write_private(rounded, source.text(x))
    if facts is not None:
        write_private(facts, json.dumps(body | {"seed": str(search.seed)}, indent=1) + "\n")
    shown = Table(show_header=False)
    for name, fact in body.items():
        shown.add_row(name.replace("_", " "), f"{fact:.10g}" if isinstance(fact, float) else str(fact))
    out.print(shown)
    tell_sums(facts)
    if rounded is not None:
        out.print(f"rounded table: {rounded}")


@dataclass(frozen=True)
class Source:
    """The table that was read, and how to write it with other values."""

    table: SensitiveTable
    header: list[str]
    keys: list[tuple[str, ...]]

    def text(self, x: Floats) -> str:
        from sdc_tasks.intake.tables.jj import printed

        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows(
            (*key, printed(number + 0.0)) for key, number in zip(self.keys, x.tolist(), strict=True)
        )
        return text.getvalue()


def _source(file: Path, dims: str | None, value: str, totals: list[str], hierarchy: list[str]) -> Source:
    from sdc_tasks.intake.tables.jj import read_jj, sensitive_of
    from sdc_tasks.intake.tables.keyed import read_table

    if is_jj(file):
        if dims is not None or hierarchy or totals:
            raise InvalidInput(
                f"{file}: a JJ file brings its own relations. Remedy: leave out --dims, --totals and "
                f"--hierarchy"
            )
        table = sensitive_of(read_jj(file))
        return Source(table, ["cell", "value"], [(str(i),) for i in range(len(table.a))])
    read = read_table(
        file, dimensions_of(file, dims), value, codes_of_totals(totals), parents_by_dimension(hierarchy)
    )
    return Source(read.table, [*read.dimensions, value], list(read.keys))


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
