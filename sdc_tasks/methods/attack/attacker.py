"""The attacker at work: settles which requirements a publication meets (METHOD §5).

Cheap proofs first. Every LP point is a witness for *all* primaries, so the extremes seen anywhere count. Joint LPs push all open
requirements at once, in random senses, first inside the box |z| ≤ a where the mirror image −z is a witness too. What is still open
gets an LP of its own, hot-started. A failure is always the optimum of its own LP. Witnesses are checked by arithmetic
(`AttackSystem.is_witness`), never taken on the solver's word.

Primaries are treated in groups of similar level, each in its own unit, so that 0.01 and 1e12 can live in one table. The models stay
alive: facing another publication changes the bounds of the aggregate rows and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.attack.problem import AttackSystem, Requirements, attack_system, facing
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.solver.lp import LiveLP, Status

MET = 1e-6  # relative tolerance on a level
DECADES = 4  # levels within one group differ by at most this many powers of ten
JOINT_ROUNDS = 12
FEW = 30  # open requirements that are not worth a joint LP
DOWN, UP = -1, 1


@dataclass(frozen=True)
class Attack:
    """The strongest attack on one side of one primary: how far it reaches (unit of the data), and what it leans on.

    `price` = gain of the reach per unit of slack given to the aggregate cell at that position of the publication: the dual values
    of its rows; positive for the upper slack (upper − a), negative for the lower (a − lower).
    """

    primary: int
    side: int
    need: float
    reach: float
    decided: Ints
    price: Floats


@dataclass
class _Front:
    """One group of primaries of similar level: the polyhedron in its unit, and the live model of its core z = R u.

    `columns` are those of the primaries in z; z of a primary is `sign`·u[`core`], or 0 where `sign` is 0.
    """

    group: Bools
    system: AttackSystem
    columns: Ints
    core: Ints
    sign: Floats
    live: LiveLP


class Attacker:
    """The external attacker of one problem, ready to face one publication after another."""

    def __init__(self, problem: ProtectionProblem, needs: Requirements, seed: int = 1) -> None:
        self.needs = needs
        self._problem, self._seed = problem, seed
        self._plain = attack_system(problem)
        self._fronts = [_front(problem, needs, group, unit) for group, unit in _groups(needs)]
        self._forget()

    @property
    def lps(self) -> int:
        return sum(front.live.solves for front in self._fronts)

    def face(self, publication: Publication) -> None:
        """What was shown against another publication is forgotten."""
        self._forget()
        self._plain = facing(self._plain, self._problem, publication)
        for front in self._fronts:
            front.system = facing(front.system, self._problem, publication)
            rows = np.flatnonzero(front.system.decided[front.system.core_rows] >= 0)
            full = front.system.core_rows[rows]
            front.live.set_row_bounds(rows, front.system.row_lower[full], front.system.row_upper[full])

    def _forget(self) -> None:
        n = len(self.needs.primaries)
        self.low, self.high, self.by_lp = np.zeros(n), np.zeros(n), np.zeros(n, dtype=bool)
        self.broken: list[Attack] = []

    def reached(self) -> tuple[Floats, Floats, Floats]:
        """How far down, up and in all each primary was seen to reach, in the unit of the data."""
        return -self.low, self.high, self.high - self.low

    def offer(self, witnesses: Iterable[Floats]) -> None:
        """Counts tables found elsewhere (z of the suppressed cells), and their mirror images, where they are witnesses."""
        columns = self._plain.columns_of(self.needs.primaries)
        for z in witnesses:
            for point in (z, -z):
                if self._plain.is_witness(point):
                    self._count(point[columns])

    def _count(self, z: Floats) -> None:
        np.minimum(self.low, z, out=self.low)
        np.maximum(self.high, z, out=self.high)

    def settle(self, among: Ints | None = None) -> None:
        """Proves or breaks every requirement, or those of some primaries by position."""
        chosen = np.ones(len(self.needs.primaries), dtype=bool)
        if among is not None:
            chosen[:] = False
            chosen[among] = True
        for front in self._fronts:
            self._jointly(front, front.group & chosen)
            self._singly(front, front.group & chosen)

    def _open(self, among: Bools) -> tuple[Bools, Bools]:
        """Requirements still unproven: (down, up)."""
        return among & (-self.low < self.needs.down * (1 - MET)), among & (self.high < self.needs.up * (1 - MET))

    def _jointly(self, front: _Front, among: Bools) -> None:
        """Rounds of max Σ σ_p z_p / need_p over the open requirements, z_p held at its need; rounds inside the mirror box first."""
        rng = np.random.default_rng(self._seed)
        front.live.method("dual")
        for mirrored in (True, False):
            for _ in range(JOINT_ROUNDS):
                down, up = self._open(among)
                before = int(down.sum() + up.sum())
                if before <= FEW:
                    return
                self._push(front, down, up, rng, mirrored)
                down, up = self._open(among)
                if down.sum() + up.sum() > 0.9 * before:
                    break

    def _push(self, front: _Front, down: Bools, up: Bools, rng: np.random.Generator, mirrored: bool) -> None:
        """One joint LP. Cells that are tied to each other are pushed together, as far as the neediest of them asks."""
        A, lower, upper = front.system.core
        n = A.shape[1]
        rise, fall = np.zeros(n), np.zeros(n)  # needs of u in each direction
        for open_, need, side in ((up, self.needs.up, UP), (down, self.needs.down, DOWN)):
            for direction, target in ((side, rise), (-side, fall)):
                chosen = open_ & (front.sign == direction)
                np.maximum.at(target, front.core[chosen], need[chosen] / front.system.unit)
        sense = np.where((rise > 0) & (fall > 0), rng.choice([DOWN, UP], n), np.where(rise > 0, UP, np.where(fall > 0, DOWN, 0)))
        need = np.maximum(np.where(sense == UP, rise, fall), 1e-12)
        if mirrored:
            lower, upper = np.maximum(lower, -upper), np.minimum(upper, -lower)
        everything = np.arange(n)
        front.live.set_cost(everything, -sense / need)
        front.live.set_bounds(
            everything, np.where(sense == DOWN, np.maximum(lower, -need), lower), np.where(sense == UP, np.minimum(upper, need), upper)
        )
        result = front.live.solve()
        front.live.set_cost(everything, np.zeros(n))
        front.live.set_bounds(everything, *front.system.core[1:])
        if result.status is Status.OPTIMAL:
            z = front.system.R @ result.x
            for point in (z, -z):
                if front.system.is_witness(point):
                    self._count(point[front.columns] * front.system.unit)

    def _singly(self, front: _Front, among: Bools) -> None:
        """An LP of its own for each requirement still open."""
        down, up = self._open(among)
        if not (down | up | among & (self.high - self.low < self.needs.slide * (1 - MET))).any():
            return
        front.live.solve()  # without a cost: back to a feasible basis by dual steps, for the primal steps below
        front.live.method("primal")
        for i in np.flatnonzero(among).tolist():
            down, up = self._open(among)
            for side, open_ in ((DOWN, down[i]), (UP, up[i])):
                if open_:
                    self._attack(front, i, side)
            if self.high[i] - self.low[i] < self.needs.slide[i] * (1 - MET):
                for side in (DOWN, UP):
                    self._attack(front, i, side)

    def _attack(self, front: _Front, i: int, side: int) -> None:
        """max σ z_p from the basis of the last attack. Not stopped at the level: a bound on z_p would cost the warm basis."""
        column = front.core[[i]]
        direction = side * front.sign[i]
        front.live.set_cost(column, np.array([-direction]))
        result = front.live.solve()
        z = front.system.R @ result.x
        if not front.system.is_witness(z):
            result = front.live.solve(fresh=True)
            z = front.system.R @ result.x
        front.live.set_cost(column, np.zeros(1))
        self.by_lp[i] = True
        if result.status is not Status.OPTIMAL or not front.system.is_witness(z):
            raise Unprotectable(
                f"the attacker's LP for {self._problem.space.key(int(self.needs.primaries[i]))} could not be solved reliably "
                f"({result.status}); nothing can be certified. Remedy: check the magnitudes of that country's table"
            )
        self._count(z[front.columns] * front.system.unit)
        need = float((self.needs.up if side == UP else self.needs.down)[i])
        reach = float(side * z[front.columns[i]] * front.system.unit)
        if reach < need * (1 - MET):
            rows = np.flatnonzero(np.abs(result.dual) > 1e-9) if direction else np.zeros(0, dtype=np.int64)
            leaned = rows[front.system.decided[front.system.core_rows[rows]] >= 0]
            self.broken.append(Attack(i, side, need, reach, front.system.decided[front.system.core_rows[leaned]], -result.dual[leaned]))


def _front(problem: ProtectionProblem, needs: Requirements, group: Bools, unit: float) -> _Front:
    system = attack_system(problem, unit)
    columns = system.columns_of(needs.primaries)
    A, lower, upper = system.core
    live = LiveLP(np.zeros(A.shape[1]), A, system.row_lower[system.core_rows], system.row_upper[system.core_rows], lower, upper)
    picked = sp.csr_array(system.R[columns])
    core, sign = np.zeros(len(columns), dtype=np.int64), np.zeros(len(columns))
    at, u = picked.nonzero()
    core[at], sign[at] = u, picked.data
    return _Front(group, system, columns, core, sign, live)


def _groups(needs: Requirements) -> Iterator[tuple[Bools, float]]:
    """(members, unit): primaries whose largest level lies within the same few decades; the unit is a power of two near its top."""
    level = np.maximum(np.maximum(needs.down, needs.up), needs.slide)
    bucket = np.where(level > 0, np.ceil(np.log10(np.maximum(level, 1e-300)) / DECADES), -np.inf)
    for b in np.unique(bucket[np.isfinite(bucket)]):
        yield bucket == b, float(2.0 ** np.round(np.log2(10.0 ** (DECADES * (b - 0.5)))))
