"""Joint LPs: all open targets of a prover are pushed at once, in random senses.

Parts of the table (`blocks.py`) come before the whole table; first inside the box |z| ≤ a, where the
mirror image −z is a witness too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.blocks import Level
from sdc_tasks.methods.attack.knowledge import Insiders
from sdc_tasks.methods.attack.polyhedron import AttackSystem
from sdc_tasks.methods.attack.proof_state import ProofState
from sdc_tasks.methods.attack.targets import Targets, mirrored
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import ROUNDING, ZERO
from sdc_tasks.solver.lp import LiveLP, Status

JOINT_ROUNDS = 12  # joint LPs on one part inside the mirror box, and as many outside
FEW_TARGETS = 10  # so few open targets are not worth a joint LP
JOINT_WORTH = (
    40  # own LPs take as long as a joint LP of the whole table: one that closes fewer targets is the last
)
JOINT_OPEN_SHARE = 0.85  # a round that leaves more than this share of the targets open is the last


@dataclass(frozen=True, repr=False)
class JointSearch:
    """Joint LPs on one system. `by_column`: its core; `levels`: the divisions of the core into parts;
    `count` receives each point found.
    """

    system: AttackSystem
    by_column: sp.csc_array
    levels: list[Level]
    targets: Targets
    insiders: Insiders
    state: ProofState
    count: Callable[[Floats], None]

    def run(self, rng: np.random.Generator) -> int:
        """Closes what joint LPs can; returns how many LPs were solved."""
        return sum(self._at_all_levels(attackers, rng) for attackers in self._circles())

    def _circles(self) -> Iterator[Bools]:
        """Groups of attackers that one point must fool. If attackers act alone: all of them, then halves,
        so that any two are apart once.

        A point that fools the respondent of a cell cannot protect that cell. In a half without him, a point
        can.
        """
        insiders, n = self.insiders, self.state.open.shape[1]
        yield np.ones(n, dtype=bool)
        if insiders.alone:
            fixed = insiders.column[insiders.lower == insiders.upper]
            own = np.flatnonzero(np.isin(self.targets.column, fixed))
            for bit in range(int(np.ceil(np.log2(max(n, 1))))):
                for value in (0, 1):
                    half = (np.arange(n) >> bit) & 1 == value
                    if self.state.open[own][:, half].any(axis=1).sum() > FEW_TARGETS:
                        yield half

    def _at_all_levels(self, attackers: Bools, rng: np.random.Generator) -> int:
        """Rounds of max Σ σ_p z_p / need_p over the open targets, z_p held at its need;
        rounds inside the mirror box first.
        """
        if not self.levels:
            return 0
        bounds = self.insiders.imposed(attackers) if self.insiders.alone else self.insiders.all_held
        pushed = self.targets.pushable(bounds) & ~self.insiders.smaller
        solved = 0
        for level in self.levels:
            for columns, own in zip(level.parts, level.pushed or level.parts, strict=True):
                inside = np.zeros(len(bounds[0]), dtype=bool)
                inside[own] = True
                mine = pushed & inside[self.targets.core]
                solved += self._in_part(attackers, bounds, columns, mine, level.interior, rng)
        return solved

    def _in_part(
        self,
        attackers: Bools,
        bounds: tuple[Floats, Floats],
        columns: Ints,
        mine: Bools,
        interior: bool,
        rng: np.random.Generator,
    ) -> int:
        """Joint rounds in which only these columns of the core move."""
        system = self.system

        def waiting() -> Bools:
            return np.asarray(mine & self.state.open[:, attackers].any(axis=1))

        worth = JOINT_WORTH if len(columns) == system.core.shape[1] else 0
        few = worth if worth and interior else FEW_TARGETS
        if int(waiting().sum()) <= few:
            return 0
        low, high = system.row_lower[system.core_rows], system.row_upper[system.core_rows]
        bounded = np.isfinite(low) | np.isfinite(high)
        columns = columns[_free(sp.csr_array(self.by_column[:, columns]), (low == 0) & (high == 0))]
        if not len(columns):
            return 0
        A = sp.csr_array(self.by_column[:, columns])
        rows = np.flatnonzero(bounded & (np.diff(A.indptr) > 0))
        local = np.full(system.core.shape[1], -1)
        local[columns] = np.arange(len(columns))
        mine = mine & (local[self.targets.core] >= 0)
        lower, upper = bounds[0][columns], bounds[1][columns]
        live = LiveLP(np.zeros(len(columns)), sp.csr_array(A[rows]), low[rows], high[rows], lower, upper)
        if interior:
            live.interior()
        everything = np.arange(len(columns))
        for box in (mirrored((lower, upper)), (lower, upper)):
            for _ in range(JOINT_ROUNDS):
                if (before := int((open_ := waiting()).sum())) <= few:
                    break
                which = np.flatnonzero(open_)
                push = self.targets.push(which, local[self.targets.core[which]], box, ROUNDING, rng)
                live.set_cost(everything, push.cost)
                live.set_bounds(everything, push.lower, push.upper)
                result = live.solve()
                if result.status is not Status.OPTIMAL:
                    break
                u = np.zeros(system.core.shape[1])
                # an interior point leaves no cell quite at the truth
                u[columns] = np.where(np.abs(result.x) > ZERO, result.x, 0.0)
                self.count(system.R @ u)
                left = int(waiting().sum())
                if left > JOINT_OPEN_SHARE * before or before - left < worth:
                    break
        return live.solves


def _free(A: sp.csr_array, equal: Bools) -> Bools:
    """Columns that can move. An equation with a single column fixes it; fixed columns
    are removed, and this is repeated.
    """
    alive = np.ones(A.shape[1], dtype=bool)
    size = sp.csr_array(abs(A[equal]))
    while True:
        alone = np.asarray(size @ alive.astype(float)) == 1
        fixed = (np.asarray(size[alone].sum(axis=0)).ravel() > 0) & alive
        if not fixed.any():
            return alive
        alive &= ~fixed
