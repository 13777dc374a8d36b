"""Who attacks (METHOD §2): what each profile knows beyond what everybody can read, and whom it must not find out.

    external    nothing more
    internal    each respondent alone: the only unit of a cell knows that cell; of a cell with two units, the larger one knows its own
                part, so the cell is at least that. Where its share was not sent, half of the cell is assumed
    coalition   the only units of all single-unit cells put their cells together against everybody else; and against each of them, all
                the others ([2] eq. 9)
    vintage     all that was published before of the same period, beside the deliveries behind it (see vintage.py)
    revision    the same, and how far cells were revised, as the domain lets one assume

A respondent's own cells are not held against him: how closely one of two units can estimate the other is what the cell's level is for.
The only unit of a cell is that of every single-unit cell above it as well: such cells have one respondent, who is one attacker in a
coalition and one victim. With no such cells this is [2] eq. 9 to the letter.
All compositions are always attacked together.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import INTERNAL, RESPONDENTS, named
from sdc_tasks.model.table import Bools, CellSpace, Floats, Ints


@dataclass(frozen=True)
class Knowledge:
    """Cells that are known better than to the world: deviations `lower ≤ z ≤ upper` of each, in the unit of the data.

    `alone`: every entry belongs to an attacker of its own; otherwise one attacker holds them all, but those of his victim. `owner` is
    the number of the respondent of each.
    """

    profile: str
    alone: bool
    cells: Ints = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)
    owner: Ints = field(repr=False)

    def owners(self, cells: Ints) -> Ints:
        """The respondent of each cell; −1 where it is none of those known."""
        number = dict(zip(self.cells.tolist(), self.owner.tolist(), strict=True))
        return np.array([number.get(cell, -1) for cell in cells.tolist()], dtype=np.int64)


def knowledge_of(problem: ProtectionProblem, profile: str) -> Knowledge:
    """What the attackers of a profile know. Raises ValueError for one that this attacker does not know, InvalidInput where it is not told
    who the respondents are.
    """
    if named([profile])[0] in RESPONDENTS:
        _require_units(problem, profile)
    cells = np.flatnonzero(problem.suppressed & ~np.isnan(problem.known))
    match profile:
        case "internal":
            pass
        case "coalition":
            cells = cells[problem.known[cells] == problem.a[cells]]
        case "external" | "vintage" | "revision":
            cells = cells[:0]
        case _:
            raise ValueError(f"attacker profile {profile}: the attacker does not know what it knows")
    short = problem.known[cells] - problem.a[cells]  # 0 for a single unit
    return Knowledge(profile, profile == INTERNAL, cells, short, np.where(short < 0, np.inf, 0.0), _owner(problem.space, cells, short == 0))


def _require_units(problem: ProtectionProblem, profile: str) -> None:
    """No claim against respondents of whom nothing is known: their absence from the data would pass for safety."""
    unknown = np.flatnonzero(problem.suppressed & np.isneginf(problem.known))
    if len(unknown):
        raise InvalidInput(
            f"{problem.space.key(int(unknown[0]))}: hidden, as {len(unknown) - 1} other cells, without a number of units, so that "
            f"profile {profile} cannot be attacked. Remedy: have UNITS sent with every hidden cell, or state units_unknown: one for its "
            "flag in the domain file, or do not ask for the profile"
        )


def _owner(space: CellSpace, cells: Ints, single: Bools) -> Ints:
    """Numbers of the respondents of cells of one or two units: one for single-unit cells that contain each other, in turn."""
    n = space.national_size
    relations = sp.coo_array(space.national_relations)
    total = np.zeros(relations.shape[0], dtype=np.int64)
    total[relations.row[relations.data < 0]] = relations.col[relations.data < 0]
    part = relations.data > 0
    above = sp.csr_array((np.ones(int(part.sum())), (relations.col[part], total[relations.row[part]])), shape=(n, n))
    contains, before = sp.csr_array(above), -1
    while contains.nnz != before:  # of a cell, all that it is a part of
        before = contains.nnz
        contains = sp.csr_array(((contains + contains @ above) > 0).astype(float))
    within, beyond = sp.coo_array(contains).coords
    column = np.full(space.size, -1)
    column[cells[single]] = np.flatnonzero(single)
    first = n * np.arange(len(space.countries))[:, None]
    i, j = column[(first + within).ravel()], column[(first + beyond).ravel()]
    both = (i >= 0) & (j >= 0)
    same = sp.csr_array((np.ones(int(both.sum())), (i[both], j[both])), shape=(len(cells), len(cells)))
    return connected_components(same, directed=False)[1].astype(np.int64)
