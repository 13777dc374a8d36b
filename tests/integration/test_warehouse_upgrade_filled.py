"""A warehouse of the fourth migration with every table filled, brought up to the last: every row and
value is there, and what was out is.

The rows are written as the version of that time wrote them. What it told less of, checks do
not ask; what is wrong they name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, MetaData, Table, select, text
from sqlalchemy.exc import IntegrityError
from typer.testing import CliRunner

from sdc_tasks.cli.app import app
from sdc_tasks.model.results import Publication, Release
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential.store import deliveries, load_artefact, received
from sdc_tasks.warehouse.database.checks import run_checks
from sdc_tasks.warehouse.database.engine import open_warehouse, reading, writing
from sdc_tasks.warehouse.database.migrations import migrate
from sdc_tasks.warehouse.dissemination.publisher import NotApproved, cells_of, publish
from sdc_tasks.warehouse.forms.canonical import digest_of_entry
from sdc_tasks.warehouse.log import broken, entries
from sdc_tasks.warehouse.operations.decisions import approve, approvers
from sdc_tasks.warehouse.operations.journal import Terms
from support.accepting import accepted
from support.world import (
    FIRST,
    KEYS,
    SECOND,
    SPACE,
    audited,
    certificate,
    prepared,
    publish_it,
    published,
    raw,
)

OLD = "0004"
BEGAN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
FILES = {name: name.encode() for name in ("at.csv", "at_corrected.csv", "be_v3.csv", "odd.csv", "gone.csv")}
DIGEST = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
THIRD = published((42, 0), (20, 5), (25, 0))
ASKED = Terms("sbs", "a" * 64, ("external",), approvals=1, retention_days=90_000, settings='{"id": "sbs"}')
RETOLD = {("rung", "clock"), ("rung", "reason")}  # that a clock ended a rung stands in its reason now
SCHEMAS = ("confidential", "operations", "dissemination")


def tables(warehouse: Engine) -> dict[str, Table]:
    """As the database has them now."""
    found = MetaData()
    for schema in SCHEMAS if warehouse.dialect.name == "postgresql" else (None,):
        found.reflect(warehouse, schema=schema)
    return {table.name: table for table in found.tables.values() if table.name != "sdc_warehouse_version"}


class Old:
    """Writes rows as the version of that time did, each entry of the log after what it tells."""

    def __init__(self, warehouse: Engine) -> None:
        self.warehouse, self.tables = warehouse, tables(warehouse)
        self.account = "file"
        if warehouse.dialect.name == "postgresql":
            with reading(warehouse) as connection:
                self.account = connection.execute(text("SELECT session_user")).scalar_one()
        self.entries: list[dict[str, Any]] = []

    def put(self, table: str, **row: Any) -> None:
        """Instants in the form in which each engine keeps them."""
        if self.warehouse.dialect.name == "sqlite":
            row = {
                name: value.replace(tzinfo=None) if isinstance(value, datetime) else value
                for name, value in row.items()
            }
        with writing(self.warehouse) as connection:
            connection.execute(self.tables[table].insert().values(row))

    def tell(self, action: str, subject: str, actor: str = "tester", **details: Any) -> None:
        entry = {
            "number": len(self.entries) + 1,
            "recorded_at": BEGAN + timedelta(hours=len(self.entries)),
            "actor": actor,
        }
        entry |= {
            "account": self.account,
            "action": action,
            "subject": subject,
            "details": json.dumps(details, sort_keys=True),
        }
        entry["previous"] = self.entries[-1]["digest"] if self.entries else ""
        self.entries.append({**entry, "digest": digest_of_entry(**entry)})
        self.put("log", **self.entries[-1])


def fill(warehouse: Engine) -> None:
    old = Old(warehouse)
    _deliveries(old)
    for digest, approvals in (("a" * 64, 1), ("b" * 64, 0)):
        row = {
            "domain": "sbs",
            "digest": digest,
            "profiles": "external",
            "approvals": approvals,
            "retention_days": 90_000,
        }
        old.put("terms", **row, settings='{"id": "sbs"}', registered_at=BEGAN)
    _release(old, "r1", "2024", 1, FIRST, terms="a" * 64)
    _release(old, "r2", "2024", 2, SECOND, terms="b" * 64)
    old.put("retraction", release_id="r2", reason="a wrong delivery", retracted_by="bert", retracted_at=BEGAN)
    old.tell("retract", "r2", "bert", reason="a wrong delivery")
    _release(old, "r3", "2025", 1, THIRD, terms="b" * 64, embargo=datetime(2999, 1, 1, tzinfo=UTC))
    _run(old, "r4", "2026", THIRD, terms="b" * 64)
    old.put(
        "cycle",
        domain="sbs",
        period="2024",
        terms_digest="a" * 64,
        areas='["AT", "BE"]',
        opened_at=BEGAN,
        embargo=BEGAN,
    )
    row = {"dag_id": "eu_release_sbs", "run_id": "manual", "state": "success", "finished_at": BEGAN}
    old.put(
        "dag_run",
        **row,
        domain="sbs",
        period="2024",
        release_id="r1",
        triggered_by="scheduled",
        started_at=BEGAN,
    )
    old.put(
        "task_run", **row, task_id="ingest", map_index=0, label="AT", tries=1, seconds=0.5, said="3 files"
    )
    old.put(
        "alert", domain="sbs", period="2024", kind="ready", subject="r1", raised_at=BEGAN, said="it can go on"
    )


def _deliveries(old: Old) -> None:
    """One superseded by a file of another name, one refused, one plain as before encryption, one purged."""
    for name, content in FILES.items():
        gone = {"purged_at": BEGAN} if name == "gone.csv" else {}
        old.put("artefact", digest=DIGEST[name], kind="delivery", size=len(content), stored_at=BEGAN, **gone)
        if name == "odd.csv":
            old.put("payload", digest=DIGEST[name], content=content)
        elif not gone:
            key_id, sealed = KEYS.seal(DIGEST[name], content, KEYS.newest)
            old.put("payload", digest=DIGEST[name], content=sealed, key_id=key_id)
    for name, country, state, by in (
        ("at_corrected.csv", "AT", "accepted", None),
        ("at.csv", "AT", "superseded", "at_corrected.csv"),
        ("be_v3.csv", "BE", "accepted", None),
        ("odd.csv", None, "refused", None),
        ("gone.csv", None, "received", None),
    ):
        key = {"domain": "sbs", "period": "2024", "digest": DIGEST[name]}
        row = {
            "country": country,
            "file": name,
            "received_at": BEGAN + timedelta(seconds=list(FILES).index(name)),
            "state": state,
        }
        old.put("delivery", **key, **row, superseded_by=by and DIGEST[by], times=1 + (name == "be_v3.csv"))
        old.put("inbox", **key, file=name)
        old.tell(
            "receive", DIGEST[name], domain="sbs", period="2024", file=name, times=1 + (name == "be_v3.csv")
        )
    for name, country in (("at.csv", "AT"), ("at_corrected.csv", "AT"), ("be_v3.csv", "BE")):
        instead = DIGEST["at.csv"] if name == "at_corrected.csv" else None
        old.tell("accept", DIGEST[name], domain="sbs", period="2024", country=country, instead_of=instead)
    old.tell("refuse", DIGEST["odd.csv"], domain="sbs", period="2024", country=None)
    key = {"domain": "sbs", "period": "2024", "digest": DIGEST["odd.csv"]}
    old.put(
        "finding",
        **key,
        position=0,
        code="150/904-2",
        severity="error",
        line=3,
        cell="XX",
        message="no such area",
    )
    old.put(
        "check_result",
        **key,
        check="additivity",
        severity="error",
        passed=False,
        checked=3,
        failed=1,
        cells='["XX"]',
    )


def _run(
    old: Old, release_id: str, period: str, decided: Publication, terms: str, embargo: datetime | None = None
) -> str:
    """A run with its steps, a failed audit and a passed one, whose digest is returned."""
    mine = {"release_id": release_id}
    old.put(
        "run",
        **mine,
        domain="sbs",
        period=period,
        inputs_digest="i" * 64,
        state="published",
        started_at=BEGAN,
        finished_at=BEGAN,
    )
    row = {
        "domain": "sbs",
        "period": period,
        "terms_digest": terms,
        "submitter": "анна b",
        "embargo": embargo,
    }
    old.put("submission", **mine, **row, environment='{"python": "3.11"}', submitted_at=BEGAN)
    about = {
        "environment": hashlib.sha256(b'{"python": "3.11"}').hexdigest(),
        "embargo": embargo and embargo.isoformat(),
    }
    old.tell("submit", release_id, "анна b", terms=terms, **about)
    old.put(
        "step",
        **mine,
        step="assemble",
        key="",
        seconds=0.5,
        note="",
        artefact_digest=DIGEST["be_v3.csv"],
        finished_at=BEGAN,
    )
    row = {
        "method": "auto",
        "outcome": "optimal",
        "objective": 1.0,
        "bound": 1.0,
        "gap": 0.0,
        "seconds": 2.0,
        "reason": "proven",
    }
    old.put("rung", **mine, position=0, **row, unprotected=0, clock=True, accepted=True, chosen=True)
    digest = ""
    for down in (0.5, 1.0):
        report = audited(decided, down=down, profiles=("external",))
        told = certificate(report, period, Terms("sbs", terms, ("external",)))
        digest = hashlib.sha256(told.encode()).hexdigest()
        row = {
            "problem_digest": report.problem,
            "publication_digest": report.publication,
            "profiles": "external",
        }
        row |= {
            "passed": report.passed,
            "primaries": 2,
            "broken": report.broken,
            "lps": 4,
            "certificate": told,
        }
        old.put("audit", **mine, digest=digest, **row, audited_at=BEGAN)
        old.tell("audit", release_id, audit=digest, publication=report.publication, passed=report.passed)
    return digest


def _release(
    old: Old,
    release_id: str,
    period: str,
    version: int,
    decided: Publication,
    terms: str,
    embargo: datetime | None = None,
) -> None:
    audit = _run(old, release_id, period, decided, terms, embargo)
    mine = {
        "release_id": release_id,
        "publication_digest": decided.digest,
        "audit_digest": audit,
        "audit_passed": True,
    }
    if terms == "a" * 64:
        old.put("approval", **mine, approver="bert", submitter="анна b", note="read", approved_at=BEGAN)
        old.tell("approve", release_id, "bert", audit=audit, publication=decided.digest, note="read")
    key = {"domain": "sbs", "period": period}
    old.put("publication", **key, digest=decided.digest, cells=len(decided.cells))
    names = (
        "position",
        "cell",
        "area",
        "indicator",
        "value",
        "obs_status",
        "conf_status",
        "rounding_base",
        "visible_share",
    )
    for cell in cells_of(decided, SPACE):
        old.put("eu_cell", **key, publication_digest=decided.digest, **dict(zip(names, cell, strict=True)))
    old.put("release", **key, **mine, version=version, released_at=BEGAN, embargo=embargo)
    old.tell("release", release_id, version=version, publication=decided.digest, audit=audit)


@pytest.fixture
def old(warehouse_url: str) -> Iterator[Engine]:
    engine = open_warehouse(warehouse_url, KEYS, "tester")
    migrate(engine, OLD)
    fill(engine)
    yield engine
    engine.dispose()


def rows_of(warehouse: Engine, columns: dict[str, list[str]]) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of these tables in these columns."""
    now = tables(warehouse)
    with reading(warehouse) as connection:
        return {
            name: sorted(
                (tuple(row) for row in connection.execute(select(*(now[name].c[each] for each in wanted)))),
                key=repr,
            )
            for name, wanted in columns.items()
        }


