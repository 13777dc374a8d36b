"""Attackers who know more than the public: against two cold LPs per cell and attacker, on small random
releases.
"""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sdc_tasks import pipeline
from sdc_tasks.domains.schema import AuditOptions
from sdc_tasks.errors import ReleaseBlocked
from sdc_tasks.judge.release import recheck
from sdc_tasks.methods.attack import Chunk, audit, auditing, baseline, jointly, knowledge_of, merge, promised
from sdc_tasks.methods.attack.lp import joint
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.secret import Secret
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy
from sdc_tasks.solver.hot import HotLP
from sdc_tasks.solver.lp import LPResult
from support.laws import law
from support.oracles import profiles as cold
from support.oracles.attack import everything, one_cell_release, published, releases
from support.oracles.drawn import divided, with_respondents

LAW = law(25)


def reach(problem: ProtectionProblem, ends: np.ndarray) -> np.ndarray:
    """(primaries, 2): distances of the ends from the truth."""
    truth = problem.a[problem.primary][:, None]
    return (ends - truth) * [-1, 1]


def promise(problem: ProtectionProblem) -> np.ndarray:
    needed = promised(problem, ("external",))
    return np.column_stack([needed.down, needed.up])


def kept(found: np.ndarray, needed: np.ndarray) -> np.ndarray:
    """(primaries, 2): is the need reached? None too close to tell count as kept."""
    return found >= needed * (1 - 1e-5) - 1e-4


@LAW
@given(releases(most=6, signed=False, sliding=False), st.booleans())
def test_all_singletons_together_find_what_two_cold_lps_find(draw, parts):
    """[2] eq. 9: against everybody, also against each of themselves; whether victims are looked for in
    parts of the table first or not.
    """
    problem, publication = with_respondents(draw), draw.publication()
    with divided(parts):
        requirements, _ = baseline(problem, ("coalition",), every=False)
        report = audit(problem, publication, requirements)
    singles = [int(c) for c in np.flatnonzero((problem.known == problem.a) & problem.suppressed)]
    needed = np.minimum(promise(problem), reach(problem, cold.coalition(problem, None, singles)))
    found = reach(problem, cold.coalition(problem, publication, singles))
    np.testing.assert_allclose(
        np.column_stack([requirements.down, requirements.up]), needed, rtol=1e-5, atol=1e-4
    )
    np.testing.assert_array_equal(report.protected, kept(found, needed).all(axis=1))


@LAW
@given(releases(most=6, signed=False, sliding=False), st.booleans())
def test_each_respondent_alone_finds_what_two_cold_lps_find(draw, together):
    problem, publication = with_respondents(draw), draw.publication()
    with patch.object(joint, "FEW_TARGETS", 0 if together else joint.FEW_TARGETS):
        requirements, _ = baseline(problem, ("internal",))
        report = audit(problem, publication, requirements)
    cells = knowledge_of(problem, "internal").cells
    parts = {int(c): float(problem.known[c]) for c in cells}
    alone, then = cold.alone(problem, None, parts), cold.alone(problem, publication, parts)
    held = np.ones(len(report.primaries), dtype=bool)
    of = cold.respondents(problem, [cell for cell in parts if parts[cell] == problem.a[cell]])
    for cell in parts:
        others = ~np.isin(report.primaries, list(of.get(cell, {cell})))
        needed = np.minimum(promise(problem), reach(problem, alone[cell]))
        held[others] &= kept(reach(problem, then[cell]), needed)[others].all(axis=1)
    np.testing.assert_array_equal(report.protected, held)


@LAW
@given(releases(most=6, signed=False))
def test_who_knows_more_never_sees_less(draw):
    """Promised in full, not cut to any baseline: a coalition breaks what one respondent
    breaks, and he what the public breaks.
    """
    problem, publication = with_respondents(draw), draw.publication()
    broken = {
        name: ~audit(problem, publication, promised(problem, (name,))).protected
        for name in ("external", "internal")
    }
    whole = audit(problem, publication, promised(problem, ("coalition",)))
    if len(knowledge_of(problem, "internal").cells) > 1:
        assert (broken["internal"] | ~broken["external"]).all()
    assert (whole.protected <= ~broken["external"]).all()


