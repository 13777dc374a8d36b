"""An exact reduction of the attacker's relations: z = R u with fewer u.

A relation with one suppressed cell fixes it (z = 0: the attacker can compute the cell). A relation with two
suppressed cells ties them, z_i = ± z_j. Both kinds are substituted until none is left; equal relations are
kept once. Every z with A z = 0 is R u for exactly one u.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Ints


def tie(A: sp.csr_array) -> sp.csr_array:
    """R of shape (cells, classes): the row of a fixed cell is empty, the row of any other cell has
    one entry ±1. `A` has entries ±1.
    """
    n = A.shape[1]
    R = sp.csr_array(sp.eye_array(n))
    while True:
        reduced = sp.csr_array(A @ R)
        reduced.eliminate_zeros()
        short = _short(reduced)
        if not len(short):
            return R
        R = sp.csr_array(R @ _substitution(reduced, short))


def _short(A: sp.csr_array) -> Ints:
    """Rows that fix a class, or tie two classes one to one. A row such as 2 x = y, which forces parity, stays
    a row.
    """
    length = np.diff(A.indptr)
    two = np.flatnonzero(length == 2)
    first = A.indptr[two]
    even = two[np.abs(A.data[first]) == np.abs(A.data[first + 1])]
    return np.sort(np.concatenate([np.flatnonzero(length == 1), even])).astype(np.int64)


def _substitution(A: sp.csr_array, rows: Ints) -> sp.csr_array:
    """The ties and fixes of the short rows, as a matrix (classes before, classes after)."""
    n = A.shape[1]
    root, sign, fixed = list(range(n)), [1.0] * n, [False] * n

    def find(i: int) -> tuple[int, float]:
        s = 1.0
        while root[i] != i:
            s *= sign[i]
            i = root[i]
        return i, s

    for row in rows.tolist():
        at = slice(A.indptr[row], A.indptr[row + 1])
        cells, values = A.indices[at].tolist(), A.data[at].tolist()
        i, s = find(cells[0])
        if len(cells) == 1:
            fixed[i] = True
            continue
        j, t = find(cells[1])
        ratio = -values[0] * s / (values[1] * t)  # class of j = ratio · class of i
        if i == j:
            fixed[i] = fixed[i] or ratio != 1.0
        elif abs(ratio) == 1.0:
            root[j], sign[j] = i, ratio
            fixed[i] = fixed[i] or fixed[j]
    found = [find(i) for i in range(n)]
    kept = sorted({i for i, _ in found if not fixed[i]})
    position = {i: k for k, i in enumerate(kept)}
    entries = [(i, position[r], s) for i, (r, s) in enumerate(found) if r in position]
    if not entries:
        return sp.csr_array((n, 0))
    before, after, values = (np.array(column) for column in zip(*entries, strict=True))
    return sp.csr_array((values.astype(float), (before, after)), shape=(n, len(kept)))


def distinct_rows(A: sp.csr_array) -> Ints:
    """The rows that are not empty; of equal or opposite rows only one."""
    A = sp.csr_array(A)
    A.sort_indices()
    seen: dict[tuple[bytes, bytes], int] = {}
    for row in np.flatnonzero(np.diff(A.indptr) > 0).tolist():
        at = slice(A.indptr[row], A.indptr[row + 1])
        values = A.data[at] * np.sign(A.data[at][0])
        seen.setdefault((A.indices[at].tobytes(), values.tobytes()), row)
    return np.array(sorted(seen.values()), dtype=np.int64)
