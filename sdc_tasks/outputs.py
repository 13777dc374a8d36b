"""What the operator gets of a release: the public files (table.csv and those beside it), audit.json,
report.html, secondaries/, and the summary for the terminal.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
from sqlalchemy import Engine

from sdc_tasks import report
from sdc_tasks.checks.listed import findings_csv, result_of
from sdc_tasks.checks.registry import CHECKS, describe
from sdc_tasks.confidential import keeps_to_itself
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.attack.compositions import together
from sdc_tasks.model.claim import Claim, Proof, claim_of
from sdc_tasks.model.findings import Severity
from sdc_tasks.model.public_files import PUBLIC_FILES
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import CellSpace
from sdc_tasks.report.gather import Background, gather
from sdc_tasks.steps import (
    LOWER_LEVELS,
    Desk,
    adjustment_of,
    compared,
    decided,
    drawn_by,
    newer,
    set_by_receiver,
)
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.database.schema import DeliveryState
from sdc_tasks.warehouse.dissemination import publisher
from sdc_tasks.warehouse.reader import ReleaseInfo

SECONDARIES = "secondaries"  # folder of the lists for the NSIs


@dataclass(frozen=True)
class Summary:
    """A release in figures, for the terminal. Nothing confidential."""

    release_id: str
    accepted: int
    refused: int
    superseded: int
    warnings: Mapping[str, tuple[str, ...]]
    first: tuple[str, ...]  # countries of which no earlier period stands beside the delivery
    left_out: Mapping[str, str]  # country → why it is not in the release
    exact: int
    rounded: int
    visible: int
    withheld: int
    mean_relative_base: float
    median_relative_base: float
    relative_loss: float
    claim: Claim
    proof: Proof
    broken: int
    version: int | None
    embargo: datetime | None
    seconds: dict[str, float]
    strategies: tuple[str, ...]

    @property
    def primaries(self) -> int:
        return self.claim.primaries

    @property
    def short(self) -> int:
        """The number of primaries that are not fully protected."""
        return self.claim.primaries - self.claim.protected

    @property
    def lps(self) -> int:
        """Linear programs of the audit."""
        return self.proof.lps


@keeps_to_itself
def write_out(desk: Desk, release_id: str, out: Path) -> Path:
    """Writes audit.json, report.html and findings.csv; and the public files if the world may see exactly this
    table.

    Returns the path of the report.
    """
    problem, publication, merged = decided(desk, release_id)
    audit = reader.audits(desk.engine, release_id)[-1]
    report.write_whole(out / "audit.json", audit["certificate"])
    current = reader.current_release(desk.engine, desk.domain.id, desk.period)
    if current is not None and current.publication_digest == publication.digest:
        _write_public(desk, current, problem.space, publication, out)
    else:  # an earlier table must not look like that of this release, nor one under embargo like a public one
        _take_away(out, PUBLIC_FILES)
    facts = gather(
        desk.domain,
        problem,
        adjustment_of(desk, release_id),
        publication,
        merged,
        certificate=json.loads(audit["certificate"]),
        proof=reader.proof(desk.engine, release_id, audit),
        background=Background(
            period=desk.period,
            release_id=release_id,
            compared=compared(desk, release_id),
            together=together(problem, publication, desk.say) if merged.passed else None,
            deliveries=_delivery_facts(desk, release_id),
            steps=_step_facts(desk, release_id),
            receiver={each.country: len(each.cells) for each in set_by_receiver(desk, release_id)},
        ),
    )
    report.write_whole(out / "report.html", report.render(facts))
    write_findings(desk, out)
    write_secondaries(desk, release_id, problem.space, out)
    return out / "report.html"


@keeps_to_itself
def write_public(desk: Desk, out: Path) -> ReleaseInfo:
    """Writes the public files of the version of the period that the world may see, and
    nothing else. Returns the version.

    Raises InvalidInput where the world may see none.
    """
    current = reader.current_release(desk.engine, desk.domain.id, desk.period)
    if current is None:
        raise InvalidInput(
            f"{desk.domain.id} {desk.period}: the world may see no version: none is published, or it is "
            f"under embargo or retracted. "
            "Remedy: sdc release, or wait for the end of the embargo"
        )
    problem, publication, _ = decided(desk, current.release_id)
    _write_public(desk, current, problem.space, publication, out)
    return current


@keeps_to_itself
def withdraw_public(engine: Engine, domain: str, period: str, out: Path) -> bool:
    """Takes the public files and the report away where the world may see no version of the period any more.
    Returns whether it may see none.
    """
    if reader.current_release(engine, domain, period) is not None:
        return False
    _take_away(out, PUBLIC_FILES)
    (out / "report.html").unlink(missing_ok=True)
    return True


def _write_public(
    desk: Desk, current: ReleaseInfo, space: CellSpace, publication: Publication, out: Path
) -> None:
    """Writes the public files, `table.csv` last, and takes those away that the domain file no longer asks
    for.
    """
    claim = reader.claim(desk.engine, current.release_id, current.audit_digest)
    assert claim is not None, "a version that is out has its audit"
    about = (desk.domain, space, desk.period, publication, current.version, current.released_at, claim.public)
    edition = report.Edition(*about, secret=drawn_by(desk))
    files = report.public_files(edition, report.metadata_page)
    _take_away(out, PUBLIC_FILES.keys() - files.keys())
    for name, content in files.items():
        report.write_whole(out / name, content)


def _take_away(out: Path, names: Collection[str]) -> None:
    """Removes these public files, `table.csv` first: where it is, the others are."""
    for name in PUBLIC_FILES:
        if name in names:
            (out / name).unlink(missing_ok=True)


@keeps_to_itself
def write_secondaries(desk: Desk, release_id: str, space: CellSpace, out: Path) -> None:
    """Writes secondaries/COUNTRY.csv for each country in whose table the receiver set secondaries: the keys
    of these cells with flag S, no values, for its NSI. Takes away what an earlier release left there.
    """
    folder = out / SECONDARIES
    found = {f"{each.country}.csv": each for each in set_by_receiver(desk, release_id) if len(each.cells)}
    for old in folder.glob("*.csv") if folder.is_dir() else ():
        if old.name not in found:
            old.unlink()
    domain = desk.domain
    dimensions = [
        domain.areas.dimension,
        domain.indicator_dimension,
        *(source.dimension for source in domain.hierarchies),
    ]
    for name, each in found.items():
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*dimensions, "TIME_PERIOD", "FLAG"])
        writer.writerows(
            [each.country, *space.national_keys[cell], desk.period, "S"] for cell in each.cells.tolist()
        )
        report.write_whole(folder / name, text.getvalue())


@keeps_to_itself
def write_findings(desk: Desk, out: Path) -> Path:
    """Writes findings.csv, also when the release fails. Returns its path."""
    out.mkdir(parents=True, exist_ok=True)
    report.write_whole(out / "findings.csv", findings(desk))
    return out / "findings.csv"


def findings(desk: Desk) -> str:
    """All that is wrong with the deliveries of the period, and with what lies beside them, as CSV; never a
    value. It leaves out superseded files.
    """
    here = (desk.engine, desk.domain.id, desk.period)
    return findings_csv(reader.findings(*here), reader.check_results(*here), store.not_read(*here))


def warnings(desk: Desk) -> dict[str, tuple[str, ...]]:
    """country → codes of what was found in its accepted delivery, which is warned of and no more: findings of
    its files, and failed checks. Countries of which nothing was found are left out.
    """
    here, counts = (desk.engine, desk.domain.id, desk.period), _accepted(desk)
    found = [(each["digest"], each["code"]) for each in reader.findings(*here)]
    found += [(each["digest"], each["check"]) for each in reader.check_results(*here) if not each["passed"]]
    told: dict[str, set[str]] = {}
    for digest, code in found:
        if digest in counts:
            told.setdefault(counts[digest], set()).add(code)
    return {country: tuple(sorted(codes)) for country, codes in sorted(told.items())}


def first_ones(desk: Desk) -> tuple[str, ...]:
    """The countries whose accepted delivery was compared with no last period, although the domain asks for
    it: what is wrong in all of it alike may not show.
    """
    asked = {name for name, each in CHECKS.items() if each.last is not None and each.severity(desk.domain)}
    if not asked:
        return ()
    accepted = _accepted(desk)
    compared = {
        accepted[each["digest"]]
        for each in reader.check_results(desk.engine, desk.domain.id, desk.period)
        if each["digest"] in accepted and each["check"] in asked and each["checked"]
    }
    return tuple(sorted({*accepted.values()} - compared))


NO_FILE = "no file"


def left_out(desk: Desk, there: Collection[str]) -> dict[str, str]:
    """Country → why it is not there: the last of its files that was refused, with the number of its errors,
    or `NO_FILE`. Of the countries of the domain that are not `there`.
    """
    here = (desk.engine, desk.domain.id, desk.period)
    errors = Counter(row["digest"] for row in reader.findings(*here) if row["severity"] == Severity.ERROR)
    errors += Counter(
        row["digest"]
        for row in reader.check_results(*here)
        if not row["passed"] and row["severity"] == Severity.ERROR
    )
    refused = {
        each.country: f"{each.file} was refused, {errors[each.key.digest]} "
        f"{'error' if errors[each.key.digest] == 1 else 'errors'}"
        for each in sorted(store.deliveries(*here), key=lambda each: each.received_at)
        if each.state is DeliveryState.REFUSED
    }
    return {
        country: refused.get(country, NO_FILE) for country in desk.domain.countries if country not in there
    }


def missing(desk: Desk) -> dict[str, str]:
    """As `left_out`, of the countries without an accepted delivery."""
    return left_out(desk, set(_accepted(desk).values()))


def _accepted(desk: Desk) -> dict[str, str]:
    """digest → country of each accepted file of the period."""
    return {
        each.key.digest: str(each.country)
        for each in store.deliveries(desk.engine, desk.domain.id, desk.period)
        if each.state is DeliveryState.ACCEPTED
    }


def _states(desk: Desk, release_id: str) -> Iterator[tuple[store.StoredDelivery, str]]:
    """Every delivery of the period with what it is to the release: accepted, if the release was opened with
    it, whatever became of it since; newer, if it was accepted later; else its own state.
    """
    mine = reader.made_of(desk.engine, release_id)
    for each in store.deliveries(desk.engine, desk.domain.id, desk.period):
        other = "newer" if mine and each.state is DeliveryState.ACCEPTED else str(each.state)
        yield each, str(DeliveryState.ACCEPTED) if each.key.digest in mine else other


def _delivery_facts(desk: Desk, release_id: str) -> list[report.DeliveryFact]:
    found: dict[str, list[report.FindingFact]] = {}
    for row in reader.findings(desk.engine, desk.domain.id, desk.period):
        fact = report.FindingFact(row["code"], row["severity"], row["line"], row["cell"], row["message"])
        found.setdefault(row["digest"], []).append(fact)
    for row in reader.check_results(desk.engine, desk.domain.id, desk.period):
        if not row["passed"]:
            result = result_of(row)
            fact = report.FindingFact(
                result.check, str(result.severity), None, ", ".join(result.cells), describe(result)
            )
            found.setdefault(row["digest"], []).append(fact)
    return [
        report.DeliveryFact(
            each.country or "unknown", each.file, state, tuple(found.get(each.key.digest, ()))
        )
        for each, state in _states(desk, release_id)
    ]


def _step_facts(desk: Desk, release_id: str) -> list[report.StepFact]:
    return [
        report.StepFact(f"{row['step']} {row['key']}".strip(), row["seconds"], row["note"] or "")
        for row in reader.steps(desk.engine, release_id)
        if row["step"] != "bases"
        or " " not in row["key"]  # what is kept beside the decision for a group took no time
    ]


def brief(desk: Desk, release_id: str) -> str:
    """What somebody reads before he agrees, in Markdown: digest, verdict, losses, changes since the
    last version. Counts only. Airflow keeps it as it is while the question waits, so it names the
    page that tells what came since.
    """
    problem, publication, _ = decided(desk, release_id)
    told = summary(desk, release_id)
    visible = f", {told.visible} as sum of the visible countries" if told.visible else ""
    relative = (
        f"mean {told.mean_relative_base:.2%}, median {told.median_relative_base:.2%} of the rounded cells"
    )
    cycle = desk.domain.calendar.of(desk.period)
    lines = [
        f"**{desk.domain.title}** (`{desk.domain.id}`), period **{desk.period}**",
        f"**Release** [`{release_id}`](/plugin/releases/sdc/release/{release_id}), **publication** "
        f"`{publication.digest}`. Files that come "
        "after this question stand on the page of the release",
        f"**Audit** {told.claim.verdict} {told.claim.attackers}: {told.claim.sentence}; {told.broken} "
        f"requirements broken; "
        f"{told.proof.said}",
        f"**Cells** {told.exact} exact, {told.rounded} rounded{visible}, {told.withheld} withheld; relative "
        f"base {relative}; "
        f"Σ (base/2)/value {told.relative_loss:.3f}",
        (
            f"**Files** {told.accepted} accepted, {told.refused} refused at some time, {told.superseded} "
            f"superseded by later ones"
        ),
        _since(desk, release_id, publication, problem.space),
        *(f"**{note}**" for note in lower_levels(desk, release_id)),
    ]
    if came := newer(desk, release_id):
        lines.append(f"**This one is out of date**: {came.told}. {came.remedy}")
    else:
        lines.append("**Newer deliveries**: none")
    if together_with := [each.name for each in problem.space.beside]:
        lines.append(f"**Attacked together with** what is out of the statistic: {', '.join(together_with)}")
    for other, reason in sorted(desk.domain.unrelated.items()):
        lines.append(
            f"**Unrelated to `{other}`**, says the domain file, so that nobody attacked both together: "
            f"{reason}"
        )
    if cycle is not None and cycle.embargo is not None:
        lines.append(f"**Embargo** until {cycle.embargo:%Y-%m-%d %H:%M %Z}")
    return "\n\n".join(lines)


def lower_levels(desk: Desk, release_id: str) -> list[str]:
    """Where flags or the domain file ask for lower levels than a version that is out, and for how
    many cells: see steps/secondaries.
    """
    notes = (
        row["note"] or ""
        for row in reader.steps(desk.engine, release_id)
        if row["step"] in ("assemble", "collect")
    )
    return [each for note in notes for each in note.split("; ") if each.startswith(LOWER_LEVELS)]


def _since(desk: Desk, release_id: str, publication: Publication, space: CellSpace) -> str:
    others = [
        each
        for each in reader.releases(desk.engine, desk.domain.id)
        if each.period == desk.period and each.release_id != release_id
    ]
    last = max(others, key=lambda each: each.version, default=None)
    if last is None:
        return "**First version** of the period"
    found = publisher.changes(
        desk.engine, desk.domain.id, desk.period, last.publication_digest, publication, space
    )
    retracted = " (retracted)" if last.retracted else ""
    return (
        f"**Since version {last.version}**{retracted}: {found.treatment} cells are treated otherwise, "
        f"{found.value} have another value, "
        f"{found.added} are new, {found.gone} are gone"
    )


def summary(desk: Desk, release_id: str) -> Summary:
    """The release in figures."""
    problem, publication, merged = decided(desk, release_id)
    audit = reader.audits(desk.engine, release_id)[-1]
    states = [state for _, state in _states(desk, release_id)]
    rounded = publication.rounded & (
        publication.value != 0
    )  # relative to what is published: the true value stays out of it
    relative = publication.base[rounded] / np.abs(publication.value[rounded])
    version = _version_of(desk, release_id, publication)
    return Summary(
        release_id=release_id,
        accepted=states.count(DeliveryState.ACCEPTED),
        refused=states.count(DeliveryState.REFUSED),
        superseded=states.count(DeliveryState.SUPERSEDED),
        warnings=warnings(desk),
        first=first_ones(desk),
        left_out=left_out(desk, problem.space.countries),
        exact=int(publication.exact.sum()),
        rounded=int(publication.rounded.sum()),
        visible=int(publication.visible.sum()),
        withheld=int(publication.withheld.sum()),
        mean_relative_base=float(relative.mean()) if rounded.any() else 0.0,
        median_relative_base=float(np.median(relative)) if rounded.any() else 0.0,
        relative_loss=float(relative.sum() / 2),
        claim=claim_of(json.loads(audit["certificate"])),
        proof=reader.proof(desk.engine, release_id, audit),
        broken=merged.broken,
        version=None if version is None else version.version,
        embargo=None if version is None or version.visible else version.embargo,
        seconds=_seconds(desk, release_id),
        strategies=tuple(
            f"{r.method}: {r.outcome}, {r.reason}" for r in adjustment_of(desk, release_id).rungs
        ),
    )


def _version_of(desk: Desk, release_id: str, publication: Publication) -> ReleaseInfo | None:
    """The version of this release; else the newest one with the same table; None where there is neither."""
    versions = [each for each in reader.releases(desk.engine, desk.domain.id) if each.period == desk.period]
    same = [each for each in versions if each.publication_digest == publication.digest]
    return next(
        (each for each in same if each.release_id == release_id),
        max(same, key=lambda each: each.version, default=None),
    )


def _seconds(desk: Desk, release_id: str) -> dict[str, float]:
    """What each step took, all its tasks together."""
    found: dict[str, float] = {}
    for row in reader.steps(desk.engine, release_id):
        found[row["step"]] = found.get(row["step"], 0.0) + row["seconds"]
    return found
