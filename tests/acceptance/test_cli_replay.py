"""`sdc audit --replay N`: what a release leaves to somebody who has the program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.desk import HIDES, SHOWS, Desk, exact, new_desk, sdc


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    desk = new_desk(tmp_path_factory.mktemp("replay"), AT=HIDES, BE=SHOWS)
    assert desk.release().code == 0
    return desk


@pytest.fixture(scope="module")
def table(desk: Desk) -> Path:
    return desk.folder / "out" / "table.csv"


def test_few_hidden_tables_are_all_run(desk, table):
    ended = desk.audit(table, "--replay", 400)
    told = re.search(
        r"replay: (\d+) hidden tables fit, and the program publishes this table for (\d+) of them",
        " ".join(ended.said.split()),
    )
    assert told is not None, ended.said + ended.complained
    assert 1 <= int(told[2]) <= int(told[1]) <= 400
    assert ended.code == 0, "the verdict does not count it"
    again = " ".join(desk.audit(table, "--replay", int(told[1]) - 1).said.split())
    assert f"more than {int(told[1]) - 1} hidden tables fit" in again
    assert re.search(r"at least \d+% and at most \d+% of all sides", again)


def test_a_table_that_the_program_does_not_publish_is_refused(desk, table):
    other = desk.publish(exact("EU", (HIDES, SHOWS)))
    assert desk.audit(other, "--replay", 10).refused("does not publish this table", "Remedy")


def test_a_replay_needs_a_table_and_no_earlier_one(desk, table):
    assert sdc("audit", *desk.where, "--national", "--replay", 5).refused("--replay: only with --published")
    assert desk.audit(table, "--earlier", table, "--replay", 5).refused("--replay: only with --published")
