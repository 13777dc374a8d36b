"""Cuts of successful attacks, the covering problem over them, and the rule for bases that is made of both."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from sdc_tasks.methods.attack import Attacker, audit, baseline
from sdc_tasks.methods.bases.ladder import Ladder
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.methods.bases.rules import Case, bound, by_audit, cutting_plane_choice, tighten
from sdc_tasks.methods.bases.search.cover import cover, drawn, least
from sdc_tasks.methods.bases.search.repair import raise_to, repair
from sdc_tasks.methods.bases.wishes import wishes_of
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.optimise import Cut
from support.laws import law
from support.oracles.attack import one_cell_release, releases, shares
from support.oracles.drawn import a_choice, divided, ladder, quiet, with_respondents

LAW = law(40)


def gives(cut: Cut, options: Ladder, choice: np.ndarray) -> float:
    """Σ price⁺ high + Σ |price⁻| low, one cell after the other."""
    total = 0.0
    for k, price in zip(cut.columns.tolist(), cut.coefficients.tolist(), strict=True):
        total += abs(price) * min((options.high if price > 0 else options.low)[k, choice[k]], 1e30)
    return total


def met(cuts: list[Cut], options: Ladder, choice: np.ndarray) -> bool:
    return all(gives(cut, options, choice) >= cut.right * (1 - 1e-6) for cut in cuts)


def case_of(problem: ProtectionProblem, options: Ladder) -> Case:
    weights = 1 / np.maximum(np.abs(problem.a[problem.aggregate]), 1)
    requirements, _ = baseline(problem, ("external",))
    none = wishes_of(problem, ())
    return Case(
        problem, requirements, Attacker(problem, requirements), options, weights, none, BasesOptions(), quiet
    )


@LAW
@given(releases())
def test_every_safe_publication_meets_every_cut_that_repair_has_left(draw):
    """Cuts from one start, safe choices from others: of the same release, on the same ladder."""
    requirements, _ = baseline(draw.problem, ("external",))
    attacker, options, cuts = Attacker(draw.problem, requirements), ladder(draw.problem), []
    safe = [repair(attacker, options, np.zeros(len(options.cells), dtype=int), 60, quiet, cuts)]
    safe += [repair(attacker, options, a_choice(draw, options), 60, quiet, []) for _ in range(4)]
    for choice in safe:
        assert met(cuts, options, choice)


@LAW
@given(releases(most=6, signed=False), st.booleans())
def test_cuts_hold_against_attackers_who_know_more_and_those_of_attacks_that_failed_as_well(draw, parts):
    """From a safe choice nothing but attacks that fail can leave a cut. With parts, LPs of a part of the
    table say nothing of the whole.
    """
    problem = with_respondents(draw)
    requirements, _ = baseline(problem, ("external", "internal", "coalition"))
    options, cuts = ladder(problem), []
    with divided(parts):
        attacker = Attacker(problem, requirements)
        found = repair(attacker, options, np.zeros(len(options.cells), dtype=int), 60, quiet, cuts)
        repair(attacker, options, found, 60, quiet, cuts)
        repair(Attacker(problem, requirements), options, found, 60, quiet, cuts)
        safe = [repair(attacker, options, a_choice(draw, options), 60, quiet, []) for _ in range(4)]
    for choice in (found, *safe):
        assert met(cuts, options, choice)


@LAW
@given(releases())
def test_between_any_choice_and_a_safe_one_above_it_repair_finds_a_safe_one(draw):
    case = case_of(draw.problem, ladder(draw.problem))
    safe = case.safe(a_choice(draw, case.ladder))
    below = draw.rng.integers(0, safe + 1)
    choice = case.between(below, safe)
    assert ((below <= choice) & (choice <= safe)).all()
    assert audit(draw.problem, case.ladder.publication(choice), case.requirements).passed


def test_repair_raises_no_cell_higher_than_its_cut_takes():
    """11.9 are missing. A gives 10 for 1; B gives 2 for 1 or 12 for 7, dearer than A for what A gives,
    but enough alone: 8 in all, 7 with B alone, 2 with both. C gives 1 for 0.05, the cheapest of all at
    first, and is not needed in the end.
    """
    inf = np.inf
    slack = np.array([[0.0, 10, 10, inf], [0, 2, 12, inf], [0, 1, 1, inf]])
    loss = np.array([[0, 1, inf, inf], [0, 1, 7, inf], [0, 0.05, inf, inf]])
    options = Ladder(np.arange(3), np.zeros_like(slack), 2 * slack, slack, slack, loss)
    choice = np.zeros(3, dtype=int)
    assert raise_to(Cut(np.arange(3), np.ones(3), 11.9), 11.9, options, choice, np.full(3, options.withheld))
    assert choice.tolist() == [1, 1, 0]


def small_pool(seed: int, cells: int, count: int) -> tuple[Ladder, list[Cut]]:
    rng, rungs = np.random.default_rng(seed), 3
    nothing, never = np.zeros((cells, 1)), np.full((cells, 1), np.inf)
    low, high, base = (
        np.hstack([nothing, np.cumsum(rng.integers(0, 5, (cells, rungs)), axis=1), never]) for _ in range(3)
    )
    loss = np.hstack([nothing, np.cumsum(rng.integers(1, 6, (cells, rungs + 1)), axis=1)])
    cuts = []
    for _ in range(count):
        some = rng.choice(cells, rng.integers(1, cells + 1), replace=False)
        cuts.append(
            Cut(
                some,
                rng.choice([-1.0, 1.0], len(some)) * rng.integers(1, 4, len(some)),
                float(rng.integers(1, 12)),
            )
        )
    return Ladder(np.arange(cells), np.zeros_like(base), base, low, high, loss), cuts


@pytest.mark.slow
def test_the_cover_is_next_to_always_the_cheapest_of_all_choices_and_no_cell_of_it_can_be_lowered():
    """200 small pools, every choice tried."""
    cheapest = tight = 0
    for seed in range(200):
        options, cuts = small_pool(seed, cells=1 + seed % 4, count=seed % 5)
        found = cover(options, cuts, np.full(len(options.cells), options.withheld), seed=1)
        assert met(cuts, options, found)
        for k in np.flatnonzero(found):
            lower = np.tile(found, (found[k], 1))
            lower[:, k] = np.arange(found[k])
            assert not any(met(cuts, options, choice) for choice in lower)
        choices = (np.array(choice) for choice in product(range(options.withheld + 1), repeat=len(found)))
        cheapest_of_all = min(options.loss_of(choice) for choice in choices if met(cuts, options, choice))
        assert options.loss_of(found) >= cheapest_of_all >= least(options, cuts) - 1e-9
        cheapest += options.loss_of(found) == cheapest_of_all
        tight += least(options, cuts) >= 0.8 * cheapest_of_all
    assert cheapest >= 190
    assert tight >= 100


@LAW
@given(st.integers(0, 10**6), st.integers(1, 60))
def test_a_draw_is_that_of_numpy_and_leaves_its_stream_at_the_same_place(seed, count):
    """Or else a search with the same seed publishes something else."""
    weight = np.random.default_rng(seed).lognormal(0, 5, count)
    ours, theirs = np.random.default_rng(seed + 1), np.random.default_rng(seed + 1)
    for _ in range(20):
        assert drawn(weight, ours) == theirs.choice(count, p=weight / weight.sum())
    assert ours.random() == theirs.random()


@law(20)
@given(st.integers(0, 10**6))
def test_the_bound_is_the_linear_relaxation_of_all_options(seed):
    """It is the optimum of the whole program by another solver's interface: a column for each cell
    and option, each cell takes one.
    """
    rng = np.random.default_rng(seed)
    n, m, bases = 6, 8, np.array([1.0, 2.0, 5.0, 10.0])
    half = np.hstack([np.zeros((n, 1)), np.tile(bases / 2, (n, 1)), np.full((n, 1), np.inf)])
    weight = rng.uniform(0.5, 2.0, n)[:, None]
    loss = np.hstack([np.zeros((n, 1)), weight * bases / 2, np.full((n, 1), 20.0)])
    loss[rng.random(loss.shape) < 0.1] = np.inf
    loss[:, [0, -1]] = 0.0, 20.0
    options = Ladder(
        np.arange(n), np.zeros_like(half), half * 2, half * rng.uniform(0.2, 1.8, half.shape), half, loss
    )
    cuts = [Cut(rng.choice(n, 4), rng.normal(size=4), float(rng.uniform(0.5, 4.0))) for _ in range(m)]
    gain = np.zeros((m, *loss.shape))
    for i, cut in enumerate(cuts):
        for k, price in zip(cut.columns.tolist(), cut.coefficients.tolist(), strict=True):
            gain[i, k] += (
                abs(price) * np.minimum((options.high if price > 0 else options.low)[k], 1e30) / cut.right
            )
    allowed = np.isfinite(loss).ravel()
    once = np.kron(np.eye(n), np.ones(loss.shape[1]))[:, allowed]
    gains = np.minimum(gain, 1.0).reshape(m, -1)[:, allowed]
    whole = linprog(loss.ravel()[allowed], np.vstack([-gains, once]), np.repeat([-1.0, 1.0], [m, n]))
    assert whole.status == 0
    assert least(options, cuts) == pytest.approx(whole.fun, rel=1e-6)


@LAW
@given(releases(sliding=False), st.sampled_from([0.0, 0.005]))
def test_the_rule_is_safe_loses_no_more_than_the_audit_alone_and_its_bound_holds(draw, charge):
    case = case_of(draw.problem, ladder(draw.problem, BasesOptions(rounding_charge=charge)))
    alone = by_audit(case)
    choice = cutting_plane_choice(case, alone)
    assert shares(draw.problem, case.ladder.publication(choice)).min(initial=1) >= 1 - 1e-4
    assert case.ladder.loss_of(choice) <= case.ladder.loss_of(alone)
    others = [
        repair(case.attacker, case.ladder, a_choice(draw, case.ladder), 60, quiet, []) for _ in range(3)
    ]
    assert bound(case) <= min(case.ladder.loss_of(each) for each in (choice, *others)) * (1 + 1e-6)


@LAW
@given(releases(sliding=False))
def test_no_cell_of_a_tightened_choice_can_be_lowered(draw):
    """Each lower option of each cell, alone, lets an attack succeed, or loses no less."""
    case = case_of(draw.problem, ladder(draw.problem))
    choice = tighten(case, case.safe(a_choice(draw, case.ladder)))
    assert case.broken(case.ladder.publication(choice)) == 0
    loss = case.ladder.loss
    for k in np.flatnonzero(choice):
        for option in np.flatnonzero(loss[k, : choice[k]] < loss[k, choice[k]]):
            lower = choice.copy()
            lower[k] = option
            assert case.broken(case.ladder.publication(lower)) > 0


def test_one_coarse_total_is_cheaper_than_two():
    """AT hides 100 in EU and EA. Rounding EU = 697 alone helps against EU only: both must be rounded, each
    to base 50 (or EA, 340, to 20).

    697 with base 20 reads [690, 710], 7 below; 340 with base 20 reads [330, 350], 10 to both sides.
    """
    problem = one_cell_release("AT 100 secret 10 | BE 240 public | CY 357 public", EU="AT BE CY", EA="AT BE")
    case = case_of(problem, ladder(problem))
    publication = case.ladder.publication(cutting_plane_choice(case, by_audit(case)))
    assert publication.base.tolist() == [50, 20]
    assert 0 < bound(case) <= case.ladder.loss_of(cutting_plane_choice(case, by_audit(case)))
