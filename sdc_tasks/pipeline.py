"""One release, as pure functions from national tables to a publication that may be released. Read this first.

    tables ── build_problem ──▶ ProtectionProblem ── baseline ──▶ Requirements
                                     │                               │
                                     ├── cta_start, climb … ──▶ Adjustment      how much uncertainty the aggregates need
                                     ├── choose_bases ────────▶ Publication     exact, rounded, or withheld
                                     ├── audit (in chunks) ───▶ AuditReport     the attacker's proof
                                     └── release ─────────────▶ Release, or ReleaseBlocked

Nothing here reads a file, a database, a clock that matters or an environment variable: `steps.py` does, for Airflow and for `sdc`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sdc_tasks.domains.schema import Domain, MissingCountry, Role
from sdc_tasks.errors import InvalidInput, ReleaseBlocked, Retriable
from sdc_tasks.methods import attack, bases, cta
from sdc_tasks.methods.parts import Part, part_of
from sdc_tasks.methods.primary import protection_levels
from sdc_tasks.methods.recheck import AUDIENCE
from sdc_tasks.methods.rounding.release import round_part
from sdc_tasks.model.problem import NationalTable, ProtectionProblem
from sdc_tasks.model.profiles import named
from sdc_tasks.model.results import Adjustment, AuditReport, Outcome, Publication, Release, Rung
from sdc_tasks.model.secret import Secret
from sdc_tasks.model.table import Bools, CellSpace, Floats, Ints
from sdc_tasks.model.weights import aggregate_weights

Progress = Callable[[str], None]


def quiet(message: str) -> None:
    """A progress that says nothing."""


MOST_PLACES = 9
MORE_DECIMALS = 2  # than an indicator declares, for additive values: deliveries may carry more


def forget(name: str, item: Publication | Adjustment) -> None:
    """Keeps nothing."""


def build_problem(tables: Sequence[NationalTable], domain: Domain, salt: Secret | None = None) -> ProtectionProblem:
    """All countries, hierarchies and compositions as one relation system, with protection levels from flags and shares.

    `salt` keys the digests of what is confidential; without one they are no other's, not even those of the same tables once more.
    Raises InvalidInput or Retriable where a country is missing and the domain does not publish partial aggregates.
    """
    if not tables:
        raise InvalidInput(f"no accepted delivery from {', '.join(domain.countries)}, so none at all. Remedy: see their findings")
    by_country = {table.country: table for table in tables}
    missing = [country for country in domain.countries if country not in by_country]
    if missing and domain.missing_country is MissingCountry.BLOCK:
        raise InvalidInput(
            f"no accepted delivery from {', '.join(missing)}, and {domain.id} blocks a release with missing countries. "
            "Remedy: deliver them, or set missing_country: partial in the domain file"
        )
    if missing and domain.missing_country is MissingCountry.WAIT:
        raise Retriable(f"waiting for the delivery of {', '.join(missing)}")
    space = domain.space_of(tuple(country for country in domain.countries if country in by_country))
    ordered = [by_country[country] for country in space.countries]
    value = np.concatenate([table.value for table in ordered])
    flag = np.concatenate([table.flag for table in ordered])
    lpl, upl, spl = _levels(ordered, domain)
    role = {code: spec.role for code, spec in domain.flags.items()}
    available = np.concatenate([table.available for table in ordered])
    public = available & np.isin(flag, [code for code, r in role.items() if r is Role.PUBLIC])
    primary = available & np.isin(flag, [code for code, r in role.items() if r is Role.PRIMARY])
    least = np.repeat([indicator.least for indicator in domain.indicators], space.national_size // len(domain.indicators))
    small = _small_counts(space, np.where(available, np.tile(least, len(space.countries)), 0), value, public, primary)
    counted = np.tile(least > 0, len(space.countries))
    primary = np.where(counted, small, primary)
    lpl, upl = np.where(counted, 0.0, lpl), np.where(counted, 0.0, upl)
    spl = np.where(counted, np.where(small, np.tile(least, len(space.countries)) - 1.0, 0.0), spl)
    totals = _totals(space, value)
    decided = np.zeros(len(totals))
    return ProtectionProblem(
        space=space,
        a=_within(np.concatenate([value, totals]), bound := _external_bound(space, domain), space),
        lb=bound,
        ub=np.full(space.size, np.inf),
        lpl=np.concatenate([lpl, decided]),
        upl=np.concatenate([upl, decided]),
        spl=np.concatenate([spl, decided]),
        public=np.concatenate([public, decided.astype(bool)]),
        primary=np.concatenate([primary, decided.astype(bool)]),
        deliveries=tuple(digest for table in ordered for digest in table.deliveries),
        known=np.concatenate([_known(ordered, domain, bound[: len(value)] >= 0), np.full(len(totals), np.nan)]),
        integral=_integral(space, domain, value),
        least=np.tile(least, len(space.areas)),
        withheld=_withheld(space, available),
        salt=salt or Secret.fresh(),
    )


def still_promised(problem: ProtectionProblem, before: Sequence[ProtectionProblem]) -> ProtectionProblem:
    """The problem, with what earlier releases of the period promised to protect and what is hidden still.

    A cell that was primary then and is hidden now stays primary, with its levels of then, whatever its flag is now: the tables that are out
    were made to protect it, and the new one beside them must not tell it.

    Raises InvalidInput where such a cell is none of the cells of now: nobody would ask what the new table tells of it.
    """
    space, n = problem.space, problem.space.national_size
    code = {key: i for i, key in enumerate(space.national_keys)}
    level = {name: getattr(problem, name).copy() for name in ("lpl", "upl", "spl")}
    primary, lost = problem.primary.copy(), list[str]()
    for then in before:
        for cell in np.flatnonzero(then.primary).tolist():
            area, rest = divmod(cell, then.space.national_size)
            country, key = then.space.areas[area], then.space.national_keys[rest]
            if country not in space.countries or key not in code:
                lost.append(then.space.key(cell))
                continue
            now = space.countries.index(country) * n + code[key]
            if not problem.primary[now] and problem.suppressed[now] and not problem.least[now]:
                primary[now] = True
                for name, array in level.items():
                    array[now] = max(array[now], getattr(then, name)[cell])
    if lost:
        raise InvalidInput(
            f"{', '.join(lost[:5])} ({len(lost)} in all): primary in a version of the period that is out, and no cell of this release. "
            "Remedy: release the period with the countries, indicators and codes that it was published with first, and their deliveries"
        )
    return replace(problem, primary=primary, **level)


def _small_counts(space: CellSpace, least: Ints, value: Floats, public: Bools, primary: Bools) -> Bools:
    """The national cells that small count rounding protects: hidden counts of 1 … least − 1. Raises InvalidInput for other primaries.

    What is asked for is that nobody tells them closer than to `least` whole numbers (methods/rounding/counts.py).
    """
    small = ~public & (value > 0) & (value < least)
    other = np.flatnonzero((least > 0) & primary & ~small)
    if len(other):
        raise InvalidInput(
            f"{space.key(int(other[0]))}: flagged as primary, as {len(other) - 1} others, though small count rounding protects counts of "
            f"1 to {int(least[other[0]]) - 1} and no others. Remedy: flag it as secondary, or protect the indicator by bases"
        )
    return small


def _withheld(space: CellSpace, available: Bools) -> Bools:
    """The aggregate cells with a member whose value is not available."""
    nothing = np.zeros(len(space.aggregates) * space.national_size)
    needs = space.aggregate_relations @ np.concatenate([~available, nothing]) > 0
    return np.concatenate([np.zeros(len(available), dtype=bool), needs])


def _known(tables: Sequence[NationalTable], domain: Domain, countable: Bools) -> Floats:
    """What the largest unit of each cell with one or two units knows of it; NaN for other cells.

    A single unit knows its cell. The larger of two knows its share, on the safe side of its rounding; half where no share was sent.
    Where an indicator may be negative (not `countable`), a part tells nothing of the whole. Of a hidden cell without units it is not
    known who knows it: −∞, unless the domain file states that its flag then stands for one unit.
    """
    value, units, share_1, flag = (
        np.concatenate([getattr(table, name) for table in tables]) for name in ("value", "units", "share_1", "flag")
    )
    error = np.zeros(len(value))
    hidden = ~np.isin(flag, [code for code, spec in domain.flags.items() if spec.role is Role.PUBLIC])
    stated = np.isin(flag, [code for code, spec in domain.flags.items() if spec.units_unknown == "one"])
    unknown = hidden & (units < 0)
    for code, spec in sorted(domain.flags.items()):
        if spec.rule is not None:
            error[flag == code] = spec.rule.share_error[0]
    share = np.where(np.isnan(share_1), 50.0, np.clip(share_1 + error, 50.0, 100.0))
    part = np.minimum(share / 100 * value, np.nextafter(value, -np.inf))  # never the whole: that would make him the only unit
    return np.select([(units == 1) | (unknown & stated), unknown, (units == 2) & countable], [value, -np.inf, part], np.nan)


def _within(a: Floats, bound: Floats, space: CellSpace) -> Floats:
    """The values, refused where one lies below what the world knows of it."""
    below = np.flatnonzero(a < bound)
    if len(below):
        raise InvalidInput(
            f"{space.key(int(below[0]))}: negative, as {len(below) - 1} other cells, though its indicator is not signed. "
            "Remedy: correct the delivery, or set signed: true in the domain file"
        )
    return a


def _levels(tables: Sequence[NationalTable], domain: Domain) -> tuple[Floats, Floats, Floats]:
    """lpl, upl, spl of every national cell by the rule of its flag; 0 where it is not primary."""
    levels = [np.zeros(sum(len(table.value) for table in tables)) for _ in range(3)]
    value, flag, units, share_1, share_2 = (
        np.concatenate([getattr(table, name) for table in tables]) for name in ("value", "flag", "units", "share_1", "share_2")
    )
    for code, spec in sorted(domain.flags.items()):
        if spec.rule is not None and (at := np.flatnonzero(flag == code)).size:
            for level, part in zip(levels, protection_levels(value[at], units[at], share_1[at], share_2[at], spec.rule), strict=True):
                level[at] = part
    return levels[0], levels[1], levels[2]


def _totals(space: CellSpace, value: Floats) -> Floats:
    """The aggregates, cell by cell, from the national values, as decimal numbers with no more places than these have: what adding binary
    fractions leaves in the last digits depends on the parts, and would tell them.
    """
    by_country = value.reshape(len(space.countries), len(space.indicators), -1)
    places = [_places(by_country[:, k]) for k in range(len(space.indicators))]
    number = {country: i for i, country in enumerate(space.countries)}
    sums = [by_country[[number[member] for member in aggregate.members]].sum(axis=0) for aggregate in space.aggregates]
    return np.concatenate([np.round(row, most) for total in sums for row, most in zip(total, places, strict=True)])


def _places(value: Floats) -> int:
    """The decimal places that values have, as far as binary fractions can tell."""
    return next((k for k in range(MOST_PLACES) if np.array_equal(np.round(value, k), value)), MOST_PLACES)


def _integral(space: CellSpace, domain: Domain, value: Floats) -> Bools:
    """The cells of indicators that are counted. Raises InvalidInput where one of their national values is no whole number."""
    counted = np.repeat([indicator.whole for indicator in domain.indicators], space.national_size // len(domain.indicators))
    integral = np.tile(counted, len(space.areas))
    broken = np.flatnonzero(integral[: len(value)] & (value != np.rint(value)))
    if len(broken):
        raise InvalidInput(
            f"{space.key(int(broken[0]))}: no whole number, as {len(broken) - 1} other cells, though its indicator is counted. "
            "Remedy: correct the delivery, or take integer: true (kind: count) out of the domain file"
        )
    return integral


def _external_bound(space: CellSpace, domain: Domain) -> Floats:
    """What the world knows of any cell: at least 0, unless the indicator is signed."""
    lowest = np.array([-np.inf if indicator.signed else 0.0 for indicator in domain.indicators])
    one_area = np.repeat(lowest, space.national_size // len(lowest))
    return np.tile(one_area, len(space.areas))


def baseline(problem: ProtectionProblem, domain: Domain) -> tuple[attack.Requirements, int]:
    """What the national tables alone protect (METHOD §2) against `profiles_of`, and the LPs it took."""
    return attack.baseline(problem, profiles_of(problem, domain))


def profiles_of(problem: ProtectionProblem, domain: Domain) -> tuple[str, ...]:
    """The profiles that a release must withstand: those of the domain, and where a version of the period is out, who kept it."""
    return tuple(dict.fromkeys((*domain.audit.profiles, *problem.earlier.profiles)))


def unprotected(problem: ProtectionProblem, requirements: attack.Requirements) -> tuple[Ints, Ints]:
    """The primaries that their own national tables do not fully protect; and the others, which do not stay so beside what is out already.

    No treatment of the aggregates mends either: each is reported to its NSI.
    """
    kept = [profile in problem.earlier.profiles for profile in requirements.profiles]
    before = np.array(kept, dtype=bool)[requirements.profile]
    own = np.unique(requirements.primaries[requirements.cut & ~before])
    return own, np.setdiff1d(requirements.primaries[requirements.cut & before], own)


def climb(problem: ProtectionProblem, requirements: attack.Requirements, domain: Domain, rung: int, before: Adjustment) -> Adjustment:
    """Rung number `rung` of the CTA ladder; does nothing where an earlier one was good enough. Indicators that are rounded as whole
    tables stay as they are.
    """
    part = to_bases(problem, domain)
    if part is None:
        nothing = Rung(domain.cta.ladder[rung].method, Outcome.OPTIMAL, None, None, None, 0.0, "no indicator goes to bases", accepted=True)
        return Adjustment(None, (*before.rungs, nothing))
    weights = aggregate_weights(part.problem, domain.cta.weights, domain.cta.gamma)
    model = cta.release_problem(part.problem, part.requirements(requirements).strongest, weights, domain.cta.mirror)
    rest = domain.cta.ladder[rung], domain.cta.seed, part.adjustment(before), domain.cta.accept_short
    return part.adjusted(cta.climb(model, part.problem.a, *rest))


def to_bases(problem: ProtectionProblem, domain: Domain) -> Part | None:
    """The indicators whose aggregates each get a base of their own; None where there is none."""
    chosen = [indicator.code for indicator in domain.indicators if indicator.rounding is None]
    return part_of(problem, chosen) if chosen else None


def choose_bases(
    problem: ProtectionProblem,
    requirements: attack.Requirements,
    adjustment: Adjustment,
    domain: Domain,
    progress: Progress = quiet,
    keep: bases.Keep = forget,
) -> Publication:
    """The safe publication that loses least, of those that the rules of the domain propose (methods/bases/comparison.py).

    What the report compares it with goes to `keep`. A CTA table that leaves more cells short of their level than `accept_short` is no
    start. Indicators that the domain rounds as whole tables are decided first (methods/rounding/release.py).
    """
    decided = Publication.nothing(np.flatnonzero(problem.aggregate))
    for indicator in domain.indicators:
        if indicator.rounding is not None:
            progress(f"{indicator.code}: {indicator.rounding.method}")
            own = part_of(problem, [indicator.code])
            rounded = round_part(own, decided, requirements, indicator.rounding, domain.audit.seed, progress)
            decided = own.into(decided, rounded.without(own.problem.withheld[rounded.cells]))
    part = to_bases(problem, domain)
    if part is None:
        return decided
    told = decided

    def keep_whole(name: str, item: Publication | Adjustment) -> None:
        keep(name, part.into(told, item) if isinstance(item, Publication) else item)

    found = _bases(part.problem, part.requirements(requirements), part.adjustment(adjustment), domain, progress, keep_whole)
    return part.into(told, found)


def _bases(
    problem: ProtectionProblem,
    requirements: attack.Requirements,
    adjustment: Adjustment,
    domain: Domain,
    progress: Progress,
    keep: bases.Keep,
) -> Publication:
    """Safe bases for every aggregate cell of a problem."""
    case = bases_case(problem, requirements, domain, progress)
    short = min((rung.unprotected for rung in adjustment.rungs if rung.chosen), default=0)
    trusted = short <= domain.cta.accept_short * len(requirements.cells)
    try:
        publication = bases.least_lossy(case, domain.bases, adjustment.x, trusted, keep)
    except bases.Stuck as stuck:
        published = bases.wishes_of(problem, domain.bases.cells).published
        forced = stuck.decided[published[stuck.decided]]
        keys = ", ".join(problem.space.key(int(case.ladder.cells[k])) for k in sorted(set(forced.tolist()))[:5])
        raise InvalidInput(
            f"bases.cells: {keys or 'some aggregate cells'} cannot be as precise as they must be: an attack succeeds although nothing else "
            "that it leans on may be coarser. Remedy: take them out of bases.cells, or allow a larger maximum_relative_base"
        ) from stuck
    if domain.bases.additive:
        publication = _possible(problem, publication, domain, progress)
        publication = _withstanding(case, publication, _additive(problem, publication, domain, progress))
    if domain.bases.visible_share is not None:
        told = bases.charter(problem, case.attacker, publication, domain.bases.visible_share, case.weights, progress)
        publication = _withstanding(case, publication, told)
    if domain.bases.additive or domain.bases.strata is not None:  # what adds up stays so; cells of a stratum share their base
        return publication
    return _possible(problem, publication, domain, progress)


def _possible(problem: ProtectionProblem, publication: Publication, domain: Domain, progress: Progress) -> Publication:
    """No printed value that the others exclude."""
    kept = bases.wishes_of(problem, domain.bases.cells).published
    found = bases.possible(problem, publication, domain.bases.mantissas, domain.bases.smallest, kept)
    if moved := int((found.base != publication.base).sum()):
        gone = int((found.withheld & ~publication.withheld).sum())
        progress(
            f"printed values: the others excluded {moved}; {moved - gone} of them got another value and a finer base, {gone} are withheld"
        )
    return found


def _withstanding(case: bases.Case, safe: Publication, other: Publication) -> Publication:
    """The other publication, unless values are counted and it fails an attacker who knows that, as the safe one does not."""
    if other.digest == safe.digest or not case.problem.integral.any():
        return other
    if attack.whole_attacks(case.problem, other, case.requirements, case.seed).short:
        case.progress("integer knowledge: published without this, which whole tables do not show to be safe")
        return safe
    return other


def bases_case(problem: ProtectionProblem, requirements: attack.Requirements, domain: Domain, progress: Progress = quiet) -> bases.Case:
    """The ladder, the weights and the attacker that the domain asks for."""
    wishes = bases.wishes_of(problem, domain.bases.cells)
    weights = aggregate_weights(problem, domain.bases.weights) * wishes.cost
    ladder = bases.ladder_of(problem, weights, domain.bases).keeping(wishes.exact, wishes.published)
    if problem.withheld.any():
        progress(f"{int(problem.withheld.sum())} aggregate cells are withheld: they need a national cell that is not available")
    if domain.bases.strata is not None:
        ladder = ladder.in_strata(bases.strata_of(problem, domain.bases.strata, wishes.exact))
    attacker = attack.Attacker(problem, requirements, domain.audit.seed)
    return bases.Case(problem, requirements, attacker, ladder, weights, wishes.exact, domain.bases, progress, domain.audit.seed)


def _additive(problem: ProtectionProblem, publication: Publication, domain: Domain, progress: Progress) -> Publication:
    """Values that add up, within the safe intervals; the publication as it is where there are none."""
    space = problem.space
    places = [indicator.decimals for indicator in domain.indicators if indicator.code in space.indicators]
    decimals = np.tile(np.repeat(places, space.national_size // len(places)), len(space.aggregates))
    known = bases.box(problem, publication)
    tries = (bases.additive(space, publication, decimals + more, *known) for more in range(MORE_DECIMALS + 1))
    found = next((each for each in tries if each is not None), None)
    if found is None:
        progress("no values of so few decimals add up within the safe intervals: published as nearest multiples, which do not")
        return publication
    moved = int((found.value != publication.value)[found.rounded].sum())
    progress(f"additive values: {moved} of {int(found.rounded.sum())} rounded cells are off their nearest multiple")
    return found


def audit(
    problem: ProtectionProblem,
    publication: Publication,
    requirements: attack.Requirements,
    domain: Domain,
    chunk: int,
    adjustment: Adjustment | None = None,
) -> AuditReport:
    """One chunk of the audit, for Airflow to map over workers; `merge` joins them.

    Raises InvalidInput for a table that calls a value the sum of the visible countries which it is not.
    """
    if (wrong := bases.mislabelled(problem, publication)).any():
        keys = ", ".join(problem.space.key(int(cell)) for cell in publication.cells[wrong][:5])
        raise InvalidInput(
            f"{keys} ({int(wrong.sum())} in all): VISIBLE_SHARE is for the sum of the members that are public, where no hidden one can be "
            "negative; this is another value. Remedy: publish that sum, or withhold the cell"
        )
    witnesses = [] if adjustment is None or adjustment.x is None else [(adjustment.x - problem.a)[problem.suppressed]]
    return attack.audit(problem, publication, requirements, witnesses, domain.audit.seed, chunk, domain.audit.chunks)


def merge(chunks: Sequence[AuditReport]) -> AuditReport:
    """The report of the whole publication."""
    return attack.merge(chunks)


def release(
    release_id: str,
    problem: ProtectionProblem,
    requirements: attack.Requirements,
    publication: Publication,
    report: AuditReport,
    profiles: Sequence[str],
) -> Release:
    """The only way to a Release. Raises ReleaseBlocked unless the report passed, names all `profiles`, and is of exactly this
    publication and problem; ValueError where no profile is asked for, or an unknown one.
    """
    if missing := [profile for profile in named(profiles) if profile not in report.profiles]:
        raise ReleaseBlocked(f"{release_id}: not audited against profile {', '.join(missing)}. Remedy: run baseline, bases and audit again")
    if report.publication != publication.digest or report.problem != problem.digest:
        raise ReleaseBlocked(f"{release_id}: the audit is of another publication. Remedy: audit this one")
    if report.requirements != requirements.digest(problem.salt) or not requirements.keeps(attack.promised(problem, requirements.profiles)):
        raise ReleaseBlocked(f"{release_id}: the audit asked for less than the promised protection. Remedy: run baseline and audit again")
    if len(never := publication.cells[problem.withheld[publication.cells] & ~publication.withheld]):
        keys = ", ".join(problem.space.key(int(cell)) for cell in never[:5])
        raise ReleaseBlocked(
            f"{release_id}: {keys} ({len(never)} in all) need a national cell that is not available. Remedy: withhold them"
        )
    if not np.array_equal(report.primaries, np.flatnonzero(problem.primary)):
        raise ReleaseBlocked(f"{release_id}: the audit leaves out primaries. Remedy: audit all chunks")
    if set(small := attack.small_told(problem, publication).tolist()) - set(report.small):
        raise ReleaseBlocked(f"{release_id}: {problem.space.key(small[0])} tells a small count, of which the audit says nothing")
    if not report.passed:
        cells = [problem.space.key(int(cell)) for cell in [*report.small, *report.primaries[~report.protected]][:5]]
        raise ReleaseBlocked(
            f"{release_id}: {report.broken} protection requirements are broken, {len(report.contradictions)} published intervals exclude "
            f"the true value, {len(report.small)} cells tell a small count; first cells: {', '.join(cells) or 'none'}. "
            f"Remedy: see audit.json; nothing was published{_beside(problem, report)}"
        )
    return Release(release_id, problem.digest, publication, report)


def _beside(problem: ProtectionProblem, report: AuditReport) -> str:
    """What to do where only who kept the earlier versions succeeds."""
    kept = np.array([profile in problem.earlier.profiles for profile in report.profiles], dtype=bool)
    only = int((report.held[~kept].all(axis=0) & ~report.held[kept].all(axis=0)).sum()) if kept.any() else 0
    if not only:
        return ""
    return (
        f". {only} primaries are broken only by somebody who kept the versions of the period that are out; these cannot be taken back. "
        "Allow coarser bases (bases.maximum_relative_base), force fewer cells (bases.cells), or keep the version that is out"
    )


def certificate(problem: ProtectionProblem, publication: Publication, report: AuditReport, domain: Domain, period: str) -> str:
    """The audit certificate as JSON text: digests, counts, and a verdict per primary as shares of what it needs; never a value.

    Shares of a broken requirement are cut down to quarters: with the attacker's own bound, an exact share would give the value. Of counted
    cells they are 1 or 0, for how far whole tables go has no short proof. Equal audits give equal bytes: no clock, no machine; and every
    statement can be recomputed from the deliveries, the table and the evidence (methods/recheck).
    """
    key = problem.space.key
    primaries = [
        {
            "cell": key(int(cell)),
            "protected": bool(ok),
            "down": _told(down, counted),
            "up": _told(up, counted),
            "sliding": _told(slide, counted),
            "proof": proof,
            "cut_to_national_baseline": bool(cut),
            "profiles": dict(zip(report.profiles, map(bool, held), strict=True)),
        }
        for cell, held, ok, down, up, slide, counted, proof, cut in zip(
            report.primaries,
            report.held.T,
            report.protected,
            report.down,
            report.up,
            report.slide,
            problem.integral[report.primaries].tolist(),
            _proofs(problem, report),
            report.baseline,
            strict=True,
        )
    ]
    body: Mapping[str, object] = {
        "audience": AUDIENCE,
        "domain": domain.id,
        "period": period,
        "verdict": "passed" if report.passed else "failed",
        "profiles": list(report.profiles),
        "digests": {
            "domain": domain.digest,
            "deliveries": list(problem.deliveries),
            "problem": report.problem,
            "publication": report.publication,
            "requirements": report.requirements,
            "evidence": report.evidence.digest(problem.salt),
        },
        "counts": {
            "aggregate_cells": len(publication.cells),
            "exact": int(publication.exact.sum()),
            "rounded": int(publication.rounded.sum()),
            "sums_of_visible_countries": int(publication.visible.sum()),
            "withheld": int(publication.withheld.sum()),
            "primaries": len(report.primaries),
            "protected": int(report.protected.sum()),
            "broken_requirements": report.broken,
            "cut_to_national_baseline": int(report.baseline.sum()),
        }
        | _counted(problem, report),
        "contradictions": [key(cell) for cell in report.contradictions],
        **_rounding(problem, report, domain),
        "primaries": primaries,
    }
    return json.dumps(body, indent=1, ensure_ascii=False) + "\n"


def _proofs(problem: ProtectionProblem, report: AuditReport) -> list[str]:
    """What the evidence holds about each primary: tables that protect it, or an attack that succeeds; of counted cells, perhaps nothing."""
    plain = np.where(report.protected, "witness", "attack")
    counted = np.where(report.protected, "whole table", "none")
    return [str(each) for each in np.where(problem.integral[report.primaries], counted, plain)]


def _counted(problem: ProtectionProblem, report: AuditReport) -> dict[str, int]:
    """What a certificate adds where values are counted."""
    counted = int(problem.integral[report.primaries].sum())
    return {"judged_as_whole_numbers": counted} if counted else {}


def _rounding(problem: ProtectionProblem, report: AuditReport, domain: Domain) -> dict[str, object]:
    """What a certificate adds where indicators are rounded as whole tables: how, and which cells tell a small count."""
    asked = rounding_of(domain)
    return {"rounding": asked, "small_counts": [problem.space.key(cell) for cell in report.small]} if asked else {}


def rounding_of(domain: Domain) -> dict[str, object]:
    """The indicators that are rounded as whole tables, and how."""
    return {each.code: each.rounding.model_dump(mode="json") for each in domain.indicators if each.rounding is not None}


def intervals(problem: ProtectionProblem, report: AuditReport) -> str:
    """CSV of the attacker's interval of every suppressed cell as share of what it needs on each side, over all profiles; quarters, like
    the certificate's. Empty for a secondary cell: nothing is required of its interval.
    """
    shares = dict(zip(report.primaries.tolist(), zip(report.down, report.up, report.slide, strict=True), strict=True))
    lines = ["CELL,DOWN,UP,SLIDING"]
    for cell in np.flatnonzero(problem.suppressed).tolist():
        told = [f"{_quarters(float(share)):g}" for share in shares[cell]] if cell in shares else [""] * 3
        lines.append(",".join([problem.space.key(cell), *told]))
    return "\n".join(lines) + "\n"


def _told(share: float, counted: bool) -> float:
    return float(share >= 1) if counted else _quarters(share)


def _quarters(share: float) -> float:
    """1 where the requirement is met, else the quarter below."""
    return float(np.floor(4 * share) / 4)
