"""The plots of the results: best tables and bounds over time, and how time grows with the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from benchmarks.measure import METHODS, Record
from benchmarks.registry import REGISTRY
from sdc_tasks.model.table import Floats
from sdc_tasks.report.cta_figures import ACCENT, HELD, QUIET, STYLE, bare, picture, scale_time, short

COLOURS = {"auto": ACCENT, "bcd": "#10663f", "cbc": HELD, "highs": "#6b4fa0"}
SIGNS = {"one": "w = 1", "inverse": "w = 1/a", "inverse_sqrt": "w = 1/√a"}
GOALS = (
    ("inverse_sqrt", 1.40, "#8fb8a4"),
    ("inverse_sqrt", 1.10, HELD),
    ("inverse_sqrt", 1.08, "#10663f"),
)  # ratios whose time is drawn
LOWEST, HIGHEST = 0.6, 4.0  # times the best bound: what is worse is not drawn
PALE = 0.5  # how bounds are drawn
Bounds = Mapping[tuple[str, str], float]


def progress(records: Sequence[Record], bounds: Bounds) -> bytes:
    """One panel per kind of weights: best table / best bound and bound / best bound over
    time, each with a mark at its end.
    """
    kinds = list(dict.fromkeys(record.pair.weights for record in records))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(1.2 + 3.2 * len(kinds), 3.4), layout="constrained")
        panels = figure.subplots(1, len(kinds), squeeze=False)[0]
        for axes, weights in zip(panels, kinds, strict=True):
            here = [record for record in records if record.pair.weights == weights]
            bare(axes)
            axes.set_title(SIGNS.get(weights, weights), loc="left", fontsize=11)
            axes.set_xlabel("seconds")
            _panel(axes, here, bounds[here[0].pair.instance, weights])
        panels[0].set_ylabel("÷ best bound")
        methods = [method for method in METHODS if any(record.pair.method == method for record in records)]
        keys: list[Artist] = [Patch(color=COLOURS[method], label=method) for method in methods]
        keys += [Line2D([], [], color=QUIET, marker="o", markersize=4.5, label="best table")]
        keys += [Line2D([], [], color=QUIET, marker="s", markersize=3.5, alpha=PALE, label="bound")]
        figure.legend(handles=keys, loc="outside right upper", frameon=False)
        return picture(figure, "svg")


def _panel(axes: Axes, records: Sequence[Record], bound: float) -> None:
    end = max(record.seconds for record in records)
    lowest, highest = 1.0, 1.0
    scale_time(axes, np.array([at for record in records for at, _, _ in record.history] + [end]))
    for record in records if bound > 0 else []:
        colour = COLOURS[record.pair.method]
        times = np.array(
            [at for at, _, _ in record.history]
            + [max([record.seconds, *(at for at, _, _ in record.history)])]
        )
        tables = _last_again([np.nan if best is None else best / bound for _, best, _ in record.history])
        proven = _last_again([lower / bound if lower > 0 else np.nan for _, _, lower in record.history])
        axes.step(times, tables, where="post", color=colour, linewidth=1.5)
        axes.step(times, proven, where="post", color=colour, linewidth=1.5, alpha=PALE)
        axes.plot(times[-1:], tables[-1:], "o", color=colour, markersize=4.5)
        axes.plot(times[-1:], proven[-1:], "s", color=colour, markersize=3.5, alpha=PALE)
        known = np.concatenate([tables, proven])
        lowest, highest = float(np.nanmin([lowest, *known])), float(np.nanmax([highest, *known]))
    axes.axhline(1.0, color=QUIET, linewidth=0.6)
    lowest, highest = max(lowest, LOWEST), min(highest, HIGHEST)
    room = 0.06 * (highest - lowest) or 0.05
    axes.set_ylim(lowest - room, highest + room)


def _last_again(values: list[float]) -> Floats:
    return np.array([*values, values[-1] if values else np.nan])


def growth(records: Sequence[Record], bounds: Bounds) -> bytes | None:
    """Seconds to the ratios of GOALS against n, both logarithmic, with the fitted power of
    n; None where nothing reached it.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 4.0), layout="constrained")
        axes = figure.subplots()
        bare(axes)
        drawn = [
            _points(axes, [r for r in records if r.pair.weights == goal[0]], *goal, bounds) for goal in GOALS
        ]
        if not any(drawn):
            return None
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
            axis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("cells n")
        axes.set_ylabel("seconds")
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, high / 10), high * 1.2)
        figure.legend(frameon=False, loc="outside upper left")
        return picture(figure, "svg")


def _points(
    axes: Axes, records: Sequence[Record], weights: str, goal: float, colour: str, bounds: Bounds
) -> bool:
    found = []
    for record in records:
        reached = record.reached(goal * bounds[record.pair.instance, weights])
        if REGISTRY[record.pair.instance].group == "sbs" and reached is not None:
            found.append((record.cells, max(reached, 1e-3)))
    if not found:
        return False
    n, seconds = np.array(sorted(found), dtype=float).T
    label = f"{SIGNS[weights]}, ratio {goal:g}"
    if len(found) >= 3:
        power, level = np.polyfit(np.log(n), np.log(seconds), 1)
        axes.plot(n, np.exp(level) * n**power, color=colour, linewidth=0.8)
        label += f": time ~ n^{power:.2f}"
    axes.plot(n, seconds, "o", color=colour, label=label)
    return True
