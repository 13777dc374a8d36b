"""The state of a release, in one word that the pages colour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class Standing(StrEnum):
    """From the state of the run, its audit, and what is published of it."""

    RUNNING = "running"
    FAILED = "failed"
    WAITING = "waiting for a country"
    APPROVAL = "waiting for approval"
    BLOCKED = "blocked by the audit"
    EMBARGOED = "under embargo"
    PUBLISHED = "published"
    UNCHANGED = "same as the version before"
    RETRACTED = "retracted"

    @property
    def tone(self) -> str:
        """good, bad, warn or calm: its colour; the word itself is always there too."""
        return TONES[self]


TONES = {
    Standing.RUNNING: "calm",
    Standing.FAILED: "bad",
    Standing.WAITING: "warn",
    Standing.APPROVAL: "warn",
    Standing.BLOCKED: "bad",
    Standing.EMBARGOED: "good",
    Standing.PUBLISHED: "good",
    Standing.UNCHANGED: "good",
    Standing.RETRACTED: "bad",
}


@dataclass(frozen=True)
class ReleaseLine:
    """One release in a list. `version` and what follows are None where nothing was published of it."""

    release_id: str
    domain: str
    period: str
    standing: Standing
    started_at: datetime
    submitter: str | None
    approvals_asked: int
    version: int | None
    publication: str | None
    released_at: datetime | None
    embargo: datetime | None
    retracted: str | None
    visible: bool

    @property
    def shown(self) -> bool:
        """May the world see its cells now?"""
        return self.visible and self.retracted is None


def release_line(row: Mapping[str, Any]) -> ReleaseLine:
    """From a record of `reader.history`."""
    return ReleaseLine(
        release_id=row["release_id"],
        domain=row["domain"],
        period=row["period"],
        standing=_standing(row),
        started_at=row["started_at"],
        submitter=row["submitter"],
        approvals_asked=row["approvals_asked"] or 0,
        version=row["version"],
        publication=row["publication_digest"],
        released_at=row["released_at"],
        embargo=row["embargo"],
        retracted=row["retracted"],
        visible=bool(row["visible"]),
    )


def _standing(row: Mapping[str, Any]) -> Standing:
    if row["version"] is not None:
        if row["retracted"] is not None:
            return Standing.RETRACTED
        return Standing.PUBLISHED if row["visible"] else Standing.EMBARGOED
    match row["state"]:
        case "published":
            return Standing.UNCHANGED
        case "waiting":
            return Standing.APPROVAL if row["passed"] else Standing.WAITING
        case "blocked":
            return Standing.BLOCKED
        case "failed":
            return Standing.FAILED
    asked = row["approvals_asked"] or 0
    return Standing.APPROVAL if row["passed"] and asked > row["approvals"] else Standing.RUNNING
