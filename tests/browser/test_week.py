"""A week at the desk, in the browser: deliveries are refused and corrected, a release is rejected,
overtaken, published, taken back.

Each day is a step of one story over a domain of four countries, and over one that is sealed by an
embargo. The operator works by keyboard, on some days with a phone. Every page of ours that the week
shows is examined at both widths.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Error as BrowserError
from playwright.sync_api import FrameLocator, Page, expect
from sqlalchemy import create_engine, text
from stack import start_server, stop_server

from support.stack_fixture import APPROVED, DUE, ENDED, LATE, PERIOD, Run, Running, prepare_domains, wait_for
from support.ui.looks import PHONE, SCREEN, faults

pytestmark = pytest.mark.stack
ASKED = ("deferred", "awaiting_input")
BEFORE = "2023"
SEALED_FOR = timedelta(minutes=6)


@dataclass
class Desk:
    """The people of the week, each in a window of their own, and what they look at."""

    stack: Running
    domain: str
    sealed: str
    opening: datetime  # the end of the embargo
    operator: Page
    approver: Page
    viewer: Page
    picture: Any

    @property
    def inbox(self) -> Path:
        return self.stack.inbox / self.domain / PERIOD

    def look(self, page: Page, address: str, *texts: str, name: str | None = None) -> Page:
        """Opens a page of ours, again and again until it shows these texts. One with a
        name is examined at both widths.
        """
        url = f"{self.stack.url}/sdc/{address}"

        def shown() -> bool:
            with suppress(BrowserError):  # a server that is away just now shows nothing
                page.goto(url)
                return all(each in seen(page) for each in texts)
            return False

        wait_for(shown, lambda: f"{texts} on {address}: {seen(page)[:3000]}")
        if name:
            self.examine(page, name)
        return page

    def examine(self, page: Page, name: str) -> None:
        """Looks for faults at both widths, and takes a picture of each."""
        own = page.viewport_size
        for size, suffix in ((PHONE, "-phone"), (SCREEN, "")):
            page.set_viewport_size(size)  # type: ignore[arg-type]
            assert faults(page) == [], f"{name}{suffix}"
            self.picture(page, f"week-{name}{suffix}", full_page=True)
        page.set_viewport_size(own)  # type: ignore[arg-type]

    def cycle(self, *texts: str, period: str = PERIOD, name: str | None = None) -> Page:
        return self.look(self.operator, f"cycle/{self.domain}/{period}", *texts, name=name)

    def findings(self, country: str, *texts: str, name: str) -> Page:
        return self.look(self.operator, f"cycle/{self.domain}/{PERIOD}/findings/{country}", *texts, name=name)

    def answer(self, page: Page, run: Run, option: str, note: str = "") -> None:
        """Answers the question of a run in Airflow's own pages."""
        page.goto(f"{self.stack.url}/dags/{run.dag_id}/runs/{quote(run.id)}/required_actions")
        self.choose(page, option, note)

    def choose(self, page: Page, option: str, note: str = "", picture: str | None = None) -> None:
        """Answers the question that is shown."""
        expect(
            page.get_by_text(re.compile("May this (publication go out|release be taken back)")).first
        ).to_be_visible()
        dialog = page.get_by_role("dialog")
        button = dialog.get_by_role("button", name=option, exact=True)
        expect(button).to_be_visible()
        if note:
            dialog.get_by_role("textbox").last.fill(note)
            expect(dialog.get_by_role("textbox").last).to_have_value(note)
        if picture:
            button.scroll_into_view_if_needed()
            self.picture(page, picture)
        with page.expect_response(
            lambda each: each.request.method == "PATCH" and "hitlDetails" in each.url
        ) as answer:
            button.press("Enter")
        assert answer.value.status == 200, answer.value.text()

    def asked_again(self, run: Run) -> bool:
        """Whether the question stands, and nobody has answered it."""
        with self.stack.client("viewer") as api:
            hitl = api.get(f"{run.path}/taskInstances/approve_1/-1/hitlDetails").json()
        return run.states()["approve_1"] in ASKED and hitl["response_received"] is False

    def runs(self, dag: str) -> tuple[str, ...]:
        """The ids of the runs of a DAG, the newest first."""
        with self.stack.client("viewer") as api:
            found = api.get(f"/dags/{dag}/dagRuns?order_by=-run_after").json().get("dag_runs", [])
        return tuple(each["dag_run_id"] for each in found)

    def newest(self, dag: str, but: tuple[str, ...] = ()) -> Run:
        """The newest run of a DAG but these, once there is one."""
        found: list[str] = []

        def there() -> bool:
            found[:] = [each for each in self.runs(dag) if each not in but]
            return bool(found)

        wait_for(there, f"a run of {dag}")
        return Run(self.stack, f"/dags/{dag}/dagRuns/{found[0]}")

    def switch_on(self, dag: str) -> None:
        with self.stack.client("operator") as api:
            wait_for(lambda: api.get(f"/dags/{dag}").status_code == 200, f"the DAG {dag}")
            api.patch(f"/dags/{dag}", json={"is_paused": False}).raise_for_status()

    def run_release(self) -> Run:
        """*Run release* on the cycle, and the run that it makes."""
        dag = f"eu_release_{self.domain}"
        known = self.runs(dag)
        press(self.cycle("Run release"), "Run release")
        return self.newest(dag, known)

    def published(self) -> list[int]:
        """The versions of the period whose tables the world sees."""
        return [
            int(each)
            for each in self._rows(
                self.stack.public_url, "SELECT DISTINCT version FROM dissemination.public_cell"
            )
        ]

    def approvers(self) -> list[str]:
        return self._rows(
            self.stack.warehouse_url,
            "SELECT approver FROM operations.approval JOIN operations.run USING (release_id)",
        )

    def _rows(self, address: str, query: str) -> list[str]:
        engine = create_engine(address)
        with engine.connect() as connection:
            where = f"{query} WHERE domain = :domain AND period = :period ORDER BY 1"
            found = list(connection.execute(text(where), {"domain": self.domain, "period": PERIOD}).scalars())
        engine.dispose()
        return found


