"""CTA with given senses: a linear program with elastic protection levels, kept in memory.

    min Σ w_i |z_i| + ρ Σ_p v_p t_p    s.t.  A z = r,  l ≤ z ≤ u,  z_p + t_p ≥ upl_p (sense up) or
    −z_p + t_p ≥ lpl_p (down),  t ≥ 0

The relations are the only rows: z_p = z⁺_p − t⁺_p with upl_p ≤ z⁺_p ≤ u_p and 0 ≤ t⁺_p ≤ upl_p for sense up,
its mirror image for down, z_i = z⁺_i − z⁻_i for all other cells; t costs ρ v − w, because a shortfall saves
the cost w of moving. So only bounds of columns change from one sense vector to the next. A shortfall t > 0
shows senses that do not fit together. v_p = w_p, or the median weight where a cell has none. r = 0 for a
whole table; for a part of one, r is the imbalance of the cells outside.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.judge.adjusted import verify
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY
from sdc_tasks.solver.lp import LiveLP

FIRM = 1e4  # ρ at which a shortfall remains only where these senses do not fit together
REFINEMENTS = 4
START = 5  # the start of a solve costs about as much as this number of iterations


@dataclass(frozen=True)
class Fixed:
    """The closest table for one sense vector: deviations (n,), shortfalls (s,) in units, and prices (s,)
    of the sensitive cells' levels.
    """

    z: Floats = field(repr=False)
    short: Floats = field(repr=False)
    price: Floats = field(repr=False)  # d objective / d level, in weight units
    lean: Floats = field(
        repr=False
    )  # (n,): how much cheaper rising is than falling, for a cell that does not move
    cost: float = 0.0  # Σ w|z| + ρ Σ v t, in scaled weight · units


class SenseLP:
    """The model in memory over some cells of a problem (default: all). The others stay at the deviations
    `around`, or leave the right-hand sides r (relations,) to all cells.
    """

    def __init__(
        self,
        problem: CtaProblem,
        rho: float,
        cells: Ints | None = None,
        around: Floats | None = None,
        r: Floats | None = None,
    ) -> None:
        part = np.arange(len(problem.cells)) if cells is None else cells
        rank = np.full(len(problem.cells), -1)
        rank[problem.sensitive] = np.arange(len(problem.sensitive))
        own = rank[part]
        self.cells, self.at, self.which = (
            part,
            np.flatnonzero(own >= 0),
            own[own >= 0],
        )  # at: positions of the sensitive among `cells`
        A = sp.csr_array(problem.by_cell[:, part]) if cells is not None else problem.A
        filled = np.flatnonzero(np.diff(A.indptr) > 0)
        self.A = sp.csr_array(A[filled])
        miss = np.zeros(len(filled)) if around is None else self.A @ around[part]
        r = miss if r is None else r[filled]
        positive = problem.w[problem.w > 0]
        self._scale = float(np.median(positive)) if len(positive) else 1.0
        w = problem.w[part] / self._scale
        self.w, self.upl, self.lpl = w, problem.upl[self.which], problem.lpl[self.which]
        self._value = np.maximum(w[self.at], 1.0) if (w[self.at] == 0).any() else w[self.at]
        self._dearest = np.maximum(self._value, _dearest(self.A, w)[self.at])
        self._up, self._down = problem.upper[part], -problem.lower[part]
        self.can_rise, self.can_fall = problem.can_rise[self.which], problem.can_fall[self.which]
        n, s = len(part), len(self.at)
        self._n, self._s = n, s
        self._rises = np.ones(s, dtype=bool)
        self._ignored = np.zeros(s, dtype=bool)
        own_A = sp.csr_array(sp.csc_array(self.A)[:, self.at])
        self._live = LiveLP(
            np.concatenate([w, w, *2 * [self._shortage(rho)]]),
            sp.csr_array(sp.hstack([self.A, -self.A, -own_A, own_A], format="csr")),
            r,
            r,
            np.zeros(2 * n + 2 * s),
            np.concatenate([self._up, self._down, self.upl, self.lpl]),
        )

    @property
    def effort(self) -> int:
        """Simplex iterations so far, with START for each solve."""
        return self._live.iterations + START * self._live.solves

    def penalise(self, rho: float, firm: Bools | None = None) -> None:
        """Sets the price of shortfalls; that of the cells `firm` (s,) is `FIRM`."""
        shortage = (
            self._shortage(rho) if firm is None else np.where(firm, self._shortage(FIRM), self._shortage(rho))
        )
        shortage = np.where(self._ignored, 0.0, shortage)
        self._live.set_cost(2 * self._n + np.arange(2 * self._s), np.tile(shortage, 2))

    def _shortage(self, rho: float) -> Floats:
        return rho * (self._dearest if rho >= FIRM else self._value) - self.w[self.at]

    def possible(self, up: Bools) -> Bools:
        """(s,): the senses, changed where bounds leave no room for them."""
        return np.asarray((up | ~self.can_fall) & (self.can_rise | ~self.can_fall))

    def set(self, which: Ints, up: Bools) -> None:
        """Sets the senses of some sensitive cells (positions 0..s−1 in this model)."""
        z, n = self.at[which], self._n
        upl, lpl = np.where(up, self.upl[which], 0.0), np.where(up, 0.0, self.lpl[which])
        self._live.set_bounds(
            np.concatenate([z, n + z, 2 * n + which, 2 * n + self._s + which]),
            np.concatenate(
                [np.minimum(upl, self._up[z]), np.minimum(lpl, self._down[z]), np.zeros(2 * len(z))]
            ),
            np.concatenate([np.where(up, self._up[z], 0.0), np.where(up, 0.0, self._down[z]), upl, lpl]),
        )
        self._rises[which] = up
        self._ignored[which] = False

    def ignore(self, which: Ints) -> None:
        """Lets some of the sensitive cells move like any other cell, until their senses are set.

        From the next `penalise` on they move for nothing as far as their level. A table in which they keep it
        costs at least what a solve then finds, whichever side they take.
        """
        z, n = self.at[which], self._n
        up, down = np.minimum(self.upl[which], self._up[z]), np.minimum(self.lpl[which], self._down[z])
        self._live.set_bounds(
            np.concatenate([z, n + z, 2 * n + which, 2 * n + self._s + which]),
            np.zeros(4 * len(z)),
            np.concatenate([self._up[z] - up, self._down[z] - down, down, up]),
        )
        self._ignored[which] = True

    def solve(
        self, seconds: float = math.inf, fresh: bool = False, patience: int | None = None
    ) -> Fixed | None:
        """Solves the model; None where the solver returned no point in time. `fresh`: from scratch, which is
        faster after many changes of senses or prices. `patience`: iterations after which a warm start is
        replaced by a solve from scratch.
        """
        self._live.limit(seconds)
        found = self._live.solve(fresh, patience)
        if not found.status.has_point:
            return None
        n, s, x, reduced = self._n, self._s, found.x, found.reduced
        z = x[:n] - x[n : 2 * n]
        up, down = x[2 * n : 2 * n + s], x[2 * n + s :]
        z[self.at] -= up - down
        price = np.where(self._rises, reduced[self.at], reduced[n + self.at])
        return Fixed(z, up + down, price, reduced[n : 2 * n] - reduced[:n], found.objective)

    def cost(self, seconds: float = math.inf, most: float = math.inf, fresh: bool = False) -> float:
        """Solves, and returns the cost only, which is faster than the whole solution; infinite as soon
        as it is known to exceed `most`.

        `fresh`: from scratch. After a change of a heavy cell this takes a tenth of the iterations: its
        detour touches the whole table.
        """
        self._live.limit(seconds)
        return self._live.objective(most, fresh)


def _dearest(A: sp.csr_array, w: Floats) -> Floats:
    """(n,): the largest weight in the relations of each cell."""
    if A.nnz == 0:
        return w
    relation = np.maximum.reduceat(w[A.indices], A.indptr[:-1])  # no relation is empty
    found = w.copy()
    np.maximum.at(found, A.indices, np.repeat(relation, np.diff(A.indptr)))
    return found


def refined(problem: CtaProblem, z: Floats) -> Floats:
    """z (n,) without the errors of a solver's tolerances: bounds hold exactly, relations to full precision.

    The error r = A z is tiny, so its correction is a problem of its own in units of |r|: min Σ|d| with A d =
    −r, inside bounds and levels (iterative refinement of a linear program, Gleixner, Steffy & Wolter 2016).
    It is needed where values span more than nine orders of magnitude.
    """
    up = problem.senses(z) > 0
    lower, upper = problem.lower.copy(), problem.upper.copy()
    p = problem.sensitive
    kept = np.where(up, z[p] >= problem.upl * (1 - FEASIBILITY), z[p] <= -problem.lpl * (1 - FEASIBILITY))
    lower[p] = np.where(kept & up, problem.upl, lower[p])
    upper[p] = np.where(kept & ~up, -problem.lpl, upper[p])
    z = np.clip(z, lower, np.maximum(lower, upper))
    for _ in range(REFINEMENTS):
        verdict = verify(problem, z)
        if verdict.violation <= FEASIBILITY / 1e3:
            break
        r = problem.A @ z
        unit = float(np.abs(r).max())
        n = len(z)
        live = LiveLP(
            np.ones(2 * n), sp.csr_array(sp.hstack([problem.A, -problem.A])), -r / unit, -r / unit,
            np.zeros(2 * n), np.concatenate([(upper - z) / unit, (z - lower) / unit]).clip(0.0),
        )  # fmt: skip
        found = live.solve()
        if not found.status.has_point:
            break
        z = np.clip(z + (found.x[:n] - found.x[n:]) * unit, lower, np.maximum(lower, upper))
    return z
