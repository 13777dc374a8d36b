"""Filler values for cells that a country says are not available: any values that fit its own table.

The true values of these cells are unknown to us, and probably to everybody else. So they are suppressed cells
without a requirement, and every aggregate above them is withheld. Then the choice of the filler values does
not matter. The tables x that an attacker cannot distinguish are those with x = a in the cells that he can
read, with all relations, and with the published intervals. None of these depends on the filler of a
suppressed cell whose aggregates are all withheld. So neither the bounds of another cell nor the verdict
depend on it. Where the relations and the public cells allow only one value, everybody can compute it, and the
filler is this value. If the country publishes such a value later, its next delivery contains it, and is
audited together with the earlier publications.

A linear program finds the values: min Σ |M u| over the relations of the unknown cells u, within the
tolerance of the additivity check; with whole numbers where the indicator is counted. Where no values fit,
the delivery contradicts itself.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.domains.schema import Domain
from sdc_tasks.model.table import Bools, Floats
from sdc_tasks.model.tolerances import FEASIBILITY

WHOLE_NUMBER_NODES = 10_000  # limit of the search for whole numbers: counted work, no clock


def completed(value: Floats, available: Bools, domain: Domain) -> Floats | None:
    """(national_size,): the values, with fillers where not `available`, in the unit of the indicator. None
    where no values fit, or none were found within WHOLE_NUMBER_NODES.
    """
    open_cells = np.flatnonzero(~available)
    if not len(open_cells):
        return value
    M = domain.space.national_relations
    known = np.where(available, value, 0.0)
    touched = np.flatnonzero(abs(M) @ (~available).astype(float))
    each = len(value) // len(domain.indicators)
    of = [domain.indicators[cell // each] for cell in open_cells]
    whole = np.array([indicator.whole for indicator in of])
    A, rest = sp.csr_array(M[touched][:, open_cells]), M[touched] @ known
    size = max(1.0, float(np.abs(known).max(initial=0.0)))
    scale = 1.0 if whole.any() else size
    tolerance = (domain.checks.additivity_absolute + domain.checks.additivity_relative * size) / scale
    lowest = np.where([indicator.signed for indicator in of], -np.inf, 0.0)
    least = _least_sum(A, rest / scale, lowest, whole, tolerance)
    if least is None:
        return None
    u = least * scale
    step = 10.0 ** np.array([indicator.decimals for indicator in of])
    on_grid = np.round(u * step) / step
    filled = known.copy()
    for tried in (on_grid, u):
        filled[open_cells] = np.where(whole, on_grid, tried)
        fits = np.abs(M[touched] @ filled) <= tolerance * scale * (1 + FEASIBILITY) + FEASIBILITY
        if fits.all() and (filled[open_cells] >= lowest).all():
            return filled
    return None


def _least_sum(
    A: sp.csr_array, rest: Floats, lowest: Floats, whole: Bools, tolerance: float
) -> Floats | None:
    """(n,): min Σ |A u + rest| with u ≥ `lowest`, each within the tolerance; None where nothing was found."""
    from scipy.optimize import (
        Bounds,
        LinearConstraint,
        milp,
    )  # imported here: few deliveries need it, and every worker would hold it

    m, n = A.shape
    slack = sp.hstack([A, sp.eye_array(m), -sp.eye_array(m)], format="csr")
    found = milp(
        np.concatenate([np.zeros(n), np.ones(2 * m)]),
        integrality=np.concatenate([whole.astype(int), np.zeros(2 * m, dtype=int)]),
        bounds=Bounds(
            np.concatenate([lowest, np.zeros(2 * m)]),
            np.concatenate([np.full(n, np.inf), np.full(2 * m, tolerance)]),
        ),
        constraints=LinearConstraint(slack, -rest, -rest) if m else None,
        options={"node_limit": WHOLE_NUMBER_NODES},
    )
    return None if found.x is None else found.x[:n]
