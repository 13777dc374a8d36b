"""Is a country in proportion to the others? Small ones and large ones are, and one in another unit is not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sdc_tasks.checks.proportion import FEWEST_UNITS, Among, code_proportion, copied, proportion, size
from sdc_tasks.checks.registry import describe
from sdc_tasks.checks.suite import check, compare, refusals
from sdc_tasks.demo import write_demo
from sdc_tasks.domains import Domain, load_domain
from sdc_tasks.intake import read
from sdc_tasks.model.problem import NationalTable
from sdc_tasks.model.table import added_up
from support.deliveries import PERIOD, small_domain

# Turnover in thousands and enterprises of a branch and size class: what a country of one
# per mille of Germany has of it.
#                S      L
INNER = np.array([[300, 900], [150, 2400]], dtype=float)  # C, D
FIRMS = np.array([[60, 3], [30, 8]])


@pytest.fixture
def domain(tmp_path: Path) -> Domain:
    return small_domain(tmp_path)


def country(
    domain: Domain,
    times: float,
    unit: float = 1,
    units: bool = True,
    name: str = "AT",
    parts: np.ndarray | float = 1,
) -> NationalTable:
    """A country `times` as large as the figures above, in another `unit`; `parts` multiplies its
    inner cells.
    """
    value = added_up(np.pad(INNER * times * unit * parts, ((1, 0), (1, 0))), domain.space.hierarchies).ravel()
    number = (
        added_up(np.pad(FIRMS * times, ((1, 0), (1, 0))), domain.space.hierarchies).ravel().astype(np.int64)
    )
    nothing = np.full(len(value), np.nan)
    return NationalTable(
        name,
        ("d",),
        value,
        np.full(len(value), "F"),
        number if units else np.full(len(value), -1),
        nothing,
        nothing,
    )


def holds(answers) -> bool | None:
    """Whether all that was asked holds; None where nothing was."""
    return bool(answers.holds[answers.asked].all()) if answers.asked.any() else None


@pytest.mark.parametrize(
    #   this country, with units?   the others                     proportion  size
    ("times", "unit", "units", "others", "fits", "alike"),
    [
        (2, 1, True, [240], True, None),  # Malta beside Germany
        (240, 1, True, [2], True, None),
        # without units only its size is odd, and nobody is refused for that
        (2, 1, False, [240], True, False),
        (240, 1, False, [2, 30, 30, 36, 170], True, True),  # Germany beside the others: 7 times the middle
        (2, 1, False, [3, 8, 30, 36, 240], True, True),
        (2, 1000, True, [240], False, None),  # Malta in another unit is four Germanies by its size
        (240, 0.001, True, [2], False, None),
        # nothing shows it, without units, another indicator or last year
        (2, 1000, False, [240], True, True),
        (30, 1000, False, [24, 36, 21], False, False),
        (30, 0.001, False, [24, 36, 30], False, False),
        (30, 1, True, [], None, None),  # the first of all
    ],
)  # fmt: skip
def test_the_value_of_a_unit_tells_a_small_country_from_another_unit(
    domain, times, unit, units, others, fits, alike
):
    among = Among([country(domain, each, units=units, name="BE") for each in others])
    mine = country(domain, times, unit, units)
    assert (holds(proportion(mine, domain, among)), holds(size(mine, domain, among))) == (fits, alike)


def test_who_has_converted_his_file_is_refused_sooner(domain):
    """Values 40 times those of the others are told; in a file of another unit multiplier they are refused."""
    others, mine = (
        [country(domain, each, units=False) for each in (24, 30, 36)],
        country(domain, 1200, units=False),
    )
    assert holds(proportion(mine, domain, Among(others))) is True
    assert holds(proportion(mine, domain, Among(others, converted=True))) is False
    assert holds(proportion(country(domain, 240, units=False), domain, Among(others, converted=True))) is True


@pytest.mark.parametrize(
    ("units_of_others", "refused"),
    [
        ([1000, 1, 1], False),  # one of the others is wrong
        ([1000, 1], False),  # half of the others: the nearer one counts
        ([1000, 1000, 1], True),  # most of them: then they are right
        ([1000], True),  # each may be wrong, and somebody must look
    ],
)
def test_the_middle_of_the_others_counts(domain, units_of_others, refused):
    others = [country(domain, 10 + i, unit) for i, unit in enumerate(units_of_others)]
    assert holds(proportion(country(domain, 20), domain, Among(others))) is not refused


def test_an_indicator_without_units_is_held_against_the_others(tmp_path):
    """AT's turnover is that of a small country, and its wages are those of a large one."""
    another = "  - {code: WAGES, label: Wages, unit: EUR, unit_multiplier: 3}\nhierarchies:"
    domain = small_domain(tmp_path, "hierarchies:", another)

    def pair(times: float, wages: float = 1) -> NationalTable:
        turnover, other = country(domain, times, units=False), country(domain, times / 5 * wages, units=False)
        joined = {
            name: np.concatenate([getattr(turnover, name), getattr(other, name)])
            for name in ("value", "flag", "units", "share_1", "share_2")
        }
        return replace(turnover, **joined, available=np.ones(len(joined["value"]), dtype=bool))

    others = Among([pair(each) for each in (240, 170, 36)])
    assert refusals(compare(pair(2), domain, others)) == ()
    [wrong] = refusals(compare(pair(2, wages=1000), domain, others))
    assert (wrong.check, wrong.cells) == ("proportion", ("AT.TURNOVER.TOTAL._T", "AT.WAGES.TOTAL._T")), (
        "of two, either may be wrong"
    )


