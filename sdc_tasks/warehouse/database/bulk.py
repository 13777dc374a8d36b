"""Many rows at once: COPY on PostgreSQL, prepared statements in portions on SQLite. Rows come from an
iterator, so memory stays flat.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Table
from sqlalchemy.exc import DBAPIError

from sdc_tasks.warehouse.database.engine import names_only
from sdc_tasks.warehouse.forms.canonical import PORTION

if TYPE_CHECKING:
    import psycopg


def insert_many(
    connection: Connection, table: Table, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]
) -> None:
    """Inserts the rows, numbers and text in the order of `columns`, within the transaction of the
    connection.
    """
    if connection.dialect.name == "postgresql":
        _copy(connection, table, columns, rows)
        return
    statement = f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    remaining = iter(rows)
    while portion := list(islice(remaining, PORTION)):
        connection.exec_driver_sql(statement, portion)


def _copy(
    connection: Connection, table: Table, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]
) -> None:
    """Inserts by COPY. An error of the server names the rule, as for a statement, and not the row."""
    from psycopg import Error, sql

    driver: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
    target = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(str(table.schema), table.name), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    try:
        with driver.cursor() as cursor, cursor.copy(target) as copy:
            for row in rows:
                copy.write_row(row)
    except Error as error:
        raise DBAPIError.instance(None, None, names_only(error), Error, hide_parameters=True) from None
