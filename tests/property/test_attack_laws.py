"""The attacker against two cold LPs per cell: small random releases, random
publications, an engine that shares no code.
"""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.judge.release import recheck
from sdc_tasks.methods.attack import (
    Attacker,
    AttackSystem,
    Chunk,
    Requirements,
    attack_system,
    attacks,
    audit,
    auditing,
    baseline,
    facing,
    jointly,
    merge,
    polyhedron,
    promised,
)
from sdc_tasks.methods.attack.lp import joint
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import AuditReport, Publication
from sdc_tasks.model.tolerances import FEASIBILITY
from support.laws import law
from support.oracles.attack import (
    BASES,
    DOWN,
    UP,
    ColdAttacker,
    Draw,
    everything,
    needs,
    reaches,
    releases,
    shares,
    slack,
)
from support.oracles.drawn import divided

ROUNDED_DOWN = 1e-4  # the report floors shares to this
LAW = law(60)
FEW = law(30)


def judge(problem: ProtectionProblem, publication: Publication) -> AuditReport:
    return audit(problem, publication, baseline(problem, ("external",))[0])


def shown(report: AuditReport) -> np.ndarray:
    return np.column_stack([report.down, report.up, report.slide])


def one_cell_more(draw: Draw, publication: Publication) -> Publication | None:
    """The same publication with one of its withheld cells told, exactly or rounded; None where nothing is
    withheld.
    """
    withheld = np.flatnonzero(publication.withheld)
    if not len(withheld):
        return None
    k = draw.rng.choice(withheld)
    value, base = publication.value.copy(), publication.base.copy()
    value[k], base[k] = draw.problem.a[publication.cells[k]], draw.rng.choice([0.0, 10.0, 200.0])
    return Publication(publication.cells, value, base)


@law(500)
@given(releases(), st.booleans())
def test_the_verdict_is_that_of_two_cold_lps_per_cell(draw, parts):
    """Down, up and sliding; positive and signed tables; one or two compositions; with and without
    external bounds; in parts or not.
    """
    publication = draw.publication()
    with divided(parts):
        report = judge(draw.problem, publication)
    expected = shares(draw.problem, publication)
    np.testing.assert_array_equal(report.primaries, np.flatnonzero(draw.problem.primary))
    np.testing.assert_allclose(shown(report), expected, atol=1.1 * ROUNDED_DOWN)
    clear = np.abs(expected - 1) > 1e-5
    clear |= expected == 1
    np.testing.assert_array_equal((shown(report) == 1)[clear], (expected == 1)[clear])
    assert report.passed == bool((shown(report) == 1).all())


@LAW
@given(releases())
def test_shares_are_rounded_down_and_cut_at_one(draw):
    publication = draw.publication()
    told = shown(judge(draw.problem, publication))
    assert ((told >= 0) & (told <= 1)).all()
    np.testing.assert_allclose(told * 1e4, np.round(told * 1e4), atol=1e-7)
    expected = shares(draw.problem, publication)
    assert (told[expected < 1] <= expected[expected < 1] + 1e-6).all()


@LAW
@given(releases())
def test_the_baseline_is_that_of_two_cold_lps_per_cell(draw):
    """What the national tables alone protect: the requirement of the release is cut there, and says so."""
    effective, _ = baseline(draw.problem, ("external",))
    ours = np.column_stack([effective.down, effective.up, effective.slide])
    np.testing.assert_allclose(ours, needs(draw.problem), rtol=1e-5, atol=1e-4)
    wanted = promised(draw.problem, ("external",))
    owed = np.column_stack([wanted.down, wanted.up, wanted.slide])
    short = (ours < owed * (1 - 2 * FEASIBILITY)).any(axis=1)
    np.testing.assert_array_equal(effective.cut, short)


@LAW
@given(releases())
def test_nothing_published_breaks_nothing(draw):
    report = judge(draw.problem, everything(draw.problem, "withheld"))
    assert report.passed
    assert report.broken == 0


