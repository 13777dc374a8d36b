"""`sdc suppress` with instructions for single cells and with earlier patterns. The table is that of [2],
Figure 11.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from support.desk import sdc
from support.figure_11 import GRID, drawn

CHEAPEST = "msmsmsusssssssss"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "drawn.jj"
    path.write_text(drawn())
    return path


def statuses(jj: Path) -> str:
    lines = jj.read_text().splitlines()
    return "".join(line.split()[3] for line in lines[2 : 2 + int(lines[1])])


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_instructions_change_primaries_levels_costs_and_what_stays_open(table, tmp_path):
    """(1,1) stays open; (2,2) is dear beyond all others; (3,3) becomes primary with
    levels of its own, (2,3) is safe.
    """
    given = written(tmp_path, "cells.hst", "# of the desk\n0,p\n6,s\n10,u\n10,pl,5,6\n5,c,1000\n")
    out, facts = tmp_path / "out.jj", tmp_path / "facts.json"
    run = sdc("suppress", table, "--apriori", given, "--out", out, "--json", facts)
    assert run.code == 0, run.complained
    assert statuses(out)[0] == "z"
    assert statuses(out)[10] == "u"
    assert out.read_text().splitlines()[12].split()[6:] == ["5", "6", "0"], "the levels are those of the file"
    # rectangles with the primary 42 at (3,3) that use neither (1,1) nor (2,2): columns 1, 3 and rows 2, 3
    # cost 38 + 40 + 40; columns 2, 3 and rows 1, 3 cost 24 + 28 + 39
    assert statuses(out) == "zmmssssssmusssss"
    assert json.loads(facts.read_text())["objective"] == 24 + 28 + 39


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("99,u", "line 1: 99 is no cell of the table"),
        ("\n6,x", "line 2: 6: x is no instruction"),
        ("6", "line 1: a key of 1 codes and what to do"),
        ("3,c", "line 1: 3: c takes 1 numbers, not 0"),
        ("3,pl,1", "line 1: 3: pl takes 2 or 3 numbers, not 1"),
        ("3,c,many", "line 1: 3: a number of c is not a number"),
        ("3,c,-1", "line 1: 3: a number below 0"),
        ("6,z", "line 1: cell 6: it is primary and must not stay open"),
        ("3,u", "line 1: cell 3: primary without a level"),
        ("3,pl,1,1", "line 1: cell 3: levels of a cell that is not primary"),
        ("3,z\n3,s", "line 2: cell 3: {file}, line 1 says the same of it, or another thing"),
    ],
)
def test_instructions_that_cannot_be(table, tmp_path, lines, message):
    given = written(tmp_path, "cells.hst", lines)
    run = sdc("suppress", table, "--apriori", given, "--out", tmp_path / "out.jj")
    assert run.refused(f"{given}, " + message.format(file=given), "Remedy: ")
    assert not (tmp_path / "out.jj").exists()


def test_what_was_open_stays_open(table, tmp_path):
    """The cheapest pattern would hide cells that were open: it is not to be had any more."""
    before = written(tmp_path, "before.jj", drawn(statuses="smmssmusssssssss"))
    out = tmp_path / "out.jj"
    assert sdc("suppress", table, "--out", out).code == 0
    assert statuses(out) == CHEAPEST
    run = sdc("suppress", table, "--previous", before, "--out", out)
    assert run.code == 0, run.complained
    assert statuses(out) == "smmssmusssssssss"


def test_what_was_published_cannot_be_called_back(table, tmp_path):
    for text, told in (
        (drawn(statuses="ssssssssssusssss"), "cell 6: it published this primary cell"),
        (
            drawn(GRID * 2, statuses=CHEAPEST),
            "cell 1, cell 3, cell 5, cell 7, cell 8 and 7 more: it published this cell with",
        ),
        (drawn(statuses=CHEAPEST, relations=7), "its cells and relations are not those of the table"),
    ):
        before = written(tmp_path, "before.jj", text)
        assert sdc("suppress", table, "--previous", before).refused(f"{before}: {told}", "Remedy: ")


def test_a_pattern_moves_only_where_that_pays(table, tmp_path):
    """Last year hid a pattern that costs 24 + 28 + 38 = 90 now, the cheapest one costs 86."""
    last = written(tmp_path, "last.jj", drawn(GRID + 0, statuses="smmssmusssssssss"))
    out, facts = tmp_path / "out.jj", tmp_path / "facts.json"
    for discount, expected, far in (("1", CHEAPEST, (2, 2, 2)), ("10", "smmssmusssssssss", (4, 0, 0))):
        assert (
            sdc(
                "suppress", table, "--keep", last, "--keep-discount", discount, "--out", out, "--json", facts
            ).code
            == 0
        )
        told = json.loads(facts.read_text())
        assert (statuses(out), (told["kept"], told["hidden_now"], told["opened_now"])) == (expected, far)
    assert told["objective"] == pytest.approx(9.0)


def test_a_discount_needs_a_pattern_and_is_at_least_one(table, tmp_path):
    assert sdc("suppress", table, "--keep-discount", "3").refused("--keep-discount needs --keep", "Remedy: ")
    last = written(tmp_path, "last.jj", drawn(statuses=CHEAPEST))
    assert sdc("suppress", table, "--keep", last, "--keep-discount", "0.5").refused("at least 1", "Remedy: ")


# --- a table with dimensions: the same by codes -------------------------------------------------------------


def crossed(folder: Path, name: str, grid: np.ndarray = GRID) -> Path:
    rows = [
        f"M{i},P{j},{grid[i - 1, j - 1]},{'u,10,10' if (i, j) == (2, 3) else 's,,'}"
        for i in (1, 2, 3)
        for j in (1, 2, 3)
    ]
    return written(folder, name, "\n".join(["TOWN,JOB,VALUE,STATUS,LPL,UPL", *rows, ""]))


def hidden(table: Path) -> set[str]:
    rows = [line.split(",") for line in table.read_text().splitlines()[1:]]
    return {".".join(row[:2]) for row in rows if row[3] in "um"}


def test_what_is_given_by_codes(tmp_path):
    """What one run wrote is the earlier pattern of the next; an instruction keeps a cell of it open."""
    table, out, given = crossed(tmp_path, "table.csv"), tmp_path / "out.csv", tmp_path / "cells.hst"
    given.write_text("M1,P1,z\nM3,TOTAL,c,1\n")
    assert sdc("suppress", table, "--dims", "TOWN,JOB", "--apriori", given, "--out", out).code == 0
    first = hidden(out)
    assert first == {"M2.P3", "M1.P2", "M1.P3", "M2.P2"}
    assert "M1,P1,20,z,,," in out.read_text().splitlines()
    again = tmp_path / "again.csv"
    run = sdc("suppress", table, "--dims", "TOWN,JOB", "--previous", out, "--out", again)
    assert (run.code, hidden(again)) == (0, first), run.complained
    assert sdc("suppress", table, "--dims", "TOWN,JOB", "--keep", out, "--out", again).code == 0
    assert hidden(again) == first
    assert sdc("suppress", table, "--dims", "TOWN,JOB", "--out", again).code == 0
    assert hidden(again) == {"M2.P3", "M1.P1", "M1.P3", "M2.P1"}


def test_another_period_is_no_earlier_publication_of_this_one(tmp_path):
    """Cells that were open have other values now: with --previous they are named, with --keep they do not
    matter.
    """
    table, last, out = (
        crossed(tmp_path, "table.csv"),
        crossed(tmp_path, "last.csv", GRID + 1),
        tmp_path / "out.csv",
    )
    assert sdc("suppress", last, "--dims", "TOWN,JOB", "--out", out).code == 0
    run = sdc("suppress", table, "--dims", "TOWN,JOB", "--previous", out)
    assert run.refused(f"{out}: ", "it published this cell with another value", "Remedy: ", "--keep")
    assert sdc("suppress", table, "--dims", "TOWN,JOB", "--keep", out).code == 0
    kept = out.read_text().splitlines()
    out.write_text("\n".join(line for line in kept if not line.startswith("M3,P1")) + "\n")
    assert sdc("suppress", table, "--dims", "TOWN,JOB", "--previous", out).refused(
        "M3.P1: it does not have this cell", "Remedy: "
    )
