"""The running stack as tests see it; how to use it stands in conftest.py."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from support import ROOT
from support.post import mail_server, web_hook

sys.path.insert(0, str(ROOT / "docker"))

from stack import Stack, StackError, down, up

from sdc_tasks.cli.terminal import Terminal

PERIOD = "2024"
COUNTRIES = ("AT", "BE", "BG", "CY")
APPROVED = {"governance": {"approvals": 1}}
DUE = datetime.now(UTC) - timedelta(days=2)  # so late are the deliveries of the week
LATE = {
    "calendar": {
        "cycles": {PERIOD: {"opens": (DUE - timedelta(days=30)).isoformat(), "deliveries": DUE.isoformat()}}
    }
}
DOMAINS: dict[str, dict[str, Any]] = {  # id → what it sets otherwise than the demonstration
    "week": APPROVED | LATE,  # for the tests of the pages
    "open": {},
    "partial": {
        "missing_country": "partial",
        "checks": {"proportion": None},
    },  # a test plants figures of no country in it
    "faults": {},
    "groups": {"cta": {"ladder": []}},
}
SHAPE = (15, 3, 1)  # activities, size classes, indicators
SHAPES = {"groups": (9, 2, 5)}  # of domains that have another one
# Heartbeats are short, so that what was killed is missed soon.
QUICK = {
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "30",
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_SEC": "5",
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "5",
    "AIRFLOW__SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "10",
    "AIRFLOW__SCHEDULER__SCHEDULER_HEALTH_CHECK_THRESHOLD": "20",
    "SDC_RETRY_SECONDS": "2",
    "SDC_LOOK_SECONDS": "20",
}
DEMO = "ESTAT:SBS_EU(1.0)"  # the structure that seeded deliveries name
PATIENCE = 900.0  # seconds for whatever a test waits for, on a machine that others use too
ENDED = {"success", "failed"}


@dataclass(frozen=True)
class Running:
    """A stack that runs, and what its alerts have sent."""

    stack: Stack
    hooked: list[dict[str, str]]
    mailed: list[EmailMessage]

    @property
    def url(self) -> str:
        return self.stack.url

    @property
    def passwords(self) -> dict[str, str]:
        return dict(json.loads((self.stack.home / "users" / "passwords.json").read_text(encoding="utf-8")))

    @property
    def warehouse_url(self) -> str:
        return self.stack.address("release_worker")

    @property
    def public_url(self) -> str:
        return self.stack.address("release_public")

    @property
    def inbox(self) -> Path:
        return self.stack.home / "inbox"

    @property
    def out(self) -> Path:
        return self.stack.home / "out"

    def deliver(self, domain: str, period: str = PERIOD, countries: tuple[str, ...] = COUNTRIES) -> Path:
        """Puts the seeded deliveries into the inbox of a domain and period, and returns it."""
        folder = self.inbox / domain / period
        folder.mkdir(parents=True, exist_ok=True)
        for country in countries:
            delivery = seeded(self.stack.home, SHAPES.get(domain, SHAPE), period) / f"{country}_{period}.csv"
            (folder / delivery.name).write_bytes(
                delivery.read_bytes().replace(DEMO.encode(), structure(domain).encode())
            )
        return folder

    def client(self, user: str) -> httpx.Client:
        return self.stack.client(user)

    def trigger(self, domain: str, user: str = "operator", period: str = PERIOD) -> Run:
        """A release run, asked for by a user."""
        dag = f"/dags/eu_release_{domain}"
        with self.client(user) as api:
            wait_for(lambda: api.get(dag).status_code == 200, f"DAG eu_release_{domain}")
            api.patch(dag, json={"is_paused": False}).raise_for_status()
            asked = api.post(f"{dag}/dagRuns", json={"logical_date": None, "conf": {"period": period}})
            assert asked.status_code == 200, asked.text
        return Run(self, f"{dag}/dagRuns/{asked.json()['dag_run_id']}")


@dataclass(frozen=True)
class Run:
    """A DAG run by its path in the REST API."""

    running: Running
    path: str

    @property
    def id(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def dag_id(self) -> str:
        return self.path.split("/")[2]

    @property
    def state(self) -> str:
        return str(self._get(self.path)["state"])

    def tasks(self) -> dict[str, dict[str, Any]]:
        """Its task instances, mapped ones as `ingest CY_2024`."""
        found = self._get(f"{self.path}/taskInstances?limit=1000")["task_instances"]
        return {f"{each['task_id']} {each['rendered_map_index'] or ''}".rstrip(): each for each in found}

    def states(self) -> dict[str, str | None]:
        return {name: each["state"] for name, each in self.tasks().items()}

    def wait(self) -> str:
        """Its state when it has ended."""
        wait_for(lambda: self.state in ENDED, lambda: f"the end of {self.path}: {self.states()}")
        return self.state

    def wait_for(self, task: str, *states: str) -> dict[str, Any]:
        """A task of it, when it is in one of these states."""

        def there() -> bool:
            found = self.states()
            assert not ("failed" in found.values() and found.get(task) in (None, "upstream_failed")), found
            return found.get(task) in states

        wait_for(there, lambda: f"{task} {' or '.join(states)}: {self.states()}")
        return self.tasks()[task]

    def _get(self, path: str) -> dict[str, Any]:
        with self.running.client("viewer") as api:
            answer = api.get(path)
            answer.raise_for_status()
            return dict(answer.json())


def wait_for(ready: Any, what: Any, seconds: float = PATIENCE) -> None:
    """Until `ready()`; a server that is away just now is not ready. Fails with what was waited for."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            if ready():
                return
        except httpx.HTTPError:
            pass
        if time.monotonic() > deadline:
            pytest.fail(f"waited {seconds:.0f} s for {what() if callable(what) else what}")
        time.sleep(1)


