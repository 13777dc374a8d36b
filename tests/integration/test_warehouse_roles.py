"""PostgreSQL lets nobody do what is not his: every statement on every table as every role, by
accounts of their own at a real server.

What each role may do is written down here by hand, apart from `sql/roles.sql`; all the rest must be refused.
The same accounts then try what a reviewer would try first, and the transcript of that stands in SECURITY.md:
this test fails when it is not what happens.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import Engine, create_engine, make_url
from typer.testing import CliRunner

from sdc_tasks.cli.app import app
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.results import Release
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential.store import load_artefact, save_artefact
from sdc_tasks.warehouse.database.engine import open_warehouse, reading
from sdc_tasks.warehouse.database.schema import metadata
from sdc_tasks.warehouse.dissemination.publisher import printed, publish
from sdc_tasks.warehouse.log import entries
from sdc_tasks.warehouse.operations.decisions import approve
from sdc_tasks.warehouse.operations.journal import save_audit, start_run, submit
from support.deliveries import HEALTHY, PERIOD, sdmx_1, small_domain
from support.grants import MAY, MAY_UPDATE, ROLES, TABLES, VIEWS
from support.payload_key import PAYLOAD_KEY
from support.world import FIRST, KEYS, SECOND, SPACE, TERMS, audited, certificate, prepared, publish_it

SECURITY = Path(__file__).parents[2] / "SECURITY.md"

# What is nobody's but the owner's.
OWNERS = [
    "CREATE TABLE {schema}.mine (x integer)",
    "CREATE FUNCTION {schema}.mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
    "DROP SCHEMA {schema} CASCADE",
    "ALTER TABLE dissemination.release DISABLE TRIGGER ALL",
    "ALTER TABLE dissemination.release DISABLE TRIGGER release_gate",
    "DROP TRIGGER release_gate ON dissemination.release",
    "DROP TRIGGER log_append_only ON operations.log",
    (
        "CREATE OR REPLACE FUNCTION dissemination.release_gate() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN "
        "RETURN NEW; END'"
    ),
    "CREATE OR REPLACE VIEW dissemination.public_cell AS SELECT * FROM dissemination.eu_cell",
    "ALTER TABLE dissemination.release DROP CONSTRAINT ck_release_audit_passed",
    "CREATE RULE shut AS ON INSERT TO operations.audit DO INSTEAD NOTHING",
    "SET session_replication_role = replica",
    "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} GRANT SELECT ON TABLES TO PUBLIC",
    "SET ROLE {owner}",
    "SET SESSION AUTHORIZATION {owner}",
    "CREATE ROLE more SUPERUSER",
    "COPY dissemination.release TO PROGRAM 'cat'",
    "COPY dissemination.release FROM '/etc/passwd'",
    "TRUNCATE sdc_warehouse_version",
    "DELETE FROM sdc_warehouse_version",
    "UPDATE sdc_warehouse_version SET version_num = '0001'",
]


@pytest.fixture
def accounts(warehouse: Engine) -> Iterator[dict[str, str]]:
    """role → the URL of an account that has this role and no other."""
    if warehouse.dialect.name != "postgresql":
        pytest.fail("these tests are of PostgreSQL")
    name, password = f"t{uuid4().hex[:12]}", uuid4().hex
    server = create_engine(warehouse.url, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        for role in ROLES:
            connection.exec_driver_sql(
                f"CREATE ROLE {name}_{role} LOGIN PASSWORD '{password}' IN ROLE {role}"
            )
    yield {
        role: warehouse.url.set(username=f"{name}_{role}", password=password).render_as_string(
            hide_password=False
        )
        for role in ROLES
    }
    with server.connect() as connection:
        for role in ROLES:
            connection.exec_driver_sql(f"DROP ROLE {name}_{role}")
    server.dispose()


on_postgresql = pytest.mark.parametrize("warehouse_url", ["postgresql"], indirect=True)


def connect(url: str) -> psycopg.Connection:
    return psycopg.connect(
        make_url(url).set(drivername="postgresql").render_as_string(hide_password=False), autocommit=True
    )


def allowed(connection: psycopg.Connection, statement: str) -> bool:
    """Whether the server lets this account do it; what else is wrong with the statement does
    not matter. Nothing stays done.
    """
    connection.execute("BEGIN")
    try:
        connection.execute(statement)
    except psycopg.errors.InsufficientPrivilege:
        return False
    except psycopg.IntegrityError:
        pass  # a constraint or a trigger: the account was let through
    finally:
        connection.execute("ROLLBACK")
    return True


@on_postgresql
def test_nobody_can_do_what_is_not_his(warehouse: Engine, accounts: dict[str, str], subtests) -> None:
    publish_it(warehouse, prepared(warehouse))
    save_artefact(warehouse, "problem", b"secret")
    tried = {"allowed": 0, "refused": 0}

    def expect(role: str, connection: psycopg.Connection, statement: str, may: bool) -> None:
        tried["allowed" if may else "refused"] += 1
        if allowed(connection, statement) != may:
            with subtests.test(f"{role}: {statement}"):
                pytest.fail(f"{role} {'cannot' if may else 'can'}: {statement}")

    for role in ROLES:
        with connect(accounts[role]) as connection:
            for table in (*TABLES, *VIEWS):
                expect(
                    role,
                    connection,
                    f"SELECT count(*) FROM {table}",
                    table in MAY.get((role, "SELECT"), set()),
                )
                expect(role, connection, f"TABLE {table}", table in MAY.get((role, "SELECT"), set()))
            for table in TABLES:
                expect(
                    role,
                    connection,
                    f"SELECT 1 FROM {table} FOR UPDATE",
                    role == "sdc_pipeline" and table in MAY_UPDATE,
                )
                expect(
                    role,
                    connection,
                    f"INSERT INTO {table} DEFAULT VALUES",
                    table in MAY.get((role, "INSERT"), set()),
                )
                expect(role, connection, f"DELETE FROM {table}", table in MAY.get((role, "DELETE"), set()))
                for column in metadata.tables[table].columns:
                    may = role == "sdc_pipeline" and column.name in MAY_UPDATE.get(table, ())
                    expect(role, connection, f'UPDATE {table} SET "{column.name}" = NULL WHERE false', may)
                expect(role, connection, f"TRUNCATE {table} CASCADE", False)
                expect(role, connection, f"ALTER TABLE {table} ADD COLUMN mine integer", False)
                expect(role, connection, f"DROP TABLE {table} CASCADE", False)
            for statement in OWNERS:
                for schema in (
                    ("confidential", "operations", "dissemination") if "{schema}" in statement else ("",)
                ):
                    expect(
                        role, connection, statement.format(schema=schema, owner=warehouse.url.username), False
                    )
    with connect(accounts["sdc_pipeline"]) as connection:  # PostgreSQL only warns, and grants nothing
        connection.execute("GRANT SELECT ON confidential.payload TO sdc_ui, PUBLIC")
        assert connection.execute(
            "SELECT has_table_privilege('sdc_ui', 'confidential.payload', 'SELECT')"
        ).fetchone() == (False,)
    assert tried["refused"] > 1000
    assert tried["allowed"] == 2 * sum(len(t) for (_, what), t in MAY.items() if what == "SELECT") + sum(
        len(t) for (_, what), t in MAY.items() if what != "SELECT"
    ) + len(MAY_UPDATE) + sum(map(len, MAY_UPDATE.values())), "every right was used"
    assert f"| {tried['refused']} statements that a role must not be allowed |" in SECURITY.read_text(
        "utf-8"
    ), tried


@on_postgresql
def test_a_release_is_made_by_the_two_accounts_together(warehouse: Engine, accounts: dict[str, str]) -> None:
    """The pipeline computes, somebody agrees, the publisher publishes: each with no more rights than that."""
    asked = replace(TERMS, digest="a" * 64, approvals=1)
    pipeline = open_warehouse(accounts["sdc_pipeline"], KEYS, "submitter")
    approver = open_warehouse(accounts["sdc_approver"], None, "head of unit")
    publisher = open_warehouse(accounts["sdc_publisher"], None, "robot")
    digest = save_artefact(pipeline, "problem", b"secret")
    assert load_artefact(pipeline, digest) == b"secret"
    start_run(pipeline, "r1", "sbs", "2024")
    submit(pipeline, "r1", asked)
    report = audited(FIRST)
    save_audit(pipeline, "r1", report, certificate(report, terms=asked), printed(FIRST, SPACE))
    release = Release("r1", report.problem, FIRST, report)
    approve(approver, "r1", FIRST.digest)
    with pytest.raises(InvalidInput, match="may not do this"):
        publish(pipeline, release, space=SPACE, terms=asked, period="2024")
    assert publish(publisher, release, space=SPACE, terms=asked, period="2024") == (1, True)
    with pytest.raises(InvalidInput, match="may not do this"):
        load_artefact(publisher, digest)
    with pytest.raises(InvalidInput, match="may not do this"):
        save_artefact(publisher, "problem", b"other")
    seen = open_warehouse(accounts["sdc_public"])
    assert len(reader.released_cells(seen, "sbs", "2024")) == 3
    for engine in (pipeline, approver, publisher, seen):
        engine.dispose()


@on_postgresql
def test_a_whole_release_needs_no_more_than_two_accounts(
    warehouse: Engine, accounts: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`sdc release` as the pipeline; only its last step is the publisher's, by SDC_PUBLISHER_URL."""
    small_domain(tmp_path)
    (tmp_path / "inbox").mkdir()
    for country in ("AT", "BE"):
        (tmp_path / "inbox" / f"{country}.csv").write_text(sdmx_1(HEALTHY, country))
    command = [
        "release",
        "--domain",
        str(tmp_path / "small.yaml"),
        "--period",
        PERIOD,
        "--inbox",
        str(tmp_path / "inbox"),
    ]
    command += ["--out", str(tmp_path / "out"), "--warehouse", accounts["sdc_pipeline"]]
    refused = CliRunner().invoke(app, command)
    assert isinstance(refused.exception, InvalidInput)
    assert "SDC_PUBLISHER_URL" in str(refused.exception)
    assert reader.releases(warehouse) == []
    monkeypatch.setenv(
        "SDC_PUBLISHER_URL",
        make_url(accounts["sdc_publisher"]).set(database="another").render_as_string(False),
    )
    elsewhere = CliRunner().invoke(app, command)
    assert "another database" in str(elsewhere.exception)
    monkeypatch.setenv("SDC_PUBLISHER_URL", accounts["sdc_publisher"])
    ended = CliRunner().invoke(app, command, catch_exceptions=False)
    assert ended.exit_code == 0, ended.output
    assert [each.version for each in reader.releases(warehouse)] == [1]
    by = {entry.action: entry.account for entry in entries(warehouse)}
    assert by["audit"] == make_url(accounts["sdc_pipeline"]).username
    assert by["release"] == make_url(accounts["sdc_publisher"]).username
    maintenance = CliRunner().invoke(
        app, ["maintenance", "--warehouse", accounts["sdc_pipeline"]], catch_exceptions=False
    )
    assert maintenance.exit_code == 0, maintenance.output
    verified = CliRunner().invoke(
        app, ["verify-log", "--warehouse", accounts["sdc_ui"]], catch_exceptions=False
    )
    assert verified.exit_code == 0, verified.output


