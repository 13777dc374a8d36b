"""The joint problem of a release and everything related that is out (METHOD §10).

The cells of the release keep their numbers; the national cells of the related tables follow. Their primaries
stay promised, and their hidden cells are unknowns of this release too. What they published of the aggregates
is what earlier releases told (`PriorReleases`): one piece for each publication, which an attacker may have or
lack.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput, and_more, some_of
from sdc_tasks.methods.attack.polyhedron import contradicted
from sdc_tasks.methods.linked.relations import (
    Linked,
    Rows,
    over_time,
    partners,
    refuse_crossing,
    same_cells,
)
from sdc_tasks.methods.linked.revised import Tie, Told, Version, agreeing, keep_promises, ties, versions_of
from sdc_tasks.model.problem import CELL_ARRAYS, MARKS, Levels, PriorReleases, ProtectionProblem
from sdc_tasks.model.progress import Say, silent
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Beside, Bools, CellSpace, Floats, Hierarchy, Ints
from sdc_tasks.model.time.periods import PeriodRule, overlap


@dataclass(frozen=True)
class Out:
    """A related release that is out: its name for messages, its period, its own problem with what its earlier
    versions told, and its publication; `before`: problem and publication of these versions.
    """

    name: str
    period: str
    problem: ProtectionProblem = field(repr=False)
    publication: Publication = field(repr=False)
    before: Sequence[Told] = field(default=(), repr=False)


def joint(
    problem: ProtectionProblem,
    period: str,
    out: Sequence[Out],
    rules: Mapping[str, PeriodRule],
    allowed: Callable[[Floats], Floats],
    say: Say = silent,
    before: Sequence[Told] = (),
) -> ProtectionProblem:
    """The problem of the release, with everything that is out. `rules`: of each indicator, what a period is
    to the periods within it (nothing where nothing is said). `allowed`: how far a value may be off, as the
    domain allows for totals. `say` is told which cells are not what `rules` says of the periods within them,
    and which were revised in one table alone. `before`: the earlier versions of the release.

    Raises InvalidInput where two tables have other values for one cell, and none of the two has revised it,
    and for periods that cross.
    """
    if not out:
        return problem
    _refuse_unrelatable(problem.space, period, out, rules, say)
    beside = tuple(Beside(each.name, _national(each.problem.space)) for each in out)
    space = replace(problem.space, beside=beside)
    tables = _linked_tables(space, [period, *(each.period for each in out)])
    arrays: dict[str, Any] = {name: _with_beside(name, problem, out, beside) for name in CELL_ARRAYS}
    same, time = same_cells(tables, agreeing(arrays["a"], allowed)), over_time(tables, rules)
    fits = _fitting(time, arrays["a"], allowed)
    if len(off := np.unique(time.total[~fits])):
        say(
            f"{some_of([space.key(cell) for cell in off.tolist()])}: not what linked: periods says of the "
            "periods within it; where that is no revision, have the office correct it"
        )
    every = [(problem, before), *((each.problem, each.before) for each in out)]
    former = ties(tables, versions_of(tables, arrays["a"], every), arrays["a"], allowed)
    _refuse_two_values(space, same, former, say)
    keep_promises(former, arrays)
    holds = time.whole & fits
    links = sp.csr_array(
        sp.vstack([same.matrix(same.whole, space.size), time.matrix(holds, space.size)], format="csr")
    )
    space = replace(space, links=links if links.shape[0] else None)
    hidden = ~arrays["public"]
    hidden[problem.aggregate.nonzero()[0]] = False
    told = _Told(space, hidden)
    told.add_own(problem)
    for number, each in enumerate(out):
        told.add_release(each, number)
    told.add_least(time, fits, arrays)
    told.add_former(former)
    told.add_assumed(time, fits)
    told.add_assumed(same, same.whole)
    levels = problem.levels
    if levels is not None:
        more = np.zeros(space.size - problem.space.size)
        levels = Levels(np.concatenate([levels.slope, more]), np.concatenate([levels.least, more]))
    return replace(problem, space=space, earlier=told.together(), levels=levels, **arrays)


def _refuse_unrelatable(
    space: CellSpace, period: str, out: Sequence[Out], rules: Mapping[str, PeriodRule], say: Say
) -> None:
    """Raises InvalidInput for periods that cross, and for tables whose cells nobody could find in the other;
    tells of those without a common indicator.
    """
    if any(rule is not PeriodRule.NONE for rule in rules.values()):
        refuse_crossing(sorted({period, *(each.period for each in out)}))
    for each in out:
        if overlap(period, each.period):
            refuse_unmatched(space, each.name, each.problem.space)
            if not set(space.indicators) & set(each.problem.space.indicators):
                say(f"{each.name} is linked, and has no indicator of this release: no cell is the same")


def _linked_tables(space: CellSpace, periods: Sequence[str]) -> list[Linked]:
    """The national tables of a joint space, and where each of them begins. `periods`: of each."""
    names = ["this release", *(each.name for each in space.beside)]
    spaces = [_national(space), *(each.space for each in space.beside)]
    return [Linked(*each) for each in zip(names, periods, spaces, space.firsts, strict=True)]


@dataclass(frozen=True)
class Differing:
    """Cells of a joint space whose values differ from those of other tables. `former` (n, 2): a cell, and the
    same one in another table, of which one was revised. `stocks` (cells,): nearer to the mean of the periods
    within theirs than to the sum, which they are said to be; `off` (cells,): otherwise not what is said.
    """

    former: Ints
    stocks: Ints
    off: Ints


def differing(
    space: CellSpace,
    a: Floats,
    periods: Sequence[str],
    rules: Mapping[str, PeriodRule],
    allowed: Callable[[Floats], Floats],
) -> Differing:
    """What differs in a joint problem of these values `a` (cells,). `periods`: of each of its tables, that of
    the release first; `rules` and `allowed` as for `joint`.
    """
    tables = _linked_tables(space, periods)
    same, time = same_cells(tables, agreeing(a, allowed)), over_time(tables, rules)
    off = ~_fitting(time, a, allowed)
    rows, parts = len(time.total), np.bincount(time.row, minlength=len(time.total))
    sums = np.bincount(time.row, time.factor * a[time.cell], rows)
    summed = (time.weight == 1) & (parts > 1) & (np.bincount(time.row, time.factor, rows) == parts)
    nearer = np.abs(a[time.total] - sums / np.maximum(parts, 1)) < np.abs(a[time.total] - sums)
    stocks = off & time.whole & summed & nearer
    apart = ~same.whole
    return Differing(
        np.stack([same.total[apart], same.cell[apart]], axis=1),
        np.unique(time.total[stocks]),
        np.setdiff1d(time.total[off], time.total[stocks]),
    )


def refuse_unmatched(space: CellSpace, name: str, other: CellSpace) -> None:
    """Raises InvalidInput where a linked table of overlapping time (`name`) has an indicator and a country of
    this release and no cell in common with it, or names the same codes by another name: then links tell
    nothing. Areas have other names where one composition has members in each that the other lacks.
    """
    _refuse_areas_of_two_names(space, name, other)
    if not set(space.countries) & set(other.countries):
        return
    _refuse_nothing_in_common(space, name, other)
    dimensions = [{each.dimension for each in of.hierarchies} for of in (space, other)]
    for one, two in product(space.hierarchies, other.hierarchies):
        if one.dimension == two.dimension:
            _refuse_other_letters(one, name, two)
        elif one.dimension not in dimensions[1] and two.dimension not in dimensions[0]:
            _refuse_dimension_of_two_names(one, name, two)


def _refuse_areas_of_two_names(space: CellSpace, name: str, other: CellSpace) -> None:
    theirs = {each.code: set(each.members) for each in other.aggregates}
    for mine in space.aggregates:
        members = set(mine.members)
        here, there = members - theirs.get(mine.code, members), theirs.get(mine.code, members) - members
        if here and there:  # one alone has not delivered
            raise InvalidInput(
                f"{name} is linked, and its {mine.code} has {some_of(sorted(there))} where that of this "
                f"release has {some_of(sorted(here))}: if an area has two names, nobody would find the cells "
                "that are the same. Remedy: write areas alike in both code lists, or give one composition "
                "another code"
            )


def _refuse_nothing_in_common(space: CellSpace, name: str, other: CellSpace) -> None:
    indicators = [{each.upper() for each in of.indicators} for of in (space, other)]
    if set.intersection(*indicators) and not (partners(space.alone, other) >= 0).any():
        raise InvalidInput(
            f"{name} is linked and has an indicator of this release, but no cell in common with it. "
            "Remedy: give a dimension that only one of the two tables has one root, and write "
            "indicators and codes alike; or, where they are not the same, say why they are unrelated"
        )


def _refuse_other_letters(mine: Hierarchy, name: str, theirs: Hierarchy) -> None:
    alike, same = _in_capitals(mine) & _in_capitals(theirs), set(mine.codes) & set(theirs.codes)
    if len(alike) > len(same):
        wrong = sorted(alike - {code.upper() for code in same})[0]
        raise InvalidInput(
            f"{name} is linked, and writes code {wrong} of {mine.dimension} in other letters. Remedy: "
            "write codes alike in both code lists"
        )


def _refuse_dimension_of_two_names(mine: Hierarchy, name: str, theirs: Hierarchy) -> None:
    alike = _in_capitals(mine) & _in_capitals(theirs)
    if len(alike) >= ALIKE and 2 * len(alike) > min(len(mine.codes), len(theirs.codes)):
        raise InvalidInput(
            f"{name} is linked, and its {theirs.dimension} has the codes of {mine.dimension}: if it is "
            "one dimension, nobody would find the cells that are the same. Remedy: give it one name"
        )


def _in_capitals(hierarchy: Hierarchy) -> set[str]:
    return {code.upper() for code in hierarchy.codes}


def _with_beside(
    name: str, problem: ProtectionProblem, out: Sequence[Out], beside: Sequence[Beside]
) -> np.ndarray:
    """An array of the release, and of the national cells of each table beside it."""
    more = (getattr(each.problem, name)[: part.space.size] for each, part in zip(out, beside, strict=True))
    return np.concatenate([getattr(problem, name), *more])


def _national(space: CellSpace) -> CellSpace:
    return replace(space, aggregates=(), beside=(), links=None)


def _fitting(time: Rows, a: Floats, allowed: Callable[[Floats], Floats]) -> Bools:
    """(relations,): whether the figures agree with a relation over time. Where they do not, as after a
    revision, who knows the relation does not know by how much they are off.
    """
    off = time.matrix(np.ones(len(time.total), dtype=bool), len(a)) @ a
    most = allowed(time.weight * a[time.total])
    return np.where(time.whole, np.abs(off) <= most, off <= most)


def _refuse_two_values(space: CellSpace, same: Rows, former: Sequence[Tie], say: Say) -> None:
    """Raises InvalidInput where two tables have other values for one cell, unless one of them had the value
    of the other before it was revised: then `say` is told so.
    """
    revised = {tie.pair for tie in former}
    apart = np.flatnonzero(~same.whole)
    pairs = list(zip(same.total[apart].tolist(), same.cell[apart].tolist(), strict=True))
    if wrong := [pair for pair in pairs if pair not in revised]:
        one, other = (space.key(cell) for cell in wrong[0])
        raise InvalidInput(
            f"{one} and {other}{and_more(len(wrong) - 1)}: one cell, and two values. Remedy: have the office "
            "correct one of the two tables, and release the other again; or, where they are not the same, "
            "say in the domain file that the tables are unrelated, and why"
        )
    if pairs:
        said = some_of([f"{space.key(one)} ({space.key(other)})" for one, other in pairs])
        say(f"{said}: revised in one of two tables; the other one still has the former value")


ALIKE = 2  # so many codes of two dimensions, and most of one of them, are no accident
NOBODY = -1  # in place of the first piece of rows that no piece tells


class _Told:
    """Collects what earlier releases tell, over the cells of a joint space and earlier values."""

    def __init__(self, space: CellSpace, hidden: Bools) -> None:
        self._space, self._hidden = space, hidden
        # of each part: its rows, the cells of their first columns, and the number of its first piece
        self._parts = list[tuple[PriorReleases, Ints, int]]()
        self._pieces: list[str] = []
        # of each table with earlier versions: the number of its first former value, and its pieces
        self._before: dict[int, tuple[int, range]] = {}

    def add_own(self, problem: ProtectionProblem) -> None:
        """The earlier versions of this release."""
        self._embed_versions(0, problem.earlier, np.arange(problem.space.size), "")

    def add_release(self, out: Out, number: int) -> None:
        """The publication of a related release, and its earlier versions. `number`: among those beside."""
        problem, first = out.problem, self._space.firsts[1 + number]
        national = problem.space.first_aggregate
        cells = np.concatenate([first + np.arange(national), np.full(problem.space.size - national, -1)])
        self._embed_versions(1 + number, problem.earlier, cells, f"{out.name}: ")
        self._embed(_published(out), cells, f"{out.name}: ", out.name, number)

    def _embed_versions(self, table: int, told: PriorReleases, cells: Ints, prefix: str) -> None:
        value, piece = self._width, len(self._pieces)
        number = table - 1 if table else None
        self._embed(told, cells, prefix, self._only(table), number)
        self._before[table] = value, range(piece, len(self._pieces))

    def _only(self, table: int) -> str:
        """The name of what the versions of a table told, where nobody has a part of it."""
        name = self._space.beside[table - 1].name if table else ""
        return f"{name}: its earlier version" if table else "the versions that are out"

    @property
    def _width(self) -> int:
        """The number of cells and of former values so far."""
        return self._space.size + sum(len(told.lower) for told, _, _ in self._parts)

    def add_former(self, former: Sequence[Tie]) -> None:
        """Former values that are the same in two tables. Whoever has a version of one of them knows it."""
        found: dict[tuple[tuple[int, float], ...], set[int]] = {}
        for tie in former:
            one, other = self._columns(tie)
            if shown := tuple(term for term in ((one, 1.0), (other, -1.0)) if self._is_open(term[0])):
                found.setdefault(shown, set()).update(self._who_ties(tie, one, other))
        if not found:
            return
        entries = [(i, *term) for i, row in enumerate(found) for term in row]
        row, cell, sign = (np.array(each) for each in zip(*entries, strict=True))
        matrix = sp.csr_array((sign, (row, cell)), shape=(len(found), self._width))
        none, pieces = np.zeros(len(found)), tuple(self._pieces)
        by = np.array([[piece in by for piece in range(len(pieces))] for by in found.values()])
        told = replace(_rows(matrix, none, none, none > 0), related=none == 0, pieces=pieces, told_by=by)
        self._parts.append((told, np.arange(self._width), 0))

    def _columns(self, tie: Tie) -> tuple[int, int]:
        """The columns of a former value and of the same value in another table."""
        other = tie.cell if tie.other is None else self._column(tie.other, tie.cell)
        return self._column(tie.version, tie.place), other

    def _who_ties(self, tie: Tie, one: int, other: int) -> set[int]:
        """The pieces that tell that both columns are one: those of both versions, but of the one alone that
        shows the value.
        """
        ends = [(tie.version, tie.place, one)]
        if tie.other is not None:
            ends.append((tie.other, tie.cell, other))
        shown = [end for end in ends if end[2] < 0]
        return {piece for version, place, _ in shown or ends for piece in self._tellers(version, place)}

    def _is_open(self, column: int) -> bool:
        return column >= self._space.size or (column >= 0 and bool(self._hidden[column]))

    def _column(self, version: Version, place: int) -> int:
        """The column of a former value; −1 where whoever has the version knows it."""
        number = version.column(place)
        return number if number < 0 else self._before[version.table][0] + number

    def _tellers(self, version: Version, place: int) -> Sequence[int]:
        """The pieces each of which tells a former value."""
        _, pieces = self._before[version.table]
        if not pieces:  # its versions told nothing of the cells of their table
            self._pieces.append(self._only(version.table))
            pieces = range(len(self._pieces) - 1, len(self._pieces))
            self._before[version.table] = self._before[version.table][0], pieces
        piece = int(version.earlier.piece[place])
        return pieces if piece < 0 or len(pieces) == 1 else pieces[piece : piece + 1]

    def add_assumed(self, time: Rows, fits: Bools) -> None:
        """Relations over time that the figures do not keep: profile `revision` knows by how much they are
        off; nobody else knows anything of them.
        """
        if not (~fits).any():
            return
        matrix = time.matrix(~fits, self._space.size)
        none = np.zeros(matrix.shape[0])
        told = replace(_rows(matrix, none, none, none > 0), assumed=none == 0, related=none == 0)
        self._parts.append((told, np.arange(self._space.size), NOBODY))

    def add_least(self, time: Rows, fits: Bools, arrays: Mapping[str, np.ndarray]) -> None:
        """What periods that do not cover their total tell of it: it is at least their sum."""
        a, lb = arrays["a"], arrays["lb"]
        signed = np.zeros(len(time.total), dtype=bool)
        signed[time.row[lb[time.cell] < 0]] = True
        rows = ~time.whole & fits & ~signed & (lb[time.total] >= 0)
        if not rows.any():
            return
        matrix = time.matrix(rows, self._space.size)
        room = np.maximum(-(matrix @ a), 0.0)
        found = _rows(matrix, np.full(len(room), -np.inf), room, np.zeros(len(room), dtype=bool))
        all_ = np.ones(len(room), dtype=bool)
        found = replace(found, related=all_, everybody=all_)
        self._parts.append((found, np.arange(self._space.size), NOBODY))

    def _embed(
        self, told: PriorReleases, cells: Ints, prefix: str, only: str, number: int | None = None
    ) -> None:
        if not told.rows.shape[0] and not len(told.lower):  # they showed nothing but public cells
            return
        first = len(self._pieces)
        self._pieces += [f"{prefix}{piece}" for piece in told.pieces] or [only]
        if number is not None:
            area, code = self._standing(told, number)
            related, beside = (np.ones(size, dtype=bool) for size in (told.rows.shape[0], len(told.lower)))
            told = replace(told, related=related, beside=beside, area=area, code=code)
        self._parts.append((told, cells, first))

    def _standing(self, told: PriorReleases, number: int) -> tuple[Ints, Ints]:
        """Country and cell of this release that stand for earlier values of a related one."""
        space = self._space
        first, each = space.firsts[1 + number], space.beside[number].space.national_size
        stands = space.stands[:, first + told.area * each + told.code]
        return np.where(stands[0] < len(space.countries), stands[0], 0), stands[1]

    def together(self) -> PriorReleases:
        """All rows; of rows without a hidden cell nothing is left."""
        space, more = self._space, sum(len(told.lower) for told, _, _ in self._parts)
        pieces, width = tuple(self._pieces), space.size + more
        several = len(pieces) > 1
        matrices, told_by, next_value = list[sp.csr_array](), list[Bools](), space.size
        open_ = np.concatenate([self._hidden, np.ones(more, dtype=bool)])
        for told, cells, first in self._parts:
            k = len(told.lower)
            column = np.concatenate([cells, next_value + np.arange(k)])
            next_value += k
            entries = sp.coo_array(told.rows)
            at = column[entries.col]
            kept = (at >= 0) & open_[at]
            found = entries.data[kept], (entries.row[kept], at[kept])
            matrices.append(sp.csr_array(found, shape=(entries.shape[0], width)))
            by = np.zeros((told.rows.shape[0], len(pieces)), dtype=bool)
            if told.pieces:
                by[:, first : first + len(told.pieces)] = told.told_by
            elif first != NOBODY:
                by[:, first] = True
            told_by.append(by)
        rows = sp.csr_array(sp.vstack([*matrices, sp.csr_array((0, width))], format="csr"))
        rows.sort_indices()
        parts = [told for told, _, _ in self._parts]

        def of(name: str) -> np.ndarray:
            return np.concatenate([getattr(part, name) for part in parts])

        kept = np.flatnonzero(np.diff(rows.indptr) > 0)
        order = kept[np.argsort(of("assumed")[kept], kind="stable")]
        return PriorReleases(
            rows=sp.csr_array(rows[order]),
            **{name: of(name)[order] for name in ("row_lower", "row_upper", "rounded", "assumed", *MARKS)},
            **{name: of(name) for name in ("lower", "upper", "area", "code", "integral", "beside")},
            pieces=pieces if several else (),
            told_by=np.concatenate(told_by)[order] if several else np.zeros((0, 0), dtype=bool),
        )


def _published(out: Out) -> PriorReleases:
    """What a release published of its aggregates, over its own cells."""
    problem, publication = out.problem, out.publication
    at = np.flatnonzero(~publication.withheld & ~contradicted(problem, publication))
    truth, exact = problem.a[publication.cells], publication.exact
    low, high = (np.where(exact, 0.0, end - truth)[at] for end in (publication.lower, publication.upper))
    relations = sp.csr_array(problem.space.aggregate_relations[at])
    return _rows(relations, low, high, publication.rounded[at])


def _rows(matrix: sp.csr_array, low: Floats, high: Floats, rounded: Bools) -> PriorReleases:
    """Rows that were published, without earlier values."""
    return PriorReleases(
        rows=matrix, row_lower=low, row_upper=high, rounded=rounded, assumed=np.zeros(len(low), dtype=bool)
    )
