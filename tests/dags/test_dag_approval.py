"""Four eyes in Airflow: who is asked, whose answer counts, and what an answer is about."""

from __future__ import annotations

from typing import Any

import pytest

from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.database.checks import run_checks
from sdc_tasks.warehouse.log import entries
from support.dags.airflow_home import AGREED, HOME
from support.dags.in_process import Flight
from support.deliveries import HEALTHY, sdmx_1

DAG = f"eu_release_{AGREED}"
OTHER = (
    HEALTHY.replace("749391", "749392")
    .replace("700 ", "701 ")
    .replace("300 D", "301 D")
    .replace("400 F", "401 F")
)


def run_state(engine: Any) -> list[str]:
    return [str(each["state"]) for each in reader.runs(engine)]


def test_two_others_agree_to_exactly_this_publication(bag: Any, deliver: Any, warehouse_of_run: Any) -> None:
    for country in ("AT", "BE"):
        deliver(AGREED, country)
    run = Flight.start(bag, DAG, user="anna", period="2024")
    assert run.in_state("awaiting_input") == {"approve_1"}
    assert run_state(warehouse_of_run) == ["waiting"]
    release_id = reader.runs(warehouse_of_run)[0]["release_id"]
    [audit] = reader.audits(warehouse_of_run, release_id)
    told = run.asked("approve_1")
    assert audit["publication_digest"] in told
    for expected in (
        "passed with exceptions against external",
        "only as far as their national table allows",
        "exact",
        "First version",
        "2 accepted, 0 refused",
        AGREED,
        "period **2024**",
        release_id,
    ):
        assert expected in told
    assert f"(/plugin/releases/sdc/release/{release_id})" in told
    assert "Files that come after this question stand on the page of the release" in told, (
        "Airflow keeps this text while the question waits"
    )
    assert "748591" not in told

    run.answer("approve_1", "Anna")  # who triggered the run
    assert run.in_state("awaiting_input") == {"approve_1"}
    assert reader.approvals(warehouse_of_run, release_id) == []
    said = {each["kind"]: each["said"] for each in reader.alerts(warehouse_of_run, AGREED, "2024")}
    assert "an answer does not count" in said["own"], "it is refused where everybody sees it"
    run.answer("approve_1", "bert", note="read it")
    assert run.in_state("awaiting_input") == {"approve_2"}
    run.answer("approve_2", "bert")  # once more the same
    assert run.in_state("awaiting_input") == {"approve_2"}
    said = [
        each["said"]
        for each in reader.alerts(warehouse_of_run, AGREED, "2024")
        if "agreed before" in each["said"]
    ]
    assert said == ["the answer of bert does not count: bert agreed before; somebody else must agree"]
    assert reader.of_release(warehouse_of_run, release_id)["agreed"] == ["bert"]
    assert reader.releases(warehouse_of_run) == []
    run.answer("approve_2", "cleo")
    assert run.state == "success"
    assert reader.alerts(warehouse_of_run, AGREED, "2024") == []
    assert [(each["approver"], each["note"]) for each in reader.approvals(warehouse_of_run, release_id)] == [
        ("bert", "read it"),
        ("cleo", ""),
    ]
    [published] = reader.releases(warehouse_of_run)
    assert published.release_id == release_id
    by = {entry.actor for entry in entries(warehouse_of_run) if entry.action == "approve"}
    assert by == {"bert", "cleo"}

    # the same once more: nobody is asked again
    again = Flight.start(bag, DAG, user="anna", period="2024")
    assert again.state == "success"
    # another file: another publication, for which nobody has agreed
    deliver(AGREED, "BE", OTHER)
    run.clear(("ingest", run.index_of("ingest", "BE_2024")))
    assert run.in_state("failed") == {"approve_1"}, (
        "Airflow keeps the text of the first question: nobody is asked by it about another"
    )
    run = Flight.start(bag, DAG, user="anna", period="2024")
    assert run.in_state("awaiting_input") == {"approve_1"}
    told = run.asked("approve_1")
    assert audit["publication_digest"] not in told
    assert "Since version 1" in told
    assert len(reader.releases(warehouse_of_run)) == 1
    assert not any(run_checks(warehouse_of_run).values())


