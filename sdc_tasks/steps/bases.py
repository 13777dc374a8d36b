"""From what the national tables protect to safe bases: the adjusted table, then the bases of
each group of linked indicators.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sdc_tasks import pipeline
from sdc_tasks.confidential import keeps_to_itself
from sdc_tasks.methods.assemble import Decision, assemble, assemble_kept
from sdc_tasks.methods.attack import Requirements
from sdc_tasks.methods.bases.comparison import RULES, TABLES, Kept
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, CandidateWitnesses, Outcome, Publication, Rung
from sdc_tasks.steps import reserve, together
from sdc_tasks.steps.desk import Desk
from sdc_tasks.steps.joint import out_of
from sdc_tasks.steps.memory import is_sound, load, load_of, once
from sdc_tasks.warehouse.operations import journal

TOGETHER, WITH_ROOM = (
    Rung(name, Outcome.FEASIBLE, None, None, None, 0.0, "withstands the attack", chosen=True)
    for name in ("with other tables", "with room for a longer period")
)


@keeps_to_itself
def adjust(desk: Desk, release_id: str, rung: int) -> bool:
    """Runs one rung of the CTA ladder. Returns whether the next rung is needed."""
    if (proposal := _proposed(desk, release_id)) is not None:
        desk.say(f"no adjusted table: decided {proposal[1].method}")
        return False
    problem = load(desk, release_id, "assemble", ProtectionProblem)
    requirements = load(desk, release_id, "baseline", Requirements)
    before = adjustment_of(desk, release_id, upto=rung)
    name = f"{rung}-{desk.domain.cta.ladder[rung].method}"
    if not before.accepted:
        once(
            desk,
            release_id,
            "adjust",
            name,
            lambda: pipeline.climb(problem, requirements, desk.domain, rung, before, desk.say),
        )
        after = load(desk, release_id, "adjust", Adjustment, name)
        journal.save_rungs(desk.engine, release_id, after.rungs)
        desk.say(f"{after.rungs[-1].method}: {after.rungs[-1].outcome}, {after.rungs[-1].reason}")
        return not after.accepted
    return False


def climbed(desk: Desk, release_id: str, upto: int | None = None) -> tuple[bool, str]:
    """Whether the rungs before number `upto` (default: all) gave a table good enough to stop,
    and a description of that table.
    """
    found = adjustment_of(desk, release_id, upto)
    chosen = next((rung for rung in reversed(found.rungs) if rung.chosen), None)
    if chosen is None and found.accepted:
        return True, f"no adjusted table: {found.rungs[-1].reason}"
    if chosen is None:
        return found.accepted, "no rung returned a table: bases are driven by the audit alone"
    return (
        found.accepted,
        (
            f"{chosen.method} was {'good enough' if found.accepted else 'the best'}: {chosen.outcome}, "
            f"{chosen.reason}"
        ),
    )


def adjustment_of(desk: Desk, release_id: str, upto: int | None = None) -> Adjustment:
    """The result of the rungs so far."""
    ladder = desk.domain.cta.ladder[: len(desk.domain.cta.ladder) if upto is None else upto]
    climbed = journal.step_outputs(desk.engine, release_id, "adjust")
    names = [name for i, rung in enumerate(ladder) if (name := f"{i}-{rung.method}") in climbed]
    return load(desk, release_id, "adjust", Adjustment, names[-1]) if names else Adjustment()


@keeps_to_itself
def choose_bases(desk: Desk, release_id: str, group: int) -> str:
    """Decides exact, rounded or withheld for every aggregate cell of one group of linked
    indicators (`pipeline.groups`; at most as many as `Domain.groups`). When all groups are
    decided, stores what is decided for all; where several end at once, each stores the same.
    Returns the digest of the decision for the group.
    """
    problem = load(desk, release_id, "assemble", ProtectionProblem)
    groups = pipeline.groups(problem, desk.domain)
    if group >= len(groups):
        desk.say(
            "an earlier version of the period links these indicators to others: they are decided together"
        )
        return ""
    requirements = load(desk, release_id, "baseline", Requirements)
    adjustment = adjustment_of(desk, release_id)

    notes: list[str] = []

    def note(message: str) -> None:
        notes.append(message)
        desk.say(message)

    def keep(name: str, item: Kept) -> None:
        once(desk, release_id, "bases", _of_group(group, name), lambda: item)

    proposal = _proposed(desk, release_id)

    def decide() -> Publication:
        if proposal is not None and pipeline.is_to_bases(groups[group], desk.domain):
            publication, rung = proposal
            keep(RULES, Adjustment(rungs=(rung,)))
            return pipeline.of_group(problem, groups[group], publication)
        return pipeline.choose_bases(
            problem, requirements, adjustment, desk.domain, desk.say, keep, note, group
        )

    def join() -> Publication:
        decisions = _decisions(desk, release_id, groups)
        found = assemble(problem.space, [(each.indicators, each.publication) for each in decisions])
        if problem.space.beside:
            out = out_of(desk, release_id)
            found = pipeline.repeated(problem, found, requirements, desk.domain, desk.period, out, note)
        visible = (
            f"{int(found.visible.sum())} as sum of the visible countries, " if found.visible.any() else ""
        )
        desk.say(
            f"{int(found.exact.sum())} cells exact, {int(found.rounded.sum())} rounded, "
            f"{visible}{int(found.withheld.sum())} withheld"
        )
        return found

    beside = _beside(journal.step_outputs(desk.engine, release_id, "bases"), group)
    digest = once(desk, release_id, "bases", str(group), decide, notes, beside.values())
    if are_decided(desk, release_id, len(groups)):
        once(desk, release_id, "bases", "", join)
    return digest


def _proposed(desk: Desk, release_id: str) -> tuple[Publication, Rung] | None:
    """What was decided before the bases are chosen, and how."""
    for step, rung in ((together, TOGETHER), (reserve, WITH_ROOM)):
        if (found := step.taken(desk, release_id)) is not None:
            return found, rung
    return None


def _of_group(group: int, name: str) -> str:
    return f"{group} {name}"


def _beside(stored: Mapping[str, str], group: int) -> dict[str, str]:
    """name → digest of what `keep` stored beside the decision for a group."""
    first = _of_group(group, "")
    return {key.removeprefix(first): digest for key, digest in stored.items() if key.startswith(first)}


def are_decided(desk: Desk, release_id: str, groups: int) -> bool:
    """Are the decisions for so many groups stored and intact, with all that is beside them? Nothing is read
    before there is one for each.
    """
    stored = journal.step_outputs(desk.engine, release_id, "bases")
    return all(str(group) in stored for group in range(groups)) and all(
        is_sound(desk, each)
        for group in range(groups)
        for each in (stored[str(group)], *_beside(stored, group).values())
    )


def _decisions(
    desk: Desk, release_id: str, groups: Sequence[tuple[str, ...]], only: Collection[str] | None = None
) -> list[Decision]:
    """The decision for each group that has one: releases of earlier programs have none. `only`: of what
    is kept beside it, these names.
    """

    def kept(name: str, digest: str) -> Kept:
        if name == TABLES:
            return load_of(desk.engine, digest, CandidateWitnesses)
        return (
            load_of(desk.engine, digest, Adjustment)
            if name == RULES
            else load_of(desk.engine, digest, Publication)
        )

    stored = journal.step_outputs(desk.engine, release_id, "bases")
    return [
        Decision(
            indicators,
            load_of(desk.engine, stored[str(group)], Publication),
            {
                name: kept(name, digest)
                for name, digest in _beside(stored, group).items()
                if only is None or name in only
            },
        )
        for group, indicators in enumerate(groups)
        if str(group) in stored
    ]


def compared(desk: Desk, release_id: str) -> tuple[Mapping[str, Publication], Adjustment]:
    """The comparison of the bases: the publications by other rules, and a rung for each rule."""
    problem = load(desk, release_id, "assemble", ProtectionProblem)
    kept = assemble_kept(problem.space, _decisions(desk, release_id, pipeline.groups(problem, desk.domain)))
    rules = kept.get(RULES)
    others = {name: item for name, item in kept.items() if isinstance(item, Publication)}
    return others, rules if isinstance(rules, Adjustment) else Adjustment()


def tables_found(desk: Desk, release_id: str, problem: ProtectionProblem) -> CandidateWitnesses | None:
    """The tables that the choice of bases found; None where no indicator goes to bases."""
    found = assemble_kept(
        problem.space, _decisions(desk, release_id, pipeline.groups(problem, desk.domain), only={TABLES})
    ).get(TABLES)
    return found if isinstance(found, CandidateWitnesses) else None
