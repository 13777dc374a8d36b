"""Cells and relations: sizes of the paper's shape, keys, and the equations written down a second time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.domains import load_domain
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy
from support.laws import law
from support.oracles.attack import all_keys, leaf_count, relation_rows, spaces, table_of

FEW = law(40)

# Two compositions that share AT; activities in three levels; two size classes.
SMALL = CellSpace(
    ("AT", "BE", "UK"),
    (Aggregate("EU28", ("AT", "BE", "UK")), Aggregate("EU27", ("AT", "BE"))),
    ("TURNOVER",),
    (
        Hierarchy("ACTIVITY", ("TOTAL", "C", "C10", "C11", "D"), (None, "TOTAL", "C", "C", "TOTAL")),
        Hierarchy("SIZECLASS", ("_T", "S", "L"), (None, "_T", "_T")),
    ),
)


def rows_of(space: CellSpace) -> set[tuple[int, tuple[int, ...]]]:
    """(total, parts) of every row of M, after making sure that it holds −1 once and +1 elsewhere."""
    M = space.relations
    found = set()
    for i in range(M.shape[0]):
        at = slice(M.indptr[i], M.indptr[i + 1])
        cells, signs = M.indices[at], M.data[at]
        assert sorted(signs)[:2] == [-1, 1]
        assert set(signs[signs > 0]) == {1}
        (total,) = cells[signs < 0]
        found.add((int(total), tuple(sorted(cells[signs > 0].tolist()))))
    assert len(found) == M.shape[0], "the same relation twice"
    return found


def test_the_shape_of_the_paper():
    """[1] §1: 20 160 cells and 8 280 relations: 28 areas × 120 activities × 6 size classes."""
    space = load_domain("sbs").space
    assert space.size == 28 * 120 * 6 == 20160
    # in each area 25 activity totals × 6 classes and 120 activities × 1 class total; then
    # 120 × 6 cells of the aggregate
    assert space.relations.shape == (28 * (25 * 6 + 120) + 120 * 6, 20160) == (8280, 20160)


def test_a_cell_space_counts_and_names_its_cells():
    assert SMALL.size == 5 * 15
    assert SMALL.national_shape == (1, 5, 3)
    assert SMALL.areas == ("AT", "BE", "UK", "EU28", "EU27")
    assert SMALL.key(0) == "AT.TURNOVER.TOTAL._T"
    assert SMALL.key(15 + 2 * 3 + 1) == "BE.TURNOVER.C10.S"
    assert SMALL.key(SMALL.size - 1) == "EU27.TURNOVER.D.L"
    assert SMALL.key(2 * SMALL.national_size) == "UK.TURNOVER.TOTAL._T"


def test_some_relations_by_name():
    named = {(SMALL.key(total), tuple(SMALL.key(part) for part in parts)) for total, parts in rows_of(SMALL)}
    assert ("BE.TURNOVER.C.S", ("BE.TURNOVER.C10.S", "BE.TURNOVER.C11.S")) in named
    assert ("EU28.TURNOVER.TOTAL._T", ("EU28.TURNOVER.TOTAL.S", "EU28.TURNOVER.TOTAL.L")) in named
    assert ("EU27.TURNOVER.D._T", ("AT.TURNOVER.D._T", "BE.TURNOVER.D._T")) in named
    assert len(named) == 5 * (2 * 3 + 5) + 2 * 15


@FEW
@given(spaces())
def test_the_relations_are_those_of_the_oracle(space):
    assert rows_of(space) == {(total, tuple(sorted(parts))) for total, parts in relation_rows(space)}
    assert [space.key(cell) for cell in range(space.size)] == [".".join(key) for key in all_keys(space)]


@FEW
@given(spaces(), st.integers(0, 2**32 - 1))
def test_a_table_added_up_from_its_leaves_satisfies_every_relation(space, seed):
    a = table_of(space, np.random.default_rng(seed).integers(-1000, 1000, leaf_count(space)))
    assert not (space.relations @ a).any()


@FEW
@given(spaces(), st.integers(0, 2**32 - 1))
def test_a_change_of_any_single_cell_breaks_a_relation(space, seed):
    """Every cell stands in some relation, because every national cell has an aggregate above it."""
    rng = np.random.default_rng(seed)
    a = table_of(space, rng.integers(-1000, 1000, leaf_count(space)))
    a[rng.integers(space.size)] += 1
    assert (space.relations @ a).any()


def test_without_aggregates_a_space_has_only_national_relations():
    space = CellSpace(("AT", "BE"), (), ("TURNOVER",), SMALL.hierarchies)
    assert space.relations.shape == (2 * 11, 30)


@pytest.mark.parametrize(
    ("codes", "parent", "says"),
    [
        (("T", "A", "A"), (None, "T", "T"), "repeated"),
        (("T", "A"), (None, "X"), "'X'"),
        (("A", "B"), ("B", "A"), "cycle"),
        (("A",), ("A",), "cycle"),
        (("T", "A"), (None,), "2 codes but 1 parents"),
    ],
)
def test_an_impossible_hierarchy_is_refused(codes, parent, says):
    with pytest.raises(ValueError, match=says):
        Hierarchy("ACTIVITY", codes, parent)


def test_a_composition_without_members_is_refused():
    with pytest.raises(ValueError, match="EU has no members"):
        Aggregate("EU", ())
