"""Maintenance of the confidential store: it purges payloads whose retention has ended,
replaces keys, and finds damage.

One query decides which payloads are overdue, `sql/checks/payload_overdue.*.sql`: the purge and the checks of
the warehouse use it. SQLite overwrites deleted bytes, in the write-ahead log too. PostgreSQL frees them at
its next vacuum; until then it holds only ciphertext. Backups are outside this program.
"""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Engine, delete, select, text, update

from sdc_tasks.errors import Damaged, Retriable
from sdc_tasks.warehouse.confidential.secret import key_in_use, seal_anew, secret_of
from sdc_tasks.warehouse.confidential.store import plain
from sdc_tasks.warehouse.database.engine import into_the_file, keys_of, reading, serialise, writing
from sdc_tasks.warehouse.database.schema import artefact, payload
from sdc_tasks.warehouse.database.sqlfiles import clause
from sdc_tasks.warehouse.log import record

MOST_TOLD = 20  # most lines about damage
AMCHECK = """
    SELECT count(*) > 0 FROM pg_proc
    WHERE proname = 'bt_index_check' AND has_function_privilege(oid, 'EXECUTE')
"""
INDEXES = """
    SELECT i.oid, i.oid::regclass::text
    FROM pg_class i
    JOIN pg_am a ON a.oid = i.relam
    JOIN pg_namespace n ON n.oid = i.relnamespace
    JOIN pg_index x ON x.indexrelid = i.oid
    WHERE a.amname = 'btree' AND i.relkind = 'i' AND x.indisvalid
      AND n.nspname IN ('confidential', 'operations', 'dissemination')
    ORDER BY 2
"""
BATCH = 16  # payloads in memory, and locked, at a time


def purge(engine: Engine) -> int:
    """Deletes every payload whose retention has ended. Its row in `operations.artefact` stays. Returns
    the number of deleted payloads.
    """
    with writing(engine) as connection:
        overdue = sorted(connection.execute(clause("checks/payload_overdue", engine.dialect.name)).scalars())
        for digest in overdue:
            connection.execute(
                update(artefact).where(artefact.c.digest == digest).values(purged_at=datetime.now(UTC))
            )
            connection.execute(delete(payload).where(payload.c.digest == digest))
        if overdue:
            record(connection, "purge", "confidential.payload", payloads=len(overdue), digests=overdue)
    _forget(engine)
    return len(overdue)


def damage(engine: Engine) -> list[str]:
    """A line for each damaged part of the database. On SQLite every page is checked; on PostgreSQL every
    index against its table (with the extension amcheck, where it is installed and this account may use it).
    Lines name tables and pages, never a value.
    """
    try:
        with reading(engine) as connection:
            if engine.dialect.name == "sqlite":
                told = [
                    str(row[0]) for row in connection.exec_driver_sql(f"PRAGMA integrity_check({MOST_TOLD})")
                ]
                return [] if told == ["ok"] else [f"damaged: {line}" for line in told]
            if not connection.exec_driver_sql(AMCHECK).scalar_one():
                return []
            indexes = connection.exec_driver_sql(INDEXES).all()
    except Damaged as error:
        return [f"damaged: {error}"]
    return [f"damaged: index {name}" for oid, name in indexes if not _whole(engine, oid)]


def _whole(engine: Engine, index: int) -> bool:
    try:
        with reading(engine) as connection:
            connection.execute(text("SELECT bt_index_check(:index, true)"), {"index": index})
    except Damaged:
        return False
    return True


def rotate(engine: Engine) -> int:
    """Encrypts with the newest key all payloads under another key or without a key. Returns their number.
    It may be stopped and run again.

    After its first transaction nobody saves with another key: a program without the newest key
    saves nothing (`secret.key_in_use`).
    """
    done = 0
    secret_of(engine)
    with writing(engine) as connection:
        seal_anew(connection)
    while True:
        with writing(engine) as connection:
            serialise(connection, "rotate")
            keys, newest = keys_of(connection), key_in_use(connection)
            others = payload.c.key_id.is_distinct_from(newest)
            rows = connection.execute(
                select(payload).where(others).order_by(payload.c.digest).limit(BATCH).with_for_update()
            ).all()
            for row in rows:
                key_id, sealed = keys.seal(
                    row.digest, plain(connection, row.digest, row.content, row.key_id), newest
                )
                connection.execute(
                    update(payload)
                    .where(payload.c.digest == row.digest)
                    .values(content=sealed, key_id=key_id)
                )
            if rows:
                record(connection, "rotate", "confidential.payload", payloads=len(rows), key=newest)
        done += len(rows)
        if len(rows) < BATCH:
            break
    _forget(engine)
    return done


def _forget(engine: Engine) -> None:
    """On SQLite, removes deleted bytes from the write-ahead log too. Raises Retriable
    while somebody still reads them.
    """
    if not into_the_file(engine):
        raise Retriable(
            "somebody reads the warehouse, so deleted bytes are still in its write-ahead log. Remedy: run it "
            "again"
        )
