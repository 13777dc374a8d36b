"""Checks of the warehouse itself: each file of `sql/checks` returns the rows that should not exist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Engine

from sdc_tasks.warehouse.database.engine import reading
from sdc_tasks.warehouse.database.sqlfiles import SQL, clause


def known_checks(dialect: str) -> list[str]:
    """The names of the checks of an engine. A new file in `sql/checks` is a new check."""
    files = (path.name.split(".") for path in (SQL / "checks").glob("*.sql"))
    return sorted({name for name, *kind in files if kind[0] in ("sql", dialect)})


def run_checks(engine: Engine, names: Sequence[str] | None = None) -> dict[str, list[dict[str, Any]]]:
    """check → failing rows: keys, digests and counts, never a value. Runs all checks, or those in `names`."""
    with reading(engine) as connection:
        return {
            name: rows_of_check(connection, name)
            for name in (known_checks(engine.dialect.name) if names is None else names)
        }


def failures(engine: Engine, names: Sequence[str] | None = None) -> list[str]:
    """One line for each check that fails."""
    return [
        f"check {name}: {len(rows)} rows, first {rows[0]}"
        for name, rows in run_checks(engine, names).items()
        if rows
    ]


def rows_of_check(connection: Connection, name: str) -> list[dict[str, Any]]:
    query = clause(f"checks/{name}", connection.dialect.name)
    return [dict(row) for row in connection.execute(query).mappings()]
