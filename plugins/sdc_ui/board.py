"""The board: the cycles of all domains by urgency: what is late, what failed, and who must act."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine

from sdc_tasks.warehouse import reader
from sdc_ui.cycles.countries import OVER as NOT_OPEN
from sdc_ui.cycles.countries import Stage, by_cycle, countries, named_by, ready, tally
from sdc_ui.cycles.deadlines import Deadline, deadline
from sdc_ui.shared.labels import Labels, Name, labels_of
from sdc_ui.shared.runs import DagRun, asking, dag_run_of, ended, stopped, takings, under_way
from sdc_ui.shared.standing import ReleaseLine, Standing, cycle_lines, version_out
from sdc_ui.shared.words import counted

OVER = (Standing.PUBLISHED, Standing.UNCHANGED)


@dataclass(frozen=True)
class CycleLine:
    """One cycle. `refused` is the number of refused files, also of those without a country. `newest` is its
    newest release, None before the first; `out` is the version that the world sees; `run` is the newest run,
    `asking` the one that asks about the newest release; `takings` ask whether a release is taken back, or
    asked; `next` is the next deadline that is not met.
    """

    domain: str
    title: str
    period: str
    stages: Mapping[Stage, int]
    awaited: int
    refused: int
    newest: ReleaseLine | None
    out: ReleaseLine | None
    run: DagRun | None
    asking: DagRun | None
    takings: tuple[DagRun, ...]
    next: Deadline | None
    alerts: tuple[str, ...]
    countries: tuple[Name, ...]
    refusals: tuple[Name, ...]

    @property
    def urgency(self) -> tuple[int, float]:
        """The order on the board: late, broken, ready for somebody, waiting, going on by itself;
        among equals, what is due first.
        """
        standing = self.newest.standing if self.newest else None
        due = self.next.due.timestamp() if self.next and self.next.due else float("inf")
        if self.next is not None and self.next.late:
            return 0, due
        if self.under_way:
            return 4, due
        if (
            self.refused
            or self.stages[Stage.WAITING]
            or self.stopped
            or (standing is not None and standing.tone == "bad")
        ):
            return 1, due
        if self.ready or self.retraction or standing is Standing.APPROVAL:
            return 2, due
        return (4 if standing in (Standing.RUNNING, Standing.EMBARGOED) else 3), due

    @property
    def words(self) -> str:
        """What somebody may look for to find this cycle."""
        state = (
            self.newest.standing.value if self.newest else "running" if self.under_way else "nothing made yet"
        )
        stages = (stage.value for stage, number in self.stages.items() if number)
        return " ".join(
            (
                self.domain,
                self.period,
                self.title,
                state,
                *stages,
                *(f"{each.code} {each.told}" for each in self.countries),
            )
        )

    @property
    def under_way(self) -> bool:
        return under_way(self.newest, self.run)

    @property
    def stopped(self) -> bool:
        return stopped(self.newest, self.run)

    @property
    def ended(self) -> DagRun | None:
        return ended(self.newest, self.run)

    @property
    def ready(self) -> bool:
        return ready(self.stages, self.newest)

    @property
    def retraction(self) -> bool:
        """Whether somebody asks to take a release back."""
        return any(each.busy for each in self.takings)

    @property
    def stands(self) -> ReleaseLine | None:
        """The newest release, or the version that is out where that took its place."""
        if self.newest and self.out and self.newest.gave_way and self.newest.followed == self.out.release_id:
            return self.out
        return self.newest

    @property
    def over(self) -> bool:
        """Whether the cycle is published, with nothing left to do."""
        settled = (
            not self.retraction
            and not self.refused
            and not self.stages[Stage.RECEIVED]
            and not self.stages[Stage.WAITING]
        )
        return settled and self.stands is not None and self.stands.standing in OVER and not self.stands.newer


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
    first; domains and countries by name.
    """

    open: tuple[CycleLine, ...]
    over: tuple[CycleLine, ...]
    domains: tuple[DomainLine, ...]
    countries: tuple[Name, ...]


