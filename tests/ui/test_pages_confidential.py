"""Every page that can be reached by links is searched for values that no page may show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.deliveries import PERIOD
from support.desk import FREE, PROTECTED, SECRETS, new_desk
from support.ui.links import every_page
from support.ui.office import SPOILT, Office


def spellings(value: float) -> set[str]:
    """The value as somebody may have written it, whole or in thousands: plain, grouped, in scientific
    notation, and its leading digits.
    """
    whole = f"{value:.0f}"
    grouped = f"{value:,.0f}"
    said = {
        whole,
        grouped,
        *(grouped.replace(",", sign) for sign in (".", " ", "\u202f", "\u00a0", "_")),
        repr(value),
        f"{value:.6e}",
    }
    return said | {whole[:7]} if len(whole) > 8 else said


def leaks(pages: dict[str, str], values: tuple[float, ...]) -> dict[str, set[str]]:
    """address → what of all this stands there."""
    words = {word for value in values for word in spellings(value)}
    return {
        address: held for address, text in pages.items() if (held := {word for word in words if word in text})
    }


def test_no_page_holds_a_confidential_value(at_office: Office, client: Any) -> None:
    pages = every_page(client("viewer"))
    assert len(pages) >= 30
    for release_id in at_office.releases.values():
        assert any(release_id in address for address in pages), "the search reaches every release"
    assert any("/findings/CY" in address for address in pages)
    assert len(at_office.secrets) > 20
    assert leaks(pages, at_office.secrets) == {}
    assert {address for address, text in pages.items() if SPOILT in text} == set()


def test_no_page_holds_a_value_before_its_embargo_or_after_its_retraction(
    at_office: Office, client: Any
) -> None:
    assert len(at_office.hidden) > 20
    assert leaks(every_page(client("admin")), at_office.hidden) == {}


def test_the_search_finds_what_is_there(at_office: Office, client: Any) -> None:
    from sdc_tasks.warehouse import reader
    from sdc_tasks.warehouse.database.engine import open_warehouse

    release = at_office.releases["second"]
    cells = reader.released_cells(open_warehouse(at_office.url), "sbs_4x15x3", "2020", 2)
    values = tuple(each.value for each in cells if each.rounding_base and each.value)
    assert any(f"/release/{release}" in address for address in leaks(every_page(client("viewer")), values))


def test_the_page_of_a_country_names_the_cells_that_the_receiver_hides_and_no_page_a_value(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = PROTECTED.replace("251409 D", "251409 F").replace("498591 D", "498591 F")
    desk = new_desk(tmp_path, AT=bare, BE=bare, DE=FREE, FR=PROTECTED)
    desk.settle("flags:", "suppression: {receiver: when_missing}\nflags:")
    assert desk.release().code == 0
    monkeypatch.delenv("SDC_UI_URL", raising=False)
    monkeypatch.setenv("SDC_WAREHOUSE_URL", f"sqlite:///{tmp_path / 'out' / 'warehouse.db'}")
    pages = every_page(client("viewer"))
    assert leaks(pages, tuple(map(float, SECRETS))) == {}
    for country, other in (("AT", "BE"), ("BE", "AT")):
        (page,) = (
            text for address, text in pages.items() if address.endswith(f"/{PERIOD}/findings/{country}")
        )
        assert f"{country}.TURNOVER.C.S" in page
        assert f"{other}.TURNOVER" not in page
