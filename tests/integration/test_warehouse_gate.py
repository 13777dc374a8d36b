"""What a release needs beside a passed audit: terms, profiles, approvals; when it is
seen, and that it can be taken back.

The world is that of `support/world.py`. What is refused by name is tried by plain SQL as well, on both
engines.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event
from sqlalchemy.exc import IntegrityError

from sdc_tasks.errors import InvalidInput, ReleaseBlocked, Retriable
from sdc_tasks.model.results import Publication, Release
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential.store import deliveries, left, load_artefact, received, take
from sdc_tasks.warehouse.database.checks import run_checks
from sdc_tasks.warehouse.database.engine import open_warehouse
from sdc_tasks.warehouse.dissemination.publisher import NotApproved, printed, publish
from sdc_tasks.warehouse.operations.decisions import approve, reject, retract
from sdc_tasks.warehouse.operations.journal import Terms, save_audit, start_run, submit
from support.accepting import accept, accepted
from support.waiting import until
from support.world import (
    FIRST,
    KEYS,
    RELEASE,
    SECOND,
    SPACE,
    TERMS,
    WITHHELD,
    audited,
    certificate,
    count,
    in_parallel,
    out_of,
    prepared,
    publish_it,
    published,
    published_of,
    raw,
    staged,
)

TWO_EYES_MORE = replace(TERMS, digest="a" * 64, approvals=2)
HARDER = replace(TERMS, digest="b" * 64, profiles=("external", "coalition"))


@pytest.fixture
def people(warehouse, warehouse_url):
    """name → the warehouse opened in that name."""
    opened = {name: open_warehouse(warehouse_url, KEYS, name) for name in ("Anna ", "bert", "TESTER")}
    yield opened
    for engine in opened.values():
        engine.dispose()


def submitted(
    warehouse,
    release_id: str,
    terms: Terms,
    decided: Publication = FIRST,
    embargo: datetime | None = None,
    profiles: tuple[str, ...] = ("external", "vintage"),
) -> Release:
    """A release whose run is bound to these terms, with its passed audit."""
    start_run(warehouse, release_id, "sbs", "2024")
    submit(warehouse, release_id, terms, embargo=embargo)
    report = audited(decided, profiles=profiles)
    save_audit(
        warehouse,
        release_id,
        report,
        certificate(report, terms=terms, beside=published_of(warehouse)),
        printed(decided, SPACE),
    )
    return Release(release_id, report.problem, decided, report)


def out(warehouse, release: Release, terms: Terms = TERMS, after: list[str] | None = None):
    return publish(
        warehouse,
        release,
        space=SPACE,
        terms=terms,
        period="2024",
        after=out_of(warehouse) if after is None else after,
    )


def by_hand(warehouse, release_id: str, decided: Publication = FIRST, **changes) -> None:
    """The rows of a release by plain SQL, as somebody who leaves out the publisher."""
    if not count(warehouse, "dissemination.publication"):
        staged(warehouse, decided)
    [audit] = reader.audits(warehouse, release_id)
    row = {
        "release_id": release_id,
        "domain": "sbs",
        "period": "2024",
        "version": 1,
        "publication": decided.digest,
    }
    row |= {"audit": audit["digest"], "passed": True, "now": "2026-01-01 00:00:00"}
    raw(warehouse, RELEASE, **{**row, **changes})


AWARE = replace(
    TERMS, digest="c" * 64, settings=json.dumps({"bases": {"rule_aware": True, "removed": 0.05, "epoch": 1}})
)


def test_what_is_not_shown_to_withstand_somebody_who_has_the_program_stays_in(warehouse):
    """The certificate was forged, or is one of a program that did not ask this yet."""
    release = submitted(warehouse, "r1", AWARE)
    with pytest.raises(
        ReleaseBlocked, match=r"withstands somebody who has the program. Remedy: run its audit again"
    ):
        out(warehouse, release, AWARE)
    with pytest.raises(IntegrityError, match="not shown to withstand somebody who has the program"):
        by_hand(warehouse, "r1")
    shown = {"removed": 0.05, "epoch": 1, "wide": 2, "narrow": [], "without_claim": []}
    told = json.loads(certificate(release.report, terms=AWARE)) | {
        "program": {"verdict": "passed", "bases": shown}
    }
    save_audit(warehouse, "r1", release.report, json.dumps(told), printed(FIRST, SPACE))
    assert out(warehouse, release, AWARE) == (1, True)


# --- approvals ----------------------------------------------------------------------------------------------


def test_a_release_waits_for_everybody_who_has_to_agree(warehouse, people):
    release = submitted(warehouse, "r1", TWO_EYES_MORE)
    for given, name in enumerate(("Anna ", "bert")):
        with pytest.raises(NotApproved, match=f"{given} of 2 approvals"):
            out(warehouse, release, TWO_EYES_MORE)
        approve(people[name], "r1", FIRST.digest[:12], "read the report")
        approve(people[name], "r1", FIRST.digest)  # once more is once
    assert [each["approver"] for each in reader.approvals(warehouse, "r1")] == ["anna", "bert"]
    assert out(warehouse, release, TWO_EYES_MORE) == (1, True)
    assert not any(run_checks(warehouse).values())


def test_the_database_itself_counts_approvals(warehouse, people):
    submitted(warehouse, "r1", TWO_EYES_MORE)
    for name in ("Anna ", "bert"):
        with pytest.raises(IntegrityError, match="approvals are missing"):
            by_hand(warehouse, "r1")
        approve(people[name], "r1", FIRST.digest)
    by_hand(warehouse, "r1")
    assert count(warehouse, "dissemination.release") == 1


def test_a_later_version_needs_as_many_approvals_as_an_earlier_one(warehouse, people):
    """The domain file of version 2 asks for none: whoever loosens it must not be the one who publishes."""
    release = submitted(warehouse, "r1", TWO_EYES_MORE)
    for name in ("Anna ", "bert"):
        approve(people[name], "r1", FIRST.digest)
    assert out(warehouse, release, TWO_EYES_MORE) == (1, True)
    second = submitted(warehouse, "r2", TERMS, SECOND)
    with pytest.raises(
        NotApproved, match="0 of 2 approvals, as many as an earlier version of the period asked for"
    ):
        out(warehouse, second, TERMS)
    for name in ("Anna ", "bert"):
        approve(people[name], "r2", SECOND.digest)
    assert out(warehouse, second, TERMS) == (2, True)


def test_a_later_version_withstands_whom_an_earlier_one_had_to_withstand(warehouse):
    first = submitted(warehouse, "r1", HARDER, profiles=("external", "coalition"))
    assert out(warehouse, first, HARDER) == (1, True)
    second = submitted(warehouse, "r2", TERMS, SECOND)
    with pytest.raises(
        ReleaseBlocked, match=r"version 1 .* withstood profile coalition.*Remedy: name it in audit\.profiles"
    ):
        out(warehouse, second, TERMS)


def test_the_database_itself_asks_what_an_earlier_version_asked(warehouse, people):
    """Plain SQL, under terms that ask for no approval and for fewer attackers."""
    strict = replace(TWO_EYES_MORE, profiles=("external", "coalition"))
    first = submitted(warehouse, "r1", strict, profiles=("external", "coalition"))
    for name in ("Anna ", "bert"):
        approve(people[name], "r1", FIRST.digest)
    assert out(warehouse, first, strict) == (1, True)
    both = ("external", "coalition", "vintage")
    staged(warehouse, SECOND)
    for release_id, profiles, agreed in (("r2", both, False), ("r3", ("external", "vintage"), True)):
        submitted(warehouse, release_id, TERMS, SECOND, profiles=profiles)
        for name in ("Anna ", "bert") if agreed else ():
            approve(people[name], release_id, SECOND.digest)
        with pytest.raises(
            IntegrityError, match="an earlier version of the period asked for more approvals or attackers"
        ):
            by_hand(warehouse, release_id, SECOND, version=2)
    submitted(warehouse, "r4", TERMS, SECOND, profiles=both)
    for name in ("Anna ", "bert"):
        approve(people[name], "r4", SECOND.digest)
    by_hand(warehouse, "r4", SECOND, version=2)
    assert count(warehouse, "dissemination.release") == 2


def test_an_approval_is_of_one_publication_of_a_passed_audit_by_somebody_else(warehouse, people):
    submitted(warehouse, "r1", TWO_EYES_MORE)
    failed = audited(SECOND, down=0.5)
    save_audit(warehouse, "r1", failed, certificate(failed, terms=TWO_EYES_MORE))
    refused = [
        ("TESTER", "r1", FIRST.digest, "tester submitted it"),  # however he writes his name
        ("bert", "r1", SECOND.digest, "no passed audit of publication"),
        ("bert", "r1", "0" * 64, "no passed audit of publication"),
        ("bert", "r1", "%" * 12, "no passed audit of publication"),
        ("bert", "r1", FIRST.digest[:11], "at least 12 digits"),
        ("bert", "r9", FIRST.digest, "not submitted"),
    ]
    for name, release_id, publication, why in refused:
        with pytest.raises(InvalidInput, match=why):
            approve(people[name], release_id, publication)
    assert reader.approvals(warehouse, "r1") == []


def test_no_approval_can_be_forged_by_plain_sql(warehouse, subtests):
    submitted(warehouse, "r1", TWO_EYES_MORE)
    failed = audited(SECOND, down=0.5)
    bad = save_audit(warehouse, "r1", failed, certificate(failed, terms=TWO_EYES_MORE))
    [good] = [each["digest"] for each in reader.audits(warehouse, "r1") if each["passed"]]
    sql = """INSERT INTO operations.approval
                 (release_id, audit_digest, approver, publication_digest, audit_passed, submitter, note, approved_at)
             VALUES (:release, :audit, :approver, :publication, :passed, :submitter, '', '2026-01-01 00:00:00')"""  # noqa: E501
    right = {
        "release": "r1",
        "audit": good,
        "approver": "bert",
        "publication": FIRST.digest,
        "passed": True,
        "submitter": "tester",
    }
    for change in (
        {"approver": "tester"},
        {"approver": "tester", "submitter": "bert"},  # the submitter is who submitted
        {"approver": "Tester"},
        {"approver": " tester"},
        {"approver": ""},
        {"audit": bad, "publication": SECOND.digest},
        {"audit": bad, "publication": SECOND.digest, "passed": False},
        {"publication": SECOND.digest},
        {"release": "r9"},
    ):
        with subtests.test(str(change)), pytest.raises(IntegrityError):
            raw(warehouse, sql, **{**right, **change})
    raw(warehouse, sql, **right)
    for changed in ("UPDATE operations.approval SET approver = 'anna'", "DELETE FROM operations.approval"):
        with subtests.test(changed), pytest.raises(IntegrityError, match="append-only"):
            raw(warehouse, changed)


# --- terms --------------------------------------------------------------------------------------------------


def test_a_run_that_nobody_submitted_is_not_released(warehouse):
    start_run(warehouse, "r1", "sbs", "2024")
    report = audited(FIRST)
    save_audit(warehouse, "r1", report, certificate(report), printed(FIRST, SPACE))
    with pytest.raises(ReleaseBlocked, match="not submitted under the terms"):
        out(warehouse, Release("r1", report.problem, FIRST, report))
    with pytest.raises(IntegrityError, match="not submitted under any terms"):
        by_hand(warehouse, "r1")


def test_a_profile_that_the_terms_ask_for_must_have_been_audited(warehouse):
    release = submitted(warehouse, "r1", HARDER)
    with pytest.raises(ReleaseBlocked, match="not audited against profile coalition"):
        out(warehouse, release, HARDER)
    with pytest.raises(IntegrityError, match="profile that the terms ask for"):
        by_hand(warehouse, "r1")


def test_terms_stay_what_they_were_when_the_run_was_submitted(warehouse):
    release = submitted(warehouse, "r1", TWO_EYES_MORE)
    with pytest.raises(ReleaseBlocked, match="not submitted under the terms of the present domain file"):
        out(warehouse, release, TERMS)
    softened = replace(TWO_EYES_MORE, approvals=0)
    for attempt in (lambda: out(warehouse, release, softened), lambda: submitted(warehouse, "r2", softened)):
        with pytest.raises(InvalidInput, match="other terms"):
            attempt()


def test_an_audit_is_known_by_its_certificate(warehouse):
    """SQLite has no sha256: there the program checks."""
    start_run(warehouse, "r1", "sbs", "2024")
    sql = """INSERT INTO operations.audit (release_id, digest, problem_digest, publication_digest, profiles, passed, primaries, broken, lps,
                 certificate, audited_at)
             VALUES ('r1', :digest, 'p', 'q', 'external', :passed, 2, 0, 4, :certificate, '2026-01-01 00:00:00')"""  # noqa: E501
    if warehouse.dialect.name == "postgresql":
        with pytest.raises(IntegrityError, match="not that of its certificate"):
            raw(warehouse, sql, digest="0" * 64, passed=True, certificate="{}")
    digest = save_audit(warehouse, "r1", audited(FIRST), certificate(audited(FIRST)))
    assert [each["digest"] for each in reader.audits(warehouse, "r1")] == [digest]


# --- versions -----------------------------------------------------------------------------------------------


def test_a_version_that_came_out_meanwhile_is_seen_inside_the_transaction(warehouse):
    """Both looked at the warehouse before either published."""
    first, second = submitted(warehouse, "r1", TERMS), submitted(warehouse, "r2", TERMS, SECOND)
    assert out(warehouse, first, after=[]) == (1, True)
    with pytest.raises(ReleaseBlocked, match="another version was published since"):
        out(warehouse, second, after=[])
    assert out(warehouse, first, after=[]) == (1, False), "what is out is out"
    with pytest.raises(ReleaseBlocked, match="release r2: other versions are out than its audit knew"):
        out(warehouse, second, after=["r1"])
    assert out(warehouse, submitted(warehouse, "r3", TERMS, SECOND), after=["r1"]) == (2, True)


def test_a_version_beside_another_must_have_been_attacked_by_who_kept_that(warehouse):
    """By name, by the database itself, and by the checks where somebody came round both."""
    out(warehouse, submitted(warehouse, "r1", TERMS, profiles=("external",)))
    release = submitted(warehouse, "r2", TERMS, SECOND, profiles=("external",))
    with pytest.raises(
        ReleaseBlocked, match="version 1 of 2024 is published, but the audit is not against profile vintage"
    ):
        out(warehouse, release)
    staged(warehouse, SECOND)
    with pytest.raises(IntegrityError, match="not audited beside the version that is out"):
        by_hand(warehouse, "r2", SECOND, version=2)
    for trigger in ("release_vintage",):
        on = "" if warehouse.dialect.name == "sqlite" else " ON dissemination.release"
        raw(warehouse, f"DROP TRIGGER {trigger}{on}")
    by_hand(warehouse, "r2", SECOND, version=2)
    assert [
        (each["release_id"], each["profile"]) for each in run_checks(warehouse)["release_not_attacked"]
    ] == [("r2", "vintage")]
    retract(warehouse, "r2", "never attacked")
    assert run_checks(warehouse)["release_not_attacked"] == []


def test_the_same_publication_again_needs_no_other_audit(warehouse):
    first = submitted(warehouse, "r1", TERMS, profiles=("external",))
    again = submitted(warehouse, "r2", TERMS, profiles=("external",))
    assert [out(warehouse, each) for each in (first, first, again)] == [(1, True), (1, False), (1, False)]


def _publish_after_nothing(engine, release: Release) -> str:
    try:
        return str(out(engine, release, after=[]).version)
    except ReleaseBlocked:
        return "blocked"


def test_of_several_that_know_of_nothing_exactly_one_is_published(warehouse, warehouse_url):
    bases = {base: published((42, 0), (20, base), WITHHELD) for base in (1, 2, 5, 10)}
    different = [submitted(warehouse, f"r{base}", TERMS, decided) for base, decided in bases.items()]
    found = in_parallel(warehouse_url, _publish_after_nothing, *different)
    assert sorted(found) == ["1", "blocked", "blocked", "blocked"]


# --- embargo and retraction ---------------------------------------------------------------------------------


def test_nothing_is_seen_before_the_embargo(warehouse):
    soon = datetime.now(UTC) + timedelta(seconds=4)
    assert out(warehouse, submitted(warehouse, "r1", TERMS, embargo=soon)) == (1, True)
    assert reader.current_release(warehouse, "sbs", "2024") is None
    assert (
        reader.released_cells(warehouse, "sbs", "2024")
        == reader.released_cells(warehouse, "sbs", "2024", version=1)
        == []
    )
    assert (
        count(warehouse, "dissemination.public_release") == count(warehouse, "dissemination.public_cell") == 0
    )
    [known] = reader.releases(warehouse)
    assert (known.visible, known.embargo) == (False, soon)
    assert until(lambda: reader.current_release(warehouse, "sbs", "2024") is not None)
    assert datetime.now(UTC) >= soon
    assert reader.current_release(warehouse, "sbs", "2024").version == 1
    assert len(reader.released_cells(warehouse, "sbs", "2024")) == 3


def test_the_version_before_stands_until_the_embargo_of_the_next(warehouse):
    publish_it(warehouse, prepared(warehouse))
    out(warehouse, submitted(warehouse, "r2", TERMS, SECOND, datetime.now(UTC) + timedelta(days=1)))
    assert reader.current_release(warehouse, "sbs", "2024").version == 1
    assert [c.rounding_base for c in reader.released_cells(warehouse, "sbs", "2024")] == [None, 10.0, None]
    assert [each.version for each in reader.releases(warehouse)] == [2, 1], (
        "whoever attacks the next one knows both"
    )


def test_an_embargo_cannot_be_left_out_by_plain_sql(warehouse):
    submitted(warehouse, "r1", TERMS, embargo=datetime.now(UTC) + timedelta(days=1))
    with pytest.raises(IntegrityError, match="not the embargo"):
        by_hand(warehouse, "r1")


def test_a_retracted_release_is_shown_no_more_and_stays_known(warehouse, people):
    publish_it(warehouse, prepared(warehouse))
    publish_it(warehouse, prepared(warehouse, "r2", SECOND))
    retract(people["bert"], "r2", "the delivery of AT was that of another year")
    retract(people["bert"], "r2", "the delivery of AT was that of another year")
    assert reader.current_release(warehouse, "sbs", "2024") is None, (
        "the older version does not come back by itself"
    )
    assert (
        reader.released_cells(warehouse, "sbs", "2024")
        == reader.released_cells(warehouse, "sbs", "2024", version=2)
        == []
    )
    assert len(reader.released_cells(warehouse, "sbs", "2024", version=1)) == 3
    assert [each.retracted for each in reader.releases(warehouse)] == [
        "the delivery of AT was that of another year",
        None,
    ]
    with pytest.raises(ReleaseBlocked, match="r2 was retracted"):
        publish_it(warehouse, prepared(warehouse, "r2", SECOND))
    for release_id, reason, why in (
        ("r2", "another", "already retracted"),
        ("r9", "x", "not published"),
        ("r1", " ", "needs a reason"),
    ):
        with pytest.raises(InvalidInput, match=why):
            retract(people["bert"], release_id, reason)
    for decide in (approve, reject):
        with pytest.raises(InvalidInput, match="release r2 was retracted: the delivery of AT"):
            decide(people["bert"], "r2", SECOND.digest)
    for forbidden in (
        "UPDATE dissemination.retraction SET reason = 'x'",
        "DELETE FROM dissemination.retraction",
    ):
        with pytest.raises(IntegrityError, match="append-only"):
            raw(warehouse, forbidden)
    # the same table by another run is a new version, and stands
    assert publish_it(warehouse, prepared(warehouse, "r3", SECOND)) == (3, True)
    assert reader.current_release(warehouse, "sbs", "2024").version == 3
    assert not any(run_checks(warehouse).values())


# --- a country returns to what it delivered before ----------------------------------------------------------


def look(warehouse, **files: bytes) -> dict[str, str]:
    """A look into an inbox with these files, all judged as good ones of AT. What counts afterwards, by
    content.
    """
    for name, content in files.items():
        take(warehouse, "sbs", "2024", name, content)
    left(warehouse, "sbs", "2024", list(files))
    for each in deliveries(warehouse, "sbs", "2024"):
        accept(warehouse, each.key, "AT")
    return {
        country: load_artefact(warehouse, digest).decode()
        for country, (digest,) in accepted(warehouse, "sbs", "2024").items()
    }


def times(warehouse) -> list[int]:
    return [each.times for each in deliveries(warehouse, "sbs", "2024")]


def test_a_file_that_comes_back_counts_again(warehouse):
    assert look(warehouse, at=b"A") == {"AT": "A"}
    assert look(warehouse, at=b"B") == {"AT": "B"}
    assert look(warehouse, at=b"A") == {"AT": "A"}
    assert look(warehouse, at=b"A") == {"AT": "A"}
    assert times(warehouse) == [1, 2], "B, then A, sent twice"
    assert look(warehouse, at=b"B") == {"AT": "B"}
    assert times(warehouse) == [2, 2]
    assert not any(rows for name, rows in run_checks(warehouse).items() if name.startswith("delivery"))


def test_a_file_that_another_task_receives_meanwhile_is_seen_whole_or_not_at_all(warehouse, warehouse_url):
    other = open_warehouse(warehouse_url, keys=KEYS)
    meanwhile = [b"A", b"B", b"C"]

    @event.listens_for(warehouse, "after_cursor_execute")
    def receive_one(*_: object) -> None:
        if meanwhile:
            content = meanwhile.pop()
            take(other, "sbs", "2024", f"{content.decode()}.csv", content)

    while True:
        last = not meanwhile
        seen = received(warehouse, "sbs", "2024")
        assert {digest for _, digest in seen.lying} == {each.key.digest for each in seen.deliveries}
        if last:
            break
    assert {name for name, _ in seen.lying} == {"A.csv", "B.csv", "C.csv"}
    other.dispose()


def test_a_file_that_only_lies_there_does_not(warehouse):
    assert look(warehouse, at=b"A") == {"AT": "A"}
    for _ in range(2):
        assert look(warehouse, at=b"A", at_v2=b"B") == {"AT": "B"}
    assert look(warehouse, at=b"A") == {"AT": "B"}, "taking B away sends nothing"
    assert look(warehouse, at=b"A", at_v3=b"A") == {"AT": "A"}, "a copy as a new version is sent"
    assert look(warehouse, at_v3=b"A", at_v4=b"C") == {"AT": "C"}


def test_retrying_is_what_a_missing_approval_asks_for():
    assert issubclass(NotApproved, Retriable)


# --- one domain ---------------------------------------------------------------------------------------------


def of(domain: str, structure: str, **more: object) -> Terms:
    told = {"structure_id": structure, "indicators": [{"code": "TURNOVER"}], **more}
    return Terms(domain, "c" * 64, ("external",), settings=json.dumps(told))


@pytest.mark.parametrize("structure", ["NSI:SMALL(1.0)", "NSI:SMALL(2.1)"])
def test_figures_that_a_domain_published_are_not_published_by_another(warehouse, structure):
    """Also where its domain file says that they are unrelated: these are the same cells."""
    first, second = (
        of("sbs", "NSI:SMALL(1.0)"),
        of("sbs_again", structure, unrelated={"sbs": "nothing in common"}),
    )
    publish_it(warehouse, prepared(warehouse, terms=first), terms=first)
    rival = prepared(warehouse, "r2", terms=second)
    with pytest.raises(
        ReleaseBlocked,
        match=r"TURNOVER of NSI:SMALL 2024 is published by domain sbs.*Remedy: release a "
        r"further version of domain sbs",
    ):
        publish_it(warehouse, rival, terms=second)
    staged(warehouse, FIRST, domain="sbs_again")
    with pytest.raises(IntegrityError, match="another domain has published these figures"):
        by_hand(warehouse, "r2", domain="sbs_again")
    retract(warehouse, "r1", "wrong")
    with pytest.raises(ReleaseBlocked, match="published by domain sbs"):  # who read it knows it
        publish_it(warehouse, rival, terms=second)
    with pytest.raises(IntegrityError, match="another domain has published these figures"):
        by_hand(warehouse, "r2", domain="sbs_again")


def test_another_structure_period_or_indicator_is_another_figure(warehouse):
    first, other = of("sbs", "NSI:SMALL(1.0)"), of("sts", "ECB:SHORT_TERM(1.0)")
    publish_it(warehouse, prepared(warehouse, terms=first), terms=first)
    assert publish_it(warehouse, prepared(warehouse, "r2", terms=other), terms=other) == (1, True)
    again = of("sbs_again", "NSI:SMALL(1.0)")
    assert publish_it(
        warehouse, prepared(warehouse, "r3", period="2025", terms=again), period="2025", terms=again
    ) == (1, True)
    people = replace(again, digest="d" * 64, settings=again.settings.replace("TURNOVER", "PERSONS"))
    workers = replace(SPACE, indicators=("PERSONS",))
    release = prepared(warehouse, "r4", terms=people, space=workers)
    assert publish(warehouse, release, space=workers, terms=people, period="2024") == (1, True)
    assert not any(run_checks(warehouse).values())
