"""How a search ends for whoever waited: its figures as JSON, and on the terminal. Figures of
the whole table, none of a cell.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sdc_tasks.cli.screen import out

SUMS = (
    "figures such as objective, loss, distance, mean and bound are sums over hidden "
    "cells, each one more equation for an attacker"
)
FACTS_HELP = (
    "confidential, because sums over hidden cells are equations for an attacker: "
    "objective, bound, gap, history …; no cell"
)
PLOT_HELP = "confidential as these figures: {what} over time, .svg or .png"

if TYPE_CHECKING:
    from sdc_tasks.cli.terminal import Terminal
    from sdc_tasks.model.time.moment import Moment


def figures_text(figures: Mapping[str, object]) -> str:
    """JSON with a line for each figure, in their order."""
    return (
        "{\n"
        + ",\n".join(f" {json.dumps(name)}: {json.dumps(figure)}" for name, figure in figures.items())
        + "\n}\n"
    )


def history_until(history: Sequence[Moment], elapsed: float) -> list[list[object]]:
    """The moments of a run until it ended for whoever waited: seconds, objective, bound, method.
    The method may go on meanwhile.
    """
    return [
        [round(each.seconds, 3), each.objective, each.bound, each.method]
        for each in list(history)
        if each.seconds <= elapsed
    ]


def tell_sums(*files: Path | None) -> None:
    """Says below the figures of a search that they are confidential, and which files hold them too."""
    also = ", ".join(str(each) for each in files if each is not None)
    out.tell(("confidential", "bold"), f": {SUMS}{f'; also in {also}' if also else ''}")


def tell_consistent(terminal: Terminal, number: int) -> None:
    """Says how many totals were replaced by the sum of their inner cells, within the tolerance."""
    if number:
        totals = "1 total was" if number == 1 else f"{number} totals were"
        terminal.print(f"{totals} off within the tolerance, and made consistent: the sum of the inner cells")


def show_figures(title: str, figures: Mapping[str, str]) -> None:
    """A line for each figure on the terminal, below the title."""
    from rich.table import Table

    table = Table(title=title, show_header=False, title_justify="left")
    for name, figure in figures.items():
        table.add_row(name, figure)
    out.print(table)
