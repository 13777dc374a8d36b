"""One search: the best verified solution so far, the best proven bound, their history, and when to stop.

Every method offers its solutions and its bounds to a search and asks whether it is `over`. So a limit, a
signal or an operator can interrupt any method at any time, and the best solution so far remains: it was
verified when it was offered. A solver may be wrong, a verified solution cannot: bounds that it contradicts
are dropped. Other threads may read, offer, and ask the search to stop. Inside a release the clock is an
`Abort`: methods then end by counted work alone.
"""

from __future__ import annotations

import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

from sdc_tasks.model.progress import Progress, Say, silent
from sdc_tasks.model.time.moment import Moment
from sdc_tasks.model.tolerances import IMPROVEMENT, OPTIMALITY
from sdc_tasks.solver.clock import Clock, Limit

Solution = TypeVar("Solution")


class Search(ABC, Generic[Solution]):
    """A minimisation. `incumbent`: the best verified solution, None before the first.

    `gap`: the search may end at this gap. `proven`: relative, what rounding leaves between the objective of
    an optimal solution and its bound. `report` receives each moment of the history, `say` a line now and then
    of how much work is done, with the `name` of the search.
    """

    proven: float = OPTIMALITY

    def __init__(
        self,
        clock: Clock | None = None,
        gap: float = 0.0,
        report: Callable[[Moment], None] | None = None,
        say: Say = silent,
        name: str = "",
    ) -> None:
        self.clock: Clock = clock or Limit()
        self.gap_wanted = gap
        self.incumbent: Solution | None = None
        self.history: list[Moment] = []
        self.doing = ""  # what a long search is at, for who waits
        self._bounds: dict[str, float] = {}  # by method; −∞: disproved
        self._began, self._report, self._work = time.monotonic(), report, Progress(say, name)
        self._asked_to_stop = threading.Event()
        self._lock = threading.RLock()

    @property
    @abstractmethod
    def objective(self) -> float:
        """Of the incumbent; infinite where there is none that counts."""

    @property
    def bound(self) -> float:
        """The best proven lower bound on the objective of any solution."""
        return min(max([0.0, *self._bounds.values()]), self.objective)

    @property
    def gap(self) -> float | None:
        """(objective − bound) / objective; 0 where nothing is lost, None without an incumbent."""
        objective = self.objective
        if math.isinf(objective):
            return None
        return 0.0 if objective <= 0 else max(0.0, (objective - self.bound) / objective)

    @property
    def elapsed(self) -> float:
        """Seconds since the search began."""
        return time.monotonic() - self._began

    @property
    def left(self) -> float:
        """Seconds until the time limit; 0 once somebody asked to stop. Raises TimeUp
        inside a release whose time is up.
        """
        return 0.0 if self._asked_to_stop.is_set() else self.clock.left

    def over(self) -> bool:
        """Whether time is up, somebody asked to stop, or the gap asked for is proven."""
        gap = self.gap
        return self.left <= 0 or (gap is not None and gap <= self.gap_wanted)

    def stop(self) -> None:
        """Asks the search to end soon; its incumbent is kept."""
        self._asked_to_stop.set()

    def at(self, done: int, of: int | None, what: str) -> None:
        """Tells how much of its counted work the search has done."""
        self._work.tell(done, of, what)

    def raise_bound(self, bound: float, method: str) -> None:
        """Records a lower bound, which the method has proven or its solver tells. If the incumbent disproves
        it, all bounds of its method go.
        """
        with self._lock:
            before = self.bound
            if self._bounds.get(method, 0.0) > -math.inf:
                self._bounds[method] = max(bound, self._bounds.get(method, 0.0))
            self._drop_disproved()
            if self.bound > before * (1 + IMPROVEMENT):
                self._record(method)

    def _accept(self, solution: Solution, method: str) -> None:
        """Makes a verified solution the incumbent."""
        with self._lock:
            self.incumbent = solution
            self._drop_disproved()
            self._record(method)

    def _drop_disproved(self) -> None:
        most = self.objective * (1 + self.proven)
        wrong = [method for method, bound in self._bounds.items() if bound > most]
        self._bounds.update(dict.fromkeys(wrong, -math.inf))

    def _record(self, method: str) -> None:
        objective = self.objective
        moment = Moment(self.elapsed, None if math.isinf(objective) else objective, self.bound, method)
        self.history.append(moment)
        if self._report is not None:
            self._report(moment)
