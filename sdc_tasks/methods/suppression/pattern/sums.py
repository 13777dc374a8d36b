"""Sums of hidden cells ([2] §4.4): a contributor who stands in several of them is told by
their sum what no single one tells.

A firm with 900, 700 and 500 in three hidden cells, others with 205 there: who reads 2 305 for the three, as
what a total leaves, knows the 2 100 within a tenth. So the rules that make a cell primary are applied to sums
of hidden cells as well, as if each were a cell:

    the hidden parts of each relation;
    those of them in which one contributor is the largest;
    all hidden inner cells of the table in which one contributor is the largest.

A sum with a level is a virtual cell s = Σ_i a_i, hidden and primary, with its level and those of its further
contributors; `judge.pattern` judges it as any other. Where levels are asked as far as a pattern can keep them
(attainable.py), so are those of sums. Other sums, such as those that only several relations
together imply, are not judged, and none of a table of more than `MOST_SUMMED` cells.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import and_more
from sdc_tasks.judge.pattern import PatternVerdict, verify
from sdc_tasks.judge.pattern.min_contributors import sides
from sdc_tasks.methods.contributions import Behind, levels
from sdc_tasks.methods.suppression.attainable import AttainableLevels, Lowered, attainable
from sdc_tasks.model.respondents import NOBODY
from sdc_tasks.model.sensitive import Layer, SensitiveTable
from sdc_tasks.model.table import Bools, Floats, Ints

MOST_SUMMED = 50_000  # cells of a table whose sums are judged: each needs programs on the whole table
NAMED_PARTS = 4  # cells of a sum in its name
SHARED_CELLS = "what a contributor concludes from his part of hidden cells that he shares"


@dataclass(frozen=True)
class Sums:
    """s sums of cells. `cells` (s, n): 1 where a cell belongs to a sum; `level` (s), whom it protects, and
    the levels of further contributors (m, s), with their numbers.
    """

    cells: sp.csr_array = field(repr=False)
    level: Floats = field(repr=False)
    guarded: Ints = field(repr=False)
    beside: Floats = field(repr=False)
    beside_guarded: Ints = field(repr=False)

    def __len__(self) -> int:
        return len(self.level)

    def only(self, which: Ints) -> Sums:
        """Some of them."""
        return Sums(
            sp.csr_array(self.cells[which]),
            self.level[which],
            self.guarded[which],
            self.beside[:, which],
            self.beside_guarded[:, which],
        )

    def with_(self, others: Sums) -> Sums:
        """These and others; each once."""
        m = max(len(self.beside), len(others.beside))
        more = [(np.pad(each.beside, ((0, m - len(each.beside)), (0, 0))), each) for each in (self, others)]
        numbers = [
            np.pad(each.beside_guarded, ((0, m - len(each.beside)), (0, 0)), constant_values=NOBODY)
            for _, each in more
        ]
        both = Sums(
            sp.csr_array(sp.vstack([self.cells, others.cells])),
            np.concatenate([self.level, others.level]),
            np.concatenate([self.guarded, others.guarded]),
            np.hstack([beside for beside, _ in more]),
            np.hstack(numbers),
        )
        return both.only(_different(both.cells))


def sums_are_judged(problem: SensitiveTable) -> bool:
    """Whether the sums of a table are judged at all: it is known who contributes to its
    cells, and it is not too large.
    """
    return problem.behind is not None and len(problem.a) <= MOST_SUMMED


def limits_of(problem: SensitiveTable) -> str | None:
    """What is not judged of a pattern of a table of whose contributors something is
    known; None of any other table.
    """
    if not (problem.by_rules or problem.lone.any()):
        return None
    if problem.behind is None:
        return "not judged: sums of hidden cells, for it is not told who contributes to several of them"
    if not sums_are_judged(problem):
        return (
            f"not judged: sums of hidden cells, in a table of more than {MOST_SUMMED} cells; "
            f"and {SHARED_CELLS}"
        )
    return (
        f"judged too: sums of hidden cells of one relation, and of one largest "
        f"contributor. Not judged: other sums; {SHARED_CELLS}"
    )


def sums_of(problem: SensitiveTable, hidden: Bools) -> Sums:
    """The sums of hidden cells that a rule gives a level."""
    behind = _behind(problem)
    cells = _groups(problem, hidden)
    together = behind.together(cells)
    level = np.max(list(levels(together, behind.rules).values()), axis=0)
    some = Sums(cells, level, together.protected, together.beside, together.beside_respondent)
    return some.only(np.flatnonzero(level > 0))


def verify_with_sums(
    problem: SensitiveTable,
    hidden: Bools,
    proposed: Floats | None = None,
    seconds: float = np.inf,
    witnesses: sp.csr_array | None = None,
) -> tuple[PatternVerdict, Sums]:
    """The verdict on the primaries of a problem, and the sums of hidden cells that are not
    shown to be protected; none where sums are not judged. Arguments as for `verify`: what shows
    that a cell moves shows it of a sum.
    """
    asked = sums_of(problem, hidden) if sums_are_judged(problem) else _none(len(problem.a))
    if not len(asked):
        return verify(problem, hidden, proposed, seconds, witnesses), asked
    n, S = len(problem.a), asked.cells
    found = verify(
        with_sums(problem, asked),
        np.append(hidden, np.ones(len(asked), dtype=bool)),
        None if proposed is None else np.hstack([proposed, (S @ proposed.T).T]),
        seconds,
        None if witnesses is None else sp.csr_array(sp.hstack([witnesses, witnesses @ S.T])),
    )
    short = asked.only(found.unprotected[found.unprotected >= n] - n)
    if len(short) and problem.attainable:
        cut = attainable(with_sums(problem, short)).problem
        again = verify(cut, np.append(hidden, np.ones(len(short), dtype=bool)), seconds=seconds)
        short = short.only(again.unprotected[again.unprotected >= n] - n)
    return replace(found, unprotected=found.unprotected[found.unprotected < n]), short


def with_sums(problem: SensitiveTable, sums: Sums) -> SensitiveTable:
    """The problem with a virtual cell for each sum, behind its own cells: hidden at no cost, primary, with
    the levels of the sum. Of its own levels the problem keeps those that were cut.
    """
    n, s = len(problem.a), len(sums)
    assert problem.beside is not None
    assert problem.beside_guarded is not None
    assert problem.rhs is not None
    none, no, yes, nobody = np.zeros(s), np.zeros(s, dtype=bool), np.ones(s, dtype=bool), np.full(s, NOBODY)
    S, m = sums.cells, max(len(problem.beside), len(sums.beside))
    beside, whose = np.zeros((m, n + s)), np.full((m, n + s), NOBODY)
    beside[: len(problem.beside), :n], whose[: len(problem.beside), :n] = (
        problem.beside,
        problem.beside_guarded,
    )
    beside[: len(sums.beside), n:], whose[: len(sums.beside), n:] = sums.beside, sums.beside_guarded

    def name(cell: int) -> str:
        if cell < n:
            return problem.name(cell)
        parts = S.indices[S.indptr[cell - n] : S.indptr[cell - n + 1]].tolist()
        named = ", ".join(problem.name(part) for part in parts[:NAMED_PARTS])
        return f"the sum of {named}{and_more(max(0, len(parts) - NAMED_PARTS))}"

    own = sp.csr_array(sp.hstack([problem.M, sp.csr_array((problem.M.shape[0], s))]))
    guarded = np.full(n, NOBODY) if problem.guarded is None else problem.guarded
    whole = SensitiveTable(
        M=sp.csr_array(sp.vstack([own, sp.hstack([S, -sp.eye_array(s)])])),
        a=np.append(problem.a, S @ problem.a),
        lb=np.append(problem.lb, S @ problem.lb),
        ub=np.append(problem.ub, S @ problem.ub),
        lpl=np.append(problem.lpl, sums.level),
        upl=np.append(problem.upl, sums.level),
        spl=np.append(problem.spl, none),
        cost=np.append(problem.cost, none),
        primary=np.append(problem.primary, yes),
        fixed=np.append(problem.fixed, no),
        rhs=np.append(problem.rhs, none),
        singleton=np.append(problem.lone, no),
        label=name,
        respondent=None if problem.respondent is None else np.append(problem.respondent, nobody),
        guarded=np.append(guarded, sums.guarded),
        count=None if problem.count is None else np.append(problem.count, none),
        minimum=problem.minimum,
        beside=beside,
        beside_guarded=whose,
        attainable=problem.attainable,
    )
    return whole if not problem.attained else replace(whole, attained=_with_own(problem, whole))


def _with_own(problem: SensitiveTable, whole: SensitiveTable) -> tuple[Layer, ...]:
    """What is asked of the cells of a problem, and of the sums behind them their levels."""
    n, own = len(problem.a), {layer.level: layer for layer in problem.strongest}
    strongest = [
        _joined(own[layer.level], layer, n) if layer.level in own else layer for layer in whole.wanted
    ]
    nothing = np.zeros(len(whole.a))
    further = [
        _joined(layer, replace(each, up=nothing, down=nothing, width=nothing), n)
        for layer in problem.attained
        if layer.asked is not None
        for each in whole.wanted
        if each.level == layer.level
    ]
    return (*strongest, *further)


def _joined(own: Layer, beside: Layer, n: int) -> Layer:
    """What one asks of the first n cells, and the other of those behind them."""
    return replace(
        own,
        up=np.append(own.up, beside.up[n:]),
        down=np.append(own.down, beside.down[n:]),
        width=np.append(own.width, beside.width[n:]),
        guards=beside.guards,
    )


def attainable_sums(problem: SensitiveTable, sums: Sums) -> SensitiveTable:
    """As `with_sums`; where levels are asked as far as a pattern keeps them, those of the sums too."""
    whole = with_sums(problem, sums)
    return attainable(whole).problem if problem.attainable else whole


def told_of(levels: AttainableLevels, hidden: Bools | None) -> list[tuple[str, Lowered]]:
    """The levels that were lowered, with the names of their cells, and those of sums of the hidden cells of a
    pattern, if there is one.
    """
    problem = levels.problem
    told = [(problem.name(each.cell), each) for each in levels.lowered]
    if hidden is not None and sums_are_judged(problem) and len(asked := sums_of(problem, hidden)):
        whole = with_sums(problem, asked)
        told += [(whole.name(each.cell), each) for each in attainable(whole).lowered]
    return told


def _behind(problem: SensitiveTable) -> Behind:
    assert isinstance(problem.behind, Behind)
    return problem.behind


def _groups(problem: SensitiveTable, hidden: Bools) -> sp.csr_array:
    """(groups, n): the cells of each sum of two or more hidden cells that is looked at; each group once."""
    behind = _behind(problem)
    n, largest = len(problem.a), behind.largest
    some = hidden & ~problem.fixed & (largest != NOBODY)
    parts = sides(problem.M)[0].tocoo()
    inside = some[parts.col] & (parts.data > 0)
    row, cell = parts.row[inside].astype(np.int64), parts.col[inside].astype(np.int64)
    inner = np.flatnonzero(some & behind.inner)
    most, m = int(largest.max(initial=0)) + 1, problem.M.shape[0]
    key = np.concatenate([row, m + row * most + largest[cell], m * (1 + most) + largest[inner]])
    _, group = np.unique(key, return_inverse=True)
    cells = np.concatenate([cell, cell, inner])
    count = np.bincount(group)
    found = sp.csr_array((np.ones(len(cells)), (group, cells)), shape=(len(count), n))
    found = sp.csr_array(found[np.flatnonzero(count > 1)])
    return sp.csr_array(found[_different(found)])


def _different(cells: sp.csr_array) -> Ints:
    """The rows that repeat no earlier one."""
    cells.sort_indices()
    seen: dict[bytes, int] = {}
    for row, (start, end) in enumerate(
        zip(cells.indptr[:-1].tolist(), cells.indptr[1:].tolist(), strict=True)
    ):
        seen.setdefault(cells.indices[start:end].tobytes(), row)
    return np.array(list(seen.values()), dtype=np.int64)


def _none(n: int) -> Sums:
    return Sums(
        sp.csr_array((0, n)),
        np.zeros(0),
        np.zeros(0, dtype=np.int64),
        np.zeros((0, 0)),
        np.zeros((0, 0), dtype=np.int64),
    )
