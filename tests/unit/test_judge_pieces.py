"""The judge knows the pieces of earlier releases by number; a number without a piece is no attacker."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from sdc_tasks.judge.release.world import known_prior_rows
from sdc_tasks.model.problem import Earlier

TWO_VERSIONS = SimpleNamespace(
    earlier=Earlier(
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