def test_newer_deliveries_while_an_approval_waits_are_told_and_asked_about(
    bag: Any, deliver: Any, warehouse_of_run: Any, caplog: pytest.LogCaptureFixture
) -> None:
    for country in ("AT", "BE"):
        deliver(AGREED, country)
    run = Flight.start(bag, DAG, user="anna", period="2024")
    deliver(AGREED, "BE", OTHER).with_name("AT_new.csv").write_text(sdmx_1(OTHER))
    Flight.start(bag, f"national_delivery_{AGREED}", user=None, period="2024")
    [line] = reader.history(warehouse_of_run)
    assert (line["state"], line["newer"], line["second"]) == ("waiting", True, True)
    assert {each["triggered_by"] for each in reader.dag_runs(warehouse_of_run, AGREED, "2024")} == {
        "anna",
        "manual",
    }
    run.answer("approve_1", "bert")
    assert run.in_state("awaiting_input") == {"approve_1"}, (
        "the answer does not count: he read of the old deliveries"
    )
    waiting = (
        "newer deliveries are accepted: BE_2024.csv; second files of countries wait for an answer: AT_new.csv"
    )
    assert f"the answer of bert does not count: {waiting}" in caplog.text
    said = {each["kind"]: each["said"] for each in reader.alerts(warehouse_of_run, AGREED, "2024")}
    assert said["answer"].startswith(f"the answer of bert does not count: {waiting}"), (
        "he is told on the pages too"
    )
    assert reader.approvals(warehouse_of_run, line["release_id"]) == []

    # who says so explicitly lets it out
    run.answer("approve_1", "bert", "Approve without newer deliveries", note="the correction is small")
    run.answer("approve_2", "cleo", "Approve without newer deliveries")
    assert run.state == "success"
    [out] = reader.releases(warehouse_of_run)
    assert out.release_id == line["release_id"]
    assert {each["note"] for each in reader.approvals(warehouse_of_run, out.release_id)} == {
        "the correction is small (without newer deliveries: AT_new.csv, BE_2024.csv)",
        "(without newer deliveries: AT_new.csv, BE_2024.csv)",
    }
    assert reader.history(warehouse_of_run)[0]["newer"], "and its page says that it is out of date"


@pytest.mark.slow
def test_a_rejected_publication_ends_the_run_and_may_be_asked_about_again(
    bag: Any, deliver: Any, warehouse_of_run: Any
) -> None:
    for country in ("AT", "BE"):
        deliver(AGREED, country)
    run = Flight.start(bag, DAG, user="anna", period="2024")
    run.answer("approve_1", "bert", "Reject", note="size class S looks odd")
    assert run.state == "failed"
    assert run.in_state("failed") == {"approve_1"}
    assert run.tasks["publish"] == run.tasks["released"] == "upstream_failed"
    assert run.tasks["report"] == "success"
    assert reader.releases(warehouse_of_run) == []
    assert run_state(warehouse_of_run) == ["blocked"]
    [line] = reader.history(warehouse_of_run)
    assert (line["decision"], line["decided_by"], line["passed"], line["newer"]) == (
        "reject",
        "bert",
        True,
        False,
    )
    release_id = reader.runs(warehouse_of_run)[0]["release_id"]
    notes = {
        each["key"]: each["note"]
        for each in reader.steps(warehouse_of_run, release_id)
        if each["step"] == "approval"
    }
    assert notes == {"bert": "rejected: size class S looks odd"}
    assert [
        (entry.actor, entry.subject) for entry in entries(warehouse_of_run) if entry.action == "reject"
    ] == [("bert", release_id)]
    seen = {each["task_id"]: each for each in reader.task_runs(warehouse_of_run, DAG, run.run_id)}
    assert "bert rejected publication" in seen["approve_1"]["said"]
    assert seen["publish"]["state"] == "upstream_failed"

    run.clear("approve_1", "approve_2", "publish", "report", "released", downstream=False)
    assert run.in_state("awaiting_input") == {"approve_1"}
    run.answer("approve_1", "bert").answer("approve_2", "cleo")
    assert run.state == "success"
    assert len(reader.releases(warehouse_of_run)) == 1


