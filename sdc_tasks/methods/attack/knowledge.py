"""Who attacks (METHOD §2): what each profile knows beyond what everybody can read, and whom it must not find out.

    external    nothing more
    internal    each respondent alone: the only unit of a cell knows that cell; of a cell with two units, the larger one knows its own
                part, so the cell is at least that. Where its share was not sent, half of the cell is assumed
    coalition   the only units of all single-unit cells put their cells together against everybody else. Weaker than [2] eq. 9, where
                each of them is also a victim of all the others
    vintage     all that was published before of the same period, beside the deliveries behind it (see vintage.py)

A respondent's own cell is not held against him: how closely one of two units can estimate the other is what the cell's level is for.
All compositions are always attacked together.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Bools, Floats, Ints

EXTERNAL, INTERNAL, COALITION, VINTAGE = PROFILES = ("external", "internal", "coalition", "vintage")


@dataclass(frozen=True)
class Knowledge:
    """Cells that are known better than to the world: deviations `lower ≤ z ≤ upper` of each, in the unit of the data.

    `alone`: every entry belongs to an attacker of its own; otherwise one attacker holds them all.
    """

    profile: str
    alone: bool
    cells: Ints = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)

    @property
    def attackers(self) -> int:
        return len(self.cells) if self.alone else 1


def knowledge_of(problem: ProtectionProblem, profile: str) -> Knowledge:
    """What the attackers of a profile know. Raises ValueError for an unknown one."""
    if profile not in PROFILES:
        raise ValueError(f"profile {profile}: not one of {', '.join(PROFILES)}")
    cells = np.flatnonzero(problem.suppressed & ~np.isnan(problem.known))
    if profile == COALITION:
        cells = cells[problem.known[cells] == problem.a[cells]]
    elif profile != INTERNAL:
        cells = cells[:0]
    short = problem.known[cells] - problem.a[cells]  # 0 for a single unit
    return Knowledge(profile, profile == INTERNAL, cells, short, np.where(short < 0, np.inf, 0.0))


def victims(problem: ProtectionProblem, profile: str) -> Bools:
    """Primaries, in cell order, that a profile must not find out: all but those that all its attackers together already know."""
    primaries = np.flatnonzero(problem.primary)
    return np.asarray((problem.known != problem.a)[primaries]) if profile == COALITION else np.ones(len(primaries), dtype=bool)
