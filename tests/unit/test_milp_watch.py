"""Who follows a MILP while it runs: hears of points and bounds, ends it, gets back what CBC's log says of the
bound, stops a CBC that does not look at its clock.
"""

from __future__ import annotations

import numpy as np
import psutil
import pytest
import scipy.sparse as sp

from sdc_tasks.solver import cbc
from sdc_tasks.solver.lp import Status
from sdc_tasks.solver.milp import LiveMilp, Milp, Watch, solve_milp
from support.hopeless import HOPELESS, market_split


def knapsack(
    least: float, values: tuple[float, ...] = (5, 4, 3, 7), size: tuple[float, ...] = (4, 3, 2, 5)
) -> Milp:
    """The cheapest items of at least that size together."""
    n = len(values)
    return Milp(
        np.array(values, dtype=float),
        sp.csr_array(np.array([size], dtype=float)),
        np.array([least]),
        np.array([np.inf]),
        np.zeros(n),
        np.ones(n),
        np.arange(n),
    )


class Follower:
    """Asks to stop the n-th time it is asked."""

    def __init__(self, patience: float = np.inf) -> None:
        self.points: list[np.ndarray] = []
        self.bounds: list[float] = []
        self.asked, self._patience = 0, patience
        self.watch = Watch(self._stop, self.points.append, self.bounds.append)

    def _stop(self) -> bool:
        self.asked += 1
        return self.asked >= self._patience


def test_points_and_bounds_are_heard_while_highs_runs():
    follower = Follower(patience=400)
    result = solve_milp(HOPELESS, "highs", 60, 0.0, watch=follower.watch)
    assert result.status is Status.FEASIBLE
    assert result.objective == pytest.approx(HOPELESS.cost @ follower.points[-1])
    assert len(follower.points) > 1
    for x in follower.points:
        assert np.abs(HOPELESS.A @ x - HOPELESS.row_lower).max() < 1e-5
        assert np.abs(x[:60] - np.round(x[:60])).max() < 1e-5
    assert follower.bounds == sorted(follower.bounds)
    assert result.bound is not None
    assert max(follower.bounds, default=0.0) <= result.bound + 1e-9
    assert result.bound <= result.objective


def test_highs_ends_when_it_is_asked_to():
    follower = Follower(patience=5)
    result = solve_milp(HOPELESS, "highs", 60, 0.0, watch=follower.watch)
    assert result.status in {Status.FEASIBLE, Status.STOPPED}
    assert follower.asked < 100  # else it went on until its time was up


def test_cbc_ends_when_it_is_asked_to(monkeypatch):
    """Interrupted, and killed where it does not listen; either way no process is left, and its
    bound is kept.
    """
    monkeypatch.setattr(cbc, "GRACE_SECONDS", 1.0)
    follower = Follower(patience=5)
    result = solve_milp(HOPELESS, "cbc", 60, 0.0, watch=follower.watch)
    assert result.status in {Status.FEASIBLE, Status.STOPPED}
    assert follower.asked < 100
    assert result.bound is None or result.bound >= -1e-6
    assert not [
        child for child in psutil.Process().children(recursive=True) if child.name().startswith("cbc")
    ]


def test_what_a_follower_raises_ends_the_run_and_comes_back():
    def upset(_: object) -> None:
        raise KeyError("no such table")

    with pytest.raises(KeyError, match="no such table"):
        solve_milp(HOPELESS, "highs", 60, 0.0, watch=Watch(stop=lambda: False, point=upset))


@pytest.mark.parametrize("solver", ["highs", "cbc"])
def test_infeasible_is_said_where_it_is_proven(solver):
    """Σ x = 1½ over three binaries: an LP would do, no point is whole."""
    model = Milp(
        np.ones(3),
        sp.csr_array(np.ones((1, 3))),
        np.array([1.5]),
        np.array([1.5]),
        np.zeros(3),
        np.ones(3),
        np.arange(3),
    )
    assert solve_milp(model, solver, 60, 0.0).status is Status.INFEASIBLE


