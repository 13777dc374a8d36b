"""A week at the desk, in the browser: deliveries are refused and corrected, a release is rejected, overtaken, published, taken back.

Each day is a step of one story, over one domain of four countries and one that is sealed by an embargo. Pictures: var/screenshots/week-*.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from stack import process, start_server, stop_server

from support.stack_fixture import ENDED, Run, Running, prepare_domains, wait_for

pytestmark = pytest.mark.stack
WEEK, SEALED, PERIOD = "week", "sealed", "2024"
ASKED = ("deferred", "awaiting_input")
DUE = datetime.now(UTC) - timedelta(days=2)
OPENED = DUE - timedelta(days=30)


@dataclass
class Desk:
    """The people of the week, each in a window of their own, and what they look at."""

    stack: Running
    sign_in: Callable[..., Page]
    picture: Any

    def __post_init__(self) -> None:
        self.operator, self.approver, self.viewer = (
            self.sign_in(self.stack.url, name, self.stack.passwords[name]) for name in ("operator", "approver", "viewer")
        )

    def look(self, page: Page, address: str, *texts: str, name: str | None = None) -> Page:
        """Opens a page of the desk again until it shows these texts."""
        url = f"{self.stack.url}/sdc/{address}"

        def shown() -> bool:
            page.goto(url)
            return all(text in page.inner_text("body") for text in texts)

        wait_for(shown, lambda: f"{texts} on {address}: {page.inner_text('body')[:2000]}", 240)
        assert not re.search(r"\d{3,} d ", page.inner_text("body")), "long times stand in days alone"
        if name:
            self.picture(page, f"week-{name}", full_page=True)
        return page

    def cycle(self, *texts: str, period: str = PERIOD, name: str | None = None) -> Page:
        return self.look(self.operator, f"cycle/{WEEK}/{period}", *texts, name=name)

    def press(self, page: Page, label: str, said: str | None = None) -> None:
        """A button, its question, and Airflow's answer."""
        page.get_by_role("button", name=label).click()
        dialog = page.get_by_role("dialog")
        if said is not None:
            dialog.get_by_role("textbox").fill(said)
        dialog.get_by_role("button", name="Confirm").click()
        expect(dialog.get_by_role("status")).to_contain_text("Done")

    def answer(self, page: Page, run: Run, option: str, note: str = "", name: str | None = None) -> None:
        """Answers a question of a run in Airflow's own pages."""
        page.goto(f"{self.stack.url}/dags/{run.dag_id}/runs/{run.id}/required_actions")
        page.get_by_text(re.compile("May this (publication go out|release be taken back)")).first.click()
        button = page.get_by_role("button", name=option, exact=True)
        button.wait_for()
        if note:
            page.get_by_role("textbox").last.fill(note)
        if name:
            self.picture(page, f"week-{name}")
        with page.expect_response(lambda each: each.request.method == "PATCH" and "hitlDetails" in each.url) as answer:
            button.click()
        assert answer.value.status == 200, answer.value.text()

    def newest(self, dag: str = f"eu_release_{WEEK}", but: tuple[str, ...] = ()) -> Run:
        """The newest run of a DAG, once there is one."""
        found: list[str] = []

        def there() -> bool:
            with self.stack.client("viewer") as api:
                runs = api.get(f"/dags/{dag}/dagRuns?order_by=-run_after&limit=5").json()["dag_runs"]
            found[:] = [each["dag_run_id"] for each in runs if each["dag_run_id"] not in but]
            return bool(found)

        wait_for(there, f"a run of {dag}")
        return Run(self.stack, f"/dags/{dag}/dagRuns/{found[0]}")

    def switch_on(self, dag: str) -> None:
        with self.stack.client("operator") as api:
            wait_for(lambda: api.get(f"/dags/{dag}").status_code == 200, f"the DAG {dag}")
            api.patch(f"/dags/{dag}", json={"is_paused": False}).raise_for_status()

    def run_again(self, before: Run) -> Run:
        """*Run release* on the cycle."""
        self.cycle("Run release")
        self.press(self.operator, "Run release")
        return self.newest(but=(before.id,))