@pytest.fixture
def desk(stack: Running, sign_in: Callable[..., Page], picture: Any) -> Desk:
    domain = next(
        each
        for each in ("week", *(f"week_{number}" for number in range(2, 99)))
        if not (stack.inbox / each).exists()
    )
    if domain != "week":  # a stack that was found again
        prepare_domains(stack.stack.home, {domain: APPROVED | LATE})
    opening = (datetime.now(UTC) + SEALED_FOR).replace(microsecond=0)
    embargo = {
        "cycles": {PERIOD: {"opens": (DUE - timedelta(days=30)).isoformat(), "embargo": opening.isoformat()}}
    }
    prepare_domains(stack.stack.home, {f"{domain}_sealed": {"calendar": embargo}})
    stack.deliver(f"{domain}_sealed")
    people = [sign_in(stack.url, name, stack.passwords[name]) for name in ("operator", "approver", "viewer")]
    return Desk(stack, domain, f"{domain}_sealed", opening, *people, picture)


def test_a_week_at_the_desk(desk: Desk) -> None:
    run = monday(desk)
    run = tuesday(desk, run)
    wednesday(desk, run)
    thursday(desk)
    friday(desk)
    weekend(desk)


# --- Monday: the release starts by itself, and stops --------------------------------------------------------


def monday(desk: Desk) -> Run:
    """A country sent another one's file, one a broken file, one none at all."""
    inbox = desk.stack.deliver(desk.domain, countries=("AT", "CY"))
    (inbox / f"BE_{PERIOD}.csv").write_bytes((inbox / f"AT_{PERIOD}.csv").read_bytes())
    broken(inbox / f"CY_{PERIOD}.csv")
    desk.switch_on(f"eu_release_{desk.domain}")  # its deliveries were due: the release starts by itself
    run = desk.newest(f"eu_release_{desk.domain}")
    assert run.wait() == "failed", run.states()
    desk.switch_on(f"after_embargo_{desk.sealed}")
    desk.switch_on(f"eu_release_{desk.sealed}")

    page = desk.operator
    page.get_by_role("link", name="Releases").click()
    card = (
        frame(page)
        .get_by_role("listitem")
        .filter(has=page.get_by_role("heading", name=f"{desk.domain} {PERIOD}", exact=True))
    )
    for told in ("2 refused", "1 awaited", "1 accepted", "Deliveries late by 2 d"):
        expect(card).to_contain_text(re.compile(told.replace(" ", r"\s")))
    desk.picture(page, "board")
    card.get_by_role("link", name=f"{desk.domain} {PERIOD}", exact=True).press("Enter")
    tiles = frame(page).locator("li.tile")
    for country, state in (("AT", "accepted"), ("BE", "refused"), ("BG", "awaited"), ("CY", "refused")):
        expect(tiles.filter(has_text=country)).to_contain_text(state)
    frame(page).get_by_role("link", name="CY Cyprus").press("Enter")
    expect(frame(page).get_by_text("is not a plain number").first).to_be_visible()
    page.wait_for_url(
        f"**/plugin/releases/sdc/cycle/{desk.domain}/{PERIOD}/findings/CY"
    )  # an address that can be sent to somebody
    desk.picture(page, "findings")

    desk.look(page, "", f"{desk.domain} {PERIOD}", name="monday-board")
    desk.cycle("BE", name="monday-cycle")
    desk.findings(
        "BE", "the same bytes as AT_2024.csv, which is the delivery of AT", name="monday-other-country"
    )
    desk.findings("CY", name="monday-findings").get_by_role("link", name="Page to print and send").press(
        "Enter"
    )
    expect(page.get_by_text("is not a plain number").first).to_be_visible()
    desk.examine(page, "monday-letter")
    ends_with_the_sentence(desk, run)
    late(desk)
    under_embargo(desk)
    return run


