"""The gate: one report releases exactly one publication of one problem; and nothing on the
way tells a confidential value.
"""

from __future__ import annotations

import re
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given

from sdc_tasks import pipeline
from sdc_tasks.errors import ReleaseBlocked, SdcError
from sdc_tasks.judge.adjusted import verify
from sdc_tasks.methods.attack import (
    Chunk,
    attack_system,
    attacks,
    audit,
    auditing,
    baseline,
    facing,
    merge,
    promised,
)
from sdc_tasks.methods.cta.model import release_problem
from sdc_tasks.model.findings import CheckResult, Finding, Severity
from sdc_tasks.model.problem import NationalTable, ProtectionProblem
from sdc_tasks.model.results import Adjustment, AuditReport, Outcome, Publication, Release, Rung
from sdc_tasks.solver.lp import LPResult, Status
from support.laws import law
from support.oracles.attack import everything, one_cell_release, published, releases

FEW = law(40)

PROBLEM = one_cell_release("AT 100 secret 10 | BE 240 secret 10 | CY 357 public", EU="AT CY", ALL="AT BE CY")
SAFE = published(PROBLEM, (450, 50), (700, 50))
OPEN = everything(PROBLEM, "exact")


def judge(problem: ProtectionProblem, publication: Publication) -> AuditReport:
    return audit(problem, publication, baseline(problem, ("external",))[0])


def blocked(problem: ProtectionProblem, publication: Publication, report: AuditReport) -> str:
    with pytest.raises(ReleaseBlocked) as refusal:
        pipeline.release("2024-1", problem, needs(problem), publication, report, ("external",))
    return str(refusal.value)


# --- what is let through ------------------------------------------------------------------------------------


def needs(problem):
    """The requirements that the gate holds the audit against."""
    return baseline(problem, ("external",))[0]


def test_a_passed_audit_of_exactly_this_publication_is_released():
    report = judge(PROBLEM, SAFE)
    release = pipeline.release("2024-1", PROBLEM, needs(PROBLEM), SAFE, report, ("external",))
    assert (release.id, release.problem, release.publication, release.report) == (
        "2024-1",
        PROBLEM.digest,
        SAFE,
        report,
    )


def test_a_failed_audit_is_refused_by_the_names_of_the_cells():
    text = blocked(PROBLEM, OPEN, judge(PROBLEM, OPEN))
    assert "AT.TURNOVER.TOTAL" in text
    assert "4 protection requirements" in text


def test_a_contradiction_is_refused():
    wrong = published(PROBLEM, (500, 50), (700, 50))
    assert "1 published intervals exclude" in blocked(PROBLEM, wrong, judge(PROBLEM, wrong))


def test_the_report_of_another_publication_is_refused():
    assert "another publication" in blocked(PROBLEM, OPEN, judge(PROBLEM, SAFE))
    assert "another publication" in blocked(
        PROBLEM, published(PROBLEM, (450, 50), (700, 100)), judge(PROBLEM, SAFE)
    )


def test_the_report_of_another_problem_is_refused():
    corrected = one_cell_release(
        "AT 100 secret 10 | BE 241 secret 10 | CY 356 public", EU="AT CY", ALL="AT BE CY"
    )
    assert "another publication" in blocked(corrected, SAFE, judge(PROBLEM, SAFE))


def test_an_incomplete_set_of_chunks_is_refused():
    requirements, _ = baseline(PROBLEM, ("external",))
    with patch.object(auditing, "BATCH_PRIMARIES", 1):
        parts = [audit(PROBLEM, SAFE, requirements, part=Chunk(number, 2)) for number in range(2)]
    assert (
        pipeline.release(
            "2024-1", PROBLEM, needs(PROBLEM), SAFE, pipeline.merge(parts), ("external",)
        ).publication
        is SAFE
    )
    assert "does not cover all primaries" in blocked(PROBLEM, SAFE, pipeline.merge(parts[:1]))
    assert "does not cover all primaries" in blocked(PROBLEM, SAFE, pipeline.merge(parts[1:]))


