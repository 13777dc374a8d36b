"""The engine on small tables: what it offers is a table by plain arithmetic, its bound is below the
optimum, and anybody may stop it.

The oracle tries every sense vector with its own linear programs.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from sdc_tasks.errors import Unprotectable
from sdc_tasks.judge.adjusted import verify
from sdc_tasks.methods.cta.engine import EngineOptions, execute
from sdc_tasks.methods.cta.inequalities import Inequalities
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.polygon import Relaxation
from sdc_tasks.methods.cta.run import Run
from support.laws import law
from support.oracles.cta import optimum, small_problems
from support.oracles.cta_tables import Known, blocks, by_hand, distance, faults, random_cube, random_grid
from support.spread import adjusted

LAW = law(30)
INF = np.inf
AUTO = EngineOptions("auto", rounds=20, threads=1)
METHODS = {
    "auto": AUTO,
    "milp highs": EngineOptions("milp", "highs", threads=1),
    "milp cbc": EngineOptions("milp", "cbc", threads=1),
    "bcd": EngineOptions("bcd", blocks=1, threads=1),
}
ALL = METHODS | {
    "fix-and-relax": EngineOptions("fix-and-relax", blocks=3, threads=1),
    "benders": EngineOptions("benders", threads=1),
}
NOTHING = 1e-12  # beside an optimum
LONG = 600.0  # seconds that no run may need, on a machine that does other things as well


def solved(problem: CtaProblem, options: EngineOptions, gap: float = 1e-6) -> Run:
    run = Run(problem, LONG, gap)
    execute(run, options)
    return run


def problem_of(table: Known, **changes: np.ndarray) -> CtaProblem:
    """Levels to both sides, cells at least 0."""
    arguments = {"lpl": table.level, "upl": table.level, "ub": np.full(len(table.a), INF)} | changes
    return adjusted(
        table.A,
        table.a,
        np.zeros(len(table.a)),
        arguments["ub"],
        table.w,
        table.sensitive,
        arguments["lpl"],
        arguments["upl"],
        np.zeros(len(table.sensitive)),
    )


# --- what is found ------------------------------------------------------------------------------------------


def is_as_it_says(run: Run) -> None:
    """The best table, by arithmetic that knows nothing of the verifier."""
    found = run.protected
    assert found is not None
    assert faults(run.problem, run.table) == []
    assert found.verdict.objective == pytest.approx(distance(run.problem, run.table), rel=1e-9, abs=NOTHING)
    assert run.bound <= found.verdict.objective * (1 + 1e-9) + NOTHING


@LAW
@given(small_problems(most=6))
def test_auto_finds_the_closest_table(problem):
    """Exactly, where at most four cells are sensitive; else one that is no closer, under a bound that is no
    higher.
    """
    best = optimum(problem)
    try:
        run = solved(problem, AUTO)
    except Unprotectable:
        assert best is None
        return
    if best is None:
        assert run.protected is None
        return
    is_as_it_says(run)
    objective, slack = run.protected.verdict.objective, 1e-6 * problem.smallest_level * problem.unit
    assert run.bound <= best * (1 + 1e-9) + NOTHING
    assert objective >= best - slack
    if len(problem.sensitive) <= 4:
        assert objective <= best * (1 + 1e-6) + slack


@pytest.mark.parametrize("method", ["milp highs", "milp cbc", "bcd"])
@LAW
@given(problem=small_problems(most=6))
def test_the_exact_methods_prove_the_closest_table(method, problem):
    best = optimum(problem)
    try:
        run = solved(problem, METHODS[method])
    except Unprotectable:
        assert best is None
        return
    assert best is not None
    is_as_it_says(run)
    slack = 1e-6 * problem.smallest_level * problem.unit
    assert run.protected.verdict.objective == pytest.approx(best, rel=2e-6, abs=slack)
    assert best * (1 - 2e-6) - slack <= run.bound <= best * (1 + 1e-7) + slack


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("power", [0.0, pytest.param(0.5, marks=pytest.mark.slow), 1.0])
def test_a_cube_with_levels_that_differ_by_side(power, method):
    """40 to 48 cells, upper bounds of twice the value, w = 1, 1/√a, 1/a; the optimum as HiGHS and CBC both
    prove it.
    """
    table = random_cube((3, 2, 3), seed=5)
    a = table.a
    problem = problem_of(
        replace(table, w=np.maximum(a, 1) ** -power), lpl=0.5 * table.level, upl=1.5 * table.level, ub=2 * a
    )
    best = optimum(problem)
    run = solved(problem, ALL[method])
    is_as_it_says(run)
    assert run.protected.verdict.objective >= best * (1 - 1e-6)
    assert run.bound <= best * (1 + 1e-6)
    if method in METHODS:
        assert run.protected.verdict.objective == pytest.approx(best, rel=2e-6)


@pytest.mark.parametrize("method", METHODS)
def test_secrets_far_dearer_to_hold_than_to_move_are_protected_all_the_same(method):
    """A huge cell at a weight of 1e-10 falls by its level only if two cells rise that weigh 1 each:
    the level is no matter of price.
    """
    problem = by_hand("1 1 1", [1e-10, 1, 1], {0: (1, 1)}, lower=[-10, -INF, -INF])
    run = solved(problem, METHODS[method])
    is_as_it_says(run)
    assert run.protected.verdict.objective == pytest.approx(1)


# --- the bound ----------------------------------------------------------------------------------------------


def relaxed(problem: CtaProblem) -> Relaxation:
    """Tightened as far as it goes."""
    relaxation = Relaxation(problem)
    for _ in relaxation.tighten(200, lambda: INF):
        pass
    assert relaxation.done
    return relaxation


def least_sum(valid: Inequalities, w: np.ndarray, L: np.ndarray) -> float:
    """min w·t over the rows and t ≥ L, by scipy."""
    return float(
        linprog(
            w,
            A_ub=-valid.rows.toarray(),
            b_ub=-valid.least,
            bounds=np.column_stack([L, np.full(len(w), INF)]),
        ).fun
    )


@law(80)
@given(small_problems(most=5))
def test_the_relaxation_is_below_the_optimum_and_above_the_levels(problem):
    best = optimum(problem)
    assume(best is not None)
    relaxation = relaxed(problem)
    assert relaxation.bound <= best * (1 + 1e-9) + NOTHING
    moves = np.where(
        problem.can_rise & problem.can_fall,
        np.minimum(problem.upl, problem.lpl),
        np.where(problem.can_rise, problem.upl, problem.lpl),
    )
    assert relaxation.bound >= problem.w[problem.sensitive] @ moves * problem.unit * (1 - 1e-9) - NOTHING


@LAW
@given(small_problems(most=5), st.integers(0, 99))
def test_the_bound_is_the_optimum_of_the_relaxation_where_some_cells_are_bounded(problem, seed):
    """Rounding at a cell without an upper bound takes nothing from the prices of cells that have one."""
    rng = np.random.default_rng(seed)
    ends, w = rng.random(len(problem.w)) < 0.5, 0.01 + rng.random(len(problem.w))
    far = 1.2 * max(problem.lpl.max(initial=1.0), problem.upl.max(initial=1.0))
    lower, upper = np.where(ends, np.maximum(problem.lower, -far), -INF), np.where(ends, far, INF)
    bounded = replace(problem, lower=lower, upper=upper, w=w)
    relaxation = Relaxation(bounded)
    for _ in relaxation.tighten(200, lambda: INF):
        pass
    assume(relaxation.done)
    assert relaxation.bound == pytest.approx(bounded.w @ relaxation.t * bounded.unit, rel=1e-6, abs=NOTHING)


def test_noise_at_a_cell_without_end_does_not_weaken_the_bound():
    """A reduced cost of −2e-16 there once took a fifth of the bound: all prices shrank until none of
    a cell with an end was negative.
    """
    A = [
        [2, -2, -2, 0, 0, 0, 0, 0],
        [-2, 0, 0, 0.5, 0, 0, 2, 0],
        [-2, 0, 0, 0, 2, 0, 0, 1],
        [0, 0, 0, -0.5, 2, 1 / 3, 0, 0],
        [0, 0, 0, 0, 0, -1 / 3, -2, 1],
    ]
    problem = CtaProblem(
        unit=1.0,
        cells=np.arange(8),
        A=sp.csr_array(np.array(A)),
        w=np.array([7.45, 0.96, 3.99, 0.02, 0.68, 0.32, 0.99, 0.11]),
        lower=-np.array([1.1, 1.2, 0, 3.8, 1, 0, 0.8, 0.3]),
        upper=np.array([0.1, INF, 0, INF, INF, 3.5, INF, 0]),
        sensitive=np.array([3]),
        lpl=np.array([0.78125]),
        upl=np.array([0.78125]),
    )
    relaxation = relaxed(problem)
    assert relaxation.bound == pytest.approx(problem.w @ relaxation.t, rel=1e-6)


@LAW
@given(small_problems(most=5), st.integers(0, 99))
def test_no_row_cuts_off_a_protected_table(problem, seed):
    """Closest tables for other weights are protected tables like any other."""
    assume(optimum(problem) is not None)
    relaxation = relaxed(problem)
    other = replace(problem, w=np.random.default_rng(seed).random(len(problem.w)))
    try:
        table = solved(other, replace(METHODS["milp highs"], polygon=False), gap=0.1).table
    except Unprotectable:
        return
    (rows, least), sizes = relaxation.cuts, np.abs(table)
    assert (rows @ sizes >= least - 1e-6 * (1 + abs(rows) @ sizes)).all()


def test_three_equal_levels_do_not_cancel():
    """Three secrets with a level of 1 and one free cell: z0 + z1 + z2 + z3 = 0, w = 1.

    No side of the polygon (1, 1, 1, 0) is longer than the others together: polygons alone are content with 1
    + 1 + 1 = 3. But however the senses are chosen, +1 +1 +1 leaves 3 and +1 +1 −1 leaves 1 for cell 3 to take
    up, or for the lonely −1 to grow by: (t0 − 1) + (t1 − 1) + (t2 − 1) + t3 ≥ 1. So 4, which is the optimum:
    (1, 1, −1, −1), or (1, 1, −2, 0).
    """
    problem = by_hand("1 1 1 1", [1, 1, 1, 1], {0: (1, 1), 1: (1, 1), 2: (1, 1)})
    relaxation = relaxed(problem)
    assert relaxation.bound == pytest.approx(4)
    assert optimum(problem) == pytest.approx(4)
    valid = Inequalities(*relaxation.cuts)
    assert least_sum(valid, problem.w, np.array([1, 1, 1, 0])) == pytest.approx(4)
    assert least_sum(valid.always, problem.w, np.array([1, 1, 1, 0])) == pytest.approx(3)


def test_unequal_levels_leave_what_the_best_senses_leave():
    """Levels 5, 3, 1 and a free cell of weight 10: +5 −3 −1 leaves 1, to be taken up by one of the lighter
    cells, at its weight of 2 or 1.

    5 + 2·3 + 1 = 12 for the levels, and 1 more for cell 2 to fall by 2.
    """
    problem = by_hand("1 1 1 1", [1, 2, 1, 10], {0: (5, 5), 1: (3, 3), 2: (1, 1)})
    assert optimum(problem) == pytest.approx(13)
    assert relaxed(problem).bound == pytest.approx(13)


def test_levels_that_cancel_cost_no_more_than_themselves():
    problem = by_hand("1 1 1 1", [1, 1, 1, 9], {0: (2, 2), 1: (1, 1), 2: (1, 1)})
    assert relaxed(problem).bound == pytest.approx(4) == optimum(problem)


FAR = {
    "coefficients": by_hand("3 -1 -1", [1, 1, 100], {0: (1, 1)}),
    "sensitive on both ends": by_hand("10 -1 -1", [1, 1, 100], {0: (1, 1), 1: (1, 1)}),
    "thousands": by_hand("1000 -1 -1", [1, 1, 100], {0: (1, 1), 1: (1, 1)}),
    # cells m a b c f g h x e: m = a + f = b + g = c + h with f, g, h fixed, x = a + b + c + e:
    # where a moves by 1, x moves by 3
    "a plain table": by_hand(
        "-1 1 0 0 1 0 0 0 0\n-1 0 1 0 0 1 0 0 0\n-1 0 0 1 0 0 1 0 0\n0 1 1 1 0 0 0 -1 1",
        [1] * 8 + [100],
        {1: (1, 1)},
        lower=[-INF] * 4 + [0] * 3 + [-INF] * 2,
        upper=[INF] * 4 + [0] * 3 + [INF] * 2,
    ),
    "a plain table with a sensitive total": by_hand(
        "-1 1 0 0 1 0 0 0 0\n-1 0 1 0 0 1 0 0 0\n-1 0 0 1 0 0 1 0 0\n0 1 1 1 0 0 0 -1 1",
        [1] * 8 + [100],
        {1: (1, 1), 7: (1, 1)},
        lower=[-INF] * 4 + [0] * 3 + [-INF] * 2,
        upper=[INF] * 4 + [0] * 3 + [INF] * 2,
    ),
}


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("case", FAR)
def test_a_cell_may_have_to_move_farther_than_all_levels_together(case, method):
    """One that is held at a distance by what is cheap: no bound and no big-M may say that the
    dear cell must take up the rest.
    """
    problem = FAR[case]
    best = optimum(problem)
    run = solved(problem, ALL[method])
    is_as_it_says(run)
    assert run.bound <= best * (1 + 1e-6)
    assert run.protected.verdict.objective == pytest.approx(best)


# --- values of any size -------------------------------------------------------------------------------------

SIZES = [0.01, 10.0, 1e5, 1e8, 1e11]  # values from 0.01 to 4e12


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("power", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_small_and_huge_cells_in_one_table(seed, power, method):
    """Blocks of very different size that share no relation: the optimum is the sum of theirs.
    Weights 1/a: over fourteen orders.
    """
    table = blocks(SIZES, seed, power=power)
    run = solved(problem_of(table), METHODS[method], gap=1e-7)
    is_as_it_says(run)
    assert table.optimum * (1 - 1e-6) <= run.protected.verdict.objective <= table.optimum * 1.02
    assert run.bound <= table.optimum * (1 + 1e-6)


@pytest.mark.parametrize(
    "method", ["auto", "bcd"]
)  # the whole MILP by itself finds no table here: its big-M leaks
def test_small_and_huge_cells_in_one_relation(method):
    """Cells of 0.01 and of 1e12 add up in the rows; the closest table is known by hand, but for shares
    of 1e-7 that huge cells take up.

                                                                       secret           its column's total
        0.02*      3 000      2e11         total                       0.002 / 0.02     0.002 / 0.07
        0.05      40 000*     9e11*        total                       4000 / 40 000    4000 / 43 000
        total     total       total        total                       9e10 / 9e11      9e10 /
        1.1e12, and two totals beside it

    w = 1/a, levels of 10 %. In its column each secret is met by the total, the largest and so the cheapest
    cell.
    """
    inner = np.array([[0.02, 3000.0, 2e11], [0.05, 40000.0, 9e11]])
    full = np.block(
        [[inner, inner.sum(axis=1, keepdims=True)], [inner.sum(axis=0, keepdims=True), inner.sum()]]
    )
    c = np.arange(12).reshape(3, 4)
    A = np.zeros((7, 12))
    for i in range(3):
        A[i, c[i, :3]], A[i, c[i, 3]] = 1, -1
    for j in range(4):
        A[3 + j, c[:2, j]], A[3 + j, c[2, j]] = 1, -1
    a, p = full.ravel(), np.array([0, 5, 6])
    best = 0.3 + 0.002 / 0.07 + 4000 / 43000 + 9e10 / 1.1e12 + 9e10 / 9e11 + 9e10 / 1.1e12
    run = solved(problem_of(Known(sp.csr_array(A), a, 1 / a, p, 0.1 * a[p], best)), METHODS[method], gap=1e-7)
    is_as_it_says(run)
    assert run.protected.verdict.objective == pytest.approx(best, rel=1e-6)
    assert run.bound <= best * (1 + 1e-6)


# --- the same call, the same table --------------------------------------------------------------------------


def bytes_of(problem: CtaProblem, threads: int, gap: float, work: int = 0) -> tuple[bytes, float]:
    """The table and the bound; who is told on the way may take its time, and hear of
    tables and bounds in another order.
    """
    run = Run(problem, LONG, gap, report=lambda moment: sum(range(work)))
    execute(run, EngineOptions("auto", rounds=2, threads=threads, seed=3))
    assert run.left > 0, "it has ended by its rounds, not by the clock"
    return run.incumbent.z.tobytes(), run.bound


CUBE = random_cube((4, 4, 3), seed=2)


@pytest.mark.parametrize("gap", [pytest.param(1e-6, marks=pytest.mark.slow), 0.05, 0.5])
def test_threads_and_listeners_change_nothing(gap):
    """Same seed, same rounds: the gap may be reached by whichever thread, the table is the same."""
    problem = problem_of(CUBE)
    first = bytes_of(problem, 1, gap)
    for threads, work in ((2, 0), (4, 300_000), (2, 200_000)):
        assert bytes_of(problem, threads, gap, work) == first


def test_rounds_end_the_search_on_a_plain_grid_too():
    """More than 200 secrets in two dimensions: another method, the same promise."""
    table = random_grid((26, 24), seed=4)
    first = bytes_of(problem_of(table), 1, 1e-9)
    assert bytes_of(problem_of(table), 2, 1e-9) == first


def test_another_seed_may_find_another_table_but_no_worse_a_kind():
    problem = problem_of(CUBE)
    for seed in (1, 2):
        is_as_it_says(solved(problem, EngineOptions("auto", rounds=1, threads=1, seed=seed)))


# --- interrupts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize(
    "after", [1, 3, 8, *(pytest.param(after, marks=pytest.mark.slow) for after in (2, 5, 13))]
)
def test_asked_to_stop_it_returns_with_what_it_has(method, after):
    """The k-th thing told is the last one waited for. No limit but this request ends the run: rounds are not
    counted.
    """
    told = 0

    def stop(_: object) -> None:
        nonlocal told
        told += 1
        if told == after:
            run.stop()

    run = Run(problem_of(random_cube((6, 5, 4), seed=1)), LONG, 0.0, report=stop)
    execute(run, replace(ALL[method], rounds=None, threads=2))
    assert run.elapsed < LONG
    holds_nothing_or_a_table(run)


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("seconds", [0.0, pytest.param(0.001, marks=pytest.mark.slow), 0.05])
def test_without_time_it_returns_with_nothing_or_a_table(method, seconds):
    run = Run(problem_of(random_cube((6, 5, 4), seed=1)), seconds, 0.0)
    execute(run, replace(ALL[method], rounds=None, threads=2))
    holds_nothing_or_a_table(run)


@pytest.mark.parametrize("method", ALL)
def test_stopped_before_it_begins_it_returns(method):
    run = Run(problem_of(random_cube((4, 3, 2), seed=1)), LONG, 0.0)
    run.stop()
    execute(run, replace(ALL[method], rounds=None))
    assert run.elapsed < LONG
    holds_nothing_or_a_table(run)


def holds_nothing_or_a_table(run: Run) -> None:
    """Protected or not: it adds up, and the verifier's word on it is what is kept with it."""
    assert (run.incumbent is None) == (run.table is None)
    if run.incumbent is not None:
        assert faults(run.problem, run.table, protected=run.incumbent.verdict.unprotected == 0) == []
        assert run.incumbent.verdict == verify(run.problem, run.table)
        assert run.protected is None or run.bound <= run.protected.verdict.objective * (1 + 1e-6)


