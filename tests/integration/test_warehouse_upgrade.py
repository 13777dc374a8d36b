"""A warehouse of the first migration, filled, brought up to the last: every row is still there, and work goes
on.

The rows are written in SQL as the first version wrote them, for the program of today knows more columns.
"""

from __future__ import annotations

import hashlib

import pytest
from sqlalchemy import MetaData, inspect, select, text
from sqlalchemy.exc import IntegrityError

from sdc_tasks.model.secret import Secret
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential.maintenance import rotate
from sdc_tasks.warehouse.confidential.store import load_artefact, received
from sdc_tasks.warehouse.database.checks import run_checks
from sdc_tasks.warehouse.database.engine import open_warehouse, reading
from sdc_tasks.warehouse.database.migrations import current_revision, downgrade, migrate
from sdc_tasks.warehouse.keyring import Keyring, new_key
from sdc_tasks.warehouse.log import broken, entries
from sdc_tasks.warehouse.operations.cycles import note_dag_run, note_task_run, open_cycle, raise_alert
from support.accepting import accepted
from support.payload_key import PAYLOAD_KEY, WAREHOUSE_SECRET
from support.world import FIRST, KEYS, SECOND, TERMS, audited, certificate, prepared, publish_it, raw

FILES = {"at.csv": b"AT", "at_2.csv": b"AT again", "be.csv": b"BE"}
DIGEST = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
NOW = "2026-01-01 00:00:00"


def fill(warehouse) -> None:
    """Three deliveries (one superseded), findings, a run with steps and rungs, two audits, a release."""
    for name, content in FILES.items():
        raw(
            warehouse,
            "INSERT INTO operations.artefact VALUES (:d, 'delivery', :n, :now)",
            d=DIGEST[name],
            n=len(content),
            now=NOW,
        )
        raw(
            warehouse,
            "INSERT INTO confidential.payload VALUES (:d, :content)",
            d=DIGEST[name],
            content=content,
        )
    for name, country, state, by in (
        ("at_2.csv", "AT", "accepted", None),
        ("at.csv", "AT", "superseded", DIGEST["at_2.csv"]),
        ("be.csv", "BE", "accepted", None),
    ):
        row = {"d": DIGEST[name], "country": country, "file": name, "now": NOW, "state": state, "by": by}
        raw(
            warehouse,
            "INSERT INTO operations.delivery VALUES ('sbs', '2024', :d, :country, :file, :now, :state, :by)",
            **row,
        )
    raw(
        warehouse,
        "INSERT INTO operations.finding VALUES ('sbs', '2024', :d, 0, 'x', 'warning', 3, 'AT', 'odd')",
        d=DIGEST["at.csv"],
    )
    raw(
        warehouse,
        "INSERT INTO operations.check_result VALUES ('sbs', '2024', :d, 'additivity', 'error', :yes, 3, 0, "
        "'[]')",
        d=DIGEST["be.csv"],
        yes=True,
    )
    raw(
        warehouse,
        "INSERT INTO operations.run VALUES ('r1', 'sbs', '2024', 'inputs', 'published', :now, :now)",
        now=NOW,
    )
    raw(
        warehouse,
        "INSERT INTO operations.step VALUES ('r1', 'assemble', '', 0.5, '', :d, :now)",
        d=DIGEST["be.csv"],
        now=NOW,
    )
    raw(
        warehouse,
        "INSERT INTO operations.rung VALUES ('r1', 0, 'auto', 'optimal', 1.0, 1.0, 0.0, 2.0, 'done', 0, :no, "
        ":yes, :yes)",
        yes=True,
        no=False,
    )
    for decided, down, passed in ((FIRST, 1.0, True), (SECOND, 0.5, False)):
        told = certificate(audited(decided, down=down, profiles=("external",)))
        row = {
            "d": hashlib.sha256(told.encode()).hexdigest(),
            "p": decided.digest,
            "passed": passed,
            "broken": int(not passed),
        }
        raw(
            warehouse,
            f"INSERT INTO operations.audit VALUES ('r1', :d, '{'p' * 64}', :p, 'external', :passed, 2, "
            f":broken, 4, :told, :now)",
            **row,
            told=told,
            now=NOW,
        )
    raw(warehouse, "INSERT INTO dissemination.publication VALUES ('sbs', '2024', :p, 1)", p=FIRST.digest)
    raw(
        warehouse,
        "INSERT INTO dissemination.eu_cell VALUES ('sbs', '2024', :p, 'EU.TURNOVER.TOTAL', 0, 'EU', "
        "'TURNOVER', 42, 'A', 'F', NULL)",
        p=FIRST.digest,
    )
    audit = hashlib.sha256(certificate(audited(FIRST, profiles=("external",))).encode()).hexdigest()
    raw(
        warehouse,
        "INSERT INTO dissemination.release VALUES ('r1', 'sbs', '2024', 1, :p, :a, :yes, :now)",
        p=FIRST.digest,
        a=audit,
        yes=True,
        now=NOW,
    )


