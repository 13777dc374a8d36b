"""Bridges, hidden classes that cannot move, and the valid inequalities of patterns without them ([2] §4.1).

If a pattern hides class i, but the relations do not let it move, class i does not protect anything: without
it the same deviations remain, and the pattern costs no more. So some least pattern has no bridge. Classes
that must be protected are no bridges of any safe pattern. For whole multipliers λ of the relations let r = Mᵀ
λ, r_i ≠ 0. Σ r_j u_j = 0 moves i only if it moves another class of r, hence

    Σ_{j≠i, r_j≠0} y_j ≥ y_i

for every safe pattern without bridges. Single relations give the first ones (`rows`). More are
found at a point y by a linear program, max u_i with M u = 0, |u_j| ≤ y_j, whose multipliers are
made whole numbers; then r is exact.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.suppression.pattern.presolve import ReducedProblem
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import INTEGRALITY
from sdc_tasks.optimise import Cut, LinearAttacker

# factors that may turn the LP's multipliers into integers: only then is r = Mᵀ λ exact, and the cut valid
WHOLE_TRIED = (1, 2, 3, 4, 6, 12, 60)
BRIDGE_VIOLATED = 1e-3  # a cut is added if it is violated by this much
HARDLY_HIDDEN = 0.02  # no LP is solved for classes with a smaller y


class BridgeCuts:
    """The bridgeless inequalities of a reduced table; `rows` (relations' entries, k): those of
    single relations, rows @ y ≥ 0.
    """

    def __init__(self, table: ReducedProblem) -> None:
        self.table, k = table, len(table.cost)
        M = table.M
        lengths = np.diff(M.indptr)
        starts, counts = (
            np.repeat(M.indptr[:-1], lengths),
            np.repeat(lengths, lengths),
        )  # of the relation, for each entry
        indptr = np.concatenate([[0], np.cumsum(counts)])
        within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], counts)
        columns = M.indices[np.repeat(starts, counts) + within]
        owner = np.repeat(M.indices, counts)
        self.rows = sp.csr_array((np.where(columns == owner, -1.0, 1.0), columns, indptr), shape=(M.nnz, k))
        self._whole = bool((M.data == np.round(M.data)).all())
        self._transposed = sp.csr_array(M.T)
        self._attacker = LinearAttacker(M)

    @property
    def iterations(self) -> int:
        """Of the linear programs so far."""
        return self._attacker.iterations

    def candidates(self, y: Floats) -> Ints:
        """The classes whose inequality may be violated."""
        return np.flatnonzero(y > HARDLY_HIDDEN) if self._whole else np.zeros(0, dtype=np.int64)

    def cut(self, i: int, y: Floats) -> Cut | None:
        """A violated inequality of class i at a point; None if none is found."""
        below = y.copy()
        below[i] = 0.0
        self._attacker.set_bounds(-below, y)
        push = self._attacker.push(np.array([i]), np.ones(1))
        if not push.status.has_point or push.z[i] >= y[i] - BRIDGE_VIOLATED:
            return None
        for times in WHOLE_TRIED:
            scaled = push.dual * times
            whole = np.round(scaled)
            if np.abs(scaled - whole).max(initial=0.0) < INTEGRALITY:
                r = self._transposed @ whole
                if not r[i]:
                    return None
                columns = np.flatnonzero(r)
                coefficients = np.where(columns == i, -1.0, 1.0)
                return (
                    Cut(columns, coefficients, 0.0) if coefficients @ y[columns] < -BRIDGE_VIOLATED else None
                )
        return None