def ends_with_the_sentence(desk: Desk, run: Run) -> None:
    """The log of a refused task ends with what the operator should know; how the program came
    there is not unfolded above it.
    """
    task = run.tasks()[f"ingest CY_{PERIOD}"]
    desk.operator.goto(
        f"{desk.stack.url}/dags/{run.dag_id}/runs/{quote(run.id)}/tasks/ingest/mapped/{task['map_index']}"
    )
    sentence = desk.operator.get_by_text(re.compile(f"CY_{PERIOD}.csv refused, 1 error")).last
    expect(sentence).to_be_visible()
    expect(desk.operator.get_by_text("Where the program stopped")).to_be_visible()
    expect(desk.operator.get_by_text('File "').first).to_be_hidden()
    desk.picture(desk.operator, "week-monday-log")


def late(desk: Desk) -> None:
    """Three countries have no accepted file: an alert for each, the same by web hook and
    mail. Who has sent is not late.
    """

    def told(sent: list[Any]) -> set[str]:
        mine = [str(each) for each in sent if f"{desk.domain} {PERIOD}: " in str(each)]
        return {
            country
            for country in ("AT", "BE", "BG", "CY")
            if any(f"no accepted delivery from {country}" in each for each in mine)
        }

    late = {"BE", "BG", "CY"}
    wait_for(
        lambda: told(desk.stack.hooked) == late == told(desk.stack.mailed),
        lambda: f"{desk.stack.hooked} {desk.stack.mailed}",
    )
    assert all(each["days"] == "2" for each in desk.stack.hooked if each["domain"] == desk.domain)
    desk.look(desk.operator, "", "3 alerts")


def under_embargo(desk: Desk) -> None:
    """The other domain is published, and nobody outside sees it yet; the page has no value and no table."""
    sealed = desk.newest(f"eu_release_{desk.sealed}")
    assert sealed.wait() == "success", sealed.states()
    desk.look(desk.viewer, f"cycle/{desk.sealed}/{PERIOD}", "under embargo")
    desk.viewer.get_by_role("link", name="Protection of").press("Enter")
    expect(desk.viewer.get_by_text("Nobody outside sees this table before")).to_be_visible()
    assert desk.viewer.get_by_role("link", name=re.compile("table.csv")).count() == 0
    desk.examine(desk.viewer, "monday-sealed")
    assert datetime.now(UTC) < desk.opening, "the embargo ended before its release was made"


