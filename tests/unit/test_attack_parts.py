"""Parts of a large table, and witnesses held compactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.methods.attack.blocks import around, levels, lineage, parts, table_levels
from sdc_tasks.methods.attack.witness import Witness, fewest, stacked
from sdc_tasks.model.results import Evidence
from sdc_tasks.model.secret import Secret
from sdc_tasks.model.table import Hierarchy
from support.laws import law

LAW = law(50)


@LAW
@given(
    st.integers(1, 70),
    st.integers(1, 40),
    st.integers(0, 400),
    st.booleans(),
    st.booleans(),
    st.integers(0, 99),
)
def test_parts_hold_every_column_once(countries, codes, n, dealt, along, seed):
    rng = np.random.default_rng(seed)
    area, code = rng.integers(0, countries, n), rng.integers(0, codes, n)
    depth = rng.integers(0, 4, codes) if along else None
    if n:
        found = parts(area, code, 50, dealt, depth)
        assert sorted(np.concatenate(found).tolist()) == list(range(n))
        assert all(len(part) for part in found)


@pytest.mark.parametrize(("countries", "stretches"), [(30, [30]), (31, [16, 15])])
def test_a_part_has_thirty_countries_at_most(countries, stretches):
    """Two columns of each country, in parts of thirty columns wanted: of 31 countries, the first 16 and the
    last 15.
    """
    area, code = np.arange(2 * countries) // 2, np.arange(2 * countries) % 2
    assert sorted({len(np.unique(area[part])) for part in parts(area, code, 40)}, reverse=True) == stretches


@pytest.mark.parametrize(("n", "divisions"), [(900, 0), (7_000, 1), (20_000, 3)])
def test_a_large_table_is_divided_twice_before_it_is_looked_at_as_a_whole(n, divisions):
    area, code = np.arange(n) % 90, np.arange(n) // 90
    found = levels(area, code, np.ones(223, dtype=int), np.zeros(n, dtype=int))
    assert [len(level.parts) == 1 for level in found] == [False] * divisions + [True]
    if divisions == 3:
        beside, dealt = (level.label(n) for level in found[1:3])
        assert [len(np.unique(area[label == 0])) for label in (beside, dealt)] == [30, 30]
        assert np.ptp(area[beside == 0]) == 29  # neighbours first
        assert np.ptp(area[dealt == 0]) == 87  # then every third of them


def test_stretches_end_where_branches_end():
    """Twelve codes of two columns, in three parts of eight columns: cuts after 4 and 8,
    but branches end after 5 and 7.
    """
    code = np.arange(24) // 2
    depth = np.array([0, 1, 2, 2, 2, 1, 2, 1, 2, 2, 2, 2])
    found = parts(np.zeros(24, dtype=int), code, 8, depth=depth)
    assert [np.unique(code[part]).tolist() for part in found] == [[0, 1, 2, 3, 4], [5, 6], [7, 8, 9, 10, 11]]
    level = parts(np.zeros(24, dtype=int), code, 8, depth=np.ones(12, dtype=int))
    assert [len(part) for part in level] == [8, 8, 8]


def test_a_branch_is_a_stretch():
    """A (C (E), D), B (F), in an order that lists level by level."""
    codes = ("A", "B", "C", "D", "E", "F")
    assert lineage(Hierarchy("ACTIVITY", codes, (None, None, "A", "A", "C", "B"))).tolist() == [
        0,
        4,
        1,
        3,
        2,
        5,
    ]


def test_an_attack_on_a_large_table_begins_in_its_country_in_parts_and_in_its_branch():
    """A root, a branch of codes 1 to 60, one of codes 61 to 199. A flat list has no branches."""
    area, code = np.arange(20_000) % 100, np.arange(20_000) // 100
    depth = np.full(200, 2)
    depth[[0, 1, 61]] = 0, 1, 1
    country, small, large, branch, everywhere = around(area, code, depth, np.zeros(20_000, dtype=int))
    np.testing.assert_array_equal(country, area)
    assert not everywhere.any()
    assert small.max() > large.max() > 1
    assert [np.unique(code[branch == number]).tolist() for number in np.unique(branch)] == [
        [0],
        [*range(1, 61)],
        [*range(61, 200)],
    ]
    flat = np.ones(200, dtype=int)
    assert len(around(area, code, flat, np.zeros(20_000, dtype=int))) == 4


def test_a_large_table_of_one_code_has_no_parts_but_its_countries():
    """Its second code list may be long."""
    area = np.arange(20_000) % 27
    country, _ = around(
        area, np.zeros(20_000, dtype=int), np.zeros(1, dtype=int), np.zeros(20_000, dtype=int)
    )
    np.testing.assert_array_equal(country, area)


def test_an_attack_on_a_table_that_is_not_large_knows_no_branches():
    area, code = np.arange(7_000) % 90, np.arange(7_000) // 90
    assert len(around(area, code, np.zeros(78, dtype=int), np.zeros(7_000, dtype=int))) == 3


@pytest.mark.parametrize("n", [7_000, 20_000])
def test_indicators_that_no_relation_links_are_in_no_part_together(n):
    """Every third column belongs to the second group. The last division is the whole table."""
    area, code, group = np.arange(n) % 90, np.arange(n) // 90, (np.arange(n) % 3 == 2).astype(int)
    depth = np.full(223, 2)
    depth[[0, 1, 61]] = 0, 1, 1
    divisions = [level.label(n) for level in levels(area, code, depth, group)[:-1]]
    for label in (*divisions, *around(area, code, depth, group)):
        assert all(np.ptp(group[label == number]) == 0 for number in np.unique(label))


@LAW
@given(st.lists(st.lists(st.booleans(), min_size=6, max_size=6), max_size=8))
def test_the_fewest_prove_as_much_as_all(proven):
    what = [np.array(each) for each in proven]
    chosen = fewest(what)
    everything = np.any(what, axis=0) if what else np.zeros(6, dtype=bool)
    some = np.any([what[i] for i in chosen], axis=0) if chosen else np.zeros(6, dtype=bool)
    np.testing.assert_array_equal(some, everything)


def test_greedily_by_hand():
    """The second proves most; of the rest, the first proves both; the third nothing more."""
    proven = [np.array(list(row)) == "x" for row in ("xx....", "..xxx.", "x..x..")]
    assert fewest(proven) == [0, 1]


def test_stacked_witnesses_come_back():
    z = np.array([0.0, 2.5, 0.0, -1.0, 0.0])
    found = stacked([Witness.of(z, -1, (True, False)), Witness.of(0 * z, 3, (True, True))])
    assert found.shape == (2, 4)
    np.testing.assert_array_equal(found.toarray(), [z[:4], 0 * z[:4]])
    evidence = Evidence(found, np.array([0, 0]), np.array([-1, 3]))
    salt = Secret.fresh()
    assert (
        Evidence.of(evidence.arrays).digest(salt) == evidence.digest(salt) != evidence.digest(Secret.fresh())
    )
    np.testing.assert_array_equal(Witness.of(z, -1, (True, True)).dense(5), z)


def test_beside_tables_that_are_out_each_is_searched_with_the_release_alone():
    """A year of 700 columns and its quarters of as many: an LP of a quarter does not know the other three."""
    table = np.arange(3_500) // 700
    area, code, flat = np.arange(3_500) % 7, np.arange(3_500) % 100, np.ones(100, dtype=int)
    same = np.zeros(3_500, dtype=int)
    quarters, whole = table_levels(area, code, flat, same, table)
    for number, (part, pushed) in enumerate(zip(quarters.parts, quarters.pushed, strict=True), start=1):
        assert np.array_equal(part, np.flatnonzero((table == 0) | (table == number)))
        assert np.array_equal(pushed, np.flatnonzero(table == number))
    assert whole.interior
    assert whole.pushed is None
    assert np.array_equal(whole.parts[0], np.arange(3_500))


def test_without_two_tables_that_are_out_nothing_is_searched_apart():
    area, code = np.arange(7_000) % 90, np.arange(7_000) // 90
    usual = area, code, np.ones(78, dtype=int), np.zeros(7_000, dtype=int)
    for table in (np.zeros(7_000, dtype=int), np.arange(7_000) % 2):
        assert [len(level.parts) for level in table_levels(*usual, table)] == [
            len(level.parts) for level in levels(*usual)
        ]
