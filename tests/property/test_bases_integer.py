"""Bases of counts: what is chosen withstands an attacker who knows that all values are whole numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from sdc_tasks import pipeline
from sdc_tasks.methods.attack import Attacker, audit, baseline
from sdc_tasks.methods.bases.integer import integer_safe as withstand
from sdc_tasks.methods.bases.ladder import ladder_of
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.methods.bases.rules import Case, by_audit
from sdc_tasks.methods.bases.wishes import wishes_of
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, Publication
from support.laws import law
from support.oracles.attack import one_cell_release, releases
from support.oracles.drawn import drawn_domain
from support.oracles.whole import counts, parity, whole, whole_shares

FEW = law(25)
OPTIONS = BasesOptions(maximum_relative_base=5.0)


def chosen(problem: ProtectionProblem) -> tuple[Publication, Publication]:
    """What the LP attack leaves of everything exact, and that made safe against integer knowledge."""
    weights = 1 / np.maximum(np.abs(problem.a[problem.aggregate]), 1)
    requirements = baseline(problem, ("external",))[0]
    ladder = ladder_of(problem, weights, OPTIONS)
    case = Case(
        problem,
        requirements,
        Attacker(problem, requirements),
        ladder,
        weights,
        wishes_of(problem, ()),
        OPTIONS,
        lambda message: None,
    )
    start = by_audit(case)
    end = withstand(case, start)
    assert (end >= start).all()
    return ladder.publication(start), ladder.publication(end)


@FEW
@given(releases(most=5))
def test_what_is_chosen_is_safe_for_an_independent_attacker(draw):
    problem, _ = counts(draw)
    _, publication = chosen(problem)
    assert audit(problem, publication, baseline(problem, ("external",))[0]).passed
    assert (whole_shares(problem, publication) == 1).all()


@FEW
@given(releases(most=5))
def test_what_a_release_prints_is_safe_too(draw):
    """A value that the others exclude gets another one and a finer base. Its interval holds all that it did,
    but whole numbers may lie on an end that the new interval does not have.
    """
    problem, _ = counts(draw)
    requirements = baseline(problem, ("external",))[0]
    found = pipeline.choose_bases(problem, requirements, Adjustment(), drawn_domain())
    assert audit(problem, found, requirements).passed


@FEW
@given(releases(most=5))
def test_what_is_safe_already_is_left_alone(draw):
    problem, _ = counts(draw)
    start, end = chosen(problem)
    if audit(problem, start, baseline(problem, ("external",))[0]).passed:
        assert end.digest == start.digest


def test_a_base_of_two_says_too_much_of_a_count():
    """24 on a base of 2 reads [23, 25], enough for a level of 1 in the LP; but 25 would read
    26. On a base of 5 it is 23 … 27.
    """
    problem = whole(one_cell_release("AT 24 secret 1", EU="AT"))
    start, end = chosen(problem)
    assert (start.base.tolist(), end.base.tolist()) == ([2], [5])
    assert [audit(problem, each, baseline(problem, ("external",))[0]).passed for each in (start, end)] == [
        False,
        True,
    ]


def test_parity_is_mended_where_only_whole_numbers_break_it():
    """`parity` of test_attack_integer: with all four totals told finely, AT moves by even
    steps; some total has to give way.
    """
    problem, publication = parity()
    assert not audit(whole(problem), publication, baseline(whole(problem), ("external",))[0]).passed
    start, end = chosen(whole(problem))
    assert audit(whole(problem), end, baseline(whole(problem), ("external",))[0]).passed
    assert (end.base >= start.base).all()


def test_a_printed_value_that_whole_numbers_break_is_taken_back(monkeypatch):
    problem, broken = parity()
    problem = whole(problem)
    monkeypatch.setattr("sdc_tasks.methods.bases.policy.possible", lambda *_: broken)
    requirements = baseline(problem, ("external",))[0]
    found = pipeline.choose_bases(problem, requirements, Adjustment(), drawn_domain())
    assert audit(problem, found, requirements).passed
