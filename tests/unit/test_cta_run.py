"""A run keeps the best table offered and the best bound, tells of each, and ends when it is asked to.

One relation, first + second = total: secret 0 must move by 1, w = 1.
"""

from __future__ import annotations

import threading

import numpy as np
import pytest

from sdc_tasks.methods.cta.run import Run, rested
from sdc_tasks.model.time.moment import Moment
from support.oracles.cta_tables import by_hand

BOTH, TOTAL, FAR, SHORT = (
    np.array(z, dtype=float) for z in ([1, -1, 0], [1, 0, 1], [3, -3, 0], [0.5, -0.5, 0])
)


def run(**options: object) -> Run:
    return Run(by_hand("1 1 -1", [1, 2, 1], {0: (1, 1)}, lower=-5, upper=5), **options)


def test_the_better_table_stays_whatever_the_order():
    one, other = run(), run()
    assert [one.offer(z, "m") for z in (FAR, BOTH, TOTAL)] == [True, True, True]  # 9, 3, 2
    assert [other.offer(z, "m") for z in (TOTAL, BOTH, TOTAL, FAR)] == [True, False, False, False]
    for ended in (one, other):
        np.testing.assert_array_equal(ended.table, TOTAL)
        assert ended.protected.verdict.objective == 2


def test_a_protected_table_is_better_than_a_closer_one_that_falls_short():
    r = run()
    assert r.offer(SHORT, "m")
    assert (r.protected, r.gap, r.incumbent.verdict.unprotected) == (None, None, 1)
    assert r.offer(FAR, "m")
    assert not r.offer(SHORT, "m")
    np.testing.assert_array_equal(r.table, FAR)


@pytest.mark.parametrize(
    "z", [[1, 0, 0], [6, -6, 0], [np.nan, np.nan, np.nan], [np.inf, -np.inf, 0], [1, -1, 1e-5]]
)
def test_what_is_no_table_is_refused(z):
    r = run()
    with np.errstate(invalid="ignore"):
        assert not r.offer(np.array(z, dtype=float), "m")
    assert r.incumbent is None
    assert r.table is None
    assert r.history == []


def test_a_method_may_go_on_with_the_array_that_it_offered():
    r, z = run(), TOTAL.copy()
    r.offer(z, "m")
    z += 1
    np.testing.assert_array_equal(r.table, TOTAL)


def test_a_bound_only_rises_and_ends_the_run_within_the_gap():
    r = run(gap=0.1)
    r.raise_bound(1.5, "m")
    r.raise_bound(1.0, "m")
    assert (r.bound, r.gap, r.over()) == (1.5, None, False)
    r.offer(TOTAL, "m")
    assert (r.gap, r.over()) == (0.25, False)
    r.raise_bound(1.8, "m")
    assert r.gap == pytest.approx(0.1)
    assert r.over()
    assert r.left > 0  # not because time is up
    r.raise_bound(2 * (1 + 1e-12), "m")
    assert r.gap == 0


def test_a_table_at_no_cost_is_proven_by_itself():
    r = Run(by_hand("1 1 -1", [0, 0, 1], {0: (1, 1)}))
    r.offer(BOTH, "m")
    assert (r.gap, r.over()) == (0, True)


def test_asked_to_stop_it_is_over_and_keeps_what_it_has():
    r = run()
    r.offer(TOTAL, "m")
    assert not r.over()
    r.stop()
    assert (r.left, r.over(), r.out_of_time) == (0, True, True)
    np.testing.assert_array_equal(r.table, TOTAL)


def test_without_time_it_is_over_at_once():
    assert run(seconds=0.0).over()
    assert run(seconds=0.0).left == 0
    assert not run(seconds=60.0).over()
    assert run().left == np.inf


def test_each_improvement_is_told_once_in_order():
    told: list[Moment] = []
    r = run(report=told.append)
    r.offer(SHORT, "first")
    r.raise_bound(0.5, "second")
    r.raise_bound(0.5, "second")
    r.offer(FAR, "third")
    r.offer(FAR, "third")
    r.offer(TOTAL, "fourth")
    assert [(m.objective, m.bound, m.method) for m in told] == [
        (None, 0, "first"),
        (None, 0.5, "second"),
        (9, 0.5, "third"),
        (2, 0.5, "fourth"),
    ]
    assert told == r.history
    assert sorted(m.seconds for m in told) == [m.seconds for m in told]


def test_who_is_told_may_look_at_the_run_and_stop_it():
    seen = []

    def look(moment: Moment) -> None:
        seen.append((r.gap, r.over(), r.protected is not None, r.table is not None))
        r.stop()

    r = run(report=look)
    done = threading.Thread(target=r.offer, args=(TOTAL, "m"), daemon=True)
    done.start()
    done.join(10)
    assert not done.is_alive()
    assert seen == [(1.0, False, True, True)]
    assert r.over()


def test_a_report_that_fails_costs_no_table():
    def fail(moment: Moment) -> None:
        raise KeyboardInterrupt

    r = run(report=fail)
    with pytest.raises(KeyboardInterrupt):
        r.offer(FAR, "m")
    np.testing.assert_array_equal(r.table, FAR)
    with pytest.raises(KeyboardInterrupt):  # and the run is not locked
        r.offer(TOTAL, "m")
    np.testing.assert_array_equal(r.table, TOTAL)


def test_tables_of_a_smaller_problem_are_judged_as_tables_of_the_whole():
    """The methods work on secret 0 alone: what they offer is one number, what is kept are three."""
    r = run()
    r.restore = lambda z: np.array([z[0], 0.0, z[0]])
    assert not r.offer(np.array([6.0]), "m")
    assert r.offer(np.array([1.0]), "m")
    np.testing.assert_array_equal(r.incumbent.z, [1.0])
    np.testing.assert_array_equal(r.table, TOTAL)
    assert r.protected.verdict.objective == 2


def test_many_threads_offer_and_the_best_stays():
    r = run()
    sizes = np.linspace(1, 5, 400)

    def work(mine: np.ndarray) -> None:
        for size in mine:
            r.offer(np.array([size, 0.0, size]), "m")
            r.raise_bound(2 - size / 5, "m")

    threads = [
        threading.Thread(target=work, args=(np.random.default_rng(k).permutation(sizes[k::8]),))
        for k in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (r.protected.verdict.objective, r.bound) == (2, pytest.approx(1.8))
    objectives, bounds = [m.objective for m in r.history], [m.bound for m in r.history]
    known = [o for o in objectives if o is not None]
    assert known == sorted(known, reverse=True)
    assert bounds == sorted(bounds)


def test_a_verified_table_disproves_a_bound_and_all_others_of_that_method():
    r = run()
    r.raise_bound(1.5, "sound")
    r.raise_bound(3.0, "wrong")
    assert r.bound == 3.0
    r.offer(TOTAL, "m")
    assert r.bound == 1.5
    r.raise_bound(1.9, "wrong")
    assert r.bound == 1.5


def test_however_often_a_cell_was_tried_it_keeps_a_chance():
    tries = np.array([0.0, 1, 2, 499, 10_000_000])
    assert rested(tries)[:3].tolist() == [1, 0.5, 0.25]
    for factor in (0.5, 0.7):
        assert (rested(tries, factor) > 0).all()
        assert (np.diff(rested(tries, factor)) <= 0).all()
