"""How the sensitive cells are split in blocks: nobody left out, nobody twice, and neighbours together."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from sdc_tasks.methods.cta.blockwise import blocks
from sdc_tasks.methods.cta.blockwise.blocks import Partitioner
from sdc_tasks.methods.cta.model import CtaProblem

KINDS = ("order", "neighbourhood", "random")


def problem_of(rows: list[list[int]], n: int, sensitive: list[int]) -> CtaProblem:
    """Each row a relation: its first cell is the total of the others."""
    A = np.zeros((len(rows), n))
    for i, (total, *parts) in enumerate(rows):
        A[i, total], A[i, parts] = -1, 1
    s = len(sensitive)
    return CtaProblem(
        unit=1.0,
        cells=np.arange(n),
        A=sp.csr_array(A),
        w=np.ones(n),
        lower=np.full(n, -9.0),
        upper=np.full(n, 9.0),
        sensitive=np.array(sensitive),
        lpl=np.ones(s),
        upl=np.ones(s),
    )


# Two countries, each a total of three cells of which two are secret, listed in turn (even cells: the first
# country), and an aggregate over all cells: every cell can be reached from every other, but the way within a
# country (4 cells) is shorter than across (9).
COUNTRIES = problem_of([[0, 2, 4, 6], [1, 3, 5, 7], [8, 0, 1, 2, 3, 4, 5, 6, 7]], 9, [2, 3, 4, 5])
FIRST, SECOND = {0, 2}, {1, 3}  # positions among the sensitive cells


def grid(side: int) -> CtaProblem:
    """Rows and columns of side × side cells with their totals; all inner cells secret."""
    cells = np.arange((side + 1) ** 2).reshape(side + 1, side + 1)
    rows = [[int(line[-1]), *line[:-1].tolist()] for table in (cells, cells.T) for line in table]
    return problem_of(rows, cells.size, cells[:side, :side].ravel().tolist())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 2, 5, 12, 36, 99])
def test_every_cell_is_in_one_block_of_about_equal_size(kind, k):
    found = Partitioner(grid(6), 1).split(kind, k)
    assert len(found) == min(k, 36)
    assert sorted(np.concatenate(found).tolist()) == list(range(36))
    assert {len(block) for block in found} <= {36 // len(found), -(-36 // len(found))}


@pytest.mark.parametrize("kind", KINDS)
def test_equal_seeds_give_equal_blocks_and_the_next_partition_is_another(kind):
    one, same = Partitioner(grid(6), 7), Partitioner(grid(6), 7)
    first, second = (
        [block.tolist() for block in one.split(kind, 4)],
        [block.tolist() for block in one.split(kind, 4)],
    )
    assert [block.tolist() for block in same.split(kind, 4)] == first
    assert first != second


def test_file_order_stays_together():
    """Up to where the count begins: each block is a run of cells, the last of all followed by the first."""
    for block in Partitioner(grid(6), 3).split("order", 5):
        assert set(np.diff(block) % 36) == {1}


def test_chance_does_not_keep_file_order():
    assert any(set(np.diff(block) % 36) != {1} for block in Partitioner(grid(6), 3).split("random", 5))


@pytest.mark.parametrize("seed", range(6))
def test_a_neighbourhood_is_a_country_where_its_relations_are_shorter_than_the_aggregate(seed):
    found = [set(block.tolist()) for block in Partitioner(COUNTRIES, seed).split("neighbourhood", 2)]
    assert found in ([FIRST, SECOND], [SECOND, FIRST])


@pytest.mark.parametrize(
    ("centres", "size", "around"),
    [([0], 2, FIRST), ([3], 2, SECOND), ([0, 1], 2, {0, 1}), ([1], 4, FIRST | SECOND)],
)
def test_around_some_cells_come_themselves_then_their_country(centres, size, around):
    assert set(Partitioner(COUNTRIES, 1).around(np.array(centres), size).tolist()) == around


def test_in_a_table_of_ordinary_size_all_deviations_are_free():
    assert Partitioner(grid(6), 1).reach(np.array([0])).all()


def test_in_a_huge_one_those_near_the_block_are(monkeypatch):
    monkeypatch.setattr(blocks, "REACH_CELLS", 4)
    near = Partitioner(COUNTRIES, 1).reach(np.array([0]))
    assert set(np.flatnonzero(near)) == {0, 2, 4, 6}


def test_and_all_of_them_where_the_block_is_all_cells(monkeypatch):
    monkeypatch.setattr(blocks, "REACH_CELLS", 1)
    assert Partitioner(COUNTRIES, 1).reach(np.arange(4)).all()
    assert (
        Partitioner(COUNTRIES, 1).reach(np.arange(2)).sum() == 5
    )  # half of the cells for half of the senses


def test_what_no_relation_reaches_comes_last():
    apart = problem_of([[0, 1, 2], [3, 4, 5]], 6, [1, 2, 4, 5])
    assert set(Partitioner(apart, 1).around(np.array([0]), 2).tolist()) == {0, 1}
    assert len(Partitioner(apart, 1).around(np.array([0]), 3)) == 3