def test_a_question_whose_answer_does_not_matter_any_more_closes_itself(
    bag: Any, deliver: Any, warehouse_of_run: Any
) -> None:
    from sdc_ui.shared.standing import release_line

    def standings() -> list[str]:
        return [release_line(each).standing.value for each in reader.history(warehouse_of_run)]

    for country in ("AT", "BE"):
        deliver(AGREED, country)
    old = Flight.start(bag, DAG, user="anna", period="2024")
    first = reader.runs(warehouse_of_run)[0]["release_id"]
    assert old.look().in_state("awaiting_input") == {"approve_1"}, "it still matters"
    assert standings() == ["waiting for approval"]

    deliver(AGREED, "BE", OTHER)
    new = Flight.start(bag, DAG, user="anna", period="2024")
    second = next(each["release_id"] for each in reader.runs(warehouse_of_run) if each["release_id"] != first)
    assert [new.in_state("awaiting_input"), standings()] == [
        {"approve_1"},
        ["waiting for approval", "superseded"],
    ]
    report = (HOME / "out" / AGREED / "2024" / "report.html").read_text(encoding="utf-8")
    assert old.look().state == "success"
    assert {old.tasks[each] for each in ("approve_1", "approve_2", "publish", "report", "released")} == {
        "skipped"
    }
    assert (
        second
        in {each["task_id"]: each["said"] for each in reader.task_runs(warehouse_of_run, DAG, old.run_id)}[
            "approve_1"
        ]
    )
    assert standings() == ["waiting for approval", "superseded"]
    assert (HOME / "out" / AGREED / "2024" / "report.html").read_text(encoding="utf-8") == report, (
        "of the release that is asked about"
    )
    assert new.look().in_state("awaiting_input") == {"approve_1"}


@pytest.mark.slow
def test_an_answer_about_a_release_that_another_one_followed_publishes_nothing(
    bag: Any, deliver: Any, warehouse_of_run: Any
) -> None:
    """Airflow shows its question for some minutes more. At a shell it is refused in the same way."""
    from sdc_tasks import steps
    from sdc_tasks.errors import Superseded
    from support.dags.airflow_home import SMALL

    for country in ("AT", "BE"):
        deliver(AGREED, country)
    old = Flight.start(bag, DAG, user="anna", period="2024")
    first = reader.runs(warehouse_of_run)[0]["release_id"]
    deliver(AGREED, "BE", OTHER)
    new = Flight.start(bag, DAG, user="anna", period="2024")
    assert new.in_state("awaiting_input") == {"approve_1"}
    desk = steps.open_desk(str(warehouse_of_run.url), SMALL / f"{AGREED}.yaml", "2024", lambda _: None)
    with pytest.raises(Superseded, match="took its place"):
        steps.answer(desk, first, steps.awaiting(desk, first)[0], True, "bert")
    old.answer("approve_1", "bert", "Approve without newer deliveries")
    assert {old.tasks[each] for each in ("approve_1", "approve_2", "publish")} == {"skipped"}
    assert reader.approvals(warehouse_of_run, first) == []
    assert reader.releases(warehouse_of_run) == []
    assert new.look().in_state("awaiting_input") == {"approve_1"}


def test_an_answer_counts_for_what_the_question_named(bag: Any, deliver: Any, warehouse_of_run: Any) -> None:
    """Operators may rewrite what tasks left for each other in Airflow. So nothing that decides
    rests on it.
    """
    for country in ("AT", "BE"):
        deliver(AGREED, country)
    old = Flight.start(bag, DAG, user="anna", period="2024")
    first = reader.runs(warehouse_of_run)[0]["release_id"]
    deliver(AGREED, "BE", OTHER)
    Flight.start(bag, DAG, user="anna", period="2024")
    second = next(each["release_id"] for each in reader.runs(warehouse_of_run) if each["release_id"] != first)
    old.rewrite("assemble", "return_value", second)
    old.rewrite("approve_1", "publication", reader.audits(warehouse_of_run, second)[0]["publication_digest"])
    old.answer("approve_1", "bert")
    assert old.in_state("failed") == {"approve_1"}
    assert reader.approvals(warehouse_of_run, second) == []


