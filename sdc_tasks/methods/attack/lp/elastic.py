"""A witness of one target that needs the cheapest additional slack of the aggregates.

    min  Σ_k c⁻_k s⁻_k + c⁺_k s⁺_k + ε Σ |u|   over   low − s⁻ ≤ A u ≤ high + s⁺,   lower ≤ u
    ≤ upper,   σ u_p ≥ need,   s ≥ 0

Only rows of aggregates have slack; relations inside a country hold. The model covers a part of the core
(`blocks.py`) or one country, and all other columns stay at the truth. Every deviation is a rise less a fall,
so that the truth is a vertex; all costs are at least 0, so that it is dual feasible. From there the dual
simplex moves the cell and repairs what that violates, which involves few cells. The small price ε of each
deviation keeps tables small. So tables of different places can be added up, and many fit on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.polyhedron import AttackSystem
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import TIE_BREAK, ZERO
from sdc_tasks.solver.lp import LiveLP, Status


class ElasticPart:
    """The model of some `columns` of the core (ascending). `bounds`: those of u. `aggregates`: the aggregate
    cells that the columns move, as positions in the publication.
    """

    def __init__(
        self, system: AttackSystem, core: sp.csc_array, columns: Ints, bounds: tuple[Floats, Floats]
    ) -> None:
        A = sp.csr_array(core[:, columns])
        self.columns, self._size = columns, core.shape[1]
        self._rows = np.flatnonzero(np.diff(A.indptr) > 0)
        A = sp.csr_array(A[self._rows])
        decided = system.decided[system.core_rows[self._rows]]
        self._aggregate_rows = np.flatnonzero(decided >= 0)
        self.aggregates = decided[self._aggregate_rows]
        n, e = len(columns), len(self._aggregate_rows)
        give = sp.csr_array((np.ones(e), (self._aggregate_rows, np.arange(e))), shape=(len(self._rows), e))
        self._rise, self._fall = np.maximum(bounds[1][columns], 0.0), np.maximum(-bounds[0][columns], 0.0)
        self._slack = 2 * n + np.arange(2 * e)
        self._low, self._high = self._limits(system)
        self._live = LiveLP(
            np.concatenate([np.full(2 * n, TIE_BREAK), np.ones(2 * e)]),
            sp.csr_array(sp.hstack([A, -A, give, -give])),
            self._low,
            self._high,
            np.zeros(2 * (n + e)),
            np.concatenate([self._rise, self._fall, np.full(2 * e, np.inf)]),
        )

    @property
    def solves(self) -> int:
        """LPs solved so far."""
        return self._live.solves

    def set_system(self, system: AttackSystem) -> None:
        """Sets the row bounds of another publication."""
        low, high = self._limits(system)
        new = np.flatnonzero((low != self._low) | (high != self._high))
        if len(new):
            self._live.set_row_bounds(new, low[new], high[new])
        self._low, self._high = low, high

    def reach(
        self, column: int, way: float, need: float, below: Floats, above: Floats, steps: int | None = None
    ) -> Floats | None:
        """The core deviations u of the cheapest table with way · u ≥ need at a column of the core; None where
        the part has none, or where so many `steps` of the simplex method do not find it.

        `below`, `above` (aggregates,): what a unit of slack beyond the present one costs on each side;
        ∞ where there is none to be had.
        """
        at, n = int(np.searchsorted(self.columns, column)), len(self.columns)
        room = self._rise if way > 0 else self._fall
        if room[at] < need:
            return None
        cost = np.concatenate([below, above])
        to_be_had = np.isfinite(cost)
        most = float(cost[to_be_had].max(initial=0.0)) or 1.0
        self._live.set_cost(self._slack, np.where(to_be_had, np.maximum(cost / most, TIE_BREAK), 1.0))
        self._live.set_bounds(self._slack, np.zeros(len(cost)), np.where(to_be_had, np.inf, 0.0))
        both = np.array([at, n + at])
        wanted = np.array([need, 0.0]) if way > 0 else np.array([0.0, need])
        usual = np.array([self._rise[at], self._fall[at]])
        self._live.set_bounds(both, wanted, np.where(wanted > 0, usual, 0.0))
        result = self._live.solve(fresh=True, reduced=False, most=steps)
        self._live.set_bounds(both, np.zeros(2), usual)
        if result.status is not Status.OPTIMAL:
            return None
        u = np.zeros(self._size)
        moved = result.x[:n] - result.x[n : 2 * n]
        u[self.columns] = np.where(np.abs(moved) > ZERO, moved, 0.0)
        return u

    def _limits(self, system: AttackSystem) -> tuple[Floats, Floats]:
        rows = system.core_rows[self._rows]
        return system.row_lower[rows], system.row_upper[rows]


class ElasticParts:
    """The models of one prover. `labels`: the number of the part that each column of the core is in, from
    small parts to large ones. Each model is made when it is first used.
    """

    def __init__(
        self, system: AttackSystem, core: sp.csc_array, bounds: tuple[Floats, Floats], labels: list[Ints]
    ) -> None:
        self._system, self._core, self._bounds, self._labels = system, core, bounds, labels
        self._parts: dict[tuple[int, int], ElasticPart] = {}

    @property
    def solves(self) -> int:
        """LPs solved so far."""
        return sum(part.solves for part in self._parts.values())

    def set_system(self, system: AttackSystem) -> None:
        """Sets the polyhedron of another publication."""
        self._system = system

    def around(self, column: int) -> Iterator[ElasticPart]:
        """The parts around a column of the core, facing the present publication."""
        for level, label in enumerate(self._labels):
            at = level, int(label[column])
            if at not in self._parts:
                self._parts[at] = ElasticPart(
                    self._system, self._core, np.flatnonzero(label == label[column]), self._bounds
                )
            self._parts[at].set_system(self._system)
            yield self._parts[at]
