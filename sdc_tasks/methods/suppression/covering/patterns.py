"""Patterns of one run, in the order of their quality: everything hidden, then grown and pruned ones; each is offered to the run.

`cover` does only this: a first pattern, then pruning. The exact method begins with it and asks for more patterns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.suppression.covering.cover import Cover, Directions, LinearDirections
from sdc_tasks.methods.suppression.pattern.attackers import Attackers, attackers_of
from sdc_tasks.methods.suppression.pattern.reduce import Reduced, reduce
from sdc_tasks.methods.suppression.pattern.run import SuppressionRun
from sdc_tasks.model.table import Bools, Floats, Ints

TASTE = 0.02  # relative: how much a seed varies prices


def cover(
    run: SuppressionRun, seed: int = 1, table: Reduced | None = None, directions: Callable[[Reduced, Ints], Directions] = LinearDirections
) -> str:
    """Offers patterns to the run; returns "work" or "time". `table`: the reduced problem. Raises Unprotectable if no pattern is safe."""
    table = table or reduce(run.problem)
    Patterns(run, table, attackers_of(table), seed, directions).begin()
    return "time" if run.left <= 0 else "work"


class Patterns:
    """Completes patterns of classes and offers them to the run. Prices vary a little by the seed, so that ties fall otherwise."""

    def __init__(
        self,
        run: SuppressionRun,
        table: Reduced,
        attackers: Attackers,
        seed: int,
        directions: Callable[[Reduced, Ints], Directions] = LinearDirections,
    ) -> None:
        self.run, self.table, self.attackers = run, table, attackers
        self.cover = Cover(table, directions)
        self._taste = 1 + TASTE * np.random.default_rng(seed).random(len(table.cost))

    def begin(self) -> None:
        """Offers the pattern that hides everything, then a first pattern."""
        self.hide_everything()
        self.complete(self.table.forced, self.table.cost, "first pattern")

    def hide_everything(self) -> None:
        """Offers the pattern that hides everything. Raises Unprotectable if it is not safe: then none is."""
        everything = np.ones(len(self.table.cost), dtype=bool)
        if not self.run.offer(self.table.pattern(everything, self.run.problem), "everything hidden"):
            self._refuse()

    def complete(self, start: Bools, price: Floats, step: str) -> Bools | None:
        """The classes of a pattern that holds `start` (k), grown and offered, pruned and offered; None when the run is over before."""
        hidden = self.cover.grown(start, price * self._taste, self.run.over)
        if hidden is None:
            return None
        self.run.offer(self.table.pattern(hidden, self.run.problem), step)
        hidden = self.cover.pruned(hidden, self.run.over)
        self.run.offer(self.table.pattern(hidden, self.run.problem), step + ", pruned")
        self.cover.forget()
        return hidden

    def _refuse(self) -> None:
        """Raises Unprotectable if hiding everything does not protect a primary."""
        table, problem = self.table, self.run.problem
        everything = np.ones(len(table.cost))
        failing = [item for item in range(len(table.item_need)) if self.attackers.cuts(item, everything)]
        if failing:
            cells = np.flatnonzero(np.isin(table.class_of, table.item_class[failing]) & problem.primary)
            more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
            raise Unprotectable(
                f"{problem.name(cells[0])}{more}: not protected to the level even with every cell hidden that may be. "
                "Remedy: let fixed or empty cells beside it be suppressed, or lower its level"
            )
