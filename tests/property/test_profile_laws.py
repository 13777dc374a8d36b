"""The oracle of the attacker profiles against itself and against the older oracle: knowing more never shows
less.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import assume, given

from support.laws import law
from support.oracles.attack import Draw, reaches, releases
from support.oracles.profiles import Vintage, alone, coalition, external, half, strongest, vintages

LAW = law(20)
CLOSE = {"rtol": 1e-7, "atol": 1e-6}


def drawn(draw: Draw) -> list[int]:
    """Up to three cells with a single unit: suppressed, not empty."""
    assume(draw.problem.primary.any())
    cells = np.flatnonzero(draw.problem.suppressed & (draw.problem.a > 0))
    assume(len(cells))
    return sorted(draw.rng.permutation(cells)[:3].tolist())


def within(inner: np.ndarray, outer: np.ndarray) -> None:
    """Interval by interval, with what two LPs may differ by."""
    slack = 1e-6 * (1 + np.where(np.isfinite(outer), np.abs(outer), 0))
    assert (inner[:, 0] >= outer[:, 0] - slack[:, 0]).all()
    assert (inner[:, 1] <= outer[:, 1] + slack[:, 1]).all()


@LAW
@given(releases(most=4, sliding=False))
def test_values_and_deviations_tell_the_same(draw):
    """Two ways to write the attacker down: all values with M x = 0, or deviations from the truth."""
    assume(draw.problem.primary.any())
    publication = draw.publication()
    ends, a = external(draw.problem, publication), draw.problem.a[draw.problem.primary]
    np.testing.assert_allclose(
        np.column_stack([a - ends[:, 0], ends[:, 1] - a]), reaches(draw.problem, publication), **CLOSE
    )


@LAW
@given(releases(most=4, signed=False, sliding=False))
def test_the_truth_is_always_possible_and_more_knowledge_never_widens(draw):
    """Truth ∈ coalition ⊆ each singleton alone ⊆ external; one who knows half of a cell lies between
    external and one who knows it all.
    """
    problem, publication, singletons = draw.problem, draw.publication(), drawn(draw)
    a = problem.a[problem.primary]
    everybody, together = external(problem, publication), coalition(problem, publication, singletons)
    single = alone(problem, publication, {cell: float(problem.a[cell]) for cell in singletons})
    in_part = alone(problem, publication, half(problem, singletons))
    within(np.column_stack([a, a]), together)
    within(together, strongest(problem, single))
    within(together, everybody)
    for cell in singletons:
        within(single[cell], in_part[cell])
        within(in_part[cell], everybody)


@LAW
@given(releases(most=4, sliding=False))
def test_withholding_never_narrows(draw):
    assume(draw.problem.primary.any())
    publication = draw.publication()
    fewer = draw.rng.random(len(publication.cells)) < 0.5
    less = replace(
        publication,
        value=np.where(fewer, np.nan, publication.value),
        base=np.where(fewer, np.inf, publication.base),
    )
    within(external(draw.problem, publication), external(draw.problem, less))


@LAW
@given(releases(most=3, sliding=False))
def test_an_earlier_release_never_widens_nor_does_an_assumption_and_the_same_again_tells_nothing(draw):
    assume(draw.problem.primary.any())
    problem, publication, before = draw.problem, draw.publication(), draw.publication()
    alone_ = external(problem, publication)
    np.testing.assert_allclose(
        vintages(problem, publication, [Vintage(problem, publication)]), alone_, **CLOSE
    )
    both = vintages(problem, publication, [Vintage(problem, before)])
    within(both, alone_)
    within(both, external(problem, before))
    half_ = problem.a / 2
    other = replace(problem, a=half_, lb=np.minimum(problem.lb, half_), ub=np.maximum(problem.ub, half_))
    told = Vintage(
        other,
        replace(
            before,
            value=np.where(before.exact, half_[before.cells], np.nan),
            base=np.where(before.exact, 0.0, np.inf),
        ),
    )
    wide = alone_
    for revision in (None, 90, 50, 0):
        narrow = vintages(problem, publication, [told], revision)
        within(narrow, wide)
        wide = narrow
