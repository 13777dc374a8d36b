"""Figures that may be computed from each other: no audit attacks two domains or two frequencies
together, so the second stays in.

Three countries hide X of a quarter. Four quarterly releases pass, and so does the year, which
hides only secondaries; the year minus the quarters is X. What is refused by name is tried by
plain SQL as well, on both engines.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError

from sdc_tasks.errors import ReleaseBlocked
from sdc_tasks.model.results import Release
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.database.checks import run_checks
from sdc_tasks.warehouse.database.engine import open_warehouse, reading
from sdc_tasks.warehouse.database.schema import publication
from sdc_tasks.warehouse.dissemination import overlap
from sdc_tasks.warehouse.dissemination.publisher import NotApproved, printed, publish
from sdc_tasks.warehouse.forms.related import akin, same_time
from sdc_tasks.warehouse.log import entries
from sdc_tasks.warehouse.operations.decisions import approve, retract
from sdc_tasks.warehouse.operations.journal import Terms, save_audit, start_run, submit
from support.related import CHECKS, terms
from support.world import (
    FIRST,
    KEYS,
    RELEASE,
    SPACE,
    audited,
    certificate,
    count,
    out_of,
    prepared,
    publish_it,
    raw,
    staged,
)

REASON = "the survey asks other enterprises"
REFUSED = "beside figures that may be the same"


def out(warehouse, release_id: str, of: Terms, period: str):
    """A release is published under these terms."""
    return publish_it(warehouse, prepared(warehouse, release_id, period=period, terms=of), period, of)


def by_hand(warehouse, release_id: str, of: Terms, period: str) -> None:
    """The same by plain SQL, as somebody who leaves out the publisher."""
    if not any(each["release_id"] == release_id for each in reader.runs(warehouse)):
        prepared(warehouse, release_id, period=period, terms=of)
    if (of.domain, period) not in _staged(warehouse):
        staged(warehouse, FIRST, period, of.domain)
    audit = reader.audits(warehouse, release_id)[-1]
    row = {
        "release_id": release_id,
        "domain": of.domain,
        "period": period,
        "version": 1 + len(out_of(warehouse, period, of.domain)),
    }
    row |= {
        "publication": FIRST.digest,
        "audit": audit["digest"],
        "passed": True,
        "now": "2026-01-01 00:00:00",
    }
    raw(warehouse, RELEASE, **row)


def _staged(warehouse) -> set[tuple[str, str]]:
    """(domain, period) of which cells are stored."""
    with reading(warehouse) as connection:
        return {tuple(row) for row in connection.execute(select(publication.c.domain, publication.c.period))}


YEARLY = terms("annual", "NSI:SBS(1.0)")
QUARTERLY = terms("quarterly")


def test_the_year_stays_in_after_its_quarters(warehouse):
    for number in (1, 2, 3, 4):
        assert out(warehouse, f"q{number}", QUARTERLY, f"2024-Q{number}") == (1, True)
    named = r"TURNOVER of NSI.*quarterly has published 2024-Q1.*Remedy: .*unrelated: \{quarterly: REASON\}"
    with pytest.raises(ReleaseBlocked, match=named):
        out(warehouse, "year", YEARLY, "2024")
    assert "unrelated: {quarterly: REASON}" in overlap.refused(warehouse, YEARLY, "2024")
    with pytest.raises(IntegrityError, match=REFUSED):
        by_hand(warehouse, "year", YEARLY, "2024")
    assert count(warehouse, "dissemination.release") == 4
    assert not any(run_checks(warehouse, CHECKS).values())


def test_two_frequencies_of_one_domain_are_related_whatever_it_says(warehouse):
    assert out(warehouse, "r1", YEARLY, "2024") == (1, True)
    itself = replace(
        YEARLY, digest="e" * 64, settings=YEARLY.settings.replace("{", '{"unrelated": {"annual": "no"}, ', 1)
    )
    for release_id, each in (("r2", YEARLY), ("r3", itself)):
        with pytest.raises(
            ReleaseBlocked,
            match=r"annual has published 2024, which overlaps 2024-Q2.*Remedy: say it in the domain file",
        ):
            out(warehouse, release_id, each, "2024-Q2")
        with pytest.raises(IntegrityError, match=f"{REFUSED}|does not name why"):
            by_hand(warehouse, release_id, each, "2024-Q2")
    assert out(warehouse, "r4", YEARLY, "2025") == (1, True), "the next year is another time"


def test_what_was_taken_back_is_known_to_the_world(warehouse):
    out(warehouse, "r1", QUARTERLY, "2024-Q1")
    retract(warehouse, "r1", "wrong")
    with pytest.raises(ReleaseBlocked, match="quarterly has published 2024-Q1"):
        out(warehouse, "r2", YEARLY, "2024")
    with pytest.raises(IntegrityError, match=REFUSED):
        by_hand(warehouse, "r2", YEARLY, "2024")


FAR = {
    "another agency": {"structure": "ECB:STS(1.0)"},
    "another indicator": {"indicators": ("PERSONS",)},
    "other areas": {"countries": ("CH", "NO"), "aggregates": ("EFTA",)},
}
NEAR = {
    "a part of the agency": {"structure": "NSI.TRADE:STS(1.0)"},
    "another spelling of the agency": {"structure": "nsi:STS(1.0)"},
    "a structure of which nobody knows whose it is": {"structure": "STS"},
    "one country in common": {"countries": ("BE", "DE"), "aggregates": ("BENELUX",)},
    "regions of a country": {"countries": ("AT11", "AT12"), "aggregates": ("EAST",)},
    "a composition in common": {"countries": ("DE", "FR")},
    "areas of which nobody knows": {"countries": (), "aggregates": ()},
}


@pytest.mark.parametrize("what", FAR)
def test_what_has_nothing_in_common_goes_out(warehouse, what):
    other = terms("other", **FAR[what])
    out(warehouse, "r1", QUARTERLY, "2024-Q1")
    space = replace(SPACE, indicators=("PERSONS",)) if "indicators" in FAR[what] else SPACE
    release = prepared(warehouse, "r2", terms=other, space=space)
    assert publish(warehouse, release, space=space, terms=other, period="2024") == (1, True)
    assert not any(run_checks(warehouse, CHECKS).values())


@pytest.mark.parametrize("what", NEAR)
def test_what_could_be_the_same_or_a_sum_stays_in(warehouse, what):
    other = terms("other", **NEAR[what])
    out(warehouse, "r1", QUARTERLY, "2024-Q1")
    with pytest.raises(ReleaseBlocked, match="quarterly has published 2024-Q1"):
        out(warehouse, "r2", other, "2024")
    with pytest.raises(IntegrityError, match=REFUSED):
        by_hand(warehouse, "r2", other, "2024")


def test_whoever_says_why_they_are_unrelated_passes_and_it_is_kept(warehouse):
    out(warehouse, "r1", QUARTERLY, "2024-Q1")
    said = replace(YEARLY, digest="d" * 64, settings=_with(YEARLY, {"quarterly": REASON}))
    assert out(warehouse, "r2", said, "2024") == (1, True)
    [told] = [json.loads(each.details) for each in entries(warehouse, "r2") if each.action == "release"]
    assert told["unrelated"] == {"quarterly": REASON}
    assert not any(run_checks(warehouse, CHECKS).values())
    with pytest.raises(
        ReleaseBlocked, match="annual has published 2024"
    ):  # the other one says so itself, to be released once more
        out(warehouse, "r3", QUARTERLY, "2024-Q2")


@pytest.mark.parametrize("reason", ["", "  "])
def test_no_reason_is_none(warehouse, reason):
    out(warehouse, "r1", QUARTERLY, "2024-Q1")
    said = replace(YEARLY, digest="d" * 64, settings=_with(YEARLY, {"quarterly": reason}))
    with pytest.raises(ReleaseBlocked, match="quarterly has published"):
        out(warehouse, "r2", said, "2024")
    with pytest.raises(IntegrityError, match=REFUSED):
        by_hand(warehouse, "r2", said, "2024")


def _with(of: Terms, unrelated: dict[str, str]) -> str:
    return json.dumps(json.loads(of.settings) | {"unrelated": unrelated}, sort_keys=True)


def test_a_certificate_that_does_not_name_the_reason_lets_nothing_out(warehouse):
    """Who approved it has not read the reason."""
    said = replace(YEARLY, digest="d" * 64, settings=_with(YEARLY, {"quarterly": REASON}))
    start_run(warehouse, "r1", said.domain, "2024")
    submit(warehouse, "r1", said)
    report = audited(FIRST)
    silent = {
        key: told for key, told in json.loads(certificate(report, terms=said)).items() if key != "unrelated"
    }
    release = Release("r1", report.problem, FIRST, report)
    for told in (silent, silent | {"unrelated": {"quarterly": "another reason"}}):
        save_audit(warehouse, "r1", report, json.dumps(told), printed(FIRST, SPACE))
        with pytest.raises(ReleaseBlocked, match=r"does not name why.*Remedy: run its audit again"):
            publish_it(warehouse, release, terms=said)
        with pytest.raises(IntegrityError, match="does not name why"):
            by_hand(warehouse, "r1", said, "2024")
    save_audit(warehouse, "r1", report, certificate(report, terms=said), printed(FIRST, SPACE))
    assert publish_it(warehouse, release, terms=said) == (1, True)


def test_four_eyes_agree_to_the_certificate_with_the_reason(warehouse, warehouse_url):
    said = terms("annual", "NSI:SBS(1.0)", unrelated={"quarterly": REASON}, approvals=1)
    out(warehouse, "r1", QUARTERLY, "2024-Q1")
    release = prepared(warehouse, "r2", terms=said)
    with pytest.raises(NotApproved):
        publish_it(warehouse, release, terms=said)
    anna = open_warehouse(warehouse_url, KEYS, "anna")
    approve(anna, "r2", FIRST.digest)
    anna.dispose()
    assert publish_it(warehouse, release, terms=said) == (1, True)
    assert json.loads(reader.audits(warehouse, "r2")[0]["certificate"])["unrelated"] == {"quarterly": REASON}


def test_the_same_figures_of_a_period_are_never_unrelated(warehouse):
    """One structure, one period, one indicator: these are the cells, not what could be computed from them."""
    out(warehouse, "r1", QUARTERLY, "2024-Q1")
    again = terms("again", unrelated={"quarterly": REASON})
    with pytest.raises(ReleaseBlocked, match="is published by domain quarterly"):
        out(warehouse, "r2", again, "2024-Q1")
    with pytest.raises(IntegrityError, match="another domain has published these figures"):
        by_hand(warehouse, "r2", again, "2024-Q1")


# --- a warehouse in which they lie beside each other already ------------------------------------------------


def _take_the_gate_away(warehouse) -> None:
    on = " ON dissemination.release" if warehouse.dialect.name == "postgresql" else ""
    raw(warehouse, f"DROP TRIGGER release_related{on}")


def _beside(warehouse) -> set[tuple[str, ...]]:
    """The pairs that the check lists."""
    found = run_checks(warehouse, ["release_beside_related"])["release_beside_related"]
    return {tuple(sorted((row["release_id"], row["beside"]))) for row in found}


def test_an_older_warehouse_is_told_what_lies_beside_each_other(warehouse):
    _take_the_gate_away(warehouse)
    out(warehouse, "q1", QUARTERLY, "2024-Q1")
    by_hand(warehouse, "own", QUARTERLY, "2024")
    by_hand(warehouse, "year", YEARLY, "2024")
    out(warehouse, "next", YEARLY, "2025")
    retract(warehouse, "q1", "wrong")
    assert _beside(warehouse) == {("own", "q1"), ("q1", "year"), ("own", "year")}
    said = replace(YEARLY, digest="d" * 64, settings=_with(YEARLY, {"quarterly": REASON}))
    start_run(warehouse, "later", said.domain, "2026")
    submit(warehouse, "later", said)  # the office says now that they are unrelated
    assert _beside(warehouse) == {("own", "q1")}, "one domain is never unrelated to itself"


def test_a_log_that_does_not_tell_the_reason_is_found(warehouse):
    said = terms("annual", unrelated={"quarterly": REASON})
    out(warehouse, "r1", said, "2024")
    assert not run_checks(warehouse, ["release_not_logged"])["release_not_logged"]
    if warehouse.dialect.name == "postgresql":
        raw(warehouse, "ALTER TABLE operations.log DISABLE TRIGGER ALL")
    else:
        raw(warehouse, "DROP TRIGGER log_update")
    raw(
        warehouse,
        f"UPDATE operations.log SET details = replace(details, '{REASON}', 'another') WHERE action = "
        f"'release'",
    )
    assert run_checks(warehouse, ["release_not_logged"])["release_not_logged"]


# --- the program and the database mean the same -------------------------------------------------------------

PERIODS = (
    "2023",
    "2024",
    "2024-A1",
    "2024-S1",
    "2024-S2",
    "2024-T1",
    "2024-T3",
    "2024-Q1",
    "2024-Q4",
    "2024-M01",
    "2024-01",
    "2024-12",
    "2024-W01",
    "2024-W52",
    "2020-W53",
    "2020-12",
    "2021-01",
    "2021-W53",
    "2024-Q5",
    "2024-13",
    "0000",
    "spring",
    "",
)


def test_both_engines_know_when_two_periods_overlap(warehouse):
    name = "operations.same_time" if warehouse.dialect.name == "postgresql" else "same_time"
    with reading(warehouse) as connection:
        for one in PERIODS:
            for other in PERIODS:
                theirs = connection.execute(
                    text(f"SELECT {name}(:one, :other)"), {"one": one, "other": other}
                ).scalar_one()
                assert bool(theirs) == same_time(one, other), (one, other)
    assert same_time("2024", "2024-Q4")
    assert same_time("2024-W01", "2024-01")
    assert not same_time("2024-Q1", "2024-Q2")
    assert not same_time("2023", "2024")
    assert same_time("2024", "spring"), "doubt is refused"


def test_both_engines_know_what_could_be_akin(warehouse):
    name = "operations.akin" if warehouse.dialect.name == "postgresql" else "akin"
    known = [
        QUARTERLY.settings,
        YEARLY.settings,
        "{}",
        "[]",
        "no JSON",
        None,
        '{"structure_id": 3}',
        '{"structure_id": "NSI:X"}',
    ]
    known += [
        '{"structure_id": "NSI:X", "aggregates": [{"code": "EU"}]}',
        '{"structure_id": "ECB:X", "aggregates": 3, "codelists": []}',
    ]
    known += [terms("other", **own).settings for own in (*FAR.values(), *NEAR.values())]
    with reading(warehouse) as connection:
        for one in known:
            for other in known:
                theirs = connection.execute(
                    text(f"SELECT {name}(:one, :other)"), {"one": one, "other": other}
                ).scalar_one()
                assert bool(theirs) == akin(one, other), (one, other)
    assert akin(None, YEARLY.settings)
    assert not akin(terms("other", **FAR["other areas"]).settings, YEARLY.settings)


def test_a_domain_in_the_program_is_refused_before_anything_is_computed(warehouse):
    out(warehouse, "r1", QUARTERLY, "2024-Q1")
    assert overlap.refused(warehouse, QUARTERLY, "2024-Q2") == ""
    assert "overlaps" in overlap.refused(warehouse, QUARTERLY, "2024-02")
