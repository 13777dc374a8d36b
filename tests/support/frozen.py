"""The frozen warehouses of revision 0023, the last of the development versions."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import create_engine, make_url

from sdc_tasks.warehouse.database.sqlfiles import statements

FROZEN = Path(__file__).parent / "warehouse_0023"


def thaw(url: str) -> None:
    """Fills an empty database with the frozen warehouse of its engine."""
    place = make_url(url)
    script = (FROZEN / f"{place.get_backend_name()}.sql").read_text(encoding="utf-8")
    if place.get_backend_name() == "sqlite":
        with closing(sqlite3.connect(str(place.database))) as connection:
            connection.executescript(script)
        return
    engine = create_engine(place.set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        roles = statements("roles", "postgresql")[0]  # which the server may not have yet
        for each in (roles, script):
            connection.exec_driver_sql(each.replace("%", "%%"))
    engine.dispose()
