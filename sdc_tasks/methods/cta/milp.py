"""MILP-CTA ([1] §2, eq. 2a–2e): the whole model by CBC or HiGHS. Incumbent and bound are both results.

Only the senses of a solver's solution are used: the deviations come from our own linear program with these
senses, so that big-Ms times tolerances never reach a release.
"""

from __future__ import annotations

import numpy as np

from sdc_tasks.methods.cta.inequalities import no_inequalities, violated_inequalities
from sdc_tasks.methods.cta.local.shortfall import least_short, unprotectable
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.run import Incumbent, Run
from sdc_tasks.methods.cta.senses import FIRM, SenseLP, refined
from sdc_tasks.model.table import Bools, Floats
from sdc_tasks.model.weights import Distance
from sdc_tasks.solver.clock import SolverDied
from sdc_tasks.solver.lp import Status
from sdc_tasks.solver.milp import SolverName, Watch, solve_milp

LAST = 0.5  # seconds for the table of senses that were found when time is already up


def solve_whole(
    problem: CtaProblem,
    run: Run,
    solver: SolverName = "highs",
    polygon: bool = True,
    nodes: int | None = None,
) -> None:
    """Solves the whole model, from the protected table of the run if there is one, until the
    run is over or the gap is reached.

    `polygon`: use the inequalities of `inequalities.py`. Raises Unprotectable where the
    solver proves that there is no table.
    """
    only_l1(problem)
    valid = violated_inequalities(problem, run) if polygon else no_inequalities(problem)
    best, polish, name = run.protected, Polish(problem, run), f"milp {solver}"
    model = valid.added_to(_near(problem, best).milp)
    start = None if best is None else problem.columns(best.z)

    def lift(bound: float) -> None:
        if proves(problem, run):
            run.raise_bound(bound * problem.unit, name)

    def offer(x: Floats) -> None:
        polish.offer(x[model.binary] > 0.5, name)

    # CBC's bounds are read while it runs, at times that depend on the machine: where work is
    # counted, only its final bound is used
    beside = solver == "cbc" and run.clock.counted
    watch = (
        Watch(lambda: run.out_of_time, useful=run.clock.useful)
        if beside
        else Watch(run.over, offer, lift, run.clock.useful)
    )
    result = solve_milp(model, solver, run.left, run.gap_wanted, nodes, start, watch)
    if result.nodes is not None:
        run.work[f"nodes of {solver}"] = result.nodes
    if result.x is not None:
        offer(result.x)
    if result.bound is not None:
        lift(result.bound)
    _refuse_died(result.status, run, solver)
    if result.status is Status.INFEASIBLE and run.protected is None:
        raise unprotectable(problem, least_short(problem, run))


def _refuse_died(status: Status, run: Run, solver: SolverName) -> None:
    """Raises SolverDied where work is counted: without an answer the result would not be the same again."""
    if status is Status.DIED and run.clock.counted:
        raise SolverDied(
            f"{solver}: its process ended without an answer. Remedy: run the step again; if it dies again, "
            f"check its memory"
        )


def proves(problem: CtaProblem, run: Run) -> bool:
    """Whether a bound of the MILP is a bound of the problem: its big-M must not exclude a deviation
    that a better table could have.
    """
    p, near = problem.sensitive, _near(problem, run.protected)
    return bool((np.maximum(near.upper[p], -near.lower[p]) <= problem.far).all())


def _near(problem: CtaProblem, best: Incumbent | None) -> CtaProblem:
    """The problem, with bounds that exclude only tables worse than this one."""
    return problem if best is None else problem.no_worse_than(best.verdict.objective)


def only_l1(problem: CtaProblem) -> None:
    """Raises ValueError for the distance L2: the mixed-integer methods minimise Σ w|z|, and a
    bound on it is no bound on Σ w z².
    """
    if problem.distance is not Distance.L1:
        raise ValueError("MILP, BCD and fix-and-relax minimise the L1 distance only")


class Polish:
    """The closest tables of given senses, from one model in memory that starts from its last basis."""

    def __init__(self, problem: CtaProblem, run: Run) -> None:
        self._problem, self._run = problem, run
        self._model = SenseLP(problem, FIRM)
        self._all = np.arange(len(problem.sensitive))

    def table(self, up: Bools) -> Floats | None:
        """Deviations (n,) in units for the senses `up` (s,). They fall short of some levels where these
        senses do not fit together. None where time ran out first.
        """
        self._model.set(self._all, self._model.possible(up))
        found = self._model.solve(max(self._run.left, LAST))
        return None if found is None else refined(self._problem, found.z)

    def offer(self, up: Bools, name: str) -> bool:
        """Offers the table of these senses. Whether it is the best so far."""
        z = self.table(up)
        return z is not None and self._run.offer(z, name)
