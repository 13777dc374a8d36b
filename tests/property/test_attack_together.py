"""What compositions tell together: against two cold LPs per cell and publication, on small random
releases.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given

from sdc_tasks.methods.attack.compositions import MOST_WIDTH, together
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from support.laws import law
from support.oracles.attack import needs, one_cell_release, published, reaches, releases

LAW = law(40)


def widths(problem: ProtectionProblem, publication: Publication) -> np.ndarray:
    """Of every primary that needs anything, by two cold LPs each, as multiples of what it
    needs before the national baseline.
    """
    asked = needs(problem, lambda problem, publication: np.full((problem.primary.sum(), 2), np.inf))[:, :2]
    found = np.minimum(reaches(problem, publication), MOST_WIDTH * asked)
    some = asked.sum(axis=1) > 0
    return found[some].sum(axis=1) / asked[some].sum(axis=1)


def only(problem: ProtectionProblem, publication: Publication, code: str) -> Publication:
    told = np.array([problem.space.key(int(cell)).startswith(f"{code}.") for cell in publication.cells])
    return Publication(
        publication.cells, np.where(told, publication.value, np.nan), np.where(told, publication.base, np.inf)
    )


@LAW
@given(releases(most=6, sliding=False))
def test_the_intervals_are_those_of_two_cold_lps(draw):
    problem, publication = draw.problem, draw.publication()
    assume(len(problem.space.aggregates) == 2)
    found = together(problem, publication)
    np.testing.assert_allclose(found.whole, widths(problem, publication), rtol=1e-5, atol=1e-3)
    for width, aggregate in zip(found.alone, problem.space.aggregates, strict=True):
        np.testing.assert_allclose(
            width, widths(problem, only(problem, publication, aggregate.code)), rtol=1e-5, atol=1e-3
        )
    assert (found.whole <= found.alone.min(axis=0) + 1e-3).all(), "knowing more never widens"


def test_two_totals_that_differ_by_one_country_give_it_away():
    """AT + BE + UK = 600, exact, and AT + BE = 300, to within 10: UK is 300 ± 10; alone,
    it could be anything up to 600.
    """
    problem = one_cell_release(
        "AT 100 secret 10 | BE 200 hidden | UK 300 secret 20", EU28="AT BE UK", EU27_2020="AT BE"
    )
    found = together(problem, published(problem, "exact", (300, 20)))
    assert found.aggregates == (0, 1)
    assert problem.space.countries[found.cells[1]] == "UK"
    np.testing.assert_allclose(found.alone, [[600 / 20, 600 / 40], [310 / 20, (300 + MOST_WIDTH * 20) / 40]])
    np.testing.assert_allclose(found.whole, [310 / 20, 20 / 40])


def test_compositions_without_a_common_member_tell_nothing_together():
    for compositions in ({"EU": "AT BE UK"}, {"EA": "AT BE", "REST": "UK"}):
        problem = one_cell_release("AT 100 secret 10 | BE 200 hidden | UK 300 secret 20", **compositions)
        assert together(problem, published(problem, *["exact"] * len(compositions))) is None


def test_a_third_composition_apart_counts_among_everything_only():
    problem = one_cell_release(
        "AT 100 secret 10 | BE 200 hidden | UK 300 secret 20", EU="AT BE", REST="UK", EA="AT"
    )
    found = together(problem, published(problem, "exact", "exact", "withheld"))
    assert found.aggregates == (0, 2)
    np.testing.assert_allclose(found.whole, [300 / 20, 0], atol=1e-9)


@pytest.mark.parametrize(
    ("most", "cells"), [(1, [0]), (2, [0, 5]), (3, [0, 2, 5]), (6, range(6)), (50, range(6))]
)
def test_of_many_primaries_an_even_sample_is_looked_at(most, cells):
    """The level of one is a million millions of another's: they are not computed in one unit."""
    countries = ("AT", "BE", "CY", "DE", "EE", "FI")
    drawn = " | ".join(f"{country} 100 secret 10" for country in countries)
    problem = one_cell_release(drawn, EU=" ".join(countries), EA="AT BE")
    level = np.where(
        countries.index("EE") * problem.space.national_size == np.arange(problem.space.size),
        1e-6,
        problem.upl,
    )
    problem = replace(problem, upl=level, lpl=level)
    found = together(problem, published(problem, "exact", "withheld"), most=most)
    assert found.cells.tolist() == list(cells)
    assert (found.whole > 0).all()


def test_what_needs_nothing_is_not_looked_at():
    problem = one_cell_release("AT 100 secret 0 | BE 200 hidden", EU="AT BE", EA="AT BE")
    assert together(problem, published(problem, "exact", "exact")).cells.tolist() == []
