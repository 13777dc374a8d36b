"""Checks whether a service is alive, for the health checks of containers. Exit code 0 if it is.

    python docker/health.py metadatabase|scheduler|triggerer|dag_processor      as the api-server sees it
    python docker/health.py default@|solver@                                    the
    Celery worker of this host answers

Without Airflow, whose import alone takes seconds.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from urllib.parse import urljoin
from urllib.request import urlopen


def component(name: str) -> bool:
    """Whether a component of Airflow is healthy: the database has a recent heartbeat of it. The
    api-server also answers workers, which it prepares for when it is asked first: that takes
    seconds, and no task waits for it.
    """
    tasks = os.environ["AIRFLOW__CORE__EXECUTION_API_SERVER_URL"]
    if name == "metadatabase":
        with urlopen(f"{tasks.rstrip('/')}/health", timeout=8):
            pass
    with urlopen(urljoin(tasks, "/api/v2/monitor/health"), timeout=8) as answer:
        return bool(json.load(answer)[name]["status"] == "healthy")


def worker(name: str) -> bool:
    """Whether the Celery worker of that name answers."""
    from celery import Celery  # type: ignore[import-untyped]

    with Celery(broker=os.environ["AIRFLOW__CELERY__BROKER_URL"]) as app:
        return bool(app.control.ping(destination=[name], timeout=5))


def main(wanted: str) -> int:
    try:
        return int(not (worker(wanted + socket.gethostname()) if wanted.endswith("@") else component(wanted)))
    # any error means not healthy; no traceback, because it might show an address with its password
    except Exception as error:
        print(f"{wanted}: {type(error).__name__}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
