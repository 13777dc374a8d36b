"""The hypercube method as offices know it ([2] §4.3; Giessing & Repsilber 2002), then completed
so that what comes out is safe.

Sub-tables without substructure are treated from the top down, repeatedly, until nothing is added. In a
sub-table every suppressed cell is a corner of hypercubes: one other code is chosen in each dimension, which
gives 2ᵈ corners. If the corners move by ±δ in turns, by the parity of the codes changed, all sums stay. So
one hypercube alone lets the cell

    rise by  min (room above of the even corners, room below of the odd ones),   fall by the same
    with above and below exchanged.

Among the hypercubes that let it rise and fall as far as is asked, the one that hides the least new cost is
taken, all its corners are hidden. If none does, the method takes the one that comes nearest: here it asks for
less than it should. A corner that stands in other sub-tables too must be protected there as well, by what was
asked for here. Cells that stay open, empty ones among them, are no corners.

Without completion, cells can stay at risk: a hypercube may be too narrow, the sub-tables are judged one at a
time, and respondents of singletons, whom this method does not consider, know corners of a hypercube.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from sdc_tasks.methods.suppression.classical.completed import complete, grid_for
from sdc_tasks.methods.suppression.pattern.run import SuppressionRun
from sdc_tasks.model.grid import Grid
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import SAME


def hypercubes(run: SuppressionRun, seed: int = 1) -> str:
    """Offers the completed pattern of the hypercube method; returns "work" or "time". Raises InvalidInput if
    the table has no dimensions that are known, Unprotectable if no pattern is safe.
    """
    grid = grid_for(run.problem, "hypercube")
    return complete(run, corners(run.problem, grid), seed, "hypercube")


def corners(problem: SensitiveTable, grid: Grid) -> Bools:
    """(n): the cells that the hypercube method alone hides."""
    return _Corners(problem, grid).found()


@dataclass(frozen=True)
class _Wanted:
    """How far a suppressed cell must be able to rise and fall, and the width of both."""

    up: float
    down: float
    width: float


class _Corners:
    def __init__(self, problem: SensitiveTable, grid: Grid) -> None:
        self.problem, self.grid = problem, grid
        self.hidden = problem.primary.copy()
        self.above, self.below = problem.ub - problem.a, problem.a - problem.lb
        own = problem.layers[0]
        self.wanted = {
            int(p): _Wanted(float(own.up[p]), float(own.down[p]), float(own.width[p]))
            for p in problem.primaries
            if own.most[p] > 0
        }

    def found(self) -> Bools:
        done: list[set[int]] = [set() for _ in self.grid.subtables]
        added = True
        while added:
            added = False
            for table, mine in zip(self.grid.subtables, done, strict=True):
                while waiting := self._waiting(table.cells, mine):
                    mine.add(waiting[0])
                    added |= self._protect(table.cells, waiting[0], mine)
        return self.hidden

    def _waiting(self, cells: Ints, done: set[int]) -> list[int]:
        """The suppressed cells of a sub-table that were not dealt with, those that need most first."""
        mine = [
            cell for cell in cells[self.hidden[cells]].tolist() if cell in self.wanted and cell not in done
        ]
        return sorted(mine, key=lambda cell: (-max(self.wanted[cell].up, self.wanted[cell].down), cell))

    def _protect(self, cells: Ints, target: int, done: set[int]) -> bool:
        """Hides the corners of the hypercube that suits a cell; whether there are new ones."""
        (at,) = np.argwhere(cells == target).tolist()
        others = [np.delete(np.arange(size), place) for size, place in zip(cells.shape, at, strict=True)]
        moving = [axis for axis, other in enumerate(others) if len(other)]
        wanted = self.wanted[target]
        rise, fall, cost = self._priced(cells, at, others, moving)
        best = _choice(rise, fall, cost, wanted)
        if best is None or not moving:
            return False
        chosen = np.unravel_index(best, cost.shape)
        ends = [
            np.array([at[axis], others[axis][chosen[axis]]]) if axis in moving else np.array([at[axis]])
            for axis in range(cells.ndim)
        ]
        new = [cell for cell in cells[np.ix_(*ends)].ravel().tolist() if not self.hidden[cell]]
        self.hidden[new] = True
        self.wanted.update(dict.fromkeys(new, wanted))
        done.update(new)
        return bool(new)

    def _priced(
        self, cells: Ints, at: list[int], others: list[Ints], moving: list[int]
    ) -> tuple[Floats, Floats, Floats]:
        """How far the cell `at` rises and falls by each hypercube, and what that costs, by the opposite
        corner. `others`: the other places on each axis of the sub-table; `moving`: the axes that have some.
        """
        target = int(cells[tuple(at)])
        shape = tuple(len(others[axis]) if axis in moving else 1 for axis in range(cells.ndim))
        rise, fall, cost = (
            np.full(shape, self.above[target]),
            np.full(shape, self.below[target]),
            np.zeros(shape),
        )
        for changed in product((False, True), repeat=len(moving)):
            if not any(changed):
                continue
            choice = [np.array([place]) for place in at]
            for axis, swap in zip(moving, changed, strict=True):
                if swap:
                    choice[axis] = others[axis]
            corner = cells[np.ix_(*choice)]
            odd = sum(changed) % 2 == 1
            rise = np.minimum(rise, (self.below if odd else self.above)[corner])
            fall = np.minimum(fall, (self.above if odd else self.below)[corner])
            cost = cost + np.where(
                self.hidden[corner],
                0.0,
                np.where(self.problem.fixed[corner], np.inf, self.problem.cost[corner]),
            )
        return rise, fall, cost


def _choice(rise: Floats, fall: Floats, cost: Floats, wanted: _Wanted) -> int | None:
    """The cheapest hypercube that is wide enough, else the cheapest of those that come nearest; None if
    cells that stay open forbid all.
    """
    shares = [
        reach / asked
        for reach, asked in ((rise, wanted.up), (fall, wanted.down), (rise + fall, wanted.width))
        if asked > 0
    ]
    share = np.minimum(np.min(shares, axis=0), 1 - SAME).ravel()
    flat = cost.ravel()
    share[np.isinf(flat)] = -1.0
    nearest = float(share.max(initial=-1.0))
    if nearest < 0:
        return None
    return int(np.argmin(np.where(share >= nearest, flat, np.inf)))