@pytest.fixture
def desk(stack: Running, sign_in: Callable[..., Page], picture: Any) -> Desk:
    calendar = {"cycles": {PERIOD: {"opens": OPENED.isoformat(), "deliveries": DUE.isoformat()}}}
    prepare_domains(stack.stack.home, {WEEK: {"governance": {"approvals": 1}, "calendar": calendar}})
    return Desk(stack, sign_in, picture)


def test_a_week_at_the_desk(desk: Desk) -> None:
    run = monday(desk)
    run = tuesday(desk, run)
    run = wednesday(desk, run)
    thursday(desk, run)
    friday(desk)


# --- Monday: the release starts by itself, and stops ------------------------------------------------------------------------------


def monday(desk: Desk) -> Run:
    """A country sent another one's file, one a broken file, one none at all."""
    inbox = desk.stack.deliver(WEEK, countries=("AT", "CY"))
    (inbox / f"BE_{PERIOD}.csv").write_bytes((inbox / f"AT_{PERIOD}.csv").read_bytes())
    broken(inbox / f"CY_{PERIOD}.csv")
    desk.switch_on(f"eu_release_{WEEK}")  # its deliveries were due: the release starts by itself
    run = desk.newest()
    assert run.wait() == "failed", run.states()

    desk.look(desk.operator, "", "Deliveries late by 2 d", "2 refused", "1 alert", name="monday-board")
    tiles = desk.cycle("BG", name="monday-cycle").locator("li.tile")
    for country, state in (("BE", "refused"), ("CY", "refused"), ("BG", "awaited")):
        expect(tiles.filter(has=desk.operator.get_by_text(country, exact=True))).to_contain_text(state)
    desk.look(desk.operator, f"cycle/{WEEK}/{PERIOD}/findings/BE", "AT", "Expected", name="monday-other-country")
    page = desk.look(desk.operator, f"cycle/{WEEK}/{PERIOD}/findings/CY", "is not a number", name="monday-findings")
    page.get_by_role("link", name="Page to print and send").click()
    expect(page.get_by_text("is not a number").first).to_be_visible()
    last_line(desk, run)

    def told(sent: list[Any]) -> bool:
        return any("BG" in str(each) and WEEK in str(each) for each in sent)

    wait_for(lambda: told(desk.stack.hooked) and told([str(each) for each in desk.stack.mailed]), "the alert by webhook and by mail", 300)
    assert not any("AT" in str(each) and WEEK in str(each) for each in desk.stack.hooked), "who has sent is not late"
    return run


def last_line(desk: Desk, run: Run) -> None:
    """The log of a refused task ends with the sentence for the operator, outside of what is folded."""
    task = run.tasks()[f"ingest CY_{PERIOD}"]
    desk.operator.goto(
        f"{desk.stack.url}/dags/{run.dag_id}/runs/{run.id}/tasks/ingest/mapped/{task['map_index']}?try_number={task['try_number']}"
    )
    sentence = desk.operator.get_by_text(re.compile("CY_2024.*refused|refused.*CY")).last
    expect(sentence).to_be_visible()
    desk.picture(desk.operator, "week-monday-log")
    assert desk.operator.get_by_text("Traceback").count() == 0


# --- Tuesday: corrections, and a second file --------------------------------------------------------------------------------------


def tuesday(desk: Desk, before: Run) -> Run:
    """Two corrections are cleared by one button; a second file of a country waits for a person."""
    inbox = desk.stack.deliver(WEEK)
    second = (inbox / f"AT_{PERIOD}.csv").read_bytes()
    desk.cycle()
    desk.press(desk.operator, "Clear all corrected countries")
    wait_for(lambda: before.states().get(f"ingest BE_{PERIOD}") == "success", before.states)
    wait_for(lambda: before.state in ENDED, before.states)
    tiles = desk.cycle("BE").locator("li.tile")
    expect(tiles.filter(has=desk.operator.get_by_text("CY", exact=True))).to_contain_text("accepted")

    (inbox / "AT_new.csv").write_bytes(second.replace(b"\n", b"\r\n"))
    run = desk.run_again(before)
    run.wait()
    desk.cycle("second file waits", name="tuesday-second")
    page = desk.look(desk.operator, f"cycle/{WEEK}/{PERIOD}/findings/AT", "A second file of")
    desk.press(page, "Keep the file that counts", "Ms Huber on the telephone: the same figures")
    assert desk.newest("second_file").wait() == "success"
    run = desk.run_again(run)
    run.wait_for("approve_1", *ASKED)
    desk.cycle("1 approval is missing", name="tuesday-asked")
    return run


