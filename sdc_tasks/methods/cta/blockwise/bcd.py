"""BCD-CTA ([1] §3; González & Castro 2011): the senses in k blocks, all deviations always free.

    Step 0   a protected table: the best one of the run, else from fix-and-relax
    Step 1   divide y into k blocks; optimise one block after the other, with the senses of all others fixed
    Step 2   stop after three partitions without a gain, after the given number of cycles, or
             when the run is over; else step 1

With a single partition rule the search stalls early, because a sense can rarely change alone. So a cycle uses
neighbourhoods, file order and random blocks in turn. After a cycle with little gain, the blocks become fewer
and larger, or more and smaller where most MILPs hit their node limit. k = 1 is the whole MILP, and its bound
is a bound for the run. The model stays in memory in HiGHS; only bounds change. In tables above REACH_CELLS
cells, the MILP of a block leaves only the deviations near it free (`blocks.py`); the polish of the table then
adapts the deviations of all cells to the new senses.
"""

from __future__ import annotations

import math
from itertools import count

import numpy as np

from sdc_tasks.methods.cta.blockwise.blocks import Kind, Partitioner
from sdc_tasks.methods.cta.blockwise.fix_and_relax import find_start
from sdc_tasks.methods.cta.inequalities import SHARE, Inequalities, no_inequalities, violated_inequalities
from sdc_tasks.methods.cta.milp import Polish, only_l1, proves
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.model.table import Ints
from sdc_tasks.model.tolerances import IMPROVEMENT
from sdc_tasks.solver.lp import Status
from sdc_tasks.solver.milp import LiveMilp, Watch

BLOCK_NODES, BLOCK_GAP = 200, 0.01  # limits of a block's MILP; a block gets its share of the gap
START_SHARE = 0.3  # of the remaining time, for the steps of fix-and-relax
CYCLE_GAIN = 1e-3  # relative: after a cycle with a smaller gain, the number of blocks changes
KINDS: tuple[Kind, ...] = ("neighbourhood", "order", "random")


def block_coordinate_descent(
    problem: CtaProblem,
    run: Run,
    blocks: int = 12,
    cycles: int | None = None,
    seed: int = 1,
    polygon: bool = True,
    finish: bool = False,
) -> None:
    """Improves the table of the run. `cycles`: number of rounds of the three partitions, the same on
    any machine; None: until no gain.

    `polygon`: use the inequalities of `inequalities.py`. `finish`: end with k = 1, the
    whole MILP, until the run is over.
    """
    only_l1(problem)
    clocked = cycles is None
    valid = no_inequalities(problem)
    if polygon:
        valid = violated_inequalities(problem, run, SHARE if clocked else 1.0)
    if run.protected is None:
        find_start(problem, run, "fix-and-relax", blocks, seed, valid, _start_seconds(run, clocked))
    if run.protected is None:
        return  # time is up: the run keeps the least short table
    problem = problem.no_worse_than(run.protected.verdict.objective)
    descent = _Descent(problem, run, valid, seed)
    if descent.cycles(blocks, cycles) and finish:
        descent.optimise(np.arange(len(problem.sensitive)), None)


def _start_seconds(run: Run, clocked: bool) -> float:
    """For the steps of fix-and-relax; no limit where work is counted."""
    return run.left * START_SHARE if clocked else math.inf


def _next_number(k: int, s: int, limited: bool) -> int:
    """How many blocks follow a cycle of `k` blocks with little gain: more, and so smaller ones, if most of
    its MILPs reached a limit; fewer if they were solved. At most one for each of s sensitive cells.
    """
    return min(s, 2 * k) if limited else max(1, k // 2)


class _Descent:
    """The live model."""

    def __init__(self, problem: CtaProblem, run: Run, valid: Inequalities, seed: int) -> None:
        self._problem, self._run = problem, run
        self._partitioner, self._polish = Partitioner(problem, seed), Polish(problem, run)
        self._model = valid.added_to(problem.milp)
        self._live = LiveMilp(self._model)

    def cycles(self, blocks: int, most: int | None) -> bool:
        """Cycles, at first of so many `blocks`, until they gain nothing; at most `most`. Returns whether the
        run goes on.
        """
        run, s = self._run, len(self._problem.sensitive)
        k = min(blocks, s)
        for number in count(1) if most is None else range(1, most + 1):
            before = self._objective()
            limited = self.cycle(k)
            gain = before - self._objective()
            run.work["rounds of bcd"] = number
            run.at(number, most, "rounds")
            if run.over():
                return False
            if gain == 0 and (k == 1 or limited):
                break
            if gain <= CYCLE_GAIN * before:
                k = _next_number(k, s, limited)
        return True

    def _objective(self) -> float:
        """Of the best protected table of the run."""
        assert self._run.protected is not None
        return self._run.protected.verdict.objective

    def cycle(self, blocks: int) -> bool:
        """Optimises one partition of each kind. Returns whether most MILPs hit a limit."""
        solved = [
            self.optimise(block, BLOCK_NODES) is Status.OPTIMAL
            for kind in KINDS
            for block in self._partitioner.split(kind, blocks)
            if not self._run.over()
        ]
        return 2 * sum(solved) < len(solved)

    def optimise(self, block: Ints, nodes: int | None) -> Status:
        """Opens the senses of one block at the best table of the run, and offers a better table."""
        problem, run, model, best = self._problem, self._run, self._model, self._run.protected
        assert best is not None
        columns = problem.columns(best.z)
        free = np.concatenate(
            [np.tile(self._partitioner.reach(block), 2), np.zeros(len(problem.sensitive), dtype=bool)]
        )
        free[model.binary[block]] = True
        self._live.fix(
            np.arange(len(columns)),
            np.where(free, model.lower, columns),
            np.where(free, model.upper, columns),
        )
        miss = problem.A @ best.z  # tiny, but a relation whose cells are all fixed must not look infeasible
        self._live.set_row_bounds(np.arange(len(miss)), np.minimum(miss, 0.0), np.maximum(miss, 0.0))
        whole = len(block) == len(problem.sensitive)
        gap = run.gap_wanted if whole else BLOCK_GAP * len(block) / len(problem.sensitive)
        result = self._live.solve(columns, run.left, gap, nodes, Watch(stop=lambda: run.over()))
        found = np.inf if result.objective is None else result.objective * problem.unit
        if result.x is not None and found < best.verdict.objective * (1 - IMPROVEMENT):
            self._polish.offer(result.x[model.binary] > 0.5, "bcd")
        if whole and result.bound is not None and proves(problem, run):
            run.raise_bound(result.bound * problem.unit, "bcd")
        return result.status
