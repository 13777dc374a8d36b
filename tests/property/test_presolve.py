"""Presolve takes nothing away: every z with M z = 0 is T u for exactly one u, in both modes.

The oracle is the null space of the dense matrix.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.presolve import distinct_rows, fix_and_tie
from support.laws import law

SIGNS, NUMBERS = [1, -1], [1, -1, 2, -3, 49, 0.1, 0.2, -0.3]


@st.composite
def relations(draw: st.DrawFn, entries: list[float]) -> np.ndarray:
    """Relations of one to four cells; some are multiples of others."""
    n = draw(st.integers(2, 8))
    rows = []
    for _ in range(draw(st.integers(1, 6))):
        row = np.zeros(n)
        cells = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=min(4, n), unique=True))
        row[cells] = draw(st.lists(st.sampled_from(entries), min_size=len(cells), max_size=len(cells)))
        rows.append(row)
    rows += [-rows[k] for k in draw(st.lists(st.integers(0, len(rows) - 1), max_size=2))]
    return np.array(rows)


def free(M: np.ndarray) -> int:
    """The dimension of {z : M z = 0}."""
    return M.shape[1] - int(np.linalg.matrix_rank(M))


def says_the_same(M: np.ndarray, exact: bool) -> None:
    found = fix_and_tie(sp.csr_array(M), exact=exact)
    T = found.T.toarray()
    left = found.apply(sp.csr_array(M)).toarray()
    assert np.allclose(left, M @ T, atol=1e-9)
    # T u covers the null space: what is left has as many free directions as M, and T has full column rank.
    assert free(left) == free(M)
    assert np.linalg.matrix_rank(T) == T.shape[1]
    assert (T[found.kept, np.arange(T.shape[1])] == 1).all()
    assert (np.count_nonzero(T, axis=1) <= 1).all()
    lengths = np.count_nonzero(left, axis=1)
    assert not (lengths == 1).any()
    assert exact or not (lengths == 2).any()
    rows = distinct_rows(sp.csr_array(left), exact=exact)
    assert np.linalg.matrix_rank(left[rows]) == np.linalg.matrix_rank(left)


@law(200)
@given(relations(SIGNS))
def test_no_deviation_is_lost_or_added_by_exact_ties(M):
    says_the_same(M, exact=True)
    assert set(np.unique(fix_and_tie(sp.csr_array(M), exact=True).T.data)) <= {-1.0, 1.0}


@law(200)
@given(relations(NUMBERS))
def test_no_deviation_is_lost_or_added_by_ratios(M):
    says_the_same(M, exact=False)


@law(200)
@given(relations(SIGNS))
def test_both_modes_say_the_same_of_the_same_relations(M):
    """Ratios may tie more (2 x = y), never less."""
    exact, ratios = (fix_and_tie(sp.csr_array(M), exact=mode) for mode in (True, False))
    assert len(ratios.kept) <= len(exact.kept)
    still = exact.class_of < 0
    assert (ratios.class_of[still] < 0).all()
    both = np.flatnonzero(ratios.class_of >= 0)
    for k in range(len(exact.kept)):
        tied = both[exact.class_of[both] == k]
        assert len(np.unique(ratios.class_of[tied])) <= 1


def test_decimals_that_cancel_are_no_relation():
    """x = y = w and 0.1 x + 0.2 y − 0.3 w = 0, which binary fractions miss by 6e-17: all three move."""
    M = sp.csr_array(np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [0.1, 0.2, -0.3]]))
    assert fix_and_tie(M).T.toarray().tolist() == [[1.0], [1.0], [1.0]]


def test_rows_that_differ_in_their_small_entries_are_two():
    M = sp.csr_array(np.array([[1e10, 1.0, 1.0], [1e10, 1.0, -1.0], [2e10, 2.0, 2.0]]))
    assert distinct_rows(M).tolist() == [0, 1]


def test_parity_is_no_tie():
    """2 x = y: a ratio ties them; exactly, whole numbers keep the relation."""
    M = sp.csr_array(np.array([[2.0, -1.0]]))
    assert fix_and_tie(M).T.toarray().tolist() == [[1.0], [2.0]]
    assert fix_and_tie(M, exact=True).T.toarray().tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_cell_apart_is_fixed_but_not_tied():
    M = sp.csr_array(np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]]))
    assert fix_and_tie(M, apart=np.array([0])).kept.tolist() == [0, 1]
    assert fix_and_tie(M, np.array([True, False, True]), np.array([0])).kept.tolist() == []
