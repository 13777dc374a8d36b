"""The bounds of S, the tables for which a publication passes, that are active in an attack (METHOD §9): by
how much the width of a primary grows with each of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.replay.public import Public
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import DUAL, FEASIBILITY
from sdc_tasks.solver.lp import LiveLP, Status


@dataclass(frozen=True)
class ActiveBounds:
    """The active bounds of a width. `width`: in the unit of the data. By how much it grows: `price`, with the
    slack of the aggregate cells `decided` (positions in the publication), as in an attack; `ends`,
    with the upper end of S (positive) or the lower one (negative) at a row of the needs. A cell or a
    row may be named on both sides.
    """

    width: float = field(repr=False)
    decided: Ints = field(repr=False)
    price: Floats = field(repr=False)
    ends: tuple[tuple[int, float], ...] = field(repr=False)


def emptied(
    public: Public, primaries: Ints, lower: Floats, upper: Floats, width: Floats
) -> ActiveBounds | None:
    """Why no table fits `public` between the ends of S; arrays (primaries,), unit of the data. Its
    `width` is minus the least sum of what is missing at these ends, each in `width`s that it is
    asked to have. None if tables fit.
    """
    n, m, rows, unit = len(public.cells), len(width), len(public.row_lower), public.unit
    pick = sp.csr_array((np.ones(m), (np.arange(m), np.searchsorted(public.cells, primaries))), shape=(m, n))
    slack = sp.csr_array(sp.vstack([sp.csr_array((rows, m)), sp.eye_array(m)]))
    cost = unit / np.maximum(width, FEASIBILITY * unit)  # no primary weighs more than its width allows
    least = LiveLP(
        np.concatenate([np.zeros(n), cost, cost]),
        sp.csr_array(sp.hstack([sp.vstack([public.A, pick]), slack, -slack])),
        np.append(public.row_lower, lower / unit),
        np.append(public.row_upper, upper / unit),
        np.concatenate([public.problem.lb[public.cells] / unit, np.zeros(2 * m)]),
        np.full(n + 2 * m, np.inf),
    ).solve()
    if least.status is not Status.OPTIMAL or least.objective <= 0:
        return None
    price, moved = -least.dual[:rows], -least.dual[rows:]
    priced = (public.decided >= 0) & (np.abs(price) > DUAL)
    ends = tuple((int(row), float(moved[row])) for row in np.flatnonzero(np.abs(moved) > DUAL))
    return ActiveBounds(-float(least.objective), public.decided[priced], price[priced], ends)
