"""What every search for which somebody waits has: the time it may take, a request to stop,
and the history of what it found.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from sdc_tasks.model.progress import Progress, Say, silent
from sdc_tasks.model.time.moment import Moment
from sdc_tasks.solver.clock import Clock


class TimedSearch:
    """The search begins when this is made. Other threads may read, and may ask it to stop.
    `report` receives each moment of the history, `say` a line now and then of how much work is
    done, with the `name` of the search.
    """

    def __init__(
        self, clock: Clock, report: Callable[[Moment], None] | None = None, say: Say = silent, name: str = ""
    ) -> None:
        self.clock = clock
        self.history: list[Moment] = []
        self.doing = ""  # what a long search is at, for who waits
        self._began, self._report, self._work = time.monotonic(), report, Progress(say, name)
        self._asked_to_stop = threading.Event()

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

    def stop(self) -> None:
        """Asks the search to end soon; its best result is kept."""
        self._asked_to_stop.set()

    def at(self, done: int, of: int | None, what: str) -> None:
        """Tells how much of its counted work the search has done."""
        self._work.tell(done, of, what)

    def _keep(self, objective: float | None, bound: float, method: str) -> None:
        """Adds a moment to the history, and reports it."""
        moment = Moment(self.elapsed, objective, bound, method)
        self.history.append(moment)
        if self._report is not None:
            self._report(moment)
