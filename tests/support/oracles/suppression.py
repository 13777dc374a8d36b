"""Cell suppression solved without any code of the room: the attacker by two programs a cell, the least cost
by enumeration or by the whole model ([2] eq. 7) at once.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from sdc_tasks.model.sensitive import SensitiveTable

SLACK = 1e-6


def asked(problem: SensitiveTable) -> list[tuple[int, float, float, float, int]]:
    """(cell, down, up, width, whom it protects) of every level: the primaries' own, then those of further
    contributors.
    """
    found = [
        (
            int(p),
            float(problem.down[p]),
            float(problem.up[p]),
            float(problem.width[p]),
            int(problem.guards[p]),
        )
        for p in problem.primaries
    ]
    for level, guarded in zip(problem.beside, problem.beside_guarded, strict=True):
        for p in problem.primaries[level[problem.primaries] > 0].tolist():
            his = (
                problem.respondents[problem.lone & (problem.respondent == guarded[p]) & (guarded[p] >= 0)]
                if guarded[p] >= 0
                else []
            )
            down, up = (
                min(level[p], problem.a[p] - problem.lb[p]),
                min(level[p], problem.ub[p] - problem.a[p]),
            )
            found.append((p, down, up, 0.0, int(his[0]) if len(his) else -1))
    return found


def interval(
    problem: SensitiveTable, pattern: np.ndarray, cell: int, guard: int | None = None
) -> tuple[float, float]:
    """The smallest and the largest value of a cell that agree with what is open ([2] eq. 6, 9),
    for all respondents but the guard.
    """
    known = ~pattern | (
        problem.lone & (problem.respondents != (problem.guards[cell] if guard is None else guard))
    )
    low, high = np.where(known, problem.a, problem.lb), np.where(known, problem.a, problem.ub)
    ends = []
    for sign in (1.0, -1.0):
        cost = np.zeros(len(problem.a))
        cost[cell] = sign
        found = linprog(
            cost, A_eq=problem.M, b_eq=problem.rhs, bounds=np.column_stack([low, high]), method="highs"
        )
        ends.append(-np.inf if found.status == 3 else found.fun)
    return float(ends[0]), float(-ends[1])


def unprotected(problem: SensitiveTable, pattern: np.ndarray) -> list[int]:
    """The primaries that fall short of a requirement."""
    short = []
    for p, down, up, width, guard in asked(problem):
        low, high = interval(problem, pattern, p, guard)
        slack = SLACK * max(up, down, width)
        below, above = problem.a[p] - low, high - problem.a[p]
        if below < down - slack or above < up - slack or below + above < width - slack:
            short.append(p)
    return sorted(set(short))


def least_by_enumeration(problem: SensitiveTable) -> float | None:
    """The least cost of a safe pattern, trying all of them from the cheapest on; None where there is none."""
    free = np.flatnonzero(~problem.primary & ~problem.fixed)
    patterns = [chosen for size in range(len(free) + 1) for chosen in combinations(free.tolist(), size)]
    wanted = problem.primary & (np.maximum(problem.up, problem.down) > 0)
    for chosen in sorted(patterns, key=lambda cells: float(problem.cost[list(cells)].sum())):
        pattern = problem.primary.copy()
        pattern[list(chosen)] = True
        alone = np.flatnonzero(
            abs(problem.M).astype(bool) @ pattern.astype(int) == 1
        )  # a hidden cell alone in a relation: known
        if (wanted & pattern & (abs(problem.M[alone]).sum(axis=0) > 0)).any():
            continue
        if not unprotected(problem, pattern):
            return problem.cost_of(pattern)
    return None


def least_by_model(problem: SensitiveTable) -> float | None:
    """The least cost by the whole model ([2] eq. 7): one copy of the table for each primary
    and side; bounds must be finite.
    """
    n = len(problem.a)
    if not problem.primary.any():
        return 0.0
    copies = [
        (p, side, up if side > 0 else down, guard)
        for p, down, up, _, guard in asked(problem)
        for side in (1, -1)
    ]
    blocks, low, high = [], [], []
    width = n * (1 + len(copies))
    for k, (p, side, need, guard) in enumerate(copies):
        place = slice(n * (k + 1), n * (k + 2))
        may = ~problem.lone | (problem.respondents == guard)
        for rows, right in (
            (problem.M, (0.0, 0.0)),
            (sp.eye_array(n), (0.0, np.inf)),  # z ≥ (lb − a) y
            (sp.eye_array(n), (-np.inf, 0.0)),  # z ≤ (ub − a) y
        ):
            block = sp.lil_array((rows.shape[0], width))
            block[:, place] = rows
            if rows.shape[0] == n and rows is not problem.M:
                room = (problem.lb - problem.a) if right[1] == np.inf else (problem.ub - problem.a)
                block[:, :n] = -sp.diags_array(np.where(may, room, 0.0))
            blocks.append(block)
            low.append(np.full(rows.shape[0], right[0]))
            high.append(np.full(rows.shape[0], right[1]))
        block = sp.lil_array((1, width))
        block[0, n * (k + 1) + p] = side
        blocks.append(block)
        low.append(np.array([need]))
        high.append(np.array([np.inf]))
    y_low, y_high = problem.primary.astype(float), np.where(problem.fixed, 0.0, 1.0)
    far = np.full(n * len(copies), np.inf)
    model = {
        "c": np.concatenate([np.where(problem.primary, 0.0, problem.cost), np.zeros(n * len(copies))]),
        "constraints": LinearConstraint(
            sp.csr_array(sp.vstack(blocks)), np.concatenate(low), np.concatenate(high)
        ),
        "bounds": Bounds(np.concatenate([y_low, -far]), np.concatenate([y_high, far])),
        "integrality": np.concatenate([np.ones(n), np.zeros(n * len(copies))]),
    }
    for presolve in (True, False):  # with presolve HiGHS has called models infeasible that have a point
        found = milp(**model, options={"mip_rel_gap": 0.0, "presolve": presolve})
        if found.success:
            return float(found.fun)
    return None
