"""The verdict that the evidence proves, profile by profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdc_tasks.judge.release.duality import Core, classes
from sdc_tasks.judge.release.form import require_form, weaker_of
from sdc_tasks.judge.release.integers import Exhaustion
from sdc_tasks.judge.release.knowledge import Known, attackers
from sdc_tasks.judge.release.owed.everyone import Judged, implied, left_out
from sdc_tasks.judge.release.owed.promise import Needs, promised, rows
from sdc_tasks.judge.release.program import asked_about, wide
from sdc_tasks.judge.release.small import disclosed_small_counts
from sdc_tasks.judge.release.tolerance import LEVEL_REACHED, MISS, SAME, SIDES, WHOLE
from sdc_tasks.judge.release.witnesses import prove
from sdc_tasks.judge.release.world import World, contradicted, whole_known, whole_world, world_of
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import Adversary, named
from sdc_tasks.model.results import Evidence, Multipliers, Publication
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
class _Case:
    """One adversary: its worlds with and without the publication, what it knows, for which primaries it is
    judged (`judged`), and the numbers of the adversaries whose tables deceive this one too (`deceived_by`).
    """

    number: int
    who: Adversary
    problem: ProtectionProblem
    primaries: Ints
    judged: Bools
    deceived_by: Ints
    world: World
    nothing: World
    known: Known
    tied: sp.csr_array

    def told(self, cell: int, knower: int) -> tuple[Ints, Floats, Floats]:
        """(columns, lower, upper): what the attackers of a cell know."""
        known = self.known
        victim = known.victim[np.searchsorted(self.primaries, cell)]
        mine = np.arange(len(known.cells)) == knower if known.alone else known.owner != victim
        return np.searchsorted(self.world.cells, known.cells[mine]), known.lower[mine], known.upper[mine]

    def most(self, core: Core, proofs: Multipliers, i: int) -> float:
        """The largest deviation of the attacked cell that proof number i allows."""
        cell = int(proofs.cell[i])
        column, room = (
            int(np.searchsorted(self.world.cells, cell)),
            core.room(*self.told(cell, int(proofs.knower[i]))),
        )
        span = np.arange(proofs.start[i], proofs.start[i + 1])
        side, split = int(proofs.side[i]), int(proofs.split[i])
        halves = [(side, span)] if side else [(-1, span[:split]), (1, span[split:])]
        return sum(core.most(column, way, room, proofs.row[part], proofs.value[part]) for way, part in halves)


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
    cases = [
        _case(problem, publication, adversaries, number, primaries, judged_for)
        for number in range(len(adversaries))
    ]
    require_form(
        evidence,
        primaries,
        integral,
        [len(case.world.lower) for case in cases],
        [case.world.A.shape[0] for case in cases],
        [len(case.known.cells) if case.known.alone else 0 for case in cases],
        np.array([case.judged for case in cases]),
    )
    needs = [_needs(case, evidence) for case in cases]
    judged = [_judged(*each) for each in zip(cases, needs, strict=True)]
    shown = _shown(cases, needs, implied(judged, primaries), publication, evidence)
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
    cases: Sequence[_Case],
    needs: Sequence[Needs],
    spared: Sequence[Bools],
    publication: Publication,
    evidence: Evidence,
) -> _Shown:
    """Judges all adversaries. `spared` (primaries,) of each: implied by the requirement against a stronger
    one.
    """
    problem, primaries = cases[0].problem, cases[0].primaries
    profiles = list(dict.fromkeys(case.who.profile for case in cases))
    protected = np.ones((len(profiles), len(primaries)), dtype=bool)
    exposed, share, faults = np.zeros_like(protected), np.ones((3, len(primaries))), list[str]()
    for case, need, implied_ in zip(cases, needs, spared, strict=True):
        profile = case.who.profile
        asked = replace(case, judged=case.judged & ~implied_)
        open_, shares, attacked = _judge(asked, publication, need, evidence)
        protected[profiles.index(profile)] &= ~open_.any(axis=(0, 2))
        exposed[profiles.index(profile)] |= attacked.any(axis=(0, 2))
        share = np.minimum(share, shares)
        undecided = (open_ & ~attacked).any(axis=(0, 2)) & ~problem.integral[primaries]
        faults += [
            f"{problem.space.key(int(cell))}, {profile}: not shown by the evidence, neither way"
            for cell in primaries[undecided]
        ]
    return _Shown(protected, exposed, share, tuple(faults))


def _cut(cases: Sequence[_Case], needs: Sequence[Needs]) -> Bools:
    """(primaries,): whether less is required than promised, against some adversary."""
    number = np.arange(len(cases[0].primaries))
    general = [each.cut & case.judged for case, each in zip(cases, needs, strict=True)]
    special = [np.isin(number, [p for p, _ in each.special]) for each in needs]
    return np.asarray(np.any(general + special, axis=0))


def _wide(case: _Case, needs: Needs, evidence: Evidence, step: Floats | None) -> Bools:
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
        shown[bases] = wide(problem, case.world, primaries[bases], needed, *tables, step)
    return shown


def _judged(case: _Case, needs: Needs) -> Judged:
    told = {int(case.primaries[p]): needs.general[:, p] for p in np.flatnonzero(case.judged).tolist()}
    return Judged(case.who.profile, frozenset(case.who.lacks), told)


def _case(
    problem: ProtectionProblem,
    publication: Publication,
    adversaries: Sequence[Adversary],
    number: int,
    primaries: Ints,
    judged: Bools,
) -> _Case:
    who = adversaries[number]
    world, nothing = (
        world_of(problem, publication, who.profile, who.lacks),
        world_of(problem, None, who.profile, who.lacks),
    )
    first = len(adversaries) - len(judged)
    stronger = [
        n
        for n, each in enumerate(adversaries)
        if each.profile == who.profile and set(each.lacks) <= set(who.lacks)
    ]
    known = attackers(problem, who.profile, primaries, who.lacks)
    mine = judged[number - first] if number >= first else np.ones(len(primaries), dtype=bool)
    return _Case(
        number, who, problem, primaries, mine, np.array(stronger), world, nothing, known, classes(nothing)
    )


def _needs(case: _Case, evidence: Evidence) -> Needs:
    """The requirements: the promise, cut where the national tables provably do not keep it.
    Raises ValueError for any other cut.
    """
    problem, primaries = case.problem, case.primaries
    needs = Needs(promised(problem, primaries), np.zeros(len(primaries), dtype=bool))
    core, cut, reached = Core(case.nothing, case.tied), evidence.cut, dict[tuple[int, int, int], float]()
    for i in np.flatnonzero(cut.profile == case.number).tolist():
        key = int(cut.side[i]), int(np.searchsorted(primaries, cut.cell[i])), int(cut.knower[i])
        need, most, reach = needs.of(key[0], key[1], -1), case.most(core, cut, i), float(cut.reach[i])
        _ask(
            abs(most - reach) <= SAME * need and reach < need,
            problem,
            int(cut.cell[i]),
            "is not cut by what the national tables leave",
        )
        reached[key] = min(reached.get(key, np.inf), reach)
    needs.lower(reached)
    integral = problem.integral[primaries]
    needs.whole(integral)
    whole, wholes = {}, whole_world(problem, None, case.nothing)
    for _, cell, side, knower, reach in evidence.whole_cut[evidence.whole_cut[:, 0] == case.number].tolist():
        p = int(np.searchsorted(primaries, cell))
        held, low, high = case.told(cell, knower)
        low = np.where(wholes[1][held], np.ceil(low - WHOLE), low)
        search = Exhaustion.around(*wholes, int(np.searchsorted(case.world.cells, cell)), held, low, high)
        shown = (
            search is not None and reach < needs.of(side, p, knower) and search.reaches_no_more(side, reach)
        )
        _ask(
            shown,
            problem,
            cell,
            "is cut on the word of a MILP, which could not be shown in as many steps as are counted here",
        )
        whole[side, p, knower] = float(reach)
    needs.lower(whole)
    return needs


def _judge(
    case: _Case, publication: Publication, needs: Needs, evidence: Evidence
) -> tuple[Bools, Floats, Bools]:
    """(sides, primaries, attackers): not shown by any table; (sides, primaries): the share that is
    left; where an attack is proven.

    Raises ValueError if an attack of the evidence does not succeed, or reaches another level than it says.
    """
    problem, primaries, known = case.problem, case.primaries, case.known
    integral = problem.integral[primaries]
    needed = needs.against(len(known.cells) if known.alone else 1)
    open_ = (needed > 0) & case.judged[None, :, None]
    if known.alone:
        open_ &= (known.owner[None, :] != known.victim[:, None])[None]
    asked, shown = open_.copy(), open_.copy()
    if integral.any():
        tables = sp.csr_array(evidence.whole[np.isin(evidence.whole_profile, case.deceived_by)])
        narrow, counted = whole_world(problem, publication, case.world)
        if (tables.data[counted[tables.indices]] % 1 != 0).any():
            raise ValueError("the witnesses are no evidence (whole tables: a table that is not whole)")
        prove(
            narrow,
            tables,
            primaries,
            needed,
            shown,
            whole_known(known, narrow, counted),
            np.full(needed.shape, WHOLE),
            0.0,
        )
    witnesses = sp.csr_array(evidence.witness[np.isin(evidence.profile, case.deceived_by)])
    prove(case.world, witnesses, primaries, needed, open_, known, MISS * needed, LEVEL_REACHED)
    open_[:, integral] = shown[:, integral]
    share = np.where(open_.any(axis=2) & integral, 0.0, 1.0)
    exposed = np.zeros_like(open_)
    core, broken = Core(case.world, case.tied), evidence.broken
    for i in np.flatnonzero(broken.profile == case.number).tolist():
        side, p, knower = (
            int(broken.side[i]),
            int(np.searchsorted(primaries, broken.cell[i])),
            int(broken.knower[i]),
        )
        need, most, reach = needs.of(side, p, knower), case.most(core, broken, i), float(broken.reach[i])
        sound = abs(most - reach) <= SAME * need and reach < need
        _ask(sound, problem, int(broken.cell[i]), "is attacked, but not as far as the evidence says")
        at = SIDES.index(side), p, knower if known.alone and knower >= 0 else slice(None)
        exposed[at] |= asked[at]
        if not integral[p]:
            share[at[0], p] = min(share[at[0], p], _share(reach / need))
    return open_, share, exposed


def _share(left: float) -> float:
    """Rounded down, so that equal attacks leave equal shares."""
    return float(np.clip(np.floor(1e4 * left + 1e-3) / 1e4, 0.0, 1 - 1e-4))


def _ask(holds: bool, problem: ProtectionProblem, cell: int, otherwise: str) -> None:
    if not holds:
        raise ValueError(f"{problem.space.key(cell)} {otherwise}")
