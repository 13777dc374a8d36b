"""What earlier releases of the period tell, rebuilt from their deliveries and tables:
cell by cell, with dictionaries.

The attackers are those of `methods/attack/vintage.py`, which explains them; the code is independent. It
checks which earlier releases an audit considered (with others, the problem has another digest). Order of the
unknowns: by country and key as they appear in the present release, then in the earlier ones; then by value.
Order of the rows: known values of present cells, bounds narrowed by earlier releases, the relations and
published cells of each release, the assumptions about revisions.

Each row names the pieces that tell it: a version, or the table of one country where no aggregate was
published.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.problem import Earlier, ProtectionProblem
from sdc_tasks.model.results import Publication

Key = tuple[str, ...]
Name = TypeVar("Name", bound=Hashable)
Unknown = tuple[int, int, float]  # country and key by their first place, value


@dataclass(frozen=True, repr=False)
class Row:
    """`low` ≤ Σ entries · z ≤ `high`, told by these pieces; an assumption is told by none."""

    entries: dict[int, float]
    low: float
    high: float
    by: set[int]
    rounded: bool = False
    assumed: bool = False


def told_before(
    problem: ProtectionProblem,
    releases: Sequence[tuple[ProtectionProblem, Publication]],
    revision: float | None,
) -> Earlier:
    """The same as `methods/attack/vintage.earlier`. `revision` in percent; 0: the revision is
    known; None: nothing is assumed.

    Raises ValueError if a release has other dimensions.
    """
    if not releases:
        return Earlier()
    problems = [problem, *(then for then, _ in releases)]
    if len({tuple(hierarchy.dimension for hierarchy in each.space.hierarchies) for each in problems}) != 1:
        raise ValueError("an earlier release has other dimensions")
    country = _places(each for p in problems for each in p.space.countries)
    key = _places(each for p in problems for each in p.space.national_keys)
    of = [_unknowns(p, country, key) for p in problems]
    pieces, piece_of, news = _pieces(problem, releases)
    public = {
        each for p, cells in zip(problems, of, strict=True) for i, each in enumerate(cells) if p.public[i]
    }
    hidden = {
        each for p, cells in zip(problems, of, strict=True) for i, each in enumerate(cells) if not p.public[i]
    }
    shown_by: dict[Unknown, set[int]] = {}
    for number, (cells, (then, _)) in enumerate(zip(of[1:], releases, strict=True)):
        for i, each in enumerate(cells):
            if then.public[i]:
                shown_by.setdefault(each, set()).update(
                    piece_of[number, then.space.countries[i // then.space.national_size]]
                )
    low, high, integral = dict[Unknown, float](), dict[Unknown, float](), dict[Unknown, bool]()
    for p, cells in zip(problems, of, strict=True):
        for i, each in enumerate(cells):
            low[each] = max(low.get(each, -np.inf), float(p.lb[i] - p.a[i]))
            high[each] = min(high.get(each, np.inf), float(p.ub[i] - p.a[i]))
            integral.setdefault(each, bool(p.integral[i]))
    now = {each: i for i, each in enumerate(of[0])}
    column = {each: i for each, i in now.items() if not problem.public[i]}
    later = sorted(each for each in low if each not in now and each in hidden)
    column |= {each: problem.space.size + i for i, each in enumerate(later)}
    rows, everybody = list[Row](), set(range(len(pieces)))
    rows += [Row({column[each]: 1.0}, 0.0, 0.0, shown_by[each]) for each in sorted(column) if each in public]
    for each in sorted(each for each in column if each in now):
        i = now[each]
        if each not in public and (
            low[each] > problem.lb[i] - problem.a[i] or high[each] < problem.ub[i] - problem.a[i]
        ):
            rows.append(Row({column[each]: 1.0}, low[each], high[each], everybody))
    seen: dict[tuple[object, ...], set[int]] = {}
    for number, ((then, publication), cells) in enumerate(zip(releases, of[1:], strict=True)):
        space, n = then.space, then.space.national_size
        layout = space.indicators, space.hierarchies, space.indicator_relations
        alike = layout == (
            problem.space.indicators,
            problem.space.hierarchies,
            problem.space.indicator_relations,
        )
        relations = list(_entries(space.national_relations))
        for start in range(0, len(cells), n):
            table, by = tuple(cells[start : start + n]), piece_of[number, space.countries[start // n]]
            if (layout, table) in seen:
                seen[layout, table] |= by  # the set that its rows hold
                continue
            seen[layout, table] = teller = set(by)
            for relation in relations:
                if not alike or any(table[i] not in now for i in relation):
                    rows.append(
                        Row(
                            {column[table[i]]: sign for i, sign in relation.items() if table[i] in column},
                            0.0,
                            0.0,
                            teller,
                        )
                    )
        above = list(_entries(space.aggregate_relations))
        for k, cell in enumerate(publication.cells.tolist()):
            truth, lower, upper = (
                float(then.a[cell]),
                float(publication.lower[k]),
                float(publication.upper[k]),
            )
            noise = 1e-14 * (1 + abs(truth))
            if np.isnan(publication.value[k]) or lower > truth + noise or upper < truth - noise:
                continue
            ends = (0.0, 0.0) if publication.base[k] == 0 else (lower - truth, upper - truth)
            parts = {
                column[cells[i]]: sign
                for i, sign in above[k].items()
                if i < len(cells) and cells[i] in column
            }
            rows.append(Row(parts, *ends, piece_of[number, space.countries[0]], bool(publication.rounded[k])))
    held_by: dict[Unknown, set[int]] = {}
    for number, (cells, (then, _)) in enumerate(zip(of[1:], releases, strict=True)):
        for i, each in enumerate(cells):
            name = number, then.space.countries[i // then.space.national_size]
            held_by.setdefault(each, set()).update(piece_of[name] if name in news else ())
    for one, other, entries, lowest, highest in _assumed(sorted(low), column, revision, len(pieces) > 1):
        both: list[list[int | None]] = [
            [None] if each in now else [*sorted(held_by.get(each, ()))] for each in (one, other)
        ]
        for way in product(*both) if len(pieces) > 1 else [()]:
            rows.append(
                Row(entries, lowest, highest, {piece for piece in way if piece is not None}, assumed=True)
            )
    told = [row for row in rows if row.entries]
    return _together(
        told, problem.space.size + len(later), problem, later, low, high, integral, list(key), pieces
    )


def _pieces(
    problem: ProtectionProblem, releases: Sequence[tuple[ProtectionProblem, Publication]]
) -> tuple[list[str], dict[tuple[int, str], set[int]], set[tuple[int, str]]]:
    """The names of the pieces; of each release (from 0) and country the piece that tells its table, all of
    them where it is no news; and where it is news.
    """
    names, of = list[str](), dict[tuple[int, str], set[int]]()
    for number, (then, publication) in enumerate(releases):
        n, whole = then.space.national_size, not np.isnan(publication.value).all()
        if whole:
            names.append(f"version {number + 1}")
        for i, country in enumerate(then.space.countries):
            if not whole:
                if _as_now(problem, then, country, slice(i * n, (i + 1) * n)):
                    continue
                names.append(f"the table of {country} as it came")
            of[number, country] = {len(names) - 1}
    news = set(of)
    for number, (then, _) in enumerate(releases):
        for country in then.space.countries:
            of.setdefault((number, country), set(range(len(names))))
    return names, of, news


def _as_now(problem: ProtectionProblem, then: ProtectionProblem, country: str, span: slice) -> bool:
    """Does this table of a country say what its present one says?"""
    if country not in problem.space.countries:
        return False
    layouts = {
        (each.space.indicators, each.space.hierarchies, each.space.indicator_relations)
        for each in (problem, then)
    }
    if len(layouts) > 1:
        return False
    first = problem.space.countries.index(country) * problem.space.national_size
    now = slice(first, first + problem.space.national_size)
    return bool((then.a[span] == problem.a[now]).all() and (then.public[span] == problem.public[now]).all())


def _places(names: Iterable[Name]) -> dict[Name, int]:
    return {name: i for i, name in enumerate(dict.fromkeys(names))}


def _unknowns(
    problem: ProtectionProblem, country: Mapping[str, int], key: Mapping[Key, int]
) -> list[Unknown]:
    cells = [(country[c], key[k]) for c in problem.space.countries for k in problem.space.national_keys]
    return [(c, k, float(problem.a[i]) + 0.0) for i, (c, k) in enumerate(cells)]


def _entries(matrix: sp.csr_array) -> list[dict[int, float]]:
    matrix = sp.csr_array(matrix)
    spans = pairwise(matrix.indptr.tolist())
    return [dict(zip(matrix.indices[i:j].tolist(), matrix.data[i:j].tolist(), strict=True)) for i, j in spans]


def _assumed(
    values: Sequence[Unknown], column: Mapping[Unknown, int], revision: float | None, several: bool
) -> list[tuple[Unknown, Unknown, dict[int, float], float, float]]:
    """Pairs of values of one cell with their rows: neighbouring values if the revision is known and nobody
    lacks one, else all pairs, nearest first.
    """
    if revision is None:
        return []
    cells: dict[tuple[int, int], list[Unknown]] = {}
    for each in values:
        cells.setdefault(each[:2], []).append(each)
    pairs = [
        (j - i, position, one, other)
        for position, found in enumerate(cells.values())
        for (i, one), (j, other) in combinations(enumerate(found), 2)
        if revision or several or j - i == 1
    ]
    rows = []
    for _, _, one, other in sorted(pairs, key=lambda pair: (pair[0], pair[1], pair[2])):
        apart = one[2] - other[2]
        most = max(revision / 100 * max(abs(one[2]), abs(other[2])), abs(apart)) if revision else 0.0
        entries = {column[each]: sign for each, sign in ((one, 1.0), (other, -1.0)) if each in column}
        ends = (-most - apart, most - apart) if revision else (0.0, 0.0)
        rows.append((one, other, entries, *ends))
    return rows


def _together(
    rows: Sequence[Row],
    width: int,
    problem: ProtectionProblem,
    later: Sequence[Unknown],
    low: Mapping[Unknown, float],
    high: Mapping[Unknown, float],
    integral: Mapping[Unknown, bool],
    keys: Sequence[Key],
    pieces: Sequence[str],
) -> Earlier:
    own = {key: i for i, key in enumerate(problem.space.national_keys)}
    alike: dict[str, int] = {}
    for name, i in own.items():
        alike.setdefault(name[0], i)
    code = [own.get(keys[k], alike.get(keys[k][0], 0)) for _, k, _ in later]
    entries = [sorted(row.entries.items()) for row in rows]
    several = len(pieces) > 1
    return Earlier(
        rows=sp.csr_array(
            (
                np.array([sign for row in entries for _, sign in row], dtype=float),
                np.array([place for row in entries for place, _ in row], dtype=np.int64),
                np.cumsum([0, *map(len, entries)]),
            ),
            shape=(len(rows), width),
        ),
        row_lower=np.array([row.low for row in rows], dtype=float),
        row_upper=np.array([row.high for row in rows], dtype=float),
        rounded=np.array([row.rounded for row in rows], dtype=bool),
        assumed=np.array([row.assumed for row in rows], dtype=bool),
        lower=np.array([low[each] for each in later], dtype=float),
        upper=np.array([high[each] for each in later], dtype=float),
        area=np.array([c if c < len(problem.space.countries) else 0 for c, _, _ in later], dtype=np.int64),
        code=np.array(code, dtype=np.int64),
        integral=np.array([integral[each] for each in later], dtype=bool),
        pieces=tuple(pieces) if several else (),
        told_by=np.array([[k in row.by for k in range(len(pieces))] for row in rows], dtype=bool).reshape(
            len(rows), len(pieces)
        )
        if several
        else np.zeros((0, 0), dtype=bool),
    )
