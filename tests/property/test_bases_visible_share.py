"""The sum of the visible countries instead of a withheld total: what it tells, and that it
is told only where that is safe.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks import pipeline
from sdc_tasks.errors import InvalidInput
from sdc_tasks.judge.release import recheck
from sdc_tasks.methods.attack import Attacker, audit, baseline, prior_releases
from sdc_tasks.methods.bases.printed.visible_share_rule import proposed, visible_share_rule
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, Publication
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy
from support.laws import law
from support.oracles.attack import (
    Draw,
    everything,
    one_cell_release,
    published,
    reaches,
    relation_rows,
    releases,
    shares,
    table_of,
)
from support.oracles.drawn import drawn_domain

LAW = law(60)
SHARES = st.sampled_from([0.02, 0.1, 0.3, 0.6, 0.95])


def quiet(message: str) -> None:
    """Nothing is said."""


def chosen(problem: ProtectionProblem, **bases: object) -> Publication:
    requirements, _ = baseline(problem, ("external",))
    return pipeline.choose_bases(problem, requirements, Adjustment(), drawn_domain(**bases))


def in_visible_share_rule(problem: ProtectionProblem, publication: Publication, share: float) -> Publication:
    attacker = Attacker(problem, baseline(problem, ("external",))[0])
    return visible_share_rule(problem, attacker, publication, share, np.ones(len(publication.cells)), quiet)


def added_up(problem: ProtectionProblem) -> list[float | None]:
    """The sum of the public members of every aggregate cell, by the oracle's relations;
    None where the rule may not use it.
    """
    first = len(problem.space.countries) * problem.space.national_size
    found: list[float | None] = [None] * (problem.space.size - first)
    for total, parts in relation_rows(problem.space):
        if total >= first and all(part < first for part in parts):
            visible = sum(problem.a[part] for part in parts if problem.public[part])
            positive = (
                all(problem.lb[part] >= 0 for part in parts if not problem.public[part])
                and problem.lb[total] >= 0
            )
            found[total - first] = visible if positive and visible > 0 else None
    return found


# --- by hand ------------------------------------------------------------------------------------------------


def one_secret(level: float) -> ProtectionProblem:
    """EU = 1000, of which 980 are visible: AT's 20 is the rest."""
    return one_cell_release(f"AT 20 secret {level} | BE 300 public | CY 680 public", EU="AT BE CY")


def test_a_sum_tells_how_much_it_covers():
    """980 covers 95 %: EU ≤ 980/0.95 = 1031.58, so AT ≤ 51.58. That leaves 31.58 above its 20, and all of it
    below.
    """
    told = in_visible_share_rule(one_secret(10), everything(one_secret(10), "withheld"), 0.95)
    assert (told.value.tolist(), told.covers.tolist(), told.withheld.tolist()) == ([980.0], [0.95], [False])
    assert (told.lower[0], told.upper[0]) == (980.0, pytest.approx(1031.5789, abs=1e-4))
    np.testing.assert_allclose(reaches(one_secret(10), told), [[20.0, 980 / 0.95 - 1000]])


@pytest.mark.parametrize(("level", "share"), [(32, 0.95), (10, 0.99), (10, 0.98 + 1e-9)])
def test_a_sum_is_not_told_where_it_would_help_or_covers_too_little(level, share):
    """A level of 32 is more than the 31.58 above; 98 % is less than 99 %."""
    problem = one_secret(level)
    assert in_visible_share_rule(problem, everything(problem, "withheld"), share).withheld.all()


def test_just_the_share_is_enough():
    problem = one_secret(0.0)
    assert in_visible_share_rule(problem, everything(problem, "withheld"), 0.98).visible.all()


def test_a_release_says_the_sum_where_the_domain_asks_for_it():
    """AT hides 20 of 1000 and needs 10 on each side: a base of 20, where a thousandth is
    the most that the domain allows.
    """
    problem = one_secret(10)
    assert chosen(problem, maximum_relative_base=0.001).withheld.all()
    told = chosen(problem, maximum_relative_base=0.001, visible_share=0.95)
    assert (told.value.tolist(), told.covers.tolist()) == ([980.0], [0.95])
    assert chosen(problem, visible_share=0.95).base.tolist() == [20.0]  # a total that can be told is told


