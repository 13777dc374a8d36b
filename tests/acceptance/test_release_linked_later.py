"""What happens to a statistic over the years: a quarter is taken back, a composition loses a member, a table
joins that was not there before. What is out counts in each of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.optimize import linprog

from support.desk import sdc
from support.statistic import Office

QUARTERS = ("2024-Q1", "2024-Q2", "2024-Q3", "2024-Q4")
BE, DE = (400, 500), (900, 800)  # turnover of X and Y in each quarter, public


def drawing(x: float, y: float, of_x: str = "F", of_y: str = "F") -> str:
    return f"T {x + y} F\nX {x} {of_x}\nY {y} {of_y}"


OF_AUSTRIA = """
    T _T 1000 F
    T S  600  F
    T L  400  F
    X _T 700  D
    X S  500  D
    X L  200  A
    Y _T 300  D
    Y S  100  D
    Y L  200  D
"""
BY_SIZE = """
    T _T {t} F
    T S  {x} F
    T L  {y} F
    X _T {x} F
    X S  {x} F
    X L  0   F
    Y _T {y} F
    Y S  0   F
    Y L  {y} F
"""


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """Austria hides X (700, level 70) and Y of the first quarter, and X and Y of the year."""
    office = Office.new(tmp_path)
    office.domain("quarters", more="linked: {tables: [years], periods: sum}", frequency="Q")
    office.domain("years", more="linked: {tables: [quarters], periods: sum}")
    for number, period in enumerate(QUARTERS):
        flags = ("F", "F") if number else ("A", "D")
        at = drawing(700 + number, 300, *flags)
        office.deliver("quarters", period, frequency="Q", AT=at, BE=drawing(*BE), DE=drawing(*DE))
    of_year = {"AT": drawing(2806, 1200, "D", "D"), "BE": drawing(1600, 2000), "DE": drawing(3600, 3200)}
    office.deliver("years", "2024", **of_year)
    return office


def left(told: list[tuple[str, str, float]]) -> tuple[float, float]:
    """What somebody finds of X of Austria's first quarter who reads the public national tables and the ends
    `told` (table, side, end) of its own X: the year is this quarter and 2 106 of the others.
    """
    rows, ends = [], []
    for table, side, end in told:
        if abs(end) < float("inf"):
            shift = 2106 if table == "years" else 0
            sign = 1 if side == "high" else -1
            rows.append([sign])
            ends.append(sign * (end - shift))
    found = [linprog([sign], rows or None, ends or None, bounds=[(0, 1000)]) for sign in (1, -1)]
    return found[0].fun, -found[1].fun


def of_austria(office: Office, name: str, period: str, others: float) -> list[tuple[str, str, float]]:
    low, high = office.published(name, period)["X"]
    return [(name, "low", low - others), (name, "high", high - others)]


def test_a_quarter_that_was_taken_back_is_known_all_the_same(office: Office):
    for period in QUARTERS:
        ended = office.release("quarters", period)
        assert ended.code == 0, ended.text
    seen = of_austria(office, "quarters", "2024-Q1", 1300)
    release = next(
        word for word in ended_of(office, "2024-Q1").split() if word.startswith("quarters-2024-Q1-")
    )
    taken = sdc("retract", release, "--warehouse", office.warehouse, "--reason", "revised deliveries")
    assert taken.code == 0, taken.text
    ended = office.release("years", "2024")
    assert ended.code == 0, ended.text
    assert "2024-Q1" in {each["period"] for each in office.certificate("years", "2024")["linked"]}
    low, high = left([*seen, *of_austria(office, "years", "2024", 5200)])
    assert low <= 630
    assert high >= 770


def ended_of(office: Office, period: str) -> str:
    """What a run of the release says, which is out already."""
    return office.release("quarters", period).text


def test_a_composition_that_loses_a_member_in_the_year_gives_nothing_away(office: Office):
    """Belgium leaves the union after the second quarter; the year is of the members at its end."""
    dated = (
        '{code: EU, label: Union, members: [AT, BE, DE], until: "2024-06", partial_code: EU_PARTIAL}\n'
        '  - {code: EU, label: Union, members: [AT, DE], from: "2024-07", partial_code: EU_PARTIAL}'
    )
    at_the_end = "{code: EU, label: Union, members: [AT, DE], partial_code: EU_PARTIAL}"
    for name, members in (("quarters", dated), ("years", at_the_end)):
        file = office.folder / f"{name}.yaml"
        old = "{code: EU, label: Union, members: all, partial_code: EU_PARTIAL}"
        file.write_text(file.read_text().replace(old, members))
    for period in QUARTERS:
        ended = office.release("quarters", period)
        assert ended.code == 0, ended.text
    ended = office.release("years", "2024")
    assert ended.code == 0, ended.text
    told = of_austria(office, "quarters", "2024-Q1", 1300) + of_austria(office, "years", "2024", 3600)
    low, high = left(told)
    assert low <= 630
    assert high >= 770


def test_a_table_that_joins_later_is_attacked_with_what_is_out(tmp_path: Path):
    """The main table is out for 2022 to 2024. A table by size class joins in 2024: X of large enterprises is
    its primary, which the exact total of the main table and an exact total by size would give away together.
    """
    office = Office.new(tmp_path)
    office.domain("main", more="linked: {tables: [sizes]}")
    office.domain("sizes", "ACTIVITY SIZECLASS", more="linked: {tables: [main]}")
    for year in ("2022", "2023", "2024"):
        office.deliver("main", year, AT=drawing(700, 300, "D", "D"), BE=drawing(*BE), DE=drawing(*DE))
        ended = office.release("main", year)
        assert ended.code == 0, ended.text
    others = {country: BY_SIZE.format(x=x, y=y, t=x + y) for country, (x, y) in (("BE", BE), ("DE", DE))}
    office.deliver("sizes", "2024", "ACTIVITY SIZECLASS", AT=OF_AUSTRIA, **others)
    ended = office.release("sizes", "2024")
    assert ended.code == 0, ended.text
    told = office.certificate("sizes", "2024")["linked"]
    assert [(each["domain"], each["period"]) for each in told] == [("main", "2024")]
    shown, main = office.published("sizes", "2024"), office.published("main", "2024")
    low, high = hidden_cell(shown, main)
    assert low <= 180
    assert high >= 220


def hidden_cell(
    shown: dict[str, tuple[float, float]], main: dict[str, tuple[float, float]]
) -> tuple[float, float]:
    """X of large enterprises of Austria, by a program over X.S, X.L, Y.S, Y.L, of which X.S + Y.S = 600 and
    X.L + Y.L = 400 are public.
    """
    others = {"X.S": 1300, "X.L": 0, "X._T": 1300, "Y.S": 0, "Y.L": 1300, "Y._T": 1300}
    cells = {"X.S": [1, 0, 0, 0], "X.L": [0, 1, 0, 0], "Y.S": [0, 0, 1, 0], "Y.L": [0, 0, 0, 1]}
    cells |= {"X._T": [1, 1, 0, 0], "Y._T": [0, 0, 1, 1]}
    told = [(shown[code], code) for code in cells] + [(main[code], f"{code}._T") for code in "XY"]
    rows, ends = [], []
    for (low, high), code in told:
        for sign, end in ((1, high), (-1, low)):
            if abs(end) < float("inf"):
                rows.append([sign * each for each in cells[code]])
                ends.append(sign * (end - others[code]))
    same = [[1, 0, 1, 0], [0, 1, 0, 1]]
    found = [
        linprog([0, sign, 0, 0], rows or None, ends or None, same, [600, 400], bounds=[(0, None)] * 4)
        for sign in (1, -1)
    ]
    return found[0].fun, -found[1].fun
