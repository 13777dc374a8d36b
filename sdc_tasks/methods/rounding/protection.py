"""The attacker of a rounded table, and the cuts that defend it: the protection equations of [3], eq.
2.2–2.11.

The attacker knows the relations, the bounds of each cell, and that the truth lies within
`half` of the printed value (2.2):

    A y = rhs,   max(lb, x − half) ≤ y ≤ min(ub, x + half)

A primary p is protected where he cannot exclude a − lpl and a + upl, and his interval is at least spl wide
(2.3–2.5). By weak duality any multipliers γ bound his reach by a sum over the bounds of the cells, each of
them linear in x or constant. The requirement must not exceed this sum: that is a protection equation (2.8,
2.9, 2.11). An equation that the table violates becomes a cut of the rounding model.

Protection is shown by witnesses: points of the attacker's problem, checked by plain arithmetic.
Values are in units of the base.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.polyhedron import FARTHEST_UNITS
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY, ROUNDING, SAME, VIOLATION
from sdc_tasks.optimise import Cut
from sdc_tasks.solver.clock import Clock, Limit
from sdc_tasks.solver.lp import LiveLP, LPResult, Status

PROGRAMS, WORTH_PROGRAMS = (
    8,
    4,
)  # programs for many primaries at once, at most; primaries for which they are worth while


@dataclass(frozen=True)
class RoundingVerdict:
    """(primaries,), in order: whether lower, upper and sliding protection are kept;
    `cuts` are the violated protection equations, v the printed values in units of the base.
    """

    down: Bools
    up: Bools
    slide: Bools
    cuts: tuple[Cut, ...] = field(repr=False)
    lps: int = 0

    @property
    def protected(self) -> Bools:
        return np.asarray(self.down & self.up & self.slide)


class RoundingAttacker:
    """The attacker of one table. `half` (n,) are the half-widths around its printed cells, 0 for an exact
    cell.
    """

    def __init__(self, table: SensitiveTable, half: Floats, unit: float) -> None:
        self._table, self._unit, self._half = table, unit, half / unit
        self._a = table.a / unit
        self._first, self._last = (table.lb - table.a) / unit, (table.ub - table.a) / unit
        n, m = len(table.a), table.M.shape[0]
        self._size = sp.csr_array(abs(table.M))
        self._live = LiveLP(np.zeros(n), table.M, np.zeros(m), np.zeros(m), np.zeros(n), np.zeros(n))
        self._live.method("primal")  # from one cell to the next only the cost changes

    def judge(self, x: Floats, clock: Clock | None = None) -> RoundingVerdict:
        """Whether every primary is protected in the table x (n,). Protection that is not shown
        within the time counts as missing.

        Raises ValueError where x is further from the truth than its half-width.
        """
        clock = clock or Limit()
        table, unit = self._table, self._unit
        off = x / unit - self._a
        near_low, near_high = off - self._half, off + self._half
        if (near_low > FEASIBILITY).any() or (near_high < -FEASIBILITY).any():
            raise ValueError("a printed cell is further from the truth than its half-width")
        lower, upper = (
            np.minimum(np.maximum(self._first, near_low), 0.0),
            np.maximum(np.minimum(self._last, near_high), 0.0),
        )
        lower, upper = np.maximum(lower, -FARTHEST_UNITS), np.minimum(upper, FARTHEST_UNITS)
        n, p = len(off), table.primaries
        self._live.set_bounds(np.arange(n), lower, upper)
        need = table.down[p] / unit, table.up[p] / unit, table.width[p] / unit
        low, high = np.zeros(len(p)), np.zeros(len(p))  # what witnesses reach
        met_down, met_up, met_slide = (np.zeros(len(p), dtype=bool) for _ in range(3))
        cuts: list[Cut] = []
        lps = 0
        rng = np.random.default_rng(1)
        for _ in range(
            PROGRAMS
        ):  # points that move many primaries at once spare most of the others their own programs
            below, above = -low < need[0] - FEASIBILITY, high < need[1] - FEASIBILITY
            open_ = np.flatnonzero(below | above | (high - low < need[2] - FEASIBILITY))
            if len(open_) < WORTH_PROGRAMS or (left := clock.left) <= 0:
                break
            towards = np.where(
                above & ~below, 1.0, np.where(below & ~above, -1.0, rng.choice([-1.0, 1.0], len(p)))
            )[open_]
            self._live.limit(left)
            self._live.set_cost(p[open_], -towards)
            result = self._live.solve()
            self._live.set_cost(p[open_], np.zeros(len(open_)))
            lps += 1
            if result.status is Status.OPTIMAL and self._is_witness(result.x, lower, upper):
                low, high = np.minimum(low, result.x[p]), np.maximum(high, result.x[p])
        for i, cell in enumerate(p.tolist()):
            if (left := clock.left) <= 0:
                break
            self._live.limit(left)
            ends: list[tuple[Floats, float]] = []
            for side, reached, met in ((-1.0, low, need[0]), (1.0, high, need[1])):
                if abs(reached[i]) >= met[i] - FEASIBILITY and high[i] - low[i] >= need[2][i] - FEASIBILITY:
                    continue
                result = self._extreme(cell, side)
                lps += 1
                if result.status is not Status.OPTIMAL:
                    continue
                if self._is_witness(result.x, lower, upper):
                    low, high = np.minimum(low, result.x[p]), np.maximum(high, result.x[p])
                equation = self._equation(result.dual, cell, side, lower, upper, near_low, near_high)
                ends.append(equation)
                if abs(min(low[i], 0.0) if side < 0 else high[i]) < met[i] - VIOLATION:
                    cuts.append(_dense(equation[0], met[i] - equation[1], cell))
            met_down[i], met_up[i] = (
                -low[i] >= need[0][i] - FEASIBILITY,
                high[i] >= need[1][i] - FEASIBILITY,
            )
            met_slide[i] = high[i] - low[i] >= need[2][i] - FEASIBILITY
            if not met_slide[i] and len(ends) == 2:
                cuts.append(_dense(ends[0][0] + ends[1][0], need[2][i] - ends[0][1] - ends[1][1], cell))
        return RoundingVerdict(met_down, met_up, met_slide, tuple(cuts), lps)

    def _extreme(self, cell: int, side: float) -> LPResult:
        """How far from the truth the attacker's interval of a cell reaches: down (−1) or up (1)."""
        at = np.array([cell])
        self._live.set_cost(at, np.array([-side]))
        result = self._live.solve()
        self._live.set_cost(at, np.zeros(1))
        return result

    def _is_witness(self, z: Floats, lower: Floats, upper: Floats) -> bool:
        slack = FEASIBILITY + ROUNDING * (self._size @ np.abs(z))
        return bool(
            (np.abs(self._table.M @ z) <= slack).all()
            and (z >= lower - FEASIBILITY).all()
            and (z <= upper + FEASIBILITY).all()
        )

    def _equation(
        self,
        dual: Floats,
        cell: int,
        side: float,
        lower: Floats,
        upper: Floats,
        near_low: Floats,
        near_high: Floats,
    ) -> tuple[Floats, float]:
        """(c, d) with reach ≤ c · x + d for every table x: weak duality with the multipliers of the last
        solve.
        """
        reduced = -(self._table.M.T @ dual)
        reduced[cell] -= side  # of min −side · z: reach ≤ −Σ r⁺ lower − Σ r⁻ upper
        reduced[np.abs(reduced) < ROUNDING] = 0.0
        at_low, at_high = np.maximum(reduced, 0.0), np.maximum(-reduced, 0.0)
        printed_low, printed_high = (
            near_low >= lower,
            near_high <= upper,
        )  # the end that x decides, where it is the one that holds
        c = np.where(printed_low, -at_low, 0.0) + np.where(printed_high, at_high, 0.0)
        fixed = np.where(printed_low, at_low * (self._a + self._half), -at_low * lower)
        fixed += np.where(printed_high, at_high * (self._half - self._a), at_high * upper)
        return c, float(fixed.sum())


def _dense(coefficients: Floats, right: float, primary: int) -> Cut:
    columns = np.flatnonzero(coefficients)
    return Cut(columns, coefficients[columns], float(right), primary)


def necessary(table: SensitiveTable, half: float) -> tuple[Floats, Floats]:
    """(lowest, highest) printed value of each primary by its own interval alone: x +
    half ≥ a + upl, x − half ≤ a − lpl.
    """
    a = table.a[table.primaries]
    p = table.primaries
    return a + table.up[p] - half, a - table.down[p] + half


def cells_too_wide(table: SensitiveTable, half: float) -> Ints:
    """Primaries whose requirement is wider than an interval of twice `half`, wherever the interval lies."""
    noise = SAME * half
    return np.flatnonzero(table.primary & (np.maximum(table.down + table.up, table.width) > 2 * half + noise))
