"""The page of a country whose second files wait or were answered: who answered what, what came of
it, and what may be answered now.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from sdc_tasks import steps
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.series import Answer
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.database.schema import cycle
from sdc_tasks.warehouse.operations import cycles
from support.deliveries import HEALTHY, PERIOD, sdmx_1, small_domain

Page = Callable[[str], str]
OTHER = (
    HEALTHY.replace("749391", "749392")
    .replace("700 ", "701 ")
    .replace("300 D", "301 D")
    .replace("400 F", "401 F")
)
UNCLEAN = HEALTHY.replace("700 F", "701 F")
BUTTON = re.compile(r'data-path="[^"]*second_file[^"]*" data-body="([^"]*)"')
DAG = "eu_release_small"
AT, CYCLE = f"/cycle/small/{PERIOD}/findings/AT", f"/cycle/small/{PERIOD}"


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    small_domain(tmp_path)
    (tmp_path / "inbox").mkdir()
    return tmp_path / "inbox"


@pytest.fixture
def desk(inbox: Path, page: Page, monkeypatch: pytest.MonkeyPatch) -> steps.Desk:
    """AT's file counts, and the pages read this warehouse."""
    url = f"sqlite:///{inbox.parent / 'warehouse.db'}"
    monkeypatch.setenv("SDC_WAREHOUSE_URL", url)
    found = steps.open_desk(url, inbox.parent / "small.yaml", PERIOD, actor="anna")
    (inbox / "AT_2024.csv").write_text(sdmx_1())
    read(found, inbox)
    return found


def read(desk: steps.Desk, inbox: Path) -> None:
    for each in steps.discover(desk, inbox):
        try:
            steps.ingest(desk, inbox, each.file)
        except InvalidInput:
            continue


def told(page: str) -> str:
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)))


def asked(page: str) -> list[tuple[str, ...]]:
    """The questions that the buttons answer, in order: the names of the files, then the answers."""
    found: dict[tuple[str, ...], list[str]] = {}
    for body in BUTTON.findall(page):
        conf: dict[str, Any] = json.loads(html.unescape(body))["conf"]
        found.setdefault(tuple(conf["files"]), []).append(conf["answer"])
    return [(*files, *answers) for files, answers in found.items()]


def answer(desk: steps.Desk, given: str, *files: str, run: str = "", shown: Any = None) -> None:
    """As the DAG `second_file` does it, and the listener writes it down."""
    said, state = "", "success"
    about = {"domain": "small", "period": PERIOD, "triggered_by": "anna"}
    cycles.note_dag_run(desk.engine, "second_file", run or given, **about)
    try:
        steps.settle(desk, files, Answer(given), "Ms Huber <b>called</b>", run or given, shown)
    except InvalidInput as error:
        said, state = str(error), "failed"
    cycles.note_task_run(
        desk.engine,
        "second_file",
        run or given,
        "settle",
        -1,
        cycles.TaskState(state, label="", tries=1, seconds=1.0, said=said),
    )


def test_one_file_is_answered_by_three_buttons(desk: steps.Desk, inbox: Path, page: Page) -> None:
    (inbox / "AT_new.csv").write_text(sdmx_1(OTHER))
    read(desk, inbox)
    assert asked(page(AT)) == [("AT_new.csv", "keep", "replace", "both")]
    assert "corrected:" not in told(page(AT))


def test_of_several_files_each_is_answered_by_itself_or_all_together(
    desk: steps.Desk, inbox: Path, page: Page
) -> None:
    for name in ("AT_a.csv", "AT_b.csv"):
        (inbox / name).write_text(sdmx_1(OTHER) + "\n" * (name == "AT_b.csv"))
    read(desk, inbox)
    every = ("keep", "replace", "both")
    both = next(each for each in asked(page(AT)) if len(each) == 5)
    assert sorted(both[:2]) == ["AT_a.csv", "AT_b.csv"]
    assert sorted(asked(page(AT))[1:]) == [("AT_a.csv", *every), ("AT_b.csv", *every)]
    assert "2 second files wait." in told(page(AT))
    answer(desk, "keep", "AT_a.csv")
    assert asked(page(AT)) == [("AT_b.csv", *every), ("AT_a.csv", "replace", "both")]