def board(engine: Engine, now: datetime, readable: Callable[[str], bool]) -> Board:
    """What the reader of the page may see. It takes a fixed number of queries, one for each domain, and one
    for each cycle in which somebody asks to take a release back.
    """
    cycles = {(each["domain"], each["period"]): each for each in reader.cycles(engine)}
    files = by_cycle(reader.delivery_states(engine))
    unread = by_cycle(reader.unread(engine))
    releases = by_cycle(reader.history(engine))
    alerts = by_cycle(reader.alerts(engine))
    runs = by_cycle(reader.release_runs(engine))
    known = sorted({*cycles, *files, *releases, *runs}, key=lambda each: each[1], reverse=True)
    domains = sorted({domain for domain, _ in known if readable(domain)})
    labels = {domain: labels_of(domain, reader.settings_of(engine, domain)) for domain in domains}
    shown = [key for key in known if key[0] in labels]
    back = {
        key: takings(reader.dag_runs(engine, *key))
        for key in shown
        if any(each["kind"] == "retraction" for each in alerts[key])
    }
    lines = [
        _line(
            key,
            labels[key[0]],
            cycles.get(key),
            files[key],
            unread[key],
            releases[key],
            runs[key],
            back.get(key, ()),
            alerts[key],
            now,
        )
        for key in shown
    ]
    names = {each.code: each for line in lines for each in line.countries}
    return Board(
        open=tuple(sorted((line for line in lines if not line.over), key=lambda line: line.urgency)),
        over=tuple(line for line in lines if line.over),
        domains=tuple(DomainLine(domain, labels[domain].title) for domain in domains),
        countries=tuple(names[code] for code in sorted(names)),
    )


def _line(
    key: tuple[str, str],
    labels: Labels,
    cycle: Mapping[str, Any] | None,
    files: Sequence[Mapping[str, Any]],
    unread: Sequence[Mapping[str, Any]],
    releases: Sequence[Mapping[str, Any]],
    runs: Sequence[Mapping[str, Any]],
    back: tuple[DagRun, ...],
    alerts: Sequence[Mapping[str, Any]],
    now: datetime,
) -> CycleLine:
    names = [each["file"] for each in unread]
    found = countries(cycle["areas"] if cycle else (), files, names)
    stages = tally(found)
    nameless = sum(
        each["files"]
        for each in files
        if each["country"] is None and each["lying"] and each["state"] not in NOT_OPEN
    )
    nameless += sum(named_by(name, [each.code for each in found]) is None for name in names)
    known = [dag_run_of(each) for each in runs]
    lines = cycle_lines(releases, known)
    newest = lines[0] if lines else None
    return CycleLine(
        domain=key[0],
        title=labels.title,
        period=key[1],
        stages=stages,
        awaited=sum(stages.values()),
        refused=sum(each.refused for each in found) + nameless,
        newest=newest,
        out=version_out(lines),
        run=known[0] if known else None,
        asking=asking(newest, known),
        takings=back,
        next=_next(cycle, stages, newest, now) if cycle else None,
        alerts=tuple(f"{each['said']} ({_age(each['days'])})" for each in alerts if not _on_card(each)),
        countries=tuple(labels.area(each.code) for each in sorted(found, key=lambda each: each.code)),
        refusals=tuple(labels.area(each.code) for each in found if each.stage is Stage.REFUSED),
    )


def _on_card(alert: Mapping[str, Any]) -> bool:
    """Whether the card says the same: who is asked to agree, or to take a release back."""
    return alert["kind"] == "asked" or (
        alert["kind"] == "retraction" and str(alert["subject"]).endswith(" agree")
    )


def _age(days: int) -> str:
    return "today" if not days else counted(days, "day")


def _next(
    cycle: Mapping[str, Any], stages: Mapping[Stage, int], newest: ReleaseLine | None, now: datetime
) -> Deadline | None:
    """The first deadline that is not met."""
    standing = newest.standing if newest else None
    released = newest is not None and newest.version is not None
    complete = stages[Stage.ACCEPTED] == sum(stages.values())
    protected = released or standing in (Standing.APPROVAL, Standing.UNCHANGED)
    steps = (
        ("deliveries", cycle["delivery_due"], complete or protected),
        ("protection", cycle["protection_due"], protected),
        ("approval", cycle["approval_due"], released or standing is Standing.UNCHANGED),
        (
            "goes out" if released else "due to go out",
            cycle["embargo"],
            newest is not None and (newest.visible or newest.retracted is not None),
        ),
    )
    return next(
        (deadline(name, due, None, now) for name, due, done in steps if due is not None and not done), None
    )
