"""`sdc suppress` of tables with dimensions, CSV and Parquet: the table of [2], Figure 11, with codes;
what is no table is told by line.
"""

from __future__ import annotations

import csv
import io
import json
import stat
from pathlib import Path

import pandas as pd
import pytest

from sdc_tasks.methods.suppression.names import METHODS
from support.desk import Ended, sdc

CSV = """TOWN,JOB,VALUE,STATUS,LPL,UPL,COST,COUNT
M1,P1,20,s,,,1,5
M1,P2,24,s,,,1,5
M1,P3,28,s,,,1,5
M2,P1,38,s,,,1,5
M2,P2,38,s,,,1,5
M2,P3,40,u,10,10,1,2
M3,P1,40,s,,,1,5
M3,P2,39,s,,,1,5
M3,P3,42,s,,,1,5
"""
TOTALS = [
    ("M1", "TOTAL", 72),
    ("M2", "TOTAL", 116),
    ("M3", "TOTAL", 121),
    ("TOTAL", "P1", 98),
    ("TOTAL", "P2", 101),
    ("TOTAL", "P3", 110),
    ("TOTAL", "TOTAL", 309),
]
WHOLE = CSV + "".join(f"{town},{job},{value},s,,,9,50\n" for town, job, value in TOTALS)
FIGURE_11 = {("M1", "P1"), ("M1", "P3"), ("M2", "P1")}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(WHOLE)
    return path


def suppressed(file: Path, *options: object, dims: str = "TOWN,JOB") -> tuple[Ended, list[dict[str, str]]]:
    out = file.parent / "out.csv"
    out.unlink(missing_ok=True)
    ended = sdc("suppress", file, "--dims", dims, "--out", out, *options)
    return ended, list(csv.DictReader(out.open(encoding="utf-8"))) if out.exists() else []


@pytest.mark.parametrize(
    "text",
    [WHOLE, CSV, WHOLE.replace("20,s,,,1,5", "20,s,,,,"), WHOLE.replace("COST,COUNT", "COUNT,COST")],
    ids=["whole", "totals added up", "a gap", "the other way round"],
)
def test_costs_and_counts_of_the_table_are_kept(table: Path, text: str) -> None:
    """Whoever goes on with what was written still has them; no search of this table needed them."""
    table.write_text(text)
    ended, rows = suppressed(table)
    assert ended.code == 0, ended.text
    given = {(row["TOWN"], row["JOB"]): row for row in csv.DictReader(io.StringIO(text))}
    for row in rows:
        before = given.get((row["TOWN"], row["JOB"]), {"COST": "", "COUNT": ""})
        assert (row["COST"], row["COUNT"]) == (before["COST"], before["COUNT"])
    if text == WHOLE:
        asked = ("--cost", "frequency", "--json", table.with_name("f.json"))
        again = sdc("suppress", table.with_name("out.csv"), "--dims", "TOWN,JOB", *asked)
        assert again.code == 0, again.text


def test_counts_under_another_name_are_kept(table: Path) -> None:
    table.write_text(WHOLE.replace("COUNT", "FIRMS"))
    ended, rows = suppressed(table, "--count", "FIRMS", "--cost", "frequency")
    assert ended.code == 0, ended.text
    assert [row["COUNT"] for row in rows if row["STATUS"] == "u"] == ["2"]


def marked(rows: list[dict[str, str]], status: str = "m") -> set[tuple[str, str]]:
    return {(row["TOWN"], row["JOB"]) for row in rows if row["STATUS"] == status}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_the_pattern_of_figure_11(table, method):
    facts = table.parent / "facts.json"
    ended, rows = suppressed(table, "--method", method, "--json", facts)
    assert ended.code == 0, ended.complained
    assert (marked(rows), marked(rows, "u"), len(rows)) == (FIGURE_11, {("M2", "P3")}, 16)
    assert list(rows[0]) == ["TOWN", "JOB", "VALUE", "STATUS", "LPL", "UPL", "SPL", "COST", "COUNT"]
    assert sum(float(row["VALUE"]) for row in rows) == 4 * 309
    told = json.loads(facts.read_text())
    assert (told["objective"], told["unprotected"], told["primaries"], told["cells"]) == (86.0, 0, 1, 16)
    assert ("alone" in told) == (method in {"hypercube", "hitas"})
    if "alone" in told:
        assert told["alone"] == {"objective": 86.0, "at_risk": 0, "keys": []}
    assert stat.S_IMODE((table.parent / "out.csv").stat().st_mode) == 0o600


