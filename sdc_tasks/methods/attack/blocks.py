"""The parts of the table that are searched first: the cells of a part may move, all other cells stay at the
truth.

A deviation that moves only some cells is a witness like any other. An LP over a part costs far less than its
share of the whole LP. A part is a group of countries × a stretch of the first code list, because only
aggregates link countries, and few totals link activities. A large table is divided twice: first into groups
of neighbouring countries, then into groups of every n-th country, so that a cell without room among its
neighbours meets other countries. What is still open then is searched in the whole table.

Indicators that no relation links are never in one part, unless the whole table is searched.

An attack on one cell of a large table goes through ever larger parts around the cell. The last one is its
branch of the first code list: a total is linked to all of its branch, and a stretch may cut the branch. Then
follow the linked indicators in all countries.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sdc_tasks.model.table import Hierarchy, Ints

PART_COUNTRIES = 30  # countries in one part, so that the aggregates have room
DEALT_GROUPS = 3  # the least number of groups of countries when they are dealt out
SMALL_COLUMNS, LARGE_COLUMNS = 1_000, 6_000  # columns of a part
COLUMNS_OF_A_CELL = 2  # of a table that moves with the release: its own, and that of the release
UNDIVIDED = 1.5  # times the columns of a part: a table with no more columns than this is not divided


@dataclass(frozen=True)
class Level:
    """A division of all columns into `parts`; `interior`: the parts are large enough for an interior point
    method. Beside tables that are out, parts overlap: `pushed`, the columns of each part whose cells are
    pushed; by default all of them.
    """

    parts: list[Ints] = field(repr=False)
    interior: bool
    pushed: list[Ints] | None = field(default=None, repr=False)

    def label(self, n: int) -> Ints:
        """The number of the part that each of n columns is in."""
        label = np.zeros(n, dtype=np.int64)
        for number, columns in enumerate(self.parts):
            label[columns] = number
        return label


def parts(area: Ints, code: Ints, size: int, dealt: bool = False, depth: Ints | None = None) -> list[Ints]:
    """The columns of each part, about `size` columns in each. `area` and `code`
    (columns,) say where a column stands.

    A group of countries is a stretch of their list, or every n-th country if they are `dealt` out. With the
    `depth` of each code (codes,), stretches of codes end where branches end.
    """
    wanted = int(np.ceil(len(area) / size))
    if wanted <= 1:
        return [np.arange(len(area))]
    countries = max(int(np.ceil((area.max() + 1) / PART_COUNTRIES)), DEALT_GROUPS if dealt else 1)
    stretches = int(np.ceil(wanted / countries))
    group = area % countries if dealt else area * countries // (area.max() + 1)
    stretch = code * stretches // (code.max() + 1) if depth is None else _stretches(depth, stretches)[code]
    label = group * stretches + stretch
    order = np.argsort(label, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(label[order])) + 1)


def _stretches(depth: Ints, count: int) -> Ints:
    """(codes,): the number of the stretch of each code. Near the end of each `count`-th part of the
    list, the cut that ends most levels.
    """
    size = len(depth) / count
    cuts = []
    for end in np.arange(1, count) * size:
        near = np.arange(max(int(np.ceil(end - size / 2)), 1), int(np.ceil(end + size / 2)))
        cuts.append(near[np.lexsort((abs(near - end), depth[near]))[0]] if len(near) else int(end))
    return np.searchsorted(cuts, np.arange(len(depth)), side="right")


def is_large(n: int, each: int = 1) -> bool:
    """Is a table of n columns too large to be searched as a whole first? `each`: as for `levels`."""
    return n > UNDIVIDED * LARGE_COLUMNS * each


def levels(area: Ints, code: Ints, depth: Ints, group: Ints, each: int = 1) -> list[Level]:
    """The divisions, from small parts to the whole table. In a large table, stretches of codes end where
    branches end.

    `area`, `code`, `group` (columns,): where a column stands; codes in the order of `lineage`, groups of
    linked indicators. `depth` (codes,): that of each code in this order. `each`: columns that move together
    and so count as one.
    """
    n, small, middle = len(area), SMALL_COLUMNS * each, LARGE_COLUMNS * each

    def division(size: int, interior: bool, dealt: bool = False, depth: Ints | None = None) -> Level:
        own = [np.flatnonzero(group == number) for number in np.unique(group)]
        return Level(
            [mine[part] for mine in own for part in parts(area[mine], code[mine], size, dealt, depth)],
            interior,
        )

    if n == 0:
        return []
    whole = [np.arange(n)]
    if n <= UNDIVIDED * small:
        return [Level(whole, False)]
    if not is_large(n, each):
        return [division(small, False), Level(whole, True)]
    large = [division(middle, True, dealt, depth) for dealt in (False, True)]
    return [division(small, False, depth=depth), *large, Level(whole, True)]


def table_levels(area: Ints, code: Ints, depth: Ints, group: Ints, table: Ints) -> list[Level]:
    """The divisions of a release beside tables that are out (METHOD §10), from small parts to the whole: each
    of these tables with the release itself, which moves with it, while the other tables stand still. What one
    table gives room for is found there, in an LP that does not grow with their number. Cells of the release
    itself are pushed in the whole.

    `table` (columns,): the number of the table of each column, 0 for the release. All other arrays as for
    `levels`.
    """
    found: dict[tuple[int, bool], tuple[list[Ints], list[Ints]]] = {}
    numbers = np.unique(table[table > 0]).tolist()
    if len(numbers) < 2:  # with the release, that is the whole
        return levels(area, code, depth, group)
    for number in numbers:
        mine = np.flatnonzero((table == 0) | (table == number))
        divisions = levels(area[mine], code[mine], depth, group[mine], COLUMNS_OF_A_CELL)
        for place, level in enumerate(divisions):
            parts, pushed = found.setdefault((place - len(divisions), level.interior), ([], []))
            parts += [mine[part] for part in level.parts]
            pushed += [mine[part[table[mine[part]] > 0]] for part in level.parts]
    together = [Level(parts, interior, pushed) for (_, interior), (parts, pushed) in sorted(found.items())]
    return [*together, *levels(area, code, depth, group)[-1:]]


def around(area: Ints, code: Ints, depth: Ints, group: Ints) -> list[Ints]:
    """The parts in which an attack on a cell is made, from small to large: for each division the number of
    the part that each column is in. The first one is the country, the last one all countries; groups of
    linked indicators are apart in each.

    All arrays as for `levels`.
    """
    n, groups = len(area), int(group.max(initial=0)) + 1
    country = area * groups + group
    neighbours = levels(area, code, depth, group)[:2]  # without the division that deals countries out
    divisions = [level.label(n) for level in neighbours if len(level.parts) > 1]
    if not is_large(n):
        return [country, *divisions, group]
    branch = np.cumsum(depth <= 1, dtype=np.int64)[code] * groups + group
    has_branches = (
        groups < len(np.unique(branch)) <= n / SMALL_COLUMNS
    )  # in a flat list, each code is a branch
    return [country, *divisions, *([branch] if has_branches else []), group]


def lineage(hierarchy: Hierarchy) -> Ints:
    """The rank of each code in an order where each code is followed by its parts: a stretch of
    ranks is a branch, or nearly one.
    """
    above = [-1 if parent is None else hierarchy.index[parent] for parent in hierarchy.parent]

    def path(code: int) -> tuple[int, ...]:
        return (*(path(above[code]) if above[code] >= 0 else ()), code)

    rank = np.zeros(len(above), dtype=np.int64)
    rank[sorted(range(len(above)), key=path)] = np.arange(len(above))
    return rank
