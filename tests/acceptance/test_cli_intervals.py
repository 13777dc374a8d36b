"""`sdc intervals`: an interval for each cell, whatever happens on the way. The table is that of [2], Figure
11.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from support.desk import sdc
from support.figure_11 import GRID, PRIMARY, drawn


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "drawn.jj"
    path.write_text(drawn())
    return path


def ends(path: Path) -> np.ndarray:
    """(cells, 2): LOW and HIGH."""
    with path.open() as lines:
        return np.array([[float(row["LOW"]), float(row["HIGH"])] for row in csv.DictReader(lines)])


def test_four_cells_with_the_width_of_the_levels(table, tmp_path):
    """Rows and columns must balance: the primary and three more cells of a rectangle, each
    10 down and 10 up, lose 4 · 20.
    """
    place, facts = tmp_path / "out.csv", tmp_path / "facts.json"
    run = sdc("intervals", table, "--blur", "0", "--out", place, "--json", facts)
    assert run.code == 0, run.complained
    low, high = ends(place).T
    wide = high > low
    assert (low[PRIMARY], high[PRIMARY]) == (30, 50)
    assert wide.sum() == 4
    assert np.array_equal(high[wide] - GRID.ravel()[wide], np.full(4, 10))
    assert np.array_equal(GRID.ravel()[wide] - low[wide], np.full(4, 10))
    assert np.array_equal(low[~wide], GRID.ravel()[~wide])
    told = json.loads(facts.read_text())
    assert (told["objective"], told["bound"], told["intervals"], told["unprotected"]) == (80, 80, 4, 0)
    assert "16 cells, 8 relations, 1 primaries" in run.complained


def test_enlarged_levels_hide_where_in_its_interval_a_value_lies(table, tmp_path):
    """The same seed gives the same file; other seeds give other intervals, none narrower than the levels."""
    found = []
    for name, seed in (("one", 1), ("two", 1), ("three", 2)):
        assert sdc("intervals", table, "--seed", seed, "--out", tmp_path / f"{name}.csv").code == 0
        low, high = ends(tmp_path / f"{name}.csv")[PRIMARY]
        assert low <= 30
        assert high >= 50
        found.append((low, high))
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    assert found[0] != found[2]
    assert {low + high for low, high in found} != {80}


def test_ends_are_multiples_of_the_unit(table, tmp_path):
    assert sdc("intervals", table, "--unit", "25", "--blur", "0", "--out", tmp_path / "out.csv").code == 0
    low, high = ends(tmp_path / "out.csv").T
    wide = high > low
    assert (low[PRIMARY], high[PRIMARY]) == (25, 50)
    assert set(np.concatenate([low[wide], high[wide]]) % 25) == {0}


def test_a_table_with_dimensions(tmp_path):
    table, place = tmp_path / "table.csv", tmp_path / "out.csv"
    rows = [
        f"M{i},P{j},{GRID[i - 1, j - 1]},{'u,10,10' if (i, j) == (2, 3) else 's,0,0'}"
        for i in (1, 2, 3)
        for j in (1, 2, 3)
    ]
    table.write_text("TOWN,JOB,VALUE,STATUS,LPL,UPL\n" + "\n".join(rows) + "\n")
    run = sdc("intervals", table, "--dims", "TOWN,JOB", "--blur", "0", "--out", place)
    assert run.code == 0, run.complained
    lines = place.read_text().splitlines()
    assert lines[0] == "TOWN,JOB,LOW,HIGH"
    assert "M2,P3,30,50" in lines
    assert "TOTAL,TOTAL,309,309" in lines


def test_a_level_beyond_what_the_relations_allow_is_told(tmp_path):
    path, place = tmp_path / "stuck.jj", tmp_path / "out.csv"
    path.write_text(drawn(statuses="zzzzzzuzzzzzzzzz"))
    run = sdc("intervals", path, "--out", place)
    assert (run.code, place.exists()) == (3, False)
    assert "cell 6: its relations (1, 6) give it away" in run.complained
    assert "--blur 0" in run.complained


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--unit", "0"), "--unit: a number above 0"),
        (("--dims", "A,B"), "brings its own relations"),
        (("--out", "no/such/folder.csv"), "cannot be written"),
    ],
)
def test_options_that_cannot_be(table, options, message):
    assert sdc("intervals", table, *options).refused(message, "Remedy: ")


def test_a_primary_without_a_level_is_refused(tmp_path):
    path = tmp_path / "bare.jj"
    path.write_text(drawn(level=0))
    assert sdc("intervals", path).refused("cell 6: primary without a level", "Remedy: ")


def test_a_time_limit_of_nothing_writes_nothing_or_what_is_safe(table, tmp_path):
    facts = tmp_path / "facts.json"
    run = sdc("intervals", table, "--seconds", "0", "--json", facts)
    assert (run.code, json.loads(facts.read_text())["unprotected"]) in {(0, 0), (3, 1)}