def test_totals_without_a_line_are_added_up(table):
    table.write_text(CSV)
    ended, rows = suppressed(table)
    assert (ended.code, marked(rows)) == (0, FIGURE_11)
    assert {row["VALUE"] for row in rows if (row["TOWN"], row["JOB"]) == ("TOTAL", "TOTAL")} == {"309"}


def test_parquet_gives_the_same_as_csv(table):
    parquet = table.with_suffix(".parquet")
    pd.read_csv(table).to_parquet(parquet)
    _, of_csv = suppressed(table)
    ended, of_parquet = suppressed(parquet)
    assert ended.code == 0, ended.complained
    assert of_parquet == of_csv


def test_columns_of_other_names(table):
    table.write_text("TOWN;JOB;TURNOVER;SECRET;FAR\n" + "".join(
        f"{town};{job};{value};{int(status == 'u')};{lpl}\n"
        for town, job, value, status, lpl, *_ in (line.split(",") for line in CSV.splitlines()[1:])
    ))  # fmt: skip
    ended, rows = suppressed(table, "--value", "TURNOVER", "--primary", "SECRET", "--level", "FAR")
    assert ended.code == 0, ended.complained
    assert marked(rows) == FIGURE_11
    assert list(rows[0]) == ["TOWN", "JOB", "TURNOVER", "STATUS", "LPL", "UPL", "SPL"]


@pytest.mark.parametrize(
    "listed", ["code,parent\nALL,\nEAST,ALL\nM1,EAST\nM2,EAST\nM3,ALL\n", "EAST\n@M1\n@M2\nM3\n"]
)
@pytest.mark.parametrize("method", ["exact", "hypercube", "hitas"])
def test_a_hierarchy_of_either_kind(table, listed, method):
    codes = table.parent / ("codes.hrc" if "@" in listed else "codes.csv")
    codes.write_text(listed)
    table.write_text(CSV)
    ended, rows = suppressed(table, "--hierarchy", f"TOWN={codes}", "--method", method)
    assert ended.code == 0, ended.complained
    assert (len(rows), marked(rows)) == (5 * 4, FIGURE_11)


