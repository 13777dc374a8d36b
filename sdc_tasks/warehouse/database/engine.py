"""Opens a warehouse: SQLite by path, PostgreSQL by URL, with the same tables and the same guarantees.

`writing` is one transaction, which happens completely or not at all; `reading` is one consistent view. No
error that leaves this module holds a value: parameters are hidden, and only the part of a server's message is
kept that names rules and columns.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.engine import URL, ExceptionContext
from sqlalchemy.exc import ArgumentError, DatabaseError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

from sdc_tasks.errors import Damaged, InvalidInput, Retriable
from sdc_tasks.model.secret import Secret
from sdc_tasks.warehouse.database.schema import SCHEMAS
from sdc_tasks.warehouse.forms.canonical import register
from sdc_tasks.warehouse.forms.people import normal
from sdc_tasks.warehouse.keyring import REMEDY, Keyring, key_file, read_key_file

if TYPE_CHECKING:
    import psycopg  # SQLAlchemy loads it where the warehouse is on PostgreSQL: a quarter of a second

BUSY_SECONDS = 30
# PostgreSQL: the longest time for a lock, a statement, or an idle transaction. No statement is compiled: our
# views look expensive to the planner, and to compile them took two seconds for answers of a few milliseconds.
SESSION = {
    "lock_timeout": "30s",
    "statement_timeout": "5min",
    "idle_in_transaction_session_timeout": "10min",
    "jit": "off",
}
LOGGING_NAME = "sdc_warehouse"

# Options of a read-only transaction, for each engine.
READING: dict[str, dict[str, Any]] = {
    "postgresql": {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True},
    "sqlite": {"sdc_reading": True},
}

NOT_ALLOWED = "42501"  # SQLSTATE insufficient_privilege

# Classes of SQLSTATE whose primary message names objects and rules only. Other classes, such as 22
# (data exception), quote the value.
NAMING_ONLY = {"08", "23", "25", "28", "3D", "3F", "40", "42", "53", "55", "57"}


def open_warehouse(
    url: str, keys: Keyring | None = None, actor: str = "unknown", secret: Secret | None = None
) -> Engine:
    """The warehouse at `sqlite:///path` or `postgresql://…`. Creates an empty SQLite
    file; `migrate` makes the tables.

    `keys` encrypt confidential bytes. Without them a SQLite file gets a key file of its own, and on
    PostgreSQL nothing confidential can be read or written. `actor` is the name for the log. `secret` is the
    secret of a new warehouse, random by default (`secret.py`). Raises InvalidInput for other URLs.
    """
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise InvalidInput(
            "the warehouse URL cannot be read; use sqlite:///path or postgresql://user@host/database"
        ) from None
    # SQLAlchemy logs every fetched row at DEBUG; a separate logger, fixed above that level,
    # keeps values out of all logs.
    logging.getLogger(f"sqlalchemy.engine.Engine.{LOGGING_NAME}").setLevel(logging.WARNING)
    match parsed.get_backend_name():
        case "sqlite" if parsed.database not in (None, "", ":memory:"):
            engine = _open_sqlite(parsed)
            keys = keys or read_key_file(key_file(Path(str(parsed.database))))
        case "postgresql":
            engine = create_engine(
                parsed.set(drivername="postgresql+psycopg"),
                hide_parameters=True,
                logging_name=LOGGING_NAME,
                pool_pre_ping=True,
            )
            event.listen(engine, "connect", _set_up)
        case other:
            raise InvalidInput(
                f"a warehouse cannot be on {other!r}; use sqlite:///path or postgresql://user@host/database"
            )
    event.listen(engine, "handle_error", _keep_names_only)
    engine.update_execution_options(sdc_keys=keys, sdc_actor=normal(actor), sdc_secret=secret)
    return engine


def acting(engine: Engine, actor: str) -> Engine:
    """The same warehouse, opened under another name."""
    return engine.execution_options(sdc_actor=normal(actor))


def actor(engine: Engine) -> str:
    """The name under which the warehouse was opened."""
    return str(engine.get_execution_options()["sdc_actor"])


def keys_of(connection: Connection) -> Keyring:
    """The encryption keys of the warehouse. Raises InvalidInput where it was opened without keys."""
    keys: Keyring | None = connection.get_execution_options().get("sdc_keys")
    if keys is None:
        raise InvalidInput(f"confidential content is encrypted, and there is no key. {REMEDY}")
    return keys


def actor_of(connection: Connection) -> str:
    """The name under which the warehouse was opened, in the form in which names are compared."""
    return str(connection.get_execution_options()["sdc_actor"])


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """One transaction. Raises Retriable when the warehouse is away, or locked by others for too long."""
    with _retriable(engine), engine.begin() as connection:
        yield connection


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """One consistent view of the warehouse that cannot be written to. Raises Retriable as `writing` does."""
    with _retriable(engine), engine.connect() as connection:
        yield connection.execution_options(**READING[engine.dialect.name])


def serialise(connection: Connection, *names: str) -> None:
    """Lets only one transaction at a time continue under these names, until it ends.
    SQLite has a single writer anyway.

    It uses no advisory lock: every account of the database, also the public one, can hold such a lock for
    ever.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT operations.take_turn(:name)"), {"name": " ".join(map(repr, names))})


