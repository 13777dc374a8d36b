"""The minimum-uncertainty rule beside its extensive form: one big LP with a copy of the
whole table for each requirement.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from sdc_tasks.methods.attack import Attacker, baseline
from sdc_tasks.methods.bases.search.extension import Extension
from sdc_tasks.methods.bases.search.minimum_uncertainty import HalfWidths, minimum_uncertainty
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from support.laws import law
from support.oracles.attack import needs, one_cell_release, relations, releases

LAW = law(40)


def quiet(message: str) -> None:
    """Nothing is said."""


def least_loss(problem: ProtectionProblem, needed: np.ndarray, weights: np.ndarray) -> float:
    """min Σ w h such that every side of every primary has a table within h of the true
    aggregates. Written down from METHOD §4.
    """
    aggregates = np.flatnonzero(problem.aggregate)
    n, k = problem.space.size, len(aggregates)
    M = sp.csr_array(relations(problem.space))
    picked = sp.csr_array((np.ones(k), (np.arange(k), aggregates)), shape=(k, n))
    wanted = [(p, sigma, need) for p, row in zip(np.flatnonzero(problem.primary), needed, strict=True)
              for sigma, need in zip((-1, 1), row, strict=False) if need > 0]  # fmt: skip
    if not wanted:
        return 0.0
    copies = sp.eye_array(len(wanted))
    h = sp.csr_array(np.ones((len(wanted), 1)))
    below = sp.hstack([sp.kron(h, -sp.eye_array(k)), sp.kron(copies, picked)])
    above = sp.hstack([sp.kron(h, -sp.eye_array(k)), sp.kron(copies, -picked)])
    lower = np.where(problem.public, 0.0, problem.lb - problem.a)
    upper = np.where(problem.public, 0.0, problem.ub - problem.a)
    lower[aggregates], upper[aggregates] = -np.inf, np.inf
    bounds = [(0.0, None)] * k
    for p, sigma, need in wanted:
        low, up = lower.copy(), upper.copy()
        need = need * (1 - 1e-7)  # a need cut at what the national tables protect lies on the edge
        low[p], up[p] = (need, max(up[p], need)) if sigma > 0 else (min(low[p], -need), -need)
        bounds += list(zip(low.tolist(), up.tolist(), strict=True))
    result = linprog(
        np.concatenate([weights, np.zeros(n * len(wanted))]),
        A_ub=sp.vstack([below, above]),
        b_ub=np.zeros(2 * k * len(wanted)),
        A_eq=sp.hstack([sp.csr_array((M.shape[0] * len(wanted), k)), sp.kron(copies, M)]),
        b_eq=np.zeros(M.shape[0] * len(wanted)),
        bounds=bounds,
        method="highs",
    )
    assert result.status == 0, result.message
    return float(result.fun)


def found_by_us(
    problem: ProtectionProblem, weights: np.ndarray, gap: float = 1e-6
) -> tuple[HalfWidths, Extension]:
    requirements, _ = baseline(problem, ("external",))
    attacker = Attacker(problem, requirements)
    cells = np.flatnonzero(problem.aggregate)
    attacker.set_publication(Publication(cells, problem.a[cells], np.zeros(len(cells))))
    attacker.prove_all()
    extension = Extension(problem, weights, requirements, attacker.broken)
    return minimum_uncertainty(extension, weights, gap, quiet), extension


def weights_of(problem: ProtectionProblem, kind: str) -> np.ndarray:
    size = np.maximum(np.abs(problem.a[problem.aggregate]), 1)
    return {"one": np.ones_like(size), "inverse": 1 / size, "sqrt": 1 / np.sqrt(size)}[kind]


@LAW
@given(releases(sliding=False), st.sampled_from(["one", "inverse", "sqrt"]))
def test_bound_and_loss_meet_at_the_optimum_of_the_extensive_form(draw, kind):
    weights = weights_of(draw.problem, kind)
    found, _ = found_by_us(draw.problem, weights)
    least = least_loss(draw.problem, needs(draw.problem), weights)
    assert found.bound <= least * (1 + 1e-4) + 1e-6
    assert found.loss == pytest.approx(least, rel=1e-3, abs=1e-5)
    assert found.bound == pytest.approx(least, rel=1e-3, abs=1e-5)
    assert (found.half >= 0).all()


@LAW
@given(releases(sliding=False), st.sampled_from([0.0, 0.5, 0.9, 1.1, 2.0]))
def test_what_was_found_for_other_requirements_changes_no_answer(draw, share):
    """A witness that was found for another requirement, scaled or mirrored, stands for
    an LP: the LP must say the same.
    """
    problem = draw.problem
    weights = weights_of(problem, "one")
    found, asked = found_by_us(problem, weights)
    requirements, _ = baseline(problem, ("external",))
    attacker = Attacker(problem, requirements)
    cells = np.flatnonzero(problem.aggregate)
    attacker.set_publication(Publication(cells, problem.a[cells], np.zeros(len(cells))))
    attacker.prove_all()
    half = share * found.half
    asked.set_slacks(half, half)
    for demand in asked.demands:
        fresh = Extension(problem, weights, requirements, attacker.broken)
        fresh.set_slacks(half, half)
        ours, theirs = asked.deficit(demand), fresh.deficit(demand)
        missing = [
            0.0 if deficit is None else float(weights @ (deficit.below + deficit.above))
            for deficit in (ours, theirs)
        ]
        assert missing[0] == pytest.approx(missing[1], rel=1e-4, abs=1e-4)


def test_two_countries_by_hand():
    """AT hides 100 and must keep 10 on both sides; BE and CY are public. The total must leave 10."""
    problem = one_cell_release("AT 100 secret 10 | BE 240 public | CY 357 public", EU="AT BE CY")
    found, _ = found_by_us(problem, np.ones(1))
    assert found.half.tolist() == pytest.approx([10], rel=1e-5)
    assert found.bound == pytest.approx(10, rel=1e-5)


def test_nothing_broken_nothing_lost():
    problem = one_cell_release("AT 100 hidden | BE 240 hidden | CY 357 secret 10", EU="AT BE CY")
    found, extension = found_by_us(problem, np.ones(1))
    assert (found.loss, found.bound, found.gap, extension.demands) == (0.0, 0.0, 0.0, [])
