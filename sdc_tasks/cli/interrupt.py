"""Ctrl-C in a long computation: the command ends soon, with the best result so far.

The handler raises no exception, so it interrupts no import, solver or file: it records the request, and the
command checks for it. While there is nothing to save, the handler ends the process at once. Once there is,
each further request is only recorded too: nobody loses a file by pressing twice.
"""

from __future__ import annotations

import atexit
import os
import signal
import time
from types import FrameType

from sdc_tasks.errors import Unprotectable


class Interruption:
    """Whether somebody asked to stop the search of what is `sought`; `elapsed` counts from the start of
    `sdc`.
    """

    def __init__(self, sought: str) -> None:
        self.sought = sought
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
        atexit.register(_end_in_peace)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if not self.something_to_save:
            os.write(2, self._nothing_yet)
            os._exit(Unprotectable.exit_code)


def _end_in_peace() -> None:
    """When Python ends, it gives the signals back to the system, which kills: the files are written,
    but the exit code would be lost.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
