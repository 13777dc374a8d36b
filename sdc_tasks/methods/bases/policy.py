"""From the problem to its safe bases, as a domain file asks: the case, the rule that loses least, then
the other options in this order.

    case_of ──▶ least_lossy ──▶ additive values ──▶ sums of visible countries ──▶ values that are possible
    together

Each option starts from a safe publication and returns a safe publication: its proposal is taken only if no
attack with integer knowledge breaks it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.attack import Attacker, Requirements, integer_attacks
from sdc_tasks.methods.bases.comparison import Keep, least_lossy
from sdc_tasks.methods.bases.ladder import ladder_of
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.methods.bases.printed.additive import additive
from sdc_tasks.methods.bases.printed.implied import box
from sdc_tasks.methods.bases.printed.possible import possible
from sdc_tasks.methods.bases.printed.visible_share_rule import visible_share_rule
from sdc_tasks.methods.bases.rules import Case
from sdc_tasks.methods.bases.search.repair import Stuck
from sdc_tasks.methods.bases.strata import strata_of
from sdc_tasks.methods.bases.suppression import two_options
from sdc_tasks.methods.bases.wishes import Wishes, wishes_of
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.progress import Progress, Say
from sdc_tasks.model.results import Adjustment, Publication
from sdc_tasks.model.weights import aggregate_weights

MORE_DECIMALS = (
    2  # decimals beyond those that an indicator declares, for additive values: deliveries may have more
)


def case_of(
    problem: ProtectionProblem,
    requirements: Requirements,
    options: BasesOptions,
    seed: int,
    progress: Say,
    note: Say,
    wishes: Wishes | None = None,
) -> Case:
    """The ladder, the weights and the attacker, as the options ask. `seed`: of the attacks. `wishes`: where
    the patterns of the options do not name the cells of this problem.
    """
    wishes = wishes or wishes_of(problem, options.cells)
    weights = aggregate_weights(problem, options.weights) * wishes.cost
    if options.rule_aware:
        from sdc_tasks.methods.bases.aware.floors import floors_of
        from sdc_tasks.methods.bases.aware.rule import left_by

        floors = floors_of(problem, options, wishes.exact)
        ladder = left_by(
            ladder_of(problem, weights, options, floors.down).keeping(wishes.exact, wishes.published), floors
        )
    else:
        ladder = ladder_of(problem, weights, options).keeping(wishes.exact, wishes.published)
    if problem.withheld.any():
        note(
            f"{int(problem.withheld.sum())} aggregate cells are withheld: they need a national cell that is "
            f"not available"
        )
    if options.rule == "suppression":
        ladder = two_options(ladder)
    if options.strata is not None:
        ladder = ladder.in_strata(strata_of(problem, options.strata, wishes.exact))
    attacker = Attacker(problem, requirements, seed, Progress(progress, "attack"))
    return Case(problem, requirements, attacker, ladder, weights, wishes, options, progress, seed, note=note)


def safe_bases(
    case: Case, adjustment: Adjustment, accept_short: float, decimals: Sequence[int], keep: Keep
) -> Publication:
    """Safe bases for every aggregate cell. A CTA table with a larger share of unprotected cells than
    `accept_short` is not used as a start.

    `decimals`: of each indicator of the problem. Raises InvalidInput if cells cannot be as
    precise as the options require.
    """
    options = case.options
    short = min((rung.unprotected for rung in adjustment.rungs if rung.chosen), default=0)
    try:
        trusted = short <= accept_short * len(case.requirements.cells)
        if options.rule_aware:
            from sdc_tasks.methods.bases.aware.rule import aware

            publication = aware(case, keep, decimals)
        else:
            publication = least_lossy(case, options, adjustment.x, trusted, keep)
    except Stuck as stuck:
        raise _impossible(case, stuck) from stuck
    if options.additive:
        publication = _possible(case, publication)
        publication = _withstanding(case, publication, _additive(case, publication, decimals))
    if options.visible_share is not None:
        with_sums = visible_share_rule(
            case.problem, case.attacker, publication, options.visible_share, case.weights, case.note
        )
        publication = _withstanding(case, publication, with_sums)
    if (
        options.additive or options.strata is not None
    ):  # what adds up stays so; cells of a stratum share their base
        return publication
    return _possible(case, publication)


def _impossible(case: Case, stuck: Stuck) -> InvalidInput:
    published = case.wishes.published
    forced = stuck.decided[published[stuck.decided]]
    keys = ", ".join(
        case.problem.space.key(int(case.ladder.cells[k])) for k in sorted(set(forced.tolist()))[:5]
    )
    return InvalidInput(
        f"bases.cells: {keys or 'some aggregate cells'} cannot be as precise as they must be: an attack "
        f"succeeds although nothing else "
        "that it leans on may be coarser. Remedy: take them out of bases.cells, or allow a larger "
        "maximum_relative_base"
    )


def _possible(case: Case, publication: Publication) -> Publication:
    """The publication with no printed value that the other values exclude."""
    kept = case.wishes.published
    found = possible(case.problem, publication, case.options.mantissas, case.options.smallest, kept)
    if moved := int((found.base != publication.base).sum()):
        gone = int((found.withheld & ~publication.withheld).sum())
        case.note(
            f"printed values: {moved} were impossible beside the others; {moved - gone} of these cells got "
            f"another value and a finer base, "
            f"{gone} are withheld"
        )
    return _withstanding(case, publication, found)


def _withstanding(case: Case, safe: Publication, other: Publication) -> Publication:
    """The other publication; the safe one if values are whole numbers and only the other one
    fails against integer knowledge.
    """
    if other.digest == safe.digest or not case.problem.integral.any():
        return other
    if integer_attacks(case.problem, other, case.requirements, case.seed).short:
        case.note("integer knowledge: published without this, which whole tables do not show to be safe")
        return safe
    return other


def _additive(case: Case, publication: Publication, decimals: Sequence[int]) -> Publication:
    """The publication with values that add up within the safe intervals; unchanged if there are no such
    values.
    """
    space = case.problem.space
    places = np.tile(space.spread(decimals), len(space.aggregates))
    known = box(case.problem, publication)
    tries = (additive(space, publication, places + more, *known) for more in range(MORE_DECIMALS + 1))
    found = next((each for each in tries if each is not None), None)
    if found is None:
        case.note(
            "no values of so few decimals add up within the safe intervals: published as nearest multiples, "
            "which do not"
        )
        return publication
    moved = int((found.value != publication.value)[found.rounded].sum())
    case.note(
        f"additive values: {moved} of {int(found.rounded.sum())} rounded cells are off their nearest multiple"
    )
    return found
