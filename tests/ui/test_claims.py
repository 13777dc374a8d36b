"""The pages of a release and of its cycle say what the certificate shows, and no more."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from sdc_tasks.warehouse import reader
from support.ui.office import DOMAIN, Office

Page = Callable[[str], str]
Certificate = dict[str, Any]
Change = Callable[[Certificate], None]


def text(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html)).replace("\u202f", " ")


def two_are_cut(certificate: Certificate) -> None:
    for each in certificate["primaries"][:2]:
        each["cut_to_national_baseline"] = True
    certificate["counts"]["cut_to_national_baseline"] += 2


def two_are_cut_and_not_counted(certificate: Certificate) -> None:
    for each in certificate["primaries"][:2]:
        each["cut_to_national_baseline"] = True


def one_is_open(certificate: Certificate) -> None:
    certificate["primaries"][0]["protected"] = False


def failed(certificate: Certificate) -> None:
    certificate["verdict"] = "failed"


def nobody_attacked(certificate: Certificate) -> None:
    certificate["profiles"] = []


@pytest.fixture
def claimed(
    page: Page, at_office: Office, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Change | None], tuple[str, str, int]]:
    """The page of a first version, that of its cycle, and the number of primaries, with a certificate that is
    changed.
    """

    def get(change: Change | None) -> tuple[str, str, int]:
        release_id = at_office.releases["embargoed"]
        [record] = reader.audits(reader_engine(at_office), release_id)
        certificate = json.loads(record["certificate"])
        if change is not None:
            change(certificate)
            changed = record | {"certificate": json.dumps(certificate)}
            monkeypatch.setattr(reader, "audits", lambda *_: [changed])
        return page(f"/release/{release_id}"), page(f"/cycle/{DOMAIN}/2022"), len(certificate["primaries"])

    return get


def reader_engine(office: Office) -> Any:
    from sdc_tasks import steps

    return steps.open_office(office.url, "viewer")


def test_a_release_that_is_fully_protected_is_green(
    claimed: Callable[[Change | None], tuple[str, str, int]],
) -> None:
    page, cycle, number = claimed(None)
    assert f"{number} protected of {number} primary cells" in text(page)
    assert '<span class="pill good">passed</span>' in page
    assert re.search(r"against [a-z, ]+; not against [a-z, ]+", text(page))
    assert re.search(
        r"\d+ witness(?:es)? shows? \d+ requirements; LPs solved: \d+ before the audit, \d+ in it",
        text(page),
    )
    assert "audit passed" in text(cycle)
    assert "with exceptions" not in text(page) + text(cycle)


def test_two_primaries_that_their_table_does_not_protect_are_amber(
    claimed: Callable[[Change | None], tuple[str, str, int]],
) -> None:
    page, cycle, number = claimed(two_are_cut)
    said = text(page)
    assert f"{number - 2} protected of {number} primary cells" in said
    assert re.search(r"2 only as far as their national table allows \([A-Z]{2} \d(, [A-Z]{2} \d)*\)", said)
    assert '<span class="pill warn">passed with exceptions</span>' in page
    assert '<div class="notice warn"><p><strong>2 only as far' in page
    assert "audit passed with exceptions: 2 only as far as their national table allows" in text(cycle)
    assert '<p class="notice warn"><strong>Audit passed with exceptions:</strong> 2 only as far' in cycle
    assert not re.search(rf"\b{number} of {number}\b", said)


@pytest.mark.parametrize("change", [two_are_cut_and_not_counted, one_is_open, failed, nobody_attacked])
def test_a_certificate_that_does_not_show_it_is_red(
    claimed: Callable[[Change | None], tuple[str, str, int]], change: Change
) -> None:
    page, cycle, number = claimed(change)
    audit = page.split("<h2>Audit</h2>", 1)[1].split("</li>", 1)[0]
    assert '<span class="pill bad">FAILED</span>' in audit
    assert "passed" not in text(audit)
    assert "audit passed" not in text(cycle)
    if change is not failed:
        assert f"{number} protected of" not in text(page)
        assert '<div class="notice bad">' in audit
