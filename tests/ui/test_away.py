"""A database that does not answer: every address under /sdc says so, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from support.ui.office import DOMAIN

FILLED = {
    "domain": "sbs",
    "period": "2024",
    "country": "AT",
    "release_id": "r1",
    "other": "r2",
    "name": "table.csv",
    "dag_id": "d",
    "run_id": "r",
}
SECRET = "geheim"
NEVER = (
    SECRET,
    "127.0.0.1",
    "postgresql",
    "psycopg",
    "Traceback",
    "sqlalchemy",
    "SELECT",
    "warehouse_of_tests",
    'File "',
)


def addresses() -> list[str]:
    """One address of every route of the pages that asks the warehouse."""
    from sdc_ui.app import app

    paths = [
        each.path for each in app.routes if each.path.startswith("/") and not each.path.startswith("/assets")
    ]
    return sorted("/sdc" + re.sub(r"\{(\w+)\}", lambda found: FILLED[found[1]], path) for path in paths)


def says_so(answer: Any, path: str) -> None:
    assert answer.status_code == 503, path
    assert "does not answer" in answer.text, path
    assert answer.headers["retry-after"] == "60", path
    assert "default-src 'none'" in answer.headers["content-security-policy"], path
    assert not [each for each in NEVER if each in answer.text], path


def test_every_address_says_that_the_warehouse_does_not_answer(
    client: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("SDC_UI_URL", raising=False)
    monkeypatch.setenv(
        "SDC_WAREHOUSE_URL", f"postgresql://sdc:{SECRET}@127.0.0.1:1/warehouse_of_tests"
    )  # nobody listens there
    admin, known = client("admin"), addresses()
    assert len(known) >= 12
    for path in known:
        says_so(admin.get(path), path)
    assert SECRET not in caplog.text


def test_so_it_does_where_airflow_s_own_database_does_not_answer(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow.models.dag import DagModel

    viewer = client("viewer")

    def away(*_: Any, **__: Any) -> None:
        raise OperationalError("SELECT 1", {}, Exception(f"connection to 127.0.0.1 as {SECRET} failed"))

    monkeypatch.setattr(DagModel, "get_team_name", away)
    for path in addresses():
        says_so(viewer.get(path), path)


@pytest.fixture
def browser(server: Any, client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A browser of an operator: it sends a cookie, which Airflow looks up in its
    database before any page is asked. The warehouse is empty.
    """
    monkeypatch.setenv("SDC_WAREHOUSE_URL", f"sqlite:///{tmp_path / 'empty.db'}")
    from airflow.api_fastapi.auth.managers.base_auth_manager import COOKIE_NAME_JWT_TOKEN
    from fastapi.testclient import TestClient

    token = client("operator").headers["Authorization"].removeprefix("Bearer ")
    with TestClient(server, raise_server_exceptions=False, cookies={COOKIE_NAME_JWT_TOKEN: token}) as found:
        found.headers["Accept"] = "text/html,application/xhtml+xml,*/*;q=0.8"
        yield found


