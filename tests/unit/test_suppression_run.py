"""What a run of cell suppression keeps, refuses and says; a table of a JJ file as its problem."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from sdc_tasks.cli.searches.watch import Worker
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.jj import JJTable
from sdc_tasks.intake.tables.suppression import suppression_of
from sdc_tasks.judge.pattern import verify
from sdc_tasks.methods.suppression.covering.greedy_unsuppress import GreedyUnsuppression
from sdc_tasks.methods.suppression.covering.patterns import Patterns
from sdc_tasks.methods.suppression.engine import PatternOptions, execute, suppress
from sdc_tasks.methods.suppression.exact import WHILE_IT_PAYS, Work
from sdc_tasks.methods.suppression.pattern.presolve import presolve
from sdc_tasks.methods.suppression.pattern.run import SuppressionRun
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.solver.clock import Abort, TimeUp


def table(status: str = "sussssssz") -> JJTable:
    """Two rows and two columns with totals: cells 0–2 are the first row with its total, 6–8 the totals."""
    grid = np.array([[10.0, 5.0, 15.0], [7.0, 9.0, 16.0], [17.0, 14.0, 31.0]])
    index = np.arange(9).reshape(3, 3)
    A = np.zeros((6, 9))
    for row, cells in enumerate([*index, *index.T]):
        A[row, cells] = [1, 1, -1]
    level = np.where(np.array(list(status)) == "u", 2.0, 0.0)
    a = grid.ravel()
    return JJTable(
        a,
        np.arange(9.0),
        np.array(list(status)),
        np.zeros(9),
        np.full(9, 100.0),
        level,
        level,
        0 * level,
        sp.csr_array(A),
        np.zeros(6),
    )


def pattern(*cells: int) -> np.ndarray:
    found = np.zeros(9, dtype=bool)
    found[list(cells)] = True
    return found


@pytest.mark.parametrize(("costs", "expected"), [("value", 10 + 7 + 9), ("one", 3), ("file", 0 + 3 + 4)])
def test_a_jj_table_with_each_kind_of_costs(costs: str, expected: float) -> None:
    result = suppress(suppression_of(table(), costs))  # type: ignore[arg-type]
    assert result.ended == "proven"
    assert result.cost == pytest.approx(expected)
    assert costs == "one" or np.array_equal(
        result.pattern, pattern(0, 1, 3, 4)
    )  # with costs of 1 the rows are alike


def test_status_z_and_empty_cells_stay_open() -> None:
    problem = suppression_of(table("suzssssss"))
    assert problem.fixed.tolist() == [False, False, True] + [False] * 6


def test_an_unsafe_or_dearer_pattern_is_not_taken() -> None:
    run = SuppressionRun(suppression_of(table()))
    assert not run.offer(pattern(1, 4), "unsafe")
    assert run.offer(pattern(0, 1, 3, 4, 2, 5), "safe")
    assert run.offer(pattern(0, 1, 3, 4), "cheaper")
    assert not run.offer(pattern(0, 1, 3, 4, 2, 5), "dearer")
    assert [moment.method for moment in run.history] == ["safe", "cheaper"]


def test_a_bound_that_a_pattern_disproves_is_forgotten() -> None:
    run = SuppressionRun(suppression_of(table()))
    run.raise_bound(1000.0, "wrong")
    run.offer(pattern(0, 1, 3, 4), "pattern")
    assert run.bound == 0
    run.raise_bound(1000.0, "wrong again")
    assert run.bound == 0
    run.raise_bound(20.0, "right")
    assert run.result("m", "work").gap == pytest.approx(6 / 26)


def test_out_of_time_before_anything_was_proven_leaves_a_verified_pattern() -> None:
    result = suppress(suppression_of(table()), PatternOptions(seconds=0.0))
    assert result.ended == "time"
    assert result.pattern is not None
    assert result.bound == 0


def test_the_end_is_heard_while_the_space_of_deviations_is_computed() -> None:
    reduced = presolve(suppression_of(table()))
    assert GreedyUnsuppression.of(reduced, lambda: False) is not None
    assert GreedyUnsuppression.of(reduced, lambda: True) is None


def test_the_end_is_heard_while_a_pattern_is_verified() -> None:
    """What is not shown in time counts as unprotected. The first pattern takes its time: without it there is
    none.
    """
    problem = suppression_of(table())
    assert verify(problem, pattern(0, 1, 3, 4)).safe
    assert verify(problem, pattern(0, 1, 3, 4), seconds=0.0).unprotected.tolist() == [1]
    run = SuppressionRun(problem)
    run.stop()
    assert run.offer(pattern(0, 1, 3, 4, 2, 5), "first")
    assert not run.offer(pattern(0, 1, 3, 4), "too late")


def test_a_search_at_a_shell_has_its_linear_algebra_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """On two, sums are split otherwise, and another pattern may come out."""
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    seen: list[str | None] = []
    worker = Worker(lambda: seen.append(os.environ.get("OPENBLAS_NUM_THREADS")))
    worker.start()
    worker.join()
    assert seen == ["1"]


def test_a_release_whose_time_is_up_gets_nothing() -> None:
    with pytest.raises(TimeUp):
        execute(SuppressionRun(suppression_of(table()), Abort("suppression", -1.0)), PatternOptions())


def test_counted_work_ends_a_run() -> None:
    result = suppress(
        suppression_of(table("ssuusssss")), PatternOptions(work=Work(rounds=0, integer_rounds=0))
    )
    assert result.ended == "work"
    assert result.pattern is not None


def test_no_primaries_cost_nothing() -> None:
    result = suppress(suppression_of(table("sssssssss")))
    assert (result.ended, result.cost, result.bound) == ("proven", 0.0, 0.0)
    assert not np.any(result.pattern)


@pytest.mark.parametrize(
    ("name", "cell", "value", "message"),
    [
        ("a", 3, np.nan, "cell 3: the value is not a finite number"),
        ("lb", 4, 50.0, "cell 4: the value lies outside its bounds"),
        ("cost", 5, -1.0, "cell 5: the cost is negative"),
        ("upl", 1, np.inf, "cell 1: a protection level is negative or not finite"),
        ("fixed", 1, True, "cell 1: a primary cell must not stay open"),
        ("singleton", 2, True, "cell 2: a singleton that is no primary cell"),
    ],
)  # fmt: skip
def test_what_no_problem_can_be_is_told_without_a_value(
    name: str, cell: int, value: float, message: str
) -> None:
    good = suppression_of(table())
    arrays = {
        each: np.array(getattr(good, each))
        for each in ("a", "lb", "ub", "lpl", "upl", "spl", "cost", "primary", "fixed", "singleton")
    }
    arrays[name][cell] = value
    with pytest.raises(InvalidInput, match=message) as refused:
        SensitiveTable(good.M, **arrays)
    assert "Remedy: " in str(refused.value)
    assert "50" not in str(refused.value)


def cube(*inside: int) -> SensitiveTable:
    """So many inner cells in each of three dimensions, with totals; about every fourth is primary."""
    rng = np.random.default_rng(1)
    shape = tuple(size + 1 for size in inside)
    value = np.zeros(shape)
    value[1:, 1:, 1:] = rng.lognormal(2.5, 1.2, inside).astype(int)
    for axis in range(3):
        whole = value.sum(axis=axis, keepdims=True)
        value = np.concatenate([whole, np.delete(value, 0, axis)], axis)
    index = np.arange(value.size).reshape(shape)
    rows = [np.moveaxis(index, axis, 0).reshape(shape[axis], -1).T for axis in range(3)]
    lines = [line for each in rows for line in each]
    A = sp.lil_array((len(lines), value.size))
    for row, cells in enumerate(lines):
        A[row, cells] = [1.0] + [-1.0] * (len(cells) - 1)
    a = value.ravel()
    inner = np.zeros(shape, dtype=bool)
    inner[1:, 1:, 1:] = True
    primary = inner.ravel() & (a > 0) & (rng.random(len(a)) < 0.25)
    level, none = np.where(primary, 0.2 * a, 0.0), np.zeros(len(a))
    return SensitiveTable(
        sp.csr_array(A), a, none, none + np.inf, level, level, none, cost=a, primary=primary, fixed=a == 0
    )


def test_who_waits_has_a_good_pattern_before_the_first_bound() -> None:
    """A chain of patterns follows the first one: no dearer, and counted, so the same each time."""
    nothing = Work(rounds=0, search=0, integer_rounds=0)
    one, two, again = (
        suppress(cube(3, 4, 4), PatternOptions(work=replace(nothing, first=first))) for first in (0, 40, 40)
    )
    assert (one.ended, two.ended) == ("work", "work")
    assert two.cost < one.cost
    assert any(moment.method == "first pattern, shaken" for moment in two.history)
    assert np.array_equal(two.pattern, again.pattern)
    assert verify(cube(3, 4, 4), two.pattern).safe


def test_patterns_are_sought_as_long_as_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a round in vain the relaxation goes on without them, and its bound is the same."""
    asked: list[str] = []

    def unsuppress(self: Patterns, y: np.ndarray, step: str, most: int, shaken: int) -> None:
        asked.append(step)

    monkeypatch.setattr(Patterns, "unsuppress", unsuppress)
    work = Work(rounds=7, search=0, integer_rounds=0)
    always = suppress(cube(3, 4, 4), PatternOptions(work=work))
    rounds = len(asked)
    assert rounds > 1
    asked.clear()
    sometimes = suppress(cube(3, 4, 4), PatternOptions(work=replace(work, in_vain=1)))
    assert asked == ["LP round 1"]
    assert sometimes.bound == always.bound


