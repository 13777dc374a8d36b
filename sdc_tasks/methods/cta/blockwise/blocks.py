"""Blocks of sensitive cells, from the relations alone ([1] §3, Step 1: "divide y into k blocks, not
necessarily of the same size").

    order           cells in file order: the countries of a release
    neighbourhood   a random cell and the cells nearest to it, then a random remaining
                    cell and those nearest to it, …
    random          random blocks

Distance is along relations; the length of a relation is its number of cells. In a short relation few other
cells can absorb a deviation, so the senses of its cells depend on each other more than those of two countries
in an aggregate. Distance also decides which deviations the subproblem of a block leaves free: all of them in
tables up to `REACH_CELLS`, as in the paper; in larger tables the nearest, because far cells hardly react to a
few senses, and a MILP over all cells would spend its time on them.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.model.table import Bools, Floats, Ints

Kind = Literal["order", "neighbourhood", "random"]
REACH_CELLS = 3000  # cells whose deviations are free around a block, at least


class Partitioner:
    """Splits the positions 0..s−1 of the sensitive cells. Equal seeds give equal blocks."""

    def __init__(self, problem: CtaProblem, seed: int) -> None:
        n, length = len(problem.cells), np.diff(problem.A.indptr)
        steps = sp.csr_array(
            (np.repeat(length / 2, length), problem.A.indices, problem.A.indptr), shape=problem.A.shape
        )
        self._graph: Any = sp.csr_array(
            sp.block_array([[sp.csr_array((n, n)), steps.T], [steps, None]], format="csr")
        )
        self._n, self._sensitive = n, problem.sensitive
        self._rng = np.random.default_rng(seed)

    def split(self, kind: Kind, blocks: int) -> list[Ints]:
        """A partition into `blocks` blocks of nearly equal size, or into fewer blocks if there are fewer
        cells.
        """
        s = len(self._sensitive)
        k = max(1, min(blocks, s))
        if kind == "neighbourhood":
            return self._grown([len(part) for part in np.array_split(np.arange(s), k)])
        order = (
            self._rng.permutation(s)
            if kind == "random"
            else np.roll(np.arange(s), self._rng.integers(max(s, 1)))
        )
        return np.array_split(order, k)

    def around(self, centres: Ints, size: int) -> Ints:
        """(size,): the positions nearest to `centres`, these included."""
        return self._nearest(self._distance(centres)[self._sensitive], size)

    def reach(self, block: Ints) -> Bools:
        """(n,): the cells whose deviations the subproblem of this block leaves free: at least the
        share of cells that the block has.
        """
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
        """(n,): number of cells on the shortest path to a centre; infinite where no relation leads there."""
        if len(centres) == 0:
            return np.zeros(self._n)
        distance: Floats = sp.csgraph.dijkstra(self._graph, indices=self._sensitive[centres], min_only=True)
        return distance[: self._n]

    def _nearest(self, distance: Floats, size: int) -> Ints:
        """(size,): the nearest positions, with ties broken at random."""
        return np.lexsort((self._rng.random(len(distance)), distance))[:size]
