"""What was promised of each primary."""

from __future__ import annotations

import numpy as np

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Floats, Ints


def promised(problem: ProtectionProblem, primaries: Ints, count: int) -> Floats:
    """(sides, primaries, attackers): what was promised, cut at the external bounds; of whole numbers the next whole step."""
    below, above = (problem.a - problem.lb)[primaries], (problem.ub - problem.a)[primaries]
    lpl, upl, spl = problem.lpl[primaries], problem.upl[primaries], problem.spl[primaries]
    whole = problem.integral[primaries]
    below, above = (np.where(whole, np.floor(room), room) for room in (below, above))
    lpl, upl, spl = (np.where(whole, np.ceil(level - 1e-9), level) for level in (lpl, upl, spl))
    promised = [np.minimum(lpl, below), np.minimum(upl, above), np.minimum(spl, below + above)]
    return np.repeat(np.array(promised)[:, :, None], count, axis=2)