def prepare_domains(home: Path, domains: Mapping[str, dict[str, Any]]) -> None:
    """Their files, beside the code lists of the demonstration of their shape."""
    for name, own in domains.items():
        demo = seeded(home, SHAPES.get(name, SHAPE), PERIOD).parent
        text = (demo / "domain.yaml").read_text(encoding="utf-8").replace("codelists/", f"{name}/")
        shutil.copytree(demo / "codelists", home / "domains" / name, dirs_exist_ok=True)
        settings = (
            yaml.safe_load(text)
            | {"id": name, "title": f"Demonstration: {name}", "structure_id": structure(name)}
            | own
        )
        (home / "domains" / f"{name}.yaml").write_text(
            yaml.safe_dump(settings, sort_keys=False), encoding="utf-8"
        )


def structure(domain: str) -> str:
    """One of its own, of an agency of its own: related figures are not published by two domains."""
    return f"{domain.upper()}:SBS(1.0)"


def seeded(home: Path, shape: tuple[int, int, int], period: str) -> Path:
    """A folder with a delivery per country, `AT_2024.csv` and so on, the same figures for
    every period; not to be written to.
    """
    from sdc_tasks.demo import write_demo

    activities, sizes, indicators = shape
    folder = home / "demo" / f"{activities}x{sizes}x{indicators}" / period
    if not folder.exists():
        write_demo(
            folder,
            countries=len(COUNTRIES),
            activities=activities,
            sizes=sizes,
            indicators=indicators,
            period=period,
        )
    return folder / "inbox"


def free_ports(number: int) -> list[int]:
    """Ports that nobody listens on."""
    sockets = [socket.socket() for _ in range(number)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@pytest.fixture(scope="session")
def stack(request: pytest.FixtureRequest) -> Iterator[Running]:
    """A whole stack, ended with the session; kept for reading when a test failed. With
    SDC_STACK_HOME, one that is found again.
    """
    given = os.environ.get("SDC_STACK_HOME")
    home = Path(given) if given else Path(tempfile.mkdtemp(prefix="sdc_stack_"))
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(0o711)  # PostgreSQL runs as another account and must reach its folder
    kept = (
        json.loads((home / "stack.json").read_text(encoding="utf-8"))
        if (home / "stack.json").exists()
        else None
    )
    ports = [kept[name] for name in ("port", "postgres", "redis")] if kept else free_ports(3)
    post = home / "post.json"
    if not post.exists():
        post.write_text(json.dumps(free_ports(2)), encoding="utf-8")
    hook, desk = json.loads(post.read_text(encoding="utf-8"))
    prepare_domains(home, DOMAINS)
    with web_hook(hook) as (address, hooked), mail_server(desk) as (smtp, mailed):
        told = {"SDC_ALERT_WEBHOOK": address, "SDC_ALERT_SMTP": smtp, "SDC_ALERT_EMAIL": "desk@example.org"}
        running = Running(Stack(home, *ports, settings=QUICK | told), hooked, mailed)
        try:
            up(running.stack, Terminal(file=sys.stderr))
            yield running
        except StackError as error:
            pytest.fail(str(error), pytrace=False)
        finally:
            if not given:
                down(running.stack)
                if request.session.testsfailed:
                    print(f"\nthe stack's logs are kept: {home / 'logs'}", file=sys.stderr)
                else:
                    shutil.rmtree(home)
