"""Branch and bound over senses for the distance L2.

With fixed senses, min Σ w z² over A z = 0 and bounds is a separable convex quadratic program. A cell
with an open sense may be anywhere between its bounds. Its cost is exact at −lpl and upl, and a lower
bound wherever a table may have it:

    w z² ≥ w (upl − lpl) z + w upl lpl + ϑ w (z − upl) (z + lpl)        for z ≤ −lpl or z ≥ upl, 0 < ϑ ≤ 1

So a program with open senses bounds all choices of them, and a program without open senses is a
table. Each node starts from the multipliers of its parent, and ends as soon as it is proven to
be no better than the best table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sdc_tasks.methods.cta.model import FARTHEST, CtaProblem
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import IMPROVEMENT, ZERO
from sdc_tasks.solver.lp import Status
from sdc_tasks.solver.qp import SeparableQP

THETA = 0.1  # ϑ: the smaller, the higher the bound of an open cell, and the more steps a program takes
PROXIMAL, CENTRINGS = (
    1e-3,
    50,
)  # cells without weight: their curvature, and how often its centre moves until it costs nothing


@dataclass(frozen=True)
class Node:
    """Senses (s,) (±1, or 0 while open), their best deviations (n,), multipliers (m,), and a lower
    bound on the cost of their tables.

    A `table` has no open sense, and its cost is the bound. Without open senses there may still be no table,
    if the solver has used up its steps.
    """

    senses: Ints = field(repr=False)
    z: Floats = field(repr=False)
    dual: Floats = field(repr=False)
    cost: float = field(repr=False)
    table: bool = False


class SenseQP:
    """The programs of one problem. Costs are in median weights · units²: `scale` is that weight."""

    def __init__(self, problem: CtaProblem) -> None:
        positive = problem.w[problem.w > 0]
        self.scale = float(np.median(positive)) if len(positive) else 1.0
        self.w, self.problem = problem.w / self.scale, problem
        self._qp = SeparableQP(problem.A, np.zeros(problem.A.shape[0]))
        self._weightless = np.flatnonzero(problem.w == 0)
        self._far = FARTHEST * max(1.0, float(np.maximum(problem.lpl, problem.upl).sum()))

    @property
    def everywhere_open(self) -> Node:
        """The root: only senses that bounds decide are fixed, and no cell moves."""
        problem = self.problem
        senses = np.where(problem.can_fall, np.where(problem.can_rise, 0, -1), 1)
        return Node(senses, np.zeros(len(problem.cells)), np.zeros(problem.A.shape[0]), 0.0)

    def strain(self, node: Node) -> Floats:
        """(s,): the cost of each cell's level: its price times its deviation."""
        p = self.problem.sensitive
        price = (2 * self.w * node.z - self.problem.A.T @ node.dual)[p]
        return np.asarray(np.maximum(price * node.senses, 0.0) * np.abs(node.z[p]))

    def solve(self, senses: Ints, start: Floats, cutoff: float = math.inf) -> Node | None:
        """The node of these senses (s,), from the multipliers `start` (m,); None where no table with
        them costs less than the cutoff.
        """
        problem, p = self.problem, self.problem.sensitive
        up, down, opened = senses > 0, senses < 0, senses == 0
        q, c = 2 * self.w, np.zeros(len(self.w))
        lower, upper = np.maximum(problem.lower, -self._far), np.minimum(problem.upper, self._far)
        lower[p[up]], upper[p[down]] = problem.upl[up], -problem.lpl[down]
        at, w, upl, lpl = p[opened], self.w[p[opened]], problem.upl[opened], problem.lpl[opened]
        q[at] *= THETA
        c[at] = (1 - THETA) * w * (upl - lpl)
        constant = (1 - THETA) * float(w @ (upl * lpl))
        if len(self._weightless):
            return self._centred(senses, q, c, lower, upper, start, constant, cutoff)
        found = self._qp.solve(q, c, lower, upper, start, cutoff - constant)
        return (
            None
            if found.status is Status.INFEASIBLE
            else self._node(senses, found.x, found.dual, found.bound + constant, found.status)
        )

    def _centred(
        self,
        senses: Ints,
        q: Floats,
        c: Floats,
        lower: Floats,
        upper: Floats,
        start: Floats,
        constant: float,
        cutoff: float,
    ) -> Node | None:
        """The proximal point method: cells without weight are drawn to their last
        position, until they stay there.
        """
        free, centre, dual = self._weightless, np.zeros(len(q)), start
        q[free] = PROXIMAL
        for _ in range(CENTRINGS):
            drawn = c.copy()
            drawn[free] -= PROXIMAL * centre[free]
            found = self._qp.solve(q, drawn, lower, upper, dual)
            if found.status is Status.INFEASIBLE:
                return None
            moved, centre, dual = np.abs(found.x - centre)[free].max(), found.x, found.dual
            if moved <= IMPROVEMENT / 10 * (1 + np.abs(centre).max()):
                break
        mu, x = self.problem.A.T @ dual, centre.copy()
        x[free] = np.where(
            mu[free] > 0, upper[free], lower[free]
        )  # the dual function without the proximal term: always a bound
        q[free] = 0.0
        cost = float((0.5 * q * x + c - mu) @ x) + constant
        return None if cost > cutoff else self._node(senses, centre, dual, cost, found.status)

    def _node(self, senses: Ints, z: Floats, dual: Floats, bound: float, status: Status) -> Node:
        table = bool(senses.all()) and status is Status.OPTIMAL
        return Node(senses, z, dual, float(self.w @ z**2) if table else bound, table)


def branch(
    model: SenseQP, root: Node, cutoff: float, nodes: float, over: Callable[[], bool]
) -> tuple[Node | None, float]:
    """(best table below the cutoff or None, bound on all tables) over the senses that the root leaves open.

    It searches depth first, and first the side of the cell's deviation. It stops after `nodes` nodes, or when
    `over` is true; the bound is then the least bound of the open nodes.
    """
    best: Node | None = None
    left, doubtful = [(root.cost, root)], [math.inf]
    while left and nodes > 0 and not over():
        bound, above = left.pop()
        enough = cutoff * (1 - IMPROVEMENT)
        if bound >= enough:
            continue
        nodes -= 1
        node = model.solve(above.senses, above.dual, enough)
        if node is None:
            continue
        if node.table:
            if node.cost < cutoff:
                best, cutoff = node, node.cost
            continue
        if node.senses.all():
            doubtful.append(node.cost)
            continue
        p, side = _to_decide(model, node)
        for sense in (-side, side):
            senses = node.senses.copy()
            senses[p] = sense
            left.append((node.cost, Node(senses, node.z, node.dual, node.cost)))
    return best, min([cutoff * (1 - IMPROVEMENT), *doubtful, *(bound for bound, _ in left)])


def _to_decide(model: SenseQP, node: Node) -> tuple[int, int]:
    """The open cell whose distance from its levels costs most, and the side of its deviation."""
    problem, opened = model.problem, np.flatnonzero(node.senses == 0)
    z, upl, lpl = node.z[problem.sensitive[opened]], problem.upl[opened], problem.lpl[opened]
    off = np.maximum(model.w[problem.sensitive[opened]], ZERO) * np.abs((upl - z) * (z + lpl))
    k = int(off.argmax())
    return int(opened[k]), 1 if 2 * z[k] > upl[k] - lpl[k] else -1
