"""A second opinion on what each attacker profile can compute: two cold linear programs of
scipy for every cell, nothing else.

Written from METHOD §2 and [2] eq. 5–9; shares no code with `sdc_tasks.methods.attack`. Variables
are the *values* of all cells of all areas, every relation is there, and an attacker is what he
knows: an interval for each cell (`Knowledge`). More knowledge is a smaller interval, more cells, or
an older table beside the present one.

    external      the public cells, the published intervals, the external bounds
    coalition     the only units of all single-unit cells pool their cells: [2] eq. 9. A singleton p is
                  attacked by all the *others*: not by
                  cells that contain it, or that it contains, because their only unit is himself
    each alone    every singleton attacks with his own cell and nobody else's
    half known    one of two units of a cell knows his own part: the cell is at least that
    vintages      earlier publications too; a cell is one number in two releases where its true value is
                  the same, and another where not

Intervals are in the unit of the data, (cells, 2): lowest and highest value that agrees with what the attacker
knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.optimize import linprog

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from support.oracles.attack import all_keys, relations


@dataclass(frozen=True)
class Knowledge:
    """`lower ≤ x ≤ upper` for the cells of one release, or several, with M x = `right` (0)
    and, if given, `apart` x ≤ `most`.
    """

    M: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    right: np.ndarray | None = None
    apart: np.ndarray | None = None
    most: np.ndarray | None = None

    def told(self, intervals: Mapping[int, tuple[float, float]]) -> Knowledge:
        """The same attacker, who is told more of some cells."""
        lower, upper = self.lower.copy(), self.upper.copy()
        for cell, (low, high) in intervals.items():
            lower[cell], upper[cell] = max(lower[cell], low), min(upper[cell], high)
        return replace(self, lower=lower, upper=upper)


def knowledge(problem: ProtectionProblem, publication: Publication | None) -> Knowledge:
    """What everybody can read. None: nothing of the aggregates is published."""
    lower = np.where(problem.public, problem.a, problem.lb)
    upper = np.where(problem.public, problem.a, problem.ub)
    if publication is not None:
        for cell, value, base in zip(publication.cells, publication.value, publication.base, strict=True):
            if np.isfinite(base):
                lower[cell], upper[cell] = (
                    max(lower[cell], value - base / 2),
                    min(upper[cell], value + base / 2),
                )
    return Knowledge(problem.space.relations.toarray(), lower, upper)


def intervals(known: Knowledge, cells: Iterable[int]) -> np.ndarray:
    """(cells, 2). Raises ValueError where no table agrees with what is known."""
    return np.array([[_extreme(known, cell, 1), _extreme(known, cell, -1)] for cell in cells]).reshape(-1, 2)


def _extreme(known: Knowledge, cell: int, side: int) -> float:
    """min (side 1) or max (side −1) of x_cell; infinite where nothing holds it."""
    cost = np.zeros(len(known.lower))
    cost[cell] = side
    bounds = np.column_stack([known.lower, known.upper])
    right = np.zeros(len(known.M)) if known.right is None else known.right
    result = linprog(
        cost, A_ub=known.apart, b_ub=known.most, A_eq=known.M, b_eq=right, bounds=bounds, method="highs"
    )
    if result.status == 3:
        return -side * np.inf
    if result.status == 2:
        raise ValueError("no table agrees with what is known")
    assert result.status == 0, f"the oracle's LP ended with: {result.message}"
    return float(result.x[cell])


# --- profiles -----------------------------------------------------------------------------------------------


def external(problem: ProtectionProblem, publication: Publication | None) -> np.ndarray:
    """Of the primaries, in cell order."""
    return intervals(knowledge(problem, publication), _primaries(problem))


def coalition(
    problem: ProtectionProblem, publication: Publication | None, singletons: Sequence[int]
) -> np.ndarray:
    """Of the primaries: all singletons collude; against a singleton, all others do ([2] eq. 9: x_i
    = a_i for i ∉ (P∖G) ∪ S ∪ {p}).
    """
    everybody, of = knowledge(problem, publication), respondents(problem, singletons)
    found = []
    for p in _primaries(problem):
        colluding = {g: (problem.a[g], problem.a[g]) for g in singletons if of[g] != of.get(p)}
        found.append(intervals(everybody.told(colluding), [p])[0])
    return np.array(found).reshape(-1, 2)


def respondents(problem: ProtectionProblem, singletons: Iterable[int]) -> dict[int, frozenset[int]]:
    """singleton → all singletons of the same respondent: those that contain it or that it
    contains, and what these do, and so on.
    """
    M = relations(problem.space)
    parts = {
        cell: np.flatnonzero((M[(M[:, cell] < 0)] > 0).any(axis=0)).tolist()
        for cell in range(first_aggregate(problem))
    }

    def below(cell: int) -> set[int]:
        return {cell}.union(*(below(part) for part in parts[cell]))

    groups = [frozenset(below(cell) & set(singletons)) for cell in singletons]
    while any(one & other and one != other for one in groups for other in groups):
        groups = [frozenset().union(*(other for other in groups if one & other)) for one in groups]
    return dict(zip(singletons, groups, strict=True))


def first_aggregate(problem: ProtectionProblem) -> int:
    """Cells from here on are those of the aggregates."""
    return len(problem.space.countries) * problem.space.national_size


def alone(
    problem: ProtectionProblem, publication: Publication | None, parts: Mapping[int, float]
) -> dict[int, np.ndarray]:
    """respondent's cell → intervals of the primaries, as he sees them. `parts`: what the
    respondent of a cell has in it.

    The only unit of a cell knows all of it: a part as large as the cell. One of two knows that the cell is at
    least his part, where no unit is negative.
    """
    everybody, found = knowledge(problem, publication), {}
    for cell, part in parts.items():
        value = float(problem.a[cell])
        own = (value, value) if part == value else (part, np.inf)
        found[cell] = intervals(everybody.told({cell: own}), _primaries(problem))
    return found


def strongest(problem: ProtectionProblem, seen: Mapping[int, np.ndarray]) -> np.ndarray:
    """(primaries, 2): the narrowest end on each side over all singletons who attack alone;
    nobody attacks cells of his own.
    """
    primaries, of = _primaries(problem), respondents(problem, list(seen))
    ends = np.tile([-np.inf, np.inf], (len(primaries), 1))
    for cell, each in seen.items():
        others = ~np.isin(primaries, list(of[cell]))
        ends[others, 0] = np.maximum(ends[others, 0], each[others, 0])
        ends[others, 1] = np.minimum(ends[others, 1], each[others, 1])
    return ends


def half(problem: ProtectionProblem, cells: Iterable[int]) -> dict[int, float]:
    """The parts of respondents of two-unit cells who know half of them."""
    return {cell: float(problem.a[cell]) / 2 for cell in cells}


@dataclass(frozen=True)
class Vintage:
    """An earlier release of the same period: what the tables were then, and what was published."""

    problem: ProtectionProblem
    publication: Publication


def vintages(
    problem: ProtectionProblem,
    publication: Publication | None,
    earlier: Sequence[Vintage],
    revision: float | None = None,
) -> np.ndarray:
    """Of the primaries, by somebody who kept all earlier publications.

    Each release has cells of its own. Cells of two releases with the same key are one number where the true
    value is the same. Where it is not, they differ by at most `revision` percent of the larger value, or by
    as much as they do; 0: he knows by how much; None: by anything. Primaries are the first cells of the
    whole, so that their places are those of today.
    """
    releases = [(problem, publication), *((old.problem, old.publication) for old in earlier)]
    tables = [knowledge(each, told) for each, told in releases]
    start = np.cumsum([0, *(each.space.size for each, _ in releases)])
    place: dict[tuple[str, ...], list[tuple[int, float]]] = {}
    for first, (each, _) in zip(start[:-1], releases, strict=True):
        for i, key in enumerate(all_keys(each.space)[: first_aggregate(each)]):
            place.setdefault(key, []).append((int(first) + i, float(each.a[i])))
    equal, apart = [], []
    for cells in place.values():
        for (i, x), (j, y) in combinations(cells, 2):
            if x == y or revision == 0:
                equal.append((i, j, x - y))
            elif revision is not None:
                most = max(revision / 100 * max(abs(x), abs(y)), abs(x - y))
                apart += [(i, j, most), (j, i, most)]
    width = int(start[-1])
    M = _block_diagonal([table.M for table in tables])
    known = Knowledge(
        np.vstack([M, _differences(equal, width)]), np.concatenate([each.lower for each in tables]),
        np.concatenate([each.upper for each in tables]),
        right=np.concatenate([np.zeros(len(M)), [difference for *_, difference in equal]]),
        apart=_differences(apart, width), most=np.array([most for *_, most in apart]),
    )  # fmt: skip
    return intervals(known, _primaries(problem))


def _differences(pairs: Sequence[tuple[int, int, float]], width: int) -> np.ndarray:
    rows = np.zeros((len(pairs), width))
    for row, (i, j, _) in zip(rows, pairs, strict=True):
        row[i], row[j] = 1, -1
    return rows


def _block_diagonal(matrices: Sequence[np.ndarray]) -> np.ndarray:
    whole = np.zeros((sum(len(M) for M in matrices), sum(M.shape[1] for M in matrices)))
    row = column = 0
    for M in matrices:
        whole[row : row + len(M), column : column + M.shape[1]] = M
        row, column = row + len(M), column + M.shape[1]
    return whole


def _primaries(problem: ProtectionProblem) -> np.ndarray:
    return np.flatnonzero(problem.primary)


# --- verdicts -----------------------------------------------------------------------------------------------


def reaches(problem: ProtectionProblem, seen: np.ndarray) -> np.ndarray:
    """(primaries, 2): how far below and above its true value each primary may lie for the attacker."""
    a = problem.a[_primaries(problem)]
    return np.column_stack([a - seen[:, 0], seen[:, 1] - a])


def protected(problem: ProtectionProblem, seen: np.ndarray) -> np.ndarray:
    """(primaries,): [2] eq. 5 and the sliding level, each cut at the external bounds (METHOD §2).
    Not cut at the national baseline.
    """
    p = _primaries(problem)
    down, up = reaches(problem, seen).T
    below, above = problem.a[p] - problem.lb[p], problem.ub[p] - problem.a[p]
    enough = 1 - 1e-6
    return (
        (down >= np.minimum(problem.lpl[p], below) * enough)
        & (up >= np.minimum(problem.upl[p], above) * enough)
        & (down + up >= np.minimum(problem.spl[p], below + above) * enough)
    )
