"""One run of a method: the best verified pattern so far, the best proven bound, how they came about, and when to stop.

A pattern counts when the verifier finds it safe, whoever offers it. So a method can be interrupted at any time.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from sdc_tasks.methods.suppression.problem import SuppressionProblem
from sdc_tasks.methods.suppression.result import Moment, SuppressionResult
from sdc_tasks.methods.suppression.verify import verify
from sdc_tasks.model.table import Bools
from sdc_tasks.solver.clock import Clock, Limit

DIGITS = 1e-6  # relative: what rounding leaves between the bound and the cost of a pattern that is proven


class Run:
    """Keeps the best of what a method finds for one problem."""

    def __init__(
        self, problem: SuppressionProblem, clock: Clock | None = None, gap: float = 0.0, report: Callable[[Moment], None] | None = None
    ) -> None:
        self.problem, self.clock, self.wanted = problem, clock or Limit(), max(gap, DIGITS)
        self.pattern: Bools | None = None
        self.cost, self.bound = np.inf, 0.0
        self.history: list[Moment] = []
        self._began, self._report = time.monotonic(), report

    @property
    def gap(self) -> float:
        """(cost − bound) / cost; 1 without a pattern."""
        if self.pattern is None:
            return 1.0
        return 0.0 if self.cost <= 0 else max(0.0, (self.cost - self.bound) / self.cost)

    def over(self) -> bool:
        return self.gap <= self.wanted or self.clock.left <= 0

    def offer(self, pattern: Bools, step: str) -> bool:
        """Whether a pattern is safe and the cheapest so far."""
        cost = self.problem.cost_of(pattern)
        if cost >= self.cost or not verify(self.problem, pattern).safe:
            return False
        self.pattern, self.cost = pattern.copy(), cost
        if self.bound > cost * (1 + DIGITS):  # a solver may err, a verified pattern cannot
            self.bound = 0.0
        self._note(step)
        return True

    def lift(self, bound: float, step: str) -> None:
        """A proven lower bound on the cost of any safe pattern; one that the pattern at hand disproves is ignored."""
        if self.bound * (1 + 1e-9) < bound <= self.cost * (1 + DIGITS):
            self.bound = min(bound, self.cost)
            self._note(step)

    def result(self, method: str, ended: str) -> SuppressionResult:
        none = self.pattern is None
        unprotected = self.problem.primaries if none else np.zeros(0, dtype=np.int64)
        ended = "proven" if not none and self.gap <= DIGITS else "gap" if self.gap <= self.wanted else ended
        return SuppressionResult(
            self.pattern, None if none else self.cost, self.bound, method, ended, unprotected,
            time.monotonic() - self._began, tuple(self.history),
        )  # fmt: skip

    def _note(self, step: str) -> None:
        moment = Moment(time.monotonic() - self._began, None if self.pattern is None else self.cost, self.bound, step)
        self.history.append(moment)
        if self._report is not None:
            self._report(moment)
