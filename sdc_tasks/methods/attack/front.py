"""Fronts: requirements of one profile and of similar size, each in its own unit, so that 0.01 and 1e12 can live in one table.

A point counts for the requirements of its own front only, because its tolerance could be the whole of a smaller one. Attackers who act
alone share a front: a witness proves a requirement against each of them whose cell it leaves as he knows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.blocks import LARGE, Level, levels, lineage
from sdc_tasks.methods.attack.knowledge import Knowledge
from sdc_tasks.methods.attack.part import FromTruth, Part, Warm
from sdc_tasks.methods.attack.problem import FEASIBLE, AttackSystem, Requirements, attack_system, facing
from sdc_tasks.methods.attack.witness import Witness, fewest
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints

MET = 1e-6  # relative tolerance on a level
DECADES = 4  # levels within one front differ by at most this many powers of ten
POOL = 300  # witnesses kept for the next publication
DOWN, UP, SLIDE = -1, 1, 0


@dataclass(repr=False)
class Front:
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
    levels: list[Level]
    labels: list[Ints]
    by_column: sp.csc_array
    model: Part | None = None
    parts: dict[tuple[int, int], Part] = field(default_factory=dict)
    open: Bools = field(init=False)
    low: Floats = field(init=False)
    high: Floats = field(init=False)
    lowest_reach: Floats = field(init=False)
    useful: list[Witness] = field(init=False)

    def __post_init__(self) -> None:
        self.forget()

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
        kind = Warm if len(columns) <= 1.5 * LARGE else FromTruth
        return kind(self.system, self.by_column, self.bounds, columns, self.widest[0] < self.widest[1])

    @property
    def models(self) -> list[Part]:
        """The live models there are."""
        return [*self.parts.values(), *([] if self.model is None else [self.model])]

    def where(self, item: int) -> Iterator[Part]:
        """Live models in which to attack an item: the whole at last. For a victim among those who know, parts first: his country, where
        no row leads out of it, and parts of the table.
        """
        for level, label in enumerate(self.labels) if self.of_item[item] >= 0 else ():
            at = level, int(label[self.core[item]])
            if at not in self.parts:
                self.parts[at] = self.part(np.flatnonzero(label == label[self.core[item]]))
            if level > 0 or self.parts[at].closed:
                yield self.parts[at]
        if self.model is None:
            self.model = self.part(np.arange(self.system.core.shape[1]))
        yield self.model

    def shift(self, problem: ProtectionProblem, publication: Publication) -> None:
        """Another publication."""
        before, self.system = self.system, facing(self.system, problem, publication)
        same = (self.system.row_lower == before.row_lower) & (self.system.row_upper == before.row_upper)
        for model in self.models if not same.all() else ():
            model.face(self.system)

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

    def count(self, z: Floats, lot: int = -1, sound: tuple[bool, bool] | None = None) -> None:
        """Counts a point and its mirror image, if witnesses, for the items. `sound`: whether they are, where that is known."""
        sound = self.system.are_witnesses(z) if sound is None else sound
        news = False
        for point, ok in zip((z, -z), sound, strict=True):
            if not ok:
                continue
            seen, fooled = point[self.column], self.fooled(point)
            everybody = fooled.all(axis=1)
            self.low = np.where(everybody, np.minimum(self.low, seen), self.low)
            self.high = np.where(everybody, np.maximum(self.high, seen), self.high)
            enough = self.need * (1 - MET)
            met = np.where(self.side == SLIDE, everybody & (self.high - self.low >= enough), self.side * seen >= enough)
            closing = np.flatnonzero(met & self.open.any(axis=1))
            if len(closing):
                was, now = self.open[closing], fooled if len(fooled) == 1 else fooled[closing]
                self.open[closing] = was & ~now
                news = news or bool((was & now).any())
            news = news or bool((self.side == SLIDE).any())  # halves of a sliding level come from different witnesses
        if any(sound) and news:
            self.useful.append(Witness.of(z, lot, sound))

    def face(self, problem: ProtectionProblem, publication: Publication) -> None:
        """Another publication: what was shown against the one before is forgotten; its witnesses are tried first."""
        pool = self.useful[-POOL:]
        self.forget()
        self.shift(problem, publication)
        for witness in pool:
            self.count(witness.dense(self.system.A.shape[1]))

    def forget(self) -> None:
        """Nothing is shown any more."""
        n = len(self.row)
        self.open = self.relevant & (self.need > 0)[:, None]
        self.low, self.high, self.lowest_reach = np.zeros(n), np.zeros(n), np.full(n, np.inf)
        self.useful = []

    def shown(self) -> Iterator[Witness]:
        """The witnesses that prove what was proven; few of those all lots share."""
        shared = [witness for witness in self.useful if witness.lot < 0]
        if not self.alone and not (self.side == SLIDE).any():
            shared = [shared[i] for i in fewest([self._proven(witness) for witness in shared])]
        yield from shared
        yield from (witness for witness in self.useful if witness.lot >= 0)

    def _proven(self, witness: Witness) -> Bools:
        """Which items a witness proves, or its mirror image."""
        proven = np.zeros(len(self.row), dtype=bool)
        z = witness.dense(self.system.A.shape[1])
        for point, sound in zip((z, -z), witness.sound, strict=True):
            if sound:
                proven |= self.fooled(point)[:, 0] & (self.side * point[self.column] >= self.need * (1 - MET))
        return proven


def sizes_of(needs: Requirements, number: int) -> Iterator[tuple[tuple[Ints, Ints], float]]:
    """((rows, sides), unit): requirements within the same few decades; the unit is a power of two in their middle."""
    mine = np.flatnonzero(needs.profile == number)
    row = np.concatenate([mine, mine, mine])
    side = np.repeat([DOWN, UP, SLIDE], len(mine))
    size = np.concatenate([needs.down[mine], needs.up[mine], needs.slide[mine]])
    bucket = np.where(size > 0, np.ceil(np.log10(np.maximum(size, 1e-300)) / DECADES), -np.inf)
    for b in np.unique(bucket):
        if np.isfinite(b):
            yield (row[bucket == b], side[bucket == b]), float(2.0 ** np.round(np.log2(10.0 ** (DECADES * (b - 0.5)))))


def front_of(
    problem: ProtectionProblem, needs: Requirements, knowledge: Knowledge, number: int, items: tuple[Ints, Ints], unit: float
) -> Front:
    system = attack_system(problem, unit, knowledge.profile)
    row, side = items
    size = np.select([side == DOWN, side == UP], [needs.down[row], needs.up[row]], needs.slide[row])
    column = system.columns_of(needs.primaries[row])
    core, sign = _places(system, column)
    held = system.columns_of(knowledge.cells)
    held_lower, held_upper = knowledge.lower / unit, knowledge.upper / unit
    held_core, held_sign = _places(system, held)
    held_core = np.where(held_sign == 0, -1, held_core)
    country, stretch = _where(problem, system)
    divisions = levels(country, stretch)
    of_item = np.full(len(row), -1) if knowledge.alone else knowledge.owners(needs.primaries[row])
    front = Front(
        profile=number, row=row, side=side, need=size / unit, system=system, column=column, core=core, sign=sign,
        bounds=system.core_bounds(), widest=system.core_bounds(), alone=knowledge.alone, of_item=of_item, owner=knowledge.owner,
        held=held, held_lower=held_lower, held_upper=held_upper, held_core=held_core,
        core_lower=np.where(held_sign > 0, held_lower, -held_upper), core_upper=np.where(held_sign > 0, held_upper, -held_lower),
        relevant=_relevant(needs, knowledge, number, row), levels=divisions,
        labels=[country, *(level.label(len(country)) for level in divisions if len(level.parts) > 1)],
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
    """(area, rank in the first code list) of the core columns, by the first cell of each."""
    R = sp.csc_array(system.R)
    R.sort_indices()
    first = R.indices[R.indptr[:-1]]
    position = np.unravel_index(system.code[first], problem.space.national_shape)
    hierarchies = problem.space.hierarchies
    return system.area[first], lineage(hierarchies[0])[position[1]] if hierarchies else position[0]


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


def _none() -> Ints:
    return np.zeros(0, dtype=np.int64)
