"""The findings in the files of one country: those of intake, line by line, and those of the content checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine

from sdc_tasks.warehouse import reader
from sdc_ui.cycles.cycle import NAMELESS
from sdc_ui.cycles.remedies import remedy
from sdc_ui.shared.labels import Name, labels_of


@dataclass(frozen=True)
class Finding:
    """One finding of intake, with its remedy."""

    code: str
    severity: str
    line: int | None
    cell: str | None
    message: str
    remedy: str


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
    """One received file."""

    name: str
    digest: str
    state: str
    received_at: datetime
    replaced_by: str | None
    findings: tuple[Finding, ...]
    checks: tuple[Check, ...]

    @property
    def failed_checks(self) -> tuple[Check, ...]:
        return tuple(each for each in self.checks if not each.passed)


@dataclass(frozen=True)
class FindingsFacts:
    """The files of a country, the newest first; empty while it is awaited."""

    domain: str
    title: str
    period: str
    country: Name
    files: tuple[File, ...]


def findings_facts(engine: Engine, domain: str, period: str, country: str) -> FindingsFacts | None:
    """The facts of a country; None where it is not awaited and has no files."""
    sought = None if country == NAMELESS else country
    files = [each for each in reader.deliveries(engine, domain, period) if each["country"] == sought]
    awaited = {code for each in reader.cycles(engine, domain) if each["period"] == period for code in each["areas"]}
    if not files and sought not in awaited:
        return None
    labels = labels_of(domain, reader.settings_of(engine, domain))
    found, checked = reader.findings(engine, domain, period), reader.check_results(engine, domain, period)
    name = labels.area(sought) if sought else Name(NAMELESS, "no country could be read")
    shown = tuple(_file(each, files, found, checked) for each in reversed(files))
    return FindingsFacts(domain, labels.title, period, name, shown)


def _file(
    file: Mapping[str, Any], files: list[reader.Record], found: list[reader.Record], checked: list[reader.Record]
) -> File:  # fmt: skip
    return File(
        name=file["file"],
        digest=file["digest"],
        state=file["state"],
        received_at=file["received_at"],
        replaced_by=next((each["file"] for each in files if each["digest"] == file["superseded_by"]), None),
        findings=tuple(
            Finding(each["code"], each["severity"], each["line"], each["cell"], each["message"], remedy(each["code"]))
            for each in found
            if each["digest"] == file["digest"]
        ),
        checks=tuple(
            Check(
                each["check"],
                each["severity"],
                each["passed"],
                each["checked"],
                each["failed"],
                tuple(each["cells"]),
                remedy(each["check"]),
            )
            for each in checked
            if each["digest"] == file["digest"]
        ),
    )
