"""Warehouses of the development versions, which made the schema in 23 steps, the revisions 0001 to 0023. The
last of them made what revision r0001 makes at once, so that such a warehouse changes nothing but its number.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, create_engine

from sdc_tasks.errors import InvalidInput, some_of
from sdc_tasks.warehouse.database.catalog import catalog
from sdc_tasks.warehouse.database.schema import SCHEMAS

LAST = "0023"
EARLIER = frozenset(f"{number:04}" for number in range(1, 23))


def is_of_development(
    connection: Connection, revision: str | None, make: Callable[[Connection], None]
) -> bool:
    """Whether the warehouse has the schema that `make` makes, under the number of the last development
    version.

    Raises InvalidInput for a warehouse of an earlier one, and for one whose schema is another than its number
    says: a gate that somebody has taken away must not be taken for one that is there.
    """
    if revision in EARLIER:
        raise InvalidInput(
            f"this warehouse is of revision {revision}, of an earlier development version. Remedy: open it "
            f"once with the last version 0.1.0 of the program, such as by sdc verify-log --warehouse URL, "
            f"which brings it to revision {LAST}; then with this one"
        )
    if revision != LAST:
        return False
    found, wanted = catalog(connection), _made(connection, make)
    if other := sorted(name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name)):
        raise InvalidInput(
            f"the schema of this warehouse is not that of revision {LAST}: {some_of(other)}. Remedy: take "
            f"away what was added, and restore what was changed as a new warehouse of version 0.1.0 has it"
        )
    return True


def _made(connection: Connection, make: Callable[[Connection], None]) -> dict[str, str]:
    """The catalog of a new schema: on SQLite in memory; on PostgreSQL, whose words depend on its version,
    beside the old one, in a savepoint that is rolled back.
    """
    if connection.dialect.name == "sqlite":
        with create_engine("sqlite://").begin() as memory:
            make(memory)
            return catalog(memory)
    savepoint = connection.begin_nested()
    for schema in SCHEMAS:
        connection.exec_driver_sql(f"ALTER SCHEMA {schema} RENAME TO {schema}_{LAST}")
    make(connection)
    made = catalog(connection)
    savepoint.rollback()
    return made
