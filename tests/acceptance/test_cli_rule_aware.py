"""`bases: {rule_aware: true}`: a release whose bases withstand somebody who has the program,
from the domain file to the report.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from sdc_tasks.demo import write_demo
from support.desk import HIDES, SHOWS, Desk, new_desk, sdc
from support.two_indicators import SMALL_COUNT, write_two_indicators


def of_desk(folder: Path, bases: str = "{rule_aware: true}", more: str = "") -> Desk:
    desk = new_desk(folder, AT=HIDES, BE=SHOWS)
    desk.domain.write_text(desk.domain.read_text() + f"bases: {bases}\n{more}")
    return desk


def test_a_release_says_what_it_keeps_and_the_same_secret_gives_the_same_bytes(tmp_path):
    desk = of_desk(tmp_path)
    ended = desk.release()
    assert ended.code == 0, ended.said + ended.complained
    out = tmp_path / "out"
    told = json.loads((out / "audit.json").read_text())
    assert (told["verdict"], told["program"]["verdict"]) == ("passed", "passed")
    shown = told["program"]["bases"]
    assert (shown["removed"], shown["epoch"], shown["narrow"]) == (0.05, 1, [])
    assert (
        shown["wide"] + len(shown["without_claim"])
        == told["counts"]["primaries"]
        > len(shown["without_claim"])
    )
    page = (out / "report.html").read_text()
    assert "an interval as wide as both required distances together" in page
    assert "61 %" not in page, "that sentence is about the other rule"
    assert desk.release("again").code == 0
    assert (tmp_path / "again" / "table.csv").read_bytes() == (out / "table.csv").read_bytes()
    told = " ".join(desk.audit(out / "table.csv", "--replay", 10).said.split())
    found = re.search(
        r"shows both levels together for (\d+) of (\d+) primaries.* (\d+) were drawn. For (\d+) of them two "
        r"hidden tables",
        told,
    )
    assert found is not None, told
    assert found[1] == found[2]
    assert 0 < int(found[4]) == int(found[3])
    desk.deliver(
        "BE",
        SHOWS.replace("1400 F   700 F   700 F", "1410 F   710 F   700 F").replace(
            "700 F   370 F", "710 F   380 F", 1
        ),
    )
    assert desk.release().refused("bases.rule_aware: the period has an earlier version", "Remedy")


def test_indicators_that_no_relation_links_are_decided_in_one_group_and_pass(tmp_path):
    file = write_demo(tmp_path, countries=4, activities=9, sizes=2, indicators=2)
    file.write_text(
        yaml.safe_dump(
            yaml.safe_load(file.read_text()) | {"bases": {"rule_aware": True}, "cta": {"ladder": []}}
        )
    )
    where = "--inbox", tmp_path / "inbox", "--out", tmp_path / "out"
    ended = sdc("release", "--domain", file, "--period", "2024", *where, "--processes", 2)
    assert ended.code == 0, ended.text
    told = json.loads((tmp_path / "out" / "audit.json").read_text())
    assert (told["verdict"], told["program"]["verdict"]) == ("passed", "passed")
    assert told["program"]["bases"]["wide"] > 0
    with (tmp_path / "out" / "table.csv").open() as table:
        rounded = {row["INDICATOR"] for row in csv.DictReader(table) if float(row["ROUNDING_BASE"] or 0)}
    assert rounded == {"TURNOVER", "VALUE_ADDED"}


@pytest.mark.parametrize(
    ("bases", "more", "named"),
    [
        ("{rule_aware: true, strata: {ACTIVITY: level}}", "", "strata"),
        ("{rule_aware: true, additive: true}", "", "additive"),
        ("{rule_aware: true, visible_share: 0.9}", "", "visible_share"),
        ("{rule_aware: true, rule: suppression}", "", "rule: suppression"),
        ("{removed: 0.2}", "", "removed: only with rule_aware: true"),
        (
            "{rule_aware: true}",
            "audit: {profiles: [external, internal]}\n",
            "audit.profiles other than external",
        ),
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


AWARE_COUNTS = {**SMALL_COUNT, "rule_aware": True, "drawn": 0.9}


def of_two(folder: Path, rounding: Mapping[str, Any], **more: Mapping[str, Any]) -> tuple[object, ...]:
    """A domain of a magnitude and a count with these options, and the arguments of its release."""
    path = write_two_indicators(folder, 3, 6, 3, rounding)
    domain = yaml.safe_load(path.read_text())
    path.write_text(
        yaml.safe_dump(
            domain | {key: {**domain.get(key, {}), **own} for key, own in more.items()}, sort_keys=False
        )
    )
    return "--domain", path, "--period", "2024", "--inbox", folder / "inbox"


def test_counts_and_bases_of_one_release_withstand_somebody_who_has_the_program(tmp_path):
    where = of_two(tmp_path, AWARE_COUNTS, bases={"rule_aware": True})
    for out in ("out", "again"):
        ended = sdc("release", *where, "--out", tmp_path / out, "--witnesses", tmp_path / f"{out}.npz")
        assert ended.code == 0, ended.text
    told = json.loads((tmp_path / "out" / "audit.json").read_text())
    assert (told["verdict"], told["program"]["verdict"]) == ("passed", "passed")
    counts = told["program"]["counts"]["ENTERPRISES"]
    assert 0 < counts["hidden"] == counts["shown"]
    assert (counts["base"], counts["odds_of_one_decision"]) == (SMALL_COUNT["base"], round(2 / 0.9, 4))
    assert told["program"]["bases"]["wide"] > 0
    assert told["rounding"]["ENTERPRISES"] == {**AWARE_COUNTS, "quality": "fast", "epoch": 1}
    assert (tmp_path / "again" / "table.csv").read_bytes() == (tmp_path / "out" / "table.csv").read_bytes()
    assert "keeps at least as many candidates as the base" in (tmp_path / "out" / "report.html").read_text()
    files = ("--published", tmp_path / "out" / "table.csv", "--certificate", tmp_path / "out" / "audit.json")
    assert sdc("verify-certificate", *where, *files, "--witnesses", tmp_path / "out.npz").code == 0
    told["program"]["bases"]["without_claim"] = [told["primaries"][0]["cell"]]
    told["program"]["bases"]["wide"] -= 1
    (tmp_path / "forged.json").write_text(json.dumps(told))
    forged = sdc(
        "verify-certificate",
        *where,
        *files[:3],
        tmp_path / "forged.json",
        "--witnesses",
        tmp_path / "out.npz",
    )
    assert forged.code == 3
    assert "program.bases.wide: not what follows" in forged.said
    of_two(tmp_path, {**AWARE_COUNTS, "epoch": 2}, bases={"rule_aware": True})
    other = sdc("release", *where, "--out", tmp_path / "other")
    assert other.code == 0, other.text
    assert (tmp_path / "other" / "table.csv").read_bytes() != (tmp_path / "out" / "table.csv").read_bytes()


def test_a_second_version_of_aware_counts_is_refused(tmp_path):
    where = (*of_two(tmp_path, AWARE_COUNTS), "--out", tmp_path / "out")
    assert sdc("release", *where).code == 0
    file = sorted((tmp_path / "inbox").glob("*.csv"))[0]
    file.write_text(file.read_text().rstrip("\n") + "\n\n")
    assert sdc("release", *where).refused("rounding.rule_aware: the period has an earlier version", "Remedy")


def test_a_flag_that_tells_that_a_count_is_small_is_refused(tmp_path):
    """Whoever knows that no larger count may have this flag has two candidates instead of three."""
    where = (*of_two(tmp_path, AWARE_COUNTS), "--out", tmp_path / "out")
    file = sorted((tmp_path / "inbox").glob("*.csv"))[0]
    head, *lines = file.read_text(encoding="utf-8-sig").splitlines()
    names = head.split(separator := ";" if ";" in head else ",")
    rows = [line.split(separator) for line in lines]
    small = next(row for row in rows if "ENTERPRISES" in row and row[names.index("OBS_VALUE")] in {"1", "2"})
    small[names.index("CONF_STATUS")] = "A"
    file.write_text("\n".join([head, *map(separator.join, rows), ""]))
    ended = sdc("release", *where)
    assert ended.refused(f"{file.name} was refused", "see findings.csv")
    assert "flagged as primary, which tells everybody that the count is 1 to 2" in ended.said


@pytest.mark.parametrize(
    ("rounding", "more", "named"),
    [
        ({**SMALL_COUNT, "epoch": 2}, {}, "epoch: only with rule_aware: true"),
        (
            AWARE_COUNTS,
            {"audit": {"profiles": ["external", "internal"]}},
            "audit.profiles other than external",
        ),
        (AWARE_COUNTS, {"suppression": {"receiver": "when_missing"}}, "suppression"),
        (SMALL_COUNT, {"bases": {"rule_aware": True}}, "indicator ENTERPRISES: rounding"),
    ],
)
def test_what_aware_counts_are_not_offered_with_is_refused_by_name(tmp_path, rounding, more, named):
    ended = sdc("release", *of_two(tmp_path, rounding, **more), "--out", tmp_path / "out")
    assert ended.refused(named, "Remedy")
