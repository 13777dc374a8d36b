"""Cycles, runs of DAGs and alerts, as pages read them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.exc import IntegrityError

from sdc_tasks.errors import InvalidInput
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential.store import receive, refuse
from sdc_tasks.warehouse.database.engine import acting
from sdc_tasks.warehouse.database.schema import RunState
from sdc_tasks.warehouse.dissemination.publisher import changes
from sdc_tasks.warehouse.operations.cycles import (
    LONGEST,
    TaskState,
    note_dag_run,
    note_task_run,
    open_cycle,
    raise_alert,
    raised,
)
from sdc_tasks.warehouse.operations.decisions import retract
from sdc_tasks.warehouse.operations.journal import finish_run
from support.accepting import accept
from support.world import FIRST, SECOND, SPACE, TERMS, prepared, publish_it, published, raw

DUE = datetime(2026, 3, 31, 16, tzinfo=UTC)
RUN = ("eu_release_sbs", "manual_1")


def test_a_cycle_keeps_the_day_it_was_opened_and_follows_the_calendar(warehouse):
    open_cycle(warehouse, TERMS, "2024", ["AT", "BE"], {"delivery_due": DUE})
    [first] = reader.cycles(warehouse, "sbs")
    assert (first["areas"], first["delivery_due"], first["embargo"], first["terms_digest"]) == (
        ["AT", "BE"],
        DUE,
        None,
        TERMS.digest,
    )
    later = DUE + timedelta(days=1)
    open_cycle(warehouse, TERMS, "2024", ["AT", "BE", "CY"], {"delivery_due": later})
    [moved] = reader.cycles(warehouse, "sbs")
    assert (moved["areas"], moved["delivery_due"], moved["opened_at"]) == (
        ["AT", "BE", "CY"],
        later,
        first["opened_at"],
    )
    open_cycle(warehouse, TERMS, "2025", ["AT"], {"opened_at": DUE})
    assert [each["period"] for each in reader.cycles(warehouse)] == ["2025", "2024"]
    assert reader.cycles(warehouse)[0]["opened_at"] == DUE
    assert reader.cycles(warehouse, "other") == []


def test_a_cycle_under_terms_that_were_tampered_with_is_refused(warehouse):
    open_cycle(warehouse, TERMS, "2024", [], {})
    with pytest.raises(InvalidInput, match="other terms"):
        open_cycle(warehouse, replace(TERMS, approvals=TERMS.approvals + 1), "2024", [], {})


def test_settings_are_those_of_the_newest_terms_or_of_the_digest(warehouse):
    assert reader.settings_of(warehouse, "sbs") == {}
    for digest, title in (("a" * 64, "old"), ("b" * 64, "new")):
        open_cycle(
            warehouse, replace(TERMS, digest=digest, settings=f'{{"title": "{title}"}}'), "2024", [], {}
        )
    assert reader.settings_of(warehouse, "sbs") == {"title": "new"}
    assert reader.settings_of(warehouse, "sbs", "a" * 64) == {"title": "old"}
    prepared(warehouse, "r1", terms=replace(TERMS, digest="a" * 64, settings='{"title": "old"}'))
    assert reader.settings_of(warehouse, "sbs") == {"title": "old"}, "the domain file is as it was before"


def test_a_run_is_told_bit_by_bit(warehouse):
    prepared(warehouse, "r1")
    assert reader.dag_run(warehouse, *RUN) is None
    note_dag_run(warehouse, *RUN, domain="sbs", period="2024", triggered_by="anna", started_at=DUE)
    note_dag_run(warehouse, *RUN, release_id="r1")
    note_dag_run(warehouse, *RUN, state="success", finished_at=DUE + timedelta(minutes=1))
    known = reader.dag_run(warehouse, *RUN)
    assert known.items() <= reader.dag_runs(warehouse, "sbs", "2024")[0].items(), (
        "and which task failed first"
    )
    assert known is not None
    assert (known["triggered_by"], known["release_id"], known["state"]) == ("anna", "r1", "success")
    with pytest.raises(IntegrityError):
        note_dag_run(warehouse, *RUN, release_id="no such release")


def test_tasks_stand_in_the_order_they_ended(warehouse):
    note_task_run(warehouse, *RUN, "bases", -1, TaskState("running"))
    note_task_run(
        warehouse,
        *RUN,
        "ingest",
        1,
        TaskState("failed", label="CY_2024", tries=1, seconds=0.5, said="x" * 2 * LONGEST),
    )
    note_task_run(warehouse, *RUN, "ingest", 0, TaskState("success", label="AT_2024"))
    note_task_run(warehouse, *RUN, "ingest", 1, TaskState("success", label="CY_2024", tries=2))
    found = reader.task_runs(warehouse, *RUN)
    assert [(each["task_id"], each["map_index"], each["state"]) for each in found] == [
        ("ingest", 0, "success"),
        ("ingest", 1, "success"),
        ("bases", -1, "running"),
    ]
    assert found[-1]["finished_at"] is None
    assert all(len(each["said"]) <= LONGEST for each in found)


def test_a_run_stopped_where_it_did_not_go_on(warehouse):
    """A release goes on without a refused file where one of the country counts already."""
    note_dag_run(warehouse, *RUN, domain="sbs", period="2024")
    note_task_run(warehouse, *RUN, "ingest", 1, TaskState("failed", said="CY refused"))
    [stopped] = reader.dag_runs(warehouse, "sbs", "2024")
    assert (stopped["stopped_at"], stopped["said"]) == ("ingest", "CY refused")
    note_task_run(warehouse, *RUN, "assemble", -1, TaskState("failed", said="no delivery from CY"))
    [stopped] = reader.dag_runs(warehouse, "sbs", "2024")
    assert stopped["said"] == "CY refused", "the cause, not what follows from it"
    note_task_run(warehouse, *RUN, "publish", -1, TaskState("failed", said="retracted"))
    [stopped] = reader.release_runs(warehouse)
    assert (stopped["stopped_at"], stopped["said"]) == ("publish", "retracted")


def test_a_question_about_a_retraction_ends_with_the_retraction(warehouse):
    publish_it(warehouse, prepared(warehouse, "r1"))
    asks = ("retract_release", "manual_9")
    note_dag_run(warehouse, *asks, domain="sbs", period="2024", release_id="r1")
    raise_alert(warehouse, "sbs", "2024", "retraction", f"{asks[1]} agree", "anna asks")
    assert [each["said"] for each in reader.alerts(warehouse)] == ["anna asks"]
    retract(acting(warehouse, "bert"), "r1", "wrong unit")
    assert reader.alerts(warehouse) == []


def test_an_alert_is_raised_once_and_closes_when_its_reason_is_gone(warehouse):
    """The states decide, so two alerts cannot contradict each other."""

    def standing() -> dict[str, tuple[str, str | None, int]]:
        return {
            each["kind"]: (each["said"], each["country"], each["days"])
            for each in reader.alerts(warehouse, "sbs", "2024")
        }

    release = prepared(warehouse, "r1")
    finish_run(warehouse, "r1", RunState.WAITING)
    note_dag_run(warehouse, *RUN, domain="sbs", period="2024", release_id="r1")
    about = {
        "delivery": "CY",
        "ready": "r2",
        "approval": "r1",
        "protection": "r1",
        "solver": "r1",
        "asked": f"{RUN[1]} approve_1",
    }
    for kind, subject in about.items():
        assert [raise_alert(warehouse, "sbs", "2024", kind, subject, said) for said in (kind, "later")] == [
            True,
            False,
        ]
    assert raised(warehouse, "sbs", "2024", "protection", "r1") == "protection"
    assert standing() == {
        "delivery": ("delivery", "CY", 0),
        "ready": ("ready", None, 0),
        "approval": ("approval", None, 0),
        "asked": ("asked", None, 0),
    }, "its audit passed: what waits for a person is not late with its protection"
    assert (
        reader.alerts(warehouse) == reader.alerts(warehouse, "sbs") == reader.alerts(warehouse, "sbs", "2024")
    )
    assert reader.alerts(warehouse, "other") == []

    publish_it(warehouse, release)
    note_dag_run(warehouse, *RUN, state="success")
    finish_run(warehouse, "r1", RunState.PUBLISHED)
    accept(warehouse, receive(warehouse, "sbs", "2024", "cy.csv", b"its table").key, "CY")
    received = receive(warehouse, "sbs", "2024", "de.csv", b"not judged", country="DE")
    assert standing() == {}, "a file that was not judged closes what was ready"
    refuse(warehouse, received.key, "DE")
    assert list(standing()) == ["ready"]
    for forbidden in ("UPDATE operations.alert SET said = ''", "DELETE FROM operations.alert"):
        with pytest.raises(IntegrityError, match="append-only"):
            raw(warehouse, forbidden)


def test_an_answer_that_did_not_count_is_told_while_newer_deliveries_wait(warehouse):
    def told() -> list[str]:
        return [each["kind"] for each in reader.alerts(warehouse, "sbs", "2024")]

    prepared(warehouse, "r1")
    finish_run(warehouse, "r1", RunState.WAITING)
    note_dag_run(warehouse, *RUN, domain="sbs", period="2024", release_id="r1")
    raise_alert(warehouse, "sbs", "2024", "answer", "r1", "the answer of bert does not count")
    assert told() == []
    accept(warehouse, receive(warehouse, "sbs", "2024", "cy.csv", b"its table").key, "CY")
    assert told() == ["answer"]


def test_what_is_other_than_in_a_stored_publication_is_counted(warehouse):
    publish_it(warehouse, prepared(warehouse))
    again = changes(warehouse, "sbs", "2024", FIRST.digest, FIRST, SPACE)
    assert again == (0, 0, 0, 0)
    assert changes(warehouse, "sbs", "2024", FIRST.digest, SECOND, SPACE) == (1, 0, 0, 0), "another base"
    other = published((43, 0), (20, 10), (22, 0))
    assert changes(warehouse, "sbs", "2024", FIRST.digest, other, SPACE) == (1, 2, 0, 0), (
        "a total, and a cell that was withheld"
    )
    assert changes(warehouse, "sbs", "2024", "0" * 64, SECOND, SPACE) == (0, 0, 3, 0)
