"""The rule suppression: exact or withheld, safe by the oracle, minimal, and the least
where all choices can be tried.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, islice

import numpy as np
import pytest
from hypothesis import given

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.attack import Attacker, baseline, integer_attacks
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.methods.bases.policy import case_of, safe_bases
from sdc_tasks.methods.bases.rules import by_audit
from sdc_tasks.methods.bases.suppression import by_suppression, two_options
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, Publication
from support.laws import law
from support.oracles.attack import one_cell_release, releases, shares
from support.oracles.drawn import counts, ladder, quiet, with_respondents

LAW = law(30)
ENOUGH = 1 - 1e-4  # of a requirement: what the oracle takes as met
RULE = BasesOptions(rule="suppression")


def chosen(
    problem: ProtectionProblem, profiles: tuple[str, ...] = ("external",), options: BasesOptions = RULE
) -> Publication:
    requirements, _ = baseline(problem, profiles)
    case = case_of(problem, requirements, options, 1, quiet, quiet)
    return safe_bases(case, Adjustment(), 0.0, [0] * len(problem.space.indicators), lambda name, item: None)


def told(problem: ProtectionProblem, withheld: np.ndarray) -> Publication:
    """Everything exact but what is withheld."""
    cells = np.flatnonzero(problem.aggregate)
    return Publication(cells, np.where(withheld, np.nan, problem.a[cells]), np.where(withheld, np.inf, 0.0))


def safe(problem: ProtectionProblem, withheld: np.ndarray) -> bool:
    return bool(shares(problem, told(problem, withheld)).min(initial=1) >= ENOUGH)


@LAW
@given(releases())
def test_it_is_safe_rounds_nothing_and_no_withheld_cell_can_be_published_again(draw):
    found = chosen(draw.problem)
    assert (found.exact | found.withheld).all()
    np.testing.assert_array_equal(found.value[found.exact], draw.problem.a[found.cells[found.exact]])
    assert safe(draw.problem, found.withheld)
    for k in np.flatnonzero(found.withheld):
        fewer = found.withheld.copy()
        fewer[k] = False
        assert not safe(draw.problem, fewer), (
            f"{draw.problem.space.key(int(found.cells[k]))} is withheld for nothing"
        )


@law(12)
@given(releases(most=4))
def test_no_choice_below_the_bound_is_safe(draw):
    """The oracle tries choices that lose less than the bound: none of them is safe."""
    problem = draw.problem
    options = two_options(ladder(problem))
    requirements, _ = baseline(problem, ("external",))
    case = case_of(problem, requirements, RULE, 1, quiet, quiet)
    case = replace(case, ladder=options)
    choice, bound = by_suppression(case, by_audit(case))
    loss = options.loss_of(choice)
    assert bound <= loss * (1 + 1e-6)
    n = len(choice)
    cheaper = []
    for number in range(int((choice > 0).sum()) + 1):
        masks = (np.isin(np.arange(n), withheld) for withheld in combinations(range(n), number))
        cheaper += [mask for mask in islice(masks, 100) if options.loss[mask, 1].sum() < bound * (1 - 1e-6)]
    for mask in cheaper[-40:]:
        assert not safe(problem, mask)


@law(20)
@given(releases(most=6, signed=False))
def test_against_respondents_it_is_minimal_too(draw):
    problem = with_respondents(draw)
    profiles = ("external", "internal", "coalition")
    found = chosen(problem, profiles)
    requirements, _ = baseline(problem, profiles)
    attacker = Attacker(problem, requirements)

    def broken(withheld: np.ndarray) -> int:
        attacker.set_publication(told(problem, withheld))
        attacker.prove_all()
        return len(attacker.broken)

    assert broken(found.withheld) == 0
    for k in np.flatnonzero(found.withheld):
        fewer = found.withheld.copy()
        fewer[k] = False
        assert broken(fewer) > 0


@pytest.mark.slow
@law(10)
@given(counts())
def test_counts_are_minimal_against_those_who_know_whole_numbers(drawn):
    problem, _ = drawn
    problem = replace(problem, least=np.zeros(problem.space.size, dtype=np.int64))
    found = chosen(problem)
    requirements, _ = baseline(problem, ("external",))

    def short(withheld: np.ndarray) -> int:
        return len(integer_attacks(problem, told(problem, withheld), requirements, 1).short)

    assert short(found.withheld) == 0
    for k in np.flatnonzero(found.withheld):
        fewer = found.withheld.copy()
        fewer[k] = False
        attacker = Attacker(problem, requirements)
        attacker.set_publication(told(problem, fewer))
        attacker.prove_all()
        assert attacker.broken or short(fewer)


def test_one_withheld_total_protects_two_countries():
    """AT and BE hide their cells. The sums with CY and with DE, less what is public, give AT + BE alone: both
    stay. Only the sum of AT with public countries gives a secret away.
    """
    drawn = "AT 100 secret 10 | BE 200 secret 20 | CY 300 public | DE 400 public"
    problem = one_cell_release(drawn, EU="AT BE CY DE", WEST="AT CY", EAST="AT BE DE")
    found = chosen(problem)
    assert [problem.space.areas[4 + k] for k in np.flatnonzero(found.withheld)] == ["WEST"]


def test_a_cell_that_must_be_exact_is_exact_or_refused_by_name():
    drawn = "AT 100 secret 10 | BE 200 secret 20 | CY 300 public | DE 400 public"
    problem = one_cell_release(drawn, EU="AT BE CY DE", EAST="AT BE DE", SOUTH="BE CY", WEST="AT CY")
    first = problem.space.areas[4 + np.flatnonzero(chosen(problem).withheld)[0]]
    must = BasesOptions.model_validate(
        {"rule": "suppression", "cells": [{"cells": f"{first}.*", "must": "exact"}]}
    )
    with pytest.raises(InvalidInput, match=rf"{first}\."):
        chosen(problem, options=must)


@pytest.mark.parametrize(
    "idle", ["passes: 3", "sharpen: true", "additive: true", "strata: {}", "mantissas: [1]"]
)
def test_options_of_rounding_are_refused(idle):
    import yaml
    from pydantic import ValidationError

    with pytest.raises(ValidationError, match=idle.split(":")[0]):
        BasesOptions.model_validate(yaml.safe_load("{rule: suppression, " + idle + "}"))
