"""Fix-and-relax (Baena, Castro & González 2015; [1] §3): a start for BCD.

The senses are split into blocks. In step r the senses of earlier blocks are fixed, those of block r are
binary, those of later blocks are relaxed (0 ≤ y ≤ 1), and all deviations are free. The polygon inequalities
make the relaxation useful. A step may find no table, because senses fixed earlier do not fit together: so the
model may fall short of levels at a high price (`shortfall.py`), and

repair      opens the senses of cells that fall short and of the cells around them, twice as many
            after each attempt without a gain,
            until no cell falls short, or all senses are open and a remaining shortfall is proven.

The first step starts from all senses up: without upper bounds always a table, though not a close one. It is
offered at once, so there is a table whatever the clock does. Other starts stop there (all-up) or take random
senses; both are repaired where needed.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from sdc_tasks.methods.cta.blockwise.blocks import Partitioner
from sdc_tasks.methods.cta.inequalities import Inequalities, no_inequalities, violated_inequalities
from sdc_tasks.methods.cta.local.shortfall import ShortfallMilp, Standing, at_rest, standing, unprotectable
from sdc_tasks.methods.cta.milp import Polish, only_l1
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.model.table import Bools, Ints
from sdc_tasks.model.tolerances import NOTICEABLE

Start = Literal["fix-and-relax", "all-up", "random"]
STEP_NODES, STEP_GAP = 20, 0.05  # limits of a step's MILP; a block gets its share of the gap
REPAIR_PRICE = 1e3  # price of shortfalls in repairs, if the price of the steps was too low
REPAIR_NODES = 200
WHOLE_NODES = 1000  # of the last repair, in which all senses are open, where work is counted
REPAIR_SENSES = 16  # senses that a repair opens at least


def fix_and_relax(
    problem: CtaProblem,
    run: Run,
    start: Start = "fix-and-relax",
    blocks: int = 8,
    seed: int = 1,
    polygon: bool = True,
) -> None:
    """Offers a protected table, or the least short one when time is up. Raises Unprotectable
    where no protected table exists.
    """
    only_l1(problem)
    find_start(
        problem,
        run,
        start,
        blocks,
        seed,
        violated_inequalities(problem, run) if polygon else no_inequalities(problem),
    )


def find_start(
    problem: CtaProblem,
    run: Run,
    start: Start,
    blocks: int,
    seed: int,
    valid: Inequalities,
    seconds: float = math.inf,
) -> None:
    """As `fix_and_relax`, with given inequalities, and `seconds` for the steps. Senses that the steps do not
    reach in time keep the side of the relaxation.
    """
    search = _Search(problem, run, seed, valid)
    up = (
        np.random.default_rng(seed).random(len(problem.sensitive)) < 0.5
        if start == "random"
        else problem.can_rise
    )
    at = search.settled(up, "random" if start == "random" else "all-up")
    if start == "fix-and-relax":
        at = search.settled(search.by_blocks(at, blocks, seconds).up, start)
    if len(at.short) and not run.out_of_time:
        search.settled(search.repaired(at).up, f"{start}, repaired")


class _Search:
    """The state of the steps: the models in memory, and the partition into blocks."""

    def __init__(self, problem: CtaProblem, run: Run, seed: int, valid: Inequalities) -> None:
        self._problem, self._run = problem, run
        self._model, self._partitioner, self._polish = (
            ShortfallMilp(problem, valid, run),
            Partitioner(problem, seed),
            Polish(problem, run),
        )
        self._none = np.zeros(len(problem.sensitive), dtype=bool)

    def settled(self, up: Bools, name: str) -> Standing:
        """The closest table with these senses. It is offered to the run, also if cells fall short."""
        z = self._polish.table(up)
        if z is None:
            return at_rest(self._problem, up)
        self._run.offer(z, name)
        return standing(self._problem, up, z)

    def by_blocks(self, at: Standing, blocks: int, seconds: float) -> Standing:
        later, until = ~self._none, self._run.elapsed + seconds
        for block in self._partitioner.split("neighbourhood", blocks):
            left = until - self._run.elapsed
            if self._run.out_of_time or left <= 0:
                break
            later[block] = False
            near, gap = self._partitioner.reach(block), STEP_GAP * len(block) / len(later)
            at = self._model.solve(at, self._only(block), later, near, gap, STEP_NODES, left)
        return at

    def repaired(self, at: Standing) -> Standing:
        """Repairs shortfalls. Raises Unprotectable where all senses are open and a remaining shortfall is
        proven.
        """
        s, size = len(self._none), REPAIR_SENSES
        self._model.price(REPAIR_PRICE)
        while len(at.short) and not self._run.out_of_time:
            size = min(s, max(size, 2 * len(at.short)))
            block = self._partitioner.around(at.short, size)
            if size == s:
                self._model.price_shortfalls_alone()
            nodes = REPAIR_NODES if size < s else WHOLE_NODES if self._run.clock.counted else None
            found = self._model.solve(
                at, self._only(block), self._none, self._partitioner.reach(block), STEP_GAP, nodes
            )
            if size == s and found.proven > NOTICEABLE:
                raise unprotectable(self._problem, found)
            if size == s:
                return found
            size = size if found.t.sum() < at.t.sum() - NOTICEABLE else 2 * size
            at = found
        return at

    def _only(self, block: Ints) -> Bools:
        opened = self._none.copy()
        opened[block] = True
        return opened
