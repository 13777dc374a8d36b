"""The attacker of one publication: how far he can move cells within what he knows, and what proves it.

A publication gives each cell an interval around the truth. In deviations z from the truth the attacker
considers all tables

    Z(low, high) = { z : M z = 0,  low ≤ z ≤ high },    low ≤ 0 ≤ high

and a cell is protected on a side as far as he can push it there. Whoever asks has the point, a *witness* for
every cell that it moves; and by weak duality, for any multipliers λ of the relations and r = gain + Mᵀ λ,

    Σ gain · z ≤ Σ r⁺ · high − Σ r⁻ · low         for every publication (low, high)

which is linear in the ends of the intervals: the cut of every treatment (`cuts.py`). A treatment says what
its intervals are, and turns `below` and `above` into coefficients of what it decides (`LinearAttacker`).

Who builds a publication asks the other question: of all points that move a cell so far, which one costs least
beyond what is hidden already (`CheapestWitness`)?
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import DUAL, SOLVER
from sdc_tasks.solver.lp import Basis, LiveLP, LPResult, Status

LOST_AFTER = 3000  # simplex iterations from scratch: most need hundreds, a few more than a hundred thousand


@dataclass(frozen=True)
class Pushed:
    """The farthest point `z` (n,) of Z in a direction, its `reach` Σ gain · z, and the proof: `dual` (m,) as
    the solver gave it, and `pull` (n,), the r of the duals rounded to `DUAL`. Without a point all are 0.
    """

    status: Status
    reach: float
    z: Floats = field(repr=False)
    dual: Floats = field(repr=False)
    pull: Floats = field(repr=False)

    @property
    def below(self) -> Floats:
        """(n,): by how much the reach grows, at most, with each lower end that moves away."""
        return np.maximum(-self.pull, 0.0)

    @property
    def above(self) -> Floats:
        """(n,): the same for the upper ends."""
        return np.maximum(self.pull, 0.0)

    def price(self, below: Floats, above: Floats) -> Floats:
        """(n,): what intervals that reach so far, or without end, add to the bound of the reach."""
        with np.errstate(invalid="ignore"):  # a cell that the proof does not use may have no end
            return np.where(
                self.pull > 0, self.pull * above, np.where(self.pull < 0, -self.pull * below, 0.0)
            )


class LinearAttacker:
    """Pushes cells of one table by a live linear program: between pushes only the intervals change, and the
    direction. `M` (m, n).
    """

    def __init__(self, M: sp.csr_array) -> None:
        (m, n), nothing = M.shape, np.zeros(M.shape[1])
        self._transposed, self._columns = sp.csr_array(M.T), np.arange(n)
        self._pushed: Ints = np.zeros(0, dtype=np.int64)
        self._live = LiveLP(nothing, M, np.zeros(m), np.zeros(m), nothing, nothing)

    @property
    def iterations(self) -> int:
        """Of the simplex method so far."""
        return self._live.iterations

    def limit(self, seconds: float) -> None:
        """Limits the time of each later push: one that reaches the limit proves nothing."""
        self._live.limit(seconds)

    def basis(self) -> Basis:
        """Where the last push ended, for `restore`."""
        return self._live.basis()

    def restore(self, basis: Basis) -> None:
        """Makes the next push start from here, independent of those in between."""
        self._live.restore(basis)

    def set_bounds(self, low: Floats, high: Floats) -> None:
        """The deviations (n,) that the intervals of all cells leave."""
        self._live.set_bounds(self._columns, low, high)

    def push(self, cells: Ints, gain: Floats) -> Pushed:
        """max Σ gain · z over some cells, each named once."""
        self._live.set_cost(self._pushed, np.zeros(len(self._pushed)))
        self._live.set_cost(cells, -gain)
        self._pushed = cells
        found = self._live.solve(reduced=False)
        if not found.status.has_point:
            nothing = np.zeros(len(self._columns))
            return Pushed(found.status, 0.0, nothing, np.zeros(self._transposed.shape[1]), nothing)
        # Rounded multipliers prove as much, and sums of them are 0 where they should be.
        dual = np.round(found.dual / DUAL) * DUAL
        pull = self._transposed @ dual
        pull[cells] += gain
        pull[np.abs(pull) < DUAL / 8] = 0.0
        return Pushed(found.status, -found.objective, found.x, found.dual, pull)


class CheapestWitness:
    """The cheapest points of one table that move a cell so far, by a live linear program in z = z⁺ − z⁻.
    `M` (m, n); rooms are (down, up), (n,) each, how far every cell may move.

    From scratch each time, so that a point depends on nothing but the question; or, `warm`, each solve starts
    where the last one ended.
    """

    def __init__(self, M: sp.csr_array, warm: bool = False) -> None:
        self._M, self._warm = sp.csr_array(sp.hstack([M, -M])), warm
        self._columns = np.arange(self._M.shape[1])
        self._simplex = self._live()

    def _live(self) -> LiveLP:
        zeros, none = np.zeros(self._M.shape[0]), np.zeros(self._M.shape[1])
        return LiveLP(none, self._M, zeros, zeros, none, none)

    @cached_property
    def _interior(self) -> LiveLP:
        """An interior point method: slower for most programs, but never stuck in one."""
        live = self._live()
        live.interior()
        return live

    def cheapest(
        self, p: int, sign: int, far: float, room: tuple[Floats, Floats], cost: Floats
    ) -> Floats | None:
        """(n,): z with z_p = sign · far and the least Σ cost |z|; None if none is found. cost ≥ 0."""
        down, up = room[0].copy(), room[1].copy()
        moved, still = (up, down) if sign > 0 else (down, up)
        if moved[p] < far * (1 - SOLVER):
            return None
        low = np.zeros(len(self._columns))
        low[p + (0 if sign > 0 else len(cost))] = moved[p] = far
        still[p] = 0.0
        cost, high = np.concatenate([cost, cost]), np.concatenate([up, down])
        most = None if self._warm else LOST_AFTER
        found = self._solved(self._simplex, cost, low, high, not self._warm, most)
        if found.status is Status.STOPPED:
            found = self._solved(self._interior, cost, low, high, True)
        z = self._point(found)
        return None if z is None else np.where(np.abs(z) > SOLVER, z, 0.0)

    def farthest(self, gain: Floats, room: tuple[Floats, Floats]) -> Floats | None:
        """(n,): z with the largest Σ gain · z; None if none is found."""
        cost, high = np.concatenate([-gain, gain]), np.concatenate([room[1], room[0]])
        return self._point(self._solved(self._simplex, cost, np.zeros(len(high)), high, False))

    def _solved(
        self, live: LiveLP, cost: Floats, low: Floats, high: Floats, fresh: bool, most: int | None = None
    ) -> LPResult:
        live.set_cost(self._columns, cost)
        live.set_bounds(self._columns, low, high)
        return live.solve(fresh=fresh, reduced=False, most=most)

    def _point(self, found: LPResult) -> Floats | None:
        n = len(self._columns) // 2
        return found.x[:n] - found.x[n:] if found.status.has_point else None
