"""`bases: {rule_aware: true}`: a release whose bases withstand somebody who has the program, from the domain file to the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.desk import HIDES, SHOWS, Desk, new_desk


def of_desk(folder: Path, bases: str = "{rule_aware: true}", more: str = "") -> Desk:
    desk = new_desk(folder, AT=HIDES, BE=SHOWS)
    desk.domain.write_text(desk.domain.read_text() + f"bases: {bases}\n{more}")
    return desk


@pytest.mark.usefixtures("one_secret")
def test_a_release_says_what_it_keeps_and_the_same_secret_gives_the_same_bytes(tmp_path):
    desk = of_desk(tmp_path)
    ended = desk.release()
    assert ended.code == 0, ended.said + ended.complained
    out = tmp_path / "out"
    assert json.loads((out / "audit.json").read_text())["verdict"] == "passed"
    page = (out / "report.html").read_text()
    assert "an interval as wide as both required distances together" in page
    assert "61 %" not in page, "that sentence is about the other rule"
    assert desk.release("again").code == 0
    assert (tmp_path / "again" / "table.csv").read_bytes() == (out / "table.csv").read_bytes()
    assert desk.audit(out / "table.csv", "--replay", 10).refused("--replay: bases.rule_aware draws the bases", "Remedy")
    desk.deliver("BE", SHOWS.replace("1400 F   700 F   700 F", "1410 F   710 F   700 F").replace("700 F   370 F", "710 F   380 F", 1))
    assert desk.release().refused("bases.rule_aware: the period has an earlier version", "Remedy")


@pytest.mark.parametrize(
    ("bases", "more", "named"),
    [
        ("{rule_aware: true, strata: {ACTIVITY: level}}", "", "strata"),
        ("{rule_aware: true, additive: true}", "", "additive"),
        ("{rule_aware: true, visible_share: 0.9}", "", "visible_share"),
        ("{rule_aware: true, rule: suppression}", "", "rule: suppression"),
        ("{removed: 0.2}", "", "removed: only with rule_aware: true"),
        ("{rule_aware: true}", "audit: {profiles: [external, internal]}\n", "audit.profiles other than external"),
        ("{rule_aware: true}", "suppression: {receiver: when_missing}\n", "suppression"),
    ],
)
def test_what_it_is_not_offered_with_is_refused_by_name(tmp_path, bases, more, named):
    assert of_desk(tmp_path, bases, more).release().refused(named, "Remedy")


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("unit_multiplier: 3", "unit_multiplier: 3, integer: true", "kind: count or integer"),
        ("unit_multiplier: 3", "unit_multiplier: 3, signed: true", "signed"),
        ("unit_multiplier: 3", "unit_multiplier: 3, rounding: {method: controlled, base: 5}", "rounding"),
    ],
)
def test_indicators_that_it_is_not_offered_for_are_refused_by_name(tmp_path, old, new, named):
    desk = of_desk(tmp_path)
    desk.settle(old, new)
    assert desk.release().refused(f"indicator TURNOVER: {named}", "Remedy")
