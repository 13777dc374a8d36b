"""One run of the engine: the best verified table so far, the best proven bound, their history, and when to
stop.

Every method passes its tables to `offer` and its bounds to `lift`, and checks `over`. So every method can be
interrupted at any time, by a limit, a signal or an operator, and the results so far are kept and verified. It
is safe for several threads. Inside a release its clock is an `Abort`: methods then end by counted work alone.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

import numpy as np

from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.verify import Incumbent, verify
from sdc_tasks.model.progress import Say, silent
from sdc_tasks.model.table import Floats
from sdc_tasks.model.time.moment import Moment
from sdc_tasks.solver.clock import Clock, Limit
from sdc_tasks.solver.timed import TimedSearch

Restore = Callable[[Floats], Floats]
LEFT_OF_LEVEL = 1e-9  # of the smallest level: a solver's noise in cells that stay
GAIN = 1e-9  # relative: least gain of a better table
FORGET = 0.5  # factor on the chances of cells to be tried again, after a try without a gain
BOUND_EXCESS = 1e-6  # relative: by how much a bound may exceed the objective of a table without being wrong


class Run(TimedSearch):
    """Stores the best table and bound that methods find for one problem, in weight · data units. It
    stops by time, by gap or on request.
    """

    def __init__(
        self,
        problem: CtaProblem,
        seconds: float = math.inf,
        gap: float = 0.0,
        report: Callable[[Moment], None] | None = None,
        clock: Clock | None = None,
        say: Say = silent,
        name: str = "",
    ) -> None:
        super().__init__(clock or Limit(seconds), report, say, name)
        self.problem, self.gap_wanted = problem, gap
        self.work: dict[str, int] = {}  # counted work: name → number
        self.best: Incumbent | None = (
            None  # the best additive table: a protected one if found, else the least short
        )
        self.restore: Restore = lambda z: (
            z
        )  # from the cells that the methods work on to all cells of the problem
        self._bounds: dict[str, float] = {}  # by method; −∞: disproved
        self._lock = threading.Lock()

    @property
    def bound(self) -> float:
        """The best proven lower bound on the objective of any protected table."""
        return max([0.0, *self._bounds.values()])

    @property
    def protected(self) -> Incumbent | None:
        """The best table in which no sensitive cell falls short."""
        best = self.best
        return best if best is not None and best.verdict.unprotected == 0 else None

    @property
    def gap(self) -> float | None:
        """(best − bound) / best; None without a protected table."""
        best = self.protected
        if best is None:
            return None
        objective = best.verdict.objective
        return 0.0 if objective <= 0 else max(0.0, (objective - self.bound) / objective)

    @property
    def out_of_time(self) -> bool:
        return self.left <= 0

    @property
    def over(self) -> bool:
        """Whether time is up, somebody asked to stop, or the table is proven to be within the
        requested gap.
        """
        gap = self.gap
        return self.out_of_time or (gap is not None and gap <= self.gap_wanted)

    @property
    def table(self) -> Floats | None:
        """(n,): the deviations of all cells in the best table, in units; None without a table."""
        best = self.best
        return None if best is None else self.restore(best.z)

    def final(self) -> Incumbent | None:
        """The best table at the end, without a solver's noise in cells that stay; verified
        once more. None without a table.
        """
        table = self.table
        if table is None:
            return None
        z = np.where(np.abs(table) <= LEFT_OF_LEVEL * self.problem.smallest_level, 0.0, table)
        return Incumbent(z, verify(self.problem, z))

    def offer(self, z: Floats, method: str) -> bool:
        """Verifies the deviations z of a method's problem as a table of the whole problem.
        Returns whether it is the best so far.
        """
        verdict = verify(self.problem, self.restore(z))
        if not verdict.is_table:
            return False
        with self._lock:
            candidate = Incumbent(z.copy(), verdict)
            if self.best is not None and candidate.rank >= self.best.rank:
                return False
            self.best = candidate
            self._judge()
            self._note(method)
        return True

    def lift(self, bound: float, method: str) -> None:
        """Records a lower bound on the objective of any protected table. If a verified table disproves it,
        all bounds of its method are removed.
        """
        with self._lock:
            before = self.bound
            if self._bounds.get(method, 0.0) > -math.inf:
                self._bounds[method] = max(bound, self._bounds.get(method, 0.0))
            self._judge()
            if self.bound > before:
                self._note(method)

    def _judge(self) -> None:
        """Removes the bounds of methods that a verified table disproves: a solver may be
        wrong, a verified table cannot.
        """
        best = self.protected
        if best is not None:
            wrong = [
                method
                for method, bound in self._bounds.items()
                if bound > best.verdict.objective * (1 + BOUND_EXCESS)
            ]
            self._bounds.update(dict.fromkeys(wrong, -math.inf))

    def _note(self, method: str) -> None:
        best = self.protected
        self._keep(None if best is None else best.verdict.objective, self.bound, method)
