"""The audit: proof, not promise (METHOD §5).

Cheap proofs first. Every LP point is a witness for *all* primaries, so extremes seen anywhere count (`_Ledger`). Joint LPs push
all open requirements at once, in random senses, first inside the box |z| ≤ a where the mirror image −z is a witness too. What is
still open gets an LP of its own, hot-started in a live model and stopped at the level by a bound on its own column. A failure is
always the optimum of its own LP. Witnesses are checked by arithmetic (`AttackSystem.is_witness`), never taken on the solver's
word.

Primaries are treated in groups of similar level, each in its own unit, so that 0.01 and 1e12 can live in one table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.attack.problem import AttackSystem, Requirements, attack_system, contradicted, promised
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import AuditReport, Publication
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.solver.lp import LiveLP, Status

MET = 1e-6  # relative tolerance on a level
DECADES = 4  # levels within one group differ by at most this many powers of ten
JOINT_ROUNDS = 12
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


def baseline(problem: ProtectionProblem) -> tuple[Requirements, int]:
    """What the national tables alone protect: the effective requirements, and the number of LPs it took."""
    wanted = promised(problem)
    prover = _Prover(problem, None, wanted)
    prover.settle()
    down, up, slide = prover.reached()
    cut = (down < wanted.down * (1 - MET)) | (up < wanted.up * (1 - MET)) | (slide < wanted.slide * (1 - MET))
    effective = Requirements(
        wanted.primaries, np.minimum(wanted.down, down), np.minimum(wanted.up, up), np.minimum(wanted.slide, slide), cut
    )
    return effective, prover.lps


def audit(
    problem: ProtectionProblem,
    publication: Publication,
    requirements: Requirements,
    profiles: tuple[str, ...] = ("external",),
    witnesses: Sequence[Floats] = (),
    seed: int = 1,
) -> AuditReport:
    """Attacks the publication for every primary of `requirements` (all of them, or one chunk).

    `witnesses` are deviations z of the suppressed cells (unit of the data) worth trying first, such as CTA's table; those that
    are no witness of this publication are ignored.
    """
    prover = _Prover(problem, publication, requirements, seed)
    prover.offer(witnesses)
    prover.settle()
    down, up, slide = prover.reached()
    return AuditReport(
        problem=problem.digest,
        publication=publication.digest,
        profiles=profiles,
        primaries=requirements.primaries,
        down=_share(down, requirements.down),
        up=_share(up, requirements.up),
        slide=_share(slide, requirements.slide),
        by_lp=prover.by_lp,
        baseline=requirements.cut,
        lps=prover.lps,
        contradictions=tuple(int(cell) for cell in publication.cells[contradicted(problem, publication)]),
    )


def attacks(problem: ProtectionProblem, publication: Publication, requirements: Requirements, witnesses: Sequence[Floats] = ()) -> list[Attack]:
    """The attacks that succeed, strongest point and dual prices of each: what a repair of the bases works from."""
    prover = _Prover(problem, publication, requirements)
    prover.offer(witnesses)
    prover.settle()
    return prover.broken


def merge(chunks: Sequence[AuditReport]) -> AuditReport:
    """One report from those of disjoint chunks of the same publication. Raises ValueError on anything else."""
    first = chunks[0]
    if any((c.problem, c.publication, c.profiles) != (first.problem, first.publication, first.profiles) for c in chunks):
        raise ValueError("chunks of different publications cannot be merged")
    order = np.argsort(np.concatenate([c.primaries for c in chunks]), kind="stable")
    fields = ("primaries", "down", "up", "slide", "by_lp", "baseline")
    joined = {name: np.concatenate([getattr(c, name) for c in chunks])[order] for name in fields}
    if len(np.unique(joined["primaries"])) != len(order):
        raise ValueError("chunks overlap")
    return replace(first, lps=sum(c.lps for c in chunks), **joined)


def chunk(requirements: Requirements, number: int, of: int) -> Requirements:
    """The primaries of chunk `number` of `of`: neighbours stay together, for the hot starts."""
    return requirements.part(np.array_split(np.arange(len(requirements.primaries)), of)[number])


def _share(reached: Floats, needed: Floats) -> Floats:
    """Reached as a share of needed; exactly 1 where met, rounded down to 1e-4 elsewhere so that equal runs give equal bytes."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.floor(1e4 * np.where(needed > 0, reached / needed, 1.0) + 1e-3) / 1e4
    return np.where(reached >= needed * (1 - MET), 1.0, np.clip(share, 0.0, 1 - 1e-4))