@LAW
@given(releases(most=6, signed=False, sliding=False), st.sampled_from([1, 2, 5]))
def test_all_profiles_at_once_are_each_by_itself_however_they_are_chunked(draw, of):
    problem, publication = with_respondents(draw), draw.publication()
    profiles = ("external", "internal", "coalition")
    requirements, _ = baseline(problem, profiles)
    whole = audit(problem, publication, requirements)
    for number, profile in enumerate(profiles):
        own, _ = baseline(problem, (profile,))
        alone = audit(problem, publication, own)
        np.testing.assert_array_equal(
            whole.held[number][np.isin(whole.primaries, alone.primaries)], alone.protected
        )
    with patch.object(auditing, "BATCH_PRIMARIES", 2):
        once = audit(problem, publication, requirements)
        merged = merge([audit(problem, publication, requirements, part=Chunk(i, of)) for i in range(of)])
    for name in ("primaries", "down", "up", "slide", "by_lp", "baseline", "held"):
        assert getattr(merged, name).tobytes() == getattr(once, name).tobytes()
    assert merged.lps == once.lps


def test_a_single_unit_knows_what_hides_the_other():
    """AT + BE = 300 exact: to the public AT may be anything up to 300. The only unit of BE knows 200, hence
    AT.
    """
    problem = one_cell_release("AT 100 secret 10 | BE 200 secret 20 | CY 400 public", EU="AT BE CY")
    exact = everything(problem, "exact")
    assert audit(problem, exact, baseline(problem, ("external",))[0]).passed
    known = replace(problem, known=np.array([np.nan, 200, np.nan, np.nan]))
    for profile in ("internal", "coalition"):
        report = audit(known, exact, baseline(known, (profile,))[0])
        assert dict(zip(report.primaries.tolist(), report.down.tolist(), strict=True))[0] == 0


def test_the_only_units_of_three_cells_lay_each_other_open():
    """AT 100, BE 240, CY 357, each with a single unit: of an exact 697, any two leave the third.
    No unit alone finds out another.
    """
    problem = one_cell_release("AT 100 secret 10 | BE 240 secret 24 | CY 357 secret 35", EU="AT BE CY")
    problem = replace(problem, known=np.where(problem.aggregate, np.nan, problem.a))
    requirements, _ = baseline(problem, ("internal", "coalition"))
    assert not requirements.cut.any(), "with no total, nobody learns anything"
    exact = audit(problem, everything(problem, "exact"), requirements)
    assert exact.held.tolist() == [[True] * 3, [False] * 3]
    assert exact.down.tolist() == exact.up.tolist() == [0, 0, 0]
    rounded = audit(
        problem, published(problem, (700, 50)), requirements
    )  # 675 … 725: 22 below the truth, 28 above
    assert rounded.held.tolist() == [[True] * 3, [True, False, False]]
    for report, table in ((exact, everything(problem, "exact")), (rounded, published(problem, (700, 50)))):
        again = recheck(problem, table, requirements.profiles, report.evidence)
        assert again.protected.tolist() == report.held.tolist() == (~again.exposed).tolist()


def test_a_respondent_is_no_attacker_of_his_own_cells():
    """TOTAL 70 is public, A 30 = A1 30 + A2 0 has a single unit, which is that of A1; B 40 has
    several. Nobody else knows A or A1.
    """
    space = CellSpace(
        ("AT",),
        (),
        ("TURNOVER",),
        (Hierarchy("ACTIVITY", ("TOTAL", "A", "A1", "A2", "B"), (None, "TOTAL", "A", "A", "TOTAL")),),
    )
    level = np.array([0.0, 3, 3, 0, 4])
    problem = ProtectionProblem(
        space=space,
        a=np.array([70.0, 30, 30, 0, 40]),
        lb=np.zeros(5),
        ub=np.full(5, np.inf),
        lpl=level,
        upl=level,
        spl=np.zeros(5),
        public=level == 0,
        primary=level > 0,
        deliveries=("drawn",),
        known=np.array([np.nan, 30, 30, np.nan, np.nan]),
    )
    report = audit(
        problem, everything(problem, "exact"), promised(problem, ("external", "internal", "coalition"))
    )
    assert report.held.tolist() == [[True, True, True], [True, True, False], [True, True, False]], (
        "B is TOTAL − A, and A knows A"
    )


