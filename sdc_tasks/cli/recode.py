"""`sdc recode`: a table with fewer codes and no, or few, primary cells."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdc_tasks.cli.options import METHOD, OUTPUT, RULES, AskedLayout, takes
from sdc_tasks.cli.screen import out
from sdc_tasks.cli.searches.told import figures_text
from sdc_tasks.cli.shared import refuse_place, require_columns
from sdc_tasks.errors import InvalidInput

if TYPE_CHECKING:
    from sdc_tasks.intake.tables.recoding import RecodingFile
    from sdc_tasks.methods.recoding.plan import Recoded, Recoding


@dataclass(frozen=True)
class AskedPlan:
    """Which cells are primary by their counts, and which codes may go or go."""

    least: Annotated[
        float | None,
        typer.Option(
            help="a cell with fewer contributors is primary; without it, STATUS u marks the primary cells",
            rich_help_panel=RULES,
        ),
    ] = None
    groups: Annotated[
        Path | None,
        typer.Option(
            help="CSV dimension,code,into: sibling codes that may become one code `into`",
            rich_help_panel=METHOD,
        ),
    ] = None
    remaining: Annotated[
        int, typer.Option(min=0, help="the number of primary cells that may be left", rich_help_panel=METHOD)
    ] = 0
    plan: Annotated[
        Path | None,
        typer.Option(
            help="the plan to apply: lines as in --groups; without `into`, all codes below the code go",
            rich_help_panel=METHOD,
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.least is not None and not (math.isfinite(self.least) and self.least > 0):
            raise InvalidInput(
                "--least: a number of contributors above 0 is expected. Remedy: give one, such as 3"
            )
        if self.plan is not None and (self.groups is not None or self.remaining):
            raise InvalidInput(
                "--plan goes with neither --groups nor --remaining. Remedy: leave out --plan, or the others"
            )

    def read(self) -> RecodingFile | None:
        """What the file of groups, or of the plan, names; None without one."""
        from sdc_tasks.intake.tables.recoding import read_recoding

        file = self.plan or self.groups
        given = None if file is None else read_recoding(file)
        if self.groups is not None and given is not None and given.closed:
            raise InvalidInput(
                f"{given.closed[0][2]}: no `into`. Remedy: name the code that the group becomes, or give a "
                f"--plan"
            )
        return given


LAYOUT = takes("dims", "value", "total", "hierarchy", "count", needed=("dims",))


def recode(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV or Parquet: a column of codes for each dimension, the values, STATUS or counts"
        ),
    ],
    layout: Annotated[AskedLayout, LAYOUT],
    asked: AskedPlan,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="a folder for table.csv and, for each dimension, DIMENSION.codes.csv: code,parent",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    facts: Annotated[
        Path | None,
        typer.Option(
            "--json",
            help="what was collapsed, cells lost, primaries before and after; confidential, as it "
            "tells of primary cells",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
) -> None:
    """Takes codes out of a table before it is protected, by the plan that loses the fewest
    cells, or by a plan that you give.

    Exit codes: 0 a recoded table, 2 bad input, 3 the totals alone hold more primary cells than may remain.

    Example: sdc recode counted.csv --dims REGION,BRANCH --least 3 --out recoded
    """
    from sdc_tasks.intake.tables.jj import write_private
    from sdc_tasks.intake.tables.recoding import hierarchy_text, recodable, recoded_text
    from sdc_tasks.intake.tables.rows import read_rows
    from sdc_tasks.methods.recoding.plan import Recoding

    refuse_place(facts, file)
    require_columns(file)
    _refuse_folder(folder, file)
    where = layout.of(file)
    if odd := [name for name in where.dims if Path(name).name != name]:
        raise InvalidInput(
            f"{file}: a file cannot be called after dimension {odd[0]}. Remedy: rename the column"
        )
    table = recodable(read_rows(file), where, asked.least is not None)
    given = asked.read()
    recoding = Recoding(table, () if given is None else given.groups, asked.least)
    if asked.plan is None or given is None:
        done = recoding.cheapest(asked.remaining)
    else:
        done = _planned(recoding, given)
    if folder is not None:
        write_private(folder / "table.csv", recoded_text(done.table, where.value))
        for axis in done.table.axes:
            write_private(folder / f"{axis.dimension}.codes.csv", hierarchy_text(axis))
    if facts is not None:
        write_private(facts, _facts(done))
    _show(done, len(table.a), folder)


def _refuse_folder(folder: Path | None, file: Path) -> None:
    """Raises InvalidInput for a folder that cannot be written to, and for that of the table itself."""
    if folder is not None and (
        not folder.is_dir() or not os.access(folder, os.W_OK) or folder.resolve() == file.resolve().parent
    ):
        raise InvalidInput(
            f"{folder}: not a folder of its own that can be written to. Remedy: --out names another, "
            f"existing folder"
        )


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
