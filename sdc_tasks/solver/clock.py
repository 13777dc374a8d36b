"""What a search may know of the time.

A person who waits for a table sets a `Limit`: what was found by then counts, and so depends on the machine. A release may not: the same
deliveries give the same bytes on any machine, however busy. There a search ends by counted work (rounds, nodes, iterations), and all that
the time can do is to `Abort` it: nothing is left of it, and nothing goes on without it. Solvers are told no time limit then.
"""

from __future__ import annotations

import math
import time
from typing import Protocol

from sdc_tasks.errors import Retriable


class TimeUp(Retriable):
    """A search of a release did not end within the time that its domain file allows."""


class SolverDied(Retriable):
    """A solver's process ended without an answer, so that nobody knows what it would have been."""


class Clock(Protocol):
    """`counted`: searches must end by themselves, after counted work. `left`: seconds that they may take."""

    @property
    def counted(self) -> bool: ...
    @property
    def left(self) -> float: ...
    @property
    def useful(self) -> float: ...


class Limit:
    """So many seconds from now on; 0 are left when they are over."""

    counted = False

    def __init__(self, seconds: float = math.inf) -> None:
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        return max(0.0, self._end - time.monotonic())

    @property
    def useful(self) -> float:
        """Seconds after which nobody waits for a process any more."""
        return self.left


class Abort:
    """As much time as it takes. Who looks at it after so many seconds is stopped by TimeUp: no result may depend on when it was reached."""

    counted = True

    def __init__(self, what: str, seconds: float) -> None:
        self._what, self._seconds, self._end = what, seconds, time.monotonic() + seconds

    @property
    def left(self) -> float:
        if time.monotonic() > self._end:
            raise TimeUp(
                f"{self._what}: not done after {self._seconds:g} seconds. The release stops here, because going on without it would give "
                "other figures. Remedy: run it again when the machine is less busy, or ask for less work, or allow more seconds, in the "
                "domain file"
            )
        return math.inf

    @property
    def useful(self) -> float:
        return max(0.0, self._end - time.monotonic())
