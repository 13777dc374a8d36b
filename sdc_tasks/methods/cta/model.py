"""The CTA model ([1] eq. 2a–2e; [2] eq. 18): the closest table that keeps every sensitive cell away from its true value.

    min  Σ w_i (z⁺_i + z⁻_i)
    s.t. A (z⁺ − z⁻) = 0
         0 ≤ z⁺_i ≤ u_i,  0 ≤ z⁻_i ≤ −l_i                          (l ≤ 0 ≤ u: bounds of the deviation)
         upl_i y_i ≤ z⁺_i ≤ u_i y_i                                 i sensitive, y_i ∈ {0, 1}
         lpl_i (1 − y_i) ≤ z⁻_i ≤ −l_i (1 − y_i)                    i sensitive

Here in the attacker-consistent setting of METHOD §3: public national cells are fixed and gone, only aggregate cells carry weight. The
adjusted table is then one that the world cannot tell from the truth as long as every published interval holds it. Asking for the
mirror image as well (|z_i| ≤ a_i − lb_i) leaves no table at all on real deliveries, where a primary may lean on smaller neighbours
to one side only: the audit, not the mirror, proves the other side.

Columns of the arrays below: [z⁺ of every cell, z⁻ of every cell, y of the sensitive cells]. Everything is divided by `unit`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.problem import Requirements
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Floats, Ints, read_only
from sdc_tasks.solver.milp import Milp

FEASIBLE = 1e-6  # units, in the verifier
ROOM = 2.0  # largest level, times this, added to a cell's value: how far a cell without an upper bound may move


@dataclass(frozen=True)
class CtaProblem:
    """min Σ w|z| over A z = 0, lower ≤ z ≤ upper, z_p ≥ upl_p or z_p ≤ −lpl_p for p in `sensitive`; n active cells, in units.

    `cells` are the flat indices of the active cells in the release (or 0..n−1 for a table of its own).
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

    def __post_init__(self) -> None:
        for name in ("cells", "w", "lower", "upper", "sensitive", "lpl", "upl"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        if not (np.isfinite(self.lower).all() and np.isfinite(self.upper).all()):
            raise ValueError("deviations need finite bounds: they are the model's big-M")

    @cached_property
    def milp(self) -> Milp:
        """The whole model as arrays."""
        n, s = len(self.cells), len(self.sensitive)
        A, p = self.A, self.sensitive
        pick = sp.csr_array((np.ones(s), (np.arange(s), p)), shape=(s, n))
        u, low = self.upper[p], self.lower[p]
        rows = sp.block_array(
            [
                [A, -A, None],
                [pick, None, sp.diags_array(-self.upl)],  # z⁺ ≥ upl y
                [pick, None, sp.diags_array(-u)],  # z⁺ ≤ u y
                [None, pick, sp.diags_array(self.lpl)],  # z⁻ ≥ lpl (1 − y)
                [None, pick, sp.diags_array(-low)],  # z⁻ ≤ −l (1 − y)
            ],
            format="csr",
        )
        zero, free = np.zeros(s), np.full(s, np.inf)
        return Milp(
            cost=np.concatenate([self.w, self.w, zero]),
            A=sp.csr_array(rows),
            row_lower=np.concatenate([np.zeros(A.shape[0]), zero, -free, self.lpl, -free]),
            row_upper=np.concatenate([np.zeros(A.shape[0]), free, zero, free, -low]),
            lower=np.zeros(2 * n + s),
            upper=np.concatenate([self.upper, -self.lower, np.ones(s)]),
            binary=np.arange(2 * n, 2 * n + s),
        )

    def deviation(self, columns: Floats) -> Floats:
        """z from the columns of the model."""
        n = len(self.cells)
        return columns[:n] - columns[n : 2 * n]

    def senses(self, z: Floats) -> Ints:
        """±1 for each sensitive cell: the side whose level it keeps; where it keeps neither, the side it is on."""
        moved = z[self.sensitive]
        up, down = moved >= self.upl - FEASIBLE, moved <= FEASIBLE - self.lpl
        return np.where(up & ~down, 1, np.where(down & ~up, -1, np.where(moved > 0, 1, -1)))

    def columns(self, z: Floats) -> Floats:
        """The columns of the model from z: the way back, used for warm starts."""
        return np.concatenate([np.maximum(z, 0), np.maximum(-z, 0), self.senses(z) > 0])


@dataclass(frozen=True)
class Verdict:
    """What an independent look at a table finds; `objective` in weight · data units."""

    objective: float
    violation: float  # largest miss of a relation or bound, in units
    unprotected: int  # sensitive cells that did not move by their level

    @property
    def is_table(self) -> bool:
        return self.violation <= FEASIBLE


def verify(problem: CtaProblem, z: Floats) -> Verdict:
    """Additivity, bounds, protection and objective by plain arithmetic on z: knows nothing of the model's columns."""
    miss = np.abs(problem.A @ z).max(initial=0.0)
    outside = max((problem.lower - z).max(initial=0.0), (z - problem.upper).max(initial=0.0))
    moved = z[problem.sensitive]
    safe = (moved >= problem.upl * (1 - 1e-6) - 1e-12) | (moved <= -problem.lpl * (1 - 1e-6) + 1e-12)
    return Verdict(float(problem.w @ np.abs(z)) * problem.unit, float(max(miss, outside)), int((~safe).sum()))


def release_problem(problem: ProtectionProblem, requirements: Requirements, weights: Floats) -> CtaProblem:
    """The attacker-consistent CTA of a release: suppressed national cells and the aggregate cells above them.

    `weights` are those of the aggregate cells, `requirements` the levels that the national tables can keep (see baseline).
    """
    aggregate = np.flatnonzero(problem.aggregate)
    suppressed = np.flatnonzero(problem.suppressed)
    above = sp.csc_array(problem.space.aggregate_relations)[:, suppressed]
    touched = aggregate[np.flatnonzero(np.diff(sp.csr_array(above).indptr) > 0)]
    cells = np.concatenate([suppressed, touched])
    needs = np.maximum(requirements.down, requirements.up)
    unit = float(2.0 ** np.round(np.log2(np.median(needs[needs > 0])))) if (needs > 0).any() else 1.0
    A = sp.csr_array(sp.csc_array(problem.space.relations)[:, cells])
    A = sp.csr_array(A[_informative(A, len(suppressed))])
    needed = np.maximum(requirements.down, requirements.up)
    room = ROOM * float(needed.max(initial=0.0)) + np.abs(problem.a[suppressed])
    below = np.minimum((problem.a - problem.lb)[suppressed], room) / unit
    over = np.minimum((problem.ub - problem.a)[suppressed], room) / unit
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
    """Rows that say something: not empty, and not a relation between aggregate cells only (it follows from the national ones)."""
    has_national = np.diff(sp.csr_array(A[:, :national]).indptr) > 0
    return np.flatnonzero(has_national)
