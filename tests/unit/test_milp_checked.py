"""A point that a solver returns counts only if it is one of the model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from sdc_tasks.solver import milp
from sdc_tasks.solver.lp import Status
from sdc_tasks.solver.milp import Milp, MilpResult, solve_milp

# min −2 x0 − 3 x1 − 5 x2 over binaries with x0 + x1 + x2 ≤ 2
MODEL = Milp(
    cost=np.array([-2.0, -3.0, -5.0]),
    A=sp.csr_array(np.ones((1, 3))),
    row_lower=np.array([-np.inf]),
    row_upper=np.array([2.0]),
    lower=np.zeros(3),
    upper=np.ones(3),
    binary=np.arange(3),
)


@pytest.mark.parametrize("solver", ["cbc", "highs"])
@pytest.mark.parametrize(
    ("low", "high", "point"),
    [
        ([0, 0, 0], [1, 1, 1], [0, 1, 1]),
        ([0, 0, 0], [1, 1, 0], [1, 1, 0]),
        ([1, 0, 0], [1, 1, 1], [1, 0, 1]),
        ([1, 1, 0], [1, 1, 1], [1, 1, 0]),
    ],
)
def test_a_binary_keeps_the_bounds_of_the_model(solver, low, high, point):
    found = solve_milp(replace(MODEL, lower=np.array(low), upper=np.array(high)), solver, np.inf, 0.0)
    assert found.status is Status.OPTIMAL
    assert np.rint(found.x).tolist() == point


@pytest.mark.parametrize(
    ("point", "why"),
    [
        ([0, 2, 0], "outside its bounds"),
        ([1, 1, 1], "breaks a row"),
        ([0.5, 0, 1], "not whole"),
        ([np.nan, 0, 1], "no number"),
        ([1.5e-4, 1, 1 - 1.5e-4], "not whole by more than rounding"),
        ([np.inf, 0, 1], "endless"),
    ],
)
def test_a_point_that_is_none_of_the_model_is_not_taken(monkeypatch, point, why):
    wrong = MilpResult(Status.OPTIMAL, np.array(point, dtype=float), -8.0, -8.0)
    monkeypatch.setattr(milp, "SOLVERS", {"highs": lambda *_: wrong})
    found = solve_milp(MODEL, "highs", np.inf, 0.0)
    assert (found.status, found.x, found.objective, found.bound) == (Status.STOPPED, None, None, None), why


def test_what_a_solver_leaves_in_the_last_digits_is_taken(monkeypatch):
    near = MilpResult(Status.OPTIMAL, np.array([0, 1 + 1e-7, 1 - 1e-7]), -8.0, -8.0)
    monkeypatch.setattr(milp, "SOLVERS", {"highs": lambda *_: near})
    assert solve_milp(MODEL, "highs", np.inf, 0.0) is near
