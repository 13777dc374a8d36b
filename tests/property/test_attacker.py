"""The attacker of a publication against a solver of another library, and what his proofs say of other
publications.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from sdc_tasks.optimise import CheapestWitness, LinearAttacker
from sdc_tasks.solver.lp import Status
from support.drawn_suppression import TREES, relations
from support.laws import law

SEEDS = st.integers(0, 2**32 - 1)
#              C1   C2   total
#   R1          ±2   ±2    0        printed: R1 total and R2 total exactly, the rest within 2, 3, 1
#   R2          ±3   ±3    0
#   total       ±1   ±1    0
_, SMALL = relations(TREES["flat"], TREES["flat"])  # position 0 of each tree is its total
WIDTH = np.array([0.0, 1.0, 1.0, 0.0, 2.0, 2.0, 0.0, 3.0, 3.0])
C1_OF_R1 = 4


def test_a_cell_goes_as_far_as_the_cells_beside_it() -> None:
    """R1.C1 rises by 2 where R2.C1 falls by 1 at least, as the column moves by 1 at most."""
    attacker = LinearAttacker(SMALL)
    attacker.set_bounds(-WIDTH, WIDTH)
    push = attacker.push(np.array([C1_OF_R1]), np.ones(1))
    assert push.reach == pytest.approx(2.0)
    assert push.z[[4, 5]].tolist() == [2.0, -2.0]
    assert -3 <= push.z[7] <= -1
    narrow = np.where(np.arange(9) >= 6, 0.5, WIDTH)  # R2 within a half: R1.C1 goes no farther than 1.5
    attacker.set_bounds(-narrow, narrow)
    assert attacker.push(np.array([C1_OF_R1]), np.ones(1)).reach == pytest.approx(1.5)


def test_without_an_end_there_is_no_point() -> None:
    attacker = LinearAttacker(SMALL)
    endless = np.full(9, np.inf)
    attacker.set_bounds(-endless, endless)
    push = attacker.push(np.array([C1_OF_R1]), np.ones(1))
    assert push.status in {Status.UNBOUNDED, Status.INFEASIBLE}
    assert (push.reach, *push.z, *push.pull) == (0.0,) * 19


def drawn(seed: int) -> tuple[sp.csr_array, np.random.Generator]:
    rng = np.random.default_rng(seed)
    kinds = rng.choice(list(TREES), 2 + int(rng.random() < 0.3))
    return relations(*(TREES[kind] for kind in kinds))[1], rng


def ends(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Intervals around the truth, of which some are points."""
    low, high = -rng.integers(0, 9, n).astype(float), rng.integers(0, 9, n).astype(float)
    exact = rng.random(n) < 0.2
    return np.where(exact, 0.0, low), np.where(exact, 0.0, high)


@law(40)
@given(SEEDS)
def test_it_reaches_the_optimum_and_its_proof_bounds_every_publication(seed: int) -> None:
    M, rng = drawn(seed)
    n = M.shape[1]
    attacker = LinearAttacker(M)
    for _ in range(4):  # one after the other, so that nothing of the last push remains
        cells = rng.choice(n, int(rng.integers(1, 4)), replace=False)
        gain = rng.choice([-1.0, 1.0], len(cells))
        low, high = ends(rng, n)
        attacker.set_bounds(low, high)
        push = attacker.push(cells, gain)
        cost = np.zeros(n)
        cost[cells] = -gain
        best = linprog(cost, A_eq=M, b_eq=np.zeros(M.shape[0]), bounds=np.column_stack([low, high]))
        assert push.reach == pytest.approx(-best.fun, abs=1e-7)
        assert push.reach == pytest.approx(gain @ push.z[cells], abs=1e-7)
        assert np.abs(M @ push.z).max() < 1e-7
        assert push.price(-low, high).sum() == pytest.approx(push.reach, abs=1e-6)
        for _ in range(3):
            low, high = ends(rng, n)
            best = linprog(cost, A_eq=M, b_eq=np.zeros(M.shape[0]), bounds=np.column_stack([low, high]))
            assert -best.fun <= push.below @ -low + push.above @ high + 1e-6


@law(40)
@given(SEEDS, st.booleans())
def test_the_cheapest_witness_costs_what_the_optimum_costs(seed: int, warm: bool) -> None:
    M, rng = drawn(seed)
    n = M.shape[1]
    programs = CheapestWitness(M, warm)
    for _ in range(3):
        p, sign, cost = int(rng.integers(n)), int(rng.choice([-1, 1])), rng.integers(0, 5, n).astype(float)
        down, up = -ends(rng, n)[0], ends(rng, n)[1]
        kept = down.copy(), up.copy()
        z = programs.cheapest(p, sign, 2.0, (down, up), cost)
        assert np.array_equal(kept, (down, up))
        both = sp.hstack([M, -M])
        most = np.concatenate([up, down])
        least = np.zeros(2 * n)
        own, other = (p, n + p) if sign > 0 else (n + p, p)
        if most[own] < 2:
            assert z is None
            continue
        least[own] = most[own] = 2.0
        most[other] = 0.0
        best = linprog(
            np.concatenate([cost, cost]), A_eq=both, b_eq=np.zeros(M.shape[0]),
            bounds=np.column_stack([least, most]),
        )  # fmt: skip
        assert (z is None) == (best.status == 2)
        if z is not None:
            assert z[p] == pytest.approx(sign * 2.0)
            assert np.abs(M @ z).max() < 1e-6
            assert ((z >= -down - 1e-6) & (z <= up + 1e-6)).all()
            assert cost @ np.abs(z) == pytest.approx(best.fun, abs=1e-6)
