"""The hidden tables that fit a publication, on the grid of the values: whole multiples of a step from the
truth.

In the deviations z of the suppressed cells, the tables that fit are the points of the attacker's polyhedron
(`attack/polyhedron.py`). With z = N f, where f are the free cells and the columns of N span the solutions of
the equations, they are the grid points of

    row_lower ≤ A N f ≤ row_upper,   lower ≤ N f ≤ upper.

`every` lists them cell by cell and drops a beginning as soon as no continuation can fit. `nearest`
is a linear program: the table in which one primary lies a given distance away, and the other cells
as near to the truth as possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.polyhedron import attack_system, facing
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import INTEGRALITY
from sdc_tasks.solver.lp import LiveLP, Status

WORTH = 200  # beginnings that are kept for each table that may be found


@dataclass(frozen=True, repr=False)
class Fitting:
    """The tables that fit a publication of a problem. `step` (suppressed cells,) > 0: the distance of
    neighbouring values of each cell.

    Everything is in steps: A z within `row_lower row_upper`, z within `lower upper`.
    `cells`: flat indices of the columns.
    """

    cells: Ints
    step: Floats
    A: sp.csr_array
    row_lower: Floats
    row_upper: Floats
    lower: Floats
    upper: Floats

    @classmethod
    def of(cls, problem: ProtectionProblem, publication: Publication, step: Floats) -> Fitting:
        """Raises ValueError if earlier releases are known: their deliveries may differ, and
        a replay would need all of them.
        """
        if problem.earlier.rows.shape != (0, 0):
            raise ValueError("a replay knows no earlier releases")
        system = facing(attack_system(problem), problem, publication)
        rows = sp.csr_array(system.A @ sp.diags_array(step))
        return cls(
            system.cells,
            step,
            rows,
            system.row_lower,
            system.row_upper,
            system.lower / step,
            system.upper / step,
        )

    def every(self, most: int) -> Floats | None:
        """(tables, suppressed cells): the deviation of every table that fits, unit of the data; None
        if there may be more than `most`.
        """
        N = self._span
        if not N.shape[1]:
            return np.zeros((1, len(self.cells)))
        unequal = np.flatnonzero(self.row_lower != self.row_upper)
        rows = np.vstack([self.A[unequal] @ N, N])
        least = np.concatenate([self.row_lower[unequal], self.lower]) - INTEGRALITY
        highest = np.concatenate([self.row_upper[unequal], self.upper]) + INTEGRALITY
        ranges = [self._range(int(column)) for column in self._free]
        if not all(np.isfinite(low) and np.isfinite(high) for low, high in ranges):
            return None
        low, high = (np.array(each) for each in zip(*ranges, strict=True))
        down, up = np.minimum(rows * low, rows * high), np.maximum(rows * low, rows * high)
        begun = np.zeros((1, 0))
        for k in range(N.shape[1]):
            values = np.arange(np.ceil(low[k] - INTEGRALITY), np.floor(high[k] + INTEGRALITY) + 1)
            if len(begun) * len(values) > WORTH * most:
                return None
            begun = np.column_stack([np.repeat(begun, len(values), axis=0), np.tile(values, len(begun))])
            so_far = begun @ rows[:, : k + 1].T
            may = (so_far + up[:, k + 1 :].sum(axis=1) >= least) & (
                so_far + down[:, k + 1 :].sum(axis=1) <= highest
            )
            begun = begun[may.all(axis=1)]
        z = begun @ N.T
        z = z[(np.abs(z - np.rint(z)) <= INTEGRALITY).all(axis=1)]
        return np.rint(z) * self.step if len(z) <= most else None

    def nearest(self, cell: int, distance: float) -> Floats | None:
        """The deviation (suppressed cells,) of a table in which `cell` (flat index) lies at least
        `distance` (signed, unit of the data) away, and Σ |z| / step of the others is least; None if none
        fits, or if it is not on the grid.
        """
        n, column = len(self.cells), int(np.searchsorted(self.cells, cell))
        away = np.sign(distance) * np.ceil(abs(distance) / self.step[column] - INTEGRALITY)
        lower, upper = np.minimum(self.lower, 0), np.maximum(self.upper, 0)
        live = LiveLP(
            np.ones(2 * n), sp.csr_array(sp.hstack([self.A, -self.A])), self.row_lower, self.row_upper,
            np.zeros(2 * n), np.concatenate([upper, -lower]),
        )  # fmt: skip
        fixed = np.array([max(away, 0.0), max(-away, 0.0)])
        live.set_bounds(np.array([column, n + column]), fixed, fixed)
        result = live.solve()
        z = result.x[:n] - result.x[n:]
        if (
            result.status is not Status.OPTIMAL
            or (np.abs(z - np.rint(z)) > INTEGRALITY).any()
            or not self.holds(np.rint(z))
        ):
            return None
        return np.asarray(np.rint(z) * self.step)

    def holds(self, z: Floats) -> bool:
        """Does a deviation, in steps, fit?"""
        row = self.A @ z
        near = INTEGRALITY * (1 + np.abs(row))
        return bool(
            (row >= self.row_lower - near).all()
            and (row <= self.row_upper + near).all()
            and (z >= self.lower - INTEGRALITY).all()
            and (z <= self.upper + INTEGRALITY).all()
        )

    def _range(self, column: int) -> tuple[float, float]:
        """The least and the largest value of a column over all that fits, in steps."""
        ends = []
        for side in (1.0, -1.0):
            self._live.set_cost(np.array([column]), np.array([side]))
            result = self._live.solve()
            ends.append(side * result.objective if result.status is Status.OPTIMAL else -side * np.inf)
        self._live.set_cost(np.array([column]), np.zeros(1))
        return ends[0], ends[1]

    @cached_property
    def _live(self) -> LiveLP:
        return LiveLP(
            np.zeros(len(self.cells)), self.A, self.row_lower, self.row_upper, self.lower, self.upper
        )

    @cached_property
    def _reduced(self) -> tuple[Floats, list[int]]:
        """The equations, reduced to one leading column each; and these columns."""
        E = self.A[np.flatnonzero(self.row_lower == self.row_upper)].toarray()
        leading: list[int] = []
        for column in range(E.shape[1]):
            done = len(leading)
            if done == len(E):
                break
            at = done + int(np.abs(E[done:, column]).argmax())
            if abs(E[at, column]) < INTEGRALITY:
                continue
            E[[done, at]] = E[[at, done]]
            E[done] /= E[done, column]
            others = np.arange(len(E)) != done
            E[others] -= np.outer(E[others, column], E[done])
            leading.append(column)
        return E[: len(leading)], leading

    @cached_property
    def _free(self) -> Ints:
        return np.setdiff1d(np.arange(len(self.cells)), self._reduced[1])

    @cached_property
    def _span(self) -> Floats:
        """N (columns, free cells)."""
        E, leading = self._reduced
        N = np.zeros((len(self.cells), len(self._free)))
        N[self._free, np.arange(len(self._free))] = 1.0
        N[leading] = -E[:, self._free]
        return N
