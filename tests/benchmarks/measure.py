"""One measurement in a process of its own, so that its memory is its own: `python -m
benchmarks.measure INSTANCE WEIGHTS METHOD …`.

    auto bcd     our engine
    cbc highs    the classical model ([1] eq. 2a–2e) as it is, given to the solver: no
                 presolve of ours, no polygon rows

The clock starts with the table in memory and stops with the last answer: building the model, and PuLP's file
for CBC, are in it. Every table is looked at by `verify`, and the objective is recomputed from it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np

from benchmarks.registry import REGISTRY, Table
from sdc_tasks.errors import SdcError
from sdc_tasks.judge.adjusted import verify
from sdc_tasks.methods.cta.engine import EngineOptions, Method, execute
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.methods.cta.senses import FIRM, SenseLP, refined
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.weights import Weights
from sdc_tasks.one_thread import one_thread
from sdc_tasks.solver import cbc
from sdc_tasks.solver.milp import SolverName, Watch, solve_milp

OURS: dict[str, Method] = {"auto": "auto", "bcd": "bcd"}
PEERS: dict[str, SolverName] = {"cbc": "cbc", "highs": "highs"}
METHODS = (*OURS, *PEERS)
GAP = 1e-4
GRACE = 60.0  # seconds past the limit in which a peer may still hand over its table
SOURCES = Path(cbc.__file__).parents[1]

Step = tuple[float, float | None, float]  # seconds, best protected table, bound


@dataclass(frozen=True)
class Pair:
    """What is measured: one method on one table with one kind of weights."""

    instance: str
    weights: str
    method: str

    @property
    def name(self) -> str:
        return f"{self.instance}-{self.weights}-{self.method}"


@dataclass(frozen=True)
class Setting:
    """Under which conditions; a record made under others is not kept."""

    digest: str
    limit: float
    threads: int
    code: str


@dataclass(frozen=True)
class Record:
    """What came out. None: not reached, or not known. `objective` is that of the table with the verdict
    beside it.
    """

    pair: Pair
    setting: Setting
    cells: int
    objective: float | None
    bound: float | None
    unprotected: int | None
    violation: float | None
    history: tuple[Step, ...]
    seconds: float
    cpu: float
    peak_mib: float
    load: float
    made: str
    note: str = ""

    @property
    def protected(self) -> bool:
        return self.objective is not None and any(best is not None for _, best, _ in self.history)

    @property
    def first(self) -> float | None:
        """Seconds to the first table that protects every cell."""
        return next((seconds for seconds, best, _ in self.history if best is not None), None)

    def best_at(self, seconds: float) -> float | None:
        """The best protected table after so many seconds."""
        known = [best for at, best, _ in self.history if at <= seconds and best is not None]
        return known[-1] if known else None

    def reached(self, objective: float) -> float | None:
        """Seconds until there was a protected table at least so good."""
        return next(
            (seconds for seconds, best, _ in self.history if best is not None and best <= objective), None
        )

    def to_json(self) -> dict[str, object]:
        return asdict(self)

    @staticmethod
    def from_json(found: dict[str, object]) -> Record:
        rest = {name: value for name, value in found.items() if name not in {"pair", "setting", "history"}}
        history = tuple((at, best, bound) for at, best, bound in found["history"])  # type: ignore[attr-defined]
        return Record(Pair(**found["pair"]), Setting(**found["setting"]), history=history, **rest)  # type: ignore[arg-type]


def code_of(method: str) -> str:
    """What a method's figures depend on beside the table: our sources, or the version of the peer."""
    if method in PEERS:
        return f"highspy {version('highspy')}" if method == "highs" else f"pulp {version('pulp')}"
    files = sorted(
        file for folder in ("methods/cta", "solver", "model") for file in (SOURCES / folder).rglob("*.py")
    )
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def measure(pair: Pair, table: Table, limit: float, threads: int) -> tuple[Record, Floats | None]:
    """The record, and the deviations of the best table in data units."""
    load = os.getloadavg()[0]
    problem = table.problem(Weights(pair.weights))
    found = (
        _ours(problem, pair.method, limit, threads)
        if pair.method in OURS
        else _peer(problem, pair.method, limit)
    )
    verdict = None if found.z is None else verify(problem, found.z)
    record = Record(
        pair=pair,
        setting=Setting(table.digest, limit, threads if pair.method in OURS else 1, code_of(pair.method)),
        cells=len(table.a),
        objective=None if verdict is None else verdict.objective,
        bound=found.bound,
        unprotected=None if verdict is None else verdict.unprotected,
        violation=None if verdict is None else verdict.violation,
        history=found.history,
        seconds=found.used.seconds,
        cpu=found.used.cpu,
        peak_mib=found.used.peak_mib,
        load=load,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        note=found.note,
    )
    return record, None if found.z is None else found.z * problem.unit


