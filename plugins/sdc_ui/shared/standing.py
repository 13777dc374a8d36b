"""The state of a release, in one word that the pages colour."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from sdc_ui.shared.runs import STARTED_BY, DagRun


class Standing(StrEnum):
    """The state of a release, from its run, its audit, and its publication."""

    RUNNING = "running"
    FAILED = "failed"
    WAITING = "waiting for a country"
    APPROVAL = "waiting for approval"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    SECOND = "stopped: a second file waits"
    STOPPED = "not published yet"
    BLOCKED = "blocked by the audit"
    EMBARGOED = "under embargo"
    PUBLISHED = "published"
    UNCHANGED = "same as the version before"
    RETRACTED = "retracted"

    @property
    def tone(self) -> str:
        """The colour: good, bad, warn or calm. The page always shows the word too."""
        return TONES[self]

    @property
    def next(self) -> str:
        """What somebody does next; empty where there is nothing to do."""
        return NEXT[self]


AGAIN = "Run the release again: it takes in the newer deliveries."
WITHOUT = "Run the release again: it is made of the files that count."
NEVERTHELESS = (
    "Or somebody other than the submitter answers 'Approve without newer deliveries' in Required Actions."
)
ASKED = "Say what the second file is, on the page of its country; then run the release again."
NEXT = {
    Standing.RUNNING: "",
    Standing.FAILED: "Open the run in Airflow: the task that is red says what to do.",
    Standing.WAITING: "A country is missing: put its file into the inbox, and run the release again.",
    Standing.APPROVAL: "Somebody other than the submitter answers in Required Actions.",
    Standing.REJECTED: (
        "A methodologist changes the domain file, or a country its delivery; then run the release again. "
        "To ask once more about this publication, clear approve_1 with Downstream."
    ),
    Standing.SUPERSEDED: AGAIN,
    Standing.SECOND: ASKED,
    Standing.STOPPED: (
        "No run goes on with it: the last one ended, perhaps because the domain file or the program changed. "
        "Run the release again; only "
        "what changed is repeated."
    ),
    Standing.BLOCKED: (
        "A methodologist changes the domain file and runs the release again; nobody publishes by hand."
    ),
    Standing.EMBARGOED: "",
    Standing.PUBLISHED: "",
    Standing.UNCHANGED: "",
    Standing.RETRACTED: (
        "Correct what was wrong, and run the release again: it becomes the next version. The same files do "
        "not go out again."
    ),
}
TONES = {
    Standing.RUNNING: "calm",
    Standing.FAILED: "bad",
    Standing.WAITING: "warn",
    Standing.APPROVAL: "warn",
    Standing.REJECTED: "bad",
    Standing.SUPERSEDED: "warn",
    Standing.SECOND: "warn",
    Standing.STOPPED: "warn",
    Standing.BLOCKED: "bad",
    Standing.EMBARGOED: "good",
    Standing.PUBLISHED: "good",
    Standing.UNCHANGED: "good",
    Standing.RETRACTED: "bad",
}


@dataclass(frozen=True)
class ReleaseLine:
    """One release in a list. `version` and the fields after it are None for an unpublished release.

    `newer`: it was made of other deliveries than are accepted now. `dropped`: of some that do not count any
    more. `second`: a second file of a country waits for an answer. `followed`: the release that took the
    place of this unpublished one. `rejected`: who rejected it, and the note, if that is the last decision.
    `starters`: who submitted it or started a run of it, and therefore does not agree to it. `agreed`: who has
    agreed to it, on its newest passed audit.
    """

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
    newer: bool
    dropped: bool
    second: bool
    followed: str | None
    rejected: tuple[str, str] | None
    starters: tuple[str, ...]
    agreed: tuple[str, ...] = ()

    @property
    def missing(self) -> int:
        """How many people must still agree."""
        return max(self.approvals_asked - len(self.agreed), 0)

    @property
    def apart(self) -> tuple[str, ...]:
        """Whose answer does not count: who started it, and who agreed already."""
        return (*self.starters, *self.agreed)

    @property
    def told(self) -> bool:
        """Whether the state says by itself why the last run ended."""
        return (
            self.standing in (Standing.REJECTED, Standing.BLOCKED)
            or self.second
            or (self.newer and self.standing is Standing.SUPERSEDED)
        )

    @property
    def next(self) -> str:
        """What somebody does next."""
        if self.gave_way:
            return f"Nothing: {self.followed} took its place."
        if self.newer and self.standing is not Standing.RUNNING:
            again = ASKED if self.second else WITHOUT if self.dropped else AGAIN
            return (
                f"{again} {NEVERTHELESS}"
                if self.standing is Standing.APPROVAL and not self.dropped
                else again
            )
        return self.standing.next

    @property
    def gave_way(self) -> bool:
        """Whether another release took its place, so that nothing is to do about this one."""
        return self.standing is Standing.SUPERSEDED and self.followed is not None

    @property
    def takes_in(self) -> bool:
        """Whether a further run takes in newer deliveries. While a second file waits, every run
        stops before its release is made.
        """
        return self.newer and not self.second and not self.gave_way

    @property
    def stale(self) -> bool:
        """Whether it is published although deliveries that it was made of were corrected since."""
        return self.newer and self.standing in (Standing.PUBLISHED, Standing.EMBARGOED)

    @property
    def seen(self) -> bool:
        """Whether the public may see its cells, or could before it was retracted."""
        return self.visible or self.retracted is not None

    @property
    def shown(self) -> bool:
        """Whether the public may see its cells now."""
        return self.visible and self.retracted is None


def version_out(lines: Sequence[ReleaseLine]) -> ReleaseLine | None:
    """The newest version that is out and was not retracted. `lines`: the releases of a cycle, the newest
    first.
    """
    return next((each for each in lines if each.version is not None and each.retracted is None), None)


def cycle_lines(rows: Iterable[Mapping[str, Any]], runs: Sequence[DagRun]) -> tuple[ReleaseLine, ...]:
    """The releases of a cycle from records of `reader.history`, the newest first. Beside what each says of
    itself:

    A release waits for an approval only while a run asks; a run of Airflow that ended, perhaps because the
    domain file was changed, asks no more. The newest one gives way to the version that is out, also where it
    was rejected or blocked, once that is made of what counts again. A release that changed nothing is
    retracted, or shown, with the version whose table it repeats, and that version is not out of date.
    `runs`: the runs known of the cycle.
    """
    lines = [release_line(each) for each in rows]
    found = []
    repeated = False  # whether the newest deliveries give the table of the version below once more
    for place, line in enumerate(lines):
        if line.version is not None:
            line = replace(line, newer=line.newer and not repeated)
            repeated = False
        repeated = repeated or (line.standing is Standing.UNCHANGED and not line.newer)
        mine = [each for each in runs if each.release_id == line.release_id]
        below = next((each for each in lines[place:] if each.version is not None), None)
        found.append(_beside_others(_with_starters(line, mine), mine, below, newest=place == 0))
    return tuple(found)


def _with_starters(line: ReleaseLine, runs: Sequence[DagRun]) -> ReleaseLine:
    """The line with the people who started a run of it."""
    people = (each.triggered_by for each in reversed(runs) if each.triggered_by not in STARTED_BY)
    return replace(line, starters=tuple(dict.fromkeys((*line.starters, *people))))


def _beside_others(
    line: ReleaseLine, runs: Sequence[DagRun], below: ReleaseLine | None, newest: bool
) -> ReleaseLine:
    """The line with the standing that it has beside its runs and the other releases, as `cycle_lines` says.
    `below`: the newest version that is not newer than this release.
    """
    match line.standing:
        case Standing.APPROVAL if runs and not any(each.asks for each in runs):
            return replace(line, standing=Standing.STOPPED)
        case Standing.REJECTED | Standing.BLOCKED if newest and line.newer and line.followed:
            return replace(line, standing=Standing.SUPERSEDED)
        case Standing.UNCHANGED if below is not None:
            return _as_repeated(line, below, newest)
    return line


def _as_repeated(line: ReleaseLine, same: ReleaseLine, newest: bool) -> ReleaseLine:
    """The line of a release that changed nothing. `same`: the version whose table it repeats."""
    if same.retracted is not None:
        return replace(line, standing=Standing.RETRACTED, retracted=same.retracted)
    # What counts now is out already: a run would change nothing.
    back = newest and line.newer and not same.newer
    return replace(
        line,
        visible=same.visible,
        newer=line.newer and not back,
        dropped=line.dropped and not back,
    )


def release_line(row: Mapping[str, Any]) -> ReleaseLine:
    """The release line of a record of `reader.history`."""
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
        newer=bool(row["newer"]),
        dropped=bool(row["dropped"]),
        second=bool(row["second"]),
        followed=row["followed"],
        rejected=(row["decided_by"], json.loads(row["decision_details"])["note"])
        if row["decision"] == "reject"
        else None,
        starters=(row["submitter"],) if row["submitter"] else (),
        agreed=tuple(row["agreed"]),
    )


def _standing(row: Mapping[str, Any]) -> Standing:
    if row["version"] is not None:
        return _of_version(row)
    match row["state"]:
        case "published":
            return Standing.UNCHANGED
        case "waiting" | "failed" if row["followed"]:
            return Standing.SUPERSEDED
        case "waiting":
            return _waiting(row)
        case "blocked" if row["decision"] == "reject":
            return Standing.REJECTED
        case "blocked" | "failed" if row["newer"]:
            return Standing.SUPERSEDED
        case "blocked":
            return Standing.BLOCKED
        case "failed":
            return Standing.FAILED
    return Standing.RUNNING


def _of_version(row: Mapping[str, Any]) -> Standing:
    if row["retracted"] is not None:
        return Standing.RETRACTED
    return Standing.PUBLISHED if row["visible"] else Standing.EMBARGOED


def _waiting(row: Mapping[str, Any]) -> Standing:
    """That of a release that waits, and that no other one has followed."""
    if row["passed"] and (row["approvals_asked"] or 0) > row["approvals"]:
        return Standing.APPROVAL
    if not row["passed"] and not row["newer"]:
        return Standing.WAITING
    if row["second"]:
        return Standing.SECOND
    return Standing.SUPERSEDED if row["newer"] else Standing.STOPPED
