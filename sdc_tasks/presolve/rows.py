"""Relations that say something, each once."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Ints

DIGITS = 9  # after the point, of entries that are scaled so that the smallest is 1


def distinct_rows(A: sp.csr_array, *, exact: bool = False) -> Ints:
    """The rows of A (m, n) that are not empty; of rows that are multiples of each other only the first.

    `exact`: only equal and opposite rows count as such, without any rounding.
    """
    A = sp.csr_array(A)
    A.eliminate_zeros()
    A.sort_indices()
    seen: dict[tuple[bytes, bytes], int] = {}
    for row in np.flatnonzero(np.diff(A.indptr) > 0).tolist():
        at = slice(A.indptr[row], A.indptr[row + 1])
        values = A.data[at]
        # By the smallest entry: scaled by a large one, small entries would vanish in the rounding.
        scale = values[np.abs(values).argmin()]
        scaled = values * np.sign(values[0]) if exact else np.round(values / scale, DIGITS)
        seen.setdefault((A.indices[at].tobytes(), (scaled + 0.0).tobytes()), row)
    return np.array(sorted(seen.values()), dtype=np.int64)
