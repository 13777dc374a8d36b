"""Patterns after what was given, against the oracle: what was open stays open, what was hidden
before is preferred, all is safe.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.suppression.engine import PatternOptions, suppress
from sdc_tasks.methods.suppression.prior_patterns.earlier import EarlierPattern, coordinated, frozen, moved
from sdc_tasks.model.sensitive import SensitiveTable
from support.drawn_suppression import problems
from support.laws import law
from support.oracles.suppression import least_by_enumeration, unprotected


def earlier_of(problem: SensitiveTable, hidden: np.ndarray) -> EarlierPattern:
    return EarlierPattern("before", hidden, ~hidden, np.where(hidden, np.nan, problem.a))


@given(problems(("flat", "wide")), st.integers(0, 2**32 - 1))
@law(15)
def test_a_frozen_pattern_is_the_cheapest_inside_what_was_hidden(problem: SensitiveTable, seed: int) -> None:
    rng = np.random.default_rng(seed)
    before = problem.primary | (~problem.fixed & (rng.random(len(problem.a)) < 0.8))
    after = frozen(problem, earlier_of(problem, before))
    least = least_by_enumeration(after)
    try:
        result = suppress(after, PatternOptions(gap=0.0))
    except Unprotectable:
        assert least is None
        return
    assert result.pattern is not None
    assert least is not None
    assert abs(problem.cost_of(result.pattern) - least) <= 1e-5 * max(1.0, least)
    assert not (result.pattern & ~before).any()
    assert unprotected(problem, result.pattern) == []


@given(problems(("wide", "wide")), st.integers(0, 2**32 - 1))
@law(15)
def test_a_discount_never_moves_the_pattern_further(problem: SensitiveTable, seed: int) -> None:
    """By exchange: with discount t, cost of the cells hidden now only, t times the rest … the optimum
    uses fewer of them, as t grows.
    """
    rng = np.random.default_rng(seed)
    before = earlier_of(problem, problem.primary | (~problem.fixed & (rng.random(len(problem.a)) < 0.5)))
    newly = []
    for discount in (1.0, 4.0, 1e6):
        try:
            result = suppress(coordinated(problem, before, discount), PatternOptions(gap=0.0))
        except Unprotectable:
            return
        assert result.pattern is not None
        assert unprotected(problem, result.pattern) == []
        far = moved(result.pattern, before)
        assert far.kept + far.hidden_now == result.pattern.sum()
        newly.append(float(problem.cost[result.pattern & ~before.hidden].sum()))
    assert newly[1] <= newly[0] * (1 + 1e-5) + 1e-6
    assert newly[2] <= newly[1] * (1 + 1e-5) + 1e-6


def test_a_cell_tied_to_the_primary_that_has_too_little_room_is_told() -> None:
    """11 = 8 + 3 with an open total: where 8 rises by 5, 3 would have to fall below 0."""
    a, none = np.array([11.0, 8.0, 3.0]), np.zeros(3)
    total, primary = np.array([[True, False, False], [False, True, False]])
    M = sp.csr_array(np.array([[-1.0, 1.0, 1.0]]))
    problem = SensitiveTable(
        M, a, none, none + 99, 5 * primary, 5 * primary, none, cost=a, primary=primary, fixed=total
    )
    with pytest.raises(
        Unprotectable,
        match=r"cell 1: a cell that its relations tie to it has less room than its level\. Remedy: ",
    ):
        suppress(problem)


def test_a_table_that_was_published_as_a_whole_has_nothing_left_to_hide() -> None:
    a, none = np.array([11.0, 8.0, 3.0]), np.zeros(3)
    problem = SensitiveTable(
        sp.csr_array(np.array([[-1.0, 1.0, 1.0]])),
        a,
        none,
        none + 99,
        none,
        none,
        none,
        cost=a,
        primary=none > 0,
        fixed=none > 0,
    )
    result = suppress(frozen(problem, earlier_of(problem, none > 0)))
    assert result.pattern is not None
    assert not result.pattern.any()
