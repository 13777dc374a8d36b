"""[3] examples 1–4: the audit verdicts printed in the paper, by its own protection
equations and by two plain LPs.

Two of its results are not protected, as it says itself: example 3 (a_4 and a_15 upwards) and example 4 (a_7).
Where the paper says more than its own problem (2.2) gives, the test says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from support.laws import law
from support.oracles.duality import Rounded, protected, reach
from support.oracles.two_way import two_way

NOTHING = (True, True, True)


@dataclass(frozen=True)
class Example:
    """Truth, printed table, base; (LPL, UPL, SPL) of the sensitive cells, numbered from 1 as in the paper."""

    shape: tuple[int, int]
    a: list[float]
    x: list[float]
    base: float
    levels: dict[int, tuple[float, float, float]]

    @property
    def table(self) -> Rounded:
        """Totals are printed exactly; the attacker knows that no cell is negative."""
        inner = np.zeros(self.shape, dtype=bool)
        inner[:-1, :-1] = True
        a = np.array(self.a, dtype=float)
        base = np.where(inner.ravel(), self.base, 0.0)
        return Rounded(
            two_way(*self.shape),
            a,
            np.array(self.x, dtype=float),
            base,
            np.zeros(len(a)),
            np.full(len(a), np.inf),
        )


TWO = Example(
    (5, 6),
    [
        20,
        10,
        20,
        10,
        20,
        80,
        10,
        10,
        20,
        5,
        15,
        60,
        40,
        10,
        10,
        20,
        10,
        90,
        5,
        5,
        15,
        10,
        5,
        40,
        75,
        35,
        65,
        45,
        50,
        270,
    ],
    [
        14,
        12,
        18,
        13,
        23,
        80,
        9,
        8,
        28,
        4,
        11,
        60,
        47,
        10,
        8,
        14,
        11,
        90,
        5,
        5,
        11,
        14,
        5,
        40,
        75,
        35,
        65,
        45,
        50,
        270,
    ],
    14,
    {1: (5, 7, 14), 9: (5, 7, 14), 16: (5, 7, 14), 22: (2, 5, 14)},
)
THREE = Example(
    (5, 6),
    [
        200,
        40,
        50,
        200,
        120,
        610,
        20,
        70,
        60,
        100,
        120,
        370,
        40,
        90,
        250,
        100,
        30,
        510,
        100,
        150,
        30,
        80,
        150,
        510,
        360,
        350,
        390,
        480,
        420,
        2000,
    ],
    [
        204,
        41,
        52,
        190,
        123,
        610,
        19,
        65,
        58,
        114,
        114,
        370,
        42,
        92,
        247,
        98,
        31,
        510,
        95,
        152,
        33,
        78,
        152,
        510,
        360,
        350,
        390,
        480,
        420,
        2000,
    ],
    19,
    {4: (10, 20, 15), 10: (5, 10, 15), 15: (20, 25, 15), 19: (5, 10, 15), 20: (7, 15, 15), 23: (7, 15, 15)},
)
FOUR = Example(
    (4, 4),
    [20, 50, 10, 80, 8, 19, 22, 49, 17, 32, 12, 61, 45, 101, 44, 190],
    [20, 49, 11, 80, 9, 20, 20, 49, 16, 32, 13, 61, 45, 101, 44, 190],
    5,
    {7: (5, 7, 5)},
)


def verdicts(example: Example) -> dict[int, tuple[bool, bool, bool]]:
    return {cell: protected(example.table, cell - 1, *levels) for cell, levels in example.levels.items()}


def primal(table: Rounded, cell: int) -> tuple[float, float]:
    """(down, up) by the attacker's problem (2.2) itself, cold."""
    lower, upper = (
        np.maximum(table.lower, table.x - table.base),
        np.minimum(table.upper, table.x + table.base),
    )
    found = []
    for side in (1, -1):
        cost = np.zeros(len(table.a))
        cost[cell] = side
        result = linprog(
            cost, A_eq=table.M, b_eq=table.M @ table.a, bounds=np.column_stack([lower, upper]), method="highs"
        )
        assert result.status == 0
        found.append(abs(result.x[cell] - table.a[cell]))
    return found[0], found[1]


