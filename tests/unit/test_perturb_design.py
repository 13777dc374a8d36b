"""The design of perturbation tables: laws of every row, a proof that a third party can read, and a second
engine that finds the same noise.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.perturb.design import (
    NoiseDesign,
    RowProgram,
    design_table,
    dual,
    likely,
    program_of,
    proof_of,
)
from sdc_tasks.methods.perturb.ptable import NoiseRow, PerturbationTable

DESIGNS = [
    NoiseDesign(1, 0.5),
    NoiseDesign(2, 1.0),
    NoiseDesign(3, 2.0, 1),
    NoiseDesign(5, 3.0, 2),
    NoiseDesign(10, 7.0, 4),
    NoiseDesign(4, 1.0, stay=0.5),
    NoiseDesign(5, 3.0, 2, at_most=True, monotone=True),
    NoiseDesign(40, 30.0),
]


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_every_row_keeps_its_laws(design):
    made = design_table(design)
    for count, row in enumerate(made.table.rows):
        published = row.steps[row.p > 0] + count
        assert row.p.sum() == pytest.approx(1, abs=1e-15)
        assert abs(row.mean) < 1e-12, "no bias"
        assert published.min() >= 0
        assert not ((published >= 1) & (published <= design.js)).any(), "nothing in 1 … js"
        assert np.abs(row.support).max() <= design.max_step
        if count and not design.at_most:
            assert row.variance == pytest.approx(design.variance, abs=1e-11)
        assert row.variance <= design.variance + 1e-11
    assert made.table.rows[0].steps.tolist() == [0]
    last = made.table.rows[-1]
    np.testing.assert_allclose(last.p, last.p[::-1], atol=1e-12)  # from here on nothing is cut off


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_every_row_has_a_proof(design):
    for proof in design_table(design).proofs:
        assert abs(proof.gap) < 1e-12
        assert proof.broken < 1e-12


def convex(program: RowProgram) -> np.ndarray:
    """The same program by a primal method that knows nothing of its dual."""
    m = len(program.steps)
    fixed, free = program.equal, ~program.equal
    rules = [
        {"type": "eq", "fun": lambda p: np.append(program.f[fixed] @ p - program.b[fixed], p.sum() - 1)},
        {"type": "ineq", "fun": lambda p: program.b[free] - program.f[free] @ p},
    ]
    found = minimize(
        lambda p: float(p @ np.log(p)),
        np.full(m, 1 / m),
        jac=lambda p: np.log(p) + 1,
        bounds=[(1e-12, 1)] * m,
        constraints=rules if free.any() else rules[:1],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return np.asarray(found.x)


@pytest.mark.parametrize("design", DESIGNS[:7], ids=str)
def test_a_primal_method_finds_the_same_noise(design):
    made = design_table(design).table
    for count in range(1, made.top + 1):
        other = convex(program_of(design, count))
        np.testing.assert_allclose(made.rows[count].p, other, atol=2e-6)


def test_constraints_that_depend_on_each_other_do_not_hide_a_row():
    """With steps −1, 0, 1 the variance is what does not stay: 0.5 of both."""
    design = NoiseDesign(max_step=1, variance=0.66, at_most=True, stay=0.5)
    [row] = [proof for proof in design_table(design).proofs if proof.gap > -1]
    assert row.entropy == pytest.approx(1.5 * np.log(2))
    assert abs(row.gap) < 1e-9


def test_weak_duality_holds_for_any_multipliers():
    """So a proof cannot be forged: whatever the multipliers, the bound is at least the largest entropy."""
    chance = np.random.default_rng(5)
    design = NoiseDesign(5, 3.0, 2, at_most=True, monotone=True)
    best = design_table(design).proofs[3].entropy
    program = program_of(design, 4)
    for _ in range(50):
        theta = chance.normal(size=len(program.b))
        theta[~program.equal] = np.abs(theta[~program.equal])
        proof = proof_of(program, likely(program, theta), theta)
        assert proof.bound >= best
        assert proof.bound == pytest.approx(dual(program, theta), rel=1e-12)
    theta[~program.equal] = -1.0
    with pytest.raises(ValueError, match="below 0"):
        proof_of(program, likely(program, theta), theta)


def test_a_proof_tells_a_row_that_is_not_the_best():
    program = program_of(NoiseDesign(2, 1.0), 2)
    p = np.array([0.125, 0.0, 0.75, 0.0, 0.125])  # no bias, variance 1, but less entropy
    theta = np.array([0.0, 0.45])
    assert proof_of(program, p, theta).gap > 0.1
    assert proof_of(program, np.array([0.2] * 5), theta).broken == pytest.approx(1)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ((0, 1.0), "largest step"),
        ((5, 0.0), "variance"),
        ((5, "3"), "variance"),
        ((5, float("nan")), "variance"),
        ((2.5, 1.0), "largest step"),
        ((True, 1.0), "largest step"),
        ((5, 3.0, 1.5), "js"),
        ((5, 25.0), "variance"),
        ((5, 3.0, 5), "js"),
        ((5, 3.0, 0, False, False, 1.0), "stay"),
    ],
)
def test_numbers_that_are_none_are_refused(asked, told):
    with pytest.raises(InvalidInput, match=f"{told}.*Remedy"):
        NoiseDesign(*asked)


def test_what_no_noise_can_do_is_refused_with_what_it_can():
    """Count 1, js 4: it goes to 0, or up by 4 at least, so its variance is 4 at least."""
    with pytest.raises(InvalidInput, match=r"count 1: .* above 4 and below 10. Remedy"):
        design_table(NoiseDesign(10, 3.5, 4))
    with pytest.raises(InvalidInput, match=r"count 1: .* above 0 and below 2. Remedy"):
        design_table(NoiseDesign(2, 3.0))
    assert design_table(NoiseDesign(2, 3.0, at_most=True)).table.rows[1].variance < 2


def test_a_row_that_is_none_is_refused():
    with pytest.raises(ValueError, match="sum to 1"):
        NoiseRow.likely([0, 1], [0.5, 0.4])
    with pytest.raises(ValueError, match="below 0"):
        NoiseRow.likely([-1, 0, 1], [0.7, -0.2, 0.5])
    stays = NoiseRow.likely([0], [1.0])
    with pytest.raises(ValueError, match="count 1 falls below 0"):
        PerturbationTable((stays, NoiseRow.likely([-2, 0], [0.5, 0.5])))
    with pytest.raises(ValueError, match="moves an empty cell"):
        PerturbationTable((NoiseRow.likely([0, 1], [0.5, 0.5]),))
