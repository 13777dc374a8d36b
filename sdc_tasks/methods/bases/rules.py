"""The rules for safe bases: each starts somewhere, makes the choice safe, and lowers
bases that are higher than needed.

    the audit alone        starts from all exact; raises bases where an attack succeeds (`search/repair.py`)
    the CTA rule           starts from what the adjusted table says each cell needs ([1]; `cta_rule.py`);
                           then as above
    minimum uncertainty    a cutting-plane method: starts from the better of both; finds the least loss that
                           satisfies all cuts so far (`cover.py`); repairs the result, which gives new cuts;
                           repeats this; at the end it lowers every cell that can be lowered
    grown from tables      for large tables, in place of these three (`search/witness_guided.py`)
    suppression            knows exact and withheld alone: the least set of withheld cells (`suppression.py`)

The same cuts give a lower bound on the loss of any safe choice on the ladder. `search/minimum_uncertainty.py`
finds the least loss without a ladder.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sdc_tasks.methods.attack import Attacker, Requirements
from sdc_tasks.methods.bases.cta_rule import choose
from sdc_tasks.methods.bases.ladder import Ladder
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.methods.bases.search.cover import cover, least, spare
from sdc_tasks.methods.bases.search.cut import apart_from, cut_of
from sdc_tasks.methods.bases.search.extension import Extension
from sdc_tasks.methods.bases.search.minimum_uncertainty import HalfWidths, minimum_uncertainty
from sdc_tasks.methods.bases.search.repair import Stuck, repair
from sdc_tasks.methods.bases.search.witness_guided import WitnessGuidedSearch
from sdc_tasks.methods.bases.wishes import Wishes
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.optimise import Cut

AUDIT, CTA, LEAST, SUPPRESSION = (
    "the audit alone",
    "the CTA rule",
    "minimum uncertainty",
    "suppression of aggregates",
)
GROWN = "growth from tables"
LAST_GAIN = 0.005  # relative: a search that promises no larger gain is the last one


@dataclass(frozen=True)
class Case:
    """One problem with everything that the choice of bases needs. `weights`: loss per unit of
    half-width of each aggregate cell; `wishes`: what the domain asks for each. `progress` receives the
    progress of the search, `note` the decisions.
    """

    problem: ProtectionProblem
    requirements: Requirements
    attacker: Attacker
    ladder: Ladder
    weights: Floats = field(repr=False)
    wishes: Wishes = field(repr=False)
    options: BasesOptions
    progress: Callable[[str], None]
    seed: int = 1
    cuts: list[Cut] = field(default_factory=list, repr=False)
    note: Callable[[str], None] = lambda _: None

    @property
    def exact(self) -> Bools:
        """(aggregate cells,): those that must stay exact."""
        return self.wishes.exact

    def safe(self, choice: Ints) -> Ints:
        """The choice, repaired until no attack succeeds."""
        return repair(
            self.attacker,
            self.ladder,
            self.ladder.even(choice),
            self.options.rounds,
            self.progress,
            self.cuts,
        )

    def between(self, choice: Ints, safe: Ints) -> Ints:
        """A safe choice between a choice and a safe choice above it."""
        return repair(self.attacker, self.ladder, choice, self.options.rounds, self.progress, self.cuts, safe)

    def broken(self, publication: Publication) -> int:
        """How many requirements a publication breaks."""
        self.attacker.set_publication(publication)
        self.attacker.prove_all()
        return len(self.attacker.broken)

    def passes(self, publication: Publication) -> bool:
        """Does a publication break no requirement?"""
        self.attacker.set_publication(publication)
        return not self.attacker.breaks()


def by_audit(case: Case) -> Ints:
    """A safe choice that starts from all exact: the fallback that needs no adjusted table."""
    return case.safe(choose(case.problem, case.ladder, None))


def witness_guided_choice(case: Case) -> Ints:
    """A safe choice for a large table. What no table shows is left to the attack and repair."""
    lowest = choose(case.problem, case.ladder, None)
    grown = WitnessGuidedSearch(case.attacker, case.ladder, lowest, case.progress).run(case.options.lowering)
    return case.safe(grown.choice) if grown.left else grown.choice


def cutting_plane_choice(case: Case, choice: Ints) -> Ints:
    """A safe choice that loses no more than the given safe one."""
    best, loss = choice, case.ladder.loss_of(choice)
    for number in range(case.options.passes):
        proposed = cover(case.ladder, case.cuts, best, case.seed + number, case.progress)
        promised = case.ladder.loss_of(proposed)
        if promised > loss * (1 - LAST_GAIN):
            break
        try:
            found = case.safe(proposed)
        except Stuck:  # the wishes leave no safe choice from there
            break
        lost = case.ladder.loss_of(found)
        losses = [case.ladder.loss_for_log(each) for each in (proposed, found, best)]
        case.progress(
            f"search {number}: proposed loss {losses[0]}, after repair {losses[1]}, best before {losses[2]}"
        )
        if lost < loss:
            best, loss = found, lost
    return tighten(case, best)


def tighten(case: Case, choice: Ints) -> Ints:
    """Lowers every cell of the safe choice that can be lowered; in the end a cut from some attack holds each
    cell.

    All cells that no known cut holds are lowered at once. Repair then raises those that successful attacks
    use. With strata the choice stays as it is, because the cells of a stratum share one base.
    """
    if (case.ladder.stratum >= 0).any():
        return choice
    for number in range(case.options.rounds):
        lower = spare(case.ladder, case.cuts, choice)
        if (lower == choice).all():
            break
        try:
            found = case.between(lower, choice)
        except Stuck:  # noise of a solver: no choice in between can be shown safe
            break
        case.progress(
            f"tightening {number}: {int((found < choice).sum())} of {int((lower < choice).sum())} cells "
            f"could be lowered"
        )
        choice = found
    return choice


def bound(case: Case) -> float:
    """A lower bound: no safe choice on this ladder loses less, as `Ladder.loss` counts it."""
    return least(case.ladder, case.cuts)


def least_loss(case: Case) -> HalfWidths:
    """The least half-widths without any ladder, for the requirements that the exact publication breaks."""
    cells = np.flatnonzero(case.problem.aggregate)
    broken = case.broken(Publication(cells, case.problem.a[cells], np.zeros(len(cells))))
    case.progress(f"everything exact would break {broken} requirements")
    exact = np.zeros(len(cells), dtype=np.int64)
    cuts = [
        apart_from(cut_of(attack, case.requirements, case.ladder, exact), case.exact)
        for attack in case.attacker.broken
    ]
    extension = Extension(case.problem, case.weights, case.requirements, case.attacker.broken, case.exact)
    return minimum_uncertainty(extension, case.weights, case.options.gap, case.progress, cuts)
