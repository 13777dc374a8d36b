"""A table to be rounded, out of a JJ file or a CSV file with a line for each cell.

CSV: a header, a column of codes for each dimension, a column of values with a decimal point, and, where cells are to be protected, the
columns STATUS (s u m z as in JJ), LPL, UPL and SPL; LB and UB where the world knows bounds. A dimension is its total and its parts, or
what a file of codes with parents says. A cell without a line is empty; totals without a line are added up, others must be right.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.codes import read_tree
from sdc_tasks.intake.tables.jj import STATUSES, JJTable
from sdc_tasks.intake.tables.totals import NONE, known_total, unnamed
from sdc_tasks.methods.rounding.small_count.cells import TOTAL
from sdc_tasks.methods.rounding.table import RoundingTable
from sdc_tasks.model.table import SUM_SHARE, Bools, CellSpace, Floats, Hierarchy, Ints, added_up, inside
from sdc_tasks.untrusted import FORMULA, formula

NUMBERS = ("LPL", "UPL", "SPL", "LB", "UB")
MOST_CELLS = 5_000_000  # cells of a table, the empty ones included


@dataclass(frozen=True)
class KeyedTable:
    """A table with the codes of each of its cells; `given` are the cells that stood in the file."""

    table: RoundingTable
    dimensions: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...] = field(repr=False)
    given: Bools = field(repr=False)


def of_jj(table: JJTable) -> RoundingTable:
    """A JJ table as one to be rounded."""
    p = table.primary
    return RoundingTable(table.A, table.rhs, table.a, table.lb, table.ub, table.fixed, p, table.lpl[p], table.upl[p], table.spl[p])


def read_table(path: Path, dimensions: Sequence[str], value: str, totals: Mapping[str, str], parents: Mapping[str, Path]) -> KeyedTable:
    """The table in a CSV file. `totals`: the code of the total by dimension, under "" for every other; see intake/tables/totals.py.

    Raises InvalidInput, with line, cell and remedy, where file and codes do not make a table.
    """
    return keyed_table(path, *_rows(path), dimensions, value, totals, parents)


def keyed_table(
    path: Path,
    rows: list[list[str]],
    header: list[str],
    dimensions: Sequence[str],
    value: str,
    totals: Mapping[str, str],
    parents: Mapping[str, Path | Hierarchy],
) -> KeyedTable:
    """The table in lines of fields below a header, as `read_table`; `path` is what messages call it."""
    for name in (*dimensions, value):
        if name not in header:
            raise InvalidInput(f"{path}, line 1: no column {name}. Remedy: name columns of the file: {', '.join(header)}")
    if len(set(dimensions)) != len(dimensions) or value in dimensions or not dimensions:
        raise InvalidInput(f"{path}: dimensions and values are columns of their own, each once. Remedy: name them so")
    if unknown := sorted(set(parents) - set(dimensions)):
        raise InvalidInput(f"{unknown[0]}: codes of a dimension that the table does not have. Remedy: name one of {', '.join(dimensions)}")
    codes = [[row[header.index(name)].strip() for row in rows] for name in dimensions]
    if unknown := sorted(set(totals) - {"", *dimensions} | set(totals) & set(parents)):
        raise InvalidInput(
            f"total of {unknown[0]}: no such dimension, or one with a list of codes, whose top is its total. Remedy: drop it"
        )
    axes = tuple(
        _axis(path, name, column, totals.get(name, totals.get("")), parents.get(name))
        for name, column in zip(dimensions, codes, strict=True)
    )
    if "" in totals and totals[""] != NONE and not any(totals[""] in column for column in codes):
        raise InvalidInput(f"{path}: no cell has the code of totals {totals['']}. Remedy: name the one that stands there")
    if (size := int(np.prod([float(len(axis.codes)) for axis in axes]))) > MOST_CELLS:
        raise InvalidInput(f"{path}: {size} cells, more than {MOST_CELLS}. Remedy: leave dimensions out, or round parts of the table")
    cell = _cells(path, dimensions, axes, codes)
    numbers = _numbers(path, rows, header, value)
    _refuse_totals(path, dimensions, axes, codes, numbers, totals, parents)
    space = CellSpace(("table",), (), ("value",), axes)
    keys = tuple(product(*(axis.codes for axis in axes)))
    a = _complete(path, axes, keys, cell, numbers)
    given = np.zeros(len(a), dtype=bool)
    given[cell] = True
    return KeyedTable(_table(path, rows, header, space, a, cell, given, keys), tuple(dimensions), keys, given)


def _rows(path: Path) -> tuple[list[list[str]], list[str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror}). Remedy: name a file that can be read") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: not in UTF-8. Remedy: save it so") from error
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row]
    if len(rows) < 2:
        raise InvalidInput(f"{path}: no cells. Remedy: a header, then a line for each cell")
    header = [name.strip() for name in rows[0]]
    for i, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise InvalidInput(f"{path}, line {i}: {len(row)} fields, but {len(header)} columns. Remedy: correct the line")
    return rows[1:], header


def _axis(path: Path, name: str, column: list[str], named: str | None, parents: Path | Hierarchy | None) -> Hierarchy:
    """The codes of a dimension with their parents."""
    if "" in column:
        raise InvalidInput(f"{path}, line {column.index('') + 2}: no code in {name}. Remedy: give each cell a code in every dimension")
    if (odd := next((i for i, code in enumerate(column, start=2) if formula(code)), None)) is not None:
        raise InvalidInput(f"{path}, line {odd}: the code in {name} {FORMULA}")
    total = known_total(str(path), name, column) if named is None else named
    total = TOTAL if total is None or total == NONE else total
    if parents is None:
        parts = tuple(sorted(set(column) - {total}))
        if not parts:
            raise InvalidInput(f"{path}: dimension {name} has no code but {total}. Remedy: leave it out")
        return Hierarchy(name, (total, *parts), (None, *[total] * len(parts)))
    axis = parents if isinstance(parents, Hierarchy) else read_tree(parents, name, total)
    source = "its hierarchy" if isinstance(parents, Hierarchy) else parents
    for i, code in enumerate(column, start=2):
        if code not in axis.index:
            raise InvalidInput(
                f"{path}, line {i}: {name} {code} is none of the codes in {source}. Remedy: add it there, or correct the line"
            )
    return axis


def _refuse_totals(
    path: Path,
    dimensions: Sequence[str],
    axes: Sequence[Hierarchy],
    codes: Sequence[list[str]],
    numbers: Floats,
    totals: Mapping[str, str],
    parents: Mapping[str, Path | Hierarchy],
) -> None:
    """A total that is taken for a part would be counted once more."""
    asked = [i for i, name in enumerate(dimensions) if name not in parents and totals.get(name, totals.get("")) != NONE]
    asked = [i for i in asked if axes[i].codes[0] not in codes[i]]
    at = [np.array([axis.index[code] for code in column]) for axis, column in zip(axes, codes, strict=True)]
    inner = np.ones(len(numbers), dtype=bool)  # totals of the other dimensions need not all stand in the file
    for i, axis in enumerate(axes):
        if i not in asked:
            inner &= ~np.isin(at[i], [axis.index[parent] for parent in set(axis.parent) - {None} if parent is not None])
    for i in asked:
        code = unnamed(at[i][inner], [each[inner] for j, each in enumerate(at) if j != i], numbers[inner])
        if code is not None:
            name, total = dimensions[i], axes[i].codes[code]
            raise InvalidInput(
                f"{path}: {name} {total} is the sum of all others, so a total. Remedy: --totals {name}={total}, or --totals {name}={NONE} "
                "if it is none"
            )


def _cells(path: Path, dimensions: Sequence[str], axes: Sequence[Hierarchy], codes: Sequence[list[str]]) -> Ints:
    """The cell of each line."""
    at = [[axis.index[code] for code in column] for axis, column in zip(axes, codes, strict=True)]
    cell = np.ravel_multi_index([np.array(each) for each in at], tuple(len(axis.codes) for axis in axes)).astype(np.int64)
    order = np.argsort(cell, kind="stable")
    if (double := np.flatnonzero(np.diff(cell[order]) == 0)).size:
        first, second = order[double[0]], order[double[0] + 1]
        key = ".".join(column[first] for column in codes)
        raise InvalidInput(f"{path}, line {second + 2}: {key} stands in line {first + 2} already. Remedy: one line for each cell")
    return cell


def _numbers(path: Path, rows: list[list[str]], header: list[str], column: str, empty: float | None = None) -> Floats:
    """A column of numbers; what an empty field means, where it may be."""
    at, found = header.index(column), np.zeros(len(rows))
    for i, row in enumerate(rows):
        text = row[at].strip()
        try:
            found[i] = empty if empty is not None and not text else float(text)
        except ValueError:
            raise InvalidInput(
                f"{path}, line {i + 2}: {column} is not a number. Remedy: digits and a decimal point, no separators"
            ) from None
        if not np.isfinite(found[i]) and (empty is None or np.isnan(found[i])):
            raise InvalidInput(f"{path}, line {i + 2}: {column} is not finite. Remedy: give its value")
    return found


def _complete(path: Path, axes: Sequence[Hierarchy], keys: Sequence[tuple[str, ...]], cell: Ints, numbers: Floats) -> Floats:
    """All cells: those inside as given or empty, totals added up; given totals must agree."""
    shape = tuple(len(axis.codes) for axis in axes)
    told = np.zeros(int(np.prod(shape)))
    told[cell] = numbers
    whole = added_up(np.where(inside(axes), told.reshape(shape), 0.0), axes)
    found, size = whole.ravel(), float(np.abs(numbers).max(initial=0.0))
    off = np.abs(found[cell] - numbers) > SUM_SHARE * (np.abs(numbers) + 1e-3 * size)
    if off.any():
        line = int(np.flatnonzero(off)[0])
        raise InvalidInput(
            f"{path}, line {line + 2}: {'.'.join(keys[int(cell[line])])} is not the sum of its parts, nor are {int(off.sum()) - 1} more. "
            "Remedy: correct them, name the code of totals, or give files of parents"
        )
    found[cell] = numbers
    return found


def _table(
    path: Path,
    rows: list[list[str]],
    header: list[str],
    space: CellSpace,
    a: Floats,
    cell: Ints,
    given: Bools,
    keys: Sequence[tuple[str, ...]],
) -> RoundingTable:
    n = len(a)
    ends = {"LB": -np.inf if (a < 0).any() else 0.0, "UB": np.inf, "LPL": 0.0, "UPL": 0.0, "SPL": 0.0}
    columns = {name: np.full(n, empty) for name, empty in ends.items()}
    for name in NUMBERS:
        if name in header:
            columns[name][cell] = _numbers(path, rows, header, name, ends[name])
    status = np.full(n, "s")
    if "STATUS" in header:
        at = header.index("STATUS")
        status[cell] = [row[at].strip() or "s" for row in rows]
    faults = (
        (~np.isin(status, STATUSES), "its STATUS is none of s u m z. Remedy: s safe, u primary, m secondary, z fixed"),
        ((a < columns["LB"]) | (a > columns["UB"]), "its value is not between LB and UB. Remedy: bounds hold the true value"),
        (np.min([columns[name] for name in NUMBERS[:3]], axis=0) < 0, "a level below 0. Remedy: levels are distances, at least 0"),
        (
            (status == "u") & (np.max([columns[name] for name in NUMBERS[:3]], axis=0) == 0),
            "primary without a level. Remedy: give LPL, UPL, SPL",
        ),
    )
    for mask, what in faults:
        if mask[cell].any():
            line = int(np.flatnonzero(mask[cell])[0])
            raise InvalidInput(f"{path}, line {line + 2}: {'.'.join(keys[int(cell[line])])}: {what}")
    p = np.flatnonzero(status == "u")
    empty = ~given & (a == 0)
    return RoundingTable(
        A=space.national_relations, rhs=np.zeros(space.national_relations.shape[0]), a=a, lb=columns["LB"], ub=columns["UB"],
        fixed=(status == "z") | (columns["LB"] == columns["UB"]) | empty, primary=p,
        lpl=columns["LPL"][p], upl=columns["UPL"][p], spl=columns["SPL"][p], label=lambda i: ".".join(keys[i]),
    )  # fmt: skip
