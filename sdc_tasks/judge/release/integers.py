"""Proves that no whole table reaches a level: derives bounds from relations, and tries the
values of one cell after another.

It is slower than a MILP, and independent of any solver. It counts its steps; at the limit
it gives up and proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.judge.release.polyhedron import AttackerPolyhedron
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import JUDGED_INTEGRALITY

PROPAGATION_ROUNDS = 4_000  # rounds of deriving bounds, for one requirement
MOST_COLUMNS = 400  # linked columns; with more, no proof is tried


@dataclass(repr=False)
class ExhaustiveSearch:
    """The whole tables of a polyhedron around one column: the rows and columns linked to it, dense."""

    A: Floats
    low: Floats
    high: Floats
    lower: Floats
    upper: Floats
    integral: Bools
    column: int
    steps: int = field(default=PROPAGATION_ROUNDS)

    @classmethod
    def around(
        cls,
        polyhedron: AttackerPolyhedron,
        integral: Bools,
        column: int,
        held: Ints,
        lower: Floats,
        upper: Floats,
    ) -> ExhaustiveSearch | None:
        """For an attacker who knows these bounds of the columns `held`; None if too many columns
        are linked.
        """
        some = np.isfinite(polyhedron.low) | np.isfinite(polyhedron.high)
        A = sp.csr_array(polyhedron.A[some])
        m, n = A.shape
        entries = sp.coo_array(A)
        both = sp.csr_array((np.ones(A.nnz), (entries.row, m + entries.col)), shape=(m + n, m + n))
        part = sp.csgraph.connected_components(both, directed=False)[1]
        columns = np.flatnonzero(part[m:] == part[m + column])
        if len(columns) > MOST_COLUMNS:
            return None
        rows = np.flatnonzero(part[:m] == part[m + column])
        low, high = polyhedron.lower.copy(), polyhedron.upper.copy()
        np.maximum.at(low, held, lower)
        np.minimum.at(high, held, upper)
        return cls(
            A[rows][:, columns].toarray(),
            polyhedron.low[some][rows],
            polyhedron.high[some][rows],
            low[columns],
            high[columns],
            integral[columns],
            int(np.searchsorted(columns, column)),
        )

    def reaches_no_more(self, side: int, reach: int) -> bool:
        """Is it proven that the column goes no further than `reach` to that side, or to both
        sides together?
        """
        if side:
            return self._none_beyond(side, reach)
        down = next((each for each in range(reach + 1) if self._none_beyond(-1, each)), None)
        return down is not None and self._none_beyond(1, reach - down)

    def _none_beyond(self, side: int, reach: int) -> bool:
        lower, upper = self.lower.copy(), self.upper.copy()
        if side > 0:
            lower[self.column] = max(lower[self.column], reach + 1)
        else:
            upper[self.column] = min(upper[self.column], -reach - 1)
        waiting = [(lower, upper)]
        while waiting:
            bounds = self._propagated(*waiting.pop())
            if self.steps <= 0:
                return False
            if bounds is None:
                continue
            lower, upper = bounds
            width = np.where(self.integral, upper - lower, 0.0)
            width[width < 0.5] = np.inf  # settled
            at = int(np.argmin(width))
            if np.isinf(width[at]):
                return False  # a whole table may be left, or a cell without bounds
            first, second = upper.copy(), lower.copy()
            first[at], second[at] = lower[at], lower[at] + 1
            waiting += [(second, upper), (lower, first)]
        return True

    def _propagated(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats] | None:
        """These bounds, narrowed by the rows; None if no value is left."""
        A, up = self.A, self.A > 0
        used = self.A != 0
        while self.steps > 0:
            self.steps -= 1
            with np.errstate(invalid="ignore"):
                least = np.where(used, np.where(up, A * lower, A * upper), 0.0)
                most = np.where(used, np.where(up, A * upper, A * lower), 0.0)
            over = (self.high[:, None] - _others(least)) / np.where(used, A, 1.0)
            under = (self.low[:, None] - _others(most)) / np.where(used, A, 1.0)
            highest = np.where(used, np.where(up, over, under), np.inf).min(axis=0, initial=np.inf)
            lowest = np.where(used, np.where(up, under, over), -np.inf).max(axis=0, initial=-np.inf)
            new_low, new_high = (
                np.maximum(lower, lowest - JUDGED_INTEGRALITY),
                np.minimum(upper, highest + JUDGED_INTEGRALITY),
            )
            new_low = np.where(self.integral, np.ceil(new_low - JUDGED_INTEGRALITY), new_low)
            new_high = np.where(self.integral, np.floor(new_high + JUDGED_INTEGRALITY), new_high)
            if (new_low > new_high + JUDGED_INTEGRALITY).any():
                return None
            if (new_low <= lower + JUDGED_INTEGRALITY).all() and (
                new_high >= upper - JUDGED_INTEGRALITY
            ).all():
                return new_low, new_high
            lower, upper = new_low, new_high
        return lower, upper


def _others(ends: Floats) -> Floats:
    """(rows, columns): for each entry, the sum of the other ends of its row; infinite if one of them is."""
    open_ = np.isinf(ends)
    finite = np.where(open_, 0.0, ends)
    opens = open_.sum(axis=1, keepdims=True) - open_
    sign = np.sign(np.where(open_, ends, 0.0).sum(axis=1, keepdims=True))
    return np.where(
        opens > 0, np.where(sign != 0, sign, 1.0) * np.inf, finite.sum(axis=1, keepdims=True) - finite
    )
