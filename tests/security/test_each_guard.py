"""Each guard of the warehouse alone: what it refuses, and nobody else would, by plain SQL on both engines.

Guards stand behind one another on purpose, so that the fall of one shows nowhere. Here all other
triggers of the table are away.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError, OperationalError

from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential.store import receive, save_artefact
from sdc_tasks.warehouse.database.engine import acting, reading, writing
from sdc_tasks.warehouse.dissemination.publisher import printed
from sdc_tasks.warehouse.log import entries
from sdc_tasks.warehouse.operations.cycles import note_dag_run, raise_alert
from sdc_tasks.warehouse.operations.decisions import OwnSubmission, approve, retract, withdraw
from sdc_tasks.warehouse.operations.journal import Terms, save_audit, start_run, submit
from support.accepting import accept
from support.security.deployment import Deployment
from support.world import (
    CELL,
    FIRST,
    SECOND,
    SPACE,
    TERMS,
    audited,
    certificate,
    prepared,
    publish_it,
    published_of,
    raw,
    staged,
)

EMBARGO = datetime(2030, 1, 1, tzinfo=UTC)
ASKED = replace(TERMS, digest="9" * 64, profiles=("external", "coalition"), approvals=1)
INSERT = """
    INSERT INTO dissemination.release
        (release_id, domain, period, version, publication_digest, audit_digest, audit_passed, released_at, embargo)
    VALUES (:release_id, :domain, :period, :version, :publication, :audit, :passed, :now, :embargo)
