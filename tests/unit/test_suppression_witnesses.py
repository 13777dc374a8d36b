"""A witness shows of a primary what plain arithmetic says, and nothing if it is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from sdc_tasks.judge.pattern import verify
from sdc_tasks.judge.pattern.programs import LinearPrograms
from sdc_tasks.judge.pattern.witnesses import shown
from sdc_tasks.model.sensitive import SensitiveTable
from support.drawn_suppression import TREES, filled, relations

P = 5  # the primary, at row 1 and column 1 of 4 × 4 cells, the totals first
SQUARE = {5: 4.0, 6: -4.0, 9: -4.0, 10: 4.0}


def table(singleton: bool = False) -> SensitiveTable:
    """Inner cells 10 … 90; the primary holds 10 and has to rise and fall by 4."""
    trees = (TREES["wide"], TREES["wide"])
    shape, M = relations(*trees)
    a = filled(trees, np.arange(10.0, 91.0, 10.0), shape)
    none = np.zeros(16)
    primary = np.arange(16) == P
    lone = primary | (singleton & (np.arange(16) == 10))
    level = np.where(primary, 4.0, 0.0)
    return SensitiveTable(
        M,
        a,
        none,
        none + 1e4,
        level,
        level,
        none,
        cost=a,
        primary=primary | lone,
        fixed=a == 0,
        singleton=lone & singleton,
    )


def witness(moves: dict[int, float]) -> sp.csr_array:
    return sp.csr_array((list(moves.values()), (np.zeros(len(moves), dtype=int), list(moves))), shape=(1, 16))


def hidden(moves: dict[int, float]) -> np.ndarray:
    return np.isin(np.arange(16), [P, *moves])


def test_a_square_shows_how_far_its_corners_go() -> None:
    problem = table()
    rise, fall = shown(problem, hidden(SQUARE), witness(SQUARE))
    assert rise[P] == 20.0  # until the corner of 20 is empty
    assert fall[P] == 10.0  # until the primary itself is
    verdict = verify(problem, hidden(SQUARE), witnesses=witness(SQUARE))
    assert verdict.safe
    assert verdict.programs == 0


@pytest.mark.parametrize(
    ("moves", "where"),
    [
        (SQUARE | {10: 3.0}, "relations are missed"),
        ({5: 4.0, 6: -4.0, 9: -4.0}, "relations are missed"),
        (SQUARE | {5: np.nan}, "no number"),
        (SQUARE | {5: np.inf}, "no number"),
    ],
)
def test_a_movement_that_does_not_add_up_shows_nothing(moves: dict[int, float], where: str) -> None:
    rise, fall = shown(table(), hidden(SQUARE), witness(moves))
    assert not rise.any(), where
    assert not fall.any(), where


def test_an_open_or_fixed_cell_may_not_move() -> None:
    problem = table()
    open_corner = hidden(SQUARE) & (np.arange(16) != 10)
    assert not any(each.any() for each in shown(problem, open_corner, witness(SQUARE)))
    fixed = replace(problem, fixed=np.arange(16) == 10)
    assert not any(each.any() for each in shown(fixed, hidden(SQUARE), witness(SQUARE)))


def test_bounds_end_a_movement_short_of_the_level() -> None:
    """The corner of 20 may fall by 3 alone: the primary, which needs 4, rises by 3, whatever the witness
    claims.
    """
    problem = table()
    narrow = replace(problem, lb=np.where(np.arange(16) == 6, problem.a - 3.0, problem.lb))
    rise, _ = shown(narrow, hidden(SQUARE), witness(SQUARE))
    assert rise[P] == 3.0
    assert verify(narrow, hidden(SQUARE), witnesses=witness(SQUARE)).unprotected.tolist() == [P]


def test_a_respondent_who_knows_a_corner_is_shown_nothing() -> None:
    problem = table(singleton=True)
    assert not any(each.any() for each in shown(problem, hidden(SQUARE), witness(SQUARE)))
    same = replace(problem, respondent=np.where(problem.lone, 7, -1))
    assert shown(same, hidden(SQUARE), witness(SQUARE))[0][P] == 20.0


def test_a_witness_of_another_table_is_refused() -> None:
    with pytest.raises(ValueError, match="16 entries"):
        shown(table(), hidden(SQUARE), sp.csr_array((1, 15)))


@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e-7, 1e-9])
def test_a_relation_in_small_units_is_missed_all_the_same(unit: float) -> None:
    """Total = x + y + w, and an open cell in other units is a multiple of x: it tells x. The witness moves x
    against y.
    """
    M = sp.csr_array(np.array([[-1.0, 1.0, 1.0, 1.0, 0.0], [0.0, unit, 0.0, 0.0, -1.0]]))
    a = np.array([15e6, 4e6, 6e6, 5e6, unit * 4e6])
    none, primary = np.zeros(5), np.arange(5) == 1
    level = np.where(primary, 4e5, 0.0)
    problem = SensitiveTable(
        M, a, none, none + 1e15, level, level, none, cost=none + 1.0, primary=primary, fixed=none > 0
    )
    pattern = np.isin(np.arange(5), [1, 2])
    moves = sp.csr_array(np.array([[0.0, 1.0, -1.0, 0.0, 0.0]]))
    assert not verify(problem, pattern).safe
    assert not verify(problem, pattern, witnesses=moves).safe
    assert np.array_equal(shown(problem, pattern, moves)[0], none)


@pytest.mark.parametrize("unit", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_proposed_point_moves_no_further_than_it_was_asked_to(sign: float, unit: float) -> None:
    """Both ways, whatever the unit in which the solver works."""
    problem, asked = table(), hidden(SQUARE)
    cells = np.flatnonzero(asked)
    room = np.full(len(cells), 1e3)
    programs = LinearPrograms(
        sp.csr_array(problem.M[:, cells]), (room, room), np.full(len(cells), -1), unit, seconds=60.0
    )
    mine = np.flatnonzero(cells == P)
    point = programs.point(sign * np.isin(cells, P), mine, sign, np.array([4.0]))
    assert point is not None
    np.testing.assert_allclose(point[mine], [sign * 4.0])
    assert not np.abs(problem.M[:, cells] @ point).any()
