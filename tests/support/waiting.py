"""To wait for something that another process does; the one place where tests wait."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(condition: Callable[[], object], seconds: float = 60.0, pause: float = 0.02) -> bool:
    """Whether it came true in so many seconds; asks again after each pause."""
    deadline = time.monotonic() + seconds
    while not (met := condition()) and time.monotonic() < deadline:
        time.sleep(pause)
    return bool(met)