"""  # noqa: E501


@pytest.fixture
def ready(warehouse: Engine) -> tuple[Engine, dict[str, Any]]:
    """r1 may go out: terms that ask for two profiles and one approval, an embargo, a passed audit, the
    cells. And the row that lets it.
    """
    audit = submitted(warehouse, "r1")
    approve(acting(warehouse, "anna"), "r1", FIRST.digest)
    staged(warehouse, FIRST)
    return warehouse, row_of("r1", audit)


PROFILES = ("coalition", "external", "vintage")


def submitted(
    warehouse: Engine, release_id: str, decided=FIRST, profiles=PROFILES, beside: Sequence[str] | None = None
) -> str:
    """`beside`: the publications that the audit knew, else those that are out."""
    start_run(warehouse, release_id, "sbs", "2024")
    submit(warehouse, release_id, ASKED, embargo=EMBARGO)
    report = audited(decided, profiles=profiles)
    told = certificate(
        report, terms=ASKED, of=release_id, beside=published_of(warehouse) if beside is None else beside
    )
    return save_audit(warehouse, release_id, report, told, printed(decided, SPACE))


def row_of(release_id: str, audit: str, **changes: Any) -> dict[str, Any]:
    row = {
        "release_id": release_id,
        "domain": "sbs",
        "period": "2024",
        "version": 1,
        "publication": FIRST.digest,
        "audit": audit,
    }
    return (
        row
        | {"passed": True, "now": "2026-01-01 00:00:00", "embargo": "2030-01-01 00:00:00.000000"}
        | changes
    )


def alone(warehouse: Engine, table: str, kept: str) -> None:
    """Takes all triggers from a table but this one; on SQLite, where a prompt has none, the
    foreign keys too.
    """
    schema, name = table.split(".")
    if warehouse.dialect.name == "sqlite":
        with reading(warehouse) as connection:
            found = (
                connection.exec_driver_sql(
                    f"SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = '{name}'"
                )
                .scalars()
                .all()
            )
    else:
        with reading(warehouse) as connection:
            found = (
                connection.exec_driver_sql(
                    f"SELECT tgname FROM pg_trigger WHERE tgrelid = '{schema}.{name}'::regclass AND NOT "
                    f"tgisinternal"
                )
                .scalars()
                .all()
            )
    assert kept in found
    for trigger in found:
        if trigger != kept:
            raw(
                warehouse,
                f"DROP TRIGGER {trigger}" + ("" if warehouse.dialect.name == "sqlite" else f" ON {table}"),
            )


def unguarded(warehouse: Engine, table: str, statement: str, **parameters: Any) -> None:
    """What lies there from before its guards, or from somebody who went round them: triggers and
    foreign keys are off meanwhile.
    """
    if warehouse.dialect.name == "postgresql":
        with writing(warehouse) as connection:
            connection.execute(text("SET LOCAL session_replication_role = replica"))
            connection.execute(text(statement), parameters)
        return
    name = table.split(".")[1]
    with reading(warehouse) as connection:
        found = connection.exec_driver_sql(
            f"SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = '{name}'"
        ).all()
    for trigger, _ in found:
        raw(warehouse, f"DROP TRIGGER {trigger}")
    driver = warehouse.raw_connection()
    driver.cursor().execute("PRAGMA foreign_keys = OFF")
    driver.cursor().execute("PRAGMA query_only = 0")
    driver.cursor().execute(statement.replace(table, name), parameters)
    driver.cursor().execute("PRAGMA foreign_keys = ON")
    for _, sql in found:
        driver.cursor().execute(sql)
    driver.close()


# --- the gate -----------------------------------------------------------------------------------------------


def _another_count(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    unguarded(engine, "dissemination.publication", "UPDATE dissemination.publication SET cells = 4")
    return row


def _again(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    raw(engine, INSERT, **row)
    audit = submitted(engine, "r2")
    approve(acting(engine, "anna"), "r2", FIRST.digest)
    return row_of("r2", audit, version=2)


def _nobody_submitted(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    start_run(engine, "r2", "sbs", "2024")
    report = audited(FIRST, profiles=("coalition", "external"))
    return row_of("r2", save_audit(engine, "r2", report, certificate(report), printed(FIRST, SPACE)))


def _failed(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    """A failed audit of the same publication."""
    report = audited(FIRST, down=0.5, profiles=("coalition", "external"))
    return row | {
        "audit": save_audit(engine, "r1", report, certificate(report, terms=ASKED), printed(FIRST, SPACE))
    }


def _of_something_else(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    """A passed audit of another publication, which is stored as well."""
    staged(engine, SECOND)
    return row | {"publication": SECOND.digest}


def _of_another_run(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    """A passed audit of the same publication."""
    return row | {"audit": submitted(engine, "r2")}


def _fewer_profiles(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    """The newer audit passed, was agreed to, and is against one profile of the two."""
    report = audited(FIRST, profiles=("external", "vintage"))
    audit = save_audit(engine, "r1", report, certificate(report, terms=ASKED), printed(FIRST, SPACE))
    unguarded(
        engine, "operations.approval", "UPDATE operations.approval SET audit_digest = :audit", audit=audit
    )
    return row | {"audit": audit}


def _approved_before(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    """Who agreed, agreed to an earlier audit of the same publication."""
    report = audited(FIRST, profiles=("coalition", "external", "vintage"))
    return row | {
        "audit": save_audit(
            engine, "r1", report, certificate(report, terms=ASKED, of="a later one"), printed(FIRST, SPACE)
        )
    }


def _of_another_release(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    """Who agreed, agreed to the same publication of another run."""
    return row_of("r2", submitted(engine, "r2"))


def _nobody_known(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    unguarded(engine, "operations.approval", "UPDATE operations.approval SET account = NULL")
    return row


def _sooner(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    return row | {"embargo": "2029-12-31 00:00:00.000000"}


def _at_once(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    return row | {"embargo": None}


def _next_but_one(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    return row | {"version": 2}


def _not_beside(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    """Version 2, audited by nobody who kept version 1."""
    raw(engine, INSERT, **row)
    staged(engine, SECOND)
    audit = submitted(engine, "r2", SECOND, profiles=("coalition", "external"))
    return row_of("r2", audit, version=2, publication=SECOND.digest)


def _two_at_once(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    """Both were audited while nothing was out; each alone is safe."""
    audit = submitted(engine, "r2", SECOND)
    staged(engine, SECOND)
    raw(engine, INSERT, **row)
    return row_of("r2", audit, version=2, publication=SECOND.digest)


def _beside_something_else(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    raw(engine, INSERT, **row)
    staged(engine, SECOND)
    return row_of(
        "r2", submitted(engine, "r2", SECOND, beside=["0" * 64]), version=2, publication=SECOND.digest
    )


def _beside_what_is_not_out(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    return row_of("r2", submitted(engine, "r2", beside=[SECOND.digest]))


AWARE = replace(
    ASKED, digest="8" * 64, settings=json.dumps({"bases": {"rule_aware": True, "removed": 0.05, "epoch": 1}})
)
COUNTS = replace(
    ASKED, digest="7" * 64, settings=json.dumps({"indicators": [{"rounding": {"rule_aware": True}}]})
)
SHOWN = {"removed": 0.05, "epoch": 1, "wide": 1, "narrow": [], "without_claim": ["AT.C10"]}


def _against_program(asked: Terms, program: object) -> Callable[[Engine, dict[str, Any]], dict[str, Any]]:
    """A release under terms with rule_aware, whose certificate tells this of somebody who has the program."""

    def situation(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
        start_run(engine, "r2", "sbs", "2024")
        submit(engine, "r2", asked, embargo=EMBARGO)
        report = audited(FIRST, profiles=PROFILES)
        told = json.loads(certificate(report, terms=asked, of="r2")) | (
            {} if program is None else {"program": program}
        )
        audit = save_audit(engine, "r2", report, json.dumps(told), printed(FIRST, SPACE))
        approve(acting(engine, "anna"), "r2", FIRST.digest)
        return row_of("r2", audit)

    return situation


def _another_value(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    unguarded(
        engine, "dissemination.eu_cell", "UPDATE dissemination.eu_cell SET value = 43 WHERE position = 0"
    )
    return row


def _a_country(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    """Somebody delivered data of an area that is called as the aggregate is."""
    accept(engine, receive(engine, "sbs", "2024", "eu.csv", b"EU").key, "EU")
    return row


def _unknown_terms(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    unguarded(engine, "operations.terms", "UPDATE operations.terms SET profiles = 'oracle'")
    return row


def _unknown_audit(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    unguarded(engine, "operations.audit", "UPDATE operations.audit SET profiles = profiles || ',oracle'")
    return row


GATE: list[tuple[str, Callable[[Engine, dict[str, Any]], dict[str, Any]], str]] = [
    ("release_gate", _another_count, "the publication is not complete"),
    ("release_gate", _next_but_one, "not the next version"),
    ("release_gate", _again, "this publication is the current version already"),
    ("release_gate", _nobody_submitted, "the run was not submitted under any terms"),
    ("release_gate", _failed, "no passed audit of this publication"),
    ("release_gate", _of_something_else, "no passed audit of this publication"),
    ("release_gate", _of_another_run, "no passed audit of this publication"),
    ("release_gate", _fewer_profiles, "a profile that the terms ask for was not audited"),
    ("release_gate", _approved_before, "approvals are missing"),
    ("release_gate", _of_another_release, "approvals are missing"),
    ("release_gate", _sooner, "not the embargo under which it was submitted"),
    ("release_gate", _at_once, "not the embargo under which it was submitted"),
    ("release_people", _nobody_known, "of people that somebody vouches for"),
    ("release_people", _approved_before, "of people that somebody vouches for"),
    ("release_people", _of_another_release, "of people that somebody vouches for"),
    ("release_vintage", _not_beside, "not audited beside the version that is out"),
    ("release_beside", _two_at_once, "other versions are out than its audit knew"),
    ("release_beside", _beside_something_else, "other versions are out than its audit knew"),
    ("release_beside", _beside_what_is_not_out, "other versions are out than its audit knew"),
    *(
        (
            "release_program",
            _against_program(asked, program),
            "not shown to withstand somebody who has the program",
        )
        for asked, program in (
            (AWARE, None),
            (AWARE, {"verdict": "failed", "bases": SHOWN}),
            (AWARE, {"verdict": "passed"}),
            (AWARE, {"verdict": "passed", "bases": SHOWN | {"removed": 0.04}}),
            (AWARE, {"verdict": "passed", "bases": SHOWN | {"epoch": 2}}),
            (AWARE, {"verdict": "passed", "bases": SHOWN | {"narrow": ["AT.C10"]}}),
            (AWARE, {"verdict": "passed", "bases": SHOWN | {"wide": 0}}),
            (AWARE, {"verdict": "passed", "bases": SHOWN | {"without_claim": []}}),
            (COUNTS, None),
            (COUNTS, {"verdict": "failed"}),
        )
    ),
    ("release_printed", _another_value, "its cells are not those that were audited"),
    ("release_printed", _a_country, "it holds a cell of a country"),
    ("release_profiles", _unknown_terms, "attacker profiles that are unknown here"),
    ("release_profiles", _unknown_audit, "attacker profiles that are unknown here"),
]


@pytest.mark.parametrize(
    ("trigger", "situation", "said"),
    GATE,
    ids=[f"{name}-{number}-{each.__name__.strip('_')}" for number, (name, each, _) in enumerate(GATE)],
)
def test_what_a_guard_of_the_gate_refuses_alone(ready, trigger: str, situation, said: str) -> None:
    warehouse, row = ready
    row = situation(warehouse, row)
    alone(warehouse, "dissemination.release", trigger)
    before = len(reader.releases(warehouse))
    with pytest.raises(IntegrityError, match=said):
        raw(warehouse, INSERT, **row)
    assert len(reader.releases(warehouse)) == before


@pytest.mark.parametrize(("asked", "program"), [(AWARE, {"bases": SHOWN}), (COUNTS, {"counts": {}})])
def test_what_withstands_somebody_who_has_the_program_goes_out(ready, asked, program) -> None:
    warehouse, row = ready
    row = _against_program(asked, {"verdict": "passed", **program})(warehouse, row)
    raw(warehouse, INSERT, **row)
    assert [each.release_id for each in reader.releases(warehouse)] == ["r2"]


def test_who_waits_for_another_version_is_asked_after_it(ready) -> None:
    """However two sessions are slowed down: the second is asked what it knew when the first is
    out, or gone.
    """
    warehouse, row = ready
    if warehouse.dialect.name == "sqlite":
        pytest.skip("SQLite has one writer")
    audit = submitted(warehouse, "r2", SECOND)
    approve(acting(warehouse, "anna"), "r2", SECOND.digest)
    staged(warehouse, SECOND)
    second = row_of("r2", audit, version=2, publication=SECOND.digest)
    with warehouse.connect() as one, warehouse.connect() as two:
        one.execute(text(INSERT), row)
        two.execute(text("SET LOCAL lock_timeout = '50ms'"))
        with pytest.raises(OperationalError, match="lock timeout"):
            two.execute(text(INSERT), second)
        one.commit()
    with pytest.raises(IntegrityError, match="other versions are out than its audit knew"):
        raw(warehouse, INSERT, **second)


def test_what_may_go_out_goes_out(ready) -> None:
    """All guards together refuse nothing else; nor does the one of two equal versions, once the first was
    taken back.
    """
    warehouse, row = ready
    again = _again(warehouse, row)
    with pytest.raises(IntegrityError, match="the current version already"):
        raw(warehouse, INSERT, **again)
    withdraw(acting(warehouse, "anna"), "r1", "wrong")
    retract(warehouse, "r1", "wrong")
    raw(warehouse, INSERT, **again)
    assert [each.release_id for each in reader.releases(warehouse)] == ["r2", "r1"]


@pytest.mark.parametrize("warehouse_url", ["sqlite"], indirect=True)
def test_a_release_is_of_the_period_that_was_submitted(ready) -> None:
    """PostgreSQL has this by a foreign key alone, which SQLite has not at a prompt."""
    warehouse, row = ready
    alone(warehouse, "dissemination.release", "release_printed")
    for change in ({"period": "2025"}, {"domain": "trade"}):
        with pytest.raises(IntegrityError, match="submitted for another domain or period"):
            raw(warehouse, INSERT, **row | change)


@pytest.mark.parametrize("warehouse_url", ["postgresql"], indirect=True)
def test_an_older_view_releases_nothing(ready) -> None:
    """It would not see what others have committed meanwhile."""
    warehouse, row = ready
    for level in ("REPEATABLE READ", "SERIALIZABLE"):
        with pytest.raises(IntegrityError, match="READ COMMITTED"), warehouse.connect() as connection:
            connection.execution_options(isolation_level=level).execute(text(INSERT), row)


# --- what is stored stays -----------------------------------------------------------------------------------

KEPT = {
    "dissemination.release": ("version = version + 1", "RELEASE"),
    "dissemination.publication": ("cells = cells + 1", ""),
    "dissemination.eu_cell": ("value = 1", ""),
    "dissemination.retraction": ("reason = 'none'", ""),
    "operations.audit": ("problem_digest = 'x'", ""),
    "operations.terms": ("settings = 'x'", ""),
    "operations.submission": ("environment = 'x'", ""),
    "operations.approval": ("note = 'x'", ""),
    "operations.withdrawal": ("agreed_by = 'x'", ""),
    "operations.log": ("actor = 'nobody'", ""),
    "operations.alert": ("said = 'x'", ""),
}


@pytest.fixture
def filled(ready) -> Engine:
    """A row in each table that is append-only."""
    warehouse, row = ready
    raw(warehouse, INSERT, **row)
    withdraw(acting(warehouse, "anna"), "r1", "wrong")
    retract(warehouse, "r1", "wrong")
    raise_alert(warehouse, "sbs", "2024", "ready", "r1", "it can go on")
    return warehouse


@pytest.mark.parametrize("table", KEPT)
def test_a_row_is_not_changed_nor_deleted_nor_replaced(filled: Engine, table: str) -> None:
    """Each by the guard of the table itself, before any foreign key is asked."""
    change, name = KEPT[table][0], table.split(".")[1]
    for statement in (f"UPDATE {table} SET {change}", f"DELETE FROM {table}"):
        with pytest.raises(IntegrityError, match=f"{name} is append-only"):
            raw(filled, statement)
    if filled.dialect.name == "postgresql":
        with pytest.raises(IntegrityError, match="append-only"):
            raw(filled, f"TRUNCATE {table} CASCADE")
        return
    kept = f"{name}_key" if name != "eu_cell" else "eu_cell_gate"
    alone(filled, table, kept)
    for how in ("INSERT OR REPLACE", "INSERT"):
        with pytest.raises(IntegrityError, match="append-only"):
            raw(filled, f"{how} INTO {name} SELECT * FROM {name}")


def test_no_cell_slips_into_what_is_released(ready) -> None:
    warehouse, row = ready
    raw(warehouse, INSERT, **row)
    with pytest.raises(IntegrityError, match="eu_cell refused"):
        raw(warehouse, CELL, digest=FIRST.digest, cell="EU.TURNOVER.C99")
    staged(warehouse, SECOND)
    raw(warehouse, CELL, digest=SECOND.digest, cell="EU.TURNOVER.C99")


def test_no_cell_is_of_a_publication_that_is_not_there(ready) -> None:
    """Not even one among many."""
    warehouse, row = ready
    staged(warehouse, SECOND)
    with pytest.raises(IntegrityError, match=r"no such publication|FOREIGN KEY"):
        raw(warehouse, CELL, digest="0" * 64, cell="EU.TURNOVER.C99")
    columns = "position, area, indicator, value, obs_status, conf_status, rounding_base, visible_share"
    copied = (
        f"INSERT INTO dissemination.eu_cell SELECT domain, period, {{}}, cell || '.x', "
        f"{columns} FROM dissemination.eu_cell"
    )
    copied += f" WHERE publication_digest = '{FIRST.digest}'"
    one = "CASE WHEN position = 1 THEN 'x' ELSE publication_digest END"
    with pytest.raises(IntegrityError, match=r"no such publication|FOREIGN KEY"):
        raw(warehouse, copied.format(one))
    raw(warehouse, INSERT, **row)
    with pytest.raises(IntegrityError, match="eu_cell refused"):
        raw(warehouse, copied.format("publication_digest"))


def test_a_cell_and_a_release_wait_for_one_another(desk: Deployment) -> None:
    """Neither is there for the other before it is committed; so one locks the
    publication, and the other waits for it.
    """
    publisher = desk.engine("sdc_publisher")
    staged(publisher, FIRST)
    pipeline = desk.engine("sdc_pipeline")
    [audit] = reader.audits(pipeline, "r1")
    cell = (
        CELL.replace(":digest", "%(digest)s").replace(":cell", "%(cell)s"),
        {"digest": FIRST.digest, "cell": "EU.TURNOVER.C99"},
    )
    out = re.sub(r":(\w+)", r"%(\1)s", INSERT), row_of("r1", audit["digest"])
    for first, second in ((cell, out), (out, cell)):
        with desk.connect("sdc_publisher") as one, desk.connect("sdc_publisher") as other:
            one.execute("BEGIN")
            one.execute(*first)
            other.execute("SET lock_timeout = '100ms'")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                other.execute(*second)
            one.execute("ROLLBACK")
    with desk.connect("sdc_publisher") as prompt:
        prompt.execute(*out)
    for engine in (publisher, pipeline):
        engine.dispose()


def test_what_is_confidential_goes_by_a_purge_alone(warehouse: Engine) -> None:
    digest = save_artefact(warehouse, "problem", b"kept")
    with pytest.raises(IntegrityError, match="not marked as purged"):
        raw(warehouse, "DELETE FROM confidential.payload")
    raw(
        warehouse,
        "UPDATE operations.artefact SET purged_at = '2026-01-01 00:00:00' WHERE digest = :digest",
        digest=digest,
    )
    raw(warehouse, "DELETE FROM confidential.payload")


# --- audits, approvals, people ------------------------------------------------------------------------------

AUDIT = """INSERT INTO operations.audit (release_id, digest, problem_digest, publication_digest, profiles, passed, primaries, broken, lps,
               certificate, audited_at)
           VALUES ('r1', :digest, 'p', 'q', :profiles, :passed, 2, :broken, 4, :certificate, '2026-01-01 00:00:00')"""  # noqa: E501
APPROVAL = """INSERT INTO operations.approval
                  (release_id, audit_digest, approver, publication_digest, audit_passed, submitter, note, approved_at, account)
              VALUES (:release, :audit, :approver, :publication, :passed, :submitter, '', '2026-01-01 00:00:00', 'file')"""  # noqa: E501


def whatever_the_certificate_says(warehouse: Engine) -> None:
    raw(
        warehouse,
        "DROP TRIGGER audit_told" + ("" if warehouse.dialect.name == "sqlite" else " ON operations.audit"),
    )


def test_an_audit_says_what_its_certificate_says(ready) -> None:
    warehouse, _ = ready
    whatever_the_certificate_says(warehouse)
    content = {
        "certificate": "{}",
        "digest": hashlib.sha256(b"{}").hexdigest(),
        "profiles": "external",
        "passed": True,
        "broken": 0,
    }
    for change, said in (
        ({"digest": "0" * 64}, "not that of its certificate"),
        ({"broken": 1}, "passed"),
        *(
            ({"profiles": each}, "attacker profiles")
            for each in ("", "oracle", "external,external", "external,oracle")
        ),
    ):
        with pytest.raises(IntegrityError, match=said):
            raw(warehouse, AUDIT, **content | change)
    raw(warehouse, AUDIT, **content)


def test_nobody_agrees_to_a_release_of_which_he_started_a_run(ready) -> None:
    """A run of another release, or one that takes the release back, hinders nobody."""
    warehouse, row = ready
    start_run(warehouse, "r2", "sbs", "2024")
    for dag, run, release, who in (
        ("eu_release_sbs", "one", "r1", "bert"),
        ("eu_release_sbs", "two", "r2", "cleo"),
        ("retract_release", "three", "r1", "cleo"),
    ):
        note_dag_run(warehouse, dag, run, release_id=release, triggered_by=who)
    with pytest.raises(OwnSubmission, match="bert started a run of it"):
        approve(acting(warehouse, "Bert"), "r1", FIRST.digest)
    alone(warehouse, "operations.approval", "approval_by_others")
    right = {
        "release": "r1",
        "audit": row["audit"],
        "publication": FIRST.digest,
        "passed": True,
        "submitter": "tester",
    }
    with pytest.raises(IntegrityError, match="started a run of this release"):
        raw(warehouse, APPROVAL, **right, approver="bert")
    raw(warehouse, APPROVAL, **right, approver="cleo")


WITHDRAWAL = (
    "INSERT INTO operations.withdrawal VALUES (:release, :reason, :by, '2026-01-01 00:00:00', 'file')"
)


def test_what_the_guard_of_an_agreement_to_a_retraction_refuses_alone(ready) -> None:
    """A run for another reason, one of another release, and one that makes a release hinder nobody."""
    warehouse, row = ready
    raw(warehouse, INSERT, **row)
    start_run(warehouse, "r2", "sbs", "2024")
    for dag, run, release, reason in (
        ("retract_release", "one", "r1", "wrong"),
        ("retract_release", "two", "r1", "late"),
        ("retract_release", "three", "r2", "odd"),
        ("eu_release_sbs", "four", "r1", "odd"),
    ):
        note_dag_run(warehouse, dag, run, release_id=release, triggered_by="bert", reason=reason)
    alone(warehouse, "operations.withdrawal", "withdrawal_gate")
    for change, said in (
        ({"reason": "wrong"}, "who asked to take the release back"),
        ({"reason": "late"}, "who asked to take the release back"),
        ({"by": "b\u0435rt"}, "could pass for that of somebody else"),
        ({"release": "r2", "by": "cleo"}, r"no such release|foreign key"),
    ):
        with pytest.raises(IntegrityError, match=said):
            raw(warehouse, WITHDRAWAL, **{"release": "r1", "reason": "odd", "by": "bert"} | change)
    raw(warehouse, WITHDRAWAL, release="r1", reason="odd", by="bert")


@pytest.mark.parametrize("warehouse_url", ["sqlite"], indirect=True)
def test_an_agreement_to_a_retraction_has_an_instant(ready) -> None:
    warehouse, row = ready
    raw(warehouse, INSERT, **row)
    alone(warehouse, "operations.withdrawal", "withdrawal_instants_insert")
    for at in ("1969-12-31 00:00:00", "3000-01-01 00:00:00", "2026-02-31 00:00:00x", "soon"):
        with pytest.raises(IntegrityError, match="out of bounds"):
            raw(
                warehouse,
                WITHDRAWAL.replace("2026-01-01 00:00:00", at),
                release="r1",
                reason="odd",
                by="bert",
            )


RETRACTION = "INSERT INTO dissemination.retraction VALUES ('r1', :reason, :by, '2026-01-01 00:00:00')"


def test_what_the_guard_of_a_retraction_refuses_alone(ready) -> None:
    """Nobody agreed; only the same person; for another reason; to another release."""
    warehouse, row = ready
    raw(warehouse, INSERT, **row)
    publish_it(warehouse, prepared(warehouse, "r2", SECOND, "2025"), "2025")
    alone(warehouse, "dissemination.retraction", "retraction_people")
    withdraw(acting(warehouse, "anna"), "r1", "wrong")
    withdraw(acting(warehouse, "anna"), "r2", "late")
    for reason, by, said in (
        ("odd", "bert", "nobody else agreed to it"),
        ("wrong", "anna", "nobody else agreed to it"),
        ("late", "bert", "nobody else agreed to it"),
        ("wrong", "\u0430nna", "could pass for that of somebody else"),
    ):
        with pytest.raises(IntegrityError, match=said):
            raw(warehouse, RETRACTION, reason=reason, by=by)
    raw(warehouse, RETRACTION, reason="wrong", by="bert")


def test_terms_name_profiles_that_are_known(warehouse: Engine) -> None:
    statement = (
        "INSERT INTO operations.terms VALUES ('sbs', :digest, :profiles, 0, NULL, '{}', "
        "'2026-01-01 00:00:00')"
    )
    for each in ("", "oracle", "external,external", "external,oracle"):
        with pytest.raises(IntegrityError, match="attacker profiles"):
            raw(warehouse, statement, digest="x", profiles=each)
    raw(warehouse, statement, digest="x", profiles="external,coalition")


@pytest.mark.parametrize("warehouse_url", ["sqlite"], indirect=True)
def test_what_constraints_say_of_an_approval_triggers_say_too(ready) -> None:
    """At a prompt of SQLite foreign keys and CHECKs are off."""
    warehouse, row = ready
    _failed(warehouse, row)
    [failed] = [each["digest"] for each in reader.audits(warehouse, "r1") if not each["passed"]]
    right = {
        "release": "r1",
        "audit": row["audit"],
        "approver": "bert",
        "publication": FIRST.digest,
        "passed": True,
        "submitter": "tester",
    }
    said = {
        "himself": "submitter is not who submitted, or agrees himself",
        "audit": "no passed audit of this publication",
    }
    for change, why in (
        ({"approver": "tester"}, "himself"),
        ({"approver": "tester", "submitter": "bert"}, "himself"),
        ({"release": "r9"}, "himself"),
        ({"audit": failed}, "audit"),
        ({"audit": "0" * 64}, "audit"),
        ({"publication": SECOND.digest}, "audit"),
    ):
        with pytest.raises(IntegrityError, match=said[why]):
            raw(warehouse, APPROVAL, **right | change)
    raw(warehouse, APPROVAL, **right)
    alone(warehouse, "dissemination.retraction", "retraction_gate")
    with pytest.raises(IntegrityError, match="no such release"):
        raw(warehouse, "INSERT INTO retraction VALUES ('r1', 'wrong', 'bert', '2026-01-01 00:00:00')")


@pytest.mark.parametrize("warehouse_url", ["sqlite"], indirect=True)
def test_nothing_broken_passes_where_checks_are_off(ready) -> None:
    warehouse, _ = ready
    whatever_the_certificate_says(warehouse)
    content = {
        "certificate": "{}",
        "digest": hashlib.sha256(b"{}").hexdigest(),
        "profiles": "external",
        "passed": True,
        "broken": 1,
    }
    driver = warehouse.raw_connection()
    driver.cursor().execute("PRAGMA query_only = 0")
    driver.cursor().execute("PRAGMA ignore_check_constraints = ON")
    with pytest.raises(Exception, match="passed, and something broken"):
        driver.cursor().execute(AUDIT.replace("operations.", ""), content)
    driver.invalidate()


def test_a_submitter_has_a_name_of_one_spelling(warehouse: Engine) -> None:
    """By plain SQL; the program refuses them by itself."""
    prepared(warehouse)
    start_run(warehouse, "r2", "sbs", "2024")
    statement = (
        "INSERT INTO operations.submission SELECT 'r2', domain, period, terms_digest, :name, embargo, "
        "environment, submitted_at"
        " FROM operations.submission WHERE release_id = 'r1'"
    )
    for name in ("t\u0435ster", "te\u200bster", "ｔester", "te  ster", "a\u0301"):
        with pytest.raises(IntegrityError, match="could pass for that of somebody else"):
            raw(warehouse, statement, name=name)
    raw(warehouse, statement, name="tester two")


# --- the log, and who dates what ----------------------------------------------------------------------------


@pytest.mark.parametrize("warehouse_url", ["sqlite"], indirect=True)
def test_an_entry_has_its_own_digest(warehouse: Engine) -> None:
    publish_it(warehouse, prepared(warehouse))
    alone(warehouse, "operations.log", "log_digest")
    copied = (
        "INSERT INTO log SELECT number + 1, recorded_at, 'boss', account, action, "
        "subject, details, digest, :digest FROM log"
    )
    with pytest.raises(IntegrityError, match="not the digest of this entry"):
        raw(warehouse, f"{copied} ORDER BY number DESC LIMIT 1", digest=entries(warehouse)[-1].digest)


@pytest.fixture
def desk(deployment: Deployment) -> Iterator[Deployment]:
    """r1 is submitted, audited and agreed to by accounts of a real deployment."""
    pipeline, vouching = deployment.engine("sdc_pipeline"), deployment.engine("sdc_desk")
    submitted(pipeline, "r1")
    approve(acting(vouching, "anna"), "r1", FIRST.digest)
    yield deployment
    for engine in (pipeline, vouching):
        engine.dispose()


def test_the_server_tells_who_and_when(desk: Deployment) -> None:
    """Not the writer, and not the owner of the function: of the log, and of all else that cannot
    be changed.
    """
    pipeline, publisher = desk.engine("sdc_pipeline"), desk.engine("sdc_publisher")
    then, now = datetime(1999, 1, 1, tzinfo=UTC), datetime.now(UTC)
    who = (
        "owner",
        *(f"sdc_{role}" for role in ("pipeline", "pipeline", "desk")),
    )  # the owner migrates, and makes the secret
    assert [each.account for each in entries(pipeline)] == [f"{desk.name}_{account}" for account in who]
    assert all(abs(each.recorded_at - now) < timedelta(hours=1) for each in entries(pipeline))
    with desk.superuser() as server:
        for table, column, where in (
            ("operations.terms", "registered_at", "digest = 'again'"),
            ("operations.submission", "submitted_at", "release_id = 'r2'"),
            ("operations.audit", "audited_at", "digest = encode(sha256('{}'), 'hex')"),
            ("operations.approval", "approved_at", "approver = 'bert'"),
            ("operations.alert", "raised_at", "true"),
        ):
            for statement in AS_THEN[table]:
                server.execute(statement, {"then": then} if "%(" in statement else None)
            told = server.execute(f"SELECT {column} FROM {table} WHERE {where}").fetchone()
            assert told is not None, table
            assert abs(told[0] - now) < timedelta(hours=1), table
    for engine in (pipeline, publisher):
        engine.dispose()


AS_THEN = {
    "operations.terms": [
        (
            "INSERT INTO operations.terms SELECT domain, 'again', profiles, approvals, 1, settings, %(then)s "
            "FROM operations.terms"
        ),
    ],
    "operations.submission": [
        (
            "INSERT INTO operations.run (release_id, domain, period, state, started_at) VALUES ('r2', 'sbs', "
            "'2024', 'running', now())"
        ),
        "INSERT INTO operations.submission SELECT 'r2', domain, period, terms_digest, 'zoe', embargo, "
        "environment, %(then)s"
        " FROM operations.submission WHERE release_id = 'r1'",
    ],
    "operations.audit": [
        "DROP TRIGGER audit_told ON operations.audit",
        "INSERT INTO operations.audit SELECT 'r1', encode(sha256('{}'), 'hex'), 'p', publication_digest, "
        "'external', true, 1, 0, 0, '{}',"
        " %(then)s, NULL FROM operations.audit LIMIT 1",
    ],
    "operations.approval": [
        "INSERT INTO operations.approval SELECT release_id, audit_digest, 'bert', publication_digest, true, "
        "submitter, '', %(then)s, NULL"
        " FROM operations.approval",
    ],
    "operations.alert": ["INSERT INTO operations.alert VALUES ('sbs', '2024', 'k', 's', %(then)s, 'x')"],
}


@pytest.mark.parametrize("warehouse_url", ["postgresql"], indirect=True)
def test_the_server_dates_what_goes_out_and_what_is_taken_back(ready) -> None:
    warehouse, row = ready
    raw(warehouse, INSERT, **row | {"now": "1999-01-01 00:00:00"})
    raw(
        warehouse,
        "INSERT INTO operations.withdrawal VALUES ('r1', 'wrong', 'anna', '1999-01-01 00:00:00', 'somebody')",
    )
    raw(
        warehouse,
        "INSERT INTO dissemination.retraction VALUES ('r1', 'wrong', 'bert', '1999-01-01 00:00:00')",
    )
    with reading(warehouse) as connection:
        assert connection.exec_driver_sql(
            "SELECT account = session_user FROM operations.withdrawal"
        ).scalar_one()
        for column, table in (
            ("released_at", "dissemination.release"),
            ("agreed_at", "operations.withdrawal"),
            ("retracted_at", "dissemination.retraction"),
        ):
            at = connection.exec_driver_sql(f"SELECT {column} FROM {table}").scalar_one()
            assert abs(at - datetime.now(UTC)) < timedelta(hours=1), table


@pytest.mark.parametrize(
    "role", ["sdc_pipeline", "sdc_publisher", "sdc_approver", "sdc_desk", "sdc_ui", "sdc_public"]
)
def test_what_no_account_may_touch(deployment: Deployment, role: str) -> None:
    """Turns are taken by the function alone; payloads and the secret are the pipeline's."""
    with deployment.connect(role) as prompt:
        refused = [
            "SELECT * FROM operations.turn",
            "DELETE FROM operations.turn",
            "LOCK TABLE operations.turn",
            "INSERT INTO operations.turn VALUES ('x')",
        ]
        if role != "sdc_pipeline":
            refused += ["SELECT digest FROM confidential.payload", "SELECT content FROM confidential.secret"]
        for statement in refused:
            with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.NoActiveSqlTransaction)):
                prompt.execute(statement)
