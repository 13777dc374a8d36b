"""One run of a method: the best verified pattern so far, the best proven bound, their history, and when to
stop.

A pattern counts only if the verifier finds it safe. So a limit, a signal or an operator can interrupt a
method at any time, and the best pattern so far remains. Methods offer patterns from one thread; other threads
may read, and may ask the run to stop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.suppression.pattern.enough import enough
from sdc_tasks.methods.suppression.pattern.result import Alone, Pattern, SuppressionResult
from sdc_tasks.methods.suppression.pattern.sums import judge
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats
from sdc_tasks.model.time.moment import Moment
from sdc_tasks.solver.clock import Clock, Limit
from sdc_tasks.solver.timed import TimedSearch

PROVEN = 1e-6  # relative: what rounding leaves between the bound and the cost of a pattern that is proven


class SuppressionRun(TimedSearch):
    """Keeps the best pattern and bound that a method finds for one problem. Stops by the clock, the gap, or
    on request.
    """

    def __init__(
        self,
        problem: SensitiveTable,
        clock: Clock | None = None,
        gap: float = 0.0,
        report: Callable[[Moment], None] | None = None,
    ) -> None:
        super().__init__(clock or Limit(), report)
        self.problem, self.gap_wanted = problem, max(gap, PROVEN)
        self.best: Pattern | None = None
        self.bound = 0.0
        self.alone: Alone | None = None

    @property
    def cost(self) -> float:
        """Of the best pattern; infinite without one."""
        return np.inf if self.best is None else self.best.cost

    @property
    def gap(self) -> float | None:
        """(cost − bound) / cost; None without a pattern."""
        return None if self.best is None else self.best.gap(self.bound)

    def over(self) -> bool:
        """Whether the time is over, or the gap asked for is proven."""
        gap = self.gap
        return self.left <= 0 or (gap is not None and gap <= self.gap_wanted)

    def offer(
        self,
        hidden: Bools,
        method: str,
        proposed: Floats | None = None,
        witnesses: sp.csr_array | None = None,
    ) -> bool:
        """Verifies a pattern (n); True if it is safe and the cheapest so far. `proposed` (points, n):
        deviations that may show it; `witnesses` (any number, n): the same, sparse.

        The first one takes its time; once there is a pattern, no verification goes on after the time limit.
        """
        cost = self.problem.cost_of(hidden)
        seconds = np.inf if self.best is None else self.left
        if cost >= self.cost:
            return False
        verdict, short = judge(self.problem, hidden, proposed, seconds, witnesses)
        return verdict.safe and not len(short) and enough(self.problem, hidden) and self.take(hidden, method)

    def take(self, hidden: Bools, method: str) -> bool:
        """Takes a pattern (n) that was judged, and found to keep all that the problem asks;
        True if it is the cheapest so far.
        """
        cost = self.problem.cost_of(hidden)
        if cost >= self.cost:
            return False
        self.best = Pattern(hidden.copy(), cost)
        if self.bound > cost * (1 + PROVEN):  # a solver may err, a verified pattern cannot
            self.bound = 0.0
        self._note(method)
        return True

    def lift(self, bound: float, method: str) -> None:
        """Records a proven lower bound on the cost of any safe pattern; a bound above the cost
        of a verified pattern is ignored.
        """
        if self.bound * (1 + 1e-9) < bound <= self.cost * (1 + PROVEN):
            self.bound = min(bound, self.cost)
            self._note(method)

    def result(self, method: str, ended: str) -> SuppressionResult:
        """The result. `ended`: why the method stopped, as it says, unless the gap explains it."""
        gap = self.gap
        if gap is not None and gap <= self.gap_wanted:
            ended = "proven" if gap <= PROVEN else "gap"
        return SuppressionResult(
            self.best, self.bound, method, ended, self.elapsed, tuple(self.history), self.alone
        )

    def _note(self, method: str) -> None:
        self._keep(None if self.best is None else self.best.cost, self.bound, method)


@dataclass(frozen=True)
class Shared:
    """For a run inside of another one: the clock of that run, which also ends when
    somebody asks that run to stop.
    """

    run: SuppressionRun

    @property
    def counted(self) -> bool:
        """As the clock of the other run."""
        return self.run.clock.counted

    @property
    def left(self) -> float:
        """Seconds; 0 once the other run was asked to stop."""
        return self.run.left

    @property
    def useful(self) -> float:
        """As the clock of the other run, and 0 once that was asked to stop."""
        return min(self.run.clock.useful, self.run.left)