class _Prover:
    """Settles requirements group by group; keeps the extremes that verified witnesses and own LPs have shown."""

    def __init__(self, problem: ProtectionProblem, publication: Publication | None, needs: Requirements, seed: int = 1) -> None:
        self.needs = needs
        self.low = np.zeros(len(needs.primaries))
        self.high = np.zeros(len(needs.primaries))
        self.by_lp = np.zeros(len(needs.primaries), dtype=bool)
        self.broken: list[Attack] = []
        self.lps = 0
        self._seed = seed
        self._plain = attack_system(problem, publication)
        self._problem, self._publication = problem, publication

    def reached(self) -> tuple[Floats, Floats, Floats]:
        """How far down, up and in all each primary was seen to reach, in the unit of the data."""
        return -self.low, self.high, self.high - self.low

    def offer(self, witnesses: Iterable[Floats]) -> None:
        """Counts tables found elsewhere, and their mirror images, where they are witnesses."""
        for z in witnesses:
            for point in (z, -z):
                if self._plain.is_witness(point):
                    self._count(point[self._plain.columns_of(self.needs.primaries)])

    def _count(self, z: Floats) -> None:
        np.minimum(self.low, z, out=self.low)
        np.maximum(self.high, z, out=self.high)

    def settle(self) -> None:
        """Proves or breaks every requirement."""
        for group, unit in _groups(self.needs):
            system = attack_system(self._problem, self._publication, unit)
            columns = system.columns_of(self.needs.primaries)
            live = LiveLP(np.zeros(len(system.cells)), system.A, system.row_lower, system.row_upper, system.lower, system.upper)
            self._jointly(system, columns, live, group)
            self._singly(system, columns, live, group)
            self.lps += live.solves

    def _open(self, group: Bools) -> tuple[Bools, Bools]:
        """Requirements of the group still unproven: (down, up)."""
        return group & (-self.low < self.needs.down * (1 - MET)), group & (self.high < self.needs.up * (1 - MET))

    def _jointly(self, system: AttackSystem, columns: Ints, live: LiveLP, group: Bools) -> None:
        """Rounds of max Σ σ_p z_p / need_p over the open requirements, z_p held at its need; mirrored rounds first."""
        rng = np.random.default_rng(self._seed)
        everything = np.arange(len(system.cells))
        for mirrored in (True, False):
            for _ in range(JOINT_ROUNDS):
                down, up = self._open(group)
                before = int(down.sum() + up.sum())
                if before == 0:
                    return
                sense = np.where(down & up, rng.choice([DOWN, UP], len(down)), np.where(up, UP, np.where(down, DOWN, 0)))
                need = np.maximum(np.where(sense == UP, self.needs.up, self.needs.down) / system.unit, 1e-12)
                cost = np.zeros(len(system.cells))
                cost[columns] = -sense / need
                lower, upper = system.lower.copy(), system.upper.copy()
                if mirrored:
                    lower, upper = np.maximum(lower, -upper), np.minimum(upper, -lower)
                lower[columns] = np.where(sense == DOWN, np.maximum(lower[columns], -need), lower[columns])
                upper[columns] = np.where(sense == UP, np.minimum(upper[columns], need), upper[columns])
                live.set_cost(everything, cost)
                live.set_bounds(everything, lower, upper)
                result = live.solve()
                if result.status is Status.OPTIMAL:
                    for z in (result.x, -result.x):
                        if system.is_witness(z):
                            self._count(z[columns] * system.unit)
                down, up = self._open(group)
                if down.sum() + up.sum() > 0.95 * before:
                    break

    def _singly(self, system: AttackSystem, columns: Ints, live: LiveLP, group: Bools) -> None:
        """An LP of its own for each requirement still open."""
        everything = np.arange(len(system.cells))
        live.set_cost(everything, np.zeros(len(system.cells)))
        live.set_bounds(everything, system.lower, system.upper)
        live.method("primal")
        for i in np.flatnonzero(group):
            for side in (DOWN, UP):
                if self._open(group)[0 if side == DOWN else 1][i]:
                    self._attack(system, columns, live, i, side)
            if self.needs.slide[i] > 0 and self.high[i] - self.low[i] < self.needs.slide[i] * (1 - MET):
                for side in (DOWN, UP):
                    self._attack(system, columns, live, i, side, capped=False)

    def _attack(self, system: AttackSystem, columns: Ints, live: LiveLP, i: int, side: int, capped: bool = True) -> None:
        """max σ z_p, stopped at the level (`capped`), from the basis of the last attack."""
        column = columns[[i]]
        need = float((self.needs.up if side == UP else self.needs.down)[i])
        lower, upper = system.lower[column], system.upper[column]
        if capped:
            cap = need / system.unit
            live.set_bounds(column, np.maximum(lower, -cap) if side == DOWN else lower, np.minimum(upper, cap) if side == UP else upper)
        live.set_cost(column, np.array([-float(side)]))
        result = live.solve()
        live.set_cost(column, np.zeros(1))
        live.set_bounds(column, lower, upper)
        self.by_lp[i] = True
        if result.status is not Status.OPTIMAL or not system.is_witness(result.x):
            raise Unprotectable(
                f"the attacker's LP for {self._problem.space.key(int(self.needs.primaries[i]))} could not be solved reliably "
                f"({result.status}); nothing can be certified. Remedy: check the magnitudes of that country's table"
            )
        self._count(result.x[columns] * system.unit)
        reach = float(side * result.x[column[0]] * system.unit)
        if capped and reach < need * (1 - MET):
            leaned = np.flatnonzero((system.decided >= 0) & (np.abs(result.dual) > 1e-9))
            self.broken.append(Attack(i, side, need, reach, system.decided[leaned], -result.dual[leaned]))


def _groups(needs: Requirements) -> Iterator[tuple[Bools, float]]:
    """(members, unit): primaries whose largest level lies within the same few decades; the unit is a power of two near its top."""
    level = np.maximum(np.maximum(needs.down, needs.up), needs.slide)
    bucket = np.where(level > 0, np.ceil(np.log10(np.maximum(level, 1e-300)) / DECADES), -np.inf)
    for b in np.unique(bucket[np.isfinite(bucket)]):
        yield bucket == b, float(2.0 ** np.round(np.log2(10.0 ** (DECADES * (b - 0.5)))))
