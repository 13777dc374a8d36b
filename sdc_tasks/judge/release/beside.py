"""Is a joint problem that of its parts? Which cells of related tables are the same, and which are sums
of others over time, computed again from their keys, and what the related releases published, row by row.

This module shares no code with `methods/linked`. Which cells of two tables have one name says `named`, and
which former values of them are the same `formerly`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from math import gcd, isclose

import numpy as np

from sdc_tasks.judge.release.formerly import agreed, same_values
from sdc_tasks.judge.release.named import NamedTable
from sdc_tasks.judge.release.prior.pieces import Release
from sdc_tasks.model.problem import CELL_ARRAYS, PriorReleases, ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import CellSpace
from sdc_tasks.model.time.periods import PeriodRule, bounds
from sdc_tasks.model.tolerances import EPSILON

Entries = tuple[tuple[int, Fraction], ...]
Terms = list[tuple[int, Fraction]]
Line = tuple[Entries, float, float, bool, bool]
Told = tuple[Line, set[str] | None]  # a line, and the pieces that tell it; None for everybody
Before = tuple[int, list[str]]  # the first unknown of earlier versions of a table, and their pieces
Lines = dict[tuple[Entries, bool, bool, tuple[str, ...]], list[tuple[float, float]]]
Rules = Mapping[str, PeriodRule]
EVERYBODY = ("everybody",)  # who tells a relation between tables, in place of pieces


@dataclass(frozen=True)
class Part:
    """A release of a joint problem: its name and period, its own problem, its publication, and problem and
    publication of its versions `before`.
    """

    name: str
    period: str
    problem: ProtectionProblem
    publication: Publication
    before: Sequence[Release] = ()


def differs(
    joint: ProtectionProblem,
    own: ProtectionProblem,
    period: str,
    parts: Sequence[Part],
    rules: Rules,
    allowed: Callable[[float], float] = lambda total: 0.5,
    before: Sequence[Release] = (),
) -> list[str]:
    """What the joint problem does not have as its parts say; empty where it is theirs. `allowed`: how far a
    total of this value may be off; `before`: the earlier versions of the release.
    """
    merge = _Merge(own, period, parts, rules, allowed, before)
    if _told_spaces(joint, own) != [
        repr(_bare(own.space)),
        *(repr(_bare(p.problem.space, True)) for p in parts),
    ]:
        return ["other cells, countries or relations of a table"]
    found = [
        f"{name} of {part}: other values"
        for part, problem, first, size in merge.stretches()
        for name in CELL_ARRAYS
        if getattr(joint, name)[first : first + size].tobytes()
        != merge.kept(name, getattr(problem, name)[:size], first).tobytes()
    ]
    if len(joint.a) != merge.size:
        found.append("other cells")
        return found
    same, linked = _classes(joint, merge.size), _Classes(merge.size)
    for one, other, agree in merge.same():
        if agree:
            linked.join(one, other)
    if [same.of(cell) for cell in range(merge.size)] != [linked.of(cell) for cell in range(merge.size)]:
        found.append("other cells are the same")
    over_time = [(*each, _fits(each, joint, allowed)) for each in merge.over_time()]
    named = {
        _scaled([(linked.of(c), f) for c, f in terms]) for terms, whole, fits in over_time if whole and fits
    }
    if _over_time(joint, linked.of) != named:
        found.append("other relations over time")
    if not _agree(_lines(joint.earlier), merge.told(joint, over_time), joint):
        found.append("other earlier publications")
    return found


def _bare(space: CellSpace, national: bool = False) -> CellSpace:
    aggregates = () if national else space.aggregates
    return CellSpace(
        space.countries, aggregates, space.indicators, space.hierarchies, space.indicator_relations
    )


def _told_spaces(joint: ProtectionProblem, own: ProtectionProblem) -> list[str]:
    """What the joint problem says that its tables are."""
    return [repr(_bare(joint.space)), *(repr(_bare(each.space)) for each in joint.space.beside)]


def _fits(relation: tuple[Terms, bool], joint: ProtectionProblem, allowed: Callable[[float], float]) -> bool:
    """Do the figures agree with a relation over time? The first term is its total."""
    terms, whole = relation
    off = float(sum(factor * Fraction(joint.a[cell]) for cell, factor in terms))
    cell, weight = terms[0]
    most = allowed(abs(float(weight * Fraction(joint.a[cell]))))
    return abs(off) <= most if whole else off <= most


def _agree(stated: Lines, expected: Lines, joint: ProtectionProblem) -> bool:
    """The same rows, but for the last digits of their ends: the two programs add in another order."""
    if {key: len(ends) for key, ends in stated.items()} != {key: len(ends) for key, ends in expected.items()}:
        return False
    for key, ends in stated.items():
        size = max((abs(float(joint.a[cell])) for cell, _ in key[0] if cell < len(joint.a)), default=0.0)
        for one, other in zip(sorted(ends), sorted(expected[key]), strict=True):
            if not all(
                isclose(x, y, rel_tol=EPSILON, abs_tol=EPSILON * (1 + size))
                for x, y in zip(one, other, strict=True)
            ):
                return False
    return True


class _Classes:
    """Which cells are the same: each is named by the first of its class."""

    def __init__(self, size: int) -> None:
        self._first = list(range(size))

    def of(self, cell: int) -> int:
        while self._first[cell] != cell:
            self._first[cell] = self._first[self._first[cell]]
            cell = self._first[cell]
        return cell

    def join(self, one: int, other: int) -> None:
        low, high = sorted((self.of(one), self.of(other)))
        self._first[high] = low


class _Merge:
    def __init__(
        self,
        own: ProtectionProblem,
        period: str,
        parts: Sequence[Part],
        rules: Rules,
        allowed: Callable[[float], float],
        before: Sequence[Release],
    ) -> None:
        self._own, self._parts, self._rules = own, parts, rules
        sizes = [len(own.a), *(_national(part.problem.space) for part in parts)]
        self.size = sum(sizes)
        firsts = [sum(sizes[:k]) for k in range(len(sizes))]
        spaces = [own.space, *(part.problem.space for part in parts)]
        periods = [period, *(part.period for part in parts)]
        self._tables = [NamedTable(*each) for each in zip(firsts, periods, spaces, strict=True)]
        self._values = [
            float(value) for _, each, _, size in self.stretches() for value in each.a[:size].tolist()
        ]
        self._allowed = allowed
        versions = [(own, before), *((part.problem, part.before) for part in parts)]
        self._former = same_values(self._tables, self._values, versions, allowed)

    def stretches(self) -> Iterator[tuple[str, ProtectionProblem, int, int]]:
        """(name, problem, first cell, number of cells) of the release and of each part."""
        yield "this release", self._own, 0, len(self._own.a)
        for part, table in zip(self._parts, self._tables[1:], strict=True):
            yield part.name, part.problem, table.first, _national(part.problem.space)

    def same(self) -> Iterator[tuple[int, int, bool]]:
        """(cell, cell of a table before its own, whether their values agree) of cells with one name: for each
        cell, the tables up to the first one that agrees.
        """
        for j, one in enumerate(self._tables):
            done = set[int]()
            for other in self._tables[:j]:
                if bounds(one.period) != bounds(other.period):
                    continue
                for cell, there in one.shared(other):
                    if cell not in done:
                        agree = agreed(self._values[there], self._values[cell], self._allowed)
                        yield cell, there, agree
                        done |= {cell} if agree else set()

    def kept(self, name: str, array: np.ndarray, first: int) -> np.ndarray:
        """An array of a table, from this cell, with what earlier versions promised of former values that a
        cell still has and hides.
        """
        if name not in ("primary", "lpl", "upl", "spl"):
            return array
        found = array.copy()
        for one, cell in self._former:
            if not isinstance(cell, int) or not first <= cell < first + len(array):
                continue
            if one.then.primary[one.place] and not self._public(cell):
                found[cell - first] = max(found[cell - first], getattr(one.then, name)[one.place])
        return found

    def _public(self, cell: int) -> bool:
        """Does its table show a national cell?"""
        return any(
            bool(problem.public[cell - first])
            for _, problem, first, size in self.stretches()
            if first <= cell < first + size
        )

    def over_time(self) -> Iterator[tuple[Terms, bool]]:
        """The relations between a cell and the same cell of the longest periods within its own, the total
        first; and whether they cover its period.
        """
        for table in self._tables:
            for cell, found in self._within(table).items():
                rule = self._rules.get(table.indicator(cell), PeriodRule.NONE)
                taken = list[tuple[date, date, int]]()
                for begins, ends, other in found if rule is not PeriodRule.NONE else ():
                    if all(ends <= b or e <= begins for b, e, _ in taken):
                        taken.append((begins, ends, other))
                if not taken:
                    continue
                first, after = bounds(table.period)
                months = [_months(b, e) if rule is PeriodRule.MEAN else 1 for b, e, _ in taken]
                weight = _months(first, after) if rule is PeriodRule.MEAN else 1
                terms = [(each, m) for (_, _, each), m in zip(taken, months, strict=True)]
                covered = sum((e - b).days for b, e, _ in taken) == (after - first).days
                divisor = gcd(weight, *months)
                total = (cell, Fraction(-weight, divisor))
                yield [total, *((each, Fraction(m, divisor)) for each, m in terms)], covered

    def _within(self, table: NamedTable) -> dict[int, list[tuple[date, date, int]]]:
        """Cell → (first day, day after the last, cell) of the same cell in periods within, longest first."""
        found: dict[int, list[tuple[date, date, int]]] = {}
        mine = bounds(table.period)
        for other in self._tables:
            theirs = bounds(other.period)
            if theirs != mine and mine[0] <= theirs[0] and theirs[1] <= mine[1]:
                for cell, same in table.shared(other):
                    found.setdefault(cell, []).append((*theirs, same))
        for each in found.values():
            each.sort(key=lambda one: (one[0] - one[1], one[0], one[2]))
        return found

    def told(self, joint: ProtectionProblem, over_time: Sequence[tuple[Terms, bool, bool]]) -> Lines:
        """What was published before, as `_lines` has it."""
        hidden = self._hidden(joint)
        lines, names, later, before_of = list[Told](), list[str](), self.size, dict[int, Before]()
        for k, (part, problem, first, size) in enumerate(self.stretches()):
            before = problem.earlier
            only = [f"{part}: its earlier version"] if k else ["the versions that are out"]
            before_of[k] = later, only
            if before.rows.shape[0] or len(before.lower):
                pieces = [f"{part}: {each}" if k else each for each in before.pieces] or only
                names += pieces
                before_of[k] = later, pieces
                lines += _told_before(problem, pieces, (first, size, later), hidden)
                later += len(before.lower)
            if k:
                names.append(part)
                lines += [(line, {part}) for line in _published(self._parts[k - 1], first, hidden)]
        former = self._former_rows(before_of, hidden)
        names += sorted(set[str]().union(*former.values()) - {*names})
        lines += [((row, 0.0, 0.0, False, False), tellers) for row, tellers in former.items()]
        lines += [((row, 0.0, 0.0, False, True), set()) for row in self._apart(hidden)]
        lines += _told_over_time(joint, over_time, hidden)
        return _by_tellers(lines, several=len(names) > 1)

    def _hidden(self, joint: ProtectionProblem) -> list[bool]:
        """Whether each cell is neither public nor decided by this release."""
        hidden: list[bool] = (~joint.public).tolist()
        decided = _decided(self._own.space)
        start = len(self._own.a) - decided
        hidden[start : len(self._own.a)] = [False] * decided
        return hidden

    def _former_rows(
        self, before_of: Mapping[int, Before], hidden: Sequence[bool]
    ) -> dict[Entries, set[str]]:
        """Each former value that is the same in two tables, and the pieces that tell it: those of both
        versions, but of the one alone that shows the value.
        """
        found: dict[Entries, set[str]] = {}
        for one, other in self._former:
            ends = [one] if isinstance(other, int) else [one, other]
            column = {
                before_of[each.table][0] + each.column: sign
                for each, sign in zip(ends, (1.0, -1.0), strict=False)
                if each.column is not None
            }
            if isinstance(other, int):
                column[other] = -1.0
            if at := self._shown(column, hidden):
                shown = [each for each in ends if each.column is None]
                for each in shown or ends:
                    found.setdefault(at, set()).update(each.told_by(before_of[each.table][1]))
        return found

    def _apart(self, hidden: Sequence[bool]) -> Iterator[Entries]:
        """Cells of one name and two values."""
        for one, other, agree in self.same():
            if not agree and (at := self._shown({one: 1.0, other: -1.0}, hidden)):
                yield at

    def _shown(self, terms: Mapping[int, float], hidden: Sequence[bool]) -> Entries:
        """The terms of what is hidden, or a former value."""
        return _exact({at: sign for at, sign in terms.items() if at >= self.size or hidden[at]})


def _told_before(
    problem: ProtectionProblem, pieces: Sequence[str], at: tuple[int, int, int], hidden: Sequence[bool]
) -> Iterator[Told]:
    """What earlier versions of a table published, and the pieces that tell it. `at`: its first cell and the
    number of its cells in the joint problem, and the first unknown of its earlier versions.
    """
    first, size, later = at
    before, n = problem.earlier, len(problem.a)
    for i, (row, low, high, rounded, assumed) in enumerate(_rows(before)):
        terms = dict[int, float]()
        for column, factor in row:
            place = later + column - n if column >= n else first + column
            if column >= n or (column < size and hidden[place]):
                terms[place] = factor
        by = {each for p, each in enumerate(pieces) if not before.pieces or before.told_by[i, p]}
        yield (_exact(terms), low, high, rounded, assumed), by


def _told_over_time(
    joint: ProtectionProblem, over_time: Sequence[tuple[Terms, bool, bool]], hidden: Sequence[bool]
) -> Iterator[Told]:
    """What relations tell that are not among those of the joint problem: nobody but profile `revision` knows
    one that the figures do not keep; a period that is not covered is at least the sum of what is within.
    """
    for terms, whole, fits in over_time:
        shown: Entries = tuple(sorted(each for each in terms if hidden[each[0]]))
        if not fits:
            yield (shown, 0.0, 0.0, False, True), set()
        elif not whole and all(joint.lb[cell] >= 0 for cell, _ in terms):
            room = max(-float(sum(factor * Fraction(joint.a[cell]) for cell, factor in terms)), 0.0)
            yield (shown, float("-inf"), room, False, False), None


def _by_tellers(lines: Sequence[Told], several: bool) -> Lines:
    """Rows of hidden cells by who tells them. Where not `several` tell anything, nobody is named."""
    found: Lines = {}
    for (at_cells, low, high, rounded, assumed), tellers in lines:
        said_by = EVERYBODY if tellers is None else tuple(sorted(tellers)) if several else ()
        if at_cells:
            found.setdefault((at_cells, rounded, assumed, said_by), []).append((low, high))
    return found


def _classes(joint: ProtectionProblem, size: int) -> _Classes:
    """Which cells the joint problem calls the same: no period is covered by one that is within it."""
    found, links = _Classes(size), joint.space.links
    if links is not None:
        for start, end in zip(links.indptr[:-1].tolist(), links.indptr[1:].tolist(), strict=True):
            if end - start == 2 and sorted(links.data[start:end].tolist()) == [-1.0, 1.0]:
                found.join(*links.indices[start:end].tolist())
    return found


def _over_time(joint: ProtectionProblem, of: Callable[[int], int]) -> set[Entries]:
    """The relations over time that the joint problem has, each cell by the first of its class."""
    found, links = set[Entries](), joint.space.links
    if links is None:
        return found
    for start, end in zip(links.indptr[:-1].tolist(), links.indptr[1:].tolist(), strict=True):
        cells, factors = links.indices[start:end].tolist(), links.data[start:end].tolist()
        if end - start == 2 and sorted(factors) == [-1.0, 1.0]:
            continue
        found.add(
            _scaled([(of(cell), Fraction(factor)) for cell, factor in zip(cells, factors, strict=True)])
        )
    return found


def _scaled(terms: Sequence[tuple[int, int | Fraction]]) -> Entries:
    """The relation with its total at −1 or less, its factors without a common divisor, in cell order."""
    total: dict[int, Fraction] = {}
    for cell, factor in terms:
        total[cell] = total.get(cell, Fraction(0)) + Fraction(factor)
    divisor = gcd(*(int(each) for each in total.values())) or 1
    return tuple(sorted((cell, factor / divisor) for cell, factor in total.items() if factor))


def _months(first: date, after: date) -> int:
    return 12 * (after.year - first.year) + after.month - first.month


def _rows(told: PriorReleases) -> Iterator[tuple[list[tuple[int, float]], float, float, bool, bool]]:
    for i, (start, end) in enumerate(
        zip(told.rows.indptr[:-1].tolist(), told.rows.indptr[1:].tolist(), strict=True)
    ):
        entries = list(
            zip(told.rows.indices[start:end].tolist(), told.rows.data[start:end].tolist(), strict=True)
        )
        low, high = float(told.row_lower[i]), float(told.row_upper[i])
        yield entries, low, high, bool(told.rounded[i]), bool(told.assumed[i])


def _published(part: Part, first: int, hidden: Sequence[bool]) -> Iterator[Line]:
    """What a related release published of each of its aggregates."""
    problem, publication = part.problem, part.publication
    space, n = problem.space, problem.space.national_size
    number = {country: i for i, country in enumerate(space.countries)}
    for k, cell in enumerate(publication.cells.tolist()):
        aggregate, code = divmod(cell - _national(space), n)
        truth = float(problem.a[cell])
        lower, upper = float(publication.lower[k]), float(publication.upper[k])
        noise = EPSILON * (1 + abs(truth))
        if publication.withheld[k] or lower > truth + noise or upper < truth - noise:
            continue
        ends = (0.0, 0.0) if publication.base[k] == 0 else (lower - truth, upper - truth)
        members = [first + number[each] * n + code for each in space.aggregates[aggregate].members]
        at = {each: 1.0 for each in members if hidden[each]}
        yield _exact(at), *ends, bool(publication.rounded[k]), False


def _lines(told: PriorReleases) -> Lines:
    """The rows of earlier publications, each with the names of the pieces that tell it."""
    found: Lines = {}
    for i, (entries, low, high, rounded, assumed) in enumerate(_rows(told)):
        by = tuple(sorted(each for p, each in enumerate(told.pieces) if told.told_by[i, p]))
        by = EVERYBODY if told.everybody[i] else by
        found.setdefault((_exact(dict(entries)), rounded, assumed, by), []).append((low, high))
    return found


def _exact(at: Mapping[int, float]) -> Entries:
    return tuple(sorted((cell, Fraction(factor)) for cell, factor in at.items() if factor))


def _national(space: CellSpace) -> int:
    return len(space.countries) * space.national_size


def _decided(space: CellSpace) -> int:
    return len(space.aggregates) * space.national_size
