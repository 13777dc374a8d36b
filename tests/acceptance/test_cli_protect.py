"""`sdc protect`: microdata or a table in, confidential cells by rules, a table with a safe pattern out."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd
import pytest

import sdc_tasks
from support.desk import Ended, sdc

# Three regions, three branches, four firms a cell; two cells with fewer.
FIRMS = {("N", "C"): [10, 8, 6, 5], ("N", "D"): [31, 3, 2, 1], ("N", "E"): [9, 9, 8, 8],
         ("M", "C"): [20, 19, 15, 12], ("M", "D"): [14, 13, 12, 9], ("M", "E"): [11, 10, 10, 9],
         ("S", "C"): [25], ("S", "D"): [7, 7, 6, 6], ("S", "E"): [40, 38, 37, 20]}  # fmt: skip
SECRET = {("S", "C"), ("N", "D")}  # one firm; 10 % of 31 > 37 − 31 − 3


def records() -> list[dict[str, object]]:
    rows, number = [], 0
    for (region, branch), sizes in FIRMS.items():
        for size in sizes:
            number += 1
            rows.append(
                {
                    "REGION": region,
                    "BRANCH": branch,
                    "TURNOVER": size,
                    "FIRM": f"f{number}",
                    "GROUP": "",
                    "WAIVED": 0,
                    "ASKED": 0,
                }
            )
    return rows


@pytest.fixture
def microdata(tmp_path: Path) -> Path:
    path = tmp_path / "firms.csv"
    pd.DataFrame(records()).to_csv(path, index=False)
    return path


def protected(file: Path, *options: object) -> tuple[Ended, dict[tuple[str, str], str], dict[str, object]]:
    out, facts = file.parent / "out.csv", file.parent / "facts.json"
    for path in (out, facts):
        path.unlink(missing_ok=True)
    ended = sdc(
        "protect",
        file,
        "--dims",
        "REGION,BRANCH",
        "--value",
        "TURNOVER",
        "--out",
        out,
        "--json",
        facts,
        *options,
    )
    if not out.exists():
        return ended, {}, {}
    with out.open(encoding="utf-8") as stream:
        rows = {(row["REGION"], row["BRANCH"]): row["STATUS"] for row in csv.DictReader(stream)}
    return ended, rows, json.loads(facts.read_text())


def marked(rows: dict[tuple[str, str], str], status: str = "u") -> set[tuple[str, str]]:
    return {key for key, found in rows.items() if found == status}


def test_cells_of_one_firm_and_dominated_ones_are_primary_and_protected(microdata):
    ended, rows, facts = protected(microdata, "--p", "10", "--min-frequency", "3")
    assert ended.code == 0, ended.complained
    assert marked(rows) == SECRET
    assert marked(rows, "m"), "each is alone in its row and column"
    assert len(rows) == 16
    assert (
        facts["primary_by_p"],
        facts["primary_by_frequency"],
        facts["primaries"],
        facts["unprotected"],
    ) == (2, 1, 2, 0)
    assert facts["status"] == "optimal"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--min-frequency", "3"), {("S", "C")}),
        (("--nk", "1,80"), SECRET),
        (("--nk", "1,85"), {("S", "C")}),
        (("--nk", "2,56"), SECRET | {("N", "C"), ("M", "C"), ("M", "D"), ("S", "E")}),
        (("--p", "10", "--q", "20"), SECRET),
    ],
)
def test_each_rule_by_hand(microdata, options, expected):
    """(n,k): 31 of 37 is 84 %; the two largest of M.D hold 27 of 48, 56.25 %. p/q = 50 %: half of
    the largest is more than the rest.
    """
    ended, rows, _ = protected(microdata, *options)
    assert ended.code == 0, ended.complained
    assert {key for key in marked(rows) if "TOTAL" not in key} == expected


def test_a_holding_is_one_contributor_and_who_waives_needs_no_protection(microdata):
    rows = records()
    for row in rows:
        if (row["REGION"], row["BRANCH"]) == ("M", "C"):
            row["GROUP"] = "holding"  # 66 of 66
        if (row["REGION"], row["BRANCH"]) == ("S", "C"):
            row["WAIVED"] = 1
    pd.DataFrame(rows).to_csv(microdata, index=False)
    ended, found, _ = protected(
        microdata, "--p", "10", "--contributor", "FIRM", "--holding", "GROUP", "--waiver", "WAIVED"
    )
    assert ended.code == 0, ended.complained
    assert ("M", "C") in marked(found)
    assert found["S", "C"] == "z", (
        "its only firm waived: it stays open, for hidden it would protect nobody from him"
    )


def test_who_asked_is_protected(microdata):
    rows = records()
    for row in rows:
        if (row["REGION"], row["BRANCH"], row["TURNOVER"]) == ("M", "C", 20):
            row["ASKED"] = 2
    pd.DataFrame(rows).to_csv(microdata, index=False)
    ended, found, facts = protected(microdata, "--request", "ASKED", "--request-percent", "50,30")
    assert ended.code == 0, ended.complained
    assert ("M", "C") in marked(found), "20 of 66 is more than 30 %"
    assert facts["primary_by_request"] == 1
    assert marked(protected(microdata, "--request", "ASKED", "--request-percent", "50,40")[1]) == set()


def test_a_table_with_its_largest_contributions_gives_the_same(microdata, tmp_path):
    _, of_microdata, facts = protected(microdata, "--p", "10", "--min-frequency", "3")
    cells = []
    for region in ("N", "M", "S", "TOTAL"):
        for branch in ("C", "D", "E", "TOTAL"):
            mine = sorted(
                (
                    size
                    for key, sizes in FIRMS.items()
                    for size in sizes
                    if region in (key[0], "TOTAL") and branch in (key[1], "TOTAL")
                ),
                reverse=True,
            )
            cells.append({"REGION": region, "BRANCH": branch, "TURNOVER": sum(mine), "COUNT": len(mine),
                          "TOP1": mine[0], "TOP2": mine[1] if len(mine) > 1 else None})  # fmt: skip
    table = tmp_path / "table.parquet"
    pd.DataFrame(cells).to_parquet(table)
    ended, of_table, of_its = protected(table, "--p", "10", "--min-frequency", "3", "--top", "TOP1,TOP2")
    assert ended.code == 0, ended.complained
    assert of_table == of_microdata
    assert of_its["objective"] == facts["objective"]


def test_a_frame_gives_the_same(microdata):
    _, rows, facts = protected(
        microdata, "--p", "10", "--holding", "GROUP", "--contributor", "FIRM", "--cost", "frequency"
    )
    result = sdc_tasks.suppress(
        pd.DataFrame(records()),
        ["REGION", "BRANCH"],
        "TURNOVER",
        rules=sdc_tasks.Rules(p=10.0),
        contributors=sdc_tasks.Contributors("FIRM", "GROUP"),
        cost="frequency",
    )
    assert {(row.REGION, row.BRANCH): row.STATUS for row in result.table.itertuples()} == rows
    assert result.loss == facts["objective"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "no rule says which cells are confidential"),
        (("--nk", "75"), "--nk: N,K is expected"),
        (("--nk", "1,120"), "k between 0 and 100"),
        (("--p", "10", "--contributor", "NAME"), "no column NAME"),
        (("--p", "10", "--waiver", "TURNOVER"), "line 2: TURNOVER is neither 1 nor 0"),
        (("--p", "10", "--request", "ASKED"), "a column of requests without a share"),
        (("--request-percent", "70"), "no column says who asked"),
        (("--request-percent", "70", "--request", "TURNOVER"), "line 2: TURNOVER is none of 0, 1"),
        (("--p", "10", "--weight", "WAIVED"), "line 2: WAIVED is below 1"),
        (
            ("--p", "10", "--weight", "TURNOVER", "--contributor", "FIRM"),
            "weights do not go with contributors or holdings",
        ),
        (("--p", "10", "--top", "TURNOVER,TURNOVER", "--contributor", "FIRM"), "--top is for tables"),
        (("--p", "10", "--q", "inf"), "q at most 100"),
        (("--p", "10", "--q", "150"), "q at most 100"),
        (
            ("--nk", "3,75", "--top", "TURNOVER,WAIVED"),
            "the rules look at 3 contributions of a cell, but 2 are named",
        ),
        (("--p", "10", "--cost", "file"), "costs of the file stand beside cells"),
        (("--p", "10", "--hierarchy", "REGION"), "DIMENSION=FILE is expected"),
    ],
)
def test_rules_and_columns_that_cannot_be(microdata, options, message):
    ended, rows, _ = protected(microdata, *options)
    assert ended.refused(message, "Remedy: ")
    assert rows == {}


def test_a_total_among_microdata_is_refused(microdata):
    with microdata.open("a") as stream:
        stream.write("TOTAL,C,120,x,,0,0\n")
    ended, _, _ = protected(microdata, "--p", "10")
    assert ended.refused("line 35: the code of a total", "Remedy: ")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"COUNT": 2.5}, "COUNT is no count"),
        ({"TOP1": 1, "TOP2": 2}, "the contributions do not fall"),
        ({"TOP1": 900}, "the contributions are more than the cell"),
        ({"COUNT": 0}, "a value without contributors"),
        ({"TOP2": 0}, "these are all, and they are less than the cell"),  # the others have 0
        ({"COUNT": 1, "TOP1": 20, "TOP2": 10}, "fewer contributors than sizes of contributions"),
        ({"COUNT": 2}, "these are all, and they are less than the cell"),  # in other units, say
        ({"COUNT": 1, "TOP1": 15, "TOP2": 0}, "these are all, and they are less than the cell"),
    ],
)
def test_a_table_whose_contributions_contradict_it_is_refused(tmp_path, change, message):
    cells = [
        {"REGION": region, "BRANCH": "C", "TURNOVER": 30, "COUNT": 4, "TOP1": 10, "TOP2": 8}
        for region in ("N", "M", "S")
    ]
    cells += [{"REGION": "TOTAL", "BRANCH": "C", "TURNOVER": 90, "COUNT": 12, "TOP1": 10, "TOP2": 10}]
    cells += [{**cell, "BRANCH": "TOTAL"} for cell in cells]
    cells[1] |= change
    pd.DataFrame(cells).to_csv(tmp_path / "table.csv", index=False)
    ended, _, _ = protected(tmp_path / "table.csv", "--p", "10", "--top", "TOP1,TOP2")
    assert ended.refused("line 3: M.C: " + message, "Remedy: ")


def test_a_minimum_of_contributors_behind_what_is_hidden(microdata):
    _, few, less = protected(microdata, "--p", "10")
    ended, more, facts = protected(microdata, "--p", "10", "--min-contributors", "9")
    assert ended.code == 0, ended.complained
    assert facts["objective"] > less["objective"]
    for region in ("N", "M", "S"):
        hidden = [branch for branch in ("C", "D", "E") if more[region, branch] in ("u", "m")]
        assert (
            not hidden
            or more[region, "TOTAL"] == "m"
            or sum(len(FIRMS[region, branch]) for branch in hidden) >= 9
        )
    assert marked(few) == marked(more)


# --- one firm beside another one ----------------------------------------------------------------------------

MANY = {f"k{i}": 50 for i in range(6)}


def firms_in(path: Path, cells: dict[tuple[str, str], dict[str, float]]) -> Path:
    rows = [
        {
            "REGION": key[0],
            "BRANCH": key[1],
            "TURNOVER": size,
            "FIRM": f"{firm}{''.join(key) if firm[0] == 'k' else ''}",
        }
        for key, mine in cells.items()
        for firm, size in mine.items()
    ]
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def statuses(path: Path, file: Path, hidden: set[tuple[str, str]]) -> Path:
    """A pattern that hides these cells, of the table that the command writes."""
    sdc(
        "protect",
        file,
        "--dims",
        "REGION,BRANCH",
        "--value",
        "TURNOVER",
        "--p",
        "10",
        "--contributor",
        "FIRM",
        "--out",
        path,
    )
    with path.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        row["STATUS"] = "m" if (row["REGION"], row["BRANCH"]) in hidden else "s"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_the_second_of_a_cell_is_not_told_to_the_first(tmp_path):
    """F has 90 beside the 10 of G, and is alone in the three other cells of the square."""
    square = {
        ("N", "C"): {"F": 90, "G": 10},
        ("N", "D"): {"F": 70},
        ("M", "C"): {"F": 60},
        ("M", "D"): {"F": 80},
    }
    rest = dict.fromkeys([("N", "E"), ("M", "E"), ("S", "C"), ("S", "D"), ("S", "E")], MANY)
    file = firms_in(tmp_path / "firms.csv", square | rest)
    judged = (
        "protect",
        file,
        "--dims",
        "REGION,BRANCH",
        "--value",
        "TURNOVER",
        "--p",
        "10",
        "--contributor",
        "FIRM",
        "--check",
    )
    ended = sdc(*judged, statuses(tmp_path / "square.csv", file, set(square)))
    assert ended.code == 3
    assert "not shown to be protected: N.C" in ended.said
    ended, _, facts = protected(file, "--p", "10", "--contributor", "FIRM")
    assert ended.code == 0, ended.complained
    assert facts["secondaries"] > 0
    assert sdc(*judged, file.parent / "out.csv").code == 0


def test_the_sum_of_hidden_cells_of_one_firm_is_judged_and_what_is_not_is_said(tmp_path):
    """900, 700 and 500 of F with 205 of others: the open total of the row tells the 2
    305, and so the 2 100 within 6.9 %.
    """
    three = {
        ("N", "C"): {"F": 900, "a": 60},
        ("N", "D"): {"F": 700, "b": 70},
        ("N", "E"): {"F": 500, "c": 75},
    }
    rest = {("N", "G"): MANY} | {
        (row, column): {f"k{i}": 400 for i in range(5)} for row in "MS" for column in "CDEG"
    }
    file = firms_in(tmp_path / "firms.csv", three | rest)
    hidden = {(row, column) for row in "NM" for column in "CDE"}
    ended = sdc(
        "protect",
        file,
        "--dims",
        "REGION,BRANCH",
        "--value",
        "TURNOVER",
        "--p",
        "15",
        "--contributor",
        "FIRM",
        "--check",
        statuses(tmp_path / "six.csv", file, hidden),
        "--json",
        tmp_path / "facts.json",
    )
    assert ended.code == 3
    assert "not shown to be protected: the sum of N.C, N.D, N.E" in " ".join(ended.said.split())
    assert json.loads((tmp_path / "facts.json").read_text())["sums_at_risk"] == ["the sum of N.C, N.D, N.E"]
    ended, rows, facts = protected(file, "--p", "15", "--contributor", "FIRM")
    assert ended.code == 0, ended.complained
    assert "Not judged: other sums" in " ".join(ended.said.split())
    assert "judged too: sums of hidden cells" in facts["limits"]
    assert not {("N", column) for column in "CDE"} <= marked(rows, "s")


def test_a_cell_whose_only_firm_reports_nothing_is_hidden_below_the_minimum(tmp_path):
    """Z reports 0: the count of his cell is 1, and nobody reads the 0."""
    cells = {(row, column): MANY for row in "NMS" for column in "CDE"} | {("S", "E"): {"Z": 0}}
    file = firms_in(tmp_path / "firms.csv", cells)
    ended, rows, _ = protected(file, "--min-frequency", "3", "--contributor", "FIRM")
    assert ended.code == 0, ended.complained
    assert rows["S", "E"] == "u"
    assert len(marked(rows, "m")) >= 3
    table = [
        {
            "REGION": row,
            "COUNT": 1 if row == "Z" else 6,
            "TURNOVER": 0 if row == "Z" else 300,
            "TOP1": 0 if row == "Z" else 50,
            "TOP2": 0 if row == "Z" else 50,
        }
        for row in "ABZ"
    ]
    table.append({"REGION": "TOTAL", "COUNT": 13, "TURNOVER": 600, "TOP1": 50, "TOP2": 50})
    pd.DataFrame(table).to_csv(tmp_path / "table.csv", index=False)
    told = sdc(
        "protect",
        tmp_path / "table.csv",
        "--dims",
        "REGION",
        "--value",
        "TURNOVER",
        "--min-frequency",
        "3",
        "--top",
        "TOP1,TOP2",
        "--out",
        tmp_path / "o.csv",
    )
    assert told.code == 0, told.complained
    assert "Z,0,u" in (tmp_path / "o.csv").read_text()
    assert "not told who contributes" in " ".join(told.said.split())
