"""A proven bound without senses: a linear program in the sizes t_i = |z_i| alone.

    min Σ w_i t_i   s.t.   t_i ≥ the smaller level that its bounds allow   (i sensitive),   and
    for every relation Σ c_i z_i = 0

    polygon     |c_i| t_i ≤ Σ_{j≠i} |c_j| t_j               no side of a polygon is longer than all others
                                                            together
    partition   Σ_{p∈P} α_p (t_p − L_p) + β Σ_{j∉P} |c_j| t_j ≥ 1

P are the sensitive cells of the relation. If their levels L (times |c|) do not cancel for any senses σ, an
imbalance D_σ = |Σ σ_p L_p| remains. The other cells must absorb it, or the cells on the lighter side must
move by more than their level. So α_p = max 1/D_σ over the σ that have p on the lighter side, and β = max
1/D_σ. The plain LP relaxation of the MILP is useless when levels are symmetric (y = ½, z = 0). The polygon
inequalities double its bound; the partition cuts close about half of the remaining gap.

Both are valid for every protected table, so the LP bounds all of them. The reported bound is recomputed from
the multipliers by weak duality: no tolerance of a solver can make it wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY, ROUNDING, SOLVER
from sdc_tasks.solver.lp import LiveLP

MOST_SENSES = 12  # most sensitive cells of a relation whose 2^(k−1) partitions are enumerated
POLYGON_ROUNDS = 50  # of the relaxation: solve, add the violated rows
SHAKE = 1e-3  # relative, added to the costs until no row is violated: equal weights make the LP degenerate
# from here on it begins from scratch after many new rows or new costs: the way from the last basis is longer
MANY_ROWS = 5000
MANY_NEW = 0.02  # share of all rows
PATIENCE_PART = (
    8  # a warm start ends after this fraction (1 / 8) of the iterations of the last solve from scratch
)


def least_sizes(problem: CtaProblem) -> Floats:
    """(n,): the least size of each cell's deviation."""
    least = np.zeros(len(problem.cells))
    up, down = (
        np.where(problem.can_rise, problem.upl, np.inf),
        np.where(problem.can_fall, problem.lpl, np.inf),
    )
    least[problem.sensitive] = np.minimum(np.minimum(up, down), np.maximum(problem.upl, problem.lpl))
    return least


class Relaxation:
    """The cutting-plane LP in memory: sizes `t` (n,) in units, a proven `bound` in weight · data units,
    and its `cuts`: rows @ t ≥ least.

    `cuts` changes as one, because other threads read it.
    """

    def __init__(self, problem: CtaProblem) -> None:
        L, U = least_sizes(problem), np.maximum(-problem.lower, problem.upper)
        self._U = np.maximum(U, L)
        self._L, self._scale, self._unit = L, _cost_scale(problem.w), problem.unit
        self._cost = problem.w / self._scale
        self._shaken = self._cost * (1 + SHAKE * np.random.default_rng(0).random(len(L)))
        rows, least = self.cuts = (sp.csr_array((0, len(L))), np.zeros(0))
        self._live = LiveLP(self._shaken, rows, least, least, L, self._U)
        self._polygons, self._partitions = _Polygons(problem.A), _Partitions(problem.A, L)
        self.t, self.bound, self.done = L, float(problem.w @ L) * problem.unit, False

    def tighten(self, rounds: int, left: Callable[[], float]) -> Iterator[float]:
        """Adds violated rows and solves again, until none is violated. Yields the bound after each round."""
        patience = None
        for _ in range(rounds):
            rows, known = self.cuts
            more, rhs = self._polygons.violated(self.t)
            extra, extra_rhs = self._partitions.violated(self.t)
            fresh, least = (
                sp.csr_array(sp.vstack([more, extra], format="csr")),
                np.concatenate([rhs, extra_rhs]),
            )
            if fresh.shape[0] == 0 and self._shaken is not self._cost:
                self._shaken = self._cost
                self._live.set_cost(np.arange(len(self._cost)), self._cost)
            elif fresh.shape[0] == 0:
                self.done = True
                return
            else:
                self.cuts = (
                    sp.csr_array(sp.vstack([rows, fresh], format="csr")),
                    np.concatenate([known, least]),
                )
                self._live.add_rows(fresh, least, np.full(len(least), np.inf))
            self._live.limit(left())
            before, all_ = self._live.iterations, len(self.cuts[1])
            scratch = all_ >= MANY_ROWS and (len(least) == 0 or len(least) >= MANY_NEW * all_)
            solved = self._live.solve(scratch, None if scratch else patience)
            patience = (self._live.iterations - before) // PATIENCE_PART if scratch else patience
            if not solved.status.has_point:
                return
            self.t = np.maximum(solved.x, self._L)
            proven = _by_duality(self._cost, *self.cuts, solved.dual, self._L, self._U)
            self.bound = max(self.bound, proven * self._scale * self._unit)
            yield self.bound


