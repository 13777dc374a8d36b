"""One release, as pure functions from national tables to a publication that may be released. Read this first.

    national tables
      │ build_problem, secured   with the secondaries that the receiver sets, where the domain asks for it
      ▼                          (releases/assembly.py, methods/receiver)
    ProtectionProblem
      │ joint                    with everything related that is out (methods/linked)
      │ baseline                 what the national tables alone protect (methods/attack)
      ▼
    Requirements
      │ climb, rung by rung      how much uncertainty the aggregates need (methods/cta)
      ▼
    Adjustment
      │ choose_bases             exact, rounded, or withheld (methods/bases, methods/rounding)
      ▼
    Publication
      │ audit, in chunks         the attacker's proof (methods/attack)
      ▼
    AuditReport
      │ release                  the gate, and what it writes down (releases/gate.py, releases/certificate.py)
      ▼
    Release, or ReleaseBlocked

Nothing here reads a file, a database, a clock that matters or an environment variable: `steps`
does, for Airflow and for `sdc`. The functions below stand in the order of the drawing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from sdc_tasks.domains.schema import Domain
from sdc_tasks.errors import NotTogether
from sdc_tasks.methods import attack
from sdc_tasks.methods.assemble import Decision, assemble, assemble_kept, forget
from sdc_tasks.methods.attack import merge
from sdc_tasks.methods.bases.comparison import RULES, TABLES, Keep, Kept, uses_witness_guided_search
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.methods.bases.policy import case_of, safe_bases
from sdc_tasks.methods.bases.rules import Case, least_loss
from sdc_tasks.methods.bases.wishes import Wishes, require_fitting, wishes_of
from sdc_tasks.methods.cta.options import RungOptions
from sdc_tasks.methods.indicator_blocks import IndicatorBlock, groups_of, restrict
from sdc_tasks.methods.linked import Out, TableUnion, Told, as_it_is_out, to_come, union
from sdc_tasks.methods.linked import joint as joint_problem
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.progress import Say, silent
from sdc_tasks.model.results import (
    Adjustment,
    AuditReport,
    CandidateWitnesses,
    FlagCost,
    Lost,
    Outcome,
    Publication,
    ReceiverSuppression,
    Room,
    Rung,
    SharedWitnesses,
)
from sdc_tasks.model.table import CellSpace, Floats
from sdc_tasks.model.time.periods import PeriodRule
from sdc_tasks.model.weights import aggregate_weights
from sdc_tasks.releases.assembly import (
    as_delivered,
    build_problem,
    read_before,
    sets_secondaries,
    still_promised,
    with_secondaries,
)
from sdc_tasks.releases.certificate import certificate_of as certificate
from sdc_tasks.releases.certificate import intervals, rounding_of
from sdc_tasks.releases.gate import pass_gate as release
from sdc_tasks.releases.program import against_program

__all__ = [
    "TABLES",
    "as_delivered",
    "audit",
    "audit_jointly",
    "baseline",
    "build_problem",
    "certificate",
    "choose_bases",
    "choose_together",
    "climb",
    "flag_costs",
    "groups",
    "intervals",
    "is_to_bases",
    "joint",
    "leave_room",
    "merge",
    "of_group",
    "period_rules",
    "profiles_of",
    "read_before",
    "receiver_sets",
    "release",
    "repeated",
    "rounding_of",
    "secured",
    "sets_secondaries",
    "still_promised",
    "to_bases",
    "to_try",
    "with_secondaries",
    "withstands",
]


def secured(
    problem: ProtectionProblem,
    own: Mapping[str, bool],
    domain: Domain,
    before: Sequence[ProtectionProblem] = (),
) -> ProtectionProblem:
    """The problem as a release has it: with what earlier versions promised, and the secondaries
    of the receiver in every country.
    """
    problem, _ = still_promised(problem, before)
    if not domain.suppression.active:
        return problem
    return with_secondaries(
        problem, [receiver_sets(problem, each, own[each], domain, before) for each in problem.space.countries]
    )


def receiver_sets(
    problem: ProtectionProblem, country: str, own: bool, domain: Domain, before: Sequence[ProtectionProblem]
) -> ReceiverSuppression:
    """The secondaries that the receiver sets in the table of a country, as the domain asks. `own`: the
    country has set some itself. `before`: the problems of the versions of the period that are out.
    """
    from sdc_tasks.methods.receiver.secondaries import secondaries  # cell suppression: few domains ask for it

    return secondaries(problem, country, own, domain.suppression, domain.audit.profiles, before)


def joint(
    problem: ProtectionProblem,
    period: str,
    out: Sequence[Out],
    domain: Domain,
    rules: Mapping[str, PeriodRule] | None = None,
    say: Say = silent,
    before: Sequence[Told] = (),
) -> ProtectionProblem:
    """The problem together with the related releases that are out (METHOD §10). `rules`: of every indicator
    of all tables, what a period is to those within it; without them, as the domain says of its own. `before`:
    the earlier versions of the release.
    """
    said = rules or period_rules(domain)
    return joint_problem(problem, period, out, said, domain.checks.allowed, say, before)


def period_rules(domain: Domain) -> dict[str, PeriodRule]:
    """Of each indicator, what a period is to those within it."""
    return {each.code: domain.linked.rule_of(each.code) or PeriodRule.NONE for each in domain.indicators}


def baseline(
    problem: ProtectionProblem, domain: Domain, progress: Say = silent
) -> tuple[attack.Requirements, int]:
    """What the national tables alone protect (METHOD §2) against `profiles_of`, and the LPs it took."""
    return attack.baseline(problem, profiles_of(problem, domain), progress)


def profiles_of(problem: ProtectionProblem, domain: Domain) -> tuple[str, ...]:
    """The profiles that a release must withstand: those of the domain, and attackers who kept a
    version of the period that is out.
    """
    return tuple(dict.fromkeys((*domain.audit.profiles, *problem.earlier.profiles)))


def climb(
    problem: ProtectionProblem,
    requirements: attack.Requirements,
    domain: Domain,
    rung: int,
    before: Adjustment,
    progress: Say = silent,
) -> Adjustment:
    """Rung number `rung` of the CTA ladder; nothing where an earlier one was good enough, or
    no bases need an adjusted table.
    """
    options, part = domain.cta.ladder[rung], to_bases(problem, domain)
    if part is None:
        return _unneeded(options, before, Outcome.OPTIMAL, "no indicator is rounded to cell-wise bases")
    codes = _codes_with_adjusted_table(part, requirements, domain)
    if not codes:
        return _unneeded(
            options, before, Outcome.NONE, "not needed: the bases of a large table are grown from tables"
        )
    # Most releases need no adjusted table, nor what makes one.
    from sdc_tasks.methods.cta.fallback import climb as climb_rung
    from sdc_tasks.methods.cta.model import release_problem

    part = restrict(problem, codes)
    weights = aggregate_weights(part.problem, domain.cta.weights, domain.cta.gamma)
    model = release_problem(
        part.problem, part.requirements(requirements).strongest, weights, domain.cta.mirror
    )
    found = climb_rung(
        model,
        truth=part.problem.a,
        options=options,
        seed=domain.cta.seed,
        before=part.adjustment(before),
        accept_short=domain.cta.accept_short,
        say=progress,
    )
    return part.adjusted(found)


def _unneeded(options: RungOptions, before: Adjustment, outcome: Outcome, why: str) -> Adjustment:
    """`before` with a rung that was not run because no adjusted table is needed."""
    return Adjustment(
        None, (*before.rungs, Rung(options.method, outcome, None, None, None, 0.0, why, accepted=True))
    )


def _codes_with_adjusted_table(
    part: IndicatorBlock, requirements: attack.Requirements, domain: Domain
) -> list[str]:
    """The indicators of the part whose bases begin at an adjusted table, and are not grown from tables."""
    space, profiles = part.problem.space, requirements.profiles
    return [
        code
        for group in groups(part.problem, domain)
        if not uses_witness_guided_search(space, group, profiles, domain.bases)
        for code in group
    ]


def groups(problem: ProtectionProblem, domain: Domain) -> tuple[tuple[str, ...], ...]:
    """The indicators in groups whose bases are chosen apart: those of the domain, joined
    where an earlier version links them.
    """
    return groups_of(
        problem, domain.groups, [each.code for each in domain.indicators if each.rounding is not None]
    )


def is_to_bases(group: tuple[str, ...], domain: Domain) -> bool:
    """Does each aggregate of these linked indicators get a base of its own?"""
    return all(each.rounding is None for each in domain.indicators if each.code in group)


def of_group(problem: ProtectionProblem, group: tuple[str, ...], decided: Publication) -> Publication:
    """What was decided for the indicators of one group, with all others withheld."""
    return decided.without(~problem.space.aggregate_cells_of(group))


def to_bases(problem: ProtectionProblem, domain: Domain) -> IndicatorBlock | None:
    """The indicators whose aggregates each get a base of their own; None where there is none. Raises
    InvalidInput for a wish of the domain that fits none of these cells.
    """
    domain.require_named(problem.space.indicators)
    chosen = [each.code for each in domain.indicators if each.rounding is None]
    if not chosen:
        return None
    part = restrict(problem, chosen)
    require_fitting(part.problem, domain.bases.cells)
    return part


def choose_bases(
    problem: ProtectionProblem,
    requirements: attack.Requirements,
    adjustment: Adjustment,
    domain: Domain,
    progress: Say = silent,
    keep: Keep = forget,
    note: Say | None = None,
    group: int | None = None,
) -> Publication:
    """The safe publication that loses least, of those that the rules of the domain propose
    (methods/bases/comparison.py); or that of one group of linked indicators, with all others
    withheld: `assemble` puts them together. An indicator that the domain rounds as a whole table is a
    group (methods/rounding/release.py).

    `keep` gets what the report compares it with, and as TABLES what `to_try` takes; `note`, or else
    `progress`, what was decided and why.
    """
    to_bases(problem, domain)  # refuses what the domain cannot ask for
    every = groups(problem, domain)
    decisions = [
        _decision(problem, requirements, adjustment, domain, each, progress, note or progress)
        for each in (every if group is None else every[group : group + 1])
    ]
    for name, item in assemble_kept(problem.space, decisions).items():
        keep(name, item)
    return assemble(problem.space, [(each.indicators, each.publication) for each in decisions])


def _decision(
    problem: ProtectionProblem,
    requirements: attack.Requirements,
    adjustment: Adjustment,
    domain: Domain,
    group: tuple[str, ...],
    progress: Say,
    note: Say,
) -> Decision:
    """The decision for one group of indicators: by the rounding of its whole table, or cell by cell."""
    part = restrict(problem, group)
    rounding = next(each for each in domain.indicators if each.code in group).rounding
    if len(group) < len(problem.space.indicators) or rounding is not None:
        note(f"{', '.join(group)}: {'bases' if rounding is None else rounding.method}")
    if rounding is None:
        return _by_bases(part, requirements, adjustment, domain, group, progress, note)
    nothing = Publication.nothing(np.flatnonzero(problem.aggregate))
    from sdc_tasks.methods.rounding.release import round_part  # as above

    found = round_part(part, requirements, rounding, domain.audit.seed, progress, note)
    shown = found.without(part.problem.withheld[found.cells])
    return Decision(group, part.into(nothing, shown), {})


def _by_bases(
    part: IndicatorBlock,
    requirements: attack.Requirements,
    adjustment: Adjustment,
    domain: Domain,
    group: tuple[str, ...],
    progress: Say,
    note: Say,
) -> Decision:
    """The decision with a base of its own for each aggregate."""
    nothing = Publication.nothing(np.flatnonzero(part.whole.aggregate))
    kept = dict[str, Kept]()

    def keep(name: str, item: Kept) -> None:
        kept[name] = part.into(nothing, item) if isinstance(item, Publication) else item

    case = case_of(
        part.problem, part.requirements(requirements), domain.bases, domain.audit.seed, progress, note
    )
    found = safe_bases(
        case,
        part.adjustment(adjustment),
        domain.cta.accept_short,
        [each.decimals for each in domain.indicators if each.code in group],
        keep,
    )
    keep(TABLES, part.tables(case.attacker.tables(found)))
    return Decision(group, part.into(nothing, found), kept)


def choose_together(
    problems: Sequence[ProtectionProblem],
    domains: Sequence[Domain],
    progress: Say = silent,
    note: Say = silent,
) -> list[Publication]:
    """What is decided for several tables of one period together, table by table (METHOD §10), with every
    indicator withheld that does not go to bases. `domains`: of each.

    Raises NotTogether where the tables cannot be decided together, InvalidInput where they contradict each
    other.
    """
    blocks, whole, case = _union_case(problems, domains, progress, note)
    decimals = max(_decimals_of(domains))
    found = safe_bases(case, Adjustment(), domains[0].cta.accept_short, [decimals], lambda name, item: None)
    return [
        block.into(Publication.nothing(np.flatnonzero(block.whole.aggregate)), part)
        for block, part in zip(blocks, whole.parts(found), strict=True)
    ]


def flag_costs(
    problems: Sequence[ProtectionProblem], domains: Sequence[Domain], progress: Say = silent
) -> list[FlagCost]:
    """What the flag of each primary costs in these tables of one period, decided together: the dearest first;
    empty where every aggregate can be exact. Of one table, of that alone. `domains`: of each.

    Raises NotTogether and InvalidInput as `choose_together`.
    """
    if len(problems) > 1:
        blocks, whole, case = _union_case(problems, domains, progress, silent)
    else:
        block = to_bases(problems[0], domains[0])
        if block is None:
            return []
        requirements, _ = baseline(block.problem, domains[0])
        case = case_of(block.problem, requirements, domains[0].bases, domains[0].audit.seed, progress, silent)
        blocks, whole = [block], TableUnion(block.problem, (np.arange(block.problem.space.national_size),))
    found = least_loss(case)
    within = found.blame_in(whole.shown_in)
    costs = list[FlagCost]()
    for primary, share in found.blame().items():
        flagged = [
            (domains[table].id, blocks[table].problem.space, cell)
            for table, cell in whole.cells_of(primary)
            if blocks[table].problem.primary[cell]
        ]
        _, space, cell = flagged[0]
        tables = tuple(name for name, *_ in flagged)
        parts = tuple(within[primary].tolist())
        costs.append(FlagCost(space.key(cell), space.codes(cell)[0], tables, share, parts))
    return sorted(costs, key=lambda each: (-each.share, each.cell, each.tables))


def _union_case(
    problems: Sequence[ProtectionProblem], domains: Sequence[Domain], progress: Say, note: Say
) -> tuple[list[IndicatorBlock], TableUnion, Case]:
    """What of each table goes to bases, their union, and what is searched for it."""
    _require_alike(domains)
    some = [to_bases(problem.own, domain) for problem, domain in zip(problems, domains, strict=True)]
    blocks = [block for block in some if block is not None]
    if len(blocks) < len(some):
        raise NotTogether("a table has no indicator that goes to bases")
    first, parts = domains[0], [block.problem for block in blocks]
    whole = union(parts, [each.id for each in domains], first.checks.allowed)
    profiles = tuple(dict.fromkeys(name for each in domains for name in each.audit.profiles))
    requirements, _ = attack.baseline(whole.problem, profiles, progress)
    wishes = _union_wishes(whole, parts, domains)
    options = _union_options([part.space for part in parts], profiles, first.bases)
    case = case_of(whole.problem, requirements, options, first.audit.seed, progress, note, wishes)
    return blocks, whole, case


def _union_wishes(whole: TableUnion, parts: Sequence[ProtectionProblem], domains: Sequence[Domain]) -> Wishes:
    """Of a cell of several tables, the most that one of them asks."""
    asked = [wishes_of(part, each.bases.cells) for part, each in zip(parts, domains, strict=True)]
    return Wishes(
        *(whole.largest([getattr(w, name) for w in asked]) for name in ("exact", "published", "cost"))
    )


def _decimals_of(domains: Sequence[Domain]) -> set[int]:
    """Those of the indicators that go to bases."""
    return {each.decimals for domain in domains for each in domain.indicators if each.rounding is None}


def _union_options(
    spaces: Sequence[CellSpace], profiles: tuple[str, ...], options: BasesOptions
) -> BasesOptions:
    """The options for the union of several tables: searched as often as they are one after the other, and
    grown from tables only where one of them is.
    """
    grown = (
        uses_witness_guided_search(space, group, profiles, options)
        for space in spaces
        for group in space.groups
    )
    cells = sum(space.first_aggregate for space in spaces)
    least = options.grown_from if any(grown) else max(options.grown_from, cells + 1)
    return options.model_copy(update={"passes": options.passes * len(spaces), "grown_from": least})


def _require_alike(domains: Sequence[Domain]) -> None:
    """Raises NotTogether for options that differ between the tables, or that are not offered for several."""
    first, names = domains[0], ", ".join(each.id for each in domains)
    asked = [each.bases.model_copy(update={"cells": ()}) for each in domains]
    if other := [each.id for each, bases in zip(domains, asked, strict=True) if bases != asked[0]]:
        raise NotTogether(
            f"{other[0]} asks for other bases than {first.id}. Remedy: write bases alike in both domain files"
        )
    if any(each.suppression.active for each in domains):
        raise NotTogether(f"the receiver sets secondaries in one of {names}")
    if first.bases.strata is not None:
        raise NotTogether("bases.strata is of one table")
    if first.bases.additive and len(_decimals_of(domains)) > 1:
        raise NotTogether(f"bases.additive, and the indicators of {names} have different decimals")


def leave_room(
    problem: ProtectionProblem,
    period: str,
    longer: str,
    out: Sequence[Out],
    domain: Domain,
    rules: Mapping[str, PeriodRule],
    progress: Say = silent,
    before: Sequence[Told] = (),
) -> Room | None:
    """Bases that withstand the exact totals of a longer period too, and what they cost and save; None where
    the periods that are out and this one do not cover it. `rules`, `before`: as in `joint`.
    """
    to_be, own = to_come(problem, period, longer, out, rules), problem.own
    if to_be is None:
        return None

    def decided(
        table: ProtectionProblem, of: str, beside: Sequence[Out], versions: Sequence[Told] = ()
    ) -> tuple[Publication, Lost]:
        joined, kept = joint(table, of, beside, domain, rules, before=versions), dict[str, Kept]()
        requirements, _ = baseline(joined, domain, progress)
        found = choose_bases(joined, requirements, Adjustment(), domain, progress, kept.__setitem__)
        ruled = kept.get(RULES)
        rungs = ruled.rungs if isinstance(ruled, Adjustment) else ()
        information = sum(each.objective or 0.0 for each in rungs if each.chosen)
        return found, Lost(information, int((~found.exact).sum()))

    def then(publication: Publication) -> Lost:
        return decided(to_be.problem, longer, [*out, Out(period, period, own, publication, before)])[1]

    roomy, cost = decided(own, period, [*out, to_be], before)
    alone, least = decided(own, period, out, before)
    return Room(roomy, (cost, least), (then(roomy), then(alone)))


def withstands(
    problem: ProtectionProblem, publication: Publication, requirements: attack.Requirements, domain: Domain
) -> bool:
    """Does a publication that was decided elsewhere withstand every attack on this table?"""
    return attack.audit(problem, publication, requirements, seed=domain.audit.seed).passed


def repeated(
    problem: ProtectionProblem,
    publication: Publication,
    requirements: attack.Requirements,
    domain: Domain,
    period: str,
    out: Sequence[Out],
    note: Say,
) -> Publication:
    """The publication with every total as it is out already in a related table of the period, if that
    withstands the attack: then nobody reads two values for one cell (METHOD §10). Where values must add up,
    or cells of a stratum share a base, nothing is repeated; nor where the domain wishes an exact value.
    """
    if domain.bases.additive or domain.bases.strata is not None:
        return publication
    wishes = wishes_of(problem, domain.bases.cells)
    as_out = as_it_is_out(problem, period, publication, out, domain.checks.allowed)
    found = publication.where(~(wishes.exact & (as_out.base > 0)), as_out)
    same = (found.value == publication.value) & (found.base == publication.base)
    if not (changed := int((~same & ~found.withheld).sum())):
        return publication
    if not withstands(problem, found, requirements, domain):
        note(f"{changed} totals are out with another value or base: as they are out, an attack would succeed")
        return publication
    note(f"{changed} totals are published as they are out already")
    return found


def to_try(
    problem: ProtectionProblem, adjustment: Adjustment, tables: CandidateWitnesses | None
) -> CandidateWitnesses:
    """The adjusted table and those that the choice of bases found, for an audit: it takes none for a
    witness before it has checked it.
    """
    rows = [] if tables is None else tables.sparse
    if adjustment.x is not None:
        z = (adjustment.x - problem.a)[problem.suppressed]
        rows.insert(0, (np.flatnonzero(z), z[np.flatnonzero(z)]))
    return CandidateWitnesses(**CandidateWitnesses.rows(rows))


def _dense(problem: ProtectionProblem, tried: CandidateWitnesses | None) -> Iterable[Floats]:
    return () if tried is None else tried.dense(int(problem.suppressed.sum()))


def audit_jointly(
    problem: ProtectionProblem,
    publication: Publication,
    requirements: attack.Requirements,
    domain: Domain,
    tried: CandidateWitnesses,
    progress: Say = silent,
) -> SharedWitnesses:
    """What the chunks of an audit have in common. Raises as `audit` does."""
    attack.refuse_mislabelled(problem, publication)
    return attack.jointly(
        problem, publication, requirements, _dense(problem, tried), domain.audit.seed, progress
    )


def audit(
    problem: ProtectionProblem,
    publication: Publication,
    requirements: attack.Requirements,
    domain: Domain,
    chunk: int | None = None,
    tried: CandidateWitnesses | None = None,
    joint: SharedWitnesses | None = None,
    progress: Say = silent,
) -> AuditReport:
    """The audit; or one chunk of it: `merge` joins them. `tried`: possible witnesses (`to_try`). `joint`:
    found by `audit_jointly` for all.

    Raises InvalidInput for a table in which a value with a VISIBLE_SHARE is not the sum of the visible
    countries.
    """
    attack.refuse_mislabelled(problem, publication)
    found = attack.audit(
        problem,
        publication,
        requirements,
        witnesses=_dense(problem, tried),
        seed=domain.audit.seed,
        part=attack.Chunk(chunk or 0, 1 if chunk is None else domain.audit.chunks, joint),
        say=progress,
    )
    if chunk:
        return found
    whole = merge([found]) if chunk is None else found
    # The first chunk says what the program itself leaves: the others would repeat it.
    return against_program(whole, to_bases(problem, domain), publication, requirements, domain)
