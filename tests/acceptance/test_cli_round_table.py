"""`sdc round-table`: any table in, a rounded one out that adds up; nothing is written on bad input."""

from __future__ import annotations

import csv
import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest

SECRET = "748591"
CSV = """REGION,SIZE,VALUE,STATUS,LPL,UPL,SPL
N,S,20,s,,,
N,M,24,s,,,
N,L,28,s,,,
C,S,38,s,,,
C,M,38,u,3,3,6
C,L,40,s,,,
S,S,40,s,,,
S,M,39,s,,,
S,L,42,s,,,
TOTAL,TOTAL,309,s,,,
"""
JJ = f"""0
4
0 {SECRET} 1 s 0 2000000 0 0 0
1 748000 1 s 0 2000000 0 0 0
2 491 1 u 0 2000000 10 10 20
3 100 1 s 0 2000000 0 0 0
1
0 4 : 0 (-1) 1 (1) 2 (1) 3 (1)
"""


def sdc(*arguments: object) -> tuple[int, str]:
    """Exit code and everything that was said."""
    from sdc_tasks import cli

    code, said = 0, io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said), redirect_stderr(said):
        patch.setattr("sys.argv", ["sdc", *map(str, arguments)])
        try:
            cli.main()
        except SystemExit as end:
            code = int(end.code or 0)
    return code, said.getvalue()


def written(text: str, path: Path) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path) -> dict[tuple[str, ...], float]:
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    return {tuple(row[:-1]): float(row[-1]) for row in rows[1:]}


def adds_up(cells: dict[tuple[str, ...], float]) -> bool:
    rows, columns = ("N", "C", "S"), ("S", "M", "L")
    return all(cells[r, "TOTAL"] == sum(cells[r, c] for c in columns) for r in (*rows, "TOTAL")) and all(
        cells["TOTAL", c] == sum(cells[r, c] for r in rows) for c in (*columns, "TOTAL")
    )


def test_a_csv_table_is_rounded_with_totals_that_it_did_not_hold(tmp_path):
    file, out, facts = written(CSV, tmp_path / "t.csv"), tmp_path / "rounded.csv", tmp_path / "facts.json"
    code, said = sdc("round-table", file, "--dims", "REGION,SIZE", "--base", 5, "--out", out, "--json", facts)
    assert code == 0, said
    cells = read(out)
    assert len(cells) == 16
    assert adds_up(cells)
    assert all(value % 5 == 0 for value in cells.values())
    body = json.loads(facts.read_text())
    assert (body["method"], body["reach"], body["optimal"], body["primaries"]) == ("controlled", 1, True, 1)
    assert body["distance"] >= 20
    assert body["bound"] == pytest.approx(body["distance"])
    assert (out.stat().st_mode & 0o777, facts.stat().st_mode & 0o777) == (0o600, 0o600)


@pytest.mark.parametrize("solver", ["highs", "cbc"])
def test_quadratic_rounding_keeps_the_margins_of_a_csv_table(tmp_path, solver):
    file, out, facts = written(CSV, tmp_path / "t.csv"), tmp_path / "rounded.csv", tmp_path / "facts.json"
    code, said = sdc(
        "round-table",
        file,
        "--dims",
        "REGION,SIZE",
        "--base",
        "auto",
        "--method",
        "quadratic",
        "--out",
        out,
        "--json",
        facts,
        "--solver",
        solver,
    )
    assert code == 0, said
    cells, body = read(out), json.loads(facts.read_text())
    assert adds_up(cells)
    assert cells["C", "M"] % body["base"] == 0
    assert (cells["TOTAL", "TOTAL"], cells["N", "TOTAL"], cells["TOTAL", "S"]) == (309, 72, 98)


ONE_PART = "REGION,VALUE,STATUS,LPL,UPL\nA,37,u,3,3\nB,0,s,0,0\nC,0,s,0,0\nTOTAL,37,s,0,0\n"


