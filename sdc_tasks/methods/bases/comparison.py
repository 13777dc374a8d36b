"""Compares the rules for bases: each proposes a safe choice, the one that loses least is taken, the
others are kept for comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from sdc_tasks.methods.bases.cta_rule import choose
from sdc_tasks.methods.bases.integer import integer_safe
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.methods.bases.printed.implied import tighten_to_implied_intervals
from sdc_tasks.methods.bases.rules import (
    AUDIT,
    CTA,
    GROWN,
    LEAST,
    SUPPRESSION,
    Case,
    bound,
    by_audit,
    cutting_plane_choice,
    witness_guided_choice,
)
from sdc_tasks.methods.bases.suppression import by_suppression, published_again
from sdc_tasks.model.profiles import profile_of
from sdc_tasks.model.results import Adjustment, CandidateWitnesses, Outcome, Publication, Rung
from sdc_tasks.model.table import CellSpace, Floats, Ints

ALONE = "the CTA rule alone"
LOST = "information lost (weight · half-width, withheld cells included)"
TABLES, RULES = "tables", "rules"  # what is kept beside the publications by other rules
Kept = Publication | Adjustment | CandidateWitnesses
Keep = Callable[[str, Kept], None]


def uses_witness_guided_search(
    space: CellSpace, group: Collection[str], profiles: Sequence[str], options: BasesOptions
) -> bool:
    """Are the bases of these linked indicators grown from tables? Not where respondents
    attack: no table fools all of them.
    """
    large = space.first_aggregate // len(space.indicators) * len(group) >= options.grown_from
    apart = options.rule != "minimum-uncertainty" or options.rule_aware or options.strata is not None
    return large and not apart and not any(profile_of(profile).respondents for profile in profiles)


def least_lossy(
    case: Case, options: BasesOptions, x: Floats | None, trusted: bool, keep: Keep
) -> Publication:
    """The safe publication that loses least. `x` (cells,): the adjusted table, if there is one. The CTA
    rule starts from it if `trusted`.

    The CTA rule is skipped unless its choice, before any repair, loses less than the choice by the audit:
    repair only adds loss. The rule suppression stands beside the audit alone. A large table has one rule,
    without a bound (`uses_witness_guided_search`). `keep` receives the publication by each other rule; the
    publication by the CTA rule before any repair (`ALONE`); and, as RULES, a rung for each rule with its
    loss, the bound on the least loss, and how many requirements the CTA rule leaves broken.
    """
    ladder, space = case.ladder, case.problem.space
    grown = uses_witness_guided_search(space, space.indicators, case.requirements.profiles, options)
    found, rungs, least = _proposals(case, options, None if grown else x, trusted, grown, keep)
    if options.sharpen:
        found = {
            name: tighten_to_implied_intervals(case.problem, ladder, choice) for name, choice in found.items()
        }
    losses = {name: ladder.loss_of(choice) for name, choice in found.items()}
    best = min(reversed(losses), key=losses.__getitem__)
    if case.problem.integral.any():
        found[best] = integer_safe(case, found[best])
        if options.rule == "suppression":
            found[best] = published_again(case, found[best])
        losses[best] = ladder.loss_of(found[best])
    if grown:
        case.note(
            "a large table: bases are grown from tables. No bound on the loss was computed; the smallest "
            "loss may be less"
        )
    summary = ", ".join(f"{ladder.loss_for_log(choice)} by {name}" for name, choice in found.items())
    case.note(f"{LOST}: {summary}; taken: {best}")
    for name, choice in found.items():
        rungs.append(
            Rung(name, Outcome.FEASIBLE, losses[name], least, None, 0.0, "repaired", chosen=name == best)
        )
        if name != best:
            keep(name, ladder.publication(choice))
    keep(RULES, Adjustment(rungs=tuple(rungs)))
    return case.ladder.publication(found[best])


def _proposals(
    case: Case, options: BasesOptions, x: Floats | None, trusted: bool, grown: bool, keep: Keep
) -> tuple[dict[str, Ints], list[Rung], float | None]:
    """The safe choice of each rule, by its name; a rung for the CTA rule before any repair; and the bound on
    the least loss, None if no rule computes one.
    """
    ladder, rungs, least = case.ladder, list[Rung](), None
    thorough = options.rule == "minimum-uncertainty" and not grown
    if grown:
        case.progress(f"bases by {GROWN}")
        first = witness_guided_choice(case)
    else:
        case.progress(f"bases by {AUDIT}")
        first = by_audit(case)
    found = {GROWN if grown else AUDIT: first}
    if options.rule == "suppression":
        found[SUPPRESSION], least = by_suppression(case, found[AUDIT])
    elif x is not None:
        start = choose(case.problem, ladder, x)
        if trusted and ladder.loss_of(start) < ladder.loss_of(found[AUDIT]):
            case.progress(f"bases by {CTA}")
            found[CTA] = case.safe(start)
        if thorough:
            alone = ladder.publication(start)
            keep(ALONE, alone)
            broken = case.broken(alone)
            rungs.append(
                Rung(
                    ALONE,
                    Outcome.RELAXED,
                    ladder.loss_of(start),
                    None,
                    None,
                    0.0,
                    "before any repair",
                    unprotected=broken,
                )
            )
    if thorough:
        case.progress(f"bases by {LEAST}")
        found[LEAST] = cutting_plane_choice(case, min(found.values(), key=ladder.loss_of))
        least = bound(case)
    return found, rungs, least
