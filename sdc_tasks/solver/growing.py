"""A mixed-integer model to which rows can be added between solves: the master problem of a cutting-plane
method.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.solver.lp import as_numbers, without_small
from sdc_tasks.solver.milp import LiveMilp
from sdc_tasks.solver_api import asked


class GrowingMilp(LiveMilp):
    """A LiveMilp that also takes new rows. Earlier rows stay."""

    def add_row(self, columns: Ints, coefficients: Floats, least: float) -> None:
        """Adds the row Σ coefficient · column ≥ least.

        Entries that HiGHS would leave out weaken it (`without_small`).
        """
        model, coefficients = self._model, np.asarray(coefficients, dtype=float)
        row = sp.csr_array(
            (coefficients, np.asarray(columns, dtype=np.int64), [0, len(columns)]),
            shape=(1, len(model.lower)),
        )
        row, ends, _ = without_small(row, np.array([least]), np.array([np.inf]), model.lower, model.upper)
        kept = row.indices.astype(np.int32)
        asked(self._highs.addRow, float(ends[0]), np.inf, len(kept), kept, as_numbers(row.data))
