"""What earlier releases of the same period still tell (METHOD §2, profiles vintage and revision).

All values are deviations from the truth, as in `polyhedron.py`. An unknown is a cell of a country with one
true value. Vintages with the same value of the cell share the unknown, whatever else was revised in that
country. So an earlier published interval narrows the present cell, and a cell that was public with this value
in any vintage is known. A revised cell has one unknown for each of its values; the relations and intervals of
the earlier release hold for the earlier value. Cells are matched by country and key, so an earlier release
may have other members, compositions, indicators or codes.

Profile `vintage` assumes nothing about the size of a revision. Profile `revision`
assumes what the domain file says:

    tied        the attacker knows it: x_new − x_old is the true difference, so both deviations are equal
    bounded p   |x_new − x_old| is at most p percent of the larger value, or the true difference if that is
                more
    free        nothing: there is no profile `revision`

Both attackers are needed. If hidden cells are revised a little, two rounded totals are nearly two roundings
of one number; `vintage` does not see that. But a release need not protect what an attacker knows from the
national tables alone (`Requirements.cut`). So, with `revision` alone, a cell that was printed, then revised
and hidden, would have no protection left. The default is tied: the strongest assumption that agrees with the
truth. Published figures cannot be taken back: the baseline of both attackers includes all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.polyhedron import contradicted
from sdc_tasks.model.problem import PriorReleases, ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, CellSpace, Floats, Ints

TIED = 0.0


def prior_releases(
    problem: ProtectionProblem,
    releases: Sequence[tuple[ProtectionProblem, Publication]],
    revision: float | None = TIED,
) -> PriorReleases:
    """What earlier releases (problem and publication of each) tell in addition to the present problem.

    `revision`: the largest revision that is assumed, in percent of the value; 0: the revision
    is known; None: nothing is assumed. Raises ValueError if a release has other dimensions,
    because its cells cannot be matched.
    """
    if not releases:
        return PriorReleases()
    pieces = _Pieces.of(problem, releases)
    known = _unknowns(problem, [then for then, _ in releases], pieces)
    rows = _Rows(known.width, len(pieces.names))
    held = np.flatnonzero(known.column >= 0)
    rows.add(
        known.picked(public := held[known.public[held]]),
        np.zeros(len(public)),
        np.zeros(len(public)),
        known.public_in[public],
    )
    narrower = held[known.now[held] & ~known.public[held] & known.narrowed[held]]
    rows.add(known.picked(narrower), known.lower[narrower], known.upper[narrower], True)
    seen = dict[tuple[CellSpace, bytes], int]()
    for (then, publication), unknown, piece in zip(releases, known.of, pieces.of_cells, strict=True):
        space, n = then.space, then.space.national_size
        national = space.national_relations
        same = _structure(space) == _structure(problem.space)
        for start in range(0, len(unknown), n):
            mine = unknown[start : start + n]
            name = (
                CellSpace((), (), space.indicators, space.hierarchies, space.indicator_relations),
                mine.tobytes(),
            )
            by = pieces.mask(piece[start])
            if name in seen:
                rows.add_source(seen[name], by)
                continue
            news = (
                np.flatnonzero(abs(national) @ (~known.now[mine]) > 0)
                if same
                else np.arange(national.shape[0])
            )
            table = _placed(sp.csr_array(national[news]), known.column[mine], known.width)
            seen[name] = rows.add(table, np.zeros(len(news)), np.zeros(len(news)), by)
        published = np.flatnonzero(~publication.withheld & ~contradicted(then, publication))
        truth, exact = then.a[publication.cells], publication.exact
        place = np.concatenate([known.column[unknown], np.full(space.size - len(unknown), -1)])
        rows.add(
            _placed(sp.csr_array(space.aggregate_relations[published]), place, known.width),
            np.where(exact, 0.0, publication.lower - truth)[published],
            np.where(exact, 0.0, publication.upper - truth)[published],
            pieces.mask(piece[0]),
            publication.rounded[published],
        )
    if revision is not None:
        _assume_revisions(rows, known, revision, several=len(pieces.names) > 1)
    later = np.flatnonzero(known.column >= problem.space.size)
    return rows.together(
        pieces.names,
        lower=known.lower[later],
        upper=known.upper[later],
        area=known.area[later],
        code=known.code[later],
        integral=known.integral[later],
    )


@dataclass(frozen=True, repr=False)
class EarlierTable:
    """The national cells of an earlier release among what `prior_releases` makes of it. Arrays (cells,):
    `column`, −1 where whoever has the release knows the value; `piece`, −1 where any piece tells it.
    """

    problem: ProtectionProblem
    column: Ints
    piece: Ints


def earlier_tables(
    problem: ProtectionProblem, releases: Sequence[tuple[ProtectionProblem, Publication]]
) -> list[EarlierTable]:
    """The national cells of each earlier release, in the columns of `prior_releases`. Raises ValueError if a
    release has other dimensions.
    """
    pieces, thens = _Pieces.of(problem, releases), [then for then, _ in releases]
    known = _unknowns(problem, thens, pieces)
    return [
        EarlierTable(then, known.column[cells], piece)
        for then, cells, piece in zip(thens, known.of, pieces.of_cells, strict=True)
    ]


@dataclass(frozen=True, repr=False)
class _Pieces:
    """What somebody may have or lack: each version, or each country's table of one that
    published no aggregate. Such a release stands for national tables as they came, and each
    country publishes its own table.

    `of_cells`: for each release, the piece of each of its national cells, −1 in a table that tells nothing
    new.
    """

    names: tuple[str, ...]
    of_cells: list[Ints]

    @classmethod
    def of(
        cls, problem: ProtectionProblem, releases: Sequence[tuple[ProtectionProblem, Publication]]
    ) -> _Pieces:
        names, of_cells = list[str](), list[Ints]()
        for number, (then, publication) in enumerate(releases, start=1):
            n = then.space.national_size
            piece = np.full(n * len(then.space.countries), -1)
            if not publication.withheld.all():
                piece[:] = len(names)
                names.append(f"version {number}")
            else:
                for i, country in enumerate(then.space.countries):
                    if not _same_table(problem, then, country):
                        piece[i * n : (i + 1) * n] = len(names)
                        names.append(f"the table of {country} as it came")
            of_cells.append(piece)
        return cls(tuple(names), of_cells)

    def mask(self, piece: int) -> Bools:
        """(pieces,): this piece; all of them for what tells nothing new."""
        return np.asarray((np.arange(len(self.names)) == piece) | (piece < 0))


def _same_table(problem: ProtectionProblem, then: ProtectionProblem, country: str) -> bool:
    """Does the table of a country say now what it said then?"""
    if _structure(then.space) != _structure(problem.space) or country not in problem.space.countries:
        return False
    n = then.space.national_size
    old, new = (each.space.countries.index(country) * n + np.arange(n) for each in (then, problem))
    return all(
        np.array_equal(getattr(then, name)[old], getattr(problem, name)[new]) for name in ("a", "public")
    )


@dataclass(frozen=True, repr=False)
class _Unknowns:
    """Every pair of a national cell and a value that it had, ascending by country, cell and value;
    arrays with one entry for each pair.

    `column`: its column in the system, −1 if everybody knows the value. `now`: whether this is the present
    value. `public`: public in some vintage; `public_in` (pairs, pieces): in which; `held_in`: in which it was
    at all. `lower`, `upper`: bounds of the deviation from all vintages; `narrowed`: whether they are narrower
    than the present bounds. `of`: the pairs of the cells of each release.
    """

    width: int
    cell: Ints
    value: Floats
    column: Ints
    now: Bools
    public: Bools
    public_in: Bools
    held_in: Bools
    lower: Floats
    upper: Floats
    narrowed: Bools
    integral: Bools
    area: Ints
    code: Ints
    of: list[Ints]

    def picked(self, which: Ints) -> sp.csr_array:
        """(which, width): one row for each pair, with a 1 in its column; an empty row if the
        value is known.
        """
        there = np.flatnonzero(self.column[which] >= 0)
        return sp.csr_array(
            (np.ones(len(there)), (there, self.column[which[there]])), shape=(len(which), self.width)
        )

    def common_sources(self, first: Ints, second: Ints) -> tuple[Ints, Bools]:
        """For each pair of values, each way to have both: the pair, and the pieces that it
        takes, none for a present value.
        """
        ways = [
            (i, one, other)
            for i, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True))
            for one in self._tellers(a)
            for other in self._tellers(b)
        ]
        by = np.zeros((len(ways), self.held_in.shape[1]), dtype=bool)
        for row, (_, one, other) in zip(by, ways, strict=True):
            row[[piece for piece in (one, other) if piece >= 0]] = True
        return np.array([i for i, _, _ in ways], dtype=np.int64), by

    def _tellers(self, value: int) -> list[int]:
        return [-1] if self.now[value] else np.flatnonzero(self.held_in[value]).tolist()

    def revised(self, all_pairs: bool) -> list[tuple[Ints, Ints]]:
        """Pairs of values of one cell: neighbouring values only, or all."""
        found, step = list[tuple[Ints, Ints]](), 1
        while len(first := np.flatnonzero(self.cell[:-step] == self.cell[step:])) and (
            all_pairs or step == 1
        ):
            found.append((first, first + step))
            step += 1
        return found


def _assume_revisions(rows: _Rows, known: _Unknowns, revision: float, several: bool) -> None:
    """Adds that no value changed by more than so many percent. Where `several` versions are out, whoever
    lacks one knows no revision to or from its values.
    """
    for first, second in known.revised(all_pairs=several or revision > TIED):
        apart = known.value[first] - known.value[second]
        most = np.maximum(
            revision / 100 * np.maximum(np.abs(known.value[first]), np.abs(known.value[second])),
            np.abs(apart),
        )
        low, high = (
            (np.zeros(len(apart)), np.zeros(len(apart)))
            if revision == TIED
            else (-most - apart, most - apart)
        )
        if not several:
            rows.add(known.picked(first) - known.picked(second), low, high, False, assumed=True)
        else:
            at, by = known.common_sources(first, second)
            rows.add(known.picked(first[at]) - known.picked(second[at]), low[at], high[at], by, assumed=True)


def _refuse_other_dimensions(spaces: Sequence[CellSpace]) -> None:
    named = [[each.dimension for each in space.hierarchies] for space in spaces]
    if any(each != named[0] for each in named):
        raise ValueError(
            "an earlier release of the period has other dimensions, so its cells cannot be related to "
            "those of now"
        )


def _unknowns(problem: ProtectionProblem, thens: Sequence[ProtectionProblem], pieces: _Pieces) -> _Unknowns:
    spaces = [problem.space, *(then.space for then in thens)]
    _refuse_other_dimensions(spaces)
    keys, countries = (
        _numbers([space.national_keys for space in spaces]),
        _numbers([space.countries for space in spaces]),
    )
    number = [
        (
            np.array([countries[c] for c in s.countries])[:, None] * len(keys)
            + np.array([keys[k] for k in s.national_keys])
        ).ravel()
        for s in spaces
    ]

    def all_of(name: str) -> np.ndarray:
        return np.concatenate(
            [getattr(p, name)[: len(own)] for p, own in zip((problem, *thens), number, strict=True)]
        )

    cell, value, public = np.concatenate(number), all_of("a") + 0.0, all_of("public")
    lower, upper = all_of("lb") - value, all_of("ub") - value
    order = np.lexsort((value, cell))
    new = np.append(True, (np.diff(cell[order]) != 0) | (np.diff(value[order]) != 0))
    which = np.empty(len(order), dtype=np.int64)
    which[order] = np.cumsum(new) - 1
    first, many, mine = order[new], int(new.sum()), which[: len(number[0])]

    def gathered(collect: np.ufunc, start: float | bool, each: np.ndarray) -> np.ndarray:
        whole = np.full(many, start)
        collect.at(whole, which, each)
        return whole

    now, column = np.zeros(many, dtype=bool), np.full(many, -1)
    now[mine] = True
    is_public, always = gathered(np.logical_or, False, public), gathered(np.logical_and, True, public)
    public_in, piece = (
        np.zeros((many, len(pieces.names)), dtype=bool),
        np.concatenate([np.full(len(mine), -1), *pieces.of_cells]),
    )
    held_in = np.zeros_like(public_in)
    for into, some in ((public_in, public), (held_in, np.ones(len(piece), dtype=bool))):
        published = np.flatnonzero(some & (piece >= 0))
        into[which[published], piece[published]] = True
    hidden = np.flatnonzero(~public[: len(mine)])
    column[mine[hidden]] = hidden
    later = np.flatnonzero(~now & ~always)
    column[later] = problem.space.size + np.arange(len(later))
    low, high = gathered(np.maximum, -np.inf, lower), gathered(np.minimum, np.inf, upper)
    narrowed = np.zeros(many, dtype=bool)
    narrowed[mine] = (low[mine] > lower[: len(mine)]) | (high[mine] < upper[: len(mine)])
    area, code = np.divmod(cell[first], len(keys))
    return _Unknowns(
        width=problem.space.size + len(later),
        cell=cell[first],
        value=value[first],
        column=column,
        now=now,
        public=is_public,
        public_in=public_in,
        held_in=held_in,
        lower=low,
        upper=high,
        narrowed=narrowed,
        integral=all_of("integral")[first],
        area=np.where(area < len(problem.space.countries), area, 0),
        code=_stand_in(problem.space, list(keys))[code],
        of=np.split(which, np.cumsum([len(own) for own in number])[:-1])[1:],
    )


def _numbers(names: Sequence[Sequence[object]]) -> dict[object, int]:
    """Numbers the different names by their first appearance."""
    return {name: i for i, name in enumerate(dict.fromkeys(name for each in names for name in each))}


def _stand_in(space: CellSpace, keys: Sequence[object]) -> Ints:
    """For each key a cell in one area of the present release: the same key, else a cell of its
    indicator, else the first cell.
    """
    own = {key: i for i, key in enumerate(space.national_keys)}
    alike = {key[0]: i for i, key in reversed(list(enumerate(space.national_keys)))}
    return np.array(
        [own.get(key, alike.get(key[0], 0)) for key in keys if isinstance(key, tuple)], dtype=np.int64
    )


def _structure(space: CellSpace) -> tuple[object, ...]:
    return space.indicators, space.hierarchies, space.indicator_relations


class _Rows:
    """Collects rows of the system; empty rows are left out."""

    def __init__(self, width: int, pieces: int) -> None:
        self._rows, self._ends = [sp.csr_array((0, width))], [np.zeros((0, 2))]
        self._marks, self._by = [np.zeros((0, 2), dtype=bool)], [np.zeros((0, pieces), dtype=bool)]

    def add(
        self,
        rows: sp.csr_array,
        low: Floats,
        high: Floats,
        by: Bools | bool,
        rounded: Bools | bool = False,
        assumed: bool = False,
    ) -> int:
        """Adds a block of rows, which the pieces `by` (pieces,) or (rows, pieces) tell. Returns
        its number.
        """
        rows = sp.csr_array(rows)
        rows.eliminate_zeros()
        kept = np.flatnonzero(np.diff(rows.indptr) > 0)
        self._rows.append(sp.csr_array(rows[kept]))
        self._ends.append(np.column_stack([low, high])[kept])
        self._marks.append(np.column_stack(np.broadcast_arrays(rounded, np.full(len(low), assumed)))[kept])
        self._by.append(np.broadcast_to(by, (len(low), self._by[0].shape[1]))[kept].copy())
        return len(self._by) - 1

    def add_source(self, block: int, by: Bools) -> None:
        """These pieces tell the rows of a block as well."""
        self._by[block] |= by

    def together(self, pieces: tuple[str, ...], **unknown: np.ndarray) -> PriorReleases:
        """All rows. With one piece nobody has a part of what is told, so none is named."""
        ends, marks, several = np.concatenate(self._ends), np.concatenate(self._marks), len(pieces) > 1
        return PriorReleases(
            pieces=pieces if several else (),
            told_by=np.concatenate(self._by) if several else np.zeros((0, 0), dtype=bool),
            rows=_sorted(sp.csr_array(sp.vstack(self._rows, format="csr"))),
            row_lower=ends[:, 0].copy(),
            row_upper=ends[:, 1].copy(),
            rounded=marks[:, 0].copy(),
            assumed=marks[:, 1].copy(),
            **unknown,
        )


def _sorted(rows: sp.csr_array) -> sp.csr_array:
    rows.sort_indices()
    return rows


def _placed(relations: sp.csr_array, place: Ints, width: int) -> sp.csr_array:
    """Relations over cells as relations over columns; a cell without a column has no deviation."""
    entries = sp.coo_array(relations)
    column = place[entries.col]
    known = column >= 0
    return sp.csr_array(
        (entries.data[known], (entries.row[known], column[known])), shape=(relations.shape[0], width)
    )
