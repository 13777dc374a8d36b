"""CTA: what each rung returns is a table the world cannot tell from the truth, and the MILP is the best of all senses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings
from oracle import Draw, closest_tables, one_cell_release, relations, releases

from sdc_tasks.domains.schema import RungOptions
from sdc_tasks.methods.attack import Requirements, baseline, promised
from sdc_tasks.methods.cta import CtaProblem, climb, release_problem, verify
from sdc_tasks.methods.cta.bcd import block_coordinate_descent
from sdc_tasks.methods.cta.elastic import Incumbent, elastic
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, Outcome
from sdc_tasks.model.weights import Weights, aggregate_weights

LAW = settings(derandomize=True, deadline=None, max_examples=20)
FEW = settings(LAW, max_examples=15)
RUNGS = {
    "milp cbc": RungOptions(method="milp", solver="cbc", gap=1e-4, accept_gap=0),
    "milp highs": RungOptions(method="milp", solver="highs", gap=1e-4, accept_gap=0),
    "bcd": RungOptions(method="bcd", blocks=3),
    "elastic": RungOptions(method="elastic"),
}


def model(draw: Draw, weights: Weights = Weights.ONE) -> tuple[CtaProblem, Requirements, np.ndarray]:
    """The CTA of a drawn release with at least one primary, its requirements, and the weights of its aggregate cells."""
    assume(draw.problem.primary.any())
    requirements, _ = baseline(draw.problem)
    weight = aggregate_weights(draw.problem, weights)
    return release_problem(draw.problem, requirements, weight), requirements, weight


def step(problem: ProtectionProblem, cta: CtaProblem, rung: RungOptions, before: Adjustment | None = None) -> Adjustment:
    return climb(cta, problem.a, rung, 1, problem.space.national_size, before or Adjustment())


def best_of_all_senses(problem: ProtectionProblem, requirements: Requirements, weight: np.ndarray) -> float | None:
    found = closest_tables(problem, np.column_stack([requirements.down, requirements.up]), weight)
    return min(found.values(), default=None)


@pytest.mark.parametrize("rung", RUNGS)
@FEW
@given(draw=releases(most=5, sliding=False))
def test_an_adjusted_table_is_a_table_and_protects(rung, draw):
    """Additive, inside the external bounds, public cells unmoved, each sensitive cell moved by its level, Σ w|z| as reported."""
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
    assert report.objective == pytest.approx(float(weight @ np.abs(z[p.aggregate])), rel=1e-6, abs=1e-6 * size)


@pytest.mark.parametrize("weights", [Weights.ONE, Weights.INVERSE])
@pytest.mark.parametrize("solver", ["milp cbc", "milp highs"])
@FEW
@given(draw=releases(most=5, sliding=False))
def test_the_milp_is_the_best_of_all_senses(solver, weights, draw):
    """2^s linear programs over all cells, set up from the release itself and not from the model."""
    cta, requirements, weight = model(draw, weights)
    best = best_of_all_senses(draw.problem, requirements, weight)
    (report,) = step(draw.problem, cta, RUNGS[solver]).rungs
    if best is None:
        assert report.outcome is Outcome.NONE
    else:
        assert report.outcome is Outcome.OPTIMAL
        scale = 1e-6 * (1 + best) + 1e-6 * float(weight.max() * np.abs(draw.problem.a).max())
        assert report.objective == pytest.approx(best, abs=scale)
        assert report.bound is not None
        assert report.bound <= best + scale


@pytest.mark.parametrize("size", [1e3, 1e6])
@pytest.mark.parametrize("nodes", [0, None])
@pytest.mark.parametrize("solver", ["cbc", "highs"])
@settings(FEW, max_examples=8, phases=[Phase.generate])
@given(draw=releases(most=5, sliding=False))
def test_optimum_and_bound_hold_in_any_unit(solver, nodes, size, draw):
    """Σ |z|/a is the same number for 5 and for 5 million: so must be the optimum, and a bound may never lie above it."""
    _, requirements, weight = model(draw, Weights.INVERSE)
    best = best_of_all_senses(draw.problem, requirements, weight)
    assume(best is not None and best > 1e-3)
    large = {name: getattr(draw.problem, name) * size for name in ("a", "lb", "ub", "lpl", "upl", "spl")}
    problem = replace(draw.problem, **large)
    cta = release_problem(problem, replace(requirements, down=requirements.down * size, up=requirements.up * size), weight / size)
    (report,) = step(problem, cta, RungOptions(method="milp", solver=solver, nodes=nodes, gap=1e-4, seconds=1)).rungs
    assert report.bound is None or report.bound <= best * (1 + 1e-4)
    if report.objective is not None:
        assert report.objective >= best * (1 - 1e-4)
    if nodes is None:
        assert report.outcome is Outcome.OPTIMAL
        assert report.objective == pytest.approx(best, rel=2e-4)


@LAW
@given(releases(most=5, sliding=False))
def test_one_block_is_the_milp(draw):
    """k = 1: the descent may stop at 1 % of the optimum, no further."""
    cta, requirements, weight = model(draw)
    best = best_of_all_senses(draw.problem, requirements, weight)
    (report,) = step(draw.problem, cta, RungOptions(method="bcd", blocks=1)).rungs
    if report.outcome is not Outcome.NONE:
        assert best is not None
        assert report.objective <= best * 1.0101 + 1e-4 * (1 + float(np.abs(draw.problem.a).max()) * 1e-2)
        assert report.objective >= best - 1e-4 * (1 + best)


@LAW
@given(releases(most=8, sliding=False))
def test_a_start_is_found_wherever_a_table_exists(draw):
    """Small tables: 200 rounds of local search must find the senses that fit; bcd and milp start there."""
    cta, requirements, weight = model(draw)
    if len(requirements.primaries) <= 5 and best_of_all_senses(draw.problem, requirements, weight) is not None:
        assert elastic(cta, 20, 200, 1)[0].verdict.unprotected == 0


@LAW
@given(releases(most=8, sliding=False))
def test_descent_never_ends_worse_than_it_starts(draw):
    cta, _, _ = model(draw)
    start, _ = elastic(cta, 20, 3, int(draw.rng.integers(99)))
    assume(start.verdict.unprotected == 0)
    best, clock = block_coordinate_descent(cta, start, draw.problem.space.national_size, 3, 2, 20, 1)
    assert not clock
    assert best.verdict == verify(cta, best.z)
    assert best.verdict.is_table
    assert best.rank <= start.rank


def test_descent_improves_where_it_can():
    """Two secrets of equal level that can cancel: AT up, BE down costs nothing. Both up costs 20."""
    problem = one_cell_release("AT 100 secret 10 | BE 200 secret 10", EU="AT BE")
    cta = release_problem(problem, baseline(problem)[0], np.ones(1))
    z = np.array([10, 10, 20]) / cta.unit
    start = Incumbent(z, verify(cta, z))
    assert (start.verdict.unprotected, start.verdict.objective) == (0, 20)
    best, _ = block_coordinate_descent(cta, start, 1, 1, 3, 20, 1)
    assert best.rank == (0, pytest.approx(0, abs=1e-6))


@LAW
@given(releases(most=8, sliding=False))
def test_the_adjusted_table_differs_from_the_truth_only_where_the_world_does_not_know(draw):
    cta, _, _ = model(draw)
    adjustment = step(draw.problem, cta, RUNGS["elastic"])
    if adjustment.x is not None:
        changed = adjustment.x != draw.problem.a
        assert not (changed & ~draw.problem.suppressed & ~draw.problem.aggregate).any()


@LAW
@given(releases(most=8, sliding=False))
def test_the_same_call_gives_the_same_table(draw):
    cta, _, _ = model(draw)
    for name in ("bcd", "elastic"):
        first, second = (step(draw.problem, cta, RUNGS[name]).x for _ in range(2))
        assert (first is None) == (second is None)
        assert first is None or first.tobytes() == second.tobytes()


# --- the verifier ---------------------------------------------------------------------------------------------------------------


@LAW
@given(releases(most=8, sliding=False))
def test_the_verifier_catches_a_tampered_table(draw):
    cta, _, _ = model(draw)
    good, _ = elastic(cta, 20, 30, 1)
    assume(good.verdict.unprotected == 0 and (np.maximum(cta.lpl, cta.upl) > 0).any())
    assert good.verdict.is_table

    related = np.flatnonzero(np.diff(cta.A.tocsc().indptr))
    not_additive = good.z.copy()
    not_additive[draw.rng.choice(related)] += 0.01
    assert not verify(cta, not_additive).is_table

    outside = good.z.copy()
    outside[draw.rng.integers(len(outside))] = 2 * cta.upper.max() + 1
    assert not verify(cta, outside).is_table

    both_sides = (cta.lpl > 1e-3) & (cta.upl > 1e-3)
    assert verify(cta, np.zeros_like(good.z)).unprotected == int(((cta.lpl > 0) & (cta.upl > 0)).sum())
    for p in np.flatnonzero(both_sides)[:1]:
        short = good.z.copy()
        short[cta.sensitive[p]] *= 0.999 * (cta.upl[p] if short[cta.sensitive[p]] > 0 else cta.lpl[p]) / abs(short[cta.sensitive[p]])
        assert verify(cta, short).unprotected == 1  # by a thousandth


def test_the_verifier_is_not_fooled_by_nan():
    problem = one_cell_release("AT 100 secret 10 | BE 200 secret 10", EU="AT BE")
    cta = release_problem(problem, baseline(problem)[0], np.ones(1))
    verdict = verify(cta, np.full(3, np.nan))
    assert not verdict.is_table
    assert verdict.unprotected == 2


# --- the ladder -----------------------------------------------------------------------------------------------------------------

NARROW = {"lb": np.array([98.0, 0, 0]), "ub": np.array([103, np.inf, np.inf])}
CANCELLING = one_cell_release("AT 100 secret 10 | BE 200 secret 10 | CY 5 public", EU="AT BE CY")


def cta_of(problem: ProtectionProblem, requirements: Requirements | None = None) -> CtaProblem:
    return release_problem(problem, requirements or baseline(problem)[0], np.ones(int(problem.aggregate.sum())))


def test_an_accepted_rung_stops_the_climb():
    first = step(CANCELLING, cta_of(CANCELLING), RUNGS["milp cbc"])
    assert first.accepted
    assert step(CANCELLING, cta_of(CANCELLING), RUNGS["elastic"], first) is first


def test_a_rung_that_does_no_better_leaves_the_table_and_says_so():
    problem = one_cell_release("AT 100 secret 10 | BE 4 public", EU="AT BE")
    first = step(problem, cta_of(problem), RungOptions(method="elastic"))
    assert not first.accepted
    second = step(problem, cta_of(problem), RungOptions(method="elastic"), first)
    np.testing.assert_array_equal(second.x, first.x)
    assert [rung.chosen for rung in second.rungs] == [True, False]


@pytest.mark.parametrize("rung", ["milp cbc", "milp highs"])
def test_an_impossible_problem_gives_no_table(rung):
    """AT's secret has an external upper bound of 103 and may not go below 98: 10 is promised, nothing can move that far."""
    problem = replace(one_cell_release("AT 100 secret 10 | BE 200 public", EU="AT BE"), **NARROW)
    impossible = replace(promised(problem), down=np.array([10.0]), up=np.array([10.0]))
    adjustment = step(problem, cta_of(problem, impossible), RUNGS[rung])
    assert adjustment.x is None
    assert not adjustment.accepted
    assert [report.outcome for report in adjustment.rungs] == [Outcome.NONE]


