"""Pictures of controlled tabular adjustment, each in a file of its own: SVG or PNG; the
same facts give the same bytes.

    plot_history      best table and proven bound over time; the area between them is the gap
    plot_deviations   Figure 1 of [1]: areas × cells of one area, coloured by the size of |z| in decades

They show how far cells moved, never what they held.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.time.moment import Moment
from sdc_tasks.model.tolerances import ZERO

ImageFormat = Literal["svg", "png"]

# The colours of the report page in its light scheme.
INK, QUIET, ACCENT, HELD = "#16202b", "#566472", "#2a6fae", "#b4460f"
UNMOVED = "#f6f7f9"
DECADES = ("#cfe2f0", "#a1c8e3", "#62a3cf", "#2a6fae", "#0b3a73", "#06132b")  # |z| from small to large
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "sdc",
    "svg.fonttype": "none",  # text stays text: it can be read aloud and searched
    "font.family": "sans-serif",
    "font.size": 10.0,
    "text.color": INK,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
}
WIDE = 5.0  # ratio of largest to smallest value from which a value axis is logarithmic
WIDE_TIME = 30.0  # the same for the time axis
FIRST_SECONDS = 0.01  # seconds: where a logarithmic time axis may begin
ROUND = [1, 2, 5, 10]  # ticks are multiples of these
NAMED_AREAS = 60  # up to this number of areas, each row has the name of its area


def plot_history(
    history: Sequence[Moment], objective_label: str, image: ImageFormat = "svg", found: str = "table"
) -> bytes:
    """The best objective and the proven bound over time as steps, with the gap between them
    shaded. `found`: "table" or "pattern".
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        axes = figure.subplots()
        bare(axes)
        axes.set_title(f"{objective_label}: {_verdict(history, found)}", loc="left", fontsize=11)
        axes.set_xlabel("seconds")
        times, tables, bounds = steps(history)
        scale_values(axes, np.concatenate([tables, bounds]))
        scale_time(axes, times[np.isfinite(tables) | np.isfinite(bounds)])
        times, tables, bounds = _to_the_edge(axes, times, tables, bounds)
        axes.fill_between(times, bounds, tables, step="post", color=ACCENT, alpha=0.12, linewidth=0)
        draw_steps(axes, times, bounds, HELD, "bound", above=False)
        draw_steps(axes, times, tables, ACCENT, f"best {found}", above=True)
        return picture(figure, image)


def plot_deviations(
    z: Floats, areas: Sequence[str], cells_label: str, unit: str, image: ImageFormat = "svg"
) -> bytes:
    """Figure 1 of [1]: |z| of z (areas, cells of one area) in `unit`, the area that moves most at
    the top; one colour per decade.
    """
    size = np.abs(z)
    order = np.argsort(-size.sum(axis=1), kind="stable")
    classes, labels = decades(size)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.6, 1.5 + 0.15 * min(len(areas), NAMED_AREAS)), layout="constrained")
        axes = figure.subplots()
        colours = (UNMOVED, *DECADES[len(DECADES) - len(labels) + 1 :])
        axes.imshow(
            classes[order],
            ListedColormap(colours),
            vmin=-0.5,
            vmax=len(labels) - 0.5,
            aspect="auto",
            interpolation="none",
            origin="upper",
        )
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        axes.set_yticks([])
        if len(areas) <= NAMED_AREAS:
            axes.set_yticks(range(len(areas)), [areas[i] for i in order], fontsize=8)
            axes.hlines(
                np.arange(1, len(areas)) - 0.5, -0.5, size.shape[1] - 0.5, color="white", linewidth=0.8
            )
        axes.xaxis.set_major_locator(MaxNLocator(8, steps=ROUND, integer=True))
        axes.set_xlabel(cells_label)
        keys = [
            Patch(facecolor=colour, edgecolor=QUIET, linewidth=0.4, label=label)
            for colour, label in zip(colours, labels, strict=True)
        ]
        figure.legend(
            handles=keys,
            title=f"|deviation|, {unit}",
            loc="outside right center",
            frameon=False,
            alignment="left",
        )
        return picture(figure, image)


def steps(history: Sequence[Moment]) -> tuple[Floats, Floats, Floats]:
    """(seconds, best objective, bound), each (moments,); NaN where there is no table, or no bound above 0."""
    times = np.array([moment.seconds for moment in history])
    tables = np.array([np.nan if moment.objective is None else moment.objective for moment in history])
    bounds = np.array([moment.bound if moment.bound > 0 else np.nan for moment in history])
    return times, tables, bounds


