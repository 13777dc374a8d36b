"""The instants of a cycle: what was due when, and whether it was there by then."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Deadline:
    """`due` is None where the calendar has no instant, `done` None while it is not done. `apart` is how far `done`, or else `now`, lies
    behind the due instant; negative: before it.
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


def deadline(name: str, due: datetime | None, done: datetime | None, now: datetime, hint: str = "") -> Deadline:
    return Deadline(name, due, done, None if due is None else (done or now) - due, hint)
