"""Benders reformulation: the optimum over all senses, proven, on any small table; else a refusal that
names cells. Large plane tables.

The oracle tries every sense vector with a linear program of its own.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.cta.cuts.benders import benders
from sdc_tasks.methods.cta.cuts.subproblem import Subproblem
from sdc_tasks.methods.cta.local.balance import balanced
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.solver.milp import solve_milp
from support.laws import law
from support.oracles.cta import enumerate_senses, optimum, small_problems
from support.random_tables import random_2d
from support.spread import adjusted

LAW = law(60)
FEW = law(25)
EXACT = 3e-6  # relative: the method proves to a millionth


def solved(problem: CtaProblem, gap: float = 0.0) -> Run:
    run = Run(problem, gap=gap)
    benders(problem, run, 1)
    return run


def two_dimensional(
    rows: int,
    columns: int,
    sensitive: int,
    seed: int,
    weights: str = "one",
    room: float = np.inf,
    other_side: float = 1.0,
) -> CtaProblem:
    """A random table; `room`: upper bounds as a share of the value; `other_side`: how many times the
    level downwards the one upwards is.
    """
    A, a, lb, _, w, cells, lpl, upl = random_2d(rows, columns, sensitive, seed)
    return adjusted(
        A,
        a,
        lb,
        a * (1 + room),
        1 / a if weights == "inverse" else w,
        cells,
        lpl,
        upl * other_side,
        np.zeros(sensitive),
    )


# --- small tables of any shape ------------------------------------------------------------------------------


@LAW
@given(small_problems(most=6))
def test_the_optimum_over_all_senses_is_found_and_proven(problem):
    """1-D to 3-D and trees, signed or not, with bounds or without, fixed cells, weights
    of 0, levels that differ by side.
    """
    best = optimum(problem)
    if best is None:
        with pytest.raises(Unprotectable):
            solved(problem)
        return
    run = solved(problem)
    assert run.protected is not None
    tolerance = EXACT * (best + problem.unit)
    assert run.protected.verdict.objective == pytest.approx(best, abs=tolerance)
    assert run.bound == pytest.approx(best, abs=2 * tolerance)
    assert run.bound <= best + tolerance


@FEW
@given(small_problems(most=4), st.integers(0, 999))
def test_a_lagrangian_lies_below_the_cost_of_every_sense_vector(problem, seed):
    """A cut is made at one sense vector and believed at all others: from any multipliers,
    and from the best of one vector.
    """
    sub, rng = Subproblem(problem), np.random.default_rng(seed)
    assume((problem.can_rise | problem.can_fall).all())
    here = rng.random(len(problem.sensitive)) < 0.5
    answer = sub.solve(here, math.inf, 60)
    assert answer is not None
    cuts = [sub.lagrangian(rng.normal(size=problem.A.shape[0]), sub.w, math.inf)]
    if answer.z is not None:
        cuts += [answer.lagrangian, answer.mirrored]
    for code in range(2 ** len(problem.sensitive)):
        up = (code >> np.arange(len(problem.sensitive)) & 1).astype(bool)
        cost = one_sense_vector(problem, up)
        possible = (problem.can_rise | ~up).all() and (problem.can_fall | up).all()
        if cost is not None:
            assert all(cut.at(up) * sub.scale <= cost + 1e-6 * (1 + cost) for cut in cuts)
            assert answer.z is not None or (answer.lagrangian.at(up) <= 1e-6)
        elif answer.z is None and possible and (up == here).all():
            assert answer.lagrangian.at(up) > 0


def one_sense_vector(problem: CtaProblem, up: np.ndarray) -> float | None:
    """The oracle's cost of one sense vector: levels turned into bounds."""
    lower, upper = problem.lower.copy(), problem.upper.copy()
    lower[problem.sensitive[up]] = np.maximum(lower, 0)[problem.sensitive[up]] + problem.upl[up]
    upper[problem.sensitive[~up]] = np.minimum(upper, 0)[problem.sensitive[~up]] - problem.lpl[~up]
    if (lower > upper).any():
        return None
    return enumerate_senses(
        problem.A, problem.w, lower, upper, np.zeros(0, dtype=int), np.zeros(0), np.zeros(0)
    )


# --- two dimensions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "problem",
    [
        two_dimensional(5, 6, 8, 1),
        two_dimensional(6, 6, 8, 2, other_side=1.7),
        two_dimensional(5, 5, 7, 3, weights="inverse"),
        two_dimensional(6, 5, 8, 4, room=0.2),
        two_dimensional(5, 5, 7, 5, room=0.2, other_side=0.4, weights="inverse"),
    ],
    ids=["symmetric", "asymmetric", "inverse", "bounded", "all of it"],
)
def test_benders_milp_and_enumeration_agree(problem):
    best = optimum(problem)
    whole = solve_milp(problem.milp, "highs", 60, 1e-9)
    run = solved(problem)
    assert whole.objective * problem.unit == pytest.approx(best, rel=EXACT)
    assert run.protected.verdict.objective == pytest.approx(best, rel=EXACT)
    assert run.bound == pytest.approx(best, rel=EXACT)


