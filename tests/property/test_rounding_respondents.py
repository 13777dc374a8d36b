"""Rounded tables and lone respondents: whoever of them works together, each is kept away as far as he can be.
Judged by two programs a cell for every part of them.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.rounding.controlled import TableOptions, round_table
from sdc_tasks.methods.rounding.protection import RoundingAttacker
from sdc_tasks.methods.rounding.separable import SearchOptions
from sdc_tasks.methods.suppression.attainable import attainable
from sdc_tasks.model.sensitive import SensitiveTable
from support.drawn_suppression import problems
from support.laws import law
from support.oracles.intervals import extremes

SLACK, BASE = 1e-5, 50.0
MANY = 4  # respondents, of whom each part attacks


@st.composite
def tables(draw: st.DrawFn) -> SensitiveTable:
    """Crossed tables with primaries, most of lone respondents, and levels near the base of 50."""
    kinds = draw(st.sampled_from([("flat", "wide"), ("wide", "wide"), ("flat", "flat", "flat")]))
    problem = draw(problems(kinds, False))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lone = problem.primary & (rng.random(len(problem.a)) < 0.7)
    level = np.where(problem.primary, rng.uniform(20, 50, len(problem.a)), 0.0)
    problem = replace(
        problem, lpl=level, upl=level, singleton=lone, respondent=None, guarded=None, beside=np.zeros(0)
    )
    assume(0 < len(set(problem.respondents.tolist()) - {-1}) <= MANY)
    return problem


def reach(
    table: SensitiveTable, x: np.ndarray, half: float, cell: int, known: np.ndarray
) -> tuple[float, float]:
    """How far a cell falls and rises for somebody who reads x, and knows some cells."""
    known = known | table.fixed
    low = np.where(known, table.a, np.maximum(table.lb, np.minimum(x - half, table.a)))
    high = np.where(known, table.a, np.minimum(table.ub, np.maximum(x + half, table.a)))
    least, most = extremes(table, low, high, cell)
    return table.a[cell] - least, most - table.a[cell]


def broken(table: SensitiveTable, x: np.ndarray, half: float) -> list[tuple[int, tuple[int, ...]]]:
    """(primary, who attacks): where less is left than the level, and less than with nothing printed."""
    found = []
    for cell in table.primaries.tolist():
        others = sorted(set(table.respondents.tolist()) - {-1, int(table.guards[cell])})
        for size in range(len(others) + 1):
            for some in combinations(others, size):
                known = table.lone & np.isin(table.respondents, some)
                most, got = reach(table, table.a, np.inf, cell, known), reach(table, x, half, cell, known)
                wanted = (table.down[cell], table.up[cell], table.sliding[cell])
                pairs = zip(wanted, (*most, sum(most)), (*got, sum(got)), strict=True)
                if any(has < min(want, can) - SLACK * max(want, 1.0) for want, can, has in pairs):
                    found.append((cell, some))
    return found


@given(tables(), st.sampled_from([20.0, 50.0, 100.0]))
@law(40)
def test_each_respondent_is_kept_away_as_far_as_he_can_be(table: SensitiveTable, base: float) -> None:
    levels = attainable(table)
    try:
        found = round_table(levels.problem, TableOptions(base, SearchOptions(1), reach=3))
    except Unprotectable:
        return
    assert [
        pair for pair in broken(table, found.x, found.reach * base) if pair[0] not in levels.unjudged
    ] == []


@given(tables(), st.integers(0, 2**32 - 1))
@law(20)
def test_the_attackers_find_what_each_part_of_them_finds(table: SensitiveTable, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = attainable(table).problem
    x = np.where(table.fixed, table.a, table.a + rng.uniform(-BASE / 4, BASE / 4, len(table.a)))
    verdict = RoundingAttacker(table, np.where(table.fixed, 0.0, BASE), BASE).judge(x)
    assert verdict.protected.all() == (not broken(table, x, BASE))


def test_a_respondent_reads_a_cell_from_a_table_that_outsiders_cannot_read() -> None:
    """20 = 8 + 12 in each row: to base 10 it is printed 10 + 10. Who knows the 8 knows the 12 where the total
    is nearly known.
    """
    M = np.array([[-1.0, 1, 1]])
    a = np.array([20.0, 8, 12])
    primary = np.array([False, True, True])
    level = np.where(primary, 4.0, 0.0)
    bounds = np.array([18.0, 0, 0]), np.array([22.0, 1000, 1000])
    table = SensitiveTable(
        M, a, *bounds, level, level, np.zeros(3), primary=primary, singleton=np.array([False, True, False])
    )
    options = TableOptions(10.0, SearchOptions(1))
    outsiders = round_table(replace(table, singleton=np.zeros(3, dtype=bool)), options)
    assert outsiders.verdict is not None
    assert broken(table, outsiders.x, 10.0) == []
    levels = attainable(table)
    assert [(each.cell, each.side, each.kept, each.outsiders) for each in levels.lowered] == [
        (2, "above", 2.0, 4.0),
        (2, "below", 2.0, 4.0),
    ]
    found = round_table(levels.problem, options)
    assert broken(table, found.x, 10.0) == []
