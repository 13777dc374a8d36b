"""A small release whose report is told in full: two countries, one union, one primary cell."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdc_tasks import pipeline
from sdc_tasks.domains import load_domain
from sdc_tasks.domains.schema import Domain
from sdc_tasks.model.claim import Proof
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, AuditReport, Outcome, Publication, Rung
from sdc_tasks.report.facts import DeliveryFact, FindingFact, ReportFacts, StepFact
from sdc_tasks.report.gather import Background, gather

DOMAIN = """
id: small
title: A small domain
structure_id: "TEST:SMALL(1.0)"
areas: {dimension: REF_AREA, codelist: area.csv}
aggregates: [{code: EU, label: The union, members: all, partial_code: EU_PARTIAL}]
indicators: [{code: TURNOVER, label: Turnover, unit: EUR}]
hierarchies: [{dimension: ACTIVITY, codelist: activity.csv}, {dimension: SIZECLASS, codelist: size.csv}]
flags: {F: {role: public}, C: {role: primary, rule: {kind: percent}}, D: {role: secondary}}
"""
CODELISTS = {
    "area.csv": "code,parent,label\nAT,EU,Austria\nBE,EU,Belgium\n",
    "activity.csv": (
        "code,parent,label\nTOTAL,,All\nA,TOTAL,Section A\nA1,A,First\nA2,A,Second\nB,TOTAL,Section B\n"
    ),
    "size.csv": "code,parent,label\n_T,,Total\nS,_T,Small\nL,_T,Large\n",
}

# Leaves (rows A1, A2, B; columns S, L). The cells of A1 and A2 are suppressed in both
# countries; AT.A1.S is the primary.
AT = [[123454321, 70001234], [60509876, 81234567], [11112222, 13334444]]
BE = [[33321987, 45678912], [56789123, 67891234], [15556666, 17778888]]
MOVED = 12987654  # around the loop A1.S, A1.L, A2.S, A2.L of AT, against that of BE
LEVEL = 12345432


@pytest.fixture
def domain(tmp_path: Path) -> Domain:
    for name, text in CODELISTS.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "small.yaml").write_text(DOMAIN)
    return load_domain(tmp_path / "small.yaml")


def table(leaves: list[list[int]]) -> np.ndarray:
    """TOTAL, A, A1, A2, B × _T, S, L from the leaves."""
    a1, a2, b = (np.array([sum(row), *row]) for row in leaves)
    return np.concatenate([a1 + a2 + b, a1 + a2, a1, a2, b]).astype(float)


def small_problem(domain: Domain) -> ProtectionProblem:
    space = domain.space
    a = np.concatenate([table(AT), table(BE), table(AT) + table(BE)])
    keys = [space.key(cell) for cell in range(space.size)]
    suppressed = np.array([bool(re.fullmatch(r"(AT|BE)\.TURNOVER\.A[12]\.[SL]", key)) for key in keys])
    primary = np.array([key == "AT.TURNOVER.A1.S" for key in keys])
    zero, level = np.zeros(space.size), np.where(primary, float(LEVEL), 0.0)
    public = ~suppressed & (np.arange(space.size) < 2 * space.national_size)
    return ProtectionProblem(
        space, a, zero, np.full(space.size, np.inf), level, level, zero, public, primary, ("AT#1", "BE#1")
    )


def small_adjustment(problem: ProtectionProblem) -> Adjustment:
    moved = {"A1.S": MOVED, "A1.L": -MOVED, "A2.S": -MOVED, "A2.L": MOVED}
    x = problem.a.copy()
    for cell in np.flatnonzero(problem.suppressed):
        area, _, key = problem.space.key(cell).split(".", 2)
        x[cell] += moved[key] * (1 if area == "AT" else -0.25)
    n = problem.space.national_size
    x[2 * n :] = x[:n] + x[n : 2 * n]
    return Adjustment(
        x, (Rung("milp", Outcome.OPTIMAL, 38962962.0, 38962961.0, 0.0, 0.4, "proven", chosen=True),)
    )


def small_publication(problem: ProtectionProblem) -> Publication:
    """EU cells of A1 rounded to 20 million, A2.L withheld, the others exact."""
    cells = np.flatnonzero(problem.aggregate)
    value, base = problem.a[cells].copy(), np.zeros(len(cells))
    for i, cell in enumerate(cells):
        key = problem.space.key(cell)
        if re.search(r"A1\.[SL]", key):
            base[i] = 2e7
            value[i] = 2e7 * np.round(value[i] / 2e7)
        elif key.endswith("A2.L"):
            value[i], base[i] = np.nan, np.inf
    return Publication(cells, value, base)


def audit(problem: ProtectionProblem, publication: Publication, down: float = 1.0) -> AuditReport:
    primaries = np.flatnonzero(problem.primary)
    one, no = np.ones(len(primaries)), np.zeros(len(primaries), dtype=bool)
    return AuditReport(
        problem.digest,
        publication.digest,
        ("external",),
        primaries,
        np.full(len(primaries), down),
        one,
        one,
        no,
        no,
        lps=2,
        requirements="of the test",
    )


def gathered(
    domain: Domain,
    problem: ProtectionProblem,
    adjustment: Adjustment,
    publication: Publication,
    report: AuditReport,
    **more: Any,
) -> ReportFacts:
    """With the certificate of the audit, and four LPs before it."""
    certificate = json.loads(pipeline.certificate(problem, publication, report, domain, "2024"))
    return gather(
        domain,
        problem,
        adjustment,
        publication,
        report,
        certificate=certificate,
        proof=Proof.of(report, 4),
        background=Background(**more),
    )


DELIVERIES = (
    DeliveryFact(
        "AT",
        "at.csv",
        "accepted",
        (FindingFact("LONE", "warning", None, "AT.TURNOVER.B.S", "watch <script>alert(1)</script>"),),
    ),
    DeliveryFact(
        "BE", "be.csv", "refused", (FindingFact("140", "error", 17, None, "cut in the middle of a line"),)
    ),
)


def small_facts(domain: Domain, down: float = 1.0, adjusted: bool = True) -> ReportFacts:
    problem = small_problem(domain)
    publication = small_publication(problem)
    adjustment = small_adjustment(problem) if adjusted else Adjustment()
    return gathered(
        domain,
        problem,
        adjustment,
        publication,
        audit(problem, publication, down),
        period="2024",
        release_id="small-2024" if down >= 1 else None,
        deliveries=DELIVERIES,
        steps=[StepFact("audit", 1.5, "one chunk")],
    )
