"""One release, as pure functions from national tables to a publication that may be released. Read this first.

    tables ── build_problem ──▶ ProtectionProblem ── baseline ──▶ Requirements      releases/assembly.py
                 secured        (with the secondaries that the receiver sets, where the domain asks for it: methods/receiver)
                                     │                               │
                                     ├── climb, rung by rung ──▶ Adjustment      how much uncertainty the aggregates need (methods/cta)
                                     ├── choose_bases ────────▶ Publication     exact, rounded, or withheld (methods/bases, rounding)
                                     ├── audit (in chunks) ───▶ AuditReport     the attacker's proof (methods/attack)
                                     └── release ─────────────▶ Release, or ReleaseBlocked      releases/gate.py; certificate.py

Nothing here reads a file, a database, a clock that matters or an environment variable: `steps` does, for Airflow and for `sdc`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from sdc_tasks.domains.schema import Domain
from sdc_tasks.methods import attack
from sdc_tasks.methods.bases.comparison import Keep, Kept, is_grown
from sdc_tasks.methods.bases.policy import case_of, safe_bases
from sdc_tasks.methods.bases.rules import Case
from sdc_tasks.methods.cta.ladder import climb as climb_rung
from sdc_tasks.methods.cta.ladder import unneeded
from sdc_tasks.methods.cta.model import release_problem
from sdc_tasks.methods.parts import Part, part_of
from sdc_tasks.methods.receiver.secondaries import secondaries
from sdc_tasks.methods.rounding.release import round_part
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.progress import Say, silent
from sdc_tasks.model.results import Adjustment, AuditReport, JointPoints, Outcome, Publication, Secondaries, Tables
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.weights import aggregate_weights
from sdc_tasks.releases.assembly import as_delivered, build_problem, read_before, sets_secondaries, still_promised, with_secondaries
from sdc_tasks.releases.certificate import certificate_of as certificate
from sdc_tasks.releases.certificate import intervals, rounding_of
from sdc_tasks.releases.gate import pass_gate as release
from sdc_tasks.releases.program import against_program

__all__ = [
    "as_delivered", "audit", "audit_jointly", "baseline", "bases_case", "build_problem", "certificate", "choose_bases", "climb",
    "intervals", "merge", "profiles_of", "read_before", "receiver_sets", "release", "rounding_of", "secured",
    "sets_secondaries", "still_promised", "to_bases", "to_try", "unprotected", "with_secondaries",
]  # fmt: skip

TABLES = "tables"  # that the choice of bases found


def forget(name: str, item: Kept) -> None:
    """Keeps nothing."""


def receiver_sets(problem: ProtectionProblem, country: str, own: bool, domain: Domain, before: Sequence[ProtectionProblem]) -> Secondaries:
    """The secondaries that the receiver sets in the table of a country, as the domain asks. `own`: the country has set some itself.
    `before`: the problems of the versions of the period that are out.
    """
    return secondaries(problem, country, own, domain.suppression, domain.audit.profiles, before)


def secured(
    problem: ProtectionProblem, own: Mapping[str, bool], domain: Domain, before: Sequence[ProtectionProblem] = ()
) -> ProtectionProblem:
    """The problem as a release has it: with what earlier versions promised, and the secondaries of the receiver in every country."""
    problem = still_promised(problem, before)
    if not domain.suppression.active:
        return problem
    return with_secondaries(problem, [receiver_sets(problem, each, own[each], domain, before) for each in problem.space.countries])


def baseline(problem: ProtectionProblem, domain: Domain, progress: Say = silent) -> tuple[attack.Requirements, int]:
    """What the national tables alone protect (METHOD §2) against `profiles_of`, and the LPs it took."""
    return attack.baseline(problem, profiles_of(problem, domain), progress)


def profiles_of(problem: ProtectionProblem, domain: Domain) -> tuple[str, ...]:
    """The profiles that a release must withstand: those of the domain, and attackers who kept a version of the period that is out."""
    return tuple(dict.fromkeys((*domain.audit.profiles, *problem.earlier.profiles)))


def unprotected(problem: ProtectionProblem, requirements: attack.Requirements) -> tuple[Ints, Ints]:
    """The primaries that their own national tables do not fully protect; and those that lose protection by what is out already.

    No treatment of the aggregates can repair either of them: each is reported to its NSI.
    """
    kept = [profile in problem.earlier.profiles for profile in requirements.profiles]
    before = np.array(kept, dtype=bool)[requirements.profile]
    own = np.unique(requirements.primaries[requirements.cut & ~before])
    return own, np.setdiff1d(requirements.primaries[requirements.cut & before], own)


def climb(
    problem: ProtectionProblem, requirements: attack.Requirements, domain: Domain, rung: int, before: Adjustment, progress: Say = silent
) -> Adjustment:
    """Rung number `rung` of the CTA ladder; nothing where an earlier one was good enough, or bases need no adjusted table (`is_grown`)."""
    part = to_bases(problem, domain)
    if part is None or is_grown(part.problem, requirements.profiles, domain.bases):
        why = "no indicator goes to bases" if part is None else "not needed: the bases of a large table are grown from tables"
        return unneeded(domain.cta.ladder[rung], before, Outcome.OPTIMAL if part is None else Outcome.NONE, why)
    weights = aggregate_weights(part.problem, domain.cta.weights, domain.cta.gamma)
    model = release_problem(part.problem, part.requirements(requirements).strongest, weights, domain.cta.mirror)
    rest = domain.cta.ladder[rung], domain.cta.seed, part.adjustment(before), domain.cta.accept_short, progress
    return part.adjusted(climb_rung(model, part.problem.a, *rest))


def to_bases(problem: ProtectionProblem, domain: Domain) -> Part | None:
    """The indicators whose aggregates each get a base of their own; None where there is none."""
    domain.require_named(problem.space.indicators)
    chosen = [indicator.code for indicator in domain.indicators if indicator.rounding is None]
    return part_of(problem, chosen) if chosen else None


def choose_bases(
    problem: ProtectionProblem,
    requirements: attack.Requirements,
    adjustment: Adjustment,
    domain: Domain,
    progress: Say = silent,
    keep: Keep = forget,
    note: Say | None = None,
) -> Publication:
    """The safe publication that loses least, of those that the rules of the domain propose (methods/bases/comparison.py).

    `keep` gets what the report compares it with, and as TABLES what `to_try` takes; `note`, or else `progress`, what was decided and why.
    Indicators that the domain rounds as whole tables are decided first (methods/rounding/release.py).
    """
    note = note or progress
    decided = Publication.nothing(np.flatnonzero(problem.aggregate))
    for indicator in domain.indicators:
        if indicator.rounding is not None:
            note(f"{indicator.code}: {indicator.rounding.method}")
            own = part_of(problem, [indicator.code])
            rounded = round_part(own, decided, requirements, indicator.rounding, domain.audit.seed, progress, note)
            decided = own.into(decided, rounded.without(own.problem.withheld[rounded.cells]))
    part = to_bases(problem, domain)
    if part is None:
        return decided

    def keep_whole(name: str, item: Kept) -> None:
        keep(name, part.into(decided, item) if isinstance(item, Publication) else item)

    case = bases_case(part.problem, part.requirements(requirements), domain, progress, note)
    decimals = [indicator.decimals for indicator in domain.indicators if indicator.code in part.problem.space.indicators]
    found = safe_bases(case, part.adjustment(adjustment), domain.cta.accept_short, decimals, keep_whole)
    keep(TABLES, part.tables(case.attacker.tables(found)))
    return part.into(decided, found)


def bases_case(
    problem: ProtectionProblem, requirements: attack.Requirements, domain: Domain, progress: Say = silent, note: Say = silent
) -> Case:
    """The case for which bases are chosen, with the options of the domain."""
    return case_of(problem, requirements, domain.bases, domain.audit.seed, progress, note)


def audit(
    problem: ProtectionProblem,
    publication: Publication,
    requirements: attack.Requirements,
    domain: Domain,
    chunk: int | None = None,
    tried: Tables | None = None,
    joint: JointPoints | None = None,
    progress: Say = silent,
) -> AuditReport:
    """The audit; or one chunk of it: `merge` joins them. `tried`: possible witnesses (`to_try`). `joint`: found by `audit_jointly` for all.

    Raises InvalidInput for a table in which a value with a VISIBLE_SHARE is not the sum of the visible countries.
    """
    attack.refuse_mislabelled(problem, publication)
    attacked = problem, publication, requirements, _dense(problem, tried), domain.audit.seed
    found = attack.audit(*attacked, *((0, 1) if chunk is None else (chunk, domain.audit.chunks)), joint, progress)
    found = merge([found]) if chunk is None else found
    return found if chunk else against_program(found, to_bases(problem, domain), publication, requirements, domain)


def audit_jointly(
    problem: ProtectionProblem, publication: Publication, requirements: attack.Requirements, domain: Domain, tried: Tables,
    progress: Say = silent,
) -> JointPoints:  # fmt: skip
    """What the chunks of an audit have in common. Raises as `audit` does."""
    attack.refuse_mislabelled(problem, publication)
    return attack.jointly(problem, publication, requirements, _dense(problem, tried), domain.audit.seed, progress)


def to_try(problem: ProtectionProblem, adjustment: Adjustment, tables: Tables | None) -> Tables:
    """The adjusted table and those that the choice of bases found, for an audit: it takes none for a witness before it has checked it."""
    z = np.zeros(0) if adjustment.x is None else (adjustment.x - problem.a)[problem.suppressed]
    adjusted = [] if adjustment.x is None else [(np.flatnonzero(z), z[np.flatnonzero(z)])]
    return Tables(**Tables.rows([*adjusted, *([] if tables is None else tables.sparse)]))


def _dense(problem: ProtectionProblem, tried: Tables | None) -> Iterable[Floats]:
    return () if tried is None else tried.dense(int(problem.suppressed.sum()))


def merge(chunks: Sequence[AuditReport]) -> AuditReport:
    """The report of the whole publication."""
    return attack.merge(chunks)
