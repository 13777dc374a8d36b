"""Benders reformulation of CTA ([2] §5.2; Castro & Baena 2008): senses in a master
problem, deviations in its subproblem.

    min θ   s.t.   θ ≥ L_i(y)        optimality cuts: one for each tried sense vector that has a table
                   0 ≥ L_j(y)        feasibility cuts: one for each that has none
                   y ∈ {0, 1}^s

`subproblem.py` gives the tables and the Lagrangians L (eq. 19). A Lagrangian may be unbounded below where an
unbounded cell changes its sense, and eq. 20 then needs a big M. Here a coefficient is limited by a known
bound: θ is at least the bound of the relaxation, so changing sense p can lower the cut at most to that bound.
The cuts are valid for every table, bounded or not.

A first sense vector comes from the relaxation and `balance.py`; two-dimensional tables with
thousands of sensitive cells need little more. The master starts with the few senses whose change
promises most according to its cuts; the others are fixed at the best table. It frees more senses
whenever the free ones promise nothing. Its bound is a bound for the problem only when all senses are
free; only then can it end at the optimum.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import count

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.cta.cuts.subproblem import Lagrangian, SenseAnswer, Subproblem, refuse
from sdc_tasks.methods.cta.local.balance import balanced
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.polygon import POLYGON_ROUNDS, Relaxation
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.methods.cta.senses import refined
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY, OPTIMALITY
from sdc_tasks.solver.growing import GrowingMilp
from sdc_tasks.solver.lp import Status
from sdc_tasks.solver.milp import Milp, MilpResult

METHOD = "benders"
FIRST_TURNED = 12  # senses that the master may change at first: few enough to enumerate all their choices
FRUITLESS_CHOICES = 8  # choices without a promise after which the master frees more senses
MORE = 4  # times as many senses
LOOSE = 0.2  # the gap of the master, as a share of the remaining gap
MASTER_NODES = 1000  # of the master's MILP, where work is counted


def benders(problem: CtaProblem, run: Run, seed: int, rounds: int | None = None) -> None:
    """Offers the table of every tried sense vector, and reports proven bounds, until the run is over, the
    optimum is proven, or the master has proposed `rounds` sense vectors. For the distance L1.

    Raises Unprotectable where no protected table exists.
    """
    refuse(problem, ~problem.can_rise & ~problem.can_fall)
    sub = Subproblem(problem)
    root = sub.relaxed(run.left)
    if root is None:
        return
    if math.isinf(root.bound):
        refuse(problem, (root.lagrangian.rise != 0) | (root.lagrangian.fall != 0))
    run.raise_bound(root.bound * sub.scale * problem.unit, METHOD)
    search = _Search(problem, run, sub, seed)
    turn = root.lagrangian.rise - root.lagrangian.fall
    if not search.try_senses(balanced(problem, sub.w, root.y, turn)):
        search.try_senses(problem.can_rise)  # fits wherever cells may grow without bound
    if not run.over():
        for bound in Relaxation(problem).tighten(POLYGON_ROUNDS, lambda: run.left):
            run.raise_bound(bound, METHOD)
    for number in count():
        up = None if number == rounds else search.propose()
        if up is None:
            run.work["rounds of benders"] = number
            return
        run.at(number, rounds, "rounds")
        search.try_senses(up)


class _Search:
    """The master and the tried sense vectors. Costs are in the unit of the subproblem."""

    def __init__(self, problem: CtaProblem, run: Run, sub: Subproblem, seed: int) -> None:
        self._problem, self._run, self._sub = problem, run, sub
        self._unit = sub.scale * problem.unit
        self._rng = np.random.default_rng(seed)
        self._nodes = MASTER_NODES if run.clock.counted else None
        self._master: _Master | None = None
        self._news: list[tuple[Bools, SenseAnswer]] = []  # answers that are not yet cuts of the master
        self._tried: set[bytes] = set()
        self._centre: tuple[Bools, Floats] | None = (
            None  # the best senses, and a lower bound on the change of cost for each sense
        )
        self._size, self._vain = (
            FIRST_TURNED,
            0,
        )  # how many senses the master may change, and how often that promised nothing

    @property
    def _best(self) -> float:
        table = self._run.protected
        return math.inf if table is None else table.verdict.objective / self._unit

    def try_senses(self, up: Bools) -> bool:
        """Solves the subproblem and offers its table. Returns whether these senses have one."""
        self._tried.add(up.tobytes())
        answer = self._sub.solve(up, self._best, self._run.left)
        if answer is None:
            return False
        self._news.append((up, answer))
        if answer.z is None:
            return False
        better = self._run.offer(refined(self._problem, answer.z), METHOD)
        if better or self._centre is None:
            self._centre, self._size, self._vain = (up, answer.lagrangian.turning(up)), FIRST_TURNED, 0
        return True

    def propose(self) -> Bools | None:
        """The best senses according to the master; None where time is up, or where no senses
        can be better than the best table.
        """
        master, gap = self._informed_master(), LOOSE * (self._run.gap or 1.0)
        while not self._run.over():
            around = self._around()
            found = master.solve(around, max(gap, OPTIMALITY), self._run.left, self._nodes)
            enough = self._best * (1 - OPTIMALITY)
            if found.x is not None and self._is_better(found.x, master, enough):
                self._lift(found, around)
                return found.x[:-1] > 0.5
            if around is not None:
                self._vain += 1
                if self._vain % FRUITLESS_CHOICES == 0:
                    self._size *= MORE
            elif found.status is Status.INFEASIBLE and self._run.protected is None:
                refuse(self._problem, master.conflict)
            elif self._lift(found, around) >= enough or gap <= OPTIMALITY:
                return None
            else:
                gap = OPTIMALITY
        return None

    def _is_better(self, x: Floats, master: _Master, enough: float) -> bool:
        """Whether a point of the master costs less than this, by senses that were not tried."""
        return master.cost(x) < enough and (x[:-1] > 0.5).tobytes() not in self._tried

    def _informed_master(self) -> _Master:
        if self._master is None:
            self._master = _Master(self._problem, self._run.bound / self._unit)
        for up, answer in self._news:
            if answer.z is None:
                self._master.forbid(up, answer.lagrangian)
                if answer.mirrored.at(~up) > FEASIBILITY:
                    self._master.forbid(~up, answer.mirrored)
            else:
                self._master.bound(up, answer.lagrangian)
                self._master.bound(~up, answer.mirrored)
        self._news.clear()
        return self._master

    def _around(self) -> tuple[Bools, Ints] | None:
        """The best senses, and which of them may change; None: all may change."""
        if self._centre is None or self._size >= len(self._problem.sensitive):
            return None
        up, change = self._centre
        likely = np.argsort(change, kind="stable")[: MORE * self._size]
        return up, self._rng.choice(likely, min(self._size, len(likely)), replace=False)

    def _lift(self, found: MilpResult, around: tuple[Bools, Ints] | None) -> float:
        """Reports the bound of a master in which every sense was free, and returns it."""
        if around is not None or found.bound is None:
            return 0.0
        proven = found.bound * (1 - OPTIMALITY)
        self._run.raise_bound(min(proven, self._best) * self._unit, METHOD)
        return proven


class _Master:
    """The master problem. Columns: y, then θ as a multiple of its known bound `least`.
    `conflict`: the cells in feasibility cuts.
    """

    def __init__(self, problem: CtaProblem, least: float) -> None:
        s = len(problem.sensitive)
        self._least, self._one = least, max(1.0, least)
        self._lowest, self._highest = (~problem.can_fall).astype(float), problem.can_rise.astype(float)
        self._costs, self._covers = _Rows(s), _Rows(s)
        self.conflict = np.zeros(s, dtype=bool)
        self._y, none = np.arange(s), np.zeros(0)
        self._milp = GrowingMilp(
            Milp(
                cost=np.append(np.zeros(s), 1.0),
                A=sp.csr_array((0, s + 1)),
                row_lower=none,
                row_upper=none,
                lower=np.append(self._lowest, least / self._one),
                upper=np.append(self._highest, np.inf),
                binary=self._y,
            )
        )

    def bound(self, up: Bools, found: Lagrangian) -> None:
        """Adds θ ≥ value + Σ change_p [p changes], in two forms that also allow changes of −∞:
        either may be the stronger one.
        """
        value, change = found.at(up), found.turning(up)
        excess = value - self._least
        if excess <= 0:
            return
        gain = float(np.maximum(change, 0.0).sum())
        for bent in (np.maximum(change, -excess - gain), np.clip(change, -excess, 0.0))[
            : 2 if gain > 0 else 1
        ]:
            constant, slope = self._costs.add(value, bent, up)
            self._milp.add_row(
                np.append(self._y, len(up)), np.append(-slope / self._one, 1.0), constant / self._one
            )

    def forbid(self, up: Bools, found: Lagrangian) -> None:
        """Adds 0 ≥ value + Σ change_p [p changes] as a cover: Σ min(1, −change_p / value) [p changes] ≥ 1;
        for a tiny value any change is enough.
        """
        value, change = found.at(up), found.turning(up)
        share = np.clip(-change / value, 0.0, 1.0) if value > FEASIBILITY else np.ones(len(up))
        self.conflict |= share > 0
        constant, slope = self._covers.add(-1.0, share, up)
        self._milp.add_row(self._y, slope, -constant)

    def cost(self, x: Floats) -> float:
        """The cost bound that the cuts give for the senses of a solution."""
        return float(self._costs.at(np.round(x[:-1]), self._y[:0], np.zeros((0, 1))).max(initial=self._least))

    def solve(
        self, around: tuple[Bools, Ints] | None, gap: float, seconds: float, nodes: int | None = None
    ) -> MilpResult:
        """Solves the master. Objective and bound of the result are in the unit of costs. `around`:
        senses, and which of them may change.
        """
        lower, upper = self._lowest, self._highest
        if around is not None:
            up, may = around
            lower, upper = up.astype(float), up.astype(float)
            lower[may], upper[may] = self._lowest[may], self._highest[may]
        if (lower < upper).sum() <= FIRST_TURNED:
            return self._all_tried(lower, upper)
        self._milp.fix(self._y, lower, upper)
        found = self._milp.solve(None, seconds, gap, nodes)
        return replace(found, bound=None if found.bound is None else found.bound * self._one)

    def _all_tried(self, lower: Floats, upper: Floats) -> MilpResult:
        """Enumerates 2^k choices of senses, which is faster than a MILP with k binaries for small k."""
        opened = np.flatnonzero(lower < upper)
        choices = (np.arange(2 ** len(opened)) >> np.arange(len(opened))[:, None] & 1).astype(float)
        cost = self._costs.at(lower, opened, choices).max(axis=0, initial=self._least)
        cost[self._covers.at(lower, opened, choices).min(axis=0, initial=0.0) < -FEASIBILITY] = np.inf
        best = int(cost.argmin())
        if math.isinf(cost[best]):
            return MilpResult(Status.INFEASIBLE, None, None, None)
        x = np.append(lower, cost[best] / self._one)
        x[opened] = choices[:, best]
        return MilpResult(Status.OPTIMAL, x, float(cost[best]), float(cost[best]))


class _Rows:
    """Affine functions of y."""

    def __init__(self, s: int) -> None:
        self._constant, self._slope = np.zeros(0), np.zeros((0, s))

    def add(self, value: float, change: Floats, up: Bools) -> tuple[float, Floats]:
        """Adds the function that is `value` at the senses `up`, and changes by `change` (s,) when one of them
        changes. Returns constant and slope.
        """
        slope, constant = np.where(up, -change, change), value + float(change[up].sum())
        self._constant, self._slope = np.append(self._constant, constant), np.vstack([self._slope, slope])
        return constant, slope

    def at(self, y: Floats, opened: Ints, choices: Floats) -> Floats:
        """(functions × choices) of y with some entries replaced by each column of `choices`; y is 0 there."""
        return np.asarray((self._constant + self._slope @ y)[:, None] + self._slope[:, opened] @ choices)
