"""Tables of one period that share cells, some of which are revised once all are out; and what an attacker
finds in them by a dense linear program, in which a cell has one unknown for each of its values.

Nothing here is of the program but the types in which its answers come.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import linprog

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from support.oracles.linked import CLOSE, COUNTRIES, KINDS, YEAR, Cell, _hidden, _names, _problem, _values

Unknown = tuple[Cell, float]
PLACES = {"ACTIVITY": 2, "SIZE": 3, "REGION": 4}


@dataclass
class Version:
    """A version of a table: its problem, the unknown of each national cell, and what came out of it."""

    kind: str
    number: int
    problem: ProtectionProblem
    unknowns: list[Unknown]
    publication: Publication | None = None


def revised(seed: int) -> list[Version]:
    """Two or three tables in the order in which they come out, and then again some of them, revised."""
    rng = np.random.default_rng(seed)
    countries = COUNTRIES[: int(rng.integers(2, 4))]
    leaves = np.where(rng.random((len(countries), 4, 2, 2, 2)) < 0.2, 0, rng.integers(1, 60, 1)).astype(float)
    leaves = np.where(leaves > 0, rng.integers(1, 60, leaves.shape), leaves).astype(float)
    moved = np.where(rng.random(leaves.shape) < 0.15, rng.integers(1, 20, leaves.shape), 0)
    kinds = [str(kind) for kind in rng.choice([*KINDS], int(rng.integers(2, 4)), replace=False)]
    worlds = [_values(countries, leaves), _values(countries, leaves + moved)]
    names = {kind: list(_names(countries, kind, YEAR)) for kind in kinds}
    every = sorted({cell for cells in names.values() for cell in cells})
    hidden, level = _hidden(rng, every, worlds[0])
    again = [str(kind) for kind in rng.permutation(kinds)][: int(rng.integers(1, len(kinds) + 1))]
    return [
        Version(
            kind,
            world + 1,
            _problem(countries, (kind, YEAR), names[kind], worlds[world], hidden, level),
            [(name, worlds[world][name]) for name in names[kind]],
        )
        for world, some in enumerate((kinds, again))
        for kind in some
    ]


def in_force(out: Sequence[Version]) -> list[Version]:
    """The last version of each table."""
    return list({each.kind: each for each in out}.values())


def broken(out: Sequence[Version]) -> list[tuple[Unknown, tuple[int, ...]]]:
    """The primaries in force of which the last version leaves less than their level, or than what an attacker
    had left before it, with the versions that this attacker has besides.
    """
    last, level = len(out) - 1, dict[Unknown, float]()
    for each in in_force(out):
        for k, unknown in enumerate(each.unknowns):
            if each.problem.primary[k]:
                level[unknown] = max(level.get(unknown, 0.0), float(each.problem.lpl[k]))
    found = []
    for unknown, need in sorted(level.items()):
        for chosen in product((False, True), repeat=last):
            had = tuple(i for i in range(last) if chosen[i])
            left = reach(out, (*had, last), unknown)
            if min(left) >= need - CLOSE:
                continue
            before = reach(out, had, unknown)
            if any(n < min(need, b) - CLOSE * (1 + need) for n, b in zip(left, before, strict=True)):
                found.append((unknown, had))
    return found


def reach(out: Sequence[Version], told: Collection[int], asked: Unknown) -> tuple[float, float]:
    """How far below and above its value an attacker must leave an unknown who has the national tables in
    force, and of the `told` versions their national tables and what they published.
    """
    now = in_force(out)
    read = [each for i, each in enumerate(out) if i in told or any(each is one for one in now)]
    names = sorted({unknown for each in read for unknown in each.unknowns})
    column = {unknown: i for i, unknown in enumerate(names)}
    known = {one for each in read for k, one in enumerate(each.unknowns) if each.problem.public[k]}
    equal, below = list[tuple[np.ndarray, float]](), list[tuple[np.ndarray, float]]()

    def row(terms: Sequence[tuple[Unknown, float]]) -> np.ndarray:
        found = np.zeros(len(names))
        for unknown, factor in terms:
            found[column[unknown]] += factor
        return found

    for each in read:
        value = dict(each.unknowns)
        for name, total in each.unknowns:
            for hierarchy in KINDS[each.kind]:
                at = PLACES[hierarchy.dimension]
                if hierarchy.parent[hierarchy.index[name[at]]] is None:
                    parts = [
                        (*name[:at], code, *name[at + 1 :]) for code in hierarchy.codes if code != name[at]
                    ]
                    terms = [((name, total), -1.0), *(((part, value[part]), 1.0) for part in parts)]
                    equal.append((row(terms), 0.0))
    for each in (out[i] for i in sorted(told)):
        assert each.publication is not None
        n = each.problem.space.national_size
        for k in range(n):
            terms = row([(unknown, 1.0) for unknown in each.unknowns[k::n]])
            low, high = float(each.publication.lower[k]), float(each.publication.upper[k])
            below += [(terms, high)] if np.isfinite(high) else []
            below += [(-terms, -low)] if np.isfinite(low) else []
    bounds = [(one[1], one[1]) if one in known else (0.0, None) for one in names]
    ends = []
    for sense in (1.0, -1.0):
        found = linprog(sense * row([(asked, 1.0)]), *_system(below), *_system(equal), bounds=bounds)
        assert found.status in (0, 3), found.message
        ends.append(np.inf if found.status == 3 else abs(asked[1] - sense * found.fun))
    return ends[0], ends[1]


def _system(rows: Sequence[tuple[np.ndarray, float]]) -> tuple[np.ndarray | None, np.ndarray | None]:
    if not rows:
        return None, None
    return np.array([each for each, _ in rows]), np.array([end for _, end in rows])
