"""Presolve of CTA: what ties of cells (sdc_tasks/presolve) mean for bounds, weights and levels.

Bounds and levels are carried over, weights are added. A cell with a level of 0 is not tied to others.
Messages name an impossible cell or relation, with the remedy.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.model.table import Ints
from sdc_tasks.model.weights import Distance
from sdc_tasks.presolve import Reduction, distinct_rows, fix_and_tie

REMEDY = "Remedy: lower its level, widen its bounds, or let a fixed cell of the relation move"


@dataclass(frozen=True)
class Presolved:
    """A smaller problem with the same solutions."""

    problem: CtaProblem
    reduction: Reduction = field(repr=False)
    rows: Ints = field(repr=False)  # the original number of each remaining relation


def presolve(problem: CtaProblem) -> Presolved:
    """Reduces a problem. Raises Unprotectable where a sensitive cell cannot move by its level on
    either side.
    """
    fixed = (problem.lower == 0) & (problem.upper == 0)
    # Together with another level, a cell with a level of 0 would have more than two senses.
    apart = problem.sensitive[(problem.lpl == 0) | (problem.upl == 0)]
    found = fix_and_tie(problem.A, ~fixed, apart)
    _refuse_stuck(problem, found)
    # A class in no relation and without a level stays where it is.
    by_column = sp.csc_array(found.apply(problem.A))
    related = np.diff(by_column.indptr) > 0
    asked = found.class_of[problem.sensitive]
    related[asked[asked >= 0]] = True
    found = found.picked(np.flatnonzero(related))
    A = sp.csr_array(by_column[:, np.flatnonzero(related)])
    rows = distinct_rows(A)
    return Presolved(_carried_over(problem, found, sp.csr_array(A[rows])), found, rows)


def _refuse_stuck(problem: CtaProblem, reduction: Reduction) -> None:
    """Raises Unprotectable with the first sensitive cell that the relations fix at its true value."""
    free = reduction.class_of[problem.sensitive] >= 0
    stuck = ~free & (problem.lpl > 0) & (problem.upl > 0)
    if stuck.any():
        p = problem.sensitive[np.flatnonzero(stuck)[0]]
        rows = problem.by_cell[:, [p]].indices
        where = (
            f"relation {int(rows[0])} fixes it at its true value" if len(rows) else "it may not move at all"
        )
        raise Unprotectable(
            f"{problem.name(int(p))} cannot be protected{_others(int(stuck.sum()))}: {where}. {REMEDY}"
        )


def _others(count: int) -> str:
    return f", nor can {count - 1} more" if count > 1 else ""


def _carried_over(problem: CtaProblem, reduction: Reduction, A: sp.csr_array) -> CtaProblem:
    """Bounds, weights and levels of the columns."""
    by_cell, kept = reduction.T.tocoo(), reduction.kept
    cell, column, ratio = by_cell.row, by_cell.col, by_cell.data
    m = len(kept)
    one, other = problem.lower[cell] / ratio, problem.upper[cell] / ratio
    lower, upper = np.full(m, -np.inf), np.full(m, np.inf)
    np.maximum.at(lower, column, np.minimum(one, other))
    np.minimum.at(upper, column, np.maximum(one, other))
    size = np.abs(ratio) if problem.distance is Distance.L1 else ratio**2
    w = np.bincount(column, problem.w[cell] * size, m).astype(float)
    rank = np.full(len(problem.cells), -1)
    rank[problem.sensitive] = np.arange(len(problem.sensitive))
    has = np.flatnonzero(rank[cell] >= 0)
    up, down = problem.upl[rank[cell[has]]], problem.lpl[rank[cell[has]]]
    size, turned = np.abs(ratio[has]), ratio[has] < 0
    upl, lpl = np.zeros(m), np.zeros(m)
    np.maximum.at(upl, column[has], np.where(turned, down, up) / size)
    np.maximum.at(lpl, column[has], np.where(turned, up, down) / size)
    sensitive = np.unique(column[has]).astype(np.int64)
    shown = kept.copy()
    shown[column[has]] = cell[has]  # messages should name a cell with levels
    reduced = replace(
        problem,
        cells=problem.cells[kept],
        A=A,
        w=w,
        lower=lower + 0.0,
        upper=upper + 0.0,
        sensitive=sensitive,
        lpl=lpl[sensitive],
        upl=upl[sensitive],
        label=lambda k: problem.name(int(shown[k])),
    )
    hopeless = np.flatnonzero(~reduced.can_rise & ~reduced.can_fall)
    if len(hopeless):
        p = int(sensitive[hopeless[0]])
        raise Unprotectable(
            f"{reduced.name(p)} cannot be protected{_others(len(hopeless))}: its bounds leave less room than "
            f"its level on each side that "
            f"is asked. {REMEDY}"
        )
    return reduced
