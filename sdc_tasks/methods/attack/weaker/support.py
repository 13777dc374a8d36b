"""How close an attacker comes with nothing new published, and the pieces on which his attack rests: the
dual solution of a linear program.

The program is over the columns of z themselves, without the ties of the presolve, so that its dual solution
names every row and every bound that the attack needs. It covers what relations link to the attacked cell:
while nothing is published, a country.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.attack.knowledge import Knowledge, knowledge_of
from sdc_tasks.methods.attack.lp.prover import Attack
from sdc_tasks.methods.attack.polyhedron import AttackSystem, attack_system
from sdc_tasks.methods.attack.targets import DOWN, SLIDE, UP
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import Adversary
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import DUAL, FEASIBILITY, ROUNDING
from sdc_tasks.solver.lp import LiveLP, Status

Levels = tuple[float, float, float]  # down, up, sliding


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
    """The attackers of one polyhedron with nothing new published. `row_by`: the pieces each of which tells a
    row; `needed`: those that an assumption takes together.
    """

    problem: ProtectionProblem
    system: AttackSystem
    knowledge: Knowledge
    row_by: list[tuple[int, ...]]
    needed: list[tuple[int, ...]]
    component: Ints
    _live: dict[tuple[int, float], tuple[Ints, Ints, LiveLP]] = field(default_factory=dict)

    @classmethod
    def of(cls, problem: ProtectionProblem, who: Adversary) -> Unpublished:
        """Those who know the earlier releases that `who` knows. Respondents who take no
        part are told question by question.
        """
        system = attack_system(problem, who)
        earlier, width = problem.earlier.known_to(who), system.A.shape[1]
        row_by: list[tuple[int, ...]] = [()] * system.A.shape[0]
        needed: list[tuple[int, ...]] = [()] * system.A.shape[0]
        if earlier.pieces:
            has = ~np.isin(np.arange(len(earlier.pieces)), list(who.lacks))
            first = system.A.shape[0] - earlier.rows.shape[0]
            for i in range(earlier.rows.shape[0]):
                by = tuple(np.flatnonzero(earlier.told_by[i] & has).tolist())
                (needed if earlier.assumed[i] else row_by)[first + i] = by
        bounded = np.flatnonzero(np.isfinite(system.row_lower) | np.isfinite(system.row_upper))
        entries = sp.coo_array(system.A[bounded])
        both = sp.csr_array(
            (np.ones(entries.nnz), (entries.row, len(bounded) + entries.col)),
            shape=(len(bounded) + width,) * 2,
        )
        component = connected_components(both, directed=False)[1][len(bounded) :]
        return cls(
            problem, system, knowledge_of(problem, who.profile), row_by, needed, component.astype(np.int64)
        )

    def left(self, cell: int, lacks: Collection[int], promise: Levels, row: int = 0) -> Remaining:
        """What these attackers leave of a primary, without the respondents in `lacks`. `row`: that of
        the requirements, for the attacks.

        Raises Unprotectable where a linear program cannot be solved reliably.
        """
        down, up, slide = promise
        unit = float(2.0 ** np.round(np.log2(max(promise)))) if max(promise) > 0 else 1.0
        ways = {
            side: self._reach(cell, lacks, side, max(need, slide), unit)
            for side, need in ((DOWN, down), (UP, up))
            if max(need, slide)
        }
        found, attacks, used = list[float](), list[Attack](), set[int]()
        for side, need in ((DOWN, down), (UP, up), (SLIDE, slide)):
            halves = [ways[way] for way in ((DOWN, UP) if side == SLIDE else (side,))] if need else []
            reach = sum(half.reach for half in halves)
            if reach >= need * (1 - FEASIBILITY):
                found.append(need)
                continue
            found.append(reach)
            used |= set[int]().union(*(half.used for half in halves))
            rows, multiplier = (
                np.concatenate([getattr(half, name) for half in halves]) for name in ("rows", "multiplier")
            )
            nothing = np.zeros(0, dtype=np.int64)
            attacks.append(
                Attack(
                    row,
                    side,
                    need,
                    reach,
                    nothing,
                    nothing.astype(float),
                    -1,
                    rows,
                    multiplier,
                    len(halves[0].rows),
                )
            )
        return Remaining((found[0], found[1], found[2]), tuple(attacks), frozenset(used))

    def _reach(self, cell: int, lacks: Collection[int], side: int, need: float, unit: float) -> _Way:
        """max σ z_p, at most the need."""
        system = self.system.scaled(unit)
        at = int(system.columns_of(np.array([cell]))[0])
        columns, rows, live = self._model(int(self.component[at]), unit)
        known, victim = self.knowledge, int(self.knowledge.owners(np.array([cell]))[0])
        held = (
            np.flatnonzero(~np.isin(known.owner, [victim, *lacks]))
            if not known.alone
            else np.zeros(0, dtype=np.int64)
        )
        place, (own_lower, own_upper) = (
            system.columns_of(known.cells[held]),
            (known.lower[held] / unit, known.upper[held] / unit),
        )
        lower, upper, by = system.lower.copy(), system.upper.copy(), np.full(len(system.lower), -1)
        lower[place], upper[place], by[place] = own_lower, own_upper, known.owner[held]
        lower[at], upper[at] = max(lower[at], -need / unit), min(upper[at], need / unit)
        live.set_bounds(np.arange(len(columns)), lower[columns], upper[columns])
        live.set_cost(np.arange(len(columns)), np.where(columns == at, -float(side), 0.0))
        for fresh in (False, True):
            result = live.solve(fresh=fresh)
            z = np.zeros(len(lower))
            if result.status is Status.OPTIMAL:
                z[columns] = result.x
            inside = bool((z >= lower - FEASIBILITY).all() and (z <= upper + FEASIBILITY).all())
            if result.status is Status.OPTIMAL and inside and system.are_witnesses(z)[0]:
                break
        else:
            raise Unprotectable(
                f"the attacker's LP for {self.problem.space.key(cell)} could not be solved reliably "
                f"({result.status}); nothing can be "
                "certified. Remedy: check the magnitudes of that country's table"
            )
        priced, used = np.abs(result.dual) > DUAL, set[int]()
        for row in rows[priced].tolist():
            used |= set(self.needed[row])
            if (tellers := self.row_by[row]) and not used & set(tellers):
                used.add(tellers[0])
        used |= set(by[columns[np.abs(result.reduced) > DUAL]].tolist())
        reach = side * float(z[at])
        reach = 0.0 if reach < 10 * ROUNDING else reach * unit
        return _Way(reach, system.source[rows[priced]], -result.dual[priced], frozenset(used - {-1}))

    def _model(self, component: int, unit: float) -> tuple[Ints, Ints, LiveLP]:
        """(columns, rows, program) of a part of the table."""
        if (component, unit) not in self._live:
            system = self.system.scaled(unit)
            columns = np.flatnonzero(self.component == component)
            A = sp.csr_array(sp.csc_array(system.A)[:, columns])
            rows = np.flatnonzero(
                (np.diff(A.indptr) > 0) & (np.isfinite(system.row_lower) | np.isfinite(system.row_upper))
            )
            zero = np.zeros(len(columns))
            ends = (
                system.row_lower[rows],
                system.row_upper[rows],
                system.lower[columns],
                system.upper[columns],
            )
            self._live[component, unit] = columns, rows, LiveLP(zero, sp.csr_array(A[rows]), *ends)
        return self._live[component, unit]
