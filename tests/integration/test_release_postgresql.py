"""A whole release on PostgreSQL: the same bytes as on SQLite, a sound warehouse, and no password on the
screen.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import make_url
from typer.testing import CliRunner

from sdc_tasks.cli.app import app
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.database.checks import known_checks, run_checks
from sdc_tasks.warehouse.database.engine import open_warehouse
from support.demo import quick_demo

DOMAIN, PERIOD = "sbs_3x6x2", "2024"


@pytest.mark.parametrize("warehouse_url", ["postgresql"], indirect=True)
@pytest.mark.usefixtures("one_secret")
def test_a_release_on_postgresql_is_that_on_sqlite(warehouse_url: str, tmp_path: Path) -> None:
    domain = quick_demo(tmp_path, 3, 6, 2)
    where = ["--domain", str(domain), "--period", PERIOD, "--inbox", str(tmp_path / "inbox")]

    def release(out: str, *more: str) -> str:
        ended = CliRunner().invoke(
            app, ["release", *where, "--out", str(tmp_path / out), *more], catch_exceptions=False
        )
        assert ended.exit_code == 0, ended.output
        return ended.output

    url = make_url(warehouse_url)
    if not url.password:  # the server of the tests asks for none, and takes any
        url = url.set(password="not-for-the-screen")
    complete = url.render_as_string(hide_password=False)
    said = release("postgresql", "--warehouse", complete)
    assert "version 1 published" in said
    assert f":{url.password}@" not in said
    assert str(url.database) in said, "the place is named"

    assert "version 1 is already published" in release("again", "--warehouse", complete)
    release("sqlite")
    for name in ("table.csv", "audit.json"):
        made = {(tmp_path / out / name).read_bytes() for out in ("postgresql", "again", "sqlite")}
        assert len(made) == 1, name

    on_server, on_file = (
        open_warehouse(complete),
        open_warehouse(f"sqlite:///{tmp_path / 'sqlite' / 'warehouse.db'}"),
    )
    assert len(known_checks("sqlite")) > 5
    for engine in (on_server, on_file):
        assert {name: rows for name, rows in run_checks(engine).items() if rows} == {}
        assert [each.version for each in reader.releases(engine)] == [1]
    assert reader.released_cells(on_server, DOMAIN, PERIOD) == reader.released_cells(on_file, DOMAIN, PERIOD)
    on_server.dispose()
    on_file.dispose()