def _cost_scale(w: Floats) -> float:
    positive = w[w > 0]
    return float(np.median(positive)) if len(positive) else 1.0


def _by_duality(cost: Floats, rows: sp.csr_array, least: Floats, dual: Floats, L: Floats, U: Floats) -> float:
    """Σ μ least + min over L ≤ t ≤ U of (cost − rowsᵀ μ) t for multipliers μ ≥ 0: a lower
    bound on the optimum for any μ.

    Rounding may leave reduced costs slightly below 0, and the bound is −∞ where U is infinite.
    So μ is reduced until none of these is negative. Where U is finite they may be: there the
    optimum itself may have a price.
    """
    mu = np.maximum(dual, 0.0)
    pull = rows.T @ mu
    over = (pull > cost) & np.isinf(U)
    shrink = float(np.min(np.where(over, cost / np.where(over, pull, 1.0), 1.0), initial=1.0))
    best = -np.inf
    for factor in {1.0, shrink * (1 - ROUNDING) if shrink < 1 else 1.0}:
        reduced = cost - factor * pull
        below = reduced < 0
        if np.isfinite(U[below]).all():
            best = max(
                best, float(factor * (mu @ least) + np.maximum(reduced, 0) @ L + reduced[below] @ U[below])
            )
    return best - ROUNDING * abs(best)


class _Polygons:
    """One inequality for each entry of A. Each is returned once."""

    def __init__(self, A: sp.csr_array) -> None:
        self._A, self._size = A, sp.csr_array(abs(A))
        self._row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        self._used = np.zeros(A.nnz, dtype=bool)

    def violated(self, t: Floats) -> tuple[sp.csr_array, Floats]:
        around = self._size @ t
        excess = 2 * self._size.data * t[self._A.indices] - around[self._row]
        at = np.flatnonzero((excess > SOLVER * (1 + around[self._row])) & ~self._used)
        self._used[at] = True
        rows = sp.csr_array(self._size[self._row[at]])
        own = sp.csr_array(
            (2 * self._size.data[at], (np.arange(len(at)), self._A.indices[at])), shape=rows.shape
        )
        return sp.csr_array(rows - own), np.zeros(len(at))


class _Partitions:
    """At most one cut for each relation with three or more sensitive cells."""

    def __init__(self, A: sp.csr_array, L: Floats) -> None:
        data, index, start, least = [], [], [0], []
        filled = sp.csr_array(abs(A))
        for k, rows in _by_count(filled, L):
            signs = np.column_stack(
                [np.ones(2 ** (k - 1)), np.array(list(product([1.0, -1.0], repeat=k - 1)))]
            )
            for row in rows:
                at = slice(filled.indptr[row], filled.indptr[row + 1])
                cells, size = filled.indices[at], filled.data[at]
                sensitive = L[cells] > 0
                level = size[sensitive] * L[cells[sensitive]]
                sums = signs @ level
                D = np.abs(sums)
                if D.min() <= FEASIBILITY * level.max():
                    continue  # the levels cancel: no cut
                lighter = signs * np.sign(sums)[:, None] < 0
                alpha = np.max(
                    np.where(lighter, D.min() / D[:, None], 0.0), axis=0
                )  # all multiplied by min D: β = 1
                coefficient = size.copy()
                coefficient[sensitive] *= alpha
                data.append(coefficient)
                index.append(cells)
                start.append(start[-1] + len(cells))
                least.append(D.min() + alpha @ level)
        entries = (
            np.concatenate([np.zeros(0), *data]),
            np.concatenate([np.zeros(0, dtype=np.int64), *index]),
            np.array(start),
        )
        self._rows = sp.csr_array(entries, shape=(len(least), A.shape[1]))
        self._least = np.array(least)
        self._used = np.zeros(len(least), dtype=bool)

    def violated(self, t: Floats) -> tuple[sp.csr_array, Floats]:
        at = np.flatnonzero((np.asarray(self._rows @ t) < self._least * (1 - SOLVER) - SOLVER) & ~self._used)
        self._used[at] = True
        return sp.csr_array(self._rows[at]), self._least[at]


def _by_count(A: sp.csr_array, L: Floats) -> list[tuple[int, Ints]]:
    """(k, relations with k sensitive cells), 3 ≤ k ≤ MOST_SENSES."""
    count = np.asarray((A.astype(bool).astype(float) @ (L > 0)).astype(int))
    return [(k, np.flatnonzero(count == k)) for k in range(3, MOST_SENSES + 1)]
