"""Which cells of two tables are the same, and which are sums or means of others over time (METHOD §10).

A cell is named by its country, its indicator, its period, and one code for each dimension. A dimension that a
table does not have stands at its only root in the other one. So two tables of one period share the cells that
they both name. The cell of a period is the sum (for flows) or the mean (for stocks) of the cells of the
periods within it: of each cell, the longest of these that are out. Where they do not cover the period, a flow
is at least their sum, if none of its cells may be negative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.table import Bools, CellSpace, Floats, Hierarchy, Ints
from sdc_tasks.model.time.periods import PeriodRule, bounds, months_of, overlap


@dataclass(frozen=True)
class Linked:
    """A table of a statistic: its national cells, the first of them in the joint space, and its period."""

    name: str
    period: str
    space: CellSpace
    first: int


@dataclass(frozen=True)
class Rows:
    """Relations between tables, in the numbers of the joint space: `total` and `weight` (rows,); of the
    parts, the `row`, `cell` and `factor` of each entry. `whole` (rows,): the parts cover the period of the
    total, so that both sides are equal; else weight · total is at least their sum.
    """

    total: Ints
    weight: Floats
    row: Ints
    cell: Ints
    factor: Floats
    whole: Bools

    def matrix(self, rows: Bools, size: int) -> sp.csr_array:
        """(rows, size): −weight at each total, the factors at its parts."""
        number, kept = np.cumsum(rows) - 1, rows[self.row]
        at = np.flatnonzero(rows)
        entries = (
            np.concatenate([-self.weight[at], self.factor[kept]]),
            (
                np.concatenate([number[at], number[self.row[kept]]]),
                np.concatenate([self.total[at], self.cell[kept]]),
            ),
        )
        found = sp.csr_array(entries, shape=(len(at), size))
        found.sort_indices()
        return found


def same_cells(tables: Sequence[Linked], agree: Callable[[Ints, Ints], Bools]) -> Rows:
    """One row for each cell of a table that an earlier table of the list has too, at the same time. `agree`:
    whether cells (cells,) of an earlier table and of a later one have the same values; where they do not, the
    row is not whole, and the tables between the two are asked next.
    """
    totals, cells, whole = list[Ints](), list[Ints](), [np.zeros(0, dtype=bool)]
    for j, table in enumerate(tables):
        free = np.ones(table.space.first_aggregate, dtype=bool)
        for other in tables[:j]:
            if other.period != table.period:
                continue
            there = partners(table.space, other.space)
            at = np.flatnonzero(free & (there >= 0))
            totals.append(other.first + there[at])
            cells.append(table.first + at)
            whole.append(agree(totals[-1], cells[-1]))
            free[at[whole[-1]]] = False
    total, cell = (np.concatenate([np.zeros(0, dtype=np.int64), *each]) for each in (totals, cells))
    one = np.ones(len(total))
    return Rows(total, one, np.arange(len(total)), cell, one, np.concatenate(whole))


def over_time(tables: Sequence[Linked], rules: Mapping[str, PeriodRule]) -> Rows:
    """For each cell of a table, its relation to the same cell of the longest periods within its own."""
    found = [of_total(total, tables, rules) for total in tables]
    starts = np.cumsum([0, *(len(each.total) for each in found)])

    def together(name: str) -> np.ndarray:
        return np.concatenate([getattr(each, name) for each in found])

    row = np.concatenate([each.row + start for each, start in zip(found, starts[:-1], strict=True)])
    return Rows(
        together("total").astype(np.int64),
        together("weight"),
        row.astype(np.int64),
        together("cell").astype(np.int64),
        together("factor"),
        together("whole").astype(bool),
    )


def of_total(total: Linked, tables: Sequence[Linked], rules: Mapping[str, PeriodRule]) -> Rows:
    """The relations whose totals are cells of this table."""
    (first, after), n = bounds(total.period), total.space.first_aggregate
    rule = np.array([rules.get(code, PeriodRule.NONE) for code in total.space.indicators])[
        total.space.indicator_of(np.arange(n))
    ]
    mean, covered = rule == PeriodRule.MEAN, np.zeros(n, dtype=np.int64)
    rows, cells, factors = list[Ints](), list[Ints](), list[Floats]()
    for period, at, there in _longest_within(total, tables, rule != PeriodRule.NONE):
        begins, ends = bounds(period)
        covered[at] += (ends - begins).days
        rows.append(at)
        cells.append(there)
        factors.append(np.where(mean[at], months_of(period), 1.0))
    if not rows or not np.concatenate(rows).size:
        none = np.zeros(0, dtype=np.int64)
        return Rows(none, np.zeros(0), none, none, np.zeros(0), none > 0)
    linked = covered > 0
    number, at = (np.cumsum(linked) - 1).astype(np.int64), np.flatnonzero(linked)
    row, cell, factor = (np.concatenate(each) for each in (rows, cells, factors))
    weight = np.where(mean[at], months_of(total.period), 1.0)
    unit = weight.astype(np.int64)  # the largest whole number by which a relation can be divided
    np.gcd.at(unit, number[row], factor.astype(np.int64))
    return Rows(
        total.first + at,
        weight / unit,
        number[row].astype(np.int64),
        cell.astype(np.int64),
        factor / unit[number[row]],
        covered[at] == (after - first).days,
    )


def _longest_within(
    total: Linked, tables: Sequence[Linked], asked: Bools
) -> Iterator[tuple[str, Ints, Ints]]:
    """(period, cells, the same cells there) for each period within that of a table, the longest first. A cell
    that is `asked` for stands with periods that do not overlap.
    """
    taken: list[tuple[date, date, Bools]] = []
    shorter = {each.period for each in tables if _within(each.period, total.period)}
    for period in sorted(shorter, key=_longest_first):
        begins, ends = bounds(period)
        there = _same_in(total, [each for each in tables if each.period == period])
        free = (there >= 0) & asked
        for other_begins, other_ends, by in taken:
            if begins < other_ends and other_begins < ends:
                free &= ~by
        taken.append((begins, ends, free))
        at = np.flatnonzero(free)
        yield period, at, there[at]


def _same_in(table: Linked, others: Sequence[Linked]) -> Ints:
    """(national cells,): the same cell in the first of the other tables that has it; −1 where none has."""
    there = np.full(table.space.first_aggregate, -1)
    for each in others:
        found = partners(table.space, each.space)
        there = np.where((there < 0) & (found >= 0), each.first + found, there)
    return there


def refuse_crossing(periods: Sequence[str]) -> None:
    """Raises InvalidInput for two periods that overlap, and neither of which is within the other: what a
    week of two months tells of them is not known.
    """
    for i, one in enumerate(periods):
        for other in periods[:i]:
            if overlap(one, other) and one != other and not _within(one, other) and not _within(other, one):
                raise InvalidInput(
                    f"{other} and {one} overlap, and neither is within the other, so that nobody can say "
                    "what the figures of one tell of those of the other. Remedy: release periods that "
                    "nest, such as months, quarters and years; or periods: none"
                )


def _within(period: str, other: str) -> bool:
    (first, after), (begins, ends) = bounds(period), bounds(other)
    return period != other and begins <= first and after <= ends


def _longest_first(period: str) -> tuple[int, str]:
    first, after = bounds(period)
    return -(after - first).days, period


def partners(one: CellSpace, other: CellSpace) -> Ints:
    """(national cells of `one`,): the same cell among the national cells of `other`, whatever its period; −1
    where it has none.
    """
    indicator = _positions(one.indicators, other.indicators)
    axes, strides = [indicator], _strides(other)
    step = strides[0] * np.maximum(indicator, 0)
    place = step.reshape([-1] + [1] * len(one.hierarchies))
    there = (indicator >= 0).reshape(place.shape)
    at = {hierarchy.dimension: k for k, hierarchy in enumerate(other.hierarchies)}
    for k, hierarchy in enumerate(one.hierarchies):
        shape = [1] * (1 + len(one.hierarchies))
        shape[1 + k] = -1
        if hierarchy.dimension in at:
            mine = at.pop(hierarchy.dimension)
            axes.append(codes := _positions(hierarchy.codes, other.hierarchies[mine].codes))
            place = place + (strides[1 + mine] * np.maximum(codes, 0)).reshape(shape)
            there = there & (codes >= 0).reshape(shape)
        else:
            there = there & (np.arange(len(hierarchy.codes)) == _root(hierarchy)).reshape(shape)
    for mine in at.values():
        if (root := _root(other.hierarchies[mine])) < 0:
            there = there & False
        place = place + strides[1 + mine] * max(root, 0)
    inside = np.where(there, np.broadcast_to(place, there.shape), -1).ravel()
    country = _positions(one.countries, other.countries)[:, None]
    both = (country >= 0) & (inside >= 0)[None, :]
    return np.where(both, country * other.national_size + inside[None, :], -1).ravel()


def _root(hierarchy: Hierarchy) -> int:
    """The only root; −1 where there are several: nobody said which of them is the whole."""
    return hierarchy.roots[0] if len(hierarchy.roots) == 1 else -1


def _positions(names: Sequence[str], there: Sequence[str]) -> Ints:
    number = {name: i for i, name in enumerate(there)}
    return np.array([number.get(name, -1) for name in names], dtype=np.int64)


def _strides(space: CellSpace) -> list[int]:
    shape = space.national_shape
    return [int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
