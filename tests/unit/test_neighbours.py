"""Classes around one that is drawn: those that share relations with it, the nearest first."""

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.suppression.covering.neighbours import Neighbours

CHAIN = sp.csr_array(
    np.array(
        [
            [1, -1, 0, 0, 0, 0],
            [0, 1, -1, 0, 0, 0],
            [0, 0, 1, -1, 0, 0],
            [0, 0, 0, 1, -1, 0],
            [0, 0, 0, 0, 1, -1.0],
        ]
    )
)


def test_the_classes_around_one_are_the_nearest() -> None:
    for seed in range(20):
        found = np.flatnonzero(
            Neighbours(CHAIN).around(np.ones(6, dtype=bool), 3, np.random.default_rng(seed))
        )
        assert len(found) == 3
        assert (
            found[-1] - found[0] <= 3
        )  # a chain of three, or the ends of one of four whose middle was drawn


def test_only_classes_that_are_asked_for_are_found_through_the_others() -> None:
    among = np.array([True, False, False, False, False, True])
    found = Neighbours(CHAIN).around(among, 2, np.random.default_rng(0))
    assert (found == among).all()


def test_where_nothing_is_beside_it_the_class_stands_alone() -> None:
    apart = sp.csr_array(np.array([[1.0, -1, 0, 0], [0, 0, 1, -1]]))
    found = Neighbours(apart).around(np.ones(4, dtype=bool), 4, np.random.default_rng(0))
    assert found.sum() == 2
    assert not Neighbours(apart).around(np.zeros(4, dtype=bool), 4, np.random.default_rng(0)).any()
