"""A second opinion that shares no code with the methods: scipy's LP solver, brute force, and models
written down from METHOD §2 and §3.

Everything is done the long way round: variables for *all* cells of all areas, every relation, one cold LP per
question. Only the frozen types of `sdc_tasks.model` are used, and of a cell space only its lists of codes:
the relations are set up here again. Below them: small random releases for these opinions to differ on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy

DOWN, UP = -1, 1


# --- relations ----------------------------------------------------------------------------------------------


def all_keys(space: CellSpace) -> list[tuple[str, ...]]:
    """(area, indicator, code of each hierarchy) of every cell, in the order of the cells."""
    areas = [*space.countries, *(aggregate.code for aggregate in space.aggregates)]
    return list(product(areas, space.indicators, *(hierarchy.codes for hierarchy in space.hierarchies)))


def relation_rows(space: CellSpace) -> list[tuple[int, list[int]]]:
    """(total, parts) of every relation: along each hierarchy in every area, and from the countries to each
    aggregate.
    """
    position = {key: i for i, key in enumerate(all_keys(space))}
    rows = []
    for key, cell in position.items():
        for axis, hierarchy in enumerate(space.hierarchies, start=2):
            for children in _families(hierarchy, key[axis]):
                rows.append((cell, [position[(*key[:axis], child, *key[axis + 1 :])] for child in children]))
        for aggregate in space.aggregates:
            if key[0] == aggregate.code:
                rows.append((cell, [position[(member, *key[1:])] for member in aggregate.members]))
    return rows


def _families(hierarchy: Hierarchy, total: str) -> list[list[str]]:
    """The parts of a code in the tree, and in each sum."""
    pairs = zip(hierarchy.codes, hierarchy.parent, strict=True)
    below = [code for code, above in pairs if above == total]
    return [*([below] if below else []), *(list(parts) for code, parts in hierarchy.sums if code == total)]


def relations(space: CellSpace) -> np.ndarray:
    """M, dense: −1 at a total, +1 at its parts."""
    rows = relation_rows(space)
    M = np.zeros((len(rows), len(all_keys(space))))
    for i, (total, parts) in enumerate(rows):
        M[i, total] = -1
        M[i, parts] = 1
    return M


# --- the attacker (METHOD §2) -------------------------------------------------------------------------------


class ColdAttacker:
    """All tables x with M x = 0 that agree with what is public, with the external bounds
    and with the published intervals.

    Variables are the deviations x − a of all cells, because M a = 0. `low high` are the slacks that the
    published intervals leave below and above the true value of each aggregate cell.
    """

    def __init__(self, problem: ProtectionProblem, low: np.ndarray, high: np.ndarray) -> None:
        first = len(problem.space.countries) * problem.space.national_size
        lower = np.where(problem.public, 0.0, problem.lb - problem.a)
        upper = np.where(problem.public, 0.0, problem.ub - problem.a)
        lower[first:], upper[first:] = -low, high
        self._M = relations(problem.space)
        self._bounds = np.column_stack([lower, upper])

    def reach(self, cell: int, side: int) -> float:
        """How far a cell may lie from its true value on that side; inf where nothing holds it."""
        cost = np.zeros(self._M.shape[1])
        cost[cell] = -side
        result = linprog(cost, A_eq=self._M, b_eq=np.zeros(len(self._M)), bounds=self._bounds, method="highs")
        if result.status == 3:
            return np.inf
        assert result.status == 0, f"the oracle's LP ended with: {result.message}"
        return max(0.0, side * float(result.x[cell]))


def slack(problem: ProtectionProblem, publication: Publication) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of every aggregate cell of a publication, from its value and base, or
    from the share that a sum covers.
    """
    truth = problem.a[len(problem.space.countries) * problem.space.national_size :]
    value = np.where(np.isinf(publication.base), truth, publication.value)
    half = publication.base / 2
    low, high = truth - (value - half), value + half - truth
    for k in np.flatnonzero(publication.covers):
        low[k], high[k] = (
            truth[k] - publication.value[k],
            publication.value[k] / publication.covers[k] - truth[k],
        )
    return low, high


