"""A mixed-integer model to which rows can be added between solves: the master problem of a cutting-plane
method.
"""

from __future__ import annotations

import numpy as np

from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.solver.milp import LiveMilp


class GrowingMilp(LiveMilp):
    """A LiveMilp that also takes new rows. Earlier rows stay."""

    def add_row(self, columns: Ints, coefficients: Floats, lower: float, upper: float = np.inf) -> None:
        """Adds the row lower ≤ Σ coefficient · column ≤ upper."""
        self._highs.addRow(
            lower, upper, len(columns), columns.astype(np.int32), np.asarray(coefficients, dtype=float)
        )
