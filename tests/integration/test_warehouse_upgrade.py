"""A warehouse of the last development version, with every table filled: it is upgraded without loss, what was
out is, and work goes on. One of an earlier version, or with another schema than its number says, is refused.

Its rows were written by several versions of the program. What they told less of, checks do not ask; what is
wrong they name.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, MetaData, Table, select
from sqlalchemy.exc import IntegrityError
from typer.testing import CliRunner

from sdc_tasks.cli.app import app
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.results import Release
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential.maintenance import rotate
from sdc_tasks.warehouse.confidential.store import deliveries, load_artefact, received
from sdc_tasks.warehouse.database.catalog import catalog
from sdc_tasks.warehouse.database.checks import run_checks
from sdc_tasks.warehouse.database.development import EARLIER, LAST
from sdc_tasks.warehouse.database.engine import open_warehouse, reading
from sdc_tasks.warehouse.database.migrations import NEWEST, current_revision, migrate
from sdc_tasks.warehouse.dissemination.publisher import NotApproved, publish
from sdc_tasks.warehouse.log import broken, entries
from sdc_tasks.warehouse.operations.decisions import approve, approvers
from sdc_tasks.warehouse.operations.journal import Terms
from support.accepting import accepted
from support.frozen import thaw
from support.world import FIRST, KEYS, SPACE, audited, prepared, publish_it, published, raw

FILES = {name: name.encode() for name in ("at.csv", "at_corrected.csv", "be_v3.csv", "odd.csv", "gone.csv")}
DIGEST = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
THIRD = published((42, 0), (20, 5), (25, 0))
SCHEMAS = ("confidential", "operations", "dissemination")
# Comments of tables, and who may do what: they are no part of what an upgrade compares.
RIGHTS = """
    WITH ours AS (SELECT oid, nspname, nspacl, nspowner FROM pg_namespace WHERE nspname = ANY (%s))
    SELECT 'schema ' || nspname, NULL, acl.grantee::regrole::text, acl.privilege_type
    FROM ours, aclexplode(coalesce(nspacl, acldefault('n', nspowner))) acl
    UNION ALL
    SELECT c.oid::regclass::text, obj_description(c.oid, 'pg_class'), acl.grantee::regrole::text,
        acl.privilege_type
    FROM ours JOIN pg_class c ON c.relnamespace = ours.oid AND c.relkind IN ('r', 'v'),
        aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) acl
    UNION ALL
    SELECT c.oid::regclass::text || ' ' || a.attname, NULL, acl.grantee::regrole::text, acl.privilege_type
    FROM ours JOIN pg_class c ON c.relnamespace = ours.oid JOIN pg_attribute a ON a.attrelid = c.oid,
        aclexplode(a.attacl) acl
    UNION ALL
    SELECT p.oid::regprocedure::text, NULL, acl.grantee::regrole::text, acl.privilege_type
    FROM ours JOIN pg_proc p ON p.pronamespace = ours.oid,
        aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) acl
"""
# Of the triggers of a table the newest fires first, so the order says which refusal is read. The bounds of
# instants are made with their table now.
ORDER = """
    SELECT tbl_name, name FROM sqlite_master WHERE type = 'trigger' AND instr(sql, 'BEFORE INSERT') > 0
    AND instr(name, '_instants_') = 0 ORDER BY tbl_name, rowid
"""


def tables(warehouse: Engine) -> dict[str, Table]:
    """As the database has them now."""
    found = MetaData()
    for schema in SCHEMAS if warehouse.dialect.name == "postgresql" else (None,):
        found.reflect(warehouse, schema=schema)
    return {table.name: table for table in found.tables.values() if table.name != "sdc_warehouse_version"}


@pytest.fixture
def old(warehouse_url: str) -> Iterator[Engine]:
    thaw(warehouse_url)
    engine = open_warehouse(warehouse_url, KEYS, "tester")
    yield engine
    engine.dispose()


def rows_of(warehouse: Engine) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of all tables."""
    with reading(warehouse) as connection:
        return {
            name: sorted(map(tuple, connection.execute(select(table))), key=repr)
            for name, table in tables(warehouse).items()
        }


def besides(connection: Connection) -> list[tuple[Any, ...]]:
    """What of a schema the catalog leaves out."""
    if connection.dialect.name == "sqlite":
        return [tuple(row) for row in connection.exec_driver_sql(ORDER)]
    return sorted((tuple(row) for row in connection.exec_driver_sql(RIGHTS, (list(SCHEMAS),))), key=repr)


def schema_of(url: str) -> tuple[dict[str, str], list[tuple[Any, ...]]]:
    engine = open_warehouse(url, KEYS)
    with reading(engine) as connection:
        found = catalog(connection), besides(connection)
    engine.dispose()
    return found


