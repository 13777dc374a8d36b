"""Progress of a search, told to whoever asked: a function, or the notebook that it runs in."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from sdc_tasks.model.time.moment import Moment

Tell = Callable[[str], None]
Progress = (
    Tell | bool | None
)  # a function that gets lines; True or False; None: True in a notebook, else False


def teller(progress: Progress) -> Tell:
    """What gets the lines: the function that was given; in a notebook one line below the cell, which changes;
    else nobody, or with `progress=True` standard error.
    """
    if callable(progress):
        return progress
    if progress is False or (progress is None and not in_notebook()):
        return lambda line: None
    return _line_of_notebook() if in_notebook() else lambda line: print(line, file=sys.stderr)


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
            gap = 0.0 if moment.objective <= 0 else max(0.0, 1 - moment.bound / moment.objective)
            tell(f"{moment.seconds:.1f} s: {found} found, gap {gap:.2%} ({moment.method})")

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
