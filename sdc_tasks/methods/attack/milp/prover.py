"""The prover by mixed integer programs: its proofs hold against attackers who know which values are whole.

A linear program may reach a level with fractions although no whole table does. So, against these
attackers, a requirement holds only if a whole table shows it (σ z_p ≥ need). Needs are whole numbers,
rounded up (`requirements.promised`).

Small MILPs find whole tables. They work on parts of the table first; each pushes all open targets of its
part in random senses, first inside the box in which the mirror image is a table too. A target that is
still open gets its own MILP. Each table is checked in whole numbers. If the own MILP is solved and falls
short, the requirement is broken. If it stops at its limit, the requirement is *not shown*: it counts as
broken, and the report says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.blocks import parts
from sdc_tasks.methods.attack.knowledge import Insiders, Knowledge
from sdc_tasks.methods.attack.milp.system import IntegerSystem
from sdc_tasks.methods.attack.proof_state import ProofState
from sdc_tasks.methods.attack.prover import FOR_ALL, Prover
from sdc_tasks.methods.attack.requirements import Requirements
from sdc_tasks.methods.attack.targets import DOWN, SLIDE, UP, Targets, mirrored
from sdc_tasks.model.components import components
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import INTEGRALITY
from sdc_tasks.solver.lp import Status
from sdc_tasks.solver.milp import LiveMilp, Milp, MilpResult

NEAR_COLUMNS = 1_000  # columns of the part that an own MILP tries first
DIVISIONS = (  # (columns, dealt out?) of the parts; then the whole
    (300, False),
    (300, True),
    (NEAR_COLUMNS, False),
    (NEAR_COLUMNS, True),
    (2_500, True),
)
JOINT_MILPS, MIRRORED_MILPS = 8, 3  # joint MILPs on one part; how many of them are inside the mirror box
MILP_OPEN_SHARE = 0.9  # a joint MILP that leaves more than this share open is the last
JOINT_GAP, JOINT_NODES = 0.05, 20  # of a joint MILP: any table will do
OWN_NODES = 100  # of a target's own MILP


@dataclass(frozen=True)
class Shortfall:
    """A requirement (row, side) for which no whole table was found, against attacker `insider` (−1: all).

    `reach`: how far the best whole table found goes; `most`: no whole table goes further. They are equal if
    the MILP was solved. Both are whole numbers.
    """

    row: int
    side: int
    insider: int
    need: int = field(repr=False)
    reach: int = field(repr=False)
    most: int = field(repr=False)

    @property
    def proven(self) -> bool:
        """Is it proven that no whole table reaches the need? If not, the MILP stopped at its limit."""
        return self.most < self.need


@dataclass(frozen=True)
class IntegerWitness:
    """A whole table: the columns in which it differs from the truth, and by how much; the profile
    and batch for which it was found.
    """

    profile: int
    batch: int
    column: Ints = field(repr=False)
    value: Floats = field(repr=False)


class MilpProver(Prover):
    """The requirements for integral cells in one polyhedron. `short`: the requirements for which no
    whole table was found; `useful`: the tables that have shown something; `own_rows`: rows of the
    requirements that needed their own MILP.
    """

    def __init__(
        self,
        system: IntegerSystem,
        needs: Requirements,
        knowledge: Knowledge,
        profile: int,
        rows: Ints,
        seed: int,
    ) -> None:
        self.system = system
        asked = np.concatenate([needs.down[rows], needs.up[rows], needs.slide[rows]])
        kept = asked > INTEGRALITY
        row, side = np.tile(rows, 3)[kept], np.repeat([DOWN, UP, SLIDE], len(rows))[kept]
        need = np.ceil(asked[kept] - INTEGRALITY)
        targets = Targets.of(needs, system, row, side, need)
        insiders = Insiders.of(knowledge, system, targets.cell, needs.lacked(row))
        state = ProofState(targets, insiders, knowledge.asked(needs, row), need, skip_proven=True)
        super().__init__(profile, targets, insiders, state, seed)
        self.component = _components(system.core)
        self.short, self.useful, self.own_rows = list[Shortfall](), list[IntegerWitness](), set[int]()

    def target_of(self, short: Shortfall) -> tuple[int, Bools]:
        """The target of a shortfall, and its attackers."""
        target = int(np.flatnonzero((self.targets.row == short.row) & (self.targets.side == short.side))[0])
        return target, np.arange(self.state.open.shape[1]) == short.insider

    def try_witnesses(self, tried: Sequence[IntegerWitness]) -> None:
        """Counts tables found elsewhere, if they are witnesses."""
        for each in tried:
            if each.profile == self.profile:
                z = np.zeros(len(self.system.lower))
                z[each.column] = each.value
                self._count(z, FOR_ALL)

    def _count(self, z: Floats, batch: int, half: bool = False) -> None:
        """Counts a table and its mirror image, if they are witnesses; a `half` of a sliding level
        is kept even if it shows nothing.
        """
        sound = self.system.are_witnesses(z)
        news = self.state.count(z, sound)
        if any(sound) and (news.closed or news.wider or half):
            moved = np.flatnonzero(z)
            self.useful.append(IntegerWitness(self.profile, batch, moved, z[moved]))

    # --- the strategy ---------------------------------------------------------------------------------------

    def _jointly(self, rng: np.random.Generator) -> None:
        """MILPs that push all open targets of a part of the table at once, against all attackers together."""
        n = self.system.R.shape[1]
        for size, dealt in [*(each for each in DIVISIONS if each[0] < n), (n, False)] if n else []:
            for columns in parts(self.system.core_area, self.system.stretch, size, dealt):
                for number in range(JOINT_MILPS):
                    before = int(self.state.open.sum())
                    if not self._push(columns, number < MIRRORED_MILPS, rng):
                        break
                    if number >= MIRRORED_MILPS and self.state.open.sum() > MILP_OPEN_SHARE * before:
                        break

    def _push(self, columns: Ints, in_mirror: bool, rng: np.random.Generator) -> bool:
        """Solves one joint MILP over these columns; False if no target is open there."""
        bounds = self.insiders.all_held
        inside = np.zeros(self.system.R.shape[1], dtype=bool)
        inside[columns] = True
        which = np.flatnonzero(
            self.state.waiting
            & self.targets.pushable(bounds)
            & ~self.insiders.smaller
            & inside[self.targets.core]
        )
        if not len(which):
            return False
        push = self.targets.push(
            which, self.targets.core[which], mirrored(bounds) if in_mirror else bounds, 1.0, rng
        )
        z = self._table(
            columns, self._solve(columns, push.cost, push.lower, push.upper, JOINT_GAP, JOINT_NODES)
        )
        if z is not None:
            self._count(z, FOR_ALL)
            self._now_left(int(self.state.waiting.sum()))
        return True

    def _back(self) -> None:
        """Nothing to forget: each MILP is a model of its own."""

    def attack(self, target: int, attackers: Bools, batch: int) -> None:
        """Solves one MILP against all of these attackers together; if the attack succeeds, one against
        nobody's knowledge, then halves.
        """
        self.own_rows.add(int(self.targets.row[target]))
        groups, alone, need = [attackers], False, int(self.targets.need[target])
        while groups:
            group = groups.pop() & self.state.open[target]
            if not group.any():
                continue
            reach, most = self._reach(target, group, batch)
            if reach >= need:
                self.state.open[target] &= ~group
                continue
            if self.insiders.alone and not alone:
                nobody = np.zeros_like(group)
                reach, most = self._reach(target, nobody, batch)
                if reach < need:
                    self._note(target, -1, reach, most)
                    return
                alone = True
                groups.append(group)
            elif self.insiders.alone and group.sum() > 1:
                half = np.cumsum(group) <= group.sum() // 2
                groups += [group & ~half, group & half]
            else:
                self._note(target, int(np.flatnonzero(group)[0]) if self.insiders.alone else -1, reach, most)

    def _note(self, target: int, insider: int, reach: int, most: int) -> None:
        targets = self.targets
        self.short.append(
            Shortfall(
                int(targets.row[target]),
                int(targets.side[target]),
                insider,
                int(targets.need[target]),
                reach,
                most,
            )
        )

    def _reach(self, target: int, attackers: Bools, batch: int) -> tuple[int, int]:
        """(found, at most): how far the target reaches against these attackers; both are at most the need."""
        if self.targets.sign[target] == 0:
            return 0, 0
        bounds, need = self.insiders.against(target, attackers), int(self.targets.need[target])
        if self.targets.side[target] != SLIDE:
            met = self._meets(target, bounds, batch)
            if met is not False:
                return (need, need) if met else (0, need)
            return self._furthest(target, int(self.targets.side[target]), bounds, need - 1, batch)
        found = most = 0
        for way in (DOWN, UP):
            reached, limit = self._furthest(target, way, bounds, None, batch)
            found, most = min(found + reached, need), min(most + limit, need)
        return found, most

    def _meets(self, target: int, bounds: tuple[Floats, Floats], batch: int) -> bool | None:
        """Is there a whole table in which the target meets its need? None if the MILP stopped without an
        answer.

        It searches a part of the table first, then all cells linked to it. The level is a bound, not
        a target: parity may exclude it.
        """
        targets = self.targets
        column, direction, need = (
            int(targets.core[target]),
            int(targets.side[target] * targets.sign[target]),
            int(targets.need[target]),
        )
        lower, upper = bounds[0].copy(), bounds[1].copy()
        if direction > 0:
            lower[column] = max(lower[column], need)
        else:
            upper[column] = min(upper[column], -need)
        if lower[column] > upper[column]:
            return False
        for columns in self._around(column):
            result = self._solve(
                columns, np.zeros(len(lower)), lower, upper, 0.0, OWN_NODES, from_truth=False
            )
            z = self._table(columns, result)
            if z is not None and targets.side[target] * z[targets.column[target]] >= need:
                self._count(z, batch)
                return True
        return False if result.status is Status.INFEASIBLE else None

    def _furthest(
        self, target: int, way: int, bounds: tuple[Floats, Floats], cap: int | None, batch: int
    ) -> tuple[int, int]:
        """(found, at most) of max way·z_p. `cap`: a limit that the maximum is known not to pass."""
        targets = self.targets
        column, direction = int(targets.core[target]), int(way * targets.sign[target])
        cost = np.zeros(len(bounds[0]))
        cost[column] = -direction
        lower, upper = bounds[0].copy(), bounds[1].copy()
        if cap is not None and direction > 0:
            upper[column] = min(upper[column], cap)
        elif cap is not None:
            lower[column] = max(lower[column], -cap)
        columns = self._around(column)[-1]
        result = self._solve(columns, cost, lower, upper, 0.0, OWN_NODES)
        z = self._table(columns, result)
        found = 0 if z is None else max(0, round(way * float(z[targets.column[target]])))
        most = upper[column] if direction > 0 else -lower[column]
        if result.bound is not None:
            most = min(most, -result.bound)
        if z is not None:
            self._count(z, batch, half=targets.side[target] == SLIDE)
        return found, found if result.status is Status.OPTIMAL and z is not None else int(
            np.floor(most + INTEGRALITY)
        )

    def _table(self, columns: Ints, result: MilpResult) -> Floats | None:
        """The whole table that a MILP over these columns found; None if it found none, or one that is no
        witness.
        """
        if result.x is None:
            return None
        u = np.zeros(self.system.R.shape[1])
        u[columns] = result.x
        z = np.asarray(self.system.R @ np.where(self.system.integral_core, np.rint(u), u)) + 0.0
        return z if self.system.holds(z) else None

    def part_around(self, column: int) -> Ints:
        """The part of the table that contains a column of the core."""
        return next(
            each for each in parts(self.system.core_area, self.system.stretch, NEAR_COLUMNS) if column in each
        )

    def _around(self, column: int) -> list[Ints]:
        """The part of the table that contains a column, then all columns linked to it."""
        together = np.flatnonzero(self.component == self.component[column])
        if len(together) <= NEAR_COLUMNS:
            return [together]
        return [np.intersect1d(self.part_around(column), together), together]

    def _solve(
        self,
        columns: Ints,
        cost: Floats,
        lower: Floats,
        upper: Floats,
        gap: float,
        nodes: int,
        from_truth: bool = True,
    ) -> MilpResult:
        """min cost·u over some columns; the others stay at the truth."""
        A = sp.csr_array(sp.csc_array(self.system.core)[:, columns])
        rows = np.flatnonzero(np.diff(A.indptr) > 0)
        at = self.system.core_rows[rows]
        model = Milp(
            cost[columns],
            sp.csr_array(A[rows]),
            self.system.row_lower[at],
            self.system.row_upper[at],
            lower[columns],
            upper[columns],
            np.flatnonzero(
                self.system.integral_core[columns]
            ),  # HiGHS takes them as whole numbers within their bounds
        )
        self.solves += 1
        return LiveMilp(model).solve(np.zeros(len(columns)) if from_truth else None, np.inf, gap, nodes)


def _components(core: sp.csr_array) -> Ints:
    """The number of the connected component of each column."""
    m, n = core.shape
    entries = sp.coo_array(core)
    row, column = (each.astype(np.int64) for each in entries.coords)
    return components(row, m + column, m + n)[m:]