def test_costs_of_columns_and_dearer_margins(table):
    def objective(*options: object) -> float:
        facts = table.parent / "facts.json"
        ended, _ = suppressed(table, "--json", facts, *options)
        assert ended.code == 0, ended.complained
        return float(json.loads(facts.read_text())["objective"])

    table.write_text(WHOLE.replace("M1,P1,20,s,,,1,5", "M1,P1,20,s,,,70,1"))
    assert objective("--cost", "file") == 3
    assert objective("--cost", "COUNT") == 1 + 5 + 5
    assert objective("--cost", "frequency") == 11
    table.write_text(WHOLE.replace(",9,50", ",0.1,50"))
    assert objective("--cost", "file") == pytest.approx(0.3), "totals are cheap here"
    assert objective("--cost", "file", "--margins", "10") == pytest.approx(3), (
        "10 × 0.1 twice, 100 × 0.1 once: inner cells"
    )


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (WHOLE, ("--dims", "TOWN,TRADE"), "no column TRADE"),
        (WHOLE.replace("M3,P3,42,s,,,1,5\n", ""), (), "M3.P3: inner cells without a line"),
        (
            WHOLE.replace("M3,P3,42", "M3,P3,43"),
            (),
            "line 13: M3.TOTAL is not the sum of its parts, nor are 2 more: it is off by 0.0082",
        ),
        (WHOLE + "M1,P1,20,s,,,1,5\n", (), "line 18: M1.P1 stands in line 2 already"),
        (WHOLE.replace("M1,P1,20", "M1,P1,2_0"), (), "line 2: VALUE is not a number"),
        (WHOLE.replace("M2,P3,40,u,10,10", "M2,P3,40,u,-10,10"), (), "line 7: M2.P3: a level below 0"),
        (WHOLE.replace("M2,P3,40,u,10,10", "M2,P3,40,u,,"), (), "line 7: M2.P3: primary without a level"),
        (WHOLE.replace("M2,P3,40,u", "M2,P3,40,x"), (), "line 7: M2.P3: its STATUS is none of s u m z"),
        (WHOLE.replace("STATUS", "FLAG"), (), "nothing says which cells are primary"),
        (WHOLE, ("--primary", "COUNT"), "line 2: M1.P1: COUNT is neither 1 nor 0"),
        (WHOLE, ("--primary", "COUNT", "--status", "STATUS"), "contradict one another"),
        (WHOLE, ("--level", "LPL", "--lpl", "LPL"), "contradict one another"),
        (WHOLE, ("--status", "FLAG"), "no column FLAG"),
        (WHOLE, ("--count-file", "counts.csv"), "--count-file: for JJ files alone"),
        (WHOLE, ("--hierarchy", "TOWN"), "DIMENSION=FILE is expected"),
        (WHOLE.replace("M1,P2,24,s,,,1,5", "M1,P2,24,s,,,1"), (), "line 3: 7 fields, but 8 columns"),
        (WHOLE.replace("M1,P2", "\nM1,P2"), (), "line 3: 0 fields, but 8 columns"),
        (WHOLE.replace("COST,COUNT", "X,Y"), ("--cost", "frequency"), "no column COUNT"),
        (WHOLE.replace("20,s,,,1,5", "20,s,,,1,"), ("--cost", "frequency"), "M1.P1: no COUNT"),
        (
            WHOLE.replace("20,s,,,1,5", "1e300,s,,,1,5"),
            (),
            "line 2: VALUE is above 1e+18, so that sums are not exact",
        ),
        (WHOLE.replace("M1,P2", "M\0,P2"), (), "line 3: a NUL byte"),
        (WHOLE.replace("M1,P2", "Köln,P2").encode("cp1252"), (), "line 3: not in UTF-8"),
        (WHOLE.encode("utf-16"), (), "line 1: not in UTF-8"),
        (WHOLE, ("--dims", ""), "which columns are dimensions?"),
        ("", (), "no cells"),
        (WHOLE.rstrip("\n"), (), "line 17: the last line may be cut short. Remedy: end it with a line break"),
    ],
)
def test_what_is_no_table_is_told_by_line_and_remedy(table, content, options, message):
    table.write_bytes(content if isinstance(content, bytes) else content.encode())
    ended, rows = suppressed(table, *options)
    assert ended.refused(message, "Remedy: ")
    assert rows == []


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("towns.csv", "code,parent\nALL,\nM1,ALL\nM2,ALL\nM2,ALL\n", "line 5: M2 stands in line 4 already"),
        (
            "towns.csv",
            "code,parent\nALL,\nM1,ALL\nM2,NORTH\n",
            "line 4: NORTH, the parent of M2, is no code of the file",
        ),
        ("towns.csv", "code,parent\nM1,M2\nM2,M1\nM3,M1\n", "the parents of M1 form a cycle"),
        ("towns.csv", "code,parent\nALL,\nM1,ALL\nM2,ALL\n", "TOWN M3 is none of the codes in"),
        ("towns.hrc", "M1\nM2\nM2\n", "line 3: M2 stands in line 2 already"),
        ("towns.hrc", "M1\nTOTAL\n", "line 2: TOTAL is the total, which a .hrc does not list"),
    ],
)
def test_a_hierarchy_that_is_none_is_told_by_its_line(table, name, content, message):
    (table.parent / name).write_text(content)
    ended, rows = suppressed(table, "--hierarchy", f"TOWN={table.parent / name}")
    assert ended.refused(message, "Remedy: ")
    assert rows == []


def test_missing_cells_are_empty_where_one_says_so(table):
    table.write_text(CSV.replace("M3,P3,42,s,,,1,5\n", ""))
    ended, rows = suppressed(table, "--missing", "zero")
    assert ended.code == 0, ended.complained
    assert {row["STATUS"] for row in rows if (row["TOWN"], row["JOB"]) == ("M3", "P3")} == {"s"}


def test_a_jj_file_takes_no_dimensions_and_another_file_needs_them(table, tmp_path):
    jj = tmp_path / "table.jj"
    jj.write_text("0\n")
    assert sdc("suppress", jj, "--dims", "TOWN,JOB").refused("a JJ file brings its own relations", "Remedy: ")
    assert sdc("suppress", jj, "--value", "PAID").refused("a JJ file brings its own relations", "Remedy: ")
    assert sdc("suppress", table).refused("which columns are dimensions?", "Remedy: ")


