"""Deadlines: told when true, once, to everybody who is to be told; and never what is confidential."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from sdc_tasks.domains import load_domain
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.operations import cycles
from support.dags.airflow_home import AGREED, CYCLES, DAGS, PLAIN, SMALL
from support.dags.in_process import Flight, synced
from support.post import mail_server, web_hook


@pytest.fixture
def webhook(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, str]]]:
    """What a web hook gets."""
    with web_hook() as (address, heard):
        monkeypatch.setenv("SDC_ALERT_WEBHOOK", address)
        yield heard


@pytest.fixture
def mail(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EmailMessage]]:
    """The messages that a mail server gets."""
    with mail_server() as (address, heard):
        monkeypatch.setenv("SDC_ALERT_EMAIL", "desk@example.org")
        monkeypatch.setenv("SDC_ALERT_SMTP", address)
        yield heard


def miss(run: Flight, kind: str, domain: str, times: int = 2) -> None:
    """What Airflow does when the run passes the deadline: it calls, and perhaps calls again."""
    from sdc_alerts import overdue

    context = {"dag_run": {"dag_id": run.dag.dag_id, "dag_run_id": run.run_id}, "deadline": {}}
    for _ in range(times):
        asyncio.run(overdue(kind, domain, context))


def read_the_inbox(engine: Any, run: Flight) -> None:
    """As the listener records it."""
    cycles.note_task_run(engine, run.dag.dag_id, run.run_id, "discover", -1, cycles.TaskState("success"))


def test_each_missing_country_is_told_once(
    bag: Any,
    deliver: Any,
    warehouse_of_run: Any,
    webhook: list[dict[str, str]],
    mail: list[EmailMessage],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deliver(PLAIN, "AT")
    run = Flight.start(bag, f"eu_release_{PLAIN}", period="2024")
    assert run.state == "failed"
    monkeypatch.setattr("sdc_alerts.LOOK", 0)
    looks = iter(range(9))

    def judged(engine: Any, *_: Any) -> bool:
        assert (reader.alerts(engine, PLAIN, "2024"), webhook) == ([], []), (
            "nobody is late before the inbox was read"
        )
        return next(looks) > 2

    with monkeypatch.context() as patch:
        patch.setattr("sdc_alerts.inbox_judged", judged)
        miss(run, "delivery", PLAIN, times=1)
    read_the_inbox(warehouse_of_run, run)
    miss(run, "delivery", PLAIN)
    [alert] = reader.alerts(warehouse_of_run, PLAIN, "2024")
    assert (alert["kind"], alert["country"], alert["days"]) == ("delivery", "BE", 0)
    said = f"{PLAIN} 2024: no accepted delivery from BE, and deliveries are due"
    details = {
        "domain": PLAIN,
        "period": "2024",
        "kind": "delivery",
        "subject": "BE",
        "country": "BE",
        "days": "0",
    }
    assert webhook == [{"text": said} | details]
    [message] = mail
    assert message["Subject"].strip() == said
    assert message.get_content().splitlines()[0] == said
    assert all(f"{name}: {value}" in message.get_content() for name, value in details.items()), (
        "mail says the same"
    )

    deliver(PLAIN, "BE")
    assert Flight.start(bag, f"eu_release_{PLAIN}", period="2024").state == "success"
    assert reader.alerts(warehouse_of_run, PLAIN, "2024") == [], "the reason is gone, and so is the alert"


def test_countries_are_late_also_where_nobody_has_made_their_folder(
    bag: Any, warehouse_of_run: Any, webhook: list[dict[str, str]]
) -> None:
    run = Flight.start(bag, f"eu_release_{PLAIN}", period="2024")
    assert run.in_state("failed") >= {"discover"}
    read_the_inbox(warehouse_of_run, run)
    miss(run, "delivery", PLAIN)
    assert [each["country"] for each in webhook] == ["AT", "BE"]
    assert {each["country"] for each in reader.alerts(warehouse_of_run, PLAIN, "2024")} == {"AT", "BE"}


def test_the_inbox_is_read_when_a_task_has_read_it_since_and_its_files_are_judged(
    bag: Any, deliver: Any, warehouse_of_run: Any
) -> None:
    from sdc_alerts import inbox_judged

    deliver(PLAIN, "AT")
    run = Flight.start(bag, f"eu_release_{PLAIN}", period="2024")
    before = datetime.now(UTC) - timedelta(minutes=5)
    with warehouse_of_run.begin() as connection:
        connection.exec_driver_sql("DELETE FROM task_run")
    assert not inbox_judged(warehouse_of_run, PLAIN, "2024", before)
    read_the_inbox(warehouse_of_run, run)
    assert inbox_judged(warehouse_of_run, PLAIN, "2024", before)
    assert not inbox_judged(warehouse_of_run, PLAIN, "2024", before + timedelta(days=1))


@pytest.mark.parametrize("kind", ["delivery", "solver", "protection", "approval"])
def test_a_run_that_begins_after_the_instant_is_looked_at_again(
    bag: Any, warehouse_of_run: Any, kind: str
) -> None:
    from sdc_alerts import alert

    assert alert(kind, PLAIN, f"eu_release_{PLAIN}", "scheduled, not begun") is None
    assert alert(kind, PLAIN, f"eu_release_{PLAIN}", "scheduled, not begun", unread=True) == []


def test_nobody_is_told_of_what_is_done_or_not_late(
    bag: Any, deliver: Any, warehouse_of_run: Any, webhook: list[dict[str, str]]
) -> None:
    for country in ("AT", "BE"):
        deliver(PLAIN, country)
    run = Flight.start(bag, f"eu_release_{PLAIN}", period="2024")
    assert run.state == "success"
    read_the_inbox(warehouse_of_run, run)
    for kind in ("delivery", "solver", "protection", "approval"):
        miss(run, kind, PLAIN)
    assert (webhook, reader.alerts(warehouse_of_run, PLAIN, "2024")) == ([], [])


def test_an_approval_that_is_pending_is_told(
    bag: Any, deliver: Any, warehouse_of_run: Any, webhook: list[dict[str, str]]
) -> None:
    for country in ("AT", "BE"):
        deliver(AGREED, country)
    run = Flight.start(bag, f"eu_release_{AGREED}", period="2024")
    for kind in ("approval", "solver", "protection"):
        miss(run, kind, AGREED)
    assert [each["kind"] for each in webhook] == ["asked", "approval"]


def test_a_release_that_begins_to_wait_after_its_approval_was_due_is_told(
    bag: Any,
    deliver: Any,
    warehouse_of_run: Any,
    webhook: list[dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The deadline passed at the beginning of the run, when nothing waited yet. Airflow does not
    come back.
    """
    import sdc_alerts

    monkeypatch.setattr(sdc_alerts, "approval_due", lambda domain, period: datetime(2026, 1, 1, tzinfo=UTC))
    for country in ("AT", "BE"):
        deliver(AGREED, country)
    run = Flight.start(bag, f"eu_release_{AGREED}", period="2024")
    miss(run, "approval", AGREED)
    assert [(each["kind"], each["days"] > "0") for each in webhook] == [("asked", False), ("approval", True)]


