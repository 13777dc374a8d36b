"""HiGHS with a mixed-integer model that stays in memory between solves."""

from __future__ import annotations

import highspy
import numpy as np

from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.solver.lp import Status, as_numbers, highs_lp, quiet_highs, ran
from sdc_tasks.solver.mixed import UNWATCHED, Milp, MilpResult, Watch, finite, spanned
from sdc_tasks.solver_api import asked

_INFEASIBLE = {highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible}


class _Listener:
    """Tells a watch of a run. An exception of the watch ends the run, and waits in `raised`."""

    def __init__(self, watch: Watch, scale: float) -> None:
        self._watch, self._scale, self._told = watch, scale, -np.inf
        self.raised: list[BaseException] = []

    def looked(self, event: highspy.highs.HighsCallbackEvent) -> None:
        """The solver asks whether it goes on."""
        try:
            bound = event.data_out.mip_dual_bound * self._scale
            if bound > self._told and np.isfinite(bound):
                self._told = bound
                self._watch.bound(bound)
            if self.raised or self._watch.stop():
                event.interrupt()
        except BaseException as error:
            self.raised.append(error)
            event.interrupt()

    def found(self, event: highspy.highs.HighsCallbackEvent) -> None:
        """The solver has a better point."""
        try:
            self._watch.point(np.array(event.data_out.mip_solution))
        except BaseException as error:
            self.raised.append(error)


class LiveMilp:
    """A model that stays inside HiGHS. Only bounds and costs change between solves, as
    methods that work by blocks need it.
    """

    def __init__(self, model: Milp) -> None:
        self._model, self._cost = model, np.array(model.cost)
        self._highs = quiet_highs()
        asked(self._highs.setOptionValue, "mip_abs_gap", 0.0)
        asked(
            self._highs.passModel,
            highs_lp(
                model.cost / model.scale, model.A, model.row_lower, model.row_upper, model.lower, model.upper
            ),
        )
        columns = model.binary.astype(np.int32)
        asked(
            self._highs.changeColsIntegrality,
            len(columns),
            columns,
            np.full(len(columns), highspy.HighsVarType.kInteger),
        )

    def fix(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        asked(
            self._highs.changeColsBounds,
            len(columns),
            columns.astype(np.int32),
            np.asarray(lower, dtype=float),
            np.asarray(upper, dtype=float),
        )

    def set_row_bounds(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        asked(
            self._highs.changeRowsBounds,
            len(rows),
            rows.astype(np.int32),
            np.asarray(lower, dtype=float),
            np.asarray(upper, dtype=float),
        )

    def set_cost(self, columns: Ints, cost: Floats) -> None:
        self._cost[columns] = cost
        asked(
            self._highs.changeColsCost,
            len(columns),
            columns.astype(np.int32),
            as_numbers(cost) / self._model.scale,
        )

    def solve(
        self,
        start: Floats | None,
        seconds: float,
        gap: float,
        nodes: int | None = None,
        watch: Watch = UNWATCHED,
    ) -> MilpResult:
        """The best point found from `start` (columns,), and the lower bound for the current column
        bounds. Models must be bounded below.
        """
        return spanned("highs", self._model, lambda: self._solve(start, seconds, gap, nodes, watch))

    def _solve(
        self, start: Floats | None, seconds: float, gap: float, nodes: int | None, watch: Watch
    ) -> MilpResult:
        highs = self._highs
        asked(highs.setOptionValue, "mip_rel_gap", gap)
        asked(highs.setOptionValue, "time_limit", seconds)  # HiGHS counts from 0 for every MILP
        asked(highs.setOptionValue, "mip_max_nodes", highspy.kHighsIInf if nodes is None else nodes)
        if start is not None and len(start):  # HiGHS refuses a start without columns
            solution = highspy.HighsSolution()
            solution.col_value = start.tolist()
            asked(highs.setSolution, solution)
        status = self._run(watch)
        spent = max(0, highs.getInfo().simplex_iteration_count)
        if (
            status in _INFEASIBLE
        ):  # HiGHS' presolve has called feasible models infeasible: once more without it
            asked(highs.setOptionValue, "presolve", "off")
            status = self._run(watch)
            asked(highs.setOptionValue, "presolve", "choose")
            spent += max(0, highs.getInfo().simplex_iteration_count)
        if status == highspy.HighsModelStatus.kSolveError:
            return MilpResult(Status.STOPPED, None, None, None, spent)
        info = highs.getInfo()
        bound, iterations, nodes_seen = (
            finite(info.mip_dual_bound * self._model.scale),
            spent,
            max(0, info.mip_node_count),
        )
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return MilpResult(
                Status.INFEASIBLE if status in _INFEASIBLE else Status.STOPPED,
                None,
                None,
                bound,
                iterations,
                nodes_seen,
            )
        done = status == highspy.HighsModelStatus.kOptimal
        x = np.array(highs.getSolution().col_value)
        found = Status.OPTIMAL if done else Status.FEASIBLE
        return MilpResult(found, x, float(self._cost @ x), bound, iterations, nodes_seen)

    def _run(self, watch: Watch) -> highspy.HighsModelStatus:
        """Runs, reports to the watch, and returns how the model ended. An exception of the watch ends the run
        and is raised here, not inside the solver.
        """
        highs, listener = self._highs, _Listener(watch, self._model.scale)
        if watch is UNWATCHED:
            return ran(highs)
        highs.cbMipInterrupt += listener.looked
        highs.cbMipImprovingSolution += listener.found
        try:
            status = ran(highs)
        finally:
            highs.cbMipInterrupt -= listener.looked
            highs.cbMipImprovingSolution -= listener.found
        if listener.raised:
            raise listener.raised[0]
        return status


def solve_with_highs(
    model: Milp, seconds: float, gap: float, nodes: int | None, start: Floats | None, watch: Watch
) -> MilpResult:
    """Solves the model from scratch. Raises whatever the watch raises."""
    return LiveMilp(model).solve(start, seconds, gap, nodes, watch)
