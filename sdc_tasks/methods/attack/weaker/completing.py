"""The requirements against every adversary of the profiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sdc_tasks.methods.attack.milp.audit import integer_baseline
from sdc_tasks.methods.attack.proofs import joined, proofs_of
from sdc_tasks.methods.attack.requirements import Requirements
from sdc_tasks.methods.attack.weaker.family import Family, Question
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import Adversary, profile_of
from sdc_tasks.model.progress import Progress


def unjudged(problem: ProtectionProblem, needs: Requirements) -> tuple[tuple[str, int], ...]:
    """(profile, primary): where the requirements do not cover every attacker. A respondent who also kept
    earlier versions, or tables as they came, is attacked by none of the profiles: where something of the kind
    is out, no primary is judged against everybody.
    """
    family = Family(problem, needs.profiles)
    family.learn(needs)
    found = {each for each in _cut_fully(needs) if not family.covers(*each)}
    if problem.earlier.rows.nnz:
        found |= {
            (name, cell)
            for name in needs.profiles
            if profile_of(name).respondents
            for cell in needs.cells.tolist()
        }
    return tuple(sorted(found, key=lambda each: (needs.profiles.index(each[0]), each[1])))


def complete(problem: ProtectionProblem, least: Requirements, work: Progress) -> Requirements:
    """The requirements against every adversary, from those against the strongest of each profile
    (`least`).
    """
    family, found, weaker = Family(problem, least.profiles), [least], dict[Adversary, None]()
    family.learn(least)
    lowered = _cut_fully(least)
    while asked := family.questions(lowered):
        weaker |= dict.fromkeys(sorted(who for who, _ in asked))
        found.append(_least(problem, family, tuple(weaker), asked, work))
        family.learn(found[-1])
    return _together(found, tuple(weaker))


def _cut_fully(needs: Requirements) -> list[tuple[str, int]]:
    """(profile, primary): the requirements against the strongest of a profile that are less than promised."""
    rows = np.flatnonzero(needs.cut & (needs.insider < 0) & (needs.profile < len(needs.profiles)))
    return [
        (needs.profiles[n], cell)
        for n, cell in zip(needs.profile[rows].tolist(), needs.primaries[rows].tolist(), strict=True)
    ]


def _least(
    problem: ProtectionProblem,
    family: Family,
    weaker: tuple[Adversary, ...],
    asked: Sequence[Question],
    work: Progress,
) -> Requirements:
    """The requirements of these primaries against these adversaries, cut to what nothing new leaves."""
    number = {who: len(family.profiles) + i for i, who in enumerate(weaker)}
    pairs = sorted((number[who], cell) for who, cell in asked)
    left = [family.left(weaker[n - len(family.profiles)], cell, row) for row, (n, cell) in enumerate(pairs)]
    down, up, slide = np.array([each.levels for each in left]).T
    least = Requirements(
        np.array([cell for _, cell in pairs], dtype=np.int64),
        down,
        up,
        slide,
        np.array([bool(each.attacks) for each in left]),
        np.array([n for n, _ in pairs], dtype=np.int64),
        profiles=family.profiles,
        weaker=weaker,
    )
    proofs = proofs_of([attack for each in left for attack in each.attacks], least)
    return integer_baseline(problem, replace(least, why=proofs), work)


def _together(found: Sequence[Requirements], weaker: tuple[Adversary, ...]) -> Requirements:
    if len(found) == 1:
        return found[0]
    names = ("primaries", "down", "up", "slide", "cut", "profile", "insider")
    parts = {name: np.concatenate([getattr(each, name) for each in found]) for name in names}
    order = np.lexsort((parts["insider"], parts["primaries"], parts["profile"]))
    return Requirements(
        **{name: array[order] for name, array in parts.items()},
        profiles=found[0].profiles,
        weaker=weaker,
        linked=found[0].linked,
        why=joined([each.why for each in found]),
        whole=np.array(sorted(row for each in found for row in each.whole.tolist()), dtype=np.int64).reshape(
            -1, 5
        ),
    )