def test_a_hidden_member_that_may_be_negative_leaves_no_sum():
    """The visible countries could then be more than the total."""
    problem = one_secret(10)
    assert problem.visible_sums.tolist() == [980.0]
    assert np.isnan(replace(problem, lb=np.array([-100.0, 0, 0, 0])).visible_sums).all()


def two_activities() -> ProtectionProblem:
    """AT hides A = 30 and B = 30, its TOTAL of 60 is public; BE shows A = 570, B = 1170. A's
    secret needs 20.
    """
    tree = Hierarchy("ACTIVITY", ("TOTAL", "A", "B"), (None, "TOTAL", "TOTAL"))
    space = CellSpace(("AT", "BE"), (Aggregate("EU", ("AT", "BE")),), ("TURNOVER",), (tree,))
    level = np.zeros(space.size)
    level[1] = 20
    public = np.zeros(space.size, dtype=bool)
    public[[0, 3, 4, 5]] = True
    return ProtectionProblem(
        space=space,
        a=table_of(space, [30, 30, 570, 1170]),
        lb=np.zeros(space.size),
        ub=np.full(space.size, np.inf),
        lpl=level,
        upl=level.copy(),
        spl=np.zeros(space.size),
        public=public,
        primary=level > 0,
        deliveries=("drawn",),
    )


def test_the_sum_of_one_cell_gives_way_where_it_helps_against_another():
    """570 covers 95 % of A: AT.A ≤ 600 - 570 = 30, nothing above. 1170 covers 95 % of B: AT.B ≤ 61.6,
    so nothing below is lost for A.
    """
    problem = two_activities()
    told = in_visible_share_rule(problem, everything(problem, "withheld"), 0.95)
    assert told.visible.tolist() == [True, False, True]
    assert told.value[[0, 2]].tolist() == [1800.0, 1170.0]
    assert shares(problem, told).min() >= 1 - 1e-4


def test_what_a_sum_told_before_stays_known():
    """Profile vintage: 980 went out as 95 % of EU, so AT was at most 51.58; a level of
    40 can never be kept after that.
    """
    problem = one_secret(40)
    before = published(problem, "withheld")
    before = replace(before, value=np.array([980.0]), covers=np.array([0.95]))
    known = replace(problem, earlier=prior_releases(problem, [(problem, before)]))
    requirements, _ = baseline(known, ("external", "vintage"))
    assert requirements.up == pytest.approx([40, 980 / 0.95 - 1000], rel=1e-4)


def test_a_value_that_is_not_the_sum_is_refused_by_key():
    """990 lies within the interval as well, but holds half of AT's 20: whoever adds up 980 would see it."""
    problem = one_secret(10)
    requirements, _ = baseline(problem, ("external",))
    wrong = replace(everything(problem, "withheld"), value=np.array([990.0]), covers=np.array([0.95]))
    with pytest.raises(
        InvalidInput, match=r"EU\.TURNOVER\.TOTAL .*sum of the members that are public"
    ) as refusal:
        pipeline.audit(problem, wrong, requirements, drawn_domain(), 0)
    assert "990" not in str(refusal.value)
    assert pipeline.audit(
        problem, replace(wrong, value=np.array([980.0])), requirements, drawn_domain(), 0
    ).passed


@pytest.mark.parametrize(
    ("value", "base", "covers"),
    [(5.0, 1.0, 0.5), (np.nan, np.inf, 0.5), (5.0, np.inf, 0.0), (5.0, np.inf, 1.5), (-5.0, np.inf, 0.5)],
)
def test_a_publication_is_one_of_four_things(value, base, covers):
    with pytest.raises(ValueError, match=r"share is between|withheld cell has no value|at least 0"):
        Publication(np.array([0]), np.array([value]), np.array([base]), np.array([covers]))


