"""[2] Figure 16: the closest table that moves one sensitive cell by five, in either sense, by
every method.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from sdc_tasks.judge.adjusted import verify
from sdc_tasks.methods.cta.fallback import climb
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.options import RungOptions
from sdc_tasks.model.results import Adjustment

#                original               lower sense              upper sense
#            P_1   P_2   P_3          P_1   P_2   P_3          P_1   P_2   P_3
#    M_1      20    24    28   72      15    24    33   72      25    24    23   72
#    M_2      38    38   [40] 116      43    38   [35] 116      33    38   [45] 116
#    M_3      40    39    42  121      40    39    42  121      40    39    42  121
#             98   101   110  309      98   101   110  309      98   101   110  309
ORIGINAL = np.array(
    [[20, 24, 28, 72], [38, 38, 40, 116], [40, 39, 42, 121], [98, 101, 110, 309]], dtype=float
)
LOWER = np.array([[15, 24, 33, 72], [43, 38, 35, 116], [40, 39, 42, 121], [98, 101, 110, 309]], dtype=float)
UPPER = np.array([[25, 24, 23, 72], [33, 38, 45, 116], [40, 39, 42, 121], [98, 101, 110, 309]], dtype=float)
SENSITIVE = 6  # (M_2, P_3)

RUNGS = {
    "milp cbc": RungOptions(method="milp", solver="cbc", nodes=10_000, gap=1e-6),
    "milp highs": RungOptions(method="milp", solver="highs", nodes=10_000, gap=1e-6),
    "bcd": RungOptions(method="bcd", blocks=1, rounds=9),
    "fix-and-relax": RungOptions(method="fix-and-relax"),
    "benders": RungOptions(method="benders", rounds=999),
    "auto": RungOptions(method="auto", rounds=5),
}


def relations() -> sp.csr_array:
    cells = np.arange(16).reshape(4, 4)
    M = np.zeros((8, 16))
    for i in range(4):
        M[i, cells[i, :3]], M[i, cells[i, 3]] = 1, -1
        M[4 + i, cells[:3, i]], M[4 + i, cells[3, i]] = 1, -1
    return sp.csr_array(M)


def figure_16(
    sense: str, lpl: float = 5, upl: float = 5, margins_move: bool = False, dear: float = 1
) -> CtaProblem:
    """w = 1, cells at least 0; `dear` is the weight of the cells outside the figure's square."""
    a = ORIGINAL.ravel()
    lower, upper = -a.copy(), a.copy()
    if not margins_move:
        margin = np.zeros((4, 4), dtype=bool)
        margin[3], margin[:, 3] = True, True
        lower[margin.ravel()] = upper[margin.ravel()] = 0
    lower[SENSITIVE] = 0 if sense == "upper" else lower[SENSITIVE]
    upper[SENSITIVE] = 0 if sense == "lower" else upper[SENSITIVE]
    w = np.full(16, float(dear))
    w[[0, 2, 4, 6]] = 1
    return CtaProblem(
        unit=1.0,
        cells=np.arange(16),
        A=relations(),
        w=w,
        lower=lower,
        upper=upper,
        sensitive=np.array([SENSITIVE]),
        lpl=np.array([float(lpl)]),
        upl=np.array([float(upl)]),
    )


def adjusted(problem: CtaProblem, rung: str) -> tuple[np.ndarray, float]:
    result = climb(problem, ORIGINAL.ravel(), RUNGS[rung], 1, Adjustment())
    assert result.x is not None
    assert result.rungs[0].unprotected == 0
    return result.x.reshape(4, 4), result.rungs[0].objective


@pytest.mark.parametrize("drawn", [ORIGINAL, LOWER, UPPER])
def test_the_printed_tables_are_tables(drawn):
    assert not (relations() @ drawn.ravel()).any()


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize(("sense", "printed"), [("lower", LOWER), ("upper", UPPER)])
def test_the_printed_tables(rung, sense, printed):
    """Where the figure's square is cheaper than any other, the optimum is the printed table."""
    x, objective = adjusted(figure_16(sense, dear=1.5), rung)
    np.testing.assert_allclose(x, printed, atol=1e-6)
    assert objective == pytest.approx(20)


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("margins_move", [False, True])
@pytest.mark.parametrize("sense", ["lower", "upper", "either"])
def test_no_table_is_closer_than_twenty(rung, margins_move, sense):
    """w = 1: any square through the cell, or the cell with its margins, costs 4 × 5."""
    x, objective = adjusted(figure_16(sense, margins_move=margins_move), rung)
    assert objective == pytest.approx(20)
    assert np.abs(x - ORIGINAL).sum() == pytest.approx(20)
    moved = x[1, 2] - 40
    assert abs(moved) == pytest.approx(5)
    assert sense == "either" or (moved > 0) == (sense == "upper")


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize(("lpl", "upl", "value"), [(5, 8, 35), (8, 5, 45)])
def test_with_levels_of_their_own_the_cheaper_sense_is_taken(rung, lpl, upl, value):
    x, objective = adjusted(figure_16("either", lpl, upl), rung)
    assert x[1, 2] == pytest.approx(value)
    assert objective == pytest.approx(20)


def test_the_verifier_accepts_the_printed_tables_and_no_half_way():
    problem = figure_16("either")
    for drawn in (LOWER, UPPER):
        verdict = verify(problem, (drawn - ORIGINAL).ravel())
        assert (verdict.objective, verdict.violation, verdict.unprotected) == (20, 0, 0)
    assert verify(problem, ((LOWER - ORIGINAL) / 2).ravel()).unprotected == 1
    assert verify(problem, np.zeros(16)).unprotected == 1
