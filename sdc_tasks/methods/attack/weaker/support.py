"""How close an attacker comes with nothing new published, and the pieces on which his attack rests: the
dual solution of a linear program.

The program is over the columns of z themselves, without the ties of the presolve, so that its dual solution
names every row and every bound that the attack needs. It is solved in ever larger parts around the attacked
cell, until the promise is kept or no larger part would help: while nothing is published, a country.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.attack.blocks import around
from sdc_tasks.methods.attack.knowledge import Knowledge, knowledge_of
from sdc_tasks.methods.attack.lp.models import LiveModel, Models, standing
from sdc_tasks.methods.attack.lp.prover import Attack
from sdc_tasks.methods.attack.polyhedron import AttackSystem, attack_system
from sdc_tasks.methods.attack.targets import DOWN, SLIDE, UP
from sdc_tasks.model.problem import PriorReleases, ProtectionProblem
from sdc_tasks.model.profiles import Adversary, Keeper, Profile, profile_of
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import DUAL, FEASIBILITY, ROUNDING
from sdc_tasks.solver.lp import LPResult, Status

Levels = tuple[float, float, float]  # down, up, sliding
REACHED_BY = {DOWN: (DOWN,), UP: (UP,), SLIDE: (DOWN, UP)}  # a level → the sides whose reaches it sums
_NOBODY = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Remaining:
    """What an attacker leaves of a primary: `levels` up to the promised ones; `attacks` that come
    closer; the pieces that these `used`.
    """

    levels: Levels
    attacks: tuple[Attack, ...]
    used: frozenset[int]


@dataclass(frozen=True)
class _Way:
    """How far one side reaches, in the unit of the data, with its multipliers by row of the
    evidence, and the pieces that they need.
    """

    reach: float
    rows: Ints
    multiplier: Floats
    used: frozenset[int]


@dataclass(frozen=True)
class Unpublished:
    """The attackers of one profile with nothing new published. The polyhedron has all that anybody of them
    knows of earlier releases; the rows that somebody does not know have no ends while he is asked, and the
    respondents who take no part are freed. So everybody is asked in the same models, hot.
    """

    problem: ProtectionProblem
    system: AttackSystem
    knowledge: Knowledge
    earlier: PriorReleases
    _models: dict[float, tuple[AttackSystem, Models]] = field(default_factory=dict)

    @classmethod
    def of(cls, problem: ProtectionProblem, profile: str) -> Unpublished:
        """The attackers of this profile, whatever they lack."""
        who = Adversary(profile)
        system = attack_system(problem, who)
        earlier, width = problem.earlier.known_to(who), system.A.shape[1]
        bounded = np.flatnonzero(np.isfinite(system.row_lower) | np.isfinite(system.row_upper))
        untied = replace(
            system,
            R=sp.csr_array(sp.eye_array(width)),
            core=sp.csr_array(system.A[bounded]),
            core_rows=bounded.astype(np.int64),
        )
        return cls(problem, untied, knowledge_of(problem, profile), earlier)

    def left(
        self,
        cell: int,
        lacks: Collection[int],
        promise: Levels,
        row: int = 0,
        least: Levels = (0.0, 0.0, 0.0),
    ) -> Remaining:
        """What the attackers who lack these pieces leave of a primary. `row`: that of the requirements, for
        the attacks. `least`: what is known to be left, because it is against somebody who has more; no
        linear program asks for what is left by it.

        Raises Unprotectable where a linear program cannot be solved reliably.
        """
        asked = dict(zip(REACHED_BY, promise, strict=True))
        kept = {side: _meets(known, need) for (side, need), known in zip(asked.items(), least, strict=True)}
        ways = self._ways(cell, lacks, asked, kept)
        found, attacks, used = dict(asked), list[Attack](), set[int]()
        for side, need in asked.items():
            if kept[side] or not need:
                continue
            halves = [ways[half] for half in REACHED_BY[side]]
            way = _together(halves)
            if not _meets(way.reach, need):
                found[side] = way.reach
                used |= way.used
                attacks.append(_attack(row, side, need, way, len(halves[0].rows)))
        return Remaining((found[DOWN], found[UP], found[SLIDE]), tuple(attacks), frozenset(used))

    def _ways(
        self, cell: int, lacks: Collection[int], asked: Mapping[int, float], kept: Mapping[int, bool]
    ) -> dict[int, _Way]:
        """How far each side reaches that is asked for, by itself or for the sliding level."""
        most = max(asked.values())
        unit = float(2.0 ** np.round(np.log2(most))) if most > 0 else 1.0
        needs = {side: max(asked[side], asked[SLIDE]) for side in (DOWN, UP)}
        return {
            side: self._reach(cell, lacks, side, need, unit)
            for side, need in needs.items()
            if need and not (kept[side] and kept[SLIDE])
        }

    def _reach(self, cell: int, lacks: Collection[int], side: int, need: float, unit: float) -> _Way:
        """max σ z_p, at most the need."""
        system, models, source = self._asked(unit, lacks)
        at = int(system.columns_of(np.array([cell]))[0])
        known, victim = self.knowledge, int(self.knowledge.owners(np.array([cell]))[0])
        held = np.flatnonzero(~np.isin(known.owner, [victim, *lacks])) if not known.alone else _NOBODY
        place = system.columns_of(known.cells[held])
        lower, upper, by = system.lower.copy(), system.upper.copy(), np.full(len(system.lower), -1)
        lower[place], upper[place] = known.lower[held] / unit, known.upper[held] / unit
        by[place] = known.owner[held]
        lower[at], upper[at] = max(lower[at], -need / unit), min(upper[at], need / unit)
        differing = np.union1d(place, at)
        for model in models.around(at, in_parts=True):
            model.prepare()
            model.set_bounds(differing, lower[differing], upper[differing])
            result, whole = self._pushed(model, system, at, side, (lower, upper))
            model.set_bounds(differing, system.lower[differing], system.upper[differing])
            if whole or side * float(result.x[at]) * unit >= need * (1 - FEASIBILITY):
                break
        priced = np.abs(result.dual) > DUAL
        rows = system.core_rows[model.rows[priced]]
        used = self._pieces(rows, lacks)
        used |= set(by[np.abs(result.reduced) > DUAL].tolist())
        reach = side * float(result.x[at])
        reach = 0.0 if reach < 10 * ROUNDING else reach * unit
        return _Way(reach, source[rows], -result.dual[priced], frozenset(used - {-1}))

    @property
    def _profile(self) -> Profile:
        return profile_of(self.knowledge.profile)

    def _asked(self, unit: float, lacks: Collection[int]) -> tuple[AttackSystem, Models, Ints]:
        """The polyhedron of those who lack these pieces, in this unit; its models; and the number of each row
        among the relations and the rows that they know.
        """
        system, models = self._in_units(unit)
        source = system.source
        if isinstance(self._profile, Keeper) and len(lacks):
            known = self._profile.kept(self.earlier, lacks)
            first = system.A.shape[0] - len(known)
            lower, upper, source = system.row_lower.copy(), system.row_upper.copy(), source.copy()
            lower[first:][~known], upper[first:][~known] = -np.inf, np.inf
            source[first:] = self.problem.space.relations.shape[0] + np.cumsum(known) - 1
            system = replace(system, row_lower=lower, row_upper=upper)
        models.set_system(system)
        return system, models, source

    def _pieces(self, rows: Ints, lacks: Collection[int]) -> set[int]:
        """Pieces with which these rows are known: all that an assumption takes together, and of those that
        tell a row one.
        """
        used, first = set[int](), self.system.A.shape[0] - self.earlier.rows.shape[0]
        if not self.earlier.pieces:
            return used
        lacked = list(lacks) if isinstance(self._profile, Keeper) else []
        has = ~np.isin(np.arange(len(self.earlier.pieces)), lacked)
        for row in rows[rows >= first].tolist():
            tellers = np.flatnonzero(self.earlier.told_by[row - first] & has).tolist()
            if self.earlier.assumed[row - first]:
                used |= set(tellers)
            elif tellers and not used & set(tellers):
                used.add(tellers[0])
        return used

    def _pushed(
        self, model: LiveModel, system: AttackSystem, at: int, side: int, bounds: tuple[Floats, Floats]
    ) -> tuple[LPResult, bool]:
        """`LiveModel.push`, with a point that is a witness within these bounds."""
        for afresh in (False, True):
            result, whole = model.push(at, float(side), afresh)
            z = result.x
            inside = bool((z >= bounds[0] - FEASIBILITY).all() and (z <= bounds[1] + FEASIBILITY).all())
            if result.status is Status.OPTIMAL and inside and system.are_witnesses(z)[0]:
                return result, whole
        raise Unprotectable(
            f"the attacker's LP for {self.problem.space.key(int(system.cells[at]))} could not be solved "
            f"reliably ({result.status}); nothing can be certified. Remedy: check the magnitudes of that "
            "country's table"
        )

    def _in_units(self, unit: float) -> tuple[AttackSystem, Models]:
        if unit not in self._models:
            system = self.system.scaled(unit)
            bounds, labels = (system.lower, system.upper), around(*standing(self.problem, system))
            self._models[unit] = system, Models(system, sp.csc_array(system.core), bounds, bounds, labels)
        return self._models[unit]


def _together(halves: Sequence[_Way]) -> _Way:
    """Both sides as one: the sliding level."""
    return _Way(
        sum(half.reach for half in halves),
        np.concatenate([half.rows for half in halves]),
        np.concatenate([half.multiplier for half in halves]),
        frozenset[int]().union(*(half.used for half in halves)),
    )


def _attack(row: int, side: int, need: float, way: _Way, split: int) -> Attack:
    nothing = _NOBODY.astype(float)
    return Attack(row, side, need, way.reach, _NOBODY, nothing, -1, way.rows, way.multiplier, split)


def _meets(reach: float, need: float) -> bool:
    return reach >= need * (1 - FEASIBILITY)
