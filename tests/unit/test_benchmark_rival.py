"""What `make bench-rival` writes, by hand; and that its tables are those that it says."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from math import prod
from pathlib import Path

from benchmarks.document import NONE
from benchmarks.suppression_rival_run import Pattern, Record, page, summary
from benchmarks.suppression_rival_tables import SHAPES, as_hrc, public, tables


def pattern(cost: float, cpu: float, at_risk: int = 0, at_risk_lone: int = 0) -> Pattern:
    return Pattern(cost=cost, at_risk=at_risk, at_risk_lone=at_risk_lone, wall=2 * cpu, cpu=cpu)


DRAWN = Record(  # the rival's optimal method leaves two at risk, its modular one is safe, also from the lone
    name="drawn",
    cells=495,
    primaries=100,
    alone=7,
    theirs={"OPT": pattern(100.0, 4.0, at_risk=2, at_risk_lone=5), "MOD": pattern(120.0, 1.0, 0, 1)},
    ours=pattern(80.0, 2.0, at_risk_lone=6),
    bound=60.0,
    reached={"OPT": 1.0, "MOD": 3.0},
    lone=pattern(125.0, 10.0, at_risk_lone=1),
    hopeless=1,
    load=1.0,
)
HARD = replace(  # the optimal method did not end, nor ours against the lone
    DRAWN, name="hard", theirs={"MOD": pattern(70.0, 1.0)}, reached={"MOD": None}, lone=None
)


def cells(lines: str, *begin: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in lines.splitlines()
        if line.startswith(tuple(f"| {each}" for each in begin))
    ]


def test_rows_by_hand() -> None:
    reasons = {"far": "the rival: TimeoutExpired"}
    text = "\n".join(page([DRAWN, HARD], reasons, "make", datetime(2026, 1, 2, tzinfo=UTC)))
    drawn, hard = cells(text, "drawn", "hard")
    assert drawn[4:10] == ["100", "2, 5", "4.00", "120", "0, 1", "1.00"]
    assert drawn[10:] == ["80", "0, 6", "25.0 %", "2.00", "1.00", "3.00", "125", "0, 1", "10", "1"]
    assert hard[4:7] == [NONE] * 3
    assert hard[14:19] == [NONE] * 5
    assert "the rival: TimeoutExpired" in text


def test_sums_by_hand() -> None:
    told = cells(summary([DRAWN, HARD]), "OPT", "MOD")
    assert told[0][1:] == [
        "outsiders", "1 of 1", "0", "0 of 0", "none", "4: 2 (× 0.50), slower on 0 of 1",
        "4: 1 (× 0.25), later on 0 of 1",
    ]  # fmt: skip
    assert told[1][1:6] == ["lone respondents", "1 of 1", "0", "0 of 0", "none"]
    assert told[2][1:6] == ["outsiders", "0 of 2", "0", "1 of 2", "hard"]
    assert told[2][-1] == "1: 3 (× 3.00), later on 1 of 1"
    assert told[3][1:6] == ["lone respondents", "0 of 1", "0", "0 of 1", "drawn"]


def test_public_tables_are_read_with_levels_of_both_sides(tmp_path: Path) -> None:
    """A cell of two units keeps a tenth of its value, at least 1; another what p% asks of the shares."""
    (tmp_path / "codelists").mkdir()
    (tmp_path / "deliveries").mkdir()
    (tmp_path / "codelists/activity.csv").write_text("code,parent\nTOTAL,\nD10,TOTAL\nD101,D10\n")
    (tmp_path / "codelists/sizeclass.csv").write_text("code,parent\n_T,\nS5,_T\n")
    head = "ACTIVITY;SIZECLASS;OBS_VALUE;CONF_STATUS;UNITS;SHARE_1;SHARE_2\n"
    rows = "TOTAL;_T;250;F;9;;\nD10;S5;40;A;2;;\nD101;S5;5;A;1;;\nD101;_T;200,5;M;4;90;8\n"
    (tmp_path / "deliveries/R01.csv").write_text("\ufeff" + head + rows)
    (table,) = public(tmp_path)
    assert table.cells["SECRET"].tolist() == [0, 1, 1, 1]
    largest, rest = 200.5 * 0.905, 200.5 * (1 - 0.905 - 0.075)
    assert table.cells["LEVEL"].round(9).tolist() == [0, 4, 1, round(0.1 * largest - rest, 9)]
    assert table.roots == {"ACTIVITY": "TOTAL", "SIZECLASS": "_T"}
    assert as_hrc(table.trees["ACTIVITY"]) == ["D10", "@D101"]
    assert [table.alone({"ACTIVITY": code, "SIZECLASS": "S5"}) for code in ("D10", "D101", "TOTAL")] == [
        False, True, False,
    ]  # fmt: skip


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
    ((name, tree),) = grouped.trees.items()
    lines = as_hrc(tree)
    assert lines[0] == f"{name}G0"
    assert {line.removeprefix("@") for line in lines if line[0] == "@"} == set(grouped.parents[name])
