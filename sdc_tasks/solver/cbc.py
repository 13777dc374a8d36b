"""CBC through PuLP, over files that exist in memory only.

PuLP writes the model for CBC into a file, and reads the solution from another file; both hold confidential
values. In a folder they would outlive a process that is killed. Here they are memory of this process
(memfd_create, Linux). CBC, a process of the same user, opens it by the path of our descriptor. However
this process ends, nothing is left.

CBC starts without our environment, which holds the keys of the warehouse and the passwords of its accounts.

PuLP calls an incumbent at the time limit optimal, and PuLP 3 and 4 in different words, so the status is what
CBC writes above its solution. Bound and nodes are read from CBC's log.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pulp

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.table import Floats
from sdc_tasks.model.tolerances import OPTIMALITY
from sdc_tasks.solver.lp import Status
from sdc_tasks.solver.mixed import Milp, MilpResult, Watch, finite

GRACE_SECONDS = 3.0  # seconds past its own limit, or past a request to stop, after which CBC is killed
CBC_LOOK = 0.1  # seconds between two looks at a running CBC


@dataclass(frozen=True)
class Papers:
    """The files that PuLP and CBC exchange: the model (MPS), the solution, the starting point,
    and CBC's log.
    """

    model: Path
    solution: Path
    start: Path
    log: Path


@contextmanager
def papers() -> Iterator[Papers]:
    """Empty files, which end with the context or with the process."""
    numbers = [os.memfd_create(f"sdc-{field.name}") for field in fields(Papers)]
    try:
        yield Papers(*(Path(f"/proc/{os.getpid()}/fd/{number}") for number in numbers))
    finally:
        for number in numbers:
            os.close(number)


ALONE = {"LC_ALL": "C"}  # all of CBC's environment


def cbc_program() -> str:
    """The path of CBC: inside PuLP 3; with PuLP 4 that of the package cbcbox, or the system's.

    Raises InvalidInput where there is none.
    """
    inside = hasattr(pulp, "PULP_CBC_CMD")
    path: str = pulp.PULP_CBC_CMD.pulp_cbc_path if inside else pulp.COIN_CMD().path
    if not pulp.COIN_CMD(path=path).available():
        raise InvalidInput(
            f"PuLP {pulp.__version__} brings no CBC. Remedy: pip install 'pulp>=3.3,<4', or 'cbcbox<2.931', "
            "or take the solver highs"
        )
    return path


def _alone(method: FunctionType) -> tuple[Any, ...]:
    """PuLP's own method, in which subprocess.Popen does not pass our environment on."""
    known = {**method.__globals__, "subprocess": SimpleNamespace(Popen=partial(subprocess.Popen, env=ALONE))}
    return method.__code__, known, method.__name__, method.__defaults__, method.__closure__


class Cbc(pulp.COIN_CMD):  # type: ignore[misc]
    """PuLP's CBC on the given files, which it does not delete."""

    papers: Papers
    solve_CBC = FunctionType(*_alone(pulp.COIN_CMD.solve_CBC))  # noqa: N815 (PuLP's name)

    def create_tmp_files(self, name: str, *endings: str) -> Iterator[str]:
        by_ending = {"mps": self.papers.model, "sol": self.papers.solution, "mst": self.papers.start}
        return (str(by_ending.get(ending, os.devnull)) for ending in endings)

    def delete_tmp_files(self, *files: str) -> None:
        pass

    def readsol_MPS(self, filename: str, *rest: Any, **named: Any) -> Any:  # noqa: N802 (PuLP's name)
        """Raises PulpSolverError where CBC wrote no solution: the empty file is there from the start."""
        if not os.stat(filename).st_size:
            raise pulp.PulpSolverError("CBC left no solution")
        return super().readsol_MPS(filename, *rest, **named)


def solve_with_cbc(
    model: Milp, seconds: float, gap: float, nodes: int | None, start: Floats | None, watch: Watch
) -> MilpResult:
    """Solves the model from scratch, in a process of its own. Raises whatever the watch raises."""
    program, (problem, variables) = cbc_program(), _pulp_model(model)
    if start is not None:
        for variable, value in zip(variables, start.tolist(), strict=True):
            variable.setInitialValue(value, check=False)
    with papers() as mine:
        log = mine.log
        command = Cbc(
            msg=False,
            timeLimit=seconds if np.isfinite(seconds) else None,
            gapRel=gap,
            warmStart=start is not None,
            maxNodes=nodes,
            path=program,
            logPath=str(log),
            options=["randomSeed 1", "randomCbcSeed 1"],
        )
        command.papers = mine
        guard = _Guard(mine, seconds, model.scale, watch)
        guard.start()
        try:
            problem.solve(command)
        except pulp.PulpSolverError:
            guard.end()
            return MilpResult(
                Status.STOPPED if guard.killed else Status.DIED, None, None, bound_of(log, model.scale)
            )
        finally:
            guard.end()
        bound, enumerated = bound_of(log, model.scale), _nodes_of(log)
        status = status_of(mine.solution)
    if not status.has_point:
        return MilpResult(
            Status.STOPPED if guard.interrupted else status, None, None, bound, nodes=enumerated
        )
    x = np.array([variable.value() or 0.0 for variable in variables])
    return MilpResult(status, x, float(model.cost @ x), bound, nodes=enumerated)


STATUS = {
    "Optimal": Status.OPTIMAL,  # also "Optimal (within gap tolerance)"
    "Infeasible": Status.INFEASIBLE,
    "Integer": Status.INFEASIBLE,  # "Integer infeasible"
    "Unbounded": Status.UNBOUNDED,
}


