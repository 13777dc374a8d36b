"""The integer point of least cost in a system of relations: a proven bound, and the best point found.

1. The vertex of the relaxation. Where it is integral, as on all network tables, it is the result.
2. Else a first point, and a search around it (neighbourhoods.py), until the gap is small enough
   or the search finds nothing more.
3. Then the whole mixed-integer model from there, until the gap, the nodes, or a time limit are reached.

The bound comes from weak duality on the multipliers of the relaxation, by plain arithmetic, or from the
solver of the whole model. Points are checked in integers: a point that violates a relation is not taken.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.rounding import neighbourhoods
from sdc_tasks.methods.rounding.pieces import Pieces
from sdc_tasks.model.progress import Say, silent
from sdc_tasks.model.table import Floats
from sdc_tasks.model.tolerances import DUAL, FEASIBILITY, OPTIMALITY, SOLVER
from sdc_tasks.solver.clock import Clock, Limit
from sdc_tasks.solver.lp import LPResult, Status
from sdc_tasks.solver.milp import UNWATCHED, Milp, SolverName, Watch, solve_milp
from sdc_tasks.solver.names import require_solver
from sdc_tasks.solver.vertex import vertex

WHOLE_BINARIES = 1500  # binaries up to which the whole model is faster than a search


@dataclass(frozen=True)
class SearchOptions:
    """How long a search lasts. A relative gap (cost − bound) / cost of `gap` ends it; `exact` continues with
    the whole model. `clock`: how it may use the time; where work is counted, `nodes` limit each MILP.

    `seed` drives the search. With it, an attacker may reconstruct the values before rounding, so
    it is secret and has no default.
    """

    seed: int
    solver: SolverName = "highs"
    clock: Clock = field(default_factory=Limit)
    gap: float = 0.0
    exact: bool = True
    nodes: int | None = None

    def __post_init__(self) -> None:
        require_solver(self.solver)

    @property
    def watch(self) -> Watch:
        """Ends a MILP when time is up."""
        return (
            Watch(lambda: self.clock.left <= 0, useful=self.clock.useful) if self.clock.counted else UNWATCHED
        )

    @property
    def within(self) -> str:
        """For messages: the limit of a search that found nothing."""
        return "" if self.nodes is None else f", or none was found within {self.nodes} nodes"


@dataclass(frozen=True)
class Relations:
    """lower ≤ A k ≤ upper. The first `equal` rows are relations of the table, A k = rhs
    in integers; the others are cuts.
    """

    A: sp.csr_array = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)
    equal: int

    def hold(self, k: Floats) -> bool:
        value = self.A @ k
        slack = FEASIBILITY * (1 + abs(self.A) @ np.abs(k))
        exact = np.array_equal(value[: self.equal], self.lower[: self.equal])
        return bool(exact and (value >= self.lower - slack).all() and (value <= self.upper + slack).all())


@dataclass(frozen=True)
class Found:
    """`k` (n,) in integers, None where no point was found. `clock`: time ran out, so the result depends on
    the machine.
    """

    status: Status
    k: Floats | None = field(repr=False)
    cost: float = np.inf
    bound: float = -np.inf
    clock: bool = False

    @property
    def gap(self) -> float:
        """(cost − bound) / cost; 0 where the cost is 0."""
        return max(0.0, (self.cost - self.bound) / self.cost) if self.cost > 0 else 0.0


def relations(
    A: sp.csr_array, rhs: Floats, cuts: sp.csr_array | None = None, least: Floats | None = None
) -> Relations:
    """The relations A k = rhs, with the cuts · k ≥ least. A (m, n), cuts (c, n)."""
    if cuts is None or least is None:
        return Relations(A, rhs, rhs, len(rhs))
    rows = sp.csr_array(sp.vstack([A, cuts], format="csr"))
    return Relations(
        rows, np.concatenate([rhs, least]), np.concatenate([rhs, np.full(len(least), np.inf)]), len(rhs)
    )


def least_cost(pieces: Pieces, rows: Relations, search: SearchOptions, progress: Say = silent) -> Found:
    """The point of least cost, or the best one found, with a proven bound."""
    model = pieces.model(rows.A, rows.lower, rows.upper)
    relaxed = vertex(model, search.clock.left)
    if relaxed.status is not Status.OPTIMAL:
        return Found(relaxed.status, None, clock=relaxed.status is Status.STOPPED)
    bound = weak_duality(model, relaxed.dual) + pieces.constant
    best = _best(pieces, rows, relaxed.x)
    if best is not None:
        cost, noise = _cost(pieces, best, model), OPTIMALITY * float(np.abs(model.cost).sum())
        if cost - bound <= noise + OPTIMALITY * abs(cost):
            return Found(Status.OPTIMAL, best, cost, bound)
        # The solver's word for an optimum that its own multipliers do not prove is no more than a start.
        unproven = Found(Status.FEASIBLE, best, cost, bound)
        return _whole(pieces, rows, model, search, search.clock.left, filled(pieces, best), unproven)
    progress(f"bound {bound:.6g}, not whole")
    start, found = _by_neighbourhoods(pieces, rows, model, relaxed, search, bound, progress)
    if found.k is not None and (found.gap <= search.gap or not search.exact):
        return found if found.gap > search.gap else replace(found, status=Status.OPTIMAL, clock=False)
    left = search.clock.left
    return found if left <= 0 else _whole(pieces, rows, model, search, left, start, found)


def _by_neighbourhoods(
    pieces: Pieces,
    rows: Relations,
    model: Milp,
    relaxed: LPResult,
    search: SearchOptions,
    bound: float,
    progress: Say,
) -> tuple[Floats | None, Found]:
    """A start for the search of the whole model where that is large, and what it gives by itself."""
    start, clock = None, False
    if len(model.binary) > WHOLE_BINARIES:
        start, clock = neighbourhoods.search(
            model, len(np.unique(pieces.column)), relaxed, search, bound, pieces.constant, progress
        )
    if start is None or (k := _best(pieces, rows, start)) is None:
        return start, Found(Status.STOPPED, None, bound=bound, clock=clock)
    cost = float(model.cost @ start) + pieces.constant
    return start, Found(Status.FEASIBLE, k, cost, bound, clock)


def _whole(
    pieces: Pieces,
    rows: Relations,
    model: Milp,
    search: SearchOptions,
    seconds: float,
    start: Floats | None,
    found: Found,
) -> Found:
    """Solves the whole model from a start. The result is never worse than `found`."""
    result = solve_milp(
        model, search.solver, max(seconds, 0.1), search.gap, search.nodes, start, search.watch
    )
    bound = found.bound if result.bound is None else max(found.bound, result.bound + pieces.constant)
    clock = (
        np.isfinite(seconds)
        and result.status is not Status.OPTIMAL
        and result.status is not Status.INFEASIBLE
    )
    if result.x is None:
        status = found.status if found.k is not None else result.status
        return Found(status, found.k, found.cost, bound, clock)
    k = _best(pieces, rows, result.x)
    if k is None:
        return Found(found.status, found.k, found.cost, bound, clock)
    cost = _cost(pieces, k, model)
    if cost >= found.cost:
        k, cost = (found.k, found.cost) if found.k is not None else (k, cost)
    return Found(result.status, k, cost, min(bound, cost), clock)


def _best(pieces: Pieces, rows: Relations, u: Floats) -> Floats | None:
    """k in integers, if the pieces are integral and every row holds; else None."""
    k = pieces.value(u)
    whole = np.rint(k)
    return (
        whole if (np.abs(k - whole) <= SOLVER * np.maximum(1, np.abs(k))).all() and rows.hold(whole) else None
    )


def _cost(pieces: Pieces, k: Floats, model: Milp) -> float:
    """The cost of k, from its pieces filled in order: free of a solver's rounding."""
    return float(model.cost @ filled(pieces, k)) + pieces.constant


