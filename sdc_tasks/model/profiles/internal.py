"""Any one respondent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_tasks.model.attackers import WHO
from sdc_tasks.model.profiles.profile import Profile
from sdc_tasks.model.table import Bools

if TYPE_CHECKING:
    from sdc_tasks.model.problem import ProtectionProblem


class Internal(Profile):
    """Each respondent alone. The only unit of a cell knows the cell. The larger of two units knows its own
    part, a lower bound of the cell; where its share was not sent, half of the cell is assumed.
    """

    name = "internal"
    who = WHO[name]
    alone = True
    respondents = True

    def insider(self, problem: ProtectionProblem) -> Bools:
        return problem.suppressed & (problem.known <= problem.a)
