"""The provers of an attacker search beside each other: what they find is what they find one after
the other.
"""

from __future__ import annotations

import threading
from unittest.mock import patch

import numpy as np
import pytest

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.attack import Attacker, promised
from sdc_tasks.model.profiles import EXTERNAL
from support.oracles.attack import one_cell_release, published

# Levels of three sizes, so three provers for each profile.
PROBLEM = one_cell_release(
    "AT 100 secret 0.001 | BE 240 secret 20 | CY 3570000 secret 600000 | DE 500 hidden", EU="AT BE CY DE"
)
NEEDS = promised(PROBLEM, (EXTERNAL,))


def attacker() -> Attacker:
    made = Attacker(PROBLEM, NEEDS)
    made.set_publication(published(PROBLEM, "exact"))
    return made


def test_beside_each_other_is_as_one_after_the_other():
    beside, after = attacker(), attacker()
    beside.prove_all()
    for prover in after._provers:
        prover.prove_all()
    assert len(beside._provers) == 3
    assert beside.lps == after.lps > 0
    for side, reached in beside.reached().items():
        assert reached.tobytes() == after.reached()[side].tobytes()
    found, wanted = (
        [(profile, w.columns.tolist(), w.value.tolist()) for profile, w in each.witnesses()]
        for each in (beside, after)
    )
    assert found == wanted


def test_each_prover_has_a_thread_beside_those_who_wait():
    """The second prover ends only after the first one has begun, and the other way round: one
    after the other would never end.
    """
    both, met = attacker(), threading.Barrier(2, timeout=60)
    both._provers = both._provers[:2]
    with (
        patch("os.cpu_count", return_value=2),
        patch.object(type(both._provers[0]), "prove_all", lambda self, batches: met.wait()),
    ):
        both.prove_all()
    assert not met.broken


def test_a_prover_without_an_answer_ends_the_others():
    broken = attacker()
    first, *others = broken._provers
    began = threading.Event()

    def goes_on(prover) -> None:
        began.set()
        while True:  # until `stopped` ends it
            prover._count(np.zeros(len(PROBLEM.a[PROBLEM.suppressed])))

    def fails() -> None:
        began.wait(60)
        raise Unprotectable("no answer")

    def prove_all(prover, lots) -> None:
        fails() if prover is first else goes_on(prover)

    with (
        patch("os.cpu_count", return_value=2),
        patch.object(type(first), "prove_all", prove_all),
        pytest.raises(Unprotectable, match="no answer"),
    ):
        broken.prove_all()
    assert all(prover._stop.is_set() for prover in others)