def relaxed(connection: Connection) -> None:
    """Lets this transaction return before PostgreSQL has written it to disk: for data that also exist
    elsewhere. A later transaction that is written to disk writes this one too.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET LOCAL synchronous_commit = off")


def into_the_file(engine: Engine) -> bool:
    """On SQLite, moves all that is in the write-ahead log into the database file, and empties the
    log. Returns whether that was possible: not while somebody reads what was there before. Raises
    Retriable where the disk is full.
    """
    if engine.dialect.name != "sqlite":
        return True
    deadline = time.monotonic() + BUSY_SECONDS
    connection = engine.raw_connection()  # outside any transaction
    try:
        connection.cursor().execute("PRAGMA query_only = 0")
        while not _emptied(
            engine, connection.cursor()
        ):  # SQLite waits for readers, but not for somebody else who does the same
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True
    finally:
        connection.close()


def _emptied(engine: Engine, cursor: Any) -> bool:
    with _retriable(engine):
        try:
            return not cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except sqlite3.OperationalError as error:  # not by way of SQLAlchemy, which would begin a transaction
            raise OperationalError("PRAGMA wal_checkpoint(TRUNCATE)", None, error) from error


def _open_sqlite(url: URL) -> Engine:
    path = Path(str(url.database))
    try:
        # Confidential: readable by the owner only. An existing file stays untouched: closing it would drop
        # the locks of our connections.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        pass
    except OSError as error:
        raise InvalidInput(f"warehouse {path}: cannot be opened ({error.strerror})") from error
    engine = create_engine(
        url,
        hide_parameters=True,
        logging_name=LOGGING_NAME,
        execution_options={"schema_translate_map": dict.fromkeys(SCHEMAS)},
        connect_args={"timeout": BUSY_SECONDS},
    )
    event.listen(engine, "connect", _set_pragmas)
    event.listen(engine, "begin", _begin)
    return engine


def _set_up(connection: psycopg.Connection[Any], _record: object) -> None:
    with connection.cursor() as cursor:
        for name, value in SESSION.items():
            cursor.execute(f"SET {name} = '{value}'".encode())
    connection.commit()


def _set_pragmas(connection: sqlite3.Connection, record: ConnectionPoolEntry) -> None:
    record.info["sdc_printed"] = register(connection)
    connection.isolation_level = None  # the driver opens no transaction by itself: `_begin` does
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(
        "PRAGMA recursive_triggers = ON"
    )  # INSERT OR REPLACE deletes rows, and must fire the triggers
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(
        "PRAGMA cache_size = -65536"
    )  # KB: a large publication stays in memory until it is written, once
    connection.execute("PRAGMA secure_delete = ON")  # what is purged is overwritten
    _use_write_ahead_log(connection)


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switches to the write-ahead log: readers then do not wait for writers. The switch does not
    wait for a lock, so it is repeated.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _begin(connection: Connection) -> None:
    """Begins a transaction. Writers queue before they read, so their reads are still true when
    they write; readers cannot write.
    """
    reads = connection.get_execution_options().get("sdc_reading", False)
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    # Past SQLAlchemy, which takes longer. Neither waits for a lock: no error of theirs is to be told its way.
    driver.execute(f"PRAGMA query_only = {int(reads)}")
    if reads:
        driver.execute("BEGIN")
    else:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


@contextmanager
def _retriable(engine: Engine) -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        where = engine.url.render_as_string(hide_password=True)
        if _full(error):
            raise Retriable(
                f"the disk of the warehouse {where} is full. Nothing was changed. Remedy: free space, try "
                f"again"
            ) from error
        if not _transient(error):
            raise
        raise Retriable(
            f"the warehouse {where} does not answer or is busy; try again ({error.orig})"
        ) from error
    except DatabaseError as error:
        if _damaged(error):
            raise Damaged(
                f"the warehouse {engine.url.render_as_string(hide_password=True)} is damaged. Remedy: "
                f"release nothing; find the damage "
                "with `sdc maintenance`; restore the newest backup, and deliver again everything that "
                "arrived after it"
            ) from error
        if getattr(error.orig, "sqlstate", None) != NOT_ALLOWED:
            raise
        raise InvalidInput(
            f"the account {engine.url.username} may not do this: {error.orig}. Remedy: see sql/roles.sql; "
            f"set SDC_PUBLISHER_URL for "
            "publishing; approve with an account of your own that has the role sdc_approver "
            "(SDC_WAREHOUSE_URL); run migrations as the "
            "owner of the tables"
        ) from error


def _transient(error: OperationalError) -> bool:
    """Whether the error will pass: no connection, locked, deadlocked or restarting. A
    missing table or a full disk will not.
    """
    if isinstance(error.orig, sqlite3.Error):
        return error.orig.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    sqlstate = getattr(error.orig, "sqlstate", None)
    return sqlstate is None or sqlstate[:2] in {"08", "40", "55", "57"}


def _damaged(error: DatabaseError) -> bool:
    """Whether a page is malformed, or the file is not a database; on PostgreSQL the SQLSTATE
    data_corrupted or index_corrupted.
    """
    if isinstance(error.orig, sqlite3.Error):
        code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
        return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    return getattr(error.orig, "sqlstate", None) in ("XX001", "XX002")


def _full(error: OperationalError) -> bool:
    """Whether the disk is full: SQLite could not write a page or its journal; PostgreSQL
    reports the SQLSTATE disk_full.
    """
    if isinstance(error.orig, sqlite3.Error):
        return error.orig.sqlite_errorcode in (
            sqlite3.SQLITE_FULL,
            sqlite3.SQLITE_IOERR_WRITE,
            sqlite3.SQLITE_IOERR_SHMSIZE,
        )
    return getattr(error.orig, "sqlstate", None) == "53100"


def names_only(error: psycopg.Error) -> psycopg.Error:
    """The error with only the part of its text that names the rule: PostgreSQL puts the failing row into
    DETAIL.
    """
    if error.sqlstate is not None:
        told = (
            error.diag.message_primary
            if error.sqlstate[:2] in NAMING_ONLY
            else f"refused with SQLSTATE {error.sqlstate}"
        )
        error.args = (told,)
    return error


def _keep_names_only(context: ExceptionContext) -> None:
    original = context.original_exception
    if getattr(original, "sqlstate", None) is None:  # PostgreSQL alone has one
        return
    message = names_only(cast("psycopg.Error", original)).args[0]
    if context.sqlalchemy_exception is not None:
        context.sqlalchemy_exception.args = (f"({type(original).__name__}) {message}",)
