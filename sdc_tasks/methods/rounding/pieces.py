"""min Σ φ_j(k_j) over integers k_j with A k = rhs, φ_j convex: the common problem of controlled rounding
and of the quadratic adjustment.

Each φ_j is linear between integers, so k_j = origin_j + Σ u over pieces u of φ_j with one slope each;
convexity fills the pieces in their order. Pieces one step wide are the binaries of a mixed-integer model; a
wider piece is a stretch that is not expected to end inside. On network tables (two dimensions, one of them
hierarchical) the rows are totally unimodular: any vertex of the relaxation is integral.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.solver.milp import Milp

MOST_PIECES = 8  # steps into which a stretch of one slope is cut


@dataclass(frozen=True)
class Pieces:
    """Pieces of n columns: `column slope lower upper` (pieces,), ordered by slope within a column; `origin`
    (n,).

    The cost is `constant` + Σ slope · u, where lower ≤ u ≤ upper.
    """

    origin: Floats = field(repr=False)
    column: Ints = field(repr=False)
    slope: Floats = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)
    constant: float = 0.0

    @property
    def binary(self) -> Ints:
        return np.flatnonzero(self.upper - self.lower == 1)

    def value(self, u: Floats) -> Floats:
        """k (n,) of the values u (pieces,)."""
        return np.asarray(self.origin + np.bincount(self.column, weights=u, minlength=len(self.origin)))

    def model(self, A: sp.csr_array, row_lower: Floats, row_upper: Floats) -> Milp:
        """The model over the pieces with row_lower ≤ A k ≤ row_upper. Its objective is without
        the constant.
        """
        shift = A @ self.origin
        return Milp(
            cost=self.slope,
            A=sp.csr_array(sp.csc_array(A)[:, self.column]),
            row_lower=row_lower - shift,
            row_upper=row_upper - shift,
            lower=self.lower,
            upper=self.upper,
            binary=self.binary,
        )


def nearest(target: Floats, weight: Floats, lower: Floats, upper: Floats) -> Pieces:
    """The pieces of w_j |k_j − target_j| on lower ≤ k ≤ upper (integers or infinite; all (n,)): one slope on
    each side of the target, and one for the step that contains it.

    Raises ValueError for a lower bound above its upper bound.
    """
    if (lower > upper).any():
        raise ValueError("a lower bound above its upper bound")
    low = np.clip(np.floor(target), lower, upper)
    high = np.clip(np.ceil(target), lower, upper)
    across = weight * (np.abs(high - target) - np.abs(low - target))
    n = len(target)
    column = np.repeat(np.arange(n), 3)
    slope = np.column_stack([-weight, across, weight]).ravel()
    first = np.column_stack([lower - low, np.zeros(n), np.zeros(n)]).ravel()
    last = np.column_stack([np.zeros(n), high - low, upper - high]).ravel()
    column, slope, first, last = _steps(column, slope, first, last)
    return Pieces(low, column, slope, first, last, float((weight * np.abs(low - target)).sum()))


def squares(at: Floats, weight: Floats, lower: Floats, upper: Floats, reach: int) -> Pieces:
    """The pieces of w_j k_j² near `at`: pieces one step wide within `reach` of it, and one longer
    piece beyond on each side. All (n,).

    The longer pieces continue with the slope of the step next to them, which is a lower bound on the cost. So
    an optimal point that uses none of them is optimal for w_j k_j².
    """
    centre: Floats = np.clip(np.rint(at), lower, upper)
    steps = np.arange(-reach - 1, reach + 1, dtype=float)
    begin: Floats = centre[:, None] + steps  # a step leads from here to here + 1
    below = np.broadcast_to(steps < 0, begin.shape)
    first: Floats = np.where(below & (begin >= lower[:, None]), -1.0, 0.0)
    last: Floats = np.where(~below & (begin < upper[:, None]), 1.0, 0.0)
    first[:, 0] = np.minimum(lower - (centre - reach), 0.0)
    last[:, -1] = np.maximum(upper - (centre + reach), 0.0)
    slope: Floats = weight[:, None] * (2 * begin + 1)
    keep = (first < last).ravel()
    column = np.repeat(np.arange(len(at)), len(steps))[keep]
    return Pieces(
        centre,
        column,
        slope.ravel()[keep],
        first.ravel()[keep],
        last.ravel()[keep],
        float((weight * centre**2).sum()),
    )


def _steps(column: Ints, slope: Floats, first: Floats, last: Floats) -> tuple[Ints, Floats, Floats, Floats]:
    """Cuts pieces of at most MOST_PIECES steps into single steps, and drops empty ones."""
    width = last - first
    count = np.where(np.isfinite(width) & (width <= MOST_PIECES), width, 1).astype(np.int64)
    at = np.repeat(np.arange(len(width)), count)
    cut = np.isfinite(width) & (width <= MOST_PIECES)
    up = last[at] > 0
    return (
        column[at],
        slope[at],
        np.where(cut[at], np.where(up, 0.0, -1.0), first[at]),
        np.where(cut[at], np.where(up, 1.0, 0.0), last[at]),
    )
