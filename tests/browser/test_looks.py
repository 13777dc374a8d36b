"""Every page as people see it: light and dark, on a screen of 1280 and a phone of 390, over an
office with a release in every state.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from support.ui.looks import PHONE, SCREEN, faults
from support.ui.office import DOMAIN, Office, open_office
from support.ui.statistic import open_statistic
from support.waiting import until

pytestmark = pytest.mark.stack
ROOT = Path(__file__).resolve().parents[2]
VIEWER, OPERATOR = "viewer", "operator"


@dataclass(frozen=True)
class Desk:
    """An api-server over an office."""

    url: str
    office: Office

    @property
    def pages(self) -> dict[str, str]:
        """Name of the picture → address."""
        made = self.office.releases
        return {
            "pages-board": "/sdc/",
            "late": f"/sdc/cycle/{DOMAIN}/2024",
            "pages-findings": f"/sdc/cycle/{DOMAIN}/2024/findings/CY",
            "letter": f"/sdc/cycle/{DOMAIN}/2024/findings/CY/letter",
            "sent": f"/sdc/cycle/{DOMAIN}/2018/findings/AT",
            "country": "/sdc/country/CY",
            "pages-waiting": f"/sdc/cycle/{DOMAIN}/2023",
            "release": f"/sdc/release/{made['second']}",
            "blocked": f"/sdc/release/{made['blocked']}",
            "embargoed": f"/sdc/release/{made['embargoed']}",
            "compared": f"/sdc/compare/{made['first']}/{made['second']}",
            "retracted": f"/sdc/history/{DOMAIN}",
            "back": f"/sdc/release/{made['retracted']}",
            "rejected": f"/sdc/release/{made['rejected']}",
            "failed": f"/sdc/release/{made['failed']}",
            "statistic": "/sdc/cycle/main/2024",
            "statistic-out": "/sdc/cycle/sizes/2023",
            "nowhere": "/sdc/release/nothing-2024",
            "nothing": "/sdc/run/nothing/nothing",
        }


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """Airflow's api-server as a process of its own, on SQLite."""
    home = tmp_path_factory.mktemp("desk")
    office = open_office(home, planted=False)
    open_statistic(home)  # into the same warehouse
    (home / "passwords.json").write_text(json.dumps({VIEWER: VIEWER, OPERATOR: OPERATOR}), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags"),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(ROOT / "plugins"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}",
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": f"{VIEWER}:viewer,{OPERATOR}:op",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(home / "passwords.json"),
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
        "SDC_WAREHOUSE_URL": office.url,
    }
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "SDC"))}
    airflow = str(Path(sys.executable).with_name("airflow"))
    subprocess.run([airflow, "db", "migrate"], env=inherited | settings, check=True, capture_output=True)
    with (
        closing(sqlite3.connect(home / "airflow.db")) as database,
        database,
    ):  # a morning on which all services work
        beats = [
            (each, f"{datetime.now(UTC) + timedelta(days=1):%F %T}")
            for each in ("SchedulerJob", "TriggererJob", "DagProcessorJob")
        ]
        database.executemany(
            "INSERT INTO job (state, job_type, latest_heartbeat) VALUES ('running', ?, ?)", beats
        )
    with (home / "api-server.log").open("wb") as log:
        server = subprocess.Popen(
            [airflow, "api-server"], env=inherited | settings, stdout=log, stderr=log, start_new_session=True
        )
        try:
            wait_until_it_answers(f"http://127.0.0.1:{port}/api/v2/version", server)
            yield Desk(f"http://127.0.0.1:{port}", office)
        finally:
            os.killpg(server.pid, signal.SIGTERM)  # the session that we started
            server.wait(30)


def wait_until_it_answers(url: str, server: subprocess.Popen[bytes], seconds: float = 240) -> None:
    def answers() -> bool:
        try:
            with urlopen(url, timeout=5):
                return True
        except (URLError, TimeoutError):
            return False

    assert until(lambda: server.poll() is not None or answers(), seconds, pause=0.5), (
        f"the api-server does not answer at {url}"
    )
    assert server.poll() is None, "the api-server has ended"


