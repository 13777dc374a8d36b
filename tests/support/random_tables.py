"""Random two-dimensional tables of any size, after the generator that [2] Table 4 was measured with (Castro
2007).

Inner values are whole numbers from 1 to 1 000, all equally likely; the last row and the last column are the
totals. Sensitive cells are drawn among the inner ones, without repetition; the level of each, the same on
both sides, is 5 to 20 % of its value. The same seed gives the same table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Floats, Ints

LARGEST = 1000
PERCENT = (5, 20)  # of the value: the smallest and the largest level


class RandomTable(NamedTuple):
    """A a = 0, lb ≤ a ≤ ub, weights w (all 1), and the levels of the sensitive cells."""

    A: sp.csr_array
    a: Floats
    lb: Floats
    ub: Floats
    w: Floats
    sensitive: Ints
    lpl: Floats
    upl: Floats


def random_2d(rows: int, columns: int, sensitive: int, seed: int) -> RandomTable:
    """`rows` × `columns` cells, totals included, and rows + columns relations."""
    if rows < 3 or columns < 3 or not 0 <= sensitive <= (rows - 1) * (columns - 1):
        raise ValueError(
            "a table needs two inner rows and columns at least, and no more sensitive cells than inner ones"
        )
    rng = np.random.default_rng(seed)
    table = np.zeros((rows, columns))
    table[:-1, :-1] = rng.integers(1, LARGEST + 1, (rows - 1, columns - 1))
    table[-1] = table.sum(axis=0)
    table[:, -1] = table.sum(axis=1)
    a = table.ravel()
    cells = np.arange(a.size).reshape(rows, columns)
    chosen = np.sort(rng.choice(cells[:-1, :-1].ravel(), sensitive, replace=False))
    level = a[chosen] * rng.integers(PERCENT[0], PERCENT[1] + 1, sensitive) / 100
    return RandomTable(
        A=_sums(rows, columns),
        a=a,
        lb=np.zeros(a.size),
        ub=np.full(a.size, np.inf),
        w=np.ones(a.size),
        sensitive=chosen,
        lpl=level,
        upl=level.copy(),
    )


def _sums(rows: int, columns: int) -> sp.csr_array:
    """Each row, then each column: its parts less its total."""

    def line(length: int) -> sp.csr_array:
        return sp.csr_array(np.append(np.ones(length - 1), -1.0)[None, :])

    across = sp.kron(sp.eye_array(rows), line(columns))
    down = sp.kron(line(rows), sp.eye_array(columns))
    return sp.csr_array(sp.vstack([across, down], format="csr"))
