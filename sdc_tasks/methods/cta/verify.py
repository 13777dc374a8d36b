"""An independent check of an adjusted table: additivity, bounds, protection and
objective, by plain arithmetic on z.

It uses no columns of a model, and the engine returns no result without it: a widely used tool has returned
"feasible" tables with all 657 sensitive cells unprotected.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.cta.model import CtaProblem, Distance
from sdc_tasks.model.table import Bools, Floats
from sdc_tasks.model.tolerances import JUDGED_LEVEL


@dataclass(frozen=True)
class Verdict:
    """The result of the independent check of a table; `objective` in weight · data units (L2: weight · data
    units²).

    `violation`: the largest violation, of a relation as a share of the largest deviation in it, or of a bound
    as a share of the deviation (both measured against at least the smallest level). `unprotected`: number of
    sensitive cells that did not move by their level.
    """

    objective: float
    violation: float
    unprotected: int

    @property
    def is_table(self) -> bool:
        return self.violation <= JUDGED_LEVEL


@dataclass(frozen=True)
class Incumbent:
    """Deviations z (n,) with their verdict."""

    z: Floats = field(repr=False)
    verdict: Verdict

    @property
    def rank(self) -> tuple[int, float]:
        """(unprotected cells, objective): smaller is better."""
        return self.verdict.unprotected, self.verdict.objective


def verify(problem: CtaProblem, z: Floats) -> Verdict:
    """The verdict on the deviations z (n,), in units, of a problem."""
    size = np.abs(z)
    floor = problem.smallest_level
    miss = np.abs(problem.A @ z) / np.maximum(_largest(problem.A, size), floor)
    outside = np.maximum(problem.lower - z, z - problem.upper) / np.maximum(size, floor)
    distance = (
        problem.w @ size * problem.unit
        if problem.distance is Distance.L1
        else problem.w @ size**2 * problem.unit**2
    )
    violation = max(miss.max(initial=0.0), outside.max(initial=0.0))
    return Verdict(float(distance), float(violation), int(short_of(problem, z).sum()))


def short_of(problem: CtaProblem, z: Floats) -> Bools:
    """(s,): the sensitive cells that keep neither level."""
    moved = z[problem.sensitive]
    return ~((moved >= problem.upl * (1 - JUDGED_LEVEL)) | (moved <= -problem.lpl * (1 - JUDGED_LEVEL)))


def _largest(A: sp.csr_array, size: Floats) -> Floats:
    """(m,): the largest |coefficient · deviation| of each relation."""
    terms = np.abs(A.data) * size[A.indices]
    if not len(terms):
        return np.zeros(A.shape[0])
    found = np.maximum.reduceat(np.append(terms, 0.0), np.minimum(A.indptr[:-1], len(terms)))
    return np.where(np.diff(A.indptr) > 0, found, 0.0)
