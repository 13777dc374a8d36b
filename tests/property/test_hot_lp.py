"""The live program of Clp: optimal after any change of costs and bounds, and independent of its past after
`restore`.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from sdc_tasks.solver.hot import HotLP
from sdc_tasks.solver.lp import LPResult, Status
from support.laws import law

LAW = law(60)


def program(
    rng: np.random.Generator, m: int, n: int
) -> tuple[sp.csr_array, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Bounded columns and rows around 0; some rows and columns without entries, some
    rows equations, some without ends.
    """
    A = sp.csr_array(rng.integers(-1, 2, (m, n)) * (rng.random((m, n)) < 0.5) * 1.0)
    high = rng.choice([0.0, 1.0, 2.5, np.inf], m)
    return A, -high, high, -rng.integers(0, 4, n) * 1.0, rng.integers(0, 4, n) * 1.0


def optimum(cost, A, row_lower, row_upper, lower, upper) -> float:
    """By scipy's own presolve and simplex method."""
    ends = np.concatenate([row_upper, -row_lower])
    kept = np.isfinite(ends)
    both = sp.vstack([A, -A]).tocsr()[kept] if kept.any() else None
    found = linprog(
        cost,
        both,
        ends[kept] if kept.any() else None,
        bounds=np.column_stack([lower, upper]),
        method="highs-ds",
    )
    assert found.status == 0
    return float(found.fun)


def assert_optimal(found: LPResult, cost, A, row_lower, row_upper, lower, upper) -> None:
    assert found.status is Status.OPTIMAL
    assert found.objective == pytest.approx(optimum(cost, A, row_lower, row_upper, lower, upper), abs=1e-6)
    assert (found.x >= lower - 1e-6).all()
    assert (found.x <= upper + 1e-6).all()
    if A.shape[0]:  # weak duality: the multipliers alone prove the optimum
        used = np.abs(found.dual) > 1e-9
        proof = (found.dual[used] * np.where(found.dual > 0, row_lower, row_upper)[used]).sum()
        np.testing.assert_allclose(cost - found.dual @ A, found.reduced, atol=1e-9)
        proof += np.where(found.reduced > 0, found.reduced * lower, found.reduced * upper).sum()
        assert proof == pytest.approx(found.objective, abs=1e-5)


@LAW
@given(st.integers(0, 12), st.integers(1, 12), st.integers(0, 2**32))
def test_optimal_after_every_change(m, n, seed):
    """As by another solver from scratch, from a vertex near zero on."""
    rng = np.random.default_rng(seed)
    A, row_lower, row_upper, lower, upper = program(rng, m, n)
    live = HotLP(A, row_lower, row_upper, lower, upper)
    live.restore(live.at_zero())
    for _ in range(6):
        column, rows, columns = (
            int(rng.integers(n)),
            rng.choice(m, min(m, 2), replace=False),
            rng.choice(n, 1),
        )
        cost = np.zeros(n)
        cost[column] = rng.choice([-1.0, 1.0])
        row_upper[rows] = rng.choice([0.5, 3.0], len(rows))
        row_lower[rows] = -row_upper[rows]
        upper[columns] = rng.integers(0, 5, 1)
        live.set_row_bounds(rows, row_lower[rows], row_upper[rows])
        live.set_bounds(columns, lower[columns], upper[columns])
        live.set_cost(column, cost[column])
        for found in (live.solve(), live.afresh()):
            assert_optimal(found, cost, A, row_lower, row_upper, lower, upper)
        live.set_cost(column, 0.0)


@LAW
@given(st.integers(1, 12), st.integers(2, 12), st.integers(0, 2**32))
def test_what_was_solved_before_leaves_no_trace(m, n, seed):
    """After `restore`, the bytes of a solve are those of a program that has solved nothing."""
    rng = np.random.default_rng(seed)
    given_program = program(rng, m, n)
    used, new = HotLP(*given_program), HotLP(*given_program)
    for column in rng.integers(0, n, 5).tolist():
        used.set_cost(column, 1.0)
        used.solve()
        used.set_cost(column, 0.0)
    found = []
    for live in (used, new):
        live.restore(live.at_zero())
        live.set_cost(1, -1.0)
        result = live.solve()
        found.append((result.status, result.x.tobytes(), result.dual.tobytes()))
    assert found[0] == found[1]


def test_results_outlive_the_next_solve():
    """Clp overwrites its own arrays."""
    live = HotLP(sp.csr_array([[1.0, 1.0]]), np.array([-1.0]), np.array([1.0]), np.zeros(2), np.ones(2))
    live.set_cost(0, -1.0)
    first = live.solve()
    kept = first.x.copy()
    live.set_cost(0, 0.0)
    live.set_cost(1, -1.0)
    assert (live.solve().x != kept).any()
    np.testing.assert_array_equal(first.x, kept)
