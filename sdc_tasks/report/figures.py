"""The plots of the report as inline SVG: no file, no script, no address; the same facts give the same bytes.

Plots are drawn in two placeholder colours, which become the text and accent colours of the page: they
follow its light and dark scheme.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sdc_tasks.report.facts import Histogram

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, ACCENT = "#010203", "#040506"
AXIS_POINTS = 440.0  # width of the axis of the histogram
DIGIT = 0.66  # width of a digit, in font sizes
AXIS_CHARACTERS = 36  # characters under the axis of the histogram
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "sdc",
    # text stays text: it can be read aloud, searched, and set in the font of the page
    "svg.fonttype": "none",
    "font.size": 11.0,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def percent(ratio: float) -> str:
    """A ratio in percent with two significant digits: 0.0153 is 1.5 %."""
    return _hundredths(ratio) + "\u202f%"


def histogram(facts: Histogram) -> str:
    """Rounded cells by relative base; every bar is one bin of the 1-2-5 ladder, so the axis is
    logarithmic.
    """
    import matplotlib as mpl  # imported here: every step that names the report would wait for it
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 2.9))
        axes = figure.subplots()
        bars = axes.bar(range(len(facts.counts)), facts.counts, width=0.86, align="edge", color=ACCENT)
        room = AXIS_POINTS / max(len(facts.counts), 1) / len(str(max(facts.counts, default=0)))
        axes.bar_label(bars, padding=2, fontsize=min(STYLE["font.size"], room / DIGIT))
        axes.set_xticks([i - 0.07 for i in range(len(facts.edges))], _labels(facts.edges))
        axes.set_xlim(-0.3, len(facts.counts) + 0.16)
        axes.set_xlabel("base in percent of the published value")
        axes.set_ylabel("cells")
        axes.set_yticks([])
        axes.margins(y=0.12)
        axes.spines[["top", "right", "left"]].set_visible(False)
        figure.tight_layout()
        return _inline(
            figure,
            "Histogram of the relative bases of the rounded cells; the same counts are in the table below.",
        )


def _labels(edges: Sequence[float]) -> list[str]:
    """The edges in percent; only powers of ten where there is no room for all."""
    labels = [_hundredths(edge) for edge in edges]
    return (
        labels
        if sum(map(len, labels)) <= AXIS_CHARACTERS
        else [label if label.strip("0.") == "1" else "" for label in labels]
    )


def _hundredths(ratio: float) -> str:
    number = float(f"{100 * ratio:.2g}")
    return f"{number:.12f}".rstrip("0").rstrip(".")


def _inline(figure: Figure, label: str) -> str:
    """The <svg> element alone, without ids and addresses that a page does not need."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|font-family: [^;]*; ", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)
    svg = re.sub(
        r'<svg [^>]*?viewBox="([^"]*)"[^>]*>',
        rf'<svg viewBox="\1" role="img" aria-label="{label}">',
        svg,
        count=1,
    )
    return svg.replace(INK, "currentColor").replace(ACCENT, "var(--accent)")
