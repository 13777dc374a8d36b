"""<RECODE> and REQ in batches of τ-ARGUS on microdata, beside what the records say by hand.

Codes of Size: 01 to 05 and 99, a missing value. Region: N with N1 and N2, of which N2 has N21 and N22; and S.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sdc_tasks.argus.run import run_batch
from sdc_tasks.errors import InvalidInput

RDA = """<SEPARATOR> ";"
Region 3
 <RECODEABLE> <TOTCODE> "T" <HIERARCHICAL> <HIERCODELIST> "r.hrc" <HIERLEADSTRING> "@"
Size 2 99
 <RECODEABLE> <TOTCODE> "All"
Turnover 4
 <NUMERIC>
Asked 1
 <REQUEST> "a" "b"
Key 4
 <RECORDKEY>
"""
TREE = "N\n@N1\n@N2\n@@N21\n@@N22\nS\n"
ROWS = [
    (region, size, 100 + 10 * i + j, "")
    for i, region in enumerate(("N1", "N21", "N22", "S"))
    for j, size in enumerate(("01", "02", "03", "04", "05", "99"))
    for _ in range(4)
]
OPEN = '<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n'
TABLE = '<SPECIFYTABLE> "Region""Size"|"Turnover"||\n<SAFETYRULE> FREQ(3,20)\n'
READ, OPT = "<READMICRODATA>\n", "<SUPPRESS> OPT(1)\n"
WRITE = '<WRITETABLE> (1,2,AS+QU-,"o.csv")\n'
Cells = dict[tuple[str, str], tuple[str, str]]
Run = Callable[..., list[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a batch on records in a folder with these files, and says what it told."""

    def of(
        batch: str, rows: list[tuple[str, str, int, str]] = ROWS, rda: str = RDA, **files: str
    ) -> list[str]:
        said: list[str] = []
        lines = [f"{r};{s};{v};{asked};.{i % 10}" for i, (r, s, v, asked) in enumerate(rows)]
        texts = {
            "m_asc": "\n".join([*lines, ""]),
            "m_rda": rda,
            "r_hrc": TREE,
            "b_arb": OPEN + batch,
            **files,
        }
        for name, text in texts.items():
            (tmp_path / name.replace("_", ".")).write_text(text)
        run_batch(tmp_path / "b.arb", None, 1, said.append)
        return said

    return of


def cells(path: Path) -> Cells:
    _, *lines = (line.split(",") for line in path.read_text().splitlines())
    return {(r, s): (x, status) for r, s, x, status in lines}


def summed(regions: dict[str, str], sizes: dict[str, str]) -> dict[tuple[str, str], int]:
    """The sums of the inner cells after the codes became these."""
    found: dict[tuple[str, str], int] = {}
    for r, s, v, _ in ROWS:
        key = regions.get(r, r), sizes.get(s, s)
        found[key] = found.get(key, 0) + v
    return found


def inner(told: Cells) -> dict[tuple[str, str], int]:
    return {key: int(x) for key, (x, _) in told.items() if "T" not in key and "All" not in key and x != "-"}


@pytest.mark.parametrize(
    ("grc", "new"),
    [
        ("1: 01 , 02\n2: 03 - 05\n", {"01": "1", "02": "1", "03": "2", "04": "2", "05": "2"}),
        ("1: - 02\n\n2: 04 -\n<CODELIST> x.cdl\n", {"01": "1", "02": "1", "04": "2", "05": "2"}),
        ("x: 01, 03-04\n", {"01": "x", "03": "x", "04": "x"}),
        ("01: 01 - 05\n", dict.fromkeys(("02", "03", "04", "05"), "01")),
        ("y: 02 - 0299\n", {"02": "y"}),
    ],
)
def test_a_recode_of_a_file_makes_these_codes(
    run: Run, tmp_path: Path, grc: str, new: dict[str, str]
) -> None:
    """What no line names stays, and so does the missing value, though a range ends nowhere."""
    run(TABLE + READ + '<RECODE> 1, Size, "s.grc"\n' + OPT + WRITE, s_grc=grc)
    flat = {key: v for key, v in inner(cells(tmp_path / "o.csv")).items() if key[0] not in ("N", "N2")}
    assert flat == summed({}, new)
    assert ("S", "99") in flat


def test_a_range_goes_by_codes_of_one_width(run: Run, tmp_path: Path) -> None:
    """9 comes before 10, as a blank comes before 1."""
    rows = [("S", str(size), size, "") for size in (1, 9, 10, 49, 50, 182) for _ in range(3)]
    run(TABLE + READ + '<RECODE> 1,"Size","s.grc"\n' + OPT + WRITE, rows, s_grc="a: - 49\nb: 50 -\n")
    assert {key: x for key, (x, _) in cells(tmp_path / "o.csv").items() if key[0] == "S"} == {
        ("S", "All"): "903",
        ("S", "a"): "207",
        ("S", "b"): "696",
    }


