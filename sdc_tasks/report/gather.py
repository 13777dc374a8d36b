"""Reduces a release to the facts that its report may show.

`gather` is the only function of the report that receives confidential arrays. It returns counts, classes and
published values: everything that leaves this module may be shown to readers of the report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdc_tasks.domains.schema import Domain
from sdc_tasks.judge.release import odds_of_one_decision
from sdc_tasks.methods.attack.compositions import Together
from sdc_tasks.methods.bases.printed.implied import dominated_by_relation
from sdc_tasks.model.claim import Claim, Proof, claim_of
from sdc_tasks.model.findings import Severity
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, AuditReport, Publication, Rung
from sdc_tasks.model.table import Bools, CellSpace, Floats, Ints
from sdc_tasks.model.tolerances import SAME
from sdc_tasks.report.facts import (
    MINIMUM_CELLS,
    TOP_BROKEN,
    TOP_VISIBLE,
    TOP_WITHHELD,
    AuditFacts,
    BrokenCell,
    CommonFinding,
    CompositionFact,
    CountryFact,
    DeliveryFact,
    DeviationMap,
    FindingFact,
    Header,
    Histogram,
    Loss,
    ProgramFacts,
    ReportFacts,
    RoomFact,
    RoundedCell,
    RoundingFact,
    RuleFact,
    RungFact,
    StepFact,
    VisibleCell,
    Withheld,
)
from sdc_tasks.report.headings import Labels, blocks
from sdc_tasks.report.overview import overview, size_classes, unit_of, value_text
from sdc_tasks.report.table_csv import printed

REACHED = ("under a quarter", "a quarter to a half", "half to three quarters", "more than three quarters")
RISKS = (
    (0, 0, "no country"),
    (1, 1, "1 country"),
    (2, 2, "2 countries"),
    (3, 5, "3 to 5 countries"),
    (6, 10**6, "6 or more"),
)
# Why a total is withheld
NOT_AVAILABLE = "needs a national figure that is not available: a country says that it has none"
BESIDE_OTHERS = (
    "no country keeps a part of it confidential, but it would tell a total beside it that is kept back"
)
ONE_COUNTRY = (
    "one country keeps its part confidential, and every figure that the domain allows to print would tell "
    "too much of that part"
)
SEVERAL_COUNTRIES = (
    "several countries keep their parts confidential, and every figure that the domain allows to print would "
    "tell too much of one of them"
)
MAXIMUM_SHARE = 0.5  # a block in which one cell has more of the deviation than this shows none either
TOP_ROUNDED = 20
# an interval counts as narrower from this share of it, and of the requirement; LPs are far more exact
GONE_SHARE = 0.01
ROOM_EDGES = (1 - SAME, 1.1, 1.5, 2, 5)  # times the required distance: the classes of `RoomFact`


@dataclass(frozen=True)
class Background:
    """What a report tells beside the audited publication.

    compared: the publications by other rules, and a rung for each rule.
    together: what the audit says of primaries together.
    receiver: country → the number of secondaries that the receiver set in its table.
    """

    period: str
    release_id: str | None
    compared: tuple[Mapping[str, Publication], Adjustment] = ({}, Adjustment())
    together: Together | None = None
    deliveries: Sequence[DeliveryFact] = ()
    steps: Sequence[StepFact] = ()
    receiver: Mapping[str, int] = field(default_factory=dict)


def gather(
    domain: Domain,
    problem: ProtectionProblem,
    adjustment: Adjustment,
    publication: Publication,
    report: AuditReport,
    certificate: Mapping[str, Any],
    proof: Proof,
    background: Background,
) -> ReportFacts:
    """The facts of a release. `certificate`: of this audit; what the report claims is what it
    lets anybody say. `proof`: how the audit showed it.

    Raises ValueError when audit or certificate are not about exactly this problem and publication, or not
    complete.
    """
    _require_one_subject(problem, publication, report, certificate["digests"])
    space, label, claim = problem.space, Labels(domain), claim_of(certificate)
    passed = report.passed and claim.passed
    own, common = findings_together(background.deliveries)
    relative = _relative_base(publication)
    sizes = relative[publication.rounded & np.isfinite(relative)]
    best = _rules(domain, problem, adjustment, publication, report, *background.compared) if passed else ()
    together = background.together if passed else None
    return ReportFacts(
        title=domain.title,
        period=background.period,
        release_id=background.release_id,
        published=passed,
        aggregates=tuple(label.area(aggregate.code) for aggregate in space.aggregates),
        missing_countries=tuple(
            label.area(country) for country in domain.countries if country not in space.countries
        ),
        digests=(
            Header("domain file", domain.digest),
            Header("problem", problem.digest),
            Header("publication", publication.digest),
        ),
        overall=_loss(publication, np.ones(len(publication.cells), dtype=bool)),
        mean_relative_base=_number(sizes, np.mean),
        median_relative_base=_number(sizes, np.median),
        overview=overview(domain, space.alone, publication, values=passed),
        risks=_risks(problem.own, publication),
        histogram=_histogram(sizes, int(publication.rounded.sum()) - len(sizes)),
        outdone=_keys(space, publication.cells[dominated_by_relation(problem, publication)])
        if passed
        else (),
        unit=unit_of(domain),
        largest=_largest(domain, space, publication, label) if passed else (),
        visible=_visible(domain, space, publication, label) if passed else (),
        withheld=tuple(_withheld(problem, publication, label)),
        deviations=_deviations(domain, problem, adjustment.x, label),
        no_deviations=_why_no_table(adjustment),
        rungs=tuple(_rung(rung) for rung in adjustment.rungs),
        rules=best,
        steps=tuple(background.steps),
        audit=_audit(domain, problem, report, label, together, background.receiver, claim, proof),
        deliveries=tuple(sorted(own, key=lambda delivery: delivery.state != "refused")),
        common=common,
        rule_aware=domain.bases.rule_aware,
        rounding=tuple(_rounding(domain, problem, publication, label)),
    )


def _require_one_subject(
    problem: ProtectionProblem, publication: Publication, report: AuditReport, digests: Mapping[str, str]
) -> None:
    """Raises ValueError where certificate (its `digests`), audit, publication and problem do not belong
    together.
    """
    subject = (problem.digest, publication.digest)
    if (digests["problem"], digests["publication"]) != subject:
        raise ValueError("the certificate is not about this problem and this publication")
    if (report.problem, report.publication) != subject:
        raise ValueError("the audit report is not about this problem and this publication")
    if not np.array_equal(publication.cells, np.flatnonzero(problem.aggregate)):
        raise ValueError("a publication decides every aggregate cell, in cell order")
    if not np.array_equal(report.primaries, np.flatnonzero(problem.primary)):
        raise ValueError("the audit report does not cover all primaries")


def _keys(space: CellSpace, cells: Ints) -> tuple[str, ...]:
    return tuple(space.key(int(cell)) for cell in cells)


def _number(sizes: Floats, of: Callable[[Floats], Any]) -> float | None:
    return float(of(sizes)) if len(sizes) else None


def findings_together(
    deliveries: Sequence[DeliveryFact],
) -> tuple[list[DeliveryFact], tuple[CommonFinding, ...]]:
    """The deliveries, with equal findings listed once, and separately the warnings that the files of several
    countries share. Errors stay with their file, where the sender looks for them.
    """
    by_file = [(delivery, _counted(delivery.findings)) for delivery in deliveries]
    shared = _shared(by_file)
    common = tuple(
        CommonFinding(
            *kind,
            tuple(dict.fromkeys(delivery.country for delivery, _ in met)),
            sum(times for _, times in met),
        )
        for kind, met in shared.items()
    )
    own = [
        replace(delivery, findings=tuple(each for each in found if _kind(each) not in shared))
        for delivery, found in by_file
    ]
    return own, common


def _kind(finding: FindingFact) -> tuple[str, str, str]:
    return finding.code, finding.severity, finding.message


def _shared(
    by_file: Sequence[tuple[DeliveryFact, Sequence[FindingFact]]],
) -> dict[tuple[str, str, str], list[tuple[DeliveryFact, int]]]:
    """The kinds of warnings that several deliveries have: these, and how often each has it."""
    kinds: dict[tuple[str, str, str], list[tuple[DeliveryFact, int]]] = {}
    for delivery, found in by_file:
        for each in found:
            kinds.setdefault(_kind(each), []).append((delivery, each.times))
    return {kind: met for kind, met in kinds.items() if len(met) > 1 and kind[1] != Severity.ERROR}


def _counted(findings: Sequence[FindingFact]) -> list[FindingFact]:
    """The first of each kind of equal warnings, with their number, and every error: the sender needs each
    line.
    """
    first: dict[tuple[str | int, ...], FindingFact] = {}
    for number, each in enumerate(findings):
        kind: tuple[str | int, ...] = (number,) if each.severity == Severity.ERROR else _kind(each)
        first[kind] = replace(first[kind], times=first[kind].times + each.times) if kind in first else each
    return list(first.values())


def _relative_base(publication: Publication) -> Floats:
    """base / |value|: 0 where exact, ∞ where withheld or rounded to 0."""
    value = np.abs(np.nan_to_num(publication.value))
    ratio = np.full(len(value), np.inf)
    np.divide(publication.base, value, out=ratio, where=(value > 0) & ~publication.withheld)
    ratio[publication.exact] = 0.0
    return ratio


def _loss(publication: Publication, mask: Bools) -> Loss:
    rounded = publication.rounded & mask
    median = np.median(_relative_base(publication)[rounded]) if rounded.any() else 0.0
    return Loss.of(publication, mask, int(size_classes(median)))


def _behind(problem: ProtectionProblem) -> Ints:
    """(aggregate cells,): how many countries keep their part of an aggregate cell confidential: a public
    pattern, without values.
    """
    space = problem.space
    hidden = problem.suppressed.reshape(len(space.areas), space.national_size)
    return np.concatenate(
        [
            hidden[[space.areas.index(member) for member in aggregate.members]].sum(axis=0)
            for aggregate in space.aggregates
        ]
    )


def _risks(problem: ProtectionProblem, publication: Publication) -> tuple[tuple[str, Loss], ...]:
    """Loss by the number of countries that keep their part confidential."""
    behind = _behind(problem)
    found = ((name, _loss(publication, (low <= behind) & (behind <= high))) for low, high, name in RISKS)
    return tuple((name, loss) for name, loss in found if loss.total)


def _withheld(problem: ProtectionProblem, publication: Publication, label: Labels) -> Iterator[Withheld]:
    """The withheld cells by what keeps them back; each has one reason, the first that holds."""
    problem, space = problem.own, problem.space.alone
    left, behind = publication.withheld.copy(), _behind(problem)
    reasons = (
        (problem.withheld[publication.cells], NOT_AVAILABLE),
        (behind == 0, BESIDE_OTHERS),
        (behind == 1, ONE_COUNTRY),
        (behind > 1, SEVERAL_COUNTRIES),
    )
    for holds, reason in reasons:
        cells = publication.cells[left & holds]
        left &= ~holds
        if len(cells):
            named = tuple(Header(space.key(c), label.cell(space, c)) for c in cells[:TOP_WITHHELD].tolist())
            yield Withheld(reason, len(cells), named)


def _histogram(sizes: Floats, unplaced: int) -> Histogram:
    """Bins 1-2-5 per decade, from the bin of the smallest to the bin of the largest relative base."""
    if not len(sizes):
        return Histogram((), (), unplaced)
    ladder = np.array([mantissa * 10.0**k for k in range(-12, 4) for mantissa in (1, 2, 5)])
    first = max(int(np.searchsorted(ladder, sizes.min(), side="right")) - 1, 0)
    last = min(int(np.searchsorted(ladder, sizes.max(), side="right")), len(ladder) - 1)
    edges = ladder[first : last + 1]
    counts, _ = np.histogram(np.clip(sizes, edges[0], edges[-1]), edges)
    return Histogram(tuple(edges.tolist()), tuple(counts.tolist()), unplaced)


def _largest(
    domain: Domain, space: CellSpace, publication: Publication, label: Labels
) -> tuple[RoundedCell, ...]:
    """The cells rounded to bases of their own with the largest relative bases, largest first."""
    apart = {indicator.code for indicator in domain.indicators if indicator.rounding is not None}
    indicator = publication.cells % space.national_size // (space.national_size // len(space.indicators))
    to_bases = publication.rounded & ~np.array([code in apart for code in space.indicators])[indicator]
    relative = np.where(to_bases, _relative_base(publication), -1.0)
    order = np.argsort(-relative, kind="stable")[: min(TOP_ROUNDED, int(to_bases.sum()))]
    return tuple(_rounded_cell(domain, space, publication, int(i), float(relative[i]), label) for i in order)


def _rounded_cell(
    domain: Domain, space: CellSpace, publication: Publication, i: int, relative: float, label: Labels
) -> RoundedCell:
    cell = int(publication.cells[i])
    at = cell % space.national_size
    places = next(each.decimals for each in domain.indicators if each.code == space.national_keys[at][0])
    base, lower, upper = (
        printed(float(array[i]), places) for array in (publication.base, publication.lower, publication.upper)
    )
    value = value_text(domain, space, publication, i)
    return RoundedCell(space.key(cell), label.cell(space, cell), value, base, lower, upper, relative)


def _visible(
    domain: Domain, space: CellSpace, publication: Publication, label: Labels
) -> tuple[VisibleCell, ...]:
    """The sums of visible countries, in cell order."""

    def fact(i: int) -> VisibleCell:
        cell = int(publication.cells[i])
        value = value_text(domain, space, publication, i)
        return VisibleCell(space.key(cell), label.cell(space, cell), value, float(publication.covers[i]))

    return tuple(fact(i) for i in np.flatnonzero(publication.visible)[:TOP_VISIBLE].tolist())


def _rounding(
    domain: Domain, problem: ProtectionProblem, publication: Publication, label: Labels
) -> Iterator[RoundingFact]:
    """The indicators whose aggregates are rounded as whole tables."""
    space = problem.space
    of = publication.cells % space.national_size // (space.national_size // len(space.indicators))
    for indicator in domain.indicators:
        if indicator.rounding is None:
            continue
        mine = of == space.indicators.index(indicator.code)
        told = mine & ~publication.withheld
        base = float(indicator.rounding.base)
        half = publication.base[mine & publication.rounded] / 2
        within = float(np.floor(half.max(initial=0.0)) if indicator.whole else half.max(initial=0.0))
        many = told.sum() >= MINIMUM_CELLS
        yield RoundingFact(
            indicator=label.indicator(indicator.code),
            method=indicator.rounding.method,
            base=printed(base, 0),
            within=printed(within, indicator.decimals),
            distance=_three(np.abs(publication.value - problem.a[publication.cells])[told].mean())
            if many
            else None,
            cells=_loss(publication, mine),
            zero=int((publication.value[told] == 0).sum()),
            one=int((publication.value[told] == base).sum()),
            aware=indicator.counts_aware,
        )


def _deviations(
    domain: Domain, problem: ProtectionProblem, x: Floats | None, label: Labels
) -> tuple[DeviationMap, ...]:
    """One map for each indicator that is protected by bases; none without an adjusted table `x`."""
    if x is None:
        return ()
    problem, x = problem.own, x[: problem.space.own_size]
    space = problem.space
    rows = blocks(space.hierarchies[0], label)
    shape = (len(space.areas), len(space.indicators), -1)
    deviation, size = np.abs(x - problem.a).reshape(shape), np.abs(problem.a).reshape(shape)
    movable = (problem.suppressed | problem.aggregate).reshape(shape)
    position = np.unravel_index(np.arange(space.national_size), space.national_shape)[1]
    block = rows.of_code[position].reshape(shape[1:])[0]
    masks = [np.ones(len(block), dtype=bool), *(block == b for b in range(len(rows.headers)))]
    headers = (Header("all", "all cells of the area"), *rows.headers)
    return tuple(
        _deviation_map(
            space, label, label.indicator(code), headers, masks, deviation[:, i], size[:, i], movable[:, i]
        )
        for i, code in enumerate(space.indicators)
        if code not in {indicator.code for indicator in domain.indicators if indicator.rounding is not None}
    )


def _deviation_map(
    space: CellSpace,
    label: Labels,
    indicator: Header,
    headers: Sequence[Header],
    masks: Sequence[Bools],
    deviation: Floats,
    size: Floats,
    movable: Bools,
) -> DeviationMap:
    """Aggregates on top, then countries, each by falling absolute deviation. Arrays are
    (areas, cells of one indicator).
    """
    moved = deviation.sum(axis=1)
    order = sorted(
        range(len(space.areas)), key=lambda area: (area < len(space.countries), -moved[area], area)
    )
    classes = [
        [_deviation_class(deviation[area, mask], size[area, mask], movable[area, mask]) for mask in masks]
        for area in order
    ]
    shown = [i for i in range(len(masks)) if any(row[i] is not None for row in classes)]
    return DeviationMap(
        indicator=indicator,
        columns=tuple(headers[i] for i in shown),
        areas=tuple(label.area(space.areas[area]) for area in order),
        classes=tuple(tuple(row[i] for i in shown) for row in classes),
    )


def _deviation_class(deviation: Floats, size: Floats, movable: Bools) -> int | None:
    """The class of Σ|x − a| / Σ|a| over one block; None where few cells, or mainly one, determine it."""
    total = deviation.sum()
    if movable.sum() < MINIMUM_CELLS or deviation.max(initial=0.0) > MAXIMUM_SHARE * total:
        return None
    return int(size_classes(total / max(size.sum(), np.finfo(float).tiny)))


def _why_no_table(adjustment: Adjustment) -> str:
    """Why there is no adjusted table; empty where there is one."""
    if adjustment.x is not None:
        return ""
    if not adjustment.rungs:
        return (
            "the domain file sets no controlled tabular adjustment, so the bases come from the audit alone."
        )
    last = adjustment.rungs[-1]
    return f"the last method of the ladder, {last.method}, returned none ({last.reason})."


def _rung(rung: Rung) -> RungFact:
    objective, bound, gap = (
        float(f"{number:.3g}") if number is not None and np.isfinite(number) else None
        for number in (rung.objective, rung.bound, rung.gap)
    )
    return RungFact(
        method=rung.method,
        outcome=rung.outcome.value,
        objective=objective,
        bound=bound,
        gap=gap,
        seconds=rung.seconds,
        reason=rung.reason,
        unprotected=rung.unprotected,
        chosen=rung.chosen,
    )


def _rules(
    domain: Domain,
    problem: ProtectionProblem,
    adjustment: Adjustment,
    publication: Publication,
    report: AuditReport,
    others: Mapping[str, Publication],
    kept: Adjustment,
) -> tuple[RuleFact, ...]:
    """The publication, and the publications by each other rule: averages over many cells, to three digits."""
    moved = None
    if adjustment.x is not None and len(publication.cells) >= MINIMUM_CELLS:
        moved = _three(np.abs(adjustment.x - problem.a)[problem.aggregate].mean())
    found = [
        _rule(problem, rung, f"{rung.method}: published", publication, None, report.broken)
        for rung in kept.rungs
        if rung.chosen
    ]
    for rung in kept.rungs:
        if rung.method in others:
            behind = moved if rung.unprotected else None
            name = f"{rung.method}, {rung.reason}"
            found.append(_rule(problem, rung, name, others[rung.method], behind, rung.unprotected))
    return tuple(found)


def _rule(
    problem: ProtectionProblem,
    rung: Rung,
    name: str,
    published: Publication,
    moved: float | None,
    broken: int,
) -> RuleFact:
    told, loses = published.exact | published.rounded, _may_tell_loss(problem.space, published)
    relative = _relative_base(published)
    sizes = relative[published.rounded & np.isfinite(relative)]
    distance = np.abs(published.value - problem.a[published.cells])[told]
    return RuleFact(
        name=name,
        cells=_loss(published, np.ones(len(published.cells), dtype=bool)),
        distance=_three(distance.mean()) if len(distance) >= MINIMUM_CELLS else None,
        moved=moved,
        mean_base=_number(sizes, np.mean),
        median_base=_number(sizes, np.median),
        loss=_three(rung.objective) if loses and rung.objective is not None else None,
        bound=_three(rung.bound) if loses and rung.bound is not None else None,
        broken=broken,
    )


def _may_tell_loss(space: CellSpace, published: Publication) -> bool:
    """Whether the loss is of many cells, in each group that has any: the log tells that of each group."""
    lost = [int((~published.exact & space.aggregate_cells_of(group)).sum()) for group in space.groups]
    return any(lost) and all(not cells or cells >= MINIMUM_CELLS for cells in lost)


def _three(number: float) -> float:
    """A number to three digits: enough to compare, too coarse for an attack."""
    return float(f"{number:.3g}")


def _audit(
    domain: Domain,
    problem: ProtectionProblem,
    report: AuditReport,
    label: Labels,
    together: Together | None,
    receiver: Mapping[str, int],
    claim: Claim,
    proof: Proof,
) -> AuditFacts:
    space = problem.space
    country, weak = (
        space.stands[0][report.primaries],
        Counter(cell.partition(".")[0] for cell in claim.weak),
    )
    countries = [
        CountryFact(
            area=label.area(code),
            primaries=int((country == i).sum()),
            protected=claim.protected_of(code, int((country == i).sum())),
            baseline=weak[code],
            receiver=receiver.get(code, 0),
        )
        for i, code in enumerate(space.countries)
    ]
    return AuditFacts(
        claim=claim,
        proof=proof,
        linked=tuple(each.name for each in space.beside),
        beside=int((report.primaries >= space.own_size).sum()),
        by_lp=int(report.by_lp.sum()),
        broken_requirements=report.broken,
        broken=_broken(space, report),
        contradictions=tuple(space.key(cell) for cell in report.contradictions),
        countries=tuple(countries),
        together=tuple(_together(problem.space, together, label))
        if together is not None and len(together.cells)
        else (),
        whole=int(problem.integral[report.primaries].sum()),
        by_milp=int(report.by_milp.sum()),
        undecided=int(report.undecided.sum()),
        small=tuple(space.key(cell) for cell in report.small),
        program=_program(domain, problem, report),
        room=tuple(_room(problem, report, label)),
    )


def _room(problem: ProtectionProblem, report: AuditReport, label: Labels) -> Iterator[RoomFact]:
    """How far the witnesses against the first profile move each primary, in its levels: of all primaries, and
    of each country with many of them. The attacker is left at least so much.
    """
    evidence, space = report.evidence, problem.space
    column = np.searchsorted(np.flatnonzero(problem.suppressed), report.primaries)
    found = [
        _farthest(tables[np.flatnonzero(of == 0)], column)
        for tables, of in ((evidence.witness, evidence.profile), (evidence.whole, evidence.whole_profile))
    ]
    far = np.maximum(*found)
    if not far.any():  # an audit of an earlier version kept no witnesses
        return
    levels = np.array([problem.lpl[report.primaries], problem.upl[report.primaries]])
    room = np.divide(far, levels, out=np.full(far.shape, np.inf), where=levels > 0).min(axis=0)
    room[report.protected & ~report.baseline & (room < 1)] = 1  # shown by a mirror image, or by another proof
    classes = np.searchsorted(ROOM_EDGES, room, side="right")

    def counts(mine: Bools) -> tuple[int, ...]:
        return tuple(np.bincount(classes[mine], minlength=len(ROOM_EDGES) + 1).tolist())

    yield RoomFact(None, counts(np.ones(len(room), dtype=bool)))
    country = space.stands[0][report.primaries]
    for i, code in enumerate(space.countries):
        if (country == i).sum() >= MINIMUM_CELLS:
            yield RoomFact(label.area(code), counts(country == i))


def _farthest(witnesses: sp.csr_array, column: Ints) -> Floats:
    """(2, columns): the largest deviation of any witness below and above at these columns. Columns after
    those of the witnesses do not move.
    """
    far = np.zeros((2, len(column)))
    there = column < witnesses.shape[1]
    if witnesses.shape[0] and there.any():
        moved = sp.csc_array(witnesses)[:, column[there]]
        far[:, there] = [-moved.min(axis=0).toarray().ravel(), moved.max(axis=0).toarray().ravel()]
    return np.maximum(far, 0)


def _program(domain: Domain, problem: ProtectionProblem, report: AuditReport) -> ProgramFacts | None:
    drawn = np.array(
        [
            indicator.counts_aware
            for indicator in domain.indicators
            if indicator.code in problem.space.indicators
        ]
    )
    counts = drawn[problem.space.indicator_of(report.primaries)]
    if not domain.bases.rule_aware and not drawn.any():
        return None
    own = report.primaries[~counts].tolist() if domain.bases.rule_aware else []
    narrow, unclaimed = (own, ()) if report.narrow is None else (report.narrow, report.unclaimed)
    return ProgramFacts(
        removed=domain.bases.removed,
        odds=odds_of_one_decision(domain.bases.removed),
        wide=len(own) - len(narrow) - len(unclaimed) if own else 0,
        narrow=tuple(problem.space.key(cell) for cell in narrow),
        unclaimed=len(unclaimed),
        counts=int(counts.sum()),
        candidates=int((counts & report.protected).sum()),
    )


def _together(space: CellSpace, together: Together, label: Labels) -> Iterator[CompositionFact]:
    """Compared with each composition, for the primaries of its members; then with the composition
    that reveals most of each primary.
    """

    def fact(area: Header | None, alone: Floats, at: Bools) -> CompositionFact:
        before, after = alone[at], together.whole[at]
        narrower = before - after > GONE_SHARE * np.maximum(before, 1)
        left = _reached(float(np.median(after[narrower] / before[narrower]))) if narrower.any() else None
        return CompositionFact(area, int(at.sum()), int(narrower.sum()), left)

    country = space.stands[0][together.cells]
    for k, alone in zip(together.aggregates, together.alone, strict=True):
        aggregate = space.aggregates[k]
        yield fact(
            label.area(aggregate.code),
            alone,
            np.isin(country, [space.countries.index(member) for member in aggregate.members]),
        )
    yield fact(None, together.alone.min(axis=0), np.ones(len(country), dtype=bool))


def _broken(space: CellSpace, report: AuditReport) -> tuple[BrokenCell, ...]:
    """Worst first. An exact share would reveal the true value to a reader who knows the rule; a quarter does
    not.
    """
    worst = np.minimum(np.minimum(report.down, report.up), report.slide)
    order = [int(i) for i in np.argsort(worst, kind="stable") if not report.protected[i]][:TOP_BROKEN]
    return tuple(
        BrokenCell(
            space.key(int(report.primaries[i])),
            _reached(report.down[i]),
            _reached(report.up[i]),
            _reached(report.slide[i]),
        )
        for i in order
    )


def _reached(share: float) -> str | None:
    return None if share >= 1 else REACHED[min(int(4 * max(share, 0.0)), 3)]
