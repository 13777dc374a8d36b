"""What presolve takes away is decided: the closest table costs the same without it, and
comes back as a table of the whole.

The oracle tries every sense vector of the original and of the reduced problem.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.cta.engine import EngineOptions, execute
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.presolve import presolve
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.model.weights import Distance
from support.laws import law
from support.oracles.cta import optimum, small_problems
from support.oracles.cta_tables import by_hand, distance, faults
from support.spread import adjusted

LAW = law(80)
INF = np.inf


def closest(problem: CtaProblem) -> np.ndarray | None:
    """An optimal table of a (reduced) problem."""
    run = Run(problem, 20, 1e-9)
    execute(run, EngineOptions("milp", "highs", gap=1e-9))
    return None if run.protected is None else run.table


# --- laws ---------------------------------------------------------------------------------------------------


@st.composite
def tangled(draw: st.DrawFn, most: int = 4) -> CtaProblem:
    """Random relations of two to four cells with coefficients beyond ±1, some of them
    repeated, and some fixed cells.
    """
    n = draw(st.integers(3, 7))
    rows = []
    for _ in range(draw(st.integers(1, 4))):
        row = np.zeros(n)
        cells = draw(st.lists(st.integers(0, n - 1), min_size=2, max_size=4, unique=True))
        row[cells] = draw(
            st.lists(
                st.sampled_from([1, -1, 1, -1, 2, -3, 49, 0.1]), min_size=len(cells), max_size=len(cells)
            )
        )
        rows.append(row)
    rows += [
        draw(st.sampled_from([1, -1, 2, 1 / 3])) * rows[k]
        for k in draw(st.lists(st.integers(0, len(rows) - 1), max_size=2))
    ]
    each = lambda values: np.array(draw(st.lists(values, min_size=n, max_size=n)), dtype=float)  # noqa: E731
    lower, upper = -each(st.sampled_from([1, 10, 100, INF])), each(st.sampled_from([1, 10, 100, INF, INF]))
    fixed = each(st.integers(0, 4)) == 0
    lower[fixed] = upper[fixed] = 0.0
    sensitive = np.array(sorted(draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=most))))
    s = len(sensitive)
    return CtaProblem(
        unit=draw(st.sampled_from([1.0, 0.25, 1024.0])),
        cells=np.arange(n),
        A=sp.csr_array(np.array(rows)),
        w=each(st.sampled_from([0.0, 1.0, 2.0, 0.125])),
        lower=lower,
        upper=upper,
        sensitive=sensitive,
        lpl=np.array(draw(st.lists(st.sampled_from([1, 2, 5, 6]), min_size=s, max_size=s)), dtype=float),
        upl=np.array(draw(st.lists(st.sampled_from([1, 2, 5]), min_size=s, max_size=s)), dtype=float),
    )


def the_optimum_is_kept(problem: CtaProblem) -> None:
    best = optimum(problem)
    try:
        presolved = presolve(problem)
    except Unprotectable:
        assert best is None
        return
    reduced = optimum(presolved.problem) if len(presolved.reduction.kept) else 0.0
    assert (reduced is None) == (best is None)
    assert reduced is None or reduced == pytest.approx(best, rel=1e-7, abs=1e-9 * problem.unit)


@LAW
@given(small_problems(most=5))
def test_the_closest_table_costs_the_same(problem):
    the_optimum_is_kept(problem)


@law(250)
@given(tangled())
def test_the_closest_table_costs_the_same_with_any_coefficients(problem):
    the_optimum_is_kept(problem)


@law(40)
@given(small_problems(most=5) | tangled())
def test_what_comes_back_is_a_table_of_the_whole(problem):
    """Judged in data units by plain arithmetic; and it costs what the smaller problem says."""
    try:
        presolved = presolve(problem)
        z = closest(presolved.problem)
    except Unprotectable:
        return
    if z is not None:
        whole = presolved.reduction.invert(z)
        assert faults(problem, whole) == []
        assert distance(problem, whole) == pytest.approx(distance(presolved.problem, z), rel=1e-9, abs=1e-12)


@LAW
@given(small_problems(most=5) | tangled(), st.sampled_from(Distance), st.integers(0, 99))
def test_any_deviations_cost_the_same_by_either_distance(problem, kind, seed):
    """Σ w|z| and Σ w z²: weights of merged cells add up, by the ratio or by its square."""
    problem = replace(problem, distance=kind)
    try:
        presolved = presolve(problem)
    except Unprotectable:
        return
    z = np.random.default_rng(seed).normal(size=len(presolved.reduction.kept))
    power = 1 if kind is Distance.L1 else 2
    assert problem.w @ np.abs(presolved.reduction.invert(z)) ** power == pytest.approx(
        presolved.problem.w @ np.abs(z) ** power
    )


@LAW
@given(small_problems(most=5) | tangled())
def test_a_table_of_the_whole_survives_the_way_there_and_back(problem):
    """What `execute` does with a start: the cells that are kept say all."""
    try:
        presolved = presolve(problem)
        z = closest(presolved.problem)
    except Unprotectable:
        return
    if z is not None:
        whole = presolved.reduction.invert(z)
        np.testing.assert_allclose(
            presolved.reduction.invert(whole[presolved.reduction.kept]), whole, rtol=1e-12, atol=1e-12
        )


@LAW
@given(small_problems(most=5) | tangled())
def test_reduced_once_there_is_nothing_left_to_presolve(problem):
    """No cell alone in a relation, no pair, no relation twice, no idle cell."""
    try:
        A = presolve(problem).problem.A.toarray()
    except Unprotectable:
        return
    assert ((A != 0).sum(axis=1) >= 3).all()
    unlike = {tuple(np.round(row / row[np.flatnonzero(row)[0]], 6)) for row in A}
    assert len(unlike) == len(A)


# --- by hand ------------------------------------------------------------------------------------------------


def test_a_chain_of_two_cell_relations_is_one_cell():
    """z0 = z1 = −z2 = z3. Cell 1 asks for 4 up or 2 down, cell 2 for 6 up or 1 down: so cell 0 for
    max(4, 1) up or max(2, 6) down.
    """
    problem = by_hand(
        "1 -1 0 0\n0 1 1 0\n0 0 1 1",
        [1, 2, 4, 8],
        {1: (2, 4), 2: (1, 6)},
        lower=[-9, -8, -7, -6],
        upper=[20, 21, 22, 23],
    )
    presolved = presolve(problem)
    small = presolved.problem
    assert (len(small.cells), small.A.shape[0]) == (1, 0)
    np.testing.assert_allclose(presolved.reduction.invert(np.array([1.0])), [1, 1, -1, 1])
    np.testing.assert_allclose(small.w, 15)
    np.testing.assert_allclose([small.lower, small.upper], [[-6], [7]])  # cell 3 may fall by 6, cell 2 by 7
    np.testing.assert_allclose([small.lpl, small.upl], [[6], [4]])
    np.testing.assert_allclose(closest(small), [4])
    assert optimum(problem) == pytest.approx(60)


@pytest.mark.parametrize(
    ("rows", "ratio"), [("2 -3 0", [1, 2 / 3, 0]), ("-4 0.5 0", [1, 8, 0]), ("1 49 0", [1, -1 / 49, 0])]
)
def test_a_pair_with_coefficients_keeps_its_ratio(rows, ratio):
    """The secret asks for 6 of cell 0, which is 6 · |ratio| of cell 1, at a weight of 3."""
    problem = by_hand(rows, [1, 3, 1], {0: (6, 6)}, lower=[-INF, -INF, 0], upper=[INF, INF, 0])
    presolved = presolve(problem)
    np.testing.assert_allclose(
        presolved.reduction.invert(np.array([1.0])) / presolved.reduction.invert(np.array([1.0]))[0],
        ratio,
        atol=1e-15,
    )
    assert optimum(presolved.problem) == pytest.approx(6 + 18 * abs(ratio[1])) == optimum(problem)


def test_a_level_that_a_pair_carries_over_counts_for_both_sides():
    """z1 = −z0 / 2: for cell 1 to rise by 5, cell 0 falls by 10; for cell 1 to fall by 1, cell 0
    rises by 2.
    """
    problem = by_hand("1 2", [1, 0], {1: (1, 5)}, lower=-9)
    small = presolve(problem).problem
    np.testing.assert_allclose([small.lpl, small.upl], [[10], [2]])
    assert not small.can_fall[0]
    assert optimum(problem) == pytest.approx(2) == optimum(small)


@pytest.mark.parametrize(
    "rows",
    ["1 -1 0 0\n1 1 0 0\n0 0 1 1", "1 -1 0 0\n0 1 -1 0\n2 0 -1 0\n1 0 0 1", "2 -3 0 0\n3 -2 0 0\n0 0 1 -1"],
)
def test_pairs_that_contradict_each_other_hold_all_their_cells(rows):
    """z0 = z1 and z0 = −z1 leave z0 = z1 = 0: the secret cell 0 is stuck; cell 3 alone would not be."""
    with pytest.raises(Unprotectable, match="cell 0 cannot be protected"):
        presolve(by_hand(rows, [1, 1, 1, 1], {0: (1, 1)}))
    if rows.endswith(("0 0 1 1", "0 0 1 -1")):
        assert len(presolve(by_hand(rows, [1, 1, 1, 1], {3: (1, 1)})).problem.cells) == 1


def test_the_same_pair_said_twice_is_no_contradiction():
    problem = by_hand("1 -49 0 0\n-1 49 0 0\n3 -147 0 0\n0 1 -1 -1", [1, 1, 1, 1], {0: (49, 49)})
    assert optimum(problem) == pytest.approx(51)
    assert optimum(presolve(problem).problem) == pytest.approx(51)


@pytest.mark.parametrize("c", [49, 98, 103, 107, 161, 0.1, 0.7, 1e-3, 1e6 / 3])
def test_a_ratio_that_is_no_binary_number_does_not_hold_the_cells(c):
    """1 − c · (1/c) is not 0 to a computer for c = 49: what is left of the relation must not
    pass for one with a single cell.
    """
    for first, second in ((1, -c), (c, -1), (c, 3)):
        small = presolve(by_hand(f"{first} {second} 0 0\n0 1 -1 -1", [1, 1, 1, 1], {0: (1, 1)})).problem
        assert (len(small.cells), len(small.sensitive), small.A.shape[0]) == (3, 1, 1)


def test_a_cell_that_is_left_alone_in_a_relation_is_held_and_so_are_those_that_hang_on_it():
    """0 + fixed = fixed holds cell 0; then 0 + 1 = fixed holds cell 1; cells 2, 3 and 4 are
    free, cell 5 is in no relation.
    """
    rows = "1 0 0 0 0 0 1 -1\n1 1 0 0 0 0 0 -1\n0 1 1 1 -1 0 0 0"
    fixed = [-INF] * 6 + [0, 0]
    problem = by_hand(rows, [1] * 8, {2: (1, 1)}, lower=fixed, upper=[-bound for bound in fixed])
    presolved = presolve(problem)
    assert presolved.reduction.kept.tolist() == [2, 3, 4]
    assert presolved.rows.tolist() == [2]
    np.testing.assert_allclose(presolved.reduction.invert(np.array([1.0, 2, 3])), [0, 0, 1, 2, 3, 0, 0, 0])
    for stuck in (0, 1):
        with pytest.raises(Unprotectable, match=f"cell {stuck} cannot be protected"):
            presolve(by_hand(rows, [1] * 8, {stuck: (1, 1)}, lower=fixed, upper=[-bound for bound in fixed]))


def test_a_relation_that_repeats_another_leaves_once():
    problem = by_hand("1 1 -1 0\n2 2 -2 0\n-1 -1 1 0\n1 1 -1 -1", [1] * 4, {0: (1, 1)})
    presolved = presolve(problem)
    assert presolved.rows.tolist() == [0, 3]
    assert presolved.reduction.kept.tolist() == [0, 1, 2, 3]


def test_an_idle_cell_stays_and_an_idle_secret_moves():
    """Neither is in a relation."""
    problem = by_hand("1 1 -1 0 0", [1, 1, 1, 5, 7], {0: (1, 1), 4: (2, 3)})
    presolved = presolve(problem)
    assert presolved.reduction.kept.tolist() == [0, 1, 2, 4]
    assert optimum(problem) == pytest.approx(2 + 14) == optimum(presolved.problem)


def test_a_secret_whose_level_is_zero_on_one_side_may_stay():
    """It is protected at z = 0: no reason to refuse the table, even where it is held."""
    problem = by_hand("1 1 1", [1, 1, 1], {0: (0, 5), 1: (1, 1)}, lower=[0, -INF, -INF], upper=[0, INF, INF])
    assert optimum(presolve(problem).problem) == pytest.approx(2) == optimum(problem)


def test_two_secrets_with_a_level_of_zero_may_stay_as_a_pair():
    """z0 = −z1, and each may be anything but between 0 and its level: z = 0 is a protected table
    at no cost.
    """
    problem = by_hand("1 1", [1, 1], {0: (0, 1), 1: (0, 1)})
    assert optimum(problem) == 0
    assert optimum(presolve(problem).problem) == 0


def test_nothing_left_is_a_problem_too():
    small = presolve(by_hand("1 1 -1", [1, 1, 1], {}, lower=0, upper=0)).problem
    assert (len(small.cells), len(small.sensitive), small.A.shape) == (0, 0, (0, 0))


# --- what is impossible -------------------------------------------------------------------------------------

SENTINEL = 748591.0


def named(problem: CtaProblem) -> str:
    with pytest.raises(Unprotectable) as raised:
        presolve(replace(problem, label=lambda cell: f"AT:C{cell}"))
    message = str(raised.value)
    assert "Remedy" in message
    assert not any(secret in message for secret in ("748591", "74859", "149718", "37429", "74.8591", "0.71"))
    return message


def test_a_secret_that_a_relation_holds_is_named_with_the_relation():
    """secret 1 + public 0 = public 2."""
    message = named(
        adjusted(
            sp.csr_array(np.array([[0.0, 0, 0, 1, -1], [1, 1, -1, 0, 0]])),
            np.array([5, SENTINEL, 5 + SENTINEL, 7, 7]),
            np.zeros(5),
            np.full(5, INF),
            np.ones(5),
            np.array([1]),
            np.array([SENTINEL / 10]),
            np.array([SENTINEL / 10]),
            np.zeros(1),
            fixed=np.array([True, False, True, False, False]),
        )
    )
    assert "AT:C1 " in message
    assert "relation 1 " in message


def test_a_secret_that_may_not_move_is_named():
    message = named(
        by_hand("1 1 1", [1, 1, 1], {1: (SENTINEL, SENTINEL)}, lower=[-INF, 0, -INF], upper=[INF, 0, INF])
    )
    assert "AT:C1 " in message


def test_a_secret_whose_bounds_are_too_narrow_is_named():
    message = named(
        by_hand("1 1 1", [1, 1, 1], {1: (SENTINEL, SENTINEL)}, lower=-SENTINEL / 2, upper=SENTINEL / 2)
    )
    assert "AT:C1 " in message
    assert "bounds" in message


def test_a_secret_whose_bounds_are_too_narrow_through_its_twin_is_named():
    """z0 = z1: the secret has room, its twin has not. Whoever reads this looks for a
    cell with levels, not for cell 0.
    """
    message = named(
        by_hand(
            "1 -1 0 0\n0 1 1 1",
            [1] * 4,
            {1: (SENTINEL, SENTINEL)},
            lower=[-5, -INF, -INF, -INF],
            upper=[5, INF, INF, INF],
        )
    )
    assert "AT:C1 " in message


def test_how_many_more_are_stuck_is_told():
    message = named(by_hand("1 0 0\n0 1 0\n0 0 1", [1, 1, 1], {0: (1, 1), 1: (1, 1), 2: (1, 1)}))
    assert "AT:C0 " in message
    assert "2 " in message


@pytest.mark.parametrize("a", [6.07, 15.84, 0.03, 70.07, 1e9 / 7])
def test_a_level_that_is_all_the_room_there_is_can_be_kept(a):
    """Bounds of ±10 % and a level of 10 %: 0.9 a − a and 0.1 a differ in the last digit only."""
    problem = adjusted(
        sp.csr_array(np.array([[1.0, 1, -1]])),
        np.array([a, 50, a + 50]),
        np.array([0.9 * a, 0, 0]),
        np.array([1.1 * a, INF, INF]),
        np.ones(3),
        np.array([0]),
        np.array([0.1 * a]),
        np.array([0.1 * a]),
        np.zeros(1),
    )
    whole = presolve(problem).reduction.invert(closest(presolve(problem).problem))
    assert faults(problem, whole) == []
