"""`sdc verify-certificate`: recomputes every statement of a certificate, without the attacker and
without an LP solver; only which primaries bases.rule_aware makes no claim for takes the program's
own test, with nothing published.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from sdc_tasks.cli.case import CaseOptions
from sdc_tasks.cli.evidence import evidence_of
from sdc_tasks.cli.options import INPUT
from sdc_tasks.cli.screen import out
from sdc_tasks.errors import InvalidInput

if TYPE_CHECKING:
    from sdc_tasks.domains import Domain
    from sdc_tasks.judge.release import Recheck
    from sdc_tasks.model.problem import ProtectionProblem
    from sdc_tasks.model.results import Evidence, Publication, Related

SHOWN_FAULTS = 20  # lines on the terminal


def verify_certificate(
    case: CaseOptions,
    published: Annotated[
        Path,
        typer.Option(
            help="the table that the certificate is about, in any format that is written",
            rich_help_panel=INPUT,
        ),
    ],
    certificate: Annotated[
        Path,
        typer.Option(help="audit.json, or the file that `sdc audit --json` wrote", rich_help_panel=INPUT),
    ],
    witnesses: Annotated[
        Path,
        typer.Option(help="the file that `sdc audit --witnesses` wrote; confidential", rich_help_panel=INPUT),
    ],
) -> None:
    """Recomputes every statement of a certificate from deliveries, table and witnesses. Exit code 3
    if a statement does not follow.

    Example: sdc verify-certificate --domain demo/domain.yaml --period 2024 --inbox demo/inbox --published
    out/table.csv --certificate out/audit.json --witnesses witnesses.zip
    """
    from sdc_tasks import pipeline, report
    from sdc_tasks.api.published import told_by
    from sdc_tasks.judge.release import Part, differs, published_before, read
    from sdc_tasks.model.claim import claim_of

    spec = case.spec
    try:
        text, content = certificate.read_text(encoding="utf-8"), witnesses.read_bytes()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{certificate}, {witnesses}: cannot be read. Remedy: name the files that `sdc audit` wrote"
        ) from error
    salt, evidence, secret = evidence_of(content)
    of = case.problem(published_before, salt)
    problem = of.problem
    publication = report.read_own(
        published, spec, problem.space, case.period, told_by(published, spec, problem.space)
    )
    about = About(problem, publication, evidence, tuple(of.beside), tuple(of.related), secret)
    wrong, found, verdict = examine(spec, case.period, about, text)
    parts = [Part(each.name, each.period, each.problem, each.publication) for each in of.out]
    wrong += [
        f"beside related tables: {each}"
        for each in differs(
            problem, of.own, case.period, parts, pipeline.period_rules(spec), spec.checks.allows, of.told
        )
    ]
    if found is not None:
        profiles = ", ".join(asked_of(spec, problem))
        out.print(
            f"{len(found.primaries)} primaries, profiles {profiles}: {found.witnesses} witnesses and "
            f"{found.attacks} attacks re-checked"
        )
    for line in wrong[:SHOWN_FAULTS]:
        out.print(line)
    if len(wrong) > SHOWN_FAULTS:
        out.print(f"… and {len(wrong) - SHOWN_FAULTS} more")
    claim = claim_of(read(text))
    out.print("NOT VERIFIED" if wrong else f"verified: {verdict}: {claim.sentence}, {claim.attackers}")
    if wrong:
        raise typer.Exit(3)


def asked_of(spec: Domain, problem: ProtectionProblem) -> tuple[str, ...]:
    """The profiles that a certificate must name: those of the domain, and attackers who know
    earlier tables.
    """
    return tuple(dict.fromkeys((*spec.audit.profiles, *problem.earlier.profiles)))


class About(NamedTuple):
    """What a certificate is about: problem, publication and evidence; the digests of the earlier
    publications, by version; the related publications; and the fingerprint that the evidence names.
    """

    problem: ProtectionProblem
    publication: Publication
    evidence: Evidence
    beside: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
    secret: str = ""


def examine(
    spec: Domain, period: str, about: About, certificate: str
) -> tuple[list[str], Recheck | None, object]:
    """(faults, what was re-checked, the verdict of the certificate). Without faults, every statement of the
    certificate follows.

    Raises InvalidInput for text that is not a certificate.
    """
    from sdc_tasks import pipeline
    from sdc_tasks.judge.release import Asked, differences, expected, read, recheck
    from sdc_tasks.methods.attack import Requirements
    from sdc_tasks.releases.program import last_decimals, without_claim

    problem, publication, evidence, *_ = about
    try:
        told = read(certificate)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"not a certificate of this program ({error}). Remedy: take audit.json, or `sdc audit --json`"
        ) from error
    digests = {"domain": spec.digest, "problem": problem.digest, "publication": publication.digest}
    digests["evidence"] = evidence.digest(problem.salt)
    if wrong := _of_others(told, digests):
        return wrong, None, None
    profiles = asked_of(spec, problem)
    try:
        found = recheck(problem, publication, profiles, evidence, last_decimals(problem.space, spec))
    except ValueError as error:
        return [str(error)], None, None
    requirements = Requirements(**found.required, profiles=profiles, weaker=found.weaker)
    digests["requirements"] = requirements.digest(problem.salt)
    drawn = (spec.bases.removed, spec.bases.epoch) if spec.bases.rule_aware else None
    without = tuple(
        problem.space.key(int(cell))
        for cell in without_claim(pipeline.to_bases(problem, spec), requirements, spec)
    )
    rounding = pipeline.rounding_of(spec)
    asked = Asked(
        spec.id, period, profiles, rounding, digests, about.beside, drawn, without, spec.unrelated,
        about.secret, about.related,
    )  # fmt: skip
    return (
        [*found.faults, *differences(told, expected(problem, publication, found, asked))],
        found,
        told.get("verdict"),
    )


def _of_others(told: dict[str, object], digests: dict[str, str]) -> list[str]:
    """Faults of a certificate that is about something else; no statement of it is checked then."""
    names = {
        "domain": "another domain file",
        "problem": "other deliveries, or beside other tables than --earlier and --linked",
        "publication": "another table",
        "evidence": "other witnesses",
    }
    said = told.get("digests")
    said = said if isinstance(said, dict) else {}
    return [
        f"the certificate is about {what}" for name, what in names.items() if said.get(name) != digests[name]
    ]
