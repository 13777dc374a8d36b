"""Who stands behind the cells of single respondents ([2] §4.4, eq. 8–9), and what they know.

A *singleton* is a cell with one respondent. He knows it, and he knows every other cell that is his alone. The
attackers of a cell p are all respondents of singletons, together, but for the respondent of p himself:

    z_i = 0   for every singleton i whose respondent is not that of p.

If p has several respondents, a level protects one of them from the others. Where it is known who he is
(`guarded`), all others attack, and he does not: otherwise p would count as disclosed whenever its parts have
one respondent each. Where it is unknown, all attack. The largest has the largest level; each further one whom
a rule protects has a level of his own (`beside`), against which the largest attacks with all that he knows.

So cells of one respondent never give each other away, and no number of colluding respondents finds out more
of p: a pattern that withstands all of them withstands each alone, any two of them, and outsiders. That is the
local problem (singletons of one relation) and the global one (of the whole table) in one. A *holding* is a
respondent: give its number for all cells that it has alone.

Respondents are known by number, or follow: a total with one respondent holds nobody else's
contributions, so that its singleton parts are his. All other cells are taken to be of different
respondents: that is the attackers' side.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.table import Bools, Floats, Ints

NOBODY = -1  # the number of no respondent


def respondents_of(
    M: sp.csr_array, a: Floats, singleton: Bools, told: Ints | None, name: Callable[[int], str]
) -> Ints:
    """(n): a number for the respondent of each singleton, equal where he is the same; NOBODY for all other
    cells.

    `told` (n): numbers that are known, NOBODY where not. Raises InvalidInput, naming two cells,
    if they contradict what follows.
    """
    n = len(a)
    told = np.full(n, NOBODY) if told is None else told
    if not singleton.any():
        return np.full(n, NOBODY)
    rows = np.flatnonzero(abs(M).astype(bool) @ singleton.astype(np.int64) > 1)
    pairs = [
        _of_one_total(M.indices[s:e].astype(np.int64), M.data[s:e], a, singleton)
        for s, e in zip(M.indptr[rows], M.indptr[rows + 1], strict=True)
    ]
    first = {
        int(number): int(cell)
        for cell, number in reversed(list(enumerate(told)))
        if number != NOBODY and singleton[cell]
    }
    same = [(first[int(told[cell])], cell) for cell in np.flatnonzero(singleton & (told != NOBODY)).tolist()]
    left, right = (
        np.array([*(pair for each in pairs for pair in each), *same], dtype=np.int64).reshape(-1, 2).T
    )
    group = sp.csgraph.connected_components(
        sp.csr_array((np.ones(len(left)), (left, right)), shape=(n, n)), directed=False
    )[1]
    found = np.where(singleton, group, NOBODY)
    known = np.flatnonzero(singleton & (told != NOBODY))
    order = known[np.lexsort((told[known], group[known]))]
    clash = np.flatnonzero((np.diff(group[order]) == 0) & (np.diff(told[order]) != 0))
    if len(clash):
        one, other = sorted((int(order[clash[0]]), int(order[clash[0] + 1])))
        raise InvalidInput(
            f"{name(one)} and {name(other)}: two respondents, but a total that holds both has only one. "
            f"Remedy: correct who is behind them"
        )
    return found.astype(np.int64)


def guards_of(respondents: Ints, told: Ints | None, guarded: Ints | None) -> Ints:
    """(n): the number, among `respondents`, of whom each cell protects; NOBODY where nobody told,
    or where he is alone in no cell.

    `told`, `guarded` (n): the numbers that are known, of only respondents and of those whom levels protect.
    The level of a singleton is its respondent's own.
    """
    found = respondents.copy()
    if told is None or guarded is None:
        return found
    cells = np.flatnonzero((respondents != NOBODY) & (told != NOBODY))
    group = np.full(int(max(told.max(initial=0), guarded.max(initial=0))) + 1, NOBODY)
    group[told[cells]] = respondents[cells]
    open_cells = np.flatnonzero((respondents == NOBODY) & (guarded != NOBODY))
    found[open_cells] = group[guarded[open_cells]]
    return found


def _of_one_total(cells: Ints, signs: Floats, a: Floats, singleton: Bools) -> list[tuple[int, int]]:
    """(total, part) for the singleton parts of a relation whose total is a singleton."""
    there = a[cells] != 0
    cells, signs = cells[there], signs[there]
    for sign in (-1.0, 1.0):
        mine = signs == sign
        if mine.sum() == 1 and (signs == -sign).sum() == len(signs) - 1 > 0:
            total = int(cells[mine][0])
            return (
                [(total, int(part)) for part in cells[~mine] if singleton[part]] if singleton[total] else []
            )
    return []