# --- Wednesday: three answers -----------------------------------------------------------------------------------------------------


def wednesday(desk: Desk, run: Run) -> Run:
    """The submitter's answer does not count, the first release is rejected, the second overtaken by a delivery, the third goes out."""
    for address in ("", f"cycle/{WEEK}/{PERIOD}"):
        assert desk.look(desk.viewer, address).locator("button.act:enabled").count() == 0
    desk.answer(desk.operator, run, "Approve", name="wednesday-question")
    desk.cycle("an answer does not count", name="wednesday-own-answer")
    desk.answer(desk.approver, run, "Reject", "CY looks ten times too large")
    assert run.wait() == "failed"
    desk.look(desk.operator, "", "Rejected by approver", "CY looks ten times too large", name="wednesday-rejected")
    desk.cycle("Rejected by approver")

    inbox = desk.stack.inbox / WEEK / PERIOD
    corrected(inbox / f"CY_{PERIOD}.csv", inbox / f"CY_{PERIOD}_v2.csv")
    overtaken = desk.run_again(run)
    overtaken.wait_for("approve_1", *ASKED)
    desk.switch_on(f"national_delivery_{WEEK}")
    corrected(inbox / f"BG_{PERIOD}.csv", inbox / f"BG_{PERIOD}_v2.csv")
    desk.look(desk.operator, "", "Newer deliveries wait")
    desk.cycle("Newer deliveries wait", name="wednesday-newer")
    desk.answer(desk.approver, overtaken, "Approve")
    overtaken.wait_for("approve_1", *ASKED)  # asks again

    run = desk.run_again(overtaken)
    run.wait_for("approve_1", *ASKED)
    wait_for(lambda: overtaken.states()["approve_1"] == "skipped", lambda: f"the question closes: {overtaken.states()}")
    desk.answer(desk.approver, run, "Approve")
    assert run.wait() == "success", run.states()
    desk.look(desk.operator, f"history/{WEEK}", "published")
    said = desk.cycle("published", name="wednesday-published").locator("section:has(#steps) th[scope=row]").all_inner_texts()
    graph = ("discover", "assemble", "bases", "verdict", "publish")
    places = [next(place for place, step in enumerate(said) if step.startswith(name)) for name in graph]
    assert places == sorted(places), said
    return run


# --- Thursday: stale, taken back, sealed ------------------------------------------------------------------------------------------


