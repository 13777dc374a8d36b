"""The narrowest safe intervals by one linear program with a copy of the table for each primary and
side; nothing of the room is used.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from sdc_tasks.model.sensitive import SensitiveTable
from support.oracles.suppression import asked

SLACK = 1e-6


def least_loss(problem: SensitiveTable, weight: np.ndarray) -> float | None:
    """The least loss; None where nothing is safe. A width is a copy for each end of it."""
    n = len(problem.a)
    copies = [
        (p, sides, need, guard)
        for p, down, up, both, guard in asked(problem)
        for sides, need in (((1,), up), ((-1,), down), ((1, -1), both))
        if need > 0
    ]
    width = 2 * n + n * sum(len(sides) for _, sides, _, _ in copies)
    equal, most, least = [], [], []
    start = 2 * n
    for p, sides, need, guard in copies:
        reach = sp.lil_array((1, width))
        for side in sides:
            place = slice(start, start + n)
            start += n
            still = problem.lone & (problem.respondents != guard)
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
        least.append((sum(block.shape[0] for block in most) - 1, -need))
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
    found = linprog(
        cost, A_ub=A, b_ub=upper, A_eq=E, b_eq=np.zeros(E.shape[0]), bounds=bounds, method="highs"
    )
    return float(found.fun) if found.status == 0 else None


def attacked(
    problem: SensitiveTable, below: np.ndarray, above: np.ndarray, cell: int, guard: int
) -> tuple[float, float]:
    """The smallest and the largest value of a cell that agree with relations and intervals; other
    single respondents know theirs.
    """
    known = problem.lone & (problem.respondents != guard)
    low, high = problem.a - np.where(known, 0, below), problem.a + np.where(known, 0, above)
    return extremes(problem, low, high, cell)


def exposed(problem: SensitiveTable, below: np.ndarray, above: np.ndarray) -> list[int]:
    """The primaries that fall short of a level."""
    short = []
    for p, down, up, width, guard in asked(problem):
        low, high = attacked(problem, below, above, p, guard)
        slack = SLACK * max(up, down, width) + 1e-7
        below_it, above_it = problem.a[p] - low, high - problem.a[p]
        if below_it < down - slack or above_it < up - slack or below_it + above_it < width - slack:
            short.append(p)
    return sorted(set(short))


def extremes(problem: SensitiveTable, low: np.ndarray, high: np.ndarray, cell: int) -> tuple[float, float]:
    """The smallest and the largest value of a cell, where each (n,) lies between `low` and `high`."""
    ends = []
    for sign in (1.0, -1.0):
        cost = np.zeros(len(problem.a))
        cost[cell] = sign
        found = linprog(
            cost, A_eq=problem.M, b_eq=problem.rhs, bounds=np.column_stack([low, high]), method="highs"
        )
        assert found.status == 0, found.message
        ends.append(float(found.fun))
    return ends[0], -ends[1]
