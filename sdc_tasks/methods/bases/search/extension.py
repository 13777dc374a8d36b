"""The least additional uncertainty of the aggregates that makes one requirement hold.

In the notation of `methods/attack/polyhedron.py`, with the published slacks `low high ≥ 0` of the aggregate
cells around their true values:

    L = min Σ_k w_k (s⁻_k + s⁺_k)   over  A z = 0,  lower ≤ z ≤ upper,  −low − s⁻ ≤ B z ≤
    high + s⁺,  σ z_p ≥ need,  s ≥ 0

If L = 0, the requirement holds and z is its witness; z may also be a witness of other requirements, which
then need no LP. Otherwise the slacks widened by s make it hold, and the prices q of the aggregate rows (|q_k|
≤ w_k, one sign for each) give a *cut* that every safe publication satisfies (`cut.py`). It is the deepest cut
at that point, measured in loss. Weak duality recomputes its right-hand side from q and the prices of the
national relations, so the cut is valid even if the solver is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack import Attack, AttackSystem, Requirements, attack_system
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import EXTERNAL
from sdc_tasks.model.table import Bools, Floats
from sdc_tasks.model.tolerances import DUAL, FEASIBILITY, SOLVER
from sdc_tasks.optimise import Cut
from sdc_tasks.solver.lp import LiveLP, LPResult, Status

NEED_DECADES = 4  # needs within one live model differ by at most this many powers of ten


@dataclass(frozen=True)
class SlackDeficit:
    """The additional slack (below, above) of every aggregate cell that a requirement
    needs, and the cut that proves it.
    """

    below: Floats = field(repr=False)
    above: Floats = field(repr=False)
    cut: Cut


@dataclass(frozen=True)
class Demand:
    """Requirements on the same side of one column u of the core, as one: σ u ≥ need; `need` is
    the largest among their primaries.
    """

    model: int
    column: int
    side: int
    need: float = field(repr=False)
    primary: int


def order(demand: Demand) -> tuple[float, int, int, int]:
    """The largest needs come first: the slack that they need serves many others."""
    return -demand.need, demand.model, demand.column, demand.side


class Extension:
    """The live elastic models of one problem, one for each size of needs.

    `weights`: loss per unit of slack of each aggregate cell; `exact` cells get no slack.
    """

    def __init__(
        self,
        problem: ProtectionProblem,
        weights: Floats,
        needs: Requirements,
        broken: Sequence[Attack],
        exact: Bools | None = None,
    ) -> None:
        self.count = int(problem.aggregate.sum())
        attacks = _by_outsiders(needs, broken)
        sizes = [int(np.ceil(np.log10(attack.need) / NEED_DECADES)) for attack in attacks]
        most = np.full(self.count, np.inf) if exact is None else np.where(exact, 0.0, np.inf)
        self._models = [_Elastic(problem, weights, most, size) for size in sorted(set(sizes))]
        self.demands = sorted(self._demands(needs, attacks, sizes), key=order)
        for i, model in enumerate(self._models):
            model.remember([demand for demand in self.demands if demand.model == i])

    def _demands(
        self, needs: Requirements, attacks: Sequence[Attack], sizes: Sequence[int]
    ) -> Iterator[Demand]:
        """The largest need of each side of a column. `sizes`: of the needs of the attacks."""
        number = {size: i for i, size in enumerate(sorted(set(sizes)))}
        neediest: dict[tuple[int, int, int], tuple[float, int]] = {}
        for attack, size in zip(attacks, sizes, strict=True):
            primary = int(needs.primaries[attack.requirement])
            column, sign = self._models[number[size]].place(primary)
            if sign:
                key = (number[size], column, int(attack.side * sign))
                neediest[key] = max(neediest.get(key, (0.0, 0)), (attack.need * (1 - FEASIBILITY), primary))
        for key, most in neediest.items():
            yield Demand(*key, *most)

    @property
    def lps(self) -> int:
        return sum(model.live.solves for model in self._models)

    def set_slacks(self, low: Floats, high: Floats) -> None:
        """Sets the slacks of the present publication, one entry per aggregate cell; infinite for a withheld
        cell.
        """
        for model in self._models:
            model.set_slacks(low, high)

    def deficit(self, demand: Demand) -> SlackDeficit | None:
        """What the present publication lacks for the demand; None if the demand is met."""
        return self._models[demand.model].deficit(demand, self.count)


def _by_outsiders(needs: Requirements, broken: Sequence[Attack]) -> list[Attack]:
    """The attacks on one side by who knows nothing more. A sliding level needs two attacks, and other
    profiles know more than the elastic models: repair treats both.
    """
    external = [needs.adversaries[number].profile == EXTERNAL for number in needs.profile.tolist()]
    return [attack for attack in broken if attack.side and external[attack.requirement]]


class _Elastic:
    """One live model over the core u (z = R u), s⁻ and s⁺, everything in its unit."""

    def __init__(self, problem: ProtectionProblem, weights: Floats, most: Floats, size: int) -> None:
        self.system: AttackSystem = attack_system(problem).scaled(
            float(2.0 ** np.round(np.log2(10.0 ** (NEED_DECADES * (size - 0.5)))))
        )
        aggregate: Bools = self.system.decided[self.system.core_rows] >= 0
        self._A = sp.csr_array(self.system.core[np.flatnonzero(~aggregate)])
        self._B = sp.csr_array(self.system.core[np.flatnonzero(aggregate)])
        self._cells = self.system.decided[self.system.core_rows[aggregate]]
        self._lower, self._upper = self.system.core_bounds()
        self._weight = weights[self._cells]
        # Scaled to 1 where they are typical; the prices come back in the scale of the weights.
        self._scale = float(np.median(self._weight)) if len(self._weight) else 1.0
        m, n = self._B.shape
        self._free = most[self._cells] > 0
        side = sp.eye_array(m)
        rows = sp.vstack(
            [
                sp.hstack([self._A, sp.csr_array((self._A.shape[0], 2 * m))]),
                sp.hstack([self._B, side, -side]),
            ],
            format="csr",
        )
        self._rows = self._A.shape[0] + np.arange(m)
        cost = np.concatenate([np.zeros(n), self._weight / self._scale, self._weight / self._scale])
        zero = np.zeros(rows.shape[0])
        self.live = LiveLP(
            cost, sp.csr_array(rows), zero, zero, np.concatenate([self._lower, np.zeros(2 * m)]),
            np.concatenate([self._upper, most[self._cells], most[self._cells]]),
        )  # fmt: skip
        self.live.method("dual")
        self.live.unscaled()
        self._low, self._high = np.zeros(m), np.zeros(m)
        self._number: dict[Demand, int] = {}

    def remember(self, demands: Sequence[Demand]) -> None:
        """Makes room for the last point found for each demand: its values in the columns of all demands, and
        B u.
        """
        count, m = len(demands), len(self._weight)
        self._number = {demand: i for i, demand in enumerate(demands)}
        self._column = np.array([demand.column for demand in demands], dtype=np.int64)
        self._put, self._moved, self._mirrored = (
            np.zeros((count, count)),
            np.zeros((count, m)),
            np.zeros(count, dtype=bool),
        )

    def place(self, cell: int) -> tuple[int, int]:
        """Column of the core and sign of a suppressed cell; sign 0 if the attacker can compute the cell."""
        picked = sp.csr_array(self.system.R[self.system.columns_of(np.array([cell]))])
        return (int(picked.indices[0]), int(picked.data[0])) if picked.nnz else (0, 0)

    def set_slacks(self, low: Floats, high: Floats) -> None:
        unit = self.system.unit
        self._low, self._high = -low[self._cells] / unit, high[self._cells] / unit
        self.live.set_row_bounds(self._rows, self._low, self._high)

    def deficit(self, demand: Demand, count: int) -> SlackDeficit | None:
        column, need = np.array([demand.column]), demand.need / self.system.unit
        if self._shown(demand, need):
            return None
        lower, upper = self._lower[demand.column], self._upper[demand.column]
        if demand.side > 0:
            lower, upper = need, max(upper, need)
        else:
            lower, upper = min(lower, -need), -need
        self.live.set_bounds(column, np.array([lower]), np.array([upper]))
        result = self.live.solve(reduced=False)
        self.live.set_bounds(column, self._lower[column], self._upper[column])
        if (
            result.status is not Status.OPTIMAL
        ):  # no answer, for a need at the very edge of the national tables: repair treats it
            return None
        n, m, unit = len(self._lower), len(self._weight), self.system.unit
        self._keep(demand, result.x[:n])
        if result.objective * self._scale <= SOLVER * need * float(self._weight.min(initial=np.inf)):
            return None
        below, above = np.zeros(count), np.zeros(count)
        slack = np.maximum(result.x[n:], 0.0) * unit
        below[self._cells], above[self._cells] = slack[:m], slack[m:]
        return SlackDeficit(below, above, self._cut(result, demand, lower, upper))

    def _keep(self, demand: Demand, u: Floats) -> None:
        at = self._number[demand]
        self._put[at], self._moved[at] = u[self._column], self._B @ u
        self._mirrored[at] = (-u >= self._lower).all() and (-u <= self._upper).all()

    def _shown(self, demand: Demand, need: float) -> bool:
        """Is a remembered point, or its mirror image, a witness of the demand after it is scaled down to the
        need?

        Every point between a witness and the truth is a witness.
        """
        reach = self._put[:, self._number[demand]] * (demand.side / need)
        for at in np.flatnonzero((reach >= 1 - SOLVER) | ((reach <= SOLVER - 1) & self._mirrored))[
            ::-1
        ].tolist():
            moved = self._moved[at] / reach[at]
            if (moved >= self._low - FEASIBILITY).all() and (moved <= self._high + FEASIBILITY).all():
                return True
        return False

    def _cut(self, result: LPResult, demand: Demand, lower: float, upper: float) -> Cut:
        """(q B + ν A) u ≥ its least value over the box of u, for every u that meets the demand."""
        split = self._A.shape[0]
        price = -result.dual[split:] * self._scale
        price[(np.abs(price) < DUAL * self._weight) & self._free] = 0.0
        pull = self._B.T @ price - self._A.T @ (result.dual[:split] * self._scale)
        low, up = self._lower.copy(), self._upper.copy()
        low[demand.column], up[demand.column] = lower, upper
        priced = np.flatnonzero(price * self._free)
        return Cut(
            self._cells[priced],
            price[priced],
            float(np.minimum(pull * low, pull * up).sum()) * self.system.unit,
            demand.primary,
        )
