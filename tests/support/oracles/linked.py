"""A statistic of a few tables that come out one after the other, drawn at random; and what an attacker finds
in it, by a dense linear program over cells that have one name whatever table they are in.

Nothing here is of the program but the types in which its answers come.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from scipy.optimize import linprog

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy

COUNTRIES = ("AT", "BE", "DE")
ACTIVITY = Hierarchy("ACTIVITY", ("T", "X", "Y"), (None, "T", "T"))
SIZE = Hierarchy("SIZE", ("_T", "S", "L"), (None, "_T", "_T"))
REGION = Hierarchy("REGION", ("_N", "N1", "N2"), (None, "_N", "_N"))
KINDS = {"main": (ACTIVITY,), "size": (ACTIVITY, SIZE), "region": (ACTIVITY, REGION), "few": (SIZE,)}
QUARTERS = ("2024-Q1", "2024-Q2", "2024-Q3", "2024-Q4")
YEAR = "2024"
Cell = tuple[str, str, str, str, str]  # country, period, activity, size, region
CLOSE = 1e-6


@dataclass
class Table:
    """A table of the statistic: its kind and period, its problem, and what came out, once it did."""

    kind: str
    period: str
    problem: ProtectionProblem
    names: list[Cell] = field(repr=False)
    publication: Publication | None = None


@dataclass
class Statistic:
    tables: list[Table]
    value: Mapping[Cell, float] = field(repr=False)


def drawn(seed: int) -> Statistic:
    """Two or three tables of one statistic, with cells hidden in all tables that have them."""
    rng = np.random.default_rng(seed)
    countries = COUNTRIES[: int(rng.integers(2, 4))]
    size = (len(countries), 4, 2, 2, 2)
    leaves = np.where(rng.random(size) < 0.2, 0, rng.integers(1, 60, size))
    dominated = rng.random(size) < 0.1
    leaves = np.where(dominated, leaves * 20, leaves).astype(float)
    value = _values(countries, leaves)
    wanted = _tables(rng)
    names = {each: list(_names(countries, *each)) for each in wanted}
    hidden, level = _hidden(rng, sorted({cell for cells in names.values() for cell in cells}), value)
    tables = [
        Table(*each, _problem(countries, each, names[each], value, hidden, level), names[each])
        for each in wanted
    ]
    return Statistic(tables, value)


def _tables(rng: np.random.Generator) -> list[tuple[str, str]]:
    """The tables in the order in which they come out."""
    kinds = list(KINDS)
    if rng.random() < 0.5:  # tables of one year
        chosen = rng.choice(kinds, int(rng.integers(2, 4)), replace=False)
        found = [(str(kind), YEAR) for kind in chosen]
    else:  # quarters, or some of them, and the year; at times by other tables
        last = int(rng.integers(1, 5))
        kind = str(rng.choice(kinds))
        other = kind if rng.random() < 0.6 else str(rng.choice(kinds))
        found = [(kind, quarter) for quarter in QUARTERS[:last]] + [(other, YEAR)]
    order = rng.permutation(len(found))
    return [found[i] for i in order]


def _values(countries: Sequence[str], leaves: np.ndarray) -> dict[Cell, float]:
    """The value of every cell that any table could have."""
    found = {}
    axes = [
        {**{q: (i,) for i, q in enumerate(QUARTERS)}, YEAR: (0, 1, 2, 3)},
        {"X": (0,), "Y": (1,), "T": (0, 1)},
        {"S": (0,), "L": (1,), "_T": (0, 1)},
        {"N1": (0,), "N2": (1,), "_N": (0, 1)},
    ]
    for i, country in enumerate(countries):
        for codes in product(*axes):
            at = np.ix_(*(axis[code] for axis, code in zip(axes, codes, strict=True)))
            found[(country, *codes)] = float(leaves[i][at].sum())
    return found


def _names(countries: Sequence[str], kind: str, period: str) -> Iterator[Cell]:
    dimensions = [hierarchy.dimension for hierarchy in KINDS[kind]]
    for country in countries:
        for codes in product(*(hierarchy.codes for hierarchy in KINDS[kind])):
            at = dict(zip(dimensions, codes, strict=True))
            yield country, period, at.get("ACTIVITY", "T"), at.get("SIZE", "_T"), at.get("REGION", "_N")


def _hidden(
    rng: np.random.Generator, cells: Sequence[Cell], value: Mapping[Cell, float]
) -> tuple[set[Cell], dict[Cell, float]]:
    """The hidden cells, and the level of the primary ones. Most cells are hidden, and fewer totals."""
    share, fewer = ((0.9, 0.85), (0.75, 0.75))[int(rng.integers(2))]
    hidden, level = set[Cell](), dict[Cell, float]()
    for cell in cells:
        totals = [cell[2] == "T", cell[3] == "_T", cell[4] == "_N", cell[1] == YEAR].count(True)
        if rng.random() < share * fewer**totals:
            hidden.add(cell)
            if value[cell] > 0 and rng.random() < 0.35:
                level[cell] = round(value[cell] * float(rng.choice([0.05, 0.1, 0.2])), 3)
    return hidden, level


def _problem(
    countries: Sequence[str],
    table: tuple[str, str],
    names: Sequence[Cell],
    value: Mapping[Cell, float],
    hidden: Collection[Cell],
    level: Mapping[Cell, float],
) -> ProtectionProblem:
    space = CellSpace(tuple(countries), (Aggregate("EU", tuple(countries)),), ("TURNOVER",), KINDS[table[0]])
    national = np.array([value[name] for name in names])
    a = np.concatenate([national, national.reshape(len(countries), -1).sum(axis=0)])
    none = np.zeros(space.national_size)
    levels = np.concatenate([[level.get(name, 0.0) for name in names], none])
    return ProtectionProblem(
        space,
        a,
        np.zeros(len(a)),
        np.full(len(a), np.inf),
        levels,
        levels,
        np.zeros(len(a)),
        np.concatenate([[name not in hidden for name in names], none > 0]),
        levels > 0,
        (f"{table[0]} {table[1]}",),
    )


def reach(
    out: Sequence[Table], told: Collection[int], cell: Cell, value: Mapping[Cell, float]
) -> tuple[float, float]:
    """How far below and above its value an attacker must leave a cell who has the national tables of all
    these releases, and of the `told` ones what they published of the aggregates.
    """
    names = sorted({name for each in out for name in each.names})
    column = {name: i for i, name in enumerate(names)}
    known = {name for each in out for k, name in enumerate(each.names) if each.problem.public[k]}
    equal, below, bounds = list[tuple[np.ndarray, float]](), list[tuple[np.ndarray, float]](), []
    for name in names:
        bounds.append((value[name], value[name]) if name in known else (0.0, None))

    def row(terms: Mapping[Cell, float]) -> np.ndarray:
        found = np.zeros(len(names))
        for name, factor in terms.items():
            found[column[name]] += factor
        return found

    for each in out:
        for name in each.names:
            for position, hierarchy in ((2, ACTIVITY), (3, SIZE), (4, REGION)):
                if (
                    hierarchy in KINDS[each.kind]
                    and hierarchy.parent[hierarchy.index[name[position]]] is None
                ):
                    parts = [
                        (*name[:position], code, *name[position + 1 :])
                        for code, parent in zip(hierarchy.codes, hierarchy.parent, strict=True)
                        if parent is not None
                    ]
                    equal.append((row({name: -1.0, **dict.fromkeys(parts, 1.0)}), 0.0))
    for name in names:
        if name[1] == YEAR:
            parts = [part for q in QUARTERS if (part := (name[0], q, *name[2:])) in column]
            terms = row({name: -1.0, **dict.fromkeys(parts, 1.0)})
            (equal if len(parts) == len(QUARTERS) else below).append((terms, 0.0))
    for number in sorted(told):
        each = out[number]
        assert each.publication is not None
        n = each.problem.space.national_size
        for k in range(n):
            terms = row({each.names[i]: 1.0 for i in range(k, len(each.names), n)})
            low, high = float(each.publication.lower[k]), float(each.publication.upper[k])
            if np.isfinite(high):
                below.append((terms, high))
            if np.isfinite(low):
                below.append((-terms, -low))
    ends = []
    for sense in (1.0, -1.0):
        found = linprog(
            sense * row({cell: 1.0}),
            *(_system(below)),
            *(_system(equal)),
            bounds=bounds,
            method="highs",
        )
        if found.status == 3:
            ends.append(np.inf)
        else:
            assert found.status == 0, found.message
            ends.append(abs(value[cell] - sense * found.fun))
    return ends[0], ends[1]


def _system(rows: Sequence[tuple[np.ndarray, float]]) -> tuple[np.ndarray | None, np.ndarray | None]:
    if not rows:
        return None, None
    return np.array([each for each, _ in rows]), np.array([end for _, end in rows])


def broken(
    out: Sequence[Table], value: Mapping[Cell, float], without: Collection[Cell]
) -> list[tuple[Cell, tuple[int, ...]]]:
    """The primaries of all tables that are out, the last one now, that this one leaves less than their level
    or than what an attacker had left before it, with the tables that this attacker has besides.
    """
    last = len(out) - 1
    level: dict[Cell, float] = {}
    for each in out:
        for k, name in enumerate(each.names):
            if each.problem.primary[k] and name not in without:
                level[name] = max(level.get(name, 0.0), float(each.problem.lpl[k]))
    found = []
    for name, need in sorted(level.items()):
        for chosen in product((False, True), repeat=last):
            had = tuple(i for i in range(last) if chosen[i])
            left = reach(out, (*had, last), name, value)
            if min(left) >= need - CLOSE:
                continue
            before = reach(out, had, name, value)
            if any(
                now < min(need, then) - CLOSE * (1 + need) for now, then in zip(left, before, strict=True)
            ):
                found.append((name, had))
    return found