# --- Tuesday: corrections, and a second file ----------------------------------------------------------------


def tuesday(desk: Desk, before: Run) -> Run:
    """Two corrections are cleared by one button; a second file of a country waits for a
    person. The operator has a phone.
    """
    page = desk.operator
    inbox = desk.stack.deliver(desk.domain)
    (inbox / "AT_new.csv").write_bytes((inbox / f"AT_{PERIOD}.csv").read_bytes().replace(b"\n", b"\r\n"))
    read = before.tasks()
    page.goto(f"{desk.stack.url}/dags/{before.dag_id}/runs/{quote(before.id)}")
    page.get_by_role("link", name="Release", exact=True).click()
    tab = frame(page, "Release")
    expect(tab.get_by_role("heading", name="Countries")).to_be_visible()
    desk.picture(page, "run")
    refused_to_viewers(desk, before)
    press(tab, "Clear all corrected countries", picture=lambda: desk.picture(page, "clear"))
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    wait_for(
        lambda: before.states()[f"ingest BE_{PERIOD}"] == "success" and before.state in ENDED, before.states
    )
    again = {
        name
        for name, each in before.tasks().items()
        if name.startswith("ingest ") and each["start_date"] != read[name]["start_date"]
    }
    assert again == {f"ingest BE_{PERIOD}", f"ingest CY_{PERIOD}"}, "nobody else's delivery was touched"

    run = desk.run_release()
    assert run.wait() == "failed", run.states()
    desk.look(page, "", "second file waits", name="tuesday-board")
    desk.cycle("second file waits", "A second file of Austria waits.", name="tuesday-second")
    assert page.get_by_role("button", name="Clear").count() == 0, "what waits for an answer is not cleared"
    desk.findings("AT", "A second file of Austria", name="tuesday-answers")
    known = desk.runs("second_file")
    press(page, "Keep the file that counts", "Ms Huber on the telephone: the same figures")
    assert desk.newest("second_file", known).wait() == "success"
    run = desk.run_release()
    run.wait_for("approve_1", *ASKED)
    desk.cycle("1 approval is missing", name="tuesday-asked")
    page.set_viewport_size(SCREEN)  # type: ignore[arg-type]
    return run


def refused_to_viewers(desk: Desk, run: Run) -> None:
    """Who may only read has no button to press, and Airflow refuses what he sends without one."""
    clear = {
        "dry_run": False,
        "dag_run_id": run.id,
        "task_ids": ["ingest"],
        "include_downstream": True,
        "reset_dag_runs": True,
    }
    for address in (f"cycle/{desk.domain}/{PERIOD}", f"cycle/{desk.domain}/{PERIOD}/findings/CY"):
        page = desk.look(desk.viewer, address, "Your role may read, not act.")
        assert page.locator("button.act:enabled").count() == 0
    with desk.stack.client("viewer") as viewer:
        assert viewer.post(f"/dags/{run.dag_id}/clearTaskInstances", json=clear).status_code == 403


# --- Wednesday: an answer that does not count, and a refusal ------------------------------------------------


def wednesday(desk: Desk, run: Run) -> None:
    """The submitter's own answer does not count. Another person rejects the release."""
    desk.answer(desk.operator, run, "Approve")
    desk.cycle("an answer does not count", name="wednesday-own-answer")
    wait_for(lambda: desk.asked_again(run), run.states)
    assert desk.published() == []
    desk.answer(desk.approver, run, "Reject", "CY looks ten times too large")
    assert run.wait() == "failed"
    desk.look(
        desk.operator, "", "Rejected by approver", "CY looks ten times too large", name="wednesday-rejected"
    )


# --- Thursday: overtaken, and out ---------------------------------------------------------------------------


