"""A table whose cells have a code in each dimension, out of lines with a cell each: to be
rounded, or to suppress cells of.

There is a column of codes for each dimension, a column of values with a decimal point, and, where cells are
to be protected, the columns STATUS (s u m z as in JJ), LPL, UPL and SPL; LB and UB where the world knows
bounds. They may have other names (`TableLayout`). A dimension is its total and its parts, or what a file of
codes with parents says. Totals without a line are added up, others must be right, or off by no more than a
tolerance: then they are replaced by the sums of the inner cells. An inner cell without a line is empty, where
the reader allows that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from sdc_tasks.errors import InvalidInput, and_more
from sdc_tasks.intake.tables.codes import read_tree
from sdc_tasks.intake.tables.counts import FLAGS
from sdc_tasks.intake.tables.jj import LARGER_UNIT, LARGEST, LEVELS, STATUSES, Letters
from sdc_tasks.intake.tables.rows import TextRows
from sdc_tasks.intake.tables.totals import NONE, known_total, last_place, lone, unnamed, without_noise
from sdc_tasks.methods.rounding.small_count.cells import TOTAL
from sdc_tasks.model.grid import grid_of
from sdc_tasks.model.keys import printed_key, refuse_twins, twins
from sdc_tasks.model.layout import TableLayout, Trees
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, CellSpace, Floats, Hierarchy, Ints, added_up, inside, joined
from sdc_tasks.model.tolerances import SAME
from sdc_tasks.untrusted import FORMULA, formula

READ = (
    "STATUS",
    "LPL",
    "UPL",
    "SPL",
    "LB",
    "UB",
    "SINGLETON",
    "RESPONDENT",
)  # columns that tell more of a cell, or a result has
MADE = ("LOW", "HIGH", "ADJUSTED", "ROUNDED")  # columns of results
MOST_CELLS = 5_000_000  # cells of a table, the empty ones included


@dataclass(frozen=True)
class KeyedTable:
    """A table with the codes of each of its cells.

    `cell` (records): which of them each record is; `given`: those that have a record; `stays`: those of
    status z. `consistent`: so many totals were off within the tolerance, and were replaced.
    """

    table: SensitiveTable
    dimensions: tuple[str, ...]
    axes: tuple[Hierarchy, ...] = field(repr=False)
    keys: tuple[tuple[str, ...], ...] = field(repr=False)
    cell: Ints = field(repr=False)
    given: Bools = field(repr=False)
    stays: Bools = field(repr=False)
    consistent: int = 0


def keyed_table(records: TextRows, layout: TableLayout) -> KeyedTable:
    """The table in records.

    Raises InvalidInput, with line, cell and remedy, where records and codes do not make a table.
    """
    path = records.name
    codes, axes = dimensions_in(records, layout)
    cell = _cells(records, layout.dims, axes, codes)
    numbers = numbers_in(records, layout.value)
    refuse_totals(records, layout, axes, codes, numbers)
    space = CellSpace(("table",), (), ("value",), axes)
    keys = tuple(product(*(axis.codes for axis in axes)))
    given = np.zeros(len(keys), dtype=bool)
    given[cell] = True
    if layout.missing == "refuse" and (gone := np.flatnonzero(~given & inside(axes).ravel())).size:
        raise InvalidInput(
            f"{path}: {printed_key(keys[gone[0]])}{and_more(len(gone) - 1)}: inner cells without a "
            f"{records.word}. Remedy: give every one "
            "its own, or say that missing cells are empty, which everybody may know"
        )
    a, consistent = _complete(records, axes, keys, cell, numbers, layout.tolerance)
    status = np.full(len(a), "s")
    status[cell] = _statuses(records, layout, lambda i: printed_key(keys[int(cell[i])]))
    table = _table(records, layout, space, a, status, _Place(cell, given, keys))
    return KeyedTable(table, layout.dims, axes, keys, cell, given, status == "z", consistent)


def dimensions_in(records: TextRows, layout: TableLayout) -> tuple[list[list[str]], tuple[Hierarchy, ...]]:
    """The code of each record in every dimension, and the codes of each dimension with what they
    add up to.
    """
    path = records.name
    dimensions, value, totals, parents = layout.dims, layout.value, layout.total, layout.hierarchy
    for name in (*dimensions, value):
        records.column(name)
    _refuse_names(path, layout)
    codes = [records.column(name) for name in dimensions]
    axes = tuple(
        _axis(records, name, column, totals.get(name, totals.get("")), parents.get(name, ()))
        for name, column in zip(dimensions, codes, strict=True)
    )
    if "" in totals and totals[""] != NONE and not any(totals[""] in column for column in codes):
        raise InvalidInput(
            f"{path}: no cell has the code of totals {totals['']}. Remedy: name the one that stands there"
        )
    if (size := int(np.prod([float(len(axis.codes)) for axis in axes]))) > MOST_CELLS:
        raise InvalidInput(
            f"{path}: {size} cells, more than {MOST_CELLS}. Remedy: leave dimensions out, or round parts of "
            f"the table"
        )
    return codes, axes


def _refuse_names(path: str, layout: TableLayout) -> None:
    """Raises InvalidInput for names that are no dimensions, or two things at once."""
    dimensions, value, totals, parents = layout.dims, layout.value, layout.total, layout.hierarchy
    if len(set(dimensions)) != len(dimensions) or value in dimensions or not dimensions:
        raise InvalidInput(
            f"{path}: dimensions and values are columns of their own, each once. Remedy: name them so"
        )
    if unknown := sorted(set(parents) - set(dimensions)):
        raise InvalidInput(
            f"{unknown[0]}: codes of a dimension that the table does not have. Remedy: name one of "
            f"{', '.join(dimensions)}"
        )
    refuse_own(path, dimensions, (*READ, *MADE, "COST", "COUNT"))
    refuse_own(path, [value], (*READ, "ADJUSTED", "ROUNDED"))
    if unknown := sorted(set(totals) - {"", *dimensions} | set(totals) & set(parents)):
        raise InvalidInput(
            f"total of {unknown[0]}: no such dimension, or one with a list of codes, whose top is its total. "
            f"Remedy: drop it"
        )


def refuse_own(where: str, columns: Sequence[str], own: Sequence[str]) -> None:
    """If a column name is duplicated, pandas keeps both under one key: refuse it."""
    if mine := [name for name in columns if name in own]:
        raise InvalidInput(
            f"{where}: {mine[0]} is the name of a column of ours, and no dimension and no value. Remedy: "
            f"rename it"
        )


def _axis(records: TextRows, name: str, column: list[str], named: str | None, trees: Trees) -> Hierarchy:
    """The codes of a dimension with their parents."""
    if "" in column:
        raise InvalidInput(
            f"{records.at(column.index(''))}: no code in {name}. Remedy: give each cell a code in every "
            f"dimension"
        )
    if (odd := next((i for i, code in enumerate(column) if formula(code)), None)) is not None:
        raise InvalidInput(f"{records.at(odd)}: the code in {name} {FORMULA}")
    total = known_total(records.name, name, column) if named is None else named
    total = TOTAL if total is None or total == NONE else total
    if trees:
        return _of_trees(records, name, column, total, trees)
    _refuse_twins(records, name, column, total)
    parts = tuple(sorted(set(column) - {total}))
    if not parts:
        raise InvalidInput(f"{records.name}: dimension {name} has no code but {total}. Remedy: leave it out")
    return Hierarchy(name, (total, *parts), (None, *[total] * len(parts)))


def _refuse_twins(records: TextRows, name: str, column: list[str], total: str) -> None:
    """Raises InvalidInput for two codes that a reader takes for one another, and for one that he takes for
    the total that is made.
    """
    codes = dict.fromkeys(column)
    if pair := twins(codes):
        refuse_twins(f"{records.at(column.index(pair[1]))}: {name}", pair)
    if pair := twins((total, *codes)):
        raise InvalidInput(
            f"{records.at(column.index(pair[1]))}: {name} {pair[1]!a} looks like {total!a}, the code of the "
            f"total. Remedy: {records.option('total', {name: pair[1]})}, or write it unlike"
        )


def _of_trees(records: TextRows, name: str, column: list[str], total: str, trees: Trees) -> Hierarchy:
    """The codes of a dimension with lists of codes; every code of the table is in one of them. What a further
    .hrc adds up to is the top of the first list.
    """
    where = " or ".join("its hierarchy" if isinstance(tree, Hierarchy) else str(tree) for tree in trees)
    read: list[Hierarchy] = []
    for tree in trees:
        top = read[0].codes[0] if read else total
        read.append(tree if isinstance(tree, Hierarchy) else read_tree(tree, name, top))
    try:
        axis = joined(read)
    except ValueError as error:
        raise InvalidInput(
            f"{where}: {error}. Remedy: trees of one dimension add up the same codes, each once"
        ) from error
    if len(read) > 1:
        refuse_twins(where, axis.codes)
    for i, code in enumerate(column):
        if code not in axis.index:
            raise InvalidInput(
                f"{records.at(i)}: {name} {code} is none of the codes in {where}. Remedy: add it there, or "
                f"correct the {records.word}"
            )
    return axis


def refuse_totals(
    records: TextRows,
    layout: TableLayout,
    axes: Sequence[Hierarchy],
    codes: Sequence[list[str]],
    numbers: Floats,
) -> None:
    """A total that is taken for a part would be counted once more."""
    dimensions = layout.dims
    asked = [i for i in _unnamed(layout) if axes[i].codes[0] not in codes[i]]
    at = _places(axes, codes)
    # totals of the other dimensions need not all stand in the file
    known = [~np.isin(at[i], _above(axis)) for i, axis in enumerate(axes) if i not in asked]
    inner = np.logical_and.reduce(known) if known else np.ones(len(numbers), dtype=bool)
    seen = [each[inner] for each in at]
    for i in asked:
        code = unnamed(seen[i], [*seen[:i], *seen[i + 1 :]], numbers[inner])
        if code is not None:
            name, total = dimensions[i], axes[i].codes[code]
            raise InvalidInput(
                f"{records.name}: {name} {total} is the sum of all others, so a total. Remedy: "
                f"{records.option('total', {name: total})}, or {records.option('total', {name: NONE})} if it "
                f"is none"
            )
    if asked and (found := lone(seen, numbers[inner], asked)) is not None:
        name, total = dimensions[found[0]], axes[found[0]].codes[found[1]]
        raise InvalidInput(
            f"{records.name}: the cell with {name} {total} is the sum of all others, so a total. Remedy: "
            f"{records.option('total', {name: total})}, and so for the other dimensions of this cell, or "
            f"{records.option('total', NONE)} if it is none"
        )


def _unnamed(layout: TableLayout) -> list[int]:
    """The dimensions whose total nobody named."""
    totals = layout.total
    return [
        i
        for i, name in enumerate(layout.dims)
        if name not in layout.hierarchy and totals.get(name, totals.get("")) != NONE
    ]


def _places(axes: Sequence[Hierarchy], codes: Sequence[list[str]]) -> list[Ints]:
    """By dimension (records): the number of each code in its list."""
    return [
        np.array([axis.index[code] for code in column], dtype=np.int64)
        for axis, column in zip(axes, codes, strict=True)
    ]


def _above(axis: Hierarchy) -> list[int]:
    """The codes that are totals of others."""
    return list(axis.parts_of)


def _cells(
    records: TextRows, dimensions: Sequence[str], axes: Sequence[Hierarchy], codes: Sequence[list[str]]
) -> Ints:
    """The cell of each line."""
    shape = tuple(len(axis.codes) for axis in axes)
    cell = np.ravel_multi_index(_places(axes, codes), shape).astype(np.int64)
    order = np.argsort(cell, kind="stable")
    if (double := np.flatnonzero(np.diff(cell[order]) == 0)).size:
        first, second = order[double[0]], order[double[0] + 1]
        key = printed_key(column[first] for column in codes)
        raise InvalidInput(
            f"{records.at(second)}: {key} stands in {records.word} {records.first + first} already. Remedy: "
            f"give each cell once"
        )
    return cell


def numbers_in(records: TextRows, column: str, empty: float | None = None, endless: bool = False) -> Floats:
    """A column of numbers. `empty`: what an empty field means, where it may be. `endless`:
    infinity may be, as of a bound.
    """
    found = np.zeros(len(records.rows))
    for i, text in enumerate(records.column(column)):
        if empty is not None and not text:
            found[i] = empty
            continue
        found[i] = _number(records, i, column, text)
        if not np.isfinite(found[i]) and (not endless or np.isnan(found[i])):
            raise InvalidInput(f"{records.at(i)}: {column} is not finite. Remedy: give its value")
        if not endless and abs(found[i]) > LARGEST:
            raise InvalidInput(
                f"{records.at(i)}: {column} is above {LARGEST:g}, so that sums are not exact. Remedy: "
                f"{LARGER_UNIT}"
            )
    return found


def _number(records: TextRows, i: int, column: str, text: str) -> float:
    """The number in a field of record i; infinite or NaN where it says so."""
    try:
        return float("none" if "_" in text else text)  # Python reads 1_000
    except ValueError:
        raise InvalidInput(
            f"{records.at(i)}: {column} is not a number. Remedy: digits and a decimal point, no separators"
        ) from None


def _complete(
    records: TextRows,
    axes: Sequence[Hierarchy],
    keys: Sequence[tuple[str, ...]],
    cell: Ints,
    numbers: Floats,
    tolerance: float,
) -> tuple[Floats, int]:
    """All cells: those inside as given or empty, totals added up; given totals must agree, each with the sum
    of its own parts where there is a tolerance. And how many of them were replaced.
    """
    shape = tuple(len(axis.codes) for axis in axes)
    told = np.zeros(int(np.prod(shape)))
    told[cell] = numbers
    whole = added_up(np.where(inside(axes), told.reshape(shape), 0.0), axes)
    found, size = without_noise(whole.ravel(), numbers), float(np.abs(numbers).max(initial=0.0))
    noise = SAME * (np.abs(numbers) + 1e-3 * size)
    other = np.abs(found[cell] - numbers) > noise
    sums = found
    if tolerance:
        told = found.copy()
        told[cell] = numbers
        sums = _farthest_sums(told, axes)
    off = np.abs(sums[cell] - numbers) > noise + tolerance
    if off.any():
        line = int(np.flatnonzero(off)[0])
        nor = f", nor are {int(off.sum()) - 1} more" if off.sum() > 1 else ""
        raise InvalidInput(
            f"{records.at(line)}: {printed_key(keys[int(cell[line])])} is not the sum of its parts{nor}: it "
            f"is "
            f"off by {_share(sums[cell[line]], numbers[line]):.2g} of that sum. "
            "Remedy: correct them, name the code of totals, or give files of parents; if they are off by "
            f"rounding, {records.option('tolerance', max(tolerance * 2, last_place(numbers)))} or more"
        )
    found[cell[~other]] = numbers[~other]
    _refuse_rival_sums(records.name, axes, keys, found, size)
    return found, int(other.sum())


def _farthest_sums(told: Floats, axes: Sequence[Hierarchy]) -> Floats:
    """(n): of each total the sum of its parts, as told, in the dimension in which that is farthest from it;
    an inner cell is its own.
    """
    cells = np.arange(len(told)).reshape(tuple(len(axis.codes) for axis in axes))
    found = told.copy()
    for d, axis in enumerate(axes):
        lines = np.moveaxis(cells, d, 0)
        for total, parts in axis.families:
            at, sums = lines[total].ravel(), told[lines[list(parts)]].sum(axis=0).ravel()
            farther = np.abs(sums - told[at]) > np.abs(found[at] - told[at])
            found[at[farther]] = sums[farther]
    return found


def _refuse_rival_sums(
    name: str, axes: Sequence[Hierarchy], keys: Sequence[tuple[str, ...]], a: Floats, size: float
) -> None:
    """Raises InvalidInput where a total is the sum of its parts in one tree, and not in another that has
    other inner codes.
    """
    cells = np.arange(len(a)).reshape(tuple(len(axis.codes) for axis in axes))
    for d, axis in enumerate(axes):
        lines = np.moveaxis(cells, d, 0)
        for total, parts in axis.families if axis.rivals else ():
            told, whole = a[lines[total]], a[lines[list(parts)]].sum(axis=0)
            if (off := np.abs(told - whole) > SAME * (np.abs(told) + 1e-3 * size)).any():
                key, first, last = (
                    keys[lines[total][off].ravel()[0]],
                    axis.codes[parts[0]],
                    axis.codes[parts[-1]],
                )
                raise InvalidInput(
                    f"{name}: {printed_key(key)} is not the sum of its parts {first} … {last}. Remedy: "
                    f"correct them, or leave out the tree of {axis.dimension} that says so"
                )


def _share(whole: float, told: float) -> float:
    """How far a total is from the sum of its parts, as a share of that sum: no value is told."""
    return abs(told - whole) / abs(whole) if whole else 1.0


def _statuses(records: TextRows, layout: TableLayout, key: Callable[[int], str]) -> list[str]:
    """(records): the status of each. An empty one is no word of safety: a join that found no row
    leaves it.
    """
    if layout.primary is not None:
        return ["u" if mark else "s" for mark in marks_in(records, layout.primary, key=key)]
    named = layout.column("status", records)
    if named is None:
        return ["s"] * len(records.rows)
    texts = records.column(named)
    if "" in texts:
        i = texts.index("")
        more = and_more(texts.count("") - 1)
        raise InvalidInput(
            f"{records.at(i)}: {key(i)}{more}: no {named}. Remedy: s where the cell is safe, u where it is "
            f"primary"
        )
    return texts


def marks_in(
    records: TextRows, column: str, empty: str = "", key: Callable[[int], str] | None = None
) -> list[bool]:
    """(records): what a column of 1 and 0 marks. `empty`: what an empty field means; refused where it
    means nothing. `key` of a record.
    """
    texts = [text.lower() or empty for text in records.column(column)]
    if (odd := next((i for i, text in enumerate(texts) if text not in FLAGS), None)) is not None:
        what = f"{column} is neither 1 nor 0" if texts[odd] else f"no {column}"
        where = records.at(odd) if key is None else f"{records.at(odd)}: {key(odd)}"
        raise InvalidInput(f"{where}: {what}. Remedy: mark with 1 what it is true of, with 0 all else")
    return [FLAGS[text] for text in texts]


@dataclass(frozen=True)
class _Place:
    """Which cell each record is, which cells have a record, and the codes of each cell (`KeyedTable`)."""

    cell: Ints
    given: Bools
    keys: Sequence[tuple[str, ...]]


def _table(
    records: TextRows,
    layout: TableLayout,
    space: CellSpace,
    a: Floats,
    status: Letters,
    place: _Place,
) -> SensitiveTable:
    n, cell, keys = len(a), place.cell, place.keys
    low, high = usual_bounds(a)
    ends = {"lb": low, "ub": high, "lpl": 0.0, "upl": 0.0, "spl": 0.0}
    told = {name: np.full(n, empty) for name, empty in ends.items()}
    for name in ("lb", "ub"):
        if (column := layout.column(name, records)) is not None:
            told[name][cell] = numbers_in(records, column, ends[name], endless=True)
    for name, level in _levels(
        records, layout, status[cell] == "u", lambda i: printed_key(keys[int(cell[i])])
    ).items():
        told[name][cell] = level
    levels = np.array([told["lpl"], told["upl"], told["spl"]])
    faults = (
        (
            ~np.isin(status, STATUSES),
            "its STATUS is none of s u m z. Remedy: s safe, u primary, m secondary, z fixed",
        ),
        (
            (a < told["lb"]) | (a > told["ub"]),
            "its value is not between LB and UB. Remedy: bounds hold the true value",
        ),
        (
            ~(np.isfinite(levels) & (levels >= 0)).all(axis=0),
            "a level below 0, or without end. Remedy: levels are distances, at least 0",
        ),
        ((status == "u") & (levels.max(axis=0) == 0), "primary without a level. Remedy: give LPL, UPL, SPL"),
    )
    for mask, what in faults:
        if mask[cell].any():
            i = int(np.flatnonzero(mask[cell])[0])
            raise InvalidInput(f"{records.at(i)}: {printed_key(keys[int(cell[i])])}: {what}")
    primary = status == "u"
    stays = (status == "z") | (told["lb"] == told["ub"]) | _empty(place.given, space.hierarchies)
    levels = np.where(primary, levels, 0.0)
    return SensitiveTable(
        space.national_relations,
        a,
        told["lb"],
        told["ub"],
        levels[0],
        levels[1],
        levels[2],
        primary,
        fixed=stays,
        label=lambda i: printed_key(keys[i]),
        grid=grid_of(space.hierarchies),
        within=np.inf,  # the reader has judged the sums, by the digits that the file prints
    )


def _empty(given: Bools, axes: Sequence[Hierarchy]) -> Bools:
    """(n): cells without a record, and with none below them."""
    inner = inside(axes) & given.reshape([len(axis.codes) for axis in axes])
    return np.asarray(~given & (added_up(inner.astype(float), axes).ravel() == 0))


def usual_bounds(a: Floats) -> tuple[float, float]:
    """What the world knows of each cell of a table that tells no bounds."""
    return -np.inf if (a < 0).any() else 0.0, np.inf


def _levels(
    records: TextRows, layout: TableLayout, primary: Bools, key: Callable[[int], str]
) -> dict[str, Floats]:
    """(records) each: lpl, upl, spl. A primary cell tells both sides, and the sliding level where there is a
    column of it: what is missing would count as 0, less than anybody asked for.
    """
    named = {name: layout.column(name, records) for name in LEVELS}
    if primary.any() and len(one := [name for name in ("lpl", "upl") if named[name] is not None]) == 1:
        other = "UPL" if one == ["lpl"] else "LPL"
        which = f"levels {named[one[0]]} and none for the other side"
        raise InvalidInput(f"{records.name}: {which}. Remedy: add {other}, 0 where none is asked")
    found = {}
    for name, column in named.items():
        if column is not None:
            level = numbers_in(records, column, np.nan)
            if len(gone := np.flatnonzero(primary & np.isnan(level))):
                where, more = f"{records.at(int(gone[0]))}: {key(int(gone[0]))}", and_more(len(gone) - 1)
                raise InvalidInput(
                    f"{where}{more}: primary without a level in {column}. Remedy: give its level, 0 where "
                    f"none is asked"
                )
            found[name] = np.where(np.isnan(level), 0.0, level)
    return found
