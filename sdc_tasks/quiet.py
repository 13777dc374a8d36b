"""What a library prints when it is first used, and cannot be told to leave out, goes nowhere: findings and
tables go to the same place.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from typing import TypeVar

Made = TypeVar("Made")
_FIRST = threading.Lock()
_seen: set[object] = set()


def made_quietly(make: Callable[[], Made]) -> Made:
    """What `make` returns. What its first call in this process prints from C is swallowed: HiGHS 1.16 tells
    its version and licence once, before anybody can call it silent.
    """
    with _FIRST:
        if make in _seen:
            return make()
        _seen.add(make)
        return _without_output(make)


def _without_output(make: Callable[[], Made]) -> Made:
    """Standard output is the process's: what another thread prints in this millisecond is lost too."""
    try:
        out = os.dup(1)
    except OSError:  # closed: nothing can be printed
        return make()
    libc = ctypes.CDLL(None)
    libc.fflush(None)  # what waits in C's buffer was printed before
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        return make()
    finally:
        libc.fflush(None)
        os.dup2(out, 1)
        os.close(nowhere)
        os.close(out)
