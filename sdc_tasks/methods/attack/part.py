"""Live models of the attacker's core (see `problem.py`), or of part of it, in which the other columns stay at the truth."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.problem import AttackSystem
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.solver.lp import LiveLP


class Part:
    """An LP over some `columns` of the core (ascending), and the `rows` of the core that they are in.

    `closed`: no row leads from them to another column that is `movable`, so an optimum here is one of the whole.
    """

    def __init__(
        self, system: AttackSystem, core: sp.csc_array, bounds: tuple[Floats, Floats], columns: Ints, movable: Bools
    ) -> None:  # fmt: skip
        low, high = system.row_lower[system.core_rows], system.row_upper[system.core_rows]
        A = sp.csr_array(core[:, columns])
        told = (np.isfinite(low) | np.isfinite(high)) & (np.diff(A.indptr) > 0)
        self.columns, self._size = columns, core.shape[1]
        self.rows = np.flatnonzero(told) if len(columns) < core.shape[1] else np.arange(core.shape[0])
        outside = movable.copy()
        outside[columns] = False
        self.closed = not (abs(system.core[self.rows]) @ outside.astype(float)).any()
        self.live = LiveLP(
            np.zeros(len(columns)), sp.csr_array(A[self.rows]), low[self.rows], high[self.rows], bounds[0][columns], bounds[1][columns]
        )

    def set_cost(self, column: int, cost: float) -> None:
        """The cost of a column of the core."""
        self.live.set_cost(np.searchsorted(self.columns, [column]), np.array([cost]))

    def set_bounds(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        """Bounds of columns of the core, those of others passed over."""
        mine = np.isin(columns, self.columns)
        self.live.set_bounds(np.searchsorted(self.columns, columns[mine]), lower[mine], upper[mine])

    def whole(self, x: Floats) -> Floats:
        """What was found of the columns, for the whole core: 0 for those of others."""
        u = np.zeros(self._size)
        u[self.columns] = x
        return u
