"""One cycle: countries, deadlines, the steps of its newest run, approval, alerts, and the releases made so
far.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Any, NamedTuple

from sdc_alerts import JUDGING
from sqlalchemy import Engine

from sdc_tasks.model.claim import Claim, claim_of
from sdc_tasks.model.series import name_at_fault
from sdc_tasks.warehouse import reader
from sdc_ui.cycles.countries import OVER, Country, Stage, countries, named_by, tally
from sdc_ui.cycles.deadlines import Deadline, deadline
from sdc_ui.cycles.state import CycleState
from sdc_ui.shared.approval import Approval, approval_of
from sdc_ui.shared.labels import Name, labels_of
from sdc_ui.shared.runs import (
    DagRun,
    asking,
    of_releases,
    retracting,
    stayed,
    takings,
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
class CycleFacts(CycleState):
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
    def failed(self) -> tuple[Instance, ...]:
        """The tasks that read a country's files and failed, in the newest run. Those of a second file fail
        again until it is answered, and those of a name that is not read until the file has gone.
        """
        ingests = [each for step in self.steps if step.name == INGEST for each in step.instances]
        asked = self._failing_until_somebody_acts
        return tuple(
            each
            for each in ingests
            if each.state == "failed" and not asked.intersection(each.label.split(" + "))
        )

    @property
    def _failing_until_somebody_acts(self) -> set[str]:
        """The names, without suffix, of files that fail again in every run."""
        files = [each.file for each in self.tiles if not each.country.awaited]
        files += [each.file for each in self.waiting]
        files += [file for file, why in zip(self.unread, self.why, strict=True) if name_at_fault(why)]
        return {PurePath(file).stem for file in files if file}

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
    def refused(self) -> int:
        """The number of refused files: those of all tiles, and those without a country."""
        return sum(each.country.refused for each in self.tiles) + len(self.nameless)

    @property
    def published(self) -> tuple[ReleaseLine, ...]:
        """The versions, newest first."""
        return tuple(each for each in self.releases if each.version is not None)


def cycle_facts(engine: Engine, domain: str, period: str, now: datetime) -> CycleFacts | None:
    """The facts of a cycle; None for an unknown cycle."""
    cycle = next(iter(_of_period(reader.cycles(engine, domain), period)), None)
    files = reader.deliveries(engine, domain, period)
    records = reader.dag_runs(engine, domain, period)
    runs = of_releases(records)
    releases = cycle_lines(_of_period(reader.history(engine, domain), period), runs)
    run = next(iter(runs), None)
    if not any((cycle, files, releases, run)):
        return None
    newest = next(iter(releases), None)
    settings = reader.settings_of(engine, domain, cycle["terms_digest"] if cycle else None)
    labels = labels_of(domain, settings)
    unread = {each["file"]: each["why"] for each in _unread(engine, domain, period)}
    found = countries(cycle["areas"] if cycle else (), files, [*unread])
    steps = _steps(engine, run, newest)
    audits = reader.audits(engine, newest.release_id) if newest else []
    agreement = _agreement_of(engine, newest, audits, settings)
    return CycleFacts(
        domain=domain,
        title=labels.title,
        period=period,
        newest=newest,
        claim=_claim(audits[-1]) if audits else None,
        stages=tally(found),
        tiles=tuple(_tile(labels.area(each.code), each, files, steps) for each in found),
        warned=_warned(files),
        nameless=_nameless(files, [*unread], [each.code for each in found]),
        unread=tuple(unread),
        why=tuple(unread.values()),
        deadlines=deadlines_of(cycle, found, files, newest, audits, agreement, now) if cycle else (),
        alerts=tuple(reader.alerts(engine, domain, period)),
        run=run,
        asking=asking(newest, runs),
        takings=takings(records),
        steps=steps,
        approval=agreement.approval if agreement.asked else None,
        releases=releases,
        out=version_out(releases),
    )


def _of_period(records: Iterable[Mapping[str, Any]], period: str) -> list[Mapping[str, Any]]:
    return [each for each in records if each["period"] == period]


def _unread(engine: Engine, domain: str, period: str) -> list[Mapping[str, Any]]:
    return [each for each in _of_period(reader.unread(engine), period) if each["domain"] == domain]


def _warned(files: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The countries with an accepted file of which something was found or a check failed."""
    accepted = [each for each in files if each["state"] == "accepted"]
    return tuple(sorted({each["country"] for each in accepted if each["findings"] or each["failed_checks"]}))


def _nameless(
    files: Sequence[Mapping[str, Any]], unread: Sequence[str], codes: Sequence[str]
) -> tuple[str, ...]:
    """The files in the inbox of which nobody knows the country, read or not."""
    lying = [each for each in files if each["lying"] and each["state"] not in OVER]
    return (
        *(each["file"] for each in lying if each["country"] is None),
        *(file for file in unread if named_by(file, codes) is None),
    )


class Agreement(NamedTuple):
    """How many approvals are asked for, and those that the newest release has."""

    asked: int
    approval: Approval | None

    @property
    def told(self) -> str:
        given = self.asked - self.approval.missing if self.approval else 0
        return f"{given} of {self.asked} given" if self.asked else "none asked for"


