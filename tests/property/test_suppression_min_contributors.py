"""A minimum of contributors behind what is hidden, against enumeration with a judge of its
own: linear programs by relation.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.errors import InvalidInput, Unprotectable
from sdc_tasks.judge.pattern.min_contributors import meets_minimum
from sdc_tasks.methods.suppression.engine import PatternOptions, suppress
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.tolerances import NOTICEABLE
from support.drawn_suppression import problems
from support.laws import law
from support.oracles.suppression import interval, unprotected


def keeps(problem: SensitiveTable, pattern: np.ndarray) -> bool:
    """Each relation with an open total: none of its parts is hidden, or those that stay unknown
    have enough contributors together.
    """
    unknown = []
    for cell in np.flatnonzero(pattern & (problem.a != 0)):
        low, high = interval(problem, pattern, int(cell))
        far = NOTICEABLE * abs(problem.a[cell]) * (1 - 1e-3)
        down = min(far, problem.a[cell] - problem.lb[cell])
        up = min(far, problem.ub[cell] - problem.a[cell])
        if high - problem.a[cell] >= up and problem.a[cell] - low >= down and high > low:
            unknown.append(int(cell))
    for row in problem.M.toarray():
        total = int(np.flatnonzero(row < 0)[0])
        mine = [cell for cell in unknown if row[cell] > 0]
        if mine and total not in unknown and sum(problem.count[cell] for cell in mine) < problem.minimum:
            return False
    return True


def crowded(problem: SensitiveTable, seed: int) -> SensitiveTable:
    count = np.where(problem.a != 0, np.random.default_rng(seed).integers(1, 5, len(problem.a)), 0)
    return replace(problem, count=count, minimum=4, singleton=np.zeros(0), spl=0 * problem.spl)


@given(problems(("flat", "wide"), general=False), st.integers(0, 2**32 - 1))
@law(8)
def test_patterns_keep_the_minimum_and_none_is_missed(problem, seed):
    asked = crowded(problem, seed)
    free = np.flatnonzero(~asked.primary & ~asked.fixed)
    everything = asked.primary.copy()
    everything[free] = True
    for method in ("exact", "paths", "hypercube"):
        try:
            found = suppress(asked, PatternOptions(method))
        except Unprotectable:
            assert (
                unprotected(asked, everything)
                or not keeps(asked, everything)
                or not meets_minimum(asked, everything)
            )
            continue
        assert found.pattern is not None
        assert unprotected(asked, found.pattern) == []
        assert keeps(asked, found.pattern)
        assert meets_minimum(asked, found.pattern)
        assert found.cost >= found.bound * (1 - 1e-9)


@pytest.mark.slow
@given(problems(("flat", "flat"), general=False), st.integers(0, 2**32 - 1))
@law(5)
def test_the_judge_agrees_with_programs_by_relation_and_the_bound_holds(problem, seed):
    asked = crowded(problem, seed)
    free = np.flatnonzero(~asked.primary & ~asked.fixed)
    least = np.inf
    for size in range(len(free) + 1):
        for chosen in combinations(free.tolist(), size):
            pattern = asked.primary.copy()
            pattern[list(chosen)] = True
            assert meets_minimum(asked, pattern) == keeps(asked, pattern)
            if asked.cost_of(pattern) < least and not unprotected(asked, pattern) and keeps(asked, pattern):
                least = asked.cost_of(pattern)
    try:
        found = suppress(asked, PatternOptions("exact"))
    except Unprotectable:
        return
    assert found.bound <= least * (1 + 1e-6) + 1e-9
    assert found.cost >= least * (1 - 1e-6) - 1e-9


def test_a_minimum_needs_counts() -> None:
    a, none = np.array([3.0, 1.0, 2.0]), np.zeros(3)
    M = np.array([[-1.0, 1.0, 1.0]])
    with pytest.raises(InvalidInput, match=r"a minimum of contributors needs the number.*Remedy"):
        SensitiveTable(
            M, a, none, a + 9, none, none, none, cost=a, primary=none > 0, fixed=none > 0, minimum=3
        )