def test_a_branch_in_another_unit_with_totals_that_fit(domain):
    """Every sum holds. The totals go with the branch that is in another unit, so the other one is odd beside
    them.
    """
    others = Among([country(domain, each) for each in (20, 30, 40)])
    odd = country(domain, 25, parts=np.array([[1000], [1]]))
    found = {result.check: result for result in compare(odd, domain, others)}
    assert refusals(check(odd, domain)) == ()
    assert (found["code_proportion"].passed, found["code_proportion"].cells) == (False, ("AT.TURNOVER.D._T",))
    assert holds(code_proportion(country(domain, 25), domain, others)) is True
    few = country(domain, (FEWEST_UNITS - 1) / FIRMS.sum())
    assert holds(code_proportion(few, domain, others)) is None, (
        "one enterprise more or less makes the mean of so few"
    )


def test_the_table_of_another_country(domain):
    assert (
        holds(copied(country(domain, 2), domain, Among([country(domain, 3), country(domain, 2, name="BE")])))
        is False
    )
    assert holds(copied(country(domain, 2), domain, Among([country(domain, 3)]))) is True
    assert holds(copied(country(domain, 0), domain, Among([country(domain, 0)]))) is None, (
        "zeros are everybody's"
    )


def test_what_is_not_available_is_compared_with_nothing(domain):
    filler = replace(country(domain, 20, 1000), available=np.zeros(9, dtype=bool))
    assert holds(proportion(filler, domain, Among([country(domain, 20)]))) is None


@pytest.mark.parametrize(
    ("now", "then", "failing"),
    [
        (1.0, 1.3, set()),
        (4.4, 1.0, {"period_change"}),  # zlotys for euros
        (1.0, 11.0, {"period_proportion", "period_change"}),
        (11.0, 1.0, {"period_proportion", "period_change"}),  # crowns for euros
        (1.0, 1.0, {"repeated"}),
    ],
)
def test_the_last_period(domain, now, then, failing):
    results = check(country(domain, 20 * now), domain, last=country(domain, 20 * then))
    assert {result.check for result in results if not result.passed} - {"all_free"} == failing
    assert all(str(int(value)) not in describe(result) for result in results for value in INNER.ravel() * 20)


@pytest.mark.parametrize(
    ("parts", "codes"),
    [
        ([[1, 1], [1, 1]], set()),
        ([[1, 1], [0.01, 0.01]], {"AT.TURNOVER.D._T"}),
        (
            [[20, 1], [1, 1]],
            {"AT.TURNOVER.TOTAL.S"},
        ),  # a branch and a size class move with the cell, the class by more than ten
    ],
)
def test_a_code_that_moved_against_its_table_since_the_last_period(domain, parts, codes):
    found = {
        each.check: each
        for each in check(country(domain, 20, parts=np.array(parts)), domain, last=country(domain, 21))
    }
    assert codes <= set(found["code_change"].cells)
    assert found["code_change"].passed is not bool(codes)


def test_units_that_were_there_last_time(domain):
    found = {
        each.check: each for each in check(country(domain, 20, units=False), domain, last=country(domain, 21))
    }
    assert found["columns_lost"].cells == ("AT.TURNOVER.TOTAL._T",)
    assert {
        each.check: each.passed
        for each in check(country(domain, 20), domain, last=country(domain, 21, units=False))
    }["columns_lost"]


def test_the_ratios_are_those_of_the_domain_file(tmp_path):
    strict = small_domain(
        tmp_path, "flags:", "checks: {proportion_ratio: 2, period_ratio: 1.2, size: null}\nflags:"
    )
    mine, other = country(strict, 20), country(strict, 20, unit=3)
    assert [each.check for each in refusals(compare(mine, strict, Among([other])))] == ["proportion"]
    assert [each.check for each in refusals(check(mine, strict, last=country(strict, 25)))] == [
        "period_proportion"
    ]
    assert "size" not in [each.check for each in compare(mine, strict, Among([other]))]


@cache
def demonstration(folder: Path) -> tuple[Domain, list[NationalTable]]:
    domain = load_domain(write_demo(folder, countries=27, activities=10, sizes=3)).of(PERIOD)
    tables = [read(file, domain, PERIOD).table for file in sorted((folder / "inbox").iterdir())]
    return domain, [table for table in tables if table is not None]


@pytest.mark.parametrize("unit", [1000, 0.001])
def test_twenty_seven_countries_from_malta_to_germany(unit, tmp_path_factory):
    """None is refused or warned of; each of them in another unit is refused, and it alone."""
    domain, tables = demonstration(tmp_path_factory.getbasetemp() / "demonstration")
    assert len(tables) == 27
    for i, table in enumerate(tables):
        others = [*tables[:i], *tables[i + 1 :]]
        assert [
            holds(each(table, domain, Among(others))) for each in (proportion, code_proportion, copied)
        ] in (
            [True] * 3,
            [True, None, True],
        )
        assert holds(proportion(replace(table, value=table.value * unit), domain, Among(others))) is False, (
            table.country
        )
        beside = [replace(others[0], value=others[0].value * unit), *others[1:]]
        assert holds(proportion(table, domain, Among(beside))) is True, table.country