def thursday(desk: Desk) -> None:
    """A delivery overtakes the next release while somebody is asked: his answer does not count, and the
    question closes itself when a later run asks. That one goes out. Meanwhile another period waits.
    """
    desk.stack.deliver(desk.domain, BEFORE)
    earlier = desk.stack.trigger(desk.domain, period=BEFORE)
    corrected(desk.inbox / f"CY_{PERIOD}.csv", desk.inbox / f"CY_{PERIOD}_v2.csv")
    overtaken = desk.run_release()
    overtaken.wait_for("approve_1", *ASKED)
    desk.switch_on(f"national_delivery_{desk.domain}")
    corrected(desk.inbox / f"BG_{PERIOD}.csv", desk.inbox / f"BG_{PERIOD}_v2.csv")
    desk.look(desk.operator, "", "Newer deliveries wait")
    desk.cycle(
        "Newer deliveries wait",
        "Run the release again: it takes in the newer deliveries. Or somebody",
        name="thursday-newer",
    )
    desk.answer(desk.approver, overtaken, "Approve")
    wait_for(lambda: desk.asked_again(overtaken), overtaken.states)
    assert desk.published() == []

    run = desk.run_release()
    run.wait_for("approve_1", *ASKED)
    wait_for(
        lambda: overtaken.states()["approve_1"] == "skipped",
        lambda: f"the question closes: {overtaken.states()}",
    )
    assert earlier.states()["approve_1"] in ASKED, "a question about one period holds back no other"

    page = desk.approver
    page.goto(f"{desk.stack.url}/required_actions")
    for period in (BEFORE, PERIOD):
        expect(
            page.get_by_text(
                f"May this publication go out? {desk.domain} {period}, {desk.domain}-{period}-"
            ).first
        ).to_be_visible()
    page.goto(f"{desk.stack.url}/plugin/releases/sdc/cycle/{desk.domain}/{PERIOD}")
    expect(frame(page).get_by_text("1 approval is missing.")).to_be_visible()
    desk.picture(page, "waiting")
    frame(page).get_by_role("link", name="Approve in Airflow").press("Enter")
    page.wait_for_url("**/required_actions*")
    desk.choose(page, "Approve", picture="approve")
    assert run.wait() == "success", run.states()
    assert desk.published() == [1]
    assert desk.approvers() == ["approver"]
    page.goto(f"{desk.stack.url}/dags/{run.dag_id}/runs/{quote(run.id)}/plugin/release")
    tab = frame(page, "Release")
    expect(tab.get_by_text("published", exact=True).first).to_be_visible()
    expect(tab.get_by_text("approver").first).to_be_visible()
    desk.picture(page, "released")
    said = (
        desk.cycle("published", name="thursday-published")
        .locator("section:has(#steps) th[scope=row]")
        .all_inner_texts()
    )
    graph = ("discover", "assemble", "bases", "verdict", "publish")
    places = [next(place for place, step in enumerate(said) if step.startswith(name)) for name in graph]
    assert places == sorted(places), said


# --- Friday: stale, taken back, made again ------------------------------------------------------------------


def friday(desk: Desk) -> None:
    """What is out is found stale, taken back with a second person, and made again. The
    embargo of the other domain ends.
    """
    page = desk.operator
    corrected(desk.inbox / f"CY_{PERIOD}_v2.csv", desk.inbox / f"CY_{PERIOD}_v3.csv")
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    desk.look(page, f"history/{desk.domain}", "stale", name="friday-history")
    page.get_by_role("row").filter(has_text="stale").get_by_role("link").first.press("Enter")
    for link in ("Report", "Table", "Certificate", "Deliveries", "Run in Airflow"):
        expect(page.get_by_role("link", name=re.compile(f"^{link}")).first).to_be_visible()
    desk.examine(page, "friday-stale")
    release = page.url.rpartition("/")[2]
    known = desk.runs("retract_release")
    press(page, "Retract", "CY sent thousands for millions")
    taking = desk.newest("retract_release", known)
    taking.wait_for("agree", *ASKED)
    desk.answer(desk.approver, taking, "Retract")
    assert taking.wait() == "success", taking.states()
    assert desk.published() == []
    desk.look(
        page, f"release/{release}", "Retracted", "CY sent thousands for millions", name="friday-retracted"
    )

    again = desk.run_release()
    again.wait_for("approve_1", *ASKED)
    desk.answer(desk.approver, again, "Approve")
    assert again.wait() == "success", again.states()
    assert desk.published() == [2]
    desk.cycle("published").get_by_role("link", name="Protection of").press("Enter")
    page.get_by_role("link", name="Compare with version 1").press("Enter")
    page.wait_for_url("**/compare/**")
    desk.examine(page, "friday-compared")
    page.set_viewport_size(SCREEN)  # type: ignore[arg-type]

    desk.look(desk.viewer, f"cycle/{desk.sealed}/{PERIOD}", "published")
    desk.viewer.get_by_role("link", name="Protection of").press("Enter")
    desk.viewer.wait_for_url("**/release/**")
    desk.look(desk.viewer, f"release/{desk.viewer.url.rpartition('/')[2]}", "table.csv", name="friday-opened")