@dataclass(frozen=True)
class _Used:
    """Wall and CPU seconds, and the peak of this process or of a solver process that it has ended."""

    seconds: float
    cpu: float
    peak_mib: float

    @staticmethod
    def so_far() -> _Used:
        both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        cpu = sum(one.ru_utime + one.ru_stime for one in both)
        return _Used(time.perf_counter(), cpu, max(one.ru_maxrss for one in both) / 1024)

    def since(self, began: _Used) -> _Used:
        return _Used(self.seconds - began.seconds, self.cpu - began.cpu, self.peak_mib)


@dataclass(frozen=True)
class _Outcome:
    """z in units, bound and history in weight · data units."""

    z: Floats | None
    bound: float | None
    history: tuple[Step, ...]
    used: _Used
    note: str = ""


def _ours(problem: CtaProblem, method: str, limit: float, threads: int) -> _Outcome:
    began, note = _Used.so_far(), ""
    options = EngineOptions(method=OURS[method], seconds=limit, gap=GAP, threads=threads)
    run = Run(problem, limit, GAP)
    try:
        execute(run, options)
    except SdcError as error:
        note = type(error).__name__
    return _outcome(run, run.table, _Used.so_far().since(began), note)


def _peer(problem: CtaProblem, method: str, limit: float) -> _Outcome:
    """HiGHS tells tables and bounds while it runs, CBC its bounds only: its table comes at the end."""
    cbc.GRACE_SECONDS = GRACE
    began, run = _Used.so_far(), Run(problem)
    watch = Watch(
        stop=lambda: False,
        point=lambda x: run.offer(problem.deviation(x), method),
        bound=lambda bound: run.raise_bound(bound * problem.unit, method),
    )
    result = solve_milp(problem.milp, PEERS[method], limit, GAP, watch=watch)
    used, note = _Used.so_far().since(began), result.status.value
    if result.bound is not None:
        run.raise_bound(result.bound * problem.unit, method)
    if result.x is None:
        return _outcome(run, run.table, used, note)
    z = problem.deviation(result.x)
    run.offer(z, method)
    if not _is_protected(problem, z) and (cleaned := closest(problem, problem.senses(z))) is not None:
        run.offer(
            cleaned, "cleaned"
        )  # a solver's point is a table within its own tolerances only: in its favour, the closest such table
        note = f"{note}, cleaned"
    return _outcome(run, z if run.protected is None else run.table, used, note)


def closest(problem: CtaProblem, senses: Ints) -> Floats | None:
    """The closest table with these senses (s, ±1), clean of tolerances."""
    model = SenseLP(problem, FIRM)
    model.set(np.arange(len(senses)), model.possible(senses > 0))
    found = model.solve()
    return None if found is None else refined(problem, found.z)


def _outcome(run: Run, z: Floats | None, used: _Used, note: str) -> _Outcome:
    history = tuple((moment.seconds, moment.objective, moment.bound) for moment in run.history)
    return _Outcome(z, run.bound if run.bound > 0 else None, history, used, note)


def _is_protected(problem: CtaProblem, z: Floats) -> bool:
    verdict = verify(problem, z)
    return verdict.is_feasible and verdict.unprotected == 0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("instance", "weights", "method"):
        parser.add_argument(name)
    parser.add_argument("--limit", type=float, required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True, help="OUT.json and OUT.npz are written")
    given = parser.parse_args()
    one_thread()  # as every command
    table = Table.load(REGISTRY[given.instance].path)
    record, z = measure(Pair(given.instance, given.weights, given.method), table, given.limit, given.threads)
    if z is not None:
        np.savez_compressed(given.out.with_suffix(".npz"), z=z)
    given.out.with_suffix(".json").write_text(json.dumps(record.to_json()), encoding="utf-8")


if __name__ == "__main__":
    main()
