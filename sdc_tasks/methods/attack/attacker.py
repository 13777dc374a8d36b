"""The attacker at work: settles which requirements a publication meets (METHOD §5).

Cheap proofs first. Every LP point is a witness for *all* primaries, so the extremes seen anywhere count, and witnesses of one
publication are tried on the next. Joint LPs (`joint.py`) push all open requirements at once. What is still open gets an LP of its own,
hot-started, of a large table in parts first. A failure is always the optimum of its own LP, and its multipliers are kept. Witnesses are
checked by arithmetic (`AttackSystem.are_witnesses`), never taken on the solver's word. Requirements are treated in fronts (`front.py`).

Of attackers who act alone, an LP in which all of them are held to what they know proves a requirement against all; where it fails, its
multipliers name the few who matter.

In a coalition everybody's cells stay as they are but those of the victim. No point serves two victims among its members, so each has
LPs of his own, in parts of the table first, which open the bounds of his cells on the live model and close them again. His cell stops at
its level there: such points move few other cells, so that their mirror images are often witnesses too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.attack.front import DOWN, MET, SLIDE, UP, Front, front_of, sizes_of
from sdc_tasks.methods.attack.joint import jointly
from sdc_tasks.methods.attack.knowledge import knowledge_of
from sdc_tasks.methods.attack.part import Part
from sdc_tasks.methods.attack.problem import Requirements
from sdc_tasks.methods.attack.witness import Witness
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.solver.lp import Status

__all__ = ["DOWN", "MET", "SLIDE", "UP", "Attack", "Attacker"]

NOISE = 1e-9  # a multiplier below this is none


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


class Attacker:
    """The attackers of all profiles that `needs` names, ready to face one publication after another."""

    def __init__(self, problem: ProtectionProblem, needs: Requirements, seed: int = 1) -> None:
        self.needs = needs
        self._problem, self._seed = problem, seed
        self.lps = self.joint_lps = 0  # all; those that every chunk of an audit solves
        self._fronts: list[Front] = []
        for number, profile in enumerate(needs.profiles):
            knowledge = knowledge_of(problem, profile)
            self._fronts += [front_of(problem, needs, knowledge, number, items, unit) for items, unit in sizes_of(needs, number)]
        self._forget()

    def face(self, publication: Publication) -> None:
        """Another publication: what was shown against the one before is forgotten; its witnesses are tried first."""
        self._forget()
        for front in self._fronts:
            front.face(self._problem, publication)

    def shift(self, publication: Publication) -> None:
        """A small change of the publication in hand, between two calls of `again`."""
        for front in self._fronts:
            front.shift(self._problem, publication)

    def shown(self, attack: Attack) -> bool:
        """Was a witness seen, since this attack succeeded, against which it would fail?"""
        front, item = self._place(attack)
        return not front.open[item, max(attack.knower, 0)]

    def again(self, attack: Attack) -> Attack | None:
        """The same attack on the publication as it is now; None where it no longer succeeds."""
        self.broken.clear()
        self.failed.clear()
        front, item = self._place(attack)
        knowers = np.arange(front.open.shape[1]) == max(attack.knower, 0)
        self._try(front, item, knowers, -1)
        return self.broken[0] if self.broken else None

    def _place(self, attack: Attack) -> tuple[Front, int]:
        """The front of an attack, and its item there."""
        return next((f, int(i)) for f in self._fronts for i in np.flatnonzero((f.row == attack.primary) & (f.side == attack.side)).tolist())

    def _forget(self) -> None:
        self.by_lp = np.zeros(len(self.needs.primaries), dtype=bool)
        self.broken: list[Attack] = []
        self.failed: list[Attack] = []  # those that an LP has shown to fail: their prices say what would make them succeed

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

    def witnesses(self) -> Iterator[tuple[int, Witness]]:
        """(profile, in the unit of the data) of the witnesses that prove what was proven; few of those all lots share."""
        for front in self._fronts:
            for witness in front.shown():
                yield front.profile, replace(witness, value=witness.value * front.system.unit)

    def offer(self, witnesses: Iterable[Floats]) -> None:
        """Counts tables found elsewhere (z of the suppressed cells, unit of the data), and their mirror images, if witnesses."""
        for z in witnesses:
            for front in self._fronts:
                whole = np.zeros(front.system.A.shape[1])  # what is unknown of earlier deliveries stays at the truth
                whole[: len(z)] = z / front.system.unit
                front.count(whole)

    def settle(self, lots: Sequence[Ints] | None = None) -> None:
        """Proves or breaks every requirement; or after the joint LPs only those of some lots of primaries, each lot as if alone.

        What is found for one lot then does not depend on which others are asked for: so a mapped audit is the same however it is cut.
        """
        for front in self._fronts:
            solved = jointly(front, np.random.default_rng(self._seed))
            self.lps, self.joint_lps = self.lps + solved, self.joint_lps + solved
            rank = np.lexsort((front.side != DOWN, front.side == SLIDE, front.row, front.of_item >= 0))
            waiting = rank[front.open[rank].any(axis=1)]
            for model in front.models:
                model.start()
            if lots is None:
                self._singly(front, waiting, -1)
                continue
            open_, low, high = front.open.copy(), front.low.copy(), front.high.copy()
            settled = front.open.copy()
            for number, lot in enumerate(lots):
                mine = waiting[np.isin(self.needs.primaries[front.row[waiting]], lot)]
                if len(mine):
                    front.open, front.low, front.high = open_.copy(), low.copy(), high.copy()
                    for model in front.models:
                        model.back()
                    self._singly(front, mine, number)
                    settled[mine] = front.open[mine]
            front.open = settled

    def _singly(self, front: Front, items: Ints, lot: int) -> None:
        """An LP of its own for each item still open."""
        for item in items.tolist():
            if front.open[item].any():
                self._try(front, item, front.open[item].copy(), lot)

    def _try(self, front: Front, item: int, knowers: Bools, lot: int) -> None:
        """Attacks one item by each of these attackers; successes are noted in `broken`."""
        groups = [knowers]
        while groups:
            group = groups.pop()
            found, matter, whole = self._attack(front, item, group, lot)
            if found.reach >= found.need * (1 - MET):
                front.open[item] &= ~group
                if whole and not matter.any():
                    self.failed.append(found)
            elif not matter.any():  # no attacker's own knowledge is needed: all of them succeed
                self._note(front, item, found)
            elif matter.sum() == 1:  # nor is anybody else's
                self._note(front, item, replace(found, knower=int(np.flatnonzero(matter)[0])))
                groups += [group & ~matter] if (group & ~matter).any() else []
            else:
                groups += [group & ~matter] if (group & ~matter).any() else []
                groups += [np.arange(len(group)) == k for k in np.flatnonzero(matter).tolist()]

    def _note(self, front: Front, item: int, attack: Attack) -> None:
        """An attack that succeeds."""
        self.broken.append(attack)
        front.lowest_reach[item] = min(front.lowest_reach[item], attack.reach / front.system.unit)

    def _attack(self, front: Front, item: int, group: Bools, lot: int) -> tuple[Attack, Bools, bool]:
        """The strongest attack on an item by a group of attackers who share what they know, which of them it needs, and whether it is one
        on the whole table, not on a part.
        """
        lower, upper, columns = front.facing(item, group)
        side = int(front.side[item])
        ways, halves, whole = (DOWN, UP) if side == SLIDE else (side,), [_Half()], True
        for model in front.where(item) if front.sign[item] != 0 else ():  # else the national relations fix the cell: no LP is needed
            model.set_bounds(columns, lower[columns], upper[columns])
            if front.of_item[item] >= 0:
                need, column = front.need[item], front.core[[item]]
                model.set_bounds(column, np.maximum(lower[column], -need), np.minimum(upper[column], need))
            halves, whole = [self._reach(front, model, item, way, group, lot) for way in ways], model.closed or model is front.model
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
        )
        return found, matter, whole

    def _reach(self, front: Front, model: Part, item: int, side: int, group: Bools, lot: int) -> _Half:
        """max σ z_p in a model, at least up to what the item needs, in units, and what it leans on."""

        row, way = front.row[item], float(side * front.sign[item])
        for afresh in (False, True):
            result = model.push(int(front.core[item]), way, float(front.need[item]), afresh)
            self.lps += 1
            z = front.system.R @ result.x
            sound, fooled = front.system.are_witnesses(z), front.fooled(z)
            if result.status is Status.OPTIMAL and sound[0] and fooled[item if len(fooled) > 1 else 0, group].all():
                break
        else:
            raise Unprotectable(
                f"the attacker's LP for {self._problem.space.key(int(self.needs.primaries[row]))} could not be solved reliably "
                f"({result.status}); nothing can be certified. Remedy: check the magnitudes of that country's table"
            )
        self.by_lp[row] = True
        front.count(z, lot, sound)
        rows = np.flatnonzero(np.abs(result.dual) > NOISE)
        reach, at = float(side * z[front.column[item]]), front.system.core_rows[model.rows[rows]]
        return _Half(reach, at, -result.dual[rows], result.reduced)


@dataclass(frozen=True, repr=False)
class _Half:
    """The optimum of one LP in units; its multipliers by row of the system, and the reduced costs of the core."""

    reach: float = 0.0
    rows: Ints = field(default_factory=_none)
    multiplier: Floats = field(default_factory=lambda: np.zeros(0))
    reduced: Floats = field(default_factory=lambda: np.zeros(0))
