"""What the respondents of each profile know."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import RESPONDENTS
from sdc_tasks.model.table import Floats, Ints


@dataclass(frozen=True, repr=False)
class Known:
    """What respondents know, one cell each: its `lower` and `upper` deviation, and its `owner`; `victim` is the owner of each primary, −1
    for none. `alone`: each is an attacker; else all but those of the victim are one.
    """

    alone: bool
    cells: Ints
    lower: Floats
    upper: Floats
    owner: Ints
    victim: Ints


def attackers(problem: ProtectionProblem, profile: str, primaries: Ints) -> Known:
    """The respondents of a profile. Single-unit cells that are parts of one another have the same. Raises ValueError for a profile whose
    knowledge nobody has told here.
    """
    nobody = np.zeros(problem.space.size, dtype=bool)
    asked = {
        "external": nobody,
        "vintage": nobody,
        "revision": nobody,
        "internal": problem.known <= problem.a,
        "coalition": problem.known == problem.a,
    }
    if profile not in asked:
        raise ValueError(f"attacker profile {profile}: the second program does not know what it knows")
    if profile in RESPONDENTS and np.isneginf(problem.known[problem.suppressed]).any():
        raise InvalidInput(f"hidden cells without a number of units: nothing can be said against profile {profile}")
    cells = np.flatnonzero(problem.suppressed & asked[profile])
    short = problem.known[cells] - problem.a[cells]
    single, owner = set(cells[short == 0].tolist()), {cell: cell for cell in cells.tolist()}

    def first(cell: int) -> int:
        while owner[cell] != cell:
            cell = owner[cell]
        return cell

    n, totals = problem.space.national_size, _totals(problem)
    for cell in sorted(single):
        above = [cell]
        for each in above:  # grows: all that the cell is a part of
            above += [cell - cell % n + total for total in totals[each % n] if cell - cell % n + total not in above]
        for each in above[1:]:
            if each in single:
                owner[max(first(each), first(cell))] = min(first(each), first(cell))
    return Known(
        profile == "internal", cells, short, np.where(short < 0, np.inf, 0.0),
        np.array([first(cell) for cell in cells.tolist()], dtype=np.int64),
        np.array([first(cell) if cell in owner else -1 for cell in primaries.tolist()], dtype=np.int64),
    )  # fmt: skip


def _totals(problem: ProtectionProblem) -> list[list[int]]:
    """Of each cell of a national table, the totals that it is a part of."""
    M = sp.coo_array(problem.space.national_relations)
    total = dict(zip(M.row[M.data < 0].tolist(), M.col[M.data < 0].tolist(), strict=True))
    totals: list[list[int]] = [[] for _ in range(problem.space.national_size)]
    for row, part in zip(M.row[M.data > 0].tolist(), M.col[M.data > 0].tolist(), strict=True):
        totals[part].append(total[row])
    return totals
