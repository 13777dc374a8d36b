"""Levels from rounded shares are never below the levels of the contributions themselves."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.methods.primary import LevelRule, NKRule, PercentRule, PPercentRule, PQRule, protection_levels

contributions = st.lists(st.integers(1, 10**7), min_size=1, max_size=8).map(
    lambda units: sorted(units, reverse=True)
)
heavy = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 7)), min_size=1, max_size=8).map(
    lambda units: sorted((mantissa * 10**exponent for mantissa, exponent in units), reverse=True)
)
rules = st.one_of(
    st.builds(PPercentRule, p=st.floats(1, 50)),
    st.builds(PQRule, p=st.floats(1, 50), q=st.floats(51, 100)),
    st.builds(NKRule, n=st.sampled_from([1, 2]), k=st.floats(50, 100)),
    st.builds(PercentRule, percent=st.floats(1, 50)),
)


def exact_level(units: list[int], rule: LevelRule) -> float:
    """The level of METHOD's formulae from the contributions, largest first."""
    X, x1, x2 = sum(units), units[0], sum(units[1:2])
    few = rule.percent / 100 * x1 if len(units) <= rule.few_units or rule.kind == "percent" else 0.0
    match rule:
        case PPercentRule(p=p):
            by_rule = p / 100 * x1 - (X - x1 - x2)
        case PQRule(p=p, q=q):
            by_rule = p / q * x1 - (X - x1 - x2)
        case NKRule(n=n, k=k):
            by_rule = 100 / k * sum(units[:n]) - X
        case _:
            by_rule = 0.0
    return max(few, by_rule, 0.0)


@given(st.one_of(contributions, heavy), rules)
def test_a_level_from_whole_percent_shares_is_on_the_safe_side(units: list[int], rule: LevelRule) -> None:
    X = sum(units)
    share_1, share_2 = (float(round(100 * part / X)) for part in (units[0], sum(units[1:2])))
    lpl, upl, _ = protection_levels(
        np.array([float(X)]), np.array([len(units)]), np.array([share_1]), np.array([share_2]), rule
    )
    assert min(lpl[0], upl[0]) >= exact_level(units, rule) * (1 - 1e-9)


@given(contributions, rules)
def test_a_level_never_exceeds_what_the_rule_asks_of_one_unit_alone_by_more_than_the_rounding(
    units: list[int], rule: LevelRule
) -> None:
    X = float(sum(units))
    shares = [np.array([float(round(100 * part / X))]) for part in (units[0], sum(units[1:2]))]
    _, upl, _ = protection_levels(np.array([X]), np.array([len(units)]), shares[0], shares[1], rule)
    match rule:
        case PPercentRule(p=p):
            alone = p
        case PQRule(p=p, q=q):
            alone = 100 * p / q
        case NKRule(k=k):
            alone = 100 * (100 / k - 1)
        case _:
            alone = rule.percent
    assert upl[0] <= max(1.005 * max(alone, rule.percent) / 100 * X, rule.few_units_minimum, rule.minimum) * (
        1 + 1e-9
    )
