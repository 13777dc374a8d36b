"""`sdc suppress --attainable`: levels that nothing keeps are lowered, and never without saying so. In the
first row 4 + 6 + 0 the zero stays open, and two respondents who are alone in its parts know its total.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sdc_tasks
from support.desk import sdc

ROWS = [
    ("N", "P", 4, "u", 2, 1),
    ("N", "Q", 6, "u", 2, 1),
    ("N", "R", 0, "z", "", 0),
    ("N", "TOTAL", 10, "u", 2, 0),
    ("S", "P", 20, "s", "", 0),
    ("S", "Q", 30, "s", "", 0),
    ("S", "R", 40, "s", "", 0),
    ("W", "P", 50, "s", "", 0),
    ("W", "Q", 60, "s", "", 0),
    ("W", "R", 70, "s", "", 0),
]
ASKED = ("--dims", "TOWN,JOB", "--singleton", "ALONE", "--level", "LEVEL")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "jobs.csv"
    lines = [",".join(map(str, row)) for row in ROWS]
    path.write_text("\n".join(["TOWN,JOB,VALUE,STATUS,LEVEL,ALONE", *lines]) + "\n")
    return path


def test_without_the_option_the_table_is_refused(table, tmp_path):
    run = sdc("suppress", table, *ASKED, "--out", tmp_path / "out.csv")
    assert run.code == 3
    assert "N.TOTAL" in run.complained
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("method", ["auto", "cover", "cubes", "hypercube", "hitas"])
def test_each_lowered_cell_is_named_with_its_levels_in_the_confidential_file(table, tmp_path, method):
    out, facts = tmp_path / "out.csv", tmp_path / "facts.json"
    run = sdc("suppress", table, *ASKED, "--attainable", "--method", method, "--out", out, "--json", facts)
    assert run.code == 0, run.complained
    assert "no pattern keeps the levels of N.TOTAL: each is kept as far as can be" in run.said
    assert "3, 2 protected to their levels, 1 as far as can be" in run.said
    told = json.loads(facts.read_text())
    assert told["lowered"] == [
        {"cell": "N.TOTAL", "side": side, "wanted": 2.0, "kept": 0.0, "kept_from_outsiders": 2.0}
        for side in ("above", "below")
    ]
    assert told["not_judged"] == []
    assert out.read_text().splitlines()[0].count("LPL"), "the levels that are wanted are written"


def test_a_pattern_is_checked_with_the_same_levels(table, tmp_path):
    out = tmp_path / "out.csv"
    sdc("suppress", table, *ASKED, "--attainable", "--out", out)
    strict = sdc("suppress", table, *ASKED, "--check", out)
    assert strict.code == 3
    assert "not shown to be protected: N.TOTAL" in strict.said
    facts = tmp_path / "facts.json"
    lowered = sdc("suppress", table, *ASKED, "--attainable", "--check", out, "--json", facts)
    assert lowered.code == 0, lowered.complained
    assert "no pattern keeps the levels of N.TOTAL" in lowered.said
    assert [each["cell"] for each in json.loads(facts.read_text())["lowered"]] == ["N.TOTAL", "N.TOTAL"]
    out.write_text(out.read_text().replace(",m,", ",s,"))
    opened = sdc("suppress", table, *ASKED, "--attainable", "--check", out)
    assert opened.code == 3
    assert "not shown to be protected: N.TOTAL" in opened.said, "outsiders would read it"


def test_where_every_level_can_be_kept_the_option_changes_no_byte(table, tmp_path):
    text = table.read_text().replace("TOTAL,10,u,2", "TOTAL,10,s,")
    table.write_text(text)
    written = []
    for number, more in enumerate([(), ("--attainable",)]):
        out = tmp_path / f"{number}.csv"
        run = sdc("suppress", table, *ASKED, *more, "--out", out)
        assert run.code == 0, run.complained
        assert "no pattern keeps" not in run.said
        written.append(out.read_bytes())
    assert written[0] == written[1]


def test_in_python_the_result_tells_what_was_lowered(table):
    pd = pytest.importorskip("pandas")
    rows = pd.read_csv(table)
    found = sdc_tasks.suppress(
        rows, ["TOWN", "JOB"], level="LEVEL", singleton="ALONE", attainable=True, progress=False
    )
    assert found.lowered.to_dict("split")["data"] == [
        ["N.TOTAL", "above", 2.0, 0.0, 2.0],
        ["N.TOTAL", "below", 2.0, 0.0, 2.0],
    ]
    assert found.not_judged == ()
    assert "primary cells with lowered levels 1" in repr(found)
    assert "no pattern keeps its protection levels" in found.explain(("N", "TOTAL")).lines[0]
    audited = sdc_tasks.audit(found.table)
    assert audited.safe
    assert "primary cells with lowered levels 1" in repr(audited)


def test_a_rounded_table_names_what_it_does_not_keep_from_respondents(table, tmp_path):
    out, facts = tmp_path / "out.csv", tmp_path / "facts.json"
    lines = [
        f"{town},{job},{a},{status},{level},{level},{alone}" for town, job, a, status, level, alone in ROWS
    ]
    table.write_text("\n".join(["TOWN,JOB,VALUE,STATUS,LPL,UPL,ALONE", *lines]) + "\n")
    public = ("--dims", "TOWN,JOB", "--base", 5, "--out", out, "--json", facts)
    asked = (*public, "--singleton", "ALONE")
    refused = sdc("round-table", table, *asked)
    assert refused.code == 3, refused.text
    assert not out.exists()
    run = sdc("round-table", table, *asked, "--attainable")
    assert run.code == 0, run.complained
    assert "no table keeps the levels of N.TOTAL: each is kept as far as can be" in run.said
    assert [each["cell"] for each in json.loads(facts.read_text())["lowered"]] == ["N.TOTAL", "N.TOTAL"]
    assert sdc("round-table", table, *public).code == 0, "outsiders are kept away"


def test_in_python_a_rounded_table_tells_what_was_lowered(table):
    pd = pytest.importorskip("pandas")
    found = sdc_tasks.round_table(
        pd.read_csv(table), ["TOWN", "JOB"], base=5, level="LEVEL", singleton="ALONE", attainable=True, seed=1
    )
    assert found.lowered["CELL"].tolist() == ["N.TOTAL", "N.TOTAL"]
    assert found.not_judged == ()
    assert "primary cells with lowered levels 1" in repr(found)


def test_a_cell_that_outsiders_read_whatever_is_hidden_is_called_not_protected(table, tmp_path):
    """Of the first row only its first cell may be hidden."""
    text = table.read_text().replace("Q,6,u,2,1", "Q,6,z,,0").replace("TOTAL,10,u", "TOTAL,10,z")
    table.write_text(text.replace("z,2,0", "z,,0"))
    assert sdc("suppress", table, *ASKED).code == 3
    run = sdc("suppress", table, *ASKED, "--attainable")
    assert run.code == 0, run.complained
    assert "NOT PROTECTED, also against outsiders, whatever is hidden: N.P" in run.said
    pd = pytest.importorskip("pandas")
    found = sdc_tasks.suppress(
        pd.read_csv(table), ["TOWN", "JOB"], level="LEVEL", singleton="ALONE", attainable=True, progress=False
    )
    assert "not protected, also against outsiders N.P" in repr(found)
    assert (found.lowered["OUTSIDERS"] == 0).all()
