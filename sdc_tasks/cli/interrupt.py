"""Ctrl-C in a command that computes for long: it ends soon, with what was found so far.

The handler raises nothing, so that no import, solver or file is torn apart: it notes the request, and the command looks at the note.
Until there is something to save, it ends the process at once.
"""

from __future__ import annotations

import os
import signal
import time
from types import FrameType

from sdc_tasks.errors import Unprotectable


class Interruption:
    """Whether somebody asked to stop the search for something; `elapsed` counts from where `sdc` began."""

    def __init__(self, sought: str) -> None:
        self._nothing_yet = f"interrupted: no {sought} yet, nothing was written\n".encode()
        self.asked = False
        self.something_to_save = False
        self._began = time.monotonic()

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._began

    def listen(self) -> None:
        """Takes SIGINT and SIGTERM over, until the process ends."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if not self.something_to_save:
            os.write(2, self._nothing_yet)
            os._exit(Unprotectable.exit_code)
