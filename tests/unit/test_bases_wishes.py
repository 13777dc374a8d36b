"""Wishes for single aggregate cells: what must be exact or published, and what costs more."""

from __future__ import annotations

import numpy as np
import pytest

from sdc_tasks import pipeline
from sdc_tasks.domains import load_domain
from sdc_tasks.domains.schema import Domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.attack import baseline
from sdc_tasks.methods.bases.options import BasesOptions, CellRule
from sdc_tasks.methods.bases.wishes import require_fitting, wishes_of
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, Publication
from support.oracles.attack import one_cell_release, shares

RULES = ("minimum-uncertainty", "cta")


def two_totals() -> ProtectionProblem:
    """AT hides 100; EU and EA both hold it, and UK, public, is in EU alone: EU − EA = UK, whatever is
    published.
    """
    return one_cell_release("AT 100 secret 10 | BE 240 public | UK 357 public", EU="AT BE UK", EA="AT BE")


def chosen(problem: ProtectionProblem, **bases: object) -> Publication:
    domain: Domain = load_domain("sbs").model_copy(update={"bases": BasesOptions.model_validate(bases)})
    requirements, _ = baseline(problem, ("external",))
    return pipeline.choose_bases(problem, requirements, Adjustment(), domain)


def test_patterns_are_keys_with_wildcards():
    wishes = wishes_of(
        two_totals(),
        [
            CellRule(cells="EU.*", must="exact", cost=2),
            CellRule(cells="E?.TURNOVER.*", must="published", cost=3),
        ],
    )
    assert wishes.exact.tolist() == [True, False]
    assert wishes.published.tolist() == [True, True]
    assert wishes.cost.tolist() == [6, 3]


def test_a_pattern_that_fits_nothing_is_refused_with_an_example():
    with pytest.raises(InvalidInput, match=r"XX\.\* fits no aggregate cell.*EU\.TURNOVER\.TOTAL"):
        require_fitting(two_totals(), [CellRule(cells="XX.*", must="exact")])


@pytest.mark.parametrize("rule", RULES)
def test_both_totals_are_rounded_where_nothing_is_asked(rule):
    publication = chosen(two_totals(), rule=rule)
    assert shares(two_totals(), publication).min() >= 1 - 1e-4
    assert not publication.exact.any()


@pytest.mark.parametrize("rule", RULES)
def test_a_cell_that_must_be_exact_but_gives_a_primary_away_is_refused_by_its_key(rule):
    with pytest.raises(InvalidInput, match=r"EU\.TURNOVER\.TOTAL cannot be as precise.*Remedy"):
        chosen(two_totals(), rule=rule, cells=[{"cells": "EU.*", "must": "exact"}])


@pytest.mark.parametrize("rule", RULES)
def test_a_cell_that_must_be_published_is_not_withheld(rule):
    """At most 1 % of the value as base would withhold both; EA may be, EU must not, so it is
    refused, and allowed with 20 %.
    """
    with pytest.raises(InvalidInput, match=r"EU\.TURNOVER\.TOTAL"):
        chosen(
            two_totals(),
            rule=rule,
            maximum_relative_base=0.01,
            cells=[{"cells": "EU.*", "must": "published"}],
        )
    assert not chosen(
        two_totals(), rule=rule, maximum_relative_base=0.2, cells=[{"cells": "EU.*", "must": "published"}]
    ).withheld[0]


def test_an_exact_cell_keeps_its_wish_where_others_can_give():
    """BE hides 240 as well: EU stays exact, for AT and BE hide behind each other; FR
    alone in EA2 with AT is rounded.
    """
    problem = one_cell_release("AT 100 secret 10 | BE 240 hidden | CY 357 public", EU="AT BE CY", EA="AT CY")
    publication = chosen(problem, cells=[{"cells": "EU.*", "must": "exact"}])
    assert publication.exact.tolist() == [True, False]
    assert shares(problem, publication).min() >= 1 - 1e-4
    assert np.isfinite(publication.base).all()