def test_a_new_schema_is_that_of_an_upgraded_one(warehouse_url: str) -> None:
    """Tables, columns, constraints, indexes, triggers, functions, views, comments and rights."""
    thaw(warehouse_url)
    engine = open_warehouse(warehouse_url, KEYS)
    migrate(engine)
    engine.dispose()
    wanted = schema_of(warehouse_url)
    if engine.dialect.name == "sqlite":
        Path(str(engine.url.database)).unlink()
    else:
        raw(engine, f"DROP SCHEMA {', '.join(SCHEMAS)} CASCADE")
        raw(engine, "DROP TABLE sdc_warehouse_version")
    migrate(engine)
    engine.dispose()
    made = schema_of(warehouse_url)
    assert made == wanted
    assert len(made[0]) > 350
    assert len(made[1]) > 40


def test_every_row_of_every_table_is_kept(old: Engine) -> None:
    before = rows_of(old)
    assert len(before) == 26 + (old.dialect.name == "postgresql")  # and the turns
    assert all(before.values()), "every table is filled"
    migrate(old)
    assert rows_of(old) == before
    assert current_revision(old) == NEWEST
    migrate(old)
    assert rows_of(old) == before
    assert {
        each.file: (each.series.name, each.series.version) for each in deliveries(old, "sbs", "2024")
    } == {
        "at.csv": ("at_corrected.csv", 0),
        "at_corrected.csv": ("at_corrected.csv", 0),
        "be_v3.csv": ("be.csv", 3),
        "odd.csv": ("odd.csv", 0),
        "gone.csv": ("gone.csv", 0),
    }


def test_an_earlier_version_is_upgraded_by_the_version_that_can(old: Engine) -> None:
    before = rows_of(old)
    assert sorted(EARLIER)[0] == "0001"
    assert sorted(EARLIER)[-1] == "0022"
    for revision in sorted(EARLIER):
        raw(old, f"UPDATE sdc_warehouse_version SET version_num = '{revision}'")
        with pytest.raises(
            InvalidInput,
            match=rf"of revision {revision}, .*Remedy: open it once with the last version 0\.1\.0",
        ):
            migrate(old)
        assert current_revision(old) == revision
    assert rows_of(old) == before


# What it says is other → a statement of SQLite, one of PostgreSQL.
OTHER = {
    "release_gate": (
        "DROP TRIGGER release_gate",
        "ALTER TABLE dissemination.release DISABLE TRIGGER release_gate",
    ),
    "log_gate": (
        "CREATE TRIGGER log_gate BEFORE INSERT ON log WHEN 0 BEGIN SELECT 1; END",
        "ALTER FUNCTION operations.log_gate() SECURITY INVOKER",
    ),
    "run.more": ("ALTER TABLE run ADD COLUMN more TEXT", "ALTER TABLE operations.run ADD COLUMN more TEXT"),
    "ux_delivery_accepted": ("DROP INDEX ux_delivery_accepted", "DROP INDEX operations.ux_delivery_accepted"),
    "ck_rung_more": (
        "ALTER TABLE rung ADD COLUMN more TEXT CONSTRAINT ck_rung_more CHECK (more <> '')",
        "ALTER TABLE operations.rung ADD CONSTRAINT ck_rung_more CHECK (bound > 0) NOT VALID",
    ),
}


# What takes the strength of a table away without a change of what it is called.
WEAKER = {
    "child of operations.approval": "CREATE TABLE public.more () INHERITS (operations.approval)",
    "trigger of operations.approval": "ALTER TABLE operations.approval DISABLE TRIGGER ALL",
    "rule of operations.log": "CREATE RULE nothing AS ON INSERT TO operations.log DO INSTEAD NOTHING",
    "policy of operations.log": "CREATE POLICY some_rows ON operations.log USING (true)",
    "relation operations.rung": "ALTER TABLE operations.rung SET UNLOGGED",
    "owners": "CREATE ROLE sdc_stranger; ALTER TABLE operations.rung OWNER TO sdc_stranger",
    "constraint operations.approval.ck_approval_four_eyes": (
        "ALTER TABLE operations.approval DROP CONSTRAINT ck_approval_four_eyes, "
        "ADD CONSTRAINT ck_approval_four_eyes CHECK (approver <> submitter) NOT VALID"
    ),
}


@pytest.mark.parametrize("name", WEAKER)
def test_a_table_of_postgresql_that_keeps_less_is_refused(old: Engine, name: str) -> None:
    if old.dialect.name != "postgresql":
        pytest.skip("of PostgreSQL")
    raw(old, WEAKER[name])
    with pytest.raises(InvalidInput, match=rf"is not that of revision {LAST}: .*{re.escape(name)}"):
        migrate(old)
    assert current_revision(old) == LAST


def test_a_constraint_in_a_comment_is_none(old: Engine) -> None:
    """SQLite keeps the text of a table as it was given, comments included."""
    if old.dialect.name != "sqlite":
        pytest.skip("of SQLite")
    real = "CONSTRAINT ck_approval_four_eyes CHECK (approver <> submitter)"
    hidden = f"CONSTRAINT ck_approval_four_eyes CHECK (1) /*, {real} */"
    raw(old, "PRAGMA writable_schema = ON")
    with old.begin() as connection:
        connection.exec_driver_sql("PRAGMA writable_schema = ON")
        changed = connection.exec_driver_sql(
            "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = 'approval'", (real, hidden)
        )
        assert changed.rowcount == 1
    with pytest.raises(InvalidInput, match=rf"is not that of revision {LAST}: .*approval"):
        migrate(old)


