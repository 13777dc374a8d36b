"""CTA of a release: what each rung returns is a table the world cannot tell from the truth, and the
MILP is the best of all senses.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given
from pydantic import ValidationError

from sdc_tasks.errors import Retriable
from sdc_tasks.judge.adjusted import verify
from sdc_tasks.methods.attack import Requirements, baseline, promised
from sdc_tasks.methods.cta import fallback
from sdc_tasks.methods.cta.blockwise.bcd import block_coordinate_descent
from sdc_tasks.methods.cta.engine import EngineOptions, execute
from sdc_tasks.methods.cta.fallback import climb
from sdc_tasks.methods.cta.model import CtaProblem, release_problem
from sdc_tasks.methods.cta.names import METHODS
from sdc_tasks.methods.cta.options import RungOptions
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, Outcome, Rung
from sdc_tasks.model.weights import Weights
from sdc_tasks.solver.clock import Abort
from support.laws import law
from support.oracles.attack import closest_tables, one_cell_release, relations, releases
from support.oracles.cta_tables import by_hand
from support.oracles.drawn import model, step

LAW = law(20)
FEW = law(12)
RUNGS = {
    "auto": RungOptions(method="auto", rounds=3),
    "milp cbc": RungOptions(method="milp", solver="cbc", nodes=10_000, gap=1e-4, accept_gap=0),
    "milp highs": RungOptions(method="milp", solver="highs", nodes=10_000, gap=1e-4, accept_gap=0),
    "bcd": RungOptions(method="bcd", blocks=3, rounds=1),
    "fix-and-relax": RungOptions(method="fix-and-relax", blocks=3),
    "benders": RungOptions(method="benders", rounds=999),
}
ENGINE = EngineOptions("auto", rounds=3, threads=1)


def engine(cta: CtaProblem, options: EngineOptions = ENGINE) -> Run:
    run = Run(cta, 20, 1e-4)
    execute(run, options)
    return run


def best_of_all_senses(
    problem: ProtectionProblem, requirements: Requirements, weight: np.ndarray
) -> float | None:
    found = closest_tables(problem, np.column_stack([requirements.down, requirements.up]), weight)
    return min(found.values(), default=None)


@pytest.mark.parametrize("rung", RUNGS)
@FEW
@given(draw=releases(most=5, sliding=False))
def test_an_adjusted_table_is_a_table_and_protects(rung, draw):
    """Additive, inside the external bounds, public cells unmoved, each sensitive cell moved
    by its level, Σ w|z| as reported.
    """
    p = draw.problem
    cta, requirements, weight = model(draw)
    adjustment = step(p, cta, RUNGS[rung])
    (report,) = adjustment.rungs
    assert (adjustment.x is None) == (report.outcome is Outcome.NONE)
    if adjustment.x is None:
        return
    x, z = adjustment.x, adjustment.x - p.a
    size = 1 + np.abs(p.a).max()
    assert np.abs(relations(p.space) @ x).max() <= 1e-6 * size
    assert ((x >= p.lb - 1e-6 * size) | p.aggregate).all()
    assert ((x <= p.ub + 1e-6 * size) | p.aggregate).all()
    np.testing.assert_array_equal(x[p.public], p.a[p.public])
    moved = z[p.primary]
    safe = (moved >= requirements.up - 1e-5 * size) | (moved <= -requirements.down + 1e-5 * size)
    assert report.unprotected >= int((~safe).sum())
    assert (report.unprotected == 0) == (report.outcome in {Outcome.OPTIMAL, Outcome.FEASIBLE})
    assert report.objective == pytest.approx(
        float(weight @ np.abs(z[p.aggregate])), rel=1e-6, abs=1e-6 * size
    )


@pytest.mark.parametrize("weights", [Weights.ONE, Weights.INVERSE])
@pytest.mark.parametrize("rung", ["auto", "milp cbc", "milp highs"])
@FEW
@given(draw=releases(most=5, sliding=False))
def test_the_best_of_all_senses_is_found(rung, weights, draw):
    """2^s linear programs over all cells, set up from the release itself and not from the model."""
    cta, requirements, weight = model(draw, weights)
    best = best_of_all_senses(draw.problem, requirements, weight)
    (report,) = step(draw.problem, cta, RUNGS[rung]).rungs
    if best is None:
        assert report.outcome in {Outcome.NONE, Outcome.RELAXED}
        assert rung == "auto" or report.outcome is Outcome.NONE
    else:
        scale = 1e-6 * (1 + best) + 1e-6 * float(weight.max() * np.abs(draw.problem.a).max())
        assert report.unprotected == 0
        assert rung == "auto" or report.outcome is Outcome.OPTIMAL
        assert report.objective == pytest.approx(
            best, rel=0.02 if rung == "auto" else 0, abs=scale
        )  # the gap that is asked for
        assert report.bound is None or report.bound <= best + scale


@pytest.mark.parametrize("size", [1e3, 1e6])
@pytest.mark.parametrize("nodes", [0, 10_000])
@pytest.mark.parametrize("solver", ["cbc", "highs"])
@law(8, phases=[Phase.generate])
@given(draw=releases(most=5, sliding=False))
def test_optimum_and_bound_hold_in_any_unit(solver, nodes, size, draw):
    """Σ |z|/a is the same number for 5 and for 5 million: so must be the optimum, and a bound may never lie
    above it.
    """
    _, requirements, weight = model(draw, Weights.INVERSE)
    best = best_of_all_senses(draw.problem, requirements, weight)
    assume(best is not None and best > 1e-3)
    large = {name: getattr(draw.problem, name) * size for name in ("a", "lb", "ub", "lpl", "upl", "spl")}
    problem = replace(draw.problem, **large)
    cta = release_problem(
        problem,
        replace(requirements, down=requirements.down * size, up=requirements.up * size),
        weight / size,
    )
    (report,) = step(problem, cta, RungOptions(method="milp", solver=solver, nodes=nodes, gap=1e-4)).rungs
    assert report.bound is None or report.bound <= best * (1 + 1e-6)
    if report.objective is not None and report.unprotected == 0:
        assert report.objective >= best * (1 - 1e-6)
    if nodes:
        assert report.outcome is Outcome.OPTIMAL
        assert report.objective == pytest.approx(best, rel=2e-4)


@LAW
@given(releases(most=5, sliding=False))
def test_one_block_is_the_milp(draw):
    """k = 1: all senses at once, until the gap asked for is proven."""
    cta, requirements, weight = model(draw)
    best = best_of_all_senses(draw.problem, requirements, weight)
    (report,) = step(draw.problem, cta, RungOptions(method="bcd", blocks=1, rounds=9, gap=1e-4)).rungs
    if report.unprotected == 0 and report.objective is not None:
        assert best is not None
        scale = 1e-4 * (1 + best) + 1e-6 * float(np.abs(draw.problem.a).max())
        assert report.objective == pytest.approx(best, abs=scale)


@LAW
@given(releases(most=8, sliding=False))
def test_a_table_is_found_wherever_one_exists(draw):
    cta, requirements, weight = model(draw)
    if (
        len(requirements.primaries) <= 5
        and best_of_all_senses(draw.problem, requirements, weight) is not None
    ):
        assert engine(cta).protected is not None


@law(20, suppress_health_check=[HealthCheck.filter_too_much])
@given(releases(most=8, sliding=False))
def test_descent_never_ends_worse_than_it_starts(draw):
    cta, _, _ = model(draw)
    start = engine(cta, replace(ENGINE, rounds=0)).table
    assume(start is not None and verify(cta, start).unprotected == 0)
    run = Run(cta, 20, 1e-4)
    run.offer(start, "start")
    block_coordinate_descent(cta, run, 3, 1, int(draw.rng.integers(99)))
    assert run.protected is not None
    assert run.protected.verdict == verify(cta, run.protected.z)
    assert run.protected.verdict.objective <= verify(cta, start).objective


def test_descent_improves_where_it_can():
    """Two secrets of equal level that can cancel: AT up, BE down costs nothing. Both up costs 20."""
    problem = one_cell_release("AT 100 secret 10 | BE 200 secret 10", EU="AT BE")
    cta = release_problem(problem, baseline(problem, ("external",))[0], np.ones(1))
    run = Run(cta, 20, 1e-4)
    run.offer(np.array([10, 10, 20]) / cta.unit, "start")
    assert run.incumbent.rank == (0, 20)
    block_coordinate_descent(cta, run, 1, 1)
    assert run.incumbent.rank == (0, pytest.approx(0, abs=1e-6))


@LAW
@given(releases(most=8, sliding=False))
def test_the_adjusted_table_differs_from_the_truth_only_where_the_world_does_not_know(draw):
    cta, _, _ = model(draw)
    adjustment = step(draw.problem, cta, RUNGS["auto"])
    if adjustment.x is not None:
        changed = adjustment.x != draw.problem.a
        assert not (changed & ~draw.problem.suppressed & ~draw.problem.aggregate).any()


@pytest.mark.parametrize("rung", RUNGS)
@law(6)
@given(draw=releases(most=8, sliding=False))
def test_the_same_call_gives_the_same_table(rung, draw):
    cta, _, _ = model(draw)
    first, second = (step(draw.problem, cta, RUNGS[rung]).x for _ in range(2))
    assert (first is None) == (second is None)
    assert first is None or first.tobytes() == second.tobytes()


# --- the mirror image ---------------------------------------------------------------------------------------


def test_a_table_leans_on_a_small_neighbour_unless_its_mirror_image_is_asked_for():
    """AT falls by 10 and BE rises by 10: at no cost, but BE cannot fall by 10. With a mirror
    image, BE and CY rise by 4 and 3.
    """
    problem = one_cell_release("AT 100 secret 10 | BE 4 hidden | CY 3 hidden", EU="AT BE CY")
    requirements = promised(problem, ("external",))
    one_sided, both_sided = (
        engine(release_problem(problem, requirements, np.ones(1), mirror)) for mirror in (False, True)
    )
    assert one_sided.protected.verdict.objective == pytest.approx(0, abs=1e-9)
    assert both_sided.protected.verdict.objective == pytest.approx(3)


@LAW
@given(releases(most=4, sliding=False))
def test_the_mirror_image_of_a_mirrored_table_is_a_table_too(draw):
    """2a − x: additive, inside the external bounds, public cells unmoved, and as far from the truth."""
    p = draw.problem
    _, requirements, weight = model(draw)
    cta = release_problem(p, requirements, weight, mirror=True)
    adjustment = step(p, cta, RUNGS["auto"])
    if adjustment.x is None:
        return
    mirrored = 2 * p.a - adjustment.x
    size = 1e-6 * (1 + np.abs(p.a).max())
    assert np.abs(relations(p.space) @ mirrored).max() <= size
    assert ((mirrored >= p.lb - size) | p.aggregate).all()
    assert ((mirrored <= p.ub + size) | p.aggregate).all()
    np.testing.assert_array_equal(mirrored[p.public], p.a[p.public])


def test_no_mirror_image_beyond_an_upper_bound():
    """BE lies 2 below its external upper bound and 50 above its lower one: with a mirror
    image it may fall by 2, no further.
    """
    problem = one_cell_release("AT 100 secret 10 | BE 50 hidden", EU="AT BE")
    problem = replace(problem, ub=np.array([np.inf, 52, np.inf]))
    run = engine(release_problem(problem, promised(problem, ("external",)), np.ones(1), mirror=True))
    assert abs(run.table[1]) * run.problem.unit <= 2 * (1 + 1e-6)
    assert run.protected.verdict.objective == pytest.approx(8)


# --- the verifier -------------------------------------------------------------------------------------------


@LAW
@given(releases(most=8, sliding=False))
def test_the_verifier_catches_a_tampered_table(draw):
    cta, _, _ = model(draw)
    run = engine(cta, replace(ENGINE, rounds=0))
    assume(run.protected is not None and (np.maximum(cta.lpl, cta.upl) > 0).any())
    good = run.table
    assert verify(cta, good).is_feasible

    related = np.flatnonzero(np.diff(cta.A.tocsc().indptr))
    not_additive = good.copy()
    not_additive[draw.rng.choice(related)] += 1e-5 * max(np.abs(good).max(), cta.smallest_level)
    assert not verify(cta, not_additive).is_feasible

    outside = good.copy()
    outside[draw.rng.integers(len(outside))] = 2 * cta.upper.max() + 1
    assert not verify(cta, outside).is_feasible

    both_sides = (cta.lpl > 1e-3) & (cta.upl > 1e-3)
    assert verify(cta, np.zeros_like(good)).unprotected == int(((cta.lpl > 0) & (cta.upl > 0)).sum())
    for p in np.flatnonzero(both_sides)[:1]:
        short = good.copy()
        short[cta.sensitive[p]] *= (
            0.999 * (cta.upl[p] if short[cta.sensitive[p]] > 0 else cta.lpl[p]) / abs(short[cta.sensitive[p]])
        )
        assert verify(cta, short).unprotected == 1  # by a thousandth


def test_the_verifier_is_not_fooled_by_nan():
    problem = one_cell_release("AT 100 secret 10 | BE 200 secret 10", EU="AT BE")
    cta = release_problem(problem, baseline(problem, ("external",))[0], np.ones(1))
    verdict = verify(cta, np.full(3, np.nan))
    assert not verdict.is_feasible
    assert verdict.unprotected == 2


# --- the ladder ---------------------------------------------------------------------------------------------

NARROW = {"lb": np.array([98.0, 0, 0]), "ub": np.array([103, np.inf, np.inf])}
CANCELLING = one_cell_release("AT 100 secret 10 | BE 200 secret 10 | CY 5 public", EU="AT BE CY")
CLOSEST, DEARER, DEAREST = (
    np.array([10.0, -10, 0]),
    np.array([12.0, -10, 2]),
    np.array([10.0, 10, 20]),
)  # of CANCELLING: AT, BE, EU
STRICT = RungOptions(method="auto", rounds=1, gap=0, accept_gap=0)


def cta_of(problem: ProtectionProblem, requirements: Requirements | None = None) -> CtaProblem:
    return release_problem(
        problem, requirements or baseline(problem, ("external",))[0], np.ones(int(problem.aggregate.sum()))
    )


def rung_that_finds(monkeypatch, *tables: np.ndarray, bound: float = 0.0, late: bool = False) -> None:
    """The engine stands aside: these tables are offered, in this order, and this bound."""

    def found(run, options, start=None):
        if start is not None:
            run.offer(start, "start")
        for z in tables:
            run.offer(z / run.problem.unit, "by hand")
        run.raise_bound(bound, "by hand")
        if late:
            monkeypatch.setattr(time, "monotonic", lambda: math.inf)
            assert run.over()

    monkeypatch.setattr(fallback, "execute", found)


def test_each_rung_is_recorded_with_what_it_found(monkeypatch):
    """20 away with a bound of 5, then 2 away: each better table is taken, and the bound of an
    earlier rung holds for all later ones.
    """
    cta, record = cta_of(CANCELLING), Adjustment()
    for table, bound in ((DEAREST, 1.5), (DEARER, 0.0)):
        rung_that_finds(monkeypatch, table, bound=bound)
        record = step(CANCELLING, cta, STRICT, record)
    assert [
        (rung.method, rung.outcome, rung.unprotected, rung.accepted, rung.chosen) for rung in record.rungs
    ] == [
        ("auto", Outcome.FEASIBLE, 0, False, True),
        ("auto", Outcome.FEASIBLE, 0, False, True),
    ]
    assert [rung.objective for rung in record.rungs] == pytest.approx([20, 2])
    assert [rung.bound for rung in record.rungs] == pytest.approx([1.5, 1.5])
    assert [rung.gap for rung in record.rungs] == pytest.approx([0.925, 0.25])
    np.testing.assert_allclose(record.x - CANCELLING.a, [12, -10, 0, 2])


def test_a_start_from_before_is_never_made_worse(monkeypatch):
    cta = cta_of(CANCELLING)
    rung_that_finds(monkeypatch, DEARER)
    before = step(CANCELLING, cta, STRICT)
    rung_that_finds(monkeypatch, DEAREST)
    after = step(CANCELLING, cta, STRICT, before)
    np.testing.assert_array_equal(after.x, before.x)
    assert [rung.chosen for rung in after.rungs] == [True, False]
    assert after.rungs[1].objective == pytest.approx(2)  # the start is what the rung ends with


@pytest.mark.parametrize("accept_gap", [0.5, 1.0])
def test_nothing_is_left_of_a_rung_whose_time_is_up(monkeypatch, accept_gap):
    """Neither a table that would be accepted nor one that would not: the release stops."""
    rung_that_finds(monkeypatch, DEARER, bound=0.5, late=True)
    with pytest.raises(Retriable, match="rung 1 of the ladder, auto: not done after 1800 seconds"):
        step(CANCELLING, cta_of(CANCELLING), replace_rung(STRICT, accept_gap=accept_gap))


@pytest.mark.parametrize(("method", "end"), [(m, t.ended_by) for m, t in METHODS.items()])
def test_a_rung_names_the_end_of_its_method_and_no_other(method, end):
    for name in {"rounds", "nodes"} - {end}:
        with pytest.raises(ValidationError, match=f"{name} do not end it"):
            RungOptions(method=method, **({end: 1} if end else {}), **{name: 1})
    if end is not None:
        with pytest.raises(ValidationError, match=f"{end} must be set to end it"):
            RungOptions(method=method)


@pytest.mark.parametrize(
    ("method", "said"), [("bcd", "1 round of bcd"), ("milp", "nodes of cbc"), ("benders", "of benders")]
)
def test_a_rung_says_how_far_it_went(method, said):
    cta, options = (
        cta_of(CANCELLING),
        RungOptions(method=method, **{METHODS[method].ended_by: 1}, gap=0, accept_gap=0),
    )
    (rung,) = step(CANCELLING, cta, options).rungs
    assert said in rung.reason


def test_no_method_searches_without_an_end_where_work_is_counted():
    for method, end in ((m, t.ended_by) for m, t in METHODS.items()):
        if end is not None:
            with pytest.raises(ValueError, match="has no end"):
                execute(Run(cta_of(CANCELLING), clock=Abort("this", 60)), EngineOptions(method))


def replace_rung(rung: RungOptions, **changes: float) -> RungOptions:
    return rung.model_copy(update=changes)


def test_a_protected_table_is_preferred_to_a_closer_one_that_falls_short(monkeypatch):
    short = np.array([10.0, 0, 10])
    cta = cta_of(CANCELLING)
    rung_that_finds(monkeypatch, short)
    before = step(CANCELLING, cta, STRICT)
    assert (before.rungs[0].outcome, before.rungs[0].unprotected) == (Outcome.RELAXED, 1)
    rung_that_finds(monkeypatch, DEAREST)
    after = step(CANCELLING, cta, STRICT, before)
    assert [rung.chosen for rung in after.rungs] == [True, True]
    np.testing.assert_allclose(after.x - CANCELLING.a, [10, 10, 0, 20])


def test_a_table_is_handed_from_rung_to_rung_in_data_units(monkeypatch):
    """The second rung finds nothing: it ends with the table of the first."""
    cta = cta_of(CANCELLING)
    rung_that_finds(monkeypatch, CLOSEST)
    before = step(CANCELLING, cta, replace_rung(STRICT, accept_gap=0))
    assert before.rungs[0].objective == 0
    unaccepted = replace(before, rungs=(replace(before.rungs[0], accepted=False),))
    rung_that_finds(monkeypatch)
    after = step(CANCELLING, cta, STRICT, unaccepted)
    assert (after.rungs[1].objective, after.rungs[1].outcome) == (0, Outcome.OPTIMAL)


def test_an_accepted_rung_stops_the_climb():
    first = step(CANCELLING, cta_of(CANCELLING), RUNGS["milp cbc"])
    assert first.accepted
    assert step(CANCELLING, cta_of(CANCELLING), RUNGS["auto"], first) is first


@pytest.mark.parametrize("rung", RUNGS)
def test_a_cell_that_cannot_move_is_named_with_the_remedy(rung):
    """AT's secret has an external upper bound of 103 and may not go below 98: 10 is
    promised, nothing can move that far.
    """
    problem = replace(one_cell_release("AT 100 secret 10 | BE 200 public", EU="AT BE"), **NARROW)
    impossible = replace(promised(problem, ("external",)), down=np.array([10.0]), up=np.array([10.0]))
    adjustment = step(problem, cta_of(problem, impossible), RUNGS[rung])
    assert adjustment.x is None
    (report,) = adjustment.rungs
    assert (report.outcome, report.accepted, report.chosen) == (Outcome.NONE, False, False)
    assert report.reason.startswith("cell 0 ")
    assert "Remedy" in report.reason


def test_a_rung_that_proves_there_is_no_table_leaves_the_one_from_before():
    problem = replace(one_cell_release("AT 100 secret 10 | BE 200 public", EU="AT BE"), **NARROW)
    impossible = replace(promised(problem, ("external",)), down=np.array([10.0]), up=np.array([10.0]))
    rung = Rung("auto", Outcome.RELAXED, 3.0, None, None, 0.0, "1 falls short", 1, chosen=True)
    short = Adjustment(problem.a + np.array([3.0, 0, 3]), (rung,))
    after = step(problem, cta_of(problem, impossible), RUNGS["milp cbc"], short)
    np.testing.assert_array_equal(after.x, short.x)
    assert [rung.chosen for rung in after.rungs] == [True, False]


@pytest.mark.parametrize("rung", RUNGS)
def test_secrets_that_do_not_fit_together_are_no_table(rung):
    """Each of three could fall alone, none can rise, and their total is fixed: found by no look at a single
    cell.
    """
    cta = by_hand("1 1 1", [1, 1, 1], {0: (1, 1), 1: (1, 1), 2: (1, 1)}, upper=0.5)
    adjustment = climb(cta, np.full(3, 100.0), RUNGS[rung], 1, Adjustment())
    (report,) = adjustment.rungs
    assert not adjustment.accepted
    assert report.outcome is Outcome.NONE or (report.outcome is Outcome.RELAXED and report.unprotected >= 1)
    if rung != "auto":  # the others prove it
        assert "cell " in report.reason
        assert "Remedy" in report.reason


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("cells", ["AT 100 hidden | BE 200 public", "AT 100 public | BE 200 public"])
def test_without_a_primary_the_closest_table_is_the_truth(rung, cells):
    problem = one_cell_release(cells, EU="AT BE")
    adjustment = step(problem, cta_of(problem), RUNGS[rung])
    assert adjustment.accepted
    np.testing.assert_array_equal(adjustment.x, problem.a)


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("size", [0.01, 1.0, 1e6, 1e12])
def test_the_unit_of_the_data_is_of_no_matter(size, rung):
    """AT up by 10, BE down by 20, which is free of cost only where AT goes up by 20."""
    problem = one_cell_release(
        f"AT {100 * size} secret {10 * size} | BE {200 * size} secret {20 * size} | CY {size} public",
        EU="AT BE CY",
    )
    adjustment = step(problem, cta_of(problem), RUNGS[rung])
    (report,) = adjustment.rungs
    assert report.unprotected == 0
    assert report.objective == pytest.approx(0, abs=1e-9 * size)
    assert adjustment.accepted
