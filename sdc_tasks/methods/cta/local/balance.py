"""Senses that nearly balance every relation, by error feedback and exchange.

A relaxation leaves some senses y undecided, and its multipliers show which others are cheap
to change. The senses σ minimise

    E(σ) = Σ_p turn_p [σ_p ≠ y_p] + Σ_k price_k r_k² / 2τ,      r = the change of A z from y to σ

where price_k is the weight of the cheapest cell that could absorb the imbalance of relation k. The cells are
decided from the largest level to the smallest, each to the side with the smaller E, so that small levels
compensate large ones. Then pairs of cells in one relation change while E falls. Where most cells of a table
are sensitive, almost no imbalance remains.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import IMPROVEMENT, TIE_BREAK

SOFT_WIDTHS = 1.5  # τ, in median widths lpl + upl
SWEEPS = 3
MOST_PAIRED = 200  # cells of a relation that are compared in pairs: those with the smallest levels


def balanced(problem: CtaProblem, w: Floats, y: Floats, turn: Floats) -> Bools:
    """(s,): senses (true: up) near y (s,) in [0, 1]. `turn` (s,) is the cost of up minus that
    of down, in the scale of w (n,).
    """
    width = problem.lpl + problem.upl
    tau = SOFT_WIDTHS * float(np.median(width[width > 0])) if (width > 0).any() else 1.0
    price = np.sqrt(_cheapest(problem.A, w) / tau)
    B = sp.csc_array(sp.diags_array(price) @ sp.csc_array(problem.A)[:, problem.sensitive])
    state = _Balance(B, width, np.where(problem.can_rise, np.where(problem.can_fall, turn, -np.inf), np.inf))
    state.decide(y)
    for _ in range(SWEEPS):
        if not state.exchange():
            break
    return state.up


def _cheapest(A: sp.csr_array, w: Floats) -> Floats:
    """(m,): the smallest weight in each relation; a small part of the typical weight where it is 0."""
    least = np.full(A.shape[0], 1.0)
    filled = np.flatnonzero(np.diff(A.indptr) > 0)
    if len(filled):
        least[filled] = np.minimum.reduceat(w[A.indices], A.indptr[:-1][filled])
    return np.asarray(np.maximum(least, TIE_BREAK / 100))


class _Balance:
    """Senses, and the imbalance that they leave in each relation."""

    def __init__(self, B: sp.csc_array, width: Floats, turn: Floats) -> None:
        self._B, self._width, self._turn = B, width, turn
        self._by_relation = sp.csr_array(B)
        self._norm = np.asarray(B.multiply(B).sum(axis=0)).ravel()
        self.up = np.zeros(len(width), dtype=bool)
        self.r = np.zeros(B.shape[0])

    def decide(self, y: Floats) -> None:
        start, index, data = self._B.indptr.tolist(), self._B.indices, self._B.data
        rise, fall, norm, turn = (
            (self._width * (1 - y)).tolist(),
            (-self._width * y).tolist(),
            self._norm.tolist(),
            self._turn.tolist(),
        )
        for p in np.argsort(-self._width, kind="stable").tolist():
            at = slice(start[p], start[p + 1])
            relations, coefficients = index[at], data[at]
            pull = float(self.r[relations] @ coefficients)
            up = (
                pull * rise[p] + norm[p] * rise[p] ** 2 / 2 + turn[p]
                < pull * fall[p] + norm[p] * fall[p] ** 2 / 2
            )
            self.up[p] = up
            self.r[relations] += coefficients * (rise[p] if up else fall[p])

    def exchange(self) -> int:
        """For every relation once, changes the pair (or the single cell) that lowers E most, as if
        they shared this relation only.

        Returns the number of relations with such a change.
        """
        found = 0
        for k in np.argsort(-np.abs(self.r), kind="stable").tolist():
            at = slice(self._by_relation.indptr[k], self._by_relation.indptr[k + 1])
            cells, own = self._by_relation.indices[at].astype(np.int64), self._by_relation.data[at]
            if len(cells) > MOST_PAIRED:
                smallest = np.argpartition(self._width[cells], MOST_PAIRED)[:MOST_PAIRED]
                cells, own = cells[smallest], own[smallest]
            if len(cells) < 2:
                continue
            step, single = self._single(cells)
            moved = own * step
            pair = single[:, None] + single[None, :] + moved[:, None] * moved[None, :]
            np.fill_diagonal(pair, single)
            best = int(pair.argmin())
            i, j = divmod(best, len(cells))
            if pair[i, j] < -IMPROVEMENT * (1 + abs(single[i])):
                found += 1
                for p in {int(cells[i]), int(cells[j])}:
                    self._flip(p)
        return found

    def _single(self, cells: Ints) -> tuple[Floats, Floats]:
        """How far each of the cells would move if its sense changed, and what this alone would add to E."""
        up = self.up[cells]
        step = np.where(up, -self._width[cells], self._width[cells])
        start, count = self._B.indptr[cells], np.diff(self._B.indptr)[cells]
        first = np.cumsum(count) - count
        entries = np.repeat(start - first, count) + np.arange(count.sum())
        pull = np.add.reduceat(self._B.data[entries] * self.r[self._B.indices[entries]], first)
        return step, step * pull + step**2 * self._norm[cells] / 2 + np.where(
            up, -self._turn[cells], self._turn[cells]
        )

    def _flip(self, p: int) -> None:
        at = slice(self._B.indptr[p], self._B.indptr[p + 1])
        self.r[self._B.indices[at]] += self._B.data[at] * (-self._width[p] if self.up[p] else self._width[p])
        self.up[p] = not self.up[p]
