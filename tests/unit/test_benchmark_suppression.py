"""What `make bench-suppression` writes: a row for each method that took the table, gaps to the best
bound of any, absent tables told.
"""

from __future__ import annotations

from datetime import UTC, datetime

from benchmarks.document import NONE
from benchmarks.suppression_run import NOT_FOR_THIS, Record, drawn, page

EXACT = Record(
    "drawn",
    "exact",
    5.0,
    16,
    1,
    80.0,
    3,
    60.0,
    0.2,
    1.5,
    1.4,
    90.0,
    0,
    0.1,
    [[0.1, 300.0, 0.0], [1.5, 80.0, 60.0]],
)
COVER = Record(
    "drawn",
    "cover",
    5.0,
    16,
    1,
    100.0,
    4,
    0.0,
    None,
    0.1,
    5.0,
    80.0,
    None,
    0.1,
    [[0.1, 100.0, 0.0]],
    "",
    90.0,
    2,
)
PATHS = Record(
    "drawn", "paths", 5.0, 16, 1, None, None, 0.0, None, None, 0.0, 0.0, None, 0.1, [], NOT_FOR_THIS
)


def test_rows_by_hand():
    text = "\n".join(
        page(
            [EXACT, PATHS, COVER],
            {"far": "the file is not here"},
            "make bench-suppression",
            datetime(2026, 1, 2, tzinfo=UTC),
        )
    )
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in text.splitlines()
        if line.startswith("| drawn")
    ]
    assert [row[1] for row in rows] == ["exact", "cover, all hidden"]
    assert [row[8] for row in rows] == ["25.00 %", "40.00 %"]
    assert [row[-2] for row in rows] == ["0", NONE]
    assert [row[-1] for row in rows] == [NONE, "90, 2 at risk"]
    assert "the file is not here" in text
    assert "limit 5 s a pair" in text


def test_a_picture_of_what_was_found():
    image = drawn([EXACT, PATHS, COVER]).decode()
    assert "drawn" in image
    assert image.count("seconds") == 1
