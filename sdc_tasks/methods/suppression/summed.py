"""Patterns that protect sums of hidden cells too ([2] §4.4); pattern/sums.py says which.

The problem without sums is solved first, by whatever method is asked. Where a sum falls short, it becomes a
virtual primary cell, and the pattern grows by linear programs until all are protected; what has grown has
other sums, so this is repeated, and no sum is dropped again. The bound is that of the problem without sums,
because they only add requirements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import Unprotectable
from sdc_tasks.judge.pattern import verify
from sdc_tasks.judge.pattern.min_contributors import meets_minimum
from sdc_tasks.methods.suppression.covering.patterns import Patterns
from sdc_tasks.methods.suppression.min_contributors import suppress_with_minimum
from sdc_tasks.methods.suppression.pattern.attackers import attackers_of
from sdc_tasks.methods.suppression.pattern.presolve import presolve
from sdc_tasks.methods.suppression.pattern.run import Shared, SuppressionRun
from sdc_tasks.methods.suppression.pattern.sums import attainable_sums, verify_with_sums
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats

MOST_TIMES = 40  # that a pattern grows because of its sums


class _Inside(SuppressionRun):
    """A run for a problem without sums, or with some of them as cells. What it finds is offered to
    the run that asks for all of them.
    """

    def __init__(self, problem: SensitiveTable, into: SuppressionRun, bounds: bool) -> None:
        self._into, self._tells_bounds = into, bounds
        super().__init__(problem, Shared(into), into.gap_wanted)

    @property
    def doing(self) -> str:
        return self._into.doing

    @doing.setter
    def doing(self, what: str) -> None:
        self._into.doing = what

    def offer(
        self,
        hidden: Bools,
        method: str,
        proposed: Floats | None = None,
        witnesses: sp.csr_array | None = None,
    ) -> bool:
        if self.problem.cost_of(hidden) >= self.objective:
            return False
        n, seconds = len(self._into.problem.a), np.inf if self.incumbent is None else self.left
        if len(hidden) == n:
            verdict, short = verify_with_sums(self._into.problem, hidden, proposed, seconds, witnesses)
            safe, kept = verdict.safe, not len(short)
        else:
            safe = verify(self.problem, hidden, proposed, seconds, witnesses).safe
            kept = safe and not len(verify_with_sums(self._into.problem, hidden[:n])[1])
        if not safe or not meets_minimum(self.problem, hidden):
            return False
        if kept and meets_minimum(self._into.problem, hidden[:n]):
            self._into.take(hidden[:n], method)
        return self.take(hidden, method)

    def raise_bound(self, bound: float, method: str) -> None:
        super().raise_bound(bound, method)
        if self._tells_bounds:
            self._into.raise_bound(bound, method)


def with_sums_kept(run: SuppressionRun, search: Callable[[SuppressionRun], str], seed: int) -> str:
    """Offers the run patterns that protect sums too; `search` finds patterns of a run
    without sums. Returns why it ended.

    Raises Unprotectable, naming the cells of a sum, if it is not protected with everything hidden that may
    be.
    """
    inner = _Inside(replace(run.problem, behind=None), run, bounds=True)
    ended = search(inner)
    run.uncompleted, n = inner.uncompleted, len(run.problem.a)
    if inner.incumbent is None or run.objective <= inner.objective:
        return ended
    hidden, asked = inner.incumbent.hidden, verify_with_sums(run.problem, inner.incumbent.hidden)[1]
    for _ in range(MOST_TIMES):
        if run.left <= 0:
            return "time"
        larger = _Inside(replace(attainable_sums(run.problem, asked), behind=None), run, bounds=False)
        start = np.append(hidden, np.ones(len(asked), dtype=bool))
        grow = partial(_grown, start=start, seed=seed)
        suppress_with_minimum(larger, grow) if larger.problem.minimum else grow(larger)
        if larger.incumbent is None:
            return "time"
        hidden = larger.incumbent.hidden[:n]
        more = verify_with_sums(run.problem, hidden)[1]
        if not len(more):
            return "time" if run.left <= 0 else "work"
        asked = asked.with_(more)
    raise Unprotectable(
        f"no pattern protects the sums of hidden cells: {larger.problem.name(n)} was the first. Remedy: join "
        f"codes with few contributors"
    )


def _grown(run: SuppressionRun, start: Bools, seed: int) -> str:
    """Offers a pattern that grows from another one, and the same without what is not needed."""
    table = presolve(run.problem)
    patterns = Patterns(run, table, attackers_of(table), seed)
    patterns.hide_everything()
    patterns.complete(table.classes(start), table.cost, "with sums of hidden cells")
    return "time" if run.left <= 0 else "work"
