"""Ctrl-C: a search ends soon, with the best result so far; everything else ends at once, without a traceback.

The handler of a search raises no exception, so it interrupts no import, solver or file: it records the
request, and the command checks for it. While there is nothing to save, the handler ends the process at once.
Once there is, each further request is only recorded too: nobody loses a file by pressing twice.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import time
from contextlib import suppress
from threading import Timer
from types import FrameType

from sdc_tasks.errors import Unprotectable

_AGAIN = 0.05  # seconds
INTERRUPTED = 130  # the exit code of a process that SIGINT ended, as shells tell it


class Interruption:
    """Whether somebody asked to stop the search of what is `sought`; `elapsed` counts from the start of
    `sdc`.
    """

    def __init__(self, sought: str) -> None:
        self.sought = sought
        self._nothing_yet = f"interrupted: no {sought} yet, nothing was written\n".encode()
        self.asked = self.raised = False
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

    def heed(self) -> None:
        """Lets Ctrl-C end the process wherever it is: by KeyboardInterrupt, so that what was begun is tidied
        up. `raised` tells later that this was the reason, whatever error a library made of it: SQLite says
        that a function failed, a zip file that it cannot close. Where nobody would hear of it, as in what
        Python calls while it frees memory, it comes again. A process that ignores Ctrl-C goes on to.
        """
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._raise)
            sys.unraisablehook = self._lost

    def _raise(self, number: int, frame: FrameType | None) -> None:
        self.raised = True
        raise KeyboardInterrupt

    def _lost(self, lost: sys.UnraisableHookArgs) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            again = Timer(_AGAIN, os.kill, (os.getpid(), signal.SIGINT))
            again.daemon = True
            with suppress(RuntimeError):  # Python ends already
                again.start()
        elif not self.raised:
            sys.__unraisablehook__(lost)

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
