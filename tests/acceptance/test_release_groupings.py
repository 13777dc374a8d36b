"""A domain whose activities add up in two ways: a special aggregate beside the tree, from the delivery to the
published table.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from support.deliveries import PERIOD
from support.desk import Desk, new_desk, sdc, warehouse

# TOTAL = C + D + E, and X = C + D. AT hides C.S with C.L, and E, X with them; BE hides nothing.
HIDES = """
            _T      S       L
    TOTAL   900 F   450 F   450 F
    C       300 F   120 A   180 D
    D       300 F   170 F   130 F
    E       300 F   160 D   140 D
    X       600 F   290 D   310 D
"""
SHOWS = """
            _T      S       L
    TOTAL  1800 F   800 F  1000 F
    C       600 F   200 F   400 F
    D       600 F   300 F   300 F
    E       600 F   300 F   300 F
    X      1200 F   500 F   700 F
"""
TREE = "code,parent,label\nTOTAL,,\nC,TOTAL,\nD,TOTAL,\nE,TOTAL,\n"
GROUPED = "codelist: activities.csv, groupings: [x.csv]}"
EU = {"C": ("S", "L"), "E": ("S", "L")}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = new_desk(tmp_path, AT=HIDES, BE=SHOWS)
    (tmp_path / "activities.csv").write_text(TREE)
    (tmp_path / "x.csv").write_text("code,part,label\nX,C,Special aggregate\nX,D,\n")
    made.settle("codelist: activities.csv}", GROUPED)
    return made


def ungrouped(desk: Desk) -> None:
    """The same codes, and nobody says that X is a sum of others."""
    desk.settle(GROUPED, "codelist: activities.csv}")
    (desk.folder / "activities.csv").write_text(TREE + "X,,\n")


def exact_but(withheld: dict[str, tuple[str, ...]]) -> list[tuple[str, str, str, float | str, str]]:
    """EU exact, but for these cells."""
    rows: list[tuple[str, str, str, float | str, str]] = []
    for line, other in zip(HIDES.strip().splitlines()[1:], SHOWS.strip().splitlines()[1:], strict=True):
        (code, *mine), (_, *theirs) = line.split(), other.split()
        for size, one, two in zip(("_T", "S", "L"), mine[::2], theirs[::2], strict=True):
            value: float | str = "" if size in withheld.get(code, ()) else int(one) + int(two)
            rows.append(("EU", code, size, value, ""))
    return rows


def test_a_release_withstands_what_the_special_aggregate_tells(desk: Desk) -> None:
    evidence = desk.folder / "evidence.json"
    ended = desk.release("out", "--witnesses", evidence)
    assert ended.code == 0, ended.complained
    out = desk.folder / "out"
    with (out / "table.csv").open(newline="", encoding="utf-8") as lines:
        rows = {(row["ACTIVITY"], row["SIZECLASS"]): row for row in csv.DictReader(lines)}
    assert set(rows) == {(code, size) for code in ("TOTAL", "C", "D", "E", "X") for size in ("_T", "S", "L")}

    def is_exact(code: str, size: str) -> bool:
        row = rows[code, size]
        return bool(row["OBS_VALUE"]) and not row["ROUNDING_BASE"]

    assert is_exact("TOTAL", "_T")
    for size in ("S", "L"):
        assert not is_exact("C", size)
        assert not (is_exact("X", size) and is_exact("D", size)), "their difference is C"
    audited = desk.audit(out / "table.csv")
    assert audited.code == 0, audited.text
    proof = ("--certificate", out / "audit.json", "--witnesses", evidence)
    verified = sdc("verify-certificate", *desk.where, "--published", out / "table.csv", *proof)
    assert verified.code == 0, verified.text
    assert warehouse(out).unsound == []


def test_a_table_that_ignores_the_sum_is_not_safe(desk: Desk) -> None:
    """EU C and E are withheld. Less D, the exact X tells C: only who knows the sum can say so."""
    table = desk.publish(exact_but(EU))
    known = desk.audit(table)
    assert known.code == 3, known.text
    assert "AT.TURNOVER.C.S" in known.text
    ungrouped(desk)
    silent = desk.audit(table)
    assert silent.code == 0, silent.text


def test_a_delivery_that_does_not_add_up_to_it_is_refused(desk: Desk) -> None:
    desk.deliver("BE", SHOWS.replace("X      1200 F   500 F   700 F", "X      1201 F   500 F   701 F"))
    ended = desk.release()
    assert ended.code != 0
    with (desk.folder / "out" / "findings.csv").open(newline="", encoding="utf-8") as lines:
        found = {row["CODE"]: row["CELL"] for row in csv.DictReader(lines) if row["COUNTRY"] == "BE"}
    assert found["additivity"] == "BE.TURNOVER.X.L BE.TURNOVER.X._T"


def test_a_grouping_with_an_unknown_code_is_refused_with_its_line(desk: Desk) -> None:
    (desk.folder / "x.csv").write_text("code,part\nX,C\nX,Q\n")
    assert desk.release().refused("x.csv, line 3: Q, a part of X, is no code of activities.csv", "Remedy")
    assert not (desk.folder / "out" / "table.csv").exists()
    assert PERIOD not in desk.audit(desk.domain).said


def without_x(drawing: str) -> str:
    return "\n".join(line for line in drawing.splitlines() if not line.strip().startswith("X"))


def test_a_special_aggregate_may_come_after_a_version_that_is_out(desk: Desk) -> None:
    """What the first version published stays known, and the second one keeps its promises with it."""
    desk.settle(GROUPED, "codelist: activities.csv}")
    for country, drawing in (("AT", HIDES), ("BE", SHOWS)):
        desk.deliver(country, without_x(drawing))
    first = desk.release()
    assert first.code == 0, first.text
    desk.settle("codelist: activities.csv}", GROUPED)
    for country, drawing in (("AT", HIDES), ("BE", SHOWS)):
        desk.deliver(country, drawing, f"{country}_{PERIOD}_v2.csv")
    second = desk.release()
    assert second.code == 0, second.text
    out = desk.folder / "out"
    assert warehouse(out).versions == [1, 2]
    assert warehouse(out).unsound == []
    with (out / "table.csv").open(newline="", encoding="utf-8") as lines:
        rows = {(row["ACTIVITY"], row["SIZECLASS"]): row for row in csv.DictReader(lines)}
    assert len(rows) == 15


def test_totals_outside_the_tree_have_a_place_in_the_report(desk: Desk) -> None:
    """W stands two steps below Y, and in no branch of the tree."""
    (desk.folder / "x.csv").write_text("code,part,label\nY,X,\nY,E,\nX,C,\nX,W,\nW,D,The second of them\n")
    for country, drawing in (("AT", HIDES), ("BE", SHOWS)):
        lines = drawing.strip("\n").splitlines()
        more = [lines[1].replace("TOTAL", "Y    "), lines[3].replace("D ", "W ", 1)]
        desk.deliver(country, "\n".join(["", *lines, *more, ""]))
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert "The second of them" in (desk.folder / "out" / "report.html").read_text()
