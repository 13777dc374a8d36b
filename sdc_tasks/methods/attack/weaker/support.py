"""The pieces on which an attack rests, by the dual solution of its linear program."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sdc_tasks.methods.attack.knowledge import Knowledge, knowledge_of
from sdc_tasks.methods.attack.polyhedron import AttackSystem, attack_system
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import Adversary
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.solver.lp import LiveLP, Status

LEANS = 1e-9  # a dual value above this may be more than noise of the solver

Levels = tuple[float, float, float]  # down, up, sliding


@dataclass(frozen=True)
class DualSupport:
    """What an adversary knows with nothing published. `row_by` (rows,), `column_by` (columns,): the piece that tells it, −1 for none."""

    system: AttackSystem
    lower: Floats
    upper: Floats
    row_by: list[tuple[int, ...]]
    column_by: Ints
    component: Ints
    knowledge: Knowledge

    @classmethod
    def of(cls, problem: ProtectionProblem, who: Adversary) -> DualSupport:
        system, knowledge = attack_system(problem, who), knowledge_of(problem, who.profile)
        earlier, width = problem.earlier.known_to(who), system.A.shape[1]
        row_by: list[tuple[int, ...]] = [()] * system.A.shape[0]
        if earlier.pieces:
            has = ~np.isin(np.arange(len(earlier.pieces)), list(who.lacks))
            first = system.A.shape[0] - earlier.rows.shape[0]
            for i in np.flatnonzero(~earlier.assumed).tolist():
                row_by[first + i] = tuple(np.flatnonzero(earlier.told_by[i] & has).tolist())
        column_by, lower, upper = np.full(width, -1), system.lower.copy(), system.upper.copy()
        if not knowledge.alone and len(knowledge.cells):
            mine = np.flatnonzero(~np.isin(knowledge.owner, list(who.lacks)))
            at = system.columns_of(knowledge.cells[mine])
            column_by[at], lower[at], upper[at] = knowledge.owner[mine], knowledge.lower[mine], knowledge.upper[mine]
        told = np.flatnonzero(np.isfinite(system.row_lower) | np.isfinite(system.row_upper))
        entries = sp.coo_array(system.A[told])
        both = sp.csr_array((np.ones(entries.nnz), (entries.row, len(told) + entries.col)), shape=(len(told) + width,) * 2)
        component = connected_components(both, directed=False)[1][len(told) :]
        return cls(system, lower, upper, row_by, column_by, component.astype(np.int64), knowledge)

    def used(self, cell: int, levels: Levels, promise: Levels) -> frozenset[int]:
        """The pieces on which the attacks on a primary rest that come closer than promised, by the dual solutions of their LPs."""
        lowered = [got < asked for got, asked in zip(levels, promise, strict=True)]
        at, victim = (int(each[0]) for each in (self.system.columns_of(np.array([cell])), self.knowledge.owners(np.array([cell]))))
        mine = np.flatnonzero(self.component == self.component[at])
        own = self.column_by[mine] == victim if victim >= 0 else np.zeros(len(mine), dtype=bool)
        lower = np.where(own, self.system.lower[mine], self.lower[mine])
        upper = np.where(own, self.system.upper[mine], self.upper[mine])
        A = sp.csr_array(sp.csc_array(self.system.A)[:, mine])
        low, high = self.system.row_lower, self.system.row_upper
        rows = np.flatnonzero((np.diff(A.indptr) > 0) & (np.isfinite(low) | np.isfinite(high)))
        unit = max(promise)
        ends = (low[rows] / unit, high[rows] / unit, lower / unit, upper / unit)
        found = set[int]()
        for way, wanted in ((-1.0, lowered[0] or lowered[2]), (1.0, lowered[1] or lowered[2])):
            if not wanted:
                continue
            result = LiveLP(np.where(mine == at, -way, 0.0), sp.csr_array(A[rows]), *ends).solve()
            if result.status is not Status.OPTIMAL:  # unbounded, or unclear: then each piece may matter
                return frozenset(each for by in self.row_by for each in by) | frozenset(self.column_by.tolist()) - {-1, victim}
            for row in rows[np.abs(result.dual) > LEANS].tolist():
                if (by := self.row_by[row]) and not found & set(by):
                    found.add(by[0])
            found |= set(self.column_by[mine[np.abs(result.reduced) > LEANS]].tolist())
        return frozenset(found - {-1, victim})
