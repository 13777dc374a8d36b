"""Additive rounding of the aggregates: values that add up, within the intervals that were found safe (METHOD
§4).

Nearest multiples leave no choice, so in general they do not add up. Here the safe publication stays
as it is: [m − b/2, m + b/2] around the nearest multiple m of each rounded cell. A value r inside
each of these intervals is printed:

    min Σ_k |r_k − m_k| / b_k   over   M r = 0 inside each composition,   m − b/2 ≤ r ≤ m +
    b/2,   exact cells as they are,

A withheld cell may have any value above its external bound. r lies within what the other cells leave of
each interval (`possible`), on the grid of the decimals. The truth is such a point, so the linear
program has a solution. Its vertex is usually on the grid; if not, a small MILP searches the neighbours.
The model is controlled rounding ([2] §3, methods/rounding): its base is a step of the grid, its reach
is the safe interval of each cell.

r is computed from the safe publication and public data only, so it tells nothing new. The public reads [r −
b'/2, r + b'/2] with b' = b + 2 |r − m|. This interval contains the safe interval, and so the truth. b' is
between b and 2 b, and may exceed the maximum relative base. Somebody who knows the rule may compute m and b,
which repair has found safe; an audit of the printed values requires less.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.rounding.pieces import nearest
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, CellSpace, Floats, Ints
from sdc_tasks.model.tolerances import INTEGRALITY, ROUNDING
from sdc_tasks.solver.lp import Status
from sdc_tasks.solver.milp import solve_milp
from sdc_tasks.solver.vertex import vertex

ADDITIVE_NODES = 1000


def additive(
    space: CellSpace, publication: Publication, decimals: Ints, lowest: Floats, highest: Floats
) -> Publication | None:
    """The publication with additive values; None if none are found on the grid.

    `decimals`: the grid of each aggregate cell. `lowest`, `highest`: public bounds of each aggregate
    cell, such as its external bound.
    """
    published, exact, per_unit = ~publication.withheld, publication.exact, 10.0**decimals
    M = sp.csr_array(sp.kron(sp.eye_array(len(space.aggregates)), space.national_relations, format="csr"))
    middle = np.where(published, np.nan_to_num(publication.value), 0.0) * per_unit
    middle[exact] = np.rint(middle[exact])
    half = np.where(publication.rounded, publication.base, 0.0) * per_unit / 2
    lower = np.where(
        exact,
        middle,
        np.ceil(np.maximum(np.where(published, middle - half, -np.inf), lowest * per_unit) - INTEGRALITY),
    )
    upper = np.where(
        exact,
        middle,
        np.floor(np.minimum(np.where(published, middle + half, np.inf), highest * per_unit) + INTEGRALITY),
    )
    weight = np.where(publication.rounded, 1 / np.maximum(2 * half, 1.0), 0.0)
    near = _nearest(M, middle, weight, lower, upper)
    if near is not None and (np.abs(near - np.rint(near))[published] > INTEGRALITY).any():
        near = neighbour_of(M, middle, weight, lower, upper, near, published)
    if near is None:
        return None
    value = np.where(published, np.rint(near), 0.0)
    most = INTEGRALITY + ROUNDING * np.abs(middle[exact])
    off = np.abs(middle - publication.value * per_unit)[exact] > most
    if off.any() or _amiss(M, value, published):
        return None
    moved = publication.rounded & (value != middle)
    wider = (
        2 * (half + np.abs(value - middle)) / per_unit
    )  # divided last, so that decimals stay what they are when printed
    return Publication(
        publication.cells,
        np.where(moved, value / per_unit, publication.value),
        np.where(moved, wider, publication.base),
    )


def _nearest(M: sp.csr_array, middle: Floats, weight: Floats, lower: Floats, upper: Floats) -> Floats | None:
    """The nearest additive point within the bounds, on the grid or not."""
    if (lower > upper).any():  # no step of the grid within a safe interval
        return None
    rows = np.zeros(M.shape[0])
    pieces = nearest(middle, weight, lower, upper)
    result = vertex(pieces.model(M, rows, rows))
    return pieces.value(result.x) if result.status is Status.OPTIMAL else None


def neighbour_of(
    M: sp.csr_array,
    middle: Floats,
    weight: Floats,
    lower: Floats,
    upper: Floats,
    near: Floats,
    published: Bools,
) -> Floats | None:
    """The nearest additive point on the grid among those next to a point: each published cell goes up or
    down.
    """
    below, rows = np.floor(near + INTEGRALITY), np.zeros(M.shape[0])
    first, last = (
        np.where(published, np.maximum(lower, below), lower),
        np.where(published, np.minimum(upper, below + 1), upper),
    )
    if (first > last).any():
        return None
    pieces = nearest(middle, weight, first, last)
    model = pieces.model(M, rows, rows)
    x = solve_milp(
        replace(model, binary=pieces.binary[published[pieces.column[pieces.binary]]]),
        "highs",
        np.inf,
        0.0,
        ADDITIVE_NODES,
    ).x
    return None if x is None else pieces.value(x)


def _amiss(M: sp.csr_array, value: Floats, published: Bools) -> bool:
    """Does a relation between published cells fail to add up exactly?"""
    between = abs(M) @ (~published).astype(float) == 0
    return bool((M @ value)[between].any())
