"""Small count rounding that withstands somebody who has the program (METHOD §9, Theorem 5): every candidate
has a key.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.attack import audit, baseline
from sdc_tasks.methods.rounding.counts import rounded_counts
from sdc_tasks.methods.rounding.small_count import CountOptions, InnerCells, by_order, dummy_of, round_counts
from sdc_tasks.methods.rounding.small_count.drawn import UNDRAWN, directions
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import inside
from support.laws import law
from support.oracles.drawn import counts

MOST_SMALL = 5  # hidden small counts of a table whose keys are tried
KEYS = 400  # with five of them, all miss a wished pattern with the chance (31/32)^400 < 1e-5


def aware(base: int, seed: int, drawn: float = 1.0) -> CountOptions:
    return CountOptions(seed, base, rule_aware=True, drawn=drawn)


def hidden_leaves(problem: ProtectionProblem) -> np.ndarray:
    """Flat indices of the inner cells that nobody publishes."""
    n, count = problem.space.national_size, len(problem.space.countries)
    return np.flatnonzero(
        problem.suppressed[: count * n] & np.tile(inside(problem.space.hierarchies).ravel(), count)
    )


def with_count(problem: ProtectionProblem, cell: int, value: int) -> ProtectionProblem:
    """The problem in which this inner cell has another count, and all totals above it follow: by
    plain loops over the relations.
    """
    space, n = problem.space, problem.space.national_size
    own = problem.a[: len(space.countries) * n].reshape(-1, n).copy()
    own[cell // n, cell % n] = value
    M = space.national_relations.tocsr()
    for _ in range(M.shape[0]):  # from the parts upwards, until nothing changes any more
        for row in range(M.shape[0]):
            at, sign = M.indices[M.indptr[row] : M.indptr[row + 1]], M.data[M.indptr[row] : M.indptr[row + 1]]
            own[:, at[sign < 0][0]] = own[:, at[sign > 0]].sum(axis=1)
    within = np.array([[float(c in each.members) for c in space.countries] for each in space.aggregates])
    return replace(problem, a=np.concatenate([own.ravel(), (within @ own).ravel()]))


@pytest.mark.exhaustive
@law(12)
@given(counts(), st.integers(0, 10**6))
def test_every_candidate_of_every_hidden_count_has_a_key_that_prints_the_same(drawn, seed):
    problem, base = drawn
    leaves = hidden_leaves(problem)
    small = leaves[(problem.a[leaves] > 0) & (problem.a[leaves] < base)]
    assume(0 < len(small) <= MOST_SMALL)
    printed = rounded_counts(problem, aware(base, seed))
    for cell in small.tolist():
        same = set()
        for n in range(base + 1):
            other = with_count(problem, cell, n)
            assert other.a[cell] == n
            found = (rounded_counts(other, aware(base, key)) for key in range(KEYS))
            if any(_same(printed, each) for each in found):
                same.add(n)
        assert len(same) >= base, (problem.space.key(cell), same)


def _same(one, other) -> bool:
    return [each.digest for _, each in one.proposals()] == [each.digest for _, each in other.proposals()]


@law(25)
@given(counts(), st.integers(0, 10**6))
def test_a_key_publishes_one_proposal_that_the_audit_passes_and_says_the_same_again(drawn, seed):
    problem, base = drawn
    assume(problem.primary.any())
    options = aware(base, seed, 0.3)
    ((_, publication),) = rounded_counts(problem, options).proposals()
    assert (np.abs(publication.value - problem.a[publication.cells]) <= publication.base / 2).all()
    requirements, _ = baseline(problem, ("external",))
    assert audit(problem, publication, requirements).passed
    assert _same(rounded_counts(problem, options), rounded_counts(problem, options))


@law(25)
@given(counts(), st.integers(0, 10**6))
def test_how_far_a_cell_is_told_depends_on_flags_and_not_on_counts(drawn, seed):
    problem, base = drawn
    leaves = hidden_leaves(problem)
    assume(len(leaves))
    other = with_count(problem, int(leaves[seed % len(leaves)]), seed % (base + 3))
    ((_, one),) = rounded_counts(problem, aware(base, seed)).proposals()
    ((_, two),) = rounded_counts(other, aware(base, seed)).proposals()
    assert np.array_equal(one.base, two.base)


def cells_of(shape: tuple[int, int], y: np.ndarray) -> InnerCells:
    labels = tuple(tuple(f"{name}{i:03}" for i in range(n)) for name, n in zip("RC", shape, strict=True))
    return InnerCells(("R", "C"), labels, np.indices(shape).reshape(2, -1).astype(np.int32), y)


def test_the_draws_have_the_chances_that_are_stated_and_keys_differ():
    cells = cells_of((200, 100), np.ones(20_000, dtype=np.int64))
    every = np.ones(len(cells), dtype=bool)
    found = directions(cells, every, 3, 0.3, 7)
    for value, chance in ((0, 0.15), (3, 0.15), (UNDRAWN, 0.7)):
        assert (found == value).mean() == pytest.approx(chance, abs=0.01)
    other = directions(cells, every, 3, 0.3, 8)
    assert (found == other).mean() == pytest.approx(0.15**2 * 2 + 0.7**2, abs=0.02), (
        "as independent draws agree"
    )


def test_a_corrected_table_has_the_draws_of_the_first_one():
    """Other counts, and cells more or fewer: what the key says about a cell stays."""
    rng = np.random.default_rng(1)
    cells = cells_of((20, 10), rng.integers(1, 3, 200))
    every = np.ones(200, dtype=bool)
    found = directions(cells, every, 3, 0.5, 7)
    corrected = InnerCells(cells.dimensions, cells.labels, cells.codes[:, 30:], rng.integers(0, 3, 170))
    small = corrected.y > 0
    again = directions(corrected, small, 3, 0.5, 7)
    assert np.array_equal(again[small], found[30:][small])
    assert (again[~small] == UNDRAWN).all()


def test_every_small_count_is_rounded_and_no_other():
    rng = np.random.default_rng(2)
    cells = cells_of((12, 9), rng.integers(0, 9, 108))
    found = round_counts(dummy_of(cells, by_order(cells, 1)), aware(3, 11, 0.1))
    small = (cells.y > 0) & (cells.y < 3)
    assert set(found.inner[small].tolist()) <= {0, 3}
    assert np.array_equal(found.inner[~small], cells.y[~small])


@pytest.mark.parametrize(
    "more",
    [
        {"max_round": 4},
        {"zero_candidates": True},
        {"protect_zeros": True},
        {"leverage": True},
        {"drawn": 0.0},
    ],
)
def test_what_it_is_not_offered_with_is_refused(more):
    with pytest.raises(InvalidInput, match="Remedy"):
        CountOptions(1, 3, rule_aware=True, **more)


@pytest.mark.parametrize("name", ["force", "given"])
def test_cells_that_are_forced_or_given_are_not_drawn(name):
    cells = cells_of((2, 2), np.array([1, 2, 0, 5]))
    with pytest.raises(InvalidInput, match="leave out force and given"):
        round_counts(dummy_of(cells, by_order(cells, 2)), aware(3, 1), **{name: np.zeros(4, dtype=np.int64)})
