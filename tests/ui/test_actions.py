"""The buttons: where the state is, for whoever may press them, as calls that Airflow's own API takes."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest

from sdc_tasks.warehouse.database.engine import open_warehouse
from sdc_tasks.warehouse.operations.cycles import note_dag_run, raise_alert
from support.ui.office import DAG, DOMAIN, RUN, Office

BUTTON = re.compile(
    r'<button type="button" class="button act[^"]*" data-path="([^"]*)" data-body="([^"]*)"[^>]*?( '
    r"disabled)?>([^<]*)</button>"
)


def buttons(text: str) -> dict[str, tuple[str, Any, bool]]:
    """label → address, body, whether it can be pressed."""
    return {
        html.unescape(label): (html.unescape(path), json.loads(html.unescape(body)), not disabled)
        for path, body, disabled, label in BUTTON.findall(text)
    }


@pytest.fixture
def of(
    at_office: Office, client: Callable[[str], Any]
) -> Callable[[str, str], dict[str, tuple[str, Any, bool]]]:
    """The buttons of a page as a user sees them."""
    return lambda user, path: buttons(client(user).get(f"/sdc{path}").text)


def test_a_failed_country_is_cleared_and_the_release_run_again_from_its_cycle(of: Any) -> None:
    found = of("operator", f"/cycle/{DOMAIN}/2024")
    assert set(found) == {"Clear CY_2024", "Run release"}
    path, body, enabled = found["Clear CY_2024"]
    assert (path, enabled) == (f"/api/v2/dags/{DAG}/clearTaskInstances", True)
    assert (body["dag_run_id"], body["task_ids"], body["include_downstream"], body["dry_run"]) == (
        RUN,
        [["ingest", 2]],
        True,
        False,
    )
    path, body, enabled = found["Run release"]
    assert (path, body, enabled) == (
        f"/api/v2/dags/{DAG}/dagRuns",
        {"logical_date": None, "conf": {"period": "2024"}},
        True,
    )


def test_the_page_of_a_refused_country_has_the_button_for_it(of: Any) -> None:
    assert (
        of("operator", f"/cycle/{DOMAIN}/2024/findings/CY")["Clear CY_2024"]
        == of("operator", f"/cycle/{DOMAIN}/2024")["Clear CY_2024"]
    )
    assert of("operator", f"/cycle/{DOMAIN}/2024/findings/AT") == {}


def test_a_release_is_retracted_from_its_page_and_only_once(of: Any, at_office: Office) -> None:
    release = at_office.releases["second"]
    path, body, enabled = of("operator", f"/release/{release}")["Retract"]
    assert (path, body["conf"], enabled) == (
        "/api/v2/dags/retract_release/dagRuns",
        {"release": release},
        True,
    )
    for state in ("retracted", "blocked", "waiting", "rejected"):
        assert "Retract" not in of("operator", f"/release/{at_office.releases[state]}")


def test_the_board_has_the_button_where_something_new_waits(of: Any) -> None:
    path, body, enabled = of("operator", "/")["Run release"]
    assert (path, body["conf"], enabled) == (f"/api/v2/dags/{DAG}/dagRuns", {"period": "2018"}, True), (
        "newer deliveries wait"
    )


def test_a_viewer_sees_no_button_that_he_may_press(of: Any, at_office: Office, client: Any) -> None:
    pages = ["/", f"/cycle/{DOMAIN}/2024", f"/release/{at_office.releases['second']}"]
    for path in pages:
        found = of("viewer", path)
        assert found, path
        assert not any(enabled for _, _, enabled in found.values()), path
        assert "Your role may read, not act." in client("viewer").get(f"/sdc{path}").text


@pytest.mark.parametrize("label", ["Clear CY_2024", "Run release"])
def test_what_a_button_calls_is_refused_to_a_viewer_by_airflow_itself(
    of: Any, client: Any, label: str
) -> None:
    path, body, _ = of("viewer", f"/cycle/{DOMAIN}/2024")[label]
    assert client("viewer").post(path, json=body).status_code == 403
    assert client("operator").post(path, json=body).status_code == 404, (
        "the body is well-formed; this server has no such run or DAG"
    )


@pytest.mark.usefixtures("server")
def test_a_second_file_has_its_three_answers() -> None:
    from sdc_ui.shared.actions import Rights, answers

    may = Rights(run=True, clear=True, retract=True, answer=True, approve=True)
    found = [
        json.loads(each.body)["conf"]
        for each in answers(may, "sbs", "2024", ("CY_new.csv",), shown={"CY_new.csv": "keep"})
    ]
    assert [each.pop("answer") for each in found] == ["keep", "replace", "both"]
    assert all(
        each == {"domain": "sbs", "period": "2024", "files": ["CY_new.csv"], "shown": {"CY_new.csv": "keep"}}
        for each in found
    )
    assert answers(may, "sbs", "2024", (), shown={}) == ()


def run(state: str, release_id: str | None) -> Any:
    from sdc_ui.shared.runs import DagRun

    return DagRun("eu_release_sbs", f"run {release_id}", release_id, state, "operator", None, None)


@pytest.mark.usefixtures("server")
def test_a_release_is_run_where_that_can_change_something() -> None:
    from types import SimpleNamespace

    from sdc_ui.shared.actions import runnable
    from sdc_ui.shared.standing import Standing

    def line(
        standing: Standing, newer: bool = False, second: bool = False, followed: str | None = None
    ) -> Any:
        gave_way = standing is Standing.SUPERSEDED and followed is not None
        return SimpleNamespace(
            release_id="r", standing=standing, second=second, takes_in=newer and not second, gave_way=gave_way
        )

    running, ended = run("running", "r"), run("success", "r")
    assert runnable(None, None)
    assert not runnable(None, run("running", None))
    assert {each for each in Standing if runnable(line(each, second=each is Standing.SECOND), ended)} == {
        Standing.FAILED,
        Standing.WAITING,
        Standing.REJECTED,
        Standing.SUPERSEDED,
        Standing.BLOCKED,
        Standing.RETRACTED,
        Standing.STOPPED,
    }
    assert runnable(line(Standing.APPROVAL, newer=True), running), "newer deliveries while an approval waits"
    assert not runnable(line(Standing.APPROVAL, newer=True, second=True), running), (
        "it would stop before it makes the release"
    )
    assert not runnable(line(Standing.SUPERSEDED, followed="later"), ended), "another release took its place"
    assert not runnable(line(Standing.RUNNING, newer=True), running)
    for later in (None, "other"):
        assert not runnable(line(Standing.APPROVAL, newer=True), run("running", later)), (
            "a later run takes them in"
        )


@pytest.mark.usefixtures("server")
def test_who_may_answer_is_led_to_the_run_that_asks() -> None:
    """Not to the newest run, which may read newer deliveries just now. Who started the release,
    and who may only read, is told so.
    """
    from types import SimpleNamespace

    from sdc_ui.shared.actions import Rights, asked
    from sdc_ui.shared.runs import asking
    from sdc_ui.shared.standing import Standing

    may = Rights(run=True, clear=True, retract=True, answer=True, approve=True)
    reads = Rights(run=False, clear=False, retract=False, answer=False, approve=False)
    line: Any = SimpleNamespace(
        release_id="r", standing=Standing.APPROVAL, starters=("pipeline", "operator"), agreed=("cleo",)
    )
    asks = run("running", "r")
    assert asking(line, [run("running", None), asks, run("success", "r")]) is asks
    assert asking(line, [run("success", "r")]) is None
    for who, rights, allowed in (
        ("approver", may, True),
        ("Operator ", may, False),
        ("cleo", may, False),
        ("viewer", reads, False),
    ):
        found = asked(rights, who, line, asks)
        assert found is not None
        assert (found.allowed, found.run) == (allowed, asks)
        assert bool(found.why) is not allowed
    blocked: Any = SimpleNamespace(
        release_id="r", standing=Standing.BLOCKED, starters=("pipeline", "operator"), agreed=("cleo",)
    )
    assert asked(may, "approver", blocked, asks) is None


@pytest.mark.usefixtures("server")
def test_where_two_people_asked_for_the_same_retraction_each_is_told_what_helps() -> None:
    from dataclasses import replace

    from sdc_ui.shared.actions import Rights, asked_back

    may = Rights(run=True, clear=True, retract=True, answer=True, approve=True, agree=True)
    first = replace(
        run("running", "r"), dag_id="retract_release", run_id="1", triggered_by="anna", reason="wrong unit"
    )
    second, other = (
        replace(first, run_id="2", triggered_by="bert"),
        replace(first, run_id="3", triggered_by="bert", reason="AT wrong"),
    )
    told = asked_back(may, "Anna", (first, second, other))
    assert [told[each].allowed for each in "123"] == [False, False, True]
    assert (
        told["2"].why
        == "You asked for the same: somebody else answers, or one of you asks again with another reason."
    )


@pytest.fixture
def taking_back(at_office: Office) -> Iterator[str]:
    """The operator asks to take version 2 of 2020 back, and answered himself; afterwards the run
    has ended.
    """
    engine, release, run = (
        open_warehouse(at_office.url, actor="tester"),
        at_office.releases["second"],
        "manual__2026-04-01T10:00:00+00:00",
    )
    known = {
        "domain": DOMAIN,
        "period": "2020",
        "release_id": release,
        "triggered_by": "operator",
        "reason": "AT wrong",
    }
    note_dag_run(engine, "retract_release", run, **known)
    for what, said in (
        ("agree", "operator asks: AT wrong."),
        ("own operator", "operator asks: AT wrong. His answer does not count."),
    ):
        raise_alert(engine, DOMAIN, "2020", "retraction", f"{run} {what}", said)
    yield run
    note_dag_run(engine, "retract_release", run, state="failed")
    engine.dispose()


def test_who_may_agree_to_a_retraction_is_led_to_the_question(
    taking_back: str, at_office: Office, client: Any
) -> None:
    """From the cycle and from the release; who asked is told that somebody else answers. One question is one
    notice.
    """
    release = at_office.releases["second"]
    link = f'/dags/retract_release/runs/{quote(taking_back)}/required_actions">Answer in Airflow</a>'
    for path in (f"/sdc/cycle/{DOMAIN}/2020", f"/sdc/release/{release}"):
        seen = {user: client(user).get(path).text for user in ("admin", "operator", "viewer")}
        assert {user for user, text in seen.items() if link in text} == {"admin"}, path
        assert "You asked for it: somebody else answers." in seen["operator"]
        assert "Your role may read, not answer." in seen["viewer"]
        assert all(taking_back in text and "AT wrong" in text for text in seen.values())
        assert "Retract" not in buttons(seen["admin"]), "asked for once"
    board = {user: client(user).get("/sdc/").text for user in ("admin", "operator", "viewer")}
    card = {user: found.split(f'/cycle/{DOMAIN}/2020"')[1].split("</li>")[0] for user, found in board.items()}
    assert all("operator asks to take a release back: AT wrong" in each for each in card.values()), (
        "the cycle is in work again"
    )
    assert {user for user, each in card.items() if link in each} == {"admin"}
    [told] = re.findall(
        r"<strong>Retraction:</strong> ([^·]*) ·", client("admin").get(f"/sdc/cycle/{DOMAIN}/2020").text
    )
    assert told == "operator asks: AT wrong. His answer does not count."


def test_what_is_not_read_is_told_before_a_run_that_it_stops(
    at_office: Office, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sdc_tasks.warehouse import reader

    unread = [{"domain": DOMAIN, "period": "2024", "file": "notes", "why": "notes: not read"}]
    path, told = (
        f"/sdc/cycle/{DOMAIN}/2024",
        "It stops while notes lies there, which is not read: take it away first.",
    )
    assert told not in client("operator").get(path).text
    monkeypatch.setattr(reader, "unread", lambda _: unread)
    assert told in client("operator").get(path).text