def filled(pieces: Pieces, k: Floats) -> Floats:
    """(pieces,): the pieces filled to reach k (n,): above the origin from the flattest on,
    below it from the smallest gain on.
    """
    u = np.zeros(len(pieces.slope))
    short = k - pieces.origin
    for side in (1.0, -1.0):
        wide = np.where(side > 0, pieces.upper, -pieces.lower)
        mine = np.flatnonzero(wide > 0)
        order = mine[np.lexsort((side * pieces.slope[mine], pieces.column[mine]))]
        width, column = wide[order], pieces.column[order]
        finite = np.where(np.isfinite(width), width, np.maximum(np.abs(short[column]), 1.0))
        ends = np.cumsum(finite)
        first = np.searchsorted(column, column)
        before = ends - finite - np.where(first > 0, ends[np.maximum(first - 1, 0)], 0.0)
        u[order] += side * np.clip(side * short[column] - before, 0.0, finite)
    return u


def weak_duality(model: Milp, dual: Floats) -> float:
    """A lower bound on the relaxation from any multipliers `dual` (rows,), by arithmetic alone: each
    column is at its cheaper bound.

    A multiplier on the side of a row without a bound counts as 0, and so does a slope of the size of
    rounding in an unbounded column.
    """
    y = np.where(
        dual > 0,
        np.where(np.isfinite(model.row_lower), dual, 0.0),
        np.where(np.isfinite(model.row_upper), dual, 0.0),
    )
    reduced = model.cost - model.A.T @ y
    ends = np.where(reduced > 0, model.lower, model.upper)
    reduced = np.where(
        ~np.isfinite(ends) & (np.abs(reduced) <= DUAL * (1 + np.abs(model.cost))), 0.0, reduced
    )
    used, rows = reduced != 0, y != 0
    sides = np.where(y > 0, model.row_lower, model.row_upper)
    return float(sides[rows] @ y[rows] + ends[used] @ reduced[used])
