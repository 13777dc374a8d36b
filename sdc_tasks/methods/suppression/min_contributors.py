"""Patterns that hide a minimum of contributors ([2] §4.4), as judge/pattern/min_contributors.py defines it.

The problem without the rule is solved first. In each relation with too few contributors one more cell
becomes primary: one that is hidden anyway, else the cheapest. Its level only says that nobody can
recalculate it. The problem is then solved again, until the rule is kept. The bound is that of the first
round, because the rule only adds requirements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sdc_tasks.errors import Unprotectable
from sdc_tasks.judge.pattern.min_contributors import relations_below_minimum
from sdc_tasks.methods.suppression.pattern.run import Shared, SuppressionRun
from sdc_tasks.model.sensitive import Layer, SensitiveTable
from sdc_tasks.model.table import Bools, Ints
from sdc_tasks.model.tolerances import NOTICEABLE


def suppress_with_minimum(run: SuppressionRun, search: Callable[[SuppressionRun], str]) -> str:
    """Offers the run patterns that keep the minimum; `search` finds patterns of a run
    without one. Returns why it ended.

    Raises Unprotectable, naming a cell, if a relation has too few contributors whatever is hidden.
    """
    problem, barred = replace(run.problem, minimum=0), np.zeros(len(run.problem.a), dtype=bool)
    inner = SuppressionRun(problem, Shared(run), run.gap_wanted)
    ended = search(inner)
    run.raise_bound(inner.bound, "without the minimum")
    run.uncompleted = inner.uncompleted
    while (
        inner.incumbent is not None
        and not run.offer(inner.incumbent.hidden, "enough contributors")
        and run.left > 0
    ):
        more = _promoted(run.problem, inner.incumbent.hidden, problem.primary, barred)
        for some in (more, more[:1]):  # all at once is faster, but one of them may make the others impossible
            try:
                further = SuppressionRun(_secret(problem, some), inner.clock, run.gap_wanted)
                ended = search(further)
            except Unprotectable:
                continue
            problem, inner = further.problem, further
            break
        else:
            barred[more[:1]] = True  # not even this one alone can be protected: another cell of its relation
    return ended


def _secret(problem: SensitiveTable, cells: Ints) -> SensitiveTable:
    """The problem with more cells that nobody may recalculate."""
    primary, level = problem.primary.copy(), np.zeros(len(problem.a))
    primary[cells] = True
    level[cells] = NOTICEABLE * np.abs(problem.a[cells])
    lpl, upl = np.maximum(problem.lpl, level), np.maximum(problem.upl, level)
    secret = replace(problem, primary=primary, lpl=lpl, upl=upl)
    if not problem.attained:
        return secret
    own, new = secret.wanted[0], np.isin(np.arange(len(problem.a)), cells)
    up, down, none = np.where(new, own.up, 0.0), np.where(new, own.down, 0.0), np.zeros(len(new))
    return replace(secret, attained=(*problem.attained, Layer(up, down, none, own.guards, asked=cells)))


def _promoted(problem: SensitiveTable, hidden: Bools, primary: Bools, barred: Bools) -> Ints:
    """Cells that become primary, so that each relation that is short has one more."""
    M = problem.M
    found = set()
    for row in relations_below_minimum(problem, hidden).tolist():
        cells = M.indices[M.indptr[row] : M.indptr[row + 1]]
        free = [int(cell) for cell in cells if not (primary[cell] or problem.fixed[cell] or barred[cell])]
        if not free:
            mine = [int(cell) for cell in cells if hidden[cell]]
            raise Unprotectable(
                f"{problem.name(mine[0])}: fewer than {problem.minimum} contributors are behind it and what "
                f"else relation {row} can hide. "
                "Remedy: let more cells of it be suppressed, or lower the minimum"
            )
        found.add(min(free, key=lambda cell: (not hidden[cell], problem.cost[cell], cell)))
    return np.array(sorted(found), dtype=np.int64)
