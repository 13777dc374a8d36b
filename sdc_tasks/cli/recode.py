"""`sdc recode`: a table with fewer codes and no, or few, primary cells."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdc_tasks.cli.searches.suppress import HierarchyOption, TotalsOption
from sdc_tasks.cli.searches.told import figures_text
from sdc_tasks.cli.shared import (
    codes_of_totals,
    dimensions_of,
    parents_by_dimension,
    refuse_place,
    require_columns,
)
from sdc_tasks.cli.terminal import out
from sdc_tasks.errors import InvalidInput

if TYPE_CHECKING:
    from sdc_tasks.intake.tables.recoding import RecodingFile
    from sdc_tasks.methods.recoding.plan import Recoded, Recoding


def recode(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV or Parquet: a column of codes for each dimension, the values, STATUS or counts"
        ),
    ],
    dims: Annotated[str, typer.Option(help="the dimensions, such as REGION,ACTIVITY")],
    value: Annotated[str, typer.Option(help="the column of values")] = "VALUE",
    totals: TotalsOption = None,
    hierarchy: HierarchyOption = None,
    least: Annotated[
        float | None,
        typer.Option(
            help="a cell with fewer contributors is primary; without it, STATUS u marks the primary cells"
        ),
    ] = None,
    count: Annotated[str | None, typer.Option(help="with --least: the column of counts [COUNT]")] = None,
    groups: Annotated[
        Path | None,
        typer.Option(
            "--groups", help="CSV dimension,code,into: sibling codes that may become one code `into`"
        ),
    ] = None,
    remaining: Annotated[int, typer.Option(min=0, help="the number of primary cells that may be left")] = 0,
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan",
            help="the plan to apply: lines as in --groups; without `into`, all codes below the code go",
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out", help="a folder for table.csv and, for each dimension, DIMENSION.codes.csv: code,parent"
        ),
    ] = None,
    facts: Annotated[
        Path | None,
        typer.Option(
            "--json",
            help="what was collapsed, cells lost, primaries before and after; confidential, as it "
            "tells of primary cells",
        ),
    ] = None,
) -> None:
    """Takes codes out of a table before it is protected, by the plan that loses the fewest
    cells, or by a plan that you give.

    Exit codes: 0 a recoded table, 2 bad input, 3 the totals alone hold more primary cells than may remain.
    """
    from sdc_tasks.intake.tables.crossed import Wanted
    from sdc_tasks.intake.tables.jj import write_private
    from sdc_tasks.intake.tables.keyed import Columns
    from sdc_tasks.intake.tables.recoding import hierarchy_text, read_recoding, recodable, recoded_text
    from sdc_tasks.intake.tables.rows import read_rows
    from sdc_tasks.methods.recoding.plan import Recoding

    refuse_place(facts, file)
    require_columns(file)
    if least is not None and not (math.isfinite(least) and least > 0):
        raise InvalidInput(
            "--least: a number of contributors above 0 is expected. Remedy: give one, such as 3"
        )
    if folder is not None and (
        not folder.is_dir() or not os.access(folder, os.W_OK) or folder.resolve() == file.resolve().parent
    ):
        raise InvalidInput(
            f"{folder}: not a folder of its own that can be written to. Remedy: --out names another, "
            f"existing folder"
        )
    if plan is not None and (groups is not None or remaining):
        raise InvalidInput(
            "--plan goes with neither --groups nor --remaining. Remedy: leave out --plan, or the others"
        )
    wanted = Wanted(
        dimensions_of(file, dims),
        value,
        codes_of_totals(totals),
        parents_by_dimension(hierarchy),
        Columns(count=count),
    )
    if odd := [name for name in wanted.dimensions if Path(name).name != name]:
        raise InvalidInput(
            f"{file}: a file cannot be called after dimension {odd[0]}. Remedy: rename the column"
        )
    table = recodable(read_rows(file), wanted, least is not None)
    given = None if plan is None and groups is None else read_recoding(plan or groups or file)
    if groups is not None and given is not None and given.closed:
        raise InvalidInput(
            f"{given.closed[0][2]}: no `into`. Remedy: name the code that the group becomes, or give a --plan"
        )
    recoding = Recoding(table, () if given is None else given.groups, least)
    done = recoding.cheapest(remaining) if plan is None or given is None else _planned(recoding, given)
    if folder is not None:
        write_private(folder / "table.csv", recoded_text(done.table, value))
        for axis in done.table.axes:
            write_private(folder / f"{axis.dimension}.codes.csv", hierarchy_text(axis))
    if facts is not None:
        write_private(facts, _facts(done))
    _show(done, len(table.a), folder)


def _planned(recoding: Recoding, given: RecodingFile) -> Recoded:
    """The table after the plan of a file: every group of it is made, and every code in it closed."""
    import numpy as np

    closed = [nodes.group.copy() for nodes in recoding.nodes]
    axis_of = {nodes.dimension: i for i, nodes in enumerate(recoding.nodes)}
    for dimension, code, place in given.closed:
        nodes = recoding.nodes[axis_of[dimension]] if dimension in axis_of else None
        if nodes is None or code not in nodes.names:
            raise InvalidInput(
                f"{place}: {dimension} has no code {code}. Remedy: name a dimension and a code of the table"
            )
        node = nodes.names.index(code)
        if node not in np.atleast_1d(nodes.closable):
            raise InvalidInput(
                f"{place}: there is nothing below {code}. Remedy: name a code with others below it, or a "
                f"group, in `into`"
            )
        closed[axis_of[dimension]][node] = True
    return recoding.applied(closed)


def _facts(done: Recoded) -> str:
    body = {
        "collapsed": {
            axis.dimension: list(names)
            for axis, names in zip(done.table.axes, done.closed, strict=True)
            if names
        },
        "cells": len(done.table.a),
        "lost": done.lost,
        "primaries_before": done.before,
        "primaries": done.primaries,
        "proven": done.proven,
    }
    return figures_text(body)


def _show(done: Recoded, cells: int, folder: Path | None) -> None:
    for axis, names in zip(done.table.axes, done.closed, strict=True):
        if names:
            out.print(f"{axis.dimension}: collapsed {', '.join(names)}")
    out.print(f"{cells} cells before, {len(done.table.a)} now; {done.lost} that were not empty are lost")
    out.print(f"{done.before} primary cells before, {done.primaries} now")
    if folder is not None:
        out.print(f"table with true values, confidential: {folder / 'table.csv'}")
