"""A damaged database is told in one line, by whoever reads it; `sdc maintenance` looks for it. What a
release writes is for its owner.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from sdc_tasks import steps
from sdc_tasks.cli.app import app
from sdc_tasks.errors import Damaged, SdcError
from sdc_tasks.report.files import write_whole
from sdc_tasks.warehouse.confidential.maintenance import damage
from support.deliveries import HEALTHY, PERIOD, sdmx_1, small_domain

PAGE = 4096


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """The database file of a warehouse with two deliveries, all of it in the file itself."""
    small_domain(tmp_path)
    (tmp_path / "inbox").mkdir()
    for country in ("AT", "BE"):
        (tmp_path / "inbox" / f"{country}.csv").write_text(sdmx_1(HEALTHY, country))
    file = tmp_path / "warehouse.db"
    desk = steps.open_desk(f"sqlite:///{file}", tmp_path / "small.yaml", PERIOD)
    for each in steps.discover(desk, tmp_path / "inbox"):
        steps.ingest(desk, tmp_path / "inbox", each.file)
    desk.engine.dispose()  # the last connection brings all into the file
    assert not file.with_name("warehouse.db-wal").exists()
    return file


def readings(file: Path) -> list[list[str]]:
    where = ["--warehouse", f"sqlite:///{file}"]
    return [
        ["maintenance", *where],
        ["verify-log", *where],
        ["explain", "small-2024-000000000000", "EU.TURNOVER.TOTAL._T", *where],
    ]


def test_a_whole_database_has_no_damage(warehouse: Engine) -> None:
    assert damage(warehouse) == []


def test_each_page_that_is_damaged_is_told_without_a_traceback(filled: Path) -> None:
    whole = filled.read_bytes()
    pages = len(whole) // PAGE
    assert pages > 20
    told = 0
    for page in range(0, pages, 7):
        filled.write_bytes(whole[: page * PAGE] + b"\x5a" * PAGE + whole[(page + 1) * PAGE :])
        for command in readings(filled):
            done = CliRunner().invoke(app, command)
            assert done.exception is None or isinstance(done.exception, (SdcError, SystemExit)), (
                page,
                command[0],
                done.exception,
            )
            if command[0] == "maintenance":
                found = isinstance(done.exception, Damaged) or "damaged" in done.output
                assert done.exit_code != 0 or not found
                told += found
    assert told >= pages // 7 - 2, "but for free pages"


def test_a_file_that_is_no_database_is_told(filled: Path) -> None:
    filled.write_bytes(b"something else " * 1000)
    for command in readings(filled):
        assert isinstance(CliRunner().invoke(app, command).exception, Damaged)


def test_postgresql_is_asked_where_it_can_tell(postgres_url: str, request: pytest.FixtureRequest) -> None:
    pytest.importorskip("psycopg")
    from sqlalchemy import create_engine, make_url

    url = make_url(postgres_url).set(drivername="postgresql+psycopg")
    server = create_engine(url, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        known = connection.exec_driver_sql(
            "SELECT count(*) FROM pg_available_extensions WHERE name = 'amcheck'"
        ).scalar_one()
        if not known:
            pytest.skip("this server has no amcheck")
        connection.exec_driver_sql("DROP DATABASE IF EXISTS sdc_amcheck")
        connection.exec_driver_sql("CREATE DATABASE sdc_amcheck")
    engine = steps.open_office(url.set(database="sdc_amcheck").render_as_string(hide_password=False))
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE EXTENSION amcheck")
    assert damage(engine) == []
    engine.dispose()
    with server.connect() as connection:
        connection.exec_driver_sql("DROP DATABASE sdc_amcheck WITH (FORCE)")
    server.dispose()


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_what_is_written_is_for_owner_and_group(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        (tmp_path / "report.html").write_text("older")
        (tmp_path / "report.html").chmod(0o666)
        write_whole(tmp_path / "report.html", "text")
        write_whole(tmp_path / "out" / "2024" / "table.csv", "text")
    finally:
        os.umask(before)
    for file in (tmp_path / "report.html", tmp_path / "out" / "2024" / "table.csv"):
        assert stat.S_IMODE(file.stat().st_mode) & ~0o640 == 0
        assert file.read_text() == "text"
    assert stat.S_IMODE((tmp_path / "out" / "2024").stat().st_mode) & 0o007 == 0
