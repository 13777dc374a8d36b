"""The dummy matrix of a small count rounding as a whole: the program never needs it so."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.rounding.small_count.dummy import Dummy


def matrix(dummy: Dummy) -> sp.csr_array:
    """X ([4] eq. 1), inner × published cells."""
    rows = dummy.rows(np.arange(len(dummy.cells)))
    there = rows >= 0
    indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    columns = rows[there]
    return sp.csr_array((np.ones(len(columns)), columns, indptr), shape=(len(dummy.cells), dummy.published))
