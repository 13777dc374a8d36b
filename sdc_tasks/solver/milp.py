"""A mixed-integer model as arrays, solved through PuLP with CBC or HiGHS. Always a minimisation: CBC loses warm starts otherwise.

The result carries incumbent and bound with a status as a word. PuLP's `status` says "optimal" for a time-limited incumbent as
well: `sol_status` decides here, and callers verify the point by themselves.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import highspy
import numpy as np
import pulp
import scipy.sparse as sp

from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.solver.lp import Status, highs_lp, quiet_highs

SolverName = Literal["cbc", "highs"]


@dataclass(frozen=True)
class Milp:
    """min cost·x, row_lower ≤ A x ≤ row_upper, lower ≤ x ≤ upper, x_j ∈ {0, 1} for j in `binary`."""

    cost: Floats = field(repr=False)
    A: sp.csr_array = field(repr=False)
    row_lower: Floats = field(repr=False)
    row_upper: Floats = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)
    binary: Ints = field(repr=False)


@dataclass(frozen=True)
class MilpResult:
    """`x` is None without an incumbent; `bound` is a lower bound on the optimum, None where the solver gave none."""

    status: Status
    x: Floats | None = field(repr=False)
    objective: float | None
    bound: float | None


def solve_milp(
    model: Milp, solver: SolverName, seconds: float, gap: float, nodes: int | None = None, start: Floats | None = None
) -> MilpResult:
    """The model built once in PuLP and handed to the solver, which stops at the gap, the node limit or the time limit."""
    problem, variables = _pulp_model(model)
    if start is not None:
        for variable, value in zip(variables, start, strict=True):
            variable.setInitialValue(float(value), check=False)
    with tempfile.TemporaryDirectory(prefix="sdc-milp-") as folder:
        if solver == "cbc":
            log = Path(folder) / "cbc.log"
            command = pulp.PULP_CBC_CMD(
                msg=False, timeLimit=seconds, gapRel=gap, threads=None, warmStart=start is not None, maxNodes=nodes, logPath=str(log),
                options=["randomSeed 1", "randomCbcSeed 1"],
            )  # fmt: skip
            command.tmpDir = folder
            problem.solve(command)
            bound = _cbc_bound(log.read_text() if log.exists() else "")
        else:
            highspy.Highs.resetGlobalScheduler(True)
            limit = {} if nodes is None else {"mip_max_nodes": nodes}
            problem.solve(_WarmHighs(start, msg=False, timeLimit=seconds, gapRel=gap, threads=1, **limit))
            bound = float(problem.solverModel.getInfo().mip_dual_bound)
    status = {1: Status.OPTIMAL, 2: Status.FEASIBLE, -1: Status.INFEASIBLE, -2: Status.UNBOUNDED}.get(problem.sol_status, Status.STOPPED)
    if not status.has_point:
        return MilpResult(status, None, None, _finite(bound))
    x = np.array([variable.value() or 0.0 for variable in variables])
    return MilpResult(status, x, float(model.cost @ x), _finite(bound))


def _pulp_model(model: Milp) -> tuple[pulp.LpProblem, list[pulp.LpVariable]]:
    """The arrays as a PuLP problem, columns and rows in their order."""
    problem = pulp.LpProblem("cta", pulp.LpMinimize)
    binary = set(model.binary.tolist())
    variables = [
        pulp.LpVariable(f"x{j}", _finite(low), _finite(up), pulp.LpBinary if j in binary else pulp.LpContinuous)
        for j, (low, up) in enumerate(zip(model.lower.tolist(), model.upper.tolist(), strict=True))
    ]
    problem.setObjective(pulp.LpAffineExpression([(variables[j], c) for j, c in enumerate(model.cost.tolist()) if c]))
    for i in range(model.A.shape[0]):
        at = slice(model.A.indptr[i], model.A.indptr[i + 1])
        row = [(variables[j], c) for j, c in zip(model.A.indices[at].tolist(), model.A.data[at].tolist(), strict=True) if c]
        for sense, rhs in _sides(float(model.row_lower[i]), float(model.row_upper[i])):
            problem.addConstraint(pulp.LpConstraint(pulp.LpAffineExpression(row), sense, rhs=rhs))
    return problem, variables


def _sides(low: float, up: float) -> list[tuple[int, float]]:
    """A row with two bounds as PuLP constraints."""
    if low == up:
        return [(pulp.LpConstraintEQ, low)]
    both = [(pulp.LpConstraintGE, low), (pulp.LpConstraintLE, up)]
    return [(sense, rhs) for sense, rhs in both if np.isfinite(rhs)]


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and np.isfinite(value) else None


def _cbc_bound(log: str) -> float | None:
    """CBC prints its bound only in the log; after a proven optimum it prints none, the incumbent is the bound."""
    found = re.findall(r"^Lower bound:\s+(\S+)", log, re.MULTILINE)
    if found:
        return float(found[-1])
    proven = re.findall(r"^Objective value:\s+(\S+)", log, re.MULTILINE)
    return float(proven[-1]) if proven and "Optimal solution found" in log else None


class _WarmHighs(pulp.HiGHS):  # type: ignore[misc]  # PuLP is not typed
    """pulp.HiGHS ignores warm starts: this one hands the point over first."""

    def __init__(self, start: Floats | None, **options: object) -> None:
        super().__init__(**options)
        self._start = start

    def callSolver(self, lp: pulp.LpProblem) -> object:  # noqa: N802
        if self._start is not None:
            solution = highspy.HighsSolution()
            solution.col_value = list(map(float, self._start))
            lp.solverModel.setSolution(solution)
        return super().callSolver(lp)


class LiveMilp:
    """A model kept inside HiGHS, of which only column bounds change: what block coordinate descent needs."""

    def __init__(self, model: Milp) -> None:
        self._highs = quiet_highs()
        self._highs.passModel(highs_lp(model.cost, model.A, model.row_lower, model.row_upper, model.lower, model.upper))
        columns = model.binary.astype(np.int32)
        self._highs.changeColsIntegrality(len(columns), columns, np.full(len(columns), highspy.HighsVarType.kInteger))

    def fix(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        self._highs.changeColsBounds(len(columns), columns.astype(np.int32), np.asarray(lower, dtype=float), np.asarray(upper, dtype=float))

    def solve(self, start: Floats, seconds: float, gap: float, nodes: int | None = None) -> MilpResult:
        """The best point found from the start, with the bound for the current column bounds."""
        highs = self._highs
        highs.setOptionValue("mip_rel_gap", gap)
        highs.setOptionValue("time_limit", highs.getRunTime() + seconds)
        if nodes is not None:
            highs.setOptionValue("mip_max_nodes", nodes)
        solution = highspy.HighsSolution()
        solution.col_value = list(map(float, start))
        highs.setSolution(solution)
        highs.run()
        info, status = highs.getInfo(), highs.getModelStatus()
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return MilpResult(Status.INFEASIBLE if status == highspy.HighsModelStatus.kInfeasible else Status.STOPPED, None, None, None)
        done = status == highspy.HighsModelStatus.kOptimal
        x = np.array(highs.getSolution().col_value)
        found = Status.OPTIMAL if done else Status.FEASIBLE
        return MilpResult(found, x, float(info.objective_function_value), _finite(info.mip_dual_bound))