def everything(warehouse) -> dict[str, set[tuple]]:
    """table → its rows, in the columns of the first version."""
    found = {}
    for schema in (
        ("operations", "confidential", "dissemination") if warehouse.dialect.name == "postgresql" else (None,)
    ):
        tables = MetaData()
        tables.reflect(warehouse, schema=schema)
        with reading(warehouse) as connection:
            for table in tables.tables.values():
                names = [column for column in table.columns if column.name not in NEW.get(table.name, ())]
                if table.name not in NEW_TABLES:
                    found[table.name] = {tuple(map(str, row)) for row in connection.execute(select(*names))}
    found.pop("sdc_warehouse_version", None)
    return found


NEW = {
    "artefact": {"purged_at"},
    "delivery": {"times", "series", "version"},
    "payload": {"key_id"},
    "release": {"embargo"},
    "eu_cell": {"visible_share"},
    "audit": {"printed_digest"},
    "approval": {"account"},
    "rung": {"clock"},
}
NEW_TABLES = {
    "inbox",
    "terms",
    "submission",
    "approval",
    "log",
    "retraction",
    "cycle",
    "dag_run",
    "task_run",
    "alert",
    "turn",
    "profile",
    "secret",
    "unread",
    "withdrawal",
}


@pytest.fixture
def old(warehouse_url):
    """The office has its secret: a downgrade drops it, and no other one is made where the log tells of it."""
    engine = open_warehouse(warehouse_url, KEYS, "tester", Secret.of_hex(WAREHOUSE_SECRET))
    migrate(engine, "0001")
    fill(engine)
    yield engine
    engine.dispose()


def test_an_upgrade_of_a_filled_warehouse_loses_nothing(old):
    before = everything(old)
    assert {name: len(rows) for name, rows in before.items()} == {
        **dict.fromkeys(
            ("finding", "check_result", "run", "step", "rung", "publication", "eu_cell", "release"), 1
        ),
        **dict.fromkeys(("artefact", "payload", "delivery"), 3),
        "audit": 2,
    }
    migrate(old)
    assert everything(old) == before
    found = run_checks(old)
    assert {name for name, rows in found.items() if rows} == {"payload_plain"}
    # what was written is read
    assert {name: load_artefact(old, digest) for name, digest in DIGEST.items()} == FILES
    assert accepted(old, "sbs", "2024") == {"AT": (DIGEST["at_2.csv"],), "BE": (DIGEST["be.csv"],)}
    assert [(each.version, each.visible, each.embargo, each.retracted) for each in reader.releases(old)] == [
        (1, True, None, None)
    ]
    assert [cell.value for cell in reader.released_cells(old, "sbs", "2024")] == [42.0]
    # the log begins with what was released, and is whole
    assert [(entry.action, entry.subject, entry.actor) for entry in entries(old)] == [
        ("release", "r1", "migration 0003"),
        ("make", "confidential.secret", "tester"),
    ]
    assert broken(entries(old)) == []
    # what lay in the inbox was not sent again
    assert received(old, "sbs", "2024").lying == set(DIGEST.items())
    # what is guarded is guarded still, and more
    for forbidden in (
        "DELETE FROM operations.audit",
        "UPDATE dissemination.release SET embargo = NULL",
        "DELETE FROM confidential.payload",
    ):
        with pytest.raises(IntegrityError):
            raw(old, forbidden)
    # and work goes on
    assert rotate(old) == 3
    assert publish_it(old, prepared(old, "r2", SECOND)) == (2, True)
    assert not any(run_checks(old).values())