# --- the transcript of SECURITY.md --------------------------------------------------------------------------


def shown(role: str, connection: psycopg.Connection, statement: str) -> str:
    """What a prompt would show: the statement, and what the server says to it."""
    try:
        cursor = connection.execute(statement)
        told = cursor.statusmessage if cursor.description is None else f"({cursor.rowcount} rows)"
    except psycopg.Error as error:
        told = f"ERROR:  {error.diag.message_primary}"
    return f"{role}=> {statement};\n{told}"


@on_postgresql
def test_the_transcript_of_a_reviewer_is_what_happens(warehouse: Engine, accounts: dict[str, str]) -> None:
    """r1: passed and released. r2: its audit failed. r3: passed, under terms that ask for an approval nobody
    gave.
    """
    publish_it(warehouse, prepared(warehouse))
    save_artefact(warehouse, "delivery", b"secret")
    submitted = replace(TERMS, digest="a" * 64, approvals=1)
    failed, passed = audited(SECOND, down=0.5), audited(FIRST)
    for run, report in (("r2", failed), ("r3", passed)):
        start_run(warehouse, run, "sbs", "2025")
        submit(warehouse, run, submitted)
        save_audit(warehouse, run, report, certificate(report, "2025", submitted))
    release = (
        "INSERT INTO dissemination.release\n"
        "    SELECT release_id, 'sbs', '2025', 1, publication_digest, digest, true, now() FROM "
        "operations.audit WHERE release_id = "
    )
    forge = "UPDATE operations.audit SET passed = true WHERE release_id = 'r2'"
    script = {
        "sdc_ui": [
            "SELECT release_id, version FROM dissemination.release",
            "SELECT content FROM confidential.payload",
            f"{release}'r2'",
            forge,
            "UPDATE dissemination.eu_cell SET value = 43",
        ],
        "sdc_pipeline": [
            f"{release}'r2'",
            forge,
            "UPDATE operations.terms SET approvals = 0",
            "INSERT INTO operations.approval\n    SELECT release_id, digest, 'boss', publication_digest, "
            "true, 'tester', '', now()"
            " FROM operations.audit WHERE release_id = 'r3'",
            "ALTER TABLE dissemination.release DISABLE TRIGGER ALL",
            "DELETE FROM operations.log",
            "SELECT digest FROM confidential.payload WHERE position('secret'::bytea IN content) > 0",
        ],
        "sdc_publisher": [
            "SELECT content FROM confidential.payload",
            "INSERT INTO dissemination.publication\n    SELECT 'sbs', '2025', publication_digest, 0 FROM "
            "operations.audit"
            " WHERE release_id IN ('r2', 'r3')",
            f"{release}'r2'",
            f"{release}'r3'",
        ],
        "sdc_public": [
            "SELECT value FROM dissemination.eu_cell",
            "SELECT cell, value FROM dissemination.public_cell",
        ],
    }
    told = []
    for role, statements in script.items():
        with connect(accounts[role]) as connection:
            told += [shown(role, connection, statement) for statement in statements]
    transcript = "```\n" + "\n".join(told) + "\n```"
    if os.environ.get("SDC_WRITE_DOCS"):
        before, rest = SECURITY.read_text("utf-8").split("<!-- transcript -->\n")
        SECURITY.write_text(
            f"{before}<!-- transcript -->\n{transcript}\n<!-- end -->{rest.split('<!-- end -->')[1]}", "utf-8"
        )
    assert transcript in SECURITY.read_text("utf-8"), (
        "run this test once with SDC_WRITE_DOCS=1, and read what changed"
    )
    assert len(reader.releases(warehouse)) == 1
    assert PAYLOAD_KEY not in transcript
    with reading(warehouse) as connection:
        assert (
            connection.exec_driver_sql(
                "SELECT count(*) FROM operations.log WHERE action = 'release'"
            ).scalar_one()
            == 1
        )
