"""Numbered migrations of `sql/migrations`, run by the program itself; no alembic.ini, no command line.

A migration runs in one transaction on both engines, one at a time, and gives up rather than block a release: on PostgreSQL it
waits a few seconds for a lock and a minute for a statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, inspect

from sdc_tasks.warehouse.database.engine import reading, writing
from sdc_tasks.warehouse.database.sqlfiles import SQL, statements

VERSION_TABLE = "sdc_warehouse_version"
LOCK_TIMEOUT = "10s"
STATEMENT_TIMEOUT = "60s"


def migrate(engine: Engine, revision: str = "head") -> None:
    """Brings the warehouse up to a revision, with the newest the rights of `sql/roles.sql`. Does nothing, quickly, when it is there."""
    if revision == "head" and current_revision(engine) == ScriptDirectory.from_config(_config()).get_current_head():
        return
    with _migrating(engine) as config:
        command.upgrade(config, revision)
        if revision == "head" and engine.dialect.name == "postgresql":
            for statement in statements("roles", "postgresql"):
                config.attributes["connection"].exec_driver_sql(statement.replace("%", "%%"))


def downgrade(engine: Engine, revision: str = "base") -> None:
    """Takes the warehouse down to a revision; what that revision does not know is dropped with its data."""
    with _migrating(engine) as config:
        command.downgrade(config, revision)


def current_revision(engine: Engine) -> str | None:
    """The revision of the warehouse, None for an empty database."""
    with reading(engine) as connection:
        return MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE}).get_current_revision()


@contextmanager
def _migrating(engine: Engine) -> Iterator[Config]:
    with writing(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
            connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{STATEMENT_TIMEOUT}'")
            _alone(connection)
        yield _config(connection)


def _alone(connection: Connection) -> None:
    """Lets one migration at a time go on: by the version table, which the world cannot lock; before there is one, by an advisory lock."""
    if inspect(connection).has_table(VERSION_TABLE):
        connection.exec_driver_sql(f"LOCK TABLE {VERSION_TABLE} IN SHARE ROW EXCLUSIVE MODE")
    else:
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtextextended('migrate', 0))")


def _config(connection: Connection | None = None) -> Config:
    """What `sql/migrations/env.py` needs: where the files are, and the connection whose transaction they join."""
    config = Config()
    config.set_main_option("script_location", str(SQL / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes.update(connection=connection, version_table=VERSION_TABLE)
    return config
