"""Which cells of two tables are the same, and which are sums or means of others over time."""

from __future__ import annotations

import numpy as np
import pytest

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.linked.relations import Linked, over_time, partners, refuse_crossing, same_cells
from sdc_tasks.model.table import CellSpace, Hierarchy
from sdc_tasks.model.time.periods import PeriodRule

ACTIVITY = Hierarchy("ACTIVITY", ("T", "X", "Y"), (None, "T", "T"))
BACKWARDS = Hierarchy("ACTIVITY", ("Y", "X", "Z"), (None, None, None))
SIZE = Hierarchy("SIZE", ("S", "_T", "L"), ("_T", None, "_T"))
ROOTS = Hierarchy("SIZE", ("S", "L"), (None, None))


def space(*hierarchies: Hierarchy, countries=("AT", "BE"), indicators=("V",)) -> CellSpace:
    return CellSpace(tuple(countries), (), tuple(indicators), hierarchies)


def tables(*made: tuple[str, CellSpace]) -> list[Linked]:
    firsts = np.cumsum([0, *(each.size for _, each in made)]).tolist()
    return [Linked(period, period, each, first) for (period, each), first in zip(made, firsts, strict=False)]


def named(one: CellSpace, other: CellSpace) -> dict[str, str]:
    found = partners(one, other)
    return {one.key(cell): other.key(int(place)) for cell, place in enumerate(found) if place >= 0}


def test_a_dimension_that_a_table_does_not_have_stands_at_its_only_root():
    assert named(space(ACTIVITY, countries=["AT"]), space(ACTIVITY, SIZE, countries=["BE", "AT"])) == {
        "AT.V.T": "AT.V.T._T",
        "AT.V.X": "AT.V.X._T",
        "AT.V.Y": "AT.V.Y._T",
    }
    assert named(space(SIZE, countries=["AT"]), space(ACTIVITY, countries=["AT"])) == {"AT.V._T": "AT.V.T"}


def test_codes_and_countries_and_indicators_are_matched_by_name():
    one = space(ACTIVITY, countries=["AT", "CY"], indicators=["V", "W"])
    other = space(BACKWARDS, countries=["BE", "AT"], indicators=["U", "W"])
    assert named(one, other) == {"AT.W.X": "AT.W.X", "AT.W.Y": "AT.W.Y"}


def test_of_several_roots_nobody_said_which_is_the_whole():
    assert named(space(ACTIVITY), space(ACTIVITY, ROOTS)) == {}
    assert named(space(ACTIVITY, ROOTS), space(ACTIVITY)) == {}
    assert len(named(space(ROOTS), space(ROOTS))) == 4, "but the same codes are the same"


def test_each_shared_cell_is_tied_once():
    three = tables(("2024", space(ACTIVITY)), ("2024", space(ACTIVITY, SIZE)), ("2024", space(SIZE)))
    rows = same_cells(three, lambda one, _: one >= 0)
    pairs = set(zip(rows.total.tolist(), rows.cell.tolist(), strict=True))
    # activities at all sizes to the second table; sizes to the second table, the total of all to the first
    assert len(pairs) == len(rows.total) == 2 * (3 + 3)
    assert len(set(rows.cell.tolist())) == len(rows.cell)


def matrix(made, rules):
    every = tables(*made)
    rows = over_time(every, rules)
    size = sum(each.space.size for each in every)
    return rows, rows.matrix(rows.whole, size).toarray(), rows.matrix(~rows.whole, size).toarray()


ONE = space(Hierarchy("A", ("T",), (None,)), countries=["AT"])
SUM, MEAN, NONE = ({"V": rule} for rule in PeriodRule)


def made(*periods: str):
    return [(period, ONE) for period in periods]


def test_the_year_is_the_sum_of_its_quarters():
    _, whole, least = matrix(made("2024-Q1", "2024-Q2", "2024", "2024-Q3", "2024-Q4"), SUM)
    assert whole.tolist() == [[1, 1, -1, 1, 1]]
    assert not least.size


def test_a_year_of_which_a_quarter_is_missing_is_at_least_the_others():
    _, whole, least = matrix(made("2024-Q1", "2024", "2024-Q3"), SUM)
    assert not whole.size
    assert least.tolist() == [[1, -1, 1]]


def test_the_longest_periods_that_are_out_are_taken():
    months = [f"2024-{month:02}" for month in (1, 2, 3, 7, 8, 9)]
    _, whole, least = matrix(made("2024", "2024-Q1", "2024-Q2", *months, "2024-Q4"), SUM)
    #       2024 Q1 Q2  1  2  3  7  8  9 Q4
    year = [-1, 1, 1, 0, 0, 0, 1, 1, 1, 1]
    quarter = [0, -1, 0, 1, 1, 1, 0, 0, 0, 0]
    assert sorted(whole.tolist()) == sorted([year, quarter])
    assert not least.size


def test_the_mean_of_stocks_counts_months():
    _, whole, _ = matrix(made("2024", "2024-Q1", "2024-Q2", "2024-Q3", "2024-Q4"), MEAN)
    assert whole.tolist() == [[-4, 1, 1, 1, 1]]
    _, whole, _ = matrix(made("2024", "2024-S1", "2024-Q3", "2024-Q4"), MEAN)
    assert whole.tolist() == [[-4, 2, 1, 1]]


def test_nothing_is_said_of_an_index():
    rows, *_ = matrix(made("2024", "2024-Q1", "2024-Q2", "2024-Q3", "2024-Q4"), NONE)
    assert not len(rows.total)
    rows, *_ = matrix(made("2024", "2024-Q1"), {})
    assert not len(rows.total)


def test_a_cell_that_a_shorter_table_alone_has_is_taken_from_it():
    """The quarters of the main table have X, their months by another table have T and X."""
    short = space(Hierarchy("A", ("X",), (None,)), countries=["AT"])
    wide = space(Hierarchy("A", ("T", "X"), (None, "T")), countries=["AT"])
    every = [("2024-Q1", wide), ("2024-01", wide), ("2024-02", short), ("2024-02", wide), ("2024-03", wide)]
    _, whole, _ = matrix(every, SUM)
    #              Q1: T X  1: T X  2: X  2: T X  3: T X
    assert sorted(whole.tolist()) == sorted([[-1, 0, 1, 0, 0, 1, 0, 1, 0], [0, -1, 0, 1, 1, 0, 0, 0, 1]])


@pytest.mark.parametrize(
    ("periods", "crossing"),
    [
        (["2024", "2024-Q1", "2024-01"], False),
        (["2024-W05", "2024-01"], True),
        (["2024-T1", "2024-Q2"], True),
        (["2024-T1", "2024-01", "2024"], False),
        (["2024-W05", "2024-W06", "2024-02"], True),
    ],
)
def test_periods_that_cross_are_refused(periods: list[str], crossing: bool):
    if not crossing:
        refuse_crossing(periods)
        return
    with pytest.raises(InvalidInput, match=r"overlap, and neither is within the other.*Remedy"):
        refuse_crossing(periods)
