"""The joint problem of a drawn table and those that are out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdc_tasks.methods.linked import Out, joint
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.time.periods import PeriodRule
from support.oracles.linked import Table

RULES = {"TURNOVER": PeriodRule.SUM}


def joint_of(now: Table, before: Sequence[Table]) -> ProtectionProblem:
    """The joint problem of a table and those that are out."""
    out = [
        Out(f"{each.kind} {each.period}", each.period, each.problem, each.publication)
        for each in before
        if each.publication is not None
    ]
    return joint(now.problem, now.period, out, RULES, lambda total: np.full(len(total), 1e-9))
