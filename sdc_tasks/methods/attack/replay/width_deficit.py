"""What a publication that leaves too little would need (METHOD §9): by how much, and
which aggregate cells would give it.

How wide a primary is in S (`residual.py`) is a concave function of the slacks that the publication leaves: S
grows with the published intervals and with W, and W with the published intervals. So the multipliers of the
attacks on S, with those of the attacks that end W at the ends of S, are a tangent: one more inequality for
the search, as an attack that succeeds gives one. Some width also comes from levels that grow with W, and that
is counted. A tangent is a hint for a search, not a proof: the test decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sdc_tasks.methods.attack.replay.active_bounds import ActiveBounds
from sdc_tasks.methods.attack.replay.residual import ResidualUncertainty, Window
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY

ROUNDED_STEPS = 2  # steps of a value by which rounding to steps may have made S narrower


@dataclass(frozen=True)
class WidthDeficit:
    """One primary (row of the needs; −1 for all together) that is narrower than the `need` by `missing`,
    unit of the data. `decided`, `price`: as in an attack, by how much the width grows per unit of slack
    given to these aggregate cells.
    """

    primary: int
    need: float = field(repr=False)
    missing: float = field(repr=False)
    decided: Ints = field(repr=False)
    price: Floats = field(repr=False)


def width_deficits(found: ResidualUncertainty, narrow: Bools, step: Floats) -> list[WidthDeficit]:
    """What `narrow` primaries lack: between the ends of S alone, or in S with all others; where S is empty,
    what all lack together. `step` (primaries,): as in `residual_uncertainty`.
    """
    window = found.window
    if window is None:
        return []
    none, room = np.zeros(0, dtype=np.int64), window.upper - window.lower
    alone = (room < window.width) & narrow
    bounds = {
        int(row): ActiveBounds(float(room[row]), none, np.zeros(0), ((int(row), 1.0), (int(row), -1.0)))
        for row in np.flatnonzero(alone)
    }
    bounds |= {
        row: active
        for row, active in window.active_bounds.items()
        if (narrow[row] and not alone[row] if row >= 0 else not alone.any())
    }
    return [_deficit(window, row, active, step) for row, active in bounds.items()]


def _deficit(window: Window, row: int, active: ActiveBounds, step: Floats) -> WidthDeficit:
    at, prices = [active.decided], [active.price]
    for end, weight in (*active.ends, *([(row, -_more_needed(window, row))] if row >= 0 else [])):
        if attack := window.ended.get((1 if weight > 0 else -1, end)):
            at.append(attack.decided)
            prices.append(abs(weight) * _grows(window, end, attack.side) * attack.price)
    need, asked = (
        (float(window.width[row]), float(window.width[row] + ROUNDED_STEPS * step[row]))
        if row >= 0
        else (1.0, 0.0)
    )
    return WidthDeficit(
        row, need * (1 + FEASIBILITY), asked - active.width, np.concatenate(at), np.concatenate(prices)
    )


def _grows(window: Window, row: int, side: int) -> float:
    """How much an end of S moves with that of W."""
    slope, least = float(window.level.slope[row]), float(window.level.least[row])
    end = float(window.upper[row] if side > 0 else window.lower[row])
    if slope * end <= least:
        return 1.0
    return 1 / (1 + slope) if side > 0 else 1 / max(1 - slope, FEASIBILITY)


def _more_needed(window: Window, row: int) -> float:
    """How much more width is asked per unit that S grows at its upper end: both levels grow with
    the value.
    """
    slope, least = float(window.level.slope[row]), float(window.level.least[row])
    return 2 * slope if slope * float(window.upper[row]) > least else 0.0