def test_what_should_be_protected_is_told_once(
    warehouse_of_run: Any, webhook: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the run has opened its release, and after."""
    from sdc_alerts import alert

    for release in (None, "small-2024-0"):
        run = {"period": "2024", "run_id": "one", "release_id": release}
        monkeypatch.setattr(reader, "dag_run", lambda *_, run=run: run)
        alert("protection", PLAIN, "eu_release", "one")
    assert [(each["kind"], each["subject"]) for each in webhook] == [("protection", "2024")]


def test_whoever_is_asked_or_can_act_is_told_beyond_the_board(
    bag: Any, deliver: Any, warehouse_of_run: Any, webhook: list[dict[str, str]], mail: list[EmailMessage]
) -> None:
    """The same alerts stand on the board, each sent once, by web hook and by mail."""
    for country in ("AT", "BE"):
        deliver(AGREED, country)
    for _ in range(2):
        Flight.start(bag, f"national_delivery_{AGREED}", period="2024")
    run = Flight.start(bag, f"eu_release_{AGREED}", user="anna", period="2024")
    run.answer("approve_1", "anna")
    run.answer("approve_1", "bert").answer("approve_2", "cleo")
    [release] = reader.releases(warehouse_of_run)
    back = Flight.start(
        bag, "retract_release", user="anna", release=release.release_id, reason="a wrong delivery"
    )
    back.answer("agree", "anna", "Retract")
    assert [each["kind"] for each in webhook] == [
        "ready",
        "asked",
        "own",
        "asked",
        "retraction",
        "retraction",
    ]
    assert webhook[0]["subject"] == release.release_id
    for each in (1, 3):  # the tables of AT and BE do not protect their primaries
        assert "audit passed with exceptions" in webhook[each]["text"]
        assert "2 only as far as their national table allows (AT 1, BE 1)" in webhook[each]["text"]
    assert [message["Subject"].strip() for message in mail] == [each["text"] for each in webhook]


def test_a_hook_that_is_away_hinders_nothing(
    bag: Any,
    deliver: Any,
    warehouse_of_run: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("SDC_ALERT_WEBHOOK", "http://127.0.0.1:9/")
    monkeypatch.setenv("SDC_ALERT_EMAIL", "desk@example.org")
    monkeypatch.setenv("SDC_ALERT_SMTP", "127.0.0.1:9")
    deliver(PLAIN, "AT")
    run = Flight.start(bag, f"eu_release_{PLAIN}", period="2024")
    read_the_inbox(warehouse_of_run, run)
    miss(run, "delivery", PLAIN)
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
        made = {
            each.callback.data["kwargs"]["kind"]: each
            for each in session.query(Deadline).filter_by(dagrun_id=run.id)
        }
        judged = timedelta(minutes=15)  # files that came in time are judged by then
        assert (
            made["delivery"].deadline_time
            == datetime(2024, 4, 1, 6, tzinfo=ZoneInfo("Europe/Luxembourg")) + judged
        )
        assert made["delivery"].callback.data["path"] == "sdc_alerts.overdue"
        assert set(made) == {"delivery", "solver"}
        session.delete(run)
        session.flush()
        synced(bag, session)
