"""Deadlines: told when true, once, to everybody who is to be told; and never what is confidential."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from sdc_tasks.domains import load_domain
from sdc_tasks.warehouse import reader
from support.dags.airflow_home import AGREED, CYCLES, DAGS, PLAIN, SMALL
from support.dags.in_process import Flight, synced


@pytest.fixture
def webhook(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, str]]]:
    """What a web hook gets."""
    heard: list[dict[str, str]] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Hook)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("SDC_ALERT_WEBHOOK", f"http://127.0.0.1:{server.server_port}/")
    yield heard
    server.shutdown()
    thread.join()
    server.server_close()


def miss(run: Flight, kind: str, domain: str) -> None:
    """What Airflow does when the run passes the deadline: it calls, and perhaps calls again."""
    from sdc_alerts import overdue

    context = {"dag_run": {"dag_id": run.dag.dag_id, "dag_run_id": run.run_id}, "deadline": {}}
    for _ in range(2):
        asyncio.run(overdue(kind, domain, context))


def test_each_missing_country_is_told_once(bag: Any, deliver: Any, warehouse_of_run: Any, webhook: list[dict[str, str]]) -> None:
    deliver(PLAIN, "AT")
    run = Flight.start(bag, f"eu_release_{PLAIN}", period="2024")
    assert run.state == "failed"
    miss(run, "delivery", PLAIN)
    assert [(each["kind"], each["subject"]) for each in reader.alerts(warehouse_of_run, PLAIN, "2024")] == [("delivery", "BE")]
    said = f"{PLAIN} 2024: no accepted delivery from BE, and deliveries are due"
    assert webhook == [{"text": said, "domain": PLAIN, "period": "2024", "kind": "delivery", "subject": "BE"}]


def test_nobody_is_told_of_what_is_done_or_not_late(bag: Any, deliver: Any, warehouse_of_run: Any, webhook: list[dict[str, str]]) -> None:
    for country in ("AT", "BE"):
        deliver(PLAIN, country)
    run = Flight.start(bag, f"eu_release_{PLAIN}", period="2024")
    assert run.state == "success"
    for kind in ("delivery", "solver", "protection", "approval"):
        miss(run, kind, PLAIN)
    assert (webhook, reader.alerts(warehouse_of_run, PLAIN, "2024")) == ([], [])


def test_an_approval_that_is_pending_is_told(bag: Any, deliver: Any, warehouse_of_run: Any, webhook: list[dict[str, str]]) -> None:
    for country in ("AT", "BE"):
        deliver(AGREED, country)
    run = Flight.start(bag, f"eu_release_{AGREED}", period="2024")
    for kind in ("approval", "solver", "protection"):
        miss(run, kind, AGREED)
    assert [each["kind"] for each in webhook] == ["approval"]


def test_a_hook_that_is_away_hinders_nothing(
    bag: Any, deliver: Any, warehouse_of_run: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SDC_ALERT_WEBHOOK", "http://127.0.0.1:9/")
    monkeypatch.setenv("SDC_ALERT_EMAIL", "desk@example.org")
    monkeypatch.setenv("SDC_ALERT_SMTP", "127.0.0.1:9")
    deliver(PLAIN, "AT")
    miss(Flight.start(bag, f"eu_release_{PLAIN}", period="2024"), "delivery", PLAIN)
    assert len(reader.alerts(warehouse_of_run, PLAIN, "2024")) == 1


def test_the_instants_are_those_of_the_period_of_the_run(bag: Any) -> None:
    """Of a run by hand as of one by the calendar; a run of another period has none."""
    from airflow.models.dagrun import DagRun
    from airflow.utils.session import create_session
    from sdc_alerts import CycleDeadline, deadlines

    found = {each.name: each for each in deadlines(load_domain(SMALL / f"{CYCLES}.yaml"))}
    assert set(found) == {"delivery", "solver"}, "no protection date, and nobody has to agree"
    reference = CycleDeadline.deserialize_reference(found["delivery"].reference.serialize_reference())
    zone = ZoneInfo("Europe/Luxembourg")
    due = datetime(2024, 4, 1, 6, tzinfo=zone)
    cases = [
        ({"period": "2023"}, None, due),
        (None, datetime(2023, 1, 1, tzinfo=zone), due),
        ({"period": "2019"}, None, None),
        (None, None, None),
    ]
    with create_session() as session:
        for number, (conf, first, expected) in enumerate(cases):
            run = DagRun(
                dag_id="eu_release_of_nobody",
                run_id=f"deadline_{number}",
                run_type="manual",
                conf=conf,
                data_interval=None if first is None else (first, datetime(2024, 1, 1, tzinfo=zone)),
                run_after=datetime.now(UTC),
                logical_date=first,
            )
            session.add(run)
            session.flush()
            assert reference._evaluate_with(session=session, dag_id=run.dag_id, run_id=run.run_id) == expected
        session.rollback()


def test_airflow_makes_the_deadlines_of_a_run_from_its_database(inbox: Any, bag: Any) -> None:
    """As the scheduler does when a run is created: the class, and the instant of the period."""
    from airflow.dag_processing.dagbag import DagBag
    from airflow.models.dagrun import DagRun
    from airflow.models.deadline import Deadline
    from airflow.models.serialized_dag import SerializedDagModel
    from airflow.utils.session import create_session
    from airflow.utils.state import DagRunState
    from airflow.utils.types import DagRunTriggeredByType, DagRunType

    dag_id = f"eu_release_{CYCLES}"
    with create_session() as session:
        synced(DagBag(str(DAGS)), session)
        stored = SerializedDagModel.get(dag_id, session=session)
        assert stored is not None
        stored.dag.create_dagrun(
            run_id="with_deadlines",
            run_type=DagRunType.MANUAL,
            conf={"period": "2023"},
            triggered_by=DagRunTriggeredByType.REST_API,
            state=DagRunState.QUEUED,
            run_after=datetime.now(UTC),
            logical_date=None,
            session=session,
        )
        session.flush()
        run = session.query(DagRun).filter_by(dag_id=dag_id, run_id="with_deadlines").one()
        made = {each.callback.data["kwargs"]["kind"]: each for each in session.query(Deadline).filter_by(dagrun_id=run.id)}
        judged = timedelta(minutes=15)  # files that came in time are judged by then
        assert made["delivery"].deadline_time == datetime(2024, 4, 1, 6, tzinfo=ZoneInfo("Europe/Luxembourg")) + judged
        assert made["delivery"].callback.data["path"] == "sdc_alerts.overdue"
        assert set(made) == {"delivery", "solver"}
        session.delete(run)
        session.flush()
        synced(bag, session)
