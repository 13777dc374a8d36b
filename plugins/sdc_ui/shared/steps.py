"""The steps of a run, task by task, as the listener recorded them; for a release without Airflow, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

TONES = {"success": "good", "failed": "bad", "upstream_failed": "bad", "up_for_retry": "warn", "running": "calm", "skipped": "none"}
ORDER = ("failed", "upstream_failed", "up_for_retry", "running", "deferred", "queued", "scheduled", "success", "skipped", "removed")


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
    """A task with all its instances, the most urgent first. `seconds` is the sum over the instances."""

    name: str
    instances: tuple[Instance, ...]
    finished_at: datetime | None

    @property
    def state(self) -> str:
        return self.instances[0].state

    @property
    def tone(self) -> str:
        return self.instances[0].tone

    @property
    def seconds(self) -> float | None:
        known = [each.seconds for each in self.instances if each.seconds is not None]
        return sum(known) if known else None

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
        return tuple(each for each in self.instances if each.state not in ("success", "skipped", "upstream_failed"))


def of_tasks(records: Iterable[Mapping[str, Any]]) -> tuple[Step, ...]:
    """The steps of records of `reader.task_runs`, in the order in which the tasks ended; running tasks come last."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for each in records:
        found.setdefault(each["task_id"], []).append(each)
    steps = [_step(name, rows) for name, rows in found.items()]
    return tuple(sorted(steps, key=lambda step: (step.finished_at is None, step.finished_at.timestamp() if step.finished_at else 0.0)))


def of_release(records: Iterable[Mapping[str, Any]]) -> tuple[Step, ...]:
    """The steps of records of `reader.steps`. Only finished steps have a record; the times of several instances are added."""
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
                    sum(each["seconds"] for each in rows),
                    "; ".join(filter(None, (each["note"] for each in rows))),
                ),
            ),
            rows[-1]["finished_at"],
        )
        for name, rows in found.items()
    )


def _step(name: str, rows: list[Mapping[str, Any]]) -> Step:
    instances = [
        Instance(name, each["map_index"], each["label"], each["state"], each["tries"], each["seconds"], each["said"]) for each in rows
    ]
    ended = [each["finished_at"] for each in rows]
    instances.sort(key=lambda each: (ORDER.index(each.state) if each.state in ORDER else 0, each.label, each.map_index))
    return Step(name, tuple(instances), None if None in ended else max(ended))
