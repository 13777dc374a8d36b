"""Fixes and ties: every z with M z = 0 is T u for exactly one u.

A relation with one cell left fixes it (z = 0). A relation with two cells left ties them, z_j = t z_i. Both
are substituted until none is left. Two modes:

- with *ratios*, t is any number; entries that cancel up to rounding count as 0. What solvers get may be as
  small as possible, and each result is judged by other code.
- *exact*: t is ±1 only, so that a substitution is exact arithmetic on floating-point numbers. The attacker of
  releases needs that: a bound that follows through a chain of ratios would carry their rounding. A relation
  such as 2 x = y, which forces parity on whole numbers, stays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import ZERO


@dataclass(frozen=True)
class Reduction:
    """z = T u. T (n, k) has at most one entry in each row; a cell without one does not move. `kept` (k): the
    cell that stands for each column, with the entry 1.
    """

    T: sp.csr_array = field(repr=False)
    kept: Ints = field(repr=False)
    exact: bool = False

    @cached_property
    def class_of(self) -> Ints:
        """(n): the column of each cell, −1 of one that does not move."""
        found = np.full(self.T.shape[0], -1)
        entries = self.T.tocoo()
        found[entries.row] = entries.col
        return found

    @cached_property
    def ratio(self) -> Floats:
        """(n): the entry of each cell, 0 of one that does not move."""
        found = np.zeros(self.T.shape[0])
        entries = self.T.tocoo()
        found[entries.row] = entries.data
        return found

    def apply(self, M: sp.csr_array) -> sp.csr_array:
        """M T (m, k) for relations M (m, n): the same relations between the columns."""
        return _product(M, self.T, self.exact)

    def invert(self, u: Floats) -> Floats:
        """z (n) of columns u (k); of points (p, k) the deviations (p, n)."""
        return np.asarray((self.T @ u.T).T)

    def picked(self, columns: Ints) -> Reduction:
        """Without the other columns: their cells do not move."""
        return Reduction(
            sp.csr_array(sp.csc_array(self.T)[:, columns]), np.asarray(self.kept[columns]), self.exact
        )


def fix_and_tie(
    M: sp.csr_array, moves: Bools | None = None, apart: Ints | None = None, *, exact: bool = False
) -> Reduction:
    """The fixes and ties that relations M z = 0 (m, n) force. `moves` (n): cells that may move, by default
    all; `apart`: cells that are not tied to others. `exact`: the entries of M are whole numbers, and only
    ties by ±1 count.
    """
    n = M.shape[1]
    start = np.arange(n) if moves is None else np.flatnonzero(moves)
    T = sp.csr_array((np.ones(len(start)), (start, np.arange(len(start)))), shape=(n, len(start)))
    kept = start
    while True:
        reduced = _product(M, T, exact)
        alone = np.zeros(len(kept)) if apart is None else np.asarray(abs(T[apart]).sum(axis=0)).ravel()
        short = _short(reduced, alone > 0, exact)
        if not len(short):
            return Reduction(T, kept, exact)
        step, first = _substitution(reduced, short, exact)
        T, kept = sp.csr_array(T @ step), kept[first]


def _product(M: sp.csr_array, T: sp.csr_array, exact: bool) -> sp.csr_array:
    """M T, with 0 for entries that cancel: by ±1 exactly, else up to rounding; 1 − 49 · (1/49) is not 0 in
    floating point.
    """
    found = sp.csr_array(M @ T)
    if not exact and not (_is_whole(M) and (np.abs(T.data) == 1).all()):
        size = sp.csr_array(abs(M) @ abs(T))
        inverse = size.copy()
        inverse.data = 1.0 / inverse.data
        share = sp.csr_array(found.multiply(inverse))
        share.data[np.abs(share.data) <= ZERO] = 0.0
        found = sp.csr_array(share.multiply(size))
    found.eliminate_zeros()
    if not exact:
        found.sort_indices()
    return found


def _is_whole(M: sp.csr_array) -> bool:
    """Whether sums of ±1 times the entries are exact: decimals such as 0.1 + 0.2 − 0.3 are not 0."""
    return bool((M.data == np.rint(M.data)).all())


def _short(A: sp.csr_array, alone: Bools, exact: bool) -> Ints:
    """Rows that fix a column, or tie two."""
    length = np.diff(A.indptr)
    two = np.flatnonzero(length == 2)
    first = A.indptr[two]
    ties = ~(alone[A.indices[first]] | alone[A.indices[first + 1]])
    if exact:
        ties &= np.abs(A.data[first]) == np.abs(A.data[first + 1])
    return np.sort(np.concatenate([np.flatnonzero(length == 1), two[ties]])).astype(np.int64)


def _substitution(A: sp.csr_array, rows: Ints, exact: bool) -> tuple[sp.csr_array, Ints]:
    """The ties and fixes of the short rows, as a matrix (columns before, columns after), and the former
    number of each column that is left.
    """
    ties = _Ties(A.shape[1], lowest=not exact)
    for row in rows.tolist():
        at = slice(A.indptr[row], A.indptr[row + 1])
        columns, values = A.indices[at].tolist(), A.data[at].tolist()
        if len(columns) == 1:
            ties.fix(columns[0])
        else:
            ties.tie(columns[0], columns[1], -values[0] / values[1])
    return ties.matrix()


class _Ties:
    """A union-find of columns with ratios. The `lowest` column of a class stands for it, or the one that the
    relations lead to: evidence of releases that are out was numbered that way.
    """

    def __init__(self, n: int, lowest: bool) -> None:
        self._lowest = lowest
        self._root, self._ratio, self._fixed = list(range(n)), [1.0] * n, [False] * n

    def find(self, i: int) -> tuple[int, float]:
        """The class of a column, and by what it is multiplied."""
        ratio = 1.0
        while self._root[i] != i:
            ratio *= self._ratio[i]
            i = self._root[i]
        return i, ratio

    def fix(self, i: int) -> None:
        self._fixed[self.find(i)[0]] = True

    def tie(self, i: int, j: int, ratio: float) -> None:
        """z_j = ratio · z_i. Ratios that contradict each other leave 0 alone."""
        (a, s), (b, t) = self.find(i), self.find(j)
        between = ratio * s / t  # the class of j = between · the class of i
        if a == b:
            if abs(between - 1.0) > ZERO * (abs(between) + 1.0):
                self._fixed[a] = True
            return
        if self._lowest and b < a:
            a, b, between = b, a, 1.0 / between
        self._root[b], self._ratio[b] = a, between
        self._fixed[a] = self._fixed[a] or self._fixed[b]

    def matrix(self) -> tuple[sp.csr_array, Ints]:
        n = len(self._root)
        found = [self.find(i) for i in range(n)]
        kept = sorted({i for i, _ in found if not self._fixed[i]})
        position = {i: k for k, i in enumerate(kept)}
        entries = [(i, position[r], s) for i, (r, s) in enumerate(found) if r in position]
        if not entries:
            return sp.csr_array((n, 0)), np.zeros(0, dtype=np.int64)
        before, after, values = (np.array(column) for column in zip(*entries, strict=True))
        step = sp.csr_array((values.astype(float), (before, after)), shape=(n, len(kept)))
        return step, np.array(kept, dtype=np.int64)
