"""Ctrl-C in a long computation: the command ends soon, with the best result so far.

The handler raises no exception, so it interrupts no import, solver or file: it records the request, and the command checks for it.
While there is nothing to save, the handler ends the process at once.
"""

from __future__ import annotations

import os
import signal
import time
from types import FrameType

from sdc_tasks.errors import Unprotectable


class Interruption:
    """Whether somebody asked to stop the search; `elapsed` counts from the start of `sdc`."""

    def __init__(self, sought: str) -> None:
        self._nothing_yet = f"interrupted: no {sought} yet, nothing was written\n".encode()
        self.asked = False
        self.something_to_save = False
        self._began = time.monotonic()

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._began

    def listen(self) -> None:
        """Handles SIGINT and SIGTERM until the process ends."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if not self.something_to_save:
            os.write(2, self._nothing_yet)
            os._exit(Unprotectable.exit_code)
