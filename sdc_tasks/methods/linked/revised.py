"""Former values of the cells that tables share (METHOD §10): a cell is one unknown for each of its values, in
whatever table and version it stands.

Where a table has revised a cell, and another one still has the value that it had, the two cells of now are
not the same any more. The former value of the one and the value of the other are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from sdc_tasks.methods.attack.vintage import EarlierTable, earlier_tables
from sdc_tasks.methods.linked.relations import Linked, partners
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints

LEVELS = ("lpl", "upl", "spl")
Told = tuple[ProtectionProblem, Publication]
Allowed = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Version:
    """An earlier version of a table of a joint space, by the `table`'s number. Arrays (cells,): `now`, the
    same cell of the joint space, −1 where the table of now lacks it; `former`: it has another value now.
    """

    table: int
    linked: Linked = field(repr=False)
    earlier: EarlierTable = field(repr=False)
    size: int
    now: Ints = field(repr=False)
    former: Bools = field(repr=False)

    @property
    def a(self) -> Floats:
        return self.earlier.problem.a

    def column(self, place: int) -> int:
        """The number of a former value among those of its table; −1 where the version shows it."""
        return max(int(self.earlier.column[place]) - self.size, -1)

    def shared(self, other: Linked) -> tuple[Ints, Ints]:
        """The former values whose cells another table of the period has, and its cells, from 0."""
        if other.period != self.linked.period:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        there = partners(self.linked.space, other.space)
        at = np.flatnonzero(self.former & (there >= 0))
        return at, there[at]


@dataclass(frozen=True)
class Tie:
    """A former value, the cell `place` of a version, and the same value of the same cell in another table: in
    the table of now the `cell` of the joint space, or a former value there, too (`other` at `cell`).
    """

    version: Version
    place: int
    cell: int
    other: Version | None = None

    @property
    def pair(self) -> tuple[int, int] | None:
        """The two cells of now, ascending, of which the former value of one is the value of the other."""
        if self.other is not None:
            return None
        one, two = sorted((int(self.version.now[self.place]), self.cell))
        return one, two


def versions_of(
    tables: Sequence[Linked], a: Floats, problems: Sequence[tuple[ProtectionProblem, Sequence[Told]]]
) -> list[Version]:
    """The earlier versions of all tables that share a period with another one. `a` (cells,): the values of
    the joint space; `problems`: of each table, with its earlier versions.
    """
    periods = [table.period for table in tables]
    found = []
    for number, (table, (problem, before)) in enumerate(zip(tables, problems, strict=True)):
        for each in earlier_tables(problem, before) if before and periods.count(table.period) > 1 else ():
            space = each.problem.space
            now = space.national_cells_in(table.space)
            joint = np.where(now >= 0, table.first + now, -1)
            former = (joint < 0) | (a[joint] != each.problem.a[: len(now)])
            linked = Linked(table.name, table.period, space, 0)
            found.append(Version(number, linked, each, problem.space.size, joint, former))
    return found


def ties(tables: Sequence[Linked], versions: Sequence[Version], a: Floats, allowed: Allowed) -> list[Tie]:
    """Each former value with each table that has it, or had it. `allowed`: how far equal values may be
    apart.
    """
    return [*_with_present(tables, versions, a, allowed), *_with_former(versions, allowed)]


def _with_present(
    tables: Sequence[Linked], versions: Sequence[Version], a: Floats, allowed: Allowed
) -> Iterator[Tie]:
    for version in versions:
        for number, other in enumerate(tables):
            if number == version.table:
                continue
            at, there = version.shared(other)
            cells, now = other.first + there, version.now[at]
            agreed = np.abs(version.a[at] - a[cells]) <= allowed(version.a[at])
            agreed &= (now < 0) | ~agreeing(a, allowed)(np.minimum(now, cells), np.maximum(now, cells))
            yield from (Tie(version, i, j) for i, j in _pairs(at[agreed], cells[agreed]))


def _with_former(versions: Sequence[Version], allowed: Allowed) -> Iterator[Tie]:
    for one, two in combinations(versions, 2):
        if one.table == two.table:
            continue
        at, there = one.shared(two.linked)
        agreed = two.former[there] & (np.abs(one.a[at] - two.a[there]) <= allowed(one.a[at]))
        yield from (Tie(one, i, j, two) for i, j in _pairs(at[agreed], there[agreed]))


def _pairs(one: Ints, two: Ints) -> Iterator[tuple[int, int]]:
    return zip(one.tolist(), two.tolist(), strict=True)


def agreeing(a: Floats, allowed: Allowed) -> Callable[[Ints, Ints], Bools]:
    """Whether cells of an earlier table and of a later one have the same values."""
    return lambda one, two: np.asarray(np.abs(a[one] - a[two]) <= allowed(a[one]))


def keep_promises(found: Sequence[Tie], arrays: Mapping[str, np.ndarray]) -> None:
    """What a version promised of a former value is kept, in the `arrays` of the joint space, where another
    table still has and hides that value.
    """
    for tie in found:
        then = tie.version.earlier.problem
        if tie.other is None and then.primary[tie.place] and not arrays["public"][tie.cell]:
            arrays["primary"][tie.cell] = True
            for name in LEVELS:
                array = arrays[name]
                array[tie.cell] = max(array[tie.cell], getattr(then, name)[tie.place])
