"""Linear programs on the deviations of hidden cells, by a HiGHS model of the judge's own: they
propose points, and the judge checks each of them by arithmetic.

The model is reduced before it is built, by code of its own (the searches have `sdc_tasks/presolve`): cells
that stand alone together in a relation are one column, and equal relations are one row.
"""

from __future__ import annotations

import time

import highspy
import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import ROUNDING, ZERO
from sdc_tasks.quiet import made_quietly
from sdc_tasks.solver_api import asked

PRIMAL_SIMPLEX = 4  # HiGHS: from one program to the next the point stays feasible more often than optimal


class LinearPrograms:
    """A live HiGHS on the deviations of the hidden cells, in units of `unit`; only costs and caps
    change, so that the basis stays good.

    `M` (m, n): relations of the hidden cells. `room`: how far each may fall and rise (n), in data units.
    `respondent` (n): who knows the cell alone, negative for nobody. Programs that would begin after `seconds`
    are not solved. `solved`: the number of programs so far.
    """

    def __init__(
        self, M: sp.csr_array, room: tuple[Floats, Floats], respondent: Ints, unit: float, seconds: float
    ) -> None:
        self.solved, self._unit, self._end = 0, unit, time.monotonic() + seconds
        self._low, self._high, self._respondent = -room[0] / unit, room[1] / unit, respondent
        M, self._of, self._ratio = _tied(M)
        self._order = np.argsort(self._of, kind="stable")
        self._starts = np.searchsorted(self._of[self._order], np.arange(M.shape[1]))
        self._columns = np.arange(M.shape[1], dtype=np.int32)
        self._M = M
        self._highs = _solver()
        asked(self._highs.passModel, _model(M, *self._tightest(self._low, self._high)))

    def point(
        self, cost: Floats, columns: Ints, sign: float, far: Floats, away: tuple[int, ...] = ()
    ) -> Floats | None:
        """A point d (data units) of largest Σ cost · d, `columns` moving no further than `far`; None if the
        solver has none.

        Singletons stay, except those of respondents who are `away`: who is protected, who takes no part.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            return None
        self.solved += 1
        low, high = self._bounds(away)
        if sign > 0:
            np.minimum.at(high, columns, far / self._unit)
        else:
            np.maximum.at(low, columns, -far / self._unit)
        x = self._solve(cost, low, high, left)
        if x is None:
            return None
        d = np.clip(x[self._of] * self._ratio, low, high) * self._unit
        return np.where(np.abs(d) > 10 * ROUNDING * self._unit, d, 0.0)

    def farthest(self, column: int, sign: float, far: float, away: tuple[int, ...]) -> float:
        """By how much a cell moves to one side, at most, up to `far` (data units): what the multipliers of a
        program prove, by arithmetic. The rooms of all cells must be whole. `away` as for `point`.
        """
        low, high = self._bounds(away)
        if sign > 0:
            high[column] = min(high[column], far / self._unit)
        else:
            low[column] = max(low[column], -far / self._unit)
        cost = np.zeros(len(low))
        cost[column] = sign
        room = float(high[column] if sign > 0 else -low[column])
        self.solved += 1
        if room <= 0 or self._solve(cost, low, high, np.inf) is None:
            return max(room, 0.0) * self._unit
        gain = np.bincount(self._of, weights=cost * self._ratio, minlength=len(self._columns))
        size = float(np.abs(gain).max())
        multipliers = np.round(np.array(self._highs.getSolution().row_dual) / ZERO) * ZERO
        least, most = self._tightest(low, high)
        found = [room]
        for times in (1.0, -1.0):  # whatever a solver calls the sign of a multiplier: any of them prove
            pull = gain / size - times * (self._M.T @ multipliers)
            pull[np.abs(pull) < ZERO / 2] = 0.0
            with np.errstate(invalid="ignore"):  # a cell that the proof does not use may have no end
                ends = np.where(pull > 0, pull * most, np.where(pull < 0, pull * least, 0.0))
            found.append(size * float(ends.sum()))
        return max(min(found), 0.0) * self._unit

    def _bounds(self, away: tuple[int, ...]) -> tuple[Floats, Floats]:
        known = (self._respondent >= 0) & ~np.isin(self._respondent, away)
        return np.where(known, 0.0, self._low), np.where(known, 0.0, self._high)

    def _solve(self, cost: Floats, low: Floats, high: Floats, seconds: float) -> Floats | None:
        """The columns of the best solution that is found; None without one."""
        highs, count = self._highs, len(self._columns)
        asked(highs.setOptionValue, "time_limit", highs.getRunTime() + seconds)
        cost = np.bincount(self._of, weights=cost * self._ratio, minlength=count).astype(float)
        scale = np.abs(cost).max(initial=0.0)
        asked(highs.changeColsCost, count, self._columns, cost / (scale or 1.0))
        asked(highs.changeColsBounds, count, self._columns, *self._tightest(low, high))
        solved = highs.run() != highspy.HighsStatus.kError
        if not solved or highs.getModelStatus() not in {
            highspy.HighsModelStatus.kOptimal,
            highspy.HighsModelStatus.kTimeLimit,
        }:
            asked(highs.clearSolver)  # a basis that went wrong: once more from the start
            solved = highs.run() != highspy.HighsStatus.kError
        solution = highs.getSolution()
        return np.array(solution.col_value) if solved and solution.value_valid else None

    def _tightest(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The bounds of the columns, from those of the cells."""
        falls = self._ratio < 0
        least, most = np.where(falls, high, low) / self._ratio, np.where(falls, low, high) / self._ratio
        return np.maximum.reduceat(least[self._order], self._starts), np.minimum.reduceat(
            most[self._order], self._starts
        )


