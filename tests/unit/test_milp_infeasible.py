"""HiGHS's presolve calls some models infeasible that have a point: such a word is asked for again
without it.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.solver.lp import Status
from sdc_tasks.solver.milp import LiveMilp, Milp, solve_milp

# The nearest set of a 3 × 3 table under quadratic rounding, base 3. u = (0, 0), z = (0, 1, 1, −1) is a point.
ROWS = [
    ([0, 3, 1, 0, 0, 0], 0),
    ([3, 0, 0, 0, 1, 0], 1),
    ([0, 0, 0, 1, 0, 1], 0),
    ([3, 0, 1, 1, 0, 0], 1),
    ([0, 3, 0, 0, 1, 1], 0),
]


def model(first: float = 1.0) -> Milp:
    right = np.array([first if i == 1 else each for i, (_, each) in enumerate(ROWS)], dtype=float)
    return Milp(
        np.array([3.0, 0, 0, 0, 0, 0]),
        sp.csr_array(np.array([row for row, _ in ROWS], dtype=float)),
        right,
        right,
        np.array([0.0, 0, -1, -3, -3, -3]),
        np.array([1.0, 0, 3, 3, 3, 3]),
        np.array([0, 1]),
    )


def test_a_model_with_a_point_is_not_called_infeasible():
    wanted = model()
    found = solve_milp(wanted, "highs", 10.0, 0.0)
    assert found.status is Status.OPTIMAL
    assert found.x is not None
    assert found.objective == 0
    assert np.abs(wanted.A @ found.x - wanted.row_lower).max() < 1e-9


def test_a_model_without_a_point_is_still_called_so_and_the_next_solve_has_its_presolve():
    live = LiveMilp(model(first=7.0))
    assert live.solve(None, 10.0, 0.0).status is Status.INFEASIBLE
    live.set_row_bounds(np.array([1]), np.array([1.0]), np.array([1.0]))
    assert live.solve(None, 10.0, 0.0).objective == 0