def _agreement_of(
    engine: Engine,
    newest: ReleaseLine | None,
    audits: Sequence[Mapping[str, Any]],
    settings: Mapping[str, Any],
) -> Agreement:
    if newest is None:
        return Agreement(int(settings.get("governance", {}).get("approvals", 0)), None)
    return Agreement(newest.approvals_asked, approval_of(engine, newest, audits))


def _steps(engine: Engine, run: DagRun | None, newest: ReleaseLine | None) -> tuple[Step, ...]:
    """The steps of the run; without a recorded run of Airflow, the steps of the release."""
    tasks = reader.task_runs(engine, run.dag_id, run.run_id) if run else []
    if run and run.state == "running":  # after a task was cleared: interrupted tasks will run again
        tasks = [each for each in tasks if each["state"] != "upstream_failed"]
    found = of_tasks(tasks)
    return found or (of_release(reader.steps(engine, newest.release_id)) if newest else ())


def _tile(name: Name, country: Country, files: Sequence[Mapping[str, Any]], steps: tuple[Step, ...]) -> Tile:
    mine = [each for each in files if each["country"] == country.code and each["state"] not in OVER]
    if not mine:
        return Tile(name=name, country=country, file=None, findings=0, failed_checks=0, failed=None)
    newest = mine[-1]
    judged = country.stage in (Stage.REFUSED, Stage.RECEIVED)
    return Tile(
        name=name,
        country=country,
        file=newest["file"],
        findings=newest["findings"],
        failed_checks=newest["failed_checks"],
        failed=_failed_ingest(newest["file"], steps) if judged else None,
    )


def _failed_ingest(file: str, steps: tuple[Step, ...]) -> Instance | None:
    """The task that read this file alone and failed."""
    instances = (each for step in steps for each in step.instances)
    failed = (INGEST, PurePath(file).stem, "failed")
    return next((each for each in instances if (each.task_id, each.label, each.state) == failed), None)


def deadlines_of(
    cycle: Mapping[str, Any],
    found: Sequence[Country],
    files: Sequence[Mapping[str, Any]],
    newest: ReleaseLine | None,
    audits: Sequence[Mapping[str, Any]],
    agreement: Agreement,
    now: datetime,
) -> tuple[Deadline, ...]:
    """The deadlines, in order, and none where the calendar has no instant; without an instant of its own, a
    deadline shows what is known. What was retracted does not go out.
    """
    if not any(cycle[name] for name in DUE):
        return ()
    released = newest.released_at if newest else None
    agreed = agreement.approval.done_at if agreement.approval and agreement.asked else released
    steps = (
        _deliveries_due(cycle["delivery_due"], found, files, now),
        _protection_due(cycle["protection_due"], audits, now),
        deadline("Approval", cycle["approval_due"], agreed, now, agreement.told),
    )
    if newest and newest.retracted:
        return steps
    told = "published" if released else "not published yet"
    return (*steps, deadline("Goes out", cycle["embargo"], _out_at(newest), now, told))


def _deliveries_due(
    due: datetime | None, found: Sequence[Country], files: Sequence[Mapping[str, Any]], now: datetime
) -> Deadline:
    """The deadline of the deliveries: met when the last country was there for the first time."""
    if told := _not_there(found):
        return deadline("Deliveries", due, None, now, told)
    arrived = _last_arrival(files)
    if arrived and due and due < arrived <= due + JUDGING:  # it lay in the inbox before it was read
        arrived = due
    return deadline("Deliveries", due, arrived, now, "all accepted")


def _protection_due(due: datetime | None, audits: Sequence[Mapping[str, Any]], now: datetime) -> Deadline:
    """The deadline of the protection: met when the last audit passed."""
    if audits and audits[-1]["passed"]:
        return deadline("Protection", due, audits[-1]["audited_at"], now, _audited(audits[-1]))
    return deadline("Protection", due, None, now, "no passed audit yet")


def _not_there(found: Sequence[Country]) -> str:
    """Which countries are missing or being judged; empty where all are there."""
    awaited = [each for each in found if each.awaited and not each.counts]
    judged = [each.code for each in awaited if each.stage is Stage.RECEIVED]
    missing = [each.code for each in awaited if each.stage not in (Stage.ACCEPTED, Stage.RECEIVED)]
    words = {"missing": missing, "being judged": judged}
    return "; ".join(f"{word}: {', '.join(codes)}" for word, codes in words.items() if codes)


def _last_arrival(files: Sequence[Mapping[str, Any]]) -> datetime | None:
    """When the last of the countries was there; None where none was. A correction makes nobody late."""
    first: dict[str, datetime] = {}
    for each in sorted(files, key=lambda each: each["received_at"]):
        if each["state"] in ("accepted", "superseded"):
            first.setdefault(each["country"], each["received_at"])
    return max(first.values(), default=None)


def _out_at(newest: ReleaseLine | None) -> datetime | None:
    """When the world could see the newest release; None where it cannot."""
    if newest is None or newest.released_at is None or not newest.visible:
        return None
    return max(newest.released_at, newest.embargo or newest.released_at)


def _claim(audit: Mapping[str, Any]) -> Claim:
    return claim_of(json.loads(audit["certificate"]))


def _audited(audit: Mapping[str, Any]) -> str:
    """What the certificate lets anybody say: also where a part of the primaries is not fully protected."""
    claim = _claim(audit)
    return f"audit {claim.verdict}{f': {claim.exceptions}' if claim.exceptions else ''}"