def test_whoever_agrees_decides_what_it_goes_out_without(
    bag: Any, deliver: Any, warehouse_of_run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sdc_tasks import steps
    from sdc_tasks.errors import Superseded

    for country in ("AT", "BE"):
        deliver(AGREED, country)
    run = (
        Flight.start(bag, DAG, user="anna", period="2024")
        .answer("approve_1", "anna")
        .answer("approve_1", "bert")
    )
    assert "own" in {each["kind"] for each in reader.alerts(warehouse_of_run, AGREED, "2024")}
    with monkeypatch.context() as once:  # newer deliveries come after the last answer

        def too_late(*_: Any, **__: Any) -> int:
            raise Superseded("newer deliveries are accepted")

        once.setattr(steps, "publish", too_late)
        run.answer("approve_2", "cleo")
    deliver(AGREED, "BE", OTHER)
    Flight.start(bag, f"national_delivery_{AGREED}", user=None, period="2024")
    newest = [
        each["digest"]
        for each in reader.deliveries(warehouse_of_run, AGREED, "2024")
        if each["state"] == "accepted"
    ]
    run.rewrite("approve_1", "without", newest)
    assert run.clear("publish").in_state("failed") >= {"publish"}
    assert "own" not in {each["kind"] for each in reader.alerts(warehouse_of_run, AGREED, "2024")}, (
        "nobody is asked any more"
    )
    newest = reader.dag_runs(warehouse_of_run, AGREED, "2024")[0]
    assert (newest["stopped_at"], newest["said"][:10]) == ("publish", "Superseded")
    assert reader.releases(warehouse_of_run) == []


@pytest.mark.slow
def test_nobody_agrees_to_a_release_of_which_he_started_a_run(
    bag: Any, deliver: Any, warehouse_of_run: Any
) -> None:
    """Two runs make one release, and the first submitted it. Who started the second is as little somebody
    else.
    """
    for country in ("AT", "BE"):
        deliver(AGREED, country)
    first = Flight.start(bag, DAG, user="anna", period="2024")
    Flight.start(bag, DAG, user="bert", period="2024")
    first.answer("approve_1", "bert")
    assert first.in_state("awaiting_input") == {"approve_1"}
    assert [each["kind"] for each in reader.alerts(warehouse_of_run, AGREED, "2024")].count("asked") == 1, (
        "two runs, one text"
    )
    [own] = [
        each["said"] for each in reader.alerts(warehouse_of_run, AGREED, "2024") if each["kind"] == "own"
    ]
    assert "bert started a run of it" in own
    first.answer("approve_1", "cleo").answer("approve_2", "dora")
    assert first.state == "success"
    Flight.start(bag, DAG, user="cleo", period="2024")
    assert [each.version for each in reader.releases(warehouse_of_run)] == [1]


def test_what_is_answered_in_one_of_two_runs_is_known_in_the_other(
    bag: Any, deliver: Any, warehouse_of_run: Any
) -> None:
    for country in ("AT", "BE"):
        deliver(AGREED, country)
    new = Flight.start(bag, DAG, user="anna", period="2024")
    same = Flight.start(bag, DAG, user="anna", period="2024")
    same.answer("approve_1", "bert", "Reject", note="odd")
    assert new.look().in_state("failed") == {"approve_1"}
    assert run_state(warehouse_of_run) == ["blocked"]
    assert {each["task_id"]: each["said"] for each in reader.task_runs(warehouse_of_run, DAG, new.run_id)}[
        "approve_1"
    ].endswith("was rejected elsewhere: nothing is published; the log of the release says who")
    for run in (new, same):
        run.clear("approve_1", "approve_2", "publish", "report", "released", downstream=False)
        assert run.in_state("awaiting_input") == {"approve_1"}
    same.answer("approve_1", "bert").answer("approve_2", "cleo")
    assert new.look().state == "success"
    assert len(reader.releases(warehouse_of_run)) == 1
