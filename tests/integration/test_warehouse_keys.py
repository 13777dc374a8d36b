"""Confidential bytes at rest: unreadable without the keys, readable while keys are replaced,
gone when their retention ends.
"""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert, select, update
from sqlalchemy.exc import OperationalError

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.secret import Secret
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential.maintenance import purge, rotate
from sdc_tasks.warehouse.confidential.secret import key_in_use, secret_of
from sdc_tasks.warehouse.confidential.store import CorruptedError, load_artefact, receive, save_artefact
from sdc_tasks.warehouse.database.checks import run_checks
from sdc_tasks.warehouse.database.engine import open_warehouse, reading, writing
from sdc_tasks.warehouse.database.migrations import migrate
from sdc_tasks.warehouse.database.schema import artefact, delivery, payload, secret, step
from sdc_tasks.warehouse.forms.canonical import digest_of, digest_of_printed, sha256_hex
from sdc_tasks.warehouse.keyring import Keyring, key_file, new_key
from sdc_tasks.warehouse.log import entries
from sdc_tasks.warehouse.operations.journal import record_step, start_run, submit
from support.payload_key import PAYLOAD_KEY
from support.world import KEYS, TERMS, count, in_parallel, prepared, publish_it, raw

SECRET = b"AT;C10;987654321.125;secret"


def stored(engine) -> list[tuple[str, bytes, str | None]]:
    with reading(engine) as connection:
        return [tuple(row) for row in connection.execute(payload.select().order_by(payload.c.digest))]


def plainly(warehouse, content: bytes) -> str:
    """Stored as a version before encryption did: under its plain digest."""
    digest, now = digest_of(content), datetime.now(UTC)
    with writing(warehouse) as connection:
        connection.execute(
            insert(artefact).values(digest=digest, kind="problem", size=len(content), stored_at=now)
        )
        connection.execute(insert(payload).values(digest=digest, content=content))
    return digest


# --- keys ---------------------------------------------------------------------------------------------------


def test_what_is_stored_is_not_what_is_kept_secret(warehouse):
    digest = receive(warehouse, "sbs", "2024", "at.csv", SECRET).key.digest
    [(_, content, key_id)] = stored(warehouse)
    assert SECRET not in content
    assert b"987654321" not in content
    assert (len(content), key_id) == (len(SECRET) + 28, KEYS.newest)
    assert load_artefact(warehouse, digest) == SECRET
    assert run_checks(warehouse)["payload_incomplete"] == []


@pytest.mark.parametrize(
    ("keys", "why"),
    [(Keyring.of([new_key()]), f"encrypted with key {KEYS.newest}"), (None, "there is no key")],
    ids=["another key", "none"],
)
def test_without_its_key_nothing_is_read(warehouse, warehouse_url, keys, why):
    digest = save_artefact(warehouse, "problem", SECRET)
    if keys is None and warehouse.dialect.name == "sqlite":
        why = f"encrypted with key {KEYS.newest}"  # it made a key file of its own
    other = open_warehouse(warehouse_url, keys)
    with pytest.raises(InvalidInput, match=why) as caught:
        load_artefact(other, digest)
    assert PAYLOAD_KEY not in str(caught.value)
    other.dispose()


def test_bytes_put_under_another_digest_are_refused(warehouse):
    """An honest ciphertext in the wrong place."""
    one, two = save_artefact(warehouse, "problem", b"one"), save_artefact(warehouse, "problem", b"two")
    content = {digest: content for digest, content, _ in stored(warehouse)}
    raw(
        warehouse,
        "UPDATE confidential.payload SET content = :content WHERE digest = :digest",
        content=content[two],
        digest=one,
    )
    with pytest.raises(CorruptedError, match=one):
        load_artefact(warehouse, one)
    assert load_artefact(warehouse, two) == b"two"


