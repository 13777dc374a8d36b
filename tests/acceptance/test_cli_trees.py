"""Several trees over one dimension at the command line: `--hierarchy` more than once for it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from support.desk import sdc

# T = C + J, C = C26 + C27, J = J61 + J62; and HT = C26 + J62.
TABLE = """NACE,VALUE,STATUS,LPL,UPL,COUNT
T,100,s,,,40
C,60,s,,,20
C26,50,u,5,5,2
C27,10,s,,,18
J,40,s,,,20
J61,15,s,,,8
J62,25,s,,,12
HT,75,s,,,14
"""
TREE = "code,parent\nT,\nC,T\nC26,C\nC27,C\nJ,T\nJ61,J\nJ62,J\n"
HIGH_TECH = "code,parent\nHT,\nC26,HT\nJ62,HT\n"
ARGUS = "HT\n@C26\n@J62\nREST\n@C27\n@J61\n"  # its first level adds up to the total


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("table.csv", TABLE), ("tree.csv", TREE), ("ht.csv", HIGH_TECH), ("ht.hrc", ARGUS)):
        (tmp_path / name).write_text(text)
    return tmp_path


def trees(folder: Path, *names: str) -> list[str]:
    return [text for name in names for text in ("--hierarchy", f"NACE={folder / name}")]


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_a_pattern_of_both_trees(folder: Path) -> None:
    out = folder / "out.csv"
    both = trees(folder, "tree.csv", "ht.csv")
    ended = sdc("suppress", folder / "table.csv", "--dims", "NACE", *both, "--gap", "0", "--out", out)
    assert ended.code == 0, ended.complained
    rows = rows_of(out)
    assert {row["NACE"] for row in rows if row["STATUS"] in "um"} == {"C26", "C27", "J61", "J62"}
    assert len(rows) == 8


def test_a_second_tree_as_argus_writes_it_has_the_total_of_the_first(folder: Path) -> None:
    (folder / "table.csv").write_text(TABLE + "REST,25,s,,,26\n")
    both, out = trees(folder, "tree.csv", "ht.hrc"), folder / "out.csv"
    ended = sdc("suppress", folder / "table.csv", "--dims", "NACE", *both, "--gap", "0", "--out", out)
    assert ended.code == 0, ended.complained
    rows = rows_of(out)
    assert {row["NACE"] for row in rows if row["STATUS"] in "um"} == {"C26", "C27", "J61", "J62"}
    assert len(rows) == 9


def test_a_pattern_of_microdata_in_both_trees(folder: Path) -> None:
    """One firm is all of C26, and so nearly all of HT."""
    firms = folder / "firms.csv"
    shares = {"C26": [90], "C27": [9, 8, 8], "J61": [20, 20, 19], "J62": [1, 1, 1]}
    lines = [f"{code},{value}" for code, values in shares.items() for value in values]
    firms.write_text("NACE,VALUE\n" + "\n".join(lines) + "\n")
    out = folder / "out.csv"
    both = trees(folder, "tree.csv", "ht.csv")
    ended = sdc("protect", firms, "--dims", "NACE", *both, "--p", "10", "--out", out)
    assert ended.code == 0, ended.complained
    status = {row["NACE"]: row["STATUS"] for row in rows_of(out)}
    assert (status["C26"], status["HT"]) == ("u", "u")
    assert status["J61"] != "u"
    hidden = {code for code, letter in status.items() if letter in "um"}
    assert {"C26", "HT"} < hidden


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["tree.csv", "tree.csv"], ["each file once"]),
        (["tree.csv", "gone.csv"], ["gone.csv", "cannot be read"]),
        (["tree.csv", "twice.csv"], ["twice.csv", "the sum X counts C26 twice"]),
        (["tree.csv", "circle.csv"], ["circle.csv", "form a cycle"]),
        (["tree.csv", "twin.csv"], ["twin.csv", "look like one code"]),
    ],
)
def test_trees_that_contradict_one_another(folder: Path, options: list[str], words: list[str]) -> None:
    (folder / "twice.csv").write_text("code,parent\nX,\nC,X\nC26,X\nHT,\n")
    (folder / "circle.csv").write_text("code,parent\nHT,\nC26,\nT,C26\n")
    (folder / "twin.csv").write_text("code,parent\nHT,\nC２６,HT\n")
    ended = sdc("suppress", folder / "table.csv", "--dims", "NACE", *trees(folder, *options))
    assert ended.refused(*words, "Remedy")


def test_a_sum_that_does_not_hold_is_named(folder: Path) -> None:
    (folder / "table.csv").write_text(TABLE.replace("HT,75", "HT,76"))
    both = trees(folder, "tree.csv", "ht.csv")
    ended = sdc("suppress", folder / "table.csv", "--dims", "NACE", *both)
    assert ended.refused("table.csv, line 9", "HT is not the sum of its parts")


def test_two_trees_of_other_inner_codes_must_agree(folder: Path) -> None:
    """Regions and towns of one country: both are there, and the total is the sum of each."""
    (folder / "regions.csv").write_text("code,parent\nT,\nN,T\nS,T\n")
    (folder / "towns.csv").write_text("code,parent\nT,\nURB,T\nRUR,T\n")
    table = "GEO,VALUE,STATUS,LPL,UPL\nT,30,s,,\nN,10,u,2,2\nS,20,s,,\nURB,{},s,,\nRUR,12,s,,\n"
    trees = [f"--hierarchy=GEO={folder / name}.csv" for name in ("regions", "towns")]
    (folder / "geo.csv").write_text(table.format(18))
    ended = sdc("suppress", folder / "geo.csv", "--dims", "GEO", *trees, "--out", folder / "out.csv")
    assert ended.code == 0, ended.complained
    assert {row["GEO"] for row in rows_of(folder / "out.csv") if row["STATUS"] in "um"} == {"N", "S"}
    (folder / "geo.csv").write_text(table.format(19))
    ended = sdc("suppress", folder / "geo.csv", "--dims", "GEO", *trees)
    assert ended.refused("T is not the sum of its parts URB … RUR")
    (folder / "firms.csv").write_text("GEO,VALUE\nN,10\nS,20\n")
    ended = sdc("protect", folder / "firms.csv", "--dims", "GEO", "--p", "10", *trees)
    assert ended.refused("GEO T is the sum of other inner codes", "Remedy")


@pytest.mark.parametrize("method", ["hitas", "hypercube", "cubes"])
def test_a_method_of_one_tree_refuses_by_name(folder: Path, method: str) -> None:
    both = trees(folder, "tree.csv", "ht.csv")
    ended = sdc("suppress", folder / "table.csv", "--dims", "NACE", *both, "--method", method)
    assert ended.refused(f"{method}: this method needs", "one tree of codes", "Remedy")


def test_recode_groups_the_siblings_of_one_tree(folder: Path) -> None:
    both = trees(folder, "tree.csv", "ht.csv")
    (folder / "to").mkdir()
    ended = sdc(
        "recode", folder / "table.csv", "--dims", "NACE", *both, "--least", "3", "--out", folder / "to"
    )
    assert ended.refused("NACE has several trees", "Remedy")


def test_small_counts_are_rounded_in_both_trees(folder: Path) -> None:
    people = folder / "people.csv"
    counts = {"C26": 3, "C27": 11, "J61": 2, "J62": 9}
    people.write_text("NACE,N\n" + "".join(f"{code},{number}\n" for code, number in counts.items()))
    options = [*trees(folder, "tree.csv", "ht.csv"), "--published", str(folder / "public.csv")]
    ended = sdc(
        "round-counts", people, "--dims", "NACE", "--count", "N", "--base", "5", "--seed", "1", *options
    )
    assert ended.code == 0, ended.complained
    found = {row["NACE"]: int(row["rounded"]) for row in rows_of(folder / "public.csv")}
    assert found["HT"] == found["C26"] + found["J62"]
    assert found["T"] == found["C"] + found["J"]
    assert not [number for number in found.values() if 0 < number < 5]