def test_a_total_with_one_part_that_is_not_empty_moves_with_it_and_this_is_said(tmp_path):
    """A is the total: printed exactly, it would tell A. So "margins stay" is not said of it."""
    file, out, facts = (
        written(ONE_PART, tmp_path / "t.csv"),
        tmp_path / "rounded.csv",
        tmp_path / "facts.json",
    )
    code, said = sdc(
        "round-table",
        file,
        "--dims",
        "REGION",
        "--base",
        10,
        "--method",
        "quadratic",
        "--out",
        out,
        "--json",
        facts,
    )
    assert code == 0, said
    cells, body = read(out), json.loads(facts.read_text())
    assert cells["A",] == cells["TOTAL",] != 37
    assert (body["totals_kept"], body["totals_not_kept"]) == (0, 1)
    assert "1 total does not stay, because it would tell a sensitive cell: TOTAL" in said


def test_where_all_totals_stay_none_is_named(tmp_path):
    file, facts = written(CSV, tmp_path / "t.csv"), tmp_path / "facts.json"
    code, said = sdc(
        "round-table",
        file,
        "--dims",
        "REGION,SIZE",
        "--base",
        "auto",
        "--method",
        "quadratic",
        "--json",
        facts,
    )
    assert code == 0, said
    body = json.loads(facts.read_text())
    assert body["totals_not_kept"] == 0
    assert body["totals_kept"] == 3 + 3 + 1
    assert "not stay" not in said


def test_a_jj_table_is_rounded_and_no_value_is_said(tmp_path):
    file, out, facts = written(JJ, tmp_path / "t.jj"), tmp_path / "rounded.csv", tmp_path / "facts.json"
    code, said = sdc("round-table", file, "--base", 50, "--zero-restricted", "--out", out, "--json", facts)
    assert code == 0, said
    values = np.array([value for _, value in sorted(read(out).items())])
    assert values[0] == values[1:].sum()
    assert not (values % 50).any()
    assert values[3] == 100  # a multiple stays
    assert SECRET not in said + facts.read_text()


def test_hierarchies_come_from_files_of_codes_with_parents(tmp_path):
    codes = written("code,parent\nALL,\nB,ALL\nC,ALL\nC1,C\nC2,C\n", tmp_path / "codes.csv")
    file = written("A;V\nB;7\nC1;8\nC2;9\nC;17\n", tmp_path / "t.csv")
    out = tmp_path / "rounded.csv"
    code, said = sdc(
        "round-table",
        file,
        "--dims",
        "A",
        "--value",
        "V",
        "--base",
        5,
        "--hierarchy",
        f"A={codes}",
        "--out",
        out,
    )
    assert code == 0, said
    cells = {key[0]: value for key, value in read(out).items()}
    assert cells["ALL"] == cells["B"] + cells["C"]
    assert cells["C"] == cells["C1"] + cells["C2"]


def test_the_same_table_and_seed_give_the_same_bytes(tmp_path):
    file, outs = written(CSV, tmp_path / "t.csv"), [tmp_path / "a.csv", tmp_path / "b.csv"]
    for out in outs:
        assert (
            sdc("round-table", file, "--dims", "REGION,SIZE", "--base", 3, "--seed", 7, "--out", out)[0] == 0
        )
    assert outs[0].read_bytes() == outs[1].read_bytes()


