"""Intervals instead of blanks, against one linear program of the whole model and two programs a cell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.errors import InvalidInput, Unprotectable
from sdc_tasks.methods.suppression.engine import PatternOptions, suppress
from sdc_tasks.methods.suppression.partial.intervals import (
    Intervals,
    blurred,
    judge,
    rounded_outwards,
    width_weights,
)
from sdc_tasks.methods.suppression.partial.run import IntervalRun
from sdc_tasks.methods.suppression.partial.search import narrow_intervals
from sdc_tasks.model.sensitive import SensitiveTable
from support.drawn_suppression import linked, problems
from support.laws import law
from support.oracles.intervals import exposed, least_loss
from support.oracles.suppression import interval


def searched(problem: SensitiveTable, gap: float = 0.0) -> IntervalRun:
    run = IntervalRun(problem, width_weights(problem), gap=gap)
    narrow_intervals(run)
    return run


def assert_least(problem: SensitiveTable) -> None:
    least = least_loss(problem, width_weights(problem))
    try:
        run = searched(problem)
    except Unprotectable:
        assert least is None
        return
    assert least is not None
    assert run.incumbent is not None
    assert run.incumbent.loss == pytest.approx(least, rel=1e-4, abs=1e-6)
    assert run.bound == pytest.approx(least, rel=1e-4, abs=1e-6)
    assert run.bound <= least * (1 + 1e-6) + 1e-6
    assert exposed(problem, run.incumbent.below, run.incumbent.above) == []
    assert not ((run.incumbent.below > 0) | (run.incumbent.above > 0))[problem.fixed].any()


@given(st.one_of(problems(("flat", "wide")), problems(("wide", "deep"))))
@law(30)
def test_two_dimensions_lose_as_little_as_the_whole_model(problem: SensitiveTable) -> None:
    assert_least(problem)


@given(st.one_of(problems(("flat", "flat", "flat")), linked()))
@law(20)
def test_three_dimensions_and_linked_tables_lose_as_little_as_the_whole_model(
    problem: SensitiveTable,
) -> None:
    assert_least(problem)


@given(st.one_of(problems(("flat", "wide")), problems(("flat", "flat", "flat"))))
@law(15)
def test_never_more_is_lost_than_by_hiding(problem: SensitiveTable) -> None:
    """What an attacker can work out of the blanks of a pattern are intervals too, and safe ones."""
    try:
        pattern = suppress(problem, PatternOptions(gap=0.0)).pattern
    except Unprotectable:
        return
    assert pattern is not None
    outside = replace(problem, singleton=np.zeros(len(pattern), dtype=bool))
    ends = np.array(
        [
            interval(outside, pattern, cell) if pattern[cell] else (problem.a[cell],) * 2
            for cell in range(len(pattern))
        ]
    )
    run = searched(problem)
    assert run.incumbent is not None
    hidden = float(width_weights(problem) @ (ends[:, 1] - ends[:, 0]))
    assert run.incumbent.loss <= hidden * (1 + 1e-4) + 1e-6


@given(problems(("wide", "deep")), st.integers(0, 2**32 - 1))
@law(20)
def test_the_judge_agrees_with_two_programs_a_cell(problem: SensitiveTable, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = len(problem.a)
    some = (rng.random(n) < 0.7) | problem.primary
    below = np.where(some & ~problem.fixed, rng.random(n) ** 0.2 * (problem.a - problem.lb), 0.0)
    above = np.where(some & ~problem.fixed, rng.random(n) ** 0.2 * (problem.ub - problem.a), 0.0)
    found = judge(problem, Intervals(below, above, 0.0))
    assert (len(found) == 0) == (
        exposed(problem, below, above) == [] and bool(((below + above) > 0)[problem.primary].all())
    )


@given(problems(("wide", "wide")), st.sampled_from([1.0, 10.0, 0.5]))
@law(15)
def test_ends_moved_outwards_protect_no_less(problem: SensitiveTable, unit: float) -> None:
    try:
        run = searched(problem, gap=0.05)
    except Unprotectable:
        return
    assert run.incumbent is not None
    low, high = rounded_outwards(problem, run.incumbent, unit)
    assert (low <= problem.a - run.incumbent.below).all()
    assert (high >= problem.a + run.incumbent.above).all()
    assert exposed(problem, problem.a - low, high - problem.a) == []
    inside = (low > problem.lb) & (high < problem.ub) & ~run.incumbent.open
    assert np.allclose(low[inside] / unit, np.round(low[inside] / unit))


@given(problems(("flat", "wide")))
@law(10)
def test_the_same_problem_gives_the_same_intervals(problem: SensitiveTable) -> None:
    try:
        first, second = searched(problem), searched(problem)
    except Unprotectable:
        return
    assert first.incumbent is not None
    assert second.incumbent is not None
    assert first.incumbent.below.tobytes() == second.incumbent.below.tobytes()
    assert [(m.objective, m.bound, m.method) for m in first.history] == [
        (m.objective, m.bound, m.method) for m in second.history
    ]


@given(problems(("flat", "wide")), st.integers(0, 2**32 - 1))
@law(10)
def test_blurred_levels_are_no_smaller_and_no_larger_than_the_share(
    problem: SensitiveTable, seed: int
) -> None:
    other = blurred(problem, 0.5, seed)
    for name in ("lpl", "upl", "spl"):
        before, after = getattr(problem, name), getattr(other, name)
        assert ((after >= before) & (after <= 1.5 * before)).all()
    assert np.array_equal(blurred(problem, 0.5, seed).lpl, other.lpl)


def test_a_primary_without_a_level_has_no_interval() -> None:
    none, mark = np.zeros(3), np.array([False, True, False])
    M = np.array([[-1.0, 1.0, 1.0]])
    problem = SensitiveTable(
        M,
        np.array([3.0, 1, 2]),
        none,
        none + 9,
        none,
        none,
        none,
        cost=none + 1,
        primary=mark,
        fixed=none > 0,
    )
    with pytest.raises(InvalidInput, match=r"cell 1: primary without a level\. Remedy: "):
        searched(problem)


def test_a_minimum_of_contributors_says_nothing_of_intervals() -> None:
    none, mark = np.zeros(3), np.array([False, True, False])
    M = np.array([[-1.0, 1.0, 1.0]])
    problem = SensitiveTable(
        M,
        np.array([3.0, 1, 2]),
        none,
        none + 9,
        mark,
        mark,
        none,
        cost=none + 1,
        primary=mark,
        fixed=none > 0,
        count=none + 5,
        minimum=3,
    )
    with pytest.raises(InvalidInput, match="behind blanks, not behind intervals"):
        searched(problem)
