"""One search for intervals ([2] §4.6): its solutions are intervals that the judge finds safe."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdc_tasks.methods.suppression.partial.intervals import Intervals, judge
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Floats
from sdc_tasks.model.time.moment import Moment
from sdc_tasks.model.tolerances import GAP, IMPROVEMENT
from sdc_tasks.optimise import Search
from sdc_tasks.solver.clock import Clock


class IntervalRun(Search[Intervals]):
    """Intervals count only if `judge` finds them safe."""

    proven = GAP / 10  # what rounding in the solver leaves between the loss and the bound

    def __init__(
        self,
        problem: SensitiveTable,
        weight: Floats,
        clock: Clock | None = None,
        gap: float = 1e-3,
        report: Callable[[Moment], None] | None = None,
    ) -> None:
        super().__init__(clock, max(gap, self.proven), report)
        self.problem, self.weight = problem, weight

    @property
    def objective(self) -> float:
        """The loss of the best intervals."""
        return np.inf if self.incumbent is None else self.incumbent.loss

    def offer(self, below: Floats, above: Floats, step: str) -> bool:
        """Verifies intervals (n each); True if they are safe and lose less than any so
        far, or as much in fewer cells.
        """
        loss = float(self.weight @ (below + above))
        found = Intervals(below.copy(), above.copy(), loss)
        if self.incumbent is not None and not _better(found, self.incumbent):
            return False
        if len(judge(self.problem, found)):
            return False
        self._accept(found, step)
        return True


def _better(new: Intervals, old: Intervals) -> bool:
    if new.loss < old.loss * (1 - IntervalRun.proven):
        return True
    return new.loss <= old.loss * (1 + IMPROVEMENT) and int(new.open.sum()) > int(old.open.sum())
