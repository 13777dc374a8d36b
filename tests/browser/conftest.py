"""The pages in Chromium, inside Airflow's UI: over the running stack, and over an office with a release in
every state.

    make test-stack                                   these tests, and those of tests/stack
    SDC_DOCS_IMAGES=1 make test-stack                 copies to docs/img what docs/operate.md shows

Pictures go to var/screenshots. Needs the system's Chromium (Debian: chromium).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if find_spec("playwright") is None:
    raise pytest.UsageError("these tests need playwright. Remedy: make test-stack, or make setup-all")

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from support import ROOT
from support.stack_fixture import stack

__all__ = ["stack"]
PICTURES = ROOT / "var" / "screenshots"
CHROMIUM = "/usr/bin/chromium"
PATIENCE = 90_000  # milliseconds for whatever a test waits for
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's browser."""
    if not Path(CHROMIUM).exists():
        pytest.fail(
            "these tests need Chromium. Remedy: apt-get install --no-install-recommends chromium",
            pytrace=False,
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", "--disable-quic"]
        )
        yield browser
        browser.close()


@pytest.fixture
def sign_in(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Opens Airflow in a window of its own, as a user."""
    contexts = []

    def open_(url: str, user: str, password: str) -> Page:
        context = chromium.new_context(viewport={"width": 1280, "height": 860})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(url)
        page.fill("input[name=username]", user)
        page.fill("input[name=password]", password)
        page.click("button[type=submit]")
        page.get_by_role("link", name="Releases").wait_for()
        return page

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture
def picture() -> Callable[..., None]:
    """Keeps what the browser shows under a name."""

    def take(page: Page, name: str, **options: Any) -> None:
        page.wait_for_timeout(300)  # fonts and transitions
        PICTURES.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=PICTURES / f"{name}.png", **options)
        if os.environ.get("SDC_DOCS_IMAGES") and f"img/{name}.png" in (
            ROOT / "docs" / "operate.md"
        ).read_text(encoding="utf-8"):
            (ROOT / "docs" / "img").mkdir(parents=True, exist_ok=True)
            with Image.open(
                PICTURES / f"{name}.png"
            ) as shown:  # 256 colours are enough for a page, in a third of the bytes
                shown.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
                    ROOT / "docs" / "img" / f"{name}.png", optimize=True
                )

    return take
