"""What a release rests on is told twice: log and certificate tell what the rows hold, JSON is
JSON. By plain SQL, on both engines.
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime

import pytest
from sqlalchemy.exc import IntegrityError

from sdc_tasks.model.findings import CheckResult, Severity
from sdc_tasks.warehouse.confidential.store import accept_together, receive, save_checks
from sdc_tasks.warehouse.database.checks import run_checks
from sdc_tasks.warehouse.database.engine import writing
from sdc_tasks.warehouse.forms.canonical import digest_of_entry
from sdc_tasks.warehouse.log import broken, entries, record
from sdc_tasks.warehouse.operations.cycles import open_cycle
from sdc_tasks.warehouse.operations.journal import start_run, submit
from support.world import FIRST, TERMS, audited, certificate, prepared, publish_it, raw

AUDIT = """INSERT INTO operations.audit (release_id, digest, problem_digest, publication_digest, profiles, passed, primaries, broken, lps,
               certificate, audited_at)
           VALUES ('r1', :digest, :problem, :publication, 'external,vintage', :passed, 2, 0, 4, :certificate, '2026-01-01 00:00:00')"""  # noqa: E501
DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("path", "other"),
    [
        (("digests", "problem"), "x"),
        (("digests", "publication"), "x"),
        (("digests", "domain"), "x"),
        (("profiles",), ["external"]),
        (("profiles",), "external,vintage"),
        (("verdict",), "failed"),
        (("counts", "primaries"), 3),
        (("counts", "broken_requirements"), 1),
        (("domain",), "trade"),
        (("period",), "2025"),
    ],
)
@pytest.mark.parametrize("gone", [True, False])
def test_an_audit_is_stored_as_its_certificate_has_it(
    warehouse, path: tuple[str, ...], other: object, gone: bool
) -> None:
    start_run(warehouse, "r1", "sbs", "2024")
    submit(warehouse, "r1", TERMS)
    report = audited(FIRST)
    said = json.loads(certificate(report))
    inner = said
    for step in path[:-1]:
        inner = inner[step]
    if gone:
        del inner[path[-1]]
    else:
        inner[path[-1]] = other
    row = {"problem": report.problem, "publication": FIRST.digest, "passed": True}
    for told, refused in (
        (json.dumps(said), True),
        ("no JSON", True),
        (DEEP, True),
        (certificate(report), False),
    ):
        full = {**row, "certificate": told, "digest": hashlib.sha256(told.encode()).hexdigest()}
        if not refused:
            raw(warehouse, AUDIT, **full)
            continue
        with pytest.raises(IntegrityError, match="audit refused: its certificate"):
            raw(warehouse, AUDIT, **full)


@pytest.mark.parametrize(
    "action",
    [
        "submit",
        "audit",
        "approve",
        "reject",
        "release",
        "retract",
        "agree",
        "receive",
        "accept",
        "supersede",
        "refuse",
    ],
)
def test_an_entry_of_the_log_tells_what_its_kind_must_tell(warehouse, action: str) -> None:
    """An entry that tells less is refused; so is one that is no JSON, of any kind."""
    with (
        pytest.raises(IntegrityError, match="log refused: details are no JSON"),
        writing(warehouse) as connection,
    ):
        record(connection, action, "r1")
    for details in ("", "x", "[]", '"a"', "{", DEEP):
        with pytest.raises(IntegrityError, match="log refused: details are no JSON"):
            add(warehouse, "test", details)
    add(warehouse, "test", "{}")
    assert broken(entries(warehouse)) == []


def add(warehouse, action: str, details: str) -> None:
    """An entry by plain SQL."""
    said = {"actor": "tester", "action": action, "subject": "s", "details": details}
    if warehouse.dialect.name == "postgresql":
        raw(
            warehouse,
            "INSERT INTO operations.log (actor, action, subject, details) VALUES (:actor, :action, :subject, "
            ":details)",
            **said,
        )
        return
    at = datetime(2026, 1, 1, tzinfo=UTC)
    last = entries(warehouse)[-1]  # of the secret
    digest = digest_of_entry(
        number=last.number + 1, recorded_at=at, account="file", previous=last.digest, **said
    )
    row = {**said, "number": last.number + 1, "previous": last.digest, "digest": digest}
    raw(
        warehouse,
        "INSERT INTO log (number, recorded_at, account, previous, actor, action, subject, details, digest) "
        "VALUES "
        "(:number, '2026-01-01 00:00:00.000000', 'file', :previous, :actor, :action, :subject, :details, "
        ":digest)",
        **row,
    )


@pytest.mark.parametrize(
    "settings",
    [
        "",
        "x",
        "[]",
        DEEP,
        '{"governance": {"approvals": 1}}',
        '{"governance": {"approvals": 0, "retention_days": 9}}',
        '{"audit": {"profiles": ["coalition"]}}',
        '{"audit": {"profiles": "external"}}',
    ],
)
def test_terms_ask_for_what_their_settings_say(warehouse, settings: str) -> None:
    statement = (
        "INSERT INTO operations.terms VALUES ('sbs', 'x', 'external', 0, NULL, "
        ":settings, '2026-01-01 00:00:00')"
    )
    with pytest.raises(IntegrityError, match="terms refused: its JSON"):
        raw(warehouse, statement, settings=settings)
    raw(
        warehouse, statement, settings='{"governance": {"approvals": 0}, "audit": {"profiles": ["external"]}}'
    )


@pytest.mark.parametrize("document", ["", "x", "{}", '"a"', "[1]", '["a", null]', DEEP])
def test_what_pages_read_as_a_list_is_one(warehouse, document: str) -> None:
    prepared(warehouse)
    open_cycle(warehouse, TERMS, "2024", ["AT"], {})
    with pytest.raises(IntegrityError, match="cycle refused: its JSON"):
        raw(warehouse, "UPDATE operations.cycle SET areas = :document", document=document)
    for statement, table in (
        (
            (
                "INSERT INTO operations.cycle (domain, period, terms_digest, areas) VALUES ('sbs', '2025', "
                ":terms, :document)"
            ),
            "cycle",
        ),
        (
            (
                "INSERT INTO operations.check_result VALUES ('sbs', '2024', :terms, 'c', 'error', :yes, 1, "
                "0, "
                ":document)"
            ),
            "check_result",
        ),
    ):
        given = {"terms": TERMS.digest, "document": document} | ({"yes": True} if ":yes" in statement else {})
        with pytest.raises(IntegrityError, match=f"{table} refused: its JSON"):
            raw(warehouse, statement, **given)


def test_a_list_may_be_replaced_by_a_list_alone(warehouse) -> None:
    key = receive(warehouse, "sbs", "2024", "at.csv", b"AT").key
    accept_together(warehouse, [key], "AT")
    save_checks(warehouse, key, [CheckResult("sums", Severity.WARNING, passed=True, checked=3, failed=0)])
    open_cycle(warehouse, TERMS, "2024", ["AT"], {})
    for table, column in (("check_result", "cells"), ("cycle", "areas")):
        update = f"UPDATE operations.{table} SET {column} = :document"
        raw(warehouse, update, document='["AT", "BE"]')
        with pytest.raises(IntegrityError, match=f"{table} refused: its JSON"):
            raw(warehouse, update, document='{"AT": "BE"}')


def test_a_program_is_told_as_json(warehouse) -> None:
    prepared(warehouse)
    start_run(warehouse, "r2", "sbs", "2024")
    statement = (
        "INSERT INTO operations.submission SELECT 'r2', domain, period, terms_digest, submitter, embargo, "
        ":program, submitted_at"
        " FROM operations.submission WHERE release_id = 'r1'"
    )
    for program in ("", "x", "[]", DEEP):
        with pytest.raises(IntegrityError, match="submission refused: its JSON"):
            raw(warehouse, statement, program=program)
    raw(warehouse, statement, program="{}")
    assert [row["release_id"] for row in run_checks(warehouse)["submission_not_logged"]] == ["r2"]


def test_what_a_log_of_before_says_stops_no_check(warehouse) -> None:
    """Entries that are no JSON, from before the guard: the checks name what they do not tell."""
    publish_it(warehouse, prepared(warehouse))
    on = "" if warehouse.dialect.name == "sqlite" else " ON operations.log"
    triggers = ["log_told", "log_update"] if not on else ["log_told", "log_append_only"]
    for trigger in triggers:
        raw(warehouse, f"DROP TRIGGER {trigger}{on}")
    for junk in ("", "no JSON", DEEP, '{"audit": 1e999999}'):
        raw(warehouse, "UPDATE operations.log SET details = :junk WHERE action <> 'make'", junk=junk)
        found = {name for name, rows in run_checks(warehouse).items() if rows}
        assert {"release_not_logged", "audit_not_logged", "submission_not_logged"} <= found
