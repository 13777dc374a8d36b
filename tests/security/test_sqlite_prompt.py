"""A plain sqlite3 prompt: foreign keys off, CHECKs off, recursive triggers off, none of the program's
functions. Forged rows are refused.

Who owns the file can drop the triggers, or write the file itself: no test here says
otherwise, and SECURITY.md lists it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from sqlalchemy import make_url

from sdc_tasks.warehouse.database.checks import run_checks
from sdc_tasks.warehouse.database.engine import acting
from sdc_tasks.warehouse.database.schema import metadata
from sdc_tasks.warehouse.log import broken, entries
from sdc_tasks.warehouse.operations.cycles import raise_alert
from sdc_tasks.warehouse.operations.decisions import approve, retract, withdraw
from sdc_tasks.warehouse.operations.journal import save_audit, start_run, submit
from support.world import FIRST, SECOND, TERMS, audited, certificate, prepared, publish_it

APPEND_ONLY = (
    "release",
    "publication",
    "eu_cell",
    "audit",
    "terms",
    "submission",
    "approval",
    "withdrawal",
    "log",
    "retraction",
    "alert",
)
RELEASED, APPROVED = "INSERT INTO release SELECT", "INSERT INTO approval SELECT"
pytestmark = pytest.mark.parametrize("warehouse_url", ["sqlite"], indirect=True)


@pytest.fixture
def prompt(warehouse) -> Iterator[sqlite3.Connection]:
    """r1 is out and retracted; the audit of r2 failed; r3 passed and somebody agreed."""
    publish_it(warehouse, prepared(warehouse))
    withdraw(acting(warehouse, "anna"), "r1", "wrong")
    retract(warehouse, "r1", "wrong")
    start_run(warehouse, "r2", "sbs", "2024")
    submit(warehouse, "r2", TERMS)
    failed = audited(SECOND, down=0.5)
    save_audit(warehouse, "r2", failed, certificate(failed))
    prepared(warehouse, "r3", SECOND, "2025")
    approve(acting(warehouse, "anna"), "r3", SECOND.digest)
    raise_alert(warehouse, "sbs", "2024", "ready", "r1", "it can go on")
    connection = sqlite3.connect(str(make_url(str(warehouse.url)).database), isolation_level=None)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    assert connection.execute("PRAGMA recursive_triggers").fetchone() == (0,)
    assert connection.execute("PRAGMA foreign_keys").fetchone() == (0,)
    yield connection
    connection.close()


def everything(connection: sqlite3.Connection) -> dict[str, list[tuple]]:
    return {
        table: connection.execute(f"SELECT rowid, * FROM {table} ORDER BY rowid").fetchall()
        for table in APPEND_ONLY
    }


@pytest.mark.parametrize(
    "how", ["INSERT OR REPLACE INTO", "REPLACE INTO", "INSERT OR FAIL INTO", "INSERT INTO"]
)
@pytest.mark.parametrize("known", [True, False])
def test_no_row_is_replaced(prompt: sqlite3.Connection, how: str, known: bool, subtests) -> None:
    """By its key, and by its rowid; whether or not somebody gives the prompt functions of
    the names that the triggers call.
    """
    if known:
        prompt.create_function("sha256_hex", 1, lambda text: "x")
        prompt.create_function("printed_digest", 3, lambda *key: "x")
        prompt.create_function("entry_digest", 8, lambda *entry: "x")
        prompt.create_function("is_person", 1, lambda name: 1)
    before = everything(prompt)
    assert all(before.values())
    for table in APPEND_ONLY:
        columns = [row[1] for row in prompt.execute(f"PRAGMA table_info({table})")]
        kept = ", ".join(f'"{column}"' for column in columns)
        first = before[table][0][0]
        others = ", ".join(f"'other' || {i}" for i, _ in enumerate(columns))
        for what, statement in {
            "the same key": f"{how} {table} ({kept}) SELECT {kept} FROM {table} LIMIT 1",
            "the same rowid": f"{how} {table} (rowid, {kept}) VALUES ({first}, {others})",
        }.items():
            with subtests.test(f"{table}: {what}"), pytest.raises(sqlite3.DatabaseError):
                prompt.execute(statement)
    assert everything(prompt) == before


@pytest.mark.parametrize(
    "column", ["passed", "broken", "certificate", "publication_digest", "profiles", "printed_digest"]
)
def test_a_failed_audit_does_not_become_a_passed_one(prompt: sqlite3.Connection, column: str) -> None:
    columns = [row[1] for row in prompt.execute("PRAGMA table_info(audit)")]
    values = {"passed": "1", "broken": "0", "printed_digest": "'x'"}
    chosen = ", ".join(values.get(each, f"'{each}'") if each == column else each for each in columns)
    with pytest.raises(sqlite3.DatabaseError):
        prompt.execute(f"INSERT OR REPLACE INTO audit SELECT {chosen} FROM audit WHERE release_id = 'r2'")
    assert prompt.execute("SELECT passed FROM audit WHERE release_id = 'r2'").fetchone() == (0,)


@pytest.mark.parametrize(
    "statement",
    [
        # a new audit, whose digest is not that of its certificate: nobody can tell at a
        # prompt, so nobody is believed
        "INSERT INTO audit SELECT release_id, 'forged', problem_digest, publication_digest, profiles, 1, "
        "primaries, 0, lps, certificate, "
        "audited_at, printed_digest FROM audit WHERE release_id = 'r2'",
        (
            f"{RELEASED} 'r2', 'sbs', '2024', 2, publication_digest, digest, 1, audited_at, NULL FROM audit "
            f"WHERE release_id = 'r2'"
        ),
        (
            f"{RELEASED} 'r3', 'sbs', '2024', 2, publication_digest, digest, 1, audited_at, NULL FROM audit "
            f"WHERE release_id = 'r3'"
        ),
        (
            f"{RELEASED} 'r3', 'sbs', '2025', 1, publication_digest, digest, 1, audited_at, NULL FROM audit "
            f"WHERE release_id = 'r3'"
        ),
        (
            f"{APPROVED} release_id, audit_digest, submitter, publication_digest, 1, submitter, '', "
            f"approved_at, "
            f"account, NULL FROM approval"
        ),
        (
            "INSERT INTO approval SELECT 'r2', 'x', 'boss', 'x', 1, 'tester', '', approved_at, account, NULL "
            "FROM approval"
        ),
        (
            f"{APPROVED} release_id, audit_digest, 'tester', publication_digest, 1, 'boss', '', approved_at, "
            f"account, NULL FROM approval"
        ),
        "INSERT INTO retraction SELECT 'r3', 'x', 'x', retracted_at FROM retraction",
        "INSERT INTO retraction SELECT 'r1', 'x', 'boss', retracted_at FROM retraction",
        "INSERT INTO withdrawal SELECT release_id, 'x', 'boss', agreed_at, account FROM withdrawal",
        "INSERT INTO log SELECT number + 1, recorded_at, 'boss', account, action, subject, details, digest, "
        "'x' FROM log "
        "ORDER BY number DESC LIMIT 1",
        "UPDATE OR REPLACE audit SET passed = 1, broken = 0",
        "UPDATE OR REPLACE eu_cell SET value = 1",
        "DELETE FROM audit",
    ],
)
def test_what_is_forged_at_a_prompt_is_refused(prompt: sqlite3.Connection, statement: str, warehouse) -> None:
    before = everything(prompt)
    with pytest.raises(sqlite3.DatabaseError):
        prompt.execute(statement)
    assert everything(prompt) == before
    assert broken(entries(warehouse)) == []


def test_the_cells_of_another_publication_do_not_take_the_place_of_released_ones(
    prompt: sqlite3.Connection,
) -> None:
    """By rowid: the row goes to a publication that is not out, and would take one that is away."""
    before = prompt.execute(
        "SELECT count(*) FROM eu_cell WHERE publication_digest = ?", [FIRST.digest]
    ).fetchone()
    with pytest.raises(sqlite3.DatabaseError, match="append-only"):
        prompt.execute(
            "INSERT OR REPLACE INTO eu_cell"
            " (rowid, domain, period, publication_digest, cell, position, area, indicator, obs_status, "
            "conf_status)"
            " SELECT rowid, domain, period, 'other', cell, position, area, indicator, obs_status, "
            "conf_status FROM eu_cell"
        )
    assert (
        prompt.execute("SELECT count(*) FROM eu_cell WHERE publication_digest = ?", [FIRST.digest]).fetchone()
        == before
    )


def test_what_is_deleted_at_a_prompt_is_missed_by_what_refers_to_it(
    prompt: sqlite3.Connection, warehouse
) -> None:
    """Tables that are not append-only, too: foreign keys are off there, and a check
    looks for what they would have kept.
    """
    assert run_checks(warehouse)["row_without_parent"] == []
    parents = {
        row[2]
        for table in metadata.tables.values()
        for row in prompt.execute(f"PRAGMA foreign_key_list({table.name})")
    }
    assert "run" in parents
    for parent in sorted(parents):
        prompt.execute("BEGIN")
        for (trigger,) in prompt.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?", (parent,)
        ).fetchall():
            prompt.execute(f"DROP TRIGGER {trigger}")
        gone = prompt.execute(f"DELETE FROM {parent}").rowcount
        orphans = prompt.execute("SELECT DISTINCT parent FROM pragma_foreign_key_check").fetchall()
        prompt.execute("ROLLBACK")
        assert not gone or (parent,) in orphans, parent
    prompt.execute("DELETE FROM run")
    assert {row["of_table"] for row in run_checks(warehouse)["row_without_parent"]} == {"run"}
