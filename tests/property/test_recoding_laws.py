"""Recoding against enumeration: every set of closed codes and groups is tried, with tables built
from their inner cells by name.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.recoding.codes import CodeGroup
from sdc_tasks.methods.recoding.plan import Recodable, Recoding
from sdc_tasks.model.table import Hierarchy, added_up, inside
from support.laws import law

DEEP = Hierarchy("D", ("T", "A", "B", "A1", "A2", "A3"), (None, "T", "T", "A", "A", "A"))
FLAT = Hierarchy("F", ("S", "x", "y", "z"), (None, "S", "S", "S"))
GROUPS = (CodeGroup("D", "A12", ("A1", "A2")), CodeGroup("F", "yz", ("y", "z")))
SHOWN = {  # what is there, by what is closed: worked by hand
    "D": {
        (): ("T", "A", "B", "A1", "A2", "A3"),
        ("A12",): ("T", "A", "B", "A12", "A3"),
        ("A",): ("T", "A", "B"),
        ("T",): ("T",),
    },
    "F": {(): ("S", "x", "y", "z"), ("yz",): ("S", "x", "yz"), ("S",): ("S",)},
}
MEMBERS = {
    "T": {"B", "A1", "A2", "A3"},
    "A": {"A1", "A2", "A3"},
    "A12": {"A1", "A2"},
    "S": {"x", "y", "z"},
    "yz": {"y", "z"},
}


@st.composite
def counted(draw: st.DrawFn) -> Recodable:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (len(DEEP.codes), len(FLAT.codes))
    inner = rng.integers(0, draw(st.sampled_from([4, 12])), size=shape) * (rng.random(shape) > 0.2)
    a = added_up(np.where(inside((DEEP, FLAT)), inner, 0).astype(float), (DEEP, FLAT)).ravel()
    return Recodable((DEEP, FLAT), a, np.zeros(len(a), dtype=bool), np.zeros((3, len(a))), a)


def cells(table: Recodable) -> dict[tuple[str, str], float]:
    return dict(zip(product(*(axis.codes for axis in table.axes)), table.a.tolist(), strict=True))


def by_hand(
    table: Recodable, rows: tuple[str, ...], columns: tuple[str, ...]
) -> dict[tuple[str, str], float]:
    """The table of these codes, each cell the sum of the inner cells below it."""
    inner = cells(table)
    return {
        (row, column): sum(
            inner[i, j] for i, j in product(MEMBERS.get(row, {row}), MEMBERS.get(column, {column}))
        )
        for row, column in product(rows, columns)
    }


@given(counted(), st.integers(0, 3))
@law(40)
def test_no_set_of_collapses_loses_less(table: Recodable, most: int) -> None:
    kept = []
    for rows, columns in product(SHOWN["D"].values(), SHOWN["F"].values()):
        found = by_hand(table, rows, columns)
        if sum(0 < each < 3 for each in found.values()) <= most:
            kept.append(sum(each != 0 for each in found.values()))
    try:
        done = Recoding(table, GROUPS, least=3).cheapest(most)
    except Unprotectable:
        assert kept == []
        return
    assert done.proven
    assert done.primaries <= most
    assert int((done.table.a != 0).sum()) == max(kept)
    assert done.lost == int((table.a != 0).sum()) - max(kept)
    assert cells(done.table) == by_hand(table, done.table.axes[0].codes, done.table.axes[1].codes)


@given(counted())
@law(10)
def test_every_plan_gives_the_table_of_its_codes(table: Recodable) -> None:
    recoding = Recoding(table, GROUPS, least=3)
    for closed in (mine for size in range(4) for mine in combinations(("T", "A", "A12", "S", "yz"), size)):
        done = recoding.applied([np.isin(nodes.names, closed) for nodes in recoding.nodes])
        rows, columns = (axis.codes for axis in done.table.axes)
        assert set(rows) in [set(each) for each in SHOWN["D"].values()]
        assert set(columns) in [set(each) for each in SHOWN["F"].values()]
        assert cells(done.table) == by_hand(table, rows, columns)


@given(counted(), st.integers(0, 2**32 - 1))
@law(10)
def test_a_group_that_holds_a_primary_is_primary_unless_somebody_judges_it_anew(
    table: Recodable, seed: int
) -> None:
    primary = (np.random.default_rng(seed).random(len(table.a)) < 0.3) & (table.a != 0)
    marked = Recodable(table.axes, table.a, primary, np.where(primary, np.ones((3, len(table.a))), 0.0))
    recoding = Recoding(marked, GROUPS)
    done = recoding.applied([nodes.group for nodes in recoding.nodes])
    before = dict(zip(product(*(axis.codes for axis in table.axes)), primary.tolist(), strict=True))
    after = zip(
        product(*(axis.codes for axis in done.table.axes)),
        done.table.primary,
        done.table.levels[0],
        strict=True,
    )
    for (row, column), now, level in after:
        of = [
            before[i, j]
            for i, j in product(
                {"A12": ("A1", "A2")}.get(row, (row,)), {"yz": ("y", "z")}.get(column, (column,))
            )
        ]
        assert (now, level) == (any(of), sum(of))
