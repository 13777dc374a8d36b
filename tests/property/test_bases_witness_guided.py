"""Bases grown from tables, for large tables: on small ones the exact attacker and the oracle judge them."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks import pipeline
from sdc_tasks.domains import Domain
from sdc_tasks.methods.attack import Attacker, Requirements, audit, baseline
from sdc_tasks.methods.attack.lp import prover
from sdc_tasks.methods.bases.cta_rule import choose
from sdc_tasks.methods.bases.ladder import ladder_of
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.methods.bases.search import witness_guided
from sdc_tasks.methods.bases.search.repair import repair
from sdc_tasks.methods.bases.search.witness_guided import WitnessGuidedSearch
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, CandidateWitnesses, Outcome, Publication
from support.laws import law
from support.oracles.attack import one_cell_release, releases, shares
from support.oracles.drawn import divided, drawn_domain, ladder, quiet

LAW = law(60)
FEW = law(24)


def domain_of(**bases: object) -> Domain:
    return drawn_domain(**{"grown_from": 0, **bases})


def chosen(
    problem: ProtectionProblem, requirements: Requirements, **bases: object
) -> tuple[Publication, dict[str, object], list[str]]:
    """The publication with grown bases, what is kept beside it, and the notes."""
    kept, notes = dict[str, object](), list[str]()
    found = pipeline.choose_bases(
        problem, requirements, Adjustment(), domain_of(**bases), quiet, kept.__setitem__, notes.append
    )
    return found, kept, notes


@LAW
@given(releases(), st.booleans(), st.sampled_from([0, 50]), st.sampled_from([(1.0, 2.0, 5.0), (1.0,)]))
def test_grown_bases_withstand_the_exact_attacker_and_the_oracle(draw, in_parts, lowering, mantissas):
    """Positive and signed tables, with sliding levels, in one part and in parts of a few columns."""
    problem = draw.problem
    with divided(in_parts):
        requirements, _ = baseline(problem, ("external",))
        publication, _, notes = chosen(problem, requirements, lowering=lowering, mantissas=mantissas)
    assert audit(problem, publication, requirements).passed
    assert shares(problem, publication).min(initial=1) >= 1 - 1e-4
    assert any("bases are grown from tables" in note for note in notes)


@FEW
@given(releases(sliding=False), st.booleans())
def test_the_audit_needs_no_lp_where_tables_show_everything(draw, in_parts):
    """Also of a table that needs more of them than an attacker takes along by himself."""
    problem = draw.problem
    with divided(in_parts), patch.object(prover, "POOL_WITNESSES", 1):
        requirements, _ = baseline(problem, ("external",))
        publication, kept, _ = chosen(problem, requirements)
        tables = kept[pipeline.TABLES]
        assert isinstance(tables, CandidateWitnesses)
        report = pipeline.audit(problem, publication, requirements, domain_of(), tried=tables)
    assert report.passed
    assert report.lps == 0


@FEW
@given(releases(), st.booleans())
def test_the_same_deliveries_give_the_same_bytes(draw, in_parts):
    with divided(in_parts):
        requirements, _ = baseline(draw.problem, ("external",))
        first, second = (chosen(draw.problem, requirements)[0] for _ in range(2))
    assert first.digest == second.digest


@FEW
@given(releases(sliding=False), st.sampled_from([0, 1, 5, 200]))
def test_wherever_lowering_ends_the_choice_is_safe_and_no_worse_than_before(draw, lowering):
    requirements, _ = baseline(draw.problem, ("external",))
    options = ladder(draw.problem)
    lowest = choose(draw.problem, options, None)
    before, after = (
        WitnessGuidedSearch(Attacker(draw.problem, requirements), options, lowest, quiet).run(steps)
        for steps in (0, lowering)
    )
    assert options.loss_of(after.choice) <= options.loss_of(before.choice)
    assert after.left == 0
    assert audit(draw.problem, options.publication(after.choice), requirements).passed


@FEW
@given(releases(sliding=False))
def test_nothing_is_rounded_where_everything_exact_is_safe(draw):
    requirements, _ = baseline(draw.problem, ("external",))
    options = ladder(draw.problem)
    exact = choose(draw.problem, options, None)
    if audit(draw.problem, options.publication(exact), requirements).passed:
        assert (
            WitnessGuidedSearch(Attacker(draw.problem, requirements), options, exact, quiet).run(0).choice
            == exact
        ).all()


@FEW
@given(releases(sliding=False), st.booleans())
def test_what_an_lp_with_few_steps_does_not_show_is_shown_later(draw, in_parts):
    options = ladder(draw.problem)
    with divided(in_parts), patch.object(witness_guided, "STEPS", (1, None)):
        requirements, _ = baseline(draw.problem, ("external",))
        found = WitnessGuidedSearch(
            Attacker(draw.problem, requirements), options, choose(draw.problem, options, None), quiet
        ).run(20)
    assert found.left == 0
    assert audit(draw.problem, options.publication(found.choice), requirements).passed


def test_by_hand():
    """AT's cell is alone against two public countries: a level of 10 needs base 50
    around 697, which leaves 675 to 725.
    """
    problem = one_cell_release("AT 100 secret 10 | BE 240 public | CY 357 public", EU="AT BE CY")
    requirements, _ = baseline(problem, ("external",))
    options = ladder(problem)
    found = WitnessGuidedSearch(Attacker(problem, requirements), options, np.zeros(1, dtype=int), quiet).run(
        100
    )
    assert options.publication(found.choice).base.tolist() == [50]
    assert (
        repair(Attacker(problem, requirements), options, np.zeros(1, dtype=int), 60, quiet, []).tolist()
        == found.choice.tolist()
    )


def test_a_cell_that_must_be_exact_stays_exact():
    """The other cells give way; where they cannot, the domain is told."""
    problem = one_cell_release("AT 100 secret 10 | BE 240 secret 10", EU="AT BE", EA="AT")
    requirements, _ = baseline(problem, ("external",))
    weights = np.ones(2)
    options = ladder_of(problem, weights, BasesOptions()).keeping(
        np.array([True, False]), np.array([True, False])
    )
    found = WitnessGuidedSearch(Attacker(problem, requirements), options, np.zeros(2, dtype=int), quiet).run(
        100
    )
    publication = options.publication(found.choice)
    assert publication.base.tolist()[0] == 0
    assert publication.base[1] > 0
    assert audit(problem, publication, requirements).passed


@pytest.mark.parametrize(
    ("bases", "profiles", "grown"),
    [
        ({"grown_from": 2}, ("external",), True),
        ({"grown_from": 3}, ("external",), False),
        ({"grown_from": 0, "strata": {}}, ("external",), False),
        ({"grown_from": 0, "rule_aware": True}, ("external",), False),
        ({"grown_from": 0}, ("external", "internal"), False),
    ],
)
def test_who_takes_this_way_is_decided_by_counting(bases, profiles, grown):
    """Two national cells. Then no adjusted table is needed, and the ladder of CTA says so."""
    problem = one_cell_release("AT 100 secret 10 | BE 240 public", EU="AT BE")
    requirements, _ = baseline(problem, ("external",))
    requirements = Requirements(
        *(
            np.tile(getattr(requirements, name), len(profiles))
            for name in ("primaries", "down", "up", "slide", "cut")
        ),
        profile=np.arange(len(profiles)),
        profiles=profiles,
    )
    domain = drawn_domain(**bases)
    adjustment = pipeline.climb(problem, requirements, domain, 0, Adjustment())
    assert (adjustment.rungs[-1].outcome is Outcome.NONE and adjustment.accepted) is grown
