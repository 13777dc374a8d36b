"""The attacker of a rounded table, and the cuts that defend it: the protection equations of [3], eq.
2.2–2.11.

The attacker knows the relations, the bounds of each cell, and that the truth lies within
`half` of the printed value (2.2):

    A y = rhs,   max(lb, x − half) ≤ y ≤ min(ub, x + half)

and, as a lone respondent, his own cells (the layers of the table tell who attacks: `model/sensitive.py`). A
primary p is protected where he cannot exclude a − lpl and a + upl, and his interval is at least spl wide
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
from sdc_tasks.optimise import Cut, LinearAttacker, Pushed
from sdc_tasks.solver.clock import Clock, Limit
from sdc_tasks.solver.lp import Status

PROGRAMS = 8  # LPs that push many primaries at once, at most
WORTH_PROGRAMS = 4  # primaries for which such an LP is worth while


@dataclass(frozen=True)
class RoundingVerdict:
    """(requirements,), those of the primaries in order, then those of weaker attackers: whether lower, upper
    and sliding protection are kept; `cuts` are the violated protection equations, v the printed values in
    units of the base.
    """

    down: Bools
    up: Bools
    slide: Bools
    cuts: tuple[Cut, ...] = field(repr=False)
    lps: int = 0

    @property
    def protected(self) -> Bools:
        return np.asarray(self.down & self.up & self.slide)


@dataclass(frozen=True)
class _Bounds:
    """(n,) each, of deviations from the truth, in bases: all that the attacker knows (`lower`, `upper`), and
    what the printed intervals alone say (`near_low`, `near_high`).
    """

    lower: Floats
    upper: Floats
    near_low: Floats
    near_high: Floats

    def knowing(self, cells: Bools) -> _Bounds:
        """The bounds of somebody who also knows these cells (n,); no printed interval bounds him there."""
        if not cells.any():
            return self
        lower, upper = np.where(cells, 0.0, self.lower), np.where(cells, 0.0, self.upper)
        near_low, near_high = np.where(cells, -np.inf, self.near_low), np.where(cells, np.inf, self.near_high)
        return _Bounds(lower, upper, near_low, near_high)


@dataclass(frozen=True)
class _Asked:
    """(requirements,): the cell, the number of its attacker, and how far it must go, in bases. `known`
    (attackers, n): the cells of lone respondents who attack; the first attacker is all of them. `tells`
    (attackers, requirements): whether a point that moves nothing that the one knows says something to the
    other, who then knows no more.
    """

    cell: Ints
    attacker: Ints
    down: Floats
    up: Floats
    width: Floats
    known: Bools
    tells: Bools

    @classmethod
    def of(cls, table: SensitiveTable, unit: float) -> _Asked:
        known, number = [table.lone], {table.lone.tobytes(): 0}
        cells, attackers, parts = list[int](), list[int](), list[Floats]()
        for layer in table.layers:
            mine = table.primaries if layer is table.layers[0] else np.flatnonzero(layer.most > 0)
            for cell in mine.tolist():
                away = (int(layer.guards[cell]), *layer.lacks)
                attacks = table.lone & ~np.isin(table.respondents, away)
                at = number.setdefault(attacks.tobytes(), len(known))
                if at == len(known):
                    known.append(attacks)
                attackers.append(at)
            cells += mine.tolist()
            parts.append(np.array([layer.down, layer.up, layer.width])[:, mine] / unit)
        down, up, width = np.concatenate(parts, axis=1)
        whose, masks = np.array(attackers, dtype=np.int64), np.array(known)
        more = np.array([[bool((his & ~mine).any()) for his in masks] for mine in masks])
        return cls(np.array(cells, dtype=np.int64), whose, down, up, width, masks, ~more[:, whose])


class _Reach:
    """How far witnesses move the cell of each requirement down and up (`low` ≤ 0 ≤ `high`), in bases, and
    whether that is as far as is `asked`.
    """

    def __init__(self, asked: _Asked) -> None:
        self.down, self.up, self.width = asked.down, asked.up, asked.width
        self.low, self.high = np.zeros(len(asked.cell)), np.zeros(len(asked.cell))

    def add(self, z: Floats, tells: Bools) -> None:
        """Counts a witness, for those to whom it says something. New arrays: whoever holds the old ones keeps
        the reach as it was.
        """
        z = np.where(tells, z, 0.0)
        self.low, self.high = np.minimum(self.low, z), np.maximum(self.high, z)

    @property
    def short_down(self) -> Bools:
        return np.asarray(-self.low < self.down - FEASIBILITY)

    @property
    def short_up(self) -> Bools:
        return np.asarray(self.high < self.up - FEASIBILITY)

    @property
    def short_slide(self) -> Bools:
        return np.asarray(self.high - self.low < self.width - FEASIBILITY)

    def meets(self, i: int) -> tuple[bool, bool, bool]:
        """Whether the cell of requirement i is shown to move down, up, and so wide."""
        return (
            bool(-self.low[i] >= self.down[i] - FEASIBILITY),
            bool(self.high[i] >= self.up[i] - FEASIBILITY),
            bool(self.high[i] - self.low[i] >= self.width[i] - FEASIBILITY),
        )


class RoundingAttacker:
    """The attacker of one table. `half` (n,) are the half-widths around its printed cells, 0 for an exact
    cell.
    """

    def __init__(self, table: SensitiveTable, half: Floats, unit: float) -> None:
        self._table, self._unit, self._half = table, unit, half / unit
        self._a = table.a / unit
        self._first, self._last = (table.lb - table.a) / unit, (table.ub - table.a) / unit
        self._size = sp.csr_array(abs(table.M))
        self._asked = _Asked.of(table, unit)
        self._attacker = LinearAttacker(table.M)

    def judge(self, x: Floats, clock: Clock | None = None) -> RoundingVerdict:
        """Whether every primary is protected in the table x (n,). Protection that is not shown
        within the time counts as missing.

        Raises ValueError where x is further from the truth than its half-width.
        """
        clock = clock or Limit()
        public = self._bounds(x / self._unit - self._a)
        asked = self._asked
        bounds, attacker = public.knowing(asked.known[0]), 0
        self._attacker.set_bounds(bounds.lower, bounds.upper)
        reach = _Reach(asked)
        lps = self._push_together(bounds, reach, clock)
        met = np.zeros((3, len(asked.cell)), dtype=bool)
        cuts: list[Cut] = []
        for i in range(len(asked.cell)):
            if (left := clock.left) <= 0:
                break
            self._attacker.limit(left)
            if asked.attacker[i] != attacker:
                attacker = int(asked.attacker[i])
                bounds = public.knowing(asked.known[attacker])
                self._attacker.set_bounds(bounds.lower, bounds.upper)
            found, solved = self._push_alone(i, bounds, reach)
            cuts += found
            lps += solved
            met[:, i] = reach.meets(i)
        return RoundingVerdict(met[0], met[1], met[2], tuple(cuts), lps)

    def _bounds(self, off: Floats) -> _Bounds:
        """What the attacker knows of the deviations z. `off` (n,): printed value less truth, in bases."""
        near_low, near_high = off - self._half, off + self._half
        if (near_low > FEASIBILITY).any() or (near_high < -FEASIBILITY).any():
            raise ValueError("a printed cell is further from the truth than its half-width")
        lower = np.minimum(np.maximum(self._first, near_low), 0.0)
        upper = np.maximum(np.minimum(self._last, near_high), 0.0)
        return _Bounds(
            np.maximum(lower, -FARTHEST_UNITS), np.minimum(upper, FARTHEST_UNITS), near_low, near_high
        )

    def _push_together(self, bounds: _Bounds, reach: _Reach, clock: Clock) -> int:
        """LPs whose points move many primaries at once: most of them then need no LP of their own. Returns
        how many were solved.
        """
        p = self._table.primaries
        rng = np.random.default_rng(1)
        for solved in range(PROGRAMS):
            below, above = reach.short_down, reach.short_up
            # each primary once; a point that moves nobody's own cell says something to everybody
            open_ = np.flatnonzero((below | above | reach.short_slide)[: len(p)] & ~self._table.lone[p])
            if len(open_) < WORTH_PROGRAMS or (left := clock.left) <= 0:
                return solved
            towards = np.where(
                (above & ~below)[: len(p)],
                1.0,
                np.where((below & ~above)[: len(p)], -1.0, rng.choice([-1.0, 1.0], len(p))),
            )[open_]
            self._attacker.limit(left)
            push = self._attacker.push(p[open_], towards)
            if push.status is Status.OPTIMAL and self._is_witness(push.z, bounds):
                reach.add(push.z[self._asked.cell], self._asked.tells[0])
        return PROGRAMS

    def _push_alone(self, i: int, bounds: _Bounds, reach: _Reach) -> tuple[list[Cut], int]:
        """Pushes the cell of requirement i as far as it is not shown to reach. Returns the violated
        protection equations, and how many LPs were solved.
        """
        asked, solved = self._asked, 0
        cell, tells = int(asked.cell[i]), asked.tells[asked.attacker[i]]
        cuts: list[Cut] = []
        ends: list[tuple[Floats, float]] = []
        for side, reached, need in ((-1.0, reach.low, reach.down[i]), (1.0, reach.high, reach.up[i])):
            if abs(reached[i]) >= need - FEASIBILITY and reach.meets(i)[2]:
                continue
            push = self._attacker.push(np.array([cell]), np.array([side]))
            solved += 1
            if push.status is not Status.OPTIMAL:
                continue
            if self._is_witness(push.z, bounds):
                reach.add(push.z[asked.cell], tells)
            equation = self._equation(push, bounds)
            ends.append(equation)
            if abs(min(reach.low[i], 0.0) if side < 0 else reach.high[i]) < need - VIOLATION:
                cuts.append(_dense(equation[0], need - equation[1], cell))
        if not reach.meets(i)[2] and len(ends) == 2:
            # the sum of both ends bounds the width of the interval
            cuts.append(_dense(ends[0][0] + ends[1][0], reach.width[i] - ends[0][1] - ends[1][1], cell))
        return cuts, solved

    def _is_witness(self, z: Floats, bounds: _Bounds) -> bool:
        slack = FEASIBILITY + ROUNDING * (self._size @ np.abs(z))
        return bool(
            (np.abs(self._table.M @ z) <= slack).all()
            and (z >= bounds.lower - FEASIBILITY).all()
            and (z <= bounds.upper + FEASIBILITY).all()
        )

    def _equation(self, push: Pushed, bounds: _Bounds) -> tuple[Floats, float]:
        """(c, d) with reach ≤ c · x + d for every table x, by weak duality."""
        (lower, upper), at_low, at_high = (bounds.lower, bounds.upper), push.below, push.above
        # an end moves with x only where the printed interval is what bounds the attacker
        printed_low, printed_high = bounds.near_low >= lower, bounds.near_high <= upper
        c = np.where(printed_low, -at_low, 0.0) + np.where(printed_high, at_high, 0.0)
        fixed = np.where(printed_low, at_low * (self._a + self._half), -at_low * lower)
        fixed += np.where(printed_high, at_high * (self._half - self._a), at_high * upper)
        return c, float(fixed.sum())


def _dense(coefficients: Floats, right: float, primary: int) -> Cut:
    columns = np.flatnonzero(coefficients)
    return Cut(columns, coefficients[columns], float(right), primary)


def most_asked(table: SensitiveTable) -> tuple[Floats, Floats, Floats]:
    """(n,): how far each primary must fall and rise, and both together, for whomever most is asked."""
    down, up, width = (
        np.max([getattr(layer, name) for layer in table.layers], axis=0) for name in ("down", "up", "width")
    )
    return down, up, width


def necessary(table: SensitiveTable, half: float) -> tuple[Floats, Floats]:
    """(lowest, highest) printed value of each primary by its own interval alone: x +
    half ≥ a + upl, x − half ≤ a − lpl.
    """
    p = table.primaries
    a, (down, up, _) = table.a[p], most_asked(table)
    return a + up[p] - half, a - down[p] + half


def cells_too_wide(table: SensitiveTable, half: float) -> Ints:
    """Primaries whose requirement is wider than an interval of twice `half`, wherever the interval lies."""
    noise = SAME * half
    down, up, width = most_asked(table)
    return np.flatnonzero(table.primary & (np.maximum(down + up, width) > 2 * half + noise))