def test_a_browser_is_told_so_where_airflow_cannot_look_up_its_cookie(
    browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow.models.revoked_token import RevokedToken

    assert browser.get("/plugin/releases").status_code == 200

    def away(*_: Any, **__: Any) -> None:
        raise OperationalError("SELECT 1", {}, Exception(f"connection to 127.0.0.1 as {SECRET} failed"))

    monkeypatch.setattr(RevokedToken, "is_revoked", away)
    for path in (*addresses(), "/", "/plugin/releases", "/dags/eu_release_sbs/runs/r/plugin/release"):
        answer = browser.get(path)
        says_so(answer, path)
        for kind in ("style.css", "page.js"):
            assert f'"/sdc/assets/{kind}"' in answer.text, path
    assert "--" in browser.get("/sdc/assets/style.css").text, "the page has its colours"
    assert browser.get("/sdc/assets/page.js").headers["content-type"].startswith("text/javascript")
    assert browser.get("/sdc/assets/other.css").status_code == 503
    assert browser.get("/api/v2/dags", headers={"Accept": "application/json"}).status_code == 500, (
        "a program gets Airflow's own answer"
    )


def test_a_fault_of_a_page_is_a_page_too(
    browser: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def wrong(*_: Any, **__: Any) -> None:
        raise LookupError(SECRET)

    monkeypatch.setattr("sdc_ui.app.board", wrong)
    answer = browser.get("/sdc/")
    assert (answer.status_code, SECRET in answer.text) == (500, False)
    assert "A fault of the program" in answer.text
    assert "LookupError" in caplog.text
    assert SECRET not in caplog.text
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert 'href="/sdc/"' in answer.text, "a way back"


def test_an_error_that_no_database_made_is_airflow_s_own(
    browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow.models.revoked_token import RevokedToken

    def wrong(*_: Any, **__: Any) -> None:
        raise LookupError

    monkeypatch.setattr(RevokedToken, "is_revoked", wrong)
    assert browser.get("/sdc/").status_code == 500


@pytest.fixture
def heart(server: Any) -> Iterator[Any]:
    """Adds a heartbeat of a service, so many minutes ago."""
    from airflow.jobs.job import Job
    from airflow.utils.session import create_session
    from sqlalchemy import delete

    def beat(kind: str, minutes: int) -> None:
        with create_session() as session:
            job = Job(state="running", latest_heartbeat=datetime.now(UTC) - timedelta(minutes=minutes))
            job.job_type = kind
            session.add(job)

    yield beat
    with create_session() as session:
        session.execute(delete(Job))


def test_a_service_that_is_down_is_said_where_somebody_acts(page: Any, at_office: Any, heart: Any) -> None:
    paths = ("/", f"/cycle/{DOMAIN}/2023")
    for path in paths:
        assert "the scheduler has never answered" in page(path)
    for kind in ("SchedulerJob", "TriggererJob", "DagProcessorJob"):
        heart(kind, 0)
    for path in paths:
        assert "Airflow is held up" not in page(path)


def test_a_service_that_stopped_has_its_last_instant(page: Any, at_office: Any, heart: Any) -> None:
    heart("SchedulerJob", 0)
    heart("TriggererJob", 30)
    told = page("/")
    assert re.search(r"Airflow is held up:</strong> the triggerer has not answered since <time", told)
    assert "the scheduler" not in told


def test_tasks_that_wait_long_for_a_worker_are_counted(
    page: Any, at_office: Any, heart: Any, queued: Any
) -> None:
    """A worker that is busy for a moment is no news."""
    for kind in ("SchedulerJob", "TriggererJob", "DagProcessorJob"):
        heart(kind, 0)
    queued(2)
    assert "Airflow is held up" not in page("/")
    queued(7)
    queued(9)
    assert re.search(
        r"Airflow is held up:</strong> 2 tasks wait for a worker, the first since <time[^>]*>[^<]*</time>; "
        r"workers",
        page("/"),
    )


@pytest.fixture
def queued(server: Any) -> Iterator[Any]:
    """Puts a task into the queue, so many minutes ago."""
    from airflow.utils.session import create_session
    from sqlalchemy import text

    def put(minutes: int) -> None:
        with create_session() as session:
            session.execute(text("PRAGMA foreign_keys = OFF"))
            row = {
                "id": f"{minutes:032x}",
                "task_id": "ingest",
                "dag_id": "eu_release_sbs",
                "run_id": "r",
                "map_index": minutes,
            }
            row |= {
                "pool": "default_pool",
                "pool_slots": 1,
                "state": "queued",
                "try_number": 1,
                "max_tries": 0,
                "priority_weight": 1,
            }
            row |= {"queued_dttm": datetime.now(UTC).replace(tzinfo=None) - timedelta(minutes=minutes)}
            names = ", ".join(row)
            session.execute(
                text(f"INSERT INTO task_instance ({names}) VALUES (:{names.replace(', ', ', :')})"), row
            )

    yield put
    with create_session() as session:
        session.execute(text("DELETE FROM task_instance WHERE dag_id = 'eu_release_sbs' AND run_id = 'r'"))
