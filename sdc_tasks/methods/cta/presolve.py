"""Presolve: reductions before a solver sees the problem, with an exact way back.

- A cell whose deviation is fixed at 0 is removed. A relation with one remaining cell fixes that cell.
- A relation of two cells, c_i z_i + c_j z_j = 0, makes one a multiple of the other: bounds and levels are
  carried over, weights are added.
  A cell with a level of 0 is not merged: together with another level it would have more than two senses.
- A relation that repeats another is removed.

So z = T z', with one entry in each row of T. Messages name an impossible cell or relation, with the remedy.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.cta.model import CtaProblem, Distance
from sdc_tasks.model.table import Bools, Floats, Ints

CANCELLED = 1e-9  # an entry below this share of the cancelled terms counts as 0
REMEDY = "Remedy: lower its level, widen its bounds, or let a fixed cell of the relation move"


@dataclass(frozen=True)
class Reduction:
    """A smaller problem with the same solutions: z = T z', with T (cells, cells of the smaller problem)."""

    problem: CtaProblem
    T: sp.csr_array = field(repr=False)
    kept: Ints = field(repr=False)  # the cell that represents each column of T
    rows: Ints = field(repr=False)  # the original number of each remaining relation

    def restore(self, z: Floats) -> Floats:
        """The deviations of all cells from those of the smaller problem: T z."""
        return np.asarray(self.T @ z)


def reduce(problem: CtaProblem) -> Reduction:
    """Reduces a problem. Raises Unprotectable where a sensitive cell cannot move by its level on
    either side.
    """
    n = len(problem.cells)
    fixed = (problem.lower == 0) & (problem.upper == 0)
    T = sp.csr_array(sp.eye_array(n))
    apart = problem.sensitive[(problem.lpl == 0) | (problem.upl == 0)]
    while True:
        T = sp.csr_array(T @ sp.diags_array((~fixed).astype(float)))
        A = _product(problem.A, T)
        filled = np.diff(A.indptr)
        if (alone := A.indices[A.indptr[:-1][filled == 1]]).size:
            fixed = fixed.copy()
            fixed[alone] = True
        elif (pairs := np.flatnonzero((filled == 2) & ~_touches(A, apart))).size:
            step, dead = _merged(sp.csr_array(A[pairs]), n)
            T, fixed = sp.csr_array(T @ step), fixed | dead
        else:
            break
    _refuse_stuck(problem, T)
    kept = np.flatnonzero(np.diff(sp.csc_array(_clean(T)).indptr) > 0)
    idle = np.setdiff1d(np.flatnonzero(np.diff(sp.csc_array(A).indptr) == 0), _roots(T, problem.sensitive))
    kept = np.setdiff1d(kept, idle)  # in no relation and not sensitive: stays where it is
    T = sp.csr_array(sp.csc_array(T)[:, kept])
    A = sp.csr_array(sp.csc_array(A)[:, kept])
    rows = _distinct(A)
    return Reduction(_carried_over(problem, T, sp.csr_array(A[rows]), kept), T, kept, rows)


def _product(A: sp.csr_array, T: sp.csr_array) -> sp.csr_array:
    """A T, with 0 for entries that cancel up to rounding: 1 − 49 · (1/49) is not 0 in floating point."""
    found = sp.csr_array(A @ T)
    if not (np.abs(T.data) == 1).all():
        size = sp.csr_array(abs(A) @ abs(T))
        inverse = size.copy()
        inverse.data = 1.0 / inverse.data
        share = sp.csr_array(found.multiply(inverse))
        share.data[np.abs(share.data) <= CANCELLED] = 0.0
        found = sp.csr_array(share.multiply(size))
    return _clean(found)


def _touches(A: sp.csr_array, cells: Ints) -> Bools:
    """(m,): the relations that contain any of the cells."""
    inside = np.zeros(A.shape[1])
    inside[cells] = 1.0
    return np.asarray(A.astype(bool).astype(float) @ inside > 0)


