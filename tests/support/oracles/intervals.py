"""The narrowest safe intervals by one linear program with a copy of the table for each primary and side; nothing of the room is used."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from sdc_tasks.methods.suppression.problem import SuppressionProblem

SLACK = 1e-6


def least_loss(problem: SuppressionProblem, weight: np.ndarray) -> float | None:
    """The least loss; None where nothing is safe. A width is a copy for each end of it."""
    n = len(problem.a)
    copies = [(int(p), sides) for p in problem.primaries for sides in ((1,), (-1,), (1, -1))]
    copies = [(p, sides) for p, sides in copies if _need(problem, p, sides) > 0]
    width = 2 * n + n * sum(len(sides) for _, sides in copies)
    equal, most, least = [], [], []
    start = 2 * n
    for p, sides in copies:
        reach = sp.lil_array((1, width))
        for side in sides:
            place = slice(start, start + n)
            start += n
            still = problem.lone & (problem.respondents != problem.guards[p])
            moves = sp.diags_array((~still).astype(float))
            block = sp.lil_array((problem.M.shape[0], width))
            block[:, place] = problem.M
            equal.append(block)
            for own, sign in ((slice(0, n), -1.0), (slice(n, 2 * n), 1.0)):  # −below ≤ z ≤ above
                rows = sp.lil_array((n, width))
                rows[:, place] = sign * sp.eye_array(n)
                rows[:, own] = -moves
                most.append(rows)
            reach[0, place.start + p] = -side
        most.append(reach)
        least.append((sum(block.shape[0] for block in most) - 1, -_need(problem, p, sides)))
    cost = np.concatenate([weight, weight, np.zeros(width - 2 * n)])
    room = np.concatenate([problem.a - problem.lb, problem.ub - problem.a])
    room[np.concatenate([problem.fixed, problem.fixed])] = 0.0
    bounds = [(0.0, high) for high in room] + [(None, None)] * (width - 2 * n)
    if not copies:
        return 0.0
    upper = np.zeros(sum(block.shape[0] for block in most))
    for row, value in least:
        upper[row] = value
    A, E = sp.csr_array(sp.vstack(most)), sp.csr_array(sp.vstack(equal))
    found = linprog(cost, A_ub=A, b_ub=upper, A_eq=E, b_eq=np.zeros(E.shape[0]), bounds=bounds, method="highs")
    return float(found.fun) if found.status == 0 else None


def _need(problem: SuppressionProblem, p: int, sides: tuple[int, ...]) -> float:
    return float(problem.width[p] if len(sides) == 2 else problem.up[p] if sides == (1,) else problem.down[p])


def attacked(problem: SuppressionProblem, below: np.ndarray, above: np.ndarray, cell: int) -> tuple[float, float]:
    """The smallest and the largest value of a cell that agree with relations and intervals; other single respondents know theirs."""
    known = problem.lone & (problem.respondents != problem.guards[cell])
    low, high = problem.a - np.where(known, 0, below), problem.a + np.where(known, 0, above)
    ends = []
    for sign in (1.0, -1.0):
        cost = np.zeros(len(problem.a))
        cost[cell] = sign
        found = linprog(cost, A_eq=problem.M, b_eq=problem.rhs, bounds=np.column_stack([low, high]), method="highs")
        assert found.status == 0, found.message
        ends.append(float(found.fun))
    return ends[0], -ends[1]


def exposed(problem: SuppressionProblem, below: np.ndarray, above: np.ndarray) -> list[int]:
    """The primaries that fall short of a level."""
    short = []
    for p in problem.primaries:
        low, high = attacked(problem, below, above, int(p))
        slack = SLACK * max(problem.up[p], problem.down[p], problem.width[p]) + 1e-7
        down, up = problem.a[p] - low, high - problem.a[p]
        if down < problem.down[p] - slack or up < problem.up[p] - slack or down + up < problem.width[p] - slack:
            short.append(int(p))
    return short
