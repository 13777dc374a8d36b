"""[2], Figure 9: respondents by profession and municipality; one of a single respondent;
professions P2 and P3 become one.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sdc_tasks.methods.recoding.codes import CodeGroup
from sdc_tasks.methods.recoding.plan import Recodable, Recoding
from sdc_tasks.model.table import Hierarchy
from support.desk import sdc

GRID = np.array([[20, 15, 30, 20, 10], [72, 20, 1, 30, 10], [38, 38, 15, 40, 11]])
TOWNS, JOBS = ("M1", "M2", "M3"), ("P1", "P2", "P3", "P4", "P5")


def figure_9(groups: tuple[CodeGroup, ...]) -> Recoding:
    axes = (
        Hierarchy("TOWN", ("TOTAL", *TOWNS), (None, *["TOTAL"] * 3)),
        Hierarchy("JOB", ("TOTAL", *JOBS), (None, *["TOTAL"] * 5)),
    )
    grid = np.zeros((4, 6))
    grid[1:, 1:] = GRID
    grid[0], grid[:, 0] = grid.sum(axis=0), grid.sum(axis=1)
    grid[0, 0] = GRID.sum()
    a = grid.ravel()
    return Recoding(Recodable(axes, a, np.zeros(24, dtype=bool), np.zeros((3, 24)), a), groups, least=3)


def test_the_recoded_table_of_the_paper() -> None:
    """Of the groups that may be used, P2 + P3 loses least: 4 cells; towns M1 + M2 would
    lose 6, and P1 + P2 does not help.
    """
    groups = (
        CodeGroup("JOB", "P2+P3", ("P2", "P3")),
        CodeGroup("TOWN", "M1+M2", ("M1", "M2")),
        CodeGroup("JOB", "P4+P5", ("P4", "P5")),
    )
    done = figure_9(groups).cheapest()
    assert (done.closed, done.lost, done.before, done.primaries, done.proven) == (
        ((), ("P2+P3",)),
        4,
        1,
        0,
        True,
    )
    jobs = done.table.axes[1].codes
    assert jobs == ("TOTAL", "P1", "P4", "P5", "P2+P3")
    grid = done.table.a.reshape(4, 5)
    assert grid[:, jobs.index("P2+P3")].tolist() == [119, 45, 21, 53]
    assert grid[0].tolist() == [370, 130, 90, 31, 119]
    assert grid[:, 0].tolist() == [370, 95, 133, 142]


def test_without_groups_a_whole_dimension_goes() -> None:
    """The towns below their total: three rows of six; the jobs below theirs would be four columns' worth
    more.
    """
    done = figure_9(()).cheapest()
    assert (done.closed, done.lost, done.primaries) == ((("TOTAL",), ()), 18, 0)
    assert [axis.codes for axis in done.table.axes] == [("TOTAL",), ("TOTAL", *JOBS)]


def test_a_primary_may_be_left() -> None:
    done = figure_9(()).cheapest(most=1)
    assert (done.closed, done.lost, done.primaries) == (((), ()), 0, 1)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "counts.csv"
    lines = [
        f"{town},{job},{GRID[i, j]},{GRID[i, j]}"
        for i, town in enumerate(TOWNS)
        for j, job in enumerate(JOBS)
    ]
    path.write_text("\n".join(["TOWN,JOB,VALUE,COUNT", *lines, ""]))
    return path


def test_at_a_shell(table, tmp_path) -> None:
    groups, facts, folder = tmp_path / "groups.csv", tmp_path / "facts.json", tmp_path / "out"
    folder.mkdir()
    groups.write_text("dimension,code,into\nJOB,P2,P2+P3\nJOB,P3,P2+P3\nTOWN,M1,M1+M2\nTOWN,M2,M1+M2\n")
    run = sdc(
        "recode",
        table,
        "--dims",
        "TOWN,JOB",
        "--least",
        "3",
        "--groups",
        groups,
        "--out",
        folder,
        "--json",
        facts,
    )
    assert run.code == 0, run.complained
    assert "JOB: collapsed P2+P3" in run.said
    told = json.loads(facts.read_text())
    assert told == {
        "collapsed": {"JOB": ["P2+P3"]},
        "cells": 20,
        "lost": 4,
        "primaries_before": 1,
        "primaries": 0,
        "proven": True,
    }
    assert "M2,P2+P3,21,s,,," in (folder / "table.csv").read_text().splitlines()
    codes = (folder / "JOB.codes.csv").read_text().splitlines()
    assert codes == ["code,parent", "TOTAL,", "P1,TOTAL", "P4,TOTAL", "P5,TOTAL", "P2+P3,TOTAL"]
    again = sdc(
        "suppress",
        folder / "table.csv",
        "--dims",
        "TOWN,JOB",
        "--hierarchy",
        f"JOB={folder / 'JOB.codes.csv'}",
        "--hierarchy",
        f"TOWN={folder / 'TOWN.codes.csv'}",
    )
    assert again.code == 0, again.complained
    assert "objective" in again.said


def test_a_plan_is_done_as_it_says(table, tmp_path) -> None:
    """Statuses: the group that holds the primary cell is primary itself, with its levels; nobody re-judged
    it.
    """
    plan, folder = tmp_path / "plan.csv", tmp_path / "out"
    folder.mkdir()
    plan.write_text("dimension,code,into\nJOB,P2,P23\nJOB,P3,P23\n")
    lines = table.read_text().splitlines()
    told = [f"{line},u,1,2" if line.startswith("M2,P3") else f"{line},s,0,0" for line in lines[1:]]
    table.write_text("\n".join([f"{lines[0]},STATUS,LPL,UPL", *told, ""]))
    run = sdc("recode", table, "--dims", "TOWN,JOB", "--plan", plan, "--out", folder)
    assert run.code == 0, run.complained
    assert "M2,P23,21,u,1,2,0" in (folder / "table.csv").read_text().splitlines()
    assert "1 primary cells before, 1 now" in run.said
    plan.write_text("dimension,code\nTOWN,TOTAL\n")
    assert sdc("recode", table, "--dims", "TOWN,JOB", "--plan", plan, "--out", folder).code == 0
    assert (folder / "table.csv").read_text().splitlines()[1:] == [
        "TOTAL,TOTAL,370,s,,,",
        "TOTAL,P1,130,s,,,",
        "TOTAL,P2,73,s,,,",
        "TOTAL,P3,46,s,,,",
        "TOTAL,P4,90,s,,,",
        "TOTAL,P5,31,s,,,",
    ]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", (), "recoding.csv: an empty file"),
        ("code,into\nP2,X\n", (), "line 1: the header needs the columns dimension, code"),
        ("dimension,code,into\nJOB,P9,X\nJOB,P2,X\n", (), "line 2: JOB has no code P9"),
        ("dimension,code,into\nAGE,P1,X\nAGE,P2,X\n", (), "line 2: AGE is no dimension"),
        ("dimension,code,into\nJOB,P1,P2\nJOB,P3,P2\n", (), "line 2: P2 is a code already"),
        ("dimension,code,into\nJOB,P1,X\n", (), "line 2: X needs two codes or more"),
        (
            "dimension,code,into\nJOB,P1,X\nJOB,TOTAL,X\n",
            (),
            "line 2: X needs two codes or more with the same parent",
        ),
        (
            "dimension,code,into\nJOB,P1,X\nJOB,P2,X\nJOB,P2,Y\nJOB,P3,Y\n",
            (),
            "line 4: P2 is in the group X already",
        ),
        ("dimension,code,into\nJOB,P1,\n", (), "line 2: there is nothing below P1"),
        ("dimension,code,into\nJOB,P9,\n", (), "line 2: JOB has no code P9"),
        (
            "dimension,code,into\nJOB,TOTAL,\n",
            ("--remaining", "2"),
            "--plan goes with neither --groups nor --remaining",
        ),
    ],
)
def test_plans_that_cannot_be(table, tmp_path, text, options, message) -> None:
    plan = tmp_path / "recoding.csv"
    plan.write_text(text)
    assert sdc("recode", table, "--dims", "TOWN,JOB", "--least", "3", "--plan", plan, *options).refused(
        message, "Remedy: "
    )


def test_what_tells_no_primaries_is_refused(table, tmp_path) -> None:
    assert sdc("recode", table, "--dims", "TOWN,JOB").refused(
        "nothing says which cells are primary", "Remedy: "
    )
    assert sdc("recode", table, "--dims", "TOWN,JOB", "--least", "3", "--out", tmp_path).refused(
        "not a folder of its own", "Remedy: "
    )
    table.write_text(table.read_text().replace("COUNT", "PEOPLE"))
    assert sdc("recode", table, "--dims", "TOWN,JOB", "--least", "3").refused("no column COUNT", "Remedy: ")
    assert sdc("recode", table, "--dims", "TOWN,JOB", "--least", "1000", "--count", "PEOPLE").code == 3
    assert sdc("recode", table, "--dims", "TOWN,JOB", "--least", "nan").refused(
        "--least: a number of contributors above 0", "Remedy: "
    )
    for command in ("recode", "protect"):
        assert sdc(command, tmp_path / "table.jj", "--dims", "TOWN").refused(
            "table.jj: a JJ file has no dimensions", "Remedy: "
        )
