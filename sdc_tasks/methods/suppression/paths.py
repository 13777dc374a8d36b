"""Cell suppression by shortest paths ([2] §4.2, Figures 13 and 14; Castro 2007), for tables that are
networks: two-dimensional and 1H2D.

Relations are nodes, classes are arcs. A path from one end of a primary to the other makes a cycle with it:
each class of the path can rise and fall by the same amount, up to the smallest room γ on it. What the path
moves is hidden. Where γ is less than what the primary needs, the next path adds to it, with what the first
has left, until the need is met.

Costs of arcs change from path to path: 0 for a class that is hidden or in use already, else the price that
cover.py asks per unit; a class whose room is less than what is still needed is dearer by as much. Singletons
of others stay out of every path ([2] §4.2). What the paths of one primary show of other primaries counts for
them (Clpl and Cupl of Figure 14), as do all earlier paths.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.suppression.covering.patterns import cover
from sdc_tasks.methods.suppression.network import network_of
from sdc_tasks.methods.suppression.pattern.presolve import ReducedProblem
from sdc_tasks.methods.suppression.pattern.run import SuppressionRun
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import TIE_BREAK, ZERO
from sdc_tasks.presolve.network import network_ends

MOST_PATHS = 200  # of one primary and side


def shortest_paths(run: SuppressionRun, seed: int = 1) -> str:
    """Offers patterns to the run; returns "work" or "time". Raises InvalidInput if this is no
    network, Unprotectable if none is safe.
    """
    return cover(run, seed, network_of(run.problem, "paths"), PathDirections)


class PathDirections:
    """Directions as sums of shortest paths over some classes."""

    def __init__(self, table: ReducedProblem, classes: Ints) -> None:
        tail, head = network_ends(table.M)
        tail, head = tail[classes], head[classes]
        self._k, self._classes, self._nodes = len(table.cost), classes, table.M.shape[0] + 1
        self._ends = {int(i): (int(t), int(h)) for i, t, h in zip(classes, tail, head, strict=True)}
        start, end = np.concatenate([tail, head]), np.concatenate([head, tail])
        self._order = np.lexsort((end, start))  # arcs with their reverses, by place in the matrix of nodes
        place = start[self._order].astype(np.int64) * self._nodes + end[self._order]
        self._first = (
            np.flatnonzero(np.concatenate([[True], np.diff(place) > 0]))
            if len(place)
            else np.zeros(0, dtype=np.int64)
        )
        slots = place[self._first]
        self._slot = {int(each): i for i, each in enumerate(slots)}
        self._last = np.append(self._first[1:], len(place))
        indptr = np.searchsorted(slots // self._nodes, np.arange(self._nodes + 1))
        self._graph = sp.csr_array(
            (np.ones(len(slots)), (slots % self._nodes).astype(np.int32), indptr.astype(np.int32)),
            shape=(self._nodes, self._nodes),
        )

    def cheapest(
        self, p: int, sign: int, far: float, up: Floats, down: Floats, cost: Floats
    ) -> Floats | None:
        """As `Directions.cheapest`."""
        if p not in self._ends:
            return None
        u = np.zeros(self._k)
        if max(up[p], down[p]) < far * (1 - ZERO):
            return None
        tail, head = self._ends[p]
        source, target = (head, tail) if sign > 0 else (tail, head)
        left, inside = far, self._classes
        rise, fall, price = up[inside].copy(), down[inside].copy(), cost[inside]
        rise[inside == p] = fall[inside == p] = 0.0
        flow = np.zeros(len(inside))
        for _ in range(MOST_PATHS):
            if source == target or left <= far * ZERO:
                break
            arcs = self._path(source, target, np.concatenate([rise - flow, fall + flow]), flow, price, left)
            if arcs is None:
                return None
            way = np.where(arcs < len(inside), 1.0, -1.0)
            mine = arcs % len(inside)
            step = min(left, float(np.where(way > 0, rise[mine] - flow[mine], fall[mine] + flow[mine]).min()))
            flow[mine] += way * step
            left -= step
        if source != target and left > far * ZERO:
            return None
        u[inside] = np.where(np.abs(flow) > far * ZERO, flow, 0.0)
        u[p] = sign * far
        return u

    def _path(
        self, source: int, target: int, room: Floats, flow: Floats, price: Floats, left: float
    ) -> Ints | None:
        """The arcs of a shortest path, as positions in (classes as they are, classes
        backwards); None where there is none.
        """
        dear = np.where(flow != 0, 0.0, price) + TIE_BREAK / 100
        length = np.concatenate([dear, dear]) * np.maximum(1.0, left / np.maximum(room, left * ZERO))
        length[room <= left * ZERO] = np.inf
        sorted_length = length[self._order]
        if not len(sorted_length):
            return None
        self._graph.data = np.minimum.reduceat(sorted_length, self._first)
        before = sp.csgraph.dijkstra(self._graph, indices=[source], return_predecessors=True)[1][0]
        arcs, node = [], target
        while node != source:
            last = int(before[node])
            if last < 0:
                return None
            slot = self._slot[last * self._nodes + node]
            first, end = self._first[slot], self._last[slot]
            arcs.append(int(self._order[first + int(np.argmin(sorted_length[first:end]))]))
            node = last
        return np.array(arcs, dtype=np.int64)
