"""What `make bench-rival` writes, by hand; and that its tables are those that it says."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from math import prod

from benchmarks.document import NONE
from benchmarks.suppression_rival_run import Record, page, summary
from benchmarks.suppression_rival_tables import SHAPES, tables

FOUND = Record(
    "drawn",
    cells=495,
    primaries=100,
    theirs=100.0,
    their_wall=10.0,
    their_cpu=4.0,
    at_risk=2,
    ours=80.0,
    bound=60.0,
    ended="work",
    wall=30.0,
    cpu=20.0,
    reached=2.0,
    reached_cpu=1.0,
    load=1.0,
)
NEVER = replace(FOUND, name="hard", ours=120.0, at_risk=0, reached=None, reached_cpu=None)


def test_rows_and_sums_by_hand() -> None:
    text = "\n".join(
        page([FOUND, NEVER], {"far": "the rival: TimeoutExpired"}, "make", datetime(2026, 1, 2, tzinfo=UTC))
    )
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in text.splitlines()
        if line.startswith(("| drawn", "| hard"))
    ]
    assert [row[8] for row in rows] == ["25.0 %", "50.0 %"]
    assert [row[-2:] for row in rows] == [["0.20", "0.25"], [NONE, NONE]]
    assert "the rival: TimeoutExpired" in text
    said = summary([FOUND, NEVER])
    assert "Of 2 tables ours cost no more on 1, less on 1." in said
    assert "(× 0.20)" in said
    assert "leaves primaries at risk on 1." in said
    assert summary([NEVER]) == "Of 1 tables ours cost no more on none."


def test_sixty_tables_of_the_sizes_that_are_said_the_same_each_time() -> None:
    """A dimension of n codes has n + 1 with its total, and with g groups of n: g · n + g + 1."""
    drawn = tables()
    assert len({each.name for each in drawn}) == len(drawn) == 60
    sizes = [
        prod(size + 1 if isinstance(size, int) else size[0] * size[1] + size[0] + 1 for size in shape)
        for shape in SHAPES
    ]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (495, 4913)
    assert tables()[7].codes == drawn[7].codes
    grouped = next(each for each in drawn if each.parents)
    ((name, lines),) = grouped.as_hrc().items()
    assert lines[0] == f"{name}G0"
    assert {line.removeprefix("@") for line in lines if line[0] == "@"} == set(grouped.parents[name])
