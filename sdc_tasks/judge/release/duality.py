"""Upper bounds on an attacker's uncertainty, by weak duality: they prove attacks, and what
national tables do not protect.

For multipliers y of rows `low ≤ A u ≤ high` and bounds `lower ≤ u ≤ upper`, every u that fits has

    c·u  ≤  Σ max(y·low, y·high) + Σ max(d·lower, d·upper),    d = c − Aᵀy

This holds for any y, so the multipliers need not be trusted. Only bounds of the polyhedron are used: if d is
not 0 at an unbounded cell, the right side is infinite and nothing is shown. The noise of a solver would make
d nonzero at every such cell. So a multiplier near a fraction of `PARTS` is replaced by that fraction
(relations have entries ±1, so true multipliers are such fractions), and sums cancel exactly. Any other noise
is charged with the bounds that the rows imply for the cell (`_implied`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdc_tasks.judge.release.polyhedron import AttackerPolyhedron
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import DUAL, JUDGED_INTEGRALITY

PARTS = 5040.0  # divided by every number up to ten
BOUND_ROUNDS = 8  # rounds of deriving bounds from rows

Bounds = tuple[Floats, Floats]


@dataclass(frozen=True, repr=False)
class ReducedPolyhedron:
    """A polyhedron over the tied groups of its cells: cells that the national relations tie to
    each other, or fix, count as one.
    """

    polyhedron: AttackerPolyhedron
    tied: sp.csr_array = field(repr=False)

    @cached_property
    def rows(self) -> sp.csr_array:
        found = sp.csr_array(self.polyhedron.A @ self.tied)
        found.eliminate_zeros()
        return found

    def bounds(self, held: Ints, lower: Floats, upper: Floats) -> Bounds:
        """Bounds of each tied group, for an attacker who also knows these bounds of the columns `held`."""
        low, high = self.polyhedron.lower.copy(), self.polyhedron.upper.copy()
        np.maximum.at(low, held, lower)
        np.minimum.at(high, held, upper)
        entries = sp.coo_array(self.tied)
        cell, u, sign = entries.row, entries.col, entries.data
        found = np.full(self.tied.shape[1], -np.inf), np.full(self.tied.shape[1], np.inf)
        np.maximum.at(found[0], u, np.where(sign > 0, low[cell], -high[cell]))
        np.minimum.at(found[1], u, np.where(sign > 0, high[cell], -low[cell]))
        return found

    def dual_bound(self, column: int, way: int, bounds: Bounds, rows: Ints, multipliers: Floats) -> float:
        """The weak dual bound on how far one column goes that way; infinite if the
        multipliers use a cell without a bound.
        """
        y = np.where(_near(multipliers), np.rint(PARTS * multipliers), PARTS * multipliers)
        ends = np.where(y > 0, self.polyhedron.high[rows], self.polyhedron.low[rows])
        if np.isinf(ends[y != 0]).any():
            return np.inf
        cost = PARTS * way * self.tied[[column]].toarray().ravel()
        reduced_cost = cost - np.asarray(self.rows[rows].T @ y).ravel()
        terms = _reduced_cost_terms(reduced_cost, bounds)
        if np.isinf(terms).any():
            if (np.abs(reduced_cost[np.isinf(terms)]) > DUAL * PARTS).any():
                return np.inf
            terms = _reduced_cost_terms(reduced_cost, self._implied(bounds))
        return float((y[y != 0] @ ends[y != 0] + terms.sum()) / PARTS)

    def _implied(self, bounds: Bounds) -> Bounds:
        """The bounds of each tied group that follow from the rows and its own bounds."""
        C = sp.coo_array(self.rows)
        row, u = C.row.astype(np.int64), C.col.astype(np.int64)
        v: Floats = C.data
        low, high = bounds[0].copy(), bounds[1].copy()
        for _ in range(BOUND_ROUNDS):
            least, most = np.where(v > 0, v * low[u], v * high[u]), np.where(v > 0, v * high[u], v * low[u])
            # For v > 0 a lower and an upper bound, else the reverse.
            under = (self.polyhedron.low[row] - _others(np.asarray(most), row, C.shape[0])) / v
            over = (self.polyhedron.high[row] - _others(np.asarray(least), row, C.shape[0])) / v
            np.maximum.at(low, u, np.where(v > 0, under, over))
            np.minimum.at(high, u, np.where(v > 0, over, under))
        return low, high


def _near(y: Floats) -> Bools:
    return np.asarray(np.abs(PARTS * y - np.rint(PARTS * y)) <= JUDGED_INTEGRALITY)


def _reduced_cost_terms(reduced_cost: Floats, bounds: Bounds) -> Floats:
    """What each column adds to the bound: its reduced cost times the end of its bounds that it prefers."""
    found = np.zeros(len(reduced_cost))
    up, down = reduced_cost > 0, reduced_cost < 0
    found[up], found[down] = reduced_cost[up] * bounds[1][up], reduced_cost[down] * bounds[0][down]
    return found


def _others(ends: Floats, row: Ints, count: int) -> Floats:
    """For each entry, the sum of the ends of the other entries of its row; infinite if one of them is."""
    open_ = np.isinf(ends)
    finite = np.where(open_, 0.0, ends)
    total, opens = np.bincount(row, finite, count), np.bincount(row, open_, count)
    sign = np.zeros(count)
    sign[row[open_]] = np.sign(ends[open_])
    return np.where(
        opens[row] - open_ > 0, np.where(sign[row] != 0, sign[row], 1.0) * np.inf, total[row] - finite
    )


def tied_groups(polyhedron: AttackerPolyhedron) -> sp.csr_array:
    """(columns, tied groups) with entries ±1: an equation of one cell fixes it, one of two cells ties them,
    until none is left. The row of a fixed column is empty.
    """
    equations = sp.csr_array(polyhedron.A[(polyhedron.low == 0) & (polyhedron.high == 0)])
    tied = sp.csr_array(sp.eye_array(equations.shape[1]))
    while True:
        left = sp.csr_array(equations @ tied)
        left.eliminate_zeros()
        length = np.diff(left.indptr)
        one_to_one = [
            row
            for row in np.flatnonzero(length == 2).tolist()
            if np.ptp(np.abs(left.data[left.indptr[row] :][:2])) == 0
        ]
        short = np.sort(np.concatenate([np.flatnonzero(length == 1), np.array(one_to_one, dtype=np.int64)]))
        if not len(short):
            return tied
        step, seen = sp.lil_array(sp.eye_array(left.shape[1])), set[int]()
        for row in short.tolist():
            span = slice(left.indptr[row], left.indptr[row + 1])
            columns, entries = left.indices[span].tolist(), left.data[span].tolist()
            if seen & set(columns):
                continue  # in the next round
            seen |= set(columns)
            step[columns[0], columns[0]] = 0
            if len(columns) == 2:
                step[columns[0], columns[1]] = -entries[1] / entries[0]
        tied = sp.csr_array(tied @ step.tocsr())
        kept = np.flatnonzero(np.diff(sp.csc_array(tied).indptr) > 0)
        tied = sp.csr_array(sp.csc_array(tied)[:, kept])
        tied.eliminate_zeros()