# --- starts -------------------------------------------------------------------------------------------------


@cache
def closest(extents: tuple[int, int, int]) -> tuple[np.ndarray, float]:
    """The proven closest table, and its distance."""
    run = solved(problem_of(random_cube(extents, seed=2)), METHODS["milp highs"])
    return run.table, run.protected.verdict.objective


def cube_for(method: str) -> tuple[int, int, int]:
    """Extents of one that the method ends by itself: Benders is made for two dimensions, three
    with more secrets take it minutes.
    """
    return (4, 3, 2) if method == "benders" else (4, 4, 3)


@pytest.mark.parametrize("method", ALL)
def test_a_start_is_a_table_that_the_run_never_ends_above(method):
    """The proven closest table as a start: no method ends with another cost."""
    extents = cube_for(method)
    table, objective = closest(extents)
    run = Run(problem_of(random_cube(extents, seed=2)), LONG, 1e-6)
    execute(run, replace(ALL[method], rounds=1), table)
    assert run.protected.verdict.objective <= objective * (1 + 1e-9)
    assert run.history[0].method == "start"


@pytest.mark.parametrize("method", ALL)
def test_a_start_that_is_no_table_is_passed_over(method):
    problem = problem_of(random_cube(cube_for(method), seed=2))
    run = Run(problem, LONG, 1e-2)
    execute(run, replace(ALL[method], rounds=1), np.random.default_rng(1).normal(size=len(problem.cells)))
    assert run.history[0].method != "start"
    is_as_it_says(run)


@pytest.mark.parametrize("method", ALL)
def test_nothing_to_protect_is_the_true_table(method):
    problem = replace(problem_of(CUBE), sensitive=np.zeros(0, dtype=int), lpl=np.zeros(0), upl=np.zeros(0))
    run = solved(problem, ALL[method])
    assert not run.table.any()
    assert run.gap == 0
