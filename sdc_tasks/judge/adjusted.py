"""An independent check of an adjusted table: additivity, bounds, protection and
objective, by plain arithmetic on z.

It uses no columns of a model, and the engine returns no result without it: a widely used tool has returned
"feasible" tables with all 657 sensitive cells unprotected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY
from sdc_tasks.model.weights import Distance


class AdjustmentProblem(Protocol):
    """What the judge reads of a CTA problem of n cells, in units of `unit`: relations `A` (m, n), weights `w`
    and bounds `lower`, `upper` of the deviations (n); of the s cells in `sensitive` the levels `lpl`, `upl`
    (s), of which `smallest_level` is the least above 0; which `distance` is minimised.
    """

    @property
    def unit(self) -> float: ...
    @property
    def A(self) -> sp.csr_array: ...  # noqa: N802 (the symbol of the papers)
    @property
    def w(self) -> Floats: ...
    @property
    def lower(self) -> Floats: ...
    @property
    def upper(self) -> Floats: ...
    @property
    def sensitive(self) -> Ints: ...
    @property
    def lpl(self) -> Floats: ...
    @property
    def upl(self) -> Floats: ...
    @property
    def smallest_level(self) -> float: ...
    @property
    def distance(self) -> Distance: ...


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
    def is_feasible(self) -> bool:
        return self.violation <= FEASIBILITY


def verify(problem: AdjustmentProblem, z: Floats) -> Verdict:
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


def short_of(problem: AdjustmentProblem, z: Floats) -> Bools:
    """(s,): the sensitive cells that keep neither level."""
    moved = z[problem.sensitive]
    return ~((moved >= problem.upl * (1 - FEASIBILITY)) | (moved <= -problem.lpl * (1 - FEASIBILITY)))


def _largest(A: sp.csr_array, size: Floats) -> Floats:
    """(m,): the largest |coefficient · deviation| of each relation."""
    terms = np.abs(A.data) * size[A.indices]
    if not len(terms):
        return np.zeros(A.shape[0])
    found = np.maximum.reduceat(np.append(terms, 0.0), np.minimum(A.indptr[:-1], len(terms)))
    return np.where(np.diff(A.indptr) > 0, found, 0.0)
