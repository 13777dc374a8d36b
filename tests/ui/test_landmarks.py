"""Every landmark of a page has a name of its own: who hears a page moves by them."""

from __future__ import annotations

import re
from typing import Any

from support.ui.links import every_page
from support.ui.office import Office

LANDMARK = re.compile(r'<(?:section|nav)\b[^>]*?aria-(label|labelledby)="([^"]*)"|role="region"')


def names(html: str) -> list[str]:
    """The names of the landmarks, as they are read aloud."""
    texts = {
        key: re.sub(r"<[^>]*>", " ", text)
        for key, text in re.findall(r'<(?:h\d|p)[^>]*\bid="([^"]*)"[^>]*>(.*?)</(?:h\d|p)>', html, re.S)
    }
    return [
        " ".join(texts[key] for key in told.split()) if kind == "labelledby" else told
        for kind, told in LANDMARK.findall(html)
    ]


def test_no_two_landmarks_of_a_page_have_the_same_name(at_office: Office, client: Any) -> None:
    pages = {address: text for address, text in every_page(client("viewer")).items() if "<html" in text}
    assert sum(len(names(text)) for text in pages.values()) > 50
    assert {
        address: found for address, text in pages.items() if len(set(found := names(text))) < len(found)
    } == {}