def test_every_page_at_every_size_and_in_both_colours(
    desk: Desk, sign_in: Callable[..., Page], picture: Any
) -> None:
    page = sign_in(desk.url, OPERATOR, OPERATOR)
    trouble: list[str] = []
    page.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    grounds = {}
    for theme in ("light", "dark"):
        page.evaluate(f"localStorage.setItem('theme', '{theme}')")
        for size in (SCREEN, PHONE):
            page.set_viewport_size(size)
            for name, address in desk.pages.items():
                page.goto(desk.url + address)
                assert faults(page) == [], f"{name} {theme} {size}"
                grounds[theme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
                suffix = ("" if size == SCREEN else "-phone") + ("" if theme == "light" else "-dark")
                picture(page, name + suffix, full_page=True)
    assert grounds["light"] != grounds["dark"]
    assert [each for each in trouble if "404" not in each] == []


@pytest.mark.parametrize(
    "name", ["pages-board", "late", "pages-findings", "country", "release", "pages-waiting", "statistic"]
)
@pytest.mark.parametrize("width", [1280, 390])
def test_the_keyboard_reaches_everything_and_one_sees_where_it_is(
    desk: Desk, sign_in: Callable[..., Page], name: str, width: int
) -> None:
    page = sign_in(desk.url, OPERATOR, OPERATOR)
    page.set_viewport_size({"width": width, "height": 860})
    page.goto(desk.url + desk.pages[name])
    page.evaluate("document.querySelector('dialog')?.remove()")  # closed
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    wanted = set(page.evaluate(f"() => {{ {PLACES} return {REACHABLE}.map(place) }}"))
    reached = set()
    for step in range(len(wanted)):
        page.keyboard.press("Tab")
        where, outline, text = page.evaluate(f"""() => {{
          {PLACES} const found = document.activeElement;
          return [place(found), getComputedStyle(found).outlineStyle, found.outerHTML.slice(0, 300)];
        }}""")
        assert outline != "none", f"{name} {width}: no sign that the focus is here: {text}"
        reached.add(where)
        if step == 0:
            assert "Skip to the content" in text
            assert page.get_by_text("Skip to the content").bounding_box()["x"] >= 0  # type: ignore[index]
    assert reached == wanted, f"{name} {width}"


PLACES = "const all = [...document.querySelectorAll('*')]; const place = (each) => all.indexOf(each);"
REACHABLE = "[...document.querySelectorAll('a, summary, button:enabled, input, [tabindex=\"0\"]')]"


def test_a_change_of_colours_in_airflow_reaches_the_frame(desk: Desk, sign_in: Callable[..., Page]) -> None:
    page = sign_in(desk.url, VIEWER, VIEWER)
    page.goto(f"{desk.url}/plugin/releases")
    inside = page.frame_locator("iframe[title=Releases]")
    inside.get_by_role("heading", name="Releases", exact=True).wait_for()
    page.evaluate("localStorage.setItem('theme', 'dark')")
    inside.locator("html.dark").wait_for()
    page.evaluate("localStorage.setItem('theme', 'light')")
    inside.locator("html:not(.dark)").wait_for()


def test_an_action_asks_first_and_tells_what_airflow_answers(
    desk: Desk, sign_in: Callable[..., Page], picture: Any
) -> None:
    page = sign_in(desk.url, OPERATOR, OPERATOR)
    page.goto(f"{desk.url}/plugin/releases/sdc/release/{desk.office.releases['second']}")
    inside = page.frame_locator("iframe[title=Releases]")
    button, dialog = inside.get_by_role("button", name="Retract"), inside.get_by_role("dialog")
    button.focus()
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("textbox")).to_be_focused()
    picture(page, "question")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(button).to_be_focused()
    button.click()
    dialog.get_by_role("button", name="Confirm").click()
    expect(dialog.get_by_role("status")).to_have_text("Give a reason.")
    dialog.get_by_role("textbox").fill("AT sent thousands for millions")
    with page.expect_request("**/api/v2/dags/retract_release/dagRuns") as sent:
        dialog.get_by_role("button", name="Confirm").click()
    assert sent.value.post_data_json["conf"] == {
        "release": desk.office.releases["second"],
        "reason": "AT sent thousands for millions",
    }
    expect(dialog.get_by_role("status")).to_have_text(
        "Refused: Airflow does not know this DAG or run."
    )  # no DAG is parsed here


def test_a_viewer_can_press_no_button(desk: Desk, sign_in: Callable[..., Page]) -> None:
    page = sign_in(desk.url, VIEWER, VIEWER)
    for address in desk.pages.values():
        page.goto(desk.url + address)
        assert page.locator("button.act:enabled").count() == 0, address


def test_the_search_of_the_board_works_by_keyboard(desk: Desk, sign_in: Callable[..., Page]) -> None:
    page = sign_in(desk.url, VIEWER, VIEWER)
    page.goto(f"{desk.url}/sdc/")
    cards = page.locator("li.card:visible")
    everything, out = cards.count(), page.locator("tr[data-find]").count()
    page.get_by_label("Find a domain").focus()
    page.keyboard.type("refused cyprus")
    expect(page.locator("#found")).to_have_text(f"1 of {everything + out} cycles")
    expect(cards).to_have_count(1)
    expect(cards).to_contain_text("2024")
    expect(page.get_by_role("link", name="CY Cyprus")).to_be_hidden()  # `refused` is no word of a country
    page.keyboard.press("Control+A")
    page.keyboard.type("2020")
    expect(page.get_by_role("row").filter(has_text="2020")).to_be_visible()  # what is out is unfolded
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    expect(cards).to_have_count(everything)
