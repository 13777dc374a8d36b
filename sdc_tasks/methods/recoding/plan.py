"""A plan of collapses that leaves few primary cells and loses as few cells as possible ([2] §3, Figure 9).

With o_v = 1 for a node that is open (o_v ≤ o of what is above it), a code is there with o of what
is above it, a group g with o_above(g) − o_g; a cell is there if its codes in all dimensions are.
One mixed-integer program chooses:

    max  Σ s_c over the cells c that are not empty       s_c ≤ each of its D codes;   Σ over primaries s_p ≤
    most
                                                         s_p ≥ Σ of its codes − (D − 1)

The solver only proposes: plain arithmetic applies the plan, counts the cells, and adds the table up again.

A cell of groups is the sum of its members. With `least`, a cell is primary if 0 < count < least; the counts
of its members add up. Without `least`, a group that holds a primary is primary, with the sum of its levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput, Unprotectable
from sdc_tasks.methods.recoding.codes import CodeGroup, CodeNodes, code_nodes
from sdc_tasks.model.table import Bools, Floats, Hierarchy, Ints
from sdc_tasks.model.tolerances import SAME
from sdc_tasks.solver.lp import Status
from sdc_tasks.solver.milp import Milp, solve_milp

MOST_RECODED = 200_000  # cells of a table, groups included, for the program
PLAN_NODES = 100_000  # of the search, so that it ends by counted work


@dataclass(frozen=True)
class Recodable:
    """A table crossed from `axes`, in their order, n cells. `levels` (3, n): lpl, upl, spl; `count`
    (n): contributors, perhaps None.
    """

    axes: tuple[Hierarchy, ...]
    a: Floats = field(repr=False)
    primary: Bools = field(repr=False)
    levels: Floats = field(repr=False)
    count: Floats | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Recoded:
    """A table after a plan. `closed`: by dimension the codes and groups that were closed; `lost`: cells that
    are no longer there and were not empty, less those that are new; `before`, `primaries`: numbers of primary
    cells; `proven`: no plan loses less.
    """

    table: Recodable
    closed: tuple[tuple[str, ...], ...]
    lost: int
    before: int
    proven: bool

    @property
    def primaries(self) -> int:
        """The number of primary cells after the plan."""
        return int(self.table.primary.sum())


class Recoding:
    """A table with the groups that may be used."""

    def __init__(
        self, table: Recodable, groups: Sequence[CodeGroup] = (), least: float | None = None
    ) -> None:
        if least is not None and table.count is None:
            raise InvalidInput("a least count needs the counts of the cells. Remedy: give a column of counts")
        _refuse_dimensions(table, groups)
        self.table = table
        self.nodes = tuple(
            code_nodes(axis, [group for group in groups if group.dimension == axis.dimension])
            for axis in table.axes
        )
        shape = tuple(len(axis.codes) for axis in table.axes)
        self.a = self._summed(table.a.reshape(shape))
        self.empty = self._summed((table.a != 0).astype(float).reshape(shape)) == 0
        if least is not None and table.count is not None:
            count = self._summed(table.count.reshape(shape))
            self.count: Floats | None = count
            self.primary = (count > 0) & (count < least)
        else:
            self.count = None if table.count is None else self._summed(table.count.reshape(shape))
            self.primary = self._summed(table.primary.astype(float).reshape(shape)) > 0
        self.levels = np.stack(
            [self._summed(np.where(table.primary, level, 0.0).reshape(shape)) for level in table.levels]
        )

    def _summed(self, grid: Floats) -> Floats:
        """A grid over the codes as one over codes and groups."""
        for axis, nodes in enumerate(self.nodes):
            grid = np.moveaxis(np.tensordot(nodes.sums.toarray(), grid, axes=(1, axis)), 0, axis)
        return grid

    def applied(self, closed: Sequence[Bools], proven: bool = False) -> Recoded:
        """The table after codes and groups are closed, of each dimension (nodes). Raises
        ArithmeticError if it does not add up.
        """
        there = [nodes.there(mine) for nodes, mine in zip(self.nodes, closed, strict=True)]
        axes = tuple(nodes.hierarchy(mine) for nodes, mine in zip(self.nodes, there, strict=True))
        place = np.ix_(*(np.flatnonzero(mine) for mine in there))
        primary = self.primary[place]
        levels = np.stack([np.where(primary, level[place], 0.0).ravel() for level in self.levels])
        count = None if self.count is None else self.count[place].ravel()
        _refuse_missed_sums(axes, self.a[place])
        table = Recodable(axes, self.a[place].ravel(), primary.ravel(), levels, count)
        names = tuple(
            tuple(nodes.names[i] for i in np.flatnonzero(mine & _reached(nodes, mine)) if i in nodes.closable)
            for nodes, mine in zip(self.nodes, closed, strict=True)
        )
        originally = np.ix_(*(~nodes.group for nodes in self.nodes))
        lost = int((~self.empty[originally]).sum()) - int((~self.empty[place]).sum())
        return Recoded(table, names, lost, int(self.primary[originally].sum()), proven)

    def cheapest(self, most: int = 0) -> Recoded:
        """The table that loses the fewest cells of those that keep at most so many primaries.

        Raises Unprotectable if the totals alone hold more; InvalidInput if the table is too large to choose
        for.
        """
        everything = [np.ones(len(nodes.names), dtype=bool) for nodes in self.nodes]
        if (left := self.applied(everything).primaries) > most:
            raise Unprotectable(
                f"{left} primary cells are left when every code below a total is collapsed. "
                "Remedy: allow as many, or protect them otherwise"
            )
        if self.a.size > MOST_RECODED:
            raise InvalidInput(
                f"{self.a.size} cells with groups, more than {MOST_RECODED}. Remedy: give a plan, or recode "
                f"parts of the table"
            )
        model, places = self._model(most)
        result = solve_milp(model, "highs", np.inf, 0.0, PLAN_NODES)
        if result.x is None:
            return self.applied(everything)
        closed = [np.ones(len(nodes.names), dtype=bool) for nodes in self.nodes]
        for axis, mine in enumerate(places):
            for node, column in mine.items():
                closed[axis][node] = result.x[column] < 0.5
        found = self.applied(closed, proven=result.status is Status.OPTIMAL)
        return found if found.primaries <= most else self.applied(everything)

    def _model(self, most: int) -> tuple[Milp, list[dict[int, int]]]:
        """The MILP, and the columns of what may be closed, by dimension and node."""
        places: list[dict[int, int]] = []
        used = 0
        for nodes in self.nodes:
            places.append({int(node): used + i for i, node in enumerate(nodes.closable)})
            used += len(places[-1])
        cells = np.flatnonzero(~self.empty.ravel() | self.primary.ravel())
        primary = self.primary.ravel()[cells]
        width = used + len(cells)
        rows = _Rows(width)
        for nodes, place in zip(self.nodes, places, strict=True):
            for node, column in place.items():
                if nodes.above[node] >= 0:
                    rows.add({column: 1.0, place[int(nodes.above[node])]: -1.0}, -np.inf, 0.0)
        self._add_cells(rows, cells, used, places)
        rows.add({used + i: 1.0 for i in np.flatnonzero(primary).tolist()}, -np.inf, float(most))
        cost = np.concatenate([np.zeros(used), np.where(self.empty.ravel()[cells], 0.0, -1.0)])
        matrix, low, high = rows.matrix()
        return Milp(cost, matrix, low, high, np.zeros(width), np.ones(width), np.arange(used)), places

    def _add_cells(self, rows: _Rows, cells: Ints, used: int, places: list[dict[int, int]]) -> None:
        """The rows that let a cell be there only if its codes are, and a primary if all of them are. Its
        column follows the `used` columns of codes.
        """
        codes = np.unravel_index(cells, self.a.shape)
        for i, primary in enumerate(self.primary.ravel()[cells].tolist()):
            terms = [
                _there(nodes, place, int(code[i]))
                for nodes, place, code in zip(self.nodes, places, codes, strict=True)
            ]
            for constant, line in terms:
                rows.add({used + i: 1.0, **_negative(line)}, -np.inf, constant)
            if primary:
                both: dict[int, float] = {}
                for _, line in terms:
                    both = _plus(both, line)
                at_least = sum(constant for constant, _ in terms) - (len(terms) - 1)
                rows.add({used + i: 1.0, **_negative(both)}, at_least, np.inf)


def _reached(nodes: CodeNodes, closed: Bools) -> Bools:
    """(nodes): those with nothing closed above them."""
    found = np.ones(len(nodes.names), dtype=bool)
    for node in range(len(nodes.names)):
        step = int(nodes.above[node])
        while step >= 0:
            found[node] &= not closed[step]
            step = int(nodes.above[step])
    return found


def _there(nodes: CodeNodes, place: dict[int, int], node: int) -> tuple[float, dict[int, float]]:
    """Whether a node is there, as constant + Σ value · o."""
    line: dict[int, float] = {}
    constant = 1.0
    if nodes.above[node] >= 0:
        constant, line = 0.0, {place[int(nodes.above[node])]: 1.0}
    if nodes.group[node]:
        line = _plus(line, {place[node]: -1.0})
    return constant, line


def _plus(one: dict[int, float], other: dict[int, float]) -> dict[int, float]:
    return {column: one.get(column, 0.0) + other.get(column, 0.0) for column in (*one, *other)}


def _negative(line: dict[int, float]) -> dict[int, float]:
    return {column: -value for column, value in line.items()}


class _Rows:
    """The rows of an LP, one by one."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._lines: list[dict[int, float]] = []
        self._bounds: list[tuple[float, float]] = []

    def add(self, line: dict[int, float], low: float, high: float) -> None:
        self._lines.append(line)
        self._bounds.append((low, high))

    def matrix(self) -> tuple[sp.csr_array, Floats, Floats]:
        row: Ints = np.repeat(np.arange(len(self._lines)), [len(line) for line in self._lines])
        column = np.array([column for line in self._lines for column in line], dtype=np.int64)
        value = np.array([value for line in self._lines for value in line.values()])
        low, high = np.array(self._bounds).T
        return sp.csr_array((value, (row, column)), shape=(len(self._lines), self._width)), low, high


def _refuse_dimensions(table: Recodable, groups: Sequence[CodeGroup]) -> None:
    """Raises InvalidInput for a group of a dimension that the table does not have."""
    for group in groups:
        if group.dimension not in {axis.dimension for axis in table.axes}:
            raise InvalidInput(
                f"{group.place}: {group.dimension} is no dimension of the table. Remedy: name one of its "
                f"dimensions"
            )


def _refuse_missed_sums(axes: tuple[Hierarchy, ...], grid: Floats) -> None:
    """Every total is the sum of its parts, in every dimension."""
    for d, axis in enumerate(axes):
        lines = np.moveaxis(grid, d, 0)
        for total, parts in axis.families:
            miss = np.abs(lines[total] - lines[list(parts)].sum(axis=0))
            if (miss > SAME * (1 + np.abs(lines[list(parts)]).sum(axis=0))).any():
                raise ArithmeticError("a recoded table does not add up")
