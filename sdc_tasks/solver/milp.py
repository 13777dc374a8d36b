"""A mixed-integer model as arrays, solved by CBC through PuLP, or by HiGHS. Always a minimisation: CBC loses warm starts otherwise.

The result carries incumbent and bound with a status as a word. PuLP's `status` says "optimal" for a time-limited incumbent as
well: `sol_status` decides here, and callers verify the point by themselves. A `Watch` hears of points and bounds while a solve runs,
and ends it.
"""

from __future__ import annotations

import re
import signal
import threading
import time
import warnings
from collections.abc import Callable
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
from sdc_tasks.solver.cbc import Cbc, Papers, papers
from sdc_tasks.solver.lp import Status, highs_lp, quiet_highs

SolverName = Literal["cbc", "highs"]
_INFEASIBLE = {highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible}
GRACE = 3.0  # seconds past its own limit, or past a request to stop, after which CBC is killed
LOOK = 0.1  # seconds between two looks at a running CBC


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
    iterations: int = 0  # of the simplex method, where the solver tells: effort in a measure that is the same on every machine
    nodes: int | None = None  # of the search tree, where the solver tells


def _nothing(_: object) -> None:
    pass


@dataclass(frozen=True)
class Watch:
    """Who follows a running solve: told of each better `point` and `bound`, asked whether to `stop` (a request is met within seconds).

    Points come from HiGHS only; CBC writes its points at the end. What a watch raises ends the solve. `useful`: seconds after which nobody
    waits for a process any more.
    """

    stop: Callable[[], bool]
    point: Callable[[Floats], object] = _nothing
    bound: Callable[[float], object] = _nothing
    useful: float = np.inf


UNWATCHED = Watch(stop=lambda: False)


def solve_milp(
    model: Milp,
    solver: SolverName,
    seconds: float,
    gap: float,
    nodes: int | None = None,
    start: Floats | None = None,
    watch: Watch = UNWATCHED,
) -> MilpResult:
    """The model from scratch, with the solver of that name; it stops at the gap, the node limit, the time limit, or when asked to."""
    if solver == "highs":
        return LiveMilp(model).solve(start, seconds, gap, nodes, watch)
    return _solve_with_cbc(model, seconds, gap, nodes, start, watch)


def _solve_with_cbc(model: Milp, seconds: float, gap: float, nodes: int | None, start: Floats | None, watch: Watch) -> MilpResult:
    problem, variables = _pulp_model(model)
    if start is not None:
        for variable, value in zip(variables, start.tolist(), strict=True):
            variable.setInitialValue(value, check=False)
    with papers() as mine:
        log = mine.log
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # PuLP 4 will want its CBC installed beside it
            command = Cbc(
                msg=False, timeLimit=seconds if np.isfinite(seconds) else None, gapRel=gap, warmStart=start is not None, maxNodes=nodes,
                logPath=str(log), options=["randomSeed 1", "randomCbcSeed 1"],
            )  # fmt: skip
        command.papers = mine
        guard = _Guard(mine, seconds, model.scale, watch)
        guard.start()
        try:
            problem.solve(command)
        except pulp.PulpSolverError:
            guard.end()
            return MilpResult(Status.STOPPED if guard.killed else Status.DIED, None, None, _cbc_bound(log, model.scale))
        finally:
            guard.end()
        bound, enumerated = _cbc_bound(log, model.scale), _cbc_nodes(log)
    status = _cbc_status(problem)
    if not status.has_point:
        return MilpResult(Status.STOPPED if guard.interrupted else status, None, None, bound, nodes=enumerated)
    x = np.array([variable.value() or 0.0 for variable in variables])
    return MilpResult(status, x, float(model.cost @ x), bound, nodes=enumerated)


def _cbc_status(problem: pulp.LpProblem) -> Status:
    if problem.status == pulp.LpStatusInfeasible:  # "Integer infeasible" is told by `status` alone
        return Status.INFEASIBLE
    return {1: Status.OPTIMAL, 2: Status.FEASIBLE, -2: Status.UNBOUNDED}.get(problem.sol_status, Status.STOPPED)


class _Guard(threading.Thread):
    """Follows one CBC: reads bounds from its log, interrupts it when asked to, kills it when it does not end by itself.

    CBC looks at its clock and at interrupts only between phases. Its process is the one that works on these papers. Should ours die, so
    that nobody kills it, it is left no more processor time than its limit, or than it is useful.
    """

    def __init__(self, its: Papers, seconds: float, scale: float, watch: Watch) -> None:
        super().__init__(daemon=True)
        self.interrupted = self.killed = False
        self._raised: BaseException | None = None
        self._its, self._log, self._scale, self._watch = its, its.log, scale, watch
        self._seconds = min(seconds, watch.useful)
        self._limited = not np.isfinite(self._seconds)
        self._deadline = time.monotonic() + seconds + GRACE
        self._ended = threading.Event()

    def end(self) -> None:
        """Raises what the watch raised."""
        self._ended.set()
        self.join()
        if self._raised is not None:
            raise self._raised

    def run(self) -> None:
        try:
            self._follow()
        except BaseException as error:
            self._raised = error
            while not self._ended.wait(LOOK):
                self._kill()

    def _follow(self) -> None:
        told = -np.inf
        while not self._ended.wait(LOOK):
            if not self._limited:
                self._limited = self._limit()
            if (bound := _cbc_bound(self._log, self._scale)) is not None and bound > told:
                told = bound
                self._watch.bound(bound)
            if not self.interrupted and self._watch.stop() and self._signal(signal.SIGINT):
                self.interrupted = True
                self._deadline = min(self._deadline, time.monotonic() + GRACE)
            if time.monotonic() > self._deadline:
                self._kill()

    def _kill(self) -> None:
        self.killed = self._signal(signal.SIGKILL) or self.killed

    def _signal(self, number: signal.Signals) -> bool:
        """Whether there was a process to hear it."""
        return self._each(lambda child: child.send_signal(number))

    def _limit(self) -> bool:
        """Whether there was a process whose processor time could be limited."""
        most = int(self._seconds + GRACE) + 1
        return self._each(lambda child: child.rlimit(psutil.RLIMIT_CPU, (most, most)))

    def _each(self, do: Callable[[psutil.Process], object]) -> bool:
        found = False
        for child in psutil.Process().children(recursive=True):
            try:
                if child.name().startswith("cbc") and str(self._its.model) in child.cmdline():
                    do(child)
                    found = True
            except psutil.NoSuchProcess:
                pass  # it ended by itself
        return found


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


