"""Airflow for tests: one process, no server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.dags.airflow_home import (
    AGREED,
    BLOCK,
    CYCLES,
    DAGS,
    DOMAINS,
    HOME,
    PARTIAL,
    PERIODS,
    PLAIN,
    RECEIVER,
    REFUSED,
    SHAPE,
    SMALL,
    Run,
)
from support.dags.in_process import Flight
from support.deliveries import DOMAIN, HEALTHY, sdmx_1, small_domain


def pytest_sessionfinish() -> None:
    shutil.rmtree(HOME, ignore_errors=True)


@pytest.fixture(scope="session")
def inbox() -> Path:
    """Seeded deliveries of four countries, and domain files: one that blocks without a country, one
    that goes on, one not readable.
    """
    from support.demo import quick_demo

    domain = quick_demo(DOMAINS, **SHAPE)
    partial = yaml.safe_load(domain.read_text(encoding="utf-8")) | {
        "id": PARTIAL,
        "missing_country": "partial",
    }
    (DOMAINS / "small_partial.yaml").write_text(yaml.safe_dump(partial), encoding="utf-8")
    (DOMAINS / f"{REFUSED}.yaml").write_text("id: nonsense\ntypo: 1\n", encoding="utf-8")
    small_domains()
    return DOMAINS / "inbox"


def small_domains() -> None:
    """Domains of two countries; the cycles of the last three years are over."""
    SMALL.mkdir(exist_ok=True)
    small_domain(SMALL)
    cycles = {
        period: {
            "opens": f"{int(period) + 1}-03-01T06:00",
            "deliveries": f"{int(period) + 1}-04-01T06:00",
            "embargo": "2099-01-01T11:00",
        }
        for period in PERIODS
    }
    for name, settings in {
        PLAIN: {},
        RECEIVER: {"suppression": {"receiver": "when_missing"}},
        AGREED: {"governance": {"approvals": 2}},
        CYCLES: {
            "calendar": {"time_zone": "Europe/Luxembourg", "priority": 7, "cycles": cycles},
            "audit": {"profiles": ["external", "vintage"]},
        },
    }.items():
        written = yaml.safe_load(DOMAIN) | {"id": name} | settings
        (SMALL / f"{name}.yaml").write_text(yaml.safe_dump(written, sort_keys=False), encoding="utf-8")
    (SMALL / "small.yaml").unlink()


@pytest.fixture
def deliver(inbox: Path) -> Iterator[Any]:
    """Puts a country's file into the inbox of a small domain; all is taken away again afterwards."""

    def put(domain: str, country: str, drawing: str = HEALTHY, period: str = "2024") -> Path:
        folder = HOME / "inbox" / domain / period
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{country}_{period}.csv"
        file.write_text(sdmx_1(drawing, country).replace(",2024,", f",{period},"), encoding="utf-8")
        return file

    yield put
    shutil.rmtree(HOME / "inbox", ignore_errors=True)


@pytest.fixture(scope="session")
def bag(inbox: Path) -> Any:
    """All DAGs as the DAG processor reads them, and Airflow's database to run them."""
    from airflow.dag_processing.dagbag import DagBag
    from airflow.utils.db import initdb

    initdb()
    bag = DagBag(str(DAGS))
    assert bag.dags, "no DAG found"
    for dag in bag.dags.values():
        dag.deadline = None
    return bag


@pytest.fixture
def warehouse_of_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The warehouse that the runs of a test work on, not made yet: an engine."""
    from sdc_tasks.warehouse.database.engine import open_warehouse

    url = f"sqlite:///{tmp_path / 'warehouse.db'}"
    monkeypatch.setenv("SDC_WAREHOUSE_URL", url)
    engine = open_warehouse(url)
    yield engine
    engine.dispose()


@pytest.fixture
def release(
    bag: Any, inbox: Path, warehouse_of_run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Any:
    """Runs the DAG of a domain over an inbox and waits for its end."""
    import sdc_places

    monkeypatch.setattr(sdc_places, "OUT", str(tmp_path / "out"))

    def run(domain: str = BLOCK, inbox: Path = inbox) -> Run:
        from airflow.models.xcom import XComModel
        from airflow.utils.session import create_session

        monkeypatch.setattr(sdc_places, "INBOX", str(inbox))
        out = tmp_path / "out"
        ended = Flight.start(bag, f"eu_release_{domain}", period="2024", inbox=str(inbox), out=str(out))
        with create_session() as session:
            sent = session.query(XComModel).filter_by(dag_id=ended.dag.dag_id, run_id=ended.run_id)
            xcoms = [XComModel.deserialize_value(each) for each in sent]
        return Run(ended.state, ended.tasks, xcoms, out)

    return run
