"""A table of counts while it is rounded: the cells rounded so far, and what the published cells lack."""

from __future__ import annotations

import numpy as np

from sdc_tasks.methods.rounding.small_count.cells import Codes
from sdc_tasks.methods.rounding.small_count.dummy import Dummy
from sdc_tasks.model.table import Bools, Floats, Ints


class Filling:
    """ỹ (n,) of all inner cells and the difference z − z̃ (P,) of all published cells, changed together.

    A rounded inner cell holds its count rounded down to a multiple of the base, or one base more.
    """

    def __init__(self, dummy: Dummy, base: int, max_round: int, start: Ints) -> None:
        self.dummy, self.base, self.max_round = dummy, base, max_round
        self.y = start.copy()
        self.floor: Ints = dummy.cells.y - dummy.cells.y % base
        self.rounded = np.zeros(len(self.y), dtype=bool)
        self.lack: Floats = np.zeros(dummy.published + 1)  # the last one stands for "in no published cell"
        if not np.array_equal(start, dummy.cells.y):
            self.lack[:-1] = dummy.totals(dummy.cells.y - start)

    def move(self, chosen: Ints, rows: Codes, amounts: Ints) -> None:
        """Adds `amounts` (chosen,) to the chosen inner cells. `rows` are their rows of X."""
        self.y[chosen] += amounts
        np.subtract.at(self.lack, rows.ravel(), np.repeat(amounts.astype(np.float64), rows.shape[1]))
        self.lack[-1] = 0.0

    def gradient(self, rows: Codes) -> Floats:
        """c = X (z − z̃) for these rows of X."""
        return np.asarray(self.lack[rows].sum(axis=1))

    def is_small(self, numbers: Codes | Ints, less: int = 0, zeros: bool = False) -> Bools:
        """Whether these published cells are sensitive when lowered by `less`, or, with
        `zeros`, empty. −1 is never sensitive.
        """
        now = self.dummy.z[numbers] - self.lack[numbers].astype(np.int64) - less
        return np.asarray((self.is_sensitive(now) | (zeros & (now == 0))) & (numbers >= 0))

    def is_sensitive(self, z: Ints) -> Bools:
        """Mask of values that must not be published: 1 … the largest to be rounded, except multiples of the
        base.
        """
        return np.asarray((z > 0) & (z <= self.max_round) & (z % self.base != 0))