def status_of(solution: Path) -> Status:
    """By the line above the solution, such as "Stopped on time - objective value 12"; where there is no
    incumbent, "(no integer solution" stands in it.
    """
    words = solution.read_text().partition("\n")[0].split()
    if words[:1] == ["Stopped"] and words[4:5] == ["objective"]:
        return Status.FEASIBLE
    return STATUS.get(words[0], Status.STOPPED) if words else Status.STOPPED


class _Guard(threading.Thread):
    """Follows one CBC: reads bounds from its log, interrupts it on request, and kills it
    when it does not end by itself.

    CBC looks at its clock and at interrupts only between phases. Its process is recognised by the path of the
    model. If this process dies, nobody kills CBC: so its processor time is limited to its time limit, or to
    the time for which it is useful.
    """

    def __init__(self, its: Papers, seconds: float, scale: float, watch: Watch) -> None:
        super().__init__(daemon=True)
        self.interrupted = self.killed = False
        self._raised: BaseException | None = None
        self._its, self._log, self._scale, self._watch = its, its.log, scale, watch
        self._seconds = min(seconds, watch.useful)
        self._limited = not np.isfinite(self._seconds)
        self._deadline = time.monotonic() + seconds + GRACE_SECONDS
        self._ended = threading.Event()

    def end(self) -> None:
        """Ends the thread. Raises what the watch raised."""
        self._ended.set()
        self.join()
        if self._raised is not None:
            raise self._raised

    def run(self) -> None:
        try:
            self._follow()
        except BaseException as error:
            self._raised = error
            while not self._ended.wait(CBC_LOOK):
                self._kill()

    def _follow(self) -> None:
        told = -np.inf
        while not self._ended.wait(CBC_LOOK):
            if not self._limited:
                self._limited = self._limit()
            if (bound := bound_of(self._log, self._scale)) is not None and bound > told:
                told = bound
                self._watch.bound(bound)
            if not self.interrupted and self._watch.stop() and self._signal(signal.SIGINT):
                self.interrupted = True
                self._deadline = min(self._deadline, time.monotonic() + GRACE_SECONDS)
            if time.monotonic() > self._deadline:
                self._kill()

    def _kill(self) -> None:
        self.killed = self._signal(signal.SIGKILL) or self.killed

    def _signal(self, number: signal.Signals) -> bool:
        """Sends a signal. Whether there was a process to receive it."""
        return self._each(lambda child: child.send_signal(number))

    def _limit(self) -> bool:
        """Limits the processor time. Whether there was a process to limit."""
        most = int(self._seconds + GRACE_SECONDS) + 1
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
        problem.add_variable(
            # Not LpBinary: PuLP gives such a variable the bounds 0 and 1, whatever it is told.
            f"x{j}",
            finite(low),
            finite(up),
            pulp.LpInteger if j in binary else pulp.LpContinuous,
        )
        for j, (low, up) in enumerate(zip(model.lower.tolist(), model.upper.tolist(), strict=True))
    ]
    costs = [(variables[j], c) for j, c in enumerate((model.cost / model.scale).tolist()) if c]
    problem.setObjective(_sum(costs))
    for i in range(model.A.shape[0]):
        at = slice(model.A.indptr[i], model.A.indptr[i + 1])
        row = [
            (variables[j], c)
            for j, c in zip(model.A.indices[at].tolist(), model.A.data[at].tolist(), strict=True)
            if c
        ]
        for constraint in _sides(row, float(model.row_lower[i]), float(model.row_upper[i])):
            problem.addConstraint(constraint)
    return problem, variables


def _sum(terms: list[tuple[pulp.LpVariable, float]]) -> pulp.LpAffineExpression:
    """Σ coefficient · variable. PuLP 4 has a function for it, PuLP 3 the constructor."""
    return getattr(pulp.LpAffineExpression, "from_list", pulp.LpAffineExpression)(terms)


def _sides(row: list[tuple[pulp.LpVariable, float]], low: float, up: float) -> list[Any]:
    """A row with two bounds as PuLP constraints."""
    if low == up:
        return [_sum(row) == low]
    least = [_sum(row) >= low] if np.isfinite(low) else []
    return least + ([_sum(row) <= up] if np.isfinite(up) else [])


def bound_of(log: Path, scale: float) -> float | None:
    """The last lower bound in a log, while CBC runs or afterwards; None before the first one.

    CBC prints the final bound with three decimals: half of the last decimal is subtracted. After a proven
    optimum, the objective is the bound. Before the end, CBC prints the bound with six digits.
    """
    text = log.read_text() if log.exists() else ""
    if found := re.findall(r"^Lower bound:\s+(\S+)", text, re.MULTILINE):
        bound = float(found[-1]) - 10.0**-3 / 2
    elif "Optimal solution found" in text and (
        found := re.findall(r"^Objective value:\s+(\S+)", text, re.MULTILINE)
    ):
        bound = float(found[-1]) * (1 - OPTIMALITY) - 10.0**-8 / 2
    elif found := re.findall(
        r"^(?:Cbc00.*best possible|Continuous objective value is) ([-+.\de]+)", text, re.MULTILINE
    ):
        bound = float(found[-1]) - 10.0**-5 * abs(float(found[-1])) - 10.0**-8 / 2
    else:
        return None
    return bound * scale if abs(bound) < 1e40 else None


def _nodes_of(log: Path) -> int | None:
    found = re.findall(r"^Enumerated nodes:\s+(\d+)", log.read_text(), re.MULTILINE) if log.exists() else []
    return int(found[-1]) if found else None