@LAW
@given(releases(sliding=False), st.booleans())
def test_every_successful_attack_is_found_and_reaches_the_optimum(draw, parts):
    publication = draw.publication()
    with divided(parts):
        requirements, _ = baseline(draw.problem, ("external",))
        successful = attacks(draw.problem, publication, requirements)
    found = {(attack.requirement, attack.side): attack for attack in successful}
    assert len(found) == len(successful)
    reached = reaches(draw.problem, publication)
    for i, side in np.ndindex(len(reached), 2):
        need = (requirements.down, requirements.up)[side][i]
        attack = found.get((i, (DOWN, UP)[side]))
        if abs(reached[i, side] - need) > 1e-4 * need:
            assert (attack is not None) == (reached[i, side] < need)
        if attack is not None:
            assert attack.need == need
            assert attack.reach == pytest.approx(reached[i, side], rel=1e-5, abs=1e-4)


@LAW
@given(releases(sliding=False))
def test_the_prices_of_an_attack_bound_its_reach_under_any_other_publication(draw):
    """Supergradient: reach(other slacks) ≤ reach + Σ price · change of slack; what repair and tightening rest
    on.
    """
    publication = draw.publication()
    requirements, _ = baseline(draw.problem, ("external",))
    low, high = slack(draw.problem, publication)
    for attack in attacks(draw.problem, publication, requirements):
        assert not publication.withheld[attack.decided].any()
        more_high, more_low = np.zeros_like(high), np.zeros_like(low)
        more_high[attack.decided], more_low[attack.decided] = (
            np.maximum(attack.price, 0),
            np.maximum(-attack.price, 0),
        )
        for _ in range(3):
            other_low, other_high = (
                np.minimum(
                    np.where(draw.rng.random(len(s)) < 0.5, s, draw.rng.choice([0, *BASES], len(s))), 1e9
                )
                for s in (low, high)
            )
            reached = ColdAttacker(draw.problem, other_low, other_high).reach(
                requirements.primaries[attack.requirement], attack.side
            )
            told = ~publication.withheld
            gain = more_high[told] @ (other_high - high)[told] + more_low[told] @ (other_low - low)[told]
            assert reached <= attack.reach + gain + 1e-4 * (1 + attack.need)


@FEW
@given(releases())
def test_publishing_a_cell_more_never_widens_and_withholding_it_never_narrows(draw):
    less = draw.publication()
    more = one_cell_more(draw, less)
    if more is not None:
        assert (shown(judge(draw.problem, more)) <= shown(judge(draw.problem, less)) + 1e-12).all()


@FEW
@given(releases())
def test_a_coarser_base_around_the_same_value_never_narrows(draw):
    finer = draw.publication()
    coarser = Publication(finer.cells, finer.value, np.where(finer.rounded, finer.base * 10, finer.base))
    assert (shown(judge(draw.problem, finer)) <= shown(judge(draw.problem, coarser)) + 1e-12).all()


@LAW
@given(releases(), st.booleans())
def test_a_point_is_judged_by_the_columns_that_it_moves_as_by_all(draw, outside):
    """Also where it misses a row or a bound by about the tolerance, and where the truth
    itself is outside of the bounds.
    """
    system = facing(attack_system(draw.problem).scaled(1.0), draw.problem, draw.publication())
    if outside and len(system.cells):
        one = draw.rng.integers(len(system.cells))
        system = replace(system, lower=np.where(np.arange(len(system.lower)) == one, 1.0, system.lower))
    for few in (0, 1, 2, 5):
        z = np.zeros(len(system.cells))
        at = draw.rng.permutation(len(z))[:few]
        z[at] = draw.rng.choice([0.5e-6, 1.5e-6, 0.1, 1.0, 50.0], len(at)) * draw.rng.choice([-1, 1], len(at))
        if draw.rng.random() < 0.5:
            z = system.R @ system.R.T @ z  # moves what is tied to it, too
        found = []
        for share in (0.0, 1.0):
            with patch.object(polyhedron, "FEW_MOVED", share):
                found.append(system.are_witnesses(z))
        assert found[0] == found[1]
        assert found[0] == tuple(fits(system, each) for each in (z, -z))


