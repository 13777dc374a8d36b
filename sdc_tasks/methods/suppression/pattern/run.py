"""One run of a method of cell suppression: a search among patterns that the judge finds safe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdc_tasks.judge.pattern.min_contributors import meets_minimum
from sdc_tasks.methods.suppression.pattern.result import Pattern, SuppressionResult, Uncompleted
from sdc_tasks.methods.suppression.pattern.sums import verify_with_sums
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats
from sdc_tasks.model.time.moment import Moment
from sdc_tasks.optimise import Search
from sdc_tasks.solver.clock import Clock


class SuppressionRun(Search[Pattern]):
    """Keeps the best pattern and bound that a method finds for one problem."""

    def __init__(
        self,
        problem: SensitiveTable,
        clock: Clock | None = None,
        gap: float = 0.0,
        report: Callable[[Moment], None] | None = None,
    ) -> None:
        super().__init__(clock, max(gap, self.proven), report)
        self.problem = problem
        self.uncompleted: Uncompleted | None = None

    @property
    def objective(self) -> float:
        """The cost of the best pattern."""
        return np.inf if self.incumbent is None else self.incumbent.cost

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
        seconds = np.inf if self.incumbent is None else self.left
        if cost >= self.objective:
            return False
        verdict, short = verify_with_sums(self.problem, hidden, proposed, seconds, witnesses)
        return (
            verdict.safe
            and not len(short)
            and meets_minimum(self.problem, hidden)
            and self.take(hidden, method)
        )

    def take(self, hidden: Bools, method: str) -> bool:
        """Takes a pattern (n) that was judged, and found to keep all that the problem asks;
        True if it is the cheapest so far.
        """
        cost = self.problem.cost_of(hidden)
        if cost >= self.objective:
            return False
        self._accept(Pattern(hidden.copy(), cost), method)
        return True

    def result(self, method: str, ended: str) -> SuppressionResult:
        """The result. `ended`: why the method stopped, as it says, unless the gap explains it."""
        gap = self.gap
        if gap is not None and gap <= self.gap_wanted:
            ended = "proven" if gap <= self.proven else "gap"
        return SuppressionResult(
            self.incumbent, self.bound, method, ended, self.elapsed, tuple(self.history), self.uncompleted
        )


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