def test_keys_are_replaced_while_the_warehouse_is_in_use(warehouse, warehouse_url):
    contents = {
        save_artefact(warehouse, "problem", f"{i}".encode() * 100): f"{i}".encode() * 100 for i in range(40)
    }
    first = plainly(warehouse, b"0" * 100)
    contents[first] = b"0" * 100
    assert [row["digest"] for row in run_checks(warehouse)["payload_plain"]] == [first]
    assert load_artefact(warehouse, first) == contents[first]
    fresh = new_key()
    both, only = (open_warehouse(warehouse_url, Keyring.of(keys)) for keys in ([fresh, PAYLOAD_KEY], [fresh]))
    assert rotate(both) == 41
    assert rotate(both) == 0
    assert {digest: load_artefact(only, digest) for digest in contents} == contents
    with pytest.raises(InvalidInput, match="which is not among the given keys"):
        load_artefact(warehouse, first)
    assert {key_id for _, _, key_id in stored(only)} == {Keyring.of([fresh]).newest}
    assert not any(run_checks(only).values())
    assert [entry.action for entry in entries(only)] == ["make"] + ["rotate"] * 4, (
        "the secret, and the payloads in three parts"
    )
    both.dispose()
    only.dispose()


FRESH = "bmV3LWtleS1vZi10aGUtdGVzdHMtYWxzby1wdWJsaWM="


def _rotate_or_save(engine, number: int) -> int:
    engine.update_execution_options(sdc_keys=Keyring.of([FRESH, PAYLOAD_KEY]))
    if number < 2:
        return rotate(engine)
    for i in range(30):
        save_artefact(engine, "problem", f"{i}".encode() * 50)
    return 0


def test_who_saves_while_keys_are_replaced_loses_nothing(warehouse, warehouse_url):
    contents = {
        save_artefact(warehouse, "problem", f"{i}".encode() * 50): f"{i}".encode() * 50 for i in range(30)
    }
    in_parallel(warehouse_url, _rotate_or_save, *range(4))
    only = open_warehouse(warehouse_url, Keyring.of([FRESH]))
    assert {digest: load_artefact(only, digest) for digest in contents} == contents
    only.dispose()


def test_who_was_started_with_the_old_keys_saves_nothing_that_the_new_ones_do_not_open(
    warehouse, warehouse_url
):
    """A release goes on while the keys are replaced, and the old key is taken away afterwards."""
    kept = save_artefact(warehouse, "problem", b"before")
    fresh = new_key()
    both, only = (open_warehouse(warehouse_url, Keyring.of(keys)) for keys in ([fresh, PAYLOAD_KEY], [fresh]))
    early = save_artefact(both, "problem", b"by who has the new key already")
    assert load_artefact(warehouse, early), "what is not rotated yet, all can read"
    rotate(both)
    for save in (
        lambda: save_artefact(warehouse, "problem", b"after"),
        lambda: receive(warehouse, "sbs", "2024", "at.csv", b"late"),
    ):
        with pytest.raises(InvalidInput, match=r"not among the given keys.*Remedy"):
            save()
    # who had opened the secret before the keys were replaced
    with (
        pytest.raises(
            InvalidInput, match=r"the keys of this warehouse were replaced: .* Nothing was saved\. Remedy"
        ),
        writing(warehouse) as connection,
    ):
        key_in_use(connection)
    assert {load_artefact(only, digest) for digest in (kept, early)} == {
        b"before",
        b"by who has the new key already",
    }
    assert count(only, "confidential.payload") == 2
    assert not any(run_checks(only).values())
    assert load_artefact(only, save_artefact(only, "problem", b"before")) == b"before"
    both.dispose()
    only.dispose()


def test_keys_are_not_replaced_while_somebody_saves(warehouse):
    """Whoever saves holds the row that names the key in use, until his transaction ends."""
    impatient = (
        "PRAGMA busy_timeout = 0" if warehouse.dialect.name == "sqlite" else "SET lock_timeout = '50ms'"
    )
    secret_of(warehouse)
    with writing(warehouse) as connection:
        assert key_in_use(connection) == KEYS.newest
        with warehouse.connect() as other:
            other.connection.cursor().execute(impatient)
            with pytest.raises(OperationalError, match="lock"):
                other.execute(update(secret).values(key_id="another"))
            other.invalidate()
    assert not any(run_checks(warehouse).values())


def test_a_warehouse_keeps_the_secret_that_it_was_made_with(warehouse, warehouse_url):
    made = secret_of(warehouse)
    for given, stays in ((made, True), (None, True), (Secret.fresh(), False)):
        again = open_warehouse(warehouse_url, KEYS, secret=given)
        if stays:
            assert secret_of(again) == made
        else:
            with pytest.raises(InvalidInput, match="is not the secret of this warehouse"):
                secret_of(again)
        again.dispose()


