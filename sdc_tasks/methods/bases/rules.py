"""The rules for safe bases side by side: each proposes a start, repair makes it safe, the least loss is taken.

    the audit alone        all exact, and raised where an attack succeeds
    the CTA rule           the adjusted table says how much each cell needs ([1]; `cta_rule.py`)
    minimum uncertainty    the least half-widths that keep every requirement (`minimum_uncertainty.py`), on the ladder (`rounding.py`)

None is always best: half-widths that are least before rounding need not be after it, and repair from nothing knows what is there already.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from sdc_tasks.methods.attack import Attacker, Requirements
from sdc_tasks.methods.bases.cta_rule import choose
from sdc_tasks.methods.bases.extension import Extension
from sdc_tasks.methods.bases.ladder import Ladder
from sdc_tasks.methods.bases.minimum_uncertainty import HalfWidths, minimum_uncertainty
from sdc_tasks.methods.bases.repair import repair
from sdc_tasks.methods.bases.rounding import settle
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints

AUDIT, CTA, LEAST = "the audit alone", "the CTA rule", "minimum uncertainty"
SHORT = 0.5  # of the least half-widths: rounding up gives some cells more than that, so that others need less


class Effort(Protocol):
    """The part of a domain file that says how long to search."""

    @property
    def gap(self) -> float: ...
    @property
    def passes(self) -> int: ...
    @property
    def rounds(self) -> int: ...


@dataclass(frozen=True)
class Case:
    """What bases are chosen for. `weights`: loss per unit of half-width of each aggregate cell; `exact` ones get no base."""

    problem: ProtectionProblem
    requirements: Requirements
    attacker: Attacker
    ladder: Ladder
    weights: Floats = field(repr=False)
    exact: Bools = field(repr=False)
    effort: Effort
    progress: Callable[[str], None]

    def safe(self, choice: Ints) -> Ints:
        """The choice, repaired until the attacker breaks nothing."""
        return repair(self.attacker, self.ladder, choice, self.effort.rounds, self.progress)

    def broken(self, publication: Publication) -> int:
        """How many requirements a publication breaks."""
        self.attacker.face(publication)
        self.attacker.settle()
        return len(self.attacker.broken)


@dataclass(frozen=True)
class LeastLoss:
    """The least half-widths and the live models that found them."""

    found: HalfWidths
    extension: Extension


def by_audit(case: Case) -> Ints:
    """From all exact: the fallback that needs no adjusted table."""
    return case.safe(choose(case.problem, case.ladder, None))


def by_cta(case: Case, x: Floats) -> Ints:
    """From the adjusted table x (space.size,)."""
    return case.safe(choose(case.problem, case.ladder, x))


def least_loss(case: Case) -> LeastLoss:
    """The half-widths before any ladder, from what the exact publication breaks."""
    cells = np.flatnonzero(case.problem.aggregate)
    broken = case.broken(Publication(cells, case.problem.a[cells], np.zeros(len(cells))))
    case.progress(f"everything exact would break {broken} requirements")
    extension = Extension(case.problem, case.weights, case.requirements, case.attacker.broken, case.exact)
    return LeastLoss(minimum_uncertainty(extension, case.weights, case.effort.gap, case.effort.passes, case.progress), extension)


def by_least_loss(case: Case, least: LeastLoss) -> Ints:
    """The half-widths on the ladder, raised where something is lacking."""
    choice = settle(least.extension, case.ladder, case.ladder.at_least(SHORT * least.found.half))
    case.progress(
        f"half-widths that need no ladder lose {least.found.loss:.4g}, none less than {least.found.bound:.4g}; on the ladder "
        f"{case.ladder.loss_of(choice):.4g}"
    )
    return case.safe(choice)
