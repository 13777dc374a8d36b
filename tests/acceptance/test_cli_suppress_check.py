"""`sdc suppress --check`: a finished pattern is judged, whoever made it. The table is that of
[2], Figure 11.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support import figure_11
from support.desk import sdc
from support.figure_11 import GRID

PRIMARY, SAFE = "ssssssusssssssss", "msmsmsusssssssss"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.jj"
    path.write_text(figure_11.drawn(GRID, PRIMARY))
    return path


@pytest.mark.parametrize(
    ("pattern", "code", "said"),
    [
        (SAFE, 0, "safe"),
        (PRIMARY, 3, "not shown to be protected: cell 6"),
        ("msmsmsssssssssss", 3, "not shown to be protected: cell 6"),  # the primary itself is shown
        ("msssmsusssssssss", 3, "not shown to be protected: cell 6"),
    ],
)
def test_a_pattern_is_judged_and_what_it_leaves_at_risk_is_named(table, tmp_path, pattern, code, said):
    made, facts = tmp_path / "made.jj", tmp_path / "facts.json"
    made.write_text(figure_11.drawn(GRID, pattern))
    run = sdc("suppress", table, "--check", made, "--json", facts)
    assert (run.code, said in run.said) == (code, True), run.text
    told = json.loads(facts.read_text())
    assert (told["safe"], told["keys"], told["secondaries"]) == (
        code == 0,
        [] if code == 0 else ["cell 6"],
        pattern.count("m"),
    )
    assert ("NOT SAFE" in run.said) == (code == 3)


def test_what_was_written_is_its_own_pattern(table, tmp_path):
    assert sdc("suppress", table, "--out", tmp_path / "out.jj").code == 0
    assert sdc("suppress", tmp_path / "out.jj", "--check", tmp_path / "out.jj").code == 0


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--out", "out.jj"), "--check judges a pattern"),
        (("--seconds", "3"), "--check judges a pattern"),
        (("--plot", "out.svg"), "--check judges a pattern"),
    ],
)
def test_a_search_and_a_check_at_once_are_refused(table, tmp_path, options, named):
    made = [tmp_path / each if "." in each else each for each in options]
    assert sdc("suppress", table, "--check", table, *made).refused(named, "Remedy: ")


def test_the_pattern_of_another_table_is_refused(table, tmp_path):
    other = tmp_path / "other.jj"
    other.write_text(figure_11.drawn(2 * GRID, SAFE))
    assert sdc("suppress", table, "--check", other).refused("cell 1,", "with another value", "Remedy: ")


def test_a_table_with_dimensions_and_microdata(tmp_path):
    """Whoever stands behind a cell, the pattern is judged against him as well."""
    table, made, firms = tmp_path / "table.csv", tmp_path / "made.csv", tmp_path / "firms.csv"
    table.write_text(
        "A,B,VALUE,STATUS,LPL,UPL,SINGLETON\nx,1,10,u,3,3,1\nx,2,20,u,3,3,1\ny,1,30,s,,,0\ny,2,40,s,,,0\n"
    )
    made.write_text(
        "A,B,VALUE,STATUS\nTOTAL,TOTAL,100,s\nTOTAL,1,40,s\nTOTAL,2,60,s\n"
        "x,TOTAL,30,s\nx,1,,u\nx,2,,u\ny,TOTAL,70,s\ny,1,,m\ny,2,,m\n"
    )  # fmt: skip
    asked = ("suppress", table, "--dims", "A,B", "--check", made)
    alone = sdc(*asked)
    assert (alone.code, "x.1, x.2" in alone.said) == (3, True), (
        alone.text
    )  # each knows his own, and has the other's from the open total
    table.write_text(table.read_text().replace("SINGLETON", "NOTE"))
    assert sdc(*asked).code == 0
    table.write_text(table.read_text().replace("y,2,40", "y,2,41"))
    assert sdc(*asked).refused("with another value")
    made.write_text(made.read_text().replace("y,2,,m\n", ""))
    assert sdc(*asked).refused("it does not have this cell")
    firms.write_text(
        "A,B,VALUE\n"
        + "".join(f"{a},{b},{v}\n" for a in "xyz" for b in "123" for v in (5, 60, 70, 80))
        + "x,4,1\ny,4,99\nz,4,80\n"
    )
    rules = ("protect", firms, "--dims", "A,B", "--p", "10")
    assert sdc(*rules, "--out", made).code == 0
    assert sdc(*rules, "--check", made).code == 0
    made.write_text(made.read_text().replace(",m,", ",s,"))
    assert sdc(*rules, "--check", made).code == 3


def test_linked_tables_are_judged_together(tmp_path):
    """What the first table hides, the second one shows."""

    def drawn(values: tuple[int, int, int], statuses: str) -> str:
        cells = [
            f"{i} {v} 1 {s} 0 100 {2 * (s == 'u')} {2 * (s == 'u')} 0"
            for i, (v, s) in enumerate(zip(values, statuses, strict=True))
        ]
        return "\n".join(["0", "3", *cells, "1", "0 3 : 0 (-1) 1 (1) 2 (1)", ""])

    first, second, links, folder = (
        tmp_path / "first.jj",
        tmp_path / "second.jj",
        tmp_path / "links.csv",
        tmp_path / "made",
    )
    folder.mkdir()
    first.write_text(drawn((10, 4, 6), "sus"))
    second.write_text(drawn((10, 5, 5), "sss"))
    links.write_text("link,table,cell,coefficient\n1,first,0,\n1,second,0,\n")
    for patterns, code in ((("mus", "sss"), 3), (("mus", "mms"), 0), (("sum", "sss"), 0)):
        (folder / "first.jj").write_text(drawn((10, 4, 6), patterns[0]))
        (folder / "second.jj").write_text(drawn((10, 5, 5), patterns[1]))
        assert sdc("suppress", first, second, "--link", links, "--check", folder).code == code, patterns