def thursday(desk: Desk, run: Run) -> None:
    """What is out is found stale and taken back; another domain is sealed until an instant."""
    inbox = desk.stack.inbox / WEEK / PERIOD
    corrected(inbox / f"CY_{PERIOD}_v2.csv", inbox / f"CY_{PERIOD}_v3.csv")
    page = desk.look(desk.operator, f"history/{WEEK}", "published", "stale")
    page.get_by_role("row").filter(has_text="stale").get_by_role("link").first.click()
    expect(page.get_by_role("button", name="Retract")).to_be_visible()
    for link in ("Report", "Table", "Certificate", "Deliveries", "Run in Airflow"):
        expect(page.get_by_role("link", name=re.compile(f"^{link}")).first).to_be_visible()
    assert not re.search(r"time limit|out of time|seconds left", page.inner_text("body"))
    desk.picture(page, "week-thursday-stale", full_page=True)
    release = page.url.rpartition("/")[2]
    desk.press(page, "Retract", "CY sent thousands for millions")
    taking = desk.newest("retract_release")
    taking.wait_for(next(name for name in wait_tasks(taking) if name.startswith("approve")), *ASKED)
    desk.answer(desk.approver, taking, "Approve", name="thursday-retract")
    assert taking.wait() == "success", taking.states()
    desk.look(desk.operator, f"release/{release}", "Retracted", "CY sent thousands for millions", name="thursday-retracted")

    until = datetime.now(UTC) + timedelta(minutes=4)
    calendar = {"cycles": {PERIOD: {"opens": OPENED.isoformat(), "embargo": until.isoformat()}}}
    prepare_domains(desk.stack.stack.home, {SEALED: {"calendar": calendar}})
    desk.stack.deliver(SEALED)
    desk.switch_on(f"after_embargo_{SEALED}")
    desk.switch_on(f"eu_release_{SEALED}")
    sealed = desk.newest(f"eu_release_{SEALED}")
    assert sealed.wait() == "success", sealed.states()
    page = desk.look(desk.viewer, f"cycle/{SEALED}/{PERIOD}", "under embargo", name="thursday-sealed")
    page.get_by_role("link", name="Protection of").click()
    assert page.get_by_role("link", name=re.compile("^Table")).count() == 0
    assert datetime.now(UTC) < until
    desk.look(desk.viewer, f"release/{page.url.rpartition('/')[2]}", "table.csv", name="thursday-opened")


def wait_tasks(run: Run) -> list[str]:
    """The tasks of a run, once it has some."""
    wait_for(lambda: bool(run.tasks()), "its tasks")
    return list(run.tasks())


# --- Friday: two periods, one country, no database --------------------------------------------------------------------------------


def friday(desk: Desk) -> None:
    """A question of one period holds back no other; a country over all periods; the database is away."""
    waiting = desk.run_again(desk.newest())
    waiting.wait_for("approve_1", *ASKED)
    desk.stack.deliver(WEEK, "2023")
    other = desk.stack.trigger(WEEK, period="2023")
    other.wait_for("approve_1", *ASKED)
    assert waiting.states()["approve_1"] in ASKED
    page = desk.look(desk.operator, "", "Must agree", name="friday-board")
    page.get_by_label("Find a domain").fill(f"{WEEK} 2023")
    expect(page.locator("li.card:visible")).to_have_count(1)
    desk.look(desk.operator, "country/CY", f"{WEEK} {PERIOD}", f"{WEEK} 2023", name="friday-country")
    desk.answer(desk.approver, waiting, "Approve")
    desk.answer(desk.approver, other, "Approve")
    assert (waiting.wait(), other.wait()) == ("success", "success")

    stop_server(desk.stack.stack, "postgres")
    try:
        desk.viewer.goto(f"{desk.stack.url}/sdc/cycle/{WEEK}/{PERIOD}")
        expect(desk.viewer.get_by_text(re.compile("database|warehouse")).first).to_be_visible()
        desk.picture(desk.viewer, "week-friday-away")
    finally:
        start_server(desk.stack.stack, "postgres")
    assert process(desk.stack.stack, "postgres") is not None
    desk.cycle("published")


# --- what countries send ----------------------------------------------------------------------------------------------------------


def broken(file: Path) -> None:
    """Its first figure is no number."""
    file.write_bytes(re.sub(rf"(?m)^(.*?[,;]{PERIOD}[,;])\d+".encode(), rb"\g<1>?", file.read_bytes(), count=1))


def corrected(file: Path, name: Path) -> None:
    """The same table under another name, with twice the figures: all its sums hold, and so do the shares of its enterprises."""
    head, *lines = file.read_text(encoding="utf-8-sig").splitlines()
    separator = ";" if ";" in head else ","
    place = head.split(separator).index("OBS_VALUE")
    rows = [line.split(separator) for line in lines]
    for row in rows:
        whole, point, rest = row[place].partition("," if separator == ";" else ".")
        assert not rest.strip("0"), "figures with decimals are not doubled so"
        row[place] = f"{2 * int(whole)}{point}{rest}"
    name.write_text("\n".join([head, *(separator.join(row) for row in rows)]) + "\n", encoding="utf-8")
