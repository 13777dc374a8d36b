"""`sdc what-if`: which flags cost most, of one table, and of several that are decided together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.desk import Ended, sdc
from support.statistic import AT_MAIN, AT_SIZES, OTHERS, Office, two_tables


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return two_tables(tmp_path)


def what_if(office: Office, name: str, *also: str) -> Ended:
    at = office.folder
    asked = ("--domain", at / f"{name}.yaml", "--period", "2024", "--inbox", at / f"{name}-2024")
    return sdc("what-if", *asked, *office.also(also))


def rows(ended: Ended, first: str) -> dict[tuple[str, ...], list[float]]:
    """Name and tables of each row whose name begins so → its shares in percent."""
    assert ended.code == 0, ended.text
    cells = [re.split(r" *│ *", line.strip("│ \n"))[1:] for line in ended.said.splitlines() if "│" in line]
    return {
        tuple(each for each in row if "%" not in each): [
            float(each.strip("%")) for each in row if "%" in each
        ]
        for row in cells
        if row[0] == first or row[0].startswith(f"{first}.")
    }


def test_the_shares_of_one_table_are_of_its_own_loss(office: Office):
    assert rows(what_if(office, "main"), "AT") == {("AT",): [100.0], ("AT.TURNOVER.X",): [100.0]}
    assert {*rows(what_if(office, "sizes"), "AT")} == {
        ("AT",), ("AT.TURNOVER.X._T",), ("AT.TURNOVER.X.L",)
    }  # fmt: skip


def test_each_flag_is_priced_in_all_tables(office: Office):
    found = rows(what_if(office, "main", "sizes"), "AT.TURNOVER")
    assert {*found} == {("AT.TURNOVER.X", "main, sizes"), ("AT.TURNOVER.X.L", "sizes")}
    total, main, sizes = (round(sum(column), 1) for column in zip(*found.values(), strict=True))
    assert total == 100.0
    assert 0 < main < sizes == 100.0, "the main table is a part of the other one"
    assert found["AT.TURNOVER.X.L", "sizes"][1] == 0.0, "no size class is in the main table"


def test_a_flag_of_one_table_costs_in_another_that_has_none(office: Office):
    """The office hides X in both tables, and says in one of them only that it is primary."""
    drawn = {country: each[1] for country, each in OTHERS.items()}
    office.deliver("sizes", "2024", "ACTIVITY SIZECLASS", AT=AT_SIZES.replace(" A", " D"), **drawn)
    assert "nothing is lost" in what_if(office, "sizes").said
    [(total, main, sizes)] = rows(what_if(office, "main", "sizes"), "AT.TURNOVER").values()
    assert total == 100.0
    assert main > 0
    assert sizes > 0
    assert {*rows(what_if(office, "main", "sizes"), "AT")} >= {("AT", "main")}


def test_the_order_of_the_tables_does_not_matter(office: Office):
    one, other = what_if(office, "main", "sizes"), what_if(office, "sizes", "main")
    shares = [sorted(each[0] for each in rows(ended, "AT.TURNOVER").values()) for ended in (one, other)]
    assert shares[0] == shares[1]


def test_it_shows_no_value(office: Office):
    said = what_if(office, "main", "sizes").text
    figures = {word for line in (AT_MAIN + AT_SIZES).split() for word in re.findall(r"^\d{3,}$", line)}
    assert {"700", "200"} <= figures
    assert not figures & set(re.findall(r"\d+", said))


def test_tables_that_are_not_decided_together_are_refused(office: Office):
    office.domain("main", more="linked: {tables: [sizes]}")
    ended = what_if(office, "main", "sizes")
    assert ended.refused("main is not decided together with sizes", "together: true")
    together = "linked: {tables: [sizes], together: true}"
    office.domain("main", more=f"{together}\nbases: {{maximum_relative_base: 0.1}}")
    assert what_if(office, "main", "sizes").refused("sizes asks for other bases than main")
