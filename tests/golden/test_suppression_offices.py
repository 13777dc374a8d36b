"""The methods that offices know, worked by hand: what each hides, and where it falls short alone
([2] §4.3, Figures 11, 14, 15).
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput
from sdc_tasks.judge.pattern import verify
from sdc_tasks.methods.suppression.classical import hitas
from sdc_tasks.methods.suppression.classical.hypercube import corners
from sdc_tasks.methods.suppression.engine import PatternOptions, suppress
from sdc_tasks.methods.suppression.pattern.run import SuppressionRun
from sdc_tasks.model.grid import grid_of, recognised
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import CellSpace, Hierarchy, added_up
from support.oracles.suppression import unprotected

FLAT = {"T": None, "1": "T", "2": "T", "3": "T"}
GRID = [[20, 24, 28], [38, 38, 40], [40, 39, 42]]  # Figure 11


def crossed(
    trees: list[dict[str, str | None]], inner: np.ndarray
) -> tuple[tuple[Hierarchy, ...], sp.csr_array, np.ndarray]:
    """Axes, relations and values of a table; `inner` has an entry for each code, those of totals do not
    matter.
    """
    axes = tuple(Hierarchy(str(k), tuple(tree), tuple(tree.values())) for k, tree in enumerate(trees))
    return axes, CellSpace(("here",), (), ("a",), axes).national_relations, added_up(inner, axes).ravel()


def drawn(
    trees: list[dict[str, str | None]],
    inner: np.ndarray,
    levels: dict[tuple[int, ...], float],
    stays: tuple[tuple[int, ...], ...] = (),
) -> SensitiveTable:
    """`levels`: lpl = upl of each primary, by its position."""
    axes, M, a = crossed(trees, inner)
    shape = tuple(len(axis.codes) for axis in axes)
    level, fixed = np.zeros(shape), np.zeros(shape, dtype=bool)
    for place, asked in levels.items():
        level[place] = asked
    for place in stays:
        fixed[place] = True
    none = np.zeros(a.size)
    return SensitiveTable(
        M,
        a,
        none,
        none + 1000,
        level.ravel(),
        level.ravel(),
        none,
        cost=a,
        primary=level.ravel() > 0,
        fixed=fixed.ravel(),
        grid=grid_of(axes),
    )


def paper(levels: dict[tuple[int, ...], float], margins_stay: bool = False) -> SensitiveTable:
    """The table of Figure 11; positions count from 1, as the paper does, and 0 is the total."""
    inner = np.zeros((4, 4))
    inner[1:, 1:] = GRID
    margins = tuple((i, j) for i in range(4) for j in range(4) if i * j == 0) if margins_stay else ()
    return drawn([FLAT, FLAT], inner, levels, margins)


def hidden(problem: SensitiveTable, pattern: np.ndarray | None) -> set[tuple[int, ...]]:
    assert pattern is not None
    assert problem.grid is not None
    return {tuple(map(int, place)) for place in np.argwhere(pattern.reshape(problem.grid.sizes))}


def test_hypercube_takes_the_cheapest_rectangle_that_is_wide_enough():
    """At (2,3), level 10, the corners (1,1) (1,3) (2,1) cost 86; by 28 up nothing changes, by 29
    the cell (1,3) = 28 falls short.
    """
    found = suppress(paper({(2, 3): 10}), PatternOptions("hypercube"))
    assert hidden(paper({(2, 3): 10}), found.pattern) == {(2, 3), (2, 1), (1, 3), (1, 1)}
    assert (found.cost, found.uncompleted.cost, found.uncompleted.at_risk.tolist()) == (86, 86, [])
    wide = suppress(paper({(2, 3): 29}), PatternOptions("hypercube"))
    assert hidden(paper({(2, 3): 29}), wide.pattern) == {(2, 3), (2, 2), (3, 3), (3, 2)}, (
        "38 + 42 + 39, of which each can move by 29"
    )
    assert wide.cost == 38 + 42 + 39


def test_hypercube_falls_short_where_two_rectangles_would_do():
    """Figure 14: with open margins no rectangle lowers (2,3) by 40; the widest, by 39, is taken, and paths
    are added.
    """
    problem = paper({(2, 3): 40}, margins_stay=True)
    found = suppress(problem, PatternOptions("hypercube"))
    assert found.uncompleted.at_risk.tolist() == [2 * 4 + 3]
    assert found.uncompleted.cost == 38 + 39 + 42
    assert hidden(problem, corners(problem, problem.grid)) < hidden(problem, found.pattern)
    assert unprotected(problem, found.pattern) == []
    assert found.cost > found.uncompleted.cost


def test_hypercube_hides_one_more_where_a_cycle_is_hidden_already():
    """Figure 15: all of P and C are hidden and protect one another, but no rectangle lies in them."""
    wanted = ((1, 1), (1, 2), (2, 2), (2, 3), (3, 3), (3, 1))
    problem = paper(dict.fromkeys(wanted, 1.0))
    assert suppress(problem, PatternOptions("paths")).cost == 0
    found = suppress(problem, PatternOptions("hypercube"))
    assert hidden(problem, found.pattern) > set(wanted)


def test_hypercube_in_three_dimensions_hides_seven_corners():
    problem = drawn(
        [{"T": None, "1": "T", "2": "T"}] * 3, np.arange(27.0).reshape(3, 3, 3) + 5, {(1, 1, 1): 5.0}
    )
    found = suppress(problem, PatternOptions("hypercube"))
    assert hidden(problem, found.pattern) == {(i, j, k) for i in (1, 2) for j in (1, 2) for k in (1, 2)}
    assert found.uncompleted.at_risk.size == 0


def two_steps() -> SensitiveTable:
    """T = a + b, a = a1 + a2, two columns. (b, x) = 40 is primary, level 10; a1 is small."""
    rows = {"T": None, "a": "T", "b": "T", "a1": "a", "a2": "a"}
    inner = np.array([[0, 0, 0], [0, 0, 0], [0, 40, 45], [0, 1, 2], [0, 50, 60]], dtype=float)
    return drawn([rows, {"T": None, "x": "T", "y": "T"}], inner, {(2, 1): 10.0})


def test_hitas_goes_from_the_top_down_and_judges_each_sub_table_alone():
    """The top table takes (b,y) (a,x) (a,y): 45 + 51 + 62. Below, (a,x) and (a,y) must only not be
    recalculated: a1, 1 + 2, is cheapest.

    But then (a,x) falls by 1 at most, and (b,x) rises by no more than that: at risk until more is hidden.
    """
    problem = two_steps()
    found = suppress(problem, PatternOptions("hitas"))
    assert (found.uncompleted.cost, found.uncompleted.at_risk.tolist()) == (45 + 51 + 62 + 1 + 2, [2 * 3 + 1])
    assert unprotected(problem, found.pattern) == []
    assert hidden(problem, found.pattern) >= {(2, 1), (2, 2), (1, 1), (1, 2), (3, 1), (3, 2)}
    assert found.cost > found.uncompleted.cost
    exact = suppress(problem, PatternOptions("exact", gap=0.0))
    assert exact.ended == "proven"
    assert found.cost >= exact.cost


def test_hitas_leaves_a_higher_table_as_it_is_where_it_can():
    """(a1, x) is primary: the top table has nothing to protect, and its cells stay open below, though
    (T) and (a) would be dear anyway.
    """
    problem = two_steps()
    level = np.zeros((5, 3))
    level[4, 1] = 1.0
    low = SensitiveTable(
        problem.M,
        problem.a,
        problem.lb,
        problem.ub,
        level.ravel(),
        level.ravel(),
        problem.spl,
        cost=problem.cost,
        primary=level.ravel() > 0,
        fixed=problem.fixed,
        grid=problem.grid,
    )
    found = suppress(low, PatternOptions("hitas"))
    assert hidden(low, found.pattern) == {(4, 1), (4, 2), (3, 1), (3, 2)}


def test_hitas_goes_back_to_a_higher_table_where_a_lower_one_cannot_do_without():
    """a2 must stay open, so that (a1, x) is hidden with (a, x) only: then the top table has a
    cell to protect that it had not.
    """
    problem = two_steps()
    level, stays = np.zeros((5, 3)), np.zeros((5, 3), dtype=bool)
    level[3, 1] = 1.0
    stays[4] = True
    low = SensitiveTable(
        problem.M,
        problem.a,
        problem.lb,
        problem.ub,
        level.ravel(),
        level.ravel(),
        problem.spl,
        cost=problem.cost,
        primary=level.ravel() > 0,
        fixed=stays.ravel(),
        grid=problem.grid,
    )
    found = suppress(low, PatternOptions("hitas"))
    assert {(3, 1), (3, 2), (1, 1), (1, 2)} < hidden(low, found.pattern)
    assert found.uncompleted.at_risk.size == 0
    assert unprotected(low, found.pattern) == []


# --- dimensions that a JJ file does not name ----------------------------------------------------------------

TREES = {
    "flat": {"T": None, "1": "T", "2": "T"},
    "deep": {"T": None, "1": "T", "2": "T", "21": "2", "22": "2", "221": "22"},
    "wide": {"T": None, "1": "T", "2": "T", "3": "T", "4": "T"},
}


@pytest.mark.parametrize(
    "kinds",
    [("wide",), ("deep",), ("flat", "wide"), ("deep", "wide"), ("deep", "deep"), ("flat", "deep", "wide")],
)
def test_dimensions_are_found_in_relations_whatever_their_order(kinds):
    axes, M, a = crossed([TREES[kind] for kind in kinds], np.ones([len(TREES[kind]) for kind in kinds]))
    rng = np.random.default_rng(7)
    order, rows = rng.permutation(len(a)), rng.permutation(M.shape[0])
    long = np.diff(M.indptr) > 2  # a relation of two reads both ways
    signs = sp.diags_array(np.where(long, rng.choice([-1.0, 1.0], M.shape[0]), 1.0))
    grid = recognised(sp.csr_array(sp.csc_array(signs @ M)[:, order])[rows])
    assert grid is not None
    assert sorted(grid.sizes) == sorted(len(axis.codes) for axis in axes)
    assert sorted(len(each) for each in grid.families) == sorted(len(axis.families) for axis in axes)
    mine = [sorted(np.argsort(order)[table.cells.ravel()].tolist()) for table in grid_of(axes).subtables]
    assert sorted(mine) == sorted(sorted(table.cells.ravel().tolist()) for table in grid.subtables)


def test_relations_of_no_dimensions_are_told_and_refused():
    _, M, a = crossed([TREES["flat"], TREES["wide"]], np.ones((3, 5)))
    short = sp.csr_array(M[1:])
    assert recognised(short) is None
    none = np.zeros(len(a))
    problem = SensitiveTable(
        short,
        a,
        none,
        none + 9,
        none + 1,
        none + 1,
        none,
        cost=a,
        primary=np.arange(len(a)) == 6,
        fixed=none > 0,
    )
    for method in ("hypercube", "hitas"):
        with pytest.raises(
            InvalidInput, match=rf"{method}: this method needs the dimensions.*Remedy: .*--dims"
        ):
            suppress(problem, PatternOptions(method))


def test_a_method_that_was_stopped_is_not_judged():
    """What HiTaS has hidden by then would be told as what it leaves at risk."""
    found = suppress(two_steps(), PatternOptions("hitas", seconds=0.0))
    assert found.uncompleted is None
    assert found.pattern is None or unprotected(two_steps(), found.pattern) == []


def test_hitas_ends_by_counted_work_and_what_it_has_is_completed(monkeypatch):
    """Nothing is told of the method alone, which was not done."""
    monkeypatch.setattr(hitas, "TIMES", 0)
    problem = two_steps()
    found = suppress(problem, PatternOptions("hitas"))
    assert found.uncompleted is None
    assert found.pattern is not None
    assert verify(problem, found.pattern).safe
    assert found.history[-1].method == "hitas, ended early, completed"


def test_a_search_of_a_sub_table_has_bounded_work_and_hears_a_request_to_stop(monkeypatch):
    heard = []
    run = SuppressionRun(two_steps())

    def listening(inner, work, seed):
        assert work.nodes <= 1_000
        run.stop()
        heard.append(inner.left)
        return "time"

    monkeypatch.setattr(hitas, "suppress_exactly", listening)
    hitas.modular(run)
    assert heard == [0.0], "and no other sub-table is begun"
