"""A mixed-integer model as arrays, the result of a solver, and the watch on a running solve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import JUDGED_INTEGRALITY, VIOLATION
from sdc_tasks.solver.lp import Status
from sdc_tasks.telemetry import relative_gap, span


@dataclass(frozen=True)
class Milp:
    """min cost·x, row_lower ≤ A x ≤ row_upper, lower ≤ x ≤ upper, x_j whole for j in
    `binary`: 0 or 1, or another step of one within the bounds. A has shape (rows, columns).
    """

    cost: Floats = field(repr=False)
    A: sp.csr_array = field(repr=False)
    row_lower: Floats = field(repr=False)
    row_upper: Floats = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)
    binary: Ints = field(repr=False)

    @cached_property
    def scale(self) -> float:
        """Costs are divided by this before a solver sees them. Their median is then near 1000: the tolerances
        of the objective mean the same in any unit, and the three decimals of CBC's bound are enough.
        """
        positive = np.abs(self.cost[self.cost != 0])
        return float(2.0 ** (np.round(np.log2(np.median(positive))) - 10)) if len(positive) else 1.0

    def has(self, x: Floats) -> bool:
        """Whether a point (columns,) is one of the model, up to `VIOLATION`, by plain arithmetic."""
        if not np.isfinite(x).all():
            return False
        values, size = self.A @ x, VIOLATION * np.maximum(abs(self.A) @ np.abs(x), 1.0)
        slack, binary = VIOLATION * np.maximum(np.abs(x), 1.0), x[self.binary]
        return bool(
            ((x >= self.lower - slack) & (x <= self.upper + slack)).all()
            and ((values >= self.row_lower - size) & (values <= self.row_upper + size)).all()
            and (np.abs(binary - np.rint(binary)) <= JUDGED_INTEGRALITY).all()
        )


@dataclass(frozen=True)
class MilpResult:
    """The incumbent `x` (columns,), None if there is none; `bound` is a lower bound on the optimum,
    None where the solver gave none.
    """

    status: Status
    x: Floats | None = field(repr=False)
    objective: float | None = field(repr=False)
    bound: float | None = field(repr=False)
    iterations: int = (
        0  # of the simplex method, where the solver reports them: effort, the same on every machine
    )
    nodes: int | None = None  # of the search tree, where the solver reports them


def _nothing(_: object) -> None:
    pass


@dataclass(frozen=True)
class Watch:
    """Callbacks of a running solve: it reports each better `point` and `bound`, and asks whether to
    `stop` (it ends within seconds).

    Only HiGHS reports points; CBC writes its point at the end. An exception of a callback ends the solve.
    `useful`: seconds for which somebody still waits for the result.
    """

    stop: Callable[[], bool]
    point: Callable[[Floats], object] = _nothing
    bound: Callable[[float], object] = _nothing
    useful: float = np.inf


UNWATCHED = Watch(stop=lambda: False)


def spanned(solver: str, model: Milp, solve: Callable[[], MilpResult]) -> MilpResult:
    """Solves within a span of the telemetry."""
    sizes = {"rows": model.A.shape[0], "columns": model.A.shape[1], "binaries": len(model.binary)}
    with span("sdc.solve", solver=solver, **sizes) as tell:
        found = solve()
        gap = relative_gap(found.objective, found.bound)
        tell(status=str(found.status), nodes=found.nodes, iterations=found.iterations, gap=gap)
    return found


def finite(value: float | None) -> float | None:
    return float(value) if value is not None and np.isfinite(value) else None