@pytest.mark.parametrize("solver", ["highs", "cbc"])
def test_without_a_time_limit_the_optimum_is_found(solver):
    result = solve_milp(knapsack(7), solver, np.inf, 0.0)
    assert (result.status, result.objective) == (Status.OPTIMAL, pytest.approx(9))


def test_limits_of_one_run_are_not_those_of_the_next():
    """HiGHS keeps its options, and its clock goes on: a run without limits must not inherit either."""
    live = LiveMilp(HOPELESS)
    assert live.solve(None, 0.2, 0.0, nodes=0).status is not Status.OPTIMAL
    live.fix(HOPELESS.binary[6:], np.zeros(54), np.zeros(54))
    assert live.solve(None, 60, 0.0).status is Status.OPTIMAL
    live.fix(HOPELESS.binary, np.zeros(60), np.ones(60))
    follower = Follower()
    assert live.solve(None, 0.2, 0.0, watch=follower.watch).status is not Status.OPTIMAL


def test_costs_and_rows_change_for_the_next_run():
    live = LiveMilp(knapsack(7))
    assert live.solve(None, 60, 0.0).objective == pytest.approx(9)  # the second and the first
    live.set_cost(np.array([1]), np.array([40.0]))
    assert live.solve(None, 60, 0.0).objective == pytest.approx(10)
    live.set_row_bounds(np.array([0]), np.array([2.0]), np.array([np.inf]))
    assert live.solve(None, 60, 0.0).objective == pytest.approx(3)


@pytest.mark.parametrize(
    ("log", "bound"),
    [
        ("", None),
        ("Coin0506I Presolve 3 (0) rows", None),
        ("Continuous objective value is 1200.5 - 0.01 seconds", 1200.5),
        (
            (
                "Continuous objective value is 12 - 0 seconds\nCbc0010I After 0 nodes, 1e+50 best solution, "
                "best possible 14.25 (0.4 seconds)"
            ),
            14.25,
        ),
        (
            (
                "Cbc0005I Partial search - best objective 1e+50 (best possible 36211410), took 0 iterations "
                "and 0 nodes (49.38 seconds)"
            ),
            36211410,
        ),
        (
            (
                "Cbc0010I After 0 nodes, 1 on tree, 20 best solution, best possible 14 (0.4 seconds)\nLower "
                "bound:   15.125"
            ),
            15.125,
        ),
        ("Result - Optimal solution found\n\nObjective value:                20.00000000", 20),
        ("Cbc0010I After 0 nodes, 1 on tree, 1e+50 best solution, best possible 1e+50 (0.4 seconds)", None),
    ],
    ids=["empty", "presolve", "root", "tree", "partial", "end", "optimal", "nothing"],
)
def test_what_a_log_says_of_the_bound(tmp_path, log, bound):
    """A little below what is printed, as that is rounded; times the scale of the model."""
    path = tmp_path / "cbc.log"
    path.write_text(log)
    found = cbc.bound_of(path, 2.0)
    if bound is None:
        assert found is None
    else:
        assert 2 * bound * (1 - 1e-4) <= found < 2 * bound


def test_no_log_no_bound(tmp_path):
    assert cbc.bound_of(tmp_path / "none.log", 1.0) is None


def test_a_solver_past_its_limit_is_stopped(monkeypatch):
    monkeypatch.setattr(
        cbc, "GRACE_SECONDS", -59.5
    )  # the watchdog bites half a second into a limit of a minute
    result = solve_milp(market_split(6, 60), "cbc", seconds=60, gap=0.0)
    assert (result.status, result.x) == (Status.STOPPED, None)
    assert not [
        child for child in psutil.Process().children(recursive=True) if child.name().startswith("cbc")
    ]


def test_a_solver_within_its_limit_is_left_alone():
    result = solve_milp(market_split(1, 12), "cbc", seconds=60, gap=0.0)
    assert result.status is Status.OPTIMAL
    assert result.bound is not None
