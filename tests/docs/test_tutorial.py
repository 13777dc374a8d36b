"""The tutorial, done as it says: its commands, and what they print."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
FIGURES = ROOT / "docs" / "tutorial" / "figures.csv"
DOMAIN = ROOT / "docs" / "tutorial" / "c2229.yaml"


def shown(name: str) -> list[str]:
    """The lines of the block that the tutorial marks so."""
    found = re.search(rf"<!-- {name} -->\n```\n(.*?)```\n<!-- end -->", TEXT, re.DOTALL)
    assert found is not None
    return found[1].splitlines()


def done(*command: object) -> str:
    ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=ROOT, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of the tutorial, and what the release printed."""
    folder = tmp_path_factory.mktemp("tutorial")
    assert "28 deliveries" in done(
        sys.executable, ROOT / "docs" / "tutorial" / "deliveries.py", "2017", folder / "inbox"
    )
    assert "28 deliveries" in TEXT
    where = ["--domain", DOMAIN, "--period", "2017", "--inbox", folder / "inbox"]
    return folder, done(Path(sys.executable).with_name("sdc"), "release", *where, "--out", folder / "out")


@pytest.mark.slow
def test_the_release_prints_what_the_tutorial_shows(released: tuple[Path, str]):
    _, said = released
    assert [line for line in shown("release") if line not in said] == []


def test_the_table_is_what_the_tutorial_shows(released: tuple[Path, str]):
    folder, _ = released
    with (folder / "out" / "table.csv").open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    head, *told = shown("table")
    assert {tuple(line.split(",")) for line in told} <= {
        tuple(row[column] for column in head.split(",")) for row in rows
    }


@pytest.mark.slow
def test_the_table_is_safe_from_the_outside(released: tuple[Path, str]):
    folder, _ = released
    where = ["--domain", DOMAIN, "--period", "2017", "--inbox", folder / "inbox"]
    assert "safe: 0 one-sided" in done(
        Path(sys.executable).with_name("sdc"), "audit", *where, "--published", folder / "out" / "table.csv"
    )


@pytest.mark.slow
def test_the_second_table_is_what_the_tutorial_shows(released: tuple[Path, str]):
    folder, _ = released
    made = done(
        sys.executable, ROOT / "docs" / "tutorial" / "deliveries.py", "2017", folder / "sizes", "sizes"
    )
    assert "28 deliveries" in made
    sizes = ROOT / "docs" / "tutorial" / "c2229_sizes.yaml"
    where = ["--domain", sizes, "--period", "2017", "--inbox", folder / "sizes"]
    warehouse = f"sqlite:///{folder / 'out' / 'warehouse.db'}"
    sdc = Path(sys.executable).with_name("sdc")
    said = done(sdc, "release", *where, "--warehouse", warehouse, "--out", folder / "by_size")
    assert [line for line in shown("linked") if line not in said] == []
    with (folder / "by_size" / "table.csv").open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    head, *told = shown("by size")
    assert {tuple(line.split(",")) for line in told} == {
        tuple(row[column] for column in head.split(",")) for row in rows
    }


def test_the_deliveries_are_parts_of_what_the_tutorial_shows(released: tuple[Path, str]):
    folder, _ = released
    sent = (folder / "inbox" / "LU_2017.csv").read_text(encoding="utf-8").splitlines()
    assert [line for line in TEXT.splitlines() if line.startswith("TEST:C2229") and line not in sent] == []


def test_the_figures_are_those_of_eurostat():
    """2017: Luxembourg is confidential in four of five indicators, and nobody else is in any."""
    with FIGURES.open(newline="", encoding="utf-8") as lines:
        hidden = [
            (row["geo\\TIME_PERIOD"], row["indic_sb"])
            for row in csv.DictReader(lines)
            if "@C" in row["2017_flag"]
        ]
    assert {country for country, _ in hidden} == {"LU"}
    assert len(hidden) == 4