def test_an_answer_that_was_refused_is_told_with_its_reason_and_may_be_given_otherwise(
    desk: steps.Desk, inbox: Path, page: Page
) -> None:
    (inbox / "AT_new.csv").write_text(sdmx_1(OTHER))
    read(desk, inbox)
    answer(desk, "both", "AT_new.csv", run="manual/both")
    found = page(AT)
    said = told(found)
    assert "anna answered both" in said
    assert "This file was refused then and does not count: AT_2024.csv" in said
    assert "and AT_new.csv differ in" in said
    assert "<b>called" not in found
    assert 'href="/dags/second_file/runs/manual%2Fboth"' in found.replace("manual/both", "manual%2Fboth")
    assert asked(found) == [("AT_new.csv", "keep", "replace", "both")]
    for wrong in ("corrected:", "nothing was found in this one", "Correct the other file", "Clear AT"):
        assert wrong not in said, wrong
    answer(desk, "replace", "AT_new.csv")
    said = told(page(AT))
    assert "anna answered replace" in said
    assert "Before, the answer was both." in said
    assert "This file counts." in said
    assert asked(page(AT)) == [("AT_new.csv", "keep", "both")]


def test_an_answer_that_nobody_asked_for_is_told_with_its_run(
    desk: steps.Desk, inbox: Path, page: Page
) -> None:
    answer(desk, "keep", "AT_2024.csv")
    assert "The last answer failed: AT_2024.csv: waits for no answer" in told(page(AT))
    (inbox / "AT_new.csv").write_text(sdmx_1(OTHER))
    read(desk, inbox)
    cycles.note_dag_run(
        desk.engine, "second_file", "next", domain="small", period=PERIOD, triggered_by="anna"
    )
    cycles.note_task_run(
        desk.engine,
        "second_file",
        "next",
        "settle",
        -1,
        cycles.TaskState("running", label="", tries=1, seconds=None, said=""),
    )
    assert "An answer is being carried out." in told(page(AT))


def test_of_two_windows_the_second_changes_nothing_and_is_told_so(
    desk: steps.Desk, inbox: Path, page: Page
) -> None:
    """Both show the question. Who answers last would take back what the other has
    answered, and nobody would know.
    """
    (inbox / "AT_new.csv").write_text(sdmx_1(OTHER))
    read(desk, inbox)

    def press(given: str, window: str, run: str) -> None:
        [conf] = (
            each
            for body in BUTTON.findall(window)
            if (each := json.loads(html.unescape(body))["conf"])["answer"] == given
        )
        answer(desk, given, *conf["files"], run=run, shown=conf["shown"])

    first, second = page(AT), page(AT)
    press("replace", first, "one")
    press("keep", second, "two")
    said = told(page(AT))
    assert (
        "The last answer failed: AT_new.csv: somebody answered replace meanwhile. Nothing was changed."
        in said
    )
    assert "anna answered replace" in said
    assert "This file counts." in said
    press("keep", page(AT), "three")
    said = told(page(AT))
    assert "anna answered keep" in said
    assert "The last answer failed" not in said


def test_an_answer_is_about_the_bytes_that_its_page_showed(desk: steps.Desk, inbox: Path, page: Page) -> None:
    def conf(window: str, given: str) -> Any:
        return next(
            each
            for body in BUTTON.findall(window)
            if (each := json.loads(html.unescape(body))["conf"])["answer"] == given
        )

    (inbox / "AT_new.csv").write_text(sdmx_1(OTHER))
    read(desk, inbox)
    old = conf(page(AT), "replace")
    (inbox / "AT_new.csv").write_text(sdmx_1(OTHER) + "\n")
    read(desk, inbox)
    waiting = [each["state"] for each in reader.deliveries(desk.engine, "small", PERIOD)]
    assert sorted(waiting) == ["accepted", "superseded", "waiting"], (
        "the bytes that were replaced wait no more"
    )
    answer(desk, "replace", *old["files"], run="old", shown=old["shown"])
    assert "The last answer failed: AT_new.csv: another file came under this name meanwhile." in told(
        page(AT)
    )
    new = conf(page(AT), "keep")
    answer(desk, "keep", *new["files"], run="new", shown=new["shown"])
    assert "anna answered keep" in told(page(AT))

    # answered once, and sent again with other bytes: a fresh page may answer
    (inbox / "AT_new.csv").write_text(sdmx_1(OTHER) + "\n\n")
    read(desk, inbox)
    again = conf(page(AT), "replace")
    answer(desk, "replace", *again["files"], run="again", shown=again["shown"])
    assert "anna answered replace" in told(page(AT))
    assert "The last answer failed" not in told(page(AT))


