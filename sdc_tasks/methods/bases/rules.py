"""The rules for safe bases: what proposes a start, what makes it safe, and what takes back what was too much.

    the audit alone        all exact, and raised where an attack succeeds (`search/repair.py`)
    the CTA rule           the adjusted table says how much each cell needs ([1]; `cta_rule.py`); then as above
    minimum uncertainty    the best of both; then, on all cuts that the attacks have left, the least loss that meets them (`cover.py`),
                           made safe again, which gives new cuts, and so on; at last every cell is lowered that can be

The same cuts bound from below what any safe choice on the ladder loses. Without a ladder, `search/minimum_uncertainty.py` finds the least.
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
from sdc_tasks.methods.bases.search.cut import Cut, cut_of
from sdc_tasks.methods.bases.search.extension import Extension
from sdc_tasks.methods.bases.search.minimum_uncertainty import HalfWidths, minimum_uncertainty
from sdc_tasks.methods.bases.search.repair import Stuck, repair
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints

AUDIT, CTA, LEAST = "the audit alone", "the CTA rule", "minimum uncertainty"
LAST_GAIN = 0.005  # relative: a search that promises no more than that is the last


@dataclass(frozen=True)
class Case:
    """What bases are chosen for. `weights`: loss per unit of half-width of each aggregate cell; `exact` ones get no base.

    `progress` hears how the search goes, `note` what was decided.
    """

    problem: ProtectionProblem
    requirements: Requirements
    attacker: Attacker
    ladder: Ladder
    weights: Floats = field(repr=False)
    exact: Bools = field(repr=False)
    options: BasesOptions
    progress: Callable[[str], None]
    seed: int = 1
    cuts: list[Cut] = field(default_factory=list, repr=False)
    note: Callable[[str], None] = lambda _: None

    def safe(self, choice: Ints) -> Ints:
        """The choice, repaired until the attacker breaks nothing."""
        return repair(self.attacker, self.ladder, self.ladder.even(choice), self.options.rounds, self.progress, self.cuts)

    def between(self, choice: Ints, safe: Ints) -> Ints:
        """A safe choice between one and a safe one above it."""
        return repair(self.attacker, self.ladder, choice, self.options.rounds, self.progress, self.cuts, safe)

    def broken(self, publication: Publication) -> int:
        """How many requirements a publication breaks."""
        self.attacker.face(publication)
        self.attacker.settle()
        return len(self.attacker.broken)


def by_audit(case: Case) -> Ints:
    """From all exact: the fallback that needs no adjusted table."""
    return case.safe(choose(case.problem, case.ladder, None))


def by_cover(case: Case, choice: Ints) -> Ints:
    """A safe choice that loses no more than the given safe one."""
    best, loss = choice, case.ladder.loss_of(choice)
    for number in range(case.options.passes):
        proposed = cover(case.ladder, case.cuts, best, case.seed + number)
        promised = case.ladder.loss_of(proposed)
        if promised > loss * (1 - LAST_GAIN):
            break
        try:
            found = case.safe(proposed)
        except Stuck:  # wishes leave no way from there
            break
        lost = case.ladder.loss_of(found)
        told = [case.ladder.told(each) for each in (proposed, found, best)]
        case.progress(f"search {number}: loss {told[0]} would meet all cuts so far, {told[1]} is safe; best before: {told[2]}")
        if lost < loss:
            best, loss = found, lost
    return tighten(case, best)


def tighten(case: Case, choice: Ints) -> Ints:
    """The safe choice with every cell lowered that can be: at the end each one is held by a cut that some attack has left.

    All that no known cut holds is lowered at once, and repaired from below, where the attacks that succeed lean on it.
    Cells of a stratum are left as they are, for they share one base.
    """
    if (case.ladder.stratum >= 0).any():
        return choice
    for number in range(case.options.rounds):
        lower = spare(case.ladder, case.cuts, choice)
        if (lower == choice).all():
            break
        try:
            found = case.between(lower, choice)
        except Stuck:  # the noise of a solver: what lies in between is not to be shown safe
            break
        case.progress(f"tightening {number}: {int((found < choice).sum())} of {int((lower < choice).sum())} cells could be lowered")
        choice = found
    return choice


def bound(case: Case) -> float:
    """No safe choice on this ladder loses less, as `Ladder.loss` counts it."""
    return least(case.ladder, case.cuts)


def least_loss(case: Case) -> HalfWidths:
    """The least half-widths, before any ladder, from what the exact publication breaks."""
    cells = np.flatnonzero(case.problem.aggregate)
    broken = case.broken(Publication(cells, case.problem.a[cells], np.zeros(len(cells))))
    case.progress(f"everything exact would break {broken} requirements")
    exact = np.zeros(len(cells), dtype=np.int64)
    cuts = [cut_of(attack, case.requirements, case.ladder, exact).apart_from(case.exact) for attack in case.attacker.broken]
    extension = Extension(case.problem, case.weights, case.requirements, case.attacker.broken, case.exact)
    return minimum_uncertainty(extension, case.weights, case.options.gap, case.progress, cuts)
