"""The last quarter may leave the year room for exact totals: it asks for that in the domain file (`linked:
reserve`), and is told what it costs and saves.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from support.desk import Ended
from support.statistic import Office

QUARTERS = ("2024-Q1", "2024-Q2", "2024-Q3", "2024-Q4")
OTHERS = {"BE": "T 900 F\nX 400 F\nY 500 F", "DE": "T 1700 F\nX 900 F\nY 800 F"}
YEAR = {"BE": "T 3600 F\nX 1600 F\nY 2000 F", "DE": "T 6800 F\nX 3600 F\nY 3200 F"}


def drawn(x: int, of_x: str, of_y: str) -> str:
    return f"T {x + 300} F\nX {x} {of_x}\nY 300 {of_y}"


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """Austria hides X of the first quarter, which is primary; and X and Y of the last one and of the year, in
    which nothing is primary.
    """
    office = Office.new(tmp_path)
    linked = "linked: {{tables: [{}], periods: sum{}}}"
    office.domain("quarters", more=linked.format("years", ", reserve: A"), frequency="Q")
    office.domain("years", more=linked.format("quarters", ""))
    flags = {"2024-Q1": "AD", "2024-Q4": "DD"}
    for number, period in enumerate(QUARTERS):
        table = drawn(700 + number, *flags.get(period, "FF"))
        office.deliver("quarters", period, frequency="Q", AT=table, **OTHERS)
    office.deliver("years", "2024", AT="T 4006 F\nX 2806 D\nY 1200 D", **YEAR)
    return office


def release(office: Office, name: str, *periods: str) -> list[Ended]:
    ended = [office.release(name, period) for period in periods]
    assert [each.code for each in ended] == [0] * len(periods), "".join(each.text for each in ended)
    return ended


def width(office: Office, name: str, period: str) -> dict[str, float]:
    return {code: high - low for code, (low, high) in office.published(name, period).items()}


def test_the_last_quarter_leaves_the_year_its_exact_totals(office: Office):
    *before, last = release(office, "quarters", *QUARTERS)
    assert all("no room for 2024: what is out does not cover it" in each.text for each in before)
    assert width(office, "quarters", "2024-Q4")["X"] > 0, "hidden, and nothing in it is primary"
    report = (office.out("quarters", "2024-Q4") / "report.html").read_text()
    for said in (" ".join(last.text.split()), report):
        assert "room for 2024: 2 cells instead of 0 not exact now, 0 cells instead of 2" in said
    release(office, "years", "2024")
    assert set(width(office, "years", "2024").values()) == {0}


def test_without_it_the_year_is_rounded(office: Office):
    office.domain("quarters", more="linked: {tables: [years], periods: sum}", frequency="Q")
    *_, last = release(office, "quarters", *QUARTERS)
    assert "room for 2024" not in last.text
    assert set(width(office, "quarters", "2024-Q4").values()) == {0}
    release(office, "years", "2024")
    assert width(office, "years", "2024")["X"] > 0


def test_room_that_cannot_be_made_costs_nothing(office: Office):
    """X of the first quarter is hidden, and no other one: whoever has the year has it."""
    office.deliver("quarters", "2024-Q4", frequency="Q", AT=drawn(703, "F", "F"), **OTHERS)
    *_, last = release(office, "quarters", *QUARTERS)
    assert "no room for 2024: nothing would be saved then" in last.text
    assert set(width(office, "quarters", "2024-Q4").values()) == {0}
    release(office, "years", "2024")
    assert width(office, "years", "2024")["X"] > 0


def test_wishes_for_single_cells_come_first(office: Office):
    release(office, "quarters", *QUARTERS[:3])
    wishes = "bases: {cells: [{cells: 'EU.*', must: exact}]}"
    linked = "linked: {tables: [years], periods: sum, reserve: A}"
    office.domain("quarters", more=f"{linked}\n{wishes}", frequency="Q")
    (last,) = release(office, "quarters", "2024-Q4")
    assert "no room for 2024: " in last.text
    assert set(width(office, "quarters", "2024-Q4").values()) == {0}


def test_a_year_that_is_out_needs_no_room(office: Office):
    release(office, "quarters", *QUARTERS[:3])
    release(office, "years", "2024")
    (last,) = release(office, "quarters", "2024-Q4")
    assert "no room for 2024: it is out" in last.text


def test_a_second_run_changes_nothing(office: Office):
    release(office, "quarters", *QUARTERS)
    out = office.out("quarters", "2024-Q4")
    before = {name: (out / name).read_bytes() for name in ("table.csv", "audit.json")}
    (again,) = release(office, "quarters", "2024-Q4")
    assert "is already published" in again.text
    assert {name: (out / name).read_bytes() for name in before} == before


@pytest.mark.parametrize(
    ("linked", "frequency", "said"),
    [
        ("{tables: [years], reserve: A}", "Q", "say sum or mean of every indicator under periods"),
        ("{tables: [years], periods: none, reserve: A}", "Q", "say sum or mean of every indicator"),
        ("{periods: sum, reserve: A}", "A", "A holds no whole periods of frequency A"),
        ("{periods: sum, reserve: Q}", "A", "Q holds no whole periods of frequency A"),
        ("{periods: sum, reserve: T}", "Q", "T holds no whole periods of frequency Q"),
        ("{periods: sum, reserve: S}", "T", "S holds no whole periods of frequency T"),
        ("{periods: sum, reserve: A}", "W", "A holds no whole periods of frequency W"),
        ("{periods: sum, reserve: M}", "Q", "reserve"),
        ("{tables: [years], periods: sum, together: true, reserve: A}", "Q", "leave out reserve or together"),
    ],
)
def test_what_cannot_be_reserved_is_refused(office: Office, linked: str, frequency: str, said: str):
    office.domain("quarters", more=f"linked: {linked}", frequency=frequency)
    assert office.release("quarters", "2024-Q1" if frequency == "Q" else "2024").refused(said)
