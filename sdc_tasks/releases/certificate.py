"""The documents of an audit: the certificate, and the attacker's intervals. They hold no value,
and no share finer than quarters.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sdc_tasks.domains.schema import Domain
from sdc_tasks.judge.release import AUDIENCE, of_bases, of_counts, statements
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import AuditReport, Publication, Related


def certificate_of(
    problem: ProtectionProblem,
    publication: Publication,
    report: AuditReport,
    domain: Domain,
    period: str,
    beside: Sequence[str] = (),
    secret: str = "",
    linked: Sequence[Related] = (),
) -> str:
    """The audit certificate as JSON text: digests, counts, and for each primary a verdict as shares of
    its requirement; never a value.

    Shares of a broken requirement are rounded down to quarters: with the attacker's bound, an exact share
    would give the value. For counted cells they are 1 or 0, because the range of whole tables has no short
    proof. Equal audits give equal bytes, at any time and on any machine. Every statement can be recomputed
    from the deliveries, the table and the evidence (judge/release). `beside` are the digests of the
    published versions of the period, by version: the warehouse publishes the release only beside exactly
    these. `secret` is the fingerprint of the secret by which the table was drawn; `linked` names the related
    publications that were attacked together with this one.
    """
    key = problem.space.key
    primaries = [
        {
            "cell": key(int(cell)),
            "protected": bool(ok),
            "down": _told(down, counted),
            "up": _told(up, counted),
            "sliding": _told(slide, counted),
            "proof": proof,
            "cut_to_national_baseline": bool(cut),
            "profiles": dict(zip(report.profiles, map(bool, held), strict=True)),
        }
        for cell, held, ok, down, up, slide, counted, proof, cut in zip(
            report.primaries,
            report.held.T,
            report.protected,
            report.down,
            report.up,
            report.slide,
            problem.integral[report.primaries].tolist(),
            _proofs(problem, report),
            report.baseline,
            strict=True,
        )
    ]
    body: Mapping[str, object] = {
        "audience": AUDIENCE,
        "domain": domain.id,
        "period": period,
        "verdict": "passed" if report.passed else "failed",
        "profiles": list(report.profiles),
        **({"beside": list(beside)} if beside else {}),
        **statements(domain.unrelated, secret, linked),
        "digests": {
            "domain": domain.digest,
            "deliveries": list(problem.deliveries),
            "problem": report.problem,
            "publication": report.publication,
            "requirements": report.requirements,
            "evidence": report.evidence.digest(problem.salt),
        },
        "counts": {
            "aggregate_cells": len(publication.cells),
            "exact": int(publication.exact.sum()),
            "rounded": int(publication.rounded.sum()),
            "sums_of_visible_countries": int(publication.visible.sum()),
            "withheld": int(publication.withheld.sum()),
            "primaries": len(report.primaries),
            "protected": int(report.protected.sum()),
            "broken_requirements": report.broken,
            "cut_to_national_baseline": int(report.baseline.sum()),
        }
        | _counted(problem, report),
        "contradictions": [key(cell) for cell in report.contradictions],
        **_not_judged(problem, report),
        **_program(problem, report, domain),
        **_rounding(problem, report, domain),
        "primaries": primaries,
    }
    return json.dumps(body, indent=1, ensure_ascii=False) + "\n"


def _proofs(problem: ProtectionProblem, report: AuditReport) -> list[str]:
    """The kind of evidence for each primary: a table that protects it, or an attack that
    succeeds; a counted cell may have none.
    """
    plain = np.where(report.protected, "witness", "attack")
    counted = np.where(report.protected, "whole table", "none")
    return [str(each) for each in np.where(problem.integral[report.primaries], counted, plain)]


def _program(problem: ProtectionProblem, report: AuditReport, domain: Domain) -> dict[str, object]:
    """What is claimed against somebody who has the program, and shown (METHOD §9). Nothing where
    the domain does not ask for it.
    """
    body = _bases(problem, report, domain) | _counts(problem, report, domain)
    counts = body.get("counts", {})
    untold = domain.bases.rule_aware and (report.narrow is None or len(report.narrow) > 0)
    failed = untold or not all(each["hidden"] == each["shown"] for each in counts.values())
    return {"program": {"verdict": "failed" if failed else "passed", **body}} if body else {}


def _bases(problem: ProtectionProblem, report: AuditReport, domain: Domain) -> dict[str, Any]:
    """How many primaries are wide enough, by the bases of a rule that withstands who knows it."""
    if not domain.bases.rule_aware:
        return {}
    key, own = problem.space.key, report.primaries[~problem.integral[report.primaries]].tolist()
    narrow, without = (
        (own, ()) if report.narrow is None else (report.narrow, report.unclaimed)
    )  # what was not tested is not wide
    told = {
        "wide": len(own) - len(narrow) - len(without),
        "narrow": [key(cell) for cell in narrow],
        "without_claim": [key(cell) for cell in without],
    }
    return {"bases": of_bases(domain.bases.removed, domain.bases.epoch) | told}


def _counts(problem: ProtectionProblem, report: AuditReport, domain: Domain) -> dict[str, Any]:
    """How many primaries are hidden and shown to be, of each indicator whose counts are rounded by a rule
    that withstands who knows it.
    """
    space, counts = problem.space, dict[str, object]()
    for number, indicator in enumerate(space.indicators):
        rounding = rounding_of(domain).get(indicator)
        if isinstance(rounding, dict) and rounding.get("rule_aware"):
            mine = space.indicator_of(report.primaries) == number
            told = {"hidden": int(mine.sum()), "shown": int((mine & report.protected).sum())}
            counts[indicator] = of_counts(rounding) | told
    return {"counts": counts} if counts else {}


def _counted(problem: ProtectionProblem, report: AuditReport) -> dict[str, int]:
    """The counts that only some certificates have: attackers with less than a whole
    profile knows, and counted values.
    """
    counted, weaker = int(problem.integral[report.primaries].sum()), len(report.evidence.weaker.profile)
    return {
        **({"weaker_attackers": weaker} if weaker else {}),
        **({"judged_as_whole_numbers": counted} if counted else {}),
    }


def _not_judged(problem: ProtectionProblem, report: AuditReport) -> dict[str, object]:
    """The primaries for which not every weaker attacker of a profile was judged; nothing where all were."""
    found: dict[str, list[str]] = {}
    for profile, cell in report.unjudged:
        found.setdefault(profile, []).append(problem.space.key(cell))
    return {"not_judged": found} if found else {}


def _rounding(problem: ProtectionProblem, report: AuditReport, domain: Domain) -> dict[str, object]:
    """The entries of a certificate that concern indicators rounded as whole tables: how, and
    which cells reveal a small count.
    """
    asked = rounding_of(domain)
    return (
        {"rounding": asked, "small_counts": [problem.space.key(cell) for cell in report.small]}
        if asked
        else {}
    )


def rounding_of(domain: Domain) -> dict[str, object]:
    """The indicators that are rounded as whole tables, and how."""
    return {each.code: each.rounding.told for each in domain.indicators if each.rounding is not None}


def intervals(problem: ProtectionProblem, report: AuditReport) -> str:
    """CSV of the attacker's interval of every suppressed cell: the share of the requirement that it
    reaches on each side, over all profiles, in quarters as in the certificate. Empty for a secondary
    cell, which has no requirement.
    """
    shares = dict(
        zip(report.primaries.tolist(), zip(report.down, report.up, report.slide, strict=True), strict=True)
    )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["CELL", "DOWN", "UP", "SLIDING"])
    for cell in np.flatnonzero(problem.suppressed).tolist():
        told = [f"{_quarters(float(share)):g}" for share in shares[cell]] if cell in shares else [""] * 3
        writer.writerow([problem.space.key(cell), *told])
    return text.getvalue()


def _told(share: float, counted: bool) -> float:
    return float(share >= 1) if counted else _quarters(share)


def _quarters(share: float) -> float:
    """1 where the requirement is met, else the quarter below."""
    return float(np.floor(4 * share) / 4)
