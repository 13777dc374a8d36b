"""No cell coarser than what the others tell of it: precision that is given up for nothing is taken back.

A published parent and its published other parts fix an interval for a part, as a composition and a public member do for another
composition, and parts for their total. A base coarser than that interval protects nothing: everybody computes the interval, and only the
reader who does not loses. So, after a safe choice is found, each aggregate cell takes the option of least loss whose interval
still contains what the whole publication implies for it.

That is safe without another audit. Let X be the tables that the attacker cannot tell from the truth, and [L, U] a box that contains X.
If every new interval contains [L_k, U_k], every table of X fits the new publication as well: his new X is no smaller, whatever
he knows besides. The box comes from the bounds of all cells by propagation along the relations M x = 0, one relation at a time; it is wider
than the best one, which would take two linear programs for each cell.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.bases.ladder import Ladder
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Floats, Ints

PASSES = 20  # over all relations; each tightens the box, none is needed for it to be right
NOISE = 1e-15  # of the sums that a bound is the difference of


def sharpen(problem: ProtectionProblem, ladder: Ladder, choice: Ints) -> Ints:
    """The option of each aggregate cell, nowhere of more loss than the given one, and as safe."""
    low, high = implied(problem, ladder, choice)
    contains = (ladder.low >= low[:, None] * (1 - 1e-12)) & (ladder.high >= high[:, None] * (1 - 1e-12))
    loss = np.where(contains, ladder.loss, np.inf)
    best, every = loss.argmin(axis=1), np.arange(len(choice))
    return np.asarray(np.where(loss[every, best] < ladder.loss[every, choice], best, choice))


def implied(problem: ProtectionProblem, ladder: Ladder, choice: Ints) -> tuple[Floats, Floats]:
    """(low, high) of every aggregate cell: how far below and above the truth it may lie by all that the choice publishes."""
    every = np.arange(len(choice))
    low = np.where(problem.public, 0.0, problem.a - problem.lb)
    high = np.where(problem.public, 0.0, problem.ub - problem.a)
    low[ladder.cells] = np.minimum(low[ladder.cells], ladder.low[every, choice])
    high[ladder.cells] = np.minimum(high[ladder.cells], ladder.high[every, choice])
    M = sp.csr_array(problem.space.relations)
    for _ in range(PASSES):
        tighter = _propagate(M, low, high)
        if np.array_equal(tighter[0], low) and np.array_equal(tighter[1], high):
            break
        low, high = tighter
    return low[ladder.cells], high[ladder.cells]


def _propagate(M: sp.csr_array, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """One pass over M z = 0, entries ±1, −low ≤ z ≤ high: an entry reaches down as far as all others of its row reach up."""
    row, cell, plus = np.repeat(np.arange(M.shape[0]), np.diff(M.indptr)), M.indices, M.data > 0
    down, up = np.where(plus, low[cell], high[cell]), np.where(plus, high[cell], low[cell])
    reach_down, reach_up = _others(row, up, M.shape[0]), _others(row, down, M.shape[0])
    low, high = low.copy(), high.copy()
    np.minimum.at(low, cell, np.where(plus, reach_down, reach_up))
    np.minimum.at(high, cell, np.where(plus, reach_up, reach_down))
    return low, high


def _others(row: Ints, reach: Floats, rows: int) -> Floats:
    """For each entry the sum of the others of its row, never too small; ∞ where one of them is."""
    endless = np.isinf(reach)
    finite = np.where(endless, 0.0, reach)
    total, count = np.bincount(row, finite, rows)[row], np.bincount(row, endless, rows)[row]
    rest = np.maximum(total - finite, 0.0)
    rest += np.where(total > finite, NOISE * total * np.bincount(row, minlength=rows)[row], 0.0)
    return np.where(count - endless > 0, np.inf, rest)
