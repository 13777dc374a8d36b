"""One secret for an office and period: it is there from the beginning, has a public name, and
is never drawn anew in silence.

Two warehouses with two secrets draw two tables of the same deliveries. Each is safe alone; whoever sees
both computes what neither tells.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, make_url, select
from sqlalchemy.exc import IntegrityError

from sdc_tasks.domains import load_domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.secret import Secret
from sdc_tasks.warehouse.confidential.maintenance import rotate
from sdc_tasks.warehouse.confidential.secret import keep, named, secret_of
from sdc_tasks.warehouse.database.checks import run_checks
from sdc_tasks.warehouse.database.engine import open_warehouse, reading
from sdc_tasks.warehouse.database.migrations import migrate
from sdc_tasks.warehouse.database.schema import secret
from sdc_tasks.warehouse.dissemination.publisher import printed
from sdc_tasks.warehouse.forms.canonical import sha256_hex
from sdc_tasks.warehouse.keyring import Keyring, new_key
from sdc_tasks.warehouse.log import entries
from sdc_tasks.warehouse.operations.journal import save_audit, start_run, submit
from support.deliveries import small_domain
from support.payload_key import WAREHOUSE_SECRET
from support.world import FIRST, KEYS, RELEASE, SPACE, TERMS, audited, certificate, count, raw, staged

GIVEN = Secret.of_hex(WAREHOUSE_SECRET)
CHECKS = ("secret_not_logged", "release_of_another_secret")


def made(url: str, given: Secret | None = None) -> Engine:
    """A warehouse that was migrated, and nothing else."""
    engine = open_warehouse(url, KEYS, "tester", given)
    migrate(engine)
    return engine


@contextmanager
def restored(engine: Engine, tmp_path: Path) -> Iterator[str]:
    """The address of a copy: of the file alone on SQLite, without its write-ahead log; of the database on
    PostgreSQL.
    """
    if engine.dialect.name == "sqlite":
        copy = tmp_path / "copy.db"
        shutil.copy(str(engine.url.database), copy)
        yield f"sqlite:///{copy}"
        return
    engine.dispose()
    name = f"{engine.url.database}_copy"
    server = create_engine(make_url(engine.url).set(database="postgres"), isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE {engine.url.database}")
        yield engine.url.set(database=name).render_as_string(hide_password=False)
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
    server.dispose()


def actions(engine: Engine) -> list[tuple[str, dict[str, object]]]:
    return [(each.action, json.loads(each.details)) for each in entries(engine, "confidential.secret")]


def test_a_backup_of_a_warehouse_that_nobody_has_used_yet_holds_the_secret(warehouse_url, tmp_path):
    """On SQLite the first connection stays open, so that its log is not moved into the file when
    it closes.
    """
    engine = made(warehouse_url)
    [(action, told)] = actions(engine)
    with restored(engine, tmp_path) as url:
        again = made(url)
        assert secret_of(again) == secret_of(engine)
        assert (action, told["fingerprint"], told["kept"]) == ("make", secret_of(again).fingerprint, False)
        assert actions(again) == actions(engine), "nothing was drawn anew"
        again.dispose()
    engine.dispose()


def test_the_fingerprint_is_a_name_and_no_key(warehouse):
    fingerprint, kept = named(warehouse)
    assert (fingerprint, kept) == (GIVEN.fingerprint, True), "the template was given its secret"
    assert len(fingerprint) == 64
    assert fingerprint not in (GIVEN.hex, GIVEN.digest(), GIVEN.derive("fingerprint").hex)
    assert Secret.fresh().fingerprint != fingerprint
    assert not any(run_checks(warehouse, CHECKS).values())


def test_without_a_key_there_is_no_warehouse_without_a_secret(warehouse_url):
    if warehouse_url.startswith("sqlite"):
        pytest.skip("a file of SQLite makes a key of its own")
    bare = open_warehouse(warehouse_url, None, "prepare")
    with pytest.raises(InvalidInput, match=r"there is no key.*Remedy: set SDC_PAYLOAD_KEYS"):
        migrate(bare)
    made(warehouse_url).dispose()
    migrate(bare)  # up to date: nothing to do
    bare.dispose()


def without(engine: Engine, table: str, guard: str) -> None:
    """Somebody takes the guards of a table away: all of PostgreSQL, this one of SQLite."""
    if engine.dialect.name == "postgresql":
        raw(engine, f"ALTER TABLE {table} DISABLE TRIGGER ALL")
    else:
        raw(engine, f"DROP TRIGGER {guard}")


def lose(engine: Engine) -> None:
    """Somebody deletes the row, with the guard taken away."""
    if engine.dialect.name == "postgresql":
        raw(engine, "ALTER TABLE confidential.secret DISABLE TRIGGER secret_stays")
    else:
        raw(engine, "DROP TRIGGER secret_stays")
    raw(engine, "DELETE FROM confidential.secret")


def unname(engine: Engine) -> None:
    """As a version left it that knew no fingerprints."""
    without(engine, "confidential.secret", "secret_named")
    raw(engine, "UPDATE confidential.secret SET fingerprint = NULL, kept = :no", no=False)
    if engine.dialect.name == "postgresql":
        raw(engine, "ALTER TABLE confidential.secret ENABLE TRIGGER ALL")


def test_a_lost_secret_is_not_drawn_anew(warehouse, warehouse_url):
    lose(warehouse)
    assert run_checks(warehouse, CHECKS)["secret_not_logged"]
    for given in (None, Secret.fresh()):
        engine = open_warehouse(warehouse_url, KEYS, secret=given)
        with pytest.raises(
            InvalidInput,
            match=rf"is lost: the log tells of {GIVEN.fingerprint}.*Remedy: restore.*SDC_WAREHOUSE_SECRET",
        ):
            secret_of(engine)
        engine.dispose()
    assert count(warehouse, "confidential.secret") == 0
    other = Secret.fresh()
    key_id, content = KEYS.seal("the secret of this warehouse", other.key, KEYS.newest)
    for fingerprint in (other.fingerprint, None):
        row = {"content": content, "key": key_id, "name": fingerprint, "no": False}
        with pytest.raises(IntegrityError, match="the log tells of another secret"):
            raw(warehouse, "INSERT INTO confidential.secret VALUES (1, :content, :key, :name, :no)", **row)
    engine = open_warehouse(warehouse_url, KEYS, secret=GIVEN)  # the office kept it
    assert secret_of(engine) == GIVEN
    assert not any(run_checks(engine, CHECKS).values())
    engine.dispose()


def test_a_lost_secret_of_an_older_version_is_not_drawn_anew_either(warehouse, warehouse_url):
    """Its log tells that one was made, and not what it was."""
    lose(warehouse)
    without(warehouse, "operations.log", "log_update")
    raw(warehouse, "UPDATE operations.log SET details = '{}' WHERE action = 'make'")
    for given in (None, GIVEN):
        engine = open_warehouse(warehouse_url, KEYS, secret=given)
        with pytest.raises(InvalidInput, match="is lost: the log tells of one without a fingerprint"):
            secret_of(engine)
        engine.dispose()


def test_a_secret_of_an_older_version_gets_its_name_and_stays(warehouse):
    before = secret_of(warehouse)
    unname(warehouse)
    assert secret_of(warehouse) == before
    assert [action for action, _ in actions(warehouse)] == ["make", "name"]
    assert named(warehouse) == (before.fingerprint, True), "the log tells that it was given"
    assert not any(run_checks(warehouse, CHECKS).values())


def test_what_it_is_called_by_does_not_change(warehouse):
    secret_of(warehouse)
    for change in ("fingerprint = 'another'", "fingerprint = NULL", "kept = :no"):
        with pytest.raises(IntegrityError, match="secret refused: it is named already"):
            raw(
                warehouse,
                f"UPDATE confidential.secret SET {change}",
                **({"no": False} if ":no" in change else {}),
            )


def test_another_content_under_the_old_name_is_seen(warehouse):
    other = Secret.fresh()
    key_id, content = KEYS.seal("the secret of this warehouse", other.key, KEYS.newest)
    raw(
        warehouse,
        "UPDATE confidential.secret SET content = :content, key_id = :key",
        content=content,
        key=key_id,
    )
    with pytest.raises(InvalidInput, match=r"was changed since it was stored.*Remedy: restore"):
        secret_of(warehouse)


def test_a_secret_is_kept_once_and_the_log_tells(warehouse_url):
    engine, written = made(warehouse_url), []
    assert named(engine)[1] is False
    assert keep(engine, written.append) == secret_of(engine).fingerprint
    assert written == [secret_of(engine).hex]
    assert named(engine)[1] is True
    assert [action for action, _ in actions(engine)] == ["make", "deposit"]
    assert all(secret_of(engine).hex not in entry.details for entry in entries(engine))
    assert not any(run_checks(engine, CHECKS).values())
    engine.dispose()


def test_what_could_not_be_written_is_not_kept(warehouse_url):
    engine = made(warehouse_url)

    def full(_: str) -> None:
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space"):
        keep(engine, full)
    assert named(engine)[1] is False
    engine.dispose()


def test_whoever_gives_the_secret_keeps_it(warehouse_url):
    engine = made(warehouse_url)
    found = secret_of(engine)
    given = open_warehouse(warehouse_url, KEYS, secret=found)
    assert secret_of(given) == found
    assert named(engine)[1] is True
    assert [action for action, _ in actions(engine)] == ["make", "deposit"]
    for each in (engine, given):
        each.dispose()


def test_a_key_is_replaced_and_the_name_stays(warehouse, warehouse_url):
    before, newer = named(warehouse), Keyring({**Keyring.of([new_key()]).keys, **KEYS.keys})
    engine = open_warehouse(warehouse_url, newer)
    rotate(engine)
    assert named(engine) == before
    assert not any(run_checks(engine, CHECKS).values())
    with reading(engine) as connection:
        assert connection.execute(select(secret.c.key_id)).scalar_one() == newer.newest
    engine.dispose()


# --- what is drawn by it ------------------------------------------------------------------------------------

AWARE = {"bases": {"rule_aware": True, "removed": 0.05, "epoch": 1}}
ROUNDED = {
    "indicators": [{"code": "TURNOVER", "label": "x", "rounding": {"method": "controlled", "base": 5}}]
}
SHOWN = {
    "program": {
        "verdict": "passed",
        "bases": {"removed": 0.05, "epoch": 1, "wide": 2, "narrow": [], "without_claim": []},
    }
}


@pytest.fixture
def fresh(warehouse_url) -> Iterator[Engine]:
    """A warehouse whose secret nobody else has."""
    engine = made(warehouse_url)
    yield engine
    engine.dispose()


def drawn(engine: Engine, release_id: str, settings: dict[str, object], **told: object) -> dict[str, object]:
    """A release of these settings whose certificate says this too; the row by which
    somebody publishes it by plain SQL.
    """
    asked = replace(TERMS, digest=sha256_hex(release_id), settings=json.dumps(settings))
    start_run(engine, release_id, "sbs", "2024")
    submit(engine, release_id, asked)
    report = audited(FIRST)
    certified = json.loads(certificate(report)) | (SHOWN if "bases" in settings else {}) | told
    certified["digests"]["domain"] = asked.digest
    audit = save_audit(engine, release_id, report, json.dumps(certified), printed(FIRST, SPACE))
    row = {
        "release_id": release_id,
        "domain": "sbs",
        "period": "2024",
        "version": 1,
        "publication": FIRST.digest,
    }
    return {**row, "audit": audit, "passed": True, "now": "2026-01-01 00:00:00"}


@pytest.mark.parametrize("settings", [AWARE, ROUNDED], ids=["bases", "a whole table"])
def test_what_is_drawn_goes_out_by_a_named_secret_that_is_kept(fresh, settings):
    staged(fresh, FIRST)
    name = secret_of(fresh).fingerprint
    for release_id, told, kept, why in (
        ("r1", {}, False, "not named, or kept nowhere else"),
        ("r2", {"secret": name}, False, "not named, or kept nowhere else"),
        ("r3", {}, True, "not named, or kept nowhere else"),
        ("r4", {"secret": GIVEN.fingerprint}, True, "names another secret"),
    ):
        if kept:
            keep(fresh, lambda _: None)
        with pytest.raises(IntegrityError, match=why):
            raw(fresh, RELEASE, **drawn(fresh, release_id, settings, **told))
    raw(fresh, RELEASE, **drawn(fresh, "r5", settings, secret=name))
    assert count(fresh, "dissemination.release") == 1
    assert not any(run_checks(fresh, CHECKS).values())


def test_what_is_not_drawn_needs_no_name_and_lies_under_no_wrong_one(fresh):
    staged(fresh, FIRST)
    with pytest.raises(IntegrityError, match="names another secret"):
        raw(fresh, RELEASE, **drawn(fresh, "r1", {}, secret=GIVEN.fingerprint))
    raw(fresh, RELEASE, **drawn(fresh, "r2", {}))


def test_a_release_by_another_secret_is_found(fresh):
    """It was brought from another warehouse, with the gate taken away."""
    staged(fresh, FIRST)
    on = " ON dissemination.release" if fresh.dialect.name == "postgresql" else ""
    raw(fresh, f"DROP TRIGGER release_secret{on}")
    raw(fresh, RELEASE, **drawn(fresh, "r1", AWARE, secret=GIVEN.fingerprint))
    assert run_checks(fresh, CHECKS)["release_of_another_secret"] == [
        {"release_id": "r1", "secret": GIVEN.fingerprint}
    ]


OPTIONS = {
    "nothing": ("", "", False),
    "bases": ("", "bases: {rule_aware: true}\n", True),
    "bases of the public rule": ("", "bases: {rule_aware: false}\n", False),
    "controlled": (", rounding: {method: controlled, base: 5}", "", True),
    "quadratic": (", integer: true, rounding: {method: quadratic, base: 5}", "", True),
    "a label that looks so": (", label: 'x \"rounding\": {y'", "", False),
}


@pytest.mark.parametrize("what", OPTIONS)
def test_program_and_database_mean_the_same_by_what_is_drawn(warehouse, tmp_path, what):
    """Both ask the settings of a domain file: a release of it without a name of the secret
    goes out where nothing is drawn.
    """
    own, more, draws = OPTIONS[what]
    small_domain(tmp_path)
    text = (tmp_path / "small.yaml").read_text()
    if "label" in own:
        text = text.replace("label: Turnover, ", "")
    (tmp_path / "drawn.yaml").write_text(
        text.replace("unit_multiplier: 3", f"unit_multiplier: 3{own}") + more
    )
    domain = load_domain(tmp_path / "drawn.yaml")
    assert domain.draws is draws
    staged(warehouse, FIRST)
    row = drawn(warehouse, "r1", domain.settings | {"governance": {"approvals": 0}})
    on = " ON dissemination.release" if warehouse.dialect.name == "postgresql" else ""
    raw(warehouse, f"DROP TRIGGER release_program{on}")  # it asks for more of what is rule_aware
    if not draws:
        raw(warehouse, RELEASE, **row)
        return
    with pytest.raises(IntegrityError, match="not named, or kept nowhere else"):
        raw(warehouse, RELEASE, **row)
