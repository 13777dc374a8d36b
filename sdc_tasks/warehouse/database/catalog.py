"""The schema of a warehouse as the database itself tells it, in a form in which two can be compared: the line
breaks of a definition do not count, and neither does what an earlier `ALTER TABLE` left of itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sqlalchemy import Connection

from sdc_tasks.warehouse.database.sqlfiles import statement

SQLITE = """
    SELECT type, name, sql FROM sqlite_master
    WHERE sql IS NOT NULL AND substr(name, 1, 7) <> 'sqlite_' AND name <> 'sdc_warehouse_version'
"""  # without tables of SQLite itself, such as its statistics, and of Alembic
OPENING, CLOSING = "([", ")]"


def catalog(connection: Connection) -> dict[str, str]:
    """kind and name → definition, of tables, columns, constraints, indexes, triggers, views and functions.

    Comments and rights are left out: neither keeps a row out of a table.
    """
    if connection.dialect.name == "sqlite":
        return _each_once((name, _plain(told)) for name, told in _of_sqlite(connection))
    rows = connection.exec_driver_sql(statement("queries/catalog", "postgresql"))
    # The bounds of instants were added to filled tables and ask new rows only, as those of an empty one do.
    return {
        name: _plain(told).removesuffix(" NOT VALID" if name.endswith("_bounds") else "")
        for name, told in rows
    }


def _each_once(rows: Iterable[tuple[str, str]]) -> dict[str, str]:
    """A second definition under one name stands under another: it must not replace the first."""
    found: dict[str, str] = {}
    for name, told in rows:
        found[f"{name} again" if name in found else name] = told
    return found


def _of_sqlite(connection: Connection) -> Iterator[tuple[str, str]]:
    for kind, name, sql in connection.exec_driver_sql(SQLITE):
        if kind == "table":
            yield from _of_table(name, sql)
        else:
            yield f"{kind} {name}", sql


def _of_table(table: str, sql: str) -> Iterator[tuple[str, str]]:
    """Columns with their places, and constraints, wherever in the statement they stand. SQLite ignores the
    precision of a type.
    """
    place = 0
    if "--" in sql or "/*" in sql:  # what stands in a comment looks like a constraint, and is none
        yield f"comment of {table}", sql
    for part in _parts(sql[sql.index("(") + 1 : sql.rindex(")")]):
        column, *constraints = re.split(r"\s*\bCONSTRAINT\s+", part)
        if column:
            place += 1
            yield f"column {table}.{column.split()[0]}", f"{place} {column.replace('FLOAT(53)', 'FLOAT')}"
        for constraint in constraints:
            yield f"constraint {table}.{constraint.split()[0]}", constraint


def _parts(body: str) -> Iterator[str]:
    """The text between the commas that stand in no bracket."""
    depth, start = 0, 0
    for place, letter in enumerate(body):
        depth += (letter in OPENING) - (letter in CLOSING)
        if letter == "," and depth == 0:
            yield body[start:place].strip()
            start = place + 1
    yield body[start:].strip()


def _plain(told: str) -> str:
    """Without line breaks, indents, and blanks inside of brackets."""
    return re.sub(r"(?<=\() | (?=\))", "", " ".join(told.split()))
