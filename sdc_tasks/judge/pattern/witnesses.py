"""Witnesses: movements that show, by plain arithmetic, how far an attacker must let primaries rise
and fall. Nothing here searches.

A witness is a vector z with M z = 0 that moves hidden cells alone. All tables a + t z between the bounds
look the same to the attacker, from the longest step back −t⁻ to the longest step ahead t⁺. So whatever z
moves he cannot confine closer than the ends of this line. A witness that moves a singleton says nothing to
its respondent; it counts only for primaries that are protected for him alone. Nobody who proposes witnesses
is trusted: one that moves an open cell shows nothing, nor does one that misses a relation by more than
rounding, in the units of that relation.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.respondents import NOBODY
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY

AT_ONCE = 20_000  # witnesses looked at together, which bounds the memory


def shown(
    problem: SensitiveTable,
    pattern: Bools,
    witnesses: sp.csr_array,
    guards: Ints | None = None,
    lacks: tuple[int, ...] = (),
) -> tuple[Floats, Floats]:
    """(n), (n): how far the witnesses (a row each, n columns, in units of the data) show every primary
    to rise and to fall; 0 elsewhere.

    `guards` (n): whom each primary protects, numbered as the respondents of the problem; else those of its
    own levels. `lacks`: the respondents who take no part in the attack.
    """
    n = len(problem.a)
    guards = problem.guards if guards is None else guards
    rise, fall = np.zeros(n), np.zeros(n)
    if witnesses.shape[1] != n:
        raise ValueError(f"a witness for a table of {n} cells has {n} entries, not {witnesses.shape[1]}")
    may_move = pattern & ~problem.fixed
    told = np.where(np.isin(problem.respondents, lacks), NOBODY, problem.respondents)
    for first in range(0, witnesses.shape[0], AT_ONCE):
        _read(problem, (guards, told), may_move, _clean(witnesses[first : first + AT_ONCE]), rise, fall)
    return rise, fall


def _clean(witnesses: sp.csr_array) -> sp.csr_array:
    """The witnesses without entries of 0, and without those that move nothing."""
    some = sp.csr_array(witnesses, copy=True)
    some.sum_duplicates()
    some.eliminate_zeros()
    return sp.csr_array(some[np.flatnonzero(np.diff(some.indptr))])


def _read(
    problem: SensitiveTable,
    respondents: tuple[Ints, Ints],
    may_move: Bools,
    z: sp.csr_array,
    rise: Floats,
    fall: Floats,
) -> None:
    """`respondents`: whom each primary protects, and who attacks with each singleton."""
    guards, attacks = respondents
    if not z.shape[0]:
        return
    starts, row = z.indptr[:-1], np.repeat(np.arange(z.shape[0]), np.diff(z.indptr))
    cell, move, size = z.indices, z.data, np.abs(z.data)
    above, below = (problem.ub - problem.a)[cell], (problem.a - problem.lb)[cell]
    ahead = np.minimum.reduceat(np.where(move > 0, above, below) / size, starts)  # t⁺ and t⁻ of each witness
    back = np.minimum.reduceat(np.where(move > 0, below, above) / size, starts)
    allowed = np.minimum.reduceat((may_move[cell] & np.isfinite(move)).astype(np.int8), starts) > 0
    moved = sp.csc_array(z.T)
    gaps, terms = abs(problem.M @ moved), abs(problem.M) @ abs(moved)
    missed = gaps.max(axis=0).toarray().ravel()  # of any relation, by each witness
    # A relation in small units (thousands of tonnes beside euros) is missed by little, and all the same
    # missed.
    # the relations may miss this share of the move of a primary, and of each of their own terms
    allowed &= (gaps - FEASIBILITY * terms).max(axis=0).toarray().ravel() <= 0
    told = attacks[cell]
    last = np.maximum.reduceat(
        told, starts
    )  # the respondent of the singletons that a witness moves, if there is one
    first = np.minimum.reduceat(np.where(told == NOBODY, np.iinfo(np.int64).max, told), starts)
    nobody = last == NOBODY
    counts = problem.primary[cell] & (allowed & (nobody | (first == last)))[row]
    counts &= (nobody[row] | (guards[cell] == last[row])) & (size * FEASIBILITY >= missed[row])
    c, up = cell[counts], move[counts] > 0
    far_ahead, far_back = size[counts] * ahead[row[counts]], size[counts] * back[row[counts]]
    np.maximum.at(rise, c, np.where(up, far_ahead, far_back))
    np.maximum.at(fall, c, np.where(up, far_back, far_ahead))
