"""The examples of [2] §4: Figures 11 to 13, and a singleton pattern that is safe from
outside and not from inside (eq. 8–9).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput, Unprotectable
from sdc_tasks.judge.pattern import verify
from sdc_tasks.methods.suppression.engine import PatternOptions, suppress
from sdc_tasks.methods.suppression.names import METHODS
from sdc_tasks.model.sensitive import SensitiveTable
from support import figure_11
from support.oracles.suppression import interval, unprotected

GRID = figure_11.GRID.astype(float)


def paper(
    lpl: float,
    upl: float,
    primaries: tuple[tuple[int, int], ...] = ((2, 3),),
    singletons: tuple[tuple[int, int], ...] = (),
    respondent: int | None = None,
) -> SensitiveTable:
    """The table of Figure 11; rows and columns are counted from 1, the totals are the fourth."""
    index = np.arange(16).reshape(4, 4)
    M = np.zeros((8, 16))
    for line, cells in enumerate([*index, *index.T]):
        M[line, cells] = [1, 1, 1, -1]
    primary, lone = marked(*primaries), marked(*singletons)
    a = GRID.ravel()
    return SensitiveTable(
        sp.csr_array(M),
        a,
        np.zeros(16),
        np.full(16, np.inf),
        np.where(primary, lpl, 0),
        np.where(primary, upl, 0),
        np.zeros(16),
        cost=a,
        primary=primary,
        fixed=np.zeros(16, dtype=bool),
        singleton=lone,
        respondent=None if respondent is None else np.where(lone, respondent, -1),
    )


def marked(*cells: tuple[int, int]) -> np.ndarray:
    grid = np.zeros((4, 4), dtype=bool)
    for row, column in cells:
        grid[row - 1, column - 1] = True
    return grid.ravel()


FIGURE_11 = marked((1, 1), (1, 3), (2, 1), (2, 3))
TOTALS = marked((2, 3), (2, 4), (4, 3), (4, 4))


def test_figure_11_is_the_cheapest_pattern() -> None:
    result = suppress(paper(10, 10))
    assert (result.ended, result.cost) == ("proven", 20 + 28 + 38)
    assert np.array_equal(result.pattern, FIGURE_11)


def test_figure_12_what_an_attacker_learns() -> None:
    """a_23 lies between 20 and 68 (eq. 4): protected up to exactly these ends."""
    assert interval(paper(10, 10), FIGURE_11, 6) == (20, 68)
    assert verify(paper(20, 28), FIGURE_11).safe
    assert verify(paper(20.01, 28), FIGURE_11).unprotected.tolist() == [6]
    assert verify(paper(20, 28.01), FIGURE_11).unprotected.tolist() == [6]


def test_figure_13_totals_protect_without_end_upwards() -> None:
    assert verify(paper(40, 1e6), TOTALS).safe
    assert suppress(paper(40, 1e6)).pattern is not None


def test_singletons_see_through_a_pattern_that_is_safe_from_outside() -> None:
    """Two single respondents in one row: each subtracts himself and reads the other, unless a
    third cell is hidden with them.
    """
    both = ((2, 1), (2, 3))
    outside, inside = paper(1, 1, both), paper(1, 1, both, both)
    assert verify(outside, FIGURE_11).safe
    assert verify(inside, FIGURE_11).unprotected.tolist() == [4, 6]
    result = suppress(inside)
    assert result.pattern is not None
    assert result.pattern.reshape(4, 4)[1].sum() >= 3  # eq. 8: |singletons of the row| + 1
    assert inside.cost_of(result.pattern) > outside.cost_of(FIGURE_11)


def test_cells_of_one_respondent_do_not_give_each_other_away() -> None:
    """The same two cells, but one respondent behind both: nobody who attacks one of them knows the other."""
    both = ((2, 1), (2, 3))
    inside = paper(1, 1, both, both, respondent=7)
    assert verify(inside, FIGURE_11).safe
    for method in METHODS:
        assert suppress(inside, PatternOptions(method)).cost == 20 + 28, method


def test_a_total_and_its_only_part_are_one_respondent() -> None:
    """T = a + b with b = 0: whoever is alone in T is alone in a. Hidden in both columns, neither gives the
    other away.
    """
    a = np.array([50.0, 50.0, 0.0, 90.0, 50.0, 40.0])
    rows = sp.csr_array(np.array([[-1, 1, 1, 0, 0, 0], [0, 0, 0, -1, 1, 1], [1, 0, 0, 1, 0, 0]], dtype=float))
    lone = np.array([True, True, False, False, False, False])
    level = np.where(lone, 5.0, 0.0)
    problem = SensitiveTable(
        rows,
        a,
        0 * a,
        0 * a + 500,
        level,
        level,
        0 * a,
        cost=a,
        primary=lone,
        fixed=a == 0,
        rhs=rows @ a,
        singleton=lone,
    )
    assert problem.respondents.tolist() == [0, 0, -1, -1, -1, -1]
    found = suppress(problem, PatternOptions(gap=0.0))
    assert found.pattern is not None
    assert unprotected(problem, found.pattern) == []
    assert found.pattern.tolist() == [True, True, False, True, False, True]


def test_a_cell_whose_parts_have_one_respondent_each_can_be_protected() -> None:
    """T = a + b, each part one respondent. If both attack T they know it; if T protects the larger
    one from the other, they do not.
    """
    M = sp.csr_array(
        np.array(
            [
                [-1, 1, 1, 0, 0, 0],
                [0, 0, 0, -1, 1, 1],
                [1, 0, 0, 1, 0, 0],
                [0, 1, 0, 0, 1, 0],
                [0, 0, 1, 0, 0, 1.0],
            ]
        )
    )
    a = np.array([50.0, 30.0, 20.0, 90.0, 50.0, 40.0])
    lone, primary = np.arange(6) % 6 == 1, np.arange(6) < 3
    lone[2] = True
    level = np.where(primary, 3.0, 0.0)
    both = SensitiveTable(
        M,
        a,
        0 * a,
        0 * a + 500,
        level,
        level,
        0 * a,
        cost=a,
        primary=primary,
        fixed=a == 0,
        rhs=M @ a,
        singleton=lone,
        respondent=np.where(lone, np.arange(6), -1),
    )
    with pytest.raises(Unprotectable, match="cell 0"):
        suppress(both)
    one = replace(both, guarded=np.array([1, 1, 2, -1, -1, -1]))
    found = suppress(one, PatternOptions(gap=0.0))
    assert found.ended == "proven"
    assert unprotected(one, found.pattern) == []
    assert verify(both, found.pattern).unprotected.tolist() == [0]


def test_respondents_that_a_total_contradicts_are_refused() -> None:
    M = sp.csr_array(np.array([[-1.0, 1.0, 1.0]]))
    a, none = np.array([3.0, 3.0, 0.0]), np.zeros(3)
    lone = np.array([True, True, False])
    with pytest.raises(
        InvalidInput,
        match=r"cell 0 and cell 1: two respondents, but a total that holds both has only one.*Remedy",
    ):
        SensitiveTable(
            M,
            a,
            none,
            a + 9,
            none + 1,
            none + 1,
            none,
            cost=a,
            primary=lone,
            fixed=a == 0,
            singleton=lone,
            respondent=np.array([4, 5, -1]),
        )


def test_what_cannot_be_protected_is_named() -> None:
    problem = paper(10, 10)
    fixed = ~problem.primary
    stuck = SensitiveTable(
        problem.M,
        problem.a,
        problem.lb,
        problem.ub,
        problem.lpl,
        problem.upl,
        problem.spl,
        cost=problem.cost,
        primary=problem.primary,
        fixed=fixed,
        label=lambda i: f"R{i // 4 + 1}C{i % 4 + 1}",
    )
    with pytest.raises(Unprotectable, match=r"R2C3: .*relations.*Remedy"):
        suppress(stuck)


def test_a_level_that_nothing_reaches_is_named() -> None:
    problem = paper(40, 1e6)
    fixed = np.zeros(16, dtype=bool)
    fixed[[3, 7, 11, 12, 13, 14, 15]] = True  # margins stay open: no more than a row is left above
    with pytest.raises(Unprotectable, match="cell 6: not protected to the level even with every cell hidden"):
        suppress(
            SensitiveTable(
                problem.M,
                problem.a,
                problem.lb,
                problem.ub,
                problem.lpl,
                problem.upl,
                problem.spl,
                cost=problem.cost,
                primary=problem.primary,
                fixed=fixed,
            )
        )


def test_a_table_that_does_not_add_up_says_where_and_by_how_much() -> None:
    problem = paper(10, 10)
    wrong = problem.a.copy()
    wrong[0] += 1
    with pytest.raises(
        InvalidInput, match=r"relation 0 \(cell 0, .* and 1 more do not add up: off by 0\.0069 of its values"
    ):
        SensitiveTable(
            problem.M,
            wrong,
            problem.lb,
            problem.ub,
            problem.lpl,
            problem.upl,
            problem.spl,
            cost=problem.cost,
            primary=problem.primary,
            fixed=problem.fixed,
        )


def test_figure_13_what_two_paths_protect() -> None:
    """Inner cells: down by 20, up by 28; totals: down by 40, up without end."""
    inner, totals = paper(20, 28), paper(40, 1e6)
    assert np.array_equal(suppress(paper(20, 20), PatternOptions("paths")).pattern, FIGURE_11)
    assert verify(inner, FIGURE_11).safe
    found = suppress(totals, PatternOptions("paths"))
    assert found.pattern is not None
    assert verify(totals, found.pattern).safe
    assert verify(totals, FIGURE_11).unprotected.tolist() == [6]


def test_figure_14_paths_add_up_and_serve_other_primaries() -> None:
    """No single path of inner cells lowers cell (2,3) by 39: two do together. What they show
    of another primary counts for it.
    """
    margins = marked((1, 4), (2, 4), (3, 4), (4, 1), (4, 2), (4, 3), (4, 4))
    problem = paper(39, 39, ((2, 3), (1, 1)))
    lpl, upl = problem.lpl.copy(), problem.upl.copy()
    lpl[0] = upl[0] = 5.0
    both = SensitiveTable(
        problem.M,
        problem.a,
        problem.lb,
        problem.ub,
        lpl,
        upl,
        problem.spl,
        cost=problem.cost,
        primary=problem.primary,
        fixed=margins,
    )
    found, least = suppress(both, PatternOptions("paths")), suppress(both, PatternOptions("exact", gap=0.0))
    assert found.pattern is not None
    assert least.cost is not None
    assert verify(both, found.pattern).safe
    assert not (found.pattern & margins).any()
    assert found.cost is not None
    assert found.cost >= least.cost - 1e-6


def test_figure_15_paths_use_what_is_hidden_already() -> None:
    """P at (1,1) lies on a cycle of cells that are hidden already (C): the rectangle of the hypercube
    method would hide one more (X).

    C: (1,2) (2,2) (2,3) (3,3) (3,1), of which no three make a rectangle with P; X: (2,1), the
    fourth corner of P (1,2) (2,2).
    """
    wanted = ((1, 1), (1, 2), (2, 2), (2, 3), (3, 3), (3, 1))
    problem = paper(1, 1, wanted)
    for method in ("paths", "cover", "exact"):
        result = suppress(problem, PatternOptions(method))
        assert result.cost == 0, method
        assert np.array_equal(result.pattern, marked(*wanted))


def test_a_width_beyond_what_the_cell_can_fall_is_proven() -> None:
    """a_23 = 40 cannot fall by more than 40, so that a width of 100 needs a rise of 60, whatever other cells
    could do.
    """
    problem = paper(1, 1)
    wide = SensitiveTable(
        problem.M,
        problem.a,
        problem.lb,
        problem.ub,
        problem.lpl,
        problem.upl,
        np.where(problem.primary, 100.0, 0),
        cost=problem.cost,
        primary=problem.primary,
        fixed=problem.fixed,
    )
    result = suppress(wide, PatternOptions("exact", gap=0.0))
    assert result.ended == "proven"
    assert result.pattern is not None
    low, high = interval(wide, result.pattern, 6)
    assert high - low >= 100 - 1e-6