def reaches(problem: ProtectionProblem, publication: Publication | None) -> np.ndarray:
    """(primaries, 2): how far down and up the attacker gets; None: every aggregate withheld."""
    n = len(problem.space.aggregates) * problem.space.national_size
    low, high = (
        (np.full(n, np.inf), np.full(n, np.inf)) if publication is None else slack(problem, publication)
    )
    attacker = ColdAttacker(problem, low, high)
    return np.array(
        [[attacker.reach(p, DOWN), attacker.reach(p, UP)] for p in np.flatnonzero(problem.primary)]
    ).reshape(-1, 2)


def needs(problem: ProtectionProblem, reaches: Callable[..., np.ndarray] = reaches) -> np.ndarray:
    """(primaries, 3): down, up, sliding: the levels, cut at the external bounds and at what
    the national tables alone protect.
    """
    p = np.flatnonzero(problem.primary)
    room = np.column_stack([problem.a[p] - problem.lb[p], problem.ub[p] - problem.a[p]])
    alone = reaches(problem, None)
    wanted = np.column_stack([problem.lpl[p], problem.upl[p], problem.spl[p]])
    for limit in (room, alone):
        wanted = np.minimum(wanted, np.column_stack([limit, limit.sum(axis=1)]))
    return wanted


def shares(
    problem: ProtectionProblem, publication: Publication, reaches: Callable[..., np.ndarray] = reaches
) -> np.ndarray:
    """(primaries, 3): what the attacker's uncertainty reaches as a share of what is needed; 1 where
    it is met or nothing is needed.
    """
    needed, reached = needs(problem, reaches), reaches(problem, publication)
    reached = np.column_stack([reached, reached.sum(axis=1)])
    return np.where(needed > 1e-6, np.minimum(reached / np.maximum(needed, 1e-6), 1.0), 1.0)


def exact_reaches(problem: ProtectionProblem, publication: Publication | None) -> np.ndarray:
    """`reaches` in rational arithmetic, without any tolerance: slow, for a handful of cells of very different
    size.
    """
    n = len(problem.space.aggregates) * problem.space.national_size
    low, high = (
        (np.full(n, np.inf), np.full(n, np.inf)) if publication is None else slack(problem, publication)
    )
    first = problem.space.size - n
    lower = np.concatenate([np.where(problem.public, 0.0, problem.a - problem.lb)[:first], low])
    upper = np.concatenate([np.where(problem.public, 0.0, problem.ub - problem.a)[:first], high])
    free = np.flatnonzero((lower > 0) | (upper > 0))
    M = [[Fraction(int(entry)) for entry in row] for row in relations(problem.space)[:, free]]
    found = []
    for p in np.flatnonzero(problem.primary):
        for side in (DOWN, UP):
            cost = [Fraction(side) if cell == p else Fraction(0) for cell in free]
            found.append(_exact_maximum(cost, M, lower[free].tolist(), upper[free].tolist()))
    return np.array(found).reshape(-1, 2)


def _exact_maximum(
    cost: list[Fraction], M: list[list[Fraction]], lower: list[float], upper: list[float]
) -> float:
    """max cost·z with M z = 0 and −lower ≤ z ≤ upper, where z = 0 is allowed: a simplex tableau by Bland's
    rule.

    Columns: z⁺ and z⁻ (z = z⁺ − z⁻, both ≥ 0), a slack for each finite bound, the right-hand side.
    """
    n = len(cost)
    bounded = [(j, bound) for j, bound in enumerate([*upper, *lower]) if np.isfinite(bound)]
    width = 2 * n + len(bounded) + 1
    rows = [[*row, *(-entry for entry in row), *[Fraction(0)] * (len(bounded) + 1)] for row in M]
    rows += [
        [Fraction(c in (j, 2 * n + i)) for c in range(width - 1)] + [Fraction(bound)]
        for i, (j, bound) in enumerate(bounded)
    ]
    gain = [*cost, *(-c for c in cost), *[Fraction(0)] * (len(bounded) + 1)]
    basis: list[int] = []
    for i in range(len(M)):  # a basis of the relations: all of value 0
        column = next((j for j in range(2 * n) if rows[i][j]), None)
        basis.append(-1 if column is None else column)
        if column is not None:
            _pivot(rows, gain, i, column)
    basis += [2 * n + i for i in range(len(bounded))]
    while (enter := next((j for j in range(width - 1) if gain[j] > 0), None)) is not None:
        ratios = [
            (row[-1] / row[enter], basis[i], i)
            for i, row in enumerate(rows)
            if basis[i] >= 0 and row[enter] > 0
        ]
        if not ratios:
            return np.inf
        _, _, leave = min(ratios)
        basis[leave] = enter
        _pivot(rows, gain, leave, enter)
    return float(-gain[-1])