BAD = {
    "empty": ("", ["--dims", "A"], "no cells"),
    "no such column": (CSV, ["--dims", "REGION,AGE"], "no column AGE"),
    "no dimensions": (CSV, [], "which columns are dimensions"),
    "text": (CSV.replace("N,M,24", "N,M,many"), ["--dims", "REGION,SIZE"], "line 3: VALUE is not a number"),
    "not finite": (
        CSV.replace("N,M,24", "N,M,inf"),
        ["--dims", "REGION,SIZE"],
        "line 3: VALUE is not finite",
    ),
    "twice": (CSV + "N,S,20,s,,,\n", ["--dims", "REGION,SIZE"], "N.S stands in line 2 already"),
    "a field too few": (CSV + "N,S\n", ["--dims", "REGION,SIZE"], "line 12: 2 fields"),
    "no code": (CSV.replace("N,M,24", ",M,24"), ["--dims", "REGION,SIZE"], "line 3: no code in REGION"),
    "a wrong total": (
        CSV.replace("309", "310"),
        ["--dims", "REGION,SIZE"],
        "line 11: TOTAL.TOTAL is not the sum of its parts",
    ),
    "no status": (
        CSV.replace("N,M,24,s", "N,M,24,x"),
        ["--dims", "REGION,SIZE"],
        "N.M: its STATUS is none of",
    ),
    "a level below 0": (CSV.replace("u,3,3", "u,-3,3"), ["--dims", "REGION,SIZE"], "C.M: a level below 0"),
    "no level": (CSV.replace("u,3,3,6", "u,,,"), ["--dims", "REGION,SIZE"], "C.M: primary without a level"),
    "no number of a base": (CSV, ["--dims", "REGION,SIZE", "--base", "five"], "not a number above 0"),
    "no base at all": (CSV, ["--dims", "REGION,SIZE", "--base", "auto"], "only for the quadratic method"),
    "no hierarchy": (CSV, ["--dims", "REGION,SIZE", "--hierarchy", "SIZE"], "DIMENSION=FILE is expected"),
    "not whole": (
        CSV.replace("N,S,20", "N,S,20.5").replace("309", "309.5"),
        ["--dims", "REGION,SIZE", "--method", "quadratic"],
        "not whole numbers",
    ),
    "nothing sensitive": (
        CSV.replace("u,3,3,6", "s,,,"),
        ["--dims", "REGION,SIZE", "--method", "quadratic"],
        "no cell is sensitive",
    ),
    "fixed": (CSV.replace("N,M,24,s", "N,M,24,z"), ["--dims", "REGION,SIZE"], "N.M: fixed"),
}


@pytest.mark.parametrize("case", sorted(BAD))
def test_bad_input_is_told_and_nothing_is_written(tmp_path, case):
    text, arguments, complaint = BAD[case]
    file, out, facts = written(text, tmp_path / "t.csv"), tmp_path / "rounded.csv", tmp_path / "facts.json"
    base = [] if "--base" in arguments else ["--base", "5"]
    code, said = sdc("round-table", file, *arguments, *base, "--out", out, "--json", facts)
    assert code == 2
    assert complaint in said
    assert "Remedy" in said
    assert not out.exists()
    assert not facts.exists()


def test_a_base_that_keeps_no_level_is_refused_and_nothing_is_written(tmp_path):
    file, out = written(CSV, tmp_path / "t.csv"), tmp_path / "rounded.csv"
    for method, more in (
        ("quadratic", "base 5 is the least that can"),
        ("controlled", "C.M: a wider interval is needed"),
    ):
        code, said = sdc(
            "round-table",
            file,
            "--dims",
            "REGION,SIZE",
            "--base",
            2,
            "--method",
            method,
            "--reach",
            1,
            "--out",
            out,
        )
        assert code == 3
        assert more in said
        assert not out.exists()


def test_the_table_itself_is_not_written_over(tmp_path):
    file = written(CSV, tmp_path / "t.csv")
    code, said = sdc("round-table", file, "--dims", "REGION,SIZE", "--base", 5, "--out", file)
    assert (code, file.read_text(encoding="utf-8")) == (2, CSV)
    assert "this is the table itself" in said