def test_a_payload_of_another_key_than_the_one_in_use_is_found(warehouse):
    """As a version before left it that saved by the key it had."""
    digest = save_artefact(warehouse, "problem", b"kept")
    other = Keyring.of([new_key()])
    key_id, content = other.seal(digest, b"kept", other.newest)
    raw(
        warehouse,
        "UPDATE confidential.payload SET content = :content, key_id = :key",
        content=content,
        key=key_id,
    )
    assert [
        (row["digest"], row["key_id"], row["in_use"]) for row in run_checks(warehouse)["payload_key"]
    ] == [(digest, key_id, KEYS.newest)]


# --- the key file of a SQLite warehouse ---------------------------------------------------------------------


def _save(engine, number: int) -> str:
    engine = open_warehouse(str(engine.url))
    migrate(engine)
    found = save_artefact(engine, "problem", f"{number}".encode())
    engine.dispose()
    return found


def test_a_sqlite_warehouse_makes_one_key_file_that_only_its_owner_reads(tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'w.db'}"
    engine = open_warehouse(url)
    file = key_file(tmp_path / "w.db")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.unlink()
    digests = in_parallel(url, _save, *range(4))  # all at once make it anew
    engine.dispose()
    engine = open_warehouse(url)
    assert sorted(load_artefact(engine, digest) for digest in digests) == [b"0", b"1", b"2", b"3"]
    assert [path.name for path in tmp_path.iterdir() if "key" in path.name] == ["w.db.key"], (
        "no part of a file is left"
    )
    engine.dispose()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o666])
def test_a_key_file_that_others_read_is_refused(tmp_path: Path, mode: int):
    engine = open_warehouse(f"sqlite:///{tmp_path / 'w.db'}")
    engine.dispose()
    key_file(tmp_path / "w.db").chmod(mode)
    with pytest.raises(InvalidInput, match=r"w\.db\.key.*Remedy: chmod 600"):
        open_warehouse(f"sqlite:///{tmp_path / 'w.db'}")
    key_file(tmp_path / "w.db").chmod(0o600)
    open_warehouse(f"sqlite:///{tmp_path / 'w.db'}").dispose()


# --- retention ----------------------------------------------------------------------------------------------

DAYS = 30
KEEPING = replace(TERMS, digest="d" * 64, retention_days=DAYS)
ATTACKED = replace(KEEPING, digest="e" * 64, domain="trade", profiles=("external", "vintage"))


def age(warehouse, period: str, days: float) -> None:
    """Lets everything of a period have happened so long ago."""
    then = datetime.now(UTC) - timedelta(days=days)
    with writing(warehouse) as connection:
        connection.execute(update(delivery).where(delivery.c.period == period).values(received_at=then))
        files = select(delivery.c.digest).where(delivery.c.period == period)
        connection.execute(update(artefact).where(artefact.c.digest.in_(files)).values(stored_at=then))
        connection.execute(update(step).where(step.c.release_id == f"r{period}").values(finished_at=then))


def a_period(warehouse, period: str, terms=KEEPING) -> dict[str, str]:
    """A delivery, an assembled problem and a chunk of an audit; what → digest."""
    release_id = f"r{period}"
    start_run(warehouse, release_id, terms.domain, period)
    submit(warehouse, release_id, terms)
    kept = {
        "delivery": receive(
            warehouse, terms.domain, period, "at.csv", f"delivery of {period}".encode()
        ).key.digest
    }
    for name, key in (("assemble", ""), ("bases", ""), ("bases", "rules"), ("audit", "0")):
        kept[f"{name} {key}".strip()] = save_artefact(warehouse, name, f"{name} {key} of {period}".encode())
        record_step(
            warehouse, release_id, name, key, seconds=0.0, artefact_digest=kept[f"{name} {key}".strip()]
        )
    return kept


def readable(warehouse, kept: dict[str, str]) -> set[str]:
    found = set()
    for name, digest in kept.items():
        if digest in {each for each, _, _ in stored(warehouse)}:
            load_artefact(warehouse, digest)
            found.add(name)
        else:
            with pytest.raises(CorruptedError, match="was purged on"):
                load_artefact(warehouse, digest)
    return found


