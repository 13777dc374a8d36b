"""`sdc verify-certificate`: a certificate checked by arithmetic, without the attacker and without an LP solver."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated
from zipfile import BadZipFile

import typer

from sdc_tasks.cli.shared import (
    DomainOption,
    EarlierInboxOption,
    EarlierOption,
    InboxOption,
    PeriodOption,
    out,
    problem_of_inbox,
    published_before,
)
from sdc_tasks.errors import InvalidInput

SHOWN = 20


def verify_certificate(
    domain: DomainOption,
    period: PeriodOption,
    inbox: InboxOption,
    published: Annotated[Path, typer.Option("--published", help="the table that the certificate is about, SDMX-CSV")],
    certificate: Annotated[Path, typer.Option("--certificate", help="audit.json, or what `sdc audit --json` wrote")],
    witnesses: Annotated[Path, typer.Option("--witnesses", help="what `sdc audit --witnesses` wrote; confidential")],
    earlier: EarlierOption = None,
    earlier_inbox: EarlierInboxOption = None,
) -> None:
    """Re-checks every verdict of a certificate: witnesses met, broken requirements by weak duality. Exit code 3 where one is not shown."""
    from sdc_tasks import report
    from sdc_tasks.domains.schema import load_domain
    from sdc_tasks.methods.recheck import recheck, told_before
    from sdc_tasks.model.results import Evidence
    from sdc_tasks.model.secret import Secret
    from sdc_tasks.warehouse.packing import unpack

    spec = load_domain(domain).of(period)
    try:
        told = json.loads(certificate.read_text(encoding="utf-8"))
        digests, profiles = told["digests"], told["profiles"]
        claimed = {each["cell"]: each["profiles"] for each in told["primaries"]}
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{certificate}: not a certificate of this program. Remedy: take audit.json, or `sdc audit --json`") from error
    try:
        header, arrays = unpack(witnesses.read_bytes())
        salt, evidence = Secret.of_hex(header["salt"]), Evidence.of(arrays)
    except (ValueError, KeyError, TypeError, BadZipFile) as error:
        raise InvalidInput(f"{witnesses}: no witness file. Remedy: `sdc audit --witnesses FILE`") from error
    problem = problem_of_inbox(spec, inbox, period, salt)
    before = published_before(spec, problem, period, earlier, earlier_inbox)
    problem = replace(problem, earlier=told_before(problem, before, spec.audit.revised_by))
    publication = report.read_table(published, spec, problem.space, period)
    wrong = [
        f"the certificate is of {what}"
        for what, name, ours in (
            ("other deliveries, or beside other tables than --earlier", "problem", problem.digest),
            ("another table", "publication", publication.digest),
            ("other witnesses", "evidence", evidence.digest(salt)),
        )
        if digests.get(name) != ours
    ]
    if missing := [profile for profile in (*spec.audit.profiles, *problem.earlier.profiles) if profile not in profiles]:
        wrong.append(f"the certificate is not of profile {', '.join(dict.fromkeys(missing))}")
    if not wrong:
        found = recheck(problem, publication, profiles, evidence)
        keys = [problem.space.key(int(cell)) for cell in found.primaries]
        if sorted(keys) != sorted(claimed):
            wrong.append("the certificate is not about the primaries of these deliveries")
        for i, key in enumerate(keys):
            for number, profile in enumerate(profiles):
                said = claimed.get(key, {}).get(profile)
                shown = found.protected[number, i] if said else found.exposed[number, i] or found.unshown[number, i]
                if not shown:
                    wrong.append(f"{key}, {profile}: {'protected' if said else 'not protected'} is not shown by the evidence")
        small = [problem.space.key(cell) for cell in found.small]
        if small != told.get("small_counts", []):
            wrong.append("the certificate names other cells as telling a small count")
        passed = all(all(each.values()) for each in claimed.values()) and not told.get("contradictions") and not small
        if (told.get("verdict") == "passed") != passed:
            wrong.append("the verdict is not that of its primaries")
        out.print(
            f"{len(keys)} primaries, profiles {', '.join(profiles)}: {found.witnesses} witnesses and {found.attacks} attacks re-checked"
        )
        if words := found.words + int(found.unshown.sum()):
            out.print(f"{words} times no table of whole numbers is at hand: that there is none rests on the word of the audit's MILP")
    for line in wrong[:SHOWN]:
        out.print(line, markup=False)
    if len(wrong) > SHOWN:
        out.print(f"… and {len(wrong) - SHOWN} more")
    out.print("NOT VERIFIED" if wrong else f"verified: {told['verdict']}")
    if wrong:
        raise typer.Exit(3)
