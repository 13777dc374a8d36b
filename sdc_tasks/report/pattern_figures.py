"""A table as a picture of what became of its cells: a row for each code of the first dimension that has
several, a column for each combination of the others.

It shows what is hidden and what is open, never a value. SVG or PNG; the same facts give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.table import Floats
from sdc_tasks.report.cta_figures import (
    ACCENT,
    DECADES,
    HELD,
    INK,
    QUIET,
    STYLE,
    UNMOVED,
    ImageFormat,
    picture,
)

MOST_LABELLED = 40  # rows, or columns, that have their names beside them
PATTERN = {
    "s": ("open", UNMOVED),
    "z": ("must stay open", "#dfe5ea"),
    "m": ("secondary", DECADES[1]),
    "u": ("primary", HELD),
}
VERDICT = {
    "open": ("open", UNMOVED),
    "secondary": ("secondary", DECADES[0]),
    "protected": ("primary, protected", ACCENT),
    "at risk": ("primary, at risk", HELD),
}
STATES = {
    "exact": ("exact", UNMOVED),
    "rounded": ("rounded", DECADES[1]),
    "visible": ("sum of the visible countries", DECADES[3]),
    "withheld": ("withheld", INK),
}


def plot_states(
    keys: Sequence[tuple[str, ...]],
    states: Sequence[str],
    kinds: Mapping[str, tuple[str, str]],
    image: ImageFormat = "svg",
) -> bytes:
    """`keys` (n): the codes of each cell; `states` (n): the kind of each, a key of `kinds`,
    which gives its label and colour.
    """
    grid = _Grid.of(keys, states, kinds)
    rows, columns = grid.number.shape
    with mpl.rc_context(STYLE):
        figure = Figure(
            figsize=(min(3.2 + 0.34 * columns, 9.6), min(1.6 + 0.26 * rows, 9.0)),
            layout="constrained",
        )
        axes = figure.subplots()
        colours = ListedColormap([colour for _, colour in kinds.values()])
        axes.imshow(
            grid.number, colours, vmin=-0.5, vmax=len(kinds) - 0.5, aspect="auto", interpolation="none"
        )
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        _name(axes, grid)
        _rule(axes, rows, columns)
        there = set(states)
        legend = [
            Patch(facecolor=colour, edgecolor=QUIET, linewidth=0.4, label=label)
            for k, (label, colour) in kinds.items()
            if k in there
        ]
        figure.legend(handles=legend, loc="outside upper left", frameon=False, ncols=len(legend), fontsize=9)
        return picture(figure, image)


@dataclass(frozen=True)
class _Grid:
    """The picture as numbers: `number` (rows, columns) of the kind of each cell, NaN where there is none. A
    row is a code of the first dimension that has several, a column the codes of the others.
    """

    rows: Sequence[str]
    columns: Sequence[tuple[str, ...]]
    number: Floats

    @classmethod
    def of(cls, keys: Sequence[tuple[str, ...]], states: Sequence[str], kinds: Iterable[str]) -> _Grid:
        keys = _without_constant(keys)
        rows = {code: i for i, code in enumerate(dict.fromkeys(key[0] for key in keys))}
        columns = {code: i for i, code in enumerate(dict.fromkeys(key[1:] for key in keys))}
        number = {kind: i for i, kind in enumerate(kinds)}
        found = np.full((len(rows), len(columns)), np.nan)
        for key, state in zip(keys, states, strict=True):
            found[rows[key[0]], columns[key[1:]]] = number[state]
        return cls(list(rows), list(columns), found)


def _without_constant(keys: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The keys in the dimensions that have several codes; in the first one where none has."""
    several = [d for d in range(len(keys[0])) if len({key[d] for key in keys}) > 1] or [0]
    return [tuple(key[d] for d in several) for key in keys]


def _name(axes: Axes, grid: _Grid) -> None:
    """The codes beside rows and columns, where these are few."""
    rows = grid.rows if len(grid.rows) <= MOST_LABELLED else []
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    named = len(grid.columns) <= MOST_LABELLED and bool(grid.columns[0])
    columns = [printed_key(code) for code in grid.columns] if named else []
    axes.set_xticks(range(len(columns)), columns, fontsize=8, rotation=90)


def _rule(axes: Axes, rows: int, columns: int) -> None:
    """White lines between rows and columns, where these are few."""
    if rows <= MOST_LABELLED:
        axes.hlines(np.arange(1, rows) - 0.5, -0.5, columns - 0.5, color="white", linewidth=1.0)
    if columns <= MOST_LABELLED:
        axes.vlines(np.arange(1, columns) - 0.5, -0.5, rows - 0.5, color="white", linewidth=1.0)
