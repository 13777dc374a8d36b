"""The tables of a statistic at the desk: the cycles whose releases are attacked together, and what the others
are to each of them until it is out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import Engine

from sdc_tasks.model.time.periods import around
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.forms.related import family, reached
from sdc_ui.cycles.line import CycleLine, line_of, records_of
from sdc_ui.shared.labels import labels_of

TOGETHER = "together"  # the step that notes what was decided for several tables
Key = tuple[str, str]  # domain, period
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class TableLine:
    """A table of the statistic. `line`: its cycle; None where nothing has come, and nothing is due.

    Until something is decided: `waits`, the tables with which it is to be decided and whose deliveries are
    not all there; `decides`, those whose deliveries are. Until it is out: `beside`, the cycles that are out
    and with which it is attacked; `overtaken`, those of them that went out after its newest release was
    begun. `complete`: whether a release can be made of its deliveries. `decided`: what its newest release
    noted of the tables that were decided together.
    """

    domain: str
    period: str
    line: CycleLine | None
    waits: tuple[TableLine, ...] = ()
    decides: tuple[TableLine, ...] = ()
    beside: tuple[Key, ...] = ()
    overtaken: tuple[Key, ...] = ()
    complete: bool = False
    decided: str = ""

    @property
    def alone(self) -> bool:
        """Whether no other table is anything to it."""
        return not (self.waits or self.decides or self.beside or self.decided)


@dataclass(frozen=True)
class Statistics:
    """All cycles that the reader of a page may see, and the settings of their domains. `readable`: whether he
    may see a domain.
    """

    lines: Mapping[Key, CycleLine]
    settings: Mapping[str, Settings]
    readable: Callable[[str], bool]

    def table(self, domain: str, period: str) -> TableLine:
        """A table, with what the others are to it."""
        line = self.lines.get((domain, period))
        found = TableLine(domain, period, line)
        if line is not None and line.settled:
            return found
        partners = self._partners(domain, period)
        complete = [each for each in partners if self._complete(each.line)]
        out, begun = self._out(domain, period), _begun(line)
        return replace(
            found,
            complete=self._complete(line),
            waits=tuple(each for each in partners if each not in complete),
            decides=tuple(complete),
            beside=tuple(out),
            overtaken=tuple(key for key, went_out in out.items() if begun and went_out > begun),
        )

    def _partners(self, domain: str, period: str) -> list[TableLine]:
        """The tables with which a table that is undecided is to be decided."""
        line = self.lines.get((domain, period))
        linked = self.settings.get(domain, {}).get("linked", {})
        if not linked.get("together") or not (line is None or line.undecided):
            return []
        return [
            TableLine(name, period, self.lines.get((name, period)))
            for name in sorted(linked.get("tables", ()))
            if self.readable(name) and self._may_decide(name, domain, period)
        ]

    def _out(self, domain: str, period: str) -> dict[Key, datetime]:
        """The related cycles that are out, and since when."""
        near = {key: self.lines[key] for key in self.related(domain, period) if key in self.lines}
        return {key: line.went_out for key, line in near.items() if line.went_out is not None}

    def related(self, domain: str, period: str) -> list[Key]:
        """The other cycles of the statistic whose releases are attacked together with this one, and the
        linked tables of the period of which nothing has come; those of the period first.
        """
        names = family(self._told.get(domain), domain, [*self._told.items()])
        known = [key for key in self.lines if key[0] in names and key != (domain, period)]
        periods = {each for _, each in known}
        reserve = self.settings.get(domain, {}).get("linked", {}).get("reserve")
        if reserve and (longer := around(period, reserve)):  # as `steps.linked.related`
            periods.add(longer)
        near = {period, *reached(period, periods)}
        found = {key for key in known if key[1] in near}
        found |= {(name, period) for name in self._unheard(domain) - {other for other, _ in found}}
        return sorted(found, key=lambda key: (key[1] != period, key[1], key[0]))

    def _unheard(self, domain: str) -> set[str]:
        """The linked tables that may be of the period, whether or not anything of them has come."""
        named = self.settings.get(domain, {}).get("linked", {}).get("tables", ())
        return {name for name in named if self.readable(name) and self._same_frequency(name, domain)}

    @cached_property
    def _told(self) -> dict[str, str]:
        """What the domain files link, without their code lists, which are long."""
        return {
            domain: json.dumps({"linked": each.get("linked", {})})
            for domain, each in sorted(self.settings.items())
        }

    def _may_decide(self, name: str, domain: str, period: str) -> bool:
        """Whether a table can be decided together with another one: it is not out yet."""
        line = self.lines.get((name, period))
        return self._same_frequency(name, domain) if line is None else line.went_out is None

    def _same_frequency(self, name: str, domain: str) -> bool:
        """Whether a table has the periods of another one; True where nothing is known of it."""
        mine, other = (self.settings.get(each, {}).get("frequency") for each in (domain, name))
        return other is None or mine == other

    def _complete(self, line: CycleLine | None) -> bool:
        """Whether a release can be made of what has been accepted, with nothing left to judge."""
        if line is None:
            return False
        partial = self.settings.get(line.domain, {}).get("missing_country") == "partial"
        return not line.unjudged and (line.delivered > 0 if partial else 0 < line.delivered == line.awaited)


def _begun(line: CycleLine | None) -> datetime | None:
    """When the newest release of a cycle was begun, where it is not out."""
    newest = line.newest if line else None
    return newest.started_at if newest and newest.version is None else None


def tables_of(
    engine: Engine, domain: str, period: str, now: datetime, readable: Callable[[str], bool]
) -> tuple[TableLine, ...]:
    """The table of a cycle, and the others of its statistic that the reader of the page may see; empty where
    the domain file links nothing.
    """
    if not reader.settings_of(engine, domain).get("linked"):
        return ()
    records = {(each.domain, each.period): each for each in records_of(engine) if readable(each.domain)}
    names = sorted({name for name, _ in records})
    settings = {name: reader.settings_of(engine, name) for name in names}
    labels = {name: labels_of(name, settings[name]) for name in names}
    found = Statistics(
        {key: line_of(each, labels[each.domain], (), now) for key, each in records.items()},
        settings,
        readable,
    )
    keys = [(domain, period), *found.related(domain, period)]
    return tuple(_with_decision(engine, found.table(*key)) for key in keys)


def _with_decision(engine: Engine, table: TableLine) -> TableLine:
    """The table with what its newest release noted of the tables decided together."""
    if table.line is None or table.line.newest is None or table.line.undecided:
        return table
    noted = reader.steps(engine, table.line.newest.release_id)
    mine = (each["note"] for each in noted if each["step"] == TOGETHER and not each["key"])
    said = [each for each in next(mine, "").split("; ") if each.startswith("decided ")]  # not of the loss
    return replace(table, decided="; ".join(said))
