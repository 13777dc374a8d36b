"""A table decided from the top of its code list down is a table, and small enough parts make no difference to
that.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.judge.adjusted import verify
from sdc_tasks.methods.cta import engine
from sdc_tasks.methods.cta.engine import EngineOptions, execute
from sdc_tasks.methods.cta.local import levels
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.presolve import presolve
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.methods.cta.senses import FIRM, SenseLP, refined
from support.laws import law
from support.oracles.cta_tables import faults
from support.spread import adjusted

PARENT = (
    -1,
    0,
    0,
    1,
    1,
    1,
    2,
    2,
    3,
    3,
)  # of each code: a total, two sections, five divisions, two groups of the first
DEPTH = (0, 1, 1, 2, 2, 2, 2, 2, 3, 3)
AREAS = 6  # the last is the sum of the others
LONG = 600.0


def relations() -> sp.csr_array:
    """Areas × codes in the order of a Cartesian product: first those of the code list in each
    area, then the sum of the areas.
    """
    n = len(PARENT)
    code = np.zeros((4, n))
    for row, above in enumerate(sorted(set(PARENT[1:]))):
        code[row, above] = -1
        code[row, [c for c in range(n) if PARENT[c] == above]] = 1
    area = np.append(np.ones(AREAS - 1), -1.0)[None, :]
    return sp.csr_array(np.vstack([np.kron(np.eye(AREAS), code), np.kron(area, np.eye(n))]))


def drawn(seed: int, spread: float = 1.0) -> CtaProblem:
    """A table of firms whose sizes spread widely, some cells of it empty; a third of the small cells are
    sensitive.
    """
    rng = np.random.default_rng(seed)
    leaf = [c for c in range(len(PARENT)) if c not in PARENT]
    a = np.zeros((AREAS, len(PARENT)))
    a[:-1, leaf] = np.round(10 + np.exp(spread * rng.normal(4, 1.5, (AREAS - 1, len(leaf))))) * (
        rng.random((AREAS - 1, len(leaf))) < 0.8
    )
    a[-1] = a[:-1].sum(axis=0)
    for code in reversed(range(1, len(PARENT))):
        a[:, PARENT[code]] += a[:, code]
    a = a.ravel()
    inner = np.flatnonzero(
        (a > 0) & (np.arange(len(a)) < (AREAS - 1) * len(PARENT)) & (np.arange(len(a)) % len(PARENT) > 0)
    )
    p = np.sort(rng.choice(inner, len(inner) // 3, replace=False))
    level = np.ceil(0.2 * a[p])
    return adjusted(
        relations(),
        a,
        np.zeros(len(a)),
        np.full(len(a), np.inf),
        np.ones(len(a)),
        p,
        level,
        level,
        np.zeros(len(p)),
        fixed=a == 0,
    )


def test_the_tree_of_a_code_list_by_hand():
    A = relations()
    found = levels.tree(A, sp.csr_array(sp.eye_array(A.shape[1])))
    assert found.depth.tolist() == list(DEPTH) * AREAS
    above = sp.csc_array(found.children)
    assert [above.indices[above.indptr[c] : above.indptr[c + 1]].tolist() for c in range(len(PARENT))] == [
        [] if parent < 0 else [parent] for parent in PARENT
    ]


def test_cells_that_became_one_are_on_the_uppermost_level_of_them():
    """Group 8 has no sibling with a value in area 0, so it is its division there."""
    A = relations()
    n = A.shape[1]
    T = sp.lil_array(sp.eye_array(n))
    T[8, 8], T[8, 3], T[9, 9] = 0, 1, 0
    kept = [cell for cell in range(n) if cell not in (8, 9)]
    found = levels.tree(A, sp.csr_array(sp.csr_array(T)[:, kept]))
    assert found.depth.tolist() == [(list(DEPTH) * AREAS)[cell] for cell in kept]
    assert found.depth[3] == 2


def circle(fixed: bool) -> CtaProblem:
    """Relations in which cells are above each other: after presolve, where a cell that stays makes R =
    x1 + x2 and p1 one; or at once.
    """
    if fixed:
        A = np.zeros((4, 10))
        A[0, :3], A[1, [1, 3, 4, 5]], A[2, [2, 6, 7, 8]], A[3, [0, 3, 9]] = (
            [-1, 1, 1],
            [-1, 1, 1, 1],
            [-1, 1, 1, 1],
            [-1, 1, 1],
        )
        a = np.array([100.0, 60, 40, 30, 20, 10, 20, 10, 10, 70])
    else:
        A = np.zeros((3, 8))
        A[0, [0, 1, 6, 7]], A[1, [1, 2, 3, 5]], A[2, [2, 1, 4, 6]] = (
            [-1, 1, 1, 1],
            [-1, 1, 1, 1],
            [-1, 1, 1, 1],
        )
        a = np.zeros(8)
    p, level = np.array([1, 4]), np.array([5.0, 3.0])
    stays = (np.arange(len(a)) == 9) & fixed
    return adjusted(
        sp.csr_array(A),
        a,
        np.full(len(a), -1e4),
        np.full(len(a), 1e4),
        np.ones(len(a)),
        p,
        level,
        level,
        np.zeros(2),
        stays,
    )


@pytest.mark.parametrize("fixed", [True, False])
def test_cells_that_are_above_each_other_are_on_no_level_below(fixed, tiny_parts):
    """What lies below a cell ends. It did not here, and the search hung, whatever its time limit."""
    problem = circle(fixed)
    presolved, run = presolve(problem), Run(problem, LONG)
    found = levels.tree(problem.A, presolved.reduction.T)
    at = found.children.tocoo()
    assert (found.depth[at.row] < found.depth[at.col]).all()
    z = levels.descend(presolved, run, seed=1)
    assert z is None or verify(problem, presolved.reduction.invert(refined(presolved.problem, z))).is_feasible


@pytest.fixture
def tiny_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "FIRST_CELLS", 1)
    monkeypatch.setattr(levels, "PART", 1)


@law(40)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 1.0, 2.0]))
def test_what_is_decided_level_by_level_is_a_table(seed, spread):
    """Additive and within all bounds; only levels may be missed, and those that are kept are kept
    for good.
    """
    problem = drawn(seed, spread)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(levels, "FIRST_CELLS", 1)
        patch.setattr(levels, "PART", 1)
        presolved, run = presolve(problem), Run(problem, LONG)
        z = levels.descend(presolved, run, seed=1)
    assert z is not None
    verdict = verify(problem, presolved.reduction.invert(refined(presolved.problem, z)))
    assert verdict.is_feasible
    assert verdict.unprotected <= len(problem.sensitive) // 2


def test_threads_change_nothing(tiny_parts):
    presolved = presolve(drawn(7))
    first, *others = (
        levels.descend(presolved, Run(drawn(7), LONG), seed=3, threads=threads).tobytes()
        for threads in (1, 2, 4)
    )
    assert others == [first, first]


@pytest.mark.parametrize("slow", [1, 1000])
def test_the_engine_takes_this_way_for_large_tables_with_heavy_cells(slow, tiny_parts, monkeypatch):
    """Called large, and slow or not, the same small tables end protected, with the same bytes for the same
    seed.
    """
    monkeypatch.setattr(engine, "TALL", 1)
    monkeypatch.setattr(engine, "SLOW", slow)
    taken, descend = [], levels.descend
    monkeypatch.setattr(levels, "descend", lambda *given: taken.append(given) or descend(*given))
    monkeypatch.setattr(engine, "heavy_first", lambda problem: True)
    tried = [drawn(seed, 2.0) for seed in range(6)]
    for problem in tried:
        ends = []
        for threads in (1, 2):
            run = Run(problem, LONG, 1e-6)
            execute(run, EngineOptions("auto", rounds=30, threads=threads))
            assert run.protected is not None
            assert faults(problem, run.table) == []
            assert run.bound <= run.protected.verdict.objective * (1 + 1e-9)
            ends.append(run.table.tobytes())
        assert ends[0] == ends[1]
    assert len(taken) == 2 * len(tried)


@pytest.mark.parametrize(
    ("room", "moved", "cost", "short"),
    [
        pytest.param((0.0, 120.0), 10, 10 + 6, 0, id="as far as its level, and at its weight from there"),
        pytest.param((98.0, 103.0), 3, None, 7, id="within its bounds"),
    ],
)
def test_a_cell_that_does_not_count_moves_for_nothing(room, moved, cost, short):
    """x = y; x must rise by 10. y, of level 4 and weight 1, moves along: 4 for nothing, 6 at its weight.
    Where y ends at 3 above its value, x falls 7 short.
    """
    problem = adjusted(
        sp.csr_array([[1.0, -1.0]]),
        np.array([100.0, 100.0]),
        np.array([0.0, room[0]]),
        np.array([120.0, room[1]]),
        np.ones(2),
        np.array([0, 1]),
        np.array([10.0, 2.0]),
        np.array([10.0, 4.0]),
        np.zeros(2),
    )
    model = SenseLP(problem, FIRM)
    model.ignore(np.array([0, 1]))
    model.set(np.array([0]), np.array([True]))
    model.penalise(FIRM)
    solved = model.solve()
    assert solved.z * problem.unit == pytest.approx([moved, moved])
    assert solved.short[0] * problem.unit == pytest.approx(short)
    assert cost is None or solved.cost * problem.unit == pytest.approx(cost)