def test_without_sums_a_publication_is_the_one_it_always_was():
    """The digest of what has no sum does not know of shares: releases of before keep theirs."""
    value, base = np.array([7.0]), np.array([0.0])
    assert (
        Publication(np.array([3]), value, base).digest
        == "b45bb5f851da0cae04ebf7e91d304cc6b24429149a29714efd90c037fccfc703"
    )
    with_share = Publication(np.array([3]), value, np.array([np.inf]), np.array([0.5]))
    assert len({with_share.digest, replace(with_share, covers=np.array([0.6])).digest}) == 2


# --- laws ---------------------------------------------------------------------------------------------------


def some_sums(draw: Draw, share: float) -> Publication:
    """Any publication, with sums in some of its withheld cells, safe or not."""
    some = draw.publication()
    told = proposed(draw.problem, some, share)
    keep = draw.rng.random(len(told.cells)) < 0.7
    return Publication(
        some.cells,
        np.where(keep, told.value, some.value),
        np.where(keep, told.base, some.base),
        np.where(keep, told.covers, some.covers),
    )


@LAW
@given(releases(signed=False), SHARES)
def test_a_sum_is_proposed_exactly_where_the_rule_allows_it(draw, share):
    problem = draw.problem
    some = draw.publication()
    told = proposed(problem, some, share)
    for k, (cell, visible) in enumerate(zip(some.cells.tolist(), added_up(problem), strict=True)):
        if some.withheld[k] and visible is not None and visible >= share * problem.a[cell] * (1 + 1e-12):
            assert told.visible[k]
        if told.visible[k]:
            assert some.withheld[k]
            assert visible is not None
            assert told.value[k] == pytest.approx(visible)
            assert told.lower[k] <= problem.a[cell] <= told.upper[k]
        else:
            assert (told.base[k], told.covers[k]) == (some.base[k], 0)


@LAW
@given(releases(signed=False), SHARES)
def test_the_audit_of_a_table_with_sums_is_that_of_the_oracle(draw, share):
    problem, told = draw.problem, some_sums(draw, share)
    requirements, _ = baseline(problem, ("external",))
    report = audit(problem, told, requirements)
    expected = shares(problem, told)
    np.testing.assert_allclose(np.column_stack([report.down, report.up, report.slide]), expected, atol=2e-3)
    assert not report.contradictions
    checked = recheck(problem, told, ("external",), report.evidence)
    assert (checked.protected[0] >= report.protected).all()
    assert (checked.exposed[0] >= ~report.protected).all()


@LAW
@given(releases(signed=False, sliding=False), SHARES)
def test_the_rule_leaves_a_safe_table_safe_and_the_rest_of_it_alone(draw, share):
    problem = draw.problem
    before = chosen(problem, maximum_relative_base=0.01)
    told = in_visible_share_rule(problem, before, share)
    same = ~told.visible
    np.testing.assert_array_equal(told.value[same], before.value[same])
    np.testing.assert_array_equal(told.base[same], before.base[same])
    assert before.withheld[told.visible].all()
    assert shares(problem, told).min(initial=1) >= 1 - 1e-4
    everything_possible = proposed(problem, before, share)
    if shares(problem, everything_possible).min(initial=1) >= 1:
        assert told.digest == everything_possible.digest  # nothing is taken back that no attack leans on


@LAW
@given(releases(signed=True))
def test_where_values_may_be_negative_there_is_no_sum(draw):
    assert np.isnan(draw.problem.visible_sums).all()
    nothing = everything(draw.problem, "withheld")
    assert in_visible_share_rule(draw.problem, nothing, 0.3).digest == nothing.digest


@LAW
@given(releases(signed=False), SHARES)
def test_a_sum_tells_no_less_than_nothing_and_no_more_than_the_total(draw, share):
    problem, told = draw.problem, some_sums(draw, share)
    hidden = Publication(told.cells, np.where(told.visible, np.nan, told.value), told.base)
    exact = Publication(
        told.cells,
        np.where(told.visible, problem.a[told.cells], told.value),
        np.where(told.visible, 0.0, told.base),
    )
    least, here, most = reaches(problem, exact), reaches(problem, told), reaches(problem, hidden)
    room = 1e-6 * (1 + np.where(np.isinf(here), 0, here))
    assert (np.where(np.isinf(here), 1e9, here) >= np.minimum(least, 1e9) - room).all()
    assert (here <= most + room).all()