def test_of_two_units_the_larger_one_knows_that_the_cell_is_at_least_its_part():
    """BE is 200, of which 190 are one unit's: AT = 300 − BE is at most 110: enough for a
    level of 10, not for one of 11.
    """
    for level, passed in ((10, True), (11, False)):
        problem = one_cell_release(f"AT 100 secret {level} | BE 200 hidden | CY 400 public", EU="AT BE CY")
        problem = replace(problem, known=np.array([np.nan, 190, np.nan, np.nan]))
        assert (
            audit(problem, everything(problem, "exact"), baseline(problem, ("internal",))[0]).passed == passed
        )


@LAW
@given(releases(most=6, signed=False), st.booleans())
def test_noise_of_a_solver_is_no_requirement(draw, parts):
    """Where a national table leaves nothing, the baseline asks for nothing: a level of 1e-10
    would be broken by any publication.
    """

    def noisy(live: HotLP) -> LPResult:
        result = solve(live)
        return replace(result, x=result.x + 1e-12)

    problem, profiles, solve = with_respondents(draw), ("external", "internal", "coalition"), HotLP.solve
    with divided(parts), patch.object(HotLP, "solve", noisy):
        found = baseline(problem, profiles)[0]
    whole = promised(problem, profiles)
    largest = {
        (int(p), int(k)): i for i, (p, k) in enumerate(zip(whole.primaries, whole.profile, strict=True))
    }
    of = [
        largest[int(p), int(k)] for p, k in zip(found.primaries, found.of_profile[found.profile], strict=True)
    ]
    for side in ("down", "up", "slide"):
        need = getattr(found, side)
        assert ((need == 0) | (need > 1e-10 * getattr(whole, side)[of])).all()


def test_a_small_part_beside_a_large_level_is_no_noise():
    """The hidden B leaves A 100, of a level of 3e8; the exact European totals take it away: that is a
    disclosure.
    """
    activity = Hierarchy("ACTIVITY", ("TOTAL", "A", "B"), (None, "TOTAL", "TOTAL"))
    space = CellSpace(("AT", "BE"), (Aggregate("EU", ("AT", "BE")),), ("TURNOVER",), (activity,))
    a, level = (
        np.array([1e9 + 100, 1e9, 100, 9, 4, 5, 1e9 + 109, 1e9 + 4, 105]),
        np.array([0.0, 3e8, 0, 0, 0, 0, 0, 0, 0]),
    )
    problem = ProtectionProblem(
        space=space, a=a, lb=0 * a, ub=np.full(9, np.inf), lpl=0 * a, upl=level, spl=0 * a,
        public=np.isin(np.arange(9), [0, 3, 4, 5]), primary=level > 0, deliveries=("drawn",),
    )  # fmt: skip
    needs = baseline(problem, ("external",))[0]
    assert needs.up.tolist() == pytest.approx([100.0])
    assert not audit(problem, everything(problem, "exact"), needs).passed


def test_an_unknown_profile_is_refused():
    problem = one_cell_release("AT 100 secret 10", EU="AT")
    with pytest.raises(ValueError, match="external, internal, coalition, vintage"):
        baseline(problem, ("anybody",))


