"""The prover by linear programs (METHOD §5): what is shown here holds against attackers who do not know which values are whole.

Every LP point is a witness for *all* items, so the extremes seen anywhere count, and witnesses of one publication are tried on the next.
Joint LPs (`joint.py`) push all open items at once. What is still open gets an LP of its own, hot-started, of a large table in parts
first. A failure is always the optimum of its own LP, and its multipliers are kept. Witnesses are checked by arithmetic
(`AttackSystem.are_witnesses`), never taken on the solver's word.

Each prover has requirements of one profile and of similar size, in their own unit, so that 0.01 and 1e12 can live in one table: a point
counts for its own items only, because its tolerance could be the whole of a smaller one.

Of attackers who act alone, an LP in which all of them are held to what they know proves an item against all; where it fails, its
multipliers name the few who matter.

In a coalition everybody's cells stay as they are but those of the victim. No point serves two victims among its members, so each has
LPs of his own, in parts of the table first, which open the bounds of his cells on the live model and close them again. His cell stops at
its level there: such points move few other cells, so that their mirror images are often witnesses too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.attack.blocks import levels, lineage
from sdc_tasks.methods.attack.items import DOWN, SLIDE, UP, Items
from sdc_tasks.methods.attack.knowledge import Insiders, Knowledge
from sdc_tasks.methods.attack.ledger import Ledger
from sdc_tasks.methods.attack.lp.joint import JointSearch
from sdc_tasks.methods.attack.lp.models import LiveModel, Models
from sdc_tasks.methods.attack.polyhedron import AttackSystem, attack_system, facing
from sdc_tasks.methods.attack.prover import FOR_ALL, Prover
from sdc_tasks.methods.attack.requirements import Requirements
from sdc_tasks.methods.attack.witness import Witness, fewest
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.solver.lp import Status

MET = 1e-6  # relative: by which a level that counts as met may be missed
LEVEL_DECADES = 4  # powers of ten by which the levels of one prover differ at most
POOL_WITNESSES = 300  # kept for the next publication
NO_PRICE = 1e-9  # a multiplier below this is none


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


@dataclass(frozen=True, repr=False)
class _Half:
    """How far one side reaches, in units, and what it leans on: rows of A with their multipliers, and reduced costs of the core."""

    reach: float = 0.0
    rows: Ints = field(default_factory=_none)
    multiplier: Floats = field(default_factory=lambda: np.zeros(0))
    reduced: Floats = field(default_factory=lambda: np.zeros(0))


class LpProver(Prover):
    """Requirements of one profile and of similar size. `broken`: attacks that succeed; `failed`: those that an LP has shown to fail, whose
    prices say what would make them succeed; `own_rows`: rows of the requirements that got LPs of their own.
    """

    def __init__(
        self, problem: ProtectionProblem, needs: Requirements, knowledge: Knowledge, profile: int, size: Size, seed: int
    ) -> None:  # fmt: skip
        self._problem = problem
        self._system = attack_system(problem, size.unit, knowledge.profile)
        row, side = size.row, size.side
        need = np.select([side == DOWN, side == UP], [needs.down[row], needs.up[row]], needs.slide[row]) / size.unit
        items = Items.of(needs, self._system, row, side, need)
        insiders = Insiders.of(knowledge, self._system, items.cell)
        ledger = Ledger(items, insiders, knowledge.asked(needs, row), need * (1 - MET), spared=False)
        super().__init__(profile, items, insiders, ledger, seed)
        country, stretch = _where(problem, self._system)
        self._levels, self._by_column = levels(country, stretch), sp.csc_array(self._system.core)
        self._models = Models(self._system, self._by_column, insiders, country, self._levels)
        self._useful: list[Witness] = []
        self.forget()

    def forget(self) -> None:
        """What was found against the publication in hand."""
        self.ledger.forget()
        self._useful = []
        self.own_rows = set[int]()
        self.clear()

    def clear(self) -> None:
        """The attacks found so far; what they have shown stays."""
        self.broken: list[Attack] = []
        self.failed: list[Attack] = []

    def face(self, publication: Publication) -> None:
        """Another publication: what was shown against the one before is forgotten; its witnesses are tried first."""
        pool = self._useful[-POOL_WITNESSES:]
        self.forget()
        self.shift(publication)
        for witness in pool:
            self._count(witness.dense(self._system.A.shape[1]))

    def shift(self, publication: Publication) -> None:
        """Another publication, of which everything shown so far holds."""
        self._system = facing(self._system, self._problem, publication)
        self._models.face(self._system)

    def offer(self, z: Floats) -> None:
        """Counts a table found elsewhere (z of the suppressed cells, unit of the data), and its mirror image, if witnesses."""
        whole = np.zeros(self._system.A.shape[1])  # what is unknown of earlier deliveries stays at the truth
        whole[: len(z)] = z / self._system.unit
        self._count(whole)

    def reached(self) -> Floats:
        """How far each item was seen to reach against its strongest attacker, in the unit of the data. If it is met, at least its need."""
        items, reach = self.items, self.ledger.reach
        seen = np.where(self.ledger.waiting, np.minimum(reach, items.need), np.maximum(reach, items.need)) * self._system.unit
        lowest = np.full(len(items), np.inf)
        for attack in self.broken:
            at = self.item_of(attack)
            lowest[at] = min(lowest[at], attack.reach)
        return np.where(np.isfinite(lowest), lowest, seen)

    def holds(self, attack: Attack) -> bool:
        """Is this attack on one of the items?"""
        return bool(((self.items.row == attack.primary) & (self.items.side == attack.side)).any())

    def item_of(self, attack: Attack) -> int:
        """The item of an attack."""
        return int(np.flatnonzero((self.items.row == attack.primary) & (self.items.side == attack.side))[0])

    def is_shown(self, attack: Attack) -> bool:
        """Was a witness seen against which this attack would fail?"""
        return not self.ledger.open[self.item_of(attack), max(attack.knower, 0)]

    def again(self, attack: Attack) -> None:
        """The same attack on the publication as it is now."""
        self.attack(self.item_of(attack), np.arange(self.ledger.open.shape[1]) == max(attack.knower, 0), FOR_ALL)

    def witnesses(self) -> Iterator[Witness]:
        """Those that prove what was proven, in the unit of the data; few of those all lots share."""
        shared = [witness for witness in self._useful if witness.lot == FOR_ALL]
        if not self.insiders.alone and not (self.items.side == SLIDE).any():
            shared = [shared[i] for i in fewest([self._proven(witness) for witness in shared])]
        for witness in (*shared, *(witness for witness in self._useful if witness.lot != FOR_ALL)):
            yield replace(witness, value=witness.value * self._system.unit)

    def _proven(self, witness: Witness) -> Bools:
        """Which items a witness proves, or its mirror image."""
        items = self.items
        proven = np.zeros(len(items), dtype=bool)
        z = witness.dense(self._system.A.shape[1])
        for point, sound in zip((z, -z), witness.sound, strict=True):
            if sound:
                proven |= self.insiders.fooled(point)[:, 0] & (items.side * point[items.column] >= items.need * (1 - MET))
        return proven

    def _count(self, z: Floats, lot: int = FOR_ALL, sound: tuple[bool, bool] | None = None) -> None:
        """Counts a point and its mirror image, if witnesses. `sound`: whether they are, where that is known."""
        sound = self._system.are_witnesses(z) if sound is None else sound
        if not any(sound):
            return
        news = self.ledger.count(z, sound)
        if news.closed or (self.items.side == SLIDE).any():  # halves of a sliding level come from different witnesses
            self._useful.append(Witness.of(z, lot, sound))

    # --- the strategy ---------------------------------------------------------------------------------------------------------------

    def _jointly(self, rng: np.random.Generator) -> None:
        search = JointSearch(self._system, self._by_column, self._levels, self.items, self.insiders, self.ledger, self._count)
        self.solves += search.run(rng)

    def _order(self) -> Ints:
        """Victims among those who know come last; of a cell its sliding level does, which its sides bring along."""
        items = self.items
        return np.lexsort((items.side != DOWN, items.side == SLIDE, items.row, self.insiders.victim >= 0))

    def _begin(self) -> None:
        for model in self._models.live:
            model.start()

    def _back(self) -> None:
        for model in self._models.live:
            model.back()

    def attack(self, item: int, knowers: Bools, lot: int) -> None:
        """By an LP for all of these attackers together; where it succeeds, by one for each of the few whose knowledge it needs."""
        groups = [knowers]
        while groups:
            group = groups.pop()
            found, matter, whole = self._strongest(item, group, lot)
            if found.reach >= found.need * (1 - MET):
                self.ledger.open[item] &= ~group
                if whole and not matter.any():
                    self.failed.append(found)
            elif not matter.any():  # no attacker's own knowledge is needed: all of them succeed
                self.broken.append(found)
            elif matter.sum() == 1:  # nor is anybody else's
                self.broken.append(replace(found, knower=int(np.flatnonzero(matter)[0])))
                groups += [group & ~matter] if (group & ~matter).any() else []
            else:
                groups += [group & ~matter] if (group & ~matter).any() else []
                groups += [np.arange(len(group)) == k for k in np.flatnonzero(matter).tolist()]

    def _strongest(self, item: int, group: Bools, lot: int) -> tuple[Attack, Bools, bool]:
        """The strongest attack on an item by a group of attackers who share what they know, which of them it needs, and whether it is one
        on the whole table, not on a part.
        """
        items, insiders, system, unit = self.items, self.insiders, self._system, self._system.unit
        (lower, upper), columns, usual = insiders.against(item, group), insiders.differing(item), insiders.usual
        side, need, victim = int(items.side[item]), items.need[item], insiders.victim[item] >= 0
        ways, halves, whole = (DOWN, UP) if side == SLIDE else (side,), [_Half()], True
        fixed = items.sign[item] == 0  # by the national relations: no LP is needed
        for model in self._models.around(int(items.core[item]), in_parts=victim) if not fixed else ():
            model.prepare()
            model.set_bounds(columns, lower[columns], upper[columns])
            if victim:
                column = items.core[[item]]
                model.set_bounds(column, np.maximum(lower[column], -need), np.minimum(upper[column], need))
            halves, whole = [self._reach(model, item, way, group, lot) for way in ways], self._models.is_whole(model)
            model.set_bounds(columns, usual[0][columns], usual[1][columns])
            if model.closed or sum(half.reach for half in halves) >= need * (1 - MET):
                break
        matter = np.zeros(len(group), dtype=bool)
        if insiders.alone and not fixed:
            known = insiders.core >= 0
            at = insiders.core[known]
            for half in halves:
                up = half.reduced[at] > NO_PRICE
                leaned = np.where(up, insiders.core_lower[known] >= lower[at], insiders.core_upper[known] <= upper[at])
                matter[known] |= leaned & (np.abs(half.reduced[at]) > NO_PRICE) & group[known]
        rows = np.concatenate([half.rows for half in halves])
        told = system.decided[rows] >= 0
        multiplier = np.concatenate([half.multiplier for half in halves])
        found = Attack(
            primary=int(items.row[item]),
            side=side,
            need=float(need * unit),
            reach=sum(half.reach for half in halves) * unit,
            decided=system.decided[rows[told]],
            price=multiplier[told],
            rows=system.source[rows],
            multiplier=multiplier,
            split=len(halves[0].rows),
        )
        return found, matter, whole

    def _reach(self, model: LiveModel, item: int, side: int, group: Bools, lot: int) -> _Half:
        """max σ z_p in a model, at least up to what the item needs, in units, and what it leans on."""
        items, system = self.items, self._system
        way = float(side * items.sign[item])
        for afresh in (False, True):
            result = model.push(int(items.core[item]), way, float(items.need[item]), afresh)
            self.solves += 1
            z = system.R @ result.x
            sound, fooled = system.are_witnesses(z), self.insiders.fooled(z)
            if result.status is Status.OPTIMAL and sound[0] and fooled[item if len(fooled) > 1 else 0, group].all():
                break
        else:
            raise Unprotectable(
                f"the attacker's LP for {self._problem.space.key(int(items.cell[item]))} could not be solved reliably "
                f"({result.status}); nothing can be certified. Remedy: check the magnitudes of that country's table"
            )
        self.own_rows.add(int(items.row[item]))
        self._count(z, lot, sound)
        rows = np.flatnonzero(np.abs(result.dual) > NO_PRICE)
        reach, at = float(side * z[items.column[item]]), system.core_rows[model.rows[rows]]
        return _Half(reach, at, -result.dual[rows], result.reduced)


@dataclass(frozen=True, repr=False)
class Size:
    """Requirements (row, side) within the same few decades; `unit` is a power of two in their middle."""

    row: Ints
    side: Ints
    unit: float


def sizes_of(needs: Requirements, profile: int) -> Iterator[Size]:
    """The requirements of a profile that ask for anything, by size."""
    mine = np.flatnonzero(needs.profile == profile)
    row = np.concatenate([mine, mine, mine])
    side = np.repeat([DOWN, UP, SLIDE], len(mine))
    size = np.concatenate([needs.down[mine], needs.up[mine], needs.slide[mine]])
    bucket = np.where(size > 0, np.ceil(np.log10(np.maximum(size, 1e-300)) / LEVEL_DECADES), -np.inf)
    for b in np.unique(bucket):
        if np.isfinite(b):
            yield Size(row[bucket == b], side[bucket == b], float(2.0 ** np.round(np.log2(10.0 ** (LEVEL_DECADES * (b - 0.5))))))


def _where(problem: ProtectionProblem, system: AttackSystem) -> tuple[Ints, Ints]:
    """(area, rank in the first code list) of the core columns, by the first cell of each."""
    position = np.unravel_index(system.code[system.first], problem.space.national_shape)
    hierarchies = problem.space.hierarchies
    return system.area[system.first], lineage(hierarchies[0])[position[1]] if hierarchies else position[0]
