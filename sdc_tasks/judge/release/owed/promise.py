"""The requirement of each primary against each attacker: the promised level, lower only if the national
tables provably do not keep it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sdc_tasks.judge.release.sides import SIDES
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import INTEGRALITY, SAME


@dataclass(repr=False)
class Needs:
    """Requirements against one adversary: `general` (sides, primaries), distances; `special`:
    (primary, attacker) → sides, against him alone. `cut` (primaries,): whether a general
    requirement is less than promised.
    """

    general: Floats
    cut: Bools
    special: dict[tuple[int, int], Floats] = field(default_factory=dict)

    def against(self, count: int) -> Floats:
        """(sides, primaries, attackers)."""
        needed = np.repeat(self.general[:, :, None], count, axis=2)
        for (p, insider), level in self.special.items():
            needed[:, p, insider] = level
        return needed

    def of(self, side: int, p: int, insider: int) -> float:
        """The requirement of one primary against one attacker; −1: against all attackers without a special
        requirement.
        """
        return float(self.special.get((p, insider), self.general[:, p])[SIDES.index(side)])

    def lower(self, reached: dict[tuple[int, int, int], float]) -> None:
        """Cuts to (side, primary, attacker) → level. A cut against one attacker makes a special
        requirement, a copy of the general one.
        """
        for (side, p, insider), level in reached.items():
            if insider < 0:
                i = SIDES.index(side)
                self.general[i, p], self.cut[p] = min(self.general[i, p], level), True
        fresh = dict[tuple[int, int], Floats]()
        for (side, p, insider), level in reached.items():
            if insider >= 0:
                if (p, insider) not in self.special:
                    fresh.setdefault((p, insider), self.general[:, p].copy())
                level_of = self.special.get((p, insider), fresh.get((p, insider)))
                assert level_of is not None
                level_of[SIDES.index(side)] = min(level_of[SIDES.index(side)], level)
        self.special |= fresh

    def whole(self, integral: Bools) -> None:
        """Floors what linear programs have lowered of the requirements of whole numbers."""
        self.general[:, integral] = np.floor(self.general[:, integral] + INTEGRALITY)
        for (p, _), level in self.special.items():
            if integral[p]:
                level[:] = np.floor(level + INTEGRALITY)


def promised(problem: ProtectionProblem, primaries: Ints) -> Floats:
    """(sides, primaries): the levels, cut at the external bounds; for whole numbers, levels
    are rounded up and bounds down.
    """
    below, above = (problem.a - problem.lb)[primaries], (problem.ub - problem.a)[primaries]
    lpl, upl, spl = problem.lpl[primaries], problem.upl[primaries], problem.spl[primaries]
    whole = problem.integral[primaries]
    below, above = (np.where(whole, np.floor(room + SAME), room) for room in (below, above))
    lpl, upl, spl = (np.where(whole, np.ceil(level - SAME), level) for level in (lpl, upl, spl))
    return np.array([np.minimum(lpl, below), np.minimum(upl, above), np.minimum(spl, below + above)])


def rows(needs: list[Needs], primaries: Ints, judged: list[Bools]) -> dict[str, np.ndarray]:
    """All requirements that are judged, row by row: by adversary and cell, first against everybody (insider
    −1), then against single attackers.
    """
    told = [
        (number, int(cell), insider, *level.tolist(), cut)
        for number, each in enumerate(needs)
        for p, cell in enumerate(primaries.tolist())
        if judged[number][p]
        for insider, level, cut in [
            (-1, each.general[:, p], bool(each.cut[p])),
            *((k, each.special[q, k], True) for q, k in sorted(each.special) if q == p),
        ]
    ]
    columns = list(zip(*told, strict=True)) if told else [()] * 7
    names = ("profile", "primaries", "insider", "down", "up", "slide", "cut")
    kinds = (np.int64, np.int64, np.int64, float, float, float, bool)
    return {
        name: np.array(column, dtype=kind) for name, column, kind in zip(names, columns, kinds, strict=True)
    }
