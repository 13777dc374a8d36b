"""The findings in the files of one country by cause, what changed from file to file, and how a corrected file
comes in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Any

from sqlalchemy import Engine

from sdc_tasks.warehouse import reader
from sdc_ui.cycles.causes import Cause, causes
from sdc_ui.cycles.countries import OVER, named_by
from sdc_ui.cycles.cycle import NAMELESS
from sdc_ui.cycles.remedies import remedy
from sdc_ui.cycles.second import SETTLE, Choice, Given, choice, given, unheard
from sdc_ui.shared.labels import Name, labels_of
from sdc_ui.shared.runs import DagRun, of_releases
from sdc_ui.shared.steps import Came, Instance

BESIDE = (
    "SDC/second",
    "SDC/superseded",
    "SDC/overlap",
)  # said of a file for the sake of another one: no correction of it changes them


@dataclass(frozen=True)
class Check:
    """One content check. `cells` are the first of the `failed` cells."""

    name: str
    severity: str
    passed: bool
    checked: int
    failed: int
    cells: tuple[str, ...]
    remedy: str


@dataclass(frozen=True)
class File:
    """One received file. `also`: the other names under which the same bytes lie in the inbox; `here`:
    they lie there under its own name. `given` and `choice`: what was answered about it as a second file,
    and what may be answered. `gone`, `new` and `still` are codes of findings and failed checks against
    the file received before it, of what was looked at in both; None for the first. `came` is None for a
    file that was read outside Airflow.
    """

    name: str
    also: tuple[str, ...]
    here: bool
    given: Given | None
    choice: Choice | None
    digest: str
    state: str
    received_at: datetime
    times: int
    replaced_by: str | None
    causes: tuple[Cause, ...]
    checks: tuple[Check, ...]
    came: Came | None
    gone: tuple[str, ...] | None
    new: tuple[str, ...] | None
    still: tuple[str, ...] | None

    @property
    def number(self) -> int:
        """How much was found in its table."""
        return sum(each.number for each in self.causes)

    @property
    def failed_checks(self) -> tuple[Check, ...]:
        return tuple(each for each in self.checks if not each.passed)


@dataclass(frozen=True)
class FindingsFacts:
    """The files of a country, the newest first; empty while it is awaited.

    `unread`: what lies in the inbox under its name and is not read, each with the reason. `going`: the newest
    run that makes a release of the cycle, while it goes on. `answering`: a run with an answer of which the
    log has none yet, or which failed. `awaited`: the domain has the country.
    """

    domain: str
    title: str
    period: str
    country: Name
    files: tuple[File, ...]
    unread: tuple[str, ...]
    going: DagRun | None = None
    answering: Came | None = None
    awaited: bool = True

    @property
    def to_clear(self) -> Came | None:
        """The task that refused the newest file in a release: it reads the corrected one when it is cleared.
        None helps where the domain does not have the country, or the file was taken away.
        """
        newest = next((each for each in self.files if each.state not in OVER), None) if self.awaited else None
        if newest is None or not newest.here or newest.state != "refused" or newest.came is None:
            return None
        return newest.came if newest.came.in_release and newest.came.task.state == "failed" else None

    @property
    def waiting(self) -> tuple[str, ...]:
        """The second files that wait for an answer."""
        return tuple(each.name for each in self.files if each.state == "waiting")

    @property
    def to_send(self) -> tuple[File, ...]:
        """The files that still count or wait for a correction, with something found in them."""
        return tuple(
            each for each in self.files if each.state not in OVER and (each.causes or each.failed_checks)
        )


def findings_facts(engine: Engine, domain: str, period: str, country: str) -> FindingsFacts | None:
    """The facts of a country; None where it is not awaited and has no files."""
    files = _files_of(engine, domain, period, country)
    if files is None:
        return None
    settings = reader.settings_of(engine, domain)
    labels = labels_of(domain, settings)
    settles = [_came(each) for each in reader.instances(engine, domain, period, (SETTLE,))]
    said = given(reader.answers(engine, domain, period), {each.run_id: each for each in settles})
    received = _Received.of(engine, domain, period, files, said, settings)
    shown: list[File] = []
    for each in files:
        shown.append(received.file(each, shown[-1] if shown else None))
    return FindingsFacts(
        domain,
        labels.title,
        period,
        Name(NAMELESS, "no country could be read") if country == NAMELESS else labels.area(country),
        tuple(reversed(shown)),
        _unread(engine, domain, period, country),
        next((each for each in of_releases(reader.dag_runs(engine, domain, period))[:1] if each.busy), None),
        unheard(reversed(settles), said, [each["file"] for each in files]),
        _has(_awaited(engine, domain, period), country),
    )


def _has(awaited: set[str], country: str) -> bool:
    """Whether the domain has the country, as far as one knows."""
    return not awaited or country == NAMELESS or country in awaited


def findings_file(engine: Engine, domain: str, period: str, country: str) -> str | None:
    """The findings on the files of a country that are not superseded, as CSV; None where it
    is not awaited and has no files.
    """
    from sdc_tasks.checks.listed import findings_csv

    files = _files_of(engine, domain, period, country)
    if files is None:
        return None
    mine = {each["digest"] for each in files}
    found, checked = reader.findings(engine, domain, period), reader.check_results(engine, domain, period)
    return findings_csv(
        [each for each in found if each["digest"] in mine],
        [each for each in checked if each["digest"] in mine],
    )


def _files_of(engine: Engine, domain: str, period: str, country: str) -> list[reader.Record] | None:
    sought = None if country == NAMELESS else country
    files = [each for each in reader.deliveries(engine, domain, period) if each["country"] == sought]
    known = files or sought in _awaited(engine, domain, period) or _unread(engine, domain, period, country)
    return files if known else None


def _unread(engine: Engine, domain: str, period: str, country: str) -> tuple[str, ...]:
    codes = {*_awaited(engine, domain, period), country}
    mine = (each for each in reader.unread(engine) if (each["domain"], each["period"]) == (domain, period))
    return tuple(each["why"] for each in mine if (named_by(each["file"], codes) or NAMELESS) == country)


def _awaited(engine: Engine, domain: str, period: str) -> set[str]:
    return {
        code for each in reader.cycles(engine, domain) if each["period"] == period for code in each["areas"]
    }


def _came(record: Mapping[str, Any]) -> Came:
    task = Instance(
        record["task_id"],
        record["map_index"],
        record["label"],
        record["state"],
        record["tries"],
        record["seconds"],
        record["said"],
    )
    return Came(
        record["dag_id"], record["run_id"], task, in_release=record["dag_id"].startswith("eu_release_")
    )


@dataclass(frozen=True)
class _Received:
    """The records of the `files` of a country in a cycle: what was `found` and `checked` of all files of the
    cycle, which of them are `lying` in the inbox, which task `read` each, and what was `said` of second ones.
    """

    period: str
    settings: Mapping[str, Any]
    files: list[reader.Record]
    found: Sequence[reader.Record]
    checked: Sequence[reader.Record]
    lying: Sequence[reader.Record]
    read: Mapping[str, Came]
    said: Mapping[str, Given]

    @classmethod
    def of(
        cls,
        engine: Engine,
        domain: str,
        period: str,
        files: list[reader.Record],
        said: Mapping[str, Given],
        settings: Mapping[str, Any],
    ) -> _Received:
        return cls(
            period=period,
            settings=settings,
            files=files,
            found=reader.findings(engine, domain, period),
            checked=reader.check_results(engine, domain, period),
            lying=reader.lying(engine, domain, period),
            read={
                each["label"]: _came(each) for each in reader.intakes(engine, domain, period)
            },  # the last one of each file counts
            said=said,
        )

    def file(self, file: reader.Record, before: File | None) -> File:
        """One file, beside the one that was received `before` it."""
        digest, name = file["digest"], file["file"]
        told = causes((each for each in self.found if each["digest"] == digest), self.settings, self.period)
        checks = tuple(_check(each) for each in self.checked if each["digest"] == digest)
        names = tuple(each["file"] for each in self.lying if each["digest"] == digest)
        changes = _Changes() if before is None else _Changes.of(before, told, checks)
        return File(
            name=name,
            also=tuple(each for each in names if each != name),
            here=name in names,
            given=self.said.get(digest),
            choice=choice(file, self.files, self.said),
            digest=digest,
            state=file["state"],
            received_at=file["received_at"],
            times=file["times"],
            replaced_by=self._name_of(file["superseded_by"]),
            causes=told,
            checks=checks,
            came=self.read.get(PurePath(name).stem),
            gone=changes.gone,
            new=changes.new,
            still=changes.still,
        )

    def _name_of(self, digest: str | None) -> str | None:
        return next((each["file"] for each in self.files if each["digest"] == digest), None)


@dataclass(frozen=True)
class _Changes:
    """What of a file is gone, new and still there, in codes; None of the first one."""

    gone: tuple[str, ...] | None = None
    new: tuple[str, ...] | None = None
    still: tuple[str, ...] | None = None

    @classmethod
    def of(cls, before: File, told: tuple[Cause, ...], checks: tuple[Check, ...]) -> _Changes:
        """Checks count where both files were checked."""
        both = bool(checks) and bool(before.checks)
        known = _codes(before.causes, before.checks if both else ())
        codes = _codes(told, checks if both else ())
        return cls(
            gone=tuple(each for each in known if each not in codes),
            new=tuple(each for each in codes if each not in known),
            still=tuple(each for each in codes if each in known),
        )


def _codes(told: tuple[Cause, ...], checks: tuple[Check, ...]) -> tuple[str, ...]:
    own = (each.code for each in told if each.code not in BESIDE)
    return tuple(dict.fromkeys([*own, *(each.name for each in checks if not each.passed)]))


def _check(record: Mapping[str, Any]) -> Check:
    return Check(
        record["check"],
        record["severity"],
        record["passed"],
        record["checked"],
        record["failed"],
        tuple(record["cells"]),
        remedy(record["check"]),
    )
