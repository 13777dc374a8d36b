"""The verdict that the evidence proves, profile by profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sdc_tasks.judge.release.adversary import (
    AdversaryCase,
    cases_of,
    proven_attacks,
    requirements,
    without_witness,
)
from sdc_tasks.judge.release.form import require_form, weaker_of
from sdc_tasks.judge.release.owed.everyone import Judged, implied, left_out
from sdc_tasks.judge.release.owed.promise import Needs, promised, rows
from sdc_tasks.judge.release.polyhedron import contradicted
from sdc_tasks.judge.release.rule_aware import asked_about, wide
from sdc_tasks.judge.release.small import disclosed_small_counts
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import Adversary, named
from sdc_tasks.model.results import Evidence, Publication
from sdc_tasks.model.table import Bools, Floats, Ints


@dataclass(frozen=True)
class Recheck:
    """`protected` (profiles, primaries): witnesses prove protection. `exposed`: a successful attack is
    proven. If both are false: for cells of counts (`whole`), no whole table of the evidence shows protection;
    for other cells, the evidence is incomplete (`faults`).

    `share` (sides, primaries): what the strongest proven attack leaves of a requirement, 1 if it is met; for
    cells of counts 0 if not met. `cut` (primaries,): less is required than promised. `required`: all
    requirements row by row. `small`: aggregate cells that tell a small count. `contradictions`: aggregate
    cells whose printed interval excludes the true value. `wide` (primaries,): what somebody who has the
    program is left is shown to be as wide as both levels together; False for counts, and everywhere where it
    is not asked. `weaker`: the adversaries who lack a part of what their profile knows; `unjudged`: (profile,
    primary) for which not every attacker was judged.
    """

    primaries: Ints = field(repr=False)
    protected: Bools = field(repr=False)
    exposed: Bools = field(repr=False)
    share: Floats = field(repr=False)
    cut: Bools = field(repr=False)
    whole: Bools = field(repr=False)
    required: dict[str, Any] = field(repr=False)
    witnesses: int
    attacks: int
    small: tuple[int, ...]
    contradictions: tuple[int, ...]
    faults: tuple[str, ...]
    wide: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool), repr=False)
    weaker: tuple[Adversary, ...] = ()
    unjudged: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, repr=False)
class _Shown:
    """What the evidence shows, summed over the adversaries of each profile; fields as in `Recheck`."""

    protected: Bools
    exposed: Bools
    share: Floats
    faults: tuple[str, ...]


def recheck(
    problem: ProtectionProblem,
    publication: Publication,
    profiles: Sequence[str],
    evidence: Evidence,
    step: Floats | None = None,
) -> Recheck:
    """The verdict that the evidence proves, profile by profile. `step` (space.size,): the last decimal of
    the deliveries; without it a table is at the end of what the national tables leave only if it is
    exactly there. Raises ValueError if the evidence is malformed or does not prove what it says, and if no
    profile is named, or an unknown one.
    """
    profiles, primaries = named(profiles), np.flatnonzero(problem.primary)
    integral = problem.integral[primaries]
    weaker, judged_for = weaker_of(evidence.weaker, profiles, primaries)
    adversaries = [*(Adversary(profile) for profile in profiles), *weaker]
    cases = cases_of(problem, publication, adversaries, primaries, judged_for)
    require_form(
        evidence,
        primaries,
        integral,
        [len(case.polyhedron.lower) for case in cases],
        [case.polyhedron.A.shape[0] for case in cases],
        [len(case.known.cells) if case.known.alone else 0 for case in cases],
        np.array([case.judged for case in cases]),
    )
    needs = [requirements(case, evidence) for case in cases]
    judged = [_judged(*each) for each in zip(cases, needs, strict=True)]
    shown = _shown(cases, needs, implied(problem, judged, primaries), publication, evidence)
    return Recheck(
        primaries,
        shown.protected,
        shown.exposed,
        shown.share,
        _cut(cases, needs),
        integral,
        rows(needs, primaries, [case.judged for case in cases]),
        len(evidence.profile) + len(evidence.whole_profile),
        len(evidence.broken.cell),
        disclosed_small_counts(problem, publication),
        tuple(publication.cells[contradicted(problem, publication)].tolist()),
        shown.faults,
        _wide(cases[0], needs[0], evidence, step),
        weaker,
        tuple(left_out(problem, primaries, promised(problem, primaries), judged)),
    )


def _shown(
    cases: Sequence[AdversaryCase],
    needs: Sequence[Needs],
    by: Sequence[Ints],
    publication: Publication,
    evidence: Evidence,
) -> _Shown:
    """Judges all adversaries. `by` (primaries,) of each: the number of the stronger one whose requirement
    implies that against it, −1 where none does.
    """
    problem, primaries = cases[0].problem, cases[0].primaries
    profiles = list(dict.fromkeys(case.who.profile for case in cases))
    protected = np.ones((len(profiles), len(primaries)), dtype=bool)
    exposed, share, faults = np.zeros_like(protected), np.ones((3, len(primaries))), list[str]()
    for case, need, elsewhere in zip(cases, needs, by, strict=True):
        profile = case.who.profile
        asked = replace(case, judged=case.judged & (elsewhere < 0))
        unproven = without_witness(asked, publication, need, evidence)
        attacked, left = proven_attacks(asked, need, evidence)
        protected[profiles.index(profile)] &= ~unproven.any(axis=(0, 2))
        exposed[profiles.index(profile)] |= attacked.any(axis=(0, 2))
        # Counts are protected or not: how far an attacker of whole numbers gets is not part of the evidence.
        whole = problem.integral[primaries]
        share = np.minimum(share, np.where(whole, ~unproven.any(axis=2), left))
        undecided = (unproven & ~attacked).any(axis=(0, 2)) & ~whole
        faults += [
            f"{problem.space.key(int(cell))}, {profile}: not shown by the evidence, neither way"
            for cell in primaries[undecided]
        ]
    of = np.array([profiles.index(case.who.profile) for case in cases])
    for _ in profiles:  # who implies a requirement may be spared for a third one
        for number, elsewhere in enumerate(by):
            at = np.flatnonzero(elsewhere >= 0)
            protected[of[number], at] &= protected[of[elsewhere[at]], at]
    return _Shown(protected, exposed, share, tuple(faults))


def _judged(case: AdversaryCase, needs: Needs) -> Judged:
    by_cell = {int(case.primaries[p]): needs.general[:, p] for p in np.flatnonzero(case.judged).tolist()}
    return Judged(case.who.profile, frozenset(case.who.lacks), by_cell)


def _cut(cases: Sequence[AdversaryCase], needs: Sequence[Needs]) -> Bools:
    """(primaries,): whether less is required than promised, against some adversary."""
    number = np.arange(len(cases[0].primaries))
    general = [each.cut & case.judged for case, each in zip(cases, needs, strict=True)]
    special = [np.isin(number, [p for p, _ in each.special]) for each in needs]
    return np.asarray(np.any(general + special, axis=0))


def _wide(case: AdversaryCase, needs: Needs, evidence: Evidence, step: Floats | None) -> Bools:
    """(primaries,): whether the evidence proves the width that somebody who has the program is left. `case`:
    the first profile, whose tables these are.
    """
    problem, primaries = case.problem, case.primaries
    bases = ~problem.integral[primaries]  # primaries of cell-wise bases; counts are rounded in another way
    shown = np.zeros(len(primaries), dtype=bool)
    if asked_about(problem) and bases.any():
        needed = needs.general[:2].sum(axis=0)[bases]
        step = np.zeros(problem.space.size) if step is None else step
        tables = evidence.program, evidence.program_centre
        shown[bases] = wide(problem, case.polyhedron, primaries[bases], needed, *tables, step)
    return shown
