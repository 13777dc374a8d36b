"""A mixed-integer model as arrays, solved by CBC through PuLP, or by HiGHS. Always a minimisation: CBC loses warm starts otherwise.

The result carries incumbent and bound with a status as a word. PuLP's `status` says "optimal" for a time-limited incumbent as
well: `sol_status` decides here, and callers verify the point by themselves.
"""

from __future__ import annotations

import re
import tempfile
import threading
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

import highspy
import numpy as np
import psutil
import pulp
import scipy.sparse as sp

from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.solver.lp import Status, highs_lp, quiet_highs

SolverName = Literal["cbc", "highs"]
GRACE = 3.0  # seconds past its own limit after which CBC is killed


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

    @cached_property
    def scale(self) -> float:
        """Costs are divided by this before a solver sees them: a median near 1000, so that the tolerances of its objective mean the
        same in any unit, and the three decimals of CBC's bound are enough.
        """
        positive = np.abs(self.cost[self.cost != 0])
        return float(2.0 ** (np.round(np.log2(np.median(positive))) - 10)) if len(positive) else 1.0


@dataclass(frozen=True)
class MilpResult:
    """`x` is None without an incumbent; `bound` is a lower bound on the optimum, None where the solver gave none."""

    status: Status
    x: Floats | None = field(repr=False)
    objective: float | None = field(repr=False)
    bound: float | None = field(repr=False)


def solve_milp(
    model: Milp, solver: SolverName, seconds: float, gap: float, nodes: int | None = None, start: Floats | None = None
) -> MilpResult:
    """The model from scratch, with the solver of that name; it stops at the gap, the node limit or the time limit."""
    if solver == "highs":
        return LiveMilp(model).solve(start, seconds, gap, nodes)
    return _solve_with_cbc(model, seconds, gap, nodes, start)


def _solve_with_cbc(model: Milp, seconds: float, gap: float, nodes: int | None, start: Floats | None) -> MilpResult:
    problem, variables = _pulp_model(model)
    if start is not None:
        for variable, value in zip(variables, start.tolist(), strict=True):
            variable.setInitialValue(value, check=False)
    with tempfile.TemporaryDirectory(prefix="sdc-milp-") as folder:
        log = Path(folder) / "cbc.log"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # PuLP 4 will want its CBC installed beside it
            command = pulp.PULP_CBC_CMD(
                msg=False, timeLimit=seconds, gapRel=gap, warmStart=start is not None, maxNodes=nodes, logPath=str(log),
                options=["randomSeed 1", "randomCbcSeed 1"],
            )  # fmt: skip
        command.tmpDir = folder
        watchdog = threading.Timer(seconds + GRACE, _stop_cbc)
        watchdog.daemon = True
        watchdog.start()
        try:
            problem.solve(command)
        except pulp.PulpSolverError:  # stopped by the watchdog
            return MilpResult(Status.STOPPED, None, None, None)
        finally:
            watchdog.cancel()
        bound = _cbc_bound(log.read_text() if log.exists() else "")
    bound = None if bound is None else bound * model.scale
    status = {1: Status.OPTIMAL, 2: Status.FEASIBLE, -1: Status.INFEASIBLE, -2: Status.UNBOUNDED}.get(problem.sol_status, Status.STOPPED)
    if not status.has_point:
        return MilpResult(status, None, None, bound)
    x = np.array([variable.value() or 0.0 for variable in variables])
    return MilpResult(status, x, float(model.cost @ x), bound)


def _stop_cbc() -> None:
    """CBC looks at its clock only between phases: past the grace, this process's own CBC is killed."""
    for child in psutil.Process().children(recursive=True):
        if child.name().startswith("cbc"):
            child.kill()


def _pulp_model(model: Milp) -> tuple[pulp.LpProblem, list[pulp.LpVariable]]:
    """The arrays as a PuLP problem, columns and rows in their order."""
    problem = pulp.LpProblem("cta", pulp.LpMinimize)
    binary = set(model.binary.tolist())
    variables = [
        problem.add_variable(f"x{j}", _finite(low), _finite(up), pulp.LpBinary if j in binary else pulp.LpContinuous)
        for j, (low, up) in enumerate(zip(model.lower.tolist(), model.upper.tolist(), strict=True))
    ]
    problem.setObjective(pulp.LpAffineExpression([(variables[j], c) for j, c in enumerate((model.cost / model.scale).tolist()) if c]))
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
    """CBC prints its bound only in the log, rounded: half of the last digit is taken off. After a proven optimum, the objective."""
    found = re.findall(r"^Lower bound:\s+(\S+)", log, re.MULTILINE)
    if found:
        return float(found[-1]) - 5e-4
    proven = re.findall(r"^Objective value:\s+(\S+)", log, re.MULTILINE)
    return float(proven[-1]) * (1 - 1e-6) - 5e-9 if proven and "Optimal solution found" in log else None


class LiveMilp:
    """A model kept inside HiGHS, of which only column bounds change: what block coordinate descent needs."""

    def __init__(self, model: Milp) -> None:
        self._model = model
        self._highs = quiet_highs()
        self._highs.setOptionValue("mip_abs_gap", 0.0)
        self._highs.passModel(highs_lp(model.cost / model.scale, model.A, model.row_lower, model.row_upper, model.lower, model.upper))
        columns = model.binary.astype(np.int32)
        self._highs.changeColsIntegrality(len(columns), columns, np.full(len(columns), highspy.HighsVarType.kInteger))

    def fix(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        self._highs.changeColsBounds(len(columns), columns.astype(np.int32), np.asarray(lower, dtype=float), np.asarray(upper, dtype=float))

    def solve(self, start: Floats | None, seconds: float, gap: float, nodes: int | None = None) -> MilpResult:
        """The best point found from the start, with the bound for the current column bounds."""
        highs = self._highs
        highs.setOptionValue("mip_rel_gap", gap)
        highs.setOptionValue("time_limit", highs.getRunTime() + seconds)
        if nodes is not None:
            highs.setOptionValue("mip_max_nodes", nodes)
        if start is not None:
            solution = highspy.HighsSolution()
            solution.col_value = start.tolist()
            highs.setSolution(solution)
        highs.run()
        info, status = highs.getInfo(), highs.getModelStatus()
        bound = _finite(info.mip_dual_bound * self._model.scale)
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return MilpResult(Status.INFEASIBLE if status == highspy.HighsModelStatus.kInfeasible else Status.STOPPED, None, None, bound)
        done = status == highspy.HighsModelStatus.kOptimal
        x = np.array(highs.getSolution().col_value)
        found = Status.OPTIMAL if done else Status.FEASIBLE
        return MilpResult(found, x, float(self._model.cost @ x), bound)
