"""Regions: parts of a table that can be improved separately. A region has some sensitive cells and their
surroundings, closed under the relations.

The cells of a table are usually in the order of a Cartesian product, so the relations show its dimensions:
relations along the last dimension run over neighbouring cell numbers, relations along earlier ones have
larger steps. Without the relations along one dimension, a table falls into slabs (countries; activities; size
classes). A region is the slab of its centre, then slabs beside it along that dimension, until it is large
enough; of a slab that is too large, it takes the part near the centre. Where the numbers show no dimensions,
there is one dimension, and a region is the neighbourhood of its centre.

Only the cells of a region move. If a relation leaves the region, its total belongs to the
region too, so that the inside can move against it (an EU total moves with a country). A cell
that would be alone in a relation stays.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Bools, Ints

ACROSS = 1e6  # length of a relation along the dimension across which slabs are neighbours


def dimensions(A: sp.csr_array) -> Ints:
    """(m,): the dimension along which each relation runs, as numbers from 0, for cells in
    the order of a Cartesian product.

    A relation steps by the greatest common divisor of the differences of its cells' numbers, and
    spans their largest difference. Relations whose [step, span] overlap, directly or through
    others, run along one dimension.
    """
    m = A.shape[0]
    row = np.repeat(np.arange(m), np.diff(A.indptr))
    first = A.indices[np.minimum(A.indptr[:-1], max(0, A.nnz - 1))] if A.nnz else np.zeros(m, dtype=np.int64)
    step, far = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    away = np.abs(A.indices - first[row])
    np.gcd.at(step, row, away)
    near = np.zeros(m, dtype=np.int64)
    np.maximum.at(far, row, A.indices - first[row])
    np.minimum.at(near, row, A.indices - first[row])
    span = far - near
    order = np.argsort(step, kind="stable")
    reached = np.maximum.accumulate(span[order])
    starts = (
        np.concatenate([[0], (step[order][1:] > reached[:-1]).astype(np.int64)])
        if m
        else np.zeros(0, dtype=np.int64)
    )
    found = np.empty(m, dtype=np.int64)
    found[order] = np.cumsum(starts)
    return found


class Map:
    """The graph of cells and relations, from which regions are cut. `dimension` (m,) is the
    dimension of each relation of A.
    """

    def __init__(self, A: sp.csr_array, dimension: Ints) -> None:
        self._A, self._pattern = (
            A,
            sp.csr_array((np.ones(A.nnz, dtype=np.int64), A.indices, A.indptr), shape=A.shape),
        )
        self._m, self._n = A.shape
        self._row = np.repeat(np.arange(self._m), np.diff(A.indptr))
        self._total = totals(A)
        self._dimension = dimension
        self.count = int(dimension.max(initial=0)) + 1
        self._slab = [self._slabs(d) for d in range(self.count)]
        self._graph = [self._lengths(d) for d in range(self.count)]

    def region(self, centre: int, size: int, along: int, rng: np.random.Generator) -> Ints:
        """About `size` cells of neighbouring slabs along a dimension, beginning with the slab of the centre;
        sorted.
        """
        graph = self._graph[along]
        slab = self._slab[along]
        key = rng.random(int(slab.max()) + 1)[slab] if self.count > 1 else np.zeros(self._n)
        shake = 0.5 * rng.random(self._n)
        for limit in (
            4.0,
            8.0,
            16.0,
            0.5 * ACROSS,
            1.5 * ACROSS,
            2.5 * ACROSS,
            np.inf,
        ):  # most regions end near their centre
            distance = sp.csgraph.dijkstra(graph, indices=[centre], limit=limit)[0, : self._n]
            near = np.flatnonzero(distance <= limit - 1)
            if len(near) >= size or np.isinf(limit):
                break
        near = near[np.isfinite(distance[near])]
        order = np.lexsort((distance[near] + shake[near], key[near], np.floor(distance[near] / ACROSS)))
        inside = np.zeros(self._n, dtype=bool)
        inside[near[order[:size]]] = True
        return np.flatnonzero(self._closed(inside))

    def _lengths(self, along: int) -> sp.csr_array:
        """The graph of cells and relations, in both directions. Relations along one dimension are long."""
        length = np.where(self._dimension == along, ACROSS if self.count > 1 else 1.0, 1.0)[self._row]
        size = self._n + self._m
        graph = sp.csr_array((length, (self._A.indices, self._n + self._row)), shape=(size, size))
        return sp.csr_array(graph + graph.T)

    def _slabs(self, along: int) -> Ints:
        """(n,): the slab of each cell, its connected component without the relations along one dimension."""
        other = np.flatnonzero(self._dimension[self._row] != along)
        size = self._n + self._m
        graph = sp.csr_array(
            (np.ones(len(other)), (self._A.indices[other], self._n + self._row[other])), shape=(size, size)
        )
        _, slab = sp.csgraph.connected_components(graph, directed=False)
        return np.asarray(slab[: self._n], dtype=np.int64)

    def _closed(self, inside: Bools) -> Bools:
        """(n,): the region with the totals of relations that leave it, and without cells
        that would be alone in a relation.
        """
        inside = inside.copy()
        inside[self._total[(self._pattern @ inside.astype(np.int64)) == 1]] = True
        while True:
            alone = ((self._pattern @ inside.astype(np.int64)) == 1).astype(np.int64)
            stuck = inside & (self._pattern.T @ alone > 0)
            if not stuck.any():
                return inside
            inside &= ~stuck


def totals(A: sp.csr_array) -> Ints:
    """(m,): the total of each relation, that is, the cell whose sign differs from all others; the
    first cell where there is none.
    """
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    positive = np.bincount(row, A.data > 0, A.shape[0])
    lone = np.where(A.data > 0, positive[row] == 1, (np.diff(A.indptr) - positive)[row] == 1)
    total = (
        A.indices[np.minimum(A.indptr[:-1], max(0, A.nnz - 1))].astype(np.int64)
        if A.nnz
        else np.zeros(A.shape[0], dtype=np.int64)
    )
    total[row[lone][::-1]] = A.indices[lone][::-1]
    return total
