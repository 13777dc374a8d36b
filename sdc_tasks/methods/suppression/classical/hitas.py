"""HiTaS, the modular method of offices ([2] §4.3; de Wolf 2002), then completed so that what comes out is
safe.

Sub-tables without substructure are protected one by one, from the top down, each at least cost by the exact
method ([2] §4.1). What is hidden in one table is primary in all others that hold it, with a small level:
nobody may recalculate it. What stays open in a higher table stays open below. If a table cannot be
protected in this way, its margins may be hidden as well, and the tables above are treated again
(backtracking). This ends, because hidden cells are never opened again. The work is counted all the same: a
sub-table of three or more dimensions is solved as far as `OF_A_TABLE` goes, and after `TIMES` solutions for
each sub-table no more is begun.

The level of a secondary in other tables is left open by the publication; here it is a `NOTICEABLE` share of
its value.

Without completion, cells can stay at risk, because the sub-tables are judged one at a time and the
levels of secondaries are small.
"""

from __future__ import annotations

import heapq

import numpy as np

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.suppression.classical.completed import complete, grid_for
from sdc_tasks.methods.suppression.exact import Work, suppress_exactly
from sdc_tasks.methods.suppression.pattern.run import Shared, SuppressionRun
from sdc_tasks.model.grid import Grid, Subtable
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Ints
from sdc_tasks.model.tolerances import NOTICEABLE

OF_A_TABLE = Work(
    rounds=50, integer_rounds=4, nodes=500, patterns=0, search=2
)  # on one sub-table, whose pattern need not be proven
TIMES = 20  # that a sub-table is solved, on average


def modular(run: SuppressionRun, seed: int = 1) -> str:
    """Offers the completed pattern of HiTaS; returns "work" or "time". Raises InvalidInput if the table has
    no dimensions that are known, Unprotectable if no pattern is safe.
    """
    grid = grid_for(run.problem, "hitas")
    search = _TopDown(run, grid, seed)
    alone = search.found()
    return complete(run, alone, seed, "hitas", search.finished)


class _TopDown:
    def __init__(self, run: SuppressionRun, grid: Grid, seed: int) -> None:
        self.run, self.problem, self.seed, self.tables = run, run.problem, seed, grid.subtables
        n = len(self.problem.a)
        self.hidden = self.problem.primary.copy()
        own, *further = self.problem.layers
        self.level = (
            np.array([own.down, own.up, own.width])
            if self.problem.attained
            else np.array([self.problem.lpl, self.problem.upl, self.problem.spl])
        )
        further = [layer for layer in further if not layer.lacks]  # the others are left to the completion
        none = np.zeros((0, n))
        self.beside = (
            np.vstack([none, *(np.maximum(layer.up, layer.down) for layer in further)]),
            np.vstack([none.astype(np.int64), *(layer.guards for layer in further)]),
        )
        self.holding: list[list[int]] = [[] for _ in range(n)]  # of each cell: the tables that hold it
        for number, table in enumerate(self.tables):
            for cell in table.cells.ravel().tolist():
                self.holding[cell].append(number)
        self.finished = False
        self.dealt_with = np.full(
            n, np.iinfo(np.int64).max
        )  # of each cell: the highest level of a table that was done

    def found(self) -> Bools:
        queue = list(range(len(self.tables)))  # a heap: tables are sorted from the top down
        done = [False] * len(self.tables)
        for _ in range(TIMES * len(self.tables)):
            if not queue or self.run.left <= 0:
                break
            number = heapq.heappop(queue)
            new = self._protect(self.tables[number])
            done[number] = True
            for cell in new:
                for other in self.holding[cell]:
                    if done[other] and other != number:
                        done[other] = False
                        heapq.heappush(queue, other)
        self.finished = not queue and self.run.left > 0
        return self.hidden

    def _protect(self, table: Subtable) -> list[int]:
        """Hides what a table needs; the cells that were open before."""
        cells = table.cells.ravel()
        was_open = ~self.hidden[cells]
        pattern = None
        if not was_open.all():
            sealed = was_open & (self.dealt_with[cells] < table.level)
            pattern = self._solved(table, sealed)
            if pattern is None and sealed.any():
                pattern = self._solved(table, np.zeros(len(cells), dtype=bool))
        self.dealt_with[cells] = np.minimum(self.dealt_with[cells], table.level)
        if pattern is None:
            return []
        new: Ints = cells[pattern & was_open]
        self.hidden[new] = True
        self.level[:, new] = np.outer([1.0, 1.0, 0.0], NOTICEABLE * np.abs(self.problem.a[new]))
        return [int(cell) for cell in new]

    def _solved(self, table: Subtable, sealed: Bools) -> Bools | None:
        """(cells): the cheapest pattern of a table in which sealed cells stay open; None if there is none."""
        problem, cells = self.problem, table.cells.ravel()
        hidden = self.hidden[cells]
        lpl, upl, spl = self.level[:, cells]
        M = table.relations
        inside = SensitiveTable(
            M,
            problem.a[cells],
            problem.lb[cells],
            problem.ub[cells],
            lpl,
            upl,
            spl,
            cost=problem.cost[cells],
            primary=hidden,
            fixed=~hidden & (problem.fixed[cells] | sealed),
            rhs=M @ problem.a[cells],
            singleton=problem.lone[cells],
            respondent=problem.respondents[cells],
            guarded=problem.guards[cells],
            beside=self.beside[0][:, cells],
            beside_guarded=self.beside[1][:, cells],
        )
        run = SuppressionRun(inside, Shared(self.run), self.run.gap_wanted)
        try:
            suppress_exactly(run, OF_A_TABLE, self.seed)
        except Unprotectable:
            return None
        return None if run.incumbent is None else run.incumbent.hidden
