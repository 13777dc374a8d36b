"""How far a long work is, for whoever waits for it: how much of how much is done. Counts only; nothing
that is computed depends on it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

TELL_SECONDS = 5.0  # between two lines; what takes less time is silent
Say = Callable[[str], None]


def silent(line: str) -> None:
    """Tells nobody."""


class Progress:
    """A work of which `say` receives a line, such as “audit: 3 512 of 8 174 requirements settled”, every five
    seconds. Safe for several threads.
    """

    def __init__(self, say: Say = silent, name: str = "") -> None:
        self._say, self._name, self._next = say, name, time.monotonic() + TELL_SECONDS

    def tell(self, done: int, of: int | None, what: str) -> None:
        """Tells that `done` of `of` things are done; `of` is None where nobody knows how many there are."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + TELL_SECONDS
            self._say(f"{self._name}: {done}{'' if of is None else f' of {of}'} {what}")
