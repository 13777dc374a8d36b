"""The countries of a cycle, and the stage of the delivery of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class Stage(StrEnum):
    """Stages of a delivery, in the order of urgency."""

    REFUSED = "refused"
    AWAITED = "awaited"
    RECEIVED = "received"
    ACCEPTED = "accepted"

    @property
    def tone(self) -> str:
        return {"refused": "bad", "awaited": "warn", "received": "calm", "accepted": "good"}[self]


@dataclass(frozen=True)
class Country:
    """`since`: when the file that decides the stage was received; None while awaited. `counts`: an earlier file stays in force
    although the newest one is not accepted. `superseded`: the number of files that later ones replaced.
    """

    code: str
    stage: Stage
    since: datetime | None
    counts: bool
    superseded: int


def countries(awaited: Sequence[str], files: Iterable[Mapping[str, Any]]) -> tuple[Country, ...]:
    """Every awaited country and every country with files, the most urgent first. `files` are records with country, state, received_at and,
    where a record is for several files, their number. Files without a country are not among them.
    """
    heard: dict[str, list[Mapping[str, Any]]] = {code: [] for code in awaited}
    for each in files:
        if each["country"] is not None:
            heard.setdefault(each["country"], []).append(each)
    found = [_country(code, sorted(sent, key=lambda each: each["received_at"])) for code, sent in heard.items()]
    return tuple(sorted(found, key=lambda each: (list(Stage).index(each.stage), each.code)))


def _country(code: str, sent: Sequence[Mapping[str, Any]]) -> Country:
    superseded = sum(each.get("files", 1) for each in sent if each["state"] == "superseded")
    judged = [each for each in sent if each["state"] != "superseded"]
    if not judged:
        return Country(code, Stage.AWAITED, None, False, superseded)
    newest = judged[-1]
    stage = Stage(newest["state"])
    counts = stage is not Stage.ACCEPTED and any(each["state"] == "accepted" for each in judged)
    return Country(code, stage, newest["received_at"], counts, superseded)


def tally(found: Iterable[Country]) -> dict[Stage, int]:
    """The number of countries at each stage, for every stage."""
    counts = dict.fromkeys(Stage, 0)
    for each in found:
        counts[each.stage] += 1
    return counts
