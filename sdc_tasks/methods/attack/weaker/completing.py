"""The requirements against every adversary of the profiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sdc_tasks.methods.attack.items import SIDES
from sdc_tasks.methods.attack.lp.attacker import Attacker
from sdc_tasks.methods.attack.milp.audit import whole_baseline
from sdc_tasks.methods.attack.proofs import joined, proofs_of
from sdc_tasks.methods.attack.requirements import Requirements, promised
from sdc_tasks.methods.attack.weaker.family import Family, Question
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import EXTERNAL, Adversary
from sdc_tasks.model.progress import Progress


def unjudged(problem: ProtectionProblem, needs: Requirements) -> tuple[tuple[str, int], ...]:
    """(profile, primary): where the requirements do not cover every weaker attacker."""
    family = Family(problem, needs.profiles)
    family.learn(needs)
    return tuple(each for each in _cut_fully(needs) if not family.covers(*each))


def complete(problem: ProtectionProblem, least: Requirements, work: Progress) -> Requirements:
    """The requirements against every adversary, from those against the strongest of each profile (`least`)."""
    family, found, weaker = Family(problem, least.profiles), [least], dict[Adversary, None]()
    family.learn(least)
    lowered = _cut_fully(least)
    while asked := family.questions(lowered):
        weaker |= dict.fromkeys(sorted(who for who, _ in asked))
        found.append(_least(problem, least.profiles, tuple(weaker), asked, work))
        family.learn(found[-1])
    return _together(found, tuple(weaker))


def _cut_fully(needs: Requirements) -> list[tuple[str, int]]:
    """(profile, primary): the requirements against the strongest of a profile that are less than promised."""
    rows = np.flatnonzero(needs.cut & (needs.knower < 0) & (needs.profile < len(needs.profiles)))
    return [(needs.profiles[n], cell) for n, cell in zip(needs.profile[rows].tolist(), needs.primaries[rows].tolist(), strict=True)]


def _least(
    problem: ProtectionProblem, profiles: tuple[str, ...], weaker: tuple[Adversary, ...], asked: Sequence[Question], work: Progress
) -> Requirements:
    """The requirements of these primaries against these adversaries, cut to what nothing new leaves."""
    promise = promised(problem, (EXTERNAL,))
    number = {who: len(profiles) + i for i, who in enumerate(weaker)}
    pairs = sorted((number[who], cell) for who, cell in asked)
    at = np.searchsorted(promise.primaries, [cell for _, cell in pairs])
    wanted = Requirements(
        promise.primaries[at], promise.down[at], promise.up[at], promise.slide[at], np.zeros(len(at), dtype=bool),
        np.array([each for each, _ in pairs], dtype=np.int64), profiles=profiles, weaker=weaker,
    )  # fmt: skip
    attacker = Attacker(problem, wanted, work=work)
    attacker.settle_alone()
    least = wanted.cut_to((attack.primary, SIDES[attack.side], attack.knower, attack.reach) for attack in attacker.broken)
    return whole_baseline(problem, replace(least, why=proofs_of(attacker.broken, wanted)), work)


def _together(found: Sequence[Requirements], weaker: tuple[Adversary, ...]) -> Requirements:
    if len(found) == 1:
        return found[0]
    names = ("primaries", "down", "up", "slide", "cut", "profile", "knower")
    parts = {name: np.concatenate([getattr(each, name) for each in found]) for name in names}
    order = np.lexsort((parts["knower"], parts["primaries"], parts["profile"]))
    return Requirements(
        **{name: array[order] for name, array in parts.items()},
        profiles=found[0].profiles,
        weaker=weaker,
        why=joined([each.why for each in found]),
        whole=np.array(sorted(row for each in found for row in each.whole.tolist()), dtype=np.int64).reshape(-1, 5),
    )
