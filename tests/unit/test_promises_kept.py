"""A cell that a published version protected and that is hidden now keeps its level, whatever the
domain file or its flag says now.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from sdc_tasks import pipeline
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.problem import ProtectionProblem
from support.laws import law
from support.oracles.attack import one_cell_release, releases

AT, BE = 0, 1
FIRST = one_cell_release("AT 100 secret 10 | BE 240 secret 24 | CY 357 public", EU="AT BE CY")


def level(problem: ProtectionProblem, cell: int) -> list[float]:
    return [float(getattr(problem, name)[cell]) for name in ("lpl", "upl", "spl")]


def test_a_rule_that_asks_for_less_now_lowers_no_level_of_a_published_version():
    """10 percent in version 1; 0.01 percent in the domain file of version 2, with the same flags."""
    looser = replace(FIRST, lpl=FIRST.lpl / 1000, upl=FIRST.upl / 1000)
    kept, lowered = pipeline.still_promised(looser, [FIRST])
    assert [level(kept, cell) for cell in (AT, BE)] == [[10, 10, 0], [24, 24, 0]]
    assert lowered == (2,), "who approves is told: two cells of version 1"


def test_a_weaker_flag_lowers_no_level():
    """AT sends its cell with the flag of a weaker rule, BE as secondary."""
    weaker = replace(
        FIRST,
        lpl=np.array([1.0, 0, 0, 0]),
        upl=np.array([1.0, 0, 0, 0]),
        primary=np.array([True, False, False, False]),
    )
    kept, lowered = pipeline.still_promised(weaker, [FIRST])
    assert kept.primary.tolist() == [True, True, False, False]
    assert [level(kept, cell) for cell in (AT, BE)] == [[10, 10, 0], [24, 24, 0]]
    assert lowered == (2,)


def test_a_rule_that_asks_for_more_counts_now():
    stricter = replace(FIRST, lpl=FIRST.lpl * 2, upl=FIRST.upl * 2, spl=FIRST.spl + 5)
    kept, lowered = pipeline.still_promised(stricter, [FIRST])
    assert level(kept, AT) == [20, 20, 5]
    assert lowered == (0,)
    assert kept.digest == stricter.digest


def test_a_cell_that_its_country_shows_now_is_promised_nothing():
    shown = replace(
        FIRST, public=np.array([True, False, True, False]), primary=np.array([False, True, False, False])
    )
    kept, lowered = pipeline.still_promised(shown, [FIRST])
    assert kept.primary.tolist() == [False, True, False, False]
    assert lowered == (0,)


def counted(problem: ProtectionProblem, base: int) -> ProtectionProblem:
    """The same under small count rounding, with AT and BE as small counts: base candidates each."""
    nobody = np.zeros(problem.space.size)
    return replace(
        problem,
        a=np.array([1.0, 2, 50, 53]),
        lpl=nobody,
        upl=nobody,
        spl=np.where(problem.primary, base - 1.0, 0.0),
        least=np.full(problem.space.size, base),
        integral=np.ones(problem.space.size, dtype=bool),
    )


def test_small_count_rounding_cannot_carry_the_level_of_a_base():
    """Version 1 left ±10 around AT. Small count rounding in version 2 leaves it three candidates: refused, by
    name.
    """
    now = counted(FIRST, 3)
    with pytest.raises(InvalidInput, match=r"AT\.TURNOVER.* and 1 more.*rounding.*version 1.*Remedy"):
        pipeline.still_promised(now, [FIRST])


def test_small_count_rounding_cannot_carry_the_level_of_a_larger_base():
    with pytest.raises(InvalidInput, match=r"small count rounding"):
        pipeline.still_promised(counted(FIRST, 3), [counted(FIRST, 5)])
    kept, lowered = pipeline.still_promised(counted(FIRST, 5), [counted(FIRST, 3)])
    assert (kept.spl.tolist(), lowered) == ([4, 4, 0, 0], (0,))


@law(60)
@given(releases(most=6))
def test_no_level_falls_from_version_to_version(draw):
    """Whatever levels and flags are drawn for three versions of the same cells."""
    rng, versions = draw.rng, [draw.problem]
    for _ in range(2):
        last, hidden = versions[-1], np.flatnonzero(draw.problem.suppressed)
        primary = np.zeros(last.space.size, dtype=bool)
        primary[hidden] = rng.random(len(hidden)) < 0.5
        drawn = {
            name: np.where(primary, getattr(draw.problem, name) * rng.choice([0, 0.01, 1, 3]), 0.0)
            for name in ("lpl", "upl", "spl")
        }
        now, lowered = pipeline.still_promised(replace(draw.problem, primary=primary, **drawn), versions)
        for then in versions:
            for name in drawn:
                assert (getattr(now, name)[then.primary] >= getattr(then, name)[then.primary]).all()
            assert now.primary[then.primary].all()
        assert len(lowered) == len(versions)
        versions.append(now)
