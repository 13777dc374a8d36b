"""What an attacker computes of the hidden cells of a pattern: the least and the greatest value of each ([2]
eq. 5–6).

He knows the open cells, the relations and the external bounds. Two linear programs for each hidden cell. For
looking at, not for a verdict: `judge.pattern` judges.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats
from sdc_tasks.optimise import LinearAttacker
from sdc_tasks.solver.lp import Status

OPEN_ENDED = (
    Status.UNBOUNDED,
    Status.INFEASIBLE,
)  # the truth is feasible: what a solver calls either has no end


def feasible(problem: SensitiveTable, hidden: Bools) -> tuple[Floats, Floats]:
    """(low, high), each (n), in the unit of the data: equal to the value where a cell is open, −∞ and ∞ where
    nothing bounds it, NaN where the solver found neither. `hidden` (n): True where the pattern hides.
    """
    low, high = problem.a.copy(), problem.a.copy()
    cells = np.flatnonzero(hidden & ~problem.fixed & (problem.ub > problem.lb))
    if not len(cells):
        return low, high
    size = np.abs(problem.a[cells])
    unit = float(2.0 ** np.round(np.log2(np.median(size[size > 0])))) if (size > 0).any() else 1.0
    M = sp.csr_array(sp.csc_array(problem.M)[:, cells])
    M = sp.csr_array(M[np.flatnonzero(np.diff(M.indptr))])
    below, above = (problem.lb - problem.a)[cells] / unit, (problem.ub - problem.a)[cells] / unit
    attacker = LinearAttacker(M)
    attacker.set_bounds(below, above)
    for i, cell in enumerate(cells):
        for side, ends in ((-1.0, low), (1.0, high)):
            push = attacker.push(np.array([i]), np.array([side]))
            reach = (
                push.reach * unit
                if push.status is Status.OPTIMAL
                else np.inf
                if push.status in OPEN_ENDED
                else np.nan
            )
            ends[cell] = problem.a[cell] + side * reach
    return low, high
