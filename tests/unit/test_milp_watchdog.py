"""A CBC that does not look at its clock is stopped, and the ladder goes on."""

from __future__ import annotations

import numpy as np
import psutil
import scipy.sparse as sp

from sdc_tasks.solver import milp
from sdc_tasks.solver.lp import Status


def market_split(rows: int, columns: int) -> milp.Milp:
    """Σ d_j x_j = half of Σ d_j in a few rows: hopeless for branch and bound, so CBC never ends by itself."""
    d = np.random.default_rng(1).integers(0, 100, (rows, columns)).astype(float)
    eye = np.eye(rows)
    half = np.floor(d.sum(axis=1) / 2)
    return milp.Milp(
        cost=np.concatenate([np.zeros(columns), np.ones(2 * rows)]),
        A=sp.csr_array(np.hstack([d, eye, -eye])),
        row_lower=half,
        row_upper=half,
        lower=np.zeros(columns + 2 * rows),
        upper=np.concatenate([np.ones(columns), np.full(2 * rows, 1e4)]),
        binary=np.arange(columns),
    )


def test_a_solver_past_its_limit_is_stopped(monkeypatch):
    monkeypatch.setattr(milp, "GRACE", -59.5)  # the watchdog bites half a second into a limit of a minute
    result = milp.solve_milp(market_split(6, 60), "cbc", seconds=60, gap=0.0)
    assert (result.status, result.x) == (Status.STOPPED, None)
    assert not [child for child in psutil.Process().children(recursive=True) if child.name().startswith("cbc")]


def test_a_solver_within_its_limit_is_left_alone():
    result = milp.solve_milp(market_split(1, 12), "cbc", seconds=60, gap=0.0)
    assert result.status is Status.OPTIMAL
    assert result.bound is not None
