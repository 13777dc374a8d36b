"""Separable convex quadratic programs over a fixed system of relations, solved through their dual.

    min Σ ½ q_j x_j² + c_j x_j   s.t.  A x = b,  lower ≤ x ≤ upper,   q > 0

For multipliers λ the best x is at hand, x_j = clip((Aᵀλ − c)_j / q_j), and the dual function g(λ) = b·λ + Σ min (½ q x² + c x − (Aᵀλ) x) is
concave and smooth, piecewise quadratic, with gradient b − A x. Semismooth Newton steps (the Hessian A D Aᵀ counts the cells strictly
within their bounds) with an exact line search reach its optimum after finitely many changes of the set at bounds. Every λ on the way bounds the
optimum from below, so a solve ends as soon as that exceeds what is wanted; where there is no x at all, g grows without end.
Starting from the λ of a similar program, a few steps do.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from sdc_tasks.model.table import Floats
from sdc_tasks.solver.lp import Status

MOST_STEPS = 200
MISS, ROUGH = 1e-11, 1e-8  # what counts as A x = b, as a share of the sizes in the relation: wanted; and if rounding leaves no more
CERTAIN = 1e-9  # relative: what is off by less is not called infeasible
RIDGE = 1e-11  # added to the Hessian, as a share of its diagonal were no cell at a bound


@dataclass(frozen=True)
class QPResult:
    """`bound` is proven whatever the status. OPTIMAL: x solves the program. INFEASIBLE: none does, or none below the cutoff."""

    status: Status
    x: Floats = field(repr=False)
    dual: Floats = field(repr=False)
    bound: float = field(repr=False)


class SeparableQP:
    """One system A x = b; q, c and bounds are given with each solve."""

    def __init__(self, A: sp.csr_array, b: Floats) -> None:
        self._A, self._At, self._size, self._b = sp.csr_array(A), sp.csr_array(A.T), sp.csr_array(abs(A)), b
        m = A.shape[0]
        columns = sp.csc_array(A)
        count = np.diff(columns.indptr)
        # entry e of the Hessian is Σ_j d_j a_kj a_lj over the cells j of rows k and l: a fixed linear map from d to its entries
        owner = np.repeat(np.arange(A.shape[1]), count**2)
        first = np.concatenate([np.repeat(np.arange(s, s + k), k) for s, k in zip(columns.indptr[:-1], count, strict=True)] or [np.zeros(0, int)])
        second = np.concatenate([np.tile(np.arange(s, s + k), k) for s, k in zip(columns.indptr[:-1], count, strict=True)] or [np.zeros(0, int)])
        rows, cols = columns.indices[first], columns.indices[second]
        key = np.concatenate([cols.astype(np.int64) * m + rows, np.arange(m, dtype=np.int64) * (m + 1)])
        unique, where = np.unique(key, return_inverse=True)
        self._to_entries = sp.csr_array((columns.data[first] * columns.data[second], (where[: len(rows)], owner)), shape=(len(unique), A.shape[1]))
        self._diagonal = where[len(rows) :]
        self._pattern = (unique % m).astype(np.int32), np.searchsorted(unique // m, np.arange(m + 1)).astype(np.int32)
        self._m = m
        self.steps = 0

    def solve(self, q: Floats, c: Floats, lower: Floats, upper: Floats, start: Floats, cutoff: float = np.inf) -> QPResult:
        """From the multipliers `start`; ends early when the optimum is proven to lie above the cutoff."""
        lam, b = start.copy(), self._b
        full = np.maximum((self._to_entries @ (1 / q))[self._diagonal], np.finfo(float).tiny)
        for _ in range(MOST_STEPS):
            self.steps += 1
            excess = self._At @ lam - c
            x = np.clip(excess / q, lower, upper)
            bound = float(b @ lam + (0.5 * q * x - excess) @ x)
            if bound > cutoff:
                return QPResult(Status.INFEASIBLE, x, lam, bound)
            miss = b - self._A @ x
            share = np.abs(miss) / np.maximum(np.abs(b) + self._size @ np.abs(x), np.finfo(float).tiny)
            if share.max(initial=0.0) <= MISS:
                return QPResult(Status.OPTIMAL, x, lam, bound)
            inside = (x > lower) & (x < upper)
            d = self._direction(np.where(inside, 1 / q, 0.0), full, miss)
            step = _line_search(d, b, self._At @ d, excess, q, lower, upper)
            if step == np.inf:
                return QPResult(Status.INFEASIBLE, x, lam, np.inf)
            if step <= 0:
                break  # rounding errors are all that is left
            lam = lam + step * d
        return QPResult(Status.OPTIMAL if share.max(initial=0.0) <= ROUGH else Status.STOPPED, x, lam, bound)

    def _direction(self, weight: Floats, full: Floats, F: Floats) -> Floats:
        entries = self._to_entries @ weight
        entries[self._diagonal] += RIDGE * full
        H = sp.csc_matrix((entries, *self._pattern), shape=(self._m, self._m))
        return np.asarray(splu(H, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}).solve(F))


def _line_search(d: Floats, b: Floats, nu: Floats, excess: Floats, q: Floats, lower: Floats, upper: Floats) -> float:
    """Where g stops rising along d (ν = Aᵀd): its derivative d·b − ν·x falls piecewise linearly. Infinite where it never does."""
    moves = np.flatnonzero(nu)
    nu, excess, q, lower, upper = nu[moves], excess[moves], q[moves], lower[moves], upper[moves]
    one, other = (q * lower - excess) / nu, (q * upper - excess) / nu
    ends = np.concatenate([one, other])
    at = np.unique(np.append(ends[np.isfinite(ends) & (ends > 0)], 0.0))
    rise = float(d @ b)

    def slope(t: float) -> float:
        return rise - float(nu @ np.clip((excess + t * nu) / q, lower, upper))

    if slope(0.0) <= 0:
        return 0.0
    low, high = 0, len(at)  # slope(at[low]) > 0 ≥ slope(at[high])
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if slope(at[middle]) > 0 else (low, middle)
    here = slope(at[low])
    if high < len(at):
        there = slope(at[high])
        return float(at[low] + (at[high] - at[low]) * here / (here - there))
    rate = nu**2 / q
    endless = float(rate[np.maximum(one, other) == np.inf].sum())
    if endless > 0:
        return float(at[low] + here / endless)
    certain = here > CERTAIN * (abs(rise) + float(np.abs(nu) @ np.where(nu > 0, np.abs(upper), np.abs(lower))))
    return np.inf if certain else float(at[low])
