"""L2: on any small table the least Σ w z² over all senses, proven; on larger ones tables that only get better, above a bound that holds.

The oracle tries every sense vector: scipy's SLSQP from a point that scipy's linprog found. It shares no code with the project.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from cta_oracle import small_problems
from hypothesis import given, settings
from scipy.optimize import linprog, minimize

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.cta.model import CtaProblem, Distance
from sdc_tasks.methods.cta.quadratic import quadratic
from sdc_tasks.methods.cta.run import Run

LAW = settings(derandomize=True, deadline=None, max_examples=60)
CLOSE = 1e-6


def least_squares(problem: CtaProblem) -> float | None:
    """In weight · data units²; None: no table."""
    A, w = problem.A.toarray(), problem.w
    found = []
    for rises in product((False, True), repeat=len(problem.sensitive)):
        low, high = problem.lower.copy(), problem.upper.copy()
        for p, down, up, rise in zip(problem.sensitive, problem.lpl, problem.upl, rises, strict=True):
            low[p], high[p] = (max(low[p], up), high[p]) if rise else (low[p], min(high[p], -down))
        if (low > high).any():
            continue
        bounds = np.column_stack([low, high])
        start = linprog(np.zeros(len(w)), A_eq=A, b_eq=np.zeros(len(A)), bounds=bounds)
        if start.status == 2:
            continue
        assert start.status == 0, start.message
        independent = np.linalg.qr(A.T, mode="complete")[0][:, : np.linalg.matrix_rank(A)].T if np.linalg.matrix_rank(A) == len(A) else rows_of(A)
        result = minimize(
            lambda z: w @ z**2, start.x, jac=lambda z: 2 * w * z, method="SLSQP", bounds=bounds,
            constraints={"type": "eq", "fun": lambda z: independent @ z, "jac": lambda z: independent}, options={"ftol": 1e-14, "maxiter": 500},
        )  # fmt: skip
        found.append(float(w @ result.x**2))
    return min(found, default=None) if not found else min(found) * problem.unit**2


def rows_of(A: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the rows."""
    _, size, rows = np.linalg.svd(A)
    return rows[: int((size > 1e-9).sum())]


@LAW
@given(small_problems(most=4))
def test_the_optimum_over_all_senses_is_found_and_proven(problem):
    problem = replace(problem, distance=Distance.L2)
    best = least_squares(problem)
    run = Run(problem)
    if best is None:
        with pytest.raises(Unprotectable):
            quadratic(problem, run, 1)
        return
    quadratic(problem, run, 1)
    assert run.protected is not None
    tolerance = CLOSE * (best + problem.unit**2)
    assert run.protected.verdict.objective == pytest.approx(best, abs=tolerance)
    assert best - 2 * tolerance <= run.bound <= best + tolerance
