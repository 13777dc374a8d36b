"""Protection levels against contributions drawn by hand: X, its largest units, and the arithmetic beside each
case.
"""

from __future__ import annotations

import numpy as np
import pytest

from sdc_tasks.methods.primary import (
    LevelRule,
    NKRule,
    PercentRule,
    PPercentRule,
    PQRule,
    protection_levels,
    sensitive,
)

P10 = PPercentRule(p=10)


def level(rule: LevelRule, X: float, units: int, share_1: float, share_2: float) -> float:
    lpl, upl, _ = protection_levels(
        np.array([X]), np.array([units]), np.array([share_1]), np.array([share_2]), rule
    )
    assert lpl == upl
    return float(lpl[0])


@pytest.mark.parametrize(
    ("rule", "X", "units", "share_1", "share_2", "expected"),
    [
        # p%: x1 ≤ 60.5 % = 605, x2 ≤ 36.5 % = 365, so at least 30 remain: 60.5 − 30
        (P10, 1000, 5, 60, 36, 30.5),
        # shares that add up to 100: nothing need remain: 10 % of 905
        (P10, 1000, 3, 90, 10, 90.5),
        # the same where the others hold enough: no level of its own, the minimum
        (P10, 1000, 9, 40, 30, 0.001),
        # (5,50) asks what 10 % asks
        (PQRule(p=5, q=50), 1000, 5, 60, 36, 30.5),
        # (1,75): 100/75·805 − 1000
        (NKRule(n=1, k=75), 1000, 5, 80, 5, 100 / 75 * 805 - 1000),
        # (2,80): 100/80·(505 + 355) − 1000
        (NKRule(n=2, k=80), 1000, 5, 50, 35, 75.0),
        # (2,80): two shares never exceed the cell: 100/80·1000 − 1000
        (NKRule(n=2, k=80), 1000, 5, 70, 30, 250.0),
        # a level per flag: 10 % of the value whatever the shares
        (PercentRule(percent=10), 1000, 5, 60, 36, 100.0),
    ],
)
def test_a_level_is_the_rule_at_the_largest_contributions_the_shares_allow(
    rule: LevelRule, X: float, units: int, share_1: float, share_2: float, expected: float
) -> None:
    assert level(rule, X, units, share_1, share_2) == pytest.approx(expected)


@pytest.mark.parametrize("units", [1, 2])
def test_one_or_two_units_get_ten_percent_of_the_value_and_at_least_one(units: int) -> None:
    assert level(P10, 500, units, 97, 3) == pytest.approx(50)
    assert level(P10, 4, units, 97, 3) == 1


def test_few_units_get_more_where_the_rule_asks_more() -> None:
    assert level(PPercentRule(p=15, percent=10), 1000, 1, 100, 0) == pytest.approx(150)
    assert level(NKRule(n=1, k=80, percent=10), 1000, 1, 100, 0) == pytest.approx(250)


@pytest.mark.parametrize(("share_1", "share_2"), [(np.nan, np.nan), (90, np.nan)])
def test_without_the_shares_the_rule_needs_the_domain_decides(share_1: float, share_2: float) -> None:
    assert level(PPercentRule(p=10, percent=20), 1000, -1, share_1, share_2) == pytest.approx(200)


def test_dominance_by_one_needs_no_second_share() -> None:
    assert level(NKRule(n=1, k=75), 1000, 5, 80, np.nan) == pytest.approx(100 / 75 * 805 - 1000)


def test_a_negative_value_is_protected_by_its_size() -> None:
    assert level(PercentRule(percent=10), -1000, -1, np.nan, np.nan) == pytest.approx(100)


def test_the_sliding_level_is_a_multiple_of_both_sides() -> None:
    rule = PercentRule(percent=10, sliding=0.5)
    *_, spl = protection_levels(
        np.array([1000.0]), np.array([-1]), np.array([np.nan]), np.array([np.nan]), rule
    )
    assert spl[0] == pytest.approx(100)


@pytest.mark.parametrize(
    ("X", "units", "share_1", "share_2", "expected"),
    [
        (657, 4, 98, 1, 0.1 * 0.985 * 657 - 0.01 * 657),
        (2000, 3, 100, 0, 0.1 * 1.005 * 2000),
        (2000, 12, 50, 30, 0.001),
    ],
)
def test_the_central_remainder_of_the_regional_reference_figures(
    X: float, units: int, share_1: float, share_2: float, expected: float
) -> None:
    """x1 half a percent up, x2 half a percent down: X − x1 − x2 as the shares say it, which is *not* the safe
    side.
    """
    assert level(
        P10.model_copy(update={"share_error": (0.5, -0.5)}), X, units, share_1, share_2
    ) == pytest.approx(expected)


def test_sensitive_cells_have_few_units_or_one_that_the_second_can_estimate() -> None:
    # empty  one  two  three: 10 % of 900 > 30   three: 10 % of 600 > 50, no: 60 > 50 yes   many, none
    # dominates
    x1 = np.array([0, 50, 60, 900, 600, 200])
    x2 = np.array([0, 0, 40, 70, 340, 150])
    X = np.array([0, 50, 100, 1000, 1000, 1000])
    units = np.array([0, 1, 2, 3, 4, 20])
    assert sensitive(x1, x2, X, units, p=10, minimum_frequency=3).tolist() == [
        False,
        True,
        True,
        True,
        False,
        False,
    ]
