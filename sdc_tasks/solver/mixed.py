"""A mixed-integer model as arrays, what a solver found of it, and who watches while it is solved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.solver.lp import Status


@dataclass(frozen=True)
class Milp:
    """min cost·x, row_lower ≤ A x ≤ row_upper, lower ≤ x ≤ upper, x_j ∈ {0, 1} for j in `binary`."""

    cost: Floats = field(repr=False)
    A: sp.csr_array = field(repr=False)
    row_lower: Floats = field(repr=False)
    row_upper: Floats = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)
    binary: Ints = field(repr=False)

    @cached_property
    def scale(self) -> float:
        """Costs are divided by this before a solver sees them: a median near 1000, so that the tolerances of its objective mean the
        same in any unit, and the three decimals of CBC's bound are enough.
        """
        positive = np.abs(self.cost[self.cost != 0])
        return float(2.0 ** (np.round(np.log2(np.median(positive))) - 10)) if len(positive) else 1.0


@dataclass(frozen=True)
class MilpResult:
    """`x` is None without an incumbent; `bound` is a lower bound on the optimum, None where the solver gave none."""

    status: Status
    x: Floats | None = field(repr=False)
    objective: float | None = field(repr=False)
    bound: float | None = field(repr=False)
    iterations: int = 0  # of the simplex method, where the solver tells: effort in a measure that is the same on every machine
    nodes: int | None = None  # of the search tree, where the solver tells


def _nothing(_: object) -> None:
    pass


@dataclass(frozen=True)
class Watch:
    """Who follows a running solve: told of each better `point` and `bound`, asked whether to `stop` (a request is met within seconds).

    Points come from HiGHS only; CBC writes its points at the end. What a watch raises ends the solve. `useful`: seconds after which nobody
    waits for a process any more.
    """

    stop: Callable[[], bool]
    point: Callable[[Floats], object] = _nothing
    bound: Callable[[float], object] = _nothing
    useful: float = np.inf


UNWATCHED = Watch(stop=lambda: False)


def finite(value: float | None) -> float | None:
    return float(value) if value is not None and np.isfinite(value) else None
