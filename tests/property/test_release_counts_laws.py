"""Small count rounding in a release against all sets of countries and all cells, one by
one; and releases cut into parts.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sdc_tasks.errors import InvalidInput
from sdc_tasks.judge.release.small import disclosed_small_counts
from sdc_tasks.methods.attack import attacks, audit, baseline, revealed_small_counts
from sdc_tasks.methods.indicator_blocks import restrict
from sdc_tasks.methods.rounding.aggregates import controlled_aggregates, quadratic_aggregates
from sdc_tasks.methods.rounding.counts import rounded_counts
from sdc_tasks.methods.rounding.small_count import CountOptions
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, Publication
from sdc_tasks.model.table import Aggregate, CellSpace
from support.laws import law
from support.oracles.attack import releases
from support.oracles.drawn import SIZE, counts

MANY = law(60)
FEW = law(25)


def follows(problem: ProtectionProblem, publication: Publication) -> set[int]:
    """The first composition of each sum or difference that tells a small count: all by plain
    loops over countries and leaves.
    """
    space, n, found = problem.space, problem.space.national_size, set()
    K = len(space.aggregates)
    value = publication.value.reshape(K, n)
    leaves = [
        i for i, key in enumerate(space.national_keys) if key[1] in {"A1", "A2", "B"} and key[2] != "_T"
    ]
    below = {"TOTAL": {"A1", "A2", "B"}, "A": {"A1", "A2"}}
    for factors in product((-1, 0, 1), repeat=K):
        held = {
            c: sum(f for f, each in zip(factors, space.aggregates, strict=True) if c in each.members)
            for c in space.countries
        }
        if not set(held.values()) <= {0, 1} or not any(held.values()):
            continue
        for cell, (_, activity, size) in enumerate(space.national_keys):
            told = sum(f * value[k, cell] for k, f in enumerate(factors) if f)
            for leaf in leaves:
                under = space.national_keys[leaf]
                if under[1] in below.get(activity, {activity}) and size in {"_T", under[2]}:
                    for i, country in enumerate(space.countries):
                        if held[country] and problem.public[i * n + leaf]:
                            told -= problem.a[i * n + leaf]
            if 0 < told < problem.least[0]:
                found.add((len(space.countries) + next(k for k, f in enumerate(factors) if f)) * n + cell)
    return found


@MANY
@given(counts(), st.sampled_from(["paper", "fast", "best"]))
def test_nothing_small_follows_and_every_cell_is_as_near_as_told(drawn, quality):
    problem, base = drawn
    found = rounded_counts(problem, CountOptions(1, base, quality))
    for _, publication in found.proposals():
        assert follows(problem, publication) == set()
        assert not len(revealed_small_counts(problem, publication))
        off = np.abs(publication.value - problem.a[publication.cells])
        assert (off <= publication.base / 2).all()
        assert (found.hidden[publication.exact] == 0).all()
    value = found.value.reshape(len(problem.space.aggregates), -1)
    assert not (problem.space.national_relations @ value.T).any()
    assert (found.furthest + 1) % base == 0


@MANY
@given(counts(), st.integers(0, 2**32 - 1))
def test_small_counts_are_found_wherever_they_follow(drawn, seed):
    """Any values, some withheld: the gate, the second program, and plain loops find the same."""
    problem, base = drawn
    rng = np.random.default_rng(seed)
    cells = np.flatnonzero(problem.aggregate)
    value = np.where(rng.random(len(cells)) < 0.2, np.nan, problem.a[cells] + rng.integers(-2, 3, len(cells)))
    publication = Publication(cells, value, np.where(np.isnan(value), np.inf, 2.0 * base + 1))
    expected = follows(problem, publication)
    assert set(revealed_small_counts(problem, publication).tolist()) == expected
    assert set(disclosed_small_counts(problem, publication)) == expected


@FEW
@given(counts())
def test_nobody_tells_a_small_count_closer_than_to_as_many_numbers_as_the_base(drawn):
    """Of the coarsest proposal at the latest: what is told then is no more than rounding every inner cell
    could do.
    """
    problem, base = drawn
    assume(problem.primary.any())
    requirements, _ = baseline(problem, ("external",))
    *_, (_, publication) = rounded_counts(problem, CountOptions(1, base)).proposals()
    report = audit(problem, publication, requirements)
    assert report.passed


@FEW
@given(counts())
def test_a_total_above_a_hidden_count_may_not_be_public(drawn):
    problem, base = drawn
    n = problem.space.national_size
    above = np.flatnonzero(problem.suppressed[:n])
    assume(len(above) > 0 and above[0] == 0)
    public, primary = problem.public.copy(), problem.primary.copy()
    public[0], primary[0] = True, False
    with pytest.raises(InvalidInput, match="nobody publishes"):
        rounded_counts(replace(problem, public=public, primary=primary), CountOptions(1, base))


@FEW
@given(counts(), st.sampled_from([2.0, 5.0, 10.0]))
def test_controlled_aggregates_add_up_in_and_between_compositions(drawn, base):
    class Wanted:
        reach, zero_restricted, gap, nodes, seconds = 3, False, 0.0, 5000, 600.0

        def __init__(self, base: float) -> None:
            self.base = base

    problem, _ = drawn
    what, publication = next(controlled_aggregates(problem, Wanted(base), 1, lambda _: None))
    value = publication.value.reshape(len(problem.space.aggregates), -1)
    assert not (problem.space.national_relations @ value.T).any()
    assert "base" in what
    assert (np.abs(publication.value - problem.a[publication.cells]) <= publication.base / 2).all()
    assert not (publication.value % base).any()


@FEW
@given(counts(), st.sampled_from([2.0, 5.0]))
def test_quadratic_aggregates_add_up_keep_margins_and_withstand_who_does_not_count(drawn, base):
    class Wanted:
        gap, nodes, seconds = 0.0, 5000, 600.0

        def __init__(self, base: float) -> None:
            self.base = base

    problem, _ = drawn
    requirements, _ = baseline(problem, ("external",))
    proposals = quadratic_aggregates(problem, requirements, Wanted(base), 1, 1, lambda _: None)
    for _, publication in islice(proposals, 2):
        value = publication.value.reshape(len(problem.space.aggregates), -1)
        assert not (problem.space.national_relations @ value.T).any()
        off = np.abs(publication.value - problem.a[publication.cells])
        assert (off <= publication.base / 2).all()
        assert not off[publication.exact].any()
        assert not attacks(problem, publication, requirements)


@FEW
@given(releases(most=6), st.sampled_from([("external",), ("external", "internal")]))
def test_parts_are_attacked_as_the_whole_is(drawn, profiles):
    """Two copies of a release as two indicators: what breaks in the whole breaks in the one part or the
    other.
    """
    one = drawn.problem
    space = one.space
    assume(len(space.indicators) == 1 and not space.indicator_relations)
    both = replace(space, indicators=(*space.indicators, "SECOND"))

    def twice(array: np.ndarray) -> np.ndarray:
        return np.repeat(array.reshape(len(space.areas), 1, -1), 2, axis=1).ravel()

    names = ("a", "lb", "ub", "lpl", "upl", "spl", "public", "primary", "known")
    whole = ProtectionProblem(
        both, **{name: twice(getattr(one, name)) for name in names}, deliveries=one.deliveries
    )
    requirements, _ = baseline(whole, profiles)
    cells = np.flatnonzero(whole.aggregate)
    exact = Publication(cells, whole.a[cells], np.zeros(len(cells)))
    parts = [restrict(whole, [indicator]) for indicator in both.indicators]
    assert np.array_equal(np.sort(np.concatenate([part.cells for part in parts])), np.arange(both.size))
    broken = {
        (int(requirements.primaries[each.requirement]), each.side)
        for each in attacks(whole, exact, requirements)
    }
    apart = set()
    for part in parts:
        assert part.problem.a.tolist() == one.a.tolist()
        own = part.requirements(requirements)
        apart |= {
            (int(part.cells[own.primaries[each.requirement]]), each.side)
            for each in attacks(part.problem, part.publication(exact), own)
        }
    assert apart == broken
    joined = Publication.nothing(cells)
    for part in parts:
        joined = part.into(joined, part.publication(exact))
    assert joined.digest == exact.digest
    back = parts[1].adjusted(parts[1].adjustment(Adjustment(whole.a + 1))).x
    assert np.array_equal(back, np.where(np.isin(np.arange(both.size), parts[1].cells), whole.a + 1, whole.a))


def test_linked_indicators_are_not_torn_apart():
    space = CellSpace(
        ("Q",), (Aggregate("P", ("Q",)),), ("ALL", "MEN", "WOMEN"), (SIZE,), (("ALL", ("MEN", "WOMEN")),)
    )
    a = np.tile([3.0, 2, 1, 2, 1, 1, 1, 1, 0], 2)
    zero, no = np.zeros(18), np.zeros(18, dtype=bool)
    problem = ProtectionProblem(space, a, zero, np.full(18, np.inf), zero, zero, zero, no, no, ("drawn",))
    with pytest.raises(ValueError, match="together"):
        restrict(problem, ["MEN"])
    assert restrict(problem, ["ALL", "MEN", "WOMEN"]).problem is problem
