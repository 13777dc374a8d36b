"""Bases that withstand somebody who has the program: every key, every hidden table, and
linear programs of another library.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from sdc_tasks.methods.attack import baseline, promised
from sdc_tasks.methods.attack.replay import Fitting, replay_collisions, support, widths, without_claim
from sdc_tasks.methods.attack.replay.residual import residual_uncertainty
from sdc_tasks.methods.bases.aware.floors import CellBases, Floors, floors_of
from sdc_tasks.methods.bases.aware.rule import around_of, aware
from sdc_tasks.methods.bases.comparison import RULES
from sdc_tasks.methods.bases.ladder import ladder_of
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.methods.primary import (
    NKRule,
    PercentRule,
    PPercentRule,
    PQRule,
    level_lines,
    protection_levels,
)
from sdc_tasks.model.problem import Levels
from sdc_tasks.model.results import Adjustment, Publication
from sdc_tasks.model.secret import Secret
from support.hidden_tables import (
    AWARE,
    PERCENT,
    drawn,
    gives,
    key_of,
    keyed,
    larger,
    moved,
    of_inner,
    pair,
    publish,
    publish_aware,
)
from support.oracles.wide import Oracle

OFTEN = BasesOptions(rule_aware=True, removed=0.9)


def secret(number: int) -> Secret:
    return Secret(bytes([number]) * 32)


def some_publication(problem, rng, coarsest=3):
    """A choice from the ladder, safe or not, of exact figures, some of the coarsest bases, and withheld
    cells.
    """
    ladder = ladder_of(problem, np.ones(int(problem.aggregate.sum())), AWARE)
    count = [np.flatnonzero(np.isfinite(base)) for base in ladder.base]
    return ladder.publication(
        np.array([0, *(int(rng.choice([0, *each[-coarsest:], ladder.withheld])) for each in count[1:])])
    )


def test_what_was_chosen_is_kept_with_what_it_loses():
    """So that a release says how its bases came about."""
    kept = dict[str, object]()
    case = keyed(drawn(0), None, AWARE)
    publication = aware(case, kept.__setitem__, [0])
    adjustment = kept[RULES]
    assert isinstance(adjustment, Adjustment)
    [rung] = adjustment.rungs
    assert (rung.chosen, rung.reason) == (True, "drawn and tested")
    taken = (case.ladder.base == publication.base[:, None]).argmax(axis=1)
    assert case.ladder.publication(taken).digest == publication.digest
    assert rung.objective == case.ladder.loss_of(taken)


def test_a_publication_is_wide_only_where_cold_programs_say_so():
    """It may be called narrow although it is wide: it then becomes coarser. But seldom."""
    wide = found_wide = 0
    for seed in range(12):
        problem, rng = drawn(seed), np.random.default_rng(seed)
        needs, _ = baseline(problem, ("external",))
        assert not needs.cut.any(), "the oracle knows no cuts"
        for _ in range(4):
            publication = some_publication(problem, rng)
            is_wide = Oracle(problem, publication, PERCENT / 100).wide()
            found = not residual_uncertainty(
                problem, needs.strongest, publication, np.full(problem.space.size, 1e-6)
            ).narrow.any()
            assert is_wide or not found, seed
            wide, found_wide = wide + is_wide, found_wide + found
    assert 48 > wide > 10
    assert found_wide >= 0.9 * wide


def test_no_end_that_holds_a_primary_is_nearer_than_it_could_be():
    """The upper end of one may follow from one published cell: then the lower one has to give
    the width. Others hold it as well.
    """
    wide = found_wide = empty = 0
    for seed in (12, 36, 192, 240, 691, 1291):
        problem, rng = larger(seed), np.random.default_rng(seed)
        needs, _ = baseline(problem, ("external",))
        assert not needs.cut.any(), "the oracle knows no cuts"
        for _ in range(6):
            publication = some_publication(problem, rng, 6)
            wide += Oracle(problem, publication, PERCENT / 100).wide()
            found = residual_uncertainty(
                problem, needs.strongest, publication, np.full(problem.space.size, 1e-6)
            )
            found_wide += not found.narrow.any()
            empty += found.window.inside is None
            assert found.narrow.all() or found.window.inside is not None, "no table is known that would pass"
    assert 36 > wide > 20
    assert found_wide == wide
    assert empty


@pytest.mark.parametrize(("public", "wide"), [(3_000_000.0, True), (2_999_999.0, False)])
def test_a_level_is_lost_where_tables_reach_the_value_beside_the_end_and_not_the_end(public, wide):
    """A0 is 0 to 2 000 000, or 1 to 2 000 001. With 1 as the least, no value below 600 001 passes
    the audit.
    """
    hidden = np.array([[True, True], [False, False], [False, False]])
    problem = of_inner(
        np.array([[1e6, 49e6], [public, 9e6], [0, 0]]), hidden, hidden & np.array([True, False])
    )
    level = np.where(problem.primary, 6e5, 0.0)
    problem = replace(problem, lpl=level, upl=level, levels=Levels(np.zeros(problem.space.size), level))
    publication = Publication(
        np.flatnonzero(problem.aggregate), np.array([np.nan, 4e6, np.nan]), np.array([np.inf, 2e6, np.inf])
    )
    needs, step = baseline(problem, ("external",))[0].strongest, np.ones(problem.space.size)
    assert residual_uncertainty(problem, needs, publication, step).narrow.any() != wide
    assert (
        widths(problem, needs, publication, step, 1, without_claim(problem, needs, step, 1)).narrow.any()
        != wide
    )


@pytest.mark.parametrize("slope", [PERCENT / 100, 0.0])
def test_a_primary_that_nothing_ends_has_a_claim(slope):
    """Its country hides the total, too: with nothing published it may have any value."""
    problem = pair(60)
    public = problem.public.copy()
    public[0] = False
    levels = Levels(np.where(problem.primary, slope, 0.0), np.where(problem.primary, 6.0, 0.0))
    problem = replace(problem, public=public, levels=levels)
    nothing = Publication.nothing(np.flatnonzero(problem.aggregate))
    assert not residual_uncertainty(
        problem, promised(problem, ("external",)), nothing, np.ones(problem.space.size)
    ).narrow.any()


def test_a_publication_that_no_table_fits_leaves_no_primary_wide():
    """Totals below what the countries show: whoever reads that has no claim to promise."""
    problem = pair(60)
    cells = np.flatnonzero(problem.aggregate)
    wrong = Publication(cells, np.full(len(cells), 1.0), np.zeros(len(cells)))
    needs = promised(problem, ("external",))
    found = residual_uncertainty(problem, needs, wrong, np.ones(problem.space.size))
    assert found.window is None
    assert found.narrow.all()
    assert len(found.narrow) == len(needs.primaries) > 0


def test_a_primary_that_its_country_tells_by_itself_does_no_harm():
    """Each country hides one cell, which its others tell. Noise of floats leaves it a range all the same."""
    of_primary = np.array([[False, False], [True, False], [False, False]])
    for seed in range(10):
        rng = np.random.default_rng(seed)
        problem = of_inner(
            np.array([rng.uniform(1e8, 1e9, 2), rng.uniform(1, 3, 2), [0, 0]]).round(3),
            of_primary,
            of_primary,
        )
        public = problem.public.copy()
        public[0] = False  # the total of the first country
        problem = replace(problem, public=public)
        nothing, step = (
            Publication.nothing(np.flatnonzero(problem.aggregate)),
            np.full(problem.space.size, 0.001),
        )
        residual_uncertainty(problem, promised(problem, ("external",)), nothing, step)


@pytest.mark.parametrize(
    "tables", [(132, 204), pytest.param(range(0, 301, 12), marks=pytest.mark.exhaustive)]
)
def test_every_key_and_every_table_give_the_support_of_theorem_3(tables):
    """The whole program, search included, for each of 16 keys and some tables: a table has a chance if
    and only if it passes both tests.
    """
    options = BasesOptions(rule_aware=True, mantissas=(1.0,), smallest=50.0, maximum_relative_base=1.0)
    truth = pair(143)
    publication = publish_aware(truth, None, options)
    assert publication.rounded.any()
    given = [0.0, 50.0, 500.0, np.inf]
    first = floors_of(truth, options, np.zeros(3, dtype=bool)).first
    for x in tables:
        problem = pair(x) if x else moved(truth, np.array([-143.0, 143.0]))
        fits = Oracle(problem, publication, PERCENT / 100)
        total = problem.a[publication.cells]
        inside = bool(((total >= publication.lower) & (total <= publication.upper)).all())
        chance = 0
        for one, other in product(given, given):
            floors = Floors(first, np.array([0.0, one, other]), key_of(problem, publication, options).down)
            chance += publish_aware(problem, floors, options).digest == publication.digest
        assert (chance > 0) == (inside and fits.passes(problem) and fits.wide()), x
        assert (chance > 0) == (inside and gives(problem, publication, options)), x


@pytest.mark.parametrize(
    "seed", [2, 3, pytest.param(14, marks=pytest.mark.slow), pytest.param(29, marks=pytest.mark.slow)]
)
def test_every_primary_keeps_both_levels_for_somebody_who_has_the_program(seed):
    problem = replace(drawn(seed), salt=secret(seed))
    publication = publish_aware(problem)
    tables = Fitting.of(problem, publication, np.ones(int(problem.suppressed.sum()))).every(150)
    assert tables is not None
    found = support(
        problem,
        promised(problem, ("external",)),
        tables,
        lambda z: float(gives(moved(problem, z), publication)),
    )
    assert not found.narrow.any()


@pytest.mark.parametrize("seed", [2, 3, 12])
def test_pairs_of_tables_are_as_far_apart_as_both_levels_and_the_program_gives_them_the_same(seed):
    problem = replace(drawn(seed), salt=secret(seed))
    publication, needs = publish_aware(problem), baseline(problem, ("external",))[0].strongest
    steps = np.ones(problem.space.size)
    fitting, found = (
        Fitting.of(problem, publication, steps[problem.suppressed]),
        residual_uncertainty(problem, needs, publication, steps),
    )
    asked = []

    def program(z):
        asked.append(z)
        return float(gives(moved(problem, z), publication))

    shown = replay_collisions(fitting, problem, needs, found.window, program, 10, 1)
    assert shown.kept == shown.asked == int((~needs.cut).sum()) > 0
    columns = np.searchsorted(fitting.cells, needs.primaries)
    reach = np.array(
        [[each[column] for each in (*asked, np.zeros(len(fitting.cells)))] for column in columns]
    )
    assert (np.ptp(reach, axis=1) >= needs.down + needs.up).all()
    assert replay_collisions(fitting, problem, needs, found.window, lambda z: 0.0, 10, 1).kept == 0
    assert replay_collisions(fitting, problem, needs, None, program, 1, 1).asked == 1


def test_the_default_rule_leaves_one_of_these_tables_less():
    problem = drawn(3)
    publication = publish(problem)
    tables = Fitting.of(problem, publication, np.ones(int(problem.suppressed.sum()))).every(150)
    found = support(
        problem,
        promised(problem, ("external",)),
        tables,
        lambda z: float(publish(moved(problem, z)).digest == publication.digest),
    )
    assert found.broken.any()


def test_the_same_key_gives_the_same_bytes_and_other_keys_others():
    told = {
        number: publish_aware(replace(drawn(3), salt=secret(number)), None, OFTEN).digest
        for number in (1, 2, 3, 4)
    }
    assert publish_aware(replace(drawn(3), salt=secret(1)), None, OFTEN).digest == told[1]
    assert len(set(told.values())) > 1


def test_a_draw_depends_on_the_key_the_epoch_and_the_cell_and_on_no_value():
    problem = replace(drawn(12), salt=secret(1))
    options = BasesOptions(rule_aware=True, removed=0.9)
    none = np.zeros(int(problem.aggregate.sum()), dtype=bool)
    one = floors_of(problem, options, none)
    other = floors_of(
        moved(problem, np.array([1.0, -1.0] + [0.0] * (int(problem.suppressed.sum()) - 2))), options, none
    )
    assert np.array_equal(one.finest, other.finest)
    assert np.array_equal(one.down, other.down)
    assert not np.array_equal(
        one.finest, floors_of(problem, BasesOptions(rule_aware=True, removed=0.9, epoch=2), none).finest
    )
    assert one.finest[0] == 0, "everybody can add this cell up: the key decides nothing"
    assert not floors_of(problem, options, ~none).finest.any(), "cells that must be exact stay so"


def test_the_chances_of_the_draws_are_those_that_are_stated():
    steps = CellBases.of(AWARE, 4321.0)
    assert steps.base(steps.first) == 5, "the first base of at least a thousandth"
    drawn_ = np.array([steps.finest(u) for u in (np.arange(200_000) + 0.5) / 200_000])
    assert np.isinf(drawn_).mean() == pytest.approx(AWARE.removed, abs=1e-4)
    for number in range(steps.first, steps.first + 8):
        assert (drawn_ == steps.base(number)).mean() == pytest.approx(
            steps.chance(steps.base(number)), abs=1e-4
        )
    assert drawn_.min() == steps.base(steps.first)


@pytest.mark.parametrize(
    "rule",
    [
        PercentRule(),
        PPercentRule(p=15),
        PQRule(p=10, q=60),
        NKRule(n=1, k=85),
        NKRule(n=2, k=90, minimum=3, few_units_minimum=7),
    ],
)
def test_a_level_is_the_function_of_the_value_that_is_stated(rule):
    rng = np.random.default_rng(1)
    n = 400
    units = rng.integers(-1, 6, n)
    one = np.where(rng.random(n) < 0.2, np.nan, rng.uniform(30, 99, n))
    two = (100 - one) * rng.random(n)
    slope, least = level_lines(units, one, two, rule)
    for value in (rng.uniform(0, 5, n), rng.uniform(0, 1e6, n)):
        assert np.allclose(
            np.maximum(slope * value, least), protection_levels(value, units, one, two, rule)[0], rtol=1e-12
        )


def test_more_is_withheld_only_around_cells_for_which_withholding_their_own_totals_is_not_enough():
    """Two countries hide a pair each. What is narrow in one of them says nothing about the other one."""
    hidden = np.array([[True, True, False], [True, True, False], [False, False, False]])
    problem = of_inner(np.full((3, 3), 100.0), hidden, hidden & np.array([True, False, False]))
    first, second = np.flatnonzero(problem.primary).tolist()
    none = np.zeros(problem.space.size, dtype=bool)
    one = around_of(problem, none, np.array([first]))
    assert np.flatnonzero(one).tolist() == [first]
    both = around_of(problem, one, np.array([second]))
    assert np.flatnonzero(both).tolist() == [first, second]
    beside = around_of(problem, both, np.array([second]))
    assert np.flatnonzero(beside).tolist() == [first, second, second + 1], (
        "the other half of its pair, and not that of the first"
    )
    every = around_of(problem, problem.suppressed.copy(), np.array([first]))
    assert np.array_equal(every, problem.suppressed), (
        "there is nothing more: the search is stuck and does not go on forever"
    )


def test_a_tie_goes_down_where_the_key_says_so():
    problem = pair(150)
    ladder = ladder_of(problem, np.ones(3), AWARE, np.array([False, True, False]))
    at = int(np.flatnonzero(ladder.base[1] == 20)[0])
    assert problem.a[problem.aggregate][1] == 480
    assert ladder.value[1, at] == 480
    other = ladder_of(pair(140), np.ones(3), AWARE, np.array([False, True, False]))
    assert (other.value[1, at], ladder_of(pair(140), np.ones(3), AWARE).value[1, at]) == (460, 480)


def test_the_case_has_only_what_the_key_leaves():
    problem = replace(drawn(12), salt=secret(4))
    options = BasesOptions(rule_aware=True, removed=0.9)
    floors = floors_of(problem, options, np.zeros(int(problem.aggregate.sum()), dtype=bool))
    ladder = keyed(problem, None, options).ladder
    assert (ladder.base >= floors.finest[:, None])[np.isfinite(ladder.loss)].all()
    assert floors.finest.any()
