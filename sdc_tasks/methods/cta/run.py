"""One run of the engine of CTA: a search whose solutions are tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sdc_tasks.judge.adjusted import Verdict, verify
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.model.progress import Say, silent
from sdc_tasks.model.table import Floats
from sdc_tasks.model.time.moment import Moment
from sdc_tasks.model.tolerances import ZERO
from sdc_tasks.optimise import Search
from sdc_tasks.solver.clock import Clock, Limit

Restore = Callable[[Floats], Floats]
FORGET = 0.5  # factor on the chances of cells to be tried again, after a try without a gain
MOST_TRIES = 500  # that count: beyond, a long search would leave no cell a chance


def rested(tries: Floats, factor: float = FORGET) -> Floats:
    """factor^tries: the factor on the chance of a cell that was tried this often. It stays above 0."""
    return np.asarray(factor ** np.minimum(tries, MOST_TRIES))


@dataclass(frozen=True)
class Incumbent:
    """Deviations z (n,) with their verdict."""

    z: Floats = field(repr=False)
    verdict: Verdict

    @property
    def rank(self) -> tuple[int, float]:
        """(unprotected cells, objective): smaller is better."""
        return self.verdict.unprotected, self.verdict.objective


class Run(Search[Incumbent]):
    """Stores the best table and bound that methods find for one problem, in weight · data units.

    The incumbent is the best additive table: a protected one if there is one, else the least short. Only a
    protected one has an objective.
    """

    def __init__(
        self,
        problem: CtaProblem,
        seconds: float = math.inf,
        gap: float = 0.0,
        report: Callable[[Moment], None] | None = None,
        clock: Clock | None = None,
        say: Say = silent,
        name: str = "",
    ) -> None:
        super().__init__(clock or Limit(seconds), gap, report, say, name)
        self.problem = problem
        self.work: dict[str, int] = {}  # counted work: name → number
        # From the cells that the methods work on to all cells of the problem.
        self.restore: Restore = lambda z: z

    @property
    def protected(self) -> Incumbent | None:
        """The best table in which no sensitive cell falls short."""
        best = self.incumbent
        return best if best is not None and best.verdict.unprotected == 0 else None

    @property
    def objective(self) -> float:
        """The distance of the best protected table."""
        best = self.protected
        return math.inf if best is None else best.verdict.objective

    @property
    def out_of_time(self) -> bool:
        return self.left <= 0

    @property
    def table(self) -> Floats | None:
        """(n,): the deviations of all cells in the best table, in units; None without a table."""
        best = self.incumbent
        return None if best is None else self.restore(best.z)

    def final(self) -> Incumbent | None:
        """The best table at the end, without a solver's noise in cells that stay; verified
        once more. None without a table.
        """
        table = self.table
        if table is None:
            return None
        z = np.where(np.abs(table) <= ZERO * self.problem.smallest_level, 0.0, table)
        return Incumbent(z, verify(self.problem, z))

    def offer(self, z: Floats, method: str) -> bool:
        """Verifies the deviations z of a method's problem as a table of the whole problem.
        Returns whether it is the best so far.
        """
        verdict = verify(self.problem, self.restore(z))
        if not verdict.is_feasible:
            return False
        with self._lock:
            candidate = Incumbent(z.copy(), verdict)
            if self.incumbent is not None and candidate.rank >= self.incumbent.rank:
                return False
            self._accept(candidate, method)
        return True
