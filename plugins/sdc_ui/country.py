"""One country over all domains and periods: what of it is accepted, refused or awaited."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine

from sdc_tasks.warehouse import reader
from sdc_ui.cycles.countries import Country, Stage, by_cycle, countries, tally
from sdc_ui.cycles.deadlines import Deadline, deadline
from sdc_ui.shared.labels import Labels, Name, labels_of


@dataclass(frozen=True)
class Delivered:
    """The delivery of the country for one cycle. `due` is None where the calendar has no date."""

    domain: str
    title: str
    period: str
    country: Country
    due: Deadline | None


@dataclass(frozen=True)
class CountryFacts:
    """A country over the domains that the reader may see: what needs somebody first, then the
    newest period.
    """

    name: Name
    lines: tuple[Delivered, ...]

    @property
    def stages(self) -> dict[Stage, int]:
        return tally(each.country for each in self.lines)


def country_facts(
    engine: Engine, code: str, now: datetime, readable: Callable[[str], bool]
) -> CountryFacts | None:
    """The facts of a country; None where no readable cycle awaits it and none has a file of it."""
    cycles = {(each["domain"], each["period"]): each for each in reader.cycles(engine)}
    files = by_cycle(each for each in reader.delivery_states(engine) if each["country"] == code)
    unread = by_cycle(reader.unread(engine))
    mine = sorted({key for key, each in cycles.items() if code in each["areas"]} | set(files))
    domains = sorted({domain for domain, _ in mine if readable(domain)})
    labels = {domain: labels_of(domain, reader.settings_of(engine, domain)) for domain in domains}
    lines = []
    for domain, period in mine:
        if domain in labels:
            here, cycle = (domain, period), cycles.get((domain, period))
            seen = countries(
                cycle["areas"] if cycle else (code,), files[here], [each["file"] for each in unread[here]]
            )
            lines += [
                Delivered(domain, labels[domain].title, period, each, _due(cycle, each, now))
                for each in seen
                if each.code == code
            ]
    if not lines:
        return None
    lines.sort(key=lambda each: each.period, reverse=True)
    lines.sort(key=lambda each: list(Stage).index(each.country.stage))
    return CountryFacts(_name(code, labels.values()), tuple(lines))


def _due(cycle: Mapping[str, Any] | None, country: Country, now: datetime) -> Deadline | None:
    """When the country must deliver; None where the calendar does not say."""
    due = cycle["delivery_due"] if cycle else None
    done = country.since if country.stage is Stage.ACCEPTED else None
    return deadline("deliveries", due, done, now) if due else None


def _name(code: str, labels: Iterable[Labels]) -> Name:
    """The name of the country in the first domain that has one."""
    return next((known for each in labels if (known := each.area(code)).told), Name(code, code))
