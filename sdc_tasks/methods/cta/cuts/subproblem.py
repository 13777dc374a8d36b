"""CTA with fixed senses as a linear program. Its multipliers give a lower bound on the cost
of any other senses ([2] eq. 19).

A sensitive cell moves within [l, −lpl] or [upl, u], every other one within [l, u]. For multipliers λ of
the relations A z = 0 and μ = Aᵀλ,

    L(λ, y) = Σ_i min (w_i |z_i| − μ_i z_i)      each cell separately, over the interval that the senses y
                                                 allow

is at most the cost of the closest table with the senses y, and equal to it for the optimal λ of that linear
program. As a function of y it is a sum of one term per sensitive cell, (rise_p if y_p else fall_p): the cut
of [2] eq. 20 with optimal multipliers of all bounds. With w = 0 and the λ of the least violation of A z = 0,
L > 0 proves that y has no table: the cut of a ray.

The linear program gives each sensitive cell z = −lpl + a + b − c with 0 ≤ a ≤ lpl + upl. Each end of a is a
sense; between the ends the cost is linear. So the same program, with all a free, is the relaxation over all
senses (that of the MILP without its big-M rows). It has one row for each relation, and its optimum has at
most that many undecided senses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import NAMED_CELLS, Unprotectable
from sdc_tasks.methods.cta.model import FARTHEST, CtaProblem
from sdc_tasks.model.table import Bools, Floats
from sdc_tasks.solver.lp import LiveLP, LPResult, Status

REMEDY = "Remedy: lower levels, widen bounds, or let fixed cells of their relations move"


@dataclass(frozen=True)
class Lagrangian:
    """L(λ, ·) = base + Σ_p (rise_p if y_p else fall_p)."""

    base: float = field(repr=False)
    rise: Floats = field(repr=False)
    fall: Floats = field(repr=False)

    def at(self, up: Bools) -> float:
        return self.base + float(np.where(up, self.rise, self.fall).sum())

    def turning(self, up: Bools) -> Floats:
        """(s,): its change when a single sense changes."""
        return np.where(up, self.fall - self.rise, self.rise - self.fall)


@dataclass(frozen=True)
class SenseAnswer:
    """For one sense vector: its closest table and a tight Lagrangian; or, with `z` None, a
    Lagrangian with w = 0 that is above 0.

    `mirrored` is the Lagrangian of −λ. Where bounds are out of reach and levels are symmetric, it is
    as tight for the opposite senses.
    """

    z: Floats | None = field(repr=False)
    lagrangian: Lagrangian
    mirrored: Lagrangian


@dataclass(frozen=True)
class Relaxed:
    """The relaxation over all senses: y (s,) in [0, 1], and a tight Lagrangian. Without a table (`bound`
    infinite), a Lagrangian as in `SenseAnswer`.
    """

    y: Floats = field(repr=False)
    lagrangian: Lagrangian
    bound: float = field(repr=False)


class Subproblem:
    """The linear programs in memory. Costs are in median weights · units: `scale` is that weight."""

    def __init__(self, problem: CtaProblem) -> None:
        positive = problem.w[problem.w > 0]
        self.scale = float(np.median(positive)) if len(positive) else 1.0
        self.w = problem.w / self.scale
        self._problem, self._p = problem, problem.sensitive
        self._rest = np.setdiff1d(np.arange(len(problem.cells)), self._p)
        self.both, self.width = problem.can_rise & problem.can_fall, problem.lpl + problem.upl
        A, p, rest = sp.csc_array(problem.A), self._p, self._rest
        self._columns = sp.csr_array(sp.hstack([A[:, rest], -A[:, rest], A[:, p], A[:, p], -A[:, p]]))
        straight = self.w[p] * np.divide(
            problem.upl - problem.lpl, self.width, out=np.zeros(len(p)), where=self.width > 0
        )
        self.straight = straight
        self._cost = np.concatenate([self.w[rest], self.w[rest], straight, self.w[p], self.w[p]])
        self._rhs = problem.A[:, p] @ problem.lpl
        self._above = np.maximum(problem.upper[p] - problem.upl, 0.0)
        self._below = np.maximum(-problem.lower[p] - problem.lpl, 0.0)
        self._live = LiveLP(
            self._cost, self._columns, self._rhs, self._rhs, *self._bounds(np.ones(len(p), dtype=bool), False)
        )
        self._elastic: LiveLP | None = None
        self._farthest = FARTHEST * max(1.0, float(np.maximum(problem.lpl, problem.upl).sum()))

    def relaxed(self, seconds: float) -> Relaxed | None:
        """Solves the relaxation; None where time ran out."""
        undecided = np.divide(self._problem.lpl, self.width, out=np.zeros(len(self._p)), where=self.width > 0)
        if (
            self.both.all() and (self.straight == 0).all()
        ):  # levels are symmetric: z = 0 is an optimum, at the cost of the levels
            return self._relaxed(undecided, np.zeros(len(self._rhs)))
        bounds = self._bounds(self._problem.can_rise, True)
        found = self._solve(self._live, bounds, seconds)
        if found.status.has_point:
            a = found.x[2 * len(self._rest) :][: len(self._p)]
            return self._relaxed(np.divide(a, self.width, out=undecided, where=self.width > 0), found.dual)
        ray = self._ray(bounds, seconds) if found.status is Status.INFEASIBLE else None
        return (
            None
            if ray is None
            else Relaxed(undecided, self.lagrangian(ray, np.zeros_like(self.w), math.inf), math.inf)
        )

    def solve(self, up: Bools, best: float, seconds: float) -> SenseAnswer | None:
        """The answer for the senses `up` (s,), compared with tables that cost less than
        `best`; None where time ran out.
        """
        bounds = self._bounds(up, False)
        found = self._solve(self._live, bounds, seconds)
        if found.status.has_point:
            mirrored = self.lagrangian(-found.dual, self.w, best)
            return SenseAnswer(self._deviations(found.x), self.lagrangian(found.dual, self.w, best), mirrored)
        ray = self._ray(bounds, seconds) if found.status is Status.INFEASIBLE else None
        if ray is None:
            return None
        weightless = np.zeros_like(self.w)
        return SenseAnswer(
            None, self.lagrangian(ray, weightless, math.inf), self.lagrangian(-ray, weightless, math.inf)
        )

    def lagrangian(self, dual: Floats, w: Floats, best: float) -> Lagrangian:
        """L for the multipliers `dual` (relations,). A cell of a table that costs at
        most `best` moves at most best / w.
        """
        problem, p, rest = self._problem, self._p, self._rest
        most = np.full(len(w), self._farthest)
        if math.isfinite(best):
            np.divide(best, self.w, out=most, where=self.w > 0)
        mu = problem.A.T @ dual
        up, down = w - mu, w + mu  # what one unit costs, upwards and downwards
        high, low = np.minimum(problem.upper, most), np.minimum(-problem.lower, most)
        base = np.minimum(np.minimum(up[rest], 0.0) * high[rest], np.minimum(down[rest], 0.0) * low[rest])
        rise = up[p] * np.where(up[p] >= 0, problem.upl, np.maximum(high[p], problem.upl))
        fall = down[p] * np.where(down[p] >= 0, problem.lpl, np.maximum(low[p], problem.lpl))
        return Lagrangian(float(base.sum()), rise, fall)

    def _relaxed(self, y: Floats, dual: Floats) -> Relaxed:
        found = self.lagrangian(dual, self.w, math.inf)
        least = np.where(
            self.both,
            np.minimum(found.rise, found.fall),
            np.where(self._problem.can_rise, found.rise, found.fall),
        )
        return Relaxed(y, found, found.base + float(least.sum()))

    def _ray(self, bounds: tuple[Floats, Floats], seconds: float) -> Floats | None:
        """The λ of the smallest violation of A z = 0 within the bounds."""
        slack = 2 * len(self._rhs)
        if self._elastic is None:
            eye = sp.eye_array(len(self._rhs))
            columns = sp.csr_array(sp.hstack([self._columns, eye, -eye]))
            cost = np.concatenate([np.zeros(len(self._cost)), np.ones(slack)])
            bounds_too = np.zeros(len(cost)), np.concatenate([bounds[1], np.full(slack, np.inf)])
            self._elastic = LiveLP(cost, columns, self._rhs, self._rhs, *bounds_too)
        found = self._solve(self._elastic, bounds, seconds)
        return found.dual if found.status is Status.OPTIMAL else None

    def _solve(self, live: LiveLP, bounds: tuple[Floats, Floats], seconds: float) -> LPResult:
        live.set_bounds(np.arange(len(self._cost)), *bounds)
        live.limit(seconds)
        return live.solve()

    def _bounds(self, up: Bools, relaxed: bool) -> tuple[Floats, Floats]:
        """Bounds of the columns: z⁺ and z⁻ of the other cells, a, b, c of the sensitive ones. `relaxed`: a
        sense is open where both are possible.
        """
        problem, rest = self._problem, self._rest
        free = self.both & relaxed
        rises = np.where(self.both, up, problem.can_rise)
        lower = np.concatenate(
            [np.zeros(2 * len(rest)), np.where(free, 0.0, rises * self.width), np.zeros(2 * len(up))]
        )
        upper = np.concatenate([
            problem.upper[rest], -problem.lower[rest], np.where(free, 1.0, rises) * self.width,
            np.where(free | rises, self._above, 0.0), np.where(free | ~rises, self._below, 0.0),
        ])  # fmt: skip
        return lower, upper

    def _deviations(self, x: Floats) -> Floats:
        z = np.zeros(len(self._problem.cells))
        r, s = len(self._rest), len(self._p)
        a, b, c = x[2 * r :].reshape(3, s)
        z[self._rest] = x[:r] - x[r : 2 * r]
        z[self._p] = a + b - c - self._problem.lpl
        return z


def refuse(problem: CtaProblem, hopeless: Bools) -> None:
    """Raises Unprotectable, with the names of the cells, if `hopeless` (s,) has any."""
    cells = problem.sensitive[hopeless]
    if len(cells):
        names = ", ".join(problem.name(int(cell)) for cell in cells[:NAMED_CELLS])
        more = f" and {len(cells) - NAMED_CELLS} more" if len(cells) > NAMED_CELLS else ""
        raise Unprotectable(f"no table protects all of {names}{more}. {REMEDY}")