def test_what_is_past_its_retention_is_purged_and_nothing_else(warehouse):
    old, young = a_period(warehouse, "2023"), a_period(warehouse, "2024")
    shared = save_artefact(warehouse, "problem", b"of both")
    for period in ("2023", "2024"):
        record_step(warehouse, f"r{period}", "baseline", seconds=0.0, artefact_digest=shared)
    age(warehouse, "2023", DAYS + 1)
    age(warehouse, "2024", DAYS - 1)
    assert {row["digest"] for row in run_checks(warehouse)["payload_overdue"]} == set(old.values())
    assert purge(warehouse) == len(old)
    assert (readable(warehouse, old), readable(warehouse, young)) == (set(), set(young))
    assert load_artefact(warehouse, shared) == b"of both"
    assert not any(run_checks(warehouse).values())
    assert purge(warehouse) == 0
    assert [entry.action for entry in entries(warehouse, "confidential.payload")] == ["purge"]
    # delivered again, it is there again
    assert receive(warehouse, "sbs", "2023", "at.csv", b"delivery of 2023").key.digest == old["delivery"]
    assert readable(warehouse, old) == {"delivery"}
    assert not any(run_checks(warehouse).values())


def test_without_a_retention_nothing_is_purged(warehouse):
    kept = a_period(warehouse, "2023", TERMS)
    age(warehouse, "2023", 10_000)
    assert purge(warehouse) == 0
    assert readable(warehouse, kept) == set(kept)


def test_what_the_attacker_of_profile_vintage_knows_is_kept_of_released_tables(warehouse):
    kept = a_period(warehouse, "2023", ATTACKED)
    other = a_period(warehouse, "2022", ATTACKED)
    raw(warehouse, "INSERT INTO dissemination.publication VALUES ('trade', '2023', 'p', 0)")
    _release_without_the_gate(warehouse)
    for period in ("2022", "2023"):
        age(warehouse, period, DAYS + 1)
    purge(warehouse)
    assert readable(warehouse, kept) == {"assemble", "bases"}
    assert readable(warehouse, other) == set()


def _release_without_the_gate(warehouse) -> None:
    """Of run r2023: what its audit said is not what is asked here."""
    [submitted] = reader.submissions(warehouse, "r2023")
    said = {"domain": "trade", "period": "2023", "verdict": "passed", "profiles": ["external", "vintage"]}
    said |= {"digests": {"domain": submitted["terms_digest"], "problem": "p", "publication": "p"}}
    told = json.dumps(said | {"counts": {"primaries": 0, "broken_requirements": 0}})
    digest = sha256_hex(told)
    raw(
        warehouse,
        """INSERT INTO operations.audit
           VALUES ('r2023', :digest, 'p', 'p', 'external,vintage', :passed, 0, 0, 0, :told, '2026-01-01 00:00:00', :printed)""",  # noqa: E501
        printed=digest_of_printed([]),
        digest=digest,
        told=told,
        passed=True,
    )
    raw(
        warehouse,
        """INSERT INTO dissemination.release
               (release_id, domain, period, version, publication_digest, audit_digest, audit_passed, released_at)
           VALUES ('r2023', 'trade', '2023', 1, 'p', :digest, :passed, '2026-01-01 00:00:00')""",  # noqa: E501
        digest=digest,
        passed=True,
    )


def test_what_nothing_uses_goes_after_the_shortest_retention(warehouse):
    """A step that was killed between saving and saying so."""
    a_period(warehouse, "2024")
    lost = save_artefact(warehouse, "problem", b"lost")
    assert purge(warehouse) == 0
    raw(
        warehouse,
        "UPDATE operations.artefact SET stored_at = '2020-01-01 00:00:00' WHERE digest = :digest",
        digest=lost,
    )
    assert purge(warehouse) == 1


def test_purged_bytes_are_overwritten_in_a_sqlite_file(tmp_path: Path):
    """Ciphertext too is looked for: in the database, and in its write-ahead log."""
    engine = open_warehouse(f"sqlite:///{tmp_path / 'w.db'}", KEYS)
    migrate(engine)
    kept = a_period(engine, "2023")
    held = {digest: content for digest, content, _ in stored(engine)}
    on_disk = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert all(content in on_disk for content in held.values())
    age(engine, "2023", DAYS + 1)
    assert purge(engine) == len(kept)
    on_disk = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert [digest for digest, content in held.items() if content in on_disk] == []
    engine.dispose()


def test_a_purge_and_a_release_do_not_meet(warehouse):
    """Released tables stay when all that is confidential of them is gone."""
    publish_it(warehouse, prepared(warehouse))
    before = count(warehouse, "dissemination.public_cell")
    a_period(warehouse, "2023")
    age(warehouse, "2023", DAYS + 1)
    purge(warehouse)
    assert count(warehouse, "dissemination.public_cell") == before == 3
