"""`sdc suppress` of several tables that share cells; worked by hand in tests/golden/test_linked_tables.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.desk import sdc

LINKS = "link,table,cell,coefficient\n1,first,0,\n1,second,0,\n"


def drawn(values: tuple[int, int, int], statuses: str) -> str:
    """total = two parts; the total costs 1, the parts 3."""
    cells = [
        f"{i} {value} {1 if i == 0 else 3} {status} 0 100 {2 * (status == 'u')} {2 * (status == 'u')} 0"
        for i, (value, status) in enumerate(zip(values, statuses, strict=True))
    ]
    return "\n".join(["0", "3", *cells, "1", "0 3 : 0 (-1) 1 (1) 2 (1)", ""])


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path, Path]:
    first, second, links = tmp_path / "first.jj", tmp_path / "second.jj", tmp_path / "links.csv"
    first.write_text(drawn((10, 4, 6), "sus"))
    second.write_text(drawn((10, 5, 5), "sss"))
    links.write_text(LINKS)
    return first, second, links


def statuses(jj: Path) -> str:
    return "".join(line.split()[3] for line in jj.read_text().splitlines()[2:5])


def test_two_tables_at_once(tables, tmp_path):
    first, second, links = tables
    folder, facts = tmp_path / "out", tmp_path / "facts.json"
    folder.mkdir()
    assert sdc("suppress", first, "--cost", "file", "--out", folder / "alone.jj").code == 0
    assert statuses(folder / "alone.jj") == "mus", "what the second table publishes"
    run = sdc("suppress", first, second, "--link", links, "--cost", "file", "--out", folder, "--json", facts)
    assert run.code == 0, run.complained
    assert (statuses(folder / "first.jj"), statuses(folder / "second.jj")) == ("sum", "sss")
    told = json.loads(facts.read_text())
    assert {name: told[name] for name in ("objective", "tables", "shared", "cells", "status")} == {
        "objective": 3.0, "tables": 2, "shared": 1, "cells": 5, "status": "optimal",
    }  # fmt: skip


def test_tables_with_dimensions_of_their_own(tmp_path):
    """Towns by job and towns by age share the towns' totals: the total of A would be the
    cheapest to hide, but ages tell it.
    """
    jobs, ages, links, folder = (
        tmp_path / "jobs.csv",
        tmp_path / "ages.csv",
        tmp_path / "links.csv",
        tmp_path / "out",
    )
    folder.mkdir()
    jobs.write_text("TOWN,JOB,VALUE,STATUS,LPL,UPL\nA,x,4,u,2,2\nA,y,60,s,0,0\nB,x,30,s,0,0\nB,y,50,s,0,0\n")
    ages.write_text(
        "TOWN,AGE,VALUE,STATUS,LPL,UPL\nA,old,32,s,0,0\nA,young,32,s,0,0\nB,old,40,s,0,0\nB,young,40,s,0,0\n"
    )
    same = [(town, f"{town}.TOTAL") for town in ("A", "B", "TOTAL")]
    links.write_text(
        "link,table,cell\n" + "".join(f"{town},jobs,{cell}\n{town},ages,{cell}\n" for town, cell in same)
    )
    run = sdc("suppress", jobs, ages, "--dims", "TOWN,JOB,AGE", "--link", links, "--out", folder)
    assert run.code == 0, run.complained
    found = [line.split(",") for line in (folder / "jobs.csv").read_text().splitlines()[1:]]
    assert {tuple(line[:2]) for line in found if line[3] in "um"} == {
        ("A", "x"),
        ("A", "y"),
        ("B", "x"),
        ("B", "y"),
    }
    assert "m" not in {line.split(",")[3] for line in (folder / "ages.csv").read_text().splitlines()[1:]}


def test_each_table_may_have_hierarchies_of_its_own(tmp_path):
    """One list adds up towns to regions, the other to sizes: the same dimension, two trees."""
    names, folder = ("regions", "sizes"), tmp_path / "out"
    folder.mkdir()
    towns = {"A": 4, "B": 30, "C": 50, "D": 20}
    trees = {"regions": {"N": "AB", "S": "CD"}, "sizes": {"BIG": "BC", "SMALL": "AD"}}
    for name, tree in trees.items():
        (tmp_path / f"{name}.hrc").write_text(
            "".join(f"{top}\n" + "".join(f"@{town}\n" for town in parts) for top, parts in tree.items())
        )
        status = {"A": "u,2,2"}
        (tmp_path / f"{name}.csv").write_text(
            "TOWN,VALUE,STATUS,LPL,UPL\n"
            + "".join(f"{town},{value},{status.get(town, 's,0,0')}\n" for town, value in towns.items())
        )
    (tmp_path / "links.csv").write_text(
        "link,table,cell\n" + "".join(f"{t},{name},{t}\n" for t in (*towns, "TOTAL") for name in names)
    )
    tables = [tmp_path / f"{name}.csv" for name in names]
    command = ["suppress", *tables, "--dims", "TOWN", "--link", tmp_path / "links.csv", "--out", folder]
    own = [option for name in names for option in ("--hierarchy", f"{name}:TOWN={tmp_path / name}.hrc")]
    run = sdc(*command, *own)
    assert run.code == 0, run.complained
    for name, tree in trees.items():
        written = [line.split(",") for line in (folder / f"{name}.csv").read_text().splitlines()[1:]]
        hidden = {line[0] for line in written if line[2] in "um"}
        assert {line[0] for line in written} == {*towns, "TOTAL", *tree}
        assert "A" in hidden
        for top, parts in tree.items():
            assert len(hidden & {top, *parts}) != 1, f"{top} and its towns tell the only hidden one"
    common = sdc(*command, "--hierarchy", f"TOWN={tmp_path / 'sizes.hrc'}", *own[:2])
    assert common.code == 0, common.complained
    assert "BIG" in (folder / "sizes.csv").read_text()
    assert "BIG" not in (folder / "regions.csv").read_text()
    for wrong, said in (
        (f"ages:TOWN={tmp_path}", "of one of the tables regions, sizes"),
        (f"regions:TOWN={tmp_path / 'regions.hrc'}", "is expected once"),
        (
            f"regions:JOB={tmp_path / 'regions.hrc'}",
            "a hierarchy of JOB, which is no dimension of this table",
        ),
    ):
        assert sdc(*command, *own, "--hierarchy", wrong).refused(said, "Remedy: ")


def test_what_was_open_in_any_of_the_tables_stays_open(tables, tmp_path):
    """Then another cell of the first table was hidden. In the second nothing was, so the shared
    total is known, also from there.
    """
    first, second, links = tables
    then, now = tmp_path / "then", tmp_path / "now"
    then.mkdir()
    now.mkdir()
    command = ("suppress", first, second, "--link", links, "--cost", "file", "--out", now, "--previous")
    assert sdc(*command, tmp_path / "nowhere").refused("nowhere: not a folder", "Remedy: ")
    (then / "first.jj").write_text(drawn((10, 4, 6), "sum"))
    assert sdc(*command, then).refused("second.jj: no such file, so what was open in", "Remedy: ")
    (then / "second.jj").write_text(drawn((10, 5, 5), "sss"))
    run = sdc(*command, then)
    assert run.code == 0, run.complained
    assert (statuses(now / "first.jj"), statuses(now / "second.jj")) == ("sum", "sss")
    (then / "first.jj").write_text(drawn((10, 4, 6), "mus"))
    assert sdc(*command, then).code == 3, (
        "the total was hidden in one table and open in the other, and so was the other part"
    )
    (then / "second.jj").write_text(drawn((10, 4, 6), "sss"))
    assert sdc(*command, then).refused(
        "second.jj: cell 1, cell 2: it published this cell with another value", "Remedy: "
    )


def test_earlier_patterns_of_tables_with_dimensions(tmp_path):
    """What one run wrote into its folder is the earlier publication of the next, by codes."""
    jobs, ages, links = tmp_path / "jobs.csv", tmp_path / "ages.csv", tmp_path / "links.csv"
    rows = [
        (town, code, value)
        for town, values in (("A", (4, 60)), ("B", (30, 50)))
        for code, value in zip("xy", values, strict=True)
    ]
    jobs.write_text(
        "TOWN,JOB,VALUE,STATUS,LPL,UPL\n"
        + "".join(f"{t},{c},{v},{'u,2,2' if v == 4 else 's,0,0'}\n" for t, c, v in rows)
    )
    ages.write_text(
        "TOWN,AGE,VALUE,STATUS,LPL,UPL\nA,old,32,s,0,0\nA,young,32,s,0,0\nB,old,40,s,0,0\nB,young,40,s,0,0\n"
    )
    links.write_text(
        "link,table,cell\n"
        + "".join(f"{town},{table},{town}.TOTAL\n" for town in "AB" for table in ("jobs", "ages"))
    )
    then, now = tmp_path / "then", tmp_path / "now"
    then.mkdir()
    now.mkdir()
    command = ("suppress", jobs, ages, "--dims", "TOWN,JOB,AGE", "--link", links)
    assert sdc(*command, "--out", then).code == 0
    first = (then / "jobs.csv").read_text()
    (then / "jobs.csv").write_text(
        first.replace("B,x,30,m", "B,x,30,s").replace("B,TOTAL,80,s", "B,TOTAL,80,m")
    )
    run = sdc(*command, "--out", now, "--previous", then)
    assert run.code == 3, "ages tell the total of B, and B.x was open: nothing protects the primary any more"
    (then / "jobs.csv").write_text(first)
    assert sdc(*command, "--out", now, "--previous", then).code == 0
    assert (now / "jobs.csv").read_text() == first


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ("", (), "links.csv: an empty file"),
        ("link,table\n1,first\n", (), "line 1: the header needs the columns link, table, cell"),
        ("link,table,cell\n1,first,0\n1,third,0\n", (), "line 3: third is none of the tables"),
        ("link,table,cell\n1,first,0\n1,second,9\n", (), "line 3: 9 is no cell of second"),
        ("link,table,cell\n1,first,0\n1,first,0\n", (), "line 3: first: this cell stands in the link twice"),
        ("link,table,cell\n1,first,0\n", (), "line 2: one cell alone"),
        (
            "link,table,cell\n1,first,1\n1,second,1\n",
            (),
            "line 2: first: cell 1 = second: cell 1: one cell with different values",
        ),
        (
            "link,table,cell,coefficient\n1,first,0,1\n1,second,0,\n",
            (),
            "line 3: some cells of this link have a coefficient, this one has none",
        ),
        (
            "link,table,cell,coefficient\n1,first,0,1\n1,second,1,-1\n",
            (),
            "line 2: this relation does not hold for the values",
        ),
        (LINKS, ("--apriori", "cells.hst"), "go with one table alone"),
        (LINKS, ("--out", "nowhere"), "not a folder that can be written to"),
    ],
)
def test_links_that_cannot_be(tables, change, options, message):
    first, second, links = tables
    links.write_text(change)
    run = sdc("suppress", first, second, "--link", links, *options)
    assert run.refused(message, "Remedy: ")
    assert not any(secret in run.text for secret in (" 10", " 4", " 6"))


def test_several_tables_need_links_and_one_none(tables, tmp_path):
    first, second, links = tables
    assert sdc("suppress", first, second).refused("several tables, and no links", "Remedy: ")
    assert sdc("suppress", first, "--link", links).refused("--link goes with several tables", "Remedy: ")
    assert sdc("suppress", first, first, "--link", links).refused(
        "first: two tables of this name", "Remedy: "
    )
    assert sdc("suppress", first, second, "--link", links, "--out", tmp_path).refused(
        "this is one of the tables itself", "Remedy: "
    )
