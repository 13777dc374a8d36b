"""What the judge takes an attacker to know: pieces of earlier releases by number, where a number without a
piece is no attacker; and intervals, each with the truth in it.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from sdc_tasks.judge.release.polyhedron import known_prior_rows, polyhedron_of
from sdc_tasks.model.problem import PriorReleases
from sdc_tasks.model.results import Publication
from support.hidden_tables import drawn

TWO_VERSIONS = SimpleNamespace(
    earlier=PriorReleases(
        rows=sp.csr_array(np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])),
        row_lower=np.zeros(3),
        row_upper=np.ones(3),
        rounded=np.zeros(3, dtype=bool),
        assumed=np.array([False, False, True]),
        pieces=("version 1", "version 2"),
        told_by=np.array([[True, False], [True, True], [True, True]]),
    )
)


@pytest.mark.parametrize(("lacks", "rows"), [((), [0, 1, 2]), ((0,), [1]), ((1,), [0, 1])])
def test_a_row_is_known_by_any_piece_that_tells_it_and_assumed_by_all(lacks, rows):
    assert known_prior_rows(TWO_VERSIONS, "revision", lacks).tolist() == rows


def test_a_piece_that_no_earlier_release_has_is_refused():
    with pytest.raises(ValueError, match="a piece that no earlier release has"):
        known_prior_rows(TWO_VERSIONS, "revision", (2,))


@pytest.mark.parametrize(
    ("beside", "ends"),
    [(0.0, (-1.0, 1.0)), (0.5, (-0.5, 1.5)), (1.25, (0.0, 2.0)), (-1.25, (-2.0, 0.0)), (9.0, (0.0, 2.0))],
)
def test_an_interval_without_the_truth_is_moved_to_it(beside: float, ends: tuple[float, float]) -> None:
    """Its base is 2. What its reader knows is as much, and it does not contradict the deliveries."""
    problem = drawn(0)
    cells = np.flatnonzero(problem.aggregate)
    publication = Publication(cells, problem.a[cells] + beside, np.full(len(cells), 2.0))
    world = polyhedron_of(problem, publication, "external")
    np.testing.assert_allclose(world.low[-len(cells) :], ends[0], atol=1e-9)
    np.testing.assert_allclose(world.high[-len(cells) :], ends[1], atol=1e-9)
