"""What is wrong with the look of a page of ours, in a browser."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SCREEN, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 860}


def faults(page: Page) -> list[str]:
    """Whatever is wider than the screen, lies on another text, is empty, or is found by axe-core, every rule
    of it.
    """
    wide = (
        []
        if page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        else ["wider than the screen"]
    )
    return [*wide, *page.evaluate(OVERLAPS), *page.evaluate(EMPTY), *_inaccessible(page)]


def _inaccessible(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [f"{each['id']}: {', '.join(str(node['target']) for node in each['nodes'][:3])}" for each in found]


# Boxes that hold text of their own and lie on each other, of those that stand beside each other.
OVERLAPS = """() => {
  const found = [];
  for (const group of document.querySelectorAll("ul, ol, tr, .head, dl, .keys")) {
    const boxes = [...group.children].filter((each) => each.offsetParent && !each.matches(".sr"))
      .map((each) => [each, each.getBoundingClientRect()]);
    boxes.forEach(([one, a], i) => boxes.slice(i + 1).forEach(([two, b]) => {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 2 && high > 2 && !(getComputedStyle(one).position === "sticky")) found.push(one.innerText + " | " + two.innerText);
    }));
  }
  return found;
}"""  # noqa: E501
EMPTY = """() => [...document.querySelectorAll("section, h1, h2, h3, td, th, .card, .tile")]
  .filter((each) => !each.textContent.trim() && !each.matches(".text")).map((each) => each.outerHTML)"""
