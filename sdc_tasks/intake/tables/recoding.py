"""A table with dimensions to be recoded, a file of groups or of a plan, and the recoded table as files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from sdc_tasks.errors import InvalidInput, and_more
from sdc_tasks.intake.tables.given.lines import Line, below_header
from sdc_tasks.intake.tables.jj import printed
from sdc_tasks.intake.tables.keyed import KeyedTable, keyed_table, numbers_in
from sdc_tasks.intake.tables.rows import TextRows
from sdc_tasks.methods.recoding.codes import CodeGroup
from sdc_tasks.methods.recoding.plan import Recodable
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.layout import TableLayout
from sdc_tasks.model.table import Floats, Hierarchy, added_up, inside

REMEDY = (
    "write a CSV file dimension,code,into: codes that become one code `into`; "
    "without `into`, what is below the code goes"
)


@dataclass(frozen=True)
class RecodingFile:
    """What a file names: groups of codes, and codes below which everything goes, each with the line that says
    so.
    """

    groups: tuple[CodeGroup, ...]
    closed: tuple[tuple[str, str, str], ...]  # dimension, code, place


def read_recoding(path: Path) -> RecodingFile:
    """The groups and codes in a file. Raises InvalidInput, with line and remedy, where it is no such file."""
    column, lines = below_header(path, ("dimension", "code"), REMEDY)
    members: dict[tuple[str, str], list[Line]] = {}
    closed = []
    for line in lines:
        dimension, code = line.fields[column["dimension"]], line.fields[column["code"]]
        into = line.fields[column["into"]] if "into" in column else ""
        if not dimension or not code:
            raise line.refused(f"a dimension and a code are expected. Remedy: {REMEDY}")
        if into:
            members.setdefault((dimension, into), []).append(line)
        else:
            closed.append((dimension, code, line.place))
    groups = tuple(
        CodeGroup(dimension, name, tuple(line.fields[column["code"]] for line in group), group[0].place)
        for (dimension, name), group in members.items()
    )
    return RecodingFile(groups, tuple(closed))


def recodable(rows: TextRows, layout: TableLayout, by_count: bool) -> Recodable:
    """The table in rows. `by_count`: counts will tell what is primary, else statuses do.

    Raises InvalidInput, with row, cell and remedy, where this is no table, or an inner cell
    that is not empty has no count.
    """
    if not by_count and layout.primary is None and layout.column("status", rows) is None:
        raise InvalidInput(
            f"{rows.name}: nothing says which cells are primary. Remedy: a column STATUS (u: primary), or "
            f"--least with counts"
        )
    keyed = keyed_table(rows, layout)
    if several := [axis.dimension for axis in keyed.axes if axis.sums]:
        raise InvalidInput(
            f"{rows.name}: {several[0]} has several trees, and recode groups the siblings of one. Remedy: "
            f"give one file of codes for each dimension"
        )
    table = keyed.table
    levels = np.array([table.lpl, table.upl, table.spl])
    return Recodable(
        keyed.axes, table.a, table.primary, levels, _counts(rows, keyed, layout) if by_count else None
    )


def _counts(rows: TextRows, keyed: KeyedTable, layout: TableLayout) -> Floats:
    """(n): the contributors of each cell; totals that do not tell have those of their parts."""
    column = layout.column("count", rows)
    if column is None:
        raise InvalidInput(f"{rows.name}: no column COUNT. Remedy: add it, or name the column of counts")
    told = np.full(len(keyed.keys), np.nan)
    told[keyed.cell] = numbers_in(rows, column, np.nan)
    inner = inside(keyed.axes).ravel()
    if len(missing := np.flatnonzero(inner & np.isnan(told) & (keyed.table.a != 0))):
        key = printed_key(keyed.keys[missing[0]])
        raise InvalidInput(
            f"{rows.name}: {key}{and_more(len(missing) - 1)}: no {column}. Remedy: give each inner cell its "
            f"count"
        )
    shape = tuple(len(axis.codes) for axis in keyed.axes)
    parts = np.where(inner & ~np.isnan(told), told, 0.0).reshape(shape)
    return np.where(np.isnan(told), added_up(parts, keyed.axes).ravel(), told)


def recoded_text(table: Recodable, value: str) -> str:
    """CSV: the codes, the value, STATUS, and the levels of primaries that have some. It holds true values."""
    keys = product(*(axis.codes for axis in table.axes))
    rows = zip(keys, table.a.tolist(), table.primary.tolist(), table.levels.T.tolist(), strict=True)
    lines = (
        [
            *key,
            printed(a + 0.0),
            "u" if primary else "s",
            *(map(printed, levels) if primary and any(levels) else [""] * 3),
        ]
        for key, a, primary, levels in rows
    )
    return _csv([*(axis.dimension for axis in table.axes), value, "STATUS", "LPL", "UPL", "SPL"], lines)


def hierarchy_text(axis: Hierarchy) -> str:
    """CSV: code,parent."""
    return _csv(
        ["code", "parent"],
        ([code, parent or ""] for code, parent in zip(axis.codes, axis.parent, strict=True)),
    )


def _csv(header: list[str], lines: Iterable[list[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(lines)
    return text.getvalue()
