"""Levels that no pattern keeps: every attacker is left what can be left to him, by two programs a cell."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from sdc_tasks.errors import Unprotectable
from sdc_tasks.judge.pattern import verify
from sdc_tasks.judge.pattern.attainable import doubts
from sdc_tasks.judge.pattern.min_contributors import meets_minimum
from sdc_tasks.methods.suppression.attainable import Lowered, attainable
from sdc_tasks.methods.suppression.engine import PatternOptions, suppress
from sdc_tasks.methods.suppression.names import PatternMethod
from sdc_tasks.model.sensitive import SensitiveTable
from support.drawn_suppression import TREES, filled, problems, relations
from support.laws import law
from support.oracles.suppression import asked

SLACK = 2e-6
MANY = 5  # respondents, of whom each part attacks


def reach(problem: SensitiveTable, hidden: np.ndarray, cell: int, known: np.ndarray) -> tuple[float, float]:
    """How far a cell falls and rises for somebody who knows some cells more than what is open."""
    known = known | ~hidden
    low, high = np.where(known, problem.a, problem.lb), np.where(known, problem.a, problem.ub)
    ends = []
    for sign in (1.0, -1.0):
        cost = np.zeros(len(problem.a))
        cost[cell] = sign
        bounds = np.column_stack([low, high])
        found = linprog(cost, A_eq=problem.M, b_eq=problem.rhs, bounds=bounds, method="highs")
        ends.append(np.inf if found.status == 3 else sign * problem.a[cell] - found.fun)
    return float(ends[0]), float(ends[1])


def attackers(problem: SensitiveTable, guard: int) -> list[tuple[int, ...]]:
    """Every part of the lone respondents but whom a level protects."""
    others = sorted(set(problem.respondents.tolist()) - {-1, guard})
    return [some for size in range(len(others) + 1) for some in combinations(others, size)]


def assert_everybody_is_left_what_can_be(
    problem: SensitiveTable, hidden: np.ndarray, unjudged: tuple[int, ...] = ()
) -> None:
    """`problem` with its levels as they are wanted."""
    everything = ~problem.fixed | problem.primary
    for cell, down, up, _, guard in asked(problem):
        if cell in unjudged:
            continue
        sliding = float(problem.sliding[cell]) if cell in problem.primaries else 0.0
        for some in attackers(problem, guard):
            known = problem.lone & np.isin(problem.respondents, some)
            most, got = reach(problem, everything, cell, known), reach(problem, hidden, cell, known)
            wanted = (down, up, sliding if guard == problem.guards[cell] else 0.0)
            for want, can, has in zip(wanted, (*most, sum(most)), (*got, sum(got)), strict=True):
                assert has >= min(want, can) - SLACK * max(want, 1.0), (problem.name(cell), some)


@st.composite
def hard(draw: st.DrawFn, kinds: tuple[str, ...]) -> SensitiveTable:
    """Levels, bounds and open cells that are hard to keep, respondents alone in many cells."""
    problem = draw(problems(kinds))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = len(problem.a)
    times = rng.uniform(1, 6, n)
    room = np.where(rng.random(n) < 0.3, rng.uniform(0, 0.5, n) * np.abs(problem.a), np.inf)
    fixed = problem.fixed | (~problem.primary & (rng.random(n) < draw(st.sampled_from([0.0, 0.2, 0.5]))))
    problem = replace(
        problem,
        lpl=problem.lpl * times,
        upl=problem.upl * times,
        spl=problem.spl * times,
        ub=np.minimum(problem.ub, problem.a + room),
        fixed=fixed,
    )
    assume(len(set(problem.respondents.tolist()) - {-1}) <= MANY)
    return problem


def assert_kept(problem: SensitiveTable, methods: list[PatternMethod]) -> None:
    found = attainable(problem)
    assert verify(found.problem, ~problem.fixed | problem.primary).safe
    for method in methods:
        pattern = suppress(found.problem, PatternOptions(method)).pattern
        assert pattern is not None
        assert_everybody_is_left_what_can_be(problem, pattern, found.unjudged)


@given(st.one_of(hard(("flat", "wide")), hard(("wide", "deep"))))
@law(40)
def test_every_attacker_is_left_what_he_can_be_left_in_two_dimensions(problem: SensitiveTable) -> None:
    assert_kept(problem, ["exact", "cover", "hitas"])


@given(hard(("flat", "flat", "wide")))
@law(15)
def test_every_attacker_is_left_what_he_can_be_left_in_three_dimensions(problem: SensitiveTable) -> None:
    assert_kept(problem, ["exact", "cubes", "hypercube"])


@given(problems(("wide", "wide")))
@law(20)
def test_nothing_is_lowered_where_the_pattern_that_hides_everything_keeps_all(
    problem: SensitiveTable,
) -> None:
    found = attainable(problem)
    if verify(problem, ~problem.fixed | problem.primary).safe:
        assert found.problem.attained == ()
        assert found.lowered == ()
    else:
        assert found.problem.attained or not found.lowered


def of_two() -> SensitiveTable:
    """3 × 3 with totals. The first row is 4 + 6 + 0, its zero stays open, and its parts have one respondent
    each; its total is primary too.
    """
    shape, M = relations(TREES["wide"], TREES["wide"])
    inner = np.array([4.0, 6, 0, 20, 30, 40, 50, 60, 70])
    a = filled((TREES["wide"], TREES["wide"]), inner, shape)
    n, cells = len(a), np.arange(len(a)).reshape(shape)
    primary = np.zeros(n, dtype=bool)
    total, one, other = cells[1, 0], cells[1, 1], cells[1, 2]
    primary[[total, one, other]] = True
    level = np.where(primary, 2.0, 0.0)
    return SensitiveTable(
        M,
        a,
        np.zeros(n),
        np.full(n, 1000.0),
        level,
        level,
        np.zeros(n),
        cost=a,
        primary=primary,
        fixed=a == 0,
        singleton=np.isin(np.arange(n), [one, other]),
    )


def test_outsiders_keep_a_level_that_two_respondents_together_take_away() -> None:
    problem = of_two()
    total = int(problem.primaries[0])
    with pytest.raises(Unprotectable, match="with every cell hidden"):
        suppress(problem)
    found = attainable(problem)
    assert found.lowered == (Lowered(total, "above", 2.0, 0.0, 2.0), Lowered(total, "below", 2.0, 0.0, 2.0))
    assert found.unjudged == ()
    pattern = suppress(found.problem).pattern
    assert pattern is not None
    assert_everybody_is_left_what_can_be(problem, pattern)
    one, other = (
        problem.lone & (problem.respondents == problem.respondents[p]) for p in problem.primaries[1:]
    )
    for known in (np.zeros(len(problem.a), dtype=bool), one, other):
        assert min(reach(problem, pattern, total, known)) >= 2 * (1 - SLACK)
    assert reach(problem, pattern, total, one | other) == pytest.approx((0.0, 0.0), abs=1e-9)


def test_levels_that_are_cut_against_all_together_alone_would_give_the_total_to_outsiders() -> None:
    problem = of_two()
    levels = np.where(np.arange(len(problem.a)) == problem.primaries[0], problem.lpl, 0.0)
    problem = replace(problem, lpl=levels, upl=levels)  # the respondents ask for nothing
    together = attainable(problem).problem
    alone = replace(together, attained=together.attained[:1])
    pattern = suppress(alone).pattern
    assert pattern is not None
    with pytest.raises(AssertionError):
        assert_everybody_is_left_what_can_be(problem, pattern)
    assert doubts(alone, alone.primaries).unjudged.tolist() == [int(problem.primaries[0])]


def test_the_judge_finds_a_level_that_was_lowered_too_far() -> None:
    problem = of_two()
    found = attainable(problem).problem
    base, *weaker = found.attained
    one = int(problem.primaries[1])
    assert base.up[one] == 2.0
    less = base.up.copy()
    less[one] = 1.0
    assert doubts(found, found.primaries).lowered.tolist() == []
    assert doubts(
        replace(found, attained=(replace(base, up=less), *weaker)), found.primaries
    ).lowered.tolist() == [one]


def test_the_judge_finds_a_weaker_attacker_who_is_left_too_little() -> None:
    found = attainable(of_two()).problem
    base, *weaker = found.attained
    halved = tuple(replace(layer, up=layer.up / 2) for layer in weaker)
    assert doubts(replace(found, attained=(base, *halved)), found.primaries).lowered.tolist() == [
        int(found.primaries[0])
    ]


def test_a_minimum_of_contributors_holds_beside_lowered_levels() -> None:
    problem = of_two()
    count = np.where(problem.lone, 1.0, np.where(np.isin(problem.a, [0, 20]), 0.0, 2.0))
    problem = replace(problem, count=count, minimum=2)
    found = attainable(problem)
    assert len(found.lowered) == 2
    without = suppress(replace(found.problem, minimum=0)).pattern
    assert without is not None
    assert not meets_minimum(problem, without)
    pattern = suppress(found.problem).pattern
    assert pattern is not None
    assert meets_minimum(problem, pattern)
    assert_everybody_is_left_what_can_be(problem, pattern)


def test_where_too_many_would_have_to_be_asked_the_cell_is_named_and_outsiders_are_kept_away() -> None:
    """One total in three relations, each with five parts of lone respondents: 125 sets lack one of each."""
    M = np.zeros((3, 16))
    M[:, 0] = -1.0
    for row in range(3):
        M[row, 1 + 5 * row : 6 + 5 * row] = 1.0
    a = np.append(50.0, np.full(15, 10.0))
    level = np.append(2.0, np.zeros(15))
    every = np.ones(16, dtype=bool)
    lone = np.arange(16) > 0
    problem = SensitiveTable(
        sp.csr_array(M), a, 0 * a, 0 * a + 100, level, level, 0 * a, primary=every, singleton=lone
    )
    found = attainable(problem)
    assert found.unjudged == (0,)
    assert {each.kept for each in found.lowered} == {0.0}
    assert {each.outsiders for each in found.lowered} == {2.0}
    assert any(len(layer.lacks) == 15 for layer in found.problem.attained)
    pattern = suppress(found.problem).pattern
    assert pattern is not None
    assert min(reach(problem, pattern, 0, np.zeros(16, dtype=bool))) >= 2 * (1 - SLACK)