def test_a_run_of_the_old_version_is_not_published_by_the_new_gate(old):
    """Its terms are not known: it is started anew, and gets an id of its own."""
    migrate(old)
    digest = reader.audits(old, "r1")[0]["digest"]
    with reading(old) as connection:
        assert connection.execute(text("SELECT 1")).scalar_one() == 1
    with pytest.raises(IntegrityError):
        raw(
            old,
            "INSERT INTO dissemination.release (release_id, domain, period, version, publication_digest, "
            "audit_digest, audit_passed,"
            " released_at) VALUES ('r1', 'sbs', '2024', 2, :p, :a, :yes, :now)",
            p=FIRST.digest,
            a=digest,
            yes=True,
            now=NOW,
        )


def test_up_down_and_up_again_with_data(old):
    before = everything(old)
    migrate(old)
    head = current_revision(old)
    for revision in ("0003", "0002", "0001"):
        downgrade(old, revision)
        assert everything(old) == before
        migrate(old)
        assert (everything(old), current_revision(old)) == (before, head)
    names = inspect(old).get_view_names(schema="dissemination" if old.dialect.name == "postgresql" else None)
    assert sorted(set(names) - {"delivery_now"}) == ["public_cell", "public_release"]


def test_a_downgrade_by_one_keeps_what_the_gate_stands_on(old):
    """Runs of DAGs and cycles go, terms and releases stay, and the tables come back empty."""
    migrate(old)
    publish_it(old, prepared(old, "r2", SECOND))
    open_cycle(old, TERMS, "2024", ["AT", "BE"], {})
    note_dag_run(
        old, "eu_release_sbs", "manual", domain="sbs", period="2024", release_id="r2", state="success"
    )
    note_task_run(old, "eu_release_sbs", "manual", "ingest", 0, state="success", label="AT_2024")
    assert raise_alert(old, "sbs", "2024", "ready", "r2", "it can go on")
    before = everything(old)
    downgrade(old, "0003")
    assert everything(old) == before
    migrate(old)
    assert everything(old) == before
    assert (
        reader.cycles(old) == reader.dag_runs(old, "sbs", "2024") == reader.alerts(old, "sbs", "2024") == []
    )
    assert publish_it(old, prepared(old, "r2", SECOND)) == (2, False)


def test_a_downgrade_takes_with_it_what_the_older_version_could_not_read(old, warehouse_url):
    migrate(old)
    fresh = open_warehouse(warehouse_url, Keyring.of([new_key(), PAYLOAD_KEY]))
    assert rotate(fresh) == 3
    downgrade(fresh, "0002")
    assert everything(fresh)["payload"] == set()
    assert len(everything(fresh)["release"]) == 1
    fresh.dispose()


def test_a_rung_that_a_clock_ended_says_so_still(old):
    """No clock ends a rung any more, so that its column is gone."""
    raw(old, "UPDATE operations.rung SET clock = :yes", yes=True)
    migrate(old)
    [rung] = reader.rungs(old, "r1")
    assert rung["reason"] == "done, at its time limit"
    assert "clock" not in rung
