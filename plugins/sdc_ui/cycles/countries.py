"""The countries of a cycle, and the stage of the delivery of each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sdc_tasks.model.series import countries_in
from sdc_ui.shared.standing import ReleaseLine


class Stage(StrEnum):
    """Stages of a delivery, in the order of urgency."""

    REFUSED = "refused"
    WAITING = "second file waits"
    AWAITED = "awaited"
    RECEIVED = "received"
    ACCEPTED = "accepted"

    @property
    def tone(self) -> str:
        return {
            "refused": "bad",
            "second file waits": "warn",
            "awaited": "warn",
            "received": "calm",
            "accepted": "good",
        }[self]


STATES = {
    "received": Stage.RECEIVED,
    "waiting": Stage.WAITING,
    "accepted": Stage.ACCEPTED,
    "refused": Stage.REFUSED,
}
OVER = ("superseded", "kept out")  # of no consequence any more


@dataclass(frozen=True)
class Country:
    """`since`: when the file that decides the stage was received; None while awaited. `counts`: an
    earlier file stays in force although another one is not accepted. `superseded`: the number of files
    that later ones replaced. `refused`: the number of refused files that lie in the inbox, or that
    nothing followed, with those that cannot be read. `awaited`: the domain has the country; the file of
    another one waits for somebody to take it away.
    """

    code: str
    stage: Stage
    since: datetime | None
    counts: bool
    superseded: int
    refused: int
    awaited: bool = True


def countries(
    awaited: Sequence[str], files: Iterable[Mapping[str, Any]], unread: Iterable[str] = ()
) -> tuple[Country, ...]:
    """Every awaited country, and every other one with files in the inbox, the most urgent first. Without
    `awaited`, the domain is not known, and every country with files counts. `files` are records with country,
    state, received_at and, where a record is for several files, their number. Files without a country are not
    among them. `unread`: the names of what is not read in the inbox; it counts for the country in its name.
    """
    heard: dict[str, list[Mapping[str, Any]]] = {code: [] for code in awaited}
    for each in files:
        if each["country"] is not None and (not awaited or each["country"] in awaited or each.get("lying")):
            heard.setdefault(each["country"], []).append(each)
    named = Counter(code for file in unread if (code := named_by(file, heard)))
    found = [
        _country(
            code,
            sorted(sent, key=lambda each: each["received_at"]),
            named[code],
            not awaited or code in awaited,
        )
        for code, sent in heard.items()
    ]
    return tuple(sorted(found, key=lambda each: (list(Stage).index(each.stage), each.code)))


def named_by(file: str, codes: Iterable[str]) -> str | None:
    """The country that the name of a file or folder says; None where it says none, or several."""
    named = countries_in(file, codes)
    return named[0] if len(named) == 1 else None


def _country(code: str, sent: Sequence[Mapping[str, Any]], unread: int, awaited: bool) -> Country:
    superseded = sum(each.get("files", 1) for each in sent if each["state"] == "superseded")
    judged = [each for each in sent if each["state"] not in OVER]
    refused = unread + _refused(judged)
    stages = [STATES[each["state"]] for each in judged]
    stage = _stage(stages, refused)
    decides = next((each["received_at"] for each in reversed(judged) if STATES[each["state"]] is stage), None)
    return Country(
        code,
        stage,
        decides,
        stage is not Stage.ACCEPTED and Stage.ACCEPTED in stages,
        superseded,
        refused,
        awaited,
    )


def _stage(stages: Sequence[Stage], refused: int) -> Stage:
    """The stage of a country, of those of its files in the order of arrival."""
    if refused:
        return Stage.REFUSED
    if Stage.WAITING in stages:
        return Stage.WAITING
    return stages[-1] if stages else Stage.AWAITED


def _refused(judged: Sequence[Mapping[str, Any]]) -> int:
    """The number of refused files about which somebody must do something: those in the inbox, and the newest
    one. `judged`: the files of a country, in the order of arrival.
    """
    number = 0
    for each in judged:
        if each["state"] == "refused" and each.get("lying"):
            number += each.get("files", 1)
        elif each["state"] == "refused" and each is judged[-1]:
            number += 1
    return number


def by_cycle(records: Iterable[Mapping[str, Any]]) -> defaultdict[tuple[str, str], list[Mapping[str, Any]]]:
    """(domain, period) → its records."""
    found = defaultdict(list)
    for each in records:
        found[each["domain"], each["period"]].append(each)
    return found


def ready(stages: Mapping[Stage, int], newest: ReleaseLine | None) -> bool:
    """Whether a run of the cycle takes in something new: all countries are accepted before the first release,
    or deliveries newer than the newest release. `stages` are those of all its countries.
    """
    if newest is not None:
        return newest.takes_in
    return 0 < stages[Stage.ACCEPTED] == sum(stages.values())


def tally(found: Iterable[Country]) -> dict[Stage, int]:
    """The number of awaited countries at each stage, for every stage."""
    counts = dict.fromkeys(Stage, 0)
    for each in found:
        counts[each.stage] += each.awaited
    return counts