def test_nothing_that_protects_names_the_cell_by_its_codes(table):
    table.write_text(WHOLE.replace(",s,", ",z,"))
    ended, rows = suppressed(table)
    assert (ended.code, rows) == (3, [])
    assert "M2.P3: its relations" in ended.complained


def test_what_is_given_beside_the_table_goes_by_codes(table):
    """A word on single cells, and the pattern of the last period, as for JJ."""
    words, last = table.parent / "cells.hst", table.parent / "last.csv"
    words.write_text("M1,P1,z\nM2,P3,pl,5,5\n")
    ended, rows = suppressed(table, "--apriori", words)
    assert ended.code == 0, ended.complained
    assert marked(rows) == {("M1", "P2"), ("M1", "P3"), ("M2", "P2")}
    assert marked(rows, "z") == {("M1", "P1")}
    last.write_text((table.parent / "out.csv").read_text())
    ended, rows = suppressed(table, "--keep", last)
    assert ended.code == 0, ended.complained
    assert marked(rows) == {("M1", "P2"), ("M1", "P3"), ("M2", "P2")}, "86 before, 90 / 10 now"
    ended, rows = suppressed(table, "--previous", last)
    assert marked(rows) == {("M1", "P2"), ("M1", "P3"), ("M2", "P2")}


def test_who_stands_behind_cells_counts(table):
    """Two cells of a row, each of one firm: of two firms a third cell must be hidden in the row;
    of one firm, or its holding, not.
    """
    both = WHOLE.replace("M2,P1,38,s,,,1,5", "M2,P1,38,u,1,1,1,1").replace(
        "M2,P3,40,u,10,10", "M2,P3,40,u,1,1"
    )
    of = {("M2", "P1"): "a", ("M2", "P3"): "a"}

    def behind(column: str, of: dict[tuple[str, str], str]) -> set[tuple[str, str]]:
        lines = both.splitlines()
        nobody = "0" if column == "SINGLETON" else ""
        told = [line + "," + of.get((line.split(",")[0], line.split(",")[1]), nobody) for line in lines[1:]]
        table.write_text("\n".join([f"{lines[0]},{column}", *told, ""]))
        ended, rows = suppressed(table, *(() if column.isupper() else ("--respondent", column)))
        assert ended.code == 0, ended.complained
        return marked(rows)

    assert behind("RESPONDENT", of) == {("M1", "P1"), ("M1", "P3")}
    assert behind("holding", of) == {("M1", "P1"), ("M1", "P3")}
    others = [
        behind("RESPONDENT", {**of, ("M2", "P3"): "b"}),
        behind("SINGLETON", {**of, ("M2", "P1"): "1", ("M2", "P3"): "1"}),
    ]
    assert others[0] == others[1]
    assert sum(town == "M2" for town, _ in others[0]) >= 1
    table.write_text(table.read_text().replace("M1,P1,20,s,,,1,5,0", "M1,P1,20,s,,,1,5,1"))
    ended, _ = suppressed(table)
    assert ended.refused("M1.P1: a singleton that is no primary cell", "Remedy: ")


def test_a_minimum_of_contributors_behind_what_is_hidden(table):
    """5 + 2 firms are hidden in the row of the primary: with at least 8, a third cell of the row is, or its
    total.
    """
    facts = table.parent / "facts.json"
    ended, rows = suppressed(table, "--min-contributors", "7", "--json", facts)
    assert (ended.code, marked(rows)) == (0, FIGURE_11), ended.complained
    ended, rows = suppressed(table, "--min-contributors", "8", "--json", facts)
    assert ended.code == 0, ended.complained
    assert {("M2", "P1"), ("M2", "P2")} <= marked(rows) or ("M2", "TOTAL") in marked(rows)
    told = json.loads(facts.read_text())
    assert told["objective"] > 86 >= told["bound"]
    table.write_text(
        WHOLE.replace("M2,P1,38,s", "M2,P1,38,z")
        .replace("M2,P2,38,s", "M2,P2,38,z")
        .replace("COUNT", "FIRMS")
    )
    ended, _ = suppressed(table, "--min-contributors", "8")
    assert ended.refused("no column COUNT", "Remedy: ")
    ended, rows = suppressed(table, "--min-contributors", "80", "--count", "FIRMS")
    assert (ended.code, ("M2", "TOTAL") in marked(rows)) == (0, True), (
        "no parts are enough, so that the totals are hidden"
    )
