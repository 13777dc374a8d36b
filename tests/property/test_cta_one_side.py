"""A level on one side only asks for that side: the cell moves there by its level, or there is no table.

Levels of 0, on one side or on both, and levels beyond the bounds, by every method, against all senses tried
one by one. The check of what is found is plain arithmetic on the levels that were asked, in data units; it
knows nothing of what the problem makes of them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import sdc_tasks as sdc
from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.cta.engine import EngineOptions, execute
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.model.weights import Distance
from support.laws import law
from support.oracles.cta import enumerate_senses, table
from support.spread import adjusted

METHODS = {
    "auto": EngineOptions("auto", rounds=20, threads=1),
    "milp highs": EngineOptions("milp", "highs", threads=1),
    "milp cbc": EngineOptions("milp", "cbc", threads=1),
    "bcd": EngineOptions("bcd", blocks=1, threads=1),
    "fix-and-relax": EngineOptions("fix-and-relax", blocks=3, threads=1),
    "benders": EngineOptions("benders", threads=1),
}
EXACT = ("milp highs", "milp cbc", "bcd")
NEAR = 1e-6
BEYOND = 1e3  # a level that no bound of these tables leaves room for


@st.composite
def asked(draw: st.DrawFn) -> tuple:
    """(A, a, ub, sensitive, lpl, upl, spl) of a small table with values 0 to 12: each level is
    0, small, or beyond the bounds.
    """
    A = table(
        draw(st.sampled_from(["line", "grid", "tree"])), (draw(st.integers(2, 4)), draw(st.integers(2, 3)), 2)
    )
    n = A.shape[1]
    inner = np.array(draw(st.lists(st.integers(0, 12), min_size=n, max_size=n)), dtype=float)
    a = _added_up(A, inner)
    ub = np.full(n, np.inf) if draw(st.booleans()) else a + draw(st.integers(2, 9))
    cells = np.array(sorted(draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=min(4, n)))))
    level = st.sampled_from([0.0, 0.0, 1.0, 2.0, 4.0, BEYOND])
    lpl, upl = (np.array(draw(st.lists(level, min_size=len(cells), max_size=len(cells)))) for _ in range(2))
    spl = np.full(len(cells), draw(st.sampled_from([0.0, 0.0, 3.0])))
    return A, a, ub, cells, lpl, upl, spl


def _added_up(A: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The values with every total of theirs computed: a relation has −1 at its total, and inner totals come
    first.
    """
    a = values.copy()
    for _ in range(len(A)):
        for row in A:
            a[row < 0] = row[row > 0] @ a[row > 0]
    assert not np.abs(A @ a).any()
    return a


def sides(lpl: float, upl: float, spl: float) -> tuple[float, float]:
    """How far down, how far up; infinite where that side is not asked, and so does not count."""
    if (lpl == 0) != (upl == 0):
        return (max(lpl, spl), np.inf) if lpl else (np.inf, max(upl, spl))
    return max(lpl, spl), max(upl, spl)


def best_of(A, a, ub, w, cells, lpl, upl, spl) -> float | None:
    down, up = np.array([sides(*each) for each in zip(lpl, upl, spl, strict=True)]).T
    return enumerate_senses(A, w, -a, ub - a, cells, down, up)


def kept(x, a, cells, lpl, upl, spl) -> bool:
    for p, *levels in zip(cells, lpl, upl, spl, strict=True):
        down, up = sides(*levels)
        if not (x[p] - a[p] >= up * (1 - NEAR) or x[p] - a[p] <= -down * (1 - NEAR)):
            return False
    return True


def found(problem: CtaProblem, options: EngineOptions, a: np.ndarray) -> tuple[np.ndarray | None, float]:
    """(table or None, its distance)."""
    run = Run(problem, 600.0, 1e-6)
    try:
        execute(run, options)
    except Unprotectable:
        return None, np.inf
    final = run.final()
    if final is None or final.verdict.unprotected:
        return None, np.inf
    return a + final.z * problem.unit, final.verdict.objective


@pytest.mark.parametrize("method", METHODS)
@law(60)
@given(drawn=asked())
def test_every_method_moves_a_cell_to_the_side_that_is_asked(method, drawn):
    A, a, ub, cells, lpl, upl, spl = drawn
    w = 1 / np.maximum(a, 1.0)
    best = best_of(A, a, ub, w, cells, lpl, upl, spl)
    x, cost = found(adjusted(sp.csr_array(A), a, 0 * a, ub, w, cells, lpl, upl, spl), METHODS[method], a)
    if best is None:
        assert x is None
        return
    if x is None:
        assert method not in {*EXACT, "benders"}, "there is a table"
        return
    assert np.abs(A @ x).max(initial=0.0) <= NEAR * max(1.0, np.abs(x).max())
    assert (x >= -NEAR).all()
    assert (x <= ub + NEAR).all()
    assert kept(x, a, cells, lpl, upl, spl)
    assert cost >= best - NEAR
    if method in EXACT:
        assert cost == pytest.approx(best, rel=2e-6, abs=NEAR)


@law(60)
@given(drawn=asked())
def test_squares_move_a_cell_to_the_side_that_is_asked(drawn):
    A, a, ub, cells, lpl, upl, spl = drawn
    w = 1 / np.maximum(a, 1.0)
    x, _ = found(
        adjusted(sp.csr_array(A), a, 0 * a, ub, w, cells, lpl, upl, spl, distance=Distance.L2),
        METHODS["auto"],
        a,
    )
    assert (x is None) == (best_of(A, a, ub, w, cells, lpl, upl, spl) is None)
    assert x is None or kept(x, a, cells, lpl, upl, spl)


LINE = pd.DataFrame(
    {"R": ["a", "b", "c", "Total"], "VALUE": [20.0, 30, 50, 100], "STATUS": ["u", "s", "s", "s"]}
)


@pytest.mark.parametrize(("lpl", "upl", "moved"), [(0, 4, 4), (4, 0, -4), (30, 4, 4)])
@pytest.mark.parametrize("distance", ["l1", "l2"])
def test_the_frame_moves_as_its_levels_say(lpl, upl, moved, distance):
    """20 with 0 below and 4 above becomes 24, never 20; 30 below is beyond its bound, so it goes up."""
    told = LINE.assign(LPL=[lpl, 0, 0, 0], UPL=[upl, 0, 0, 0])
    done = sdc.adjust(told, ["R"], status="STATUS", lpl="LPL", upl="UPL", distance=distance)
    assert done.table.set_index("R")["ADJUSTED"]["a"] == pytest.approx(20 + moved)


def test_a_side_that_is_asked_and_has_no_room_is_refused_by_name():
    """30 below, nothing above: 20 cannot fall so far, and to rise is not what was asked."""
    with pytest.raises(Unprotectable, match="a cannot be protected"):
        sdc.adjust(
            LINE.assign(LPL=[30, 0, 0, 0], UPL=[0, 0, 0, 0]), ["R"], status="STATUS", lpl="LPL", upl="UPL"
        )
