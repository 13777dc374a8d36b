"""Cell suppression solved exactly by cutting planes ([2] §4.1, eq. 11–15; Fischetti & Salazar-González),
anytime.

The master problem is  min cost · y,  y ∈ {0, 1}ᵏ over the classes of the reduced problem (presolve.py), under
the cuts found so far. For its solution every item's attacker is asked; items that are not met give
strengthened cuts (attackers.py).

1. Hide every cell: if this is not safe, no pattern is. Then find a first pattern (covering/). Items that the
   primaries alone meet are met by every pattern and are not asked again. Patterns of a network grow by
   shortest paths (paths.py), others by LPs.
2. The LP relaxation. In networks it is stabilised by in-out separation: cuts are sought at a point between
   the master's solution and a point known to be feasible (at first everything hidden); if none is violated
   there, the feasible point moves to it. Every few rounds cost · (1 − y*) leads to a new pattern. In other
   tables bridgeless inequalities (bridge_cuts.py) prove most of the bound, and patterns come from greedy
   unsuppression (greedy_unsuppress.py). Each round proves a bound by weak duality from the master's
   multipliers; it is computed again here, so that none of these bounds depends on the solver's arithmetic.
3. Classes whose reduced cost exceeds what is left of the gap are fixed.
4. Integer rounds: the master with the cuts that are binding, or nearly, is solved by HiGHS; its solution is
   attacked; its completion is a pattern. Cuts that were left out return when they are violated. The bound of
   a round is that of HiGHS; one above a pattern that exists is dropped (optimise/search.py).

A table that is no network and not large gets integer rounds early: after one short round of the relaxation
and no search for patterns. Mostly they prove the cheapest pattern, in a fraction of the time that the
relaxation and patterns take; else these go on from what is known then.

It ends when the requested gap is proven, by counted work (rounds, nodes), or by the clock. With an `Abort`
clock no result depends on time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.suppression.covering.cover import LinearDirections
from sdc_tasks.methods.suppression.covering.patterns import Patterns
from sdc_tasks.methods.suppression.paths import PathDirections
from sdc_tasks.methods.suppression.pattern.attackers import Attackers, attackers_of
from sdc_tasks.methods.suppression.pattern.bridge_cuts import BridgeCuts
from sdc_tasks.methods.suppression.pattern.presolve import ReducedProblem, presolve
from sdc_tasks.methods.suppression.pattern.run import SuppressionRun
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY, GAP, INTEGRALITY, VIOLATION, ZERO
from sdc_tasks.optimise import Cut, CutPool
from sdc_tasks.solver.lp import LiveLP
from sdc_tasks.solver.milp import LiveMilp, Milp

SIMPLEX = 2_500  # classes up to which the LP relaxation of a table that is no network is solved at a vertex
TAIL, RISES = 8, 2e-3  # the relaxation ends when so many rounds lift the bound by less than this, relative
IN_VAIN = 5  # searches in a row without a better pattern, after which there are no more
EARLY = 1_000  # classes up to which integer rounds may come first
ROUND = 40  # nodes that an integer round counts for at least: its attacks and patterns take as long
FEWER = 10  # of the iterations of a round of the relaxation, such a part before early integer rounds
NEAR = 0.2  # slack up to which a cut joins the integer master


@dataclass(frozen=True)
class Work:
    """The limits of counted work: rounds of the LP relaxation, integer rounds, nodes of each integer round,
    and of all of them, where a round counts for ROUND at least.
    `nested`: cuts sought for each unmet item of a network; `cuts`: cuts sought in a round; `iterations`: of
    the LPs that seek bridgeless cuts in a round; `patterns`, `search`: patterns by greedy unsuppression in a
    round and after the last one, for about a thousand classes; fewer for more. With `patterns` 0 only the
    latter, one at a time. `first`: patterns of a chain before the first bound; `shaken`: of each later one.
    `early`: nodes of the integer rounds that come first in a table of at most EARLY classes; 0 for none.
    `in_vain`: rounds in a row without a better pattern after which only each TAIL-th round seeks some, and
    searches after which there are no more. `classes`: of a table that is no network, for which rounds and all
    nodes are meant; a larger one has fewer rounds in proportion, and fewer nodes by the cube.
    """

    rounds: int = 400
    integer_rounds: int = 200
    nodes: int = 200_000
    all_nodes: int = 40_000_000
    nested: int = 4
    cuts: int = 400
    pattern_every: int = 4
    iterations: int = 100_000
    patterns: int = 6
    search: int = 200
    first: int = 0
    shaken: int = 150
    early: int = 0
    in_vain: int = 400
    classes: int | None = None


# For somebody who waits: a good pattern first, then as long as it pays.
WHILE_IT_PAYS = Work(
    rounds=24,
    nodes=4_000,
    all_nodes=6_000,
    early=400,
    search=18,
    first=12,
    shaken=40,
    in_vain=1,
    classes=400,
)


def suppress_exactly(run: SuppressionRun, work: Work | None = None, seed: int = 1) -> str:
    """Searches for the cheapest safe pattern and proves a bound; returns "work" or "time". Raises
    Unprotectable if no pattern is safe.
    """
    return _Search(run, presolve(run.problem), work or Work(), seed).go()


class _Search:
    def __init__(self, run: SuppressionRun, table: ReducedProblem, work: Work, seed: int) -> None:
        self.run, self.table, self.work = run, table, work
        self.attackers: Attackers = attackers_of(table)
        self.patterns = Patterns(
            run, table, self.attackers, seed, PathDirections if table.network else LinearDirections
        )
        k = len(table.cost)
        self.bridges = None if table.network else BridgeCuts(table)
        self.rounds, self.all_nodes = work.rounds, work.all_nodes
        if self.bridges is not None and work.classes is not None and k > work.classes:
            share = work.classes / k
            self.rounds = max(1, int(work.rounds * share))
            self.all_nodes = max(1, int(work.all_nodes * share**3))
        self.early = 0 if self.bridges is None or k > EARLY else work.early
        self.pool = CutPool(k, None if self.bridges is None else self.bridges.rows)
        positive = table.cost[table.cost > 0]
        self.unit = float(np.median(positive)) if len(positive) else 1.0
        self.upper = np.ones(k)
        self.lower = table.forced.astype(float)
        self.y = self.lower.copy()
        self.items = np.arange(len(table.item_need))  # later without the items that the primaries alone meet
        self.next = self.next_bridge = 0

    def go(self) -> str:
        """Why it ended."""
        if self.bridges is None:
            self.patterns.begin()
        else:
            self.patterns.hide_everything()
            if self.early:
                self.patterns.grow_quickly(1)
            else:
                self.patterns.first_pattern(self.work.first)
        self.items = np.flatnonzero(~self.patterns.cover.met(self.table.forced))
        if self.bridges is None:
            self.relax()
        else:
            if self.early:
                self.relax_with(self.bridges, 1, 0, self.work.iterations // FEWER)
                ended = self.integer(self.early)
                if self.run.over():
                    return ended
                self._keep_incumbent()
                self.patterns.first_pattern(self.work.first)
            self.relax_with(self.bridges, self.rounds, self.work.patterns, self.work.iterations)
            self._search_patterns()
        return self.integer(self.all_nodes)

    def _keep_incumbent(self) -> None:
        """Lets greedy unsuppression start from the best pattern of the integer rounds."""
        if self.run.incumbent is not None:
            self.patterns.keep(self.table.classes(self.run.incumbent.hidden))

    def relax_with(self, bridges: BridgeCuts, rounds: int, patterns: int, iterations: int) -> None:
        """The LP relaxation of a table that is no network: bridgeless inequalities first.
        Its solutions price the patterns of greedy unsuppression.
        """
        table = self.table
        k = len(table.cost)
        before, failed, live = 0.0, 0, self._relaxation()
        for count in range(rounds):
            self.run.doing = f"round {count + 1} of the relaxation"
            if k > SIMPLEX:
                live = self._relaxation()
                live.interior()
            live.limit(self.run.left)
            result = live.solve()
            if not result.status.has_point:
                return
            self.y = np.maximum(np.clip(result.x, 0, 1), self.lower)
            bound = self.prove(result.dual)
            if self.run.over():
                return
            if patterns:
                failed = self._unsuppressed(count, patterns, failed)
            if count % TAIL == TAIL - 1:
                if bound < before * (1 + RISES):
                    break
                before = bound
            cuts = self.pool.add(self.separate_bridges(bridges, iterations)) or self.pool.add(
                self.separate(self.y)
            )
            if not cuts:
                break
            live.set_bounds(np.arange(k), self.lower, self.upper)
            live.add_rows(self.pool.matrix(cuts), self.pool.right[-len(cuts) :], np.full(len(cuts), np.inf))

    def _unsuppressed(self, count: int, patterns: int, failed: int) -> int:
        """Patterns that the relaxation prices in a round; how often in a row none of them was better."""
        if failed >= self.work.in_vain and count % TAIL != TAIL - 1:
            return failed
        cost = self.run.objective
        self.patterns.unsuppress(self.y, f"LP round {count + 1}", patterns, self.work.shaken)
        return 0 if self.run.objective < cost else failed + 1

    def _search_patterns(self) -> None:
        """Patterns priced by the last solution of the relaxation, until IN_VAIN searches, or fewer, bring
        none.
        """
        failed = 0
        at_once = max(1, self.work.patterns)
        for count in range(self.work.search // at_once):
            self.run.doing = f"further patterns, {at_once * count} of at most {self.work.search}"
            cost = self.run.objective
            self.patterns.unsuppress(self.y, "search", at_once, self.work.shaken)
            failed = 0 if self.run.objective < cost else failed + 1
            if failed == min(IN_VAIN, self.work.in_vain) or self.run.over():
                break

    def _relaxation(self) -> LiveLP:
        right = self.pool.right
        return LiveLP(
            self.table.cost / self.unit,
            self.pool.rows,
            right,
            np.full(len(right), np.inf),
            self.lower,
            self.upper,
        )

    def separate_bridges(self, bridges: BridgeCuts, iterations: int) -> list[Cut]:
        """Violated bridgeless inequalities at the master's solution, of one class after the other,
        until there are enough for a round.
        """
        found: list[Cut] = []
        classes = bridges.candidates(self.y)
        began = bridges.iterations
        for count in range(len(classes)):
            i = int(classes[(self.next_bridge + count) % len(classes)])
            cut = bridges.cut(i, self.y)
            if cut is not None:
                found.append(cut)
            if len(found) >= self.work.cuts or bridges.iterations - began > iterations or self.run.left <= 0:
                self.next_bridge += count + 1
                break
        return found

    def relax(self) -> None:
        """The LP relaxation by cutting planes, stabilised."""
        table = self.table
        k = len(table.cost)
        master = LiveLP(
            table.cost / self.unit, sp.csr_array((0, k)), np.zeros(0), np.zeros(0), self.lower, self.upper
        )
        inner = np.ones(k)
        for count in range(self.work.rounds):
            master.limit(self.run.left)
            result = master.solve()
            if not result.status.has_point:
                return
            self.y = np.maximum(np.clip(result.x, 0, 1), self.lower)
            self.prove(result.dual)
            master.set_bounds(np.arange(k), self.lower, self.upper)
            if self.run.over():
                return
            point = (self.y + inner) / 2
            cuts = self.pool.add(self.separate(point))
            if not cuts:
                inner = point
                if float(table.cost @ (inner - self.y)) <= GAP * float(table.cost @ inner):
                    cuts = self.pool.add(self.separate(self.y))
                    if not cuts:
                        return
            master.add_rows(self.pool.matrix(cuts), np.ones(len(cuts)), np.full(len(cuts), np.inf))
            if count % self.work.pattern_every == self.work.pattern_every - 1:
                chosen = self.y > 1 - INTEGRALITY
                self.patterns.complete(chosen, table.cost * (1 - self.y), f"LP round {count + 1}")

    def separate(self, y: Floats) -> list[Cut]:
        """The cuts of unmet items at a point, until there are enough for a round; the next
        round continues with the next item.
        """
        found: list[Cut] = []
        nested = self.work.nested if self.table.network else 1
        for thorough in (True,) if self.table.network else (False, True):
            for count in range(len(self.items)):
                item = int(self.items[(self.next + count) % len(self.items)])
                found += [
                    cut
                    for cut in self.attackers.cuts(item, y, nested, thorough)
                    if cut.value(y) < 1 - 10 * VIOLATION or nested > 1
                ]
                if len(found) >= self.work.cuts or self.run.left <= 0:
                    self.next = (self.next + count + 1) % len(self.items)
                    return found
            if found:
                break
        return found

    def prove(self, multipliers: Floats) -> float:
        """Lifts the bound to what the multipliers of the master's rows prove (any multipliers are
        valid), with the reduced costs.
        """
        table = self.table
        mu = np.maximum(multipliers, 0.0) * self.unit
        reduced = table.cost - self.pool.rows.T @ mu
        bound = float(mu @ self.pool.right + np.where(reduced > 0, reduced * self.lower, reduced).sum())
        self.run.raise_bound(bound + table.offset, "LP bound")
        room = self.run.objective - table.offset - bound
        if np.isfinite(room) and room >= 0:
            slack = room * (1 + FEASIBILITY) + ZERO * self.unit
            self.upper = np.where((reduced > slack) & (self.lower == 0), 0.0, self.upper)
        return bound

    @property
    def _ran_out(self) -> str:
        return "time" if self.run.left <= 0 else "work"

    def integer(self, nodes: int) -> str:
        """Integer rounds on the cuts that matter, of so many nodes in all."""
        table, rounds = self.table, min(self.work.integer_rounds, math.ceil(nodes / ROUND))
        chosen: Ints = np.flatnonzero(self.pool.rows @ self.y <= self.pool.right + NEAR)
        for count in range(rounds):
            if nodes <= 0:
                break
            self.run.doing = f"integer round {count + 1} of at most {rounds}"
            rows, right = self.pool.rows, self.pool.right
            model = self._master(rows[chosen], right[chosen])
            left = self.run.left
            most = min(nodes, self.work.nodes)
            result = LiveMilp(model).solve(self._start(), left, self.run.gap_wanted / 2, most)
            nodes -= max(ROUND, result.nodes or 0)
            if result.bound is not None:
                self.run.raise_bound(result.bound + table.offset, f"integer round {count + 1}")
            if self.run.over() or result.x is None:
                return self._ran_out
            y = np.maximum(np.round(result.x), self.lower)
            before = len(right)
            cuts = self.pool.add(self.separate(y))
            violated = np.flatnonzero(rows @ y < right - 10 * VIOLATION)
            if not cuts:  # no attack succeeds: the master's pattern needs no completion
                self.run.offer(table.pattern(y > 0.5, self.run.problem), f"integer round {count + 1}")
            self.patterns.complete(y > 0.5, table.cost, f"integer round {count + 1}")
            if self.run.over():
                break
            if not cuts and not len(violated):
                return "work"
            chosen = np.union1d(np.union1d(chosen, violated), np.arange(before, len(self.pool.right)))
        return "work"

    def _start(self) -> Floats | None:
        """(k,): the classes that the incumbent hides; None if there is none."""
        best = self.run.incumbent
        return None if best is None else self.table.classes(best.hidden).astype(float)

    def _master(self, rows: sp.csr_array, right: Floats) -> Milp:
        k = len(self.table.cost)
        free = np.full(rows.shape[0], np.inf)
        return Milp(
            self.table.cost, rows, right, free, self.lower, np.maximum(self.upper, self.lower), np.arange(k)
        )
