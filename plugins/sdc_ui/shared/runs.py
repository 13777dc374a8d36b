"""The runs of a cycle: which makes a release, which asks, which takes one back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sdc_ui.shared.standing import ReleaseLine

STARTED_BY = {
    "": "the scheduler",
    "scheduled": "the calendar",
    "asset_triggered": "a new file",
    "backfill": "a backfill",
    "manual": "hand",
}
BUSY = ("running", "queued")  # states of a run that will go on by itself, or that waits for a person


@dataclass(frozen=True)
class DagRun:
    """A run of a DAG of a cycle. `triggered_by` is a person, or Airflow's word for what started it.
    `release_id` is None until the run has opened its release. `stopped_at` is the task that failed first, and
    `said` its sentence; None where none failed. `reason`: why it takes a release back.
    """

    dag_id: str
    run_id: str
    release_id: str | None
    state: str
    triggered_by: str
    started_at: datetime | None
    finished_at: datetime | None
    stopped_at: str | None = None
    said: str | None = None
    reason: str | None = None

    @property
    def by(self) -> str:
        """Who started it, in words."""
        return STARTED_BY.get(self.triggered_by, self.triggered_by)

    @property
    def busy(self) -> bool:
        return self.state in BUSY

    @property
    def asks(self) -> bool:
        """Whether it may ask a person: it goes on, and no question of it has failed."""
        return self.busy and not (self.stopped_at or "").startswith("approve_")


def dag_run_of(record: Mapping[str, Any]) -> DagRun:
    """The run of a record of `reader.dag_runs`."""
    return DagRun(**{name: record[name] for name in DagRun.__dataclass_fields__ if name in record})


def of_releases(records: Iterable[Mapping[str, Any]]) -> list[DagRun]:
    """The runs that make releases, in the order of the records."""
    return [dag_run_of(each) for each in records if each["dag_id"].startswith("eu_release_")]


def takings(records: Iterable[Mapping[str, Any]]) -> tuple[DagRun, ...]:
    """The runs that take releases back, or took or asked, in the order of the records."""
    return tuple(dag_run_of(each) for each in records if each["dag_id"] == "retract_release")


def retracting(runs: Iterable[DagRun], release_id: str | None) -> tuple[DagRun, ...]:
    """Of these runs those that take this release back now, or ask about that."""
    return tuple(each for each in runs if each.busy and each.release_id == release_id)


def stayed(runs: Iterable[DagRun], line: ReleaseLine | None) -> DagRun | None:
    """The newest run that was asked to take this release back, where it ended without
    that and the release still stands.
    """
    if line is None or line.retracted is not None:
        return None
    newest = next((each for each in runs if each.release_id == line.release_id), None)
    return newest if newest is not None and newest.state == "failed" else None


def under_way(newest: ReleaseLine | None, run: DagRun | None) -> bool:
    """Whether the newest run of a cycle makes a release after its newest one. It reads the inbox, or
    has not opened its release yet.
    """
    return run is not None and run.busy and (newest is None or run.release_id != newest.release_id)


def ended(newest: ReleaseLine | None, run: DagRun | None) -> DagRun | None:
    """The newest run of a cycle where it failed, and the state of the newest release does not say why."""
    if run is None or run.state != "failed" or run.stopped_at is None or (newest is not None and newest.told):
        return None
    return run


def stopped(newest: ReleaseLine | None, run: DagRun | None) -> bool:
    """Whether the newest run of a cycle failed before it made the first release."""
    return newest is None and run is not None and run.state == "failed"


def asking(newest: ReleaseLine | None, runs: Sequence[DagRun]) -> DagRun | None:
    """The run that asks about a release; None where none does. `runs`: the newest first."""
    if newest is None:
        return None
    return next((each for each in runs if each.busy and each.release_id == newest.release_id), None)
