"""What people answered about second files of a country, and what may be answered now."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sdc_tasks.model.series import Answer
from sdc_ui.shared.steps import Came

SETTLE = "settle"  # the task that carries an answer out
HOLDS = {"kept out": (Answer.KEEP,), "accepted": (Answer.REPLACE, Answer.BOTH), "refused": ()}


@dataclass(frozen=True)
class Given:
    """The newest answer about a file: by whom, when, why, and the run of Airflow that carried it out, if one
    did. `before`: the earlier answers.
    """

    answer: str
    actor: str
    at: datetime
    note: str
    came: Came | None
    before: tuple[str, ...]


@dataclass(frozen=True)
class Choice:
    """The answers that can be given about these files together."""

    files: tuple[str, ...]
    answers: tuple[str, ...]


def given(records: Iterable[Mapping[str, Any]], runs: Mapping[str, Came]) -> dict[str, Given]:
    """digest → the newest answer, from records of `reader.answers`. `runs`: run id → the
    task that carried an answer out.
    """
    found: dict[str, Given] = {}
    for each in records:
        earlier = found.get(each["digest"])
        before = (*earlier.before, earlier.answer) if earlier else ()
        came = runs.get(each["run"] or "")
        found[each["digest"]] = Given(
            each["answer"], each["actor"], each["recorded_at"], each["note"] or "", came, before
        )
    return found


def choice(
    file: Mapping[str, Any], files: Sequence[Mapping[str, Any]], said: Mapping[str, Given]
) -> Choice | None:
    """What may be answered about a file, a record of `reader.deliveries`, among all of its country: all while
    it waits, and another answer while it lies in the inbox and a file of the country counts. Files that
    replaced others together are answered together.
    """
    if file["state"] == "waiting":
        return Choice((file["file"],), tuple(Answer))
    mine, counts = said.get(file["digest"]), any(each["state"] == "accepted" for each in files)
    if mine is None or not file["lying"] or file["state"] not in HOLDS or not counts:
        return None
    together = _together(file, files, said)
    return Choice(tuple(each["file"] for each in together), _others(mine.answer, HOLDS[file["state"]]))


def _together(
    file: Mapping[str, Any], files: Sequence[Mapping[str, Any]], said: Mapping[str, Given]
) -> list[Mapping[str, Any]]:
    """The files about which one answer is given: those that replaced others with this one, or it alone."""
    if (file["state"], said[file["digest"]].answer) != ("accepted", Answer.REPLACE):
        return [file]
    accepted = (each for each in files if each["state"] == "accepted" and each["digest"] in said)
    return [each for each in accepted if said[each["digest"]].answer == Answer.REPLACE]


def _others(said: str, holds: Collection[str]) -> tuple[Answer, ...]:
    """The answers that would change anything: not the one that was given, where it still `holds`."""
    return tuple(answer for answer in Answer if answer != said or answer not in holds)


def unheard(settles: Iterable[Came], said: Mapping[str, Given], names: Iterable[str]) -> Came | None:
    """The newest run with an answer, where the log has no answer of it: it still begins, or it
    failed and says one of these names.
    """
    newest = next(iter(sorted(settles, key=lambda each: each.task.state == "running", reverse=True)), None)
    if newest is None or any(
        each.came is not None and each.came.run_id == newest.run_id for each in said.values()
    ):
        return None
    failed = newest.task.state == "failed" and any(name in newest.task.said for name in names)
    return newest if failed or newest.task.state == "running" else None
