"""Benders reformulation in figures: a cut worked out by hand ([2] Figure 16), the sizes of [2] Table
4, optima that must not change.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest
import scipy.sparse as sp

from sdc_tasks.methods.cta.cuts.benders import benders
from sdc_tasks.methods.cta.cuts.subproblem import Subproblem
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.run import Run
from support.random_tables import random_2d
from support.spread import adjusted

#                     original              upper sense
#            P_1   P_2   P_3          P_1   P_2   P_3
#    M_1      20    24    28   72      25    24    23   72
#    M_2      38    38   [40] 116      33    38   [45] 116
#    M_3      40    39    42  121      40    39    42  121
#             98   101   110  309      98   101   110  309
INNER = np.array([20, 24, 28, 38, 38, 40, 40, 39, 42], dtype=float)
SENSITIVE = 5  # (M_2, P_3), level 5 on both sides; the margins stay


def figure_16() -> CtaProblem:
    ones = np.ones((1, 3))
    A = sp.csr_array(sp.vstack([sp.kron(sp.eye_array(3), ones), sp.kron(ones, sp.eye_array(3))]))
    level = np.array([5.0])
    return CtaProblem(
        1.0, np.arange(9), A, np.ones(9), -INNER, np.full(9, np.inf), np.array([SENSITIVE]), level, level
    )


def test_the_cut_of_figure_16():
    """A step upwards takes three other cells along: the level costs 4 a unit, 1 for the cell, so μ = −3.
    Turned, the cell would gain 2 a unit, down to 0: 40 units. The relaxation knows of the cell's own 5; so θ
    ≥ 20 − (20 − 5) [turned]. The mirrored cut is as tight: 20 for both senses.
    """
    sub, up = Subproblem(figure_16()), np.array([True])
    answer = sub.solve(up, math.inf, math.inf)
    cut, mirrored = answer.lagrangian, answer.mirrored
    assert (cut.base, cut.rise[0], cut.fall[0]) == pytest.approx((0, 20, -80))
    assert (mirrored.base, mirrored.fall[0]) == pytest.approx((0, 20))
    assert cut.turning(up)[0] == pytest.approx(-100)
    assert sub.relaxed(math.inf).bound == pytest.approx(5)
    assert np.abs(answer.z).sum() == pytest.approx(20)
    assert answer.z[SENSITIVE] == pytest.approx(5)


def test_a_cell_that_moves_alone_gives_a_feasibility_cut():
    problem = figure_16()
    upper = np.zeros(9)
    upper[SENSITIVE] = 9.0
    alone = CtaProblem(
        1.0, problem.cells, problem.A, problem.w, -upper, upper, problem.sensitive, problem.lpl, problem.upl
    )
    answer = Subproblem(alone).solve(np.array([True]), math.inf, math.inf)
    assert answer.z is None
    assert answer.lagrangian.at(np.array([True])) == pytest.approx(
        10
    )  # 5 too many in its row, 5 in its column
    assert answer.mirrored.at(np.array([False])) == pytest.approx(10)


def test_figure_16_is_solved_and_proven():
    run = Run(figure_16())
    benders(run.problem, run, 1)
    assert run.protected.verdict.objective == pytest.approx(20)
    assert run.bound == pytest.approx(20)
    assert abs(run.table[SENSITIVE]) == pytest.approx(5)


@pytest.mark.parametrize(
    ("rows", "columns", "sensitive", "cells", "relations"),
    [
        (151, 151, 10_000, 22_801, 302),
        (151, 151, 18_500, 22_801, 302),
        (151, 101, 13_000, 15_251, 252),
        (151, 101, 11_000, 15_251, 252),
    ],
)
def test_the_sizes_of_table_4(rows, columns, sensitive, cells, relations):
    table = random_2d(rows, columns, sensitive, 1)
    assert table.A.shape == (relations, cells)
    assert len(np.unique(table.sensitive)) == sensitive
    assert not (table.A @ table.a).any()
    inner = table.a.reshape(rows, columns)[:-1, :-1]
    assert (inner.min(), inner.max()) == (1, 1000)
    share = table.lpl / table.a[table.sensitive]
    assert (share.min(), share.max()) == (pytest.approx(0.05), pytest.approx(0.2))


def test_the_same_seed_gives_the_same_table():
    table = random_2d(31, 21, 200, 7)
    digest = hashlib.sha256(
        b"".join(
            np.ascontiguousarray(x).tobytes() for x in (table.a, table.sensitive.astype("<i8"), table.lpl)
        )
    )
    assert digest.hexdigest()[:16] == "d62f867bedf9baf1"


# rows, columns, sensitive, seed, weights; the optimum, by branch and cut (the first, second and
# fourth by enumeration as well)
OPTIMA = [
    (6, 6, 7, 1, "one", 704.10),
    (7, 5, 8, 2, "one", 805.16),
    (8, 8, 12, 3, "one", 741.34),
    (6, 6, 8, 4, "inverse", 1.026099144),
    (8, 7, 11, 5, "inverse", 1.344308743),
]


@pytest.mark.parametrize(("rows", "columns", "sensitive", "seed", "weights", "optimum"), OPTIMA)
def test_optima_that_must_not_change(rows, columns, sensitive, seed, weights, optimum):
    A, a, lb, ub, w, cells, lpl, upl = random_2d(rows, columns, sensitive, seed)
    problem = adjusted(
        A, a, lb, ub, 1 / a if weights == "inverse" else w, cells, lpl, upl, np.zeros(sensitive)
    )
    run = Run(problem)
    benders(problem, run, 1)
    assert run.protected.verdict.objective == pytest.approx(optimum, rel=3e-6)
    assert run.bound == pytest.approx(optimum, rel=3e-6)
