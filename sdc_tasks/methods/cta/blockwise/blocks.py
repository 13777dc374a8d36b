"""Blocks of sensitive cells, from the relations alone ([1] §3, Step 1: "divide y into k blocks, not necessarily of the same size").

    order           cells in file order: the countries of a release
    neighbourhood   a random cell and those nearest to it, then a random one of the others and those nearest to it, …
    random          as it comes

Near means along relations, each as long as it has cells: a deviation leaves a short relation through few others, so that the senses of
cells which share one are bound to each other more than those of two countries in an aggregate. It also says which deviations a block's
subproblem leaves free: all of them in tables up to `REACH_CELLS`, as in the paper; in larger ones the nearest, as far ones hardly answer to
a few senses, and a MILP over all cells spends its time on them.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.model.table import Bools, Floats, Ints

Kind = Literal["order", "neighbourhood", "random"]
REACH_CELLS = 3000  # cells whose deviations are free around a block, at least


class Partitioner:
    """Splits the positions 0..s−1 of the sensitive cells; equal seeds give equal blocks."""

    def __init__(self, problem: CtaProblem, seed: int) -> None:
        n, length = len(problem.cells), np.diff(problem.A.indptr)
        steps = sp.csr_array((np.repeat(length / 2, length), problem.A.indices, problem.A.indptr), shape=problem.A.shape)
        self._graph: Any = sp.csr_array(sp.block_array([[sp.csr_array((n, n)), steps.T], [steps, None]], format="csr"))
        self._n, self._sensitive = n, problem.sensitive
        self._rng = np.random.default_rng(seed)

    def split(self, kind: Kind, blocks: int) -> list[Ints]:
        """Every position in one of `blocks` blocks, of equal size as far as that goes; fewer blocks where there are fewer cells."""
        s = len(self._sensitive)
        k = max(1, min(blocks, s))
        if kind == "neighbourhood":
            return self._grown([len(part) for part in np.array_split(np.arange(s), k)])
        order = self._rng.permutation(s) if kind == "random" else np.roll(np.arange(s), self._rng.integers(max(s, 1)))
        return np.array_split(order, k)

    def around(self, centres: Ints, size: int) -> Ints:
        """The `size` positions nearest to the given ones, themselves among them."""
        return self._nearest(self._distance(centres)[self._sensitive], size)

    def reach(self, block: Ints) -> Bools:
        """(n): the cells whose deviations a subproblem of this block leaves free; as large a share of all as the block is, or more."""
        size = max(REACH_CELLS, math.ceil(self._n * len(block) / max(1, len(self._sensitive))))
        near = np.zeros(self._n, dtype=bool)
        near[self._nearest(self._distance(block), size)] = True
        return near

    def _grown(self, sizes: list[int]) -> list[Ints]:
        left, found = np.arange(len(self._sensitive)), []
        for size in sizes:
            centre = self._rng.choice(left, 1) if len(left) else left
            block = left[self._nearest(self._distance(centre)[self._sensitive[left]], size)]
            left = np.setdiff1d(left, block)
            found.append(block)
        return found

    def _distance(self, centres: Ints) -> Floats:
        """(n): cells on the shortest way to any of the centres; infinite where no relation leads there."""
        if len(centres) == 0:
            return np.zeros(self._n)
        distance: Floats = dijkstra(self._graph, indices=self._sensitive[centres], min_only=True)
        return distance[: self._n]

    def _nearest(self, distance: Floats, size: int) -> Ints:
        """Ties are broken at random."""
        return np.lexsort((self._rng.random(len(distance)), distance))[:size]
