"""One picture of how rounding changed a table of counts: tables 4 to 8 of [4]. SVG or PNG; the
same facts give the same bytes.

Left: the published cells by count, before rounding, after it, and after the simple method. Right: how far the
published cells moved, by their original count.
"""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from sdc_tasks.methods.rounding.small_count.measures import Table
from sdc_tasks.report.cta_figures import (
    ACCENT,
    DECADES,
    HELD,
    QUIET,
    STYLE,
    UNMOVED,
    ImageFormat,
    bare,
    picture,
)

PUBLISHED = "published "
KINDS = {"original": QUIET, "rounded": ACCENT, "simply rounded": HELD}


def plot_rounding(frequencies: Table, differences: Table, simple: Table, image: ImageFormat = "svg") -> bytes:
    """`frequencies` and `differences` of a rounding, and the differences of the `simple`
    method: the tables of `measures.py`.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11.0, 4.4), layout="constrained")
        left, right = figure.subplots(1, 2)
        _draw_frequencies(left, frequencies)
        _draw_differences(right, differences, simple)
        return picture(figure, image)


def _draw_frequencies(axes: Axes, table: Table) -> None:
    bare(axes)
    classes = table.columns[:-1]
    at = np.arange(len(classes))
    for place, (kind, colour) in enumerate(KINDS.items()):
        counts = dict(table.rows)[f"published, {kind}"][:-1]
        axes.bar(at + (place - 1) * 0.28, counts, width=0.26, color=colour, label=kind)
    axes.set_yscale("symlog", linthresh=1.0)
    axes.set_ylim(0, 10 * max(axes.get_ylim()[1], 1.0))  # room for the legend
    axes.set_xticks(at, classes, rotation=30, ha="right")
    axes.set_title("published cells by count", loc="left", fontsize=11)
    axes.legend(frameon=False, ncols=len(KINDS), loc="upper right")


def _draw_differences(axes: Axes, table: Table, simple: Table) -> None:
    """A bar for each class of originals, rounded above simply rounded, shaded by |difference|."""
    bare(axes)
    names = [name for name in table.columns if name.startswith(PUBLISHED)]
    colours = (UNMOVED, *DECADES)
    steps = [name for name, _ in max(table.rows, simple.rows, key=len)]
    if len(steps) > len(colours):  # the last colour is for all further classes
        steps = [*steps[: len(colours) - 1], f"{steps[len(colours) - 1].partition('-')[0].rstrip('+')}+"]
    for place, source in ((-0.2, table), (0.2, simple)):
        counts = np.zeros((len(steps), len(names)))
        for step, (_, row) in enumerate(source.rows):
            counts[min(step, len(steps) - 1)] += [row[source.columns.index(name)] for name in names]
        shares = counts / np.maximum(counts.sum(axis=0), 1.0)
        start = np.zeros(len(names))
        for share, colour, step_name in zip(shares, colours, steps, strict=False):
            axes.barh(
                np.arange(len(names)) + place,
                share,
                0.36,
                left=start,
                color=colour,
                edgecolor=QUIET,
                linewidth=0.3,
                label=step_name if source is table else None,
            )
            start = start + share
    axes.set_yticks(np.arange(len(names)), [name.removeprefix(PUBLISHED) for name in names])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_title(
        "|difference| by original count: rounded, below it simply rounded", loc="left", fontsize=11
    )
    axes.legend(title="|difference|", frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