def test_example_1_is_protected_by_the_equations_that_the_paper_gives():
    """Ten cells and their total, 232; only a_4 = 3 → 0 and a_9 = 8 → 10 are rounded, to base 5. (2.8):
    x_4 ≥ 0, x_9 ≥ 7; (2.9): x_4 ≤ 7.
    """
    a = np.array([12, 23, 34, 3, 49, 23, 50, 17, 8, 13, 232], dtype=float)
    x = np.array([12, 23, 34, 0, 50, 23, 50, 17, 10, 13, 232], dtype=float)
    table = Rounded(
        sp.csr_array(np.array([[1.0] * 10 + [-1.0]])),
        a,
        x,
        np.array([5.0] * 10 + [0.0]),
        np.zeros(11),
        np.full(11, np.inf),
    )
    assert protected(table, 3, 1, 2, 5) == NOTHING
    assert protected(table, 8, 2, 4, 5) == NOTHING
    for x_4, upwards in ((0, True), (-1, False)):
        assert protected(replace(table, x=np.where(np.arange(11) == 3, x_4, x)), 3, 1, 2, 0)[1] == upwards
    # With the bounds that the paper states first, LB = a/2, an attacker knows a_4 ≥ 1.5:
    # [1.5, 5] is narrower than SPL = 5.
    stated = replace(table, lower=a / 2, upper=2 * a)
    assert protected(stated, 3, 1, 2, 5) == (True, True, False)


def test_example_2_all_sensitive_cells_are_protected():
    assert set(verdicts(TWO).values()) == {NOTHING}


def test_example_3_cells_4_and_15_are_not_protected_upwards_all_others_are():
    """190 + 19 = 209 is only 9 above 200, of the 20 asked for."""
    found = verdicts(THREE)
    assert {cell for cell, verdict in found.items() if verdict != NOTHING} == {4, 15}
    assert found[4] == found[15] == (True, False, True)
    assert reach(THREE.table, 3) == (pytest.approx(29), pytest.approx(9))


def test_example_4_cell_7_is_not_protected():
    """20 ± 5 around 22: 7 down, 3 up of the 7 asked for. The paper denies lower and sliding
    protection too; by its (2.2) both hold.
    """
    assert verdicts(FOUR) == {7: (True, False, True)}
    assert reach(FOUR.table, 6) == (pytest.approx(7), pytest.approx(3))


@pytest.mark.parametrize("example", [TWO, THREE, FOUR])
def test_the_dual_finds_what_the_attackers_problem_finds(example):
    for cell in range(len(example.a)):
        assert reach(example.table, cell) == pytest.approx(primal(example.table, cell), abs=1e-6)


@law(40)
@given(st.integers(0, 2**32 - 1))
def test_the_dual_finds_it_on_random_tables_too(seed):
    rng = np.random.default_rng(seed)
    inner = rng.integers(0, 50, (3, 4)).astype(float)
    whole = np.vstack(
        [np.hstack([inner, inner.sum(axis=1, keepdims=True)]), np.append(inner.sum(axis=0), inner.sum())]
    )
    a = whole.ravel()
    base = rng.choice([0.0, 3, 10], a.size)
    table = Rounded(
        two_way(4, 5), a, a + base * rng.uniform(-1, 1, a.size), base, a * rng.choice([0, 0.5]), a * 2 + 1
    )
    cell = int(rng.integers(a.size))
    assert reach(table, cell) == pytest.approx(primal(table, cell), abs=1e-6)


def test_a_printed_table_that_excludes_the_truth_is_refused():
    with pytest.raises(ValueError, match="further than its base"):
        reach(replace(FOUR.table, x=FOUR.table.x + 6), 6)
