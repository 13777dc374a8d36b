"""The table of METHOD §9: three countries, one of which hides A0 = x and A1 = 300 − x; the
default rule is run for every x.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from sdc_tasks.methods.attack import promised
from sdc_tasks.methods.attack.replay import Fitting, Sampled, Support, sampled, support
from support.hidden_tables import pair, publish

#      x: (level, base, what the audit promises, what a replay leaves, candidates)
TABLE = {
    60: (6.0, 50.0, (45, 95), (55, 86), 26),
    97: (9.7, 100.0, (20, 120), (41, 105), 21),
    143: (14.3, 100.0, (120, 220), (134, 200), 51),
    201: (20.1, 200.0, (170, 300), (201, 244), 38),
}


@cache
def told(x: float) -> str:
    return publish(pair(x)).digest


def left(x: int) -> tuple[Support, float, Sampled]:
    """What is left of C0.A0, the base of the total above it, and what a sample of its two sides shows."""
    problem = pair(x)
    publication, needs = publish(problem), promised(problem, ("external",))
    fitting = Fitting.of(problem, publication, np.ones(2))

    def program(z):
        return float(told(x + z[0]) == publication.digest)

    return (
        support(problem, needs, fitting.every(301), program),
        float(publication.base[1]),
        sampled(fitting, needs, program, 10, 1),
    )


@pytest.mark.parametrize(
    "x", [60, *(pytest.param(x, marks=pytest.mark.exhaustive) for x in TABLE if x != 60)]
)
def test_a_replay_leaves_less_than_the_audit_promises(x):
    level, base, audited, replayed, candidates = TABLE[x]
    found, published, sides = left(x)
    assert (found.up[0], published) == (pytest.approx(level), base)
    assert (x + found.low_fit[0], x + found.high_fit[0]) == audited
    assert (x + found.low[0], x + found.high[0], found.values[0], found.odds[0]) == (
        *replayed,
        candidates,
        1.0,
    )
    assert (found.broken[0], found.narrow[0]) == (True, False)
    enough = [x - level >= replayed[0], x + level <= replayed[1]]
    assert (sides.sides, sides.asked, sides.none) == (2, 2, 0)
    assert sides.kept <= sum(enough), "a side that is kept is proven"
