"""What `make bench-attack` computes by itself: losses, the naive attacker, growth, and the lines of
the table that must be reached.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given

from benchmarks import attack_document
from benchmarks.attack_measure import Job, Naive, Record, jobs, lost
from benchmarks.attack_registry import LADDERS, REGISTRY, RELEASES, TINY, Variant
from benchmarks.ladders_run import COMPARED
from sdc_tasks.domains import load_domain
from support.laws import law
from support.oracles.attack import one_cell_release, published, reaches, releases

RECORD = Record(
    Job("demo", "audit-safe"), "of today", 100, 200, 1000, 2.0, 500.0, 0.1, "2026-01-01T00:00:00+00:00"
)


def test_names_are_unique_and_relatives_are_there():
    assert len(REGISTRY) == len(RELEASES) + len(TINY)
    for group in (RELEASES, TINY):
        found = jobs(group)
        assert len({job.name for job in found}) == len(found)
        for release in group:
            assert release.grows_from in {"", *(other.name for other in group)}
            assert len({variant.name for variant in release.variants}) == len(release.variants)


@pytest.mark.parametrize("name", REGISTRY)
def test_every_way_to_choose_bases_is_one_that_a_domain_may_ask_for(name):
    for variant in REGISTRY[name].variants:
        chosen = variant.of(load_domain("sbs")).bases
        assert (chosen.weights, chosen.mantissas) == (variant.weights, LADDERS[variant.ladder])


@pytest.mark.parametrize("ladder", COMPARED)
def test_a_ladder_that_is_compared_is_one_that_a_domain_may_ask_for(ladder):
    asked = Variant(ladder=ladder).of(load_domain("sbs")).bases
    assert asked.mantissas == LADDERS[ladder] == tuple(sorted(set(LADDERS[ladder])))


def test_a_publication_is_made_before_it_is_audited():
    found = [(job.release, job.kind) for job in jobs(RELEASES)]
    for release in [each for each in RELEASES if each.variants]:
        assert found.index((release.name, "bases")) < found.index((release.name, "audit-safe"))


@law(20)
@given(releases(most=4, sliding=False))
def test_the_naive_attacker_is_slow_but_right(draw):
    assume(draw.problem.primary.any())
    publication = draw.publication()
    naive = Naive(draw.problem, publication)
    found = np.array([naive.reach(primary) for primary in np.flatnonzero(draw.problem.primary)])
    np.testing.assert_allclose(found, reaches(draw.problem, publication), rtol=1e-7, atol=1e-5)


def test_what_is_lost_by_hand():
    """EU28 = 697 exact, EU27 = 340 rounded to 350 at base 50, EA = 100 withheld: loss 25/340, and 0.5 of
    EA beside it; |r − a| 0 and 10.
    """
    problem = one_cell_release(
        "AT 100 secret 10 | BE 240 public | CY 357 public", EU28="AT BE CY", EU27="AT BE", EA="AT"
    )
    domain = load_domain("sbs")
    found = lost(problem, published(problem, "exact", (350, 50), "withheld"), Variant(), domain)
    assert domain.bases.maximum_relative_base == 0.5
    assert (found["exact"], found["rounded"], found["withheld"], found["truth inside"]) == (1, 1, 1, True)
    assert found["mean |r − a|"] == pytest.approx(5)
    assert found["mean relative base"] == found["median relative base"] == pytest.approx(50 / 340)
    assert found["loss"] == pytest.approx(25 / 340)
    assert found["loss with withheld"] == pytest.approx(25 / 340 + 0.5)


def test_an_interval_without_the_truth_is_seen():
    problem = one_cell_release("AT 100 secret 10", EU="AT")
    assert not lost(problem, published(problem, (120, 10)), Variant(), load_domain("sbs"))["truth inside"]


def test_growth_and_speed():
    """Ten times the cells in a hundred times the seconds is n²; 400 s beside 2 s is 200 times."""
    assert attack_document.exponent(RECORD, replace(RECORD, cells=10_000, seconds=200.0)) == pytest.approx(2)
    assert attack_document.speedup(
        replace(RECORD, figures={"naive s, all primaries": 400.0})
    ) == pytest.approx(200)


def test_the_table_says_yes_and_no(monkeypatch):
    monkeypatch.setattr(attack_document, "code", lambda: "of today")
    figures = {"passed": True, "naive s, all primaries": 400.0}
    fast, slow = (
        replace(RECORD, figures=figures),
        replace(RECORD, figures=figures, seconds=9.0, code="of another day"),
    )
    yes, no = (attack_document.must_reach({"demo-audit-safe": record}) for record in (fast, slow))
    assert "| 2.00 | yes |" in yes
    assert "| 200 | yes |" in yes
    assert "| 9.00† | **no** |" in no
    assert "| 44† | **no** |" in no
    assert attack_document.must_reach({}) == ""


def test_a_record_comes_back_from_json():
    assert Record.from_json(RECORD.to_json()) == RECORD
