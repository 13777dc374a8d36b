"""A search for integer points near the relaxation, for tables of three and more dimensions, where a
mixed-integer solver alone is slow.

The cost of a point above the bound is the sum of |reduced cost| · |distance from the relaxation| over its
columns. So the search uses the columns with a small reduced cost, or with a fractional value in the
relaxation. First it solves the model over these columns alone. Then it solves small models, each over a ball
of such columns around the most expensive ones, with all others fixed. Balls grow while they are easy and
shrink while they are hard, measured in simplex iterations, not in seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import DUAL, IMPROVEMENT, OPTIMALITY
from sdc_tasks.solver.clock import Clock
from sdc_tasks.solver.lp import LPResult, Status
from sdc_tasks.solver.milp import Milp, Watch, solve_milp

KERNELS = (
    0.56,
    0.62,
    0.7,
    0.8,
    np.inf,
)  # cheapest columns, as a share of the number of cells, where a first point is looked for
TRY = 1 / 10  # share of the time left, for a kernel that leaves out columns
BALL_PRICE = 0.5  # the same for balls
BALL, LEAST_BALL, EASY, HARD = 300, 100, 100, 250  # columns at first, at least; simplex iterations
BALL_NODES = (
    1  # of a ball: the root finds most of the gain, and a search tree may take a hundred times as long
)
FRUITLESS_BALLS = 40  # balls without a gain after which the search ends
BETWEEN = 1e-3


class Effort(Protocol):
    """How long a search lasts, and how close it gets."""

    @property
    def clock(self) -> Clock: ...
    @property
    def gap(self) -> float: ...
    @property
    def seed(self) -> int: ...
    @property
    def nodes(self) -> int | None: ...


def search(
    model: Milp,
    cells: int,
    relaxed: LPResult,
    effort: Effort,
    bound: float,
    constant: float,
    progress: Callable[[str], None],
) -> tuple[Floats | None, bool]:
    """(best point found (columns,) or None, whether time ran out). The columns are the pieces of `cells`
    cells.
    """
    price = np.abs(model.cost - model.A.T @ relaxed.dual)
    between = np.abs(relaxed.x - np.rint(relaxed.x)) > BETWEEN
    unit = float(np.abs(model.cost).max(initial=0.0)) or 1.0
    point, hurried = _first(model, relaxed, price, between, cells, effort)
    if point is None:
        return None, hurried
    rng, size, idle, last = np.random.default_rng(effort.seed), float(BALL), 0, np.inf
    columns, touches = sp.csc_array(model.A), sp.csr_array(abs(model.A) > 0).astype(float)
    touched, binary = sp.csr_array(touches.T), np.zeros(len(model.cost), dtype=bool)
    binary[model.binary] = True
    while idle < FRUITLESS_BALLS:
        cost = float(model.cost @ point) + constant
        if cost - bound <= effort.gap * cost:
            return point, hurried
        if effort.clock.left <= 0:
            return point, True
        if cost < last * 0.995:
            progress(f"cost {cost:.6g}, bound {bound:.6g}, gap {(cost - bound) / cost:.2%}")
            last = cost
        off = np.abs(point - relaxed.x)
        chosen = binary & (between | (off > BETWEEN) | (price <= BALL_PRICE * unit))
        ball = ball_of(touches, touched, chosen, price * off, int(size), rng)
        if not len(ball):
            return point, hurried
        gain, iterations = _improve(model, columns, point, ball, effort.clock.left)
        idle = 0 if gain > 0 else idle + 1
        size = max(LEAST_BALL, size * (1.25 if iterations < EASY else 0.8 if iterations > HARD else 1.0))
    return point, hurried


def _first(
    model: Milp, relaxed: LPResult, price: Floats, between: Bools, cells: int, effort: Effort
) -> tuple[Floats | None, bool]:
    """(the first point that a solver finds, whether time decided which); columns outside the
    kernel keep their rounded value.
    """
    hurried = False
    for share in KERNELS:
        last = share == KERNELS[-1]
        free = between | (price <= np.quantile(price, min(1.0, share * cells / len(price))))
        lower = np.where(free, model.lower, np.rint(relaxed.x))
        upper = np.where(free, model.upper, np.rint(relaxed.x))
        points: list[Floats] = []
        part = Milp(model.cost, model.A, model.row_lower, model.row_upper, lower, upper, model.binary)
        seconds = max(effort.clock.left * (1.0 if last else TRY), 0.1)
        result = solve_milp(
            part, "highs", seconds, 0.0, effort.nodes if last else 1, watch=_first_only(points, effort.clock)
        )
        point = points[0] if points else result.x
        if point is not None:
            return _rounded(model, point), hurried
        hurried |= bool(np.isfinite(seconds)) and result.status is Status.STOPPED
    return None, hurried


def _first_only(points: list[Floats], clock: Clock) -> Watch:
    """Ends a run as soon as it has a point."""
    return Watch(lambda: bool(points) or clock.left <= 0, points.append)


def _rounded(model: Milp, x: Floats) -> Floats:
    point = x.copy()
    point[model.binary] = np.rint(point[model.binary])
    return point


def ball_of(
    touches: sp.csr_array,
    touched: sp.csr_array,
    chosen: Bools,
    price: Floats,
    size: int,
    rng: np.random.Generator,
) -> Ints:
    """At most `size` of the chosen columns around an expensive one, along the rows they share; expensive ones
    first.
    """
    weight = np.where(chosen, price, 0.0)
    total = float(weight.sum())
    if total <= 0:
        return np.zeros(0, dtype=np.int64)
    centre = int(rng.choice(len(price), p=weight / total))
    inside = np.zeros(len(price), dtype=bool)
    inside[centre] = True
    count = 1
    while count < size:
        reached = touched @ ((touches @ inside.astype(float)) > 0).astype(float) > 0
        new = np.flatnonzero(reached & chosen & ~inside)
        if not len(new):
            break
        if len(new) > size - count:
            new = new[np.argsort(-(price[new] + DUAL) * rng.random(len(new)), kind="stable")[: size - count]]
        inside[new] = True
        count += len(new)
    return np.flatnonzero(inside)


def _improve(
    model: Milp, columns: sp.csc_array, point: Floats, ball: Ints, seconds: float
) -> tuple[float, int]:
    """Moves the columns of the ball to the best point that a few nodes find. Returns (gain, simplex
    iterations).
    """
    A = sp.csr_array(columns[:, ball])
    rows = np.flatnonzero(np.diff(A.indptr))
    A = sp.csr_array(A[rows])
    rest = (model.A[rows] @ point) - A @ point[ball]
    part = Milp(
        model.cost[ball],
        A,
        model.row_lower[rows] - rest,
        model.row_upper[rows] - rest,
        model.lower[ball],
        model.upper[ball],
        np.arange(len(ball)),
    )
    result = solve_milp(part, "highs", max(seconds, 0.1), OPTIMALITY, BALL_NODES, start=point[ball])
    if result.x is None:
        return 0.0, result.iterations
    better = np.rint(result.x)
    gain = float(model.cost[ball] @ (point[ball] - better))
    if gain <= IMPROVEMENT * float(np.abs(model.cost[ball]).sum()):
        return 0.0, result.iterations
    point[ball] = better
    return gain, result.iterations
