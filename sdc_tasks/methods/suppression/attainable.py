"""Levels that no pattern keeps, lowered to what the pattern leaves that hides everything; on demand alone.

Zeros that stay open, bounds that everybody knows and the cells of lone respondents can give a primary away
whatever is hidden. Who asks for it gets the most that any pattern gives, of each attacker apart: let K be the
lone respondents who take part. Then

    r(K, p) = min(level, what K is left of p where every cell is hidden that may be)

is asked against every K. Hiding more never lets anybody compute more, so no pattern gives more. It is not
enough to ask this of all of them together: what they know anyway may be just what fewer of them, or
outsiders, would learn from a pattern. Which K stand for all others is found as for a release (METHOD §2,
every attacker): W ⊆ K are those on whose cells the multipliers of a linear program rest; then whoever lacks
one of them is asked in turn.

The judge checks with programs of its own that nothing was lowered too far (`judge/pattern/attainable.py`);
where it does not agree, the level stays as it was. Where more than MOST_ATTACKERS would have to be asked of
one level of a primary, so many and outsiders are asked, and the primary is named as not judged against
everybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np
import scipy.sparse as sp

from sdc_tasks.judge.pattern import verify
from sdc_tasks.judge.pattern.attainable import doubts
from sdc_tasks.model.respondents import NOBODY
from sdc_tasks.model.sensitive import Layer, SensitiveTable
from sdc_tasks.model.table import Ints
from sdc_tasks.model.tolerances import FEASIBILITY
from sdc_tasks.optimise import LinearAttacker

MOST_ATTACKERS = 40  # asked of one level of a primary
Side = Literal["above", "below", "width"]
SIDES: tuple[Side, ...] = get_args(Side)
Levels = tuple[float, float, float]
Lacks = frozenset[int]


@dataclass(frozen=True)
class Lowered:
    """A level of a cell that no pattern keeps against everybody: what was `wanted`, and what is `kept`
    against all lone respondents together, and against `outsiders`.
    """

    cell: int
    side: Side
    wanted: float = field(repr=False)
    kept: float = field(repr=False)
    outsiders: float = field(repr=False)


@dataclass(frozen=True)
class AttainableLevels:
    """A problem in which each level is asked as far as it can be kept, with the levels that were `lowered`.
    `unjudged`: primaries whose attackers are too many to ask all of them.
    """

    problem: SensitiveTable
    lowered: tuple[Lowered, ...] = field(default=(), repr=False)
    unjudged: tuple[int, ...] = field(default=(), repr=False)

    @property
    def disclosed(self) -> tuple[int, ...]:
        """Of the lowered cells those of which outsiders too are left nothing on a side."""
        return tuple(dict.fromkeys(each.cell for each in self.lowered if each.outsiders == 0))


def attainable(problem: SensitiveTable) -> AttainableLevels:
    """The levels of a problem as far as a pattern can keep them; all, where everything hidden keeps them.
    What was cut before stays as it is.
    """
    problem = replace(problem, attainable=True)
    short = verify(problem, ~problem.fixed | problem.primary).unprotected
    while len(short):
        found = _lowered(problem, short)
        doubt = doubts(found.problem, short)
        if not len(doubt.lowered):
            return replace(found, unjudged=tuple(doubt.unjudged.tolist()))
        short = np.setdiff1d(short, doubt.lowered)
    return AttainableLevels(problem)


def _lowered(problem: SensitiveTable, cells: Ints) -> AttainableLevels:
    """The problem with the levels of these primaries cut to what can be kept."""
    reaches = _Reaches(problem)
    strongest, weaker = list[Layer](), dict[tuple[int, Lacks], dict[int, Levels]]()
    lowered: list[Lowered] = []
    for wanted_layer, layer in zip(problem.wanted, problem.strongest, strict=True):
        both = wanted_layer.width if layer.level else problem.sliding
        up, down, width = layer.up.copy(), layer.down.copy(), layer.width.copy()
        for cell in cells[wanted_layer.most[cells] > 0].tolist():
            wanted = float(wanted_layer.up[cell]), float(wanted_layer.down[cell]), float(both[cell])
            family = _family(reaches, cell, wanted, int(layer.guards[cell]))
            kept = family.pop(frozenset())
            up[cell], down[cell], width[cell] = _in_a_layer(kept)
            for lacks, levels in family.items():
                weaker.setdefault((layer.level, lacks), {})[cell] = levels
            outsiders = reaches.left(cell, wanted, reaches.everybody)[0]
            lowered += [
                Lowered(cell, side, *each)
                for side, *each in zip(SIDES, wanted, kept, outsiders, strict=True)
                if each[1] < each[0]
            ]
        strongest.append(replace(layer, up=up, down=down, width=width))
    before = [layer for layer in problem.attained if layer.asked is not None]
    further = [_layer(problem, *at, told) for at, told in sorted(weaker.items(), key=_order)]
    return AttainableLevels(replace(problem, attained=(*strongest, *before, *further)), tuple(lowered))


def _order(item: tuple[tuple[int, Lacks], dict[int, Levels]]) -> tuple[int, int, list[int]]:
    (level, lacks), _ = item
    return level, len(lacks), sorted(lacks)


def _in_a_layer(levels: Levels) -> Levels:
    """Both sides together ask for nothing where each of them asks for as much."""
    up, down, both = levels
    return up, down, both if both > up + down else 0.0


def _layer(problem: SensitiveTable, level: int, lacks: Lacks, told: dict[int, Levels]) -> Layer:
    up, down, width = np.zeros((3, len(problem.a)))
    for cell, levels in told.items():
        up[cell], down[cell], width[cell] = _in_a_layer(levels)
    asked = np.array(sorted(told), dtype=np.int64)
    guards = next(layer.guards for layer in problem.wanted if layer.level == level)
    return Layer(up, down, width, guards, tuple(sorted(lacks)), asked, level)


def _family(reaches: _Reaches, cell: int, wanted: Levels, guard: int) -> dict[Lacks, Levels]:
    """What is asked against those who stand for everybody, by the respondents who take no part; first against
    all together.
    """
    found = dict[Lacks, Levels]()
    whole: list[Lacks] = []  # against these the level itself is asked, and so against whoever knows less
    waiting: list[Lacks] = [frozenset()]
    while waiting and len(found) < MOST_ATTACKERS:
        lacks = waiting.pop(0)
        if lacks in found or any(each <= lacks for each in whole):
            continue
        levels, attack = reaches.left(cell, wanted, lacks | {guard})
        found[lacks] = levels
        if levels == wanted:
            whole.append(lacks)
        else:
            waiting += [lacks | {who} for who in sorted(attack)]
    if waiting:  # too many: outsiders at least are asked
        found[reaches.everybody - {guard}] = reaches.left(cell, wanted, reaches.everybody)[0]
    return found


class _Reaches:
    """How close attackers come where everything is hidden that may be, and whose cells they need for that."""

    def __init__(self, problem: SensitiveTable) -> None:
        self.everybody: Lacks = frozenset(np.unique(problem.respondents).tolist()) - {NOBODY}
        hidden = np.flatnonzero(~problem.fixed & (problem.ub > problem.lb))
        self._column = np.full(len(problem.a), -1)
        self._column[hidden] = np.arange(len(hidden))
        most = np.max([layer.most for layer in problem.wanted], axis=0)
        self._unit = float(2.0 ** np.round(np.log2(np.median(most[most > 0]))))
        self._below = (problem.a - problem.lb)[hidden] / self._unit
        self._above = (problem.ub - problem.a)[hidden] / self._unit
        self._respondent = problem.respondents[hidden]
        M = sp.csr_array(sp.csc_array(problem.M)[:, hidden])
        self._attacker = LinearAttacker(sp.csr_array(M[np.flatnonzero(np.diff(M.indptr))]))

    def left(self, cell: int, wanted: Levels, away: Lacks) -> tuple[Levels, Lacks]:
        """What is left of a primary, at most what is wanted, and on whose cells rests what is less. `away`:
        the respondents who do not attack.
        """
        reach, used = [0.0, 0.0], [frozenset[int]()] * 2
        for side, sign in enumerate((1.0, -1.0)):
            if (far := max(wanted[side], wanted[2])) > 0:
                reach[side], used[side] = self._push(cell, sign, far, away)
        reached = (reach[0], reach[1], reach[0] + reach[1])
        levels = tuple(map(_kept, reached, wanted))
        needed: Sequence[Lacks] = (*used, used[0] | used[1])
        attack = frozenset[int]().union(
            *(who for who, got, want in zip(needed, levels, wanted, strict=True) if got < want)
        )
        return (levels[0], levels[1], levels[2]), attack

    def _push(self, cell: int, sign: float, far: float, away: Lacks) -> tuple[float, Lacks]:
        at = int(self._column[cell])
        if at < 0:
            return 0.0, frozenset()
        known = (self._respondent != NOBODY) & ~np.isin(self._respondent, sorted(away))
        below, above = np.where(known, 0.0, self._below), np.where(known, 0.0, self._above)
        room = above if sign > 0 else below
        room[at] = min(room[at], far / self._unit)
        self._attacker.set_bounds(-below, above)
        push = self._attacker.push(np.array([at]), np.array([sign]))
        if not push.status.has_point:
            return far, frozenset()  # nothing is lowered without a proof
        rests = known & (((push.pull > 0) & (self._above > 0)) | ((push.pull < 0) & (self._below > 0)))
        return max(push.reach, 0.0) * self._unit, frozenset(self._respondent[rests].tolist())


def _kept(reached: float, wanted: float) -> float:
    """What is asked in place of a level; what a solver may be wrong by is nothing."""
    if reached >= wanted * (1 - FEASIBILITY):
        return wanted
    return reached if reached >= FEASIBILITY * wanted else 0.0
