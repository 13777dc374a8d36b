"""Does a pattern hide enough contributors ([2] §4.4)?

Where a total is open, everybody can subtract the open parts from it: the hidden parts are published as
one sum. So in each such relation

    Σ count_i  over the hidden parts i that nobody can recalculate  ≥  minimum,

unless no part is hidden. A contributor to several parts counts for each of them. A part that can be
recalculated from other relations does not count, and a total that can be recalculated is open. Sums over
several relations are judged by their levels, not by numbers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from sdc_tasks.judge.pattern.verdict import verify
from sdc_tasks.model.additive import absent
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Ints
from sdc_tasks.model.tolerances import NOTICEABLE


def meets_minimum(problem: SensitiveTable, hidden: Bools) -> bool:
    """Whether a pattern (n) keeps the minimum of its problem; True where there is none."""
    return not problem.minimum or not len(relations_below_minimum(problem, hidden))


def relations_below_minimum(problem: SensitiveTable, hidden: Bools) -> Ints:
    """The relations with an open total whose hidden parts have fewer contributors than the minimum."""
    assert problem.count is not None
    unknown = _unknown(problem, hidden)
    parts, totals = sides(problem.M)
    some = parts @ unknown.astype(float) > 0
    total_open = totals @ unknown.astype(float) == 0
    return np.flatnonzero(
        some & total_open & (parts @ np.where(unknown, problem.count, 0.0) < problem.minimum)
    )


def _unknown(problem: SensitiveTable, hidden: Bools) -> Bools:
    """(n): the hidden cells that nobody can recalculate."""
    level = NOTICEABLE * np.abs(problem.a)
    fixed = problem.fixed & ~hidden
    asked = replace(
        problem,
        primary=hidden,
        fixed=fixed,
        lpl=level,
        upl=level,
        spl=0 * level,
        beside=absent(),
        behind=None,
        minimum=0,
        attainable=False,
        attained=(),
    )
    found = hidden & (problem.a != 0)
    found[verify(asked, hidden).unprotected] = False
    return np.asarray(found)


def sides(M: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """(m, n) each: 1 at the parts of every relation, 1 at its total, which is the only cell of its sign."""
    rows = np.repeat(np.arange(M.shape[0]), np.diff(M.indptr))
    positive = np.bincount(rows, weights=M.data > 0, minlength=M.shape[0])
    part = M.data * np.where(positive == 1, -1.0, 1.0)[rows] > 0
    parts = sp.csr_array((part.astype(float), M.indices, M.indptr), shape=M.shape)
    return parts, sp.csr_array(((~part).astype(float), M.indices, M.indptr), shape=M.shape)
