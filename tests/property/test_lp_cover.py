"""Complementary suppression: what it returns is protected by the word of an engine that shares no code with
it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.suppression.covering.lp_cover import lp_cover
from support.laws import law

# Two hierarchies: a total of two groups with two and three parts; a total of two or three classes.
ROWS = {0: [1, 2], 1: [3, 4], 2: [5, 6, 7]}


@dataclass(frozen=True)
class Table:
    """A random hierarchical table with its primaries and levels."""

    M: np.ndarray
    a: np.ndarray
    primary: np.ndarray
    lpl: np.ndarray
    upl: np.ndarray

    def suppressed(self, **options: int) -> np.ndarray:
        weight = np.sqrt(np.maximum(self.a, 1))
        return lp_cover(sp.csr_array(self.M), self.a, self.primary, self.lpl, self.upl, weight, **options)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    classes = draw(st.integers(2, 3))
    inner = draw(
        st.lists(
            st.lists(st.one_of(st.just(0), st.integers(1, 5000)), min_size=classes, max_size=classes),
            min_size=5,
            max_size=5,
        )
    )
    grid = np.zeros((8, classes + 1))
    grid[3:, 1:] = inner
    for total in (2, 1, 0):
        grid[total] = grid[ROWS[total]].sum(axis=0)
    grid[:, 0] = grid[:, 1:].sum(axis=1)
    index = np.arange(grid.size).reshape(grid.shape)
    families = [(index[t, c], index[parts, c]) for t, parts in ROWS.items() for c in range(classes + 1)]
    families += [(index[r, 0], index[r, 1:]) for r in range(8)]
    M = np.zeros((len(families), grid.size))
    for row, (total, parts) in enumerate(families):
        M[row, total], M[row, parts] = -1, 1
    a = grid.ravel()
    chosen = np.array(draw(st.lists(st.sampled_from([True, False, False]), min_size=len(a), max_size=len(a))))
    percent = np.array(
        draw(st.lists(st.tuples(st.integers(1, 150), st.integers(1, 150)), min_size=len(a), max_size=len(a)))
    )
    return Table(M, a, chosen & (a > 0), percent[:, 0] / 100 * a, percent[:, 1] / 100 * a)


def feasibility_interval(
    M: np.ndarray, a: np.ndarray, suppressed: np.ndarray, cell: int
) -> tuple[float, float]:
    """What an outsider can compute: the smallest and the largest value of a suppressed cell, by two linear
    programs.
    """
    bounds = [(0, None) if hidden else (value, value) for value, hidden in zip(a, suppressed, strict=True)]
    ends = []
    for sign in (1, -1):
        cost = np.zeros(len(a))
        cost[cell] = sign
        found = linprog(cost, A_eq=M, b_eq=np.zeros(len(M)), bounds=bounds, method="highs")
        ends.append(-np.inf if found.status == 3 else found.fun)  # 3: unbounded
    return ends[0], -ends[1]


def assert_protected(table: Table, suppressed: np.ndarray) -> None:
    for cell in np.flatnonzero(table.primary):
        lower, upper = feasibility_interval(table.M, table.a, suppressed, int(cell))
        value, slack = table.a[cell], 1e-6 * max(table.a.max(), 1)
        assert lower <= value - min(table.lpl[cell], value) + slack
        assert upper >= value + table.upl[cell] - slack


@given(tables())
@law(60)
def test_every_primary_is_protected_on_both_sides(table: Table) -> None:
    assert_protected(table, table.suppressed())


@given(tables())
@law(40)
def test_primaries_stay_and_zeros_stay_public(table: Table) -> None:
    suppressed = table.suppressed()
    assert suppressed[table.primary].all()
    assert not suppressed[table.a == 0].any()


@given(tables())
@law(20)
def test_the_same_table_gives_the_same_suppression(table: Table) -> None:
    assert (table.suppressed() == table.suppressed()).all()


@given(tables())
@law(30)
def test_the_clean_up_only_gives_back(table: Table) -> None:
    with_clean_up, without = table.suppressed(clean_up=20), table.suppressed(clean_up=0)
    assert not (with_clean_up & ~without).any()


def line(*values: float) -> tuple[sp.csr_array, np.ndarray]:
    """One relation: a total and its parts."""
    return sp.csr_array(np.array([[-1.0] + [1.0] * len(values)])), np.array(
        [sum(values), *values], dtype=float
    )


def test_a_lone_primary_takes_the_cheapest_partner() -> None:
    M, a = line(50, 30, 20)
    ten_percent = np.array([0, 5, 0, 0])
    suppressed = lp_cover(M, a, ten_percent > 0, ten_percent, ten_percent, weight=a)
    assert suppressed.tolist() == [False, True, False, True]


def test_a_cell_that_cannot_move_is_named_by_its_position() -> None:
    M = sp.csr_array(np.array([[1.0]]))  # x = 0 is known
    with pytest.raises(Unprotectable, match="positions 0"):
        lp_cover(M, np.array([7.0]), np.array([True]), np.array([1.0]), np.array([1.0]), np.array([1.0]))


def test_the_downward_level_is_cut_at_zero() -> None:
    M, a = line(50, 30, 20)
    primary = np.array([False, False, False, True])
    levels = np.array([0.0, 0, 0, 35])
    table = Table(M.toarray(), a, primary, levels, levels)
    assert_protected(table, lp_cover(M, a, primary, levels, levels, weight=a))


def test_negative_cells_and_wrong_lengths_are_refused() -> None:
    M, a = line(50, 30, 20)
    nothing = np.zeros(4)
    with pytest.raises(ValueError, match="negative"):
        lp_cover(M, -a, nothing > 0, nothing, nothing, a)
    with pytest.raises(ValueError, match="4 cells"):
        lp_cover(M, a, nothing > 0, nothing, nothing, a[:3])
