"""An attacker who knows that all values of an indicator are whole numbers (counts of persons, of enterprises).

He knows more than the attacker of `attacker.py`: of the tables in that polyhedron only the whole ones are possible. A linear program
may reach a level by halves where no whole table does. So against him a requirement holds only where a whole table shows it:

    z ∈ Z on the integral cells,  A z = 0,  ⌈s⁻⌉ ≤ B z ≤ ⌊s⁺⌋,  ⌈lb − a⌉ ≤ z ≤ ⌊ub − a⌋,  σ z_p ≥ need

A base of 5 around 25 leaves him 23 … 27. Of [15, 25], a base of 10 around 20, he knows as well that 25 would have been printed as 30
(a tie goes up): 15 … 24. Needs are whole numbers, rounded up (`problem.promised`).

Whole tables are found by small MILPs: in parts of the table first, each for all open requirements in it, in random senses, first inside
the box where the mirror image is a table too; what is still open gets a MILP of its own. Each table is checked in whole numbers. Where
the own MILP is solved and falls short, the requirement is broken; where it stops at its limit, it is *not shown*, which counts as broken
and is told. No deviation is followed beyond a box, which errs on the safe side. As in the LP audit, what is found by joint MILPs is
the same for all chunks, and the rest goes lot by lot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sdc_tasks.methods.attack.blocks import parts
from sdc_tasks.methods.attack.knowledge import Knowledge, knowledge_of
from sdc_tasks.methods.attack.problem import AttackSystem, Requirements, attack_system, slacks
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.solver.lp import Status
from sdc_tasks.solver.milp import LiveMilp, Milp, MilpResult

DOWN, UP, SLIDE = -1, 1, 0
NOISE = 1e-6  # of one: the noise of adding up and of solvers, nothing more
FAR, AT_LEAST, AT_MOST = 1e3, 1e4, 1e9  # the box: needs, and its least and largest size
NEAR = 1_000  # columns of the part that an own MILP tries first
DIVISIONS = ((300, False), (300, True), (NEAR, False), (NEAR, True), (2_500, True))  # (columns, dealt out?) of the parts; then the whole
ROUNDS, MIRRORED = 8, 3  # joint MILPs on one part, and how many of them inside the mirror box
GAP, NODES = 0.05, 20  # of a joint MILP: any table will do
OWN_NODES = 100  # of a MILP of its own


@dataclass(frozen=True)
class Shortfall:
    """A requirement (row, side) that no whole table was found for, against attacker `knower` (−1: all).

    `reach`: how far the best one found goes; `most`: what none can pass, where the MILP was solved the same. Whole numbers.
    """

    row: int
    side: int
    knower: int
    need: int = field(repr=False)
    reach: int = field(repr=False)
    most: int = field(repr=False)

    @property
    def proven(self) -> bool:
        """Does no whole table reach the need? Otherwise the MILP stopped at its limit."""
        return self.most < self.need


@dataclass(frozen=True)
class Whole:
    """A whole table found: the columns in which it differs from the truth, and by how much; the profile and lot it was found for."""

    profile: int
    lot: int
    column: Ints = field(repr=False)
    value: Floats = field(repr=False)


@dataclass(frozen=True, repr=False)
class WholeSystem:
    """The polyhedron of the whole tables: rows `low ≤ A z ≤ high`, columns `lower ≤ z ≤ upper`, z whole where `integral`.

    `decided`, `R`, `area`, `code` as in AttackSystem; `core` are the rows with a finite end as rows over u (z = R u), `rows` their
    numbers. Rows of integral columns only have whole ends.
    """

    A: sp.csr_array
    low: Floats
    high: Floats
    lower: Floats
    upper: Floats
    integral: Bools
    decided: Ints
    cells: Ints
    R: sp.csr_array
    core: sp.csr_array
    rows: Ints
    area: Ints
    code: Ints

    def holds(self, z: Floats) -> bool:
        """Is this a whole table that the attacker cannot tell from the truth? Plain arithmetic, exact on whole numbers."""
        row = self.A @ z
        slack = np.where(self.whole_rows, 0.0, NOISE + 1e-12 * np.asarray(abs(self.A) @ np.abs(z)))
        edge = np.where(self.integral, 0.0, NOISE)
        return bool(
            (z[self.integral] == np.rint(z[self.integral])).all()
            and (row >= self.low - slack).all()
            and (row <= self.high + slack).all()
            and (z >= self.lower - edge).all()
            and (z <= self.upper + edge).all()
        )

    @cached_property
    def whole_rows(self) -> Bools:
        """Rows of integral columns only."""
        return np.asarray(abs(self.A) @ (~self.integral).astype(float) == 0)

    def place(self, columns: Ints) -> tuple[Ints, Ints]:
        """(core column, sign) of columns of z; sign 0 where the national relations fix it."""
        picked = sp.csr_array(self.R[columns])
        core, sign = np.zeros(len(columns), dtype=np.int64), np.zeros(len(columns), dtype=np.int64)
        at, u = picked.nonzero()
        core[at], sign[at] = u, picked.data
        return core, sign

    def core_bounds(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """(lower, upper) of u from those of z."""
        entries = sp.coo_array(self.R)
        cell, u, sign = entries.row, entries.col, entries.data
        low, high = np.full(self.R.shape[1], -np.inf), np.full(self.R.shape[1], np.inf)
        np.maximum.at(low, u, np.where(sign > 0, lower[cell], -upper[cell]))
        np.minimum.at(high, u, np.where(sign > 0, upper[cell], -lower[cell]))
        return low, high


def whole_slacks(problem: ProtectionProblem, publication: Publication) -> tuple[Floats, Floats]:
    """(below, above): what a publication leaves around the true value of each aggregate cell, in whole numbers where it is integral."""
    low, high = slacks(problem, publication)
    whole = problem.integral[publication.cells]
    low, most = np.where(whole, np.ceil(low - NOISE), low), np.where(whole, np.floor(high + NOISE), high)
    tie = whole & publication.rounded & (most > 0) & _is_whole(high)
    return low + 0.0, np.where(tie, most - 1, most) + 0.0


def _is_whole(x: Floats) -> Bools:
    finite = np.where(np.isfinite(x), x, 0.5)
    return np.asarray(np.abs(finite - np.rint(finite)) <= NOISE)


def whole_system(problem: ProtectionProblem, publication: Publication | None, profile: str, furthest: float) -> WholeSystem:
    """What the attacker faces; None: nothing is published of the aggregates. `furthest`: the largest need."""
    base: AttackSystem = attack_system(problem, 1.0, profile)
    earlier = problem.earlier.known_to(profile)
    integral = np.concatenate([problem.integral[base.cells], earlier.integral])
    box = min(max(AT_LEAST, FAR * furthest), AT_MOST)
    lower = np.concatenate([(problem.lb - problem.a)[base.cells], earlier.lower])
    upper = np.concatenate([(problem.ub - problem.a)[base.cells], earlier.upper])
    lower, upper = np.maximum(lower, -box), np.minimum(upper, box)
    low, high = base.row_lower.copy(), base.row_upper.copy()
    told = base.decided >= 0
    if publication is not None:
        below, above = whole_slacks(problem, publication)
        low[told], high[told] = below[base.decided[told]], above[base.decided[told]]
    whole_row = np.asarray(abs(base.A) @ (~integral).astype(float) == 0)
    rounded = np.concatenate([np.zeros(len(told) - len(earlier.rounded), dtype=bool), earlier.rounded])
    tie = whole_row & rounded & (high > NOISE) & _is_whole(high)  # intervals of earlier releases, read in the same way
    high = np.where(tie, high - 1, high)
    low, high = np.where(whole_row, np.ceil(low - NOISE), low), np.where(whole_row, np.floor(high + NOISE), high)
    kept = np.flatnonzero(np.isfinite(low[base.core_rows]) | np.isfinite(high[base.core_rows]))
    R = sp.csc_array(base.R)
    R.sort_indices()
    first = R.indices[R.indptr[:-1]]
    shape = problem.space.national_shape
    return WholeSystem(
        A=base.A,
        low=low,
        high=high,
        lower=np.where(integral, np.ceil(lower - NOISE), lower) + 0.0,
        upper=np.where(integral, np.floor(upper + NOISE), upper) + 0.0,
        integral=integral,
        decided=base.decided,
        cells=base.cells,
        R=base.R,
        core=sp.csr_array(base.core[kept]),
        rows=base.core_rows[kept],
        area=base.area[first],
        code=np.unravel_index(base.code[first], shape)[min(1, len(shape) - 1)],
    )


class IntegerAttacker:
    """The attackers of all profiles of `needs` with integer knowledge, facing one publication; None: the national tables alone.

    Tables that were `tried` against another publication are tried first.
    """

    def __init__(
        self, problem: ProtectionProblem, publication: Publication | None, needs: Requirements, seed: int = 1, tried: Sequence[Whole] = ()
    ) -> None:  # fmt: skip
        self.short: list[Shortfall] = []
        self.milps = 0
        self.asked = np.zeros(0, dtype=np.int64)
        self._searches: list[ProfileSearch] = []
        asked = np.flatnonzero(problem.integral[needs.primaries])
        for number, profile in enumerate(needs.profiles):
            rows = asked[needs.profile[asked] == number]
            if len(rows):
                furthest = max(float(getattr(needs, side)[rows].max()) for side in ("down", "up", "slide"))
                system = whole_system(problem, publication, profile, furthest)
                self._searches.append(ProfileSearch(system, needs, knowledge_of(problem, profile), number, rows, seed))
        for search in self._searches:
            search.offer(tried)
            search.jointly()
        self.shared_milps = sum(search.milps for search in self._searches)

    def settle(self, lots: Sequence[tuple[int, Ints]]) -> None:
        """Shows or breaks the requirements of the primaries of each (number, primaries), as if no other lot were asked for.

        `asked`: the rows that needed a MILP of their own.
        """
        for search in self._searches:
            start = (search.open.copy(), search.low.copy(), search.high.copy())
            for number, primaries in lots:
                search.open, search.low, search.high = start[0].copy(), start[1].copy(), start[2].copy()
                search.singly(primaries, number)
        self.asked = np.array(sorted(row for search in self._searches for row in search.asked), dtype=np.int64)
        self.short = sorted((each for s in self._searches for each in s.short), key=lambda s: (s.row, s.side, s.knower))
        self.milps = sum(search.milps for search in self._searches)

    def witnesses(self) -> Iterator[Whole]:
        """The whole tables that show what was shown: those of all lots, then lot by lot."""
        for search in self._searches:
            yield from search.useful

    def search_of(self, row: int) -> ProfileSearch:
        """The search that a row of the requirements is in."""
        return next(search for search in self._searches if row in search.row)


class ProfileSearch:
    """One profile: its items (a row and a side each), `open` (items, attackers) until shown; `low high` what tables for all reach."""

    def __init__(
        self, system: WholeSystem, needs: Requirements, knowledge: Knowledge, number: int, rows: Ints, seed: int
    ) -> None:  # fmt: skip
        self.system, self.milps, self.useful = system, 0, list[Whole]()
        self.short, self.asked = list[Shortfall](), set[int]()
        self._seed, self._number, self._known = seed, number, knowledge
        need = np.concatenate([needs.down[rows], needs.up[rows], needs.slide[rows]])
        kept = need > NOISE
        self.row = np.tile(rows, 3)[kept]
        self.side = np.repeat([DOWN, UP, SLIDE], len(rows))[kept]
        self.need = np.ceil(need[kept] - NOISE).astype(np.int64)
        self.cell = needs.primaries[self.row]
        self._column = np.searchsorted(system.cells, self.cell)
        self.core, self.sign = system.place(self._column)
        self._held = np.searchsorted(system.cells, knowledge.cells)
        whole = system.integral[self._held]
        self._held_lower = np.where(whole, np.ceil(knowledge.lower - NOISE), knowledge.lower)
        self._held_upper = knowledge.upper
        self._victim = knowledge.owners(self.cell)
        self.integral_u = np.zeros(system.R.shape[1], dtype=bool)
        entries = sp.coo_array(system.R)
        self.integral_u[entries.col[system.integral[entries.row]]] = True
        self.component = _components(system.core)
        n = len(self.row)
        self.open = np.ones((n, 1), dtype=bool)
        if knowledge.alone:
            self.open = knowledge.owner[None, :] != self._victim[:, None]
            for i, knower in enumerate(needs.knower[self.row].tolist()):
                if knower >= 0:
                    self.open[i] = np.arange(self.open.shape[1]) == knower
            special = {(c, k) for c, k in zip(needs.primaries[rows].tolist(), needs.knower[rows].tolist(), strict=True) if k >= 0}
            for i in np.flatnonzero(needs.knower[self.row] < 0).tolist():
                apart = [k for c, k in special if c == self.cell[i]]
                self.open[i, apart] = False
        self.low, self.high = np.zeros(n), np.zeros(n)

    def _imposed(self, held: Bools) -> tuple[Floats, Floats]:
        """Bounds of u once this of the knowledge holds."""
        lower, upper = self.system.lower.copy(), self.system.upper.copy()
        at = np.flatnonzero(held)
        np.maximum.at(lower, self._held[at], self._held_lower[at])
        np.minimum.at(upper, self._held[at], self._held_upper[at])
        return self.system.core_bounds(lower, upper)

    def bounds_of(self, item: int, knowers: Bools) -> tuple[Floats, Floats]:
        """Bounds of u for these attackers of an item."""
        return self._imposed(knowers if self._known.alone else self._known.owner != self._victim[item])

    def item_of(self, short: Shortfall) -> tuple[int, Bools]:
        """The item of a shortfall, and its attackers."""
        item = int(np.flatnonzero((self.row == short.row) & (self.side == short.side))[0])
        return item, np.arange(self.open.shape[1]) == short.knower

    def _fooled(self, z: Floats) -> Bools:
        """(items or 1, attackers): who finds what he knows in a table, by victim."""
        as_known = (z[self._held] >= self._held_lower - NOISE) & (z[self._held] <= self._held_upper + NOISE)
        if self._known.alone:
            return as_known[None, :]
        moved = self._known.owner[~as_known]
        if not len(moved):
            return np.ones((1, 1), dtype=bool)
        return np.asarray((self._victim == moved[0]) & (moved == moved[0]).all())[:, None]

    def _count(self, z: Floats, lot: int, half: bool = False) -> None:
        """Counts a table and its mirror image, if they hold, for all items; `half` of a sliding level is kept in any case."""
        sound = [self.system.holds(point) for point in (z, -z)]
        news = False
        for point, ok in zip((z, -z), sound, strict=True):
            if not ok:
                continue
            seen, fooled = point[self._column], self._fooled(point)
            everybody = (fooled | ~self.open).all(axis=1) if self._known.alone else fooled.all(axis=1)
            before = self.low.copy(), self.high.copy()
            self.low = np.where(everybody, np.minimum(self.low, seen), self.low)
            self.high = np.where(everybody, np.maximum(self.high, seen), self.high)
            sliding = self.side == SLIDE
            met = np.where(sliding, everybody & (self.high - self.low >= self.need), self.side * seen >= self.need)
            wider = sliding & self.open.any(axis=1) & ((before[0] > self.low) | (before[1] < self.high))
            was = self.open.copy()
            self.open &= ~(met[:, None] & (fooled | sliding[:, None]))
            news = news or bool((was & ~self.open).any()) or bool(wider.any()) or half
        if news and any(sound):
            moved = np.flatnonzero(z)
            self.useful.append(Whole(self._number, lot, moved, z[moved]))

    def offer(self, tried: Sequence[Whole]) -> None:
        """Counts tables found elsewhere, where they hold."""
        for each in tried:
            if each.profile == self._number:
                z = np.zeros(len(self.system.lower))
                z[each.column] = each.value
                self._count(z, -1)

    def jointly(self) -> None:
        """MILPs that push all open requirements of a part of the table at once, against all attackers together."""
        rng = np.random.default_rng(self._seed)
        everything = self._imposed(np.ones(len(self._held), dtype=bool))
        n = self.system.R.shape[1]
        for size, dealt in [*(each for each in DIVISIONS if each[0] < n), (n, False)] if n else []:
            for columns in parts(self.system.area, self.system.code, size, dealt):
                for number in range(ROUNDS):
                    before = int(self.open.sum())
                    if not self._push(columns, everything, number < MIRRORED, rng):
                        break
                    if number >= MIRRORED and self.open.sum() > 0.9 * before:
                        break

    def _push(self, columns: Ints, bounds: tuple[Floats, Floats], mirrored: bool, rng: np.random.Generator) -> bool:
        """One joint MILP over these columns; False where nothing is open there."""
        lower, upper = bounds
        if mirrored:
            lower, upper = np.maximum(lower, -upper), np.minimum(upper, -lower)
        inside = np.zeros(len(lower), dtype=bool)
        inside[columns] = True
        lone = ~np.isin(self.row, self.row[self.side != SLIDE])  # a sliding level that no other of its cell brings along
        items = np.flatnonzero(self.open.any(axis=1) & ((self.side != SLIDE) | lone) & (self.sign != 0) & inside[self.core])
        items = items[(bounds[0] < bounds[1])[self.core[items]]]
        if not len(items):
            return False
        rise, fall = np.zeros(len(lower)), np.zeros(len(lower))
        direction = self.side[items] * self.sign[items]
        for way, target in ((UP, rise), (DOWN, fall)):
            mine = items[(direction == way) | (self.side[items] == SLIDE)]
            np.maximum.at(target, self.core[mine], self.need[mine])
        sense = np.where((rise > 0) & (fall > 0), rng.choice([DOWN, UP], len(lower)), np.where(rise > 0, UP, np.where(fall > 0, DOWN, 0)))
        need = np.maximum(np.where(sense == UP, rise, fall), 1.0)
        lower = np.where(sense == DOWN, np.maximum(lower, -need), lower)
        upper = np.where(sense == UP, np.minimum(upper, need), upper)
        result = self._solve(columns, -sense / need, lower, upper, GAP, NODES)
        z = self._table(columns, result)
        if z is not None:
            self._count(z, -1)
        return True

    def singly(self, primaries: Ints, lot: int) -> None:
        """A MILP of its own for each requirement of these primaries that is still open."""
        for item in np.flatnonzero(np.isin(self.cell, primaries)).tolist():
            if self.open[item].any():
                self.asked.add(int(self.row[item]))
                self._try(item, lot)

    def _try(self, item: int, lot: int) -> None:
        groups, alone = [self.open[item].copy()], False
        while groups:
            group = groups.pop() & self.open[item]
            if not group.any():
                continue
            reach, most = self._reach(item, group, lot)
            if reach >= self.need[item]:
                self.open[item] &= ~group
                continue
            if self._known.alone and not alone:
                nobody = np.zeros_like(group)
                reach, most = self._reach(item, nobody, lot)
                if reach < self.need[item]:
                    self._note(item, -1, reach, most)
                    return
                alone = True
                groups.append(group)
            elif self._known.alone and group.sum() > 1:
                half = np.cumsum(group) <= group.sum() // 2
                groups += [group & ~half, group & half]
            else:
                self._note(item, int(np.flatnonzero(group)[0]) if self._known.alone else -1, reach, most)

    def _note(self, item: int, knower: int, reach: int, most: int) -> None:
        self.short.append(Shortfall(int(self.row[item]), int(self.side[item]), knower, int(self.need[item]), reach, most))

    def _reach(self, item: int, knowers: Bools, lot: int) -> tuple[int, int]:
        """(found, at most): how far the item reaches against these attackers; a level that is met is not passed."""
        if self.sign[item] == 0:
            return 0, 0
        bounds, need = self.bounds_of(item, knowers), int(self.need[item])
        if self.side[item] != SLIDE:
            met = self._meets(item, bounds, lot)
            if met is not False:
                return (need, need) if met else (0, need)
            return self._furthest(item, int(self.side[item]), bounds, need - 1, lot)
        found = most = 0
        for way in (DOWN, UP):
            reached, limit = self._furthest(item, way, bounds, None, lot)
            found, most = min(found + reached, need), min(most + limit, need)
        return found, most

    def _meets(self, item: int, bounds: tuple[Floats, Floats], lot: int) -> bool | None:
        """Is there a whole table in which the item is as far off as it needs? None where the MILP stopped without an answer.

        In a part of the table first, then in all that hangs together. The level is a bound, not a cap: parity may jump over it.
        """
        column, direction, need = int(self.core[item]), int(self.side[item] * self.sign[item]), int(self.need[item])
        lower, upper = bounds[0].copy(), bounds[1].copy()
        if direction > 0:
            lower[column] = max(lower[column], need)
        else:
            upper[column] = min(upper[column], -need)
        if lower[column] > upper[column]:
            return False
        around = self._around(column)
        for columns in around:
            result = self._solve(columns, np.zeros(len(lower)), lower, upper, 0.0, OWN_NODES, from_truth=False)
            z = self._table(columns, result)
            if z is not None and self.side[item] * z[self._column[item]] >= need:
                self._count(z, lot)
                return True
        return False if result.status is Status.INFEASIBLE else None

    def _furthest(self, item: int, way: int, bounds: tuple[Floats, Floats], cap: int | None, lot: int) -> tuple[int, int]:
        """(found, at most) of max way·z_p, up to a cap below which it is known to stay."""
        column, direction = int(self.core[item]), int(way * self.sign[item])
        cost = np.zeros(len(bounds[0]))
        cost[column] = -direction
        lower, upper = bounds[0].copy(), bounds[1].copy()
        if cap is not None and direction > 0:
            upper[column] = min(upper[column], cap)
        elif cap is not None:
            lower[column] = max(lower[column], -cap)
        columns = self._around(column)[-1]
        result = self._solve(columns, cost, lower, upper, 0.0, OWN_NODES)
        z = self._table(columns, result)
        found = 0 if z is None else max(0, round(way * float(z[self._column[item]])))
        most = upper[column] if direction > 0 else -lower[column]
        if result.bound is not None:
            most = min(most, -result.bound)
        if z is not None:
            self._count(z, lot, half=self.side[item] == SLIDE)
        return found, found if result.status is Status.OPTIMAL and z is not None else int(np.floor(most + NOISE))

    def _table(self, columns: Ints, result: MilpResult) -> Floats | None:
        """The whole table that a MILP over these columns found; None where it found none, or none that holds."""
        if result.x is None:
            return None
        u = np.zeros(self.system.R.shape[1])
        u[columns] = result.x
        z = np.asarray(self.system.R @ np.where(self.integral_u, np.rint(u), u)) + 0.0
        return z if self.system.holds(z) else None

    def _around(self, column: int) -> list[Ints]:
        """The part of the table that a column is in, and all that hangs together with it."""
        together = np.flatnonzero(self.component == self.component[column])
        if len(together) <= NEAR:
            return [together]
        near = next(each for each in parts(self.system.area, self.system.code, NEAR) if column in each)
        return [np.intersect1d(near, together), together]

    def _solve(
        self, columns: Ints, cost: Floats, lower: Floats, upper: Floats, gap: float, nodes: int, from_truth: bool = True
    ) -> MilpResult:  # fmt: skip
        """min cost·u over some columns, the others at the truth."""
        A = sp.csr_array(sp.csc_array(self.system.core)[:, columns])
        rows = np.flatnonzero(np.diff(A.indptr) > 0)
        low, high = self.system.low[self.system.rows[rows]], self.system.high[self.system.rows[rows]]
        model = Milp(
            cost[columns], sp.csr_array(A[rows]), low, high, lower[columns], upper[columns], np.flatnonzero(self.integral_u[columns])
        )  # fmt: skip  # HiGHS takes them as whole numbers within their bounds
        self.milps += 1
        return LiveMilp(model).solve(np.zeros(len(columns)) if from_truth else None, np.inf, gap, nodes)


def _components(core: sp.csr_array) -> Ints:
    """Which part that hangs together each column is in."""
    m, n = core.shape
    entries = sp.coo_array(core)
    both = sp.csr_array((np.ones(core.nnz), (entries.row, m + entries.col)), shape=(m + n, m + n))
    return connected_components(both, directed=False)[1][m:].astype(np.int64)
