"""One country over all domains and periods: what of it is accepted, refused or awaited."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine

from sdc_tasks.warehouse import reader
from sdc_ui.cycles.countries import Country, Stage, by_cycle, countries, tally
from sdc_ui.cycles.deadlines import Deadline, deadline
from sdc_ui.shared.labels import Labels, Name, labels_of

Key = tuple[str, str]  # domain, period


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
    awaiting = _awaiting(code, cycles)
    mine = sorted(key for key in awaiting | set(files) if readable(key[0]))
    domains = sorted({domain for domain, _ in mine})
    labels = {domain: labels_of(domain, reader.settings_of(engine, domain)) for domain in domains}
    lines: list[Delivered] = []
    for domain, period in mine:
        here, cycle = (domain, period), cycles.get((domain, period))
        seen = _seen(code, cycle, files[here], unread[here])
        title = labels[domain].title
        lines += [Delivered(domain, title, period, each, _due(cycle, each, now)) for each in seen]
    if not lines:
        return None
    lines.sort(key=lambda each: each.period, reverse=True)
    lines.sort(key=lambda each: list(Stage).index(each.country.stage))
    return CountryFacts(_name(code, labels.values()), tuple(lines))


def _awaiting(code: str, cycles: Mapping[Key, Mapping[str, Any]]) -> set[Key]:
    """The cycles that await a country."""
    return {key for key, each in cycles.items() if code in each["areas"]}


def _seen(
    code: str,
    cycle: Mapping[str, Any] | None,
    files: Sequence[Mapping[str, Any]],
    unread: Sequence[Mapping[str, Any]],
) -> list[Country]:
    """The country in a cycle; nothing where the cycle knows nothing of it."""
    found = countries(cycle["areas"] if cycle else (code,), files, [each["file"] for each in unread])
    return [each for each in found if each.code == code]


def _due(cycle: Mapping[str, Any] | None, country: Country, now: datetime) -> Deadline | None:
    """When the country must deliver; None where the calendar does not say."""
    due = cycle["delivery_due"] if cycle else None
    done = country.since if country.stage is Stage.ACCEPTED else None
    return deadline("deliveries", due, done, now) if due else None


def _name(code: str, labels: Iterable[Labels]) -> Name:
    """The name of the country in the first domain that has one."""
    return next((known for each in labels if (known := each.area(code)).told), Name(code, code))
