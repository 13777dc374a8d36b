"""The pieces of what a profile knows, of which somebody may have some and lack others."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import some_of
from sdc_tasks.methods.attack.knowledge import knowledge_of
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import KEEPERS, Adversary, profile_of
from sdc_tasks.model.table import Ints


def pieces_of(problem: ProtectionProblem, profile: str, cells: Ints) -> list[frozenset[int]]:
    """For each primary, the pieces of which somebody may have some and lack others, so that its
    requirement against him is another one.
    """
    area_of = problem.space.stands[0]
    of_area: dict[int, set[int]] = {}
    if profile in KEEPERS:
        linked, by = _linked_areas(problem), problem.earlier.told_by
        row, column = problem.earlier.rows.nonzero()
        for area, pieces in zip(
            linked[_area(problem)[column]].tolist(), by[row] if len(by) else (), strict=bool(len(by))
        ):
            of_area.setdefault(area, set()).update(np.flatnonzero(pieces).tolist())
        return [frozenset(of_area.get(area, ())) for area in linked[_area(problem)[cells]].tolist()]
    definition = profile_of(profile)
    if not definition.respondents or definition.alone:
        return [frozenset()] * len(cells)
    known = knowledge_of(problem, profile)
    for cell, owner in zip(known.cells.tolist(), known.owner.tolist(), strict=True):
        of_area.setdefault(area_of[cell], set()).add(owner)
    victims = zip(cells.tolist(), known.owners(cells).tolist(), strict=True)
    return [frozenset(of_area.get(area_of[cell], set()) - {victim}) for cell, victim in victims]


def _area(problem: ProtectionProblem) -> Ints:
    """(columns of the earlier releases,): the country of each, or the number of countries for an
    aggregate.
    """
    space = problem.space
    return np.concatenate([np.minimum(space.stands[0], len(space.countries)), problem.earlier.area])


def _linked_areas(problem: ProtectionProblem) -> Ints:
    """(countries + 1,): countries have one number if what was published earlier links them."""
    earlier, count = problem.earlier, len(problem.space.countries) + 1
    if not earlier.pieces:
        return np.arange(count)
    entries = sp.coo_array(earlier.rows)
    stands = sp.csr_array(
        (np.ones(entries.nnz), (entries.row, _area(problem)[entries.col])),
        shape=(earlier.rows.shape[0], count),
    )
    return np.asarray(sp.csgraph.connected_components(stands.T @ stands, directed=False)[1], dtype=np.int64)


def who(problem: ProtectionProblem, adversary: Adversary) -> str:
    """An adversary for people: the profile, and what a weaker one lacks. As confidential
    as the keys of single-unit cells.
    """
    if not adversary.lacks:
        return adversary.profile
    if adversary.profile in KEEPERS:
        return (
            f"{adversary.profile} without "
            f"{', '.join(problem.earlier.pieces[piece] for piece in adversary.lacks)}"
        )
    return (
        f"{adversary.profile} without the only unit of "
        f"{some_of([problem.space.key(cell) for cell in adversary.lacks])}"
    )
