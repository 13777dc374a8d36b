"""Joint LPs: all open requirements of a front are pushed at once, in random senses.

Parts of the table before the whole (`blocks.py`); first inside the box |z| ≤ a, where the mirror image −z is a witness too.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.blocks import LARGE
from sdc_tasks.methods.attack.front import DOWN, SLIDE, UP, Front
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.solver.lp import LiveLP, Status

ROUNDS = 12
FEW = 10  # open requirements that are not worth a joint LP
NOISE = 1e-9  # units: an interior point leaves no cell quite at the truth


def jointly(front: Front, rng: np.random.Generator) -> int:
    """Closes what joint LPs can; returns how many LPs were solved."""
    return sum(_at_all_levels(front, knowers, rng) for knowers in _circles(front))


def _circles(front: Front) -> Iterator[Bools]:
    """Groups of attackers to be fooled by one point. Those who act alone: all, then halves, so that any two are once apart.

    A point that fools the holder of a cell cannot protect that cell; in the halves without him it can.
    """
    n = front.open.shape[1]
    yield np.ones(n, dtype=bool)
    if front.alone:
        fixed = front.held[front.held_lower == front.held_upper]
        own = np.flatnonzero(np.isin(front.column, fixed))
        for bit in range(int(np.ceil(np.log2(max(n, 1))))):
            for value in (0, 1):
                half = (np.arange(n) >> bit) & 1 == value
                if front.open[own][:, half].any(axis=1).sum() > FEW:
                    yield half


def _at_all_levels(front: Front, knowers: Bools, rng: np.random.Generator) -> int:
    """Rounds of max Σ σ_p z_p / need_p over the open requirements, z_p held at its need; rounds inside the mirror box first."""
    if not front.levels:
        return 0
    bounds = front.imposed(knowers) if front.alone else front.bounds
    lone = ~np.isin(front.row, front.row[front.side != SLIDE])  # a sliding level that no other of its cell brings along
    pushed = ((front.side != SLIDE) | lone) & (front.sign != 0) & (bounds[0] < bounds[1])[front.core]
    solved = 0
    for level in front.levels:
        label = level.label(len(bounds[0]))[front.core]
        for number, columns in enumerate(level.parts):
            solved += _in_part(front, knowers, bounds, columns, pushed & (label == number), level.interior, rng)
    return solved


def _in_part(
    front: Front, knowers: Bools, bounds: tuple[Floats, Floats], columns: Ints, mine: Bools, interior: bool,
    rng: np.random.Generator,
) -> int:  # fmt: skip
    """Joint rounds in which only these columns of the core move."""

    def waiting() -> Bools:
        return np.asarray(mine & front.open[:, knowers].any(axis=1))

    few = FEW if len(columns) <= 1.5 * LARGE else 0  # where an own LP is dear, joint ones go on to the last
    if int(waiting().sum()) <= few:
        return 0
    system = front.system
    low, high = system.row_lower[system.core_rows], system.row_upper[system.core_rows]
    told = np.isfinite(low) | np.isfinite(high)
    columns = columns[_free(sp.csr_array(front.by_column[:, columns]), (low == 0) & (high == 0))]
    if not len(columns):
        return 0
    A = sp.csr_array(front.by_column[:, columns])
    rows = np.flatnonzero(told & (np.diff(A.indptr) > 0))
    local = np.full(system.core.shape[1], -1)
    local[columns] = np.arange(len(columns))
    mine = mine & (local[front.core] >= 0)
    lower, upper = bounds[0][columns], bounds[1][columns]
    live = LiveLP(np.zeros(len(columns)), sp.csr_array(A[rows]), low[rows], high[rows], lower, upper)
    if interior:
        live.interior()
    everything = np.arange(len(columns))
    for mirrored in (True, False):
        box = (np.maximum(lower, -upper), np.minimum(upper, -lower)) if mirrored else (lower, upper)
        for _ in range(ROUNDS):
            if (before := int((open_ := waiting()).sum())) <= few:
                break
            sense, need = _push(front, np.flatnonzero(open_), local, len(columns), rng)
            live.set_cost(everything, -sense / need)
            live.set_bounds(
                everything,
                np.where(sense == DOWN, np.maximum(box[0], -need), box[0]),
                np.where(sense == UP, np.minimum(box[1], need), box[1]),
            )
            result = live.solve()
            if result.status is not Status.OPTIMAL:
                break
            u = np.zeros(system.core.shape[1])
            u[columns] = np.where(np.abs(result.x) > NOISE, result.x, 0.0)
            front.count(system.R @ u)
            if waiting().sum() > 0.85 * before:
                break
    return live.solves


def _push(front: Front, items: Ints, local: Ints, n: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """(sense, need) of each of n columns. Cells tied to each other are pushed together, as far as the neediest of them asks."""
    rise, fall = np.zeros(n), np.zeros(n)
    direction = front.side[items] * front.sign[items]
    for way, target in ((UP, rise), (DOWN, fall)):
        chosen = items[(direction == way) | (front.side[items] == SLIDE)]
        np.maximum.at(target, local[front.core[chosen]], front.need[chosen])
    sense = np.where((rise > 0) & (fall > 0), rng.choice([DOWN, UP], n), np.where(rise > 0, UP, np.where(fall > 0, DOWN, 0)))
    return sense, np.maximum(np.where(sense == UP, rise, fall), 1e-12)


def _free(A: sp.csr_array, equal: Bools) -> Bools:
    """Columns that can move at all: those that an equation with no other column fixes are taken out, again and again."""
    alive = np.ones(A.shape[1], dtype=bool)
    size = sp.csr_array(abs(A[equal]))
    while True:
        alone = np.asarray(size @ alive.astype(float)) == 1
        fixed = (np.asarray(size[alone].sum(axis=0)).ravel() > 0) & alive
        if not fixed.any():
            return alive
        alive &= ~fixed
