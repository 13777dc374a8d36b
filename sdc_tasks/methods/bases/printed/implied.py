"""Tightening to implied intervals (`sharpen` in a domain file): no cell is coarser than the interval that the
other published cells imply. This costs no protection.

A published parent and its other published parts leave an interval for a part. So do a composition and a
public member for another composition, and parts for their total. A base coarser than that interval protects
nothing: everybody can compute the interval. So, after a safe choice is found, each aggregate cell takes the
option of least loss whose interval still contains the implied interval.

This is safe without another audit. Let X be the tables that the attacker cannot tell from the truth, and [L,
U] a box that contains X. If every new interval contains [L_k, U_k], every table of X fits the new publication
too: the new X is no smaller, whatever else the attacker knows. The box comes from the bounds of all cells by
propagation along the relations M x = 0, one relation at a time. It is wider than the tightest box, which
would take two linear programs for each cell.

A cell may still be coarser than what one relation implies (`dominated_by_relation`). Then no finer base of
the ladder has an interval around its nearest multiple that contains the implied one. To print a finer base
would tell something, and only an audit could say to whom. Such a cell stays as it is, because withholding it
would protect nobody either, and the report names it.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.bases.ladder import Ladder
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import EPSILON, ROUNDING

BOX_PASSES = 20  # over all relations; each pass tightens the box, which is valid after any number of passes
NARROWER_WIDTH = 0.99  # times a published width: an interval below this counts as narrower


def tighten_to_implied_intervals(problem: ProtectionProblem, ladder: Ladder, choice: Ints) -> Ints:
    """The tightened choice: no cell loses more than in the given choice, and it is as safe."""
    low, high = implied(problem, ladder, choice)
    contains = (ladder.low >= low[:, None] * (1 - ROUNDING)) & (ladder.high >= high[:, None] * (1 - ROUNDING))
    loss = np.where(contains, ladder.loss, np.inf)
    best, every = loss.argmin(axis=1), np.arange(len(choice))
    return np.asarray(np.where(loss[every, best] < ladder.loss[every, choice], best, choice))


def implied(problem: ProtectionProblem, ladder: Ladder, choice: Ints) -> tuple[Floats, Floats]:
    """(low, high) of every aggregate cell: how far below and above the truth it may lie, given
    everything that the choice publishes.
    """
    every = np.arange(len(choice))
    return _left(problem, ladder.cells, ladder.low[every, choice], ladder.high[every, choice])


def box(problem: ProtectionProblem, publication: Publication) -> tuple[Floats, Floats]:
    """(lower, upper) of every aggregate cell: the interval that everything published leaves."""
    truth = problem.a[publication.cells]
    low, high = _left(problem, publication.cells, *_own(problem, publication))
    return truth - low, truth + high


def _own(problem: ProtectionProblem, publication: Publication) -> tuple[Floats, Floats]:
    """How far below and above the truth each cell may lie, given only its own published interval."""
    truth, exact = problem.a[publication.cells], publication.exact
    return np.where(exact, 0.0, truth - publication.lower), np.where(exact, 0.0, publication.upper - truth)


def _left(problem: ProtectionProblem, cells: Ints, below: Floats, above: Floats) -> tuple[Floats, Floats]:
    """The same, given the published intervals of all cells."""
    low, high = _free(problem)
    low[cells], high[cells] = np.minimum(low[cells], below), np.minimum(high[cells], above)
    M = sp.csr_array(problem.space.alone.relations)
    for _ in range(BOX_PASSES):
        tighter = _propagate(M, low, high)
        if np.array_equal(tighter[0], low) and np.array_equal(tighter[1], high):
            break
        low, high = tighter
    return low[cells], high[cells]


def dominated_by_relation(problem: ProtectionProblem, publication: Publication) -> Bools:
    """Rounded cells for which one relation alone leaves a narrower interval, inside the published one.

    The relation is the parent less its other parts, the sum of the parts, or the sum of the
    members. All of this is public.
    """
    cells = publication.cells
    low, high = _free(problem)
    free = low[cells], high[cells]
    own = _own(problem, publication)
    low[cells], high[cells] = np.minimum(free[0], own[0]), np.minimum(free[1], own[1])
    M = sp.csr_array(problem.space.alone.relations)
    by_relation = [np.full(problem.space.size, np.inf) for _ in range(2)]
    _tighten(M, low, high, *by_relation)
    below, above = (np.minimum(each[cells], most) for each, most in zip(by_relation, free, strict=True))
    inside = (below <= own[0] * (1 + ROUNDING)) & (above <= own[1] * (1 + ROUNDING))
    return np.asarray(publication.rounded & inside & (below + above < NARROWER_WIDTH * publication.base))


def _free(problem: ProtectionProblem) -> tuple[Floats, Floats]:
    """(low, high) of every cell, given only what is public about the cell itself."""
    return np.where(problem.public, 0.0, problem.a - problem.lb), np.where(
        problem.public, 0.0, problem.ub - problem.a
    )


def _propagate(M: sp.csr_array, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """One pass over M z = 0, entries ±1, −low ≤ z ≤ high: an entry reaches down as far as
    all others of its row reach up.
    """
    tighter = low.copy(), high.copy()
    _tighten(M, low, high, *tighter)
    return tighter


def _tighten(M: sp.csr_array, low: Floats, high: Floats, below: Floats, above: Floats) -> None:
    """Lowers `below above` of every cell to what its relations leave it, given the `low high` of
    the others.
    """
    row, cell, plus = np.repeat(np.arange(M.shape[0]), np.diff(M.indptr)), M.indices, M.data > 0
    down, up = np.where(plus, low[cell], high[cell]), np.where(plus, high[cell], low[cell])
    reach_down, reach_up = _others(row, up, M.shape[0]), _others(row, down, M.shape[0])
    np.minimum.at(below, cell, np.where(plus, reach_down, reach_up))
    np.minimum.at(above, cell, np.where(plus, reach_up, reach_down))


def _others(row: Ints, reach: Floats, rows: int) -> Floats:
    """For each entry the sum of the other entries of its row, never too small; ∞ if one of them is ∞."""
    endless = np.isinf(reach)
    finite = np.where(endless, 0.0, reach)
    total, count = np.bincount(row, finite, rows)[row], np.bincount(row, endless, rows)[row]
    rest = np.maximum(total - finite, 0.0)
    rest += np.where(total > finite, EPSILON / 10 * total * np.bincount(row, minlength=rows)[row], 0.0)
    return np.where(count - endless > 0, np.inf, rest)