# --- The weekend: every period, one country, no database ----------------------------------------------------


def weekend(desk: Desk) -> None:
    """The board over domains and periods, a country over all of them; the database is away."""
    page = desk.look(desk.operator, "", "Must agree", name="weekend-board")
    page.get_by_label("Find a domain").press_sequentially(f"{desk.domain} {BEFORE}")
    expect(page.locator("li.card:visible")).to_have_count(1)
    desk.look(
        page, "country/CY", f"{desk.domain} {PERIOD}", f"{desk.domain} {BEFORE}", name="weekend-country"
    )

    stop_server(desk.stack.stack, "postgres")
    try:
        for address in (f"sdc/cycle/{desk.domain}/{PERIOD}", "plugin/releases"):
            desk.viewer.goto(f"{desk.stack.url}/{address}")
            expect(desk.viewer.get_by_text("Airflow's database does not answer")).to_be_visible()
        desk.examine(desk.viewer, "weekend-away")
    finally:
        start_server(desk.stack.stack, "postgres")
    desk.cycle("published")


# --- what people do, and see --------------------------------------------------------------------------------


def seen(page: Page) -> str:
    """The text of a page, with plain spaces."""
    return re.sub(r"[^\S\n]", " ", page.inner_text("body"))


def frame(page: Page, title: str = "Releases") -> FrameLocator:
    """What is inside Airflow's frame."""
    return page.frame_locator(f"iframe[title={title}]")


def press(
    page: Page | FrameLocator, label: str, said: str | None = None, picture: Callable[[], None] | None = None
) -> None:
    """A button, its question, and Airflow's answer: all of it by keyboard."""
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name=label, exact=True).press("Enter")
    if said is not None:
        dialog.get_by_role("textbox").press_sequentially(said)
    dialog.locator(":focus").press("Tab" if said is not None else "Shift+Tab")
    confirm = dialog.get_by_role("button", name="Confirm")
    expect(confirm).to_be_focused()
    if picture:
        picture()
    confirm.press("Enter")
    expect(dialog.get_by_role("status")).to_contain_text("Done")


# --- what countries send ------------------------------------------------------------------------------------


def broken(file: Path) -> None:
    """Its first figure is no number."""
    file.write_bytes(
        re.sub(rf"(?m)^(.*?[,;]{PERIOD}[,;])\d+".encode(), rb"\g<1>?", file.read_bytes(), count=1)
    )


def corrected(file: Path, name: Path) -> None:
    """The same table under another name, with twice the figures: all its sums hold, and so
    do the shares of its enterprises.
    """
    head, *lines = file.read_text(encoding="utf-8-sig").splitlines()
    separator = ";" if ";" in head else ","
    place = head.split(separator).index("OBS_VALUE")
    rows = [line.split(separator) for line in lines]
    for row in rows:
        whole, point, rest = row[place].partition("," if separator == ";" else ".")
        assert not rest.strip("0"), "figures with decimals are not doubled so"
        row[place] = f"{2 * int(whole)}{point}{rest}"
    name.write_text("\n".join([head, *(separator.join(row) for row in rows)]) + "\n", encoding="utf-8")
