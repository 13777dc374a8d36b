"""How a search may use the clock.

A person who waits for a table sets a `Limit`: the search returns what it has found by then, so the result
depends on the machine. The result of a release must not: the same deliveries give the same bytes on any
machine. There a search ends by counted work (rounds, nodes, iterations), and the clock can only `Abort` it:
the search returns nothing, and the release stops. Solvers get no time limit then.
"""

from __future__ import annotations

import math
import time
from typing import Protocol

from sdc_tasks.errors import Retriable


class TimeUp(Retriable):
    """A search of a release took longer than its domain file allows."""


class SolverDied(Retriable):
    """A solver's process ended without an answer."""


class Clock(Protocol):
    """`counted`: searches must end after counted work. `left`: seconds until the limit. `useful`:
    seconds for which a process is useful.
    """

    @property
    def counted(self) -> bool: ...
    @property
    def left(self) -> float: ...
    @property
    def useful(self) -> float: ...


class Limit:
    """A time limit of `seconds` from now on; `left` is 0 after it."""

    counted = False

    def __init__(self, seconds: float = math.inf) -> None:
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        return max(0.0, self._end - time.monotonic())

    @property
    def useful(self) -> float:
        """Seconds for which somebody still waits for the result of a process."""
        return self.left


class Abort:
    """No time limit for the search, but an end for the release: `left` raises TimeUp after `seconds`, so
    no result depends on the clock.
    """

    counted = True

    def __init__(self, what: str, seconds: float) -> None:
        self._what, self._seconds, self._end = what, seconds, time.monotonic() + seconds

    @property
    def left(self) -> float:
        if time.monotonic() > self._end:
            raise TimeUp(
                f"{self._what}: not done after {self._seconds:g} seconds. The release stops here, because "
                f"its figures would be different "
                "without this result. Remedy: run it again when the machine is less busy, or set less work, "
                "or more seconds, in the "
                "domain file"
            )
        return math.inf

    @property
    def useful(self) -> float:
        return max(0.0, self._end - time.monotonic())
