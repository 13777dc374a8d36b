"""One picture of a perturbation table: for each count, a bar cut into the steps, each as long as it is
likely. SVG or PNG; the same table gives the same bytes.
"""

from __future__ import annotations

import matplotlib as mpl
from matplotlib.figure import Figure

from sdc_tasks.methods.perturb.ptable import PerturbationTable
from sdc_tasks.report.cta_figures import STYLE, ImageFormat, bare, picture

MOST_ROWS = 30  # of the table; more do not fit


def plot_noise(table: PerturbationTable, image: ImageFormat = "svg") -> bytes:
    """The first rows of the table from count 1 on; a later count is as the last one where rows do not take
    turns.
    """
    shown = table.rows[1 : MOST_ROWS + 1]
    shades = mpl.colormaps["coolwarm"]
    reach = max(table.largest, 1)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.0, 1.2 + 0.28 * len(shown)), layout="constrained")
        axes = figure.subplots()
        bare(axes)
        for place, row in enumerate(shown):
            for step, p, upper in zip(row.steps.tolist(), row.p.tolist(), row.upper.tolist(), strict=True):
                axes.barh(place, p, left=upper - p, height=0.8, color=shades(0.5 + step / (2 * reach)))
                if p > 0.04:
                    axes.text(upper - p / 2, place, f"{step:+d}" if step else "0", ha="center", va="center")
        axes.set_yticks(range(len(shown)), [str(count) for count in range(1, len(shown) + 1)])
        axes.invert_yaxis()
        axes.set_xlim(0, 1)
        axes.set_ylabel("count")
        axes.set_title("probability of each step", loc="left", fontsize=11)
        return picture(figure, image)
