"""The CTA rule for safe bases (Handbook on SDC 4.5; [1] §1): the adjusted table says how much
uncertainty each aggregate needs.

The base of a cell is the smallest on the ladder whose interval around the rounded value contains the true
value, the CTA value and its mirror image 2a − x. The Handbook warns that this needs "occasional
post-processing": that is the repair of `search/repair.py`.
"""

from __future__ import annotations

import numpy as np

from sdc_tasks.methods.bases.ladder import Ladder
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY


def half_widths(problem: ProtectionProblem, x: Floats | None) -> Floats:
    """|x_k − a_k| of every aggregate cell; without an adjusted table 0 everywhere, where
    the audit-driven fallback starts.
    """
    if x is None:
        return np.zeros(int(problem.aggregate.sum()))
    deviation = np.abs(x - problem.a)[problem.aggregate]
    levels = problem.upl[problem.primary]
    noise = FEASIBILITY * float(np.median(levels)) if len(levels) else 0.0
    return np.where(deviation > noise, deviation, 0.0)


def choose(problem: ProtectionProblem, ladder: Ladder, x: Floats | None) -> Ints:
    """The option of each aggregate cell by the CTA rule, before any audit."""
    return ladder.at_least(half_widths(problem, x))
