"""A mixed-integer model to which rows can be added between solves: the master problem of a cutting-plane
method.
"""

from __future__ import annotations

import numpy as np

from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import ZERO
from sdc_tasks.solver.lp import as_numbers
from sdc_tasks.solver.milp import LiveMilp
from sdc_tasks.solver_api import asked


class GrowingMilp(LiveMilp):
    """A LiveMilp that also takes new rows. Earlier rows stay."""

    def add_row(self, columns: Ints, coefficients: Floats, least: float) -> None:
        """Adds the row Σ coefficient · column ≥ least.

        HiGHS leaves out entries up to `ZERO`. Here the row is weakened by the most that they can add within
        the bounds of the model: what a cut proves, it still proves.
        """
        small = np.abs(as_numbers(coefficients)) <= ZERO
        model, left, entries = self._model, columns[small], coefficients[small]
        given = np.where(entries > 0, entries * model.upper[left], entries * model.lower[left])
        kept = columns[~small].astype(np.int32)
        asked(
            self._highs.addRow,
            least - float(given[entries != 0].sum()),
            np.inf,
            len(kept),
            kept,
            np.asarray(coefficients[~small], dtype=float),
        )