def test_what_ends_early_says_how_far_it_is_and_prove_goes_on() -> None:
    early = suppress(cube(3, 4, 4), PatternOptions(work=replace(WHILE_IT_PAYS, integer_rounds=0, search=0)))
    proven = suppress(cube(3, 4, 4), PatternOptions(work=Work(patterns=0, search=0)))
    assert (early.ended, proven.ended) == ("work", "proven")
    assert early.bound <= proven.cost <= early.cost
    assert early.gap == pytest.approx((early.cost - early.bound) / early.cost)
    assert 0 < early.gap < 1


def test_integer_rounds_come_early_where_they_prove_the_pattern() -> None:
    """Before any pattern is sought by the relaxation; where their nodes do not do, the search goes on."""
    early = suppress(cube(3, 4, 4), PatternOptions(work=WHILE_IT_PAYS))
    late = suppress(cube(3, 4, 4), PatternOptions(work=replace(WHILE_IT_PAYS, early=0)))
    assert (early.ended, early.cost) == (late.ended, late.cost) == ("proven", late.bound)
    assert not any("LP round" in moment.method for moment in early.history)
    assert any("LP round" in moment.method for moment in late.history)
    not_enough = suppress(cube(3, 4, 4), PatternOptions(work=replace(WHILE_IT_PAYS, early=1, nodes=1)))
    assert not_enough.ended in ("proven", "work")
    none = suppress(cube(3, 4, 4), PatternOptions(work=replace(WHILE_IT_PAYS, integer_rounds=0)))
    assert any("LP round" in moment.method for moment in none.history)
    assert verify(cube(3, 4, 4), none.pattern).safe
    assert not_enough.cost <= late.cost
    assert verify(cube(3, 4, 4), not_enough.pattern).safe


def test_a_larger_table_has_fewer_rounds_for_each_takes_longer() -> None:
    """Of a table with more classes than the work is meant for, rounds in proportion; a network has all."""
    work = Work(rounds=7, patterns=0, search=0, integer_rounds=0)
    whole, small = (
        suppress(cube(3, 4, 4), PatternOptions(work=replace(work, classes=classes))) for classes in (None, 1)
    )
    bounds = [moment.bound for moment in whole.history if moment.bound > 0]
    assert small.bound == bounds[0] < whole.bound
    flat = suppression_of(table())
    assert suppress(flat, PatternOptions(work=replace(Work(), classes=1))).ended == "proven"
