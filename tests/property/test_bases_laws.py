"""Safe bases: nearest multiples, the CTA rule, and what the repair leaves, judged by the oracle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.methods.attack import Attacker, audit, baseline
from sdc_tasks.methods.bases.cta_rule import choose, half_widths
from sdc_tasks.methods.bases.ladder import nearest_multiple
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.methods.bases.search.repair import repair
from sdc_tasks.model.results import Publication
from support.laws import law
from support.oracles.attack import one_cell_release, releases, shares
from support.oracles.drawn import OPTIONS, a_choice, ladder, quiet

LAW = law(60)
FEW = law(40)
COARSE = BasesOptions(mantissas=(1.0,), maximum_relative_base=10.0)


def contains(publication: Publication, value: np.ndarray, tolerance: float = 1e-9) -> np.ndarray:
    room = tolerance * (1 + np.abs(value))
    return (publication.lower <= value + room) & (publication.upper >= value - room)


# --- rounding -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "base", "rounded"),
    [
        (0, 10, 0),
        (4, 10, 0),
        (4.999, 10, 0),
        (5, 10, 10),
        (14, 10, 10),
        (15, 10, 20),
        (25, 10, 30),
        (697, 20, 700),
        (697, 50, 700),
        (2.5, 1, 3),
        (3.5, 1, 4),
        (7, 2, 8),
        (-4, 10, 0),
        (-5, 10, 0),
        (-6, 10, -10),
        (-15, 10, -10),
        (0.26, 0.5, 0.5),
        (0.24, 0.5, 0),
        (1e12 + 499, 1000, 1e12),
        (1e12 + 500, 1000, 1e12 + 1000),
        (49.99, 100, 0),
        (50, 100, 100),
    ],
)
def test_the_nearest_multiple_ties_up(value, base, rounded):
    assert nearest_multiple(np.array([value], dtype=float), np.array([base], dtype=float)).tolist() == [
        rounded
    ]


@LAW
@given(st.integers(-(10**9), 10**9), st.sampled_from([1, 2, 5, 10, 20, 50, 1000, 10**6]))
def test_the_nearest_multiple_is_a_multiple_and_none_is_nearer(value, base):
    (rounded,) = nearest_multiple(np.array([float(value)]), np.array([float(base)])).astype(int).tolist()
    assert rounded % base == 0
    assert -base < 2 * (rounded - value) <= base or 2 * (value - rounded) < base
    assert 2 * abs(rounded - value) <= base
    assert 2 * abs(rounded - value) < base or rounded > value


# --- the ladder ---------------------------------------------------------------------------------------------


def test_the_ladder_of_a_value():
    """697 with bases up to half of it: exact, 1, 2, 5, …, 200, then only withheld."""
    problem = one_cell_release("AT 100 secret 10 | BE 240 public | CY 357 public", EU="AT BE CY")
    options = ladder(problem)
    bases = options.base[0]
    assert bases[np.isfinite(bases)].tolist() == [0, 1, 2, 5, 10, 20, 50, 100, 200]
    assert options.value[0][:9].tolist() == [697, 697, 698, 695, 700, 700, 700, 700, 600]
    assert bases[options.withheld] == np.inf
    assert np.isnan(options.value[0][options.withheld])


@LAW
@given(releases(), st.sampled_from([0.05, 0.5, 3.0]))
def test_every_option_of_every_cell_contains_the_truth_and_keeps_the_maximum_relative_base(draw, most):
    options = ladder(draw.problem, BasesOptions(maximum_relative_base=most))
    truth = draw.problem.a[draw.problem.aggregate]
    for option in range(options.withheld + 1):
        publication = options.publication(np.full(len(truth), option))
        assert contains(publication, truth).all()
        assert (publication.rounded <= (publication.base <= most * np.abs(truth))).all()
        np.testing.assert_array_equal(np.isnan(publication.value), publication.withheld)
        np.testing.assert_array_equal(np.isinf(publication.base), publication.withheld)
        told = publication.rounded
        np.testing.assert_array_equal(publication.value[told] % publication.base[told], 0)
        np.testing.assert_allclose((truth - publication.lower)[told], options.low[told, option], atol=1e-9)
        np.testing.assert_allclose((publication.upper - truth)[told], options.high[told, option], atol=1e-9)
    assert options.publication(np.zeros(len(truth), dtype=int)).exact.all()
    assert options.publication(np.full(len(truth), options.withheld)).withheld.all()
    there = np.isfinite(options.base)
    dearer = options.loss[:, 1:] > np.where(there, options.loss, np.inf)[:, :-1]
    assert dearer[there[:, 1:]].all()


# --- the CTA rule -------------------------------------------------------------------------------------------


@LAW
@given(releases())
def test_the_cta_rule_takes_the_smallest_base_that_contains_truth_cta_value_and_its_mirror(draw):
    p = draw.problem
    options = ladder(p)
    truth = p.a[p.aggregate]
    z = np.zeros(p.space.size)
    z[p.aggregate] = np.round(draw.rng.normal(0, 30, len(truth)) * draw.rng.choice([0, 1], len(truth)), 1)
    choice = choose(p, options, p.a + z)
    publication = options.publication(choice)
    for value in (truth, truth + z[p.aggregate], truth - z[p.aggregate]):
        assert contains(publication, value).all()
    for k, option in enumerate(choice):
        for lower in range(option):
            smaller = options.publication(np.where(np.arange(len(choice)) == k, lower, choice))
            ends = np.array([truth[k] - abs(z[p.aggregate][k]), truth[k] + abs(z[p.aggregate][k])])
            assert not (smaller.lower[k] <= ends[0] - 1e-9 and smaller.upper[k] >= ends[1] + 1e-9)


def test_without_a_table_the_rule_starts_from_everything_exact():
    problem = one_cell_release("AT 100 secret 10 | BE 240 public", EU="AT BE")
    assert half_widths(problem, None).tolist() == [0]
    assert ladder(problem).publication(choose(problem, ladder(problem), None)).exact.all()


def test_a_base_that_rounds_off_centre_is_not_enough():
    """CTA moves 697 by 10. Base 20 reads [690, 710] and misses 687; base 50 reads [675, 725]."""
    problem = one_cell_release("AT 100 secret 10 | BE 240 public | CY 357 public", EU="AT BE CY")
    publication = ladder(problem).publication(
        choose(problem, ladder(problem), problem.a + np.array([10, 0, 0, 10]))
    )
    assert (publication.value.tolist(), publication.base.tolist()) == ([700], [50])


# --- repair -------------------------------------------------------------------------------------------------


@LAW
@given(
    releases(sliding=False),
    st.sampled_from([1, 60]),
    st.sampled_from([OPTIONS, COARSE, BasesOptions(maximum_relative_base=0.01)]),
)
def test_after_repair_the_oracle_finds_nothing_broken(draw, rounds, bases):
    """From any start: all exact, or any choice. `rounds = 1` goes straight to withholding."""
    requirements, _ = baseline(draw.problem, ("external",))
    options = ladder(draw.problem, bases)
    start = a_choice(draw, options) * draw.rng.choice([0, 1])
    choice = repair(Attacker(draw.problem, requirements), options, start, rounds, quiet, [])
    assert (choice >= start).all()
    publication = options.publication(choice)
    assert shares(draw.problem, publication).min(initial=1) >= 1 - 1e-4
    assert contains(publication, draw.problem.a[publication.cells]).all()
    assert audit(draw.problem, publication, requirements).passed


@FEW
@given(releases())
def test_after_repair_the_sliding_level_holds_as_well(draw):
    requirements, _ = baseline(draw.problem, ("external",))
    options = ladder(draw.problem)
    choice = repair(
        Attacker(draw.problem, requirements), options, np.zeros(len(options.cells), dtype=int), 60, quiet, []
    )
    assert audit(draw.problem, options.publication(choice), requirements).passed


def test_repair_meets_a_sliding_level_by_hand():
    """5 down, 5 up and 40 in all around 1 000: base 50 is the first that is wide enough."""
    problem = replace(one_cell_release("AT 1000 secret 5", EU="AT"), spl=np.array([40.0, 0]))
    options, (requirements, _) = ladder(problem), baseline(problem, ("external",))
    choice = repair(Attacker(problem, requirements), options, np.zeros(1, dtype=int), 60, quiet, [])
    assert audit(problem, options.publication(choice), requirements).passed
    assert options.publication(choice).base.tolist() == [50]


@FEW
@given(releases(sliding=False))
def test_a_cell_beyond_the_maximum_relative_base_is_withheld_and_nothing_else_is_coarser(draw):
    requirements, _ = baseline(draw.problem, ("external",))
    most = 0.02
    options = ladder(draw.problem, BasesOptions(maximum_relative_base=most))
    choice = repair(
        Attacker(draw.problem, requirements), options, np.zeros(len(options.cells), dtype=int), 60, quiet, []
    )
    publication = options.publication(choice)
    truth = np.abs(draw.problem.a[publication.cells])
    assert (publication.base[~publication.withheld] <= most * truth[~publication.withheld]).all()
    assert np.isnan(publication.value[publication.withheld]).all()
    assert np.isinf(publication.base[publication.withheld]).all()
