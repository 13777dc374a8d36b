"""Arrays over the cells of a table from the few cells that have a number."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.cta.model import CtaProblem, table_problem
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.weights import Distance


def spread(n: int, cells: Ints, *numbers: Floats) -> list[Floats]:
    """(n) each: the numbers at these cells, 0 elsewhere."""
    found = []
    for each in numbers:
        array = np.zeros(n)
        array[cells] = each
        found.append(array)
    return found


def mask(n: int, cells: Ints) -> Bools:
    """(n): whether a cell is one of these."""
    return np.isin(np.arange(n), cells)


def adjusted(
    M: sp.csr_array,
    a: Floats,
    lb: Floats,
    ub: Floats,
    w: Floats,
    sensitive: Ints,
    lpl: Floats,
    upl: Floats,
    spl: Floats,
    fixed: Bools | None = None,
    distance: Distance = Distance.L1,
) -> CtaProblem:
    """The CTA problem of a table that is drawn by arrays; `lpl upl spl` are levels of the sensitive cells."""
    n = len(a)
    primary = mask(n, sensitive)
    stays = np.zeros(n, dtype=bool) if fixed is None else fixed & ~primary
    levels = spread(n, sensitive, lpl, upl, spl)
    return table_problem(SensitiveTable(M, a, lb, ub, *levels, primary, fixed=stays, rhs=M @ a), w, distance)
