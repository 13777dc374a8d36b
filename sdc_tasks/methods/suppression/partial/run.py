"""One search for intervals: the best verified ones so far, the best proven bound, their history, and when to
stop.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdc_tasks.methods.suppression.partial.intervals import Intervals, judge
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Floats
from sdc_tasks.model.time.moment import Moment
from sdc_tasks.solver.clock import Clock, Limit
from sdc_tasks.solver.timed import TimedSearch

SAME_LOSS = 1e-9  # relative: rounding
LEAST_GAP = 1e-5  # relative: what rounding in the solver leaves between the loss and the bound


class IntervalRun(TimedSearch):
    """Intervals count only if `judge` finds them safe. Other threads may read, and may ask the
    run to stop.
    """

    def __init__(
        self,
        problem: SensitiveTable,
        weight: Floats,
        clock: Clock | None = None,
        gap: float = 1e-3,
        report: Callable[[Moment], None] | None = None,
    ) -> None:
        super().__init__(clock or Limit(), report)
        self.problem, self.weight, self.gap_wanted = problem, weight, max(gap, LEAST_GAP)
        self.best: Intervals | None = None
        self.bound = 0.0

    def over(self) -> bool:
        """Whether the time is over, or the gap asked for is proven."""
        return self.left <= 0 or (self.best is not None and self.best.gap(self.bound) <= self.gap_wanted)

    def offer(self, below: Floats, above: Floats, step: str) -> bool:
        """Verifies intervals (n each); True if they are safe and lose less than any so
        far, or as much in fewer cells.
        """
        loss = float(self.weight @ (below + above))
        found = Intervals(below.copy(), above.copy(), loss)
        if self.best is not None and not _better(found, self.best):
            return False
        if len(judge(self.problem, found)):
            return False
        self.best = found
        if self.bound > loss * (1 + LEAST_GAP):  # a solver may err, verified intervals cannot
            self.bound = 0.0
        self._note(step)
        return True

    def lift(self, bound: float, step: str) -> None:
        """Records a proven lower bound on the loss of any safe intervals."""
        most = np.inf if self.best is None else self.best.loss
        if self.bound * (1 + 1e-9) < bound <= most * (1 + LEAST_GAP):
            self.bound = min(bound, most)
            self._note(step)

    def _note(self, step: str) -> None:
        self._keep(None if self.best is None else self.best.loss, self.bound, step)


def _better(new: Intervals, old: Intervals) -> bool:
    if new.loss < old.loss * (1 - LEAST_GAP):
        return True
    return new.loss <= old.loss * (1 + SAME_LOSS) and int(new.open.sum()) > int(old.open.sum())
