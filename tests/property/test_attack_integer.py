"""Integer knowledge against two MILPs of scipy for each cell, over all cells of all areas,
that share no code; and by hand.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from itertools import chain, combinations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given

from sdc_tasks.judge.release import recheck
from sdc_tasks.methods.attack import (
    Chunk,
    audit,
    auditing,
    baseline,
    integer_attacks,
    merge,
    prior_releases,
    promised,
)
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import AuditReport, Publication
from sdc_tasks.model.secret import Secret
from support.laws import law
from support.oracles.attack import everything, one_cell_release, published, relations, releases
from support.oracles.whole import counts, parity, whole, whole_reaches, whole_shares

FEW = law(30)
FEWER = law(15)
MOST_UNITS = 5


def judge(problem: ProtectionProblem, publication: Publication) -> AuditReport:
    return audit(problem, publication, baseline(problem, ("external",))[0])


# --- the oracle ---------------------------------------------------------------------------------------------


@FEW
@given(releases(most=5))
def test_the_verdict_is_that_of_two_milps_per_cell(draw):
    """Down, up and sliding, one or two compositions and indicators, positive and signed tables."""
    problem, publication = counts(draw)
    report = judge(problem, publication)
    expected = whole_shares(problem, publication)
    found = np.column_stack([report.down, report.up, report.slide])
    np.testing.assert_array_equal(found == 1, expected == 1)
    np.testing.assert_allclose(found, expected, atol=1.1e-4)
    assert not report.undecided.any()


@FEW
@given(releases(most=5))
def test_integer_knowledge_never_protects_what_was_not(draw):
    problem, publication = counts(draw)
    wider = replace(
        problem,
        integral=np.zeros(problem.space.size, dtype=bool),
        lpl=np.ceil(problem.lpl),
        upl=np.ceil(problem.upl),
    )
    requirements = baseline(problem, ("external",))[0]
    plain = audit(wider, publication, requirements)
    knowing = audit(problem, publication, requirements)
    assert not (knowing.protected & ~plain.protected).any()


@FEW
@given(releases(most=5))
def test_what_is_shown_is_shown_again_by_arithmetic(draw):
    problem, publication = counts(draw)
    report = judge(problem, publication)
    found = recheck(problem, publication, report.profiles, report.evidence)
    np.testing.assert_array_equal(found.protected, report.held)
    np.testing.assert_array_equal(found.cut, report.baseline)
    assert not found.faults


@FEWER
@given(releases(most=5))
def test_who_chooses_bases_is_told_of_the_same_cells_as_the_auditor(draw):
    problem, publication = counts(draw)
    requirements = baseline(problem, ("external",))[0]
    report = audit(problem, publication, requirements)
    short = {
        int(requirements.primaries[each.row])
        for each in integer_attacks(problem, publication, requirements, seed=0).short
    }
    assert short == set(report.primaries[~report.held.all(axis=0)].tolist())


@FEWER
@given(releases(most=8))
def test_the_report_is_the_same_however_it_is_cut(draw):
    problem, publication = counts(draw)
    requirements = baseline(problem, ("external",))[0]
    with patch.object(auditing, "BATCH_PRIMARIES", 2):
        whole_report, *parts = (
            audit(problem, publication, requirements, part=Chunk(c, n))
            for c, n in ((0, 1), (0, 3), (1, 3), (2, 3))
        )
    joined, whole_report = merge(parts), merge([whole_report])
    for name in ("down", "up", "slide", "held", "by_milp", "undecided"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole_report, name))
    salt = Secret.fresh()
    assert joined.evidence.digest(salt) == whole_report.evidence.digest(salt)
    assert joined.lps == whole_report.lps


@pytest.mark.parametrize("profile", ["internal", "coalition"])
@FEWER
@given(draw=releases(most=4, signed=False, sliding=False))
def test_respondents_with_integer_knowledge_are_held_to_what_they_know(profile, draw):
    """All cells of single units. Alone: the worst of the attackers, each against its own baseline; in a
    coalition: every group of them without the victim, each against its own baseline. Few, as each more
    doubles the groups.
    """
    problem, publication = counts(draw)
    units = np.flatnonzero(problem.suppressed & (draw.rng.random(problem.space.size) < 0.3))
    units = draw.rng.permutation(units)[:MOST_UNITS]
    units.sort()
    known = np.full(problem.space.size, np.nan)
    known[units] = problem.a[units]
    problem = replace(problem, known=known)
    requirements = baseline(problem, ("external", profile))[0]
    report = audit(problem, publication, requirements)
    primaries = np.flatnonzero(problem.primary)
    owner = owners(problem, units)
    for i, p in enumerate(primaries):
        mine = owner.get(int(p), -1)
        others = [k for k in units.tolist() if owner[k] != mine]
        groups = [[k for k in others if owner[k] == each] for each in sorted({owner[k] for k in others})]
        circles = (
            [[k] for k in others]
            if profile == "internal"
            else [list(chain(*some)) for some in parts_of(groups)]
        )
        ok = True
        for circle in circles:
            at = np.array(circle, dtype=int)
            one = replace(
                problem, primary=np.arange(problem.space.size) == p, lpl=problem.lpl, upl=problem.upl
            )
            wanted = np.ceil(np.array([problem.lpl[p], problem.upl[p]]) - 1e-9)
            wanted = np.minimum(
                wanted, np.floor([problem.a[p] - problem.lb[p], problem.ub[p] - problem.a[p]])
            )
            wanted = np.minimum(wanted, whole_reaches(one, None, at)[0])
            ok = ok and bool((whole_reaches(one, publication, at)[0] >= wanted).all())
        assert report.held[1, i] == ok or (profile == "coalition" and not report.held[0, i])
    found = recheck(problem, publication, report.profiles, report.evidence)
    np.testing.assert_array_equal(found.protected, report.held)


def parts_of(groups: list[list[int]]) -> list[tuple[list[int], ...]]:
    """Every part of these groups, also the empty one."""
    return [some for size in range(len(groups) + 1) for some in combinations(groups, size)]


def owners(problem: ProtectionProblem, units: np.ndarray) -> dict[int, int]:
    """cell → respondent: single-unit cells of a country that contain each other have one."""
    first = {int(cell): int(cell) for cell in units}
    rows = [(int(np.flatnonzero(row < 0)[0]), np.flatnonzero(row > 0)) for row in relations(problem.space)]
    inside = len(problem.space.countries) * problem.space.national_size
    above = {
        int(part): {total for total, parts in rows if part in parts and total < inside}
        for part in range(inside)
    }
    for cell in units.tolist():
        todo, seen = [cell], {cell}
        while todo:
            for total in above[todo.pop()] - seen:
                seen.add(total)
                todo.append(total)
        same = {first[k] for k in seen if k in first}
        first = {k: min(same) if v in same else v for k, v in first.items()}
    return first


# --- by hand ------------------------------------------------------------------------------------------------


def test_halves_protect_where_whole_numbers_give_the_value_away():
    """BE = CY = ∓1/2 moves AT by ±1 in the LP. In whole numbers AT moves by 2 or not at all: 20 is known."""
    problem, publication = parity()
    assert judge(problem, publication).passed
    report = judge(whole(problem), publication)
    assert report.down.tolist() == report.up.tolist() == [0]
    assert report.by_milp.tolist() == [True]
    assert not report.undecided.any()
    assert not report.passed


def test_a_wider_base_lets_the_even_step_through():
    """50 on a base of 10 is 45 … 54: AT may be 18 or 22, both of them in whole tables."""
    problem, _ = parity()
    assert judge(whole(problem), published(problem, "exact", "exact", "exact", (50, 10))).passed


@pytest.mark.parametrize(("value", "base", "down", "up"), [(25, 5, 1, 1), (20, 10, 1, 0.5), (30, 10, 0, 1)])
def test_the_ends_of_an_interval(value, base, down, up):
    """A single secret: 25 on a base of 5 is 23 … 27; on a base of 10, 23 reads 20: 15 …
    24, and 25 would read 30: 25 … 34.
    """
    truth = {25: 25, 20: 23, 30: 25}[value]
    problem = whole(one_cell_release(f"AT {truth} secret 2", EU="AT"))
    report = judge(problem, published(problem, (value, base)))
    assert (report.down.tolist(), report.up.tolist()) == ([down], [up])


def test_needs_are_rounded_up_to_what_a_count_can_be_off_by():
    """A level of 1.2 asks for 2: the base of 3 around 25 leaves 24 … 26."""
    problem = whole(one_cell_release("AT 25 secret 1.2", EU="AT"))
    requirements = baseline(problem, ("external",))[0]
    assert requirements.down.tolist() == requirements.up.tolist() == [2]
    report = judge(problem, published(problem, (24, 3)))
    assert report.passed is False
    assert judge(problem, published(problem, (25, 5))).passed


def test_what_was_given_away_before_is_not_asked_of_this_release():
    """All four totals stand in an earlier release: AT is known since then, to an
    attacker with integer knowledge alone.
    """
    problem, publication = parity()
    for told, kept in ((problem, 1), (whole(problem), 0)):
        again = replace(told, earlier=prior_releases(told, [(told, publication)]))
        requirements = baseline(again, ("external", "vintage"))[0]
        assert requirements.down.tolist() == requirements.up.tolist() == [1, kept]
        assert requirements.cut.tolist() == [False, not kept]
        assert requirements.keeps(promised(again, ("external", "vintage")))
        report = audit(again, publication, requirements)
        assert report.held.tolist() == [[bool(kept)], [True]]
        found = recheck(again, publication, report.profiles, report.evidence)
        np.testing.assert_array_equal(found.protected, report.held)
        assert found.cut.tolist() == report.baseline.tolist() == [not kept]


def test_a_milp_that_stops_at_its_limit_protects_nothing_and_says_so():
    problem, _ = parity()
    stopped = import_module("sdc_tasks.methods.attack.milp.prover")
    wide = published(problem, "exact", "exact", "exact", (50, 10))
    result = import_module("sdc_tasks.solver.milp").MilpResult(stopped.Status.STOPPED, None, None, None)
    requirements = baseline(whole(problem), ("external",))[0]
    with patch.object(stopped.LiveMilp, "solve", lambda *_, **__: result):
        report = audit(whole(problem), wide, requirements)
    assert report.undecided.tolist() == [True]
    assert not report.passed


def test_nothing_published_breaks_nothing():
    problem, _ = parity()
    assert judge(whole(problem), everything(problem, "withheld")).passed
