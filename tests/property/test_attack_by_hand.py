"""Attacks that can be worked out on paper: each release is drawn in its test, with the arithmetic
beside it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.methods.attack import attacks, audit, baseline
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import AuditReport, Publication
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy
from support.laws import law
from support.oracles.attack import (
    Draw,
    everything,
    exact_reaches,
    needs,
    one_cell_release,
    published,
    releases,
    shares,
    table_of,
)

LAW = law(60)
FEW = law(40)


def judge(problem: ProtectionProblem, publication: Publication) -> AuditReport:
    return audit(problem, publication, baseline(problem, ("external",))[0])


def shown(report: AuditReport) -> list[tuple[float, float]]:
    """(down, up) of each primary."""
    return list(zip(report.down.tolist(), report.up.tolist(), strict=True))


# --- one single secret --------------------------------------------------------------------------------------


@LAW
@given(st.integers(1, 10**6), st.lists(st.integers(0, 10**6), min_size=1, max_size=4), st.integers(1, 100))
def test_an_exact_total_beside_one_single_secret_is_blocked(secret, others, percent):
    cells = [
        f"AT {secret} secret {secret * percent / 100}",
        *(f"S{i} {value} public" for i, value in enumerate(others)),
    ]
    problem = one_cell_release(" | ".join(cells), EU=" ".join(cell.split()[0] for cell in cells))
    report = judge(problem, everything(problem, "exact"))
    assert shown(report) == [(0, 0)]
    assert report.broken == 2
    assert not report.passed
    assert judge(problem, everything(problem, "withheld")).passed


def test_a_rounded_total_beside_one_single_secret_gives_what_its_interval_leaves():
    """[690, 710] around 697: the secret of 100 may be 93 to 113: 7 of 10 down, 13 of 10 up."""
    problem = one_cell_release("AT 100 secret 10 | BE 240 public | CY 357 public", EU="AT BE CY")
    report = judge(problem, published(problem, (700, 20)))
    assert shown(report) == [(0.7, 1)]
    assert (report.broken, report.passed) == (1, False)


def test_two_secrets_protect_each_other_below_an_exact_total():
    """AT + BE = 30 is known: AT lies in [0, 30], so 10 ± 10; BE in [0, 30]."""
    problem = one_cell_release("AT 10 secret 10 | BE 20 secret 10", EU="AT BE")
    assert judge(problem, everything(problem, "exact")).passed


def test_a_smaller_partner_protects_only_as_far_as_it_is_large():
    """AT + BE = 104: AT = 100 lies in [0, 104]: up only 4 of the 10 asked for, which the total
    takes away, not the national table.
    """
    problem = one_cell_release("AT 100 secret 10 | BE 4 hidden", EU="AT BE")
    assert shown(judge(problem, everything(problem, "exact"))) == [(1, 0.4)]


def test_a_requirement_beyond_the_external_bound_is_cut_there():
    """A secret of 3 with level 10: nobody can make the world believe in less than 0. The
    rest of the requirement stands.
    """
    problem = one_cell_release("AT 3 secret 10 | BE 50 hidden", EU="AT BE")
    requirements, _ = baseline(problem, ("external",))
    assert requirements.down.tolist() == [3]
    assert requirements.up.tolist() == [10]
    assert not requirements.cut.any()
    assert judge(problem, everything(problem, "exact")).passed


# --- sliding level ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("base", "share"), [(20, 0.5), (30, 0.75), (40, 1)])
def test_the_sliding_level_asks_for_the_width_of_the_interval(base, share):
    """5 down, 5 up and 40 in all: a base of 20 around 100 meets the first two and half of the third."""
    problem = replace(one_cell_release("AT 100 secret 5", EU="AT"), spl=np.array([40.0, 0]))
    report = judge(problem, published(problem, (100, base)))
    assert shown(report) == [(1, 1)]
    assert report.slide.tolist() == [share]
    assert report.passed == (share == 1)
    assert report.broken == (share < 1)


# --- compositions -------------------------------------------------------------------------------------------


def test_eu28_minus_a_public_country_narrows_a_rounded_eu27():
    """EU27 = 1 000 reads [950, 1 050], which would do. EU28 = 1 537 reads [1 535, 1 545], the
    UK's 537 are public: [998, 1 008].
    """
    problem = one_cell_release(
        "AT 400 secret 40 | BE 600 public | UK 537 public", EU27="AT BE", EU28="AT BE UK"
    )
    assert judge(problem, published(problem, (1000, 100), "withheld")).passed
    assert shown(judge(problem, published(problem, "withheld", (1540, 10)))) == [(0.05, 0.2)]
    assert shown(judge(problem, published(problem, (1000, 100), (1540, 10)))) == [(0.05, 0.2)]


def test_two_harmless_roundings_intersect():
    """Each base alone leaves 40 on both sides; together [960, 1 060] and [940, 1 040] leave
    40, and a finer pair leaves less.
    """
    problem = one_cell_release(
        "AT 400 secret 40 | BE 600 public | UK 500 public", EU27="AT BE", EU28="AT BE UK"
    )
    assert judge(problem, published(problem, (1010, 100), (1490, 100))).passed
    assert judge(problem, published(problem, (1010, 100), "withheld")).passed
    assert shown(judge(problem, published(problem, (1020, 100), (1470, 100)))) == [(0.75, 0.5)]


def test_three_exact_compositions_solve_for_a_secret_that_no_single_one_gives():
    """(AT+BE) + (AT+CY) − (BE+CY) = 2 AT."""
    problem = one_cell_release(
        "AT 100 secret 10 | BE 200 hidden | CY 300 hidden", NORTH="AT BE", SOUTH="AT CY", REST="BE CY"
    )
    told = judge(problem, everything(problem, "exact"))
    assert shown(told) == [(0, 0)]
    for k in range(3):
        assert judge(problem, published(problem, *["exact"] * k, "withheld", *["exact"] * (2 - k))).passed


# --- what the national tables do not protect ----------------------------------------------------------------

TWO_CLASSES = (Hierarchy("SIZECLASS", ("_T", "S", "L"), (None, "_T", "_T")),)


def test_an_exposed_secret_is_the_fault_of_its_nsi_and_blocks_nothing():
    """AT suppresses S alone: 500 − 400 gives it. The requirement is cut to nothing, and the
    report says so.
    """
    space = CellSpace(("AT", "BE"), (Aggregate("EU", ("AT", "BE")),), ("TURNOVER",), TWO_CLASSES)
    a = table_of(space, [100, 400, 30, 70])
    at_s = np.arange(9) == 1
    problem = ProtectionProblem(
        space=space,
        a=a,
        lb=np.zeros(9),
        ub=np.full(9, np.inf),
        lpl=10.0 * at_s,
        upl=10.0 * at_s,
        spl=np.zeros(9),
        public=~at_s & (np.arange(9) < 6),
        primary=at_s,
        deliveries=("drawn",),
    )
    report = judge(problem, everything(problem, "exact"))
    assert report.passed
    assert report.baseline.tolist() == [True]


# --- a published value that is not the truth ----------------------------------------------------------------


@pytest.mark.parametrize("size", [1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("base", [0, 10])
def test_a_value_off_by_one_is_a_contradiction_whatever_its_size(size, base):
    """Deliveries are whole numbers here: a total that misses the truth by 1 is not the total of these
    deliveries.
    """
    problem = one_cell_release(f"AT {size} secret 1 | BE {size} hidden", EU="AT BE")
    report = judge(problem, published(problem, (2 * size + base / 2 + 1, base)))
    assert report.contradictions == (2,)
    assert not report.passed


def test_a_contradiction_blocks_even_without_a_primary():
    problem = one_cell_release("AT 100 public | BE 200 public", EU="AT BE")
    assert judge(problem, everything(problem, "exact")).passed
    assert not judge(problem, published(problem, (299, 0))).passed


@pytest.mark.parametrize("shuffle", ["reversed", "incomplete", "national"])
def test_a_publication_of_other_cells_is_never_judged_as_if_it_were_of_these(shuffle):
    """NORTH is told to ± 500, SOUTH exactly. The decision must be for every aggregate cell in
    order, or nothing is certified.
    """
    problem = one_cell_release("AT 1000 secret 100 | BE 2000 secret 100", NORTH="AT", SOUTH="BE")
    right = published(problem, (1000, 1000), "exact")
    assert judge(problem, right).protected.tolist() == [True, False]
    order = {"reversed": [1, 0], "incomplete": [0], "national": [0, 1]}[shuffle]
    cells = right.cells[order] - (2 if shuffle == "national" else 0)
    with pytest.raises(ValueError):
        judge(problem, Publication(cells, right.value[order], right.base[order]))


# --- 1e12 and 0.01 in one table -----------------------------------------------------------------------------


def test_a_tiny_secret_beside_a_huge_one_is_judged_by_its_own_size():
    """EU27 is AT alone, told to ± 0.05: AT's level of 10 is nowhere near met, however large BE is."""
    problem = one_cell_release("AT 44.5 secret 10 | BE 477000000 secret 477000000", EU28="AT BE", EU27="AT")
    report = judge(problem, published(problem, "exact", (44.5193, 0.1)))
    assert shown(report) == [(0.003, 0.0069), (0, 0)]


