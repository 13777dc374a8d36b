"""Complementary suppression of one table by linear programs; it proves that every primary cell is protected.

Source: the general scheme of [2] §4.2 (for each primary find the cheapest set of cells that moves it
by its level, and suppress that set), with a linear program instead of network flows, so that it
accepts any relations `M a = 0`.

For a primary p that is not yet protected by the cells already suppressed (S), with level l
= max(lpl_p, upl_p) and z = l·u:

    min  Σ_{i∉S} c_i |u_i|     M u = 0,   u_p = 1,   |u_i| ≤ a_i / l          c_i = w_i / min(a_i / l, 1)

`w_i` is the loss of suppressing cell i; c_i is the linear stand-in for that fixed charge (a cell too small to
carry the whole move is dearer per unit). Because |z| ≤ a both a + z and a − z are tables of non-negative
cells: one direction z protects both sides. Only where this is infeasible each side gets its own program (u_p
= ±1, falling cells bounded by a_i / l, rising ones free).

Every cell that z moves is suppressed. Then z is a *witness*: let t⁺ be the longest step with a + t z ≥ 0, and
t⁻ the longest one with a − t z ≥ 0. Nobody can exclude any value of cell q from a_q − t⁻ z_q to a_q + t⁺ z_q
(z_q > 0; sides exchanged otherwise). Witnesses of other cells settle most primaries. Levels are treated in
descending order, because large moves also serve small levels.

Clean-up: secondary cells are opened again, the most valuable first, if the few primaries whose witnesses use
them have other witnesses. Empty cells are public zeros: they never move and are never suppressed. The table
is positive (a ≥ 0); `lpl` is cut at a. The attacker is the external one: units that know their own cell, and
sliding levels, are not considered.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.suppression.covering.cover import DEAREST, GRANTED
from sdc_tasks.methods.suppression.pattern.attackers import MOST_NEEDS
from sdc_tasks.model.table import Bools, Floats, Ints, read_only
from sdc_tasks.model.tolerances import FEASIBILITY, SOLVER
from sdc_tasks.optimise import CheapestWitness


def lp_cover(
    M: sp.csr_array, a: Floats, primary: Bools, lpl: Floats, upl: Floats, weight: Floats, clean_up: int = 5
) -> Bools:
    """The suppressed cells: `primary` and the secondary cells that protect every primary to
    `lpl` and `upl` within this table.

    `weight` ≥ 0 is the loss of suppressing a cell. The clean-up opens secondary cells that at most `clean_up`
    primaries need; 0 switches it off. Raises Unprotectable, naming positions, where even suppressing
    everything does not protect a cell.
    """
    _check(M, a, primary, lpl, upl, weight)
    moving = np.flatnonzero((a > 0) | primary)
    levels = np.where(primary, np.minimum(lpl, a), 0.0)[moving], np.where(primary, upl, 0.0)[moving]
    table = _Table(sp.csr_array(M[:, moving]), a[moving], primary[moving], *levels, weight[moving], moving)
    search = _Search(table)
    search.cover()
    if clean_up > 0:
        search.give_back(clean_up)
    _prove(table, search.suppressed, search.witnesses.pool.z[search.witnesses.rows])
    suppressed = np.zeros(len(a), dtype=bool)
    suppressed[moving] = search.suppressed
    return read_only(suppressed)


def _check(M: sp.csr_array, a: Floats, *others: Floats | Bools) -> None:
    if any(array.shape != (M.shape[1],) for array in (a, *others)):
        raise ValueError(f"every array needs one entry for each of the {M.shape[1]} cells")
    if (a < 0).any():
        raise ValueError("lp_cover protects positive tables: no cell may be negative")


@dataclass(frozen=True)
class _Table:
    """The cells that can move; `position` is where they lie in the caller's table."""

    M: sp.csr_array = field(repr=False)
    a: Floats = field(repr=False)
    primary: Bools = field(repr=False)
    lpl: Floats = field(repr=False)
    upl: Floats = field(repr=False)
    weight: Floats = field(repr=False)
    position: Ints = field(repr=False)


