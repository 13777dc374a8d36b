"""Four eyes are those of two: a typed name is nobody, however it is spelt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import IntegrityError

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.results import Release
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.database.checks import run_checks
from sdc_tasks.warehouse.database.engine import acting, writing
from sdc_tasks.warehouse.database.schema import LONGEST_REASON
from sdc_tasks.warehouse.dissemination.publisher import NotApproved, printed, publish
from sdc_tasks.warehouse.forms.people import is_person, normal, person
from sdc_tasks.warehouse.log import entries, record
from sdc_tasks.warehouse.operations.cycles import note_dag_run
from sdc_tasks.warehouse.operations.decisions import (
    OwnSubmission,
    approve,
    approvers,
    retract,
    withdraw,
    withdrawers,
)
from sdc_tasks.warehouse.operations.journal import save_audit, start_run, submit
from support.security.deployment import Deployment
from support.world import (
    AGREED_BY_NOBODY,
    APPROVED_BY_NOBODY,
    FIRST,
    RETRACTED_BY_NOBODY,
    SPACE,
    TERMS,
    audited,
    certificate,
    prepared,
    publish_it,
    raw,
)

ASKED = replace(TERMS, digest="f" * 64, approvals=2)
# One name, spelt otherwise: blanks, capitals, full width, a ligature, a combined accent.
SAME = ["bert", " bert ", "BERT", "ｂｅｒｔ", "bert\u00a0", "\u2003bert"]
# What could pass for it, or for nothing: Cyrillic е, Greek ρ, zero width, soft hyphen, direction,
# variation, tab, dotted i, nothing.
OTHERS = [
    *(
        "b\u0435rt",
        "be\u03c1t",
        "be\u200brt",
        "be\u200drt",
        "be\u00adrt",
        "\u202ebert",
        "bert\ufe0f",
        "be\u0338rt",
        "",
        " ",
        "\u200b",
    ),
    *("bert\x07", "bert\u2060", "be\u0000rt", "анна b", "bert\u3164", "ber\u1e6d\u0323\u0331"),
]
INSERT = """INSERT INTO operations.approval
        (release_id, audit_digest, approver, publication_digest, audit_passed, submitter, note, approved_at)
    SELECT release_id, digest, %s, publication_digest, true, 'tester', '', now() FROM operations.audit"""


def asked(engine: Engine) -> Release:
    report = audited(FIRST)
    start_run(engine, "r1", "sbs", "2024")
    submit(engine, "r1", ASKED)
    save_audit(engine, "r1", report, certificate(report, terms=ASKED), printed(FIRST, SPACE))
    return Release("r1", report.problem, FIRST, report)


@pytest.fixture
def office(deployment: Deployment) -> Iterator[tuple[Deployment, Release]]:
    pipeline = deployment.engine("sdc_pipeline", "tester")
    yield deployment, asked(pipeline)
    pipeline.dispose()


def out(deployment: Deployment, release: Release) -> tuple[int, bool]:
    publisher = deployment.engine("sdc_publisher", "robot")
    try:
        return tuple(publish(publisher, release, space=SPACE, terms=ASKED, period="2024"))
    finally:
        publisher.dispose()


def test_one_account_is_one_approval(office: tuple[Deployment, Release]) -> None:
    """By plain SQL, under every spelling; by the program, whatever name is typed."""
    deployment, release = office
    own = f"{deployment.name}_sdc_approver"
    with deployment.connect("sdc_approver") as prompt:
        for name in ("anna", "bert", *SAME, *OTHERS, own.upper(), own + " ", own.replace("a", "\u0430")):
            with pytest.raises((psycopg.IntegrityError, psycopg.DataError)):
                prompt.execute(INSERT, [name])
        prompt.execute(INSERT, [own])
        with pytest.raises(psycopg.IntegrityError):
            prompt.execute(INSERT, [own])
    approver = deployment.engine("sdc_approver")
    for name in ("anna", "bert", "carl"):
        approve(acting(approver, name), "r1", FIRST.digest)
    assert approvers(approver, "r1", FIRST.digest) == [own]
    assert run_checks(approver, ["approval_not_logged"])["approval_not_logged"], "the one by plain SQL"
    with pytest.raises(NotApproved, match="1 of 2 approvals"):
        out(deployment, release)
    approver.dispose()


def test_the_desk_vouches_for_people_and_nobody_counts_twice(office: tuple[Deployment, Release]) -> None:
    deployment, release = office
    desk = deployment.engine("sdc_desk")
    for name in SAME:
        approve(acting(desk, name), "r1", FIRST.digest)
    for name in OTHERS:
        with pytest.raises(InvalidInput, match="cannot be the name of a person"):
            approve(acting(desk, name), "r1", FIRST.digest)
    for name in ("tester", " TESTER", "ｔｅｓｔｅｒ"):
        with pytest.raises(OwnSubmission):
            approve(acting(desk, name), "r1", FIRST.digest)
    assert approvers(desk, "r1", FIRST.digest) == ["bert"]
    with deployment.connect("sdc_desk") as prompt:
        for name in (*SAME, *OTHERS, "tester"):
            with pytest.raises((psycopg.IntegrityError, psycopg.DataError)):
                prompt.execute(INSERT, [name])
    with pytest.raises(NotApproved, match="1 of 2 approvals"):
        out(deployment, release)
    approve(acting(desk, "Žofie Müllerová"), "r1", FIRST.digest)
    assert out(deployment, release) == (1, True)
    assert {each["account"] for each in reader.approvals(desk, "r1")} == {f"{deployment.name}_sdc_desk"}
    pipeline = deployment.engine("sdc_pipeline")
    assert not any(run_checks(pipeline).values())
    for engine in (desk, pipeline):
        engine.dispose()


def test_an_approval_from_before_the_account_was_known_counts_no_more(
    office: tuple[Deployment, Release],
) -> None:
    deployment, release = office
    desk = deployment.engine("sdc_desk")
    for name in ("anna", "bert"):
        approve(acting(desk, name), "r1", FIRST.digest)
    with deployment.superuser() as server:
        server.execute("ALTER TABLE operations.approval DISABLE TRIGGER ALL")
        server.execute("UPDATE operations.approval SET account = NULL WHERE approver = 'anna'")
    with pytest.raises(NotApproved, match="1 of 2 approvals"):
        out(deployment, release)
    desk.dispose()


def test_a_name_counts_once_on_both_engines(warehouse) -> None:
    asked(warehouse)
    for name in (*SAME, "anna"):
        approve(acting(warehouse, name), "r1", FIRST.digest)
    for name in OTHERS:
        with pytest.raises(InvalidInput):
            approve(acting(warehouse, name), "r1", FIRST.digest)
    assert approvers(warehouse, "r1", FIRST.digest) == ["bert", "anna"]
    for name in (each for each in (*SAME, *OTHERS) if each != "bert" and "\x00" not in each):
        with pytest.raises(IntegrityError):
            raw(
                warehouse,
                "INSERT INTO operations.approval SELECT release_id, digest, :name, publication_digest, "
                "passed, 'tester', '',"
                " audited_at, 'x', NULL FROM operations.audit",
                name=name,
            )


def test_nobody_submits_under_a_name_that_could_be_anothers(warehouse) -> None:
    start_run(warehouse, "r1", "sbs", "2024")
    for name in OTHERS:
        with pytest.raises(InvalidInput, match="cannot be the name of a person"):
            submit(acting(warehouse, name), "r1", TERMS)
    assert reader.submissions(warehouse, "r1") == []


AGREED = """INSERT INTO operations.withdrawal (release_id, reason, agreed_by, agreed_at, account)
    VALUES ('r1', %s, %s, now(), 'whose?')"""
BACK = "INSERT INTO dissemination.retraction VALUES ('r1', :reason, :by, '2026-01-01 00:00:00')"


def test_one_account_takes_no_release_back(office: tuple[Deployment, Release]) -> None:
    """The publisher types a name; who agrees does so by his own account, or the desk vouches for him."""
    deployment, release = office
    desk, publisher = deployment.engine("sdc_desk"), deployment.engine("sdc_publisher", "dora")
    for name in ("anna", "bert"):
        approve(acting(desk, name), "r1", FIRST.digest)
    out(deployment, release)
    with pytest.raises(InvalidInput, match="nobody but dora agreed"):
        retract(publisher, "r1", "wrong")
    own = f"{deployment.name}_sdc_approver"
    with deployment.connect("sdc_approver") as prompt:
        for name in ("anna", *SAME, *OTHERS, own.upper(), own + " "):
            with pytest.raises((psycopg.IntegrityError, psycopg.DataError)):
                prompt.execute(AGREED, ["wrong", name])
    for role in ("sdc_pipeline", "sdc_publisher", "sdc_ui"):
        with deployment.connect(role) as prompt, pytest.raises(psycopg.errors.InsufficientPrivilege):
            prompt.execute(AGREED, ["wrong", "anna"])
    for name in SAME:
        withdraw(acting(desk, name), "r1", "wrong")
    approver = deployment.engine("sdc_approver", "whoever")
    withdraw(approver, "r1", "wrong")
    assert withdrawers(publisher, "r1", "wrong") == ["bert", own], "whatever was typed"
    with (
        deployment.connect("sdc_publisher") as prompt,
        pytest.raises(psycopg.IntegrityError, match="nobody else agreed"),
    ):
        prompt.execute("INSERT INTO dissemination.retraction VALUES ('r1', 'quite wrong', 'dora', now())")
    retract(publisher, "r1", "wrong")
    assert not run_checks(desk, ["withdrawal_not_logged"])["withdrawal_not_logged"]
    for engine in (desk, publisher, approver):
        engine.dispose()


def test_who_asks_and_who_agrees_are_two(warehouse) -> None:
    """By the program and by plain SQL, under every spelling; for this reason and no other."""
    release = asked(warehouse)
    for name in ("anna", "bert"):
        approve(acting(warehouse, name), "r1", FIRST.digest)
    publish(warehouse, release, space=SPACE, terms=ASKED, period="2024")
    note_dag_run(warehouse, "retract_release", "one", release_id="r1", triggered_by="dora", reason="wrong")
    for name in ("dora", " DORA"):
        with pytest.raises(OwnSubmission, match="dora asked to take it back"):
            withdraw(acting(warehouse, name), "r1", "wrong ")
    withdraw(acting(warehouse, "bert"), "r1", "wrong")
    withdraw(acting(warehouse, "Bert"), "r1", " wrong")
    withdraw(acting(warehouse, "dora"), "r1", "late")
    for reason, name, said in (
        ("wrong", "bert", "nobody but bert"),
        ("wrong", "ｂｅｒｔ", "nobody but bert"),
        ("late", "dora", "nobody but dora"),
        ("quite wrong", "dora", "nobody but dora"),
    ):
        with pytest.raises(InvalidInput, match=said):
            retract(acting(warehouse, name), "r1", reason)
        with pytest.raises(IntegrityError, match=r"nobody else agreed|name could pass"):
            raw(warehouse, BACK, reason=reason, by=name)
    for name in (each for each in OTHERS if "\x00" not in each):
        with pytest.raises(IntegrityError):
            raw(warehouse, BACK, reason="wrong", by=name)
    retract(acting(warehouse, "dora"), "r1", "wrong")
    for refused in (withdraw, retract):
        with pytest.raises(InvalidInput, match="already retracted: wrong"):
            refused(acting(warehouse, "bert"), "r1", "late")
    assert not any(run_checks(warehouse).values())
    told = [(each.actor, each.action) for each in entries(warehouse, "r1")]
    assert told[-3:] == [("bert", "agree"), ("dora", "agree"), ("dora", "retract")]


def test_what_nobody_agreed_to_is_found(warehouse) -> None:
    publish_it(warehouse, prepared(warehouse))
    raw(warehouse, AGREED_BY_NOBODY)
    assert {name for name, rows in run_checks(warehouse).items() if rows} == {"withdrawal_not_logged"}
    with writing(warehouse) as connection:
        record(connection, "agree", "r1", reason="late")
    assert [each["action"] for each in run_checks(warehouse)["log_of_nothing"]] == ["agree"]


def test_a_reason_has_an_end(warehouse) -> None:
    publish_it(warehouse, prepared(warehouse))
    for decide in (withdraw, retract):
        for reason, said in (
            (" ", "needs a reason"),
            ("x" * (LONGEST_REASON + 1), f"at most {LONGEST_REASON}"),
        ):
            with pytest.raises(InvalidInput, match=said):
                decide(warehouse, "r1", reason)
        with pytest.raises(InvalidInput, match="not published"):
            decide(warehouse, "r9", "wrong")


def test_names_of_the_union_are_names() -> None:
    for name in (
        "Žofie Müllerová",
        "Παπαδόπουλος Γιώργος",
        "Иван Петров",
        "o'neill, siobhán",
        "uid 1000",
        "release_worker",
        "Łukasz Ångström",
    ):
        assert person(name) == normal(name)
        assert is_person(normal(name))
        assert normal(normal(name)) == normal(name)


def test_what_nobody_logged_is_found(warehouse) -> None:
    publish_it(warehouse, prepared(warehouse))
    assert not any(run_checks(warehouse).values())
    raw(warehouse, RETRACTED_BY_NOBODY)
    raw(warehouse, APPROVED_BY_NOBODY)
    assert {name for name, rows in run_checks(warehouse).items() if rows} == {
        "retraction_not_logged",
        "approval_not_logged",
    }
