"""The engine: one problem, one method, one run that can be watched and stopped.

run = Run(problem, options.seconds, options.gap, report)     # in the thread that watches
execute(run, options)                                        # in the thread that works
run.table, run.bound, run.history                            # at any time

auto            polygon bound; a first table by alternating projections and elastic LPs, or level by
                level if the table is large and has a few heavy cells; local search by regions. A plain
                two-dimensional table goes to benders, unless rounds are asked for
milp            the whole model by CBC or HiGHS
bcd             block coordinate descent ([1] §3)
fix-and-relax   start point by fixing block after block (Baena et al. 2015), then bcd
benders         reformulation of [2] §5.2 (eq. 19–20)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.cta.blockwise.bcd import block_coordinate_descent
from sdc_tasks.methods.cta.blockwise.fix_and_relax import fix_and_relax
from sdc_tasks.methods.cta.cuts.benders import benders
from sdc_tasks.methods.cta.l2.quadratic import quadratic
from sdc_tasks.methods.cta.local import first, levels
from sdc_tasks.methods.cta.local.regions import dimensions
from sdc_tasks.methods.cta.local.search import SearchLimits, improve
from sdc_tasks.methods.cta.local.settling import heavy_first
from sdc_tasks.methods.cta.milp import solve_whole
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.names import METHODS, Method
from sdc_tasks.methods.cta.polygon import Relaxation
from sdc_tasks.methods.cta.presolve import Presolved, presolve
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.methods.cta.senses import refined
from sdc_tasks.model.table import Floats
from sdc_tasks.model.tolerances import GAP
from sdc_tasks.model.weights import Distance
from sdc_tasks.solver.names import SolverName, require_solver

MOST_ROUNDS = 200
# cells, after presolve, from which on a table with a few heavy cells is decided level by level first
TALL = 16_000
# cells from which on it is decided in no other way: each linear program of the whole table takes many seconds
SLOW = 30_000
# relative: after a round of the relaxation with a smaller gain, its sizes are good enough for a start
SETTLED = 0.005
# sensitive cells, after presolve, up to which the whole MILP runs in a thread beside the local search
WORTH_A_THREAD = 1500
WHOLE_MILP_SENSES = 100  # sensitive cells up to which the whole MILP ends a search by rounds
WHOLE_MILP_NODES = 1000  # node limit of that MILP
# sensitive cells of a two-dimensional table up to which local search is as fast as Benders and closer
QUICK_SENSES = 200


@dataclass(frozen=True)
class EngineOptions:
    """The options of the engine.

    `seconds`: a time limit for any method. `rounds` end a search (auto: batches of regions; bcd: cycles of
    partitions; benders: sense vectors) and `nodes` end a MILP, both in the same way on any machine. `threads`
    changes the time, never the result. `polygon`: valid inequalities for the MILPs.
    """

    method: Method = "auto"
    solver: SolverName = "highs"
    seconds: float = 60.0
    gap: float = GAP
    seed: int = 1
    rounds: int | None = None
    threads: int = 2
    polygon: bool = True
    blocks: int = 12
    nodes: int | None = None

    def __post_init__(self) -> None:
        require_solver(self.solver)


def execute(run: Run, options: EngineOptions, start: Floats | None = None) -> None:
    """Solves run.problem until the run is over, from the table `start` (n,) in units if there is one.

    Raises Unprotectable if no table can protect every cell, ValueError if work must be
    counted and the options give no limit.
    """
    if run.clock.counted and (end := METHODS[options.method].ended_by) and getattr(options, end) is None:
        raise ValueError(f"{options.method} has no end: set {end}, because no clock may end it")
    presolved = presolve(run.problem)
    run.restore = presolved.reduction.invert
    problem = presolved.problem
    if start is not None:
        run.offer(start[presolved.reduction.kept], "start")
    if len(problem.sensitive) == 0:
        run.offer(np.zeros(len(problem.cells)), "nothing to protect")
    elif problem.distance is Distance.L2:
        quadratic(problem, run, options.seed, options.rounds)
    else:
        _by_method(presolved, run, options)


def _by_method(presolved: Presolved, run: Run, options: EngineOptions) -> None:
    """The method that the options name, of a table with L1 distances and sensitive cells."""
    problem = presolved.problem
    if options.method == "milp":
        first.all_up(problem, run)  # a start, and a limit on how far cells move
        solve_whole(problem, run, options.solver, options.polygon, options.nodes)
    elif options.method == "bcd":
        block_coordinate_descent(problem, run, options.blocks, options.rounds, options.seed, options.polygon)
    elif options.method == "fix-and-relax":
        fix_and_relax(problem, run, "fix-and-relax", options.blocks, options.seed, options.polygon)
    elif options.method == "benders" or (
        options.method == "auto" and options.rounds is None and _flat(problem)
    ):
        benders(problem, run, options.seed, options.rounds)
    else:
        _auto(presolved, run, options)


def _flat(problem: CtaProblem) -> bool:
    """Whether the table has at most two dimensions (no cell in more than two relations). Benders'
    first table is nearly optimal there.
    """
    return bool((np.diff(problem.by_cell.indptr) <= 2).all()) and len(problem.sensitive) > QUICK_SENSES


def _auto(presolved: Presolved, run: Run, options: EngineOptions) -> None:
    """First tables; then better tables and better bounds in parallel."""
    problem, relaxation = presolved.problem, Relaxation(presolved.problem)
    rounds = relaxation.tighten(MOST_ROUNDS, lambda: run.left)
    if len(problem.cells) >= TALL and heavy_first(problem):
        _together(
            options,
            partial(_prove, problem, run, rounds),
            partial(_from_levels, presolved, run, options, relaxation),
        )
        return
    _settle(problem, run, rounds)
    if run.over():
        return
    start = first.first_tables(problem, run, relaxation.t, options.seed, options.threads)
    if start is None or run.over():
        return
    whole = options.rounds is None and len(problem.sensitive) <= WORTH_A_THREAD and options.threads > 1
    search = partial(_improve, presolved, run, options, relaxation, [start], options.threads - whole)
    _together(options, partial(_prove, problem, run, rounds, options if whole else None), search)
    if options.rounds is not None and len(problem.sensitive) <= WHOLE_MILP_SENSES and not run.over():
        solve_whole(problem, run, options.solver, nodes=WHOLE_MILP_NODES)


def _together(options: EngineOptions, prove: Callable[[], None], search: Callable[[], object]) -> None:
    """Both in parallel; with `rounds` one after the other, because the end must not
    depend on which thread is faster.
    """
    if options.rounds is not None:
        prove()
        search()
        return
    with ThreadPoolExecutor(1) as beside:
        proving = beside.submit(prove)
        search()
        proving.result()


def _settle(problem: CtaProblem, run: Run, rounds: Iterator[float]) -> None:
    """Rounds of the relaxation until its sizes are good enough for a start, and the table with
    all senses up.
    """
    before = 0.0
    with ThreadPoolExecutor(1) as beside:
        up = beside.submit(first.all_up, problem, run)
        for number, bound in enumerate(rounds, start=1):
            run.raise_bound(bound, "polygon")
            run.at(number, MOST_ROUNDS, "rounds of the relaxation at most")
            if bound <= before * (1 + SETTLED):
                break
            before = bound
        up.result()


def _from_levels(presolved: Presolved, run: Run, options: EngineOptions, relaxation: Relaxation) -> None:
    """For large tables with a few heavy cells, where one linear program of the whole
    table takes seconds or minutes.
    """
    problem, starts = presolved.problem, list[Floats]()
    first.all_up(problem, run, closest=False)
    if run.over():
        return
    found = levels.descend(presolved, run, options.seed, options.threads)
    if found is not None:
        clean = refined(problem, found)
        run.offer(clean, "levels")
        starts.append(_improve(presolved, run, options, relaxation, [clean], options.threads, repair=True))
    if (found is None or len(problem.cells) < SLOW) and not run.over():
        table = first.first_tables(problem, run, relaxation.t, options.seed, options.threads)
        starts += [] if table is None else [table]
    if starts and not run.over():
        _improve(presolved, run, options, relaxation, starts, options.threads)


def _improve(
    presolved: Presolved,
    run: Run,
    options: EngineOptions,
    relaxation: Relaxation,
    starts: list[Floats],
    threads: int,
    repair: bool = False,
) -> Floats:
    dimension = dimensions(run.problem.A)[presolved.rows]
    known = starts if run.incumbent is None or repair else [*starts, run.incumbent.z]
    limits = SearchLimits(options.seed, options.rounds, threads, repair)
    return improve(presolved.problem, run, known, relaxation, dimension, limits)


def _prove(
    problem: CtaProblem, run: Run, rounds: Iterator[float], whole: EngineOptions | None = None
) -> None:
    """Finds better bounds: the rest of the relaxation; then, if `whole` is given, the whole
    MILP with the relaxation's rows.
    """
    for bound in rounds:
        run.raise_bound(bound, "polygon")
    if whole is not None and not run.over():
        try:
            solve_whole(problem, run, whole.solver)
        except Unprotectable:  # this proof ends the search too
            run.stop()
            raise