def _pivot(rows: list[list[Fraction]], gain: list[Fraction], i: int, column: int) -> None:
    """Makes the column a unit column with its 1 in row i."""
    rows[i] = [entry / rows[i][column] if entry else entry for entry in rows[i]]
    for row in (*rows[:i], *rows[i + 1 :], gain):
        if factor := row[column]:
            row[:] = [entry - factor * by if by else entry for entry, by in zip(row, rows[i], strict=True)]


# --- CTA (METHOD §3) ----------------------------------------------------------------------------------------


def closest_tables(
    problem: ProtectionProblem, needed: np.ndarray, weight: np.ndarray
) -> dict[tuple[int, ...], float]:
    """Sense vector → least Σ w|x − a| over the aggregate cells, by one LP for each way of
    moving the primaries down or up.

    Sense vectors without a table are left out. `needed` (primaries, 2) are the levels,
    `weight` those of the aggregate cells.
    """
    primaries = np.flatnonzero(problem.primary)
    n, k = problem.space.size, len(weight)
    M, a = relations(problem.space), problem.a
    distance = np.hstack([np.zeros((k, n - k)), np.eye(k)])  # x − t ≤ a and −x − t ≤ −a on the aggregates
    A_ub = np.vstack([np.hstack([distance, -np.eye(k)]), np.hstack([-distance, -np.eye(k)])])
    b_ub = np.concatenate([a[n - k :], -a[n - k :]])
    found = {}
    for senses in product((DOWN, UP), repeat=len(primaries)):
        lower, upper = np.where(problem.public, a, problem.lb), np.where(problem.public, a, problem.ub)
        lower[n - k :], upper[n - k :] = -np.inf, np.inf
        for p, sense, (down, up) in zip(primaries, senses, needed, strict=True):
            if sense == UP:
                lower[p] = a[p] + up
            else:
                upper[p] = a[p] - down
        if (lower > upper + 1e-9).any():
            continue
        bounds = np.vstack(
            [
                np.column_stack([lower, np.maximum(lower, upper)]),
                np.column_stack([np.zeros(k), np.full(k, np.inf)]),
            ]
        )
        result = linprog(
            np.concatenate([np.zeros(n), weight]),
            A_ub=A_ub,
            b_ub=b_ub,
            A_eq=np.hstack([M, np.zeros((len(M), k))]),
            b_eq=np.zeros(len(M)),
            bounds=bounds,
            method="highs",
        )
        if result.status == 0:
            found[senses] = float(result.fun)
    return found


# --- small random releases ----------------------------------------------------------------------------------

