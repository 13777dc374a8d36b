"""The pictures of CTA: they say what the history and the table say, and the same facts give the
same bytes.
"""

from __future__ import annotations

import base64
import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import colors, image

from sdc_tasks.model.time.moment import Moment
from sdc_tasks.report.cta_figures import (
    DECADES,
    UNMOVED,
    decades,
    plot_deviations,
    plot_history,
    short,
    steps,
)

HISTORY = [
    Moment(0.1, None, 0.0, "first"),
    Moment(0.2, None, 800.0, "polygon"),
    Moment(0.4, 1500.0, 800.0, "first"),
    Moment(3.0, 1250.0, 1000.0, "search"),
]


def texts(svg: bytes) -> list[str]:
    """Every text of an SVG in the order of the file."""
    return [
        "".join(element.itertext()).strip()
        for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    ]


def pixels(svg: bytes) -> np.ndarray:
    """The embedded picture as colours in hexadecimal."""
    found = re.search(rb"data:image/png;base64,([^\"]*)", svg)
    assert found is not None
    raster = image.imread(io.BytesIO(base64.b64decode(found[1])))
    return np.array([[colors.to_hex(pixel) for pixel in row] for row in raster])


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_same_facts_give_the_same_bytes_and_other_facts_others(kind):
    z = np.array([[3.0, 0.0], [-40.0, 1.0]])
    assert plot_history(HISTORY, "Σ|z|", kind) == plot_history(list(HISTORY), "Σ|z|", kind)
    assert plot_history(HISTORY, "Σ|z|", kind) != plot_history(HISTORY[:-1], "Σ|z|", kind)
    assert plot_deviations(z, ["A", "B"], "cells", "euro", kind) == plot_deviations(
        z.copy(), ["A", "B"], "cells", "euro", kind
    )
    assert plot_deviations(z, ["A", "B"], "cells", "euro", kind) != plot_deviations(
        z * 10, ["A", "B"], "cells", "euro", kind
    )


@pytest.mark.parametrize(
    ("history", "title"),
    [
        (HISTORY, "Σ|z|: 1\u202f250, gap 20\u202f%"),
        (HISTORY[:3], "Σ|z|: 1\u202f500, gap 47\u202f%"),
        (HISTORY[:2], "Σ|z|: no protected table; bound 800"),
        ([], "Σ|z|: nothing found"),
        ([Moment(0.1, 5.0, 5.0, "milp")], "Σ|z|: 5, proven optimal"),
        ([Moment(0.1, 0.0, 0.0, "milp")], "Σ|z|: 0, proven optimal"),
        ([Moment(0.1, 7.0, 0.0, "bcd")], "Σ|z|: 7, no bound"),
    ],
)
def test_the_title_of_a_history_is_its_outcome(history, title):
    assert title in texts(plot_history(history, "Σ|z|"))


def test_lines_are_named_only_where_there_is_something_to_draw():
    assert {"best table", "bound"} <= set(texts(plot_history(HISTORY, "Σ|z|")))
    assert "best table" not in texts(plot_history(HISTORY[:2], "Σ|z|"))
    assert "bound" not in texts(plot_history([Moment(0.1, 7.0, 0.0, "bcd")], "Σ|z|"))


def test_steps_know_nothing_before_the_first_table_and_the_first_bound():
    times, tables, bounds = steps(HISTORY)
    assert times.tolist() == [0.1, 0.2, 0.4, 3.0]
    assert np.isnan(tables).tolist() == [True, True, False, False]
    assert np.isnan(bounds).tolist() == [True, False, False, False]


def test_a_decade_has_a_class_and_what_stayed_has_its_own():
    classes, labels = decades(np.array([0.0, 0.5, 7.0, 10.0, 99.0, 1e-12]))
    assert labels == ["0", "0.1 to 1", "1 to 10", "10 to 100"]
    assert classes.tolist() == [0, 1, 2, 3, 3, 0]  # 1e-12 is what a solver leaves


def test_small_decades_share_the_lowest_class_where_colours_run_out():
    classes, labels = decades(10.0 ** np.arange(8))
    assert len(labels) == 1 + len(DECADES)
    assert labels[1] == "below 1\u202f000"
    assert classes.tolist() == [1, 1, 1, 2, 3, 4, 5, 6]


def test_areas_are_sorted_by_how_much_they_moved_and_cells_keep_their_order():
    z = np.array([[0.0, 5.0, 0.0], [0.0, -300.0, 20.0], [-50.0, 0.0, 0.0]])
    svg = plot_deviations(z, ["LITTLE", "MOST", "MORE"], "cells", "thousand euro")
    assert [text for text in texts(svg) if text in {"LITTLE", "MOST", "MORE"}] == ["MOST", "MORE", "LITTLE"]
    low, middle, high = DECADES[-3:]
    assert pixels(svg).tolist() == [
        [UNMOVED, high, middle],
        [middle, UNMOVED, UNMOVED],
        [UNMOVED, low, UNMOVED],
    ]
    assert texts(svg)[-5:] == ["|deviation|, thousand euro", "0", "1 to 10", "10 to 100", "100 to 1\u202f000"]


def test_a_table_in_which_nothing_moved_can_be_drawn():
    assert (pixels(plot_deviations(np.zeros((2, 4)), ["A", "B"], "cells", "euro")) == UNMOVED).all()


def test_no_date_and_no_program_in_the_file():
    assert b"<dc:date>" not in plot_history(HISTORY, "Σ|z|")
    assert b"Software" not in plot_history(HISTORY, "Σ|z|", "png")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.25, "0.25"),
        (1e-7, "0.0000001"),
        (26.01723, "26.02"),
        (1844.4, "1\u202f844"),
        (1_844_772, "1.845 million"),
        (-2e9, "-2 billion"),
    ],
)
def test_numbers_are_short_and_never_exponents(number, text):
    assert short(number) == text
