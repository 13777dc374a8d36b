"""`sdc verify-certificate`: every statement of a certificate computed again, without the attacker and without an LP solver."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from zipfile import BadZipFile

import typer

from sdc_tasks.cli.shared import (
    DomainOption,
    EarlierInboxOption,
    EarlierOption,
    InboxOption,
    PeriodOption,
    ProfileOption,
    attacked_by,
    out,
    problem_of_inbox,
    published_before,
)
from sdc_tasks.errors import InvalidInput

if TYPE_CHECKING:
    from sdc_tasks.domains import Domain
    from sdc_tasks.methods.recheck import Recheck
    from sdc_tasks.model.problem import ProtectionProblem
    from sdc_tasks.model.results import Evidence, Publication
    from sdc_tasks.model.secret import Secret

SHOWN = 20


def verify_certificate(
    domain: DomainOption,
    period: PeriodOption,
    inbox: InboxOption,
    published: Annotated[Path, typer.Option("--published", help="the table that the certificate is about, SDMX-CSV")],
    certificate: Annotated[Path, typer.Option("--certificate", help="audit.json, or what `sdc audit --json` wrote")],
    witnesses: Annotated[Path, typer.Option("--witnesses", help="what `sdc audit --witnesses` wrote; confidential")],
    profile: ProfileOption = None,
    earlier: EarlierOption = None,
    earlier_inbox: EarlierInboxOption = None,
) -> None:
    """Computes every statement of a certificate again, from deliveries, table and witnesses. Exit code 3 where one does not follow."""
    from sdc_tasks import pipeline, report
    from sdc_tasks.domains import load_domain
    from sdc_tasks.methods.recheck import told_before

    spec = attacked_by(load_domain(domain).of(period), profile, earlier)
    try:
        text, content = certificate.read_text(encoding="utf-8"), witnesses.read_bytes()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{certificate}, {witnesses}: cannot be read. Remedy: name the files that `sdc audit` wrote") from error
    salt, evidence = evidence_of(content)
    problem = problem_of_inbox(spec, inbox, period, salt)
    before = published_before(spec, problem, period, earlier, earlier_inbox)
    problem = pipeline.still_promised(problem, [then for then, _ in before])
    problem = replace(problem, earlier=told_before(problem, before, spec.audit.revised_by))
    publication = report.read_table(published, spec, problem.space, period)
    wrong, found, verdict = examine(spec, period, problem, publication, text, evidence)
    if found is not None:
        profiles = ", ".join(asked_of(spec, problem))
        out.print(
            f"{len(found.primaries)} primaries, profiles {profiles}: {found.witnesses} witnesses and {found.attacks} attacks re-checked"
        )
    for line in wrong[:SHOWN]:
        out.print(line, markup=False)
    if len(wrong) > SHOWN:
        out.print(f"… and {len(wrong) - SHOWN} more")
    out.print("NOT VERIFIED" if wrong else f"verified: {verdict}")
    if wrong:
        raise typer.Exit(3)


def asked_of(spec: Domain, problem: ProtectionProblem) -> tuple[str, ...]:
    """The profiles that a certificate must be of: those asked for, and where something was published before, those who kept it."""
    return tuple(dict.fromkeys((*spec.audit.profiles, *problem.earlier.profiles)))


def examine(
    spec: Domain, period: str, problem: ProtectionProblem, publication: Publication, certificate: str, evidence: Evidence
) -> tuple[list[str], Recheck | None, object]:
    """(what does not follow, what was re-checked, the verdict that is told). Nothing wrong: every statement of the certificate follows.

    Raises InvalidInput where it is no certificate.
    """
    from sdc_tasks import pipeline
    from sdc_tasks.methods.attack import Requirements
    from sdc_tasks.methods.recheck import Asked, differences, expected, read, recheck

    try:
        told = read(certificate)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"not a certificate of this program ({error}). Remedy: take audit.json, or `sdc audit --json`") from error
    digests = {"domain": spec.digest, "problem": problem.digest, "publication": publication.digest}
    digests["evidence"] = evidence.digest(problem.salt)
    if wrong := _of_others(told, digests):
        return wrong, None, None
    profiles = asked_of(spec, problem)
    try:
        found = recheck(problem, publication, profiles, evidence)
    except ValueError as error:
        return [str(error)], None, None
    digests["requirements"] = Requirements(**found.required, profiles=profiles).digest(problem.salt)
    asked = Asked(spec.id, period, profiles, pipeline.rounding_of(spec), digests)
    return [*found.faults, *differences(told, expected(problem, publication, found, asked))], found, told.get("verdict")


def _of_others(told: dict[str, object], digests: dict[str, str]) -> list[str]:
    """Where the certificate is about something else altogether, nothing more is said about it."""
    names = {
        "domain": "another domain file",
        "problem": "other deliveries, or beside other tables than --earlier",
        "publication": "another table",
        "evidence": "other witnesses",
    }
    said = told.get("digests")
    said = said if isinstance(said, dict) else {}
    return [f"the certificate is of {what}" for name, what in names.items() if said.get(name) != digests[name]]


def evidence_of(content: bytes) -> tuple[Secret, Evidence]:
    """The salt and the evidence of a witness file. Raises InvalidInput where it is not written as `sdc audit` writes it: the same names and
    kinds, each once, and its digest.
    """
    from sdc_tasks.model.results import Evidence
    from sdc_tasks.model.secret import Secret
    from sdc_tasks.warehouse.packing import pack, unpack

    try:
        header, arrays = unpack(content)
        salt, evidence = Secret.of_hex(header["salt"]), Evidence.of(arrays)
        same = pack({"type": "Evidence", "digest": evidence.digest(salt), "salt": salt.hex}, evidence.arrays) == content
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, EOFError, NotImplementedError, BadZipFile) as error:
        raise InvalidInput("no witness file. Remedy: take what `sdc audit --witnesses` wrote") from error
    if not same:
        raise InvalidInput("the witness file is not as `sdc audit --witnesses` writes it. Remedy: take the file as it was written")
    return salt, evidence
