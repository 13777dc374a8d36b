"""Benders reformulation: on any small table the optimum over all senses, proven; else a refusal that names cells. Large tables of two dimensions.

The oracle tries every sense vector with its own linear programs.
"""

from __future__ import annotations

import pytest
from cta_oracle import optimum, small_problems
from hypothesis import given, settings

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.cta.benders import benders
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.run import Run

LAW = settings(derandomize=True, deadline=None, max_examples=120)
EXACT = 3e-6


def solved(problem: CtaProblem, gap: float = 0.0) -> Run:
    run = Run(problem, gap=gap)
    benders(problem, run, 1)
    return run


@LAW
@given(small_problems(most=6))
def test_the_optimum_over_all_senses_is_found_and_proven(problem):
    best = optimum(problem)
    if best is None:
        with pytest.raises(Unprotectable):
            solved(problem)
        return
    run = solved(problem)
    assert run.protected is not None
    tolerance = EXACT * (best + problem.unit)
    assert run.protected.verdict.objective == pytest.approx(best, abs=tolerance)
    assert best - 2 * tolerance <= run.bound <= best + tolerance
