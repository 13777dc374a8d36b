"""Some primaries of a very large pattern, each judged by two linear programs of its own, in a
neighbourhood where they can be solved.

The programs know nothing of hypercubes. The neighbourhood of a primary holds the hidden cells where codes
cross, in each dimension a few whose cell beside the primary is hidden; everything else stays as it is. What
can move in the neighbourhood can move in the table, so a solution proves that the primary is protected.
Without a solution nothing is proven.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Ints

NEAR = (
    4,
    12,
    1_000,
)  # codes beside the primary in each dimension: more, and at last all, where fewer do not show it
MET = 1e-6  # relative: what the solver's tolerances leave of a need
MISSED = 1e-6  # of what the primary moves: the most that a solution may miss a relation by


def not_shown(problem: SensitiveTable, hidden: Bools, number: int, seed: int = 1) -> tuple[Ints, Ints]:
    """The primaries that were drawn (at most `number`), and those of them that no program shows to be
    protected.
    """
    wanted = np.flatnonzero(
        problem.primary & (np.maximum(np.maximum(problem.up, problem.down), problem.width) > 0)
    )
    drawn = np.sort(np.random.default_rng(seed).choice(wanted, min(number, len(wanted)), replace=False))
    by_column = sp.csc_array(problem.M)
    return drawn, np.array(
        [p for p in drawn.tolist() if not _shown(problem, hidden, by_column, p)], dtype=np.int64
    )


def _shown(problem: SensitiveTable, hidden: Bools, by_column: sp.csc_array, p: int) -> bool:
    known = (problem.respondents >= 0) & (problem.respondents != problem.guards[p])
    moves = hidden & ~problem.fixed & ~known
    return any(_shown_among(problem, by_column, p, _neighbourhood(problem, moves, p, most)) for most in NEAR)


def _shown_among(problem: SensitiveTable, by_column: sp.csc_array, p: int, near: Ints) -> bool:
    M = sp.csr_array(by_column[:, near])
    M = M[np.flatnonzero(np.diff(M.indptr))]
    place = int(np.flatnonzero(near == p)[0])
    unit = max(float(problem.up[p]), float(problem.down[p]), float(problem.width[p]))
    reach = []
    for sign, need in ((1.0, problem.up[p]), (-1.0, problem.down[p])):
        if not need and not problem.width[p]:
            reach.append(0.0)
            continue
        low, high = (problem.lb - problem.a)[near] / unit, (problem.ub - problem.a)[near] / unit
        cost = np.zeros(len(near))
        cost[place] = -sign
        (high if sign > 0 else low)[place] = sign * min(1.0, float((high if sign > 0 else -low)[place]))
        found = linprog(
            cost, A_eq=M, b_eq=np.zeros(M.shape[0]), bounds=np.column_stack([low, high]), method="highs"
        )
        moved = 0.0 if found.x is None else max(0.0, sign * float(found.x[place]))
        sound = found.x is not None and np.abs(M @ found.x).max(initial=0.0) <= MISSED * max(moved, MISSED)
        reach.append(moved * unit if sound else 0.0)
    needs = (problem.up[p], problem.down[p], problem.width[p])
    return all(far >= need * (1 - MET) for far, need in zip((*reach, sum(reach)), needs, strict=True))


def _neighbourhood(problem: SensitiveTable, moves: Bools, p: int, most: int) -> Ints:
    """The cells that may move where codes cross: in each dimension that of p, and at most so many
    whose cell beside p has most room.
    """
    assert problem.grid is not None
    cell, sizes = problem.grid.cell, problem.grid.sizes
    whole = cell.reshape(sizes)
    at = np.unravel_index(int(np.flatnonzero(cell == p)[0]), sizes)
    lines = [
        whole[tuple(slice(None) if other == axis else place for other, place in enumerate(at))]
        for axis in range(len(sizes))
    ]
    room = np.where(moves, np.minimum(problem.ub - problem.a, problem.a - problem.lb), -1.0)
    codes = []
    for line, place in zip(lines, at, strict=True):
        others = [
            code
            for code in np.argsort(-room[line], kind="stable").tolist()
            if moves[line[code]] and code != place
        ]
        codes.append(sorted([int(place), *others[:most]]))
    box = whole[np.ix_(*codes)].ravel()
    return np.asarray(np.sort(box[moves[box]]))
