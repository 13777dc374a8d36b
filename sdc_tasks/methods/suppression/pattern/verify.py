"""Is a pattern safe? A second program, which shares no code with the searches of this
package or with `sdc_tasks/solver`.

A primary counts as protected only if points x are found with

    M x = M a,   lb ≤ x ≤ ub,   x_i = a_i wherever the pattern is open,   x_p ≥ a_p + upl_p    (or ≤ a_p −
    lpl_p)

for each of its levels, that of the largest contributor and those of the next ones, with x_i = a_i also for
the singletons of all others. Plain arithmetic checks this. Solvers, and whoever made the pattern, only
propose points: if they are wrong, a safe pattern may count as unsafe, never the reverse.

With d = x − a every such point is extended to the ends of its line a + t d: t⁺ and −t⁻ are the longest
steps that the bounds allow, and all primaries are read off at both ends. So a point settles many primaries.
Points come from programs `max Σ ± x_p / level_p` over families of primaries that are not settled yet, then
from two programs for each primary that is left (each capped at what is needed). Of the singletons only
those of the respondent who is attacked may move. Rows in which one hidden cell stands alone fix that cell;
it is then as good as open, and so on.

Who found a pattern may hand in witnesses beside it (witnesses.py): plain arithmetic reads them first,
and programs are solved only for primaries that they leave open. So a pattern of a very large table is
judged in full without any program.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import highspy
import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sdc_tasks.methods.suppression.pattern.witnesses import shown
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats, Ints, read_only
from sdc_tasks.model.tolerances import FEASIBILITY, JUDGED_LEVEL, ROUNDING, TINY, ZERO

FAR = 1e3  # times the largest level: how far the solver looks
FAMILIES = 6  # joint programs before single ones, at most
FRUITFUL = 0.9  # of the primaries: joint programs go on where a pair of them leaves at most this share


@dataclass(frozen=True)
class PatternVerdict:
    """`unprotected`: positions of primaries not shown to be protected. `programs`: the number of linear
    programs solved. `misused`: cells that must stay open but are hidden, or primaries left open.
    """

    unprotected: Ints = field(repr=False)
    misused: Ints = field(repr=False)
    programs: int

    @property
    def safe(self) -> bool:
        """Whether every primary is protected, and no cell is misused."""
        return not len(self.unprotected) and not len(self.misused)


def verify(
    problem: SensitiveTable,
    pattern: Bools,
    proposed: Floats | None = None,
    seconds: float = np.inf,
    witnesses: sp.csr_array | None = None,
) -> PatternVerdict:
    """The verdict on a pattern (n, True where hidden). `proposed` (points, n): deviations x − a
    that are tried before any program; `witnesses` (any number, n): the same of large tables,
    sparse. None of them is trusted.

    What is not shown after `seconds` counts as unprotected.
    """
    misused = read_only(np.flatnonzero((pattern & problem.fixed) | (problem.primary & ~pattern)))
    requirements = _Requirements(problem)
    if witnesses is not None:
        requirements.read(problem, pattern, witnesses)
    programs = 0
    if len(requirements.left()):
        seen = _Seen(problem, pattern, requirements)
        for d in proposed if proposed is not None else ():
            seen.learn(d[seen.hidden])
        programs = seen.look(seconds) if len(requirements.left()) else 0
    return PatternVerdict(read_only(requirements.left()), misused, programs)


class _Requirements:
    """How far each primary must rise and fall, in data units, for whom (`guards`), and
    how far it was shown to, so far.

    One entry for each primary, in their order, then one for each further contributor whom a level protects.
    """

    def __init__(self, problem: SensitiveTable) -> None:
        places = [problem.primaries, *(np.flatnonzero(layer.most > 0) for layer in problem.layers[1:])]
        self.starts = np.cumsum([len(each) for each in places])[:-1]
        self.cells, self.lone = np.concatenate(places), problem.lone[np.concatenate(places)]
        self.up, self.down, self.width, self.guards = (
            np.concatenate([getattr(layer, name)[p] for layer, p in zip(problem.layers, places, strict=True)])
            for name in ("up", "down", "width", "guards")
        )
        self.rise, self.fall = np.zeros(len(self.cells)), np.zeros(len(self.cells))

    def read(self, problem: SensitiveTable, pattern: Bools, witnesses: sp.csr_array) -> None:
        """What witnesses show, by arithmetic alone."""
        found = []
        for layer, cells in zip(problem.layers, np.split(self.cells, self.starts), strict=True):
            found.append([each[cells] for each in shown(problem, pattern, witnesses, layer.guards)])
        self.see(*(np.concatenate(side) for side in zip(*found, strict=True)))

    def see(self, rise: Floats, fall: Floats) -> None:
        self.rise, self.fall = np.maximum(self.rise, rise), np.maximum(self.fall, fall)

    def left(self) -> Ints:
        """Positions in the table of primaries that some requirement of is not shown yet."""
        return np.unique(self.cells[self.wants_up() | self.wants_down()])

    def wants_up(self) -> Bools:
        return np.asarray((self.rise < self.up * (1 - JUDGED_LEVEL)) | self._narrow())

    def wants_down(self) -> Bools:
        return np.asarray((self.fall < self.down * (1 - JUDGED_LEVEL)) | self._narrow())

    def _narrow(self) -> Bools:
        return np.asarray(self.rise + self.fall < self.width * (1 - JUDGED_LEVEL))


class _Seen:
    """What programs on the hidden cells show of each primary."""

    def __init__(self, problem: SensitiveTable, pattern: Bools, requirements: _Requirements) -> None:
        self.problem, self.requirements = problem, requirements
        self.hidden = _loose(problem.M, np.flatnonzero(pattern & ~problem.fixed & (problem.ub > problem.lb)))
        inside = np.full(problem.M.shape[1], -1)
        inside[self.hidden] = np.arange(len(self.hidden))
        self.column = inside[requirements.cells]  # −1: known to the attacker
        self.respondent = problem.respondents[self.hidden]
        self.below = (problem.a - problem.lb)[self.hidden]
        self.above = (problem.ub - problem.a)[self.hidden]
        M = sp.csr_array(sp.csc_array(problem.M)[:, self.hidden])
        self.M = sp.csr_array(M[np.flatnonzero(np.diff(M.indptr))])

    def look(self, seconds: float) -> int:
        """Proposes points until everything is settled, or every primary has had its own programs, or
        time is up. Returns the programs.
        """
        live = self.column >= 0
        if not live.any() or not self.M.shape[0]:
            return 0 if not live.any() else self._free(live)
        wanted = self.requirements
        level = np.maximum(np.maximum(wanted.up, wanted.down), wanted.width)
        most = FAR * level.max(initial=1.0)
        solver = _Solver(
            self.M,
            np.minimum(self.below, most),
            np.minimum(self.above, most),
            self.respondent,
            float(np.median(level[level > 0])),
            seconds,
        )
        self.learn(
            self.problem.a[self.hidden]
        )  # a table of totals without right-hand sides may grow and shrink as a whole
        before = len(wanted.left())
        for family in range(FAMILIES):
            if family and family % 2 == 0:
                if len(wanted.left()) > FRUITFUL * before:
                    break
                before = len(wanted.left())
            sign = 1.0 if family % 2 == 0 else -1.0
            open_cells = np.flatnonzero(
                live & ~wanted.lone & (wanted.wants_up() if sign > 0 else wanted.wants_down())
            )
            if not len(open_cells):
                continue
            cost = np.zeros(len(self.hidden))
            np.add.at(cost, self.column[open_cells], sign / np.maximum(level[open_cells], TINY))
            self.learn(solver.point(cost, self.column[open_cells], sign, 1.5 * level[open_cells]))
        for sign, wants in ((1.0, wanted.wants_up), (-1.0, wanted.wants_down)):
            for k in np.argsort(-level, kind="stable"):
                if live[k] and wants()[k]:
                    far = max(level[k], wanted.width[k])
                    cost = np.zeros(len(self.hidden))
                    cost[self.column[k]] = sign
                    self.learn(
                        solver.point(cost, self.column[[k]], sign, np.array([far]), int(wanted.guards[k]))
                    )
        return solver.programs

    def _free(self, live: Bools) -> int:
        """No relation holds the hidden cells: each goes where its bounds let it."""
        rise, fall = np.zeros(len(live)), np.zeros(len(live))
        rise[live], fall[live] = self.above[self.column[live]], self.below[self.column[live]]
        self.requirements.see(rise, fall)
        return 0

    def learn(self, d: Floats | None) -> None:
        """Reads all primaries off at both ends of the line through a and a + d."""
        if d is None or not d.any():
            return
        moving = np.unique(self.respondent[(self.respondent >= 0) & (d != 0)])
        if len(moving) > 1:  # nobody is attacked by those who know neither of two respondents' cells
            return
        positive, negative = d > 0, d < 0
        forward = min(_step(self.above[positive], d[positive]), _step(self.below[negative], -d[negative]))
        backward = min(_step(self.below[positive], d[positive]), _step(self.above[negative], -d[negative]))
        error = float(np.abs(self.M @ d).max(initial=0.0))
        moved = np.where(self.column >= 0, d[self.column], 0.0)
        if len(moving):
            moved = np.where(self.requirements.guards == moving[0], moved, 0.0)
        sure = np.abs(moved) * FEASIBILITY >= error
        moved = np.where(sure, moved, 0.0)
        size = np.abs(moved)
        ahead, back = _times(size, forward), _times(size, backward)
        self.requirements.see(np.where(moved > 0, ahead, back), np.where(moved > 0, back, ahead))


def _step(room: Floats, size: Floats) -> float:
    return float(np.min(room / size, initial=np.inf))


def _times(size: Floats, step: float) -> Floats:
    """size · step, 0 where the size is 0 though the step be infinite."""
    found = np.zeros(len(size))
    np.multiply(size, step, out=found, where=size > 0)
    return found


def _loose(M: sp.csr_array, hidden: Ints) -> Ints:
    """The hidden cells that no relation gives away: one that stands alone in a relation is known,
    and so on.
    """
    pattern = abs(sp.csc_array(M)[:, hidden]) > 0
    rows, columns = sp.csr_array(pattern), sp.csc_array(pattern)
    keep = np.ones(len(hidden), dtype=bool)
    count = np.diff(rows.indptr)
    alone = np.flatnonzero(count == 1).tolist()
    while alone:
        row = alone.pop()
        for cell in rows.indices[rows.indptr[row] : rows.indptr[row + 1]]:
            if keep[cell]:
                keep[cell] = False
                touched = columns.indices[columns.indptr[cell] : columns.indptr[cell + 1]]
                count[touched] -= 1
                alone.extend(touched[count[touched] == 1].tolist())
    return hidden[keep]


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
        number, became = connected_components(graph, directed=False)
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


class _Solver:
    """A live HiGHS on the deviations of the hidden cells, in units of `unit`; only costs and caps
    change, so that the basis stays good.

    Cells that are tied to each other are one column of the program.
    """

    def __init__(
        self, M: sp.csr_array, below: Floats, above: Floats, respondent: Ints, unit: float, seconds: float
    ) -> None:
        self.programs, self.unit, self.end = 0, unit, time.monotonic() + seconds
        self.low, self.high, self.respondent = -below / unit, above / unit, respondent
        M, self.of, self.ratio = _tied(M)
        self._order = np.argsort(self.of, kind="stable")
        self._starts = np.searchsorted(self.of[self._order], np.arange(M.shape[1]))
        n, m = M.shape[1], M.shape[0]
        model = highspy.HighsLp()
        by_column = sp.csc_array(M)
        model.num_col_, model.num_row_ = n, m
        low, high = self._together(self.low, self.high)
        model.col_cost_, model.col_lower_, model.col_upper_ = np.zeros(n), low, high
        model.row_lower_, model.row_upper_ = np.zeros(m), np.zeros(m)
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = by_column.indptr.astype(np.int32)
        model.a_matrix_.index_ = by_column.indices.astype(np.int32)
        model.a_matrix_.value_ = by_column.data
        model.sense_ = highspy.ObjSense.kMaximize
        self.highs = highspy.Highs()
        self.highs.silent()
        for option, value in (
            ("threads", 1),
            ("random_seed", 0),
            ("presolve", "off"),
            ("simplex_strategy", 4),
            ("time_limit", np.inf),
        ):
            self.highs.setOptionValue(option, value)
        for tolerance in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            # stricter than a search: what is missed here is missed by the witness
            self.highs.setOptionValue(tolerance, ZERO)
        self.highs.passModel(model)
        self.columns = np.arange(n, dtype=np.int32)

    def point(
        self, cost: Floats, columns: Ints, sign: float, far: Floats, protected: int = -1
    ) -> Floats | None:
        """A point d (data units) that is best for a cost, `columns` moving no further than
        `far`; None if the solver has none.

        Singletons stay, but those of the respondent who is `protected`.
        """
        left = self.end - time.monotonic()
        if left <= 0:
            return None
        self.programs += 1
        self.highs.setOptionValue("time_limit", self.highs.getRunTime() + left)
        known = (self.respondent >= 0) & (self.respondent != protected)
        low, high = np.where(known, 0.0, self.low), np.where(known, 0.0, self.high)
        if sign > 0:
            np.minimum.at(high, columns, far / self.unit)
        else:
            np.maximum.at(low, columns, -far / self.unit)
        cost = np.bincount(self.of, weights=cost * self.ratio, minlength=len(self.columns)).astype(float)
        scale = np.abs(cost).max(initial=0.0)
        self.highs.changeColsCost(len(self.columns), self.columns, cost / (scale or 1.0))
        self.highs.changeColsBounds(len(self.columns), self.columns, *self._together(low, high))
        self.highs.run()
        if self.highs.getModelStatus() not in {
            highspy.HighsModelStatus.kOptimal,
            highspy.HighsModelStatus.kTimeLimit,
        }:
            self.highs.clearSolver()
            self.highs.run()
        solution = self.highs.getSolution()
        if not solution.value_valid:
            return None
        d = np.clip(np.array(solution.col_value)[self.of] * self.ratio, low, high) * self.unit
        return np.where(np.abs(d) > 10 * ROUNDING * self.unit, d, 0.0)

    def _together(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The bounds of the columns, from those of the cells."""
        falls = self.ratio < 0
        least, most = np.where(falls, high, low) / self.ratio, np.where(falls, low, high) / self.ratio
        return np.maximum.reduceat(least[self._order], self._starts), np.minimum.reduceat(
            most[self._order], self._starts
        )
