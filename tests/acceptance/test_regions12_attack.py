"""The attacker on twelve real tables: everything published breaks what an independent attacker
breaks, nothing published nothing.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sdc_tasks import pipeline
from sdc_tasks.domains import Domain, load_domain
from sdc_tasks.errors import ReleaseBlocked
from sdc_tasks.intake import read
from sdc_tasks.methods.attack import Requirements, baseline, promised
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import AuditReport, Publication

DATA = Path(__file__).parents[3] / "shared/data/regions12/deliveries"
PERIOD = "2024"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"the deliveries are not on this machine ({DATA})")


@pytest.fixture(scope="module")
def domain() -> Domain:
    return load_domain(Path(__file__).with_name("regions12.yaml"))


@pytest.fixture(scope="module")
def problem(domain: Domain) -> ProtectionProblem:
    tables = [read(path, domain, PERIOD).table for path in sorted(DATA.glob("*.csv"))]
    return pipeline.build_problem([table for table in tables if table is not None], domain)


@pytest.fixture(scope="module")
def requirements(problem: ProtectionProblem) -> Requirements:
    return baseline(problem, ("external",))[0]


def audited(
    problem: ProtectionProblem, publication: Publication, requirements: Requirements, domain: Domain
) -> AuditReport:
    return pipeline.merge(
        [
            pipeline.audit(problem, publication, requirements, domain, chunk)
            for chunk in range(domain.audit.chunks)
        ]
    )


def exact(problem: ProtectionProblem) -> Publication:
    cells = np.flatnonzero(problem.aggregate)
    return Publication(cells, problem.a[cells], np.zeros(len(cells)))


def nothing(problem: ProtectionProblem) -> Publication:
    cells = np.flatnonzero(problem.aggregate)
    return Publication(cells, np.full(len(cells), np.nan), np.full(len(cells), np.inf))


def test_the_problem_is_that_of_the_deliveries(problem):
    assert int(problem.primary.sum()) == 1602
    assert len(problem.deliveries) == 12


def test_ten_primaries_are_not_protected_by_their_own_regions(requirements):
    assert int(requirements.cut.sum()) == 10


def test_every_cell_published_exactly_breaks_776_requirements(problem, requirements, domain):
    """The figure of an independent attacker (external, p = 10): one-sided requirements that the
    regions' own tables meet in full.

    One more is broken that a region's own table already cut: the release may not make that worse either.
    """
    report = audited(problem, exact(problem), requirements, domain)
    wanted = promised(problem, ("external",))
    whole = [
        ours >= own * (1 - 1e-6)
        for ours, own in ((requirements.down, wanted.down), (requirements.up, wanted.up))
    ]
    broken = [report.down < 1, report.up < 1]
    assert sum(int((b & w).sum()) for b, w in zip(broken, whole, strict=True)) == 776
    assert report.broken == 777
    assert int((broken[0] & whole[0] | broken[1] & whole[1]).sum()) == 477
    assert report.contradictions == ()
    with pytest.raises(ReleaseBlocked):
        pipeline.release("regions12", problem, requirements, exact(problem), report, ("external",))


def test_no_cell_published_breaks_nothing(problem, requirements, domain):
    report = audited(problem, nothing(problem), requirements, domain)
    assert report.passed
    assert (
        pipeline.release("regions12", problem, requirements, nothing(problem), report, ("external",)).report
        is report
    )
