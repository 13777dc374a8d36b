"""All single respondents together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sdc_tasks.model.attackers import WHO
from sdc_tasks.model.profiles.profile import Profile
from sdc_tasks.model.table import Bools

if TYPE_CHECKING:
    from sdc_tasks.model.problem import ProtectionProblem


class Coalition(Profile):
    """The respondents of all single-unit cells pool their cells: all of them against every other cell, and
    all but one against the cell of that one ([2] eq. 9).
    """

    name = "coalition"
    who = WHO[name]
    respondents = True

    def insider(self, problem: ProtectionProblem) -> Bools:
        return np.asarray(problem.suppressed & (problem.known == problem.a))