class _Pool:
    """All directions `z` ever found (one per row) with `M z = 0`; how far each lets the world see
    each primary rise (`up`) and fall.
    """

    def __init__(self, table: _Table) -> None:
        self.table, self.primaries, self._used = table, np.flatnonzero(table.primary), 0
        self._z = np.zeros((64, len(table.a)))
        self._reach = np.zeros((2, 64, len(self.primaries)))

    @property
    def z(self) -> Floats:
        return self._z[: self._used]

    @property
    def reach(self) -> Floats:
        """(up or down, directions, primaries)"""
        return self._reach[:, : self._used]

    def add(self, z: Floats) -> int:
        """Its row. Room is doubled where it runs out: appending one by one would copy everything
        each time.
        """
        row, self._used = self._used, self._used + 1
        if row == len(self._z):
            self._z = np.concatenate([self._z, np.zeros_like(self._z)])
            self._reach = np.concatenate([self._reach, np.zeros_like(self._reach)], axis=1)
        self._z[row] = z
        self._reach[:, row] = np.array(_reach(self.table, z))[:, self.primaries]
        return row


@dataclass(repr=False)
class _Witnesses:
    """Some `rows` of the pool, and the `best` (up or down, primaries) that any of them reaches."""

    pool: _Pool
    rows: Ints
    best: Floats

    @classmethod
    def none(cls, table: _Table) -> _Witnesses:
        pool = _Pool(table)
        return cls(pool, np.zeros(0, dtype=np.int64), np.zeros((2, len(pool.primaries))))

    def add(self, z: Floats) -> None:
        row = self.pool.add(z)
        self.rows = np.append(self.rows, row)
        self.best = np.maximum(self.best, self.pool.reach[:, row])

    def without(self, cell: int) -> _Witnesses:
        """The witnesses that do not move a cell. Only what was best by one of the others is
        looked up again.
        """
        moves = self.pool.z[self.rows, cell] != 0
        gone, kept, best = self.rows[moves], self.rows[~moves], self.best.copy()
        for side, reach in enumerate(self.pool.reach):
            lost = np.flatnonzero((reach[gone] >= best[side]).any(axis=0) & (best[side] > 0))
            best[side, lost] = reach[np.ix_(kept, lost)].max(axis=0, initial=0.0)
        return _Witnesses(self.pool, kept, best)

    def lacking(self) -> Ints:
        """The primaries that no witness protects on some side, largest level first."""
        table, primaries = self.pool.table, self.pool.primaries
        lpl, upl = table.lpl[primaries], table.upl[primaries]
        short = np.flatnonzero((self.best[0] < upl * GRANTED) | (self.best[1] < lpl * GRANTED))
        return np.asarray(primaries[short[np.argsort(-np.maximum(lpl, upl)[short], kind="stable")]])


def _reach(table: _Table, z: Floats) -> tuple[Floats, Floats]:
    """How far the steps t⁺ and t⁻ along z move each cell up and down."""
    forward = np.min(table.a[z < 0] / -z[z < 0], initial=np.inf)
    backward = np.min(table.a[z > 0] / z[z > 0], initial=np.inf)
    # A witness proves nothing for a cell that moves hardly more than the witness violates the relations.
    error = np.abs(table.M @ z).max(initial=0.0)
    sure = np.flatnonzero(np.abs(z) * FEASIBILITY > error)
    rises, size = z[sure] > 0, np.abs(z[sure])
    up, down = np.zeros(len(z)), np.zeros(len(z))
    up[sure] = size * np.where(rises, forward, backward)
    down[sure] = size * np.where(rises, backward, forward)
    return up, down


def _short(table: _Table, up: Floats, down: Floats) -> Bools:
    return np.asarray(table.primary & ((up < table.upl * GRANTED) | (down < table.lpl * GRANTED)))