@pytest.mark.parametrize(
    ("what", "regions", "left"),
    [
        ("1", {"N1": "N", "N21": "N", "N22": "N"}, {"T", "N", "S"}),
        ("2", {"N21": "N2", "N22": "N2"}, {"T", "N", "N1", "N2", "S"}),
        ("3", {}, {"T", "N", "N1", "N2", "N21", "N22", "S"}),
        ('"t.grc"', {"N21": "N2", "N22": "N2"}, {"T", "N", "N1", "N2", "S"}),
    ],
)
def test_nothing_is_left_below_a_level_or_the_codes_of_a_file(
    run: Run, tmp_path: Path, what: str, regions: dict[str, str], left: set[str]
) -> None:
    run(TABLE + READ + f"<RECODE> 1,Region,{what}\n" + OPT + WRITE, t_grc="<TREERECODE>\nN2\n")
    told = cells(tmp_path / "o.csv")
    assert {region for region, _ in told} == left
    assert {key: v for key, v in inner(told).items() if key in summed(regions, {})} == summed(regions, {})


def test_a_recode_begins_with_the_codes_of_the_data_and_is_of_all_tables(run: Run, tmp_path: Path) -> None:
    """The second one replaces the first. The second table, which CKM protects, has the variable too."""
    counts = '<SPECIFYTABLE> "Size"|"<FREQ>"||\n'
    noise = "i;j;p;v;p_int_ub\n0;0;1;0;1\n1;1;1;0;1\n"
    said = run(
        TABLE
        + counts
        + READ
        + '<RECODE> 1,"Size","one.grc"\n<RECODE> 1,"Size","two.grc"\n'
        + '<SUPPRESS> CKM(2) "p.txt"\n<WRITETABLE> (2,7,QU-,"o.csv")\n',
        one_grc="1: 01, 02\n",
        two_grc="2: 03, 04\n",
        p_txt=noise,
    )
    told = dict(line.split(";") for line in (tmp_path / "o.csv").read_text().splitlines())
    assert told == {"All": "96", "01": "16", "02": "16", "05": "16", "2": "32", "99": "16"}
    assert [line for line in said if line.startswith("table 2, Size recoded: 6 cells")]


def test_a_code_that_reads_as_a_range_is_refused(run: Run) -> None:
    rows = [("S", size, 5, "") for size in ("1-3", "1", "2", "3") for _ in range(3)]
    with pytest.raises(InvalidInput, match=r"s\.grc, line 1: 1-3 is a code, and reads as a range\..*Remedy"):
        run(TABLE + READ + '<RECODE> 1,"Size","s.grc"\n' + OPT, rows, s_grc="x: 1-3\n")


