"""Fix-and-relax (Baena, Castro & González 2015; [1] §3): a start for BCD.

The senses are split in blocks. In step r those of the blocks before r are fixed, those of block r binary, those of the blocks after r
relaxed (0 ≤ y ≤ 1), all deviations free. The polygon inequalities make the relaxed part mean something. A step may find no table, as
senses that were fixed earlier do not fit together: so the model may fall short of levels at a high price (`shortfall.py`), and

repair      opens the senses of what falls short and of the cells around it, twice as many each time this brings nothing, until
            nothing falls short any more or all senses are open and a shortfall is proven to be left.

Other starts that repair can work from: all-up (always a table where there is no upper bound, though not a close one) and random senses.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from sdc_tasks.methods.cta.blocks import Partitioner
from sdc_tasks.methods.cta.inequalities import Inequalities, no_inequalities, violated_inequalities
from sdc_tasks.methods.cta.milp import Polish, only_l1
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.methods.cta.shortfall import CLEAR, ShortfallMilp, Standing, at_rest, standing, unprotectable

Start = Literal["fix-and-relax", "all-up", "random"]
STEP_NODES, STEP_GAP = 50, 0.02
REPAIR_NODES = 200
SMALLEST = 16  # senses that a repair opens at least


def fix_and_relax(
    problem: CtaProblem, run: Run, start: Start = "fix-and-relax", blocks: int = 8, seed: int = 1, polygon: bool = True
) -> None:
    """Offers a protected table, or the least short one found when time is up. Raises Unprotectable where it is proven that there is none."""
    only_l1(problem)
    find_start(problem, run, start, blocks, seed, violated_inequalities(problem, run) if polygon else no_inequalities(problem))


def find_start(problem: CtaProblem, run: Run, start: Start, blocks: int, seed: int, valid: Inequalities) -> None:
    """The same, with inequalities that are at hand."""
    model, partitioner, polish = ShortfallMilp(problem, valid, run), Partitioner(problem, seed), Polish(problem, run)
    if start == "fix-and-relax":
        polish.offer(problem.can_rise, "all-up")  # one linear program: what is there when time ends in the first step
        up = _by_blocks(problem, run, model, partitioner, blocks).up
    elif start == "all-up":
        up = problem.can_rise
    else:
        up = np.random.default_rng(seed).random(len(problem.sensitive)) < 0.5
    z = polish.table(up)
    if z is None:
        return
    run.offer(z, start)
    at = standing(problem, up, z)
    if len(at.short):
        polish.offer(_repaired(run, model, partitioner, at, problem).up, f"{start}, repaired")


def _by_blocks(problem: CtaProblem, run: Run, model: ShortfallMilp, partitioner: Partitioner, blocks: int) -> Standing:
    at = at_rest(problem, problem.can_rise)
    later = np.ones(len(problem.sensitive), dtype=bool)
    for block in partitioner.split("neighbourhood", blocks):
        if run.out_of_time:
            break
        now = np.zeros_like(later)
        now[block], later[block] = True, False
        at = model.solve(at, now, later, partitioner.reach(block), STEP_GAP, STEP_NODES, run.left)
    return at


def _repaired(run: Run, model: ShortfallMilp, partitioner: Partitioner, at: Standing, problem: CtaProblem) -> Standing:
    model.only_shortfalls()
    s, size = len(problem.sensitive), SMALLEST
    while len(at.short) and not run.out_of_time:
        size = min(s, max(size, 2 * len(at.short)))
        opened, block = np.zeros(s, dtype=bool), partitioner.around(at.short, size)
        opened[block] = True
        near, nodes = partitioner.reach(block), None if size == s else REPAIR_NODES
        found = model.solve(at, opened, np.zeros(s, dtype=bool), near, 0.0, nodes, run.left)
        if size == s and found.proven > CLEAR:
            raise unprotectable(problem, found)
        if size == s:
            return found
        size = size if found.t.sum() < at.t.sum() - CLEAR else 2 * size
        at = found
    return at
