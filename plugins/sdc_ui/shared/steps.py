"""The steps of a run, task by task, as the listener recorded them; for a release without Airflow, step by
step.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

TONES = {
    "success": "good",
    "failed": "bad",
    "upstream_failed": "none",
    "up_for_retry": "warn",
    "running": "calm",
    "skipped": "none",
}
GRAPH = (
    "discover",
    "ingest",
    "collect",
    "suppress",
    "assemble",
    "baseline",
    r"cta_\d.*",
    "adjust",
    "cta_outcome",
    "bases",
    "audit",
    "verdict",
    "approval",
    r"approve_\d+",
    "publish",
    "report",
    "released",
)
WAITS = "waiting for a person"
QUESTIONS = r"approve_\d+|agree"  # tasks that ask a person, and then sleep: Airflow tells nobody of that
ORDER = (
    "failed",
    "upstream_failed",
    "up_for_retry",
    WAITS,
    "running",
    "deferred",
    "queued",
    "scheduled",
    "success",
    "skipped",
    "removed",
)


@dataclass(frozen=True)
class Instance:
    """One task instance. `map_index` is −1 where the task is not mapped."""

    task_id: str
    map_index: int
    label: str
    state: str
    tries: int
    seconds: float | None
    said: str

    @property
    def tone(self) -> str:
        return TONES.get(self.state, "calm")


@dataclass(frozen=True)
class Came:
    """The task that read a file: in a release, or, where not `in_release`, as the file arrived."""

    dag_id: str
    run_id: str
    task: Instance
    in_release: bool


@dataclass(frozen=True)
class Step:
    """A task with all its instances, the most urgent first. `seconds`: in which at least one of them ran, the
    last try of each; None while one runs.
    """

    name: str
    instances: tuple[Instance, ...]
    seconds: float | None

    @property
    def state(self) -> str:
        return self.instances[0].state

    @property
    def tone(self) -> str:
        return self.instances[0].tone

    @property
    def mapped(self) -> bool:
        return self.instances[0].map_index >= 0

    @property
    def counts(self) -> dict[str, int]:
        """state → number of instances."""
        states = [each.state for each in self.instances]
        return {state: states.count(state) for state in dict.fromkeys(states)}

    @property
    def telling(self) -> tuple[Instance, ...]:
        """The instances with a line of their own: all that ran without a plain success, or the only one."""
        if not self.mapped:
            return self.instances
        return tuple(
            each for each in self.instances if each.state not in ("success", "skipped", "upstream_failed")
        )


def place(name: str) -> tuple[int, str]:
    """The place of a task in the graph of its DAG, of a step in its release: the order of
    `dags/eu_release.py`.
    """
    found = next((number for number, begins in enumerate(GRAPH) if re.fullmatch(begins, name)), len(GRAPH))
    return found, name


def of_tasks(records: Iterable[Mapping[str, Any]]) -> tuple[Step, ...]:
    """The steps of records of `reader.task_runs`, in the order of the graph."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for each in records:
        found.setdefault(each["task_id"], []).append(each)
    return tuple(_step(name, found[name]) for name in sorted(found, key=place))


def of_release(records: Iterable[Mapping[str, Any]]) -> tuple[Step, ...]:
    """The steps of records of `reader.steps`, in the order of the graph. Only finished steps have
    a record.
    """
    found: dict[str, list[Mapping[str, Any]]] = {}
    for each in records:
        found.setdefault(each["step"], []).append(each)
    return tuple(
        Step(
            name,
            (
                Instance(
                    name,
                    -1,
                    "",
                    "success",
                    1,
                    _passed(rows),
                    "; ".join(filter(None, (each["note"] for each in rows))),
                ),
            ),
            _passed(rows),
        )
        for name, rows in sorted(found.items(), key=lambda each: place(each[0]))
    )


def _step(name: str, rows: list[Mapping[str, Any]]) -> Step:
    instances = [
        Instance(
            name, each["map_index"], each["label"], _state(each), each["tries"], each["seconds"], each["said"]
        )
        for each in rows
    ]
    instances.sort(
        key=lambda each: (ORDER.index(each.state) if each.state in ORDER else 0, each.label, each.map_index)
    )
    return Step(name, tuple(instances), _passed(rows))


def _state(row: Mapping[str, Any]) -> str:
    asks = row["state"] == "running" and re.fullmatch(QUESTIONS, row["task_id"])
    return WAITS if asks else str(row["state"])


def _passed(rows: Iterable[Mapping[str, Any]]) -> float | None:
    """Seconds in which at least one of them ran, the last try of each; None while
    something runs, or where nothing ran.
    """
    ran = [each for each in rows if each["seconds"] is not None or each["finished_at"] is None]
    if not ran or any(each["finished_at"] is None for each in ran):
        return None
    spans = sorted(
        (each["finished_at"] - timedelta(seconds=each["seconds"]), each["finished_at"]) for each in ran
    )
    passed, until = timedelta(0), spans[0][0]
    for begun, ended in spans:
        passed += max(ended - max(begun, until), timedelta(0))
        until = max(until, ended)
    return float(passed.total_seconds())