def _solver() -> highspy.Highs:
    highs = made_quietly(highspy.Highs)
    highs.silent()
    for option, value in (
        ("threads", 1),
        ("random_seed", 0),
        ("presolve", "off"),  # it would throw away the basis of the last program
        ("simplex_strategy", PRIMAL_SIMPLEX),
        ("time_limit", np.inf),
        ("primal_feasibility_tolerance", ZERO),
        ("dual_feasibility_tolerance", ZERO),
    ):
        asked(highs.setOptionValue, option, value)
    return highs


def _model(M: sp.csr_array, low: Floats, high: Floats) -> highspy.HighsLp:
    """max 0 over M x = 0, low ≤ x ≤ high."""
    m, n = M.shape
    model, by_column = highspy.HighsLp(), sp.csc_array(M)
    model.num_col_, model.num_row_ = n, m
    model.col_cost_, model.col_lower_, model.col_upper_ = np.zeros(n), low, high
    model.row_lower_, model.row_upper_ = np.zeros(m), np.zeros(m)
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = by_column.indptr.astype(np.int32)
    model.a_matrix_.index_ = by_column.indices.astype(np.int32)
    model.a_matrix_.value_ = by_column.data
    model.sense_ = highspy.ObjSense.kMaximize
    return model


def _tied(M: sp.csr_array) -> tuple[sp.csr_array, Ints, Floats]:
    """Cells that stand alone together in a relation move in a fixed ratio, as one.

    Returns the different relations of what is left, of each cell (n) what it became, and how far
    it moves where that moves by 1.
    """
    cells: Ints = np.arange(M.shape[1])
    ratio = np.ones(len(cells))
    while True:
        pairs = np.flatnonzero(np.diff(M.indptr) == 2)
        if not len(pairs):
            return M, cells, ratio
        first = M.indptr[pairs]
        ends = [M.indices[each].astype(np.int64) for each in (first, first + 1)]
        size = M.shape[1]
        graph = sp.coo_array((np.ones(len(pairs)), (ends[0], ends[1])), shape=(size, size))
        number, became = sp.csgraph.connected_components(graph, directed=False)
        step = _ratios(size, ends[0], ends[1], -M.data[first] / M.data[first + 1])
        cells, ratio = became[cells].astype(np.int64), ratio * step[cells]
        joined = sp.csr_array((step, (np.arange(size), became)), shape=(size, number))
        M = _different(sp.csr_array(M @ joined))


def _ratios(size: int, one: Ints, other: Ints, times: Floats) -> Floats:
    """(size): how far each moves, where `other` moves `times` as far as `one`; of those that are
    tied to each other one moves by 1.
    """
    beside: list[list[tuple[int, float]]] = [[] for _ in range(size)]
    for i, j, factor in zip(one.tolist(), other.tolist(), times.tolist(), strict=True):
        beside[i].append((j, factor))
        beside[j].append((i, 1 / factor))
    found = [0.0] * size
    for start in range(size):
        if found[start]:
            continue
        found[start] = 1.0
        waiting = [start]
        for i in waiting:
            for j, factor in beside[i]:
                if not found[j]:
                    found[j] = found[i] * factor
                    waiting.append(j)
    return np.array(found)


def _different(M: sp.csr_array) -> sp.csr_array:
    """The relations that say something, each once."""
    M.sum_duplicates()
    M.data[np.abs(M.data) < ROUNDING] = 0.0
    M.eliminate_zeros()
    seen: dict[bytes, int] = {}
    for row, (start, end) in enumerate(zip(M.indptr[:-1].tolist(), M.indptr[1:].tolist(), strict=True)):
        if start < end:
            entries = M.data[start:end] / M.data[start]
            seen.setdefault(M.indices[start:end].tobytes() + entries.tobytes(), row)
    return sp.csr_array(M[list(seen.values())])
