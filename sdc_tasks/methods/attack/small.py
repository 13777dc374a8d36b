"""Do published counts tell a small count? Under small count rounding ([4]) no published count may be in 1
… b − 1, nor any derived count.

A derived count is a sum or difference of compositions that is again the sum over a set of countries (EU28
− EU27_2020 is one country), less everything public in it. It is the count of the countries that hide
theirs: it must be 0, or at least b.

    implied_S(c) = Σ_k λ_k value_k(c) − Σ public inner cells of S under c,
    λ ∈ {−1, 0, 1},   Σ_k λ_k members_k = the set S

Inner cells are those whose codes have no parts. Differences along a hierarchy are sums of
cells that are published as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, CellSpace, Floats, Ints, added_up, inside
from sdc_tasks.model.tolerances import INTEGRALITY

ALL_SUMS = 7  # compositions up to which all sums and differences are looked at; of more, those of up to three


def revealed_small_counts(problem: ProtectionProblem, publication: Publication) -> Ints:
    """The aggregate cells (flat indices, ascending) that tell a small count, alone or as the
    first one of a sum or difference.
    """
    space = problem.space
    if not problem.least.any():
        return np.zeros(0, dtype=np.int64)
    n, count = space.national_size, len(space.countries)
    least = problem.least[problem.aggregate].reshape(-1, n)[0]
    open_ = np.where(problem.public[: count * n], problem.a[: count * n], 0.0).reshape(
        count, *space.national_shape
    )
    known = added_up(np.where(inside(space.hierarchies), open_, 0.0), space.hierarchies).reshape(count, n)
    value = np.where(publication.visible, np.nan, publication.value).reshape(-1, n)
    found = np.zeros(value.shape, dtype=bool)
    for factors, members in combined(space):
        at = int(np.flatnonzero(factors)[0])
        implied = factors[factors != 0] @ value[factors != 0] - known[members].sum(axis=0)
        # False if one of them is withheld (NaN)
        found[at] |= (implied > INTEGRALITY) & (implied < least - INTEGRALITY)
    return publication.cells[np.flatnonzero(found.ravel())]


def combined(space: CellSpace) -> list[tuple[Floats, Bools]]:
    """(factor of each composition, whether it contains each country), for every sum of
    compositions that is a set of countries.
    """
    within = membership(space)
    K = len(within)
    found = []
    for each in product((0.0, 1.0, -1.0), repeat=K) if K <= ALL_SUMS else _few(K):
        factors = np.array(each)
        members = factors @ within
        if members.any() and np.isin(members, (0, 1)).all():
            found.append((factors, members > 0))
    return found


def _few(count: int) -> Sequence[tuple[float, ...]]:
    """The factors of all sums and differences of up to three compositions, each once."""
    found: dict[tuple[float, ...], None] = {}
    for columns in product(range(count), repeat=3):
        for signs in product((1.0, -1.0), repeat=3):
            factors = [0.0] * count
            for column, sign in zip(columns, signs, strict=True):
                factors[column] = sign
            found[tuple(factors)] = None
    return list(found)


def membership(space: CellSpace) -> Floats:
    """(compositions, countries): 1 where a country is a member."""
    return np.array(
        [
            [float(country in aggregate.members) for country in space.countries]
            for aggregate in space.aggregates
        ]
    )
