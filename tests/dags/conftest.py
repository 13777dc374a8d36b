"""Airflow for tests: one process, no server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from airflow_home import BLOCK, DAGS, DOMAINS, HOME, PARTIAL, REFUSED, SHAPE, Run


def pytest_sessionfinish() -> None:
    shutil.rmtree(HOME, ignore_errors=True)


@pytest.fixture(scope="session")
def inbox() -> Path:
    """Seeded deliveries of four countries, and domain files: one that blocks without a country, one that goes on, one not readable."""
    from sdc_tasks.demo import write_demo

    domain = write_demo(DOMAINS, **SHAPE)
    partial = yaml.safe_load(domain.read_text(encoding="utf-8")) | {"id": PARTIAL, "missing_country": "partial"}
    (DOMAINS / "small_partial.yaml").write_text(yaml.safe_dump(partial), encoding="utf-8")
    (DOMAINS / f"{REFUSED}.yaml").write_text("id: nonsense\ntypo: 1\n", encoding="utf-8")
    return DOMAINS / "inbox"


@pytest.fixture(scope="session")
def bag(inbox: Path) -> Any:
    """All DAGs as the DAG processor reads them, and Airflow's database to run them."""
    from airflow.dag_processing.dagbag import DagBag
    from airflow.utils.db import initdb

    initdb()
    bag = DagBag(str(DAGS))
    assert bag.dags, "no DAG found"
    return bag


@pytest.fixture
def warehouse_of_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The warehouse that the runs of a test work on, not made yet: an engine."""
    from sdc_tasks.warehouse.engine import open_warehouse

    url = f"sqlite:///{tmp_path / 'warehouse.db'}"
    monkeypatch.setenv("SDC_WAREHOUSE_URL", url)
    engine = open_warehouse(url)
    yield engine
    engine.dispose()


@pytest.fixture
def release(bag: Any, inbox: Path, warehouse_of_run: Any, tmp_path: Path) -> Any:
    """Runs the DAG of a domain over an inbox and waits for its end."""

    def run(domain: str = BLOCK, inbox: Path = inbox) -> Run:
        from airflow.models.xcom import XComModel
        from airflow.utils.session import create_session

        dag = bag.dags[f"eu_release_{domain}"]
        out = tmp_path / "out"
        ended = dag.test(run_conf={"period": "2024", "inbox": str(inbox), "out": str(out)})
        with create_session() as session:
            tasks = {
                f"{ti.task_id} {ti.rendered_map_index or ''}".rstrip(): str(ti.state) for ti in ended.get_task_instances(session=session)
            }
            sent = session.query(XComModel).filter_by(dag_id=dag.dag_id, run_id=ended.run_id)
            xcoms = [XComModel.deserialize_value(each) for each in sent]
        return Run(str(ended.state), tasks, xcoms, out)

    return run
