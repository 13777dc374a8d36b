"""What earlier releases say of the values of cells: rows `low ≤ Σ entries · z ≤ high` of deviations z."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product

import numpy as np
import scipy.sparse as sp

from sdc_tasks.judge.release.prior.pieces import PriorPieces, Release, layout, pieces_of
from sdc_tasks.judge.release.prior.values import Value, Values, values_of
from sdc_tasks.model.problem import PriorReleases, ProtectionProblem
from sdc_tasks.model.tolerances import EPSILON

Entries = dict[int, float]


@dataclass(frozen=True, repr=False)
class Row:
    """`low` ≤ Σ entries · z ≤ `high`, told by each of the pieces `by`; an assumption needs all of them."""

    entries: Entries
    low: float
    high: float
    by: set[int]
    rounded: bool = False
    assumed: bool = False


@dataclass(frozen=True, repr=False)
class Prior:
    """The present problem and its earlier releases, with their values and pieces."""

    problem: ProtectionProblem
    releases: Sequence[Release]
    values: Values
    pieces: PriorPieces

    def cells(self, number: int) -> Sequence[Value]:
        """The national cells of an earlier release (from 0)."""
        return self.values.of_release[number + 1]

    def entries(self, terms: Sequence[tuple[Value, float]]) -> Entries:
        """The columns of these terms; what is public now has none, for its deviation is 0."""
        column = self.values.column
        return {column[each]: sign for each, sign in terms if each in column}


def published_before(
    problem: ProtectionProblem, releases: Sequence[Release], revision: float | None
) -> PriorReleases:
    """The same as `methods/attack/vintage.prior_releases`. `revision` in percent; 0: the revision is
    known; None: nothing is assumed.

    Raises ValueError if a release has other dimensions.
    """
    if not releases:
        return PriorReleases()
    problems = [problem, *(then for then, _ in releases)]
    if len({tuple(hierarchy.dimension for hierarchy in each.space.hierarchies) for each in problems}) != 1:
        raise ValueError("an earlier release has other dimensions")
    prior = Prior(problem, releases, values_of(problems), pieces_of(problem, releases))
    rows = [
        *_public_before(prior),
        *_bounded_before(prior),
        *_published(prior),
        *_assumptions(prior, revision),
    ]
    return _assembled(prior, [row for row in rows if row.entries])


def _public_before(prior: Prior) -> Iterator[Row]:
    """Values that are hidden now and that a release showed as a national cell."""
    values, shown_by = prior.values, dict[Value, set[int]]()
    for number, (then, _) in enumerate(prior.releases):
        for i, each in enumerate(prior.cells(number)):
            if then.public[i]:
                pieces = prior.pieces.telling(number, _country(then, i))
                shown_by.setdefault(each, set()).update(pieces)
    for each in sorted(values.column):
        if each in values.public:
            yield Row({values.column[each]: 1.0}, 0.0, 0.0, shown_by[each])


def _bounded_before(prior: Prior) -> Iterator[Row]:
    """Present values to which an earlier release gave tighter bounds."""
    values, problem = prior.values, prior.problem
    for each in sorted(each for each in values.column if each in values.now):
        i, low, high = values.now[each], values.low[each], values.high[each]
        tighter = low > problem.lb[i] - problem.a[i] or high < problem.ub[i] - problem.a[i]
        if tighter and each not in values.public:
            yield Row({values.column[each]: 1.0}, low, high, prior.pieces.all)


def _published(prior: Prior) -> Iterator[Row]:
    """What the releases published: relations of national tables, and aggregates."""
    tellers = _tellers(prior)
    for number, (then, _) in enumerate(prior.releases):
        relations = list(_entries_by_row(then.space.national_relations))
        for _, table in _tables(prior, number):
            if (by := tellers.pop((layout(then), table), None)) is not None:  # a table is said once
                yield from _relations(prior, table, relations, layout(then) == layout(prior.problem), by)
        yield from _aggregates(prior, number)


def _tables(prior: Prior, number: int) -> Iterator[tuple[str, tuple[Value, ...]]]:
    """(country, values) of each national table of an earlier release."""
    space, cells = prior.releases[number][0].space, prior.cells(number)
    for k, country in enumerate(space.countries):
        yield country, tuple(cells[k * space.national_size : (k + 1) * space.national_size])


def _tellers(prior: Prior) -> dict[tuple[object, ...], set[int]]:
    """(layout, values of a national table) → the pieces each of which tells it, over all releases."""
    found: dict[tuple[object, ...], set[int]] = {}
    for number, (then, _) in enumerate(prior.releases):
        for country, table in _tables(prior, number):
            found.setdefault((layout(then), table), set()).update(prior.pieces.telling(number, country))
    return found


def _relations(
    prior: Prior, table: Sequence[Value], relations: Sequence[Entries], as_now: bool, by: set[int]
) -> Iterator[Row]:
    """The relations of one national table. In the layout of now, one whose values are all present says
    nothing new.
    """
    for relation in relations:
        if not as_now or any(table[i] not in prior.values.now for i in relation):
            yield Row(prior.entries([(table[i], sign) for i, sign in relation.items()]), 0.0, 0.0, by)


def _aggregates(prior: Prior, number: int) -> Iterator[Row]:
    """The published intervals of the aggregates of a release, as rows over their national cells."""
    then, publication = prior.releases[number]
    cells, pieces = prior.cells(number), prior.pieces.telling(number, then.space.countries[0])
    relations = list(_entries_by_row(then.space.aggregate_relations))
    for k, cell in enumerate(publication.cells.tolist()):
        truth, lower, upper = float(then.a[cell]), float(publication.lower[k]), float(publication.upper[k])
        noise = EPSILON * (1 + abs(truth))
        # An interval without the true value was made from other deliveries: it says nothing of these.
        if np.isnan(publication.value[k]) or lower > truth + noise or upper < truth - noise:
            continue
        ends = (0.0, 0.0) if publication.base[k] == 0 else (lower - truth, upper - truth)
        terms = [(cells[i], sign) for i, sign in relations[k].items() if i < len(cells)]
        yield Row(prior.entries(terms), *ends, pieces, rounded=bool(publication.rounded[k]))


def _assumptions(prior: Prior, revision: float | None) -> Iterator[Row]:
    """What one may assume of revisions, for each way to have learned of both values."""
    if revision is None:
        return
    holders = _holders(prior)
    for one, other in _revised(prior, all_pairs=bool(revision) or prior.pieces.several):
        low, high = _revision_between(one, other, revision)
        entries = prior.entries([(one, 1.0), (other, -1.0)])
        # A present value is known to be one of the cell; a former one by a piece that has it.
        known_by: list[list[int | None]] = [
            [None] if each in prior.values.now else [*sorted(holders.get(each, ()))] for each in (one, other)
        ]
        for way in product(*known_by) if prior.pieces.several else [()]:
            yield Row(entries, low, high, {piece for piece in way if piece is not None}, assumed=True)


def _revision_between(one: Value, other: Value, revision: float) -> tuple[float, float]:
    """(low, high) of the difference of the deviations of two values of a cell. They are no further apart than
    `revision` percent of the larger, or than they truly are; 0: as far as they truly are.
    """
    apart = one[2] - other[2]
    most = max(revision / 100 * max(abs(one[2]), abs(other[2])), abs(apart)) if revision else 0.0
    return (-most - apart, most - apart) if revision else (0.0, 0.0)


def _revised(prior: Prior, all_pairs: bool) -> list[tuple[Value, Value]]:
    """Pairs of values of one cell, nearest first. Neighbouring values are enough if the revision is known and
    nobody lacks one of them: their distances add up.
    """
    cells: dict[tuple[int, int], list[Value]] = {}
    for each in sorted(prior.values.low):
        cells.setdefault(each[:2], []).append(each)
    pairs = [
        (j - i, position, one, other)
        for position, found in enumerate(cells.values())
        for (i, one), (j, other) in combinations(enumerate(found), 2)
        if all_pairs or j - i == 1
    ]
    return [(one, other) for _, _, one, other in sorted(pairs, key=lambda pair: pair[:3])]


def _holders(prior: Prior) -> dict[Value, set[int]]:
    """The pieces that tell each value as news of its cell."""
    found: dict[Value, set[int]] = {}
    for number, (then, _) in enumerate(prior.releases):
        for i, each in enumerate(prior.cells(number)):
            piece = prior.pieces.news.get((number, _country(then, i)))
            if piece is not None:
                found.setdefault(each, set()).add(piece)
    return found


def _country(problem: ProtectionProblem, cell: int) -> str:
    return problem.space.countries[cell // problem.space.national_size]


def _entries_by_row(matrix: sp.csr_array) -> Iterator[Entries]:
    matrix = sp.csr_array(matrix)
    for i, j in pairwise(matrix.indptr.tolist()):
        yield dict(zip(matrix.indices[i:j].tolist(), matrix.data[i:j].tolist(), strict=True))


def _assembled(prior: Prior, rows: Sequence[Row]) -> PriorReleases:
    values, former = prior.values, prior.values.former
    areas = len(prior.problem.space.countries)
    return PriorReleases(
        rows=_matrix(rows, prior.problem.space.size + len(former)),
        row_lower=np.array([row.low for row in rows], dtype=float),
        row_upper=np.array([row.high for row in rows], dtype=float),
        rounded=np.array([row.rounded for row in rows], dtype=bool),
        assumed=np.array([row.assumed for row in rows], dtype=bool),
        lower=np.array([values.low[each] for each in former], dtype=float),
        upper=np.array([values.high[each] for each in former], dtype=float),
        area=np.array([country if country < areas else 0 for country, _, _ in former], dtype=np.int64),
        code=np.array(_present_cells(prior), dtype=np.int64),
        integral=np.array([values.integral[each] for each in former], dtype=bool),
        pieces=tuple(prior.pieces.names) if prior.pieces.several else (),
        told_by=_told_by(rows, prior.pieces),
    )


def _matrix(rows: Sequence[Row], width: int) -> sp.csr_array:
    entries = [sorted(row.entries.items()) for row in rows]
    data = np.array([sign for row in entries for _, sign in row], dtype=float)
    indices = np.array([column for row in entries for column, _ in row], dtype=np.int64)
    return sp.csr_array((data, indices, np.cumsum([0, *map(len, entries)])), shape=(len(rows), width))


def _present_cells(prior: Prior) -> list[int]:
    """For each former value its cell in a present national table; else the first of the same indicator,
    else the first of all.
    """
    own = {key: i for i, key in enumerate(prior.problem.space.national_keys)}
    of_indicator: dict[str, int] = {}
    for key, i in own.items():
        of_indicator.setdefault(key[0], i)
    keys = [prior.values.keys[k] for _, k, _ in prior.values.former]
    return [own.get(key, of_indicator.get(key[0], 0)) for key in keys]


def _told_by(rows: Sequence[Row], pieces: PriorPieces) -> np.ndarray:
    """(rows, pieces); empty where nobody can lack a piece."""
    if not pieces.several:
        return np.zeros((0, 0), dtype=bool)
    count = len(pieces.names)
    told = [[piece in row.by for piece in range(count)] for row in rows]
    return np.array(told, dtype=bool).reshape(len(rows), count)
