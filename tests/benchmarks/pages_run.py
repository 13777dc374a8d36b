"""Server time of every page at 100 releases × 27 countries, 720 cells each, certificates of 4 087
primaries; in process, with a real token.

PYTHONPATH=tests .venv/bin/python tests/benchmarks/pages_run.py [--warehouse URL of an
empty database] [--releases 100]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from pathlib import Path

from support.dags import airflow_home  # sets the environment, before anybody imports Airflow  # noqa: F401
from support.ui.many import fill

PRIMARIES = 4087
TIMES = 7


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--warehouse", help="default: SQLite in a temporary folder")
    parser.add_argument("--releases", type=int, default=100)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sdc_pages_") as folder:
        url = wanted.warehouse or f"sqlite:///{folder}/warehouse.db"
        os.environ["SDC_WAREHOUSE_URL"] = url
        pages = addresses(url, wanted.releases)
        client = signed_in(Path(folder))
        print(
            f"{wanted.releases} releases on {url.split(':')[0]}; of {TIMES} requests each, milliseconds: "
            f"median, worst, first"
        )
        for address in pages:
            told = [_milliseconds(client, address) for _ in range(TIMES)]
            print(f"{statistics.median(told):8.0f} {max(told[1:]):8.0f} {told[0]:8.0f}  {address}")


def addresses(url: str, number: int) -> list[str]:
    """Fills the warehouse, and names one page of each kind."""
    from sdc_tasks.domains import load_domain
    from sdc_tasks.warehouse.database.engine import open_warehouse
    from sdc_tasks.warehouse.database.migrations import migrate

    engine = open_warehouse(url)
    migrate(engine)
    releases = fill(engine, load_domain("sbs"), number, PRIMARIES)
    engine.dispose()
    return [
        "/sdc/",
        "/sdc/cycle/sbs/1900",
        "/sdc/cycle/sbs/1900/findings/AT",
        "/sdc/history/sbs",
        f"/sdc/release/{releases[0]}",
        f"/sdc/compare/{releases[0]}/{releases[0]}",
        "/sdc/run/eu_release_sbs/scheduled__1900",
    ]


def signed_in(home: Path):  # type: ignore[no-untyped-def]
    """A client of the api-server, in this process."""
    (home / "passwords.json").write_text(json.dumps({"viewer": "viewer"}), encoding="utf-8")
    os.environ["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS"] = "viewer:viewer"
    os.environ["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE"] = str(home / "passwords.json")
    from airflow.api_fastapi.app import create_app
    from airflow.utils.db import initdb
    from fastapi.testclient import TestClient

    initdb()
    client = TestClient(create_app(apps="core"))
    answer = client.post("/auth/token", json={"username": "viewer", "password": "viewer"})
    client.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"
    return client


def _milliseconds(client, address: str) -> float:  # type: ignore[no-untyped-def]
    began = time.perf_counter()
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    return 1000 * (time.perf_counter() - began)


if __name__ == "__main__":
    main()
