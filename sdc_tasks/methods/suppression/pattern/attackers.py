"""The attackers' programs on a reduced problem, and the cuts that a failing one gives ([2] §4.1, eq. 12–15).

For an item (class p, side, need) and y ∈ [0, 1]ᵏ the attacker's side is

    max ± u_p    M u = 0,   −c⁻_i y_i ≤ u_i ≤ c⁺_i y_i

By duality every multiplier λ of the relations gives, with r = ± e_p − Mᵀ λ, the valid inequality Σ_i
(r⁺_i c⁺_i + r⁻_i c⁻_i) y_i ≥ need; λ need not be trusted. The cut is strengthened: divided by the
need, classes that are hidden anyway moved to the right-hand side, coefficients cut at 1. An item of
width (side 0) adds the two sides.

In a network the capacities c± may be cut at the need beforehand (see presolve.py): then the most violated
strengthened cut is a minimum cut of a graph, found by a maximum flow (`Flows`); c± that would be larger than
1 are what makes the plain programs give weak cuts. Each failing item gives the minimum cut next to its
source, the one next to its sink, and, nested, those that remain after the found ones are filled up. In any
other table the program is a linear one (`Programs`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.suppression.pattern.presolve import ReducedProblem
from sdc_tasks.model.table import Bools, Floats
from sdc_tasks.model.tolerances import FEASIBILITY, ZERO
from sdc_tasks.optimise import Cut, LinearAttacker
from sdc_tasks.presolve.network import network_ends
from sdc_tasks.solver.lp import Basis

DEEP = 1e-3  # a cut that is violated by this much is worth adding
MOST_NEEDS = 1e4  # outside networks: no class needs to move further than this many needs
FLOW_UNITS = 2**22  # a need in the whole numbers of the flow program


class Attackers(ABC):
    """All items of a reduced problem; `calls` counts the programs."""

    def __init__(self, table: ReducedProblem) -> None:
        self.table, self.calls = table, 0

    def cuts(self, item: int, y: Floats, most: int = 1, thorough: bool = True) -> list[Cut]:
        """Violated cuts of an item, up to about `most`. No cut if y meets the item; unless
        `thorough`, also if none is found cheaply.
        """
        found: list[Cut] = []
        seen: set[bytes] = set()
        trial = y
        while len(found) < most:
            reached, sums, given = self._reached(item, trial, thorough)
            if reached >= 1 - FEASIBILITY:
                break
            strengthened = (self._strengthened(alpha, given) for alpha in sums)
            fresh = [cut for cut in strengthened if cut is not None and cut.key not in seen]
            if not fresh:
                break
            found += fresh
            seen |= {cut.key for cut in fresh}
            if most == 1:
                break
            trial = trial.copy()
            for cut in fresh:
                trial[cut.columns] = 1.0
        return found

    def _reached(self, item: int, y: Floats, thorough: bool) -> tuple[float, list[Floats], float]:
        """How far y meets an item, multipliers that show it, and what own bounds give of the need."""
        side = int(self.table.item_side[item])
        if not side:
            return self._width(item, y, thorough)
        return *self._side(item, side, y, thorough), 0.0

    def _width(self, item: int, y: Floats, thorough: bool) -> tuple[float, list[Floats], float]:
        """How wide the class of an item of width moves, the α of a cut, and what its own
        bounds give of the need beside α.

        To either side a class goes no further than its own room, whatever the others let it do.
        """
        p, need = int(self.table.item_class[item]), float(self.table.item_need[item])
        reached, given, alpha = 0.0, 0.0, np.zeros(len(y))
        for side, room in ((1, self.table.above[p]), (-1, self.table.below[p])):
            own = min(1.0, float(room) / need)
            flow, sums = self._side(item, side, y, thorough)
            reached += min(flow, own)
            if flow >= own or not sums:
                given += own
            else:
                alpha = alpha + sums[0]
        return reached, [alpha], given

    def _strengthened(self, alpha: Floats, given: float) -> Cut | None:
        """`alpha`: in needs. None where hidden classes meet the item alone (a solver's error) or
        nobody can.
        """
        right = 1.0 - given - float(alpha[self.table.forced].sum())
        if right <= ZERO:
            return None
        columns = np.flatnonzero((alpha > 0) & ~self.table.forced)
        return Cut(columns, np.minimum(alpha[columns] / right, 1.0))

    @abstractmethod
    def _side(self, item: int, side: int, y: Floats, thorough: bool) -> tuple[float, list[Floats]]:
        """How far the class of an item moves to a side (in needs, at most 1), and where that
        is less, α of cuts (k, in needs).
        """


class Flows(Attackers):
    """Networks: relation r is a node, class i an arc from the node of its −1 to that of its +1, and back."""

    def __init__(self, table: ReducedProblem) -> None:
        super().__init__(table)
        self.tail, self.head = network_ends(table.M)
        k, m = len(table.cost), table.M.shape[0]
        self.nodes = m + 1  # the last one joins classes with a single relation
        start, end = np.concatenate([self.tail, self.head]), np.concatenate([self.head, self.tail])
        place = start.astype(np.int64) * self.nodes + end
        arcs, self._slot = np.unique(place, return_inverse=True)
        rows = arcs // self.nodes
        self._indices = (arcs % self.nodes).astype(np.int32)
        self._indptr = np.searchsorted(rows, np.arange(self.nodes + 1)).astype(np.int32)
        self._start, self._end, self._k = start, end, k

    def _side(self, item: int, side: int, y: Floats, thorough: bool) -> tuple[float, list[Floats]]:
        self.calls += 1
        table = self.table
        p, need = int(table.item_class[item]), float(table.item_need[item])
        room = np.minimum(np.concatenate([table.above, table.below]) / need, 1.0)
        room[np.tile(table.known(item), 2)] = 0.0
        room[[p, p + self._k]] = 0.0
        capacity = np.zeros(len(self._indices))
        np.add.at(capacity, self._slot, room * np.concatenate([y, y]))
        whole = np.minimum(np.ceil(capacity * FLOW_UNITS), 2**29).astype(np.int32)
        graph = sp.csr_array((whole, self._indices, self._indptr), shape=(self.nodes, self.nodes))
        if self.head[p] == self.tail[p]:  # no relation holds it
            return 1.0, []
        source, sink = (self.head[p], self.tail[p]) if side > 0 else (self.tail[p], self.head[p])
        result = sp.csgraph.maximum_flow(graph, int(source), int(sink), method="dinic")
        reached = result.flow_value / FLOW_UNITS
        if reached >= 1 - FEASIBILITY:
            return 1.0, []
        left = sp.csr_array(graph - sp.csr_array(result.flow))
        left.eliminate_zeros()
        inside = np.zeros(self.nodes, dtype=bool)
        inside[sp.csgraph.breadth_first_order(left, int(source), return_predecessors=False)] = True
        outside = np.zeros(self.nodes, dtype=bool)
        outside[
            sp.csgraph.breadth_first_order(sp.csr_array(left.T), int(sink), return_predecessors=False)
        ] = True
        found = [self._across(inside, room)]
        if (outside != ~inside).any():
            found.append(self._across(~outside, room))
        return reached, found

    def _across(self, inside: Bools, room: Floats) -> Floats:
        """(k): capacity of each class over the cut, in needs."""
        leaves = inside[self._start] & ~inside[self._end]
        over = np.where(leaves, room, 0.0)
        return np.asarray(over[: self._k] + over[self._k :])


class Programs(Attackers):
    """Any table: a live linear program in u / need."""

    def __init__(self, table: ReducedProblem) -> None:
        super().__init__(table)
        self._mosts = (1.0,) if table.network else (1.0, MOST_NEEDS)
        self._bases: dict[tuple[int, int, float], Basis] = {}
        self._attacker = LinearAttacker(table.M)

    def _side(self, item: int, side: int, y: Floats, thorough: bool) -> tuple[float, list[Floats]]:
        """First with rooms cut at the need: a point of it is one of the whole program, and its multipliers
        mind that coefficients end at 1.

        Where what they give is not violated, with rooms that are cut nowhere that matters.
        """
        table = self.table
        p, need = int(table.item_class[item]), float(table.item_need[item])
        known = table.known(item)
        rise, fall = np.where(known, 0.0, table.above) / need, np.where(known, 0.0, table.below) / need
        reached, alpha = 0.0, None
        for most in self._mosts if thorough else self._mosts[:1]:
            if basis := self._bases.get(
                (item, side, most)
            ):  # only bounds have changed since: dual feasible still
                self._attacker.restore(basis)
            reached, alpha = self._program(p, side, rise, fall, most, y)
            self._bases[item, side, most] = self._attacker.basis()
            if reached >= 1 - FEASIBILITY:
                return 1.0, []
            if alpha is not None and np.minimum(alpha, 1.0) @ y < 1 - DEEP:
                break
        return reached, [] if alpha is None else [alpha]

    def _program(
        self, p: int, side: int, rise: Floats, fall: Floats, most: float, y: Floats
    ) -> tuple[float, Floats | None]:
        """How far p goes, and α of the multipliers with the whole rooms."""
        self.calls += 1
        above, below = np.minimum(rise, most) * y, np.minimum(fall, most) * y
        above[p], below[p] = (1.0, 0.0) if side > 0 else (0.0, 1.0)
        self._attacker.set_bounds(-below, above)
        push = self._attacker.push(np.array([p]), np.array([float(side)]))
        if not push.status.has_point:
            return 0.0, None
        reached = abs(float(push.z[p]))
        if reached >= 1 - FEASIBILITY:
            return 1.0, None
        alpha = push.price(fall, rise)
        alpha[p] = 0.0
        share = 1.0 - max(
            0.0, float(side * push.pull[p])
        )  # what the multipliers leave of u_p itself on the left-hand side
        return reached, np.minimum(alpha / share, 1e9) if share > 0.5 else None


def attackers_of(table: ReducedProblem) -> Attackers:
    """The attackers of a reduced problem: flows in a network, linear programs in any other table."""
    return Flows(table) if table.network else Programs(table)
