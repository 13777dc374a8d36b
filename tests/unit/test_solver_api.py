"""HiGHS returns a status where others raise: every one of them is read."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import highspy
import numpy as np
import pytest
import scipy.sparse as sp

from sdc_tasks.errors import SolverRefused
from sdc_tasks.solver.growing import GrowingMilp
from sdc_tasks.solver.lp import LiveLP, Status, quiet_highs, ran
from sdc_tasks.solver.milp import Milp, solve_milp
from sdc_tasks.solver_api import asked

ROOT = Path(__file__).parents[2]
ANSWERING = {  # the functions of HiGHS that return a status
    name
    for name in dir(highspy.Highs)
    if not name.startswith(("_", "get")) and "HighsStatus" in (getattr(highspy.Highs, name).__doc__ or "")
}


def unread(source: str) -> list[int]:
    """The lines that call a function of HiGHS and leave its answer."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr)
        and isinstance(call := node.value, ast.Call)
        and isinstance(function := call.func, ast.Attribute)
        and function.attr in ANSWERING
        and ast.unparse(function.value).endswith("highs")
    ]


def test_an_answer_that_is_left_is_seen() -> None:
    assert {"run", "passModel", "setOptionValue", "setBasis", "addRow", "changeColsCost"} <= ANSWERING
    assert unread("highs.passModel(model)") == [1]
    assert unread("self._highs.run()") == [1]
    assert unread("asked(highs.passModel, model)\nstatus = highs.run()") == []


def test_no_module_leaves_an_answer() -> None:
    """Neither the room of solvers nor the judge, who has a solver of his own."""
    using = [
        path for path in (ROOT / "sdc_tasks").rglob("*.py") if "ighs" in path.read_text(encoding="utf-8")
    ]
    assert len(using) >= 5
    left = {path.name: lines for path in using if (lines := unread(path.read_text(encoding="utf-8")))}
    assert left == {}


def test_an_option_that_is_none_is_refused_by_name() -> None:
    highs = quiet_highs()
    with pytest.raises(SolverRefused, match="setOptionValue primal_feasability_tolerance: kError"):
        asked(highs.setOptionValue, "primal_feasability_tolerance", 1e-9)
    with pytest.raises(SolverRefused, match="setOptionValue solver: kError"):
        asked(highs.setOptionValue, "solver", "hipo")  # not in the wheel


def program(entry: float = 1.0, cost: float = 1.0, upper: float = 5.0) -> LiveLP:
    """min cost · x over entry · x ≥ 2, 0 ≤ x ≤ upper."""
    A = sp.csr_array(np.array([[entry]]))
    ends = np.array([2.0]), np.array([np.inf]), np.zeros(1), np.array([upper])
    return LiveLP(np.array([cost]), A, *ends)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: program(entry=1e16), "passModel: kError"),  # and then solves the model before it
        (lambda: program(entry=np.nan), "not finite"),  # and calls the model optimal
        (lambda: program(cost=np.nan), "not finite"),
        (lambda: program(cost=np.inf), "not finite"),
        (lambda: program(upper=np.nan), "passModel"),
    ],
)
def test_a_model_that_highs_would_change_is_refused(make: Callable[[], LiveLP], why: str) -> None:
    with pytest.raises(SolverRefused, match=why):
        make()


def test_a_change_that_highs_would_leave_out_is_refused() -> None:
    live, one = program(), np.array([0])
    assert live.solve().objective == pytest.approx(2.0)
    for change in (
        lambda: live.set_cost(one, np.array([np.nan])),
        lambda: live.set_bounds(one, np.array([np.nan]), np.ones(1)),
        lambda: live.set_bounds(np.array([1]), np.zeros(1), np.ones(1)),
        lambda: live.set_row_bounds(one, np.array([np.inf]), np.array([np.inf])),
    ):
        with pytest.raises(SolverRefused):
            change()
    assert live.solve().objective == pytest.approx(2.0)


def test_a_row_with_small_entries_cuts_no_point_off_that_it_allows() -> None:
    """x + 1e-12 y ≥ 1, y ≤ 1e12, allows x = 0."""
    nothing, bounds = sp.csr_array((0, 2)), (np.zeros(2), np.array([5.0, 1e12]))
    row = sp.csr_array(np.array([[1.0, 1e-12]]))
    grown = LiveLP(np.array([1.0, 0.0]), nothing, np.zeros(0), np.zeros(0), *bounds)
    grown.add_rows(row, np.ones(1), np.full(1, np.inf))
    whole = LiveLP(np.array([1.0, 0.0]), row, np.ones(1), np.full(1, np.inf), *bounds)
    assert grown.solve().objective == pytest.approx(0.0, abs=1e-9)
    assert whole.solve().objective == pytest.approx(0.0, abs=1e-9)


def test_a_cut_with_small_entries_cuts_no_point_off_that_it_allows() -> None:
    """x + 1e-10 y ≥ 1.0001 with y up to 1e6 allows x = 1. HiGHS would leave 1e-10 y out, and ask for
    x ≥ 1.0001.
    """
    nothing = sp.csr_array((0, 2)), np.zeros(0), np.zeros(0)
    growing = GrowingMilp(
        Milp(np.array([1.0, 0.0]), *nothing, np.zeros(2), np.array([9.0, 1e6]), np.zeros(0, dtype=np.int64))
    )
    growing.add_row(np.arange(2), np.array([1.0, 1e-10]), 1.0001)
    assert growing.solve(None, np.inf, 0.0).objective == pytest.approx(1.0, abs=1e-9)
    growing.add_row(np.arange(2), np.array([-1.0, -1e-10]), -0.5)  # falls as y rises: y = 0 is the weakest
    growing.add_row(np.arange(2), np.array([1.0, 0.0]), 0.25)
    assert growing.solve(None, np.inf, 0.0).status is Status.INFEASIBLE


def test_a_start_of_another_size_is_refused() -> None:
    nothing, ends = sp.csr_array((0, 2)), (np.zeros(0), np.zeros(0), np.zeros(2), np.ones(2))
    model = Milp(np.ones(2), nothing, *ends, np.arange(2))
    with pytest.raises(SolverRefused, match="setSolution: kError"):
        solve_milp(model, "highs", np.inf, 0.0, start=np.ones(1))


def test_what_remains_after_a_run_that_failed_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """HiGHS keeps the status and the point of before."""
    live = program()
    assert live.solve().status is Status.OPTIMAL
    monkeypatch.setattr(highspy.Highs, "run", lambda _: highspy.HighsStatus.kError)
    assert ran(quiet_highs()) == highspy.HighsModelStatus.kSolveError
    assert live.objective() == np.inf
    assert not live.solve().status.has_point