RECODE = '<RECODE> 1,"Size","s.grc"\n'
WRONG = {
    "no colon": (RECODE, "1 01\n", "s.grc, line 1: a new code, a colon"),
    "no old code": (RECODE, "1:\n", "s.grc, line 1: a new code, a colon"),
    "twice": (RECODE, "1: 01\n1: 02\n", "s.grc, line 2: a new code, a colon"),
    "two new codes": (RECODE, "1: 01-03\n2: 02\n", "s.grc, line 2: 02 has a new code already"),
    "a missing value": (RECODE, "1: 01, 99\n", "s.grc, line 1: 99 is a missing value"),
    "a range that turns": (RECODE, "1: 03-01\n", "s.grc, line 1: the range 03 - 01 ends before it begins"),
    "nothing between commas": (RECODE, "1: 01,,02\n", "s.grc, line 1: a code or a range of codes is missing"),
    "two hyphens": (RECODE, "1: 01-02-03\n", "s.grc, line 1: a code or a range"),
    "a code that stays": (RECODE, "05: 01\n", "s.grc, line 1: 05 is a code that stays"),
    "the total": (RECODE, "All: 01\n", "s.grc, line 1: a new code, a colon"),
    "labels alone": (RECODE, "<CODELIST> x.cdl\n", "b.arb, line 6: <RECODE>"),
    "an empty file": (RECODE, "\n", "b.arb, line 6: <RECODE>"),
    "a level of a flat one": ('<RECODE> 1,"Size",1\n', "", "b.arb, line 6: <RECODE>: a level of Size"),
    "no tree": ('<RECODE> 1,"Region","s.grc"\n', "1: N1\n", "s.grc, line 1: <TREERECODE> is expected"),
    "no code of it": ('<RECODE> 1,"Region","s.grc"\n', "<TREERECODE>\nX\n", "s.grc, line 2: X is no code"),
    "nothing below": ('<RECODE> 1,"Region","s.grc"\n', "<TREERECODE>\nS\n", "s.grc, line 2: S is no code"),
    "no dimension": ('<RECODE> 1,"Turnover","s.grc"\n', "1: 01\n", "b.arb, line 6: <RECODE>: Turnover"),
    "no variable": ('<RECODE> 1,"X","s.grc"\n', "1: 01\n", "b.arb, line 6: no column X"),
    "no file": ('<RECODE> 1,"Size","x.grc"\n', "1: 01\n", "b.arb, line 6: the file x.grc"),
    "more": ('<RECODE> 1,"Size","s.grc",2\n', "1: 01\n", "b.arb, line 6: <RECODE>: table"),
    "too late": (OPT + RECODE, "1: 01\n", "b.arb, line 7: <RECODE>: table 1 has Size too"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_recode_that_is_none_is_refused_with_its_line(run: Run, tmp_path: Path, case: str) -> None:
    commands, grc, why = WRONG[case]
    with pytest.raises(InvalidInput, match=r"Remedy: ") as refused:
        run(TABLE + READ + commands + OPT + WRITE, s_grc=grc)
    assert why in str(refused.value)
    assert not (tmp_path / "o.csv").exists()


# --- requests -----------------------------------------------------------------------------------------------

FLAT = RDA.replace(' <HIERARCHICAL> <HIERCODELIST> "r.hrc" <HIERLEADSTRING> "@"', "")
ASKING = [
    # the largest has 80 of 100 and asked with a, whose share is 70
    ("A", "1", 80, "a"), ("A", "1", 15, ""), ("A", "1", 5, ""),
    # the same, and asked with b, whose share is 85
    ("B", "1", 80, "b"), ("B", "1", 15, ""), ("B", "1", 5, ""),
    # nobody asked
    ("C", "1", 90, ""), ("C", "1", 5, ""), ("C", "1", 5, ""),
    # two are in the cell, and the smaller one asked
    ("D", "1", 60, ""), ("D", "1", 20, "a"),
    ("E", "1", 90, "c"), ("E", "1", 5, ""), ("E", "1", 5, ""),
    *[(region, "2", 50, "") for region in "ABCDE" for _ in range(6)],
    *[(region, "3", 40, "") for region in "ABCDE" for _ in range(6)],
]  # fmt: skip
RULE = '<SPECIFYTABLE> "Region""Size"|"Turnover"||\n<SAFETYRULE> REQ({})\n'
FIVE = '<WRITETABLE> (1,5,QU-,"o.tab")\n'


def primaries(path: Path) -> dict[tuple[str, str], float]:
    """The levels of the primary cells."""
    lines = [line.split(";") for line in path.read_text().splitlines()]
    return {(line[0], line[1]): float(line[-1]) for line in lines if line[-3] == "U"}


def test_a_request_is_kept_by_share_and_by_number(run: Run, tmp_path: Path) -> None:
    """τ-ARGUS calls A 1 and D 1 unsafe. The level of A 1 keeps a share of 70 % from being told: 80/0.7 − 100,
    more than 10 %; that of D 1 is 10 %.
    """
    said = run(RULE.format("70,85,3,10") + READ + OPT + FIVE, ASKING, FLAT)
    assert primaries(tmp_path / "o.tab") == {
        ("A", "1"): pytest.approx(80 / 0.7 - 100),
        ("D", "1"): pytest.approx(8),
    }
    assert [line for line in said if line.startswith("differs: REQ: ")]


def test_the_range_of_a_request_is_its_least_level(run: Run, tmp_path: Path) -> None:
    run(RULE.format("70,75,0,30") + READ + OPT + FIVE, ASKING, FLAT)
    assert primaries(tmp_path / "o.tab") == {("A", "1"): pytest.approx(30), ("B", "1"): pytest.approx(30)}


@pytest.mark.parametrize(
    ("rule", "asked", "why"),
    [
        ("70,85,3", ' <REQUEST> "a" "b"', "REQ takes four numbers"),
        ("70,85,3,0", ' <REQUEST> "a" "b"', "a range above 0"),
        ("0,85,3,10", ' <REQUEST> "a" "b"', "REQ takes a share above 0"),
        ("70,100,3,10", ' <REQUEST> "a" "b"', "REQ takes a share above 0"),
        ("70,85,2.5,10", ' <REQUEST> "a" "b"', "a number of contributors is whole"),
        ("70,85,3,10", ' <REQUEST> "a"', "who asked"),
        ("70,85,3,10", ' <REQUEST> "a" "a"', "who asked"),
        ("70,0,3,10", ' <REQUEST> "a" "b"', "who asked"),
        ("70,85,3,10", "", "who asked"),
    ],
)
def test_a_request_that_would_protect_less_than_it_says_is_refused(
    run: Run, rule: str, asked: str, why: str
) -> None:
    with pytest.raises(InvalidInput, match=f"{why}.*Remedy: "):
        run(RULE.format(rule) + READ + OPT, ASKING, FLAT.replace(' <REQUEST> "a" "b"', asked))
