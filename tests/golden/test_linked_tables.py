"""Two tables that share a total, worked by hand: each alone is protected, both together are not.

    first table    t = p + q     10 = 4 + 6     p primary, down and up by 2
    second table   t = r + s     10 = 5 + 5
    costs          t 1, all others 3

The first table alone hides t (cost 1): p then lies between 0 and 94. The second one has nothing to hide
and publishes r and s, so that t = r + s = 10 and p = 10 − 6. Hiding t takes r or s with it (cost 4);
hiding q protects p by itself (cost 3).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput, Unprotectable
from sdc_tasks.judge.pattern import verify
from sdc_tasks.methods.suppression.engine import PatternOptions, suppress
from sdc_tasks.methods.suppression.linked import Link, linked
from sdc_tasks.model.sensitive import SensitiveTable
from support.oracles.suppression import interval, unprotected


def table(a: list[float], primary: list[int], level: float = 2.0) -> SensitiveTable:
    """total = two parts."""
    values, mark, none = np.array(a), np.isin(np.arange(3), primary), np.zeros(3)
    M = sp.csr_array(np.array([[-1.0, 1.0, 1.0]]))
    return SensitiveTable(
        M,
        values,
        none,
        none + 100,
        level * mark,
        level * mark,
        none,
        cost=np.array([1.0, 3, 3]),
        primary=mark,
        fixed=none > 0,
    )


FIRST, SECOND = table([10, 4, 6], [1]), table([10, 5, 5], [])
SAME_TOTAL = [Link((("first", 0), ("second", 0)))]


def test_each_alone_is_not_enough() -> None:
    alone = {"first": suppress(FIRST), "second": suppress(SECOND)}
    assert (alone["first"].cost, alone["second"].cost) == (1, 0)
    patterns = {name: result.pattern for name, result in alone.items() if result.pattern is not None}
    assert patterns["first"].tolist() == [True, True, False]
    assert verify(FIRST, patterns["first"]).safe
    assert verify(SECOND, patterns["second"]).safe
    both = linked({"first": FIRST, "second": SECOND}, SAME_TOTAL)
    assert verify(both.problem, both.together(patterns)).unprotected.tolist() == [1]
    assert interval(both.problem, both.together(patterns), 1) == (4, 4)


@pytest.mark.parametrize("method", ["exact", "paths", "cover"])
def test_both_at_once_are_protected(method) -> None:
    both = linked({"first": FIRST, "second": SECOND}, SAME_TOTAL)
    result = suppress(both.problem, PatternOptions(method))
    assert result.pattern is not None
    assert unprotected(both.problem, result.pattern) == []
    patterns = both.patterns(result.pattern)
    assert patterns["first"].tolist() == [False, True, True]
    assert patterns["second"].tolist() == [False, False, False]
    assert result.cost == 3
    assert np.array_equal(both.together(patterns), result.pattern)


def test_a_relation_between_indicators_is_attacked_too() -> None:
    """5 q = 3 (r + s): whoever knows r and s knows t and q. So p needs q, t, and one of r and s:
    3 + 1 + 3.
    """
    relation = [*SAME_TOTAL, Link((("first", 2), ("second", 1), ("second", 2)), (5.0, -3.0, -3.0))]
    both = linked({"first": FIRST, "second": SECOND}, relation)
    hidden = both.together({"first": np.array([False, True, True]), "second": np.zeros(3, dtype=bool)})
    assert verify(both.problem, hidden).unprotected.tolist() == [1]
    result = suppress(both.problem, PatternOptions(gap=0.0))
    assert result.pattern is not None
    assert unprotected(both.problem, result.pattern) == []
    assert result.cost == 7


def test_what_is_known_in_one_table_is_known_in_the_other() -> None:
    bounded = replace(SECOND, lb=np.array([9.5, 0, 0]), cost=np.array([7.0, 3, 3]))
    both = linked({"first": FIRST, "second": bounded}, SAME_TOTAL).problem
    assert (both.lb[0], both.ub[0], both.cost[0]) == (9.5, 100, 7)
    assert both.name(0) == "first: cell 0 = second: cell 0"
    assert [both.name(i) for i in range(1, 5)] == [
        "first: cell 1",
        "first: cell 2",
        "second: cell 1",
        "second: cell 2",
    ]


def test_a_primary_in_one_table_is_one_in_all() -> None:
    both = linked(
        {"first": table([10, 4, 6], [0], 1.0), "second": table([10, 5, 5], [0], 3.0)}, SAME_TOTAL
    ).problem
    assert both.primary.tolist() == [True, False, False, False, False]
    assert both.upl[0] == 3


@pytest.mark.parametrize(
    ("second", "links", "message"),
    [
        (
            table([11, 5, 6], []),
            SAME_TOTAL,
            "a link: first: cell 0 = second: cell 0: one cell with different values",
        ),
        (
            replace(SECOND, lb=np.array([0.0, 0, 0])),
            [Link((("first", 1), ("third", 0)))],
            "third is none of the tables",
        ),
        (SECOND, [Link((("first", 3), ("second", 0)))], "first has no cell 3"),
        (SECOND, [Link((("first", 0),))], "one cell alone"),
        (SECOND, [Link((("first", 0), ("second", 1)), (1.0, 0.0))], "a coefficient is 0"),
        (
            SECOND,
            [Link((("first", 0), ("second", 1)), (1.0, -1.0))],
            "does not hold for the values: off by 0.33",
        ),
        (
            replace(SECOND, fixed=np.array([True, False, False])),
            [Link((("first", 1), ("second", 0)))],
            "different values",
        ),
    ],
)
def test_links_that_cannot_be(second, links, message) -> None:
    with pytest.raises(InvalidInput, match=message) as refused:
        linked({"first": FIRST, "second": second}, links)
    assert "Remedy: " in str(refused.value)


def test_a_primary_that_another_table_keeps_open_is_named() -> None:
    second = replace(table([4, 1, 3], []), fixed=np.array([True, False, False]))
    with pytest.raises(
        InvalidInput,
        match="first: cell 1 = second: cell 0: primary in one table, while another keeps it open",
    ):
        linked({"first": FIRST, "second": second}, [Link((("first", 1), ("second", 0)))])


def test_what_no_pattern_of_all_tables_protects_is_named() -> None:
    """The second table shows both parts of p and keeps them open."""
    second = replace(table([4, 1, 3], []), fixed=np.array([False, True, True]))
    both = linked({"first": FIRST, "second": second}, [Link((("first", 1), ("second", 0)))])
    with pytest.raises(Unprotectable, match="first: cell 1 = second: cell 0: its relations"):
        suppress(both.problem)


def single(a: list[float], primary: list[int], respondent: list[int]) -> SensitiveTable:
    told = np.array(respondent)
    return replace(table(a, primary, 1.0), singleton=told >= 0, respondent=told)


def test_single_respondents_are_the_same_where_they_share_a_cell() -> None:
    """Each table numbers its respondents from 0. The one behind the shared total is one; the one behind the
    part of the second table is told to be him; nobody says who the one behind the part of the first table is.
    """
    first, second = single([10, 4, 6], [0, 1], [0, -1, -1]), single([10, 5, 5], [0, 1], [0, 0, -1])
    first = replace(first, singleton=np.array([True, False, False]))
    both = linked({"first": first, "second": second}, SAME_TOTAL).problem
    of = both.respondents
    assert (of[0] == of[3], (of >= 0).tolist()) == (True, [True, False, False, True, False])
    third = linked(
        {"first": single([10, 4, 6], [1], [-1, 0, -1]), "second": single([10, 5, 5], [1], [-1, 0, -1])},
        SAME_TOTAL,
    ).problem
    assert third.respondents[1] != third.respondents[3]
    assert (third.respondents >= 0).tolist() == [False, True, False, True, False]


def test_the_largest_minimum_of_contributors_holds_for_all_tables() -> None:
    counts = np.array([9.0, 4, 5])
    first, second = (
        replace(FIRST, count=counts, minimum=3),
        replace(SECOND, count=np.array([8.0, 6, 2]), minimum=5),
    )
    both = linked({"first": first, "second": second}, SAME_TOTAL).problem
    assert (both.minimum, both.count is not None and both.count.tolist()) == (5, [8, 4, 5, 6, 2])
    with pytest.raises(InvalidInput, match="needs counts in every linked table"):
        linked({"first": first, "second": SECOND}, SAME_TOTAL)
