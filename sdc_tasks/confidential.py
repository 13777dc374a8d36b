"""What a process holds in memory stays there when it fails: no core file, and no local variables behind an
exception.
"""

from __future__ import annotations

import resource
import traceback
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")


def leave_no_core() -> None:
    """From here on this process, and what it starts, dies without a core file.

    The limit is one byte, not zero: Linux writes no file that short, and takes it, unlike
    zero, as a prohibition also where a program is to receive the core (`man 5 core`,
    core_pattern with a pipe; fs/coredump.c).
    """
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    most = 1 if hard == resource.RLIM_INFINITY else min(hard, 1)
    resource.setrlimit(resource.RLIMIT_CORE, (most, most))


def forget_locals(error: BaseException) -> None:
    """Takes the local variables out of the frames that an exception, and those it came from,
    left behind; files and lines stay.

    Otherwise a tool that collects errors with local variables (Sentry, structlog, a
    debugger's log) collects tables.
    """
    known: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is not None and id(each) not in known:
            known.add(id(each))
            traceback.clear_frames(each.__traceback__)
            waiting += [each.__cause__, each.__context__]


def keeps_to_itself(step: Callable[Given, Made]) -> Callable[Given, Made]:
    """Decorates a function: its exceptions hold no local variables of the functions that it called."""

    @wraps(step)
    def kept(*arguments: Given.args, **named: Given.kwargs) -> Made:
        try:
            return step(*arguments, **named)
        except BaseException as error:
            forget_locals(error)
            raise

    return kept
