"""MILP-CTA that may fall short of levels, so that it always has a solution. Parts of it can be relaxed.

    min  Σ w_i (z⁺_i + z⁻_i) + ρ Σ_p v_p t_p      s.t. the model, with  z⁺_p ≥ upl_p (y_p − t_p),  z⁻_p ≥
    lpl_p (1 − y_p − t_p),  0 ≤ t ≤ 1

t_p is the share of its level that a cell lacks, v_p the cost of its whole level; z = 0, t = 1 is always
feasible. At a high price ρ shortfalls remain only where fixed senses do not fit together. With costs of
t alone, the least Σ t shows which cells prevent a protected table. A relaxed y_p (0 ≤ y ≤ 1) is
projected out: its four rows become one,

    z⁺_p / upl_p + z⁻_p / lpl_p ≥ 1 − t_p

which holds for every table and is much easier for the solver. Columns: those of the model, then t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.cta.inequalities import Inequalities, no_inequalities
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import NOTICEABLE, SOLVER
from sdc_tasks.solver.milp import LiveMilp, Milp, Watch

RHO = 20.0  # times level and weight of a cell: the cost of its whole level
CELLS_NAMED = 8  # cells that a message names
BLAME_NODES, BLAME_SECONDS = 500, 20.0


@dataclass(frozen=True)
class Standing:
    """Senses (s,) (True: up), net deviations (n,) in units, and (s,) the share of its level
    that each sensitive cell lacks.

    `proven`: no choice of the open senses has a lower cost.
    """

    up: Bools = field(repr=False)
    z: Floats = field(repr=False)
    t: Floats = field(repr=False)
    proven: float = 0.0

    @property
    def short(self) -> Ints:
        return np.flatnonzero(self.t > NOTICEABLE)


def standing(problem: CtaProblem, up: Bools, z: Floats) -> Standing:
    """The standing of deviations z (n,). The sense of a cell is the direction of its deviation, or
    `up` (s,) where it does not move.
    """
    moved = z[problem.sensitive]
    way = np.where(np.abs(moved) > SOLVER, moved > 0, up)
    level = np.where(way, problem.upl, problem.lpl)
    return Standing(
        way, z, np.where(level > 0, 1 - np.abs(moved) / np.where(level > 0, level, 1.0), 0.0).clip(0.0)
    )


def at_rest(problem: CtaProblem, up: Bools) -> Standing:
    """The standing in which no cell moves and all fall short: a start that always exists."""
    return standing(problem, up, np.zeros(len(problem.cells)))


class ShortfallMilp:
    """The model in memory. Each solve sets which senses are open (binary) and which are relaxed; all others
    are fixed.
    """

    def __init__(self, problem: CtaProblem, valid: Inequalities, run: Run) -> None:
        self._problem, self._run = problem, run
        self._model = valid.always.added_to(_with_shortfalls(problem))
        self._live = LiveMilp(self._model)
        self._t = len(self._model.cost) - len(problem.sensitive) + np.arange(len(problem.sensitive))

    def price(self, rho: float) -> None:
        """Sets the price of shortfalls for later solves. It is RHO at first."""
        self._live.set_cost(self._t, rho * _value(self._problem))

    def price_shortfalls_alone(self) -> None:
        """Sets the cost of later solves to Σ t."""
        self._live.set_cost(np.arange(2 * len(self._problem.cells)), np.zeros(2 * len(self._problem.cells)))
        self._live.set_cost(self._t, np.ones(len(self._t)))

    def solve(
        self,
        start: Standing,
        opened: Bools,
        relaxed: Bools,
        near: Bools,
        gap: float,
        nodes: int | None,
        seconds: float = math.inf,
    ) -> Standing:
        """A standing at most as expensive as the start. Senses that are neither open nor relaxed stay, and so
        do deviations that are not `near` (n,).
        """
        y, model = self._model.binary, self._model
        z, free = np.concatenate([np.maximum(start.z, 0), np.maximum(-start.z, 0)]), np.tile(near, 2)
        at = np.arange(len(z))
        self._live.fix(at, np.where(free, model.lower[at], z), np.where(free, model.upper[at], z))
        self._live.fix(y, np.where(opened, 0.0, start.up), np.where(opened, 1.0, start.up))
        miss = (
            self._problem.A @ start.z
        )  # tiny, but a relation whose cells are all fixed must not look infeasible
        self._live.set_row_bounds(np.arange(len(miss)), np.minimum(miss, 0.0), np.maximum(miss, 0.0))
        rows, loose = self._problem.A.shape[0] + np.arange(4 * len(y)), np.tile(relaxed, 4)
        self._live.set_row_bounds(
            rows,
            np.where(loose, -np.inf, model.row_lower[rows]),
            np.where(loose, np.inf, model.row_upper[rows]),
        )
        columns, left = np.concatenate([z, start.up, start.t]), min(self._run.left, seconds)
        result = self._live.solve(columns, left, gap, nodes, Watch(stop=lambda: self._run.out_of_time))
        proven = 0.0 if result.bound is None else result.bound
        if result.x is None:
            return replace(start, proven=proven)
        return replace(
            standing(self._problem, result.x[y] > 0.5, self._problem.deviation(result.x)), proven=proven
        )


def _with_shortfalls(problem: CtaProblem) -> Milp:
    """The model with the columns t, each in the two rows of its cell that ask for a level,
    and the rows of the relaxed cells.
    """
    model, s, m = problem.milp, len(problem.sensitive), problem.A.shape[0]
    none = sp.csr_array((s, s))
    t = sp.vstack(
        [sp.csr_array((m, s)), sp.diags_array(problem.upl), none, sp.diags_array(problem.lpl), none]
    )
    both = (problem.upl > 0) & (problem.lpl > 0)
    pick = sp.csr_array((np.ones(s), (np.arange(s), problem.sensitive)), shape=(s, len(problem.cells)))
    one, other = (
        sp.diags_array(np.where(both, 1 / np.where(both, level, 1.0), 0.0)) @ pick
        for level in (problem.upl, problem.lpl)
    )
    projected = sp.hstack([one, other, none, sp.diags_array(both.astype(float))])
    return Milp(
        cost=np.concatenate([model.cost, RHO * _value(problem)]),
        A=sp.csr_array(sp.vstack([sp.hstack([model.A, t]), projected], format="csr")),
        row_lower=np.concatenate([model.row_lower, both.astype(float)]),
        row_upper=np.concatenate([model.row_upper, np.full(s, np.inf)]),
        lower=np.concatenate([model.lower, np.zeros(s)]),
        upper=np.concatenate([model.upper, np.ones(s)]),
        binary=model.binary,
    )


def _value(problem: CtaProblem) -> Floats:
    """(s,): v, the level of each sensitive cell times its weight, or times the median weight where it has
    none.
    """
    w = problem.w[problem.sensitive]
    usual = float(np.median(problem.w[problem.w > 0])) if problem.w.any() else 1.0
    return np.asarray(np.maximum(problem.lpl, problem.upl) * np.where(w > 0, w, usual))


def unprotectable(problem: CtaProblem, at: Standing) -> Unprotectable:
    """The exception where it is proven that no choice of senses protects every cell; `at` is
    the least short standing found.
    """
    cells = problem.sensitive[at.short].tolist()
    names = ", ".join(problem.name(cell) for cell in cells[:CELLS_NAMED]) + (
        f" and {len(cells) - CELLS_NAMED} more" if len(cells) > CELLS_NAMED else ""
    )
    return Unprotectable(
        f"no choice of senses protects all {len(problem.sensitive)} sensitive cells at once; where the "
        f"others keep their levels, these "
        f"fall short: {names}. Remedy: lower the level of these, widen bounds around them, or let a fixed "
        f"cell of their relations move"
    )


def least_short(problem: CtaProblem, run: Run) -> Standing:
    """Solves the whole model for Σ t alone, with limited effort: a small set of cells
    that prevents a protected table.
    """
    model = ShortfallMilp(problem, no_inequalities(problem), run)
    model.price_shortfalls_alone()
    opened, near = np.ones(len(problem.sensitive), dtype=bool), np.ones(len(problem.cells), dtype=bool)
    seconds = math.inf if run.clock.counted else BLAME_SECONDS
    return model.solve(at_rest(problem, problem.can_rise), opened, ~opened, near, 0.0, BLAME_NODES, seconds)
