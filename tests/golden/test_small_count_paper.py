"""The worked example of [4] §2, step by step: tables 1 to 3, equations (2) to (8)."""

from __future__ import annotations

import numpy as np
import pytest

from sdc_tasks.methods.rounding.small_count import (
    CountOptions,
    RoundedCells,
    by_formula,
    dummy_of,
    inner_cells,
    round_counts,
)
from sdc_tasks.methods.rounding.small_count.dummy import Dummy
from sdc_tasks.methods.rounding.small_count.inner import Steps, cross_product, fill
from sdc_tasks.methods.rounding.small_count.measures import simply_rounded
from sdc_tasks.methods.rounding.small_count.state import Filling
from support.dummy_matrix import matrix

BASE = 5
TABLE_1 = np.array([[6, 0, 1, 3, 4], [1, 2, 3, 1, 2], [0, 1, 1, 0, 2]])
TABLE_2 = np.array([[6, 0, 5, 0, 4], [1, 0, 0, 5, 2], [0, 5, 0, 0, 0]])
TABLE_3 = np.array([[6, 0, 1, 0, 4], [1, 0, 3, 5, 2], [0, 5, 0, 0, 0]])
SIX = [
    (2, 2),
    (3, 2),
    (3, 3),
    (1, 4),
    (2, 4),
    (3, 5),
]  # the inner cells that cause small margins, as the paper lists them
NO_EXCHANGE = Steps(final=0)


@pytest.fixture(scope="module")
def dummy() -> Dummy:
    rows, columns = np.divmod(np.arange(15, dtype=np.int32), 5)
    cells, _ = inner_cells(
        ["row", "col"],
        [(rows, ["row1", "row2", "row3"]), (columns, [f"col{j}" for j in range(1, 6)])],
        TABLE_1.ravel(),
    )
    return dummy_of(cells, by_formula(cells, "~row+col"))


def indices(places: list[tuple[int, int]]) -> np.ndarray:
    return np.array([5 * (i - 1) + j - 1 for i, j in places])


def margins(table: np.ndarray) -> list[int]:
    return [int(table.sum()), *table.sum(axis=1).tolist(), *table.sum(axis=0).tolist()]


def test_publishable_cells_are_the_total_and_the_margins(dummy: Dummy) -> None:
    names = [".".join(map(str, key)) for key in zip(*dummy.labels(np.arange(dummy.published)), strict=True)]
    assert names == [
        "TOTAL.TOTAL",
        *(f"row{i}.TOTAL" for i in range(1, 4)),
        *(f"TOTAL.col{j}" for j in range(1, 6)),
    ]
    assert dummy.z.tolist() == margins(TABLE_1) == [27, 14, 9, 4, 7, 3, 5, 4, 8]
    assert (matrix(dummy).T @ dummy.cells.y).tolist() == dummy.z.tolist()


def test_first_round(dummy: Dummy) -> None:
    """z(1) and c(1), the choice of the second cell, z(2) and c(2), the choice of the fourth."""
    state = Filling(dummy, BASE, BASE - 1, dummy.cells.y)
    small = dummy.z[state.is_sensitive(dummy.z)]
    assert sorted(small) == [3, 4, 4]
    six = indices(SIX)
    # without the columns in which all six rows are equal: the total
    rows = dummy.rows(six)[:, [1, 2]]
    state.move(six, dummy.rows(six), -dummy.cells.y[six])
    touched = np.unique(rows)
    z = dict(zip(touched.tolist(), state.lack[touched].tolist(), strict=True))
    assert [z[k] for k in (1, 2, 3)] == [3, 3, 4]
    assert [z[k] for k in (5, 6, 7, 8)] == [3, 1, 4, 2]
    c = state.gradient(rows)
    assert c.tolist() == [6, 7, 5, 7, 7, 6]
    M = cross_product(rows, BASE)
    X = matrix(dummy)[six][:, touched]
    assert np.array_equal(M, BASE * (X @ X.T).toarray())
    assert fill(c, M, 1, NO_EXCHANGE).tolist() == [False, True, False, False, False, False]
    assert (c - M[1]).tolist() == [1, -3, 0, 7, 7, 1]
    assert fill(c, M, 2, NO_EXCHANGE).tolist() == [False, True, False, True, False, False]
    assert fill(c, M, 2).tolist() == [
        False,
        True,
        False,
        True,
        False,
        False,
    ]  # the exchange of §5 finds nothing better


def test_second_round(dummy: Dummy) -> None:
    """In table 3 the third column has become small; its target is that of table 1, not of table 3."""
    state = Filling(dummy, BASE, BASE - 1, dummy.cells.y)
    moved = np.flatnonzero(TABLE_3.ravel() != TABLE_1.ravel())
    state.move(moved, dummy.rows(moved), (TABLE_3 - TABLE_1).ravel()[moved])
    now = dummy.totals(state.y)
    assert now.tolist() == margins(TABLE_3)
    assert [dummy.key(int(k)) for k in np.flatnonzero(state.is_sensitive(now))] == ["TOTAL.col3"]
    two = indices([(1, 3), (2, 3)])
    rows = dummy.rows(two)[:, [1]]  # the two rows; total and column are equal
    state.move(two, dummy.rows(two), -state.y[two])
    assert state.gradient(rows).tolist() == [4, 1]
    assert fill(state.gradient(rows), cross_product(rows, BASE), 1).tolist() == [True, False]


def rounded(dummy: Dummy, seed: int, quality: str = "paper") -> RoundedCells:
    return round_counts(dummy, CountOptions(base=BASE, seed=seed, quality=quality))  # type: ignore[arg-type]


def test_whole_algorithm_ends_in_table_2(dummy: Dummy) -> None:
    """Three cells tie at first: the seed decides, and the paper's choice is one of those that it makes."""
    found = {tuple(rounded(dummy, seed).inner.tolist()) for seed in range(30)}
    assert len(found) > 1
    assert tuple(TABLE_2.ravel().tolist()) in found


def test_results_are_no_further_than_table_2(dummy: Dummy) -> None:
    paper = np.sum((np.array(margins(TABLE_2)) - dummy.z) ** 2)
    assert all(np.sum((rounded(dummy, seed, "best").published - dummy.z) ** 2) <= paper for seed in range(10))


def test_the_simple_method_rounds_every_small_inner_cell(dummy: Dummy) -> None:
    """Over half the base to the base; of eight ones and twos, 12 of 23 in all, as many as
    bring 23 + … nearest to the total.
    """
    simple = simply_rounded(dummy, BASE, seed=1)
    assert set(simple.tolist()) <= {0, 5, 6}
    assert all(simple[k] == BASE for k in indices([(1, 4), (1, 5), (2, 3)]))
    assert int(simple.sum()) == 26  # 6 + 5 ⌊21/5⌉
