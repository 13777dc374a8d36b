"""The tables of a statistic at the desk: each with its state, deliveries and calendar, and the tables that it
waits for, or is decided and attacked together with.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine

from sdc_tasks import steps
from support.ui.links import every_page
from support.ui.statistic import SECRETS, StatisticOffice, open_statistic

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def statistic(server: Any, tmp_path_factory: pytest.TempPathFactory) -> StatisticOffice:
    return open_statistic(tmp_path_factory.mktemp("statistic"))


@pytest.fixture
def engine(statistic: StatisticOffice) -> Engine:
    return steps.open_office(statistic.url, "tester")


@pytest.fixture
def page(
    statistic: StatisticOffice, client: Callable[[str | None], Any], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], str]:
    """The text of a page as a viewer reads it."""
    monkeypatch.delenv("SDC_UI_URL", raising=False)
    monkeypatch.setenv("SDC_WAREHOUSE_URL", statistic.url)

    def get(path: str) -> str:
        answer = client("viewer").get(f"/sdc{path}")
        assert answer.status_code == 200, answer.text
        return str(answer.text)

    return get


def rows(html: str) -> dict[str, str]:
    """Table and period → what its row says."""
    section = html.split('id="tables"', 1)[1].split("</section>", 1)[0]
    found = re.findall(r'<tr><th scope="row">(.*?)</tr>', section, re.S)
    said = [re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", each)).strip() for each in found]
    return {" ".join(each.split()[:2]): each for each in said}


def test_a_cycle_shows_every_table_of_the_statistic(page: Callable[[str], str]) -> None:
    said = rows(page("/cycle/main/2024"))
    assert list(said) == ["main 2024", "regions 2024", "sizes 2024"], "not 2023, which does not overlap"
    assert "nothing made yet 3 of 3 2025-03-31 16:00 UTC 2099-06-30 11:00 UTC" in said["main 2024"]
    assert re.search(
        r"nothing made yet 1 of 3 2 awaited 1 accepted 2025-03-31 .* late by", said["regions 2024"]
    )


def test_a_table_that_waits_for_another_says_so_by_name(page: Callable[[str], str]) -> None:
    said = rows(page("/cycle/sizes/2024"))
    for name, other in (("main", "sizes"), ("sizes", "main")):
        assert "Waits for regions : 1 of 3 countries delivered" in said[f"{name} 2024"]
        assert f"Decided together with {other} , whichever is released first" in said[f"{name} 2024"]
    assert "Decided together with main , sizes , if they still wait" in said["regions 2024"]
    assert "Waits for" not in said["regions 2024"]


def test_what_is_out_names_those_decided_with_it_and_the_others_what_is_out(
    page: Callable[[str], str],
) -> None:
    said = rows(page("/cycle/main/2023"))
    assert re.search(r"published 3 of 3 2024-03-31 16:00 UTC version 1: ", said["main 2023"])
    decided = r"Decided without regions: it has [^;]*; decided together with sizes\.$"
    assert re.search(rf"\d\d:\d\d UTC {decided}", said["main 2023"]), "and nothing of the loss"
    assert "Attacked together with main 2023 , already out" in said["sizes 2023"]
    assert "Waits for regions: nothing has come yet" in said["sizes 2023"]
    assert said["regions 2023"].startswith("regions 2023 no cycle yet 0")


def test_the_board_says_which_table_waits(page: Callable[[str], str]) -> None:
    [card] = [each for each in page("/").split('<li class="card"') if ">main 2024</a></h3>" in each]
    assert re.search(r"Waits for <a [^>]*>regions</a>:</strong> 1 of 3 countries delivered", card)


def test_nobody_reads_of_a_table_that_he_may_not_see(engine: Engine) -> None:
    from sdc_ui.board import board
    from sdc_ui.cycles.statistic import tables_of

    def readable(domain: str) -> bool:
        return domain != "regions"

    tables = tables_of(engine, "main", "2024", NOW, readable)
    assert [each.domain for each in tables] == ["main", "sizes"]
    shown = [tables[0], board(engine, NOW, readable).tables["main", "2024"]]
    assert [[each.domain for each in table.waits] for table in shown] == [[], []]
    assert [[each.domain for each in table.decides] for table in shown] == [["sizes"], ["sizes"]]


def test_a_release_that_another_table_overtook_is_to_be_run_again(engine: Engine) -> None:
    """The database refuses it: its audit did not know what is out."""
    from sdc_ui.cycles.statistic import Statistics, tables_of
    from sdc_ui.shared.standing import Standing

    lines = {
        (each.domain, each.period): each.line
        for each in tables_of(engine, "main", "2023", NOW, lambda _: True)
        if each.line is not None
    }
    out = lines["main", "2023"].out
    assert out is not None
    assert out.released_at is not None
    both = {"linked": {"tables": ["main", "sizes"], "together": True}}
    linked = {"main": both, "sizes": both}
    for seconds, overtaken in ((-1, (("main", "2023"),)), (1, ())):
        begun = out.released_at + timedelta(seconds=seconds)
        newest = replace(out, version=None, released_at=None, standing=Standing.APPROVAL, started_at=begun)
        waiting = replace(lines["sizes", "2023"], newest=newest)
        found = Statistics({**lines, ("sizes", "2023"): waiting}, linked, lambda _: True).table(
            "sizes", "2023"
        )
        assert (found.overtaken, found.beside) == (overtaken, (("main", "2023"),))
        assert [*found.waits, *found.decides] == [], "it is decided"


@pytest.mark.parametrize(
    ("frequency", "periods", "shown"),
    [
        ("A", ("2024",), [("other", "2024")]),
        ("Q", ("2024-Q1", "2024-Q2"), [("other", "2024-Q1"), ("other", "2024-Q2")]),
        ("Q", ("2023-Q1",), []),
        ("Q", (), []),
        ("A", (), [("other", "2024")]),
    ],
)
def test_tables_of_other_frequencies_are_rows_where_their_periods_meet(
    engine: Engine, frequency: str, periods: tuple[str, ...], shown: list[tuple[str, str]]
) -> None:
    from sdc_ui.cycles.statistic import Statistics, tables_of

    line = tables_of(engine, "main", "2024", NOW, lambda _: True)[0].line
    assert line is not None
    settings = {
        "main": {"frequency": "A", "linked": {"tables": ["other"]}},
        "other": {"frequency": frequency, "linked": {"tables": ["main"]}},
    }
    lines = {("main", "2024"): line} | {
        ("other", each): replace(line, domain="other", period=each) for each in periods
    }
    assert Statistics(lines, settings, lambda _: True).related("main", "2024") == shown


def test_a_quarter_that_leaves_room_stands_beside_the_others(engine: Engine) -> None:
    from sdc_ui.cycles.statistic import Statistics, tables_of

    line = tables_of(engine, "main", "2024", NOW, lambda _: True)[0].line
    assert line is not None
    quarters = {("main", f"2024-Q{k}"): replace(line, period=f"2024-Q{k}") for k in (1, 2, 3, 4)}
    for reserve, beside in ({}, []), ({"reserve": "A"}, [key for key in quarters if key[1] != "2024-Q4"]):
        settings = {"main": {"frequency": "Q", "linked": {"periods": "sum", **reserve}}}
        assert Statistics(quarters, settings, lambda _: True).related("main", "2024-Q4") == beside


def test_no_page_of_a_statistic_holds_a_confidential_value(
    page: Callable[[str], str], client: Callable[[str | None], Any]
) -> None:
    page("/")
    pages = every_page(client("viewer"))
    assert "/sdc/cycle/sizes/2024" in pages
    for value in SECRETS:
        words = re.compile(rf"(?<![\d.:-]){value:.0f}(?![\d:-])")
        held = [
            address
            for address, text in pages.items()
            if "/cycle/" in address and words.search(re.sub(r"<[^>]*>", " ", text))
        ]
        assert held == []


def test_a_domain_that_links_nothing_has_no_tables(at_office: Any, client: Any) -> None:
    from support.ui.office import DOMAIN

    html = client("viewer").get(f"/sdc/cycle/{DOMAIN}/2024").text
    assert "Tables of the statistic" not in html
