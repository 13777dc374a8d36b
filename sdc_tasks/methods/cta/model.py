"""The CTA model ([1] eq. 2a–2e; [2] eq. 18): the closest table that keeps every
sensitive cell away from its true value.

    min  Σ w_i (z⁺_i + z⁻_i)
    s.t. A (z⁺ − z⁻) = 0
         0 ≤ z⁺_i ≤ u_i,  0 ≤ z⁻_i ≤ −l_i                          (l ≤ 0 ≤ u: bounds of the deviation)
         upl_i y_i ≤ z⁺_i ≤ u_i y_i                                 i sensitive, y_i ∈ {0, 1}
         lpl_i (1 − y_i) ≤ z⁻_i ≤ −l_i (1 − y_i)                    i sensitive

Two settings (METHOD §3):

- the *paper setting*, `table_problem`: every cell of a table may move and has a weight; the
  adjusted table itself is the result;
- the *attacker-consistent setting*, `release_problem`: public national cells are fixed and left out,
  only aggregate cells have weight.
  An attacker cannot distinguish the adjusted table from the truth if every published interval contains
  it. With the mirror image as an
  additional condition (|z_i| ≤ a_i − lb_i, `mirror`), real deliveries have no table: the neighbours of a
  primary may be too small for one
  side. So, by default, the audit proves the other side.

In the paper setting a level on one side only asks for that side: z ≤ −0 would hold for the true value itself.
Such a cell gets the bound 0 on its other side, and the same level there, so that no method can choose it;
none of them needs to know more. In a release a level of 0 is what the attacker's baseline leaves of one:
nothing is asked of that side, and the audit judges the other.

L2 minimises Σ w_i z_i² over the same tables. A sliding level requires |z| ≥ spl on the chosen side: it raises
the level of each side that is asked. Everything is divided by `unit`, near the median level, so that a
solver's tolerances have the same meaning in any unit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats, Ints, read_only
from sdc_tasks.model.tolerances import FEASIBILITY, SAME
from sdc_tasks.model.weights import Distance
from sdc_tasks.solver.milp import Milp

if TYPE_CHECKING:
    from sdc_tasks.methods.attack import Requirements  # of a release; a table alone needs no attacker

BIG_M = 1e4  # times the sum of all levels: the MILP's big-M of a sensitive cell without a bound
# times the sum of all levels: limit for a cell without a bound in a closest table
# (cycles of ±1 entries: once the sum)
FARTHEST = 1e3
# release: largest level, times this, added to a cell's value: how far a cell without an upper bound may move
OPEN_ROOM = 2.0


@dataclass(frozen=True)
class CtaProblem:
    """min Σ w|z| (or Σ w z²) over A z = 0, lower ≤ z ≤ upper, z_p ≥ upl_p or z_p ≤ −lpl_p for p in
    `sensitive`; n cells, in units.

    A (relations, n); w, lower, upper (n,); lpl, upl (s,). `cells` (n,) are the indices of the cells in the
    table or release of the problem; `label` names the k-th of them in messages. Bounds may be infinite.
    Raises ValueError for arrays that contradict this.
    """

    unit: float
    cells: Ints = field(repr=False)
    A: sp.csr_array = field(repr=False)
    w: Floats = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)
    sensitive: Ints = field(repr=False)
    lpl: Floats = field(repr=False)
    upl: Floats = field(repr=False)
    distance: Distance = Distance.L1
    label: Callable[[int], str] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("cells", "w", "lower", "upper", "sensitive", "lpl", "upl"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        object.__setattr__(self, "distance", Distance(self.distance))
        n, s = len(self.cells), len(self.sensitive)
        if (
            self.A.shape[1] != n
            or {len(self.w), len(self.lower), len(self.upper)} != {n}
            or {len(self.lpl), len(self.upl)} != {s}
        ):
            raise ValueError("the arrays of a CTA problem do not fit together")
        if (self.lower > 0).any() or (self.upper < 0).any():
            raise ValueError("the true table must lie within the bounds of the deviations: lower ≤ 0 ≤ upper")
        if not np.isfinite(self.w).all() or (self.w < 0).any():
            raise ValueError("weights must be finite and at least 0")

    def name(self, cell: int) -> str:
        """The name of a cell of this problem, for messages."""
        return f"cell {int(self.cells[cell])}" if self.label is None else self.label(cell)

    @cached_property
    def can_rise(self) -> Bools:
        """(s,): sensitive cells whose upper bound leaves room for their level."""
        return read_only(self.upper[self.sensitive] >= self.upl * (1 - SAME))

    @cached_property
    def can_fall(self) -> Bools:
        """(s,): sensitive cells whose lower bound leaves room for their level."""
        return read_only(self.lower[self.sensitive] <= -self.lpl * (1 - SAME))

    @cached_property
    def by_cell(self) -> sp.csc_array:
        """A by columns, from which the parts of a table are cut."""
        return sp.csc_array(self.A)

    @cached_property
    def smallest_level(self) -> float:
        """The smallest level above 0, in units: the scale for what counts as no deviation."""
        levels = np.concatenate([self.lpl, self.upl])
        return float(levels[levels > 0].min(initial=1.0))

    @cached_property
    def far(self) -> float:
        """The big-M of a sensitive cell without a bound."""
        return BIG_M * float(np.maximum(self.lpl, self.upl).sum())

    def no_worse_than(self, objective: float) -> CtaProblem:
        """The problem with bounds that exclude only tables of a larger objective (weight · data units).

        Its big-Ms are small, and so is the effect of a solver's tolerances: y = 1e-6 with a big-M of 1e7 is
        no sense at all, and HiGHS has called such a model solved at 10 % above a table that it held.
        """
        most = np.full(len(self.w), np.inf)
        np.divide(objective * (1 + SAME) / self.unit, self.w, out=most, where=self.w > 0)
        return replace(self, lower=np.maximum(self.lower, -most), upper=np.minimum(self.upper, most))

    @cached_property
    def milp(self) -> Milp:
        """The whole model as arrays; columns: z⁺ of every cell, z⁻ of every cell, y of the sensitive cells.

        A sensitive cell without a bound gets `BIG_M` times the sum of all levels as its big-M. In a closest
        table every elementary cycle of deviations runs through a sensitive cell at its level, so none needs
        to move further unless the entries of a cycle differ very much. Where this is not proven
        (`milp.proves`), a bound of this model is not used as a bound of the problem.
        """
        n, s = len(self.cells), len(self.sensitive)
        A, p = self.A, self.sensitive
        M = self.far
        up, down = np.minimum(self.upper[p], M), np.minimum(-self.lower[p], M)
        pick = sp.csr_array((np.ones(s), (np.arange(s), p)), shape=(s, n))
        rows = sp.block_array(
            [
                [A, -A, None],
                [pick, None, sp.diags_array(-self.upl)],  # z⁺ ≥ upl y
                [pick, None, sp.diags_array(-up)],  # z⁺ ≤ u y
                [None, pick, sp.diags_array(self.lpl)],  # z⁻ ≥ lpl (1 − y)
                [None, pick, sp.diags_array(down)],  # z⁻ ≤ −l (1 − y)
            ],
            format="csr",
        )
        zero, free = np.zeros(s), np.full(s, np.inf)
        return Milp(
            cost=np.concatenate([self.w, self.w, zero]),
            A=sp.csr_array(rows),
            row_lower=np.concatenate([np.zeros(A.shape[0]), zero, -free, self.lpl, -free]),
            row_upper=np.concatenate([np.zeros(A.shape[0]), free, zero, free, down]),
            lower=np.zeros(2 * n + s),
            upper=np.concatenate([self.upper, -self.lower, np.ones(s)]),
            binary=np.arange(2 * n, 2 * n + s),
        )

    def deviation(self, columns: Floats) -> Floats:
        """z (n,) from the columns of the model (2n + s,)."""
        n = len(self.cells)
        return columns[:n] - columns[n : 2 * n]

    def senses(self, z: Floats) -> Ints:
        """(s,): ±1 for each sensitive cell, the side whose level it keeps; where it keeps
        neither, the side of its deviation.
        """
        moved = z[self.sensitive]
        up, down = moved >= self.upl * (1 - FEASIBILITY), moved <= -self.lpl * (1 - FEASIBILITY)
        return np.where(up & ~down, 1, np.where(down & ~up, -1, np.where(moved > 0, 1, -1)))

    def columns(self, z: Floats) -> Floats:
        """The columns of the model (2n + s,) from z (n,), for warm starts."""
        return np.concatenate([np.maximum(z, 0), np.maximum(-z, 0), self.senses(z) > 0])


def unit_of(levels: Floats) -> float:
    """A power of two near the median of the positive levels."""
    positive = levels[levels > 0]
    return float(2.0 ** np.round(np.log2(np.median(positive)))) if len(positive) else 1.0


def table_problem(table: SensitiveTable, w: Floats, distance: Distance = Distance.L1) -> CtaProblem:
    """The paper setting ([1] eq. 2a–2e): every cell of a table may move but the fixed ones; `w` (n) are its
    weights.

    A level of 0 beside one above 0 asks for the other side alone, whatever `spl` is.
    """
    sensitive = table.primaries
    lpl, upl, spl = (level[sensitive] for level in (table.lpl, table.upl, table.spl))
    lower = np.where(table.fixed, 0.0, np.minimum(table.lb - table.a, 0.0))
    upper = np.where(table.fixed, 0.0, np.maximum(table.ub - table.a, 0.0))
    lower[sensitive[(lpl == 0) & (upl > 0)]] = 0.0
    upper[sensitive[(upl == 0) & (lpl > 0)]] = 0.0
    down, up = (np.maximum(np.where(own == 0, other, own), spl) for own, other in ((lpl, upl), (upl, lpl)))
    unit = unit_of(np.maximum(down, up))
    return CtaProblem(
        unit=unit,
        cells=np.arange(len(table.a)),
        A=table.M,
        w=w,
        lower=lower / unit,
        upper=upper / unit,
        sensitive=sensitive,
        lpl=down / unit,
        upl=up / unit,
        distance=distance,
        label=table.label,
    )


def release_problem(
    problem: ProtectionProblem, requirements: Requirements, weights: Floats, mirror: bool = False
) -> CtaProblem:
    """The attacker-consistent CTA of a release: suppressed national cells and the aggregate cells above them.

    `weights` (aggregate cells,); `requirements`: the levels that the national tables can keep (see baseline).
    """
    aggregate = np.flatnonzero(problem.aggregate)
    suppressed = np.flatnonzero(problem.suppressed)
    above = sp.csc_array(problem.space.aggregate_relations)[:, suppressed]
    touched = aggregate[np.flatnonzero(np.diff(sp.csr_array(above).indptr) > 0)]
    cells = np.concatenate([suppressed, touched])
    needed = np.maximum(requirements.down, requirements.up)
    unit = unit_of(needed)
    A = sp.csr_array(sp.csc_array(problem.space.relations)[:, cells])
    A = sp.csr_array(A[_informative(A, len(suppressed))])
    room = OPEN_ROOM * float(needed.max(initial=0.0)) + np.abs(problem.a[suppressed])
    below = np.minimum((problem.a - problem.lb)[suppressed], room) / unit
    over = np.minimum((problem.ub - problem.a)[suppressed], room) / unit
    if mirror:
        below = over = np.minimum(below, over)
    members = abs(sp.csr_array(above[touched - aggregate[0]]))
    return CtaProblem(
        unit=unit,
        cells=cells,
        A=A,
        w=np.concatenate([np.zeros(len(suppressed)), weights[touched - aggregate[0]]]),
        lower=-np.concatenate([below, members @ below]),
        upper=np.concatenate([over, members @ over]),
        sensitive=np.searchsorted(suppressed, requirements.primaries),
        lpl=requirements.down / unit,
        upl=requirements.up / unit,
    )


def _informative(A: sp.csr_array, national: int) -> Ints:
    """The rows that matter: not empty, and not a relation between aggregate cells only (it
    follows from the national ones).
    """
    has_national = np.diff(sp.csr_array(A[:, :national]).indptr) > 0
    return np.flatnonzero(has_national)
