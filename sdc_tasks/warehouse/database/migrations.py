"""The numbered migrations of `sql/migrations`. The program runs them itself, without alembic.ini and
without Alembic's command line.

A migration runs in one transaction on both engines, one at a time. It fails rather than block a release: on
PostgreSQL it waits a few seconds for a lock and a minute for a statement.

Alembic takes a fifth of a second to load, so it is loaded only where there is something to migrate.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect

from sdc_tasks.errors import Retriable
from sdc_tasks.warehouse.database.development import is_of_development
from sdc_tasks.warehouse.database.engine import into_the_file, reading, writing
from sdc_tasks.warehouse.database.schema import metadata
from sdc_tasks.warehouse.database.sqlfiles import SQL, statements

if TYPE_CHECKING:
    from alembic.config import Config

VERSION_TABLE = "sdc_warehouse_version"
FIRST = "r0001"  # after the revisions of the development versions
NEWEST = "r0002"  # to which this program brings a warehouse
LOCK_TIMEOUT = "10s"
STATEMENT_TIMEOUT = "60s"


def migrate(engine: Engine, revision: str = "head") -> None:
    """Upgrades the warehouse to a revision; with the newest, also sets the rights of `sql/roles.sql`, and
    makes the secret. Does nothing if it is up to date.

    The secret is there as soon as the tables are, in the same transaction, so that a backup of a warehouse
    that nobody has used yet holds it, and on SQLite so does a copy of the file without its write-ahead
    log. Raises InvalidInput where there is no secret and no key to encrypt one by, and for a warehouse of
    a development version (`development.py`) other than the last; Retriable where somebody reads the file
    meanwhile.
    """
    if revision == "head" and current_revision(engine) == NEWEST:
        return
    _upgrade(engine, revision)
    if revision == "head" and not into_the_file(engine):
        raise Retriable(
            "somebody reads the warehouse, so its secret is in its write-ahead log alone. Remedy: run it "
            "again"
        )


def _upgrade(engine: Engine, revision: str) -> None:
    from alembic import command

    with _migrating(engine) as config:
        connection = config.attributes["connection"]
        if is_of_development(connection, _revision(connection), _make_first):
            connection.exec_driver_sql(f"UPDATE {VERSION_TABLE} SET version_num = '{FIRST}'")
        config.attributes["newest"] = revision == "head"
        command.upgrade(config, revision)
        if revision == "head" and engine.dialect.name == "postgresql":
            for statement in statements("roles", "postgresql"):
                connection.exec_driver_sql(statement.replace("%", "%%"))


def downgrade(engine: Engine, revision: str = "base") -> None:
    """Downgrades the warehouse to a revision. Tables and columns that the revision does not
    have are dropped with their data.
    """
    from alembic import command

    with _migrating(engine) as config:
        command.downgrade(config, revision)


def current_revision(engine: Engine) -> str | None:
    """The revision of the warehouse, None for an empty database."""
    with reading(engine) as connection:
        return _revision(connection)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found: str | None = connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").scalar()
    return found


def _make_first(connection: Connection) -> None:
    """Makes the schema of the first revision, and no note of it."""
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    first = ScriptDirectory.from_config(_config()).get_revision(FIRST)
    with Operations.context(MigrationContext.configure(connection, opts={"target_metadata": metadata})):
        first.module.upgrade()


@contextmanager
def _migrating(engine: Engine) -> Iterator[Config]:
    with writing(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
            connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{STATEMENT_TIMEOUT}'")
            _alone(connection)
        yield _config(connection)


def _alone(connection: Connection) -> None:
    """Lets only one migration at a time run: by a lock on the version table, which the public account cannot
    take; before there is such a table, by an advisory lock.
    """
    if inspect(connection).has_table(VERSION_TABLE):
        connection.exec_driver_sql(f"LOCK TABLE {VERSION_TABLE} IN SHARE ROW EXCLUSIVE MODE")
    else:
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtextextended('migrate', 0))")


def _config(connection: Connection | None = None) -> Config:
    """The configuration for `sql/migrations/env.py`: the folder of the files, and the connection whose
    transaction they join. It makes the secret where `newest` is set.
    """
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(SQL / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes.update(connection=connection, version_table=VERSION_TABLE)
    return config
