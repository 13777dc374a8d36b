"""The deadlines of a cycle: what was due when, and whether it was done in time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Deadline:
    """One deadline. `due` is None where the calendar has no instant, `done` is None while it is not done.
    `apart` is the time from the due instant to `done`, or else to `now`; negative before the due instant.
    """

    name: str
    due: datetime | None
    done: datetime | None
    apart: timedelta | None
    hint: str = ""

    @property
    def late(self) -> bool:
        return self.apart is not None and self.apart > timedelta(0)

    @property
    def tone(self) -> str:
        if self.late:
            return "warn" if self.done else "bad"
        return "good" if self.done else "calm"


def deadline(
    name: str, due: datetime | None, done: datetime | None, now: datetime, hint: str = ""
) -> Deadline:
    return Deadline(name, due, done, None if due is None else (done or now) - due, hint)
