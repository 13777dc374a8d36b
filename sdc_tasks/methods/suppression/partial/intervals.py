"""Intervals instead of blanks, what they lose, and whether they protect.

A publication gives each cell i the interval [a_i − below_i, a_i + above_i]; where both are 0 it gives the
value. The attacker knows the relations, the external bounds and all intervals:

    Z(below, above) = { z : M z = 0,  −below ≤ z ≤ above },      0 ≤ below ≤ a − lb,   0 ≤ above ≤ ub − a

It is safe if every primary meets its levels over Z, as in complete suppression, which is the case below = a −
lb, above = ub − a of the hidden cells. The loss is Σ weight_i (below_i + above_i), the primaries included.

`judge` shares no code with the search: it asks the verifier of patterns about the table
whose bounds are the intervals.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from sdc_tasks.judge.pattern import verify
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats, Ints, read_only
from sdc_tasks.model.tolerances import FEASIBILITY


@dataclass(frozen=True)
class Intervals:
    """(n): how far each interval reaches below and above the value, in data units;
    `loss` is Σ weight (below + above).
    """

    below: Floats = field(repr=False)
    above: Floats = field(repr=False)
    loss: float

    def __post_init__(self) -> None:
        for name in ("below", "above"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def open(self) -> Bools:
        """(n): the cells that are published with their value."""
        return np.asarray((self.below == 0) & (self.above == 0))

    def gap(self, bound: float) -> float:
        """(loss − bound) / loss; 0 where nothing is lost."""
        return 0.0 if self.loss <= 0 else max(0.0, (self.loss - bound) / self.loss)


def width_weights(problem: SensitiveTable) -> Floats:
    """(n): what a unit of width costs: cost / |value|. An interval as wide as the value of its cell
    costs what hiding the cell does.
    """
    size = np.abs(problem.a)
    return np.where(size > 0, problem.cost / np.where(size > 0, size, 1.0), problem.cost)


def judge(problem: SensitiveTable, intervals: Intervals) -> Ints:
    """The positions of primaries that are not shown to be protected, of cells that must stay open and do not,
    and of cells whose interval leaves the bounds.
    """
    below, above = intervals.below, intervals.above
    wide = ~intervals.open
    outside = (
        (below < 0)
        | (above < 0)
        | (problem.a - below < problem.lb)
        | (problem.a + above > problem.ub)
        | (wide & problem.fixed)
    )
    bare, own = problem.primary & intervals.open, problem.layers[0]
    narrow = (
        bare
        | (below < own.down * (1 - FEASIBILITY))
        | (above < own.up * (1 - FEASIBILITY))
        | (below + above < own.width * (1 - FEASIBILITY))
    )
    if (outside | narrow).any():
        return np.flatnonzero(outside | narrow)
    inside = replace(
        problem, lb=problem.a - below, ub=problem.a + above, fixed=problem.fixed | ~(wide | problem.primary)
    )
    return verify(inside, wide | problem.primary).unprotected


def rounded_outwards(problem: SensitiveTable, intervals: Intervals, unit: float) -> tuple[Floats, Floats]:
    """(n), (n): the ends of the intervals, moved outwards to whole units but not beyond the bounds;
    wider intervals protect no less.

    Cells that are open keep their value.
    """
    low = np.maximum(np.floor((problem.a - intervals.below) / unit) * unit, problem.lb)
    high = np.minimum(np.ceil((problem.a + intervals.above) / unit) * unit, problem.ub)
    return np.where(intervals.open, problem.a, low), np.where(intervals.open, problem.a, high)


def blurred(problem: SensitiveTable, share: float, seed: int) -> SensitiveTable:
    """The problem with each level enlarged by a random share of it, up to `share`, each side by its own.

    The narrowest intervals end where the levels end. Who knows the rule of the levels could then
    work back from an interval to its value; levels that only the publisher knows leave him a
    range. The seed must stay secret.
    """
    rng = np.random.default_rng(seed)
    lpl, upl, spl = (
        level * (1 + share * rng.random(len(problem.a))) for level in (problem.lpl, problem.upl, problem.spl)
    )
    assert problem.beside is not None
    return replace(
        problem,
        lpl=lpl,
        upl=upl,
        spl=spl,
        beside=problem.beside * (1 + share * rng.random(problem.beside.shape)),
    )
