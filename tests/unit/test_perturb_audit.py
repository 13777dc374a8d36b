"""What perturbed counts tell: both engines against the enumeration of every true table."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

import sdc_tasks as sdc
from sdc_tasks.api.perturbing import PerturbAudit
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.counts import counts_of
from sdc_tasks.intake.tables.rows import rows_of
from sdc_tasks.methods.perturb.audit import narrowed, origin_bounds
from sdc_tasks.methods.perturb.design import NoiseDesign, design_table
from sdc_tasks.methods.perturb.exact import Looks, additive_cells, possible_values
from sdc_tasks.methods.perturb.grid import HIDDEN, PublishedGrid, grid_of
from sdc_tasks.methods.perturb.ptable import NoiseRow, PerturbationTable
from sdc_tasks.methods.rounding.small_count import CodeTree, by_hierarchies, by_list, dummy_of

SMALL = design_table(NoiseDesign(2, 0.9)).table
NO_ONES = design_table(NoiseDesign(2, 1.2, 1)).table
LARGEST = 6  # inner count that the enumeration tries


def grid_in(
    inner: pd.DataFrame, dims: list[str], table: PerturbationTable, seed: int, crossings=None, tree=None
):  # type: ignore[no-untyped-def]
    """A grid that was really published: keys are drawn, each set of records has one."""
    cells = counts_of(rows_of(inner), dims, "N").cells
    publication = by_list(cells, crossings) if crossings else by_hierarchies(cells, tree or {})
    dummy = dummy_of(cells, publication)
    chance = np.random.default_rng(seed)
    keys = chance.integers(0, 10**9, len(cells)).astype(np.uint64) * (cells.y > 0)
    sums = np.array(dummy.totals(keys.astype(np.int64)), dtype=np.uint64)
    places = np.array([np.random.default_rng(int(k) + 1).integers(0, 10**6) for k in sums], dtype=np.uint64)
    published = dummy.z + table.noise(dummy.z, places, 10**6)
    return grid_of(dummy, published), dummy


def enumerated(grid: PublishedGrid, table: PerturbationTable) -> list[set[int]]:
    """Every true table with inner counts up to LARGEST that can have been published as the grid."""
    cells = additive_cells(grid)
    origins = [set(table.origins(y).tolist()) if y != HIDDEN else None for y in cells.published]
    found: list[set[int]] = [set() for _ in cells.published]
    ranges = [
        # a hidden cell is in one of A:B, which has 2 at most
        [0, 1, 2] if (own := origins[i]) is None else [n for n in range(LARGEST + 1) if n in own]
        for i in cells.inner
    ]
    for inner in product(*ranges):
        value = dict(zip(cells.inner, inner, strict=True))
        counts = [sum(value[i] for i in members) for members in cells.members]
        if any(own is not None and count not in own for own, count in zip(origins, counts, strict=True)):
            continue
        alike: dict[frozenset[int], set[int]] = {}
        for members, y in zip(cells.members, cells.published, strict=True):
            if y != HIDDEN and (records := frozenset(i for i in members if value[i])):
                alike.setdefault(records, set()).add(y)
        if all(len(told) == 1 for told in alike.values()):
            for own, count in zip(found, counts, strict=True):
                own.add(count)
    return found


def frame(counts: list[list[int]]) -> pd.DataFrame:
    rows = [(f"r{i}", f"c{j}", n) for i, row in enumerate(counts) for j, n in enumerate(row)]
    return pd.DataFrame(rows, columns=["R", "C", "N"])


TABLES = {
    "two by two": [[1, 0], [2, 1]],
    "an empty row": [[0, 0], [1, 2]],
    "two by three": [[1, 0, 2], [0, 1, 0]],
    "three by two": [[1, 1], [0, 2], [1, 0]],
}


@pytest.mark.parametrize("noise", [SMALL, NO_ONES], ids=["D 2", "D 2, js 1"])
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("seed", range(6))
def test_both_engines_against_every_true_table(name, noise, seed):
    """The exact one finds the same sets; the bounds are never inside of them."""
    grid, _ = grid_in(frame(TABLES[name]), ["R", "C"], noise, seed)
    told = enumerated(grid, noise)
    bounds = narrowed(grid, noise)
    exact = possible_values(bounds, noise)
    assert not exact.undecided
    for cell, own in enumerate(told):
        # counts above LARGEST are out of the enumeration's reach, and only they
        assert {n for n in exact.counts[cell] if n <= LARGEST} >= {n for n in own if n <= LARGEST}
        assert bounds.low[cell] <= min(own)
        assert bounds.high[cell] >= max(own)
    top = max(max(own) for own in told)
    inner = additive_cells(grid).inner
    if all(max(exact.counts[i]) <= LARGEST for i in inner):
        assert [set(own) for own in exact.counts] == told, top


def test_most_of_these_tables_are_within_reach_of_the_enumeration():
    """Else the equality above would be asked of none."""
    asked = 0
    for name, noise, seed in product(TABLES, (SMALL, NO_ONES), range(6)):
        grid, _ = grid_in(frame(TABLES[name]), ["R", "C"], noise, seed)
        exact = possible_values(narrowed(grid, noise), noise)
        asked += all(max(exact.counts[i]) <= LARGEST for i in additive_cells(grid).inner)
    assert asked > 40


@pytest.mark.parametrize("seed", range(4))
def test_crossings_without_a_common_refinement(seed):
    """A:B and B:C are published, A:B:C is not: its cells are whole numbers all the same."""
    inner = pd.DataFrame(
        [
            (a, b, c, n)
            for (a, b, c), n in zip(product("xy", "uv", "pq"), [1, 0, 1, 1, 0, 1, 0, 2], strict=True)
        ],
        columns=["A", "B", "C", "N"],
    )
    grid, _ = grid_in(inner, ["A", "B", "C"], NoNoise, seed, crossings=[["A", "B"], ["B", "C"]])
    assert (grid.published == HIDDEN).sum() == 8
    exact = possible_values(narrowed(grid, NoNoise), NoNoise)
    told = enumerated(grid, NoNoise)
    shown = [c for c, y in enumerate(grid.published) if y != HIDDEN]
    assert [set(exact.counts[c]) for c in shown] == [told[c] for c in shown]
    assert all(len(exact.counts[c]) == 1 for c in shown)


@pytest.mark.parametrize("crossings", [[["A"], ["B", "C"]], [["A"], ["B"], ["C"]]])
@pytest.mark.parametrize("seed", range(3))
def test_crossings_that_nothing_published_joins(crossings, seed):
    """A is published, and no table with A and another dimension: two steps above the inner cells."""
    inner = pd.DataFrame(
        [(a, b, c, 1) for a, b, c in [("x", "u", "p"), ("y", "v", "q"), ("y", "u", "p")]],
        columns=["A", "B", "C", "N"],
    )
    grid, _ = grid_in(inner, ["A", "B", "C"], NoNoise, seed, crossings=crossings)
    bounds = narrowed(grid, NoNoise)
    cells = additive_cells(grid)
    assert len(cells.inner) == 8
    assert all(len(cells.members[c]) == 8 // grid.blocks[b].size for b, c in shown_cells(grid))
    exact, told = possible_values(bounds, NoNoise), enumerated(grid, NoNoise)
    assert [set(exact.counts[c]) for _, c in shown_cells(grid)] == [told[c] for _, c in shown_cells(grid)]


def shown_cells(grid: PublishedGrid) -> list[tuple[int, int]]:
    """Block and number of each published cell."""
    return [
        (b, c)
        for b, block in enumerate(grid.blocks)
        if grid.shows(b)
        for c in range(block.cells.start, block.cells.stop)
    ]


@pytest.mark.parametrize("seed", range(6))
def test_a_code_with_one_code_below_it_is_the_same_cell(seed):
    """M over m and F over f, A over a beside b: levels with as many codes as those below."""
    inner = pd.DataFrame(
        [(s, a, n) for (s, a), n in zip(product("mf", "ab"), [1, 0, 2, 1], strict=True)],
        columns=["S", "A", "N"],
    )
    sexes = CodeTree("sexes", (("m", "M"), ("f", "F"), ("M", "ALL"), ("F", "ALL")))
    ages = CodeTree("ages", (("a", "A"), ("A", "ALL"), ("b", "ALL")))
    grid, _ = grid_in(inner, ["S", "A"], SMALL, seed, tree={"S": sexes, "A": ages})
    cells = additive_cells(grid)
    assert len(grid.published) == 5 * 4
    assert len(cells.inner) == 4
    bounds = narrowed(grid, SMALL)
    exact, told = possible_values(bounds, SMALL), enumerated(grid, SMALL)
    for cell, own in enumerate(told):
        assert {n for n in exact.counts[cell] if n <= LARGEST} >= {n for n in own if n <= LARGEST}
        assert bounds.low[cell] <= min(exact.counts[cell])
        assert bounds.high[cell] >= max(exact.counts[cell])
    for one, other in combinations(range(len(cells.members)), 2):
        if cells.members[one] == cells.members[other]:
            assert exact.counts[one] == exact.counts[other]


NoNoise = PerturbationTable((NoiseRow.likely([0], [1.0]), NoiseRow.likely([0], [1.0])))


@pytest.mark.parametrize("seed", range(6))
def test_a_hierarchy_tells_more(seed):
    """Codes a1, a2 below A, b below none: three levels of one dimension, one of another."""
    inner = pd.DataFrame(
        [(r, c, n) for (r, c), n in zip(product(["a1", "a2", "b"], "xy"), [1, 0, 2, 1, 0, 1], strict=True)],
        columns=["R", "C", "N"],
    )
    tree = CodeTree("codes", (("a1", "A"), ("a2", "A"), ("A", "ALL"), ("b", "ALL")))
    grid, _ = grid_in(inner, ["R", "C"], SMALL, seed, tree={"R": tree})
    assert any(edge.codes is not None for edge in grid.edges)
    bounds = narrowed(grid, SMALL)
    exact, told = possible_values(bounds, SMALL), enumerated(grid, SMALL)
    for cell, own in enumerate(told):
        assert set(exact.counts[cell]) >= own
        assert bounds.low[cell] <= min(exact.counts[cell])
        assert bounds.high[cell] >= max(exact.counts[cell])
    if all(max(exact.counts[i]) <= LARGEST for i in additive_cells(grid).inner):
        assert [set(own) for own in exact.counts] == told


def published_as(grid_values: list[list[int]]) -> PublishedGrid:
    """A grid of two dimensions whose last row and column are totals."""
    rows = len(grid_values) - 1
    columns = len(grid_values[0]) - 1
    cells = counts_of(rows_of(frame([[1] * columns] * rows)), ["R", "C"], "N").cells
    dummy = dummy_of(cells, by_hierarchies(cells, {}))
    labels = zip(*(each.tolist() for each in dummy.labels(np.arange(dummy.published))), strict=True)
    place = {"TOTAL": -1}
    values = [
        grid_values[place.get(r, int(r[1:]) if r != "TOTAL" else -1)][
            place.get(c, int(c[1:]) if c != "TOTAL" else -1)
        ]
        for r, c in labels
    ]
    return grid_of(dummy, np.array(values))


def test_a_table_that_tells_a_count():
    """D 2, no js. A row 0 + 0 whose total is published as 4: it has 2 people at least, and each part 2 at
    most; so in any case its parts are 2 + 0, 1 + 1, …; with a total of 6 both are 2.

          c0  c1 | total
    r0     0   0 |  6
    r1     5   7 | 12
    -------------+------
           5   7 | 12
    """
    grid = published_as([[0, 0, 6], [5, 7, 12], [5, 7, 12]])
    exact = possible_values(narrowed(grid, SMALL), SMALL)
    bounds = narrowed(grid, SMALL)
    inner = additive_cells(grid).inner
    assert [exact.counts[i] for i in inner[:2]] == [(2,), (2,)]
    assert bounds.told[list(inner[:2])].all()
    assert bounds.told_as(2)[list(inner[:2])].all()


def test_the_same_people_are_told_by_the_same_noise():
    """A row is published as its first part but for one: so somebody is in its second, though that is
    published as 0. Without the rule it may be empty.

          c0  c1 | total
    r0     9   0 | 10
    """
    grid = published_as([[9, 0, 10], [9, 0, 10]])
    exact = possible_values(narrowed(grid, SMALL), SMALL)
    inner = additive_cells(grid).inner
    assert exact.counts[inner[1]] == (1, 2)
    same = possible_values(narrowed(published_as([[9, 0, 9], [9, 0, 9]]), SMALL), SMALL)
    assert same.counts[inner[1]] == (0, 1, 2)


def test_origins_beyond_the_last_row_are_those_of_its_turn():
    low, high = origin_bounds(SMALL, np.array([0, 1, 50, 10_000]))
    assert low.tolist() == [0, 1, 48, 9998]
    assert high.tolist() == [2, 3, 52, 10_002]
    for y in (0, 1, 2, 3, 17, 400):
        assert SMALL.origins(y)[[0, -1]].tolist() == [each[0] for each in origin_bounds(SMALL, np.array([y]))]
    with pytest.raises(ValueError, match="publishes of no count"):
        origin_bounds(NO_ONES, np.array([1]))


def test_a_grid_that_no_true_table_has_is_refused():
    with pytest.raises(ValueError, match="no true table"):
        narrowed(published_as([[0, 0, 30], [5, 7, 12], [5, 7, 12]]), SMALL)


@pytest.mark.parametrize("work", [1, 5, 20])
@pytest.mark.parametrize("seed", range(6))
def test_work_that_runs_out_leaves_a_count_possible(seed, work):
    """A cell that is decided has the same counts; any other has more, and all within the bounds."""
    counts = np.random.default_rng(seed).poisson(1, (3, 4)).tolist()
    grid, _ = grid_in(frame(counts), ["R", "C"], SMALL, seed)
    bounds = narrowed(grid, SMALL)
    short, whole = possible_values(bounds, SMALL, work), possible_values(bounds, SMALL)
    assert short.undecided
    assert not whole.undecided
    for cell, (own, all_of) in enumerate(zip(short.counts, whole.counts, strict=True)):
        assert set(own) >= set(all_of)
        assert cell in short.undecided or own == all_of
        assert bounds.low[cell] <= own[0] <= own[-1] <= bounds.high[cell]


def test_work_decides_some_cells_before_others():
    """Else the equality above would be asked of none."""
    grid, _ = grid_in(frame(TABLES["two by three"]), ["R", "C"], SMALL, 1)
    bounds = narrowed(grid, SMALL)
    open_cells = [len(possible_values(bounds, SMALL, work).undecided) for work in (1, 20, 60, 1000)]
    assert open_cells == sorted(open_cells, reverse=True)
    assert any(0 < many < len(grid.published) for many in open_cells)
    assert open_cells[-1] == 0


def test_no_more_work_is_done_than_was_asked_for(monkeypatch):
    """Of walks and searches together, but for what one of them does before it looks again."""
    made = []

    class Counted(Looks):
        def __init__(self, most):
            super().__init__(most)
            made.append(self)

    monkeypatch.setattr("sdc_tasks.methods.perturb.exact.Looks", Counted)
    grid, _ = grid_in(frame([[1, 0, 2, 1], [0, 3, 1, 0], [2, 1, 0, 1]]), ["R", "C"], SMALL, 2)
    assert possible_values(narrowed(grid, SMALL), SMALL, 60).undecided
    assert made[0].most <= made[0].done <= made[0].most + 100
    assert sum(one.done for one in made[1:]) <= made[0].done


# --- of a result --------------------------------------------------------------------------------------------

SECRET = "5e" * 31 + "01"


def found(n: int = 40) -> sdc.api.PerturbResult:
    chance = np.random.default_rng(3)
    of = pd.DataFrame(
        {
            "ID": range(n),
            "AGE": chance.choice(["0", "15", "65"], n, p=[0.1, 0.8, 0.1]),
            "SEX": chance.choice(["f", "m"], n),
        }
    )
    return sdc.perturb(of, ["AGE", "SEX"], NoiseDesign(3, 1.5, 1), secret=SECRET, record="ID")


def test_the_audit_of_a_result_never_excludes_the_truth():
    result = found()
    told = result.audit()
    truth = {tuple(row[:2]): row[2] for row in result.table.itertuples(index=False)}
    table = told.table
    assert len(table) == 4 * 3
    for age, sex, _, low, high, choices, exact in table.itertuples(index=False):
        assert low <= truth.get((age, sex), 0) <= high
        assert 1 <= choices <= high - low + 1
        assert exact
    assert told.facts["enumerated"] is True
    assert told.facts["judged_exactly"] == len(table)
    assert told.judged == "exact for 12 of 12 cells"
    assert told.facts["told_exactly"] == int((table["CHOICES"] == 1).sum())


def test_a_large_audit_takes_bounds_alone_and_says_so():
    told = found().audit(enumerate_counts=False)
    assert told.facts["enumerated"] is False
    assert told.judged == "exact for 0 of 12 cells, bounds for the others"
    assert not told.table["EXACT"].any()
    assert (told.table["CHOICES"] == told.table["HIGH"] - told.table["LOW"] + 1).all()


def test_what_a_notebook_shows_of_an_audit_are_numbers_of_cells():
    shown = repr(found().audit())
    assert "told exactly" in shown
    assert "exact for 12 of 12 cells" in shown


def test_an_audit_says_of_which_cells_it_has_bounds_alone():
    result = found()
    bounds = result.audit(enumerate_counts=False).bounds
    exact = possible_values(bounds, result.ptable, work=40)
    audit = PerturbAudit(result.perturbed.dummy, bounds, exact)
    table, whole = audit.table, result.audit().table
    assert 0 < len(exact.undecided) < len(table)
    assert np.flatnonzero(~table["EXACT"]).tolist() == sorted(exact.undecided)
    assert audit.judged == f"exact for {12 - len(exact.undecided)} of 12 cells, bounds for the others"
    same = table["EXACT"]
    pd.testing.assert_frame_equal(table[same], whole[same])


def test_a_publication_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr("sdc_tasks.methods.perturb.grid.MOST_CELLS", 5)
    with pytest.raises(InvalidInput, match=r"more than 5 cells.*Remedy"):
        found().audit()
