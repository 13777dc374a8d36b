"""Is a joint problem that of its parts? Which cells of related tables are the same, and which are sums
of others over time, computed again from their keys, and what the related releases published, row by row.

This module shares no code with `methods/linked`. A table is what it says of its cells: country, indicator,
and a code of each dimension. Two cells of one period are the same if they agree in all dimensions that both
tables have, and stand at the only root of every other one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from math import gcd, isclose

from sdc_tasks.model.problem import CELL_ARRAYS, PriorReleases, ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import CellSpace
from sdc_tasks.model.time.periods import PeriodRule, bounds
from sdc_tasks.model.tolerances import EPSILON

Name = tuple[str, str, tuple[str, ...]]  # country, indicator, codes of some dimensions
Entries = tuple[tuple[int, Fraction], ...]
Terms = list[tuple[int, Fraction]]
Line = tuple[Entries, float, float, bool, bool]
Lines = dict[tuple[Entries, bool, bool, tuple[str, ...]], list[tuple[float, float]]]
Told = tuple[Line, set[str] | None]  # a row, and the pieces that tell it; None: everybody knows it
Within = tuple[date, date, int]  # first day, day after the last, and the cell of a period
Rules = Mapping[str, PeriodRule]
EVERYBODY = ("everybody",)  # who tells a relation between tables, in place of pieces


@dataclass(frozen=True)
class Part:
    """A release of a joint problem: its name and period, its own problem, and its publication."""

    name: str
    period: str
    problem: ProtectionProblem
    publication: Publication


def differs(
    joint: ProtectionProblem,
    own: ProtectionProblem,
    period: str,
    parts: Sequence[Part],
    rules: Rules,
    allowed: Callable[[float], float] = lambda total: 0.5,
) -> list[str]:
    """What the joint problem does not have as its parts say; empty where it is theirs. `allowed`: how far a
    total of this value may be off.
    """
    merge = _Merge(own, period, parts, rules)
    if _told_spaces(joint) != merge.told_spaces():
        return ["other cells, countries or relations of a table"]
    found = merge.other_values(joint)
    if len(joint.a) != merge.size:
        return [*found, "other cells"]
    linked = merge.classes()
    if _classes(joint, merge.size).firsts() != linked.firsts():
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


def _told_spaces(joint: ProtectionProblem) -> list[str]:
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

    def firsts(self) -> list[int]:
        """The first of its class, of each cell."""
        return [self.of(cell) for cell in range(len(self._first))]


@dataclass(frozen=True)
class _Stretch:
    """Where the columns of a release lie in the joint problem: so many of its cells (`size`) from `first` on,
    its earlier values from `later` on. `part`: None for the release itself.
    """

    part: Part | None
    problem: ProtectionProblem
    first: int
    size: int
    later: int

    @property
    def name(self) -> str:
        return "this release" if self.part is None else self.part.name

    @property
    def pieces(self) -> list[str]:
        """Who told what is out of its earlier versions; nobody where none is."""
        before = self.problem.earlier
        if before.rows.shape == (0, 0):
            return []
        if self.part is None:
            return list(before.pieces) or ["the versions that are out"]
        return [f"{self.name}: {each}" for each in before.pieces] or [f"{self.name}: its earlier version"]

    def told_before(self, hidden: Sequence[bool]) -> Iterator[Told]:
        """What its earlier versions tell of `hidden` cells, and by which pieces."""
        before, pieces = self.problem.earlier, self.pieces
        for i, (row, low, high, rounded, assumed) in enumerate(_rows(before)):
            by = {each for p, each in enumerate(pieces) if not before.pieces or before.told_by[i, p]}
            yield (self._placed(row, hidden), low, high, rounded, assumed), by

    def _placed(self, row: Sequence[tuple[int, float]], hidden: Sequence[bool]) -> Entries:
        n, at = len(self.problem.a), dict[int, float]()
        for column, factor in row:
            if column >= n:
                at[self.later + column - n] = factor
            elif column < self.size and hidden[self.first + column]:
                at[self.first + column] = factor
        return _exact(at)


class _Merge:
    def __init__(self, own: ProtectionProblem, period: str, parts: Sequence[Part], rules: Rules) -> None:
        self._own, self._parts, self._rules = own, parts, rules
        sizes = [len(own.a), *(_national(part.problem.space) for part in parts)]
        self.size = sum(sizes)
        firsts = [sum(sizes[:k]) for k in range(len(sizes))]
        spaces = [own.space, *(part.problem.space for part in parts)]
        periods = [period, *(part.period for part in parts)]
        self._tables = [_Table(*each) for each in zip(firsts, periods, spaces, strict=True)]

    def stretches(self) -> Iterator[_Stretch]:
        """The release, and each part."""
        yield _Stretch(None, self._own, 0, len(self._own.a), self.size)
        later = self.size + len(self._own.earlier.lower)
        for part, table in zip(self._parts, self._tables[1:], strict=True):
            yield _Stretch(part, part.problem, table.first, _national(part.problem.space), later)
            later += len(part.problem.earlier.lower)

    def told_spaces(self) -> list[str]:
        """What the joint problem should say that its tables are."""
        return [repr(_bare(self._own.space)), *(repr(_bare(p.problem.space, True)) for p in self._parts)]

    def other_values(self, joint: ProtectionProblem) -> list[str]:
        """The arrays of the joint problem that are not those of its parts."""
        return [
            f"{name} of {each.name}: other values"
            for each in self.stretches()
            for name in CELL_ARRAYS
            if getattr(joint, name)[each.first : each.first + each.size].tobytes()
            != getattr(each.problem, name)[: each.size].tobytes()
        ]

    def classes(self) -> _Classes:
        """Which cells are the same."""
        found = _Classes(self.size)
        for one, other in self.same():
            found.join(one, other)
        return found

    def same(self) -> Iterator[tuple[int, int]]:
        for j, one in enumerate(self._tables):
            for other in self._tables[:j]:
                if bounds(one.period) == bounds(other.period):
                    yield from one.shared(other)

    def over_time(self) -> Iterator[tuple[Terms, bool]]:
        """The relations between a cell and the same cell of the longest periods within its own, the total
        first; and whether they cover its period.
        """
        for table in self._tables:
            for cell, found in self._within(table).items():
                rule = self._rules.get(table.indicator(cell), PeriodRule.NONE)
                if rule is not PeriodRule.NONE:
                    yield _relation(cell, table.period, _disjoint(found), rule)

    def _within(self, table: _Table) -> dict[int, list[Within]]:
        """Cell → (first day, day after the last, cell) of the same cell in periods within, longest first."""
        found: dict[int, list[Within]] = {}
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
        found, names = list[Told](), list[str]()
        for each in self.stretches():
            names += each.pieces
            found += each.told_before(hidden)
            if each.part is not None:
                names.append(each.name)
                found += [(line, {each.name}) for line in _published(each.part, each.first, hidden)]
        found += _told_over_time(joint, over_time, hidden)
        return _by_tellers(found, several=len(names) > 1)

    def _hidden(self, joint: ProtectionProblem) -> list[bool]:
        """Whether each cell is neither public nor decided by this release."""
        hidden: list[bool] = (~joint.public).tolist()
        decided = _decided(self._own.space)
        start = len(self._own.a) - decided
        hidden[start : len(self._own.a)] = [False] * decided
        return hidden


@dataclass(frozen=True)
class _Table:
    """A table of a joint problem: its first cell, its period, and its cells."""

    first: int
    period: str
    space: CellSpace

    def indicator(self, cell: int) -> str:
        space = self.space
        return str(space.national_keys[(cell - self.first) % space.national_size][0])

    def shared(self, other: _Table) -> Iterator[tuple[int, int]]:
        """(cell, cell of the other table) for each cell that both name."""
        mine, theirs = (
            [hierarchy.dimension for hierarchy in each.space.hierarchies] for each in (self, other)
        )
        both = [dimension for dimension in mine if dimension in theirs]
        there = dict(other._named(both))
        for name, cell in self._named(both):
            if name in there:
                yield cell, there[name]

    def _named(self, dimensions: Sequence[str]) -> Iterator[tuple[Name, int]]:
        """Each national cell at the only root of all other dimensions, by its name in these."""
        space, roots = self.space, self._roots_but(dimensions)
        if roots is None:
            return
        order = {hierarchy.dimension: k for k, hierarchy in enumerate(space.hierarchies, start=1)}
        at = [order[dimension] for dimension in dimensions]
        for i, key in enumerate(space.national_keys):
            if all(key[k] == root for k, root in roots):
                for number, country in enumerate(space.countries):
                    name = (country, str(key[0]), tuple(str(key[k]) for k in at))
                    yield name, self.first + number * space.national_size + i

    def _roots_but(self, dimensions: Sequence[str]) -> list[tuple[int, str]] | None:
        """The place in a key and the only root of each dimension but these; None where one has several."""
        roots = list[tuple[int, str]]()
        for k, hierarchy in enumerate(self.space.hierarchies, start=1):
            if hierarchy.dimension in dimensions:
                continue
            tops = [c for c, parent in zip(hierarchy.codes, hierarchy.parent, strict=True) if parent is None]
            if len(tops) != 1:
                return None
            roots.append((k, tops[0]))
        return roots


def _disjoint(within: Sequence[Within]) -> list[Within]:
    """Those that overlap none before them."""
    taken = list[Within]()
    for begins, ends, other in within:
        if all(ends <= b or e <= begins for b, e, _ in taken):
            taken.append((begins, ends, other))
    return taken


def _relation(cell: int, period: str, taken: Sequence[Within], rule: PeriodRule) -> tuple[Terms, bool]:
    """The relation of a cell to those of periods within its own, the total first; and whether these cover
    its period.
    """
    first, after = bounds(period)
    weight, *weights = (
        _months(b, e) if rule is PeriodRule.MEAN else 1 for b, e in [(first, after), *(t[:2] for t in taken)]
    )
    divisor = gcd(weight, *weights)
    parts = [(other, Fraction(w, divisor)) for (_, _, other), w in zip(taken, weights, strict=True)]
    covered = sum((e - b).days for b, e, _ in taken) == (after - first).days
    return [(cell, Fraction(-weight, divisor)), *parts], covered


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


def _by_tellers(told: Sequence[Told], several: bool) -> Lines:
    """Rows of hidden cells by who tells them. Where not `several` tell anything, nobody is named."""
    found: Lines = {}
    for (cells, low, high, rounded, assumed), tellers in told:
        said_by = EVERYBODY if tellers is None else tuple(sorted(tellers)) if several else ()
        if cells:
            found.setdefault((cells, rounded, assumed, said_by), []).append((low, high))
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
