"""The statements under `sql/`, by name. They are written for PostgreSQL, with schemas; for
SQLite the schemas are removed.

Where the two engines need different statements there are two files,
`name.postgresql.sql` and `name.sqlite.sql`.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path

from sqlalchemy import TextClause, text

from sdc_tasks.warehouse.database.schema import SCHEMAS


def _folder() -> Path:
    """The folder `sql/`: inside an installed package, beside the package in the repository."""
    packaged = Path(str(files("sdc_tasks"))) / "sql"
    return packaged if packaged.is_dir() else packaged.parents[1] / "sql"


SQL = _folder()


@cache
def statement(path: str, dialect: str) -> str:
    """The text of `sql/<path>.sql` for that engine."""
    own = SQL / f"{path}.{dialect}.sql"
    written = (own if own.exists() else SQL / f"{path}.sql").read_text(encoding="utf-8")
    return without_schemas(written) if dialect == "sqlite" else written


@cache
def clause(path: str, dialect: str) -> TextClause:
    """The same for SQLAlchemy, which reads a text anew for each object that holds it."""
    return text(statement(path, dialect))


def statements(path: str, dialect: str) -> list[str]:
    """The statements of a file with several, separated by blank lines (the body of a trigger has none)."""
    return [part for part in statement(path, dialect).split("\n\n") if part.strip()]


def without_schemas(written: str) -> str:
    """`operations.run` → `run`: table names are unique across the schemas."""
    return re.sub(rf"\b({'|'.join(SCHEMAS)})\.", "", written)