@pytest.mark.parametrize("large", [1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("small", [0.01, 1, 1000])
def test_an_exposed_secret_stays_exposed_beside_a_huge_one(small, large):
    """Both countries suppress their total and publish its parts: the baseline of both is nothing,
    and the empty publication passes.
    """
    space = CellSpace(("AT", "BE"), (Aggregate("EU", ("AT", "BE")),), ("TURNOVER",), TWO_CLASSES)
    a = table_of(space, [small, 2 * small, large, 0])
    secret = np.isin(np.arange(9), [0, 3])
    problem = ProtectionProblem(
        space=space,
        a=a,
        lb=np.zeros(9),
        ub=np.full(9, np.inf),
        lpl=0.1 * a * secret,
        upl=0.1 * a * secret,
        spl=np.zeros(9),
        public=~secret & (np.arange(9) < 6),
        primary=secret,
        deliveries=("drawn",),
    )
    requirements, _ = baseline(problem, ("external",))
    np.testing.assert_allclose([requirements.down, requirements.up], 0, atol=1e-6 * small)
    assert judge(problem, everything(problem, "withheld")).passed


def test_1e12_and_one_cent_in_one_table():
    """AT: 1e12 + 1e12, BE: 0.01 + 0.02, all four suppressed below known totals; level 10 %.

    Exact, EU.S gives AT's S to within what BE may hide there (0.03), which is nothing to AT; BE hides behind
    AT. Rounded to 2e11 both are safe. With BE's own composition exact, BE is lost and AT is not.
    """
    space = CellSpace(
        ("AT", "BE"), (Aggregate("EU", ("AT", "BE")), Aggregate("SMALL", ("BE",))), ("TURNOVER",), TWO_CLASSES
    )
    a = table_of(space, [1e12, 1e12, 0.01, 0.02])
    secret = np.isin(np.arange(12), [1, 4])
    problem = ProtectionProblem(
        space=space,
        a=a,
        lb=np.zeros(12),
        ub=np.full(12, np.inf),
        lpl=0.1 * a * secret,
        upl=0.1 * a * secret,
        spl=np.zeros(12),
        public=np.isin(np.arange(12), [0, 3]),
        primary=secret,
        deliveries=("drawn",),
    )
    rounded, nothing, exact = (1e12, 2e11), "withheld", "exact"
    told = {
        "all exact": published(problem, *[exact] * 6),
        "EU exact": published(problem, *[exact] * 3, *[nothing] * 3),
        "EU rounded": published(problem, exact, rounded, rounded, *[nothing] * 3),
        "SMALL exact": published(problem, exact, rounded, rounded, *[exact] * 3),
    }
    assert {name: judge(problem, publication).protected.tolist() for name, publication in told.items()} == {
        "all exact": [False, False],
        "EU exact": [False, True],
        "EU rounded": [True, True],
        "SMALL exact": [True, False],
    }


def mixed(draw: Draw) -> tuple[ProtectionProblem, Publication]:
    """The drawn release with each country in a currency of its own, and bases that suit
    the size of each aggregate cell.
    """
    p, rng = draw.problem, draw.rng
    n, countries = p.space.national_size, len(p.space.countries)
    factor = np.ones(p.space.size)
    factor[: n * countries] = np.repeat(rng.choice([1e-2, 1, 1e3, 1e6, 1e9], countries), n)
    scaled = {name: getattr(p, name) * factor for name in ("a", "lb", "ub", "lpl", "upl", "spl")}
    position = {country: i for i, country in enumerate(p.space.countries)}
    national = scaled["a"][: n * countries].reshape(countries, n)
    truth = np.concatenate(
        [national[[position[m] for m in aggregate.members]].sum(axis=0) for aggregate in p.space.aggregates]
    )
    scaled["a"] = np.concatenate([national.ravel(), truth])
    kind = rng.choice(["exact", "rounded", "withheld"], len(truth), p=[0.3, 0.5, 0.2])
    base = 10.0 ** np.round(np.log10(np.abs(truth) + 1) - rng.integers(0, 5, len(truth)))
    value = truth + base * np.round(rng.uniform(-0.5, 0.5, len(truth)), 3)
    chosen = [kind == "exact", kind == "rounded"]
    told = np.select(chosen, [truth, value], np.nan)
    return replace(p, **scaled), Publication(
        np.flatnonzero(p.aggregate), told, np.select(chosen, [0.0, base], np.inf)
    )


@LAW
@given(releases(most=3))
def test_countries_of_very_different_size_are_judged_as_in_exact_arithmetic(draw):
    """A false "protected" here is a leak; a false "broken" costs information."""
    if draw.problem.space.size > 45:
        return
    problem, publication = mixed(draw)
    report = judge(problem, publication)
    expected = shares(problem, publication, exact_reaches)
    np.testing.assert_allclose(np.column_stack([report.down, report.up, report.slide]), expected, atol=1e-3)


@FEW
@given(releases(most=3, sliding=False))
def test_the_baseline_of_countries_of_very_different_size_is_that_of_exact_arithmetic(draw):
    if draw.problem.space.size > 45:
        return
    problem, _ = mixed(draw)
    requirements, _ = baseline(problem, ("external",))
    expected = needs(problem, exact_reaches)[:, :2]
    np.testing.assert_allclose(
        np.column_stack([requirements.down, requirements.up]), expected, rtol=1e-3, atol=1e-6
    )
    assert attacks(problem, everything(problem, "withheld"), requirements) == []
