"""Former values of the cells that tables of a joint problem share, computed again from their keys.

A table may have revised a cell that another table still has with its former value. Then the cells of now are
two unknowns, and the former value of the one table is the same unknown as the value of the other. This module
shares no code with `methods/linked`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from sdc_tasks.judge.release.named import NamedTable
from sdc_tasks.judge.release.prior.pieces import Release, pieces_of
from sdc_tasks.judge.release.prior.values import values_of
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.time.periods import bounds

Allowed = Callable[[float], float]


@dataclass(frozen=True)
class Former:
    """A value that a table (by its number) had in an earlier release, `then`, in the cell `place`.

    `now`: the cell of now in the joint problem, None where there is none; `column`: the number among the
    former values of the table, None where every release with it shows it; `pieces`: those that tell it, none
    where any does.
    """

    table: int
    then: ProtectionProblem
    place: int
    now: int | None
    column: int | None
    pieces: frozenset[int]

    @property
    def value(self) -> float:
        return float(self.then.a[self.place])

    def told_by(self, names: Sequence[str]) -> set[str]:
        """Those of the pieces of its table, by name, that tell it."""
        return {names[k] for k in self.pieces} if len(names) > 1 and self.pieces else {*names}


@dataclass(frozen=True)
class FormerTable:
    """An earlier release of a table, by the table's number: its cells by name, and its former values by the
    places of their cells.
    """

    table: int
    cells: NamedTable
    former: dict[int, Former]


def same_values(
    tables: Sequence[NamedTable],
    values: Sequence[float],
    versions: Sequence[tuple[ProtectionProblem, Sequence[Release]]],
    allowed: Allowed,
) -> list[tuple[Former, Former | int]]:
    """Each former value with each cell of another table that has it now, unless the two cells of now agree
    anyway; and with each former value of another table. `values`: of the cells of the joint problem;
    `versions`: of each table, its problem and its earlier releases.
    """
    earlier = [
        version
        for number, (table, (now, releases)) in enumerate(zip(tables, versions, strict=True))
        if sum(bounds(other.period) == bounds(table.period) for other in tables) > 1
        for version in _versions(number, table, now, releases)
    ]
    return [*_with_cells(earlier, tables, values, allowed), *_with_formers(earlier, allowed)]


def agreed(first: float, later: float, allowed: Allowed) -> bool:
    """Are two values of a cell the same, the first one in the table that stands first?"""
    return abs(first - later) <= allowed(first)


def _with_cells(
    earlier: Sequence[FormerTable], tables: Sequence[NamedTable], values: Sequence[float], allowed: Allowed
) -> Iterator[tuple[Former, int]]:
    for version in earlier:
        for number, table in enumerate(tables):
            if number == version.table or bounds(table.period) != bounds(version.cells.period):
                continue
            for place, cell in version.cells.shared(table):
                one = version.former.get(place)
                if one is None or not agreed(one.value, values[cell], allowed):
                    continue
                if one.now is not None:
                    first, later = sorted((one.now, cell))
                    if agreed(values[first], values[later], allowed):
                        continue
                yield one, cell


def _with_formers(earlier: Sequence[FormerTable], allowed: Allowed) -> Iterator[tuple[Former, Former]]:
    for one, other in combinations(earlier, 2):
        if one.table == other.table or bounds(one.cells.period) != bounds(other.cells.period):
            continue
        for place, there in one.cells.shared(other.cells):
            mine, theirs = one.former.get(place), other.former.get(there)
            if mine is not None and theirs is not None and agreed(mine.value, theirs.value, allowed):
                yield mine, theirs


def _versions(
    number: int, table: NamedTable, now: ProtectionProblem, releases: Sequence[Release]
) -> Iterator[FormerTable]:
    if not releases:
        return
    values, pieces = values_of([now, *(then for then, _ in releases)]), pieces_of(now, releases)
    cells = {each[:2]: i for i, each in enumerate(values.of_release[0])}
    for release, (then, _) in enumerate(releases):
        size = then.space.national_size
        former = dict[int, Former]()
        for place, each in enumerate(values.of_release[release + 1]):
            if each in values.now:
                continue
            mine, column = cells.get(each[:2]), values.column.get(each)
            piece = pieces.news.get((release, then.space.countries[place // size]))
            former[place] = Former(
                number,
                then,
                place,
                None if mine is None else table.first + mine,
                None if column is None else column - now.space.size,
                frozenset() if piece is None else frozenset({piece}),
            )
        yield FormerTable(number, NamedTable(0, table.period, then.space), former)
