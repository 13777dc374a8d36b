"""HiGHS with a mixed-integer model that stays in memory between solves."""

from __future__ import annotations

import highspy
import numpy as np

from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.solver.lp import Status, highs_lp, quiet_highs
from sdc_tasks.solver.mixed import UNWATCHED, Milp, MilpResult, Watch, finite, spanned

_INFEASIBLE = {highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible}


class LiveMilp:
    """A model that stays inside HiGHS. Only bounds and costs change between solves, as
    methods that work by blocks need it.
    """

    def __init__(self, model: Milp) -> None:
        self._model, self._cost = model, np.array(model.cost)
        self._highs = quiet_highs()
        self._highs.setOptionValue("mip_abs_gap", 0.0)
        self._highs.passModel(
            highs_lp(
                model.cost / model.scale, model.A, model.row_lower, model.row_upper, model.lower, model.upper
            )
        )
        columns = model.binary.astype(np.int32)
        self._highs.changeColsIntegrality(
            len(columns), columns, np.full(len(columns), highspy.HighsVarType.kInteger)
        )

    def fix(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        self._highs.changeColsBounds(
            len(columns),
            columns.astype(np.int32),
            np.asarray(lower, dtype=float),
            np.asarray(upper, dtype=float),
        )

    def set_row_bounds(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        self._highs.changeRowsBounds(
            len(rows), rows.astype(np.int32), np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
        )

    def set_cost(self, columns: Ints, cost: Floats) -> None:
        self._cost[columns] = cost
        self._highs.changeColsCost(
            len(columns), columns.astype(np.int32), np.asarray(cost, dtype=float) / self._model.scale
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
        highs.setOptionValue("mip_rel_gap", gap)
        highs.setOptionValue("time_limit", seconds)  # HiGHS counts from 0 for every MILP
        highs.setOptionValue("mip_max_nodes", highspy.kHighsIInf if nodes is None else nodes)
        if start is not None:
            solution = highspy.HighsSolution()
            solution.col_value = start.tolist()
            highs.setSolution(solution)
        self._run(watch)
        spent = max(0, highs.getInfo().simplex_iteration_count)
        if (
            highs.getModelStatus() in _INFEASIBLE
        ):  # HiGHS' presolve has called feasible models infeasible: solved again without it
            highs.setOptionValue("presolve", "off")
            self._run(watch)
            highs.setOptionValue("presolve", "choose")
            spent += max(0, highs.getInfo().simplex_iteration_count)
        info, status = highs.getInfo(), highs.getModelStatus()
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

    def _run(self, watch: Watch) -> None:
        """Runs and reports to the watch. An exception of the watch ends the run and is
        raised here, not inside the solver.
        """
        highs, told = self._highs, -np.inf
        raised: list[BaseException] = []

        def asked(event: highspy.highs.HighsCallbackEvent) -> None:
            nonlocal told
            try:
                if (bound := event.data_out.mip_dual_bound * self._model.scale) > told and np.isfinite(bound):
                    told = bound
                    watch.bound(bound)
                if raised or watch.stop():
                    event.interrupt()
            except BaseException as error:
                raised.append(error)
                event.interrupt()

        def found(event: highspy.highs.HighsCallbackEvent) -> None:
            try:
                watch.point(np.array(event.data_out.mip_solution))
            except BaseException as error:
                raised.append(error)

        if watch is UNWATCHED:
            highs.run()
            return
        highs.cbMipInterrupt += asked
        highs.cbMipImprovingSolution += found
        try:
            highs.run()
        finally:
            highs.cbMipInterrupt -= asked
            highs.cbMipImprovingSolution -= found
        if raised:
            raise raised[0]


def solve_with_highs(
    model: Milp, seconds: float, gap: float, nodes: int | None, start: Floats | None, watch: Watch
) -> MilpResult:
    """Solves the model from scratch. Raises whatever the watch raises."""
    return LiveMilp(model).solve(start, seconds, gap, nodes, watch)
