"""The gate: a publication passes with the passed audit of exactly this publication, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sdc_tasks.errors import ReleaseBlocked, some_of
from sdc_tasks.methods import attack
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import named
from sdc_tasks.model.results import AuditReport, Publication, Release


def pass_gate(
    release_id: str,
    problem: ProtectionProblem,
    requirements: attack.Requirements,
    publication: Publication,
    report: AuditReport,
    profiles: Sequence[str],
    everybody: bool = False,
) -> Release:
    """Makes a Release; there is no other way. Raises ReleaseBlocked unless the report passed, names
    all `profiles`, and is about exactly this publication and problem; ValueError for no profile, or
    an unknown one. `everybody`: it is refused also where the report names primaries for which not
    every weaker attacker was judged.
    """
    for refusal in _refusals(problem, requirements, publication, report, profiles, everybody):
        if refusal is not None:
            raise ReleaseBlocked(f"{release_id}: {refusal}")
    return Release(release_id, problem.digest, publication, report)


def _refusals(
    problem: ProtectionProblem,
    requirements: attack.Requirements,
    publication: Publication,
    report: AuditReport,
    profiles: Sequence[str],
    everybody: bool,
) -> Iterator[str | None]:
    """Why the publication may not pass, question by question; None where it may. Each question is asked only
    after those before it were answered: an audit of another publication has other cells.
    """
    yield _not_audited(problem, report, profiles)
    yield _of_something_else(problem, requirements, publication, report)
    yield _not_judged(problem, requirements, report, everybody)
    yield _not_covered(problem, publication, report)
    yield _broken(problem, report)


def _not_audited(problem: ProtectionProblem, report: AuditReport, profiles: Sequence[str]) -> str | None:
    """Against whom the audit does not speak."""
    if missing := [profile for profile in named(profiles) if profile not in report.profiles]:
        return (
            f"not audited against profile {', '.join(missing)}. Remedy: run baseline, bases and audit again"
        )
    if problem.levels is not None and report.narrow is None:
        return (
            "bases.rule_aware, and the audit does not say what somebody who has the program "
            "is left. Remedy: audit again"
        )
    return None


def _of_something_else(
    problem: ProtectionProblem,
    requirements: attack.Requirements,
    publication: Publication,
    report: AuditReport,
) -> str | None:
    """That the audit is of another publication, or asked for less."""
    if report.publication != publication.digest or report.problem != problem.digest:
        return "the audit is of another publication. Remedy: audit this one"
    if report.requirements != requirements.digest(problem.salt) or not requirements.keeps(
        attack.promised(problem, requirements.profiles)
    ):
        return "the audit asked for less than the promised protection. Remedy: run baseline and audit again"
    return None


def _not_judged(
    problem: ProtectionProblem, requirements: attack.Requirements, report: AuditReport, everybody: bool
) -> str | None:
    """Whom the audit leaves out without saying so, or, with `everybody`, at all."""
    left = attack.unjudged(problem, requirements)
    if report.unjudged != left:
        return "the audit does not say whom it did not judge. Remedy: run baseline and audit again"
    if not left or not everybody:
        return None
    keys = some_of([problem.space.key(cell) for _, cell in left])
    return (
        f"{keys}: not judged against every attacker of "
        f"profile {left[0][0]} (who has a part of what it knows, or kept earlier versions as well), and "
        f"the domain file refuses that. "
        "Remedy: audit.unjudged: named, or leave out the profile, or have more secondaries set in these "
        "national tables"
    )


def _not_covered(problem: ProtectionProblem, publication: Publication, report: AuditReport) -> str | None:
    """Which cells need an unavailable value, are not audited, or reveal a small count unnamed."""
    if len(never := publication.cells[problem.withheld[publication.cells] & ~publication.withheld]):
        keys = ", ".join(problem.space.key(int(cell)) for cell in never[:5])
        return (
            f"{keys} ({len(never)} in all) need a national cell that is not available. Remedy: "
            f"withhold these aggregates"
        )
    if not np.array_equal(report.primaries, np.flatnonzero(problem.primary)):
        return "the audit does not cover all primaries. Remedy: audit all chunks"
    if set(small := attack.revealed_small_counts(problem, publication).tolist()) - set(report.small):
        return (
            f"{problem.space.key(small[0])} reveals a small count, and the audit does not name "
            f"it. Remedy: audit again"
        )
    return None


def _broken(problem: ProtectionProblem, report: AuditReport) -> str | None:
    """What the audit found."""
    if report.passed:
        return None
    narrow = report.narrow or ()
    first = [*report.small, *report.primaries[~report.protected], *narrow][:5]
    cells = [problem.space.key(int(cell)) for cell in first]
    return (
        f"{report.broken} protection requirements are broken, {len(report.contradictions)} "
        f"published intervals exclude "
        f"the true value, {len(report.small)} cells reveal a small count, {len(narrow)} "
        f"primaries are left too little to "
        f"somebody who has the program; first cells: {', '.join(cells) or 'none'}. "
        f"Nothing was published. Remedy: see audit.json{_beside(problem, report)}"
    )


def _beside(problem: ProtectionProblem, report: AuditReport) -> str:
    """The remedy where only an attacker who knows the earlier versions succeeds."""
    kept = np.array([profile in problem.earlier.profiles for profile in report.profiles], dtype=bool)
    only = int((report.held[~kept].all(axis=0) & ~report.held[kept].all(axis=0)).sum()) if kept.any() else 0
    if not only:
        return ""
    return (
        f". {only} primaries are broken only by somebody who knows the published versions of the period, and "
        f"these cannot be taken back. "
        "Allow coarser bases (bases.maximum_relative_base), force fewer cells (bases.cells), or keep the "
        "published version"
    )
