"""The engine: one problem, one method, one run that can be watched and stopped.

    run = Run(problem, options.seconds, options.gap, report)     # in whatever thread watches
    execute(run, options)                                        # in whatever thread works
    run.table, run.bound, run.history                            # at any time

    auto            polygon bound; alternating projections and elastic LPs for a first table; local search by regions
    milp            the whole model by CBC or HiGHS
    bcd             block coordinate descent ([1] §3)
    fix-and-relax   start point by fixing block after block (Baena et al. 2015), then bcd
    benders         reformulation of [2] §5.2 (eq. 19–20)
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sdc_tasks.methods.cta import first
from sdc_tasks.methods.cta.bcd import block_coordinate_descent
from sdc_tasks.methods.cta.benders import benders
from sdc_tasks.methods.cta.fix_and_relax import fix_and_relax
from sdc_tasks.methods.cta.inequalities import Inequalities
from sdc_tasks.methods.cta.milp import solve_whole
from sdc_tasks.methods.cta.model import Distance
from sdc_tasks.methods.cta.polygon import Relaxation
from sdc_tasks.methods.cta.presolve import Reduction, reduce
from sdc_tasks.methods.cta.quadratic import quadratic
from sdc_tasks.methods.cta.regions import dimensions
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.methods.cta.search import improve
from sdc_tasks.model.table import Floats
from sdc_tasks.solver.milp import SolverName

MOST_ROUNDS = 200
SETTLED = 0.005  # relative: when a round of the relaxation lifts the bound by no more, its sizes are good enough to start from
Method = Literal["auto", "milp", "bcd", "fix-and-relax", "benders"]


@dataclass(frozen=True)
class Options:
    """How to solve.

    `seconds` end anything; `rounds` end a search (auto: batches of regions; bcd: cycles of partitions), and `nodes` a MILP, where they
    end on any machine. `threads` never changes a result, only the time. `polygon`: valid inequalities for the MILPs.
    """

    method: Method = "auto"
    solver: SolverName = "highs"
    seconds: float = 60.0
    gap: float = 1e-4
    seed: int = 1
    rounds: int | None = None
    threads: int = 2
    polygon: bool = True
    blocks: int = 12
    nodes: int | None = None


def execute(run: Run, options: Options, start: Floats | None = None) -> None:
    """Solves run.problem until the run is over, from a table `start` (n, units) if there is one.

    Raises Unprotectable where no table can protect every cell.
    """
    reduction = reduce(run.problem)
    run.restore = reduction.restore
    problem = reduction.problem
    if start is not None:
        run.offer(start[reduction.kept], "start")
    if len(problem.sensitive) == 0:
        run.offer(np.zeros(len(problem.cells)), "nothing to protect")
    elif problem.distance is Distance.L2:
        quadratic(problem, run, options.seed, options.rounds)
    elif options.method == "milp":
        solve_whole(problem, run, options.solver, options.polygon, options.nodes)
    elif options.method == "bcd":
        block_coordinate_descent(problem, run, options.blocks, options.rounds, options.seed, options.polygon)
    elif options.method == "fix-and-relax":
        fix_and_relax(problem, run, "fix-and-relax", options.blocks, options.seed, options.polygon)
    elif options.method == "benders":
        benders(problem, run, options.seed)
    else:
        _auto(reduction, run, options)


def _auto(reduction: Reduction, run: Run, options: Options) -> None:
    """All up at once; a relaxation good enough to start from; a first table; then better tables and better bounds side by side."""
    problem, relaxation = reduction.problem, Relaxation(reduction.problem)
    first.all_up(problem, run)
    rounds, before = relaxation.tighten(MOST_ROUNDS, lambda: run.left), 0.0
    for bound in rounds:
        run.lift(bound, "polygon")
        if bound <= before * (1 + SETTLED):
            break
        before = bound
    start, valid = first.first_tables(problem, run, relaxation.t, options.seed), Inequalities(relaxation.rows, relaxation.least)
    if start is None or run.over:
        return
    dimension = dimensions(run.problem.A)[reduction.rows]
    if options.rounds is not None:  # the bound first: when the gap is reached must not depend on which thread is quicker
        for bound in rounds:
            run.lift(bound, "polygon")
    with ThreadPoolExecutor(1) as beside:
        bounding = beside.submit(lambda: [run.lift(bound, "polygon") for bound in rounds])
        improve(problem, run, [start, run.best.z] if run.best else [start], valid, dimension, options.seed, options.rounds, options.threads)
        bounding.result()
