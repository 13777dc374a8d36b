"""Small counts that follow from what is published."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from sdc_tasks.judge.release.tolerance import WHOLE
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication


def small_told(problem: ProtectionProblem, publication: Publication) -> tuple[int, ...]:
    """Aggregate cells that, alone or as the first of a sum or difference, leave a count in 1 …
    least − 1 less its public counts.
    """
    space, n = problem.space, problem.space.national_size
    if not problem.least.any():
        return ()
    M = space.national_relations
    made_of: dict[int, list[int]] = {}  # for each total, its parts in one relation
    for start, end in zip(M.indptr[:-1].tolist(), M.indptr[1:].tolist(), strict=True):
        entries = dict(zip(M.indices[start:end].tolist(), M.data[start:end].tolist(), strict=True))
        made_of[next(cell for cell, sign in entries.items() if sign < 0)] = [
            cell for cell, sign in entries.items() if sign > 0
        ]

    @cache
    def open_(country: int, cell: int) -> float:
        if cell in made_of:
            return sum(open_(country, part) for part in made_of[cell])
        at = country * n + cell
        return float(problem.a[at]) if problem.public[at] else 0.0

    told = dict(
        zip(
            publication.cells[~publication.visible].tolist(),
            publication.value[~publication.visible].tolist(),
            strict=True,
        )
    )
    found = set()
    members = [
        {space.countries.index(member) for member in aggregate.members} for aggregate in space.aggregates
    ]
    first = len(space.countries)
    for factors in product((-1, 0, 1), repeat=len(members)):
        held = [
            sum(f for f, of in zip(factors, members, strict=True) if country in of)
            for country in range(first)
        ]
        chosen = [(f, first + k) for k, f in enumerate(factors) if f]
        if not any(held) or not set(held) <= {0, 1} or (len(members) > 7 and len(chosen) > 3):
            continue
        for cell in range(n):
            left = sum(f * told.get(area * n + cell, np.nan) for f, area in chosen)
            left -= sum(open_(country, cell) for country, one in enumerate(held) if one)
            if WHOLE < left < problem.least[first * n + cell] - WHOLE:
                found.add(chosen[0][1] * n + cell)
    return tuple(sorted(found))