@LAW
@given(releases(most=6, signed=False), st.booleans(), st.booleans())
def test_a_second_program_comes_to_the_same_verdict_from_the_evidence(draw, together, parts):
    """Without an LP: each requirement met has its witness, each one broken its multipliers."""
    problem, publication = with_respondents(draw), draw.publication()
    profiles = ("external", "internal", "coalition")
    with divided(parts), patch.object(joint, "FEW_TARGETS", 0 if together else joint.FEW_TARGETS):
        requirements, _ = baseline(problem, profiles)
        report = audit(problem, publication, requirements)
    found = recheck(problem, publication, profiles, report.evidence)
    np.testing.assert_array_equal(found.protected, report.held)
    np.testing.assert_array_equal(found.exposed, ~report.held)
    none = recheck(
        problem, publication, profiles, replace(report.evidence, witness=0 * report.evidence.witness)
    )
    assert (none.protected <= report.held).all()


@LAW
@given(releases(most=6, signed=False), st.sampled_from([2, 5]))
def test_the_evidence_is_the_same_however_it_was_chunked(draw, of):
    problem, publication = with_respondents(draw), draw.publication()
    requirements, _ = baseline(problem, ("external", "internal", "coalition"))
    with divided(True), patch.object(auditing, "BATCH_PRIMARIES", 2):
        once = audit(problem, publication, requirements)
        merged = merge([audit(problem, publication, requirements, part=Chunk(i, of)) for i in range(of)])
        found = jointly(problem, publication, requirements)
        shared = merge(
            [audit(problem, publication, requirements, part=Chunk(i, of, found)) for i in range(of)]
        )
    salt = Secret.fresh()
    assert merge([once]).evidence.digest(salt) == merged.evidence.digest(salt) == shared.evidence.digest(salt)
    assert once.lps == merged.lps == shared.lps


@LAW
@given(releases(most=6, signed=False), st.integers(0, 2**32))
def test_points_that_joint_searches_are_said_to_have_found_prove_nothing_by_being_said(draw, seed):
    """Somebody else's points, or points that are moved, in place of those of the joint searches:
    the verdict is that of the audit.
    """
    problem, publication = with_respondents(draw), draw.publication()
    rng = np.random.default_rng(seed)
    requirements, _ = baseline(problem, ("external", "internal", "coalition"))
    with divided(True), patch.object(joint, "FEW_TARGETS", 0):
        right = audit(problem, publication, requirements)
        found = jointly(problem, publication, requirements)
        forged = replace(found, value=found.value * rng.choice([-3.0, 0.5, 1.5, 40.0], len(found.value)))
        report = audit(problem, publication, requirements, part=Chunk(joint=forged))
    np.testing.assert_array_equal(report.held, right.held)
    profiles = ("external", "internal", "coalition")
    np.testing.assert_array_equal(
        recheck(problem, publication, profiles, report.evidence).protected, report.held
    )


def test_joint_points_serve_their_own_audit_alone():
    problem = one_cell_release("AT 100 secret 10 | BE 200 hidden | CY 400 public", EU="AT BE CY")
    requirements, _ = baseline(problem, ("external",))
    found = jointly(problem, everything(problem, "exact"), requirements)
    with pytest.raises(ValueError, match="another audit"):
        audit(problem, everything(problem, "withheld"), requirements, part=Chunk(joint=found))
    with pytest.raises(ValueError, match="another audit"):
        audit(problem, everything(problem, "exact"), requirements, seed=2, part=Chunk(joint=found))


def test_a_release_needs_every_profile_that_its_domain_asks_for():
    """Audited against the public alone, it is not released where respondents count too."""
    problem = one_cell_release("AT 100 secret 10 | BE 200 hidden | CY 400 public", EU="AT BE CY")
    exact = everything(problem, "exact")
    requirements, _ = baseline(problem, ("external",))
    report = audit(problem, exact, requirements)
    assert pipeline.release("2024-1", problem, requirements, exact, report, ("external",)).report is report
    with pytest.raises(ReleaseBlocked, match="internal"):
        pipeline.release("2024-1", problem, requirements, exact, report, ("external", "internal"))


def test_the_profiles_of_a_domain_include_the_public():
    assert AuditOptions(profiles=("external", "coalition")).profiles == ("external", "coalition")
    for wrong in ((), ("internal",), ("external", "external"), ("external", "nobody")):
        with pytest.raises(ValidationError):
            AuditOptions(profiles=wrong)
