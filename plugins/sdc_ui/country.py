"""One country over all domains and periods: what of it is accepted, refused or awaited."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine

from sdc_tasks.warehouse import reader
from sdc_ui.cycles.countries import Country, Stage, by_cycle, countries, tally
from sdc_ui.cycles.deadlines import Deadline, deadline
from sdc_ui.shared.labels import Name, labels_of


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
    labels = {
        domain: labels_of(domain, reader.settings_of(engine, domain))
        for domain in sorted({key[0] for key in mine})
        if readable(domain)
    }
    lines = []
    for key in mine:
        domain, period = key
        if domain in labels:
            areas = cycles[key]["areas"] if key in cycles else (code,)
            seen = countries(areas, files[key], [each["file"] for each in unread[key]])
            found = next((each for each in seen if each.code == code), None)
            if found is None:
                continue
            due = cycles[key]["delivery_due"] if key in cycles else None
            done = found.since if found.stage is Stage.ACCEPTED else None
            lines.append(
                Delivered(
                    domain,
                    labels[domain].title,
                    period,
                    found,
                    deadline("deliveries", due, done, now) if due else None,
                )
            )
    if not lines:
        return None
    lines.sort(key=lambda each: each.period, reverse=True)
    lines.sort(key=lambda each: list(Stage).index(each.country.stage))
    name = next((known for each in labels.values() if (known := each.area(code)).told), Name(code, code))
    return CountryFacts(name, tuple(lines))