def with_totals(region: str, size: str) -> str:
    """The table with every total, under these codes."""
    cells = {("N", "S"): 20, ("N", "M"): 24, ("N", "L"): 28, ("C", "S"): 38, ("C", "M"): 38, ("C", "L"): 40}
    lines = ["REGION,SIZE,VALUE"]
    for a in ("N", "C", region):
        for b in ("S", "M", "L", size):
            total = sum(value for (x, y), value in cells.items() if a in (x, region) and b in (y, size))
            lines.append(f"{a},{b},{total}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("code", ["TOTAL", "_T", "Total"])
def test_totals_under_their_usual_names_are_not_counted_again(tmp_path, code):
    file, out = written(with_totals(code, code), tmp_path / "t.csv"), tmp_path / "out.csv"
    code_, said = sdc("round-table", file, "--dims", "REGION,SIZE", "--base", 5, "--out", out)
    assert code_ == 0, said
    assert set(read(out)) == {(a, b) for a in ("N", "C", code) for b in ("S", "M", "L", code)}


def test_totals_under_another_name_are_refused_until_they_are_named(tmp_path):
    file, out = written(with_totals("CITY", "ALL"), tmp_path / "t.csv"), tmp_path / "out.csv"
    code, said = sdc("round-table", file, "--dims", "REGION,SIZE", "--base", 5)
    assert code == 2
    assert "REGION CITY is the sum of all others, so a total" in said.replace("\n", " ")
    assert "--total REGION=CITY" in said.replace("\n", " ")
    code, said = sdc("round-table", file, "--dims", "REGION,SIZE", "--total", "REGION=CITY", "--base", 5)
    assert (code, "SIZE ALL is the sum of all others" in said.replace("\n", " ")) == (2, True)
    code, said = sdc(
        "round-table",
        file,
        "--dims",
        "REGION,SIZE",
        "--total",
        "REGION=CITY",
        "--total",
        "SIZE=ALL",
        "--base",
        5,
        "--out",
        out,
    )
    assert code == 0, said
    assert ("CITY", "ALL") in read(out)
    assert ("TOTAL", "TOTAL") not in read(out)


def test_who_says_that_there_is_no_total_is_believed(tmp_path):
    file, out = written("A,VALUE\nx,1\ny,2\nz,3\n", tmp_path / "t.csv"), tmp_path / "out.csv"
    assert sdc("round-table", file, "--dims", "A", "--base", 5)[0] == 2
    code, said = sdc("round-table", file, "--dims", "A", "--total", "none", "--base", 5, "--out", out)
    assert code == 0, said
    assert set(read(out)) == {("x",), ("y",), ("z",), ("TOTAL",)}


@pytest.mark.parametrize(
    ("totals", "said"),
    [
        (["ALLE"], "no cell has the code of totals ALLE"),
        (["X=A"], "no such dimension"),
        (["A=", "B=x"], "CODE once"),
        (["A", "B"], "CODE once"),
    ],
)
def test_a_total_that_is_not_there_is_refused(tmp_path, totals, said):
    file = written(CSV, tmp_path / "t.csv")
    named = [each for total in totals for each in ("--total", total)]
    code, told = sdc("round-table", file, "--dims", "REGION,SIZE", *named, "--base", 5)
    assert (code, said in told.replace("\n", " ")) == (2, True), told


def test_two_totals_of_one_dimension_are_refused(tmp_path):
    file = written("A,VALUE\nx,1\ny,2\nTOTAL,3\n_T,3\n", tmp_path / "t.csv")
    code, said = sdc("round-table", file, "--dims", "A", "--base", 5)
    assert (code, "A has the totals TOTAL and _T" in said.replace("\n", " ")) == (2, True)


@pytest.mark.parametrize("name", ["TOTAL", "_T", "Total", "ALL"])
def test_round_counts_takes_inner_cells_only(tmp_path, name):
    file = written(with_totals(name, "y").replace(",y,", ",L2,"), tmp_path / "t.csv")
    code, said = sdc("round-counts", file, "--dims", "REGION,SIZE", "--count", "VALUE")
    assert (code, f"{name} is the " in said.replace("\n", " ")) == (2, True), said