def decades(size: Floats) -> tuple[Ints, list[str]]:
    """The class of every size, with the shape of `size`, and the labels of the classes from the smallest. 0
    has its own class; the others are powers of ten up to the largest size.

    There are at most as many classes as colours: smaller sizes fall into the lowest.
    """
    moved = size > ZERO * size.max(initial=0.0)
    if not moved.any():
        return np.zeros(size.shape, dtype=np.int64), ["0"]
    power = np.zeros(size.shape, dtype=np.int64)
    power[moved] = np.floor(np.log10(size[moved])).astype(np.int64)
    top, smallest = int(power[moved].max()), int(power[moved].min())
    lowest = max(smallest, top - len(DECADES) + 1)
    classes = np.where(moved, np.maximum(power, lowest) - lowest + 1, 0)
    labels = [f"{short(10.0**k)} to {short(10.0 ** (k + 1))}" for k in range(lowest, top + 1)]
    if smallest < lowest:
        labels[0] = f"below {short(10.0 ** (lowest + 1))}"
    return classes, ["0", *labels]


def short(number: float) -> str:
    """At most four digits, with a word for millions: 0.25, 1 844, 1.845 million."""
    for size, word in ((1e12, " trillion"), (1e9, " billion"), (1e6, " million")):
        if abs(number) >= size:
            return f"{number / size:.4g}{word}"
    digits = (
        f"{number:,.0f}"
        if abs(number) >= 1000
        else np.format_float_positional(float(f"{number:.4g}"), trim="-")
    )
    return digits.replace(",", "\u202f")


def bare(axes: Axes) -> None:
    """Removes the box around the axes, except for the two axis lines."""
    axes.spines[["top", "right"]].set_visible(False)


def scale_time(axes: Axes, times: Floats) -> None:
    """Makes the time axis logarithmic where the last moment is much later than the first."""
    late = float(times.max(initial=0.0))
    early = max(float(times[times > 0].min(initial=late)), FIRST_SECONDS)
    if late > WIDE_TIME * early:
        axes.set_xscale("log")
        axes.set_xlim(early, late * 1.1)
        axes.xaxis.set_major_locator(
            LogLocator(subs=(1.0, 2.0, 5.0) if late < 100 * early else (1.0,), numticks=12)
        )
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_xlim(0, late * 1.05 or 1.0)
        axes.xaxis.set_major_locator(MaxNLocator(6, steps=ROUND))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))


def scale_values(axes: Axes, values: Floats) -> None:
    """Makes the value axis logarithmic where the values differ much, with room for a label above
    and below.
    """
    known = values[np.isfinite(values)]
    if not len(known):
        axes.set_yticks([])
        return
    low, high = float(known.min()), float(known.max())
    if low > 0 and high > WIDE * low:
        axes.set_yscale("log")
        room = (high / low) ** 0.12
        axes.set_ylim(low / room, high * room)
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=8))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        room = 0.12 * (high - low) or 0.1 * high or 1.0
        axes.set_ylim(max(0.0, low - room), high + room)
        axes.yaxis.set_major_locator(MaxNLocator(6, steps=ROUND))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))


def draw_steps(
    axes: Axes, times: Floats, values: Floats, colour: str, label: str, above: bool, line: str = "-"
) -> None:
    """A step line with its name at the right end, a little above or below it."""
    known = np.flatnonzero(np.isfinite(values))
    if not len(known):
        return
    axes.step(times, values, line, where="post", color=colour, linewidth=1.6)
    axes.annotate(
        label,
        (times[known[-1]], values[known[-1]]),
        (4, 0),
        textcoords="offset points",
        va="bottom" if above else "top",
        color=colour,
        annotation_clip=False,
    )


def picture(figure: Figure, image: ImageFormat) -> bytes:
    """The bytes of the file, without a date or the name of a program."""
    buffer = io.BytesIO()
    figure.savefig(
        buffer, format=image, dpi=150, metadata={"Date": None} if image == "svg" else {"Software": None}
    )
    return buffer.getvalue()


def _verdict(history: Sequence[Moment], found: str) -> str:
    if not history:
        return "nothing found"
    last = history[-1]
    if last.objective is None:
        return f"no protected {found}; bound {short(last.bound)}"
    if last.objective <= last.bound or last.objective == 0:
        return f"{short(last.objective)}, proven optimal"
    if last.bound <= 0:
        return f"{short(last.objective)}, no bound"
    return f"{short(last.objective)}, gap {100 * (last.objective - last.bound) / last.objective:.2g}\u202f%"


def _to_the_edge(axes: Axes, times: Floats, *values: Floats) -> list[Floats]:
    """The steps, extended to the right edge with their last values."""
    if not len(times):
        return [times, *values]
    return [np.append(times, axes.get_xlim()[1]), *(np.append(value, value[-1]) for value in values)]
