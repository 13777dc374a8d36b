"""BCD-CTA ([1] §3; González & Castro 2011): the senses in k blocks, all deviations always free.

One block's senses are optimised with the others fixed, block after block; then the cells are partitioned anew. Blocks that cut
across the table at random stall early on EU tables, because a sense can rarely change alone: so the partitions alternate between
neighbours in the classification (all countries at once), countries, and random ones. The model stays alive in HiGHS; only the
bounds of the binaries change. The start must be feasible: elastic search provides it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from sdc_tasks.methods.cta.elastic import Incumbent
from sdc_tasks.methods.cta.model import CtaProblem, verify
from sdc_tasks.model.table import Ints
from sdc_tasks.solver.milp import LiveMilp

BLOCK_NODES = 200
BLOCK_GAP = 0.01


def block_coordinate_descent(
    problem: CtaProblem, start: Incumbent, period: int, blocks: int, cycles: int, seconds: float, seed: int
) -> tuple[Incumbent, bool]:
    """The best verified table, and whether the clock cut the descent short. `period` = cells of one country.

    Stops after three partitions in a row without improvement, after `cycles` rounds of partitions, or when time is up.
    """
    live, best, stale = LiveMilp(problem.milp), start, 0
    binaries = problem.milp.binary
    deadline = time.monotonic() + seconds
    for partition in _partitions(problem, period, blocks, cycles, seed):
        before = best.rank
        for block in partition:
            left = deadline - time.monotonic()
            if left <= 0:
                return best, True
            y = (problem.senses(best.z) > 0).astype(float)
            lower, upper = y.copy(), y.copy()
            lower[block], upper[block] = 0.0, 1.0
            live.fix(binaries, lower, upper)
            result = live.solve(problem.columns(best.z), left, BLOCK_GAP, BLOCK_NODES)
            if result.x is not None:
                z = problem.deviation(result.x)
                candidate = Incumbent(z, verify(problem, z))
                if candidate.verdict.is_table and candidate.rank < best.rank:
                    best = candidate
        stale = 0 if best.rank < before else stale + 1
        if stale == 3:
            break
    return best, False


def _partitions(problem: CtaProblem, period: int, blocks: int, cycles: int, seed: int) -> Iterator[list[Ints]]:
    """Positions of sensitive cells in k blocks: by neighbourhood in the classification, by country, at random; again."""
    rng = np.random.default_rng(seed)
    cells = problem.cells[problem.sensitive]
    s = len(cells)
    k = min(blocks, s)
    for _ in range(cycles):
        shifted = (cells % period + rng.integers(period)) % period
        for order in (np.argsort(shifted, kind="stable"), np.roll(np.arange(s), rng.integers(s)), rng.permutation(s)):
            yield np.array_split(order, k)
