"""Where to look first: parts of the table in which cells may move while the rest stays at the truth.

A deviation that moves only some cells is a witness like any other, and an LP over a part is far cheaper than its share of the whole.
Parts are groups of countries × stretches of the first code list, because countries hang together through aggregates only, and
activities through few totals. A large table is divided twice: neighbours among the countries first, then every so manieth together, so
that cells that found no room beside their neighbours meet others. What is left is looked for in the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sdc_tasks.model.table import Hierarchy, Ints

PART_COUNTRIES = 30  # countries in one part, to leave the aggregates room
DEALT_GROUPS = 3  # groups of countries, at least, when they are dealt out
SMALL_COLUMNS, LARGE_COLUMNS = 1_000, 6_000  # columns of a part
UNDIVIDED = 1.5  # times the columns of a part: what has no more is left in one piece


@dataclass(frozen=True)
class Level:
    """A division of all columns into `parts`; `interior`: large enough for an interior point method."""

    parts: list[Ints] = field(repr=False)
    interior: bool

    def label(self, n: int) -> Ints:
        """The number of the part that each of n columns is in."""
        label = np.zeros(n, dtype=np.int64)
        for number, columns in enumerate(self.parts):
            label[columns] = number
        return label


def parts(area: Ints, code: Ints, size: int, dealt: bool = False) -> list[Ints]:
    """Columns by part, each of about `size` columns. `area code` are those of the columns, code in the order of its list.

    Groups of countries are stretches of the list, or every so manieth if they are `dealt` out.
    """
    wanted = int(np.ceil(len(area) / size))
    if wanted <= 1:
        return [np.arange(len(area))]
    countries = max(int(np.ceil((area.max() + 1) / PART_COUNTRIES)), DEALT_GROUPS if dealt else 1)
    stretches = int(np.ceil(wanted / countries))
    group = area % countries if dealt else area * countries // (area.max() + 1)
    label = group * stretches + code * stretches // (code.max() + 1)
    order = np.argsort(label, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(label[order])) + 1)


def levels(area: Ints, code: Ints) -> list[Level]:
    """From small parts to the whole."""
    n = len(area)
    if n == 0:
        return []
    whole = [np.arange(n)]
    if n <= UNDIVIDED * SMALL_COLUMNS:
        return [Level(whole, False)]
    small = Level(parts(area, code, SMALL_COLUMNS), False)
    if n <= UNDIVIDED * LARGE_COLUMNS:
        return [small, Level(whole, True)]
    large = [Level(parts(area, code, LARGE_COLUMNS, dealt), True) for dealt in (False, True)]
    return [small, *large, Level(whole, True)]


def lineage(hierarchy: Hierarchy) -> Ints:
    """The rank of each code when every code is followed by what it is made of: a stretch of ranks is a branch, or near it."""
    above = [-1 if parent is None else hierarchy.index[parent] for parent in hierarchy.parent]

    def path(code: int) -> tuple[int, ...]:
        return (*(path(above[code]) if above[code] >= 0 else ()), code)

    rank = np.zeros(len(above), dtype=np.int64)
    rank[sorted(range(len(above)), key=path)] = np.arange(len(above))
    return rank
