"""Is a level that was lowered really out of reach, and is every attacker left what he can be left?

An attacker is the set K of the lone respondents who take part. Where every cell is hidden that may be, he is
left some reach of a primary p: r(K, p), at most its level. No pattern leaves him more, for whoever sees more
computes more. So a requirement of r(K, p) asks as much of a pattern as any pattern gives. With K grows what
is known: r falls. The requirements of all K follow from those of some (METHOD §2, every attacker): where r of
N is the level, N stands for all its parts; where it is less, and W ⊆ N alone leaves no more, N stands for all
between W and N, and whoever lacks a w of W is a part of N∖{w}, judged next.

This program trusts nobody: that r is no less than what N is left, and that W is left no more, is proven by
the multipliers of programs of its own. As W it takes those without whom somebody else was asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy.sparse as sp

from sdc_tasks.judge.pattern.programs import LinearPrograms
from sdc_tasks.model.respondents import NOBODY
from sdc_tasks.model.sensitive import Layer, SensitiveTable
from sdc_tasks.model.table import Ints
from sdc_tasks.model.tolerances import FEASIBILITY, JUDGED_LEVEL

Levels = tuple[float, float, float]  # up, down, both together
Lacks = frozenset[int]


@dataclass(frozen=True)
class Doubts:
    """Positions of primaries: `lowered` too far, for somebody can be left more; `unjudged`: not everybody
    is judged who knows a part.
    """

    lowered: Ints
    unjudged: Ints


def doubts(problem: SensitiveTable, cells: Ints) -> Doubts:
    """What is wrong with the requirements that stand in place of the levels of these primaries."""
    lowered, unjudged = set[int](), set[int]()
    programs = _Programs(problem)
    for wanted, strongest in zip(problem.wanted, problem.strongest, strict=True):
        for cell in cells.tolist():
            asked = _asked(problem, wanted, cell)
            if _is_cut(_told(asked, strongest, cell), asked):
                family = _Family(problem, programs, wanted, cell)
                if family.too_low():
                    lowered.add(cell)
                elif not family.covers():
                    unjudged.add(cell)
    return Doubts(np.array(sorted(lowered), dtype=np.int64), np.array(sorted(unjudged), dtype=np.int64))


def _asked(problem: SensitiveTable, wanted: Layer, cell: int) -> Levels:
    both = wanted.width if wanted.level else problem.sliding
    return float(wanted.up[cell]), float(wanted.down[cell]), float(both[cell])


def _told(asked: Levels, layer: Layer, cell: int) -> Levels:
    """What is asked of a primary; both sides together at least what each of them is."""
    up, down, both = float(layer.up[cell]), float(layer.down[cell]), float(layer.width[cell])
    return up, down, min(max(both, up + down), asked[2])


def _is_cut(told: Levels, asked: Levels) -> bool:
    return any(got < want * (1 - FEASIBILITY) for got, want in zip(told, asked, strict=True))


class _Family:
    """The attackers who were asked about one level of one primary, by the respondents who take no part."""

    def __init__(self, problem: SensitiveTable, programs: _Programs, wanted: Layer, cell: int) -> None:
        self._programs, self._cell, self._guard = programs, cell, int(wanted.guards[cell])
        self._all = frozenset(np.unique(problem.respondents).tolist()) - {NOBODY, self._guard}
        self._asked = _asked(problem, wanted, cell)
        self._told: Mapping[Lacks, Levels] = {
            frozenset(layer.lacks): _told(self._asked, layer, cell)
            for layer in problem.attained
            if layer.level == wanted.level and (layer.asked is None or cell in layer.asked)
        }

    def too_low(self) -> bool:
        """Whether one of them can be left more than is asked for him."""
        return any(
            got < min(want, self._left(side, lacks)) - JUDGED_LEVEL * want
            for lacks, told in self._told.items()
            for side, (got, want) in enumerate(zip(told, self._asked, strict=True))
            if got < want * (1 - FEASIBILITY)
        )

    def covers(self) -> bool:
        """Whether everybody is judged who has all that the lone respondents know, or a part."""

        @cache
        def judged(lacks: Lacks) -> bool:
            if self._has_level(lacks):
                return True
            if lacks not in self._told:
                return False
            attack = frozenset(
                who
                for who in self._all - lacks
                if lacks | {who} in self._told or self._has_level(lacks | {who})
            )
            alone = all(
                self._left(side, self._all - attack) <= got + JUDGED_LEVEL * want
                for side, (got, want) in enumerate(zip(self._told[lacks], self._asked, strict=True))
                if got < want * (1 - FEASIBILITY)
            )
            return alone and all(judged(lacks | {who}) for who in sorted(attack))

        return judged(frozenset())

    def _has_level(self, lacks: Lacks) -> bool:
        """Whether somebody who knows no less is owed the level itself."""
        return any(each <= lacks and not _is_cut(told, self._asked) for each, told in self._told.items())

    def _left(self, side: int, lacks: Lacks) -> float:
        """What is left with everything hidden, at most what is asked on this side."""
        want, away = self._asked[side], (self._guard, *sorted(lacks))
        if side < 2:
            return self._programs.left(self._cell, (1.0, -1.0)[side], want, away)
        both = sum(self._programs.left(self._cell, sign, want, away) for sign in (1.0, -1.0))
        return min(want, both)


class _Programs:
    """Programs on the table with everything hidden that may be."""

    def __init__(self, problem: SensitiveTable) -> None:
        hidden = np.flatnonzero(~problem.fixed & (problem.ub > problem.lb))
        self._column = np.full(len(problem.a), NOBODY)
        self._column[hidden] = np.arange(len(hidden))
        most = np.max([layer.most for layer in problem.wanted], axis=0)
        M = sp.csr_array(sp.csc_array(problem.M)[:, hidden])
        self._programs = LinearPrograms(
            sp.csr_array(M[np.flatnonzero(np.diff(M.indptr))]),
            ((problem.a - problem.lb)[hidden], (problem.ub - problem.a)[hidden]),
            problem.respondents[hidden],
            float(np.median(most[most > 0])) if (most > 0).any() else 1.0,
            np.inf,
        )
        self._found: dict[tuple[int, float, float, tuple[int, ...]], float] = {}

    def left(self, cell: int, sign: float, far: float, away: tuple[int, ...]) -> float:
        """How far a cell moves, at most; 0 where that is no more than what solvers may be wrong by."""
        column = int(self._column[cell])
        if column < 0 or far <= 0:
            return 0.0
        key = cell, sign, far, away
        if key not in self._found:
            self._found[key] = self._programs.farthest(column, sign, far, away)
        found = self._found[key]
        return found if found >= FEASIBILITY * far else 0.0
