"""One search for intervals: the best verified ones so far, the best proven bound, their history, and when to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from sdc_tasks.methods.suppression.partial.intervals import Intervals, judge
from sdc_tasks.methods.suppression.problem import SuppressionProblem
from sdc_tasks.model.moment import Moment
from sdc_tasks.model.table import Floats
from sdc_tasks.solver.clock import Clock, Limit

SAME_LOSS = 1e-9  # relative: rounding
LEAST_GAP = 1e-5  # relative: what rounding in the solver leaves between the loss and the bound


class IntervalRun:
    """Intervals count only if `judge` finds them safe. Other threads may read, and may ask the run to stop."""

    def __init__(
        self,
        problem: SuppressionProblem,
        weight: Floats,
        clock: Clock | None = None,
        gap: float = 1e-3,
        report: Callable[[Moment], None] | None = None,
    ) -> None:
        self.problem, self.weight, self.clock, self.gap_wanted = problem, weight, clock or Limit(), max(gap, LEAST_GAP)
        self.best: Intervals | None = None
        self.bound = 0.0
        self.history: list[Moment] = []
        self._began, self._report = time.monotonic(), report
        self._asked_to_stop = threading.Event()

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._began

    @property
    def left(self) -> float:
        """Seconds until the time limit; 0 once somebody asked to stop."""
        return 0.0 if self._asked_to_stop.is_set() else self.clock.left

    def over(self) -> bool:
        return self.left <= 0 or (self.best is not None and self.best.gap(self.bound) <= self.gap_wanted)

    def stop(self) -> None:
        """Asks the method to end soon; the best intervals are kept."""
        self._asked_to_stop.set()

    def offer(self, below: Floats, above: Floats, step: str) -> bool:
        """Verifies intervals (n each); True if they are safe and lose less than any so far, or as much in fewer cells."""
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
        moment = Moment(self.elapsed, None if self.best is None else self.best.loss, self.bound, step)
        self.history.append(moment)
        if self._report is not None:
            self._report(moment)


def _better(new: Intervals, old: Intervals) -> bool:
    if new.loss < old.loss * (1 - LEAST_GAP):
        return True
    return new.loss <= old.loss * (1 + SAME_LOSS) and int(new.open.sum()) > int(old.open.sum())