@pytest.mark.parametrize("name", OTHER)
def test_another_schema_than_its_number_says_is_refused(old: Engine, name: str) -> None:
    """It is named, and left as it is."""
    if (name, old.dialect.name) == ("log_gate", "sqlite"):
        raw(old, "DROP TRIGGER log_gate")
    raw(old, OTHER[name][old.dialect.name == "postgresql"])
    before = rows_of(old)
    with pytest.raises(InvalidInput, match=rf"is not that of revision {LAST}: .*{name}.*Remedy: take away"):
        migrate(old)
    assert current_revision(old) == LAST
    assert rows_of(old) == before


def test_what_was_out_is_out_and_all_checks_pass(old: Engine, warehouse_url: str) -> None:
    migrate(old)
    assert {name for name, rows in run_checks(old).items() if rows} == {"payload_plain"}, (
        "rotate-keys encrypts what is plain"
    )
    assert broken(entries(old)) == []
    verified = CliRunner().invoke(app, ["verify-log", "--warehouse", warehouse_url], catch_exceptions=False)
    assert verified.exit_code == 0, verified.output
    assert "verified" in verified.output
    assert [
        (each.release_id, each.version, each.visible, each.retracted)
        for each in sorted(reader.releases(old), key=repr)
    ] == [
        ("r1", 1, True, None),
        ("r2", 2, True, "a wrong delivery"),
        ("r3", 1, False, None),
        ("r5", 1, True, None),
    ]
    assert [cell.value for cell in reader.released_cells(old, "sbs", "2024", 1)] == [42.0, 20.0, None]
    assert reader.released_cells(old, "sbs", "2024", 2) == reader.released_cells(old, "sbs", "2025", 1) == []
    assert {name: load_artefact(old, DIGEST[name]) for name in FILES if name != "gone.csv"} == {
        name: content for name, content in FILES.items() if name != "gone.csv"
    }
    assert accepted(old, "sbs", "2024") == {"AT": (DIGEST["at_corrected.csv"],), "BE": (DIGEST["be_v3.csv"],)}
    assert received(old, "sbs", "2024").lying == set(DIGEST.items())
    assert approvers(old, "r1", FIRST.digest) == ["bert"]
    assert reader.cycles(old)[0]["areas"] == ["AT", "BE"]
    assert len(reader.history(old)) == 5


def test_work_goes_on_and_an_old_audit_releases_nothing_more(old: Engine) -> None:
    """What an audit of that time does not tell, the gate does not guess."""
    migrate(old)
    report = audited(THIRD, profiles=("external",))
    terms = Terms("sbs", "b" * 64, ("external",), retention_days=90_000, settings='{"id": "sbs"}')
    with pytest.raises(IntegrityError, match="not those that were audited"):
        publish(old, Release("r4", report.problem, THIRD, report), space=SPACE, terms=terms, period="2026")
    sixth = prepared(old, "r6", FIRST)
    with pytest.raises(NotApproved, match="as many as an earlier version of the period asked for"):
        publish_it(old, sixth)
    approve(old.execution_options(sdc_actor="anna"), "r6", FIRST.digest)
    assert publish_it(old, sixth) == (3, True)
    assert {name for name, rows in run_checks(old).items() if rows} == {"payload_plain"}
    rotate(old)
    assert not any(run_checks(old).values())


CHANGES: dict[str, tuple[str, str]] = {
    "submission_not_logged": (
        "submission",
        "UPDATE operations.submission SET environment = '{}' WHERE release_id = 'r1'",
    ),
    "audit_not_of_certificate": (
        "audit",
        "UPDATE operations.audit SET primaries = 99 WHERE release_id = 'r1'",
    ),
    "audit_not_logged": (
        "",
        "UPDATE operations.audit SET passed = NOT passed, broken = 0 WHERE release_id = 'r4'",
    ),
    "approval_not_logged": ("approval", "UPDATE operations.approval SET note = 'unread'"),
    "release_not_logged": ("release", "UPDATE dissemination.release SET version = 7 WHERE release_id = 'r3'"),
    "retraction_not_logged": ("retraction", "UPDATE dissemination.retraction SET reason = 'another'"),
    "delivery_not_logged": (
        "",
        "UPDATE operations.delivery SET state = 'refused', superseded_by = NULL WHERE file = 'at.csv'",
    ),
}


def test_the_checks_judge_old_rows_by_what_was_told_of_them(old: Engine) -> None:
    migrate(old)
    for check, (table, change) in CHANGES.items():
        assert not run_checks(old, [check])[check]
        _without_guards(old, table)
        raw(old, change)
        assert run_checks(old, [check])[check], check


def _without_guards(warehouse: Engine, table: str) -> None:
    if not table:
        return
    if warehouse.dialect.name == "sqlite":
        raw(warehouse, f"DROP TRIGGER {table}_update")
        return
    schema = "dissemination" if table in ("release", "retraction") else "operations"
    raw(warehouse, f"ALTER TABLE {schema}.{table} DISABLE TRIGGER ALL")
