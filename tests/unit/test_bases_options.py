"""Options for bases, worked by hand: idle coarseness, strata, values that add up."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from pydantic import ValidationError

from sdc_tasks import pipeline
from sdc_tasks.domains import load_domain
from sdc_tasks.domains.schema import Domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.attack import audit, baseline
from sdc_tasks.methods.bases.ladder import Ladder, ladder_of, nearest_multiple
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.methods.bases.printed.additive import additive
from sdc_tasks.methods.bases.printed.implied import dominated_by_relation, tighten_to_implied_intervals
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, Publication
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy
from sdc_tasks.optimise import Cut
from support.oracles.attack import one_cell_release, published, shares, table_of

TWO_ACTIVITIES = Hierarchy("ACTIVITY", ("TOTAL", "A", "B"), (None, "TOTAL", "TOTAL"))


def domain_with(**bases: object) -> Domain:
    return load_domain("sbs").model_copy(update={"bases": BasesOptions.model_validate(bases)})


def chosen(problem: ProtectionProblem, heard: list[str] | None = None, **bases: object) -> Publication:
    requirements, _ = baseline(problem, ("external",))
    return pipeline.choose_bases(
        problem, requirements, Adjustment(), domain_with(**bases), (heard if heard is not None else []).append
    )


# --- no cell coarser than what the others tell of it --------------------------------------------------------


def two_totals() -> ProtectionProblem:
    """EU = 700 and EA = 350 both hold AT's secret 100; UK = 350, public, is in EU alone: EA =
    EU − 350, whatever is published.
    """
    return one_cell_release("AT 100 secret 10 | BE 250 public | UK 350 public", EU="AT BE UK", EA="AT BE")


def options_of(problem: ProtectionProblem) -> tuple[Ladder, dict[float, int]]:
    """The ladder 1, 2, 5 …, and the option of each base."""
    ladder = ladder_of(problem, np.ones(int(problem.aggregate.sum())), BasesOptions())
    return ladder, {
        0: 0,
        **{base: i for i, base in enumerate((1, 2, 5, 10, 20, 50, 100, 200), start=1)},
        np.inf: ladder.withheld,
    }


@pytest.mark.parametrize(
    ("bases", "sharper"),
    [
        # EU reads [690, 710], so EA lies in [340, 360]: 50 reads [325, 375]; 20 would read [350,
        # 370], and 10 only [345, 355].
        ((20, np.inf), (20, 50)),
        # 100 reads [350, 450], and with EU [350, 360] is left: 20 reads [350, 370], and 10 only [345, 355].
        ((20, 100), (20, 20)),
        # An exact EU gives EA away: withholding it, or EA coarser than EU, protects nobody.
        ((0, np.inf), (0, 0)),
        ((0, 50), (0, 0)),
        # EA reads [340, 360] or so: EU need not be withheld either.
        ((np.inf, 50), (50, 50)),
        # Nothing is implied by nothing.
        ((np.inf, np.inf), (np.inf, np.inf)),
    ],
)
def test_a_composition_is_no_coarser_than_the_other_makes_it(bases, sharper):
    problem = two_totals()
    ladder, option = options_of(problem)
    choice = np.array([option[base] for base in bases])
    assert ladder.publication(tighten_to_implied_intervals(problem, ladder, choice)).base.tolist() == list(
        sharper
    )


def test_an_interval_that_misses_a_little_of_what_is_implied_will_not_do():
    """EA = 351 lies in [326, 376] by EU = [675, 725]: its base 50 reads [325, 375], and to print
    that would tell a value from it.
    """
    problem = one_cell_release("AT 100 secret 10 | BE 251 public | UK 349 public", EU="AT BE UK", EA="AT BE")
    ladder, option = options_of(problem)
    choice = np.array([option[50], option[np.inf]])
    assert tighten_to_implied_intervals(problem, ladder, choice).tolist() == choice.tolist()


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (
            ((600, 20), "exact", (200, 50)),
            [False, False, True],
        ),  # TOTAL less A = [190, 210], inside [175, 225]
        (((600, 100), (400, 10), (200, 10)), [True, False, False]),  # A + B = [590, 610], inside [550, 650]
        (((600, 20), "exact", (200, 20)), [False, False, False]),  # each says what the other does
        (((600, 20), "exact", "withheld"), [False, False, False]),
        (((600, 20), "withheld", (200, 50)), [False, False, False]),  # A is only known to be BE's 300 or more
        (
            ((600, 20), (410, 60), (200, 50)),
            [False, False, False],
        ),  # TOTAL less A = [150, 230], less B = [365, 435]: both wider
        (
            ((590, 40), "exact", (210, 70)),
            [False, False, False],
        ),  # TOTAL less A = [170, 210], not inside [175, 245]
        (("exact", (400, 60), (200, 10)), [False, True, False]),
    ],
)
def test_a_cell_is_outdone_by_what_one_relation_tells(cells, told):
    problem = two_activities()
    assert dominated_by_relation(problem, published(problem, *cells)).tolist() == told


def test_a_release_sharpens_where_the_domain_asks_for_it(monkeypatch):
    """A repair that withholds for no reason, as the last round may: EA is told as well as EU tells it."""
    problem = two_totals()
    _, option = options_of(problem)
    careless = np.array([option[50], option[np.inf]])
    monkeypatch.setattr("sdc_tasks.methods.bases.rules.repair", lambda *_: careless)
    assert chosen(problem, rule="cta").withheld.tolist() == [False, True]
    sharper = chosen(problem, rule="cta", sharpen=True)
    assert sharper.withheld.tolist() == [False, False]
    assert shares(problem, sharper).min() >= 1 - 1e-4


# --- one base per stratum -----------------------------------------------------------------------------------


def two_activities() -> ProtectionProblem:
    """AT hides everything: A = 100 needs 10, B = 60 needs 1. BE is public: A = 300, B = 140."""
    space = CellSpace(("AT", "BE"), (Aggregate("EU", ("AT", "BE")),), ("TURNOVER",), (TWO_ACTIVITIES,))
    level = np.zeros(space.size)
    level[1], level[2] = 10, 1
    public = np.zeros(space.size, dtype=bool)
    public[3:6] = True
    return ProtectionProblem(
        space=space,
        a=table_of(space, [100, 60, 300, 140]),
        lb=np.zeros(space.size),
        ub=np.full(space.size, np.inf),
        lpl=level,
        upl=level.copy(),
        spl=np.zeros(space.size),
        public=public,
        primary=level > 0,
        deliveries=("drawn",),
    )


@pytest.mark.parametrize("rule", ["cta", "minimum-uncertainty"])
def test_the_cells_of_a_stratum_take_the_base_of_the_neediest(rule):
    """EU.A = 400 needs [390, 410], base 20; EU.B = 200 would do with less, and TOTAL, a level of
    its own, follows what they leave.
    """
    problem = two_activities()
    apart = chosen(problem, rule=rule)
    assert apart.base[1] == 20
    assert apart.base[2] < 20
    together = chosen(problem, rule=rule, strata={"ACTIVITY": "level"})
    assert together.base[1:].tolist() == [20, 20]
    assert shares(problem, together).min() >= 1 - 1e-4
    one = chosen(problem, rule=rule, strata={})
    assert len(set(one.base.tolist())) == 1
    assert shares(problem, one).min() >= 1 - 1e-4


def test_a_cell_too_small_for_the_base_of_its_stratum_is_withheld_alone():
    """20 is 10 % of 200, and 5 % of 400. To withhold A instead loses less, unless A is worth more."""
    found = chosen(two_activities(), strata={"ACTIVITY": "level"}, maximum_relative_base=0.06)
    assert found.base[1:].tolist() == [np.inf, 2]
    wish = [{"cells": "EU.TURNOVER.A", "cost": 3}]
    found = chosen(two_activities(), strata={"ACTIVITY": "level"}, maximum_relative_base=0.06, cells=wish)
    assert found.base[1:].tolist() == [20, np.inf]
    assert shares(two_activities(), found).min() >= 1 - 1e-4


def test_a_cell_that_must_be_exact_and_public_sums_stay_out_of_the_stratum():
    problem = two_activities()
    found = chosen(problem, strata={}, cells=[{"cells": "EU.TURNOVER.TOTAL", "must": "exact"}])
    assert found.base.tolist() == [0, 20, 20]
    told = problem.public.copy()
    told[2] = True
    level = np.where(told, 0.0, problem.lpl)
    half_public = replace(problem, public=told, primary=problem.primary & ~told, lpl=level, upl=level)
    assert chosen(half_public, strata={"ACTIVITY": "level"}).base[1:].tolist() == [20, 0]


def test_a_cell_that_must_be_published_holds_its_stratum_back():
    """B may not be withheld, so the stratum stops at 10, 5 % of 200; A needs 20 and is withheld."""
    wish = [{"cells": "EU.TURNOVER.B", "must": "published"}]
    found = chosen(two_activities(), strata={"ACTIVITY": "level"}, maximum_relative_base=0.06, cells=wish)
    assert np.isfinite(found.base[2])
    assert found.base[2] <= 10
    assert np.isinf(found.base[1])


def test_what_the_whole_stratum_gives_to_a_cut_counts():
    """19.9 are missing, and base 20 gives 10 in A and 10 in B: nothing is raised any further."""
    problem = two_activities()
    ladder = ladder_of(problem, np.ones(3), BasesOptions()).in_strata(np.array([-1, 0, 0]))
    cut, choice = Cut(np.array([1, 2]), np.ones(2), 19.9), np.zeros(3, dtype=int)
    sys.modules["sdc_tasks.methods.bases.search.repair"].raise_to(
        cut, 19.9, ladder, choice, np.full(3, ladder.withheld)
    )
    assert ladder.publication(choice).base.tolist() == [0, 20, 20]


def test_a_start_is_evened_out_to_what_every_cell_of_the_stratum_may_take():
    """A = 400 starts at 50; B = 200, which must be published with at most 6 %, may have 10."""
    problem = two_activities()
    published_b = np.array([False, False, True])
    ladder = ladder_of(problem, np.ones(3), BasesOptions(maximum_relative_base=0.06)).keeping(
        np.zeros(3, dtype=bool), published_b
    )
    stratified, option = ladder.in_strata(np.array([-1, 0, 0])), {1: 1, 5: 3, 10: 4, 20: 5}
    assert stratified.even(np.array([option[1], option[20], option[5]])).tolist() == [
        option[1],
        option[10],
        option[10],
    ]
    withheld = ladder.withheld
    assert stratified.even(np.array([withheld, withheld, option[5]])).tolist() == [
        withheld,
        withheld,
        option[5],
    ]
    assert ladder.even(np.array([option[1], option[20], option[5]])).tolist() == [
        option[1],
        option[20],
        option[5],
    ]


def test_strata_by_something_that_is_no_hierarchy_are_refused():
    with pytest.raises(InvalidInput, match=r"bases\.strata: SIZE is no hierarchy.*Remedy: use ACTIVITY"):
        chosen(two_activities(), strata={"SIZE": "level"})


@pytest.mark.parametrize("other", ["sharpen", "additive"])
def test_strata_and_what_gives_each_cell_a_base_of_its_own_are_refused_together(other):
    with pytest.raises(ValidationError, match="not together with"):
        BasesOptions.model_validate({"strata": {}, other: True})


# --- values that add up -------------------------------------------------------------------------------------


def eu_alone(
    *cells: tuple[float, float] | str, values: tuple[float, float] = (14, 14)
) -> tuple[CellSpace, Publication]:
    """TOTAL, A, B of EU; `values` are those of A and B."""
    space = CellSpace(("AT",), (Aggregate("EU", ("AT",)),), ("TURNOVER",), (TWO_ACTIVITIES,))
    n, truth = space.size, table_of(space, values)
    problem = ProtectionProblem(
        space=space,
        a=truth,
        lb=np.zeros(n),
        ub=np.full(n, np.inf),
        lpl=np.zeros(n),
        upl=np.zeros(n),
        spl=np.zeros(n),
        public=np.arange(n) < 3,
        primary=np.zeros(n, dtype=bool),
        deliveries=("drawn",),
    )
    return space, published(problem, *cells)


def test_three_cells_by_hand():
    """28 = 14 + 14 rounds to 30, 10, 10. Inside [25, 35], [5, 15], [5, 15] the nearest
    that add up are 10 away in all.
    """
    space, safe = eu_alone((30, 10), (10, 10), (10, 10))
    found = additive(space, safe, np.zeros(3, dtype=int), np.zeros(3), np.full(3, np.inf))
    assert found is not None
    assert found.value[0] == found.value[1] + found.value[2]
    moves = np.abs(found.value - safe.value)
    assert moves.sum() == 10
    assert found.base.tolist() == (10 + 2 * moves).tolist()
    assert (found.lower <= safe.lower).all()
    assert (found.upper >= safe.upper).all()


def test_exact_and_withheld_cells_stay_as_they_are():
    """TOTAL = 28 is exact: A and B, at most 15 each, share the 8 between them. A
    withheld TOTAL asks for nothing.
    """
    space, safe = eu_alone("exact", (10, 10), (10, 10))
    found = additive(space, safe, np.zeros(3, dtype=int), np.zeros(3), np.full(3, np.inf))
    assert found is not None
    assert (found.value[0], found.value[1] + found.value[2]) == (28, 28)
    assert max(found.value[1:]) <= 15
    space, safe = eu_alone("withheld", (10, 10), (10, 10))
    found = additive(space, safe, np.zeros(3, dtype=int), np.zeros(3), np.full(3, np.inf))
    assert found is not None
    assert found.digest == safe.digest


def test_nothing_is_printed_below_what_the_world_knows():
    """3 = 0 + 3, a base of 10 around 0: TOTAL 0 reads [−5, 5], but a turnover of −3 would be seen through."""
    space, safe = eu_alone((0, 10), (0, 10), "exact", values=(0, 3))
    found = additive(space, safe, np.zeros(3, dtype=int), np.zeros(3), np.full(3, np.inf))
    assert found is not None
    assert found.value.tolist() == [3, 0, 3]


def test_values_with_more_decimals_than_their_indicator_are_not_bent():
    space, safe = eu_alone((30, 10), "exact", (10, 10), values=(14.5, 14))
    assert additive(space, safe, np.zeros(3, dtype=int), np.zeros(3), np.full(3, np.inf)) is None
    finer = additive(space, safe, np.ones(3, dtype=int), np.zeros(3), np.full(3, np.inf))
    assert finer is not None
    total, a, b = (Fraction(repr(value)) for value in finer.value.tolist())
    assert (total, a) == (a + b, Fraction("14.5"))


@pytest.mark.parametrize("seed", [3, 29, 56])
def test_three_dimensions_need_a_look_at_the_neighbours(seed, monkeypatch):
    """A vertex of the linear program of a three-dimensional table need not be whole:
    then every cell goes up or down.
    """
    module = sys.modules["sdc_tasks.methods.bases.printed.additive"]
    seen, look = [], module.neighbour_of

    def watched(*args):
        seen.append(look(*args))
        return seen[-1]

    monkeypatch.setattr(module, "neighbour_of", watched)
    space = CellSpace(
        ("AT",), (Aggregate("EU", ("AT",)),), ("TURNOVER",),
        tuple(Hierarchy(d, ("T", *(f"{d}{i}" for i in range(4))), (None, *["T"] * 4)) for d in "ABC"),
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    a = table_of(space, rng.integers(0, 300, 64))[space.national_size :]
    base = rng.choice([0, 1, 2, 5, 10, 20, 50], len(a)).astype(float)
    value = np.where(base > 0, nearest_multiple(a, np.maximum(base, 1)), a)
    safe = Publication(np.arange(space.national_size, space.size), value, base)
    found = additive(space, safe, np.zeros(len(a), dtype=int), np.zeros(len(a)), np.full(len(a), np.inf))
    assert len(seen) == 1
    assert found is not None
    for axis in range(3):
        table = np.moveaxis(found.value.reshape(5, 5, 5), axis, 0)
        np.testing.assert_array_equal(table[0], table[1:].sum(axis=0))
    assert (np.abs(found.value - value) <= base / 2).all()
    assert (np.abs(found.value - a) <= found.base / 2).all()


def test_a_release_with_additive_values_passes_its_audit_and_says_what_moved():
    problem, heard = two_activities(), []
    found = chosen(problem, heard, additive=True)
    value = found.value
    assert value[0] == value[1] + value[2]
    assert audit(problem, found, baseline(problem, ("external",))[0]).passed
    assert shares(problem, found).min() >= 1 - 1e-4
    assert any("additive values:" in line for line in heard)


def test_a_release_without_additive_values_says_so_and_goes_on():
    problem, heard = (
        one_cell_release("AT 100 secret 10 | BE 250 public | UK 1.2345 public", EU="AT BE", UKX="UK"),
        [],
    )
    assert chosen(problem, heard, additive=True).digest == chosen(problem).digest
    assert any("published as nearest multiples" in line for line in heard)


def test_a_log_tells_no_loss_of_a_few_cells() -> None:
    cells = np.arange(12)
    ladder = Ladder(cells, *(np.ones((12, 3)) for _ in range(4)), loss=np.tile([0.0, 0.123456, 1.0], (12, 1)))
    assert ladder.loss_for_log(np.where(cells < 9, 1, 0)) == "not told (fewer than 10 cells)"
    assert ladder.loss_for_log(np.where(cells < 10, 1, 0)) == "1.23"


# --- an indicator that the domain does not name -------------------------------------------------------------


def test_nobody_protects_an_indicator_that_the_domain_does_not_name():
    problem = one_cell_release("AT 100 secret 10 | BE 250 public", EU="AT BE")
    wages = replace(problem, space=replace(problem.space, indicators=("WAGES",)))
    with pytest.raises(ValueError, match="the domain does not say how to protect WAGES"):
        chosen(wages)
