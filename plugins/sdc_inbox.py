"""Watches an inbox for new and corrected files, local or in an object store. Its events start
`national_delivery`.

A file counts when its size and time are the same at two looks, so no half-copied file is read; rename a file
into its place where you can. After a restart it reports all files of the inbox again: users of these events
must accept the same event twice.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

from airflow.triggers.base import BaseEventTrigger, TriggerEvent

from sdc_tasks.domains.calendar import PERIOD

Marks = dict[str, dict[str, str]]  # period → file → a mark that changes with its content


class InboxTrigger(BaseEventTrigger):
    """Reports the periods whose inboxes have new or changed files, with the names of these files: period →
    names.

    `inbox` is an address in which `{period}` is the name of a folder; it is read every `seconds`.
    """

    def __init__(self, inbox: str, seconds: float = 10.0) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.inbox, self.seconds = inbox, seconds

    def serialize(self) -> tuple[str, dict[str, Any]]:
        return "sdc_inbox.InboxTrigger", {"inbox": self.inbox, "seconds": self.seconds}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        looks = Looks()
        while True:
            try:
                now = await asyncio.to_thread(marks, self.inbox)
            except OSError as error:  # the share may come back; a failed look counts as none
                self.log.warning("inbox not read (%s)", type(error).__name__)
            else:
                if news := dict(
                    looks.news(now)
                ):  # one event: of two at a time Airflow's scheduler can lose the second
                    yield TriggerEvent({"periods": news})
            await asyncio.sleep(self.seconds)


class Looks:
    """Compares looks into the inboxes: it finds files that are new or changed, and the same at the last two
    looks.
    """

    def __init__(self) -> None:
        self._told: Marks = {}
        self._before: Marks = {}

    def news(self, now: Marks) -> Iterator[tuple[str, list[str]]]:
        """(period, names) for each period with such files, in order."""
        for period, files in sorted(now.items()):
            told = self._told.get(period, {})
            settled = {
                name: mark for name, mark in files.items() if self._before.get(period, {}).get(name) == mark
            }
            self._told[period] = {name: mark for name, mark in {**told, **settled}.items() if name in files}
            if news := sorted(name for name, mark in settled.items() if told.get(name) != mark):
                yield period, news
        self._before = now


def marks(inbox: str) -> Marks:
    """The files in the inboxes of all periods, with their marks."""
    from sdc_places import folder

    from sdc_tasks.intake import inbox as inboxes

    above, below = inbox.split("{period}", 1)
    place = folder(above.rstrip("/") or "/")
    found: Marks = {}
    for each in sorted(place.iterdir(), key=lambda path: path.name) if place.is_dir() else ():
        here = each / below.strip("/") if below.strip("/") else each
        if re.fullmatch(PERIOD, each.name) and here.is_dir():
            files = (here / name for name in inboxes.look(here).files)
            found[each.name] = {
                path.name: f"{(stat := path.stat()).st_size} {getattr(stat, 'st_mtime', '')}"
                for path in files
            }
    return found