def test_a_page_names_the_folder_of_the_inbox_and_leads_to_the_run_that_goes_on(
    desk: steps.Desk, page: Page
) -> None:
    import sdc_places

    about = {"domain": "small", "period": PERIOD, "triggered_by": "anna"}
    folder = sdc_places.INBOX.replace("{domain}", "small").replace("{period}", PERIOD)
    assert folder in told(page(f"/cycle/small/{PERIOD}/findings/BE"))
    assert "A run of the release goes on." not in told(page(AT))
    cycles.note_dag_run(desk.engine, DAG, "manual__1", **about)
    assert "A run of the release goes on." in told(page(AT))
    assert "runs/manual__1" in page(AT)
    cycles.note_dag_run(desk.engine, DAG, "manual__1", state="success")
    assert "A run of the release goes on." not in told(page(AT))


def test_nothing_is_said_of_checks_that_were_not_made(
    desk: steps.Desk, inbox: Path, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    (inbox / "AT_new.csv").write_text(sdmx_1(OTHER))
    read(desk, inbox)
    known = reader.check_results
    monkeypatch.setattr(
        reader,
        "check_results",
        lambda *about: [{**each, "passed": False, "failed": 1} for each in known(*about)],
    )
    said = told(page(AT))
    assert re.search(r"AT_new\.csv \S+ \S+ UTC waiting \d its content was not checked AT_2024\.csv", said), (
        said
    )
    assert not re.search("(corrected|new|still):", said)


def test_a_country_that_the_domain_does_not_have_is_asked_for_nothing(
    desk: steps.Desk, inbox: Path, page: Page
) -> None:
    (inbox / "BE.csv").write_text(sdmx_1(UNCLEAN, "BE"))
    read(desk, inbox)
    address = f"/cycle/small/{PERIOD}/findings/BE"
    assert "Ask the country for a corrected file" in told(page(address))
    with desk.engine.begin() as connection:
        connection.execute(update(cycle).values(areas=json.dumps(["AT"])))
    said = told(page(address))
    assert "is not a country of the domain. Take its file away" in said
    assert "Ask the country for a corrected file" not in said


def test_a_renamed_file_is_not_said_to_lie_under_both_names(
    desk: steps.Desk, inbox: Path, page: Page
) -> None:
    (inbox / "AT_x.csv").write_bytes((inbox / "AT_2024.csv").read_bytes())
    read(desk, inbox)
    assert "The same bytes lie in the inbox as AT_x.csv too. They count once." in told(page(AT))
    (inbox / "AT_2024.csv").unlink()
    read(desk, inbox)
    assert "as AT_x.csv, and not under this name any more." in told(page(AT))


def test_all_that_stops_a_release_stands_on_the_cycle_and_nothing_is_cleared_that_fails_again(
    desk: steps.Desk, inbox: Path, page: Page
) -> None:
    def run(name: str) -> str:
        """The cycle after a run of the release in which every country failed."""
        begun = datetime.now(UTC)
        cycles.note_dag_run(
            desk.engine, DAG, name, domain="small", period=PERIOD, triggered_by="anna", started_at=begun
        )
        read(desk, inbox)
        for index, each in enumerate(steps.discover(desk, inbox)):
            cycles.note_task_run(
                desk.engine,
                DAG,
                name,
                "ingest",
                index,
                cycles.TaskState("failed", label=each.label, said="red", seconds=1.0),
            )
        cycles.note_dag_run(desk.engine, DAG, name, state="failed", finished_at=begun)
        return page(CYCLE)

    (inbox / "AT_new.csv").write_text(sdmx_1(OTHER))
    (inbox / "BE.csv").write_text(sdmx_1(UNCLEAN, "BE"))
    assert "Clear BE" in run("first")
    (inbox / "BE.csv").rename(inbox / "BE\nx.csv")
    found = run("second")
    said = told(found)
    assert re.search(r"A second file of A\w* waits", said)
    assert re.search(
        r"Not read\. BE\S*x\.csv: its name has characters that are not text\. Remedy: rename it", said
    )
    assert "ingest × 2 2 failed" in said
    assert "clearTaskInstances" not in found