class _Search:
    """The growing and shrinking set of suppressed cells, with its witnesses and one live program."""

    def __init__(self, table: _Table) -> None:
        self.table = table
        self.suppressed = table.primary.copy()
        self.witnesses = _Witnesses.none(table)
        self._weight = table.weight / (
            np.median(table.weight[table.weight > 0]) if table.weight.any() else 1.0
        )
        self._programs = CheapestWitness(table.M, warm=True)

    def cover(self) -> None:
        """Suppresses until every primary has its witnesses."""
        everything = np.ones(len(self.table.a), dtype=bool)
        while len(lacking := self.witnesses.lacking()):
            directions = self._protect(int(lacking[0]), everything, ~self.suppressed)
            if directions is None:
                raise Unprotectable(_unprotectable(self.table, lacking[:1]))
            for z in directions:
                self.witnesses.add(z)
                self.suppressed |= z != 0

    def give_back(self, most: int) -> None:
        """Frees secondary cells, heaviest first, where at most `most` primaries need new witnesses and find
        them.
        """
        secondary = np.flatnonzero(self.suppressed & ~self.table.primary)
        for cell in secondary[np.argsort(-self.table.weight[secondary], kind="stable")]:
            witnesses = self.witnesses.without(int(cell))
            allowed = self.suppressed.copy()
            allowed[cell] = False
            if len(witnesses.lacking()) <= most and self._mend(witnesses, allowed):
                self.witnesses, self.suppressed = witnesses, allowed

    def _mend(self, witnesses: _Witnesses, allowed: Bools) -> bool:
        """Adds the missing witnesses; False where a primary finds none among the allowed cells."""
        while len(lacking := witnesses.lacking()):
            # Leaning on light secondaries first leaves the heavy ones free to be given back later.
            directions = self._protect(int(lacking[0]), allowed, ~self.table.primary)
            if directions is None:
                return False
            for z in directions:
                witnesses.add(z)
        return True

    def _protect(self, p: int, allowed: Bools, charged: Bools) -> list[Floats] | None:
        """The directions that protect p on both sides moving allowed cells only: one for both, or one
        for each; None if there are none.
        """
        lpl, upl = float(self.table.lpl[p]), float(self.table.upl[p])
        both = self._direction(p, max(lpl, upl), 0, allowed, charged)
        if both is not None:
            return [both]
        found = []
        for side, level in ((1, upl), (-1, lpl)):
            if level == 0:
                continue
            z = self._direction(p, level, side, allowed, charged)
            if z is None:
                return None
            found.append(z)
        return found

    def _direction(self, p: int, level: float, side: int, allowed: Bools, charged: Bools) -> Floats | None:
        """The cheapest z with z_p = side · level; for side 0, z_p = level with a mirror image."""
        room = self.table.a / level
        cost = np.where(charged, self._weight / np.clip(room, 1 / DEAREST, 1.0), 0.0)
        narrow = np.where(allowed & (room > SOLVER), np.minimum(room, MOST_NEEDS), 0.0)
        wide = np.where(allowed, MOST_NEEDS, 0.0)
        u = self._programs.cheapest(p, side or 1, 1.0, (narrow, narrow if side == 0 else wide), cost)
        return None if u is None or not self._holds(u * level, p, side) else u * level

    def _holds(self, z: Floats, p: int, side: int) -> bool:
        """Whether the point the solver returned does protect p, on the side(s) asked for."""
        up, down = _reach(self.table, z)
        return bool(
            (side < 0 or up[p] >= self.table.upl[p] * GRANTED)
            and (side > 0 or down[p] >= self.table.lpl[p] * GRANTED)
        )


def _prove(table: _Table, suppressed: Bools, z: Floats) -> None:
    """Checks from the bare witnesses alone that every primary is protected, trusting
    neither the search nor the solver.
    """
    inside = z[(z[:, ~suppressed] == 0).all(axis=1)]
    best_up, best_down = np.zeros(len(table.a)), np.zeros(len(table.a))
    for direction in inside:
        up, down = _reach(table, direction)
        best_up, best_down = np.maximum(best_up, up), np.maximum(best_down, down)
    open_cells = np.flatnonzero(_short(table, best_up, best_down))
    if len(open_cells):
        raise Unprotectable(_unprotectable(table, open_cells))


def _unprotectable(table: _Table, cells: Ints) -> str:
    positions = ", ".join(str(position) for position in table.position[cells])
    return (
        f"cells at positions {positions}: no suppression within this table protects them "
        f"to their levels (their relations leave no room)"
    )
