"""Relations of two-way tables, as the papers print them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def two_way(rows: int, columns: int) -> sp.csr_array:
    """Each row and each column: its parts less its total."""
    cells = np.arange(rows * columns).reshape(rows, columns)
    lines = [*cells, *cells.T]
    M = np.zeros((len(lines), cells.size))
    for i, line in enumerate(lines):
        M[i, line[:-1]], M[i, line[-1]] = 1, -1
    return sp.csr_array(M)
