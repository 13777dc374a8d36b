"""BCD-CTA ([1] §3; González & Castro 2011): the senses in k blocks, all deviations always free.

    Step 0   a protected table: that of the run, else fix-and-relax
    Step 1   divide y into k blocks; optimise one block after the other, the senses of all others fixed
    Step 2   stop after three partitions in a row that brought nothing, after so many cycles, or when the run is over; else step 1

A partition by one rule stalls early, because a sense can rarely change alone: so a cycle takes neighbourhoods, file order and chance in
turn. A partition that brings nothing makes way for fewer, larger blocks where its MILPs were solved, for more, smaller ones where they hit
their node limit. k = 1 is the whole MILP, and its bound one for the run. The model stays alive in HiGHS; only bounds of y change.
"""

from __future__ import annotations

from itertools import cycle, islice

import numpy as np

from sdc_tasks.methods.cta.blocks import Kind, Partitioner
from sdc_tasks.methods.cta.fix_and_relax import find_start
from sdc_tasks.methods.cta.inequalities import Inequalities, no_inequalities, violated_inequalities
from sdc_tasks.methods.cta.milp import Polish, only_l1
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.model.table import Ints
from sdc_tasks.solver.lp import Status
from sdc_tasks.solver.milp import LiveMilp, Watch

BLOCK_NODES, BLOCK_GAP = 200, 0.001
CLEAR = 1e-9  # relative: what counts as an improvement
STALE = 3  # partitions in a row without improvement
KINDS: tuple[Kind, ...] = ("neighbourhood", "order", "random")


def block_coordinate_descent(
    problem: CtaProblem, run: Run, blocks: int = 12, cycles: int | None = None, seed: int = 1, polygon: bool = False, finish: bool = False
) -> None:
    """Improves the run's table. `cycles`: that many rounds of the three partitions, the same on any machine; else as long as it helps.

    `finish`: ends with k = 1, the whole MILP, until the run is over.
    """
    only_l1(problem)
    valid = violated_inequalities(problem, run) if polygon else no_inequalities(problem)
    if run.protected is None:
        find_start(problem, run, "fix-and-relax", blocks, seed, valid)
    if run.protected is None:
        return  # time is up: the run keeps the least short table
    descent, partitioner, k, stale = _Descent(problem, run, valid), Partitioner(problem, seed), blocks, 0
    for kind in islice(cycle(KINDS), None if cycles is None else cycles * len(KINDS)):
        partition = partitioner.split(kind, k)
        before, limited = run.protected.rank, 0
        for done, block in enumerate(partition):
            if run.over:
                return
            seconds = run.left if cycles is not None else run.left / (len(partition) - done)
            limited += descent.optimise(block, seconds, BLOCK_NODES) is not Status.OPTIMAL
        if run.protected.rank < before:
            stale = 0
            continue
        stale += 1
        if stale == STALE or (len(partition) == 1 and not limited):
            break
        k = 2 * len(partition) if 2 * limited > len(partition) else max(1, len(partition) // 2)
    if finish:
        descent.optimise(np.arange(len(problem.sensitive)), run.left, None)


class _Descent:
    """The live model."""

    def __init__(self, problem: CtaProblem, run: Run, valid: Inequalities) -> None:
        self._problem, self._run, self._polish = problem, run, Polish(problem, run)
        self._live = LiveMilp(valid.added_to(problem.milp))

    def optimise(self, block: Ints, seconds: float, nodes: int | None) -> Status:
        """Opens the senses of one block around the run's best table, and offers what is better."""
        problem, run = self._problem, self._run
        best = run.protected
        assert best is not None
        y = (problem.senses(best.z) > 0).astype(float)
        lower, upper = y.copy(), y.copy()
        lower[block], upper[block] = 0.0, 1.0
        self._live.fix(problem.milp.binary, lower, upper)
        whole = len(block) == len(y)
        gap = run.gap_wanted if whole else BLOCK_GAP
        result = self._live.solve(problem.columns(best.z), seconds, gap, nodes, Watch(stop=lambda: run.over))
        if result.x is not None and result.objective * problem.unit < best.verdict.objective * (1 - CLEAR):
            self._polish.offer(result.x[problem.milp.binary] > 0.5, "bcd")
        if whole and result.bound is not None:
            run.lift(result.bound * problem.unit, "bcd")
        return result.status
