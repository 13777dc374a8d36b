"""The attacker at work: settles which requirements a publication meets (METHOD §5).

Cheap proofs first. Every LP point is a witness for *all* primaries, so the extremes seen anywhere count, and witnesses of one
publication are tried on the next. Joint LPs push all open requirements at once, in random senses, first inside the box |z| ≤ a where
the mirror image −z is a witness too; they run on parts of the table before the whole (`blocks.py`). What is still open gets an LP of
its own, hot-started. A failure is always the optimum of its own LP, and its multipliers are kept. Witnesses are checked by
arithmetic (`AttackSystem.is_witness`), never taken on the solver's word.

Requirements are treated in fronts: one profile, one range of sizes, each in its own unit, so that 0.01 and 1e12 can live in one
table: a point counts for the requirements of its own front only, because its tolerance could be the whole of a smaller one.

Attackers who act alone share a front. A witness proves a requirement against each of them whose cell it leaves as he knows it. An LP
in which all of them are held to what they know proves it against all; where it fails, its multipliers name the few who matter.

In a coalition everybody's cells stay as they are but those of the victim. No point serves two victims among its members, so each has
LPs of his own, in parts of the table first, which open the bounds of his cells on the live model and close them again. His cell stops at
its level there: such points move few other cells, so that their mirror images are often witnesses too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.attack.blocks import LARGE, levels
from sdc_tasks.methods.attack.knowledge import VINTAGE, Knowledge, knowledge_of
from sdc_tasks.methods.attack.part import Part
from sdc_tasks.methods.attack.problem import FEASIBLE, AttackSystem, Requirements, attack_system, facing
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.solver.lp import LiveLP, Status

MET = 1e-6  # relative tolerance on a level
DECADES = 4  # levels within one group differ by at most this many powers of ten
JOINT_ROUNDS = 12
FEW = 10  # open requirements that are not worth a joint LP
POOL = 300  # witnesses kept for the next publication
NOISE = 1e-9  # a multiplier below this is none
DOWN, UP, SLIDE = -1, 1, 0


def _none() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Attack:
    """The strongest attack on one requirement: how far it reaches (unit of the data), and what it leans on.

    `primary` is the row of the requirements; `side` is −1 (down), 1 (up), or 0 for the sliding level, whose reach is that of both
    sides added up; `knower` the attacker, where they act alone, else −1.

    `price` = gain of the reach per unit of slack given to the aggregate cell at that position of the publication: the dual values
    of its rows; positive for the upper slack (upper − a), negative for the lower (a − lower). `rows multiplier` are all of them, by
    row of `space.relations` (earlier releases behind); for a sliding level those of both sides, down first, `split` rows each.
    """

    primary: int
    side: int
    need: float = field(repr=False)
    reach: float = field(repr=False)
    decided: Ints = field(repr=False)
    price: Floats = field(repr=False)
    knower: int = -1
    rows: Ints = field(default_factory=_none, repr=False)
    multiplier: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    split: int = 0
    unit: float = 1.0


@dataclass(repr=False)
class _Front:
    """Requirements of one profile and of similar size (items), and the polyhedron in their unit.

    Per item: its `row` in the requirements, `side`, `need` in units, `column` of its primary in z, and z = `sign`·u[`core`] in the core,
    `sign` 0 where it is fixed. `open` (items, attackers): not proven yet; `low high`: how far the primary was seen below and above the
    truth by witnesses that fool every attacker. `held` … are columns and bounds that attackers know: one each where they act `alone`,
    else all but those of the victim, the respondent `of_item` (−1: somebody else). `bounds` of u hold all that he knows whatever the
    victim, `widest` nothing of it. `labels` number the parts that each column of the core is in: its country, then ever larger ones.
    """

    profile: int
    row: Ints
    side: Ints
    need: Floats
    system: AttackSystem
    column: Ints
    core: Ints
    sign: Floats
    bounds: tuple[Floats, Floats]
    widest: tuple[Floats, Floats]
    alone: bool
    of_item: Ints
    owner: Ints
    held: Ints
    held_lower: Floats
    held_upper: Floats
    held_core: Ints
    core_lower: Floats
    core_upper: Floats
    relevant: Bools
    levels: list[tuple[list[Ints], bool]]
    labels: list[Ints]
    by_column: sp.csc_array
    model: Part | None = None
    parts: dict[tuple[int, int], Part] = field(default_factory=dict)
    open: Bools = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    low: Floats = field(default_factory=lambda: np.zeros(0))
    high: Floats = field(default_factory=lambda: np.zeros(0))
    lowest_reach: Floats = field(default_factory=lambda: np.zeros(0))
    pool: list[Floats] = field(default_factory=list)
    useful: list[tuple[Floats, int]] = field(default_factory=list)

    @property
    def reach(self) -> Floats:
        """What each item was seen to reach, by witnesses that fool every attacker, in units."""
        return np.where(self.side == DOWN, -self.low, np.where(self.side == UP, self.high, self.high - self.low))

    def imposed(self, held: Bools) -> tuple[Floats, Floats]:
        """Bounds of u once this of the knowledge holds."""
        lower, upper = self.widest[0].copy(), self.widest[1].copy()
        at = np.flatnonzero(held & (self.held_core >= 0))
        np.maximum.at(lower, self.held_core[at], self.core_lower[at])
        np.minimum.at(upper, self.held_core[at], self.core_upper[at])
        return lower, upper

    def part(self, columns: Ints) -> Part:
        """A live model of these columns. Whatever a victim's attackers do not know may lead out of it."""
        return Part(self.system, self.by_column, self.bounds, columns, self.widest[0] < self.widest[1])

    def facing(self, item: int, knowers: Bools) -> tuple[Floats, Floats, Ints]:
        """(lower, upper) of u for these attackers of an item, and the columns where they may differ from `bounds`."""
        if self.alone:
            return *self.imposed(knowers), np.unique(self.held_core[self.held_core >= 0])
        if self.of_item[item] < 0:
            return *self.bounds, _none()
        others = self.owner != self.of_item[item]
        return *self.imposed(others), np.unique(self.held_core[~others & (self.held_core >= 0)])

    def fooled(self, z: Floats) -> Bools:
        """(items or 1, attackers): who finds what he knows in a point, by victim."""
        as_known = (z[self.held] >= self.held_lower - FEASIBLE) & (z[self.held] <= self.held_upper + FEASIBLE)
        if self.alone:
            return as_known[None, :]
        moved = self.owner[~as_known]
        if not len(moved):
            return np.ones((1, 1), dtype=bool)
        return np.asarray((self.of_item == moved[0]) & (moved == moved[0]).all())[:, None]


