"""The prover by linear programs (METHOD §5): its proofs hold against attackers who do
not know which values are whole.

Every LP point is a witness for *all* targets, so the extremes of all points count. Witnesses of one
publication are tried on the next. Joint LPs (`joint.py`) push all open targets at once. A target that is
still open gets its own hot-started LP, in parts of a large table first. A failure is always the optimum of
its own LP, and its multipliers are kept. Witnesses are checked by arithmetic
(`AttackSystem.are_witnesses`); the solver is never trusted.

Each prover has requirements of one profile and of similar size, in their own unit, so that one table
can hold 0.01 and 1e12. A point counts for the targets of its own prover only: its tolerance could be as
large as a smaller requirement.

If attackers act alone, one LP that holds all of them to what they know can prove a target against all. If it
fails, its multipliers name the few attackers who matter.

In a coalition the cells of all members except the victim are fixed, and in a smaller one also those of other
respondents who stay outside. A feasible point
cannot prove two victims at once, because it moves cells that the other victims' attackers know. Each victim,
and each primary that a smaller coalition attacks, therefore gets separate LPs, in parts of the table first:
they relax the bounds of the victim's cells on the live model and restore them afterwards. There the attacked
cell is bounded by its level: such points move few other cells, so that their mirror images are often
witnesses too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from threading import Event

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.attack.blocks import Level, around, is_large, levels, table_levels
from sdc_tasks.methods.attack.knowledge import Insiders, Knowledge
from sdc_tasks.methods.attack.lp.elastic import ElasticParts
from sdc_tasks.methods.attack.lp.joint import JointSearch
from sdc_tasks.methods.attack.lp.models import LiveModel, Models, standing, tables_of
from sdc_tasks.methods.attack.polyhedron import AttackSystem, facing
from sdc_tasks.methods.attack.proof_state import ProofState
from sdc_tasks.methods.attack.prover import FOR_ALL, Prover
from sdc_tasks.methods.attack.requirements import Requirements
from sdc_tasks.methods.attack.targets import DOWN, SLIDE, UP, Targets
from sdc_tasks.methods.attack.witness import Witness, fewest
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import DUAL, FEASIBILITY, ROUNDING, TINY
from sdc_tasks.solver.lp import Status

LEVEL_DECADES = 4  # powers of ten by which the levels of one prover differ at most
POOL_WITNESSES = 300  # kept for the next publication
FIRST_ATTACKS = 12  # targets that are attacked before all others to see whether a publication breaks many


def _none() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Attack:
    """The strongest attack on one requirement: how far it reaches (unit of the data), and the rows that it
    uses.

    `requirement`: its row among the requirements. `side`: −1 (down), 1 (up), or 0 for the sliding level,
    whose reach is the sum of both sides. `insider`: the attacker, if attackers act alone; else −1.

    `price` (dual values): how much the reach grows per unit of slack given to the aggregate cell at that
    position of the publication; positive for the upper slack (upper − a), negative for the lower one (a −
    lower). `rows`, `multiplier`: all dual values, by row of `space.relations`, then those of earlier
    releases; for a sliding level both sides, down first; `split` is the number of its rows.
    """

    requirement: int
    side: int
    need: float = field(repr=False)
    reach: float = field(repr=False)
    decided: Ints = field(repr=False)
    price: Floats = field(repr=False)
    insider: int = -1
    rows: Ints = field(default_factory=_none, repr=False)
    multiplier: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    split: int = 0


@dataclass(frozen=True, repr=False)
class _Half:
    """How far one side reaches, in units, and its proof: the multipliers of rows of A, and the reduced costs
    of the core. `whole`: no point of the whole table reaches further.
    """

    reach: float = 0.0
    whole: bool = True
    rows: Ints = field(default_factory=_none)
    multiplier: Floats = field(default_factory=lambda: np.zeros(0))
    reduced: Floats = field(default_factory=lambda: np.zeros(0))


class LpProver(Prover):
    """Requirements of one profile and of similar size. `broken`: attacks that succeed; `failed`:
    attacks that an LP has shown to fail (their prices say what would make them succeed); `own_rows`:
    rows of the requirements that got their own LPs. After `stop`, called by another thread, the
    search ends after the present LP.
    """

    def __init__(
        self,
        problem: ProtectionProblem,
        system: AttackSystem,
        needs: Requirements,
        knowledge: Knowledge,
        profile: int,
        size: Size,
        seed: int,
    ) -> None:
        self._problem, self._system = problem, system.scaled(size.unit)
        row, side = size.row, size.side
        need = (
            np.select([side == DOWN, side == UP], [needs.down[row], needs.up[row]], needs.slide[row])
            / size.unit
        )
        targets = Targets.of(needs, self._system, row, side, need)
        insiders = Insiders.of(knowledge, self._system, targets.cell, needs.lacked(row))
        state = ProofState(
            targets, insiders, knowledge.asked(needs, row), need * (1 - FEASIBILITY), skip_proven=False
        )
        super().__init__(profile, targets, insiders, state, seed)
        where = standing(problem, self._system)
        self._levels, self._around, self._by_column = (
            levels(*where),
            around(*where),
            sp.csc_array(self._system.core),
        )
        table = tables_of(problem, self._system)
        self._joint_levels = table_levels(*where, table)
        self._models = Models(self._system, self._by_column, insiders.usual, insiders.free, self._around)
        source = self._system.source[self._system.core_rows]
        self._core_row = np.full(int(source.max(initial=-1)) + 1, -1)  # of a row of the relations
        self._core_row[source] = np.arange(len(source))
        self._useful: list[Witness] = []
        self._pooled, self._stop = POOL_WITNESSES, Event()
        self.forget()

    def stop(self) -> None:
        """Ends the search that another thread runs."""
        self._stop.set()

    @property
    def cells(self) -> Ints:
        """The suppressed cells, by flat index."""
        return self._system.cells

    @property
    def system(self) -> AttackSystem:
        """The polyhedron of the present publication."""
        return self._system

    @property
    def useful(self) -> list[Witness]:
        """The witnesses that showed something of the present publication when they were found, in units."""
        return self._useful

    def keep(self, witnesses: Sequence[Witness]) -> None:
        """Takes these witnesses (in units) in place of those found so far: every one is tried on the next
        publication.
        """
        self._useful, self._pooled = list(witnesses), max(POOL_WITNESSES, len(witnesses))

    def elastic(self) -> ElasticParts:
        """The models that look for a table of one target: small parts of the table, larger ones, and the
        country.
        """
        country = self._around[0]
        labels = [*(level.label(len(country)) for level in self._in_parts), country]
        return ElasticParts(self._system, self._by_column, self.insiders.usual, labels)

    @property
    def width(self) -> int:
        """The number of deviations of a point."""
        return int(self._system.A.shape[1])

    def forget(self) -> None:
        """Forgets what was found against the present publication."""
        self.state.forget()
        self._useful = []
        self.own_rows = set[int]()
        self.clear()

    def clear(self) -> None:
        """Forgets the attacks found so far, but not what their points have shown."""
        self.broken: list[Attack] = []
        self.failed: list[Attack] = []

    def set_publication(self, publication: Publication) -> None:
        """Attacks another publication from now on. Proofs against the last one are dropped; its witnesses
        are tried first.
        """
        pool = self._useful[-self._pooled :]
        self.forget()
        self.shift(publication)
        for witness in pool:
            self._count(witness.dense(self._system.A.shape[1]))

    def shift(self, publication: Publication) -> None:
        """Attacks another publication against which every proof so far still holds."""
        self._system = facing(self._system, self._problem, publication)
        self._models.set_system(self._system)

    def try_witness(self, z: Floats, only_if_useful: bool = False) -> None:
        """Counts a table found elsewhere (z of the suppressed cells, unit of the data) and its mirror image,
        if they are witnesses. `only_if_useful`: only if they may prove a target that is still open.
        """
        point = np.zeros(self._system.A.shape[1])  # unknown values of earlier deliveries stay at the truth
        point[: len(z)] = z / self._system.unit
        if not only_if_useful or (self._may_show(point) & self.state.waiting).any():
            self._count(point)

    def _may_show(self, z: Floats) -> Bools:
        """(targets,): a table shows no target that it moves by less than needed."""
        return np.asarray(
            (self.targets.side == SLIDE)
            | (np.abs(z[self.targets.column]) >= self.targets.need * (1 - FEASIBILITY))
        )

    def breaks_some(self) -> bool:
        """Is one of a few targets broken?"""
        few = np.linspace(0, len(self.targets) - 1, min(FIRST_ATTACKS, len(self.targets))).astype(int)
        self._now_left(int(self.state.waiting.sum()))
        self._each(few[self.state.waiting[few]], FOR_ALL)
        return bool(self.broken)

    def propose(self) -> list[Witness]:
        """Runs the joint searches. Returns the witnesses that showed something when they were found, in their
        order.
        """
        before = len(self._useful)
        self.prove_jointly()
        return self._useful[before:]

    def recount(self, points: Iterable[Floats], lps: int) -> None:
        """Counts the points that joint searches found elsewhere, in place of these searches, which took so
        many LPs. A point that is no witness here shows nothing.
        """
        for z in points:
            self._count(z)
        self.solves += lps
        self.shared += lps

    def reached(self, by_tables: bool = False) -> Floats:
        """How far each target reaches against its strongest attacker, in the unit of the data. If
        the target is met, at least its need; or, `by_tables`, as far as a table was found, which may
        miss the need by the tolerance.
        """
        targets, reach = self.targets, self.state.reach
        met = reach if by_tables else np.maximum(reach, targets.need)
        seen = np.where(self.state.waiting, np.minimum(reach, targets.need), met) * self._system.unit
        lowest = np.full(len(targets), np.inf)
        for attack in self.broken:
            at = self.target_of(attack)
            lowest[at] = min(lowest[at], attack.reach)
        return np.where(np.isfinite(lowest), lowest, seen)

    def at_most(self, attack: Attack, lower: Floats, upper: Floats) -> float:
        """No table goes farther on a side (down or up) than this, in the unit of the data; see
        `Attacker.at_most`.
        """
        system, row = self._system, self._core_row[attack.rows]
        low, high = replace(system, lower=lower / system.unit, upper=upper / system.unit).core_bounds()
        pull = self._pull(attack, attack.side, slice(None))
        ends = np.where(
            attack.multiplier > 0,
            system.row_upper[system.core_rows[row]],
            system.row_lower[system.core_rows[row]],
        )
        with np.errstate(invalid="ignore"):  # 0 times an endless bound
            most = np.where(pull == 0, 0.0, np.maximum(pull * low, pull * high))
        return float((most.sum() + attack.multiplier @ ends) * system.unit)

    def active_bounds(self, attacks: Sequence[Attack]) -> list[tuple[tuple[int, float], ...]]:
        """The bounds of single cells that hold each attack: see `Attacker.active_bounds`."""
        system, found = self._system, []
        (_, below), (_, above) = system.core_ends()
        for attack in attacks:
            parts = ((DOWN, slice(0, attack.split)), (UP, slice(attack.split, None)))
            ends = list[tuple[int, float]]()
            for side, rows in parts if attack.side == SLIDE else ((attack.side, slice(None)),):
                pull = self._pull(attack, side, rows)
                at = np.flatnonzero(np.abs(pull) > DUAL)
                cells = np.where(pull > 0, above, below)[at]
                ends += zip(cells.tolist(), (pull[at] * system.place(cells)[1]).tolist(), strict=True)
            found.append(tuple(ends))
        return found

    def _pull(self, attack: Attack, side: int, rows: slice) -> Floats:
        """(core,): the reduced costs of one side of an attack, from its multipliers."""
        target = self.target_of(attack)
        pull = np.asarray(-(attack.multiplier[rows] @ self._system.core[self._core_row[attack.rows[rows]]]))
        if self.targets.sign[target] != 0:  # not fixed by the national relations
            pull[self.targets.core[target]] += side * self.targets.sign[target]
        return pull

    def holds(self, attack: Attack) -> bool:
        """Is this attack on one of the targets?"""
        return bool(((self.targets.row == attack.requirement) & (self.targets.side == attack.side)).any())

    def target_of(self, attack: Attack) -> int:
        """The target of an attack."""
        return int(
            np.flatnonzero((self.targets.row == attack.requirement) & (self.targets.side == attack.side))[0]
        )

    def is_shown(self, attack: Attack) -> bool:
        """Was a witness found that makes this attack fail?"""
        return not self.state.open[self.target_of(attack), max(attack.insider, 0)]

    def again(self, attack: Attack) -> None:
        """Repeats an attack on the present publication."""
        self.attack(
            self.target_of(attack), np.arange(self.state.open.shape[1]) == max(attack.insider, 0), FOR_ALL
        )

    def witnesses(self) -> Iterator[Witness]:
        """Witnesses that prove everything proven, in the unit of the data; only a few of those that all
        batches share.
        """
        shared = [witness for witness in self._useful if witness.batch == FOR_ALL]
        if not self.insiders.alone and not (self.targets.side == SLIDE).any():
            shared = [shared[i] for i in fewest([self._proven(witness) for witness in shared])]
        for witness in (*shared, *(witness for witness in self._useful if witness.batch != FOR_ALL)):
            yield replace(witness, value=witness.value * self._system.unit)

    def _proven(self, witness: Witness) -> Bools:
        """(targets,): whether the witness or its mirror image proves the target."""
        targets = self.targets
        proven = np.zeros(len(targets), dtype=bool)
        z = witness.dense(self._system.A.shape[1])
        for point, sound in zip((z, -z), witness.sound, strict=True):
            if sound:
                proven |= self.insiders.fooled(point)[:, 0] & (
                    targets.side * point[targets.column] >= targets.need * (1 - FEASIBILITY)
                )
        return proven

    def _count(self, z: Floats, batch: int = FOR_ALL, sound: tuple[bool, bool] | None = None) -> None:
        """Counts a point and its mirror image, if they are witnesses. `sound`: whether
        they are, if that is known already.
        """
        if self._stop.is_set():
            raise InterruptedError("the search was stopped from outside")
        sound = self._system.are_witnesses(z) if sound is None else sound
        if not any(sound):
            return
        news = self.state.count(z, sound)
        if (
            news.closed or (self.targets.side == SLIDE).any()
        ):  # halves of a sliding level come from different witnesses
            self._useful.append(Witness.of(z, batch, sound))

    # --- the strategy ---------------------------------------------------------------------------------------

    def _jointly(self, rng: np.random.Generator) -> None:
        self._search_at(self._joint_levels, rng)

    def propose_in_parts(self) -> list[Witness]:
        """As `propose`, in parts of the table that are not too large for joint searches."""
        before = len(self._useful)
        in_parts = [level for level in self._joint_levels if len(level.parts) > 1 or not self._is_large]
        self._search_at(in_parts, np.random.default_rng(self._seed))
        return self._useful[before:]

    @property
    def _is_large(self) -> bool:
        return is_large(len(self._around[0]))

    @property
    def _in_parts(self) -> list[Level]:
        """The divisions of the table, without the whole table if it is large."""
        return [level for level in self._levels if len(level.parts) > 1 or not self._is_large]

    def _search_at(self, levels: list[Level], rng: np.random.Generator) -> None:
        search = JointSearch(
            self._system,
            self._by_column,
            levels,
            self.targets,
            self.insiders,
            self.state,
            self._count_jointly,
        )
        self.solves += search.run(rng)

    def _count_jointly(self, z: Floats) -> None:
        self._count(z)
        self._now_left(int(self.state.waiting.sum()))

    def _order(self) -> Ints:
        """Targets for which an insider stays outside come last: the fewer, the earlier, for its points serve
        those where more do. The sliding level of each cell comes after the other sides, which may prove it.
        """
        targets = self.targets
        absent = np.zeros(len(targets), dtype=np.int64)
        absent[list(self.insiders.outside)] = [len(each) for each in self.insiders.outside.values()]
        return np.lexsort(
            (targets.side != DOWN, targets.side == SLIDE, targets.row, absent, self.insiders.exempt)
        )

    def _back(self) -> None:
        for model in self._models.live:
            model.back()

    def attack(self, target: int, attackers: Bools, batch: int) -> None:
        """Solves one LP for all of these attackers together. If the attack succeeds, each
        attacker whom it needs has his own LP.
        """
        groups = [attackers]
        while groups:
            group = groups.pop()
            found, matter, whole = self._strongest(target, group, batch)
            if found.reach >= found.need * (1 - FEASIBILITY):
                self.state.open[target] &= ~group
                if whole and not matter.any():
                    self.failed.append(found)
            elif not matter.any():  # no attacker's own knowledge is needed: all of them succeed
                self.broken.append(found)
            elif matter.sum() == 1:  # one attacker's own knowledge is enough
                self.broken.append(replace(found, insider=int(np.flatnonzero(matter)[0])))
                groups += [group & ~matter] if (group & ~matter).any() else []
            else:
                groups += [group & ~matter] if (group & ~matter).any() else []
                groups += [np.arange(len(group)) == k for k in np.flatnonzero(matter).tolist()]

    def _strongest(self, target: int, group: Bools, batch: int) -> tuple[Attack, Bools, bool]:
        """The strongest attack on a target by a group of attackers who share their knowledge, the attackers
        whose knowledge it needs, and whether the attack was on the whole table, not on a part.
        """
        targets, insiders, system, unit = self.targets, self.insiders, self._system, self._system.unit
        bounds, fixed = insiders.against(target, group), targets.sign[target] == 0
        # the national relations alone fix some cells: they need no LP
        halves = [_Half()] if fixed else self._halves(target, group, batch, bounds)
        matter = np.zeros(len(group), dtype=bool)
        if insiders.alone and not fixed:
            matter = self._needed_insiders(halves, group, bounds)
        rows = np.concatenate([half.rows for half in halves])
        aggregates = system.decided[rows] >= 0
        multiplier = np.concatenate([half.multiplier for half in halves])
        found = Attack(
            requirement=int(targets.row[target]),
            side=int(targets.side[target]),
            need=float(targets.need[target] * unit),
            reach=sum(half.reach for half in halves) * unit,
            decided=system.decided[rows[aggregates]],
            price=multiplier[aggregates],
            rows=system.source[rows],
            multiplier=multiplier,
            split=len(halves[0].rows),
        )
        return found, matter, all(half.whole for half in halves)

    def _halves(self, target: int, group: Bools, batch: int, bounds: tuple[Floats, Floats]) -> list[_Half]:
        """How far each side of a target reaches: in ever larger parts of the table, until the need is met or
        no larger part would help. `bounds`: those of u against the group; where an insider takes no part,
        they are cut at the need.
        """
        targets, insiders, usual = self.targets, self.insiders, self.insiders.usual
        (lower, upper), columns = bounds, insiders.differing(target)
        side, need, exempt = int(targets.side[target]), targets.need[target], bool(insiders.exempt[target])
        if exempt:
            column = targets.core[[target]]
            columns = np.union1d(columns, column)
            lower[column], upper[column] = np.maximum(lower[column], -need), np.minimum(upper[column], need)
        halves = list[_Half]()
        for model in self._models.around(int(targets.core[target]), in_parts=exempt or self._is_large):
            model.prepare()
            model.set_bounds(columns, lower[columns], upper[columns])
            halves = [
                self._reach(model, target, way, group, batch)
                for way in ((DOWN, UP) if side == SLIDE else (side,))
            ]
            model.set_bounds(columns, usual[0][columns], usual[1][columns])
            met = sum(half.reach for half in halves) >= need * (1 - FEASIBILITY)
            if met or all(half.whole for half in halves):
                break
        return halves

    def _needed_insiders(self, halves: Sequence[_Half], group: Bools, bounds: tuple[Floats, Floats]) -> Bools:
        """(attackers,): those of a group whose own bounds are active in the proof of an attack: the bound has
        a reduced cost, and no bound of anybody else is as tight.
        """
        insiders, needed = self.insiders, np.zeros(len(group), dtype=bool)
        known = insiders.core >= 0
        at = insiders.core[known]
        for half in halves:
            up = half.reduced[at] > DUAL
            active = np.where(
                up, insiders.core_lower[known] >= bounds[0][at], insiders.core_upper[known] <= bounds[1][at]
            )
            needed[known] |= active & (np.abs(half.reduced[at]) > DUAL) & group[known]
        return needed

    def _reach(self, model: LiveModel, target: int, side: int, group: Bools, batch: int) -> _Half:
        """max σ z_p in a model, at least up to the need of the target, in units, with its proof."""
        targets, system = self.targets, self._system
        way = float(side * targets.sign[target])
        for afresh in (False, True):
            result, whole = model.push(int(targets.core[target]), way, afresh)
            self.solves += 1
            z = system.R @ result.x
            sound, fooled = system.are_witnesses(z), self.insiders.fooled(z)
            if (
                result.status is Status.OPTIMAL
                and sound[0]
                and fooled[target if len(fooled) > 1 else 0, group].all()
            ):
                break
        else:
            raise Unprotectable(
                f"the attacker's LP for {self._problem.space.key(int(targets.cell[target]))} could not be "
                f"solved reliably ({result.status}); nothing can be certified. Remedy: check the "
                f"magnitudes of that country's table"
            )
        self.own_rows.add(int(targets.row[target]))
        self._count(z, batch, sound)
        rows = np.flatnonzero(np.abs(result.dual) > DUAL)
        reach, at = float(side * z[targets.column[target]]), system.core_rows[model.rows[rows]]
        # A reach that is real stays a requirement, however small beside its level. Rounding is none: a
        # baseline would ask for it, and nothing could give it.
        if abs(reach) < 10 * ROUNDING:
            reach = 0.0
        return _Half(reach, whole, at, -result.dual[rows], result.reduced)


@dataclass(frozen=True, repr=False)
class Size:
    """Requirements (row, side) within the same few decades; `unit` is a power of two in their middle."""

    row: Ints
    side: Ints
    unit: float


def sizes_of(needs: Requirements, numbers: Sequence[int]) -> Iterator[Size]:
    """The requirements against the adversaries of these numbers that ask for anything, by size."""
    mine = np.flatnonzero(np.isin(needs.profile, numbers) & ~needs.implied)
    row = np.concatenate([mine, mine, mine])
    side = np.repeat([DOWN, UP, SLIDE], len(mine))
    size = np.concatenate([needs.down[mine], needs.up[mine], needs.slide[mine]])
    bucket = np.where(size > 0, np.ceil(np.log10(np.maximum(size, TINY)) / LEVEL_DECADES), -np.inf)
    for b in np.unique(bucket):
        if np.isfinite(b):
            yield Size(
                row[bucket == b],
                side[bucket == b],
                float(2.0 ** np.round(np.log2(10.0 ** (LEVEL_DECADES * (b - 0.5))))),
            )