def test_chunks_of_different_publications_or_overlapping_ones_are_not_merged():
    requirements, _ = baseline(PROBLEM, ("external",))
    with patch.object(auditing, "BATCH_PRIMARIES", 1):
        first, second = (audit(PROBLEM, SAFE, requirements, part=Chunk(number, 2)) for number in range(2))
        other = audit(PROBLEM, everything(PROBLEM, "withheld"), requirements, part=Chunk(1, 2))
    with pytest.raises(ValueError, match="one audit"):
        merge([first, other])
    with pytest.raises(ValueError, match="overlap"):
        merge([first, second, second])
    with pytest.raises(ValueError):
        merge([])


def test_shares_that_are_no_numbers_protect_nothing():
    report = judge(PROBLEM, SAFE)
    hollow = replace(report, down=np.full(2, np.nan))
    assert not hollow.passed
    assert "protection requirements" in blocked(PROBLEM, SAFE, hollow)


def test_an_audit_against_weaker_requirements_releases_nothing():
    """The requirements belong to what was audited: a report that asked for nothing proves nothing."""
    requirements, _ = baseline(PROBLEM, ("external",))
    none = replace(requirements, down=np.zeros(2), up=np.zeros(2), slide=np.zeros(2))
    assert blocked(PROBLEM, OPEN, audit(PROBLEM, OPEN, none))


# --- digests ------------------------------------------------------------------------------------------------


@FEW
@given(releases())
def test_every_change_of_a_value_changes_the_digest(draw):
    p = draw.problem
    cell = int(draw.rng.integers(p.space.size))
    for name in ("a", "lb", "ub", "lpl", "upl", "spl"):
        changed = getattr(p, name).copy()
        if name == "a" and changed[cell] + 1 > p.ub[cell]:
            continue  # a true value stays inside its bounds
        step = -1 if name == "lb" else 1
        changed[cell] = changed[cell] + step if np.isfinite(changed[cell]) else step * 1e7
        assert replace(p, **{name: changed}).digest != p.digest
    assert replace(p, deliveries=("other",)).digest != p.digest
    assert replace(p).digest == p.digest
    publication = draw.publication()
    k = int(draw.rng.integers(len(publication.cells)))
    for name in ("value", "base"):
        changed = getattr(publication, name).copy()
        changed[k] += 1
        if np.isfinite(changed[k]):
            assert replace(publication, **{name: changed}).digest != publication.digest
    assert replace(publication).digest == publication.digest


def test_a_change_of_a_flag_or_of_a_name_changes_the_digest():
    public = PROBLEM.public.copy()
    public[2] = False
    renamed = replace(PROBLEM.space, countries=("AT", "BE", "DE"), aggregates=PROBLEM.space.aggregates)
    primary = PROBLEM.primary.copy()
    primary[0] = False
    changed = [{"public": public}, {"primary": primary}, {"space": renamed}]
    assert len({PROBLEM.digest, *(replace(PROBLEM, **change).digest for change in changed)}) == 4


def test_what_was_audited_cannot_be_changed_afterwards():
    """Neither through the frozen type, nor through the array it was made from."""
    cells, value, base = np.array([3, 4]), np.array([450.0, 700.0]), np.array([50.0, 50.0])
    publication = Publication(cells, value, base)
    with pytest.raises(ValueError):
        publication.base[0] = 0
    digest = publication.digest
    base[0] = 0
    assert publication.base[0] == 50
    assert replace(publication).digest == digest


# --- nothing told -------------------------------------------------------------------------------------------

SECRET = 748591.0
LEVEL = 91357.0
FORBIDDEN = re.compile(
    r"748591|91357|(?<![0-9a-f])656\d*(?![0-9a-f])|839948"
)  # the secret, its level, what an attacker would reach; no digest


def secret_problem() -> ProtectionProblem:
    return one_cell_release(f"AT {SECRET} secret {LEVEL} | BE 240 public", EU="AT BE")


