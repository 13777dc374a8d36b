"""Separable convex quadratic programs over a fixed system of relations, solved through their dual.

    min Σ ½ q_j x_j² + c_j x_j   s.t.  A x = b,  lower ≤ x ≤ upper,   q > 0

For given multipliers λ the best x is explicit, x_j = clip((Aᵀλ − c)_j / q_j). The dual function g(λ) = b·λ +
Σ min (½ q x² + c x − (Aᵀλ) x) is concave, smooth and piecewise quadratic, with gradient b − A x. Semismooth
Newton steps (the Hessian A D Aᵀ counts the cells strictly within their bounds) with a line search reach its
optimum after finitely many changes of the set of cells at bounds. Every λ on the way gives a lower bound on
the optimum, so a solve ends as soon as the bound exceeds the cutoff. Where no x is feasible, g is unbounded.
From the λ of a similar program a few steps are enough.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import ROUNDING, SOLVER, ZERO
from sdc_tasks.solver.lp import Status

MOST_STEPS = 200
LEAST_SIZE = 1e-3  # smaller sizes count as this: callers scale their values to be near 1
FARTHEST_X = 1e7  # a cell without a bound goes no farther; a program that needs more counts as infeasible
WHOLE_STEP = (
    0.3  # a whole Newton step is taken if it leaves g rising, by no more than this share of its rise at first
)


@dataclass(frozen=True)
class QPResult:
    """The result of a solve: `x` (n,), multipliers `dual` (m,) and a proven lower `bound`.

    OPTIMAL: x solves the program. INFEASIBLE: no x has a cost up to the cutoff, with cells without a bound
    within FARTHEST_X. STOPPED: it took too many steps; the bound is proven.
    """

    status: Status
    x: Floats = field(repr=False)
    dual: Floats = field(repr=False)
    bound: float = field(repr=False)


class SeparableQP:
    """One system A x = b, with A (m, n) and b (m,). Each solve gives q, c and the bounds (n,)."""

    def __init__(self, A: sp.csr_array, b: Floats) -> None:
        self._A, self._At, self._size, self._b = sp.csr_array(A), sp.csr_array(A.T), sp.csr_array(abs(A)), b
        self._hessian = _Hessian(A)

    def solve(
        self, q: Floats, c: Floats, lower: Floats, upper: Floats, start: Floats, cutoff: float = np.inf
    ) -> QPResult:
        """Solves from the multipliers `start` (m,). It ends early when the optimum is proven to exceed the
        cutoff.
        """
        lam, b = start, self._b
        ridge = 10 * ROUNDING * self._hessian.diagonal(1 / q)
        for _ in range(MOST_STEPS):
            excess = self._At @ lam - c
            x = np.clip(excess / q, lower, upper)
            bound = float(b @ lam + (0.5 * q * x - excess) @ x)
            if bound > cutoff:
                return QPResult(Status.INFEASIBLE, x, lam, bound)
            miss = b - self._A @ x
            share = float(
                (np.abs(miss) / np.maximum(np.abs(b) + self._size @ np.abs(x), LEAST_SIZE)).max(initial=0.0)
            )
            if share <= 10 * ROUNDING:
                return QPResult(Status.OPTIMAL, x, lam, bound)
            d = self._hessian.solve(np.where((x > lower) & (x < upper), 1 / q, 0.0), ridge, miss)
            step = _line_search(d, b, self._At @ d, excess, q, lower, upper)
            if step == np.inf:
                return QPResult(Status.INFEASIBLE, x, lam, np.inf)
            if step <= 0:
                break
            lam = lam + step * d
        # rounding ended the search: the point is kept if it misses less than an LP solver would allow
        return QPResult(Status.OPTIMAL if share <= SOLVER / 10 else Status.STOPPED, x, lam, bound)


class _Hessian:
    """A diag(d) Aᵀ for one A and many d. Its entries are a fixed linear map of d."""

    def __init__(self, A: sp.csr_array) -> None:
        m, n = A.shape
        columns = sp.csc_array(A)
        first, second = _pairs(columns.indptr.astype(np.int64))
        owner = np.repeat(np.arange(n), np.diff(columns.indptr) ** 2)
        place = columns.indices[second].astype(np.int64) * m + columns.indices[first]
        everywhere, at = np.unique(
            np.concatenate([place, np.arange(m, dtype=np.int64) * (m + 1)]), return_inverse=True
        )
        self._m, self._diagonal = m, at[len(place) :]
        self._entries = sp.csr_array(
            (columns.data[first] * columns.data[second], (at[: len(place)], owner)),
            shape=(len(everywhere), n),
        )
        self._indices, self._indptr = (
            everywhere % m,
            np.searchsorted(everywhere, np.arange(m + 1, dtype=np.int64) * m),
        )

    def diagonal(self, d: Floats) -> Floats:
        return np.asarray(np.maximum((self._entries @ d)[self._diagonal], np.finfo(float).tiny))

    def solve(self, d: Floats, ridge: Floats, right: Floats) -> Floats:
        """(A diag(d) Aᵀ + diag(ridge))⁻¹ right."""
        entries = self._entries @ d
        entries[self._diagonal] += ridge
        H = sp.csc_matrix(
            (entries, self._indices.astype(np.int32), self._indptr.astype(np.int32)), shape=(self._m, self._m)
        )
        return np.asarray(
            sp.linalg.splu(
                H, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
            ).solve(right)
        )


def _pairs(indptr: Ints) -> tuple[Ints, Ints]:
    """All ordered pairs of positions within the same column, column by column."""
    start, count = np.repeat(indptr[:-1], np.diff(indptr)), np.repeat(np.diff(indptr), np.diff(indptr))
    first = np.repeat(np.arange(indptr[-1]), count)
    return first, np.repeat(start, count) + np.arange(len(first)) - np.repeat(np.cumsum(count) - count, count)


def _line_search(
    d: Floats, b: Floats, nu: Floats, excess: Floats, q: Floats, lower: Floats, upper: Floats
) -> float:
    """The step along d (ν = Aᵀd) at which the slope of g, d·b − ν·x, is 0. The slope falls piecewise
    linearly.

    The step is infinite where the slope stays above 0: then d proves that no x is feasible. Rounding leaves a
    small ν in cells that d should not move, so a cell without a bound counts as bounded by FARTHEST_X.
    """
    moves = np.flatnonzero(nu)
    nu, excess, q, lower, upper = nu[moves], excess[moves], q[moves], lower[moves], upper[moves]
    rise = float(d @ b)

    def slope(t: float) -> float:
        return rise - float(nu @ np.clip((excess + t * nu) / q, lower, upper))

    first, whole = slope(0.0), slope(1.0)
    if first <= 0:
        return 0.0
    if 0 <= whole <= WHOLE_STEP * first:
        return 1.0
    one, other = (q * lower - excess) / nu, (q * upper - excess) / nu
    ends = np.concatenate([one, other])
    at = np.unique(np.append(ends[np.isfinite(ends) & (ends > 0)], 0.0))
    low, high = 0, len(at)  # slope(at[low]) > 0 ≥ slope(at[high])
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if slope(at[middle]) > 0 else (low, middle)
    here = slope(at[low])
    if high < len(at):
        return float(at[low] + (at[high] - at[low]) * here / (here - slope(at[high])))
    ends = np.where(nu > 0, upper, lower)
    ends = np.where(np.isinf(ends), np.sign(nu) * FARTHEST_X, ends)
    if rise - float(nu @ ends) > ZERO * (abs(rise) + float(np.abs(nu) @ np.abs(ends))):
        return np.inf
    endless = float((nu**2 / q)[np.maximum(one, other) == np.inf].sum())
    return float(at[low] + (here / endless if endless > 0 else 0.0))