def test_every_row_of_every_table_is_kept(old: Engine) -> None:
    columns = {
        name: [each.name for each in table.columns if (name, each.name) not in RETOLD]
        for name, table in tables(old).items()
    }
    before = rows_of(old, columns)
    assert len(before) == 22
    assert all(before.values()), "every table of that time is filled"
    migrate(old)
    after = rows_of(old, columns)
    added = [row for row in after["log"] if row not in before["log"]]
    assert [row[columns["log"].index("action")] for row in added] == ["make"], "of the secret"
    assert {**after, "log": [row for row in after["log"] if row not in added]} == before
    # what is new is what the migrations say
    assert {each["reason"] for each in reader.rungs(old, "r1")} == {"proven, at its time limit"}
    with reading(old) as connection:
        now = tables(old)
        assert set(connection.execute(select(now["audit"].c.printed_digest)).scalars()) == {None}
        assert set(connection.execute(select(now["approval"].c.account)).scalars()) == {None}
    assert {
        each.file: (each.series.name, each.series.version) for each in deliveries(old, "sbs", "2024")
    } == {
        "at.csv": ("at_corrected.csv", 0),
        "at_corrected.csv": ("at_corrected.csv", 0),
        "be_v3.csv": ("be.csv", 3),
        "odd.csv": ("odd.csv", 0),
        "gone.csv": ("gone.csv", 0),
    }


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
    assert len(reader.history(old)) == 4


def test_work_goes_on_and_an_old_audit_releases_nothing_more(old: Engine) -> None:
    """What an audit of that time does not tell, the gate does not guess."""
    migrate(old)
    report = audited(THIRD, profiles=("external",))
    terms = Terms("sbs", "b" * 64, ("external",), retention_days=90_000, settings='{"id": "sbs"}')
    with pytest.raises(IntegrityError, match="not those that were audited"):
        publish(old, Release("r4", report.problem, THIRD, report), space=SPACE, terms=terms, period="2026")
    fifth = prepared(old, "r5", FIRST)
    with pytest.raises(NotApproved, match="as many as an earlier version of the period asked for"):
        publish_it(old, fifth)
    approve(old.execution_options(sdc_actor="anna"), "r5", FIRST.digest)
    assert publish_it(old, fifth) == (3, True)
    assert {name for name, rows in run_checks(old).items() if rows} == {"payload_plain"}


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