def _cbc_bound(log: Path, scale: float) -> float | None:
    """The last lower bound that a log tells of, while CBC runs or after it; None before there is any.

    At the end it is printed with three decimals: half of the last one is taken off. After a proven optimum, the objective is the bound;
    before the end, it is told with six digits.
    """
    text = log.read_text() if log.exists() else ""
    if found := re.findall(r"^Lower bound:\s+(\S+)", text, re.MULTILINE):
        bound = float(found[-1]) - 5e-4
    elif "Optimal solution found" in text and (found := re.findall(r"^Objective value:\s+(\S+)", text, re.MULTILINE)):
        bound = float(found[-1]) * (1 - 1e-6) - 5e-9
    elif found := re.findall(r"^(?:Cbc00.*best possible|Continuous objective value is) ([-+.\de]+)", text, re.MULTILINE):
        bound = float(found[-1]) - 1e-5 * abs(float(found[-1])) - 5e-9
    else:
        return None
    return bound * scale if abs(bound) < 1e40 else None


def _cbc_nodes(log: Path) -> int | None:
    found = re.findall(r"^Enumerated nodes:\s+(\d+)", log.read_text(), re.MULTILINE) if log.exists() else []
    return int(found[-1]) if found else None


class LiveMilp:
    """A model kept inside HiGHS, of which only bounds and costs change: what methods that work by blocks need."""

    def __init__(self, model: Milp) -> None:
        self._model, self._cost = model, np.array(model.cost)
        self._highs = quiet_highs()
        self._highs.setOptionValue("mip_abs_gap", 0.0)
        self._highs.passModel(highs_lp(model.cost / model.scale, model.A, model.row_lower, model.row_upper, model.lower, model.upper))
        columns = model.binary.astype(np.int32)
        self._highs.changeColsIntegrality(len(columns), columns, np.full(len(columns), highspy.HighsVarType.kInteger))

    def fix(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        self._highs.changeColsBounds(len(columns), columns.astype(np.int32), np.asarray(lower, dtype=float), np.asarray(upper, dtype=float))

    def set_row_bounds(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        self._highs.changeRowsBounds(len(rows), rows.astype(np.int32), np.asarray(lower, dtype=float), np.asarray(upper, dtype=float))

    def set_cost(self, columns: Ints, cost: Floats) -> None:
        self._cost[columns] = cost
        self._highs.changeColsCost(len(columns), columns.astype(np.int32), np.asarray(cost, dtype=float) / self._model.scale)

    def solve(self, start: Floats | None, seconds: float, gap: float, nodes: int | None = None, watch: Watch = UNWATCHED) -> MilpResult:
        """The best point found from the start, with the bound for the current column bounds. The models are bounded below."""
        highs = self._highs
        highs.setOptionValue("mip_rel_gap", gap)
        highs.setOptionValue("time_limit", seconds)  # of this run alone: HiGHS counts anew for every MILP
        highs.setOptionValue("mip_max_nodes", highspy.kHighsIInf if nodes is None else nodes)
        if start is not None:
            solution = highspy.HighsSolution()
            solution.col_value = start.tolist()
            highs.setSolution(solution)
        self._run(watch)
        spent = max(0, highs.getInfo().simplex_iteration_count)
        if highs.getModelStatus() in _INFEASIBLE:  # its presolve has called models infeasible that have a point: asked again without
            highs.setOptionValue("presolve", "off")
            self._run(watch)
            highs.setOptionValue("presolve", "choose")
            spent += max(0, highs.getInfo().simplex_iteration_count)
        info, status = highs.getInfo(), highs.getModelStatus()
        bound, iterations, nodes_seen = _finite(info.mip_dual_bound * self._model.scale), spent, max(0, info.mip_node_count)
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return MilpResult(Status.INFEASIBLE if status in _INFEASIBLE else Status.STOPPED, None, None, bound, iterations, nodes_seen)
        done = status == highspy.HighsModelStatus.kOptimal
        x = np.array(highs.getSolution().col_value)
        found = Status.OPTIMAL if done else Status.FEASIBLE
        return MilpResult(found, x, float(self._cost @ x), bound, iterations, nodes_seen)

    def _run(self, watch: Watch) -> None:
        """Runs, and lets the watch hear; what the watch raises ends the run and is raised here, not inside the solver."""
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
