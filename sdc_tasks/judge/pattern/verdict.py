"""Is a pattern safe? A second program, which shares no code with the searches of this
package or with `sdc_tasks/solver`.

A primary counts as protected only if points x are found with

    M x = M a,   lb ≤ x ≤ ub,   x_i = a_i wherever the pattern is open,   x_p ≥ a_p + upl_p    (or ≤ a_p −
    lpl_p)

for each of its levels, that of the largest contributor and those of the next ones, with x_i = a_i also for
the singletons of all others who attack. Plain arithmetic checks this. Solvers, and whoever made the pattern,
only propose points: if they are wrong, a safe pattern may count as unsafe, never the reverse.

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

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.judge.pattern.programs import LinearPrograms
from sdc_tasks.judge.pattern.witnesses import shown
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats, Ints, read_only
from sdc_tasks.model.tolerances import FEASIBILITY, TINY

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
    if len(requirements.unproven()):
        cells = _HiddenCells(problem, pattern, requirements)
        for d in proposed if proposed is not None else ():
            cells.try_witness(d[cells.hidden])
        programs = cells.search(seconds) if len(requirements.unproven()) else 0
    return PatternVerdict(read_only(requirements.unproven()), misused, programs)


class _Requirements:
    """How far each primary must rise and fall, in data units, for whom (`guards`), who takes no part in the
    attack (`lacking`, by the number `lacks`), and how far it was shown to, so far.

    One entry for each primary, in their order, then one for each further contributor whom a level protects,
    and for each weaker attacker.
    """

    def __init__(self, problem: SensitiveTable) -> None:
        places = [problem.primaries, *(np.flatnonzero(layer.most > 0) for layer in problem.layers[1:])]
        self.starts = np.cumsum([len(each) for each in places])[:-1]
        self.cells, self.lone = np.concatenate(places), problem.lone[np.concatenate(places)]
        self.up, self.down, self.width, self.guards = (
            np.concatenate([getattr(layer, name)[p] for layer, p in zip(problem.layers, places, strict=True)])
            for name in ("up", "down", "width", "guards")
        )
        self.lacking = tuple(dict.fromkeys(layer.lacks for layer in problem.layers))
        self.lacks = np.concatenate(
            [
                np.full(len(p), self.lacking.index(layer.lacks))
                for layer, p in zip(problem.layers, places, strict=True)
            ]
        )
        self.rise, self.fall = np.zeros(len(self.cells)), np.zeros(len(self.cells))

    @property
    def most(self) -> Floats:
        """The largest of `up`, `down` and `width`."""
        return np.asarray(np.maximum(np.maximum(self.up, self.down), self.width))

    def read(self, problem: SensitiveTable, pattern: Bools, witnesses: sp.csr_array) -> None:
        """What witnesses show, by arithmetic alone."""
        found = []
        for layer, cells in zip(problem.layers, np.split(self.cells, self.starts), strict=True):
            far = shown(problem, pattern, witnesses, layer.guards, layer.lacks)
            found.append([each[cells] for each in far])
        self.record(*(np.concatenate(side) for side in zip(*found, strict=True)))

    def record(self, rise: Floats, fall: Floats) -> None:
        self.rise, self.fall = np.maximum(self.rise, rise), np.maximum(self.fall, fall)

    def unproven(self) -> Ints:
        """Positions of primaries for which some requirement is not shown yet."""
        return np.unique(self.cells[self.wants_up() | self.wants_down()])

    def wants_up(self) -> Bools:
        return np.asarray((self.rise < self.up * (1 - FEASIBILITY)) | self._narrow())

    def wants_down(self) -> Bools:
        return np.asarray((self.fall < self.down * (1 - FEASIBILITY)) | self._narrow())

    def _narrow(self) -> Bools:
        return np.asarray(self.rise + self.fall < self.width * (1 - FEASIBILITY))


class _HiddenCells:
    """The hidden cells that the attacker cannot compute, with their relations: witnesses on them are tried,
    and linear programs propose further ones.
    """

    def __init__(self, problem: SensitiveTable, pattern: Bools, requirements: _Requirements) -> None:
        self.problem, self.requirements = problem, requirements
        may_move = pattern & ~problem.fixed & (problem.ub > problem.lb)
        self.hidden = _undetermined(problem.M, np.flatnonzero(may_move))
        inside = np.full(problem.M.shape[1], -1)
        inside[self.hidden] = np.arange(len(self.hidden))
        self.column = inside[requirements.cells]  # −1: known to the attacker
        self.respondent = problem.respondents[self.hidden]
        self.below = (problem.a - problem.lb)[self.hidden]
        self.above = (problem.ub - problem.a)[self.hidden]
        M = sp.csr_array(sp.csc_array(problem.M)[:, self.hidden])
        self.M = sp.csr_array(M[np.flatnonzero(np.diff(M.indptr))])

    def search(self, seconds: float) -> int:
        """Tries points that linear programs propose until everything is proven, or every primary has had its
        own programs, or time is up. Returns the number of programs.
        """
        live = self.column >= 0
        if not live.any():
            return 0
        if not self.M.shape[0]:
            self._without_relations(live)
            return 0
        level = self.requirements.most
        most = FAR * level.max(initial=1.0)
        programs = LinearPrograms(
            self.M,
            (np.minimum(self.below, most), np.minimum(self.above, most)),
            self.respondent,
            float(np.median(level[level > 0])),
            seconds,
        )
        # The direction a itself: a table whose relations have no constants may grow and shrink as a whole.
        self.try_witness(self.problem.a[self.hidden])
        self._together(programs, live, level)
        self._one_by_one(programs, live, level)
        return programs.solved

    def _together(self, programs: LinearPrograms, live: Bools, level: Floats) -> None:
        """Programs that move many primaries at once: one vertex often proves hundreds. They alternate
        between up and down, and stop when a pair of them proves few.
        """
        wanted = self.requirements
        before = len(wanted.unproven())
        for family in range(FAMILIES):
            if family and family % 2 == 0:
                if len(wanted.unproven()) > FRUITFUL * before:
                    return
                before = len(wanted.unproven())
            sign = 1.0 if family % 2 == 0 else -1.0
            wants = wanted.wants_up() if sign > 0 else wanted.wants_down()
            # A singleton moves for its own respondent alone, so it has programs of its own.
            open_cells = np.flatnonzero(live & ~wanted.lone & wants)
            if not len(open_cells):
                continue
            columns, size = self.column[open_cells], level[open_cells]
            cost = np.zeros(len(self.hidden))
            np.add.at(cost, columns, sign / np.maximum(size, TINY))
            # Beyond half a level more than is needed a primary would only use up what others need.
            self.try_witness(programs.point(cost, columns, sign, 1.5 * size))

    def _one_by_one(self, programs: LinearPrograms, live: Bools, level: Floats) -> None:
        """Programs for each primary that is left, in each direction, the largest level first."""
        wanted = self.requirements
        for sign, wants in ((1.0, wanted.wants_up), (-1.0, wanted.wants_down)):
            for k in np.argsort(-level, kind="stable"):
                if live[k] and wants()[k]:
                    cost = np.zeros(len(self.hidden))
                    cost[self.column[k]] = sign
                    far = np.array([max(level[k], wanted.width[k])])
                    away = (int(wanted.guards[k]), *wanted.lacking[wanted.lacks[k]])
                    self.try_witness(programs.point(cost, self.column[[k]], sign, far, away))

    def _without_relations(self, live: Bools) -> None:
        """No relation holds the hidden cells: each goes where its bounds let it."""
        rise, fall = np.zeros(len(live)), np.zeros(len(live))
        rise[live], fall[live] = self.above[self.column[live]], self.below[self.column[live]]
        self.requirements.record(rise, fall)

    def try_witness(self, d: Floats | None) -> None:
        """Reads all primaries off at both ends of the line through a and a + d."""
        if d is None or not d.any():
            return
        told = self._told(np.unique(self.respondent[(self.respondent >= 0) & (d != 0)]))
        if not told.any():
            return
        positive, negative = d > 0, d < 0
        forward = min(_step(self.above[positive], d[positive]), _step(self.below[negative], -d[negative]))
        backward = min(_step(self.below[positive], d[positive]), _step(self.above[negative], -d[negative]))
        error = float(np.abs(self.M @ d).max(initial=0.0))
        moved = np.where(self.column >= 0, d[self.column], 0.0)
        moved = np.where(told, moved, 0.0)
        sure = np.abs(moved) * FEASIBILITY >= error
        moved = np.where(sure, moved, 0.0)
        size = np.abs(moved)
        ahead, back = _times(size, forward), _times(size, backward)
        self.requirements.record(np.where(moved > 0, ahead, back), np.where(moved > 0, back, ahead))

    def _told(self, moving: Ints) -> Bools:
        """The requirements about which a witness tells that moves singletons of these respondents: those
        against whoever knows none of them. Two of them are known to somebody, unless they take no part.
        """
        wanted = self.requirements
        found = np.ones((len(wanted.lacking), len(wanted.cells)), dtype=bool)
        for number, lacks in enumerate(wanted.lacking):
            left = moving[~np.isin(moving, lacks)]
            if len(left):
                found[number] = (wanted.guards == left[0]) & (len(left) == 1)
        return np.asarray(found[wanted.lacks, np.arange(len(wanted.cells))])


def _step(room: Floats, size: Floats) -> float:
    return float(np.min(room / size, initial=np.inf))


def _times(size: Floats, step: float) -> Floats:
    """size · step, 0 where the size is 0 though the step be infinite."""
    found = np.zeros(len(size))
    np.multiply(size, step, out=found, where=size > 0)
    return found


def _undetermined(M: sp.csr_array, hidden: Ints) -> Ints:
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
