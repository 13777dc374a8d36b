"""A MILP that no solver ends."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.solver.milp import Milp


def market_split(rows: int, columns: int) -> Milp:
    """Σ d_j x_j as near to half of Σ d_j as can be, in a few rows: easy to be near, hopeless to prove."""
    d = np.random.default_rng(1).integers(0, 100, (rows, columns)).astype(float)
    eye, half = np.eye(rows), np.floor(d.sum(axis=1) / 2)
    return Milp(
        cost=np.concatenate([np.zeros(columns), np.ones(2 * rows)]),
        A=sp.csr_array(np.hstack([d, eye, -eye])),
        row_lower=half,
        row_upper=half,
        lower=np.zeros(columns + 2 * rows),
        upper=np.concatenate([np.ones(columns), np.full(2 * rows, 1e4)]),
        binary=np.arange(columns),
    )


HOPELESS = market_split(6, 60)
