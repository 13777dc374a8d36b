"""The narrowest safe intervals, by cutting planes on a linear program ([2] §6; Fischetti & Salazar-González
2003).

On the classes of the reduced problem (pattern/presolve.py), with v = (below, above):

    min  W · (below + above),   0 ≤ v ≤ room          W_c = Σ weight_i |t_i| over the cells of class c
    for each item (class p, side, need):   max { ± u_p : M u = 0, −below ≤ u ≤ above } ≥ need

By duality every multiplier λ of the relations gives, with r = ± e_p − Mᵀ λ, the valid
inequality r⁺ · above + r⁻ · below ≥ need. It is linear in v, so that the bound rises to the
least loss. An item of width adds both sides.

1. First intervals: item by item, the largest first, the direction that widens what is there at least
   cost. If there is none, nothing
   protects the primary.
2. Rounds, stabilised by in-out separation: cuts are sought half-way between the solution of the
   master program and the best safe
   intervals; where none is violated there, that point is safe and becomes the best. Each round proves a bound
   by weak duality from the multipliers of the master, recomputed here.

It ends when the gap asked for is proven, after `rounds`, or by the clock.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput, Unprotectable
from sdc_tasks.methods.suppression.partial.run import IntervalRun
from sdc_tasks.methods.suppression.pattern.presolve import ReducedProblem, presolve
from sdc_tasks.model.table import Floats
from sdc_tasks.model.tolerances import SOLVER, TIE_BREAK
from sdc_tasks.optimise import Cut, CutPool, LinearAttacker
from sdc_tasks.solver.lp import LiveLP

MOST_MOVES = 1e4  # times its need: no class needs to move further
INWARDS = 0.5  # of the way from the master's solution to the best intervals: where cuts are sought
GIVEN_BACK = 1e-3  # relative: better intervals are verified when they lose this much less


def narrow_intervals(run: IntervalRun, rounds: int = 400) -> str:
    """Offers intervals to a run and proves a bound; returns "work" or "time".

    Raises Unprotectable, naming the cell, if none are safe; InvalidInput for a primary without a level,
    and for a minimum of contributors.
    """
    problem = run.problem
    bare = problem.primary & (np.max([layer.most for layer in problem.layers], axis=0) == 0)
    for cell in np.flatnonzero(bare).tolist():
        raise InvalidInput(
            f"{problem.name(cell)}: primary without a level. Remedy: give its level, from which its interval "
            f"follows"
        )
    if problem.minimum:
        raise InvalidInput(
            "a minimum of contributors is about those behind blanks, not behind intervals. Remedy: leave it "
            "out, or hide"
        )
    search = _Search(run, presolve(problem))
    search.begin()
    return search.improve(rounds)


class _Search:
    def __init__(self, run: IntervalRun, table: ReducedProblem) -> None:
        self.run, self.table = run, table
        k = len(table.cost)
        inside = np.flatnonzero(table.reduction.class_of >= 0)
        self.weight = np.zeros(2 * k)
        for side in (0, k):
            np.add.at(
                self.weight,
                side + table.reduction.class_of[inside],
                run.weight[inside] * np.abs(table.reduction.ratio[inside]),
            )
        most = MOST_MOVES * table.item_need.max(initial=1.0)
        self.room = np.minimum(np.concatenate([table.below, table.above]), most)
        self.least = np.zeros(2 * k)  # what an item asks of its own class
        for p, side, need in zip(table.item_class, table.item_side, table.item_need, strict=True):
            if side:
                own = int(p) + (k if side > 0 else 0)
                self.least[own] = max(self.least[own], float(need))
        self.attacker = LinearAttacker(table.M)
        self.pool = CutPool(2 * k)

    def begin(self) -> None:
        """First intervals; the master program knows the needs of the primaries themselves."""
        table, k = self.table, len(self.table.cost)
        zeros = np.zeros(table.M.shape[0])
        wide = sp.csr_array(sp.hstack([table.M, table.M, -table.M]))
        program = LiveLP(np.zeros(3 * k), wide, zeros, zeros, np.zeros(3 * k), np.zeros(3 * k))
        v = self.least.copy()
        v[self.weight == 0] = self.room[self.weight == 0]
        shown = _Shown(table)
        for item in range(len(table.item_need)):
            side = int(table.item_side[item])
            if self.run.left <= 0:
                return
            if not side:
                self._wider(program, v, item)
            elif not shown.met(item):
                shown.learn(self._widen(program, v, item, side, float(table.item_need[item])), v)
        self.best = v
        self._offer(v, "first intervals")

    def _wider(self, program: LiveLP, v: Floats, item: int) -> None:
        """Widens until an item of width is met: half of it up and half of it down, or as
        far as the whole table lets it go.
        """
        table, k = self.table, len(self.table.cost)
        p, need = int(table.item_class[item]), float(table.item_need[item])
        highest, lowest = self._most(item, 1, need), self._most(item, -1, need)
        if highest + lowest < need * (1 - 2 * SOLVER):
            raise self._unprotectable(item)
        up = min(max(need / 2, need - lowest), highest)
        down = min(need - up, lowest)
        for side, part in ((1, up), (-1, down)):
            if part > 0:
                v[p + (k if side > 0 else 0)] = max(v[p + (k if side > 0 else 0)], part)
                self._widen(program, v, item, side, part)

    def _most(self, item: int, side: int, need: float) -> float:
        """How far the class of an item can go on one side when every interval is as wide as it may be; at
        most `need`, less what may be rounding.
        """
        k, p, held = len(self.table.cost), int(self.table.item_class[item]), self.table.known(item)
        below, above = (
            np.where(held, 0, np.minimum(room / need, MOST_MOVES)) for room in (self.room[:k], self.room[k:])
        )
        if side > 0:
            above[p] = min(above[p], 1.0)
        else:
            below[p] = min(below[p], 1.0)
        self.attacker.set_bounds(-below, above)
        # a little less than the reach, so that a program finds a way there
        return (
            max(0.0, self.attacker.push(np.array([p]), np.array([float(side)])).reach) * need * (1 - SOLVER)
        )

    def _widen(self, program: LiveLP, v: Floats, item: int, side: int, need: float) -> Floats:
        """Widens intervals, in place, by the direction of least cost that moves a class by its need; the
        direction.
        """
        k, p = len(self.table.cost), int(self.table.item_class[item])
        held, far = self.table.known(item), MOST_MOVES
        below, above = np.where(held, 0, v[:k]) / need, np.where(held, 0, v[k:]) / need
        more_below = np.where(held, 0, self.room[:k] - v[:k]) / need
        more_above = np.where(held, 0, self.room[k:] - v[k:]) / need
        low, high = -np.minimum(below, far), np.minimum(above, far)
        rise, fall = np.clip(more_above, 0, far), np.clip(more_below, 0, far)
        low[p] = high[p] = side
        rise[p] = fall[p] = 0.0
        unit = np.median(self.weight[self.weight > 0]) if self.weight.any() else 1.0
        price = self.weight / unit * np.where(np.tile((v[:k] > 0) | (v[k:] > 0), 2), 1 - TIE_BREAK, 1.0)
        columns = np.arange(3 * k)
        program.set_cost(columns, np.concatenate([np.zeros(k), price[k:], price[:k]]))
        program.set_bounds(
            columns, np.concatenate([low, np.zeros(2 * k)]), np.concatenate([high, rise, fall])
        )
        result = program.solve()
        if not result.status.has_point:
            raise self._unprotectable(item)
        u = (result.x[:k] + result.x[k : 2 * k] - result.x[2 * k :]) * need
        np.maximum(v[:k], np.where(held, 0, -u), out=v[:k])
        np.maximum(v[k:], np.where(held, 0, u), out=v[k:])
        np.minimum(v, np.maximum(self.room, self.least), out=v)
        return u

    def _unprotectable(self, item: int) -> Unprotectable:
        problem = self.run.problem
        cells = np.flatnonzero(
            (self.table.reduction.class_of == self.table.item_class[item]) & problem.primary
        )
        return Unprotectable(
            f"{problem.name(cells[0])}: not protected to the level even with every cell hidden that may be. "
            "Remedy: let fixed or empty cells beside it be suppressed, or lower its level"
        )

    def improve(self, rounds: int) -> str:
        """Cuts and better intervals, round by round."""
        if self.run.left <= 0:
            return "time"
        k = len(self.table.cost)
        unit = self._unit()
        low = np.where(self.weight == 0, self.room, self.least)
        master = LiveLP(
            self.weight / unit,
            sp.csr_array((0, 2 * k)),
            np.zeros(0),
            np.zeros(0),
            low,
            np.maximum(self.room, low),
        )
        for count in range(rounds):
            result = master.solve()
            if not result.status.has_point:
                return "work"
            self._prove(np.maximum(result.dual, 0.0) * unit)
            if self.run.over():
                break
            v = np.clip(result.x, low, np.maximum(self.room, low))
            point = v + INWARDS * (self.best - v)
            fresh = self._violated(point)
            if fresh is None:
                return "time"
            if not fresh:
                self._accept(point, f"round {count + 1}")
                fresh = self._violated(v)
                if fresh is None:
                    return "time"
                if not fresh:
                    self.best = v
                    break
            right = np.array([cut.right for cut in fresh])
            master.add_rows(self.pool.matrix(fresh), right, np.full(len(fresh), np.inf))
        self._offer(self.best, "last round")
        return "time" if self.run.left <= 0 else "work"

    def _unit(self) -> float:
        """The unit of the master's cost, for numbers near 1: the median weight."""
        return float(np.median(self.weight[self.weight > 0])) if self.weight.any() else 1.0

    def _accept(self, point: Floats, step: str) -> None:
        """Intervals that meet every item: offered if they lose clearly less than the incumbent."""
        self.best = point
        last = self.run.incumbent
        if last is None or float(self.weight @ point) < last.loss * (1 - GIVEN_BACK):
            self._offer(point, step)

    def _violated(self, v: Floats) -> list[Cut] | None:
        """A new cut for each item that intervals do not meet; None when the time is over."""
        found: list[Cut] = []
        shown = _Shown(self.table)
        for item in range(len(self.table.item_need)):
            if self.run.left <= 0:
                return None
            if shown.met(item):
                continue
            side, need = int(self.table.item_side[item]), float(self.table.item_need[item])
            if side:
                reached, alpha, z = self._reached(item, side, v)
                shown.learn(z * need, v)
            else:
                (up, rising, _), (down, falling, _) = self._reached(item, 1, v), self._reached(item, -1, v)
                reached, alpha = up + down, rising + falling
            if reached >= 1 - 2 * SOLVER:
                continue
            columns = np.flatnonzero(alpha)
            cut = Cut(columns, alpha[columns], need)
            if cut.value(v) < need * (1 - 2 * SOLVER):
                found.append(cut)
        return self.pool.add(found)

    def _reached(self, item: int, side: int, v: Floats) -> tuple[float, Floats, Floats]:
        """How far the class of an item moves to a side, in needs; the coefficients of what the duals
        prove of it; the deviation in which it moves so, in needs.
        """
        table, k = self.table, len(self.table.cost)
        p, need = int(table.item_class[item]), float(table.item_need[item])
        still = self.table.known(item)
        below = np.where(still, 0.0, np.minimum(v[:k] / need, MOST_MOVES))
        above = np.where(still, 0.0, np.minimum(v[k:] / need, MOST_MOVES))
        self.attacker.set_bounds(-below, above)
        push = self.attacker.push(np.array([p]), np.array([float(side)]))
        return push.reach, np.where(np.tile(still, 2), 0.0, np.concatenate([push.below, push.above])), push.z

    def _prove(self, mu: Floats) -> None:
        """Lifts the bound to what multipliers of the cuts prove; any multipliers ≥ 0 are valid."""
        high = np.concatenate([self.table.below, self.table.above])
        endless, free = ~np.isfinite(high), self.weight == 0
        reduced, value = self.weight, 0.0
        if self.pool.cuts:
            rows = self.pool.rows
            mu = np.where(rows @ (endless & free).astype(float) > 0, 0.0, mu)  # such a cut holds at no cost
            used = rows.T @ mu
            paid = endless & ~free
            mu = mu / float(np.max(used[paid] / self.weight[paid], initial=1.0))
            reduced, value = self.weight - rows.T @ mu, float(mu @ self.pool.right)
        at = np.where((reduced < 0) & ~endless, high, self.least)
        self.run.raise_bound(value + float(reduced @ at), "LP bound")

    def _offer(self, v: Floats, step: str) -> None:
        """The intervals of cells that those of classes mean."""
        table, k = self.table, len(self.table.cost)
        inside = np.flatnonzero(table.reduction.class_of >= 0)
        c, t = table.reduction.class_of[inside], table.reduction.ratio[inside]
        below, above = np.zeros(len(table.reduction.class_of)), np.zeros(len(table.reduction.class_of))
        below[inside] = np.where(t > 0, v[c], v[k + c]) * np.abs(t)
        above[inside] = np.where(t > 0, v[k + c], v[c]) * np.abs(t)
        problem = self.run.problem
        self.run.offer(
            np.minimum(below, problem.a - problem.lb), np.minimum(above, problem.ub - problem.a), step
        )


class _Shown:
    """What the deviations seen so far show of all items, while intervals only grow: one program settles many
    items.
    """

    def __init__(self, table: ReducedProblem) -> None:
        self._table = table
        self._far = np.zeros(len(table.item_need))

    def met(self, item: int) -> bool:
        """Whether an item is met for sure; one of width is never said to be."""
        return bool(self._table.item_side[item] != 0 and self._far[item] >= self._table.item_need[item])

    def learn(self, u: Floats, v: Floats) -> None:
        """Reads all items off a deviation inside intervals v = (below, above), and off its
        mirror image if that is inside too.
        """
        table, k = self._table, len(u)
        u = np.clip(u, -v[:k], v[k:])
        # a class whose move is small beside what the deviation misses a relation by is shown nothing
        u = np.where(np.abs(u) * SOLVER >= np.abs(table.M @ u).max(initial=0.0), u, 0.0)
        told = table.open_to(u != 0)  # those who know one of two respondents' cells see through it
        for sign in (1.0, -1.0):
            moves = sign * u
            if (moves <= v[k:]).all() and (-moves <= v[:k]).all():
                np.maximum(
                    self._far, np.where(told, table.item_side * moves[table.item_class], 0.0), out=self._far
                )
