"""The linear relaxation of a model, solved once and fast: an interior point method, then crossover to a
vertex.

On network tables (two dimensions) a vertex is integral by itself. For repeated solves see lp.py.
"""

from __future__ import annotations

import highspy
import numpy as np

from sdc_tasks.model.table import Floats
from sdc_tasks.solver.lp import STATUS, LPResult, Status, highs_lp, quiet_highs, ran
from sdc_tasks.solver.milp import Milp
from sdc_tasks.solver.tally import count_lp
from sdc_tasks.solver_api import asked


def vertex(model: Milp, seconds: float = np.inf) -> LPResult:
    """An optimal vertex of the relaxation; STOPPED where time ran out first."""
    highs = quiet_highs()
    asked(highs.setOptionValue, "solver", "ipx")
    asked(highs.setOptionValue, "time_limit", seconds)
    unit = _unit(model.cost)
    asked(
        highs.passModel,
        highs_lp(model.cost / unit, model.A, model.row_lower, model.row_upper, model.lower, model.upper),
    )
    found = ran(highs)
    count_lp()
    if found not in {highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kTimeLimit}:
        # an interior point method does not say why there is no optimum
        asked(highs.setOptionValue, "solver", "simplex")
        asked(highs.clearSolver)
        found = ran(highs)
    status, solution = STATUS.get(found, Status.STOPPED), highs.getSolution()
    return LPResult(
        status=status,
        objective=float(highs.getInfo().objective_function_value) * unit,
        x=np.array(solution.col_value),
        dual=np.array(solution.row_dual) * unit,
        reduced=np.array(solution.col_dual) * unit,
    )


def _unit(cost: Floats) -> float:
    """The power of 1024 by which costs are divided, so that their median is not far from one: an optimum is
    within an absolute tolerance, which would take costs of 1e-8 for none. Usual costs stay as they are.
    """
    some = np.abs(cost[cost != 0])
    return float(1024.0 ** np.round(np.log2(np.median(some)) / 10)) if len(some) else 1.0
