"""Somebody who has the program (METHOD §9, Theorem 4): the width that tables of the evidence prove, by
arithmetic.

Take the tables of the evidence that fit what is published. They prove how far an audit lets each primary
reach: down to the least and up to the largest value among them. A table in which every primary keeps its
level within that, or reaches what the national relations leave one after the other, would have passed the
audit with the same publication. Two such tables that differ by both levels of a primary prove its width. The
level is a function of the value, max(slope · value, least).

That the program publishes the same for such a table is a property of the rule, which this
module does not check: see METHOD §9.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.judge.release.polyhedron import AttackerPolyhedron
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import JUDGED_LEVEL, JUDGED_MISS

NATIONAL_SWEEPS = 10  # over the national relations
STEPS_FROM_END = (
    0.25  # of the last decimal: as near to what the national relations leave. The next value is not the end
)


def asked_about(problem: ProtectionProblem) -> bool:
    """Does a certificate of this problem speak of somebody who has the program? Its levels are then
    known as functions of the values.
    """
    return problem.levels is not None and problem.earlier.rows.shape == (0, 0)


def wide(
    problem: ProtectionProblem,
    polyhedron: AttackerPolyhedron,
    primaries: Ints,
    needed: Floats,
    table: sp.csr_array,
    centre: Ints,
    step: Floats,
) -> Bools:
    """(primaries,): the tables prove a width of `needed` (primaries,). `table`, `centre`: `Evidence.program`,
    `Evidence.program_centre`. `step` (space.size,): the last decimal of the deliveries.
    """
    assert problem.levels is not None
    cells, count = polyhedron.cells, table.shape[0]
    at = np.searchsorted(cells, primaries)
    z = np.zeros((count, len(cells)))
    for i, (start, end) in enumerate(zip(table.indptr[:-1].tolist(), table.indptr[1:].tolist(), strict=True)):
        if centre[i] >= 0:
            z[i] = z[centre[i]]
        z[i, table.indices[start:end]] += table.data[start:end]
    z = np.vstack([np.zeros(len(cells)), z])  # the truth is a table too
    row = (polyhedron.A @ z.T).T
    miss = _excess(polyhedron.low - row, row - polyhedron.high) + _excess(
        polyhedron.lower - z, z - polyhedron.upper
    )
    value = problem.a[primaries] + z[:, at]
    slope, least = problem.levels.slope[primaries], problem.levels.least[primaries]
    level = np.maximum(slope * value, least)
    some = level[0][level[0] > 0]
    slack = JUDGED_MISS * np.maximum(
        level[0], some.min() if some.size else 0.0
    )  # a value of 0 has no level of its own
    fits = miss[:, None] <= slack
    low, high = np.where(fits, value, np.inf).min(axis=0), np.where(fits, value, -np.inf).max(axis=0)
    lowest, highest = _national(problem, primaries)
    missed, end = np.maximum(slack, JUDGED_MISS * level), STEPS_FROM_END * step[primaries]
    below = (value - level >= low - missed) | (low <= lowest + end)
    with np.errstate(invalid="ignore"):
        above = (value + level <= high + missed) | (high >= highest - end)
    passes = (below & above).all(axis=1)[:, None] & fits
    apart = np.where(passes, value, -np.inf).max(axis=0) - np.where(passes, value, np.inf).min(axis=0)
    return np.asarray(passes.any(axis=0) & (apart >= needed * (1 - JUDGED_LEVEL)))


def _excess(*sides: Floats) -> Floats:
    """(tables,): the sum of all misses."""
    return np.asarray(np.maximum(np.maximum(*sides), 0.0).sum(axis=1))


def _national(problem: ProtectionProblem, primaries: Ints) -> tuple[Floats, Floats]:
    """(lowest, highest) values of the primaries by the relations of the national tables, one
    after the other.
    """
    space = problem.space
    decided = len(space.aggregates) * space.national_size
    rows = sp.csr_array(space.relations[: space.relations.shape[0] - decided])
    lower, upper = (
        np.where(problem.suppressed, problem.lb, problem.a),
        np.where(problem.suppressed, problem.ub, problem.a),
    )
    for _ in range(NATIONAL_SWEEPS):
        for start, end in zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True):
            cell, sign = rows.indices[start:end], rows.data[start:end]
            hidden = problem.suppressed[cell]
            if not hidden.any():
                continue
            least, most = (
                np.where(sign > 0, lower[cell], -upper[cell]),
                np.where(sign > 0, upper[cell], -lower[cell]),
            )
            for i in np.flatnonzero(hidden).tolist():
                others = np.arange(len(cell)) != i
                up, down = -float(least[others].sum()), -float(most[others].sum())
                if sign[i] < 0:
                    up, down = -down, -up
                lower[cell[i]], upper[cell[i]] = max(lower[cell[i]], down), min(upper[cell[i]], up)
    return lower[primaries], upper[primaries]
