"""Progress of a search, told to whoever asked: a function, or the notebook that it runs in."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from sdc_tasks.model.progress import TELL_SECONDS
from sdc_tasks.model.time.moment import Moment, told_gap

Tell = Callable[[str], None]
# A function that gets lines; True, or False; None: in a notebook as True, else of a long work a line now and
# then.
Progress = Tell | bool | None


def teller(progress: Progress) -> Tell:
    """What gets the lines: the function that was given; in a notebook one line below the cell, which changes;
    else standard error, with `progress=True` each line, by default one in TELL_SECONDS from then on.
    """
    if callable(progress):
        return progress
    if progress is False:
        return lambda line: None
    if in_notebook():
        return _line_of_notebook()
    return _to_standard_error if progress else _now_and_then(_to_standard_error)


def _to_standard_error(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _now_and_then(tell: Tell) -> Tell:
    """Tells a line where none was told for TELL_SECONDS: a short work is silent, a long one is not."""
    told = time.monotonic()

    def sometimes(line: str) -> None:
        nonlocal told
        now = time.monotonic()
        if now >= told + TELL_SECONDS:
            told = now
            tell(line)

    return sometimes


def in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this. IPython is never loaded for the question."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def of_moments(tell: Tell, found: str) -> Callable[[Moment], None]:
    """A reporter of a search: how far the best result is from the bound, in a line. `found`: table or
    pattern.

    It does not tell the cost, which is one more equation of the hidden values, and a notebook keeps its
    lines.
    """

    def report(moment: Moment) -> None:
        if moment.objective is None:
            tell(f"{moment.seconds:.1f} s: no {found} yet ({moment.method})")
        else:
            gap = told_gap(moment.objective, moment.bound)
            tell(f"{moment.seconds:.1f} s: {found} found, {gap} ({moment.method})")

    return report


def _line_of_notebook() -> Tell:
    display = import_module("IPython.display").display
    shown: list[Any] = []

    def tell(line: str) -> None:
        text = {"text/plain": line}
        if shown:
            shown[0].update(text, raw=True)
        else:
            shown.append(display(text, raw=True, display_id=True))

    return tell
