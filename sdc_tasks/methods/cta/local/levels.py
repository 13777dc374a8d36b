"""A first table of a large problem, from the top of its longest code list down.

Along the dimension with the most levels the cells fall into levels. Those of the upper levels are decided
first. What lies below them is merged: one cell stands for all cells of a level below a cell. It moves
with that cell, and as far as the levels of the merged cells reach it moves for nothing, because these
must move anyway. Then the cells below are decided, level by level, from the deviations above them. They
fall into parts that share no relation, so that every LP is small, however many codes there are. Their
cells follow what is above them, if need be by falling short of their levels. Only bounds can forbid that;
then no table is found this way.

Senses on different levels are not weighed against each other any more. This costs some
percent, and takes a tenth of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.cta.local.regions import dimensions, totals
from sdc_tasks.methods.cta.local.settling import PRICES, Settling, waves
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.polygon import least_sizes
from sdc_tasks.methods.cta.presolve import Presolved
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.methods.cta.senses import FIRM, SenseLP
from sdc_tasks.model.table import Bools, Floats, Ints

FIRST_CELLS = 1500  # cells, at least, of the levels that are decided first
PART = 400  # cells, at least, of a part below: smaller ones are solved together
CODE_LEVELS = 50  # levels of a code list, at most


@dataclass(frozen=True)
class Tree:
    """`depth` (n,) of every cell of a reduced problem, 0 at the top; `children` (n, n): 1 where the
    row is the cell above the column.
    """

    depth: Ints = field(repr=False)
    children: sp.csr_array = field(repr=False)


def tree(A: sp.csr_array, T: sp.csr_array) -> Tree:
    """The levels along the dimension that has the most. A: the relations of all cells, in the order of a
    Cartesian product; T: from the cells of the reduced problem to all cells. Where several cells became one,
    it belongs to the uppermost level of them.
    """
    dimension, total, row = dimensions(A), totals(A), np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    deepest, above, below = (
        np.zeros(A.shape[1], dtype=np.int64),
        np.zeros(0, dtype=np.int64),
        np.zeros(0, dtype=np.int64),
    )
    for d in range(int(dimension.max(initial=0)) + 1):
        at = np.flatnonzero((dimension[row] == d) & (A.indices != total[row]))
        depth = _depths(A.shape[1], total[row[at]], A.indices[at].astype(np.int64))
        if depth.max(initial=0) > deepest.max(initial=0):
            deepest, above, below = depth, total[row[at]], A.indices[at].astype(np.int64)
    n, moving = T.shape[1], np.flatnonzero(np.diff(T.indptr) > 0)
    one = np.full(len(deepest), -1)
    one[moving] = T.indices[T.indptr[moving]]
    depth = np.full(n, CODE_LEVELS)
    np.minimum.at(depth, one[moving], deepest[moving])
    above, below = one[above], one[below]
    real = (above >= 0) & (below >= 0)
    above, below = above[real], below[real]
    lower = (
        depth[above] < depth[below]
    )  # not so where presolve made one cell of two levels, or cells are above each other
    children = sp.csr_array((np.ones(lower.sum()), (above[lower], below[lower])), shape=(n, n))
    children.data[:] = 1.0  # merged cells may be above each other in several relations
    return Tree(depth, children)


def descend(presolved: Presolved, run: Run, seed: int, threads: int = 1) -> Floats | None:
    """The deviations (n,) of a table of the reduced problem; it may fall short of some levels. None where
    time ran out, or where bounds leave a part no solution.
    """
    problem = presolved.problem
    A, L, found = problem.A, least_sizes(problem), tree(run.problem.A, presolved.reduction.T)
    entries = A.astype(bool).astype(np.int64)
    z, decided, used = (
        np.zeros(A.shape[1]),
        np.zeros(A.shape[1], dtype=bool),
        np.zeros(A.shape[0], dtype=bool),
    )
    sizes = np.cumsum(np.bincount(found.depth))
    top = int(np.flatnonzero(sizes >= min(FIRST_CELLS, A.shape[1]))[0])
    with ThreadPoolExecutor(threads) as pool:
        for level in range(top, len(sizes)):
            inside = found.depth <= level
            rows = np.flatnonzero(~used & (entries @ (~inside).astype(np.int64) == 0))
            parts = list(_parts(sp.csc_array(A[rows]), inside & ~decided, divided=level > top))
            models = [_model(problem, L, found.children, z, inside, cells, rows[own]) for cells, own in parts]
            rngs = [np.random.default_rng([seed, level, k]) for k in range(len(parts))]
            for (cells, _), moved in zip(
                parts, pool.map(lambda model, rng: _solved(run, model, rng), models, rngs), strict=True
            ):
                if moved is None:
                    return None
                z[cells] = moved
            decided |= inside
            used[rows] = True
            run.at(level - top + 1, len(sizes) - top, "levels of the code list")
    return z


def _depths(n: int, above: Ints, below: Ints) -> Ints:
    """(n,): the number of cells above each cell."""
    depth = np.zeros(n, dtype=np.int64)
    for _ in range(CODE_LEVELS):
        deeper = depth.copy()
        np.maximum.at(deeper, below, depth[above] + 1)
        if (deeper == depth).all():
            break
        depth = deeper
    return depth


def _parts(A: sp.csc_array, open_: Bools, divided: bool) -> Iterator[tuple[Ints, Ints]]:
    """(cells, relations) of parts that share no relation; all open cells at once unless
    `divided`. Small parts come together.
    """
    cells = np.flatnonzero(open_)
    n, m = len(cells), A.shape[0]
    own = sp.csr_array(A[:, cells])
    if not divided:
        yield cells, np.arange(m)
        return
    graph = sp.csr_array(
        (np.ones(own.nnz), (own.indices, n + np.repeat(np.arange(m), np.diff(own.indptr)))),
        shape=(n + m, n + m),
    )
    _, label = sp.csgraph.connected_components(graph, directed=False)
    group = (np.cumsum(np.bincount(label[:n], minlength=label.max(initial=0) + 1)) // PART)[label]
    for number in np.unique(group[:n]):
        yield cells[group[:n] == number], np.flatnonzero(group[n:] == number)


@dataclass(frozen=True)
class _Part:
    """A problem of its own: `cells` of the table, then the merged cells below them. Its
    relations have the right-hand side r.
    """

    problem: CtaProblem
    r: Floats = field(repr=False)
    cells: int  # that are not merged
    sensitive: int  # of these


def _model(
    problem: CtaProblem, L: Floats, children: sp.csr_array, z: Floats, inside: Bools, cells: Ints, rows: Ints
) -> _Part:
    """The part of a table that these relations decide, with what lies below them merged.
    z is 0 where nothing is decided.
    """
    n, A = len(cells), sp.csc_array(problem.A[rows])
    at, w, free = [np.zeros(0, dtype=np.int64)], [np.zeros(0)], [np.zeros(0)]
    below = sp.csr_array(children[cells] @ sp.diags_array((~inside).astype(float)))
    while below.nnz:  # one level after the other
        many = np.asarray(below.sum(axis=1)).ravel()
        some = np.flatnonzero(many > 0)
        at.append(some)
        w.append((below @ problem.w)[some] / many[some])
        free.append((below @ L)[some])
        below = sp.csr_array(below @ children)
    of, level = np.concatenate(at), np.concatenate(free)
    k = len(of)
    follows = sp.hstack([sp.csr_array((np.ones(k), (np.arange(k), of)), shape=(k, n)), -sp.eye_array(k)])
    own = np.flatnonzero(np.isin(cells, problem.sensitive))
    which = np.searchsorted(problem.sensitive, cells[own])
    part = CtaProblem(
        unit=problem.unit, cells=np.arange(n + k),
        A=sp.csr_array(sp.vstack([sp.hstack([A[:, cells], sp.csr_array((len(rows), k))]), follows])),
        w=np.concatenate([problem.w[cells], *w]),
        lower=np.concatenate([problem.lower[cells], problem.lower[cells[of]]]),
        upper=np.concatenate([problem.upper[cells], problem.upper[cells[of]]]),
        sensitive=np.concatenate([own, n + np.arange(k)]),
        lpl=np.concatenate([problem.lpl[which], level]), upl=np.concatenate([problem.upl[which], level]),
    )  # fmt: skip
    return _Part(part, np.concatenate([-(A @ z), np.zeros(k)]), n, len(own))


def _solved(run: Run, part: _Part, rng: np.random.Generator) -> Floats | None:
    """The deviations of the cells that are not merged; None where time ran out."""
    model = SenseLP(part.problem, FIRM, r=part.r)
    settling = Settling(part.problem, run, model, rng.random(len(part.problem.sensitive)) < 0.5, rng)
    settling.lean()
    for wave in waves(part.problem, PRICES[0], part.sensitive):
        if settling.found is None or not settling.join(wave):
            break
    return None if settling.found is None else settling.found.z[: part.cells]
