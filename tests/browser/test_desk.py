"""A shift at the desk: a refused file is seen, followed, corrected and cleared by clicks, and a second person lets the release out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from support.stack_fixture import Running, wait_for

pytestmark = pytest.mark.stack
DOMAIN = "desk"


def frame(page: Page, title: str = "Releases") -> FrameLocator:
    """What is inside Airflow's frame."""
    return page.frame_locator(f"iframe[title={title}]")


def unused_period(stack: Running) -> str:
    """A period of which there is no run yet, also in a stack that is found again."""
    with stack.client("viewer") as api:
        wait_for(lambda: api.get(f"/dags/eu_release_{DOMAIN}").status_code == 200, "the DAG")
        return str(2024 + int(api.get(f"/dags/eu_release_{DOMAIN}/dagRuns").json()["total_entries"]))


def test_a_refused_file_is_followed_corrected_and_released(stack: Running, sign_in: Callable[..., Page], picture: Any) -> None:
    period = unused_period(stack)
    broken = stack.deliver(DOMAIN, period) / f"CY_{period}.csv"
    good = broken.read_bytes()
    broken.write_bytes(re.sub(rf"(?m)^(.*?[,;]{period}[,;])\d+".encode(), rb"\g<1>?", good, count=1))
    run = stack.trigger(DOMAIN, period=period)
    assert run.wait() == "failed", run.states()

    page = sign_in(stack.url, "operator", stack.passwords["operator"])
    page.get_by_role("link", name="Releases").click()
    card = frame(page).get_by_role("listitem").filter(has=page.get_by_role("heading", name=f"{DOMAIN} {period}", exact=True))
    expect(card).to_contain_text("1 refused")
    picture(page, "board")
    card.get_by_role("link", name=f"{DOMAIN} {period}", exact=True).click()
    expect(frame(page).get_by_role("heading", name="Countries")).to_be_visible()
    picture(page, "refused")
    frame(page).get_by_role("link", name="CY", exact=False).first.click()
    expect(frame(page).get_by_text("is not a number").first).to_be_visible()
    assert page.url.endswith(f"/plugin/releases/sdc/cycle/{DOMAIN}/{period}/findings/CY"), "the address can be sent to somebody"
    picture(page, "findings")

    page.goto(f"{stack.url}/dags/{run.dag_id}/runs/{quote(run.id)}")
    page.get_by_role("link", name="Release", exact=True).click()
    tab = frame(page, "Release")
    expect(tab.get_by_role("heading", name="Countries")).to_be_visible()
    picture(page, "run")

    broken.write_bytes(good)
    tab.get_by_role("button", name=f"Clear CY_{period}").click()
    dialog = tab.get_by_role("dialog")
    expect(dialog).to_contain_text("with Downstream")
    picture(page, "clear")
    with page.expect_response(lambda answer: '"dry_run":false' in (answer.request.post_data or "")) as answer:
        dialog.get_by_role("button", name="Confirm").click()
    assert answer.value.status == 200
    expect(dialog.get_by_role("status")).to_contain_text("Done")

    run.wait_for("approve_1", "deferred", "awaiting_input")
    page = sign_in(stack.url, "approver", stack.passwords["approver"])
    page.goto(f"{stack.url}/plugin/releases/sdc/cycle/{DOMAIN}/{period}")
    expect(frame(page).get_by_text("1 approval is missing.")).to_be_visible()
    picture(page, "waiting")
    frame(page).get_by_role("link", name="Approve in Airflow").click()
    page.wait_for_url("**/required_actions*")
    expect(page.get_by_text("May this publication go out?")).to_be_visible()
    button = page.get_by_role("dialog").get_by_role("button", name="Approve", exact=True)
    button.scroll_into_view_if_needed()
    picture(page, "approve")
    button.click()
    assert run.wait() == "success", run.states()

    page.goto(f"{stack.url}/dags/{run.dag_id}/runs/{quote(run.id)}/plugin/release")
    tab = frame(page, "Release")
    expect(tab.get_by_text("published", exact=True).first).to_be_visible()
    expect(tab.get_by_text("approver").first).to_be_visible()
    picture(page, "released")