@pytest.mark.parametrize("rung", ["bcd", "elastic"])
def test_a_rung_names_what_falls_short_and_the_climb_goes_on(rung):
    problem = replace(one_cell_release("AT 100 secret 10 | BE 200 secret 10", EU="AT BE"), **NARROW)
    impossible = replace(promised(problem), down=np.array([10.0, 10]), up=np.array([10.0, 10]))
    adjustment = step(problem, cta_of(problem, impossible), RUNGS[rung])
    (report,) = adjustment.rungs
    assert (report.outcome, report.unprotected, report.accepted) == (Outcome.RELAXED, 1, False)
    assert adjustment.x is not None


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("cells", ["AT 100 hidden | BE 200 public", "AT 100 public | BE 200 public"])
def test_without_a_primary_the_closest_table_is_the_truth(rung, cells):
    problem = one_cell_release(cells, EU="AT BE")
    adjustment = step(problem, cta_of(problem), RUNGS[rung])
    assert adjustment.accepted
    np.testing.assert_array_equal(adjustment.x, problem.a)


@pytest.mark.parametrize("size", [0.01, 1.0, 1e6, 1e12])
def test_the_unit_of_the_data_is_of_no_matter(size):
    problem = one_cell_release(f"AT {100 * size} secret {10 * size} | BE {200 * size} secret {20 * size} | CY {size} public", EU="AT BE CY")
    for rung in RUNGS.values():
        (report,) = step(problem, cta_of(problem), rung).rungs
        assert report.unprotected == 0
        assert report.objective == pytest.approx(0, abs=1e-5 * size)  # one up, the other down by 20
