"""Safe patterns of a reduced problem: a pattern grows item by item, then unneeded classes are opened again
([2] §4.2 with linear programs).

For an item (class p, side, need) that the hidden classes S do not meet yet, in u = z / need:

    min  Σ_{i∉S} price_i |u_i| / min(room_i, 1)      M u = 0,   u_p = ±1,   |u_i| ≤ room_i

`room_i` is the room of class i within its bounds, in needs; the division by it approximates the fixed charge.
The first attempt uses the smaller of both rooms, so that z and −z are both deviations and one direction meets
both sides; the second one treats the side alone. Every class that moves is hidden. For a first pattern
`price` is the cost; with a solution y* of the master problem, it is cost · (1 − y*).

Every direction is a *witness* for all items that its extension to the bounds meets; witnesses are kept from
one pattern to the next. Pruning opens hidden classes, the most expensive first, if every item whose witnesses
all used the class has another witness without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.suppression.pattern.attackers import MOST_NEEDS
from sdc_tasks.methods.suppression.pattern.presolve import ReducedProblem
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY, SOLVER
from sdc_tasks.optimise import CheapestWitness

GRANTED = 1 - FEASIBILITY / 2  # of a level: what counts as met
DEAREST = 1e3  # the most that a small capacity multiplies a cost by
MEMORY = 200_000_000  # bytes that the witnesses may take from one pattern to the next
JOINT = 6  # programs for all items at once, before each has its own
AHEAD = 1.5  # needs: how far a joint program moves a class that an item is about


class Directions(Protocol):
    """A way to find deviations that move only some classes."""

    def cheapest(
        self, p: int, sign: int, far: float, up: Floats, down: Floats, cost: Floats
    ) -> Floats | None:
        """(k): a u with u_p = sign · far, M u = 0, −down ≤ u ≤ up and a low Σ cost |u|; None if none is
        found.
        """


class LinearDirections:
    """Linear programs over some classes find the cheapest u."""

    def __init__(self, table: ReducedProblem, classes: Ints) -> None:
        self.classes, k = classes, len(table.cost)
        M = sp.csr_array(sp.csc_array(table.M)[:, classes])
        M = sp.csr_array(M[np.flatnonzero(np.diff(M.indptr))])
        self._place = np.full(k, -1)
        self._place[classes] = np.arange(len(classes))
        self._programs = CheapestWitness(M)

    def cheapest(
        self, p: int, sign: int, far: float, up: Floats, down: Floats, cost: Floats
    ) -> Floats | None:
        """As `Directions.cheapest`."""
        mine = self.classes
        found = self._programs.cheapest(int(self._place[p]), sign, far, (down[mine], up[mine]), cost[mine])
        if found is None:
            return None
        u = np.zeros(len(up))
        u[mine] = found
        return u

    def furthest(
        self, targets: Ints, side: int, need: Floats, above: Floats, below: Floats, lone: Bools
    ) -> Floats | None:
        """(k): z with Σ side · z_p / need_p of the targets as large as can be, each up to
        `AHEAD` needs; lone classes stay.
        """
        classes = self.classes
        unit = float(np.median(need))
        far = MOST_NEEDS * float(need.max())
        up, down = np.where(lone, 0.0, np.minimum(above, far)), np.where(lone, 0.0, np.minimum(below, far))
        np.minimum.at(up if side > 0 else down, targets, AHEAD * need)
        gain = np.zeros(len(above))
        np.maximum.at(gain, targets, 1.0 / need)
        room = down[classes] / unit, up[classes] / unit
        found = self._programs.farthest(side * gain[classes] / gain.max(), room)
        if found is None:
            return None
        z = np.zeros(len(above))
        z[classes] = found * unit
        return np.where(np.abs(z) > SOLVER * unit, z, 0.0)


def _scale(price: Floats) -> float:
    return float(np.median(price[price > 0])) if (price > 0).any() else 1.0


class _Witnesses:
    """Which classes every witness moves and which items it meets, as bits."""

    def __init__(self, classes: int, items: int) -> None:
        self._items, self._used = items, 0
        self._moves = np.zeros((64, (classes + 7) // 8), dtype=np.uint8)
        self._meets = np.zeros((64, (items + 7) // 8), dtype=np.uint8)

    def add(self, moves: Bools, meets: Bools) -> None:
        if self._used == len(self._moves):
            self._moves = np.concatenate([self._moves, np.zeros_like(self._moves)])
            self._meets = np.concatenate([self._meets, np.zeros_like(self._meets)])
        self._moves[self._used], self._meets[self._used] = np.packbits(moves), np.packbits(meets)
        self._used += 1

    def within(self, hidden: Bools) -> Ints:
        """The rows of witnesses that move only hidden classes."""
        return np.flatnonzero(~(self._moves[: self._used] & np.packbits(~hidden)).any(axis=1))

    def without(self, rows: Ints, cell: int) -> Ints:
        """The rows among `rows` that do not move a class."""
        return np.asarray(rows[(self._moves[rows, cell // 8] & (128 >> cell % 8)) == 0])

    def met(self, rows: Ints) -> Bools:
        """(items): those that one of the rows meets."""
        found = (
            np.bitwise_or.reduce(self._meets[rows], axis=0)
            if len(rows)
            else np.zeros(self._meets.shape[1], dtype=np.uint8)
        )
        return np.unpackbits(found, count=self._items).astype(bool)

    def forget(self) -> None:
        """Keeps the newest witnesses, as many as the memory limit allows."""
        most = max(64, MEMORY // max(1, self._moves.shape[1] + self._meets.shape[1]))
        first = max(0, self._used - most)
        self._moves, self._meets = self._moves[first:].copy(), self._meets[first:].copy()
        self._used -= first


class Cover:
    """Grows and prunes patterns of one reduced problem, with the witnesses found so far."""

    def __init__(
        self,
        table: ReducedProblem,
        directions: Callable[[ReducedProblem, Ints], Directions] = LinearDirections,
    ) -> None:
        self.table, self.programs, self._directions = table, 0, directions
        k = len(table.cost)
        self._witnesses = _Witnesses(k, len(table.item_need))
        self._everything = directions(table, np.arange(k))

    def grown(self, start: Bools, price: Floats, over: Callable[[], bool]) -> Bools | None:
        """A pattern ⊇ start that meets every item; None if an item has no direction at
        all, or if the run is `over` first.
        """
        hidden = start | self.table.forced
        everything = np.ones(len(hidden), dtype=bool)
        self._together(hidden)
        met = self.met(hidden)
        price = price / _scale(price)
        for item in range(len(self.table.item_need)):
            if met[item]:
                continue
            if over():
                return None
            found = self._direction(self._everything, item, everything, hidden, price)
            if found is None:
                return None
            moves, meets = found
            met |= meets
            if (moves & ~hidden).any():
                hidden = hidden | moves
                met |= self.met(hidden)
        return hidden

    def pruned(self, pattern: Bools, over: Callable[[], bool], most: int = 8) -> Bools:
        """A smaller pattern that meets every item. It opens a class if at most `most` items need
        new witnesses; stops when `over`.
        """
        hidden = pattern.copy()
        rows = self._witnesses.within(hidden)
        met = self._witnesses.met(rows)
        secondary = np.flatnonzero(hidden & ~self.table.forced)
        price = self.table.cost / _scale(self.table.cost)
        program = self._directions(self.table, np.flatnonzero(hidden))
        for cell in secondary[np.argsort(-self.table.cost[secondary], kind="stable")]:
            if over():
                break
            kept = self._witnesses.without(rows, int(cell))
            lost = np.flatnonzero(met & ~self._witnesses.met(kept))
            allowed = hidden.copy()
            allowed[cell] = False
            if len(lost) <= most and self._mended(program, lost, allowed, price):
                hidden = allowed
                rows = self._witnesses.within(hidden)
                met = self._witnesses.met(rows)
        return hidden

    def forget(self) -> None:
        """Called between two patterns: drops old witnesses if there are too many."""
        self._witnesses.forget()

    def _together(self, hidden: Bools) -> None:
        """Finds witnesses within a pattern for many items at once: max Σ ± u_p / need_p over the items not
        met yet.
        """
        table, program = self.table, LinearDirections(self.table, np.flatnonzero(hidden))
        for turn in range(JOINT):
            open_items = np.flatnonzero(~self.met(hidden) & ~table.lone[table.item_class])
            side = 1 if turn % 2 == 0 else -1
            mine = open_items[table.item_side[open_items] != -side]
            if not len(mine):
                continue
            self.programs += 1
            z = program.furthest(
                table.item_class[mine], side, table.item_need[mine], table.above, table.below, table.lone
            )
            if z is not None:
                self._witnesses.add(z != 0, self._items_met(z))

    def _mended(self, program: Directions, lost: Ints, allowed: Bools, price: Floats) -> bool:
        met = np.zeros(len(self.table.item_need), dtype=bool)
        for item in lost:
            if not met[item]:
                found = self._direction(program, int(item), allowed, self.table.forced, price)
                if found is None:
                    return False
                met |= found[1]
        return True

    def met(self, hidden: Bools) -> Bools:
        """(items): those that a kept witness within a pattern meets."""
        return self._witnesses.met(self._witnesses.within(hidden))

    def _direction(
        self, program: Directions, item: int, allowed: Bools, free: Bools, price: Floats
    ) -> tuple[Bools, Bools] | None:
        """What the cheapest deviation that meets an item by moving allowed classes moves and
        meets; it is kept as a witness.
        """
        table = self.table
        p, side, need = int(table.item_class[item]), int(table.item_side[item]), float(table.item_need[item])
        most = 1.0 if table.network else MOST_NEEDS
        above, below = table.above / need, table.below / need
        both = np.minimum(above, below)
        tries = [(side or 1, both, both, 0.5 if side == 0 else 1.0)]
        tries += [
            (sign, above, below, 1.0) for sign in (1, -1) if side in (0, sign) and (above != below).any()
        ]
        for sign, rise, fall, far in tries:
            self.programs += 1
            room = np.maximum(np.maximum(rise, fall), 1 / DEAREST)
            cost = np.where(free, 0.0, price / np.minimum(room, 1.0))
            mine = allowed & ~table.known(item)
            up = np.where(mine & (rise > SOLVER), np.minimum(rise, most), 0.0)
            down = np.where(mine & (fall > SOLVER), np.minimum(fall, most), 0.0)
            u = program.cheapest(p, sign, far, up, down, cost)
            if u is None:
                continue
            meets = self._items_met(u * need)
            if meets[item]:
                self._witnesses.add(u != 0, meets)
                return u != 0, meets
        return None

    def _items_met(self, z: Floats) -> Bools:
        """(items): those that the line through a deviation meets at its ends."""
        table = self.table
        rises, falls = z > 0, z < 0
        ahead = min(
            np.min(table.above[rises] / z[rises], initial=np.inf),
            np.min(table.below[falls] / -z[falls], initial=np.inf),
        )
        back = min(
            np.min(table.below[rises] / z[rises], initial=np.inf),
            np.min(table.above[falls] / -z[falls], initial=np.inf),
        )
        error = float(np.abs(table.M @ z).max(initial=0.0))
        moved = z[table.item_class]
        size = np.abs(moved)
        sure = (size * FEASIBILITY > error) & (size > 0)
        size = np.where(sure, size, 1.0)
        up = np.where(sure, size * np.where(moved > 0, ahead, back), 0.0)
        down = np.where(sure, size * np.where(moved > 0, back, ahead), 0.0)
        reach = np.where(table.item_side > 0, up, np.where(table.item_side < 0, down, up + down))
        return np.asarray((reach >= table.item_need * (1 - FEASIBILITY)) & table.open_to(z != 0))
