"""Safe patterns of a reduced problem: grow one item by item, then give back what it does not need ([2] §4.2 with linear programs).

For an item (class p, side, need) that the hidden classes S do not meet yet, in u = z / need:

    min  Σ_{i∉S} price_i |u_i| / min(room_i, 1)      M u = 0,   u_p = ±1,   |u_i| ≤ room_i

`room_i` is what bounds leave class i, in needs; dividing by it stands in for the fixed charge. First with the smaller of both rooms, so
that z and −z are both deviations and one direction meets both sides; else for the side alone. What moves is hidden. `price` is the cost for
a first pattern; with a solution y* of the master problem, cost · (1 − y*) follows its lead.

Every direction is a *witness* for all items that its extension to the bounds meets; witnesses are kept from one pattern to the next.
To give back: the dearest hidden class first, if the items whose witnesses all used it find others among what stays hidden.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.suppression.attackers import MET, MOST_NEEDS
from sdc_tasks.methods.suppression.reduce import Reduced
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.solver.lp import LiveLP

STILL = 1e-7  # of a need: moves below the solver's tolerance are rounding
DEAREST = 1e3  # the most that little room multiplies a price by
MEMORY = 20_000_000  # numbers that the witnesses may take


class Cover:
    """Grows and prunes patterns of one reduced problem, in one live program with all witnesses that were ever found."""

    def __init__(self, table: Reduced) -> None:
        self.table, self.programs = table, 0
        k = len(table.cost)
        self._room = max(64, MEMORY // max(k, 1))
        self._z = np.zeros((0, k))
        self._meets = np.zeros((0, len(table.item_need)), dtype=bool)
        self._fresh_z: list[Floats] = []
        self._fresh_meets: list[Bools] = []
        self._columns = np.arange(2 * k)
        zeros = np.zeros(table.M.shape[0])
        self._lp = LiveLP(np.zeros(2 * k), sp.csr_array(sp.hstack([table.M, -table.M])), zeros, zeros, np.zeros(2 * k), np.ones(2 * k))

    def grown(self, start: Bools, price: Floats) -> Bools | None:
        """A pattern ⊇ start that meets every item; None where some item has no direction at all."""
        hidden = start | self.table.forced
        met = self._met(hidden)
        scale = float(np.median(price[price > 0])) if (price > 0).any() else 1.0
        for item in range(len(self.table.item_need)):
            if met[item]:
                continue
            u = self._direction(item, np.ones(len(hidden), dtype=bool), hidden, price / scale)
            if u is None:
                return None
            grown = hidden | (u != 0)
            met |= self._fresh_meets[-1]
            if (grown != hidden).any() and len(self._z):
                met |= self._met(grown)
            hidden = grown
        return hidden

    def pruned(self, pattern: Bools, most: int = 8) -> Bools:
        """A pattern ⊆ pattern that meets every item: classes given back where at most `most` items need new witnesses."""
        hidden = pattern.copy()
        self._gather()
        inside = self._inside(hidden)
        secondary = np.flatnonzero(hidden & ~self.table.forced)
        free = np.zeros(len(hidden))
        for cell in secondary[np.argsort(-self.table.cost[secondary], kind="stable")]:
            kept = inside & (self._z[:, cell] == 0)
            lost = np.flatnonzero(self._meets[inside].any(axis=0) & ~self._meets[kept].any(axis=0))
            allowed = hidden.copy()
            allowed[cell] = False
            if len(lost) > most or not self._mended(lost, allowed, free + self.table.cost):
                continue
            hidden = allowed
            self._gather()
            inside = self._inside(hidden)
        return hidden

    def _mended(self, lost: Ints, allowed: Bools, price: Floats) -> bool:
        met = np.zeros(len(self.table.item_need), dtype=bool)
        scale = float(np.median(price[price > 0])) if (price > 0).any() else 1.0
        for item in lost:
            if not met[item]:
                u = self._direction(int(item), allowed, self.table.forced, price / scale)
                if u is None:
                    return False
                met |= self._fresh_meets[-1]
        return True

    def _gather(self) -> None:
        """New witnesses join the others; the oldest go where there are too many."""
        if self._fresh_z:
            self._z = np.vstack([self._z, *self._fresh_z])
            self._meets = np.vstack([self._meets, *self._fresh_meets])
            self._fresh_z, self._fresh_meets = [], []

    def forget(self) -> None:
        """Between two patterns: keeps the newest witnesses that there is memory for."""
        self._gather()
        self._z, self._meets = self._z[-self._room :], self._meets[-self._room :]

    def _inside(self, hidden: Bools) -> Bools:
        return np.asarray((self._z[:, ~hidden] == 0).all(axis=1))

    def _met(self, hidden: Bools) -> Bools:
        """(items): those that a kept witness within a pattern meets."""
        if not len(self._z):
            return np.zeros(len(self.table.item_need), dtype=bool)
        return np.asarray(self._meets[self._inside(hidden)].any(axis=0))

    def _direction(self, item: int, allowed: Bools, charged_not: Bools, price: Floats) -> Floats | None:
        """The cheapest deviation that meets an item, kept as a witness."""
        table = self.table
        p, side, need = int(table.item_class[item]), int(table.item_side[item]), float(table.item_need[item])
        most = 1.0 if table.network else MOST_NEEDS
        above, below = table.above / need, table.below / need
        both = np.minimum(above, below)
        for sign, rise, fall in ((side or 1, both, both), (1, above, below), (-1, above, below)):
            if rise is not both and side not in (0, sign):
                continue
            u = self._solved(p, sign, 0.5 if side == 0 and rise is both else 1.0, rise, fall, allowed, charged_not, price, most)
            if u is not None:
                meets = self._items_met(u * need)
                if meets[item]:
                    self._fresh_z.append(u * need)
                    self._fresh_meets.append(meets)
                    return u
        return None

    def _solved(
        self, p: int, sign: int, far: float, rise: Floats, fall: Floats, allowed: Bools, free: Bools, price: Floats, most: float
    ) -> Floats | None:  # fmt: skip
        self.programs += 1
        room = np.maximum(np.minimum(rise, fall), 0) if rise is fall else np.maximum(rise, fall)
        cost = np.where(free, 0.0, price / np.clip(room, 1 / DEAREST, 1.0))
        up = np.where(allowed & (rise > STILL), np.minimum(rise, most), 0.0)
        down = np.where(allowed & (fall > STILL), np.minimum(fall, most), 0.0)
        if (up if sign > 0 else down)[p] < far * (1 - STILL):
            return None
        low = np.zeros(2 * len(up))
        moved, still = (up, down) if sign > 0 else (down, up)
        moved[p], still[p] = far, 0.0
        low[p if sign > 0 else p + len(up)] = far
        self._lp.set_cost(self._columns, np.concatenate([cost, cost]))
        self._lp.set_bounds(self._columns, low, np.concatenate([up, down]))
        result = self._lp.solve(reduced=False)
        if not result.status.has_point:
            return None
        u = result.x[: len(up)] - result.x[len(up) :]
        return np.where(np.abs(u) > STILL, u, 0.0)

    def _items_met(self, z: Floats) -> Bools:
        """(items): those that the line through a deviation meets at its ends."""
        table = self.table
        rises, falls = z > 0, z < 0
        ahead = min(np.min(table.above[rises] / z[rises], initial=np.inf), np.min(table.below[falls] / -z[falls], initial=np.inf))
        back = min(np.min(table.below[rises] / z[rises], initial=np.inf), np.min(table.above[falls] / -z[falls], initial=np.inf))
        error = float(np.abs(table.M @ z).max(initial=0.0))
        moved = z[table.item_class]
        size = np.abs(moved)
        sure = (size * 1e-6 > error) & (size > 0)
        size = np.where(sure, size, 1.0)
        up = np.where(sure, size * np.where(moved > 0, ahead, back), 0.0)
        down = np.where(sure, size * np.where(moved > 0, back, ahead), 0.0)
        reach = np.where(table.item_side > 0, up, np.where(table.item_side < 0, down, up + down))
        return np.asarray(reach >= table.item_need * MET)
