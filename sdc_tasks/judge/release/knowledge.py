"""What each profile knows, written a second time: only the names come from the registry (model/profiles).

If a profile is missing here or in the registry, the import fails.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import PROFILES
from sdc_tasks.model.table import Bools, CellSpace, Floats, Ints


@dataclass(frozen=True)
class ProfileKnowledge:
    """What a profile knows beyond the public. `cells`: the cells of which its respondents know something,
    None without respondents; `alone`: each respondent attacks alone; `published`: it knows earlier releases;
    `revised`: and how far cells were revised since.
    """

    cells: Callable[[ProtectionProblem], Bools] | None = None
    alone: bool = False
    published: bool = False
    revised: bool = False


KNOWLEDGE = {
    "external": ProfileKnowledge(),
    "internal": ProfileKnowledge(lambda problem: problem.known <= problem.a, alone=True),
    "coalition": ProfileKnowledge(lambda problem: problem.known == problem.a),
    "vintage": ProfileKnowledge(published=True),
    "revision": ProfileKnowledge(published=True, revised=True),
}
if KNOWLEDGE.keys() != PROFILES.keys():
    raise ImportError(
        f"attacker profiles {sorted(KNOWLEDGE.keys() ^ PROFILES.keys())}: not told to both programs "
        f"(model/profiles, judge/release)"
    )


def knowledge_of_profile(profile: str) -> ProfileKnowledge:
    """Raises ValueError for a profile that this module does not define."""
    if profile not in KNOWLEDGE:
        raise ValueError(f"attacker profile {profile}: the second program does not know what it knows")
    return KNOWLEDGE[profile]


@dataclass(frozen=True, repr=False)
class Known:
    """What respondents know, one cell for each entry: its `lower` and `upper` deviation, its `owner`.
    `victim`: the owner of each primary, −1 for none. `alone`: each entry is an attacker of its own; otherwise
    all entries except those of the victim are one attacker. An owner is named by the first of his cells.
    """

    alone: bool
    cells: Ints
    lower: Floats
    upper: Floats
    owner: Ints
    victim: Ints


def attackers(
    problem: ProtectionProblem, profile: str, primaries: Ints, lacks: Collection[int] = ()
) -> Known:
    """The respondents of a profile, without those of `lacks`. Single-unit cells that are parts of one another
    share a respondent. Raises ValueError for a profile that this module does not define.
    """
    ours = knowledge_of_profile(profile)
    if ours.cells is not None and np.isneginf(problem.known[problem.suppressed]).any():
        raise InvalidInput(
            f"hidden cells without a number of units: nothing can be said against profile {profile}"
        )
    cells = np.flatnonzero(
        problem.suppressed & (ours.cells(problem) if ours.cells is not None else np.False_)
    )
    short = problem.known[cells] - problem.a[cells]
    owner = _owners(problem, cells.tolist(), set(cells[short == 0].tolist()))
    owners = np.array([owner[cell] for cell in cells.tolist()], dtype=np.int64)
    takes_part = ~np.isin(owners, list(lacks))
    return Known(
        ours.alone,
        cells[takes_part],
        short[takes_part],
        np.where(short < 0, np.inf, 0.0)[takes_part],
        owners[takes_part],
        np.array([owner.get(cell, -1) for cell in primaries.tolist()], dtype=np.int64),
    )


def _owners(problem: ProtectionProblem, cells: Sequence[int], single: Collection[int]) -> dict[int, int]:
    """Cell → the first cell of its respondent. A cell in `single` has one unit; so has each of its totals
    that is single too, and it is the same unit.
    """
    parent = {cell: cell for cell in cells}

    def first(cell: int) -> int:
        while parent[cell] != cell:
            cell = parent[cell]
        return cell

    totals = _totals(problem.space)
    for cell in sorted(single):
        above = [cell]
        for each in above:  # the list grows to all totals that contain the cell
            above += [total for total in totals.get(each, ()) if total not in above]
        for each in above[1:]:
            if each in single:
                parent[max(first(each), first(cell))] = min(first(each), first(cell))
    return {cell: first(cell) for cell in cells}


def _totals(space: CellSpace) -> dict[int, list[int]]:
    """National cell → the totals of its country that contain it, of its own table or of one beside it."""
    decided = len(space.aggregates) * space.national_size
    M = sp.coo_array(space.relations[: space.relations.shape[0] - decided])
    total = dict(zip(M.row[M.data < 0].tolist(), M.col[M.data < 0].tolist(), strict=True))
    totals: dict[int, list[int]] = {}
    for row, part in zip(M.row[M.data > 0].tolist(), M.col[M.data > 0].tolist(), strict=True):
        totals.setdefault(part, []).append(total[row])
    return totals


def countries_of(space: CellSpace) -> list[int]:
    """The number of the country of each cell; the number of countries for an aggregate, and for a country
    that the release does not have.
    """
    number, n = {country: i for i, country in enumerate(space.countries)}, space.national_size
    found = [min(area, len(number)) for area in range(len(space.areas)) for _ in range(n)]
    for each in space.beside:
        for country in each.space.countries:
            found += [number.get(country, len(number))] * each.space.national_size
    return found
