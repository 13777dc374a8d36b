"""Tables that share cells are revised one after the other, in any order: an attacker of its own, for whom a
cell is one unknown for each of its values, breaks nothing that the program lets out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from sdc_tasks import pipeline
from sdc_tasks.judge.release import Part, differs, published_before
from sdc_tasks.judge.release.verdict import recheck
from sdc_tasks.methods.attack import prior_releases
from sdc_tasks.methods.linked import Out, Told, joint
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, Publication
from support.oracles.drawn import drawn_domain
from support.oracles.linked import YEAR
from support.oracles.revised import Version, broken, in_force, revised

QUICK, WHOLE, PART = 12, 252, 24
CLOSE = 1e-9
BROKEN = 7  # a statistic that is broken without them


def told(version: Version, out: Sequence[Version]) -> list[Told]:
    """The earlier versions of its table."""
    found = [each for each in out if each.kind == version.kind and each.number < version.number]
    return [(each.problem, each.publication) for each in found if isinstance(each.publication, Publication)]


def beside(now: Version, out: Sequence[Version]) -> list[Version]:
    """The last versions of the other tables."""
    return [each for each in in_force(out) if each.kind != now.kind]


def joint_of(now: Version, out: Sequence[Version]) -> ProtectionProblem:
    others = [
        Out(each.kind, YEAR, with_versions(each, out), each.publication, told(each, out))
        for each in beside(now, out)
        if isinstance(each.publication, Publication)
    ]
    allowed = lambda total: np.full(len(total), CLOSE)  # noqa: E731
    return joint(with_versions(now, out), YEAR, others, {}, allowed, before=told(now, out))


def with_versions(version: Version, out: Sequence[Version]) -> ProtectionProblem:
    return replace(version.problem, earlier=prior_releases(version.problem, told(version, out)))


def judged_alike(problem: ProtectionProblem, now: Version, out: Sequence[Version]) -> list[str]:
    """What the second program finds of the joint problem, with versions by its own code."""

    def own(version: Version) -> ProtectionProblem:
        earlier = published_before(version.problem, told(version, out), 0.0)
        return replace(version.problem, earlier=earlier)

    parts = [
        Part(each.kind, YEAR, own(each), each.publication, told(each, out))
        for each in beside(now, out)
        if isinstance(each.publication, Publication)
    ]
    return differs(problem, own(now), YEAR, parts, {}, lambda total: CLOSE, told(now, out))


def come_out(versions: Sequence[Version]) -> int:
    """Lets the versions out, one after the other; the oracle attacks each. Returns how many requirements of
    revised tables nothing before them had cut.
    """
    asked = 0
    for number, now in enumerate(versions):
        before, domain = versions[:number], drawn_domain()
        problem = joint_of(now, before)
        requirements, _ = pipeline.baseline(problem, domain)
        now.publication = pipeline.choose_bases(problem, requirements, Adjustment(), domain)
        report = pipeline.audit(problem, now.publication, requirements, domain)
        assert report.passed
        assert judged_alike(problem, now, before) == []
        found = recheck(problem, now.publication, report.profiles, report.evidence)
        assert not found.faults
        assert found.protected.all()
        if now.number > 1:
            asked += int((~requirements.cut & (requirements.down > 0)).sum())
            assert broken(versions[: number + 1]) == []
    return asked


@pytest.mark.parametrize("seed", range(QUICK))
def test_no_revised_table_breaks_a_promise(seed: int):
    come_out(revised(seed))


def test_without_the_former_values_a_release_is_broken(monkeypatch: pytest.MonkeyPatch):
    """The oracle finds what a program overlooks that does not know them equal in both tables."""
    monkeypatch.setattr("sdc_tasks.methods.linked.merge._Told.add_former", lambda *_: None)
    versions, unlike = revised(BROKEN), list[str]()
    for number, now in enumerate(versions):
        problem, domain = joint_of(now, versions[:number]), drawn_domain()
        requirements, _ = pipeline.baseline(problem, domain)
        now.publication = pipeline.choose_bases(problem, requirements, Adjustment(), domain)
        assert pipeline.audit(problem, now.publication, requirements, domain).passed
        unlike += judged_alike(problem, now, versions[:number])
    assert "other earlier publications" in unlike, "the second program would let none of them out"
    assert any(broken(versions[: number + 1]) for number, now in enumerate(versions) if now.number > 1)


@pytest.mark.parametrize("first", range(QUICK, WHOLE, PART), ids=str)
@pytest.mark.exhaustive
def test_nothing_of_many_revised_statistics_is_broken(first: int):
    asked = [come_out(revised(seed)) for seed in range(first, min(first + PART, WHOLE))]
    assert sum(each > 0 for each in asked) > len(asked) / 2
