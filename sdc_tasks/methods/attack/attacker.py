"""The attacker at work: settles which requirements a publication meets (METHOD §5).

Cheap proofs first. Every LP point is a witness for *all* primaries, so the extremes seen anywhere count. Joint LPs push all open
requirements at once, in random senses, first inside the box |z| ≤ a where the mirror image −z is a witness too. What is still open
gets an LP of its own, hot-started. A failure is always the optimum of its own LP. Witnesses are checked by arithmetic
(`AttackSystem.is_witness`), never taken on the solver's word.

Requirements are treated in groups of similar size, each in its own unit, so that 0.01 and 1e12 can live in one table: a point counts
for the requirements of its own group only, because its tolerance could be the whole of a smaller one. The models stay
alive: facing another publication changes the bounds of the aggregate rows and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

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
DOWN, UP, SLIDE = -1, 1, 0


@dataclass(frozen=True)
class Attack:
    """The strongest attack on one primary: how far it reaches (unit of the data), and what it leans on.

    `side` is −1 (down), 1 (up), or 0 for the sliding level, whose reach is that of both sides added up.

    `price` = gain of the reach per unit of slack given to the aggregate cell at that position of the publication: the dual values
    of its rows; positive for the upper slack (upper − a), negative for the lower (a − lower).
    """

    primary: int
    side: int
    need: float = field(repr=False)
    reach: float = field(repr=False)
    decided: Ints = field(repr=False)
    price: Floats = field(repr=False)


@dataclass
class _Front:
    """Requirements of similar size: the polyhedron in their unit, and the live model of its core z = R u.

    `down up slide` say which requirements belong here. `columns` are those of the primaries in z; z of a primary is
    `sign`·u[`core`], or 0 where `sign` is 0.
    """

    down: Bools
    up: Bools
    slide: Bools
    system: AttackSystem
    columns: Ints
    core: Ints
    sign: Floats
    bounds: tuple[Floats, Floats]
    live: LiveLP


class Attacker:
    """The external attacker of one problem, ready to face one publication after another."""

    def __init__(self, problem: ProtectionProblem, needs: Requirements, seed: int = 1) -> None:
        self.needs = needs
        self._problem, self._seed = problem, seed
        self._fronts = [_front(problem, needs, members, unit) for members, unit in _groups(needs)]
        self._forget()

    @property
    def lps(self) -> int:
        return sum(front.live.solves for front in self._fronts)

    def face(self, publication: Publication) -> None:
        """Another publication: what was shown against the one before is forgotten."""
        self._forget()
        self.shift(publication)

    def shift(self, publication: Publication) -> None:
        """A small change of the publication in hand, between two calls of `again`."""
        for front in self._fronts:
            system = facing(front.system, self._problem, publication)
            changed = (system.row_lower != front.system.row_lower) | (system.row_upper != front.system.row_upper)
            rows = np.flatnonzero(changed[system.core_rows])
            full = system.core_rows[rows]
            if len(rows):
                front.live.set_row_bounds(rows, system.row_lower[full], system.row_upper[full])
            front.system = system

    def again(self, attack: Attack) -> Attack | None:
        """The same attack on the publication as it is now; None where it no longer succeeds."""
        self.broken.clear()
        i = attack.primary
        front = next(f for f in self._fronts if {DOWN: f.down, UP: f.up, SLIDE: f.slide}[attack.side][i])
        self._try(front, i, attack.side)
        return self.broken[0] if self.broken else None

    def _forget(self) -> None:
        n = len(self.needs.primaries)
        self._down, self._up, self._lowest, self._highest = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
        self.by_lp = np.zeros(n, dtype=bool)
        self.broken: list[Attack] = []

    def reached(self) -> tuple[Floats, Floats, Floats]:
        """How far down, up and in all each primary was seen to reach, in the unit of the data."""
        return self._down, self._up, self._highest - self._lowest

    def offer(self, witnesses: Iterable[Floats]) -> None:
        """Counts tables found elsewhere (z of the suppressed cells, unit of the data), and their mirror images, if witnesses."""
        for front in self._fronts:
            for z in witnesses:
                self._count(front, z / front.system.unit)

    def _count(self, front: _Front, z: Floats) -> bool:
        """Counts a point and its mirror image for the requirements of its front. Says whether the point itself is a witness."""
        sound = [front.system.is_witness(point) for point in (z, -z)]
        for point, ok in zip((z, -z), sound, strict=True):
            if ok:
                seen = point[front.columns] * front.system.unit
                np.maximum(self._down, -seen, out=self._down, where=front.down)
                np.maximum(self._up, seen, out=self._up, where=front.up)
                np.minimum(self._lowest, seen, out=self._lowest, where=front.slide)
                np.maximum(self._highest, seen, out=self._highest, where=front.slide)
        return sound[0]

    def settle(self) -> None:
        """Proves or breaks every requirement."""
        for front in self._fronts:
            self._jointly(front)
            self._singly(front)

    def _open(self, front: _Front) -> tuple[Bools, Bools, Bools]:
        """Requirements of the front still unproven: (down, up, slide)."""
        return (
            front.down & (self._down < self.needs.down * (1 - MET)),
            front.up & (self._up < self.needs.up * (1 - MET)),
            front.slide & (self._highest - self._lowest < self.needs.slide * (1 - MET)),
        )

    def _jointly(self, front: _Front) -> None:
        """Rounds of max Σ σ_p z_p / need_p over the open requirements, z_p held at its need; rounds inside the mirror box first."""
        rng = np.random.default_rng(self._seed)
        front.live.method("dual")
        for mirrored in (True, False):
            for _ in range(JOINT_ROUNDS):
                down, up, _slide = self._open(front)
                before = int(down.sum() + up.sum())
                if before <= FEW:
                    return
                self._push(front, down, up, rng, mirrored)
                down, up, _slide = self._open(front)
                if down.sum() + up.sum() > 0.9 * before:
                    break

    def _push(self, front: _Front, down: Bools, up: Bools, rng: np.random.Generator, mirrored: bool) -> None:
        """One joint LP. Cells that are tied to each other are pushed together, as far as the neediest of them asks."""
        lower, upper = front.bounds
        n = len(lower)
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
        front.live.set_bounds(everything, *front.bounds)
        if result.status is Status.OPTIMAL:
            self._count(front, front.system.R @ result.x)

    def _singly(self, front: _Front) -> None:
        """An LP of its own for each requirement still open."""
        if not np.any(self._open(front)):
            return
        front.live.solve()  # without a cost: back to a feasible basis by dual steps, for the primal steps below
        front.live.method("primal")
        for i in range(len(self.needs.primaries)):
            for kind, side in enumerate((DOWN, UP, SLIDE)):
                if self._open(front)[kind][i]:
                    self._try(front, i, side)

    def _try(self, front: _Front, i: int, side: int) -> None:
        """Attacks one requirement; a success is noted in `broken`."""
        if side == SLIDE:
            below, above = self._attack(front, i, DOWN), self._attack(front, i, UP)
            need, reach = self.needs.slide[i], below[0] + above[0]
            decided, price = np.concatenate([below[1], above[1]]), np.concatenate([below[2], above[2]])
        else:
            need = (self.needs.up if side == UP else self.needs.down)[i]
            reach, decided, price = self._attack(front, i, side)
        if reach < need * (1 - MET):
            self.broken.append(Attack(i, side, float(need), reach, decided, price))

    def _attack(self, front: _Front, i: int, side: int) -> tuple[float, Ints, Floats]:
        """max σ z_p from the basis of the last attack: reach, and what it leans on with its prices.

        Not stopped at the level: a bound on z_p would cost the warm basis.
        """
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
        if result.status is not Status.OPTIMAL or not self._count(front, z):
            raise Unprotectable(
                f"the attacker's LP for {self._problem.space.key(int(self.needs.primaries[i]))} could not be solved reliably "
                f"({result.status}); nothing can be certified. Remedy: check the magnitudes of that country's table"
            )
        rows = np.flatnonzero(np.abs(result.dual) > 1e-9) if direction else np.zeros(0, dtype=np.int64)
        leaned = rows[front.system.decided[front.system.core_rows[rows]] >= 0]
        reach = float(side * z[front.columns[i]] * front.system.unit)
        return reach, front.system.decided[front.system.core_rows[leaned]], -result.dual[leaned]


def _front(problem: ProtectionProblem, needs: Requirements, members: tuple[Bools, Bools, Bools], unit: float) -> _Front:
    system = attack_system(problem, unit)
    columns = system.columns_of(needs.primaries)
    bounds, rows = system.core_bounds(), system.core_rows
    live = LiveLP(np.zeros(system.core.shape[1]), system.core, system.row_lower[rows], system.row_upper[rows], *bounds)
    picked = sp.csr_array(system.R[columns])
    core, sign = np.zeros(len(columns), dtype=np.int64), np.zeros(len(columns))
    at, u = picked.nonzero()
    core[at], sign[at] = u, picked.data
    return _Front(*members, system, columns, core, sign, bounds, live)


def _groups(needs: Requirements) -> Iterator[tuple[tuple[Bools, Bools, Bools], float]]:
    """(members down, up, slide; unit): requirements within the same few decades; the unit is a power of two in their middle."""
    sizes = (needs.down, needs.up, needs.slide)
    buckets = [np.where(size > 0, np.ceil(np.log10(np.maximum(size, 1e-300)) / DECADES), -np.inf) for size in sizes]
    for b in np.unique(np.concatenate(buckets)):
        if np.isfinite(b):
            down, up, slide = (bucket == b for bucket in buckets)
            yield (down, up, slide), float(2.0 ** np.round(np.log2(10.0 ** (DECADES * (b - 0.5)))))