def fits(system: AttackSystem, z: np.ndarray) -> bool:
    """By dense arithmetic, cell by cell."""
    A, most = system.A.toarray(), FEASIBILITY
    slack = most + 1e-12 * (abs(A) @ abs(z))
    rows = ((A @ z >= system.row_lower - slack) & (A @ z <= system.row_upper + slack)).all()
    return bool(rows and (z >= system.lower - most).all() and (z <= system.upper + most).all())


@FEW
@given(releases(), st.integers(1, 12), st.sampled_from((2, 64)))
def test_chunks_give_the_verdict_of_the_whole(draw, of, lots):
    """Whatever the chunking, also into more chunks than there are primaries, or lots."""
    publication = draw.publication()
    requirements, _ = baseline(draw.problem, ("external",))
    with patch.object(auditing, "BATCH_PRIMARIES", 2), patch.object(auditing, "MOST_BATCHES", lots):
        chunked(draw, publication, requirements, of)


def chunked(draw: Draw, publication: Publication, requirements: Requirements, of: int) -> None:
    whole = audit(draw.problem, publication, requirements)
    found = None if draw.rng.random() < 0.3 else jointly(draw.problem, publication, requirements)
    parts = [
        audit(draw.problem, publication, requirements, part=Chunk(number, of, found)) for number in range(of)
    ]
    merged = merge([parts[i] for i in draw.rng.permutation(of)])
    np.testing.assert_array_equal(merged.primaries, whole.primaries)
    np.testing.assert_array_equal(merged.baseline, whole.baseline)
    for name in ("down", "up", "slide", "by_lp", "held"):
        assert getattr(merged, name).tobytes() == getattr(whole, name).tobytes()
    assert (merged.problem, merged.publication, merged.passed) == (
        whole.problem,
        whole.publication,
        whole.passed,
    )
    assert merged.lps == whole.lps
    # Searches that begin elsewhere may find other tables; those of the chunks must prove as much.
    judged = recheck(draw.problem, publication, requirements.profiles, merged.evidence)
    assert judged.faults == ()
    np.testing.assert_array_equal(judged.protected, whole.held)


@FEW
@given(releases())
def test_tables_that_others_found_change_no_verdict(draw):
    """An attacker who has faced other publications hands on what he found, and somebody moves some of it."""
    publication, other = draw.publication(), draw.publication()
    requirements, _ = baseline(draw.problem, ("external",))
    alone = audit(draw.problem, publication, requirements)
    before = Attacker(draw.problem, requirements)
    before.set_publication(other)
    before.prove_all()
    found = list(before.tables(publication).dense(int(draw.problem.suppressed.sum())))
    moved = [z * draw.rng.choice([-2.0, 0.9, 1.0, 30.0], len(z)) for z in found]
    for tried in (found, moved):
        report = audit(draw.problem, publication, requirements, tried)
        np.testing.assert_array_equal(shown(report) >= 1, shown(alone) >= 1)
        np.testing.assert_allclose(shown(report), shown(alone), atol=2e-4)
        assert report.passed == alone.passed


@FEW
@given(releases())
def test_what_an_attacker_hands_on_shows_what_he_has_shown(draw):
    """So that an audit of the same publication needs no LP for it."""
    publication = draw.publication()
    requirements, _ = baseline(draw.problem, ("external",))
    before = Attacker(draw.problem, requirements)
    before.set_publication(publication)
    before.prove_all()
    tried = before.tables(publication).dense(int(draw.problem.suppressed.sum()))
    report = audit(draw.problem, publication, requirements, tried)
    if report.passed:
        assert report.lps == 0


@FEW
@given(releases())
def test_a_living_attacker_judges_each_publication_as_if_it_were_the_first(draw):
    """One attacker faces several publications in turn, as repair and tightening do: nothing is
    carried over.
    """
    requirements, _ = baseline(draw.problem, ("external",))
    living = Attacker(draw.problem, requirements)
    for publication in [draw.publication() for _ in range(3)] + [everything(draw.problem, "withheld")]:
        living.set_publication(publication)
        living.prove_all()
        fresh = attacks(draw.problem, publication, requirements)
        reach = {(attack.requirement, attack.side): attack.reach for attack in fresh}
        assert {(attack.requirement, attack.side): attack.reach for attack in living.broken} == pytest.approx(
            reach, rel=1e-5, abs=1e-4
        )


