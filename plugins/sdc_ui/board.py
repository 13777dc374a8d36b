"""The board: the cycles of all domains by urgency: what is late, what failed, and who must act."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine

from sdc_tasks.warehouse import reader
from sdc_ui.cycles.line import CycleLine, line_of, records_of
from sdc_ui.cycles.statistic import Key, Statistics, TableLine
from sdc_ui.shared.labels import Name, labels_of
from sdc_ui.shared.runs import takings


@dataclass(frozen=True)
class DomainLine:
    """One domain."""

    domain: str
    title: str

    @property
    def words(self) -> str:
        """What somebody may look for to find this domain."""
        return f"{self.domain} {self.title}"


@dataclass(frozen=True)
class Board:
    """The open cycles of all domains, the most urgent first; the published ones, the newest period
    first; domains and countries by name. `tables`: the open cycles that are tables of a statistic.
    """

    open: tuple[CycleLine, ...]
    over: tuple[CycleLine, ...]
    domains: tuple[DomainLine, ...]
    countries: tuple[Name, ...]
    tables: Mapping[Key, TableLine]


def board(engine: Engine, now: datetime, readable: Callable[[str], bool]) -> Board:
    """What the reader of the page may see. It takes a fixed number of queries, one for each domain, and one
    for each cycle in which somebody asks to take a release back.
    """
    known = records_of(engine)
    domains = sorted({each.domain for each in known if readable(each.domain)})
    settings = {domain: reader.settings_of(engine, domain) for domain in domains}
    labels = {domain: labels_of(domain, settings[domain]) for domain in domains}
    lines = []
    for each in known:
        if each.domain in labels:
            back = takings(reader.dag_runs(engine, each.domain, each.period)) if each.retraction else ()
            lines.append(line_of(each, labels[each.domain], back, now))
    statistics = Statistics({(each.domain, each.period): each for each in lines}, settings, readable)
    return _arranged(lines, {domain: labels[domain].title for domain in domains}, statistics)


def _arranged(lines: Sequence[CycleLine], titles: Mapping[str, str], statistics: Statistics) -> Board:
    """The lines in the order of the board. `titles`: of the domains, by name."""
    open_ = [line for line in lines if not line.over]
    tables = (statistics.table(line.domain, line.period) for line in open_)
    return Board(
        open=tuple(sorted(open_, key=lambda line: line.urgency)),
        over=tuple(line for line in lines if line.over),
        domains=tuple(DomainLine(domain, title) for domain, title in titles.items()),
        countries=_countries(lines),
        tables={(each.domain, each.period): each for each in tables if not each.alone},
    )


def _countries(lines: Sequence[CycleLine]) -> tuple[Name, ...]:
    """Each country once, by code."""
    names = {each.code: each for line in lines for each in line.countries}
    return tuple(names[code] for code in sorted(names))