def _clean(A: sp.csr_array) -> sp.csr_array:
    A.eliminate_zeros()
    A.sort_indices()
    return A


def _roots(T: sp.csr_array, cells: Ints) -> Ints:
    """The column of T for each of the cells, without fixed cells."""
    return np.asarray(T[cells].tocsr().indices, dtype=np.int64)


def _merged(pairs: sp.csr_array, n: int) -> tuple[sp.csr_array, Bools]:
    """The substitution by all two-cell relations at once, and the cells that are fixed by contradictory
    ratios.
    """
    i, j = pairs.indices[::2], pairs.indices[1::2]
    ci, cj = pairs.data[::2], pairs.data[1::2]
    one, other = np.concatenate([i, j]), np.concatenate([j, i])
    ratios = sp.csr_array((np.concatenate([-ci / cj, -cj / ci]), (one, other)), shape=(n, n))
    once = sp.csr_array((np.ones(len(one)), (one, other)), shape=(n, n))
    ratios.data /= (
        once.data
    )  # for a repeated pair the mean of the ratios: equal to each of them unless they contradict
    listed = ratios.tocoo()
    step = dict(
        zip(zip(listed.row.tolist(), listed.col.tolist(), strict=True), listed.data.tolist(), strict=True)
    )
    _, component = connected_components(once, directed=False)
    touched = np.unique(one)
    _, first = np.unique(component[touched], return_index=True)
    starts = touched[first]
    source = np.full(len(starts), n)  # one more node, next to each start: a single search finds all trees
    forest = sp.csr_array(
        (np.ones(len(one) + len(starts)), (np.concatenate([one, source]), np.concatenate([other, starts]))),
        shape=(n + 1, n + 1),
    )
    order, before = breadth_first_order(forest, n)
    ratio, root = np.ones(n), np.arange(n)
    for cell, parent in zip(order[1:].tolist(), before[order[1:]].tolist(), strict=True):
        if parent < n:
            ratio[cell], root[cell] = ratio[parent] * step[parent, cell], root[parent]
    contradiction = np.abs(ci * ratio[i] + cj * ratio[j]) > 1e-9 * (
        np.abs(ci * ratio[i]) + np.abs(cj * ratio[j])
    )
    dead = np.isin(component, component[i[contradiction]])
    return sp.csr_array((ratio, (np.arange(n), root)), shape=(n, n)), dead


def _refuse_stuck(problem: CtaProblem, T: sp.csr_array) -> None:
    """Raises Unprotectable with the first sensitive cell that the relations fix at its true value."""
    free = np.diff(_clean(T.copy()).indptr)[problem.sensitive] > 0
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


def _carried_over(problem: CtaProblem, T: sp.csr_array, A: sp.csr_array, kept: Ints) -> CtaProblem:
    """Bounds, weights and levels of the columns of T."""
    by_cell = T.tocoo()
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


def _distinct(A: sp.csr_array) -> Ints:
    """The rows that are neither empty nor multiples of an earlier one."""
    filled = np.flatnonzero(np.diff(_clean(A).indptr) > 0)
    if len(filled) == 0:
        return filled
    scaled = sp.csr_array(sp.diags_array(1.0 / A.data[A.indptr[filled]]) @ A[filled])
    mark = scaled @ np.random.default_rng(0).random(A.shape[1])
    order = np.lexsort((np.arange(len(mark)), np.round(mark, 9)))
    alike = np.abs(np.diff(mark[order])) <= 1e-9 * (1 + np.abs(mark[order[1:]]))
    later, earlier = order[1:][alike], order[:-1][alike]
    if len(later) == 0:
        return filled
    repeated = later[np.asarray(abs(scaled[later] - scaled[earlier]).sum(axis=1)).ravel() <= 1e-9]
    return np.delete(filled, repeated)