@pytest.mark.parametrize(("weights", "within"), [("one", 5e-3), ("inverse", 2e-4)])
def test_many_sensitive_cells_nearly_balance(weights, within):
    """41 × 41 cells, 1 100 of them sensitive: the first senses are good enough, so the
    cheapest levels nearly make a table.
    """
    problem = two_dimensional(41, 41, 1100, 1, weights)
    run = solved(problem, gap=within)
    assert run.protected is not None
    assert run.gap <= within
    assert run.bound == pytest.approx(problem.w[problem.sensitive] @ problem.lpl * problem.unit, rel=within)


def test_balance_beats_chance():
    problem = two_dimensional(31, 31, 500, 1)
    width = problem.lpl + problem.upl

    def left_over(up):
        return np.abs(problem.A[:, problem.sensitive] @ np.where(up, problem.upl, -problem.lpl)).sum()

    up = balanced(problem, problem.w, problem.lpl / width, np.zeros(500))
    by_chance = [left_over(np.random.default_rng(seed).random(500) < 0.5) for seed in range(5)]
    assert left_over(up) < 0.1 * min(by_chance)


def test_balance_keeps_to_sides_that_are_possible():
    problem = two_dimensional(9, 9, 20, 1)
    upper = problem.upper.copy()
    upper[problem.sensitive[:10]] = problem.upl[:10] / 2
    problem = replace(problem, upper=upper)
    up = balanced(problem, problem.w, np.full(20, 0.5), np.zeros(20))
    assert not up[:10].any()


def test_the_same_call_gives_the_same_table():
    problem = two_dimensional(7, 7, 14, 1, other_side=1.3)
    one, other = (solved(problem, gap=1e-3) for _ in range(2))
    assert len(one.history) > 3  # the master had its say
    assert one.incumbent.z.tobytes() == other.incumbent.z.tobytes()
    assert [m.bound for m in one.history] == [m.bound for m in other.history]


def test_it_ends_when_asked():
    problem = two_dimensional(16, 16, 60, 1)
    run = Run(problem)
    run.stop()
    benders(problem, run, 1)
    assert run.incumbent is None


def test_without_sensitive_cells_nothing_moves():
    problem = two_dimensional(5, 5, 0, 1)
    assert solved(problem).protected.verdict.objective == 0


# --- no table -----------------------------------------------------------------------------------------------


def line(lower, upper, lpl, upl) -> CtaProblem:
    """Parts that must add up to 0; the first ones are sensitive."""
    n = len(lower)
    return CtaProblem(
        1.0, 100 + np.arange(n), sp.csr_array(np.ones((1, n))), np.ones(n), np.array(lower), np.array(upper),
        np.arange(len(lpl)), np.array(lpl), np.array(upl),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("problem", "named"),
    [
        (line([-3.25, -9.0], [3.25, 9.0], [7.75], [7.75]), ["cell 100"]),  # its own bounds are too narrow
        (line([-9.0, -3.25], [9.0, 3.25], [7.75], [7.75]), ["cell 100"]),  # nothing makes up for it
        (
            line([-9.0, -4.0, -1.5], [9.0, 4.0, 1.5], [7.75, 3.5], [7.75, 3.5]),
            ["cell 100", "cell 101"],
        ),  # 7.75 against 4 + 1.5
        (
            line([-9.0, -9.0, -9.0], [7.75, 7.75, 7.75], [7.5, 7.5, 7.5], [7.5, 7.5, 7.5]),
            ["cell 100", "cell 101", "cell 102"],
        ),  # odd
    ],
    ids=["stuck", "alone", "too large", "odd"],
)
def test_a_refusal_names_cells_and_the_remedy_and_no_value(problem, named):
    with pytest.raises(Unprotectable) as refusal:
        solved(problem)
    text = str(refusal.value)
    assert all(name in text for name in named)
    assert "Remedy" in text
    assert not any(value in text for value in ("7.75", "3.25", "3.5", "1.5", "7.5"))


def test_feasibility_cuts_lead_to_the_one_pair_of_senses_that_fits():
    """Four equal levels and no other cell: two must rise and two must fall. All up has no table."""
    problem = line([-5.0] * 4, [5.0] * 4, [4.0] * 4, [4.0] * 4)
    run = solved(problem)
    assert run.protected.verdict.objective == pytest.approx(16)
    assert run.bound == pytest.approx(16, rel=EXACT)