ACTIVITIES = (
    Hierarchy("ACTIVITY", ("TOTAL",), (None,)),
    Hierarchy("ACTIVITY", ("TOTAL", "A", "B"), (None, "TOTAL", "TOTAL")),
    Hierarchy("ACTIVITY", ("TOTAL", "A", "A1", "A2", "B"), (None, "TOTAL", "A", "A", "TOTAL")),
    Hierarchy(  # a special aggregate that crosses the tree
        "ACTIVITY",
        ("TOTAL", "A", "A1", "A2", "B", "X"),
        (None, "TOTAL", "A", "A", "TOTAL", None),
        (("X", ("A1", "B")),),
    ),
    Hierarchy(  # a second tree over the same codes
        "ACTIVITY",
        ("TOTAL", "A", "B", "C", "AB"),
        (None, "TOTAL", "TOTAL", "TOTAL", None),
        (("TOTAL", ("AB", "C")), ("AB", ("A", "B"))),
    ),
)
SIZES = (
    Hierarchy("SIZECLASS", ("_T",), (None,)),
    Hierarchy("SIZECLASS", ("_T", "S", "L"), (None, "_T", "_T")),
)
COUNTRIES = ("AT", "BE", "CY", "UK")
BASES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True)
class Draw:
    """A release with a random generator of its own for what a test decides afterwards."""

    problem: ProtectionProblem
    rng: np.random.Generator

    def publication(self) -> Publication:
        """Any publication whose intervals hold the truth: exact, rounded (not always to
        the nearest multiple) or withheld.
        """
        p = self.problem
        cells = np.flatnonzero(p.aggregate)
        kind = self.rng.choice(["exact", "rounded", "withheld"], len(cells), p=self.rng.dirichlet([2, 3, 1]))
        base = self.rng.choice(BASES, len(cells)).astype(float)
        value = p.a[cells] + base * np.round(self.rng.uniform(-0.5, 0.5, len(cells)), 3)
        return Publication(
            cells,
            np.select([kind == "exact", kind == "rounded"], [p.a[cells], value], np.nan),
            np.select([kind == "exact", kind == "rounded"], [0.0, base], np.inf),
        )


def table_of(space: CellSpace, leaves: Iterable[float]) -> np.ndarray:
    """All cells of the release from the leaves of the countries, by adding up every cell from the leaves
    below it.
    """
    below = [_leaves(hierarchy) for hierarchy in space.hierarchies]
    keys = all_keys(space)
    position = {key: i for i, key in enumerate(keys)}
    members = {aggregate.code: aggregate.members for aggregate in space.aggregates}
    at = [
        k
        for k in keys
        if k[0] in space.countries and all(b[code] == {code} for b, code in zip(below, k[2:], strict=True))
    ]
    a = np.zeros(len(keys))
    a[[position[key] for key in at]] = list(leaves)
    for key in set(keys) - set(at):
        parts = product(
            members.get(key[0], (key[0],)),
            (key[1],),
            *(sorted(b[code]) for b, code in zip(below, key[2:], strict=True)),
        )
        a[position[key]] = sum(a[position[part]] for part in parts)
    return a


def leaf_count(space: CellSpace) -> int:
    """How many leaves `table_of` needs."""
    leaves = [
        sum(below == {code} for code, below in _leaves(hierarchy).items()) for hierarchy in space.hierarchies
    ]
    return len(space.countries) * len(space.indicators) * int(np.prod(leaves))


def _leaves(hierarchy: Hierarchy) -> dict[str, set[str]]:
    """code → the leaves below it, itself for a leaf."""

    def under(code: str) -> set[str]:
        parts = {part for family in _families(hierarchy, code) for part in family}
        return set().union(*map(under, parts)) if parts else {code}

    return {code: under(code) for code in hierarchy.codes}


@st.composite
def spaces(draw: st.DrawFn) -> CellSpace:
    """Two to four countries, one or two hierarchies, one or two compositions that share members."""
    countries = COUNTRIES[: draw(st.integers(2, 4))]
    aggregates = [Aggregate("EU28", countries)]
    if draw(st.booleans()):
        aggregates.append(Aggregate("EU27", countries[:-1]))
    indicators = ("TURNOVER", "WAGES")[: draw(st.sampled_from([1, 1, 1, 2]))]
    return CellSpace(
        countries,
        tuple(aggregates),
        indicators,
        (draw(st.sampled_from(ACTIVITIES)), draw(st.sampled_from(SIZES))),
    )


