"""Valid inequalities for the MILP: rows @ |z| ≥ least holds for every protected table, with |z| = z⁺ + z⁻.

Without them the LP relaxation of the MILP is useless where levels are symmetric (y = ½, z⁺ = z⁻). They are
the rows that the sign-free relaxation of `polygon.py` violates in its first rounds. They cut off no table
with z⁺ z⁻ = 0, and the closest table is one of these.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.polygon import Relaxation
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.solver.milp import Milp

CUT_ROUNDS = 8
SHARE = 0.2  # of the remaining time


@dataclass(frozen=True)
class Inequalities:
    """The inequalities rows @ |z| ≥ least: `rows` (k, n) and `least` (k,)."""

    rows: sp.csr_array = field(repr=False)
    least: Floats = field(repr=False)

    @property
    def always(self) -> Inequalities:
        """The inequalities that hold for every additive table, protected or not: the polygons of the
        relations.
        """
        at = np.flatnonzero(self.least == 0)
        return Inequalities(sp.csr_array(self.rows[at]), self.least[at])

    def within(self, cells: Ints) -> Inequalities:
        """The inequalities in which only these cells occur, with columns for these cells."""
        inside = sp.csc_array(self.rows)[:, cells]
        at = np.flatnonzero(np.diff(sp.csr_array(inside).indptr) == np.diff(self.rows.indptr))
        return Inequalities(sp.csr_array(sp.csr_array(inside)[at]), self.least[at])

    def added_to(self, model: Milp) -> Milp:
        """The model of a problem (columns z⁺, z⁻, and others) with these rows appended."""
        k, n = self.rows.shape
        others = sp.csr_array((k, len(model.cost) - 2 * n))
        return replace(
            model,
            A=sp.csr_array(sp.vstack([model.A, sp.hstack([self.rows, self.rows, others])], format="csr")),
            row_lower=np.concatenate([model.row_lower, self.least]),
            row_upper=np.concatenate([model.row_upper, np.full(k, np.inf)]),
        )


def no_inequalities(problem: CtaProblem) -> Inequalities:
    return Inequalities(sp.csr_array((0, len(problem.cells))), np.zeros(0))


def violated_inequalities(problem: CtaProblem, run: Run, share: float = SHARE) -> Inequalities:
    """The inequalities that a few rounds of separation find in this share of the remaining time. Their
    bounds are reported to the run.
    """
    relaxation, until = Relaxation(problem), run.elapsed + share * run.left
    for bound in relaxation.tighten(CUT_ROUNDS, lambda: max(0.0, min(run.left, until - run.elapsed))):
        run.raise_bound(bound, "polygon")
    return Inequalities(*relaxation.cuts)
