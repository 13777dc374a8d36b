"""Is every attacker judged? (METHOD §2; `methods/attack/weaker` says why this is
enough; the code is independent.)

Somebody who has the pieces K of what a profile knows is judged with an adversary N ⊇ K of the evidence, N
judged for the primary, if the requirement against N is not smaller than that against K. Start with all
pieces. Where the requirement is the promised one, everybody below is judged. Else some adversary W ⊆ N must
be required no more than N, so that whoever lies between them is judged; whoever does not, lacks a piece of W,
and N without this piece must be judged in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from sdc_tasks.judge.release.knowledge import attackers, countries_of, knowledge_of_profile
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY

Pieces = frozenset[int]


@dataclass(frozen=True)
class Judged:
    """Requirements against one adversary: `lacks` of the pieces of its profile, and of each
    primary (sides,) where it was judged.
    """

    profile: str
    lacks: Pieces
    needs: Mapping[int, Floats]


def left_out(
    problem: ProtectionProblem, primaries: Ints, promise: Floats, asked: Sequence[Judged]
) -> list[tuple[str, int]]:
    """(profile, primary): where somebody is judged by nobody. `promise` (sides, primaries)."""
    return [
        (profile, cell)
        for profile in dict.fromkeys(each.profile for each in asked)
        for cell in _left_out_of(problem, profile, primaries, promise, asked)
    ]


def _left_out_of(
    problem: ProtectionProblem, profile: str, primaries: Ints, promise: Floats, asked: Sequence[Judged]
) -> list[int]:
    """The primaries for which somebody of one profile is judged by nobody."""
    ours, found = knowledge_of_profile(profile), list[int]()
    if ours.cells is not None and problem.earlier.rows.nnz:
        # A respondent who also kept earlier releases is no attacker of any profile, so he was never judged.
        return [int(cell) for cell in primaries]
    external = next((each.needs for each in asked if each.profile == "external"), {})
    pieces = _pieces(problem, profile, primaries)
    for p, cell in enumerate(primaries.tolist()):
        judged = _judged_for(cell, profile, asked)
        public = {pieces[p]: external[cell]} if external else {}
        if ours.published and len(pieces[p]) == len(problem.earlier.pieces):
            # who lacks them all is the public, which is judged as external
            judged = public | judged
        if not _covered(judged, public | judged, pieces[p], promise[:, p]):
            found.append(cell)
    return found


def _judged_for(cell: int, profile: str, asked: Sequence[Judged]) -> dict[Pieces, Floats]:
    """The pieces that an adversary lacks → the requirements of a primary against him."""
    return {each.lacks: each.needs[cell] for each in asked if each.profile == profile and cell in each.needs}


def implied(problem: ProtectionProblem, asked: Sequence[Judged], primaries: Ints) -> list[Ints]:
    """For each adversary (primaries,): the number of another one who has more and is owed no less, so that
    nobody needs to show this requirement; or −1. The public is compared with whoever kept earlier releases
    where related ones are out.
    """
    across, found = bool(problem.earlier.related.any()), list[Ints]()
    for each in asked:
        stronger = [n for n, other in enumerate(asked) if _has_more(other, each, across)]
        found.append(
            np.array(
                [
                    next((n for n in stronger if _no_less(asked[n], each, cell)), -1)
                    for cell in primaries.tolist()
                ],
                dtype=np.int64,
            )
        )
    return found


def _has_more(other: Judged, each: Judged, across: bool) -> bool:
    if other.profile == each.profile:
        return other.lacks < each.lacks
    mine, theirs = knowledge_of_profile(each.profile), knowledge_of_profile(other.profile)
    if not across or mine.cells is not None or theirs.cells is not None or not theirs.published:
        return False
    more = not mine.published or (theirs.revised and not mine.revised)
    return more and (not mine.published or other.lacks <= each.lacks)


def _no_less(other: Judged, each: Judged, cell: int) -> bool:
    if cell not in other.needs or cell not in each.needs:
        return False
    return bool((other.needs[cell] >= each.needs[cell] * (1 - FEASIBILITY)).all())


def _covered(
    judged: Mapping[Pieces, Floats], owed: Mapping[Pieces, Floats], pieces: Pieces, promise: Floats
) -> bool:
    """`owed`: `judged`, and what is owed to whoever has none of the pieces that matter: the same as to the
    public.
    """
    slack, known = FEASIBILITY * promise, dict[Pieces, bool]()

    def below(lacks: Pieces) -> bool:
        if lacks not in known:
            known[lacks] = lacks in judged and (
                lacks == pieces or is_promised(lacks) or any(map(between, repeat(lacks), owed))
            )
        return known[lacks]

    def is_promised(lacks: Pieces) -> bool:
        return bool((judged[lacks] >= promise - slack).all())

    def between(lacks: Pieces, rest: Pieces) -> bool:
        as_low = rest >= lacks and bool((owed[rest] <= judged[lacks] + slack).all())
        return as_low and all(below(lacks | {piece}) for piece in pieces - rest)

    return below(frozenset())


def _pieces(problem: ProtectionProblem, profile: str, primaries: Ints) -> list[Pieces]:
    """For each primary, the pieces that may matter for what somebody has with nothing new published."""
    ours, country = knowledge_of_profile(profile), countries_of(problem.space)
    if ours.published:
        groups = _linked(problem)
        return [
            next((pieces for areas, pieces in groups if country[cell] in areas), frozenset())
            for cell in primaries.tolist()
        ]
    if ours.cells is None or ours.alone:
        return [frozenset()] * len(primaries)
    return _other_respondents(problem, profile, primaries)


def _other_respondents(problem: ProtectionProblem, profile: str, primaries: Ints) -> list[Pieces]:
    """For each primary, the respondents of its country but its own."""
    known, country = attackers(problem, profile, primaries), countries_of(problem.space)
    mine = [
        (country[cell], owner) for cell, owner in zip(known.cells.tolist(), known.owner.tolist(), strict=True)
    ]
    victims = zip(primaries.tolist(), known.victim.tolist(), strict=True)
    return [
        frozenset(owner for area, owner in mine if area == country[cell] and owner != victim)
        for cell, victim in victims
    ]


def _linked(problem: ProtectionProblem) -> list[tuple[set[int], Pieces]]:
    """(countries, pieces): countries that rows of earlier releases link, and the pieces that tell a row of
    theirs.
    """
    before, space = problem.earlier, problem.space
    if not before.pieces:
        return []
    area_of = countries_of(space) + before.area.tolist()
    groups: list[tuple[set[int], Pieces]] = []
    for row in range(before.rows.shape[0]):
        columns = before.rows.indices[before.rows.indptr[row] : before.rows.indptr[row + 1]].tolist()
        areas, pieces = (
            {area_of[column] for column in columns},
            frozenset(np.flatnonzero(before.told_by[row]).tolist()),
        )
        apart = [each for each in groups if not each[0] & areas]
        for each in groups:
            if each[0] & areas:
                areas, pieces = areas | each[0], pieces | each[1]
        groups = [*apart, (areas, pieces)]
    return groups
