"""The examples of METHOD §9 by hand: what small count rounding leaves somebody who has the
program, without and with `rule_aware`.

Tables are four inner cells, 2 × 2, with margins; base 3.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.counts_replay_run import (
    BASE,
    OFTEN,
    inner_cells_of,
    key_of_every_pattern,
    left_of,
    publications,
)
from sdc_tasks.methods.rounding.small_count import CountOptions
from sdc_tasks.methods.rounding.small_count.drawn import UNDRAWN, directions

NOTHING = (0,) * 9
DEFAULT = [CountOptions(seed, BASE) for seed in range(20)]
AWARE = key_of_every_pattern()


def test_a_two_among_zeros_is_never_printed_as_zero_and_a_one_always_is():
    for cell in range(4):
        one, two = (tuple(n if i == cell else 0 for i in range(4)) for n in (1, 2))
        assert set(publications(one, DEFAULT)) == {NOTHING}
        printed = set(publications(two, DEFAULT))
        assert len(printed) == 1
        assert NOTHING not in printed
        assert max(*printed.pop()) == BASE


def test_a_key_prints_zero_one_and_two_as_zero_and_one_two_and_three_as_three():
    """A table of zeros leaves 0, 1 and 2 to each inner cell; a 3 among zeros leaves 1, 2 and 3."""
    three = next(iter(publications((BASE, 0, 0, 0), AWARE[:1])))
    assert three.count(BASE) == 4, "the cell, its row, its column, and the total"
    for n in (0, 1, 2):
        assert NOTHING in set(publications((n, 0, 0, 0), AWARE))
    for n in (1, 2, 3):
        assert three in set(publications((n, 0, 0, 0), AWARE))


def test_margins_alone_tell_a_count_that_was_not_rounded_and_with_the_rule_none_is_left():
    """1 and 1 in a row, 2 and 2 in the other: no margin is small, so nothing is rounded,
    and an inner count stays as it is.
    """
    plain = set(publications((1, 2, 2, 1), DEFAULT, margins=True))
    assert plain == {(6, 3, 3, 3, 3)}
    assert all(n % BASE == 0 for each in publications((1, 2, 2, 1), AWARE, margins=True) for n in each)


@pytest.mark.exhaustive
@pytest.mark.parametrize("margins", [False, True])
def test_every_hidden_count_of_every_table_keeps_as_many_candidates_as_the_base(margins):
    assert left_of(3, DEFAULT, margins).few > 0
    aware = left_of(3, AWARE, margins)
    assert (aware.few, aware.least) == (0, BASE)


def test_two_versions_with_one_key_would_leave_two_candidates():
    """A 1 about which the key says nothing is printed as 0, and as 3 beside another 1: 0 and 3
    would have stayed, so it is 1 or 2.
    """
    cells = inner_cells_of((1, 1, 0, 0))
    free = [
        each
        for each in AWARE
        if (directions(cells, np.ones(4, dtype=bool), BASE, OFTEN, each.seed)[:2] == UNDRAWN).all()
    ]
    first = [next(iter(publications((1, 0, 0, 0), [each]))) for each in free]
    second = [next(iter(publications((1, 1, 0, 0), [each]))) for each in free]
    assert set(first) == {NOTHING}
    cell = _of_cell_0()
    assert BASE in {printed[cell] for printed in second}
    for n in (0, BASE):
        assert {printed[cell] for printed in publications((n, 1, 0, 0), free)} == {n}


def _of_cell_0() -> int:
    """Where the inner cell stands among the nine."""
    alone = np.array(next(iter(publications((5, 0, 0, 0), AWARE[:1]))))
    beside = np.array(next(iter(publications((5, 5, 5, 5), AWARE[:1]))))
    return int(np.flatnonzero((alone == 5) & (beside == 5))[0])
