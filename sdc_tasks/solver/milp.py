"""The solvers of mixed-integer models, by name: CBC through PuLP, and HiGHS. Models are minimised:
CBC loses warm starts otherwise.

The result is an incumbent, a bound and a status; callers verify the incumbent themselves. A `Watch`
receives points and bounds while a solve runs, and can end it. A new solver needs a name in
`names.py` and a function here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import get_args

from sdc_tasks.model.table import Floats
from sdc_tasks.solver.highs import LiveMilp, solve_with_highs
from sdc_tasks.solver.lp import Status
from sdc_tasks.solver.mixed import UNWATCHED, Milp, MilpResult, Watch, spanned
from sdc_tasks.solver.names import SolverName

__all__ = ["SOLVERS", "UNWATCHED", "LiveMilp", "Milp", "MilpResult", "SolverName", "Watch", "solve_milp"]

Solve = Callable[[Milp, float, float, int | None, Floats | None, Watch], MilpResult]


def _cbc(
    model: Milp, seconds: float, gap: float, nodes: int | None, start: Floats | None, watch: Watch
) -> MilpResult:
    from sdc_tasks.solver.cbc import solve_with_cbc  # PuLP is not needed where HiGHS solves

    return spanned("cbc", model, lambda: solve_with_cbc(model, seconds, gap, nodes, start, watch))


SOLVERS: Mapping[SolverName, Solve] = {"cbc": _cbc, "highs": solve_with_highs}
assert set(SOLVERS) == set(get_args(SolverName)), "a solver without a name, or a name without a solver"


def solve_milp(
    model: Milp,
    solver: SolverName,
    seconds: float,
    gap: float,
    nodes: int | None = None,
    start: Floats | None = None,
    watch: Watch = UNWATCHED,
) -> MilpResult:
    """Solves the model from scratch. The solver stops at the relative `gap`, the node limit, the time
    limit, or when the watch asks for it.

    `start` (columns,): a feasible point to start from. A point that is none of the model is not taken, nor
    the bound beside it: the status is then STOPPED. Raises whatever the watch raises.
    """
    found = SOLVERS[solver](model, seconds, gap, nodes, start, watch)
    if found.x is not None and not model.has(found.x):
        return MilpResult(Status.STOPPED, None, None, None, found.iterations, found.nodes)
    return found