class Attacker:
    """The attackers of all profiles that `needs` names, ready to face one publication after another."""

    def __init__(self, problem: ProtectionProblem, needs: Requirements, seed: int = 1) -> None:
        self.needs = needs
        self._problem, self._seed = problem, seed
        self.lps = self.joint_lps = 0  # all; those that every chunk of an audit solves
        self._fronts: list[_Front] = []
        for number, profile in enumerate(needs.profiles):
            knowledge = knowledge_of(problem, profile)
            self._fronts += [_front(problem, needs, knowledge, number, items, unit) for items, unit in _groups(needs, number)]
        self._forget()

    def face(self, publication: Publication) -> None:
        """Another publication: what was shown against the one before is forgotten; its witnesses are tried first."""
        self._forget()
        self.shift(publication)
        for front in self._fronts:
            pool, front.pool = front.pool[-POOL:], []
            for z in pool:
                self._count(front, z)

    def shift(self, publication: Publication) -> None:
        """A small change of the publication in hand, between two calls of `again`."""
        for front in self._fronts:
            system = facing(front.system, self._problem, publication)
            changed = (system.row_lower != front.system.row_lower) | (system.row_upper != front.system.row_upper)
            rows = np.flatnonzero(changed[system.core_rows])
            full = system.core_rows[rows]
            if len(rows) and front.model is not None:
                front.model.live.set_row_bounds(rows, system.row_lower[full], system.row_upper[full])
            front.system, front.parts = system, {}

    def again(self, attack: Attack) -> Attack | None:
        """The same attack on the publication as it is now; None where it no longer succeeds."""
        self.broken.clear()
        front, item = next(
            (f, int(i)) for f in self._fronts for i in np.flatnonzero((f.row == attack.primary) & (f.side == attack.side)).tolist()
        )
        knowers = np.arange(front.open.shape[1]) == max(attack.knower, 0)
        self._try(front, item, knowers, -1)
        return self.broken[0] if self.broken else None

    def _forget(self) -> None:
        for front in self._fronts:
            n = len(front.row)
            front.open = front.relevant & (front.need > 0)[:, None]
            front.low, front.high, front.lowest_reach = np.zeros(n), np.zeros(n), np.full(n, np.inf)
            front.useful = []
        self.by_lp = np.zeros(len(self.needs.primaries), dtype=bool)
        self.broken: list[Attack] = []

    def reached(self) -> tuple[Floats, Floats, Floats]:
        """How far down, up and in all each row was seen to reach against its strongest attacker, in the unit of the data.

        Of a requirement that is met, at least what it needs.
        """
        found = {side: np.zeros(len(self.needs.primaries)) for side in (DOWN, UP, SLIDE)}
        for front in self._fronts:
            met = ~front.open.any(axis=1)
            seen = np.where(met, np.maximum(front.reach, front.need), np.minimum(front.reach, front.need))
            seen = np.where(np.isfinite(front.lowest_reach), front.lowest_reach, seen) * front.system.unit
            for side, target in found.items():
                chosen = front.side == side
                target[front.row[chosen]] = seen[chosen]
        return found[DOWN], found[UP], found[SLIDE]

    def witnesses(self) -> Iterator[tuple[int, int, Floats]]:
        """(profile, lot, deviations in the unit of the data) of the witnesses that prove what was proven; few of those all lots share."""
        for front in self._fronts:
            shared = [z for z, lot in front.useful if lot < 0]
            for z in shared if front.alone or (front.side == SLIDE).any() else _few(front, shared):
                yield front.profile, -1, z * front.system.unit
            for z, lot in front.useful:
                if lot >= 0:
                    yield front.profile, lot, z * front.system.unit

    def offer(self, witnesses: Iterable[Floats]) -> None:
        """Counts tables found elsewhere (z of the suppressed cells, unit of the data), and their mirror images, if witnesses."""
        for z in witnesses:
            for front in self._fronts:
                whole = np.zeros(front.system.A.shape[1])  # what is unknown of earlier deliveries stays at the truth
                whole[: len(z)] = z / front.system.unit
                self._count(front, whole)

    def _count(self, front: _Front, z: Floats, lot: int = -1) -> None:
        """Counts a point and its mirror image, if witnesses, for the items of its front."""
        sound = [front.system.is_witness(point) for point in (z, -z)]
        news = False
        for point, ok in zip((z, -z), sound, strict=True):
            if not ok:
                continue
            seen, fooled = point[front.column], front.fooled(point)
            everybody = fooled.all(axis=1)
            front.low = np.where(everybody, np.minimum(front.low, seen), front.low)
            front.high = np.where(everybody, np.maximum(front.high, seen), front.high)
            enough = front.need * (1 - MET)
            met = np.where(front.side == SLIDE, everybody & (front.high - front.low >= enough), front.side * seen >= enough)
            closing = np.flatnonzero(met & front.open.any(axis=1))
            if len(closing):
                was, now = front.open[closing], fooled if len(fooled) == 1 else fooled[closing]
                front.open[closing] = was & ~now
                news = news or bool((was & now).any())
            news = news or bool((front.side == SLIDE).any())  # halves of a sliding level come from different witnesses
        if any(sound) and news:
            front.pool.append(z)
            front.useful.append((z, lot))

    def settle(self, lots: Sequence[Ints] | None = None) -> None:
        """Proves or breaks every requirement; or after the joint LPs only those of some lots of primaries, each lot as if alone.

        What is found for one lot then does not depend on which others are asked for: so a mapped audit is the same however it is cut.
        """
        for front in self._fronts:
            rng = np.random.default_rng(self._seed)
            for knowers in _circles(front):
                self._jointly(front, knowers, rng)
            if not front.open.any():
                continue
            rank = np.lexsort((front.side != DOWN, front.side == SLIDE, front.row, front.of_item >= 0))
            waiting = rank[front.open[rank].any(axis=1)]
            if lots is None:
                self._singly(front, waiting, -1)
                continue
            live, open_, seen = self._model(front).live, front.open.copy(), (front.low.copy(), front.high.copy())
            basis, settled = live.basis(), front.open.copy()
            for number, lot in enumerate(lots):
                front.open, front.low, front.high = open_.copy(), seen[0].copy(), seen[1].copy()
                mine = waiting[np.isin(self.needs.primaries[front.row[waiting]], lot)]
                live.restore(basis)
                front.parts = {}
                self._singly(front, mine, number)
                settled[mine] = front.open[mine]
            front.open = settled

    def _jointly(self, front: _Front, knowers: Bools, rng: np.random.Generator) -> None:
        """Rounds of max Σ σ_p z_p / need_p over the open requirements, z_p held at its need; rounds inside the mirror box first."""
        if not front.levels:
            return
        bounds = front.imposed(knowers) if front.alone else front.bounds
        pushed = (front.side != SLIDE) & (front.sign != 0) & (bounds[0] < bounds[1])[front.core]
        for blocks, interior in front.levels:
            for columns in blocks:
                inside = np.zeros(len(bounds[0]), dtype=bool)
                inside[columns] = True
                self._part(front, knowers, bounds, columns, pushed & inside[front.core], interior, rng)

    def _part(
        self, front: _Front, knowers: Bools, bounds: tuple[Floats, Floats], columns: Ints, mine: Bools, interior: bool,
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        """Joint rounds in which only these columns of the core move."""

        def waiting() -> Bools:
            return np.asarray(mine & front.open[:, knowers].any(axis=1))

        few = FEW if len(columns) <= 1.5 * LARGE else 0  # where an own LP is dear, joint ones go on to the last
        if int(waiting().sum()) <= few:
            return
        system = front.system
        low, high = system.row_lower[system.core_rows], system.row_upper[system.core_rows]
        told = np.isfinite(low) | np.isfinite(high)
        columns = columns[_free(sp.csr_array(system.core[:, columns]), (low == 0) & (high == 0))]
        if not len(columns):
            return
        A = sp.csr_array(system.core[:, columns])
        rows = np.flatnonzero(told & (np.diff(A.indptr) > 0))
        local = np.full(system.core.shape[1], -1)
        local[columns] = np.arange(len(columns))
        mine = mine & (local[front.core] >= 0)
        lower, upper = bounds[0][columns], bounds[1][columns]
        live = LiveLP(np.zeros(len(columns)), sp.csr_array(A[rows]), low[rows], high[rows], lower, upper)
        if interior:
            live.interior()
        everything = np.arange(len(columns))
        for mirrored in (True, False):
            box = (np.maximum(lower, -upper), np.minimum(upper, -lower)) if mirrored else (lower, upper)
            for _ in range(JOINT_ROUNDS):
                if (before := int((open_ := waiting()).sum())) <= few:
                    break
                sense, need = _push(front, np.flatnonzero(open_), local, len(columns), rng)
                live.set_cost(everything, -sense / need)
                live.set_bounds(
                    everything,
                    np.where(sense == DOWN, np.maximum(box[0], -need), box[0]),
                    np.where(sense == UP, np.minimum(box[1], need), box[1]),
                )
                result = live.solve()
                if result.status is not Status.OPTIMAL:
                    break
                u = np.zeros(system.core.shape[1])
                u[columns] = result.x
                self._count(front, system.R @ u)
                if waiting().sum() > 0.85 * before:
                    break
        self.lps, self.joint_lps = self.lps + live.solves, self.joint_lps + live.solves

    def _model(self, front: _Front) -> Part:
        """The live model of the core, at a feasible basis."""
        if front.model is None:
            front.model = front.part(np.arange(front.system.core.shape[1]))
        live = front.model.live
        live.method("dual")
        live.solve()  # without a cost: back to a feasible basis by dual steps, for the primal steps below
        self.lps, self.joint_lps = self.lps + 1, self.joint_lps + 1
        live.method("primal")
        return front.model

    def _singly(self, front: _Front, items: Ints, lot: int) -> None:
        """An LP of its own for each item still open."""
        if front.model is None:
            self._model(front)
        for item in items.tolist():
            if front.open[item].any():
                self._try(front, item, front.open[item].copy(), lot)

    def _try(self, front: _Front, item: int, knowers: Bools, lot: int) -> None:
        """Attacks one item by each of these attackers; successes are noted in `broken`."""
        groups = [knowers]
        while groups:
            group = groups.pop()
            found, matter = self._attack(front, item, group, lot)
            if found.reach >= found.need * (1 - MET):
                front.open[item] &= ~group
            elif not matter.any():  # no attacker's own knowledge is needed: all of them succeed
                self._note(front, item, found)
            elif matter.sum() == 1:  # nor is anybody else's
                self._note(front, item, replace(found, knower=int(np.flatnonzero(matter)[0])))
                groups += [group & ~matter] if (group & ~matter).any() else []
            else:
                groups += [group & ~matter] if (group & ~matter).any() else []
                groups += [np.arange(len(group)) == k for k in np.flatnonzero(matter).tolist()]

    def _note(self, front: _Front, item: int, attack: Attack) -> None:
        """An attack that succeeds."""
        self.broken.append(attack)
        front.lowest_reach[item] = min(front.lowest_reach[item], attack.reach / front.system.unit)

    def _attack(self, front: _Front, item: int, group: Bools, lot: int) -> tuple[Attack, Bools]:
        """The strongest attack on an item by a group of attackers who share what they know, and which of them it needs."""
        lower, upper, columns = front.facing(item, group)
        side = int(front.side[item])
        ways, halves = (DOWN, UP) if side == SLIDE else (side,), [_Half()]
        for model in _models(front, item) if front.sign[item] != 0 else ():  # else the national relations fix the cell: no LP is needed
            model.set_bounds(columns, lower[columns], upper[columns])
            if front.of_item[item] >= 0:
                need, column = front.need[item], front.core[[item]]
                model.set_bounds(column, np.maximum(lower[column], -need), np.minimum(upper[column], need))
            halves = [self._reach(front, model, item, way, group, lot) for way in ways]
            model.set_bounds(columns, front.bounds[0][columns], front.bounds[1][columns])
            if model.closed or sum(half.reach for half in halves) >= front.need[item] * (1 - MET):
                break
        matter = np.zeros(len(group), dtype=bool)
        if front.alone and front.sign[item] != 0:
            known = front.held_core >= 0
            at = front.held_core[known]
            for half in halves:
                leaned = np.where(half.reduced[at] > NOISE, front.core_lower[known] >= lower[at], front.core_upper[known] <= upper[at])
                matter[known] |= leaned & (np.abs(half.reduced[at]) > NOISE) & group[known]
        unit, system = front.system.unit, front.system
        rows = np.concatenate([half.rows for half in halves])
        told = system.decided[rows] >= 0
        multiplier = np.concatenate([half.multiplier for half in halves])
        found = Attack(
            primary=int(front.row[item]),
            side=side,
            need=float(front.need[item] * unit),
            reach=sum(half.reach for half in halves) * unit,
            decided=system.decided[rows[told]],
            price=multiplier[told],
            rows=system.source[rows],
            multiplier=multiplier,
            split=len(halves[0].rows),
            unit=unit,
        )
        return found, matter

    def _reach(self, front: _Front, model: Part, item: int, side: int, group: Bools, lot: int) -> _Half:
        """max σ z_p in a model from the basis of its last attack, in units, and what it leans on.

        Not stopped at the level, but for a victim whose bounds have changed anyway: a bound on z_p would cost the warm basis.
        """

        def sound(z: Floats) -> bool:
            fooled = front.fooled(z)
            return front.system.is_witness(z) and bool(fooled[item if len(fooled) > 1 else 0, group].all())

        row, column = front.row[item], int(front.core[item])
        model.set_cost(column, -side * front.sign[item])
        result = model.live.solve()
        self.lps += 1
        z = front.system.R @ model.whole(result.x)
        if not sound(z):
            result = model.live.solve(fresh=True)
            self.lps += 1
            z = front.system.R @ model.whole(result.x)
        model.set_cost(column, 0.0)
        self.by_lp[row] = True
        if result.status is not Status.OPTIMAL or not sound(z):
            raise Unprotectable(
                f"the attacker's LP for {self._problem.space.key(int(self.needs.primaries[row]))} could not be solved reliably "
                f"({result.status}); nothing can be certified. Remedy: check the magnitudes of that country's table"
            )
        self._count(front, z, lot)
        rows = np.flatnonzero(np.abs(result.dual) > NOISE)
        reach, at = float(side * z[front.column[item]]), front.system.core_rows[model.rows[rows]]
        return _Half(reach, at, -result.dual[rows], model.whole(result.reduced))


@dataclass(frozen=True, repr=False)
class _Half:
    """The optimum of one LP in units; its multipliers by row of the system, and the reduced costs of the core."""

    reach: float = 0.0
    rows: Ints = field(default_factory=_none)
    multiplier: Floats = field(default_factory=lambda: np.zeros(0))
    reduced: Floats = field(default_factory=lambda: np.zeros(0))


def _models(front: _Front, item: int) -> Iterator[Part]:
    """Where to attack an item: the whole. For a victim among those who know: his country, where no row leads out of it, and parts of the
    table first.
    """
    if front.of_item[item] >= 0:
        column = front.core[item]
        for level, label in enumerate(front.labels):
            at = level, int(label[column])
            if at not in front.parts:
                front.parts[at] = front.part(np.flatnonzero(label == label[column]))
            if level > 0 or front.parts[at].closed:
                yield front.parts[at]
    if front.model is not None:
        yield front.model


def _few(front: _Front, witnesses: list[Floats]) -> list[Floats]:
    """Some of the witnesses that prove as much as all: greedily, the one that proves most of what is left."""
    proven = np.zeros((len(witnesses), len(front.row)), dtype=bool)
    for i, z in enumerate(witnesses):
        for point in (z, -z):
            if front.system.is_witness(point):
                proven[i] |= front.fooled(point)[:, 0] & (front.side * point[front.column] >= front.need * (1 - MET))
    left, chosen = proven.any(axis=0), []
    while left.any():
        best = int((proven & left).sum(axis=1).argmax())
        chosen.append(best)
        left &= ~proven[best]
    return [witnesses[i] for i in sorted(chosen)]


def _push(front: _Front, items: Ints, local: Ints, n: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """(sense, need) of each of n columns. Cells tied to each other are pushed together, as far as the neediest of them asks."""
    rise, fall = np.zeros(n), np.zeros(n)
    direction = front.side[items] * front.sign[items]
    for way, target in ((UP, rise), (DOWN, fall)):
        chosen = items[direction == way]
        np.maximum.at(target, local[front.core[chosen]], front.need[chosen])
    sense = np.where((rise > 0) & (fall > 0), rng.choice([DOWN, UP], n), np.where(rise > 0, UP, np.where(fall > 0, DOWN, 0)))
    return sense, np.maximum(np.where(sense == UP, rise, fall), 1e-12)


def _free(A: sp.csr_array, equal: Bools) -> Bools:
    """Columns that can move at all: those that an equation with no other column fixes are taken out, again and again."""
    alive = np.ones(A.shape[1], dtype=bool)
    size = sp.csr_array(abs(A[equal]))
    while True:
        alone = np.asarray(size @ alive.astype(float)) == 1
        fixed = (np.asarray(size[alone].sum(axis=0)).ravel() > 0) & alive
        if not fixed.any():
            return alive
        alive &= ~fixed


def _circles(front: _Front) -> Iterator[Bools]:
    """Groups of attackers to be fooled by one point. Those who act alone: all, then halves, so that any two are once apart.

    A point that fools the holder of a cell cannot protect that cell; in the halves without him it can.
    """
    n = front.open.shape[1]
    yield np.ones(n, dtype=bool)
    if front.alone:
        fixed = front.held[front.held_lower == front.held_upper]
        own = np.flatnonzero(np.isin(front.column, fixed))
        for bit in range(int(np.ceil(np.log2(max(n, 1))))):
            for value in (0, 1):
                half = (np.arange(n) >> bit) & 1 == value
                if front.open[own][:, half].any(axis=1).sum() > FEW:
                    yield half


def _front(
    problem: ProtectionProblem, needs: Requirements, knowledge: Knowledge, number: int, items: tuple[Ints, Ints], unit: float
) -> _Front:
    """The items (rows and sides) of one profile and size."""
    system = attack_system(problem, unit, knowledge.profile == VINTAGE)
    row, side = items
    size = np.select([side == DOWN, side == UP], [needs.down[row], needs.up[row]], needs.slide[row])
    column = system.columns_of(needs.primaries[row])
    core, sign = _places(system, column)
    held = system.columns_of(knowledge.cells)
    held_lower, held_upper = knowledge.lower / unit, knowledge.upper / unit
    held_core, held_sign = _places(system, held)
    held_core = np.where(held_sign == 0, -1, held_core)
    country, stretch = _where(problem, system)
    of_item = np.full(len(row), -1) if knowledge.alone else knowledge.owners(needs.primaries[row])
    front = _Front(
        profile=number, row=row, side=side, need=size / unit, system=system, column=column, core=core, sign=sign,
        bounds=system.core_bounds(), widest=system.core_bounds(), alone=knowledge.alone, of_item=of_item, owner=knowledge.owner,
        held=held, held_lower=held_lower, held_upper=held_upper, held_core=held_core,
        core_lower=np.where(held_sign > 0, held_lower, -held_upper), core_upper=np.where(held_sign > 0, held_upper, -held_lower),
        relevant=_relevant(needs, knowledge, number, row), levels=levels(country, stretch),
        labels=[country, *(_label(parts, len(country)) for parts, _ in levels(country, stretch)[:-1])],
        by_column=sp.csc_array(system.core),
    )  # fmt: skip
    return front if knowledge.alone else replace(front, bounds=front.imposed(np.ones(len(held), dtype=bool)))


def _places(system: AttackSystem, columns: Ints) -> tuple[Ints, Floats]:
    """(core column, sign) of columns of z; sign 0 where it is fixed."""
    picked = sp.csr_array(system.R[columns])
    core, sign = np.zeros(len(columns), dtype=np.int64), np.zeros(len(columns))
    at, u = picked.nonzero()
    core[at], sign[at] = u, picked.data
    return core, sign


def _where(problem: ProtectionProblem, system: AttackSystem) -> tuple[Ints, Ints]:
    """(area, position in the first code list) of the core columns, by the first cell of each."""
    R = sp.csc_array(system.R)
    R.sort_indices()
    first = R.indices[R.indptr[:-1]]
    shape = problem.space.national_shape
    return system.area[first], np.unravel_index(system.code[first], shape)[min(1, len(shape) - 1)]


def _label(parts: Sequence[Ints], n: int) -> Ints:
    """The number of the part that each of n columns is in."""
    label = np.zeros(n, dtype=np.int64)
    for number, columns in enumerate(parts):
        label[columns] = number
    return label


def _relevant(needs: Requirements, knowledge: Knowledge, number: int, row: Ints) -> Bools:
    """(items, attackers): whom each row is about. Nobody is kept from his own cells; rows about one attacker take him from the general."""
    if not knowledge.alone:
        return np.ones((len(row), 1), dtype=bool)
    about = knowledge.owner[None, :] != knowledge.owners(needs.primaries[row])[:, None]
    special = (needs.profile == number) & (needs.knower >= 0)
    of_cell: dict[int, list[int]] = {}
    for cell, knower in zip(needs.primaries[special].tolist(), needs.knower[special].tolist(), strict=True):
        of_cell.setdefault(cell, []).append(knower)
    for i, r in enumerate(row.tolist()):
        if needs.knower[r] >= 0:
            about[i] = np.arange(about.shape[1]) == needs.knower[r]
        elif (apart := of_cell.get(int(needs.primaries[r]))) is not None:
            about[i, apart] = False
    return np.asarray(about)


def _groups(needs: Requirements, number: int) -> Iterator[tuple[tuple[Ints, Ints], float]]:
    """((rows, sides), unit): requirements within the same few decades; the unit is a power of two in their middle."""
    mine = np.flatnonzero(needs.profile == number)
    row = np.concatenate([mine, mine, mine])
    side = np.repeat([DOWN, UP, SLIDE], len(mine))
    size = np.concatenate([needs.down[mine], needs.up[mine], needs.slide[mine]])
    bucket = np.where(size > 0, np.ceil(np.log10(np.maximum(size, 1e-300)) / DECADES), -np.inf)
    for b in np.unique(bucket):
        if np.isfinite(b):
            yield (row[bucket == b], side[bucket == b]), float(2.0 ** np.round(np.log2(10.0 ** (DECADES * (b - 0.5)))))