@LAW
@given(releases(), st.booleans())
def test_a_few_attacks_and_all_of_them_agree_whether_a_publication_breaks(draw, parts):
    publication = draw.publication()
    with divided(parts):
        attacker = Attacker(draw.problem, baseline(draw.problem, ("external",))[0])
        attacker.set_publication(publication)
        assert attacker.breaks() == (not judge(draw.problem, publication).protected.all())


@FEW
@given(releases())
def test_joint_attacks_change_no_verdict(draw):
    """Small releases go straight to an LP of their own for each requirement; here the joint LPs
    are tried first, as on large ones.
    """
    publication = draw.publication()
    with patch.object(joint, "FEW_TARGETS", 0):
        report = judge(draw.problem, publication)
    np.testing.assert_allclose(shown(report), shares(draw.problem, publication), atol=1.1 * ROUNDED_DOWN)


@FEW
@given(releases())
def test_an_attack_goes_on_from_where_it_stood(draw):
    """Repair's way: the same attack, on one publication after another."""
    publications = [draw.publication() for _ in range(4)]
    requirements, _ = baseline(draw.problem, ("external",))
    attacker = Attacker(draw.problem, requirements)
    attacker.set_publication(publications[0])
    attacker.prove_all()
    for attack in list(attacker.broken)[:2]:
        for publication in publications:
            found = attacker.again(attack, publication)
            down, up = reaches(draw.problem, publication)[
                np.searchsorted(
                    np.flatnonzero(draw.problem.primary), requirements.primaries[attack.requirement]
                )
            ]
            most = {DOWN: down, UP: up, 0: down + up}[attack.side]
            assert (attack.need if found is None else found.reach) <= most * (1 + 1e-5) + 1e-4
            assert found is None or found.reach == pytest.approx(most, rel=1e-5, abs=1e-4)


@FEW
@given(releases())
def test_the_same_audit_twice_gives_the_same_bytes(draw):
    publication = draw.publication()
    first, second = judge(draw.problem, publication), judge(draw.problem, publication)
    for name in ("primaries", "down", "up", "slide", "by_lp", "baseline"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
    assert first.lps == second.lps


@FEW
@given(releases(), st.integers(0, 99))
def test_neither_the_seed_nor_offered_tables_change_the_verdict(draw, seed):
    """Witnesses save LPs; tables that are no witness of this publication are ignored, whatever
    they promise.
    """
    publication = draw.publication()
    requirements, _ = baseline(draw.problem, ("external",))
    hidden = int(draw.problem.suppressed.sum())
    promises = [
        np.full(hidden, 1e5),
        draw.rng.normal(0, 100, hidden),
        np.zeros(hidden),
        np.full(hidden, np.inf),
        np.full(hidden, np.nan),
    ]
    plain = audit(draw.problem, publication, requirements)
    with np.errstate(invalid="ignore"):
        other = audit(draw.problem, publication, requirements, witnesses=promises, seed=seed)
    np.testing.assert_allclose(shown(other), shown(plain), atol=1.1 * ROUNDED_DOWN)
    np.testing.assert_array_equal(other.protected, plain.protected)


@FEW
@given(releases())
def test_a_published_interval_that_excludes_the_truth_never_passes(draw):
    publication = draw.publication()
    told = np.flatnonzero(~publication.withheld)
    if len(told):
        k = draw.rng.choice(told)
        value = publication.value.copy()
        value[k] += draw.rng.choice([-1, 1]) * (publication.base[k] + 1)
        report = judge(draw.problem, replace(publication, value=value))
        assert not report.passed
        assert report.contradictions == (int(publication.cells[k]),)


@FEW
@given(releases())
def test_larger_tables_are_judged_alike(draw):
    """The unit of the data is of no matter: everything times a million gives the same shares."""
    publication, p = draw.publication(), draw.problem
    million = {name: getattr(p, name) * 1e6 for name in ("a", "lb", "ub", "lpl", "upl", "spl")}
    larger = Publication(publication.cells, publication.value * 1e6, publication.base * 1e6)
    np.testing.assert_allclose(
        shown(judge(replace(p, **million), larger)), shown(judge(p, publication)), atol=1.1 * ROUNDED_DOWN
    )