@st.composite
def releases(draw: st.DrawFn, most: int = 8, signed: bool | None = None, sliding: bool = True) -> Draw:
    """A random small release with at most `most` primaries. Levels up to 150 % of the value,
    some cells with external bounds.
    """
    space = draw(spaces())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    negative = draw(st.booleans()) if signed is None else signed
    leaves = rng.integers(1, 500, leaf_count(space)) * rng.choice([0, 1, 1, 1, 10], leaf_count(space))
    a = table_of(space, leaves * (rng.choice([-1, 1], len(leaves)) if negative else 1))
    national = np.arange(space.size) < len(space.countries) * space.national_size
    suppressed = national & (rng.random(space.size) < rng.choice([0.3, 0.6, 0.9]))
    candidates = np.flatnonzero(suppressed & (a != 0))
    primary = np.zeros(space.size, dtype=bool)
    primary[rng.permutation(candidates)[: rng.integers(0, most + 1)]] = True
    size = np.abs(a) * primary
    lpl, upl = (np.round(size * rng.choice([0.05, 0.1, 0.3, 1.5], space.size), 2) for _ in range(2))
    spl = (
        np.round((lpl + upl) * rng.choice([0.0, 0.0, 1.5, 3.0], space.size), 2)
        if sliding
        else np.zeros(space.size)
    )
    bounded = rng.random(space.size) < rng.choice([0.0, 0.3])
    lb = np.where(bounded, np.floor(a - np.abs(a) * rng.random(space.size)), -np.inf if negative else 0.0)
    ub = np.where(bounded, np.ceil(a + np.abs(a) * rng.random(space.size)), np.inf)
    lb[~national], ub[~national] = -np.inf if negative else 0.0, np.inf
    problem = ProtectionProblem(
        space=space,
        a=a,
        lb=lb,
        ub=ub,
        lpl=lpl,
        upl=upl,
        spl=spl,
        public=national & ~suppressed,
        primary=primary,
        deliveries=("drawn",),
    )
    return Draw(problem, rng)


# --- releases drawn by hand ---------------------------------------------------------------------------------

ONE_CELL = (Hierarchy("ACTIVITY", ("TOTAL",), (None,)),)


def one_cell_release(cells: str, **compositions: str) -> ProtectionProblem:
    """Countries with one cell each, such as `AT 100 secret 10 | BE 240 public | CY 357 hidden`; `EU="AT BE
    CY"`.

    secret: primary, with its level; hidden: suppressed only.
    """
    entries = [entry.split() for entry in cells.split("|")]
    space = CellSpace(
        tuple(country for country, *_ in entries),
        tuple(Aggregate(code, tuple(members.split())) for code, members in compositions.items()),
        ("TURNOVER",),
        ONE_CELL,
    )
    kinds = np.array([entry[2] for entry in entries] + ["aggregate"] * len(compositions))
    level = np.array(
        [float(entry[3]) if entry[2] == "secret" else 0.0 for entry in entries] + [0.0] * len(compositions)
    )
    n = space.size
    return ProtectionProblem(
        space=space,
        a=table_of(space, [float(entry[1]) for entry in entries]),
        lb=np.zeros(n),
        ub=np.full(n, np.inf),
        lpl=level,
        upl=level.copy(),
        spl=np.zeros(n),
        public=kinds == "public",
        primary=kinds == "secret",
        deliveries=("drawn",),
    )


def published(problem: ProtectionProblem, *cells: tuple[float, float] | str) -> Publication:
    """One entry per aggregate cell: (value, base), `exact` or `withheld`."""
    flat = np.flatnonzero(problem.aggregate)
    told = [
        (problem.a[cell], 0.0) if entry == "exact" else (np.nan, np.inf) if entry == "withheld" else entry
        for cell, entry in zip(flat, cells, strict=True)
    ]
    return Publication(
        flat, np.array([float(value) for value, _ in told]), np.array([float(base) for _, base in told])
    )


def everything(problem: ProtectionProblem, how: str) -> Publication:
    """Every aggregate cell `exact` or `withheld`."""
    return published(problem, *[how] * int(problem.aggregate.sum()))
