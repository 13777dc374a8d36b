"""Levels of 0 on one side or on both, and levels beyond the bounds, in every method that takes levels: what
is asked of a side holds there.

The attacker here is two linear programs of scipy for each primary; what is asked is cut at the
bounds by hand, because nobody can be kept from what everybody knows. Adjusted tables have their
own laws: test_cta_one_side.py.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from sdc_tasks.errors import InvalidInput, Unprotectable
from sdc_tasks.judge.pattern import verify
from sdc_tasks.methods.rounding.controlled import TableOptions, round_table
from sdc_tasks.methods.rounding.separable import SearchOptions
from sdc_tasks.methods.suppression.engine import PatternOptions, suppress
from sdc_tasks.methods.suppression.names import METHODS
from sdc_tasks.methods.suppression.partial.intervals import width_weights
from sdc_tasks.methods.suppression.partial.run import IntervalRun
from sdc_tasks.methods.suppression.partial.search import narrow_intervals
from sdc_tasks.model.sensitive import SensitiveTable
from support.drawn_suppression import problems
from support.laws import law

NEAR = 1e-6
SHARES = st.sampled_from(
    [0.0, 0.0, 0.1, 0.4, 50.0]
)  # of the value; the last is beyond the bounds of any cell


@st.composite
def by_side(draw: st.DrawFn, kinds: tuple[str, ...]) -> SensitiveTable:
    """A table without singletons, each level drawn for itself."""
    problem = draw(problems(kinds, general=False))
    n = len(problem.a)
    lpl, upl = (
        np.abs(problem.a) * np.array(draw(st.lists(SHARES, min_size=n, max_size=n))) for _ in range(2)
    )
    return replace(
        problem,
        lpl=lpl,
        upl=upl,
        spl=np.zeros(n),
        singleton=np.zeros(n, dtype=bool),
        respondent=None,
        guarded=None,
        beside=np.zeros(0),
    )


def reach(M, low, high, rhs, cell: int, side: int) -> float:
    cost = np.zeros(len(low))
    cost[cell] = -side
    found = linprog(cost, A_eq=M, b_eq=rhs, bounds=np.column_stack([low, high]), method="highs")
    return np.inf if found.status == 3 else -side * float(found.fun)


def short(problem: SensitiveTable, low: np.ndarray, high: np.ndarray) -> list[tuple[int, int]]:
    """(cell, side) of what is asked and not kept by somebody who knows every cell to lie in [low, high]."""
    broken = []
    for p in np.flatnonzero(problem.primary).tolist():
        for side, level, room in (
            (1, problem.upl[p], problem.ub[p] - problem.a[p]),
            (-1, problem.lpl[p], problem.a[p] - problem.lb[p]),
        ):
            needed = min(level, room)
            if needed and side * (
                reach(problem.M, low, high, problem.rhs, p, side) - problem.a[p]
            ) < needed * (1 - NEAR):
                broken.append((p, side))
    return broken


def hidden(problem: SensitiveTable, pattern: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.where(pattern, problem.lb, problem.a), np.where(pattern, problem.ub, problem.a)


@pytest.mark.parametrize("method", METHODS)
@law(40)
@given(problem=st.one_of(by_side(("flat", "wide")), by_side(("wide", "deep"))))
def test_a_pattern_keeps_what_is_asked_of_each_side(method, problem):
    everything = ~problem.fixed
    try:
        found = suppress(problem, PatternOptions(method))
    except Unprotectable:
        assert short(problem, *hidden(problem, everything))
        return
    assert not short(problem, *hidden(problem, everything))
    assert short(problem, *hidden(problem, found.pattern)) == []


@law(60)
@given(problem=by_side(("wide", "deep")), data=st.data())
def test_the_judge_says_of_any_pattern_what_the_oracle_says(problem, data):
    n = len(problem.a)
    pattern = problem.primary | (
        np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n))) & ~problem.fixed
    )
    found = {cell for cell, _ in short(problem, *hidden(problem, pattern))}
    assert set(verify(problem, pattern).unprotected.tolist()) == found


@law(60)
@given(problem=st.one_of(by_side(("flat", "wide")), by_side(("wide", "deep"))))
def test_intervals_keep_what_is_asked_of_each_side(problem):
    """A primary with no level at all has no interval, and is refused."""
    run = IntervalRun(problem, width_weights(problem), gap=0.0)
    bare = problem.primary & (
        np.minimum(problem.upl, problem.ub - problem.a) + np.minimum(problem.lpl, problem.a - problem.lb) == 0
    )
    try:
        narrow_intervals(run)
    except InvalidInput:
        assert bare.any()
        return
    except Unprotectable:
        assert short(problem, *hidden(problem, ~problem.fixed))
        return
    assert not bare.any()
    assert short(problem, problem.a - run.incumbent.below, problem.a + run.incumbent.above) == []


@law(60)
@given(problem=by_side(("flat", "wide")))
def test_controlled_rounding_keeps_what_is_asked_of_each_side(problem):
    """Somebody reads the rounded table, and knows that each value lies within the reach of the base."""
    base = 5.0
    table = replace(
        problem,
        lpl=np.minimum(problem.lpl, 9.0),
        upl=np.minimum(problem.upl, 9.0),
        spl=np.zeros(len(problem.a)),
        fixed=(problem.a == 0) & ~problem.primary,
    )
    try:
        found = round_table(table, TableOptions(base, SearchOptions(1)))
    except Unprotectable:
        return
    half = np.where(table.fixed, 0.0, found.reach * base)
    low, high = np.maximum(problem.lb, found.x - half), np.minimum(problem.ub, found.x + half)
    asked = replace(
        problem,
        lpl=np.minimum(problem.lpl, 9.0),
        upl=np.minimum(problem.upl, 9.0),
        rhs=np.zeros(problem.M.shape[0]),
    )
    assert short(asked, low, high) == []
