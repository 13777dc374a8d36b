"""L2: the least Σ w z² over all senses, proven, on any small table; on larger ones tables that only get
better, above a bound that holds.

The oracle tries every sense vector: scipy's SLSQP, from a point that scipy's linprog found. It
shares no code with the project.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.cta.l2.quadratic import quadratic
from sdc_tasks.methods.cta.l2.tree import SenseQP, branch
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.model.weights import Distance
from sdc_tasks.solver.lp import Status
from sdc_tasks.solver.qp import SeparableQP
from support.laws import law
from support.oracles.cta import small_problems
from support.random_tables import random_2d
from support.spread import adjusted

LAW = law(60)
CLOSE = 1e-6


# --- the oracle ---------------------------------------------------------------------------------------------


def least_squares(problem: CtaProblem, senses: tuple[bool, ...] | None = None) -> float | None:
    """In weight · data units²; None: no table. With `senses`, of those alone."""
    A = problem.A.toarray()
    choices = product((False, True), repeat=len(problem.sensitive)) if senses is None else [senses]
    found = [_with_senses(problem, _independent(A), rises) for rises in choices]
    best = min((value for value in found if value is not None), default=None)
    return None if best is None else best * problem.unit**2


def _with_senses(problem: CtaProblem, A: np.ndarray, rises: tuple[bool, ...]) -> float | None:
    low, high = problem.lower.copy(), problem.upper.copy()
    for p, down, up, rise in zip(problem.sensitive, problem.lpl, problem.upl, rises, strict=True):
        low[p], high[p] = (max(low[p], up), high[p]) if rise else (low[p], min(high[p], -down))
    if (low > high).any():
        return None
    return _convex(2 * problem.w, np.zeros(len(low)), A, np.zeros(len(A)), low, high)


def _convex(q, c, A, b, low, high) -> float | None:
    """min ½ Σ q x² + c x over A x = b and bounds; the rows of A independent."""
    bounds = np.column_stack([low, high])
    start = linprog(np.zeros(len(q)), A_eq=A, b_eq=b, bounds=bounds)
    if start.status == 2:
        return None
    assert start.status == 0, start.message
    result = minimize(
        lambda x: 0.5 * q @ x**2 + c @ x,
        start.x,
        jac=lambda x: q * x + c,
        method="SLSQP",
        bounds=bounds,
        constraints={"type": "eq", "fun": lambda x: A @ x - b, "jac": lambda x: A},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return float(result.fun)


def _independent(A: np.ndarray) -> np.ndarray:
    _, size, rows = np.linalg.svd(A)
    return rows[: int((size > 1e-9).sum())]


# --- small tables -------------------------------------------------------------------------------------------


@LAW
@given(small_problems(most=4))
def test_the_optimum_over_all_senses_is_found_and_proven(problem):
    """1-D to 3-D and trees, signed or not, with bounds or without, fixed cells, weights
    of 0, levels that differ by side.
    """
    problem = replace(problem, distance=Distance.L2)
    best, run = least_squares(problem), Run(problem)
    if best is None:
        with pytest.raises(Unprotectable):
            quadratic(problem, run, 1)
        return
    quadratic(problem, run, 1)
    assert run.protected is not None
    tolerance = CLOSE * (best + problem.unit**2)
    assert run.protected.verdict.objective == pytest.approx(best, abs=tolerance)
    assert run.bound == pytest.approx(best, abs=2 * tolerance)
    assert run.bound <= best + tolerance


@law(25)
@given(small_problems(most=4))
def test_a_node_with_open_senses_lies_below_all_that_they_may_become(problem):
    model = SenseQP(problem)
    first = model.everywhere_open.senses
    for k in range(len(first) + 1):
        senses = np.where(np.arange(len(first)) < k, np.where(first == 0, 1, first), first)
        node = model.solve(senses, np.zeros(problem.A.shape[0]))
        for rises in product((False, True), repeat=len(first)):
            agree = all(sense == 0 or (sense > 0) == rise for sense, rise in zip(senses, rises, strict=True))
            cost = least_squares(problem, rises) if agree else None
            if cost is not None:
                assert node is not None
                assert node.cost * model.scale * problem.unit**2 <= cost + CLOSE * (cost + problem.unit**2)


def test_l1_and_l2_part_where_they_should():
    """A level of 6 that two small cells or one large one may take up: L2 spreads, as 6² + 2² + 2² + 2² is the
    least.
    """
    problem = CtaProblem(
        1.0, np.arange(4), sp.csr_array(np.ones((1, 4))), np.ones(4), np.full(4, -9.0), np.full(4, 9.0),
        np.array([0]), np.array([6.0]), np.array([6.0]), Distance.L2,
    )  # fmt: skip
    run = Run(problem)
    quadratic(problem, run, 1)
    np.testing.assert_allclose(np.abs(run.table), [6, 2, 2, 2], rtol=1e-9)
    assert run.protected.verdict.objective == pytest.approx(48)


def test_a_refusal_names_cells_and_the_remedy_and_no_value():
    """Three equal levels and nothing else: they cannot add up to 0."""
    level = np.full(3, 7.5)
    for problem, named in [
        (
            CtaProblem(
                1.0,
                np.arange(3),
                sp.csr_array(np.ones((1, 3))),
                np.ones(3),
                -level,
                level,
                np.arange(3),
                level,
                level,
            ),
            "cell 2",
        ),
        (
            CtaProblem(
                1.0,
                np.arange(1),
                sp.csr_array((1, 1)),
                np.ones(1),
                -level[:1] / 2,
                level[:1] / 2,
                np.arange(1),
                level[:1],
                level[:1],
            ),
            "cell 0",
        ),
    ]:
        with pytest.raises(Unprotectable) as refusal:
            quadratic(replace(problem, distance=Distance.L2), Run(problem), 1)
        assert named in str(refusal.value)
        assert "Remedy" in str(refusal.value)
        assert "7.5" not in str(refusal.value)


# --- larger tables ------------------------------------------------------------------------------------------


def two_dimensional(rows: int, columns: int, sensitive: int, other_side: float = 1.0) -> CtaProblem:
    A, a, lb, ub, w, cells, lpl, upl = random_2d(rows, columns, sensitive, 1)
    return adjusted(A, a, lb, ub, w, cells, lpl, upl * other_side, np.zeros(sensitive), distance=Distance.L2)


@pytest.mark.parametrize(("other_side", "within"), [(1.0, 0.02), (1.4, 0.15)])
def test_local_search_only_improves_and_ends_by_rounds(other_side, within):
    """With levels alike on both sides the first table is next to optimal. Else the bound,
    which has no senses, is far off.
    """
    problem = two_dimensional(16, 16, 40, other_side)
    short, long, again = Run(problem), Run(problem), Run(problem)
    quadratic(problem, short, 1, rounds=0)
    quadratic(problem, long, 1, rounds=12)
    quadratic(problem, again, 1, rounds=12)
    assert long.protected.verdict.objective <= short.protected.verdict.objective
    assert other_side == 1 or long.protected.verdict.objective < short.protected.verdict.objective
    assert long.incumbent.z.tobytes() == again.incumbent.z.tobytes()
    assert short.bound == long.bound
    assert 0 < long.bound <= long.protected.verdict.objective
    assert long.gap < within


def test_all_senses_at_once_are_no_worse_than_neighbourhoods(monkeypatch):
    """The same table by local search and by the tree over all senses."""
    problem = two_dimensional(7, 7, 11)
    exact, local = Run(problem), Run(problem)
    quadratic(problem, exact, 1)
    monkeypatch.setattr("sdc_tasks.methods.cta.l2.quadratic.ALL_AT_ONCE", 0)
    monkeypatch.setattr("sdc_tasks.methods.cta.l2.quadratic.TREE_SENSES", 4)
    quadratic(problem, local, 1)
    assert exact.gap <= 1e-6
    assert exact.protected.verdict.objective <= local.protected.verdict.objective * (1 + 1e-9)
    assert local.protected.verdict.objective <= exact.protected.verdict.objective * 1.05
    assert local.bound <= exact.protected.verdict.objective


def test_a_tree_cut_short_still_bounds_all_of_it():
    problem = two_dimensional(7, 7, 11)
    model = SenseQP(problem)
    best, whole = branch(model, model.everywhere_open, math.inf, math.inf, lambda: False)
    assert best is not None
    assert whole == pytest.approx(best.cost)
    bounds = [
        branch(model, model.everywhere_open, best.cost, nodes, lambda: False)[1] for nodes in (0, 1, 5, 20)
    ]
    assert bounds == sorted(bounds)
    assert bounds[-1] <= best.cost


def test_it_ends_when_asked():
    problem = two_dimensional(16, 16, 40)
    run = Run(problem)
    run.stop()
    quadratic(problem, run, 1)


# --- the quadratic programs ---------------------------------------------------------------------------------


@LAW
@given(st.integers(0, 10_000), st.booleans(), st.booleans())
def test_a_program_ends_at_its_optimum_or_with_a_proof_that_there_is_none(seed, bounded, warm):
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 6), rng.integers(3, 12)
    A = rng.integers(-1, 2, (m, n)).astype(float)
    A = A[np.linalg.norm(A, axis=1) > 0] if np.linalg.norm(A, axis=1).any() else np.ones((1, n))
    b = A @ rng.normal(size=n) * 2
    q, c = 10.0 ** rng.uniform(-2, 2, n), rng.normal(size=n)
    low = rng.uniform(-2, 0.5, n) if bounded else np.where(rng.random(n) < 0.5, -1.0, -np.inf)
    high = low + rng.uniform(0, 2, n) if bounded else np.full(n, np.inf)
    start = rng.normal(size=len(A)) * 5 * warm
    found = SeparableQP(sp.csr_array(A), b).solve(q, c, low, high, start)
    rows = _independent(A)
    best = _convex(q, c, rows, rows @ np.linalg.lstsq(A, b, rcond=None)[0], low, high)
    if best is None:
        assert found.status is Status.INFEASIBLE
        return
    assert found.status is Status.OPTIMAL
    assert np.abs(A @ found.x - b).max() <= 1e-8
    assert (low <= found.x).all()
    assert (found.x <= high).all()
    objective = 0.5 * q @ found.x**2 + c @ found.x
    assert found.bound == pytest.approx(objective, abs=1e-7 * (1 + abs(objective)))
    assert objective == pytest.approx(best, abs=1e-5 * (1 + abs(best)))
    cut = SeparableQP(sp.csr_array(A), b).solve(q, c, low, high, start, cutoff=objective - 1)
    assert cut.status is Status.INFEASIBLE
    assert objective - 1 < cut.bound <= objective + 1e-6 * (1 + abs(objective))