def everything_made() -> dict[str, object]:
    """One of each type between the delivery and the release, all of them made from the secret."""
    problem = secret_problem()
    requirements, _ = baseline(problem, ("external",))
    exact, rounded = everything(problem, "exact"), published(problem, (700000, 200000))
    system = facing(attack_system(problem).scaled(1.0), problem, rounded)
    cta = release_problem(problem, requirements, np.ones(1))
    one, n = np.array([SECRET]), np.array([3])
    return {
        "NationalTable": NationalTable("AT", ("digest",), one, np.array(["A"]), n, one, one),
        "ProtectionProblem": problem,
        "Publication": exact,
        "rounded Publication": rounded,
        "Rung": Rung("milp", Outcome.OPTIMAL, 1.0, 1.0, 0.0, 0.1, "proven"),
        "Adjustment": Adjustment(problem.a + LEVEL),
        "AuditReport": judge(problem, exact),
        "Release": Release("2024-1", problem.digest, exact, judge(problem, exact)),
        "Finding": Finding("150/904-2", Severity.ERROR, "unknown code", 3, "AT.TURNOVER.TOTAL"),
        "CheckResult": CheckResult("additivity", Severity.ERROR, False, 3, 1, ("AT.TURNOVER.TOTAL",)),
        "Requirements": promised(problem, ("external",)),
        "AttackSystem": system,
        "Attack": attacks(problem, exact, requirements)[0],
        "Attack that reaches somewhere": attacks(problem, rounded, requirements)[0],
        "LPResult": LPResult(Status.OPTIMAL, -LEVEL, one, one, one),
        "CtaProblem": cta,
        "Verdict": verify(cta, np.zeros(2)),
        "Milp": cta.milp,
    }


@pytest.mark.parametrize("part", ["model", "methods"])
def test_no_repr_tells_a_confidential_value(part):
    """Once for the types of `model`, once for those inside the methods: any of them may end in a traceback or
    a log.
    """
    telling = set()
    for name, made in everything_made().items():
        texts = [repr(made), str(made), f"{made}", repr([made]), repr({"x": made})]
        if (".model." in type(made).__module__) == (part == "model"):
            telling |= {
                name
                for text in texts
                if FORBIDDEN.search(text.replace(",", "").replace("_", "")) or "array(" in text
            }
    assert telling == set()


def test_no_refusal_tells_a_confidential_value():
    """Every way to be refused, with the secret in every argument."""
    problem = secret_problem()
    exact = everything(problem, "exact")
    one = np.array([SECRET])
    wrong = [
        lambda: pipeline.release(
            "2024-1", problem, needs(problem), exact, judge(problem, exact), ("external",)
        ),
        lambda: pipeline.release(
            "2024-1",
            problem,
            needs(problem),
            published(problem, (SECRET, 0)),
            judge(problem, published(problem, (SECRET, 0))),
            ("external",),
        ),
        lambda: pipeline.release(
            "2024-1",
            secret_problem(),
            needs(secret_problem()),
            everything(problem, "withheld"),
            judge(problem, exact),
            ("external",),
        ),
        lambda: replace(problem, a=problem.a[:1]),
        lambda: replace(problem, a=problem.a * np.nan),
        lambda: replace(problem, lpl=-problem.a),
        lambda: replace(problem, primary=np.ones(3, dtype=bool)),
        lambda: Publication(exact.cells, one, -one),
        lambda: Publication(exact.cells, one * np.nan, one),
        lambda: Publication(exact.cells, np.array([SECRET, SECRET]), one),
        lambda: NationalTable("AT", ("digest",), one, np.array(["A", "A"]), np.array([1]), one, one),
    ]
    for refused in wrong:
        with pytest.raises((ValueError, SdcError)) as refusal:
            refused()
        assert not FORBIDDEN.search(f"{refusal.value} {refusal.value!r}")


def test_a_true_value_outside_its_own_bounds_is_refused():
    """The attacker's polyhedron would not even hold the truth, and every verdict on it would be worthless."""
    with pytest.raises(ValueError):
        replace(secret_problem(), lb=np.array([SECRET + 1, 0, 0]))
    with pytest.raises(ValueError):
        replace(secret_problem(), ub=np.array([SECRET - 1, np.inf, np.inf]))
