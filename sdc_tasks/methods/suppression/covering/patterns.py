"""Patterns of one run, in the order of their quality: everything hidden, then grown and pruned
ones; each is offered to the run.

`cover` does only this: a first pattern, then pruning. The exact method begins with it and asks for more
patterns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.suppression.covering.cover import Cover, Directions, LinearDirections
from sdc_tasks.methods.suppression.covering.greedy_unsuppress import GreedyUnsuppression, WitnessedPattern
from sdc_tasks.methods.suppression.covering.neighbours import Neighbours
from sdc_tasks.methods.suppression.pattern.attackers import Attackers, attackers_of
from sdc_tasks.methods.suppression.pattern.presolve import ReducedProblem, presolve
from sdc_tasks.methods.suppression.pattern.run import SuppressionRun
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import INTEGRALITY, TINY

EVERY = 4  # rounds of the relaxation between grown patterns, of a table too large for greedy unsuppression
ELITE = 12  # patterns of greedy unsuppression that are kept
FREE = 100  # the freedom below which a chain is shorter
FIRST = 2  # patterns that are grown before the first one that is opened greedily
GROWN = 400_000  # classes times linear programs of these
KEPT = (0.7, 1.3)  # times the freedom: how many open classes stay open in a pattern that is shaken all over
MOSTLY = 4  # patterns of a chain of which one is shaken all over, the others in one place
AROUND = (0.1, 0.8)  # of the open classes: how many are hidden in a pattern that is shaken in one place
DEARLY = 0.3  # how much rather dear ones do: the exponent of the cost
HOT = 3e-3  # relative: how much dearer the next pattern of a chain may be at first, as the mean of draws
VARIED = 0.3  # how much prices vary between patterns: standard deviation of the logarithms
SIZE = 2e5  # classes times freedom up to which as many patterns are computed as asked for
TASTE = 0.02  # relative: how much a seed varies prices


def cover(
    run: SuppressionRun,
    seed: int = 1,
    table: ReducedProblem | None = None,
    directions: Callable[[ReducedProblem, Ints], Directions] = LinearDirections,
) -> str:
    """Offers patterns to the run; returns "work" or "time". `table`: the reduced problem. Raises
    Unprotectable if no pattern is safe.
    """
    table = table or presolve(run.problem)
    Patterns(run, table, attackers_of(table), seed, directions).begin()
    return "time" if run.left <= 0 else "work"


class Patterns:
    """Completes patterns of classes and offers them to the run. Prices vary a little by the
    seed, so that ties fall otherwise.
    """

    def __init__(
        self,
        run: SuppressionRun,
        table: ReducedProblem,
        attackers: Attackers,
        seed: int,
        directions: Callable[[ReducedProblem, Ints], Directions] = LinearDirections,
    ) -> None:
        self.run, self.table, self.attackers = run, table, attackers
        self.cover = Cover(table, directions)
        self._seed, self._rounds, self._chains = seed, 0, 0
        self._elite: list[Bools] = []
        self._taste = 1 + TASTE * np.random.default_rng(seed).random(len(table.cost))

    def begin(self) -> None:
        """Offers the pattern that hides everything, then a first pattern."""
        self.hide_everything()
        self.complete(self.table.forced, self.table.cost, "first pattern")

    def hide_everything(self) -> None:
        """Offers the pattern that hides everything. Raises Unprotectable if it is not safe: then none is."""
        everything = np.ones(len(self.table.cost), dtype=bool)
        if not self.run.offer(self.table.pattern(everything, self.run.problem), "everything hidden"):
            self._refuse()

    def first_pattern(self, shaken: int = 0) -> None:
        """A first pattern by greedy unsuppression without LPs; by growing if that fails. With `shaken` some
        are grown before, if that takes few LPs, as where primaries protect one another; and so many patterns
        of a chain follow the cheapest one.
        """
        if shaken:
            self.grow_quickly()
        greedy = self._greedy
        if greedy is not None:
            self._rounds += 1
            rng = np.random.default_rng(self._seed)
            found = greedy.unsuppress(
                self.table.cost * self._taste, rng, self.run.over, most=0, tell=self._tell
            )
            if found is not None:
                self._offer(found, "first pattern")
                self.keep(found.hidden)
            if shaken and self._elite:
                times = self._times(greedy, shaken)
                self.keep(self._shaken(self._elite[0], greedy, rng, "first pattern", times))
        if not self._elite and not self.run.over():
            self.complete(self.table.forced, self.table.cost, "first pattern")

    def grow_quickly(self, times: int = FIRST) -> None:
        """Offers and keeps so many grown patterns, of prices that vary, as far as GROWN linear programs, in
        proportion to the table, go.
        """
        most = self.cover.programs + GROWN // max(1, len(self.table.cost))

        def over() -> bool:
            return self.run.over() or self.cover.programs > most

        rng = np.random.default_rng([self._seed, 0])
        price = self.table.cost
        for _ in range(times):
            hidden = self.complete(self.table.forced, price, "first pattern", over)
            if hidden is None:
                break
            self.keep(hidden)
            price = self.table.cost * np.exp(VARIED * rng.standard_normal(len(self.table.cost)))

    def unsuppress(self, y: Floats, step: str, most: int, shaken: int) -> None:
        """Patterns by greedy unsuppression: from everything hidden, with prices that a solution y (k) of the
        LP relaxation varies, or from the union of two patterns; then a chain of `shaken` patterns: from the
        best of these, and every other time from the best one so far.
        """
        greedy = self._greedy
        if greedy is None:
            self._rounds += 1
            if self._rounds % EVERY == 0:
                self.complete(y > 1 - INTEGRALITY, self.table.cost * (1 - y), step)
            return
        fresh: list[Bools] = []
        for _ in range(max(1, int(most * self._share(greedy)))):
            if self.run.over():
                return
            self._rounds += 1
            rng = np.random.default_rng([self._seed, self._rounds])
            price, within = self._varied(y, rng)
            found = greedy.unsuppress(price, rng, self.run.over, within)
            if found is not None:
                self._offer(found, step + ", thinned")
                fresh.append(found.hidden)
        if fresh:
            self._chains += 1
            known = self._elite if self._chains % 2 == 0 else []
            fresh.append(
                self._shaken(
                    min([*known, *fresh], key=self._cost), greedy, rng, step, self._times(greedy, shaken)
                )
            )
        for hidden in fresh:
            self.keep(hidden)

    def _varied(self, y: Floats, rng: np.random.Generator) -> tuple[Floats, Bools | None]:
        """The prices of a round, and the pattern that it begins with; None: everything is hidden."""
        price = self.table.cost * np.exp(VARIED * rng.standard_normal(len(y)))
        if len(self._elite) > 1 and self._rounds % 4:
            one, other = rng.choice(len(self._elite), size=2, replace=False)
            return price, self._elite[one] | self._elite[other]
        return price * (1 - y) if self._rounds % 2 else price, None

    @staticmethod
    def _share(greedy: GreedyUnsuppression) -> float:
        """Of the patterns that are asked for, how many a table of this size gets."""
        return min(1.0, SIZE / greedy.size)

    def _times(self, greedy: GreedyUnsuppression, most: int) -> int:
        """The patterns of a chain, for a table of this size and freedom."""
        return max(1, int(most * self._share(greedy) * min(1.0, greedy.freedom / FREE)))

    def _shaken(
        self, start: Bools, greedy: GreedyUnsuppression, rng: np.random.Generator, step: str, times: int
    ) -> Bools:
        """The cheapest of a chain of patterns, each near the one before: some of its open classes are
        hidden, and greedy unsuppression starts there.

        Mostly they are those around one class; every MOSTLY-th time all but a few, drawn at random: the few
        that stay open hold most of the freedom, for the others of their series follow. The chain goes on from
        a pattern that is little dearer, at first; less and less so (simulated annealing).
        """
        cost = self.table.cost
        here = best = start
        for count in range(times):
            if self.run.over():
                break
            within = (
                self._hidden_again(here, greedy, rng)
                if count % MOSTLY
                else self._mostly_hidden(here, greedy, rng)
            )
            found = greedy.unsuppress(
                cost * np.exp(VARIED * rng.standard_normal(len(cost))), rng, self.run.over, within, most=0
            )
            if found is None:
                continue
            self._offer(found, step + ", shaken")
            if self._cost(found.hidden) <= self._cost(here) * (
                1 + HOT * (1 - count / times) * rng.exponential()
            ):
                here = found.hidden
            best = min(best, here, key=self._cost)
        return best

    def _mostly_hidden(self, here: Bools, greedy: GreedyUnsuppression, rng: np.random.Generator) -> Bools:
        """(k): everything but a few of the open classes of a pattern; rather dear ones."""
        open_ones = np.flatnonzero(~here & greedy.inside)
        kept = int(greedy.freedom * np.exp(rng.uniform(*np.log(KEPT))))
        rank = np.log(rng.random(len(open_ones))) / np.maximum(self.table.cost[open_ones], TINY) ** DEARLY
        within = greedy.inside.copy()
        within[open_ones[np.argsort(-rank, kind="stable")[:kept]]] = False
        return within

    def _hidden_again(self, here: Bools, greedy: GreedyUnsuppression, rng: np.random.Generator) -> Bools:
        """(k): a pattern, and its open classes around one of them."""
        open_ones = ~here & greedy.inside
        number = int(open_ones.sum() * np.exp(rng.uniform(*np.log(AROUND))))
        return (here & greedy.inside) | self._neighbours.around(open_ones, number, rng)

    @cached_property
    def _neighbours(self) -> Neighbours:
        return Neighbours(self.table.M)

    def _cost(self, hidden: Bools) -> float:
        return float(self.table.cost[hidden].sum())

    def keep(self, hidden: Bools) -> None:
        """Keeps a pattern among the best ones, which differ."""
        if not any((hidden == each).all() for each in self._elite):
            self._elite = sorted([*self._elite, hidden], key=self._cost)[:ELITE]

    def _tell(self, found: WitnessedPattern) -> None:
        """Offers a pattern on the way."""
        self._offer(found, "first pattern, being thinned")

    def _offer(self, found: WitnessedPattern, step: str) -> None:
        """Offers a pattern with its witnesses: the verifier judges them, and needs hardly a program of its
        own.
        """
        self.run.offer(
            self.table.pattern(found.hidden, self.run.problem),
            step,
            self.table.reduction.invert(found.witnesses),
        )

    @cached_property
    def _greedy(self) -> GreedyUnsuppression | None:
        return GreedyUnsuppression.of(self.table, self.run.over)

    def complete(
        self, start: Bools, price: Floats, step: str, over: Callable[[], bool] | None = None
    ) -> Bools | None:
        """The classes of a pattern that holds `start` (k), grown and offered, pruned and offered;
        None when the run, or what else is `over`, is over before.
        """
        over = over or self.run.over
        hidden = self.cover.grown(start, price * self._taste, over)
        if hidden is None:
            return None
        self.run.offer(self.table.pattern(hidden, self.run.problem), step)
        hidden = self.cover.pruned(hidden, over)
        self.run.offer(self.table.pattern(hidden, self.run.problem), step + ", pruned")
        self.cover.forget()
        return hidden

    def _refuse(self) -> None:
        """Raises Unprotectable if hiding everything does not protect a primary."""
        table, problem = self.table, self.run.problem
        everything = np.ones(len(table.cost))
        failing = [item for item in range(len(table.item_need)) if self.attackers.cuts(item, everything)]
        if failing:
            cells = np.flatnonzero(
                np.isin(table.reduction.class_of, table.item_class[failing]) & problem.primary
            )
            more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
            raise Unprotectable(
                f"{problem.name(cells[0])}{more}: not protected to the level even with every cell hidden "
                f"that may be. "
                "Remedy: let fixed or empty cells beside it be suppressed, or lower its level"
            )
