"""One cycle: countries, deadlines, the steps of its newest run, approval, alerts, and the releases made so
far.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Any

from sdc_alerts import JUDGING
from sqlalchemy import Engine

from sdc_tasks.model.claim import Claim, claim_of
from sdc_tasks.model.series import name_at_fault
from sdc_tasks.warehouse import reader
from sdc_ui.cycles.countries import OVER, Country, Stage, countries, named_by, ready, tally
from sdc_ui.cycles.deadlines import Deadline, deadline
from sdc_ui.shared.approval import Approval, approval_of
from sdc_ui.shared.labels import Name, labels_of
from sdc_ui.shared.runs import (
    DagRun,
    asking,
    ended,
    of_releases,
    retracting,
    stayed,
    stopped,
    takings,
    under_way,
)
from sdc_ui.shared.standing import ReleaseLine, cycle_lines, version_out
from sdc_ui.shared.steps import Instance, Step, of_release, of_tasks

DUE = ("delivery_due", "protection_due", "approval_due", "embargo")
INGEST = "ingest"  # the task to clear so that a country's file is read again
NAMELESS = "_"  # in addresses, for files without a country


@dataclass(frozen=True)
class Tile:
    """A country on the page: its newest file, the findings in it, and the task to clear
    for it (None where none failed).
    """

    name: Name
    country: Country
    file: str | None
    findings: int
    failed_checks: int
    failed: Instance | None


@dataclass(frozen=True)
class CycleFacts:
    """All facts of the page of a cycle. `warned`: the countries with something found in an accepted
    file. `nameless`: files in the inbox without a readable country. `unread`: what lay in the inbox and
    is not read, `why` for each; a run stops while it lies there. `run` is the newest run, `asking` the
    one that asks about the newest release: an older one, while a later run takes in newer deliveries.
    `takings` take releases of the cycle back, or took or asked. `claim`: what the certificate of the
    newest release lets anybody say.
    """

    domain: str
    title: str
    period: str
    newest: ReleaseLine | None
    claim: Claim | None
    stages: Mapping[Stage, int]
    tiles: tuple[Tile, ...]
    warned: tuple[str, ...]
    nameless: tuple[str, ...]
    unread: tuple[str, ...]
    why: tuple[str, ...]
    deadlines: tuple[Deadline, ...]
    alerts: tuple[Mapping[str, Any], ...]
    run: DagRun | None
    asking: DagRun | None
    takings: tuple[DagRun, ...]
    steps: tuple[Step, ...]
    approval: Approval | None
    releases: tuple[ReleaseLine, ...]
    out: ReleaseLine | None

    @property
    def stopped(self) -> bool:
        return stopped(self.newest, self.run)

    @property
    def ended(self) -> DagRun | None:
        return ended(self.newest, self.run)

    @property
    def failed(self) -> tuple[Instance, ...]:
        """The tasks that read a country's files and failed, in the newest run. Those of a second file fail
        again until it is answered, and those of a name that is not read until the file has gone.
        """
        asked = {PurePath(each.file).stem for each in self.waiting if each.file}
        asked |= {PurePath(each.file).stem for each in self.tiles if each.file and not each.country.awaited}
        asked |= {
            PurePath(file).stem for file, why in zip(self.unread, self.why, strict=True) if name_at_fault(why)
        }
        failed = (
            each
            for step in self.steps
            if step.name == INGEST
            for each in step.instances
            if each.state == "failed"
        )
        return tuple(each for each in failed if not asked.intersection(each.label.split(" + ")))

    @property
    def under_way(self) -> bool:
        return under_way(self.newest, self.run)

    @property
    def waiting(self) -> tuple[Tile, ...]:
        """The countries whose second file waits for an answer."""
        return tuple(each for each in self.tiles if each.country.stage is Stage.WAITING)

    @property
    def retracting(self) -> tuple[DagRun, ...]:
        """The runs that take back what is out, or ask."""
        return retracting(self.takings, self.out.release_id) if self.out else ()

    @property
    def stayed(self) -> DagRun | None:
        """The run that was asked last to take back what is out, where it did not."""
        return stayed(self.takings, self.out)

    @property
    def ready(self) -> bool:
        return ready(self.stages, self.newest)

    @property
    def refused(self) -> int:
        """The number of refused files: those of all tiles, and those without a country."""
        return sum(each.country.refused for each in self.tiles) + len(self.nameless)

    @property
    def published(self) -> tuple[ReleaseLine, ...]:
        """The versions, newest first."""
        return tuple(each for each in self.releases if each.version is not None)


def cycle_facts(engine: Engine, domain: str, period: str, now: datetime) -> CycleFacts | None:
    """The facts of a cycle; None for an unknown cycle."""
    cycle = next((each for each in reader.cycles(engine, domain) if each["period"] == period), None)
    files = reader.deliveries(engine, domain, period)
    records = reader.dag_runs(engine, domain, period)
    runs = of_releases(records)
    releases = cycle_lines(
        (each for each in reader.history(engine, domain) if each["period"] == period), runs
    )
    run = runs[0] if runs else None
    if cycle is None and not files and not releases and run is None:
        return None
    newest, out = releases[0] if releases else None, version_out(releases)
    settings = reader.settings_of(engine, domain, cycle["terms_digest"] if cycle else None)
    labels = labels_of(domain, settings)
    asked = newest.approvals_asked if newest else int(settings.get("governance", {}).get("approvals", 0))
    not_read = [
        each for each in reader.unread(engine) if (each["domain"], each["period"]) == (domain, period)
    ]
    unread = [each["file"] for each in not_read]
    found = countries(cycle["areas"] if cycle else (), files, unread)
    codes = [each.code for each in found]
    steps = _steps(engine, run, newest)
    audits = reader.audits(engine, newest.release_id) if newest else []
    approval = approval_of(engine, newest, audits) if newest else None
    return CycleFacts(
        domain=domain,
        title=labels.title,
        period=period,
        newest=newest,
        claim=_claim(audits[-1]) if audits else None,
        stages=tally(found),
        tiles=tuple(_tile(labels.area(each.code), each, files, steps) for each in found),
        warned=tuple(
            sorted(
                {
                    each["country"]
                    for each in files
                    if each["state"] == "accepted" and (each["findings"] or each["failed_checks"])
                }
            )
        ),
        nameless=(
            *(
                each["file"]
                for each in files
                if each["country"] is None and each["lying"] and each["state"] not in OVER
            ),
            *(file for file in unread if named_by(file, codes) is None),
        ),
        unread=tuple(unread),
        why=tuple(each["why"] for each in not_read),
        deadlines=deadlines_of(cycle, found, files, newest, audits, asked, approval, now)
        if cycle and any(cycle[name] for name in DUE)
        else (),
        alerts=tuple(reader.alerts(engine, domain, period)),
        run=run,
        asking=asking(newest, runs),
        takings=takings(records),
        steps=steps,
        approval=approval if newest and newest.approvals_asked else None,
        releases=releases,
        out=out,
    )


def _steps(engine: Engine, run: DagRun | None, newest: ReleaseLine | None) -> tuple[Step, ...]:
    """The steps of the run; without a recorded run of Airflow, the steps of the release."""
    tasks = reader.task_runs(engine, run.dag_id, run.run_id) if run else []
    if run and run.state == "running":  # after a task was cleared: interrupted tasks will run again
        tasks = [each for each in tasks if each["state"] != "upstream_failed"]
    found = of_tasks(tasks)
    return found or (of_release(reader.steps(engine, newest.release_id)) if newest else ())


def _tile(name: Name, country: Country, files: Sequence[Mapping[str, Any]], steps: tuple[Step, ...]) -> Tile:
    mine = [each for each in files if each["country"] == country.code and each["state"] not in OVER]
    newest = mine[-1] if mine else None
    failed = None
    if newest and country.stage in (Stage.REFUSED, Stage.RECEIVED):
        stem = PurePath(newest["file"]).stem
        ingests = (
            each for step in steps for each in step.instances if (each.task_id, each.label) == (INGEST, stem)
        )
        failed = next((each for each in ingests if each.state == "failed"), None)
    return Tile(
        name=name,
        country=country,
        file=newest["file"] if newest else None,
        findings=newest["findings"] if newest else 0,
        failed_checks=newest["failed_checks"] if newest else 0,
        failed=failed,
    )


def deadlines_of(
    cycle: Mapping[str, Any],
    found: Sequence[Country],
    files: Sequence[Mapping[str, Any]],
    newest: ReleaseLine | None,
    audits: Sequence[Mapping[str, Any]],
    asked: int,
    approval: Approval | None,
    now: datetime,
) -> tuple[Deadline, ...]:
    """The deadlines, in order; without an instant in the calendar, a deadline shows what is known.
    What was retracted does not go out.
    """
    missing = [
        each.code
        for each in found
        if each.awaited and each.stage not in (Stage.ACCEPTED, Stage.RECEIVED) and not each.counts
    ]
    judged = [
        each.code for each in found if each.awaited and each.stage is Stage.RECEIVED and not each.counts
    ]
    first: dict[str, datetime] = {}  # when each country was there: a correction makes nobody late
    for each in sorted(files, key=lambda each: each["received_at"]):
        if each["state"] in ("accepted", "superseded"):
            first.setdefault(each["country"], each["received_at"])
    told = [
        f"{word}: {', '.join(codes)}"
        for word, codes in (("missing", missing), ("being judged", judged))
        if codes
    ]
    due, arrived = cycle["delivery_due"], max(first.values(), default=None) if not told else None
    if arrived and due and due < arrived <= due + JUDGING:  # it lay in the inbox before it was read
        arrived = due
    protected = audits[-1]["audited_at"] if audits and audits[-1]["passed"] else None
    released = newest.released_at if newest else None
    out = None
    if newest and newest.released_at and newest.visible:
        out = max(newest.released_at, newest.embargo or newest.released_at)
    agreed = approval.done_at if approval and asked else released
    found_out = (
        ()
        if newest and newest.retracted
        else (
            deadline(
                "Goes out", cycle["embargo"], out, now, "published" if released else "not published yet"
            ),
        )
    )
    return (
        deadline("Deliveries", due, arrived, now, "; ".join(told) or "all accepted"),
        deadline(
            "Protection",
            cycle["protection_due"],
            protected,
            now,
            _audited(audits[-1]) if protected else "no passed audit yet",
        ),
        deadline("Approval", cycle["approval_due"], agreed, now, _agreement(asked, approval)),
        *found_out,
    )


def _claim(audit: Mapping[str, Any]) -> Claim:
    return claim_of(json.loads(audit["certificate"]))


def _audited(audit: Mapping[str, Any]) -> str:
    """What the certificate lets anybody say: also where a part of the primaries is not fully protected."""
    claim = _claim(audit)
    return f"audit {claim.verdict}{f': {claim.exceptions}' if claim.exceptions else ''}"


def _agreement(asked: int, approval: Approval | None) -> str:
    given = asked - approval.missing if approval else 0
    return f"{given} of {asked} given" if asked else "none asked for"
