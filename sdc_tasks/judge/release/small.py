"""Small counts that follow from what is published."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

import numpy as np

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import CellSpace
from sdc_tasks.model.tolerances import JUDGED_INTEGRALITY

# All combinations of so many aggregates are tried; of more aggregates, those of at most MOST_COMBINED.
MOST_AGGREGATES, MOST_COMBINED = 7, 3


def disclosed_small_counts(problem: ProtectionProblem, publication: Publication) -> tuple[int, ...]:
    """Aggregate cells that, alone or as the first of a sum or difference, leave a count in 1 …
    least − 1 less its public counts.
    """
    if not problem.least.any():
        return ()
    n, public = problem.space.national_size, _public_count(problem)
    decided = ~publication.visible
    value = dict(zip(publication.cells[decided].tolist(), publication.value[decided].tolist(), strict=True))
    found = set()
    for terms, countries in _combinations(problem.space):
        first = terms[0][1]
        for cell in range(n):
            rest = sum(factor * value.get(area * n + cell, np.nan) for factor, area in terms)
            rest -= sum(public(country, cell) for country in countries)
            if JUDGED_INTEGRALITY < rest < problem.least[first * n + cell] - JUDGED_INTEGRALITY:
                found.add(first * n + cell)
    return tuple(sorted(found))


def _combinations(space: CellSpace) -> Iterator[tuple[list[tuple[int, int]], list[int]]]:
    """Sums and differences of aggregates that leave some countries, each once: the terms (factor, area), and
    these countries.
    """
    first = len(space.countries)
    has = np.array(
        [[country in aggregate.members for country in space.countries] for aggregate in space.aggregates]
    )
    for factors in product((-1, 0, 1), repeat=len(has)):
        terms = [(factor, first + k) for k, factor in enumerate(factors) if factor]
        if len(has) > MOST_AGGREGATES and len(terms) > MOST_COMBINED:
            continue
        times = np.array(factors) @ has.astype(np.int64)  # how often each country is left
        if times.any() and np.isin(times, (0, 1)).all():
            yield terms, np.flatnonzero(times).tolist()


def _public_count(problem: ProtectionProblem) -> Callable[[int, int], float]:
    """(country, national cell) → what everybody knows to be in it: the sum of its public parts."""
    n, parts_of = problem.space.national_size, _parts_of(problem.space)

    @cache
    def public(country: int, cell: int) -> float:
        if cell in parts_of:
            return sum(public(country, part) for part in parts_of[cell])
        at = country * n + cell
        return float(problem.a[at]) if problem.public[at] else 0.0

    return public


def _parts_of(space: CellSpace) -> dict[int, list[int]]:
    """For each total of a national table, its parts in one relation."""
    M, found = space.national_relations, dict[int, list[int]]()
    for start, end in zip(M.indptr[:-1].tolist(), M.indptr[1:].tolist(), strict=True):
        entries = list(zip(M.indices[start:end].tolist(), M.data[start:end].tolist(), strict=True))
        total = next(cell for cell, sign in entries if sign < 0)
        found[total] = [cell for cell, sign in entries if sign > 0]
    return found
