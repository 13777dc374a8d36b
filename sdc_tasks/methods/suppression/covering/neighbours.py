"""Which classes stand beside each other: those that share a relation of the table."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Bools, Floats


class Neighbours:
    """The classes (k) of the relations M (m, k)."""

    def __init__(self, M: sp.csr_array) -> None:
        self._rows = sp.csr_array((np.ones(M.nnz), M.indices, M.indptr), shape=M.shape)

    def around(self, among: Bools, number: int, rng: np.random.Generator) -> Bools:
        """(k): about `number` of the classes `among`, the nearest to one that is drawn; of equally
        near ones, some that are drawn.
        """
        inside = np.zeros(len(among), dtype=bool)
        if not among.any():
            return inside
        inside[rng.choice(np.flatnonzero(among))] = True
        while True:
            beside: Floats = self._rows.T @ (self._rows @ inside.astype(float))
            wider = inside | (beside > 0)
            if (wider & among).sum() >= number or (wider == inside).all():
                break
            inside = wider
        last = rng.permutation(np.flatnonzero(wider & ~inside & among))
        inside[last[: max(0, number - int((inside & among).sum()))]] = True
        return inside & among
