"""What earlier releases of the same period still tell (METHOD §2, profile vintage).

Everything is in deviations from the truth, as in `problem.py`. Where a country's values are those of then, its unknowns are those of
now: an interval published then narrows them, and a cell that was public then is known. Where a country revised its delivery, its
suppressed cells of then are other unknowns, tied by the relations of then and held by the intervals of then; nothing is assumed about
how far a revision may go. What was published cannot be taken back, so the baseline of this profile is with all of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.problem import Earlier, ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Floats


def earlier(problem: ProtectionProblem, releases: Sequence[tuple[ProtectionProblem, Publication]]) -> Earlier:
    """What these releases (problem and publication of then) tell beside the problem of now.

    Raises ValueError where one is not over the same indicators and code lists.
    """
    size, n = problem.space.size, problem.space.national_size
    rows, low, high = [], [np.zeros(0)], [np.zeros(0)]
    lower, upper, area, code = [np.zeros(0)], [np.zeros(0)], [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    width = size
    for then, publication in releases:
        space = then.space
        if (space.indicators, space.hierarchies) != (problem.space.indicators, problem.space.hierarchies):
            raise ValueError("an earlier release of the period is over other indicators or code lists")
        place = np.full(space.size, -1)  # column of each cell of then; −1 where its deviation is 0
        for country in space.countries:
            at = space.national_slice(country)
            cells = np.arange(at.start, at.stop)
            now = problem.space.national_slice(country) if country in problem.space.countries else None
            if now is not None and np.array_equal(then.a[at], problem.a[now]):
                place[at] = np.arange(now.start, now.stop)
                told = np.flatnonzero(then.public[at] & problem.suppressed[now]) + now.start
                rows.append(sp.csr_array((np.ones(len(told)), (np.arange(len(told)), told)), shape=(len(told), width)))
                low.append(np.zeros(len(told)))
                high.append(np.zeros(len(told)))
                continue
            hidden = cells[then.suppressed[at]]
            place[hidden] = width + np.arange(len(hidden))
            width += len(hidden)
            lower.append((then.lb - then.a)[hidden])
            upper.append((then.ub - then.a)[hidden])
            area.append(np.full(len(hidden), problem.space.areas.index(country) if now is not None else 0))
            code.append(hidden % n)
            rows.append(_placed(space.national_relations, place[at], width))
            low.append(np.zeros(rows[-1].shape[0]))
            high.append(np.zeros(rows[-1].shape[0]))
        told = np.flatnonzero(~publication.withheld)
        truth = then.a[publication.cells]
        rows.append(_placed(sp.csr_array(space.aggregate_relations[told]), place, width))
        for ends, bound in ((low, publication.lower), (high, publication.upper)):
            ends.append(np.where(publication.exact, 0.0, bound - truth)[told])
    if not rows:
        return Earlier()
    whole = sp.csr_array(sp.vstack([sp.hstack([row, sp.csr_array((row.shape[0], width - row.shape[1]))]) for row in rows], format="csr"))
    kept = np.diff(whole.indptr) > 0
    return Earlier(
        rows=sp.csr_array(whole[np.flatnonzero(kept)]),
        row_lower=_joined(low)[kept],
        row_upper=_joined(high)[kept],
        lower=_joined(lower),
        upper=_joined(upper),
        area=np.concatenate(area),
        code=np.concatenate(code),
    )


def _placed(relations: sp.csr_array, place: np.ndarray, width: int) -> sp.csr_array:
    """Relations over cells as relations over columns; a cell without a column has no deviation."""
    entries = sp.coo_array(relations)
    column = place[entries.col]
    known = column >= 0
    return sp.csr_array((entries.data[known], (entries.row[known], column[known])), shape=(relations.shape[0], width))


def _joined(parts: Sequence[Floats]) -> Floats:
    return np.concatenate(parts)
