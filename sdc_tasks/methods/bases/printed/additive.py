"""Additive rounding of the aggregates: values that add up, within the intervals that were found safe (METHOD §4).

A nearest multiple leaves no choice, so nothing printed there can add up. Here the safe publication, [m − b/2, m + b/2] around the nearest
multiple m of each rounded cell, stays what it is, and a value r inside each of these intervals is printed:

    min Σ_k |r_k − m_k| / b_k   over   M r = 0 inside each composition,   m − b/2 ≤ r ≤ m + b/2,   exact cells as they are,

a withheld cell being any value above its external bound, and r within what the other cells leave of each interval (`possible`); r on
the grid of the decimals. The truth is such a point, so the linear program has one. Its vertex is on the grid as a rule; where not, a
small MILP looks among the neighbours. The model is that of controlled rounding ([2] §3, methods/rounding), with a step of the grid as
its base and each cell's safe interval as its reach.

r is computed from nothing but the safe publication and what is public: whoever holds that can compute it, so it tells nothing new. The
world reads [r − b'/2, r + b'/2] with b' = b + 2 |r − m|, which contains the safe interval, and with it the truth. b' is between b and
2 b, and it may pass the maximum relative base. Who knows the rule may find m and b again, which the repair found safe; an audit of
what is printed asks for less than that.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.rounding.pieces import nearest
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, CellSpace, Floats, Ints
from sdc_tasks.solver.lp import Status
from sdc_tasks.solver.milp import solve_milp
from sdc_tasks.solver.vertex import vertex

ON_GRID = 1e-6  # of a step of the grid
ADDITIVE_NODES = 1000


def additive(space: CellSpace, publication: Publication, decimals: Ints, lowest: Floats, highest: Floats) -> Publication | None:
    """The publication with additive values; None where none is found on the grid.

    `decimals`: of the grid of each aggregate cell; `lowest highest`: what everybody knows of it, such as its public external bound.
    """
    told, exact, per_unit = ~publication.withheld, publication.exact, 10.0**decimals
    M = sp.csr_array(sp.kron(sp.eye_array(len(space.aggregates)), space.national_relations, format="csr"))
    middle = np.where(told, np.nan_to_num(publication.value), 0.0) * per_unit
    middle[exact] = np.rint(middle[exact])
    half = np.where(publication.rounded, publication.base, 0.0) * per_unit / 2
    lower = np.where(exact, middle, np.ceil(np.maximum(np.where(told, middle - half, -np.inf), lowest * per_unit) - ON_GRID))
    upper = np.where(exact, middle, np.floor(np.minimum(np.where(told, middle + half, np.inf), highest * per_unit) + ON_GRID))
    weight = np.where(publication.rounded, 1 / np.maximum(2 * half, 1.0), 0.0)
    near = _nearest(M, middle, weight, lower, upper)
    if near is not None and (np.abs(near - np.rint(near))[told] > ON_GRID).any():
        near = neighbour_of(M, middle, weight, lower, upper, near, told)
    if near is None:
        return None
    value = np.where(told, np.rint(near), 0.0)
    off = np.abs(middle - publication.value * per_unit)[exact] > ON_GRID + 1e-12 * np.abs(middle[exact])
    if off.any() or _amiss(M, value, told):
        return None
    moved = publication.rounded & (value != middle)
    wider = 2 * (half + np.abs(value - middle)) / per_unit  # divided last, so that decimals stay what they are when printed
    return Publication(publication.cells, np.where(moved, value / per_unit, publication.value), np.where(moved, wider, publication.base))


def _nearest(M: sp.csr_array, middle: Floats, weight: Floats, lower: Floats, upper: Floats) -> Floats | None:
    """The nearest additive point within the bounds, on the grid or not."""
    if (lower > upper).any():  # no step of the grid within a safe interval
        return None
    rows = np.zeros(M.shape[0])
    pieces = nearest(middle, weight, lower, upper)
    result = vertex(pieces.model(M, rows, rows))
    return pieces.value(result.x) if result.status is Status.OPTIMAL else None


def neighbour_of(M: sp.csr_array, middle: Floats, weight: Floats, lower: Floats, upper: Floats, near: Floats, told: Bools) -> Floats | None:
    """The nearest additive point on the grid among those next to a point: each published cell goes up or down."""
    below, rows = np.floor(near + ON_GRID), np.zeros(M.shape[0])
    first, last = np.where(told, np.maximum(lower, below), lower), np.where(told, np.minimum(upper, below + 1), upper)
    if (first > last).any():
        return None
    pieces = nearest(middle, weight, first, last)
    model = pieces.model(M, rows, rows)
    x = solve_milp(replace(model, binary=pieces.binary[told[pieces.column[pieces.binary]]]), "highs", np.inf, 0.0, ADDITIVE_NODES).x
    return None if x is None else pieces.value(x)


def _amiss(M: sp.csr_array, value: Floats, told: Bools) -> bool:
    """Does a relation between published cells miss by anything?"""
    between = abs(M) @ (~told).astype(float) == 0
    return bool((M @ value)[between].any())
