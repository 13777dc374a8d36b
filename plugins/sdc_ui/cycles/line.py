"""A cycle in one line: what is late, what failed, and who must act."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine

from sdc_tasks.warehouse import reader
from sdc_ui.cycles.countries import OVER as NOT_OPEN
from sdc_ui.cycles.countries import Country, Stage, by_cycle, countries, named_by, tally
from sdc_ui.cycles.deadlines import Deadline, deadline
from sdc_ui.cycles.state import CycleState
from sdc_ui.shared.labels import Labels, Name
from sdc_ui.shared.runs import DagRun, asking, dag_run_of
from sdc_ui.shared.standing import ReleaseLine, Standing, cycle_lines, version_out
from sdc_ui.shared.words import counted

OVER = (Standing.PUBLISHED, Standing.UNCHANGED)


@dataclass(frozen=True)
class CycleLine(CycleState):
    """One cycle. `refused` is the number of refused files, also of those without a country. `newest` is its
    newest release, None before the first; `out` is the version that the world sees; `run` is the newest run,
    `asking` the one that asks about the newest release; `takings` ask whether a release is taken back, or
    asked; `due` is the deadline of the deliveries, met or not, `embargo` when it may go out, `next` the next
    deadline that is not met. `delivered`: the awaited countries with a file that counts; `unjudged`: whether
    a file is not judged yet.
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
    delivered: int
    unjudged: bool
    due: Deadline | None
    embargo: datetime | None
    next: Deadline | None
    alerts: tuple[str, ...]
    countries: tuple[Name, ...]
    refusals: tuple[Name, ...]

    @property
    def urgency(self) -> tuple[int, float]:
        """The order on the board: late, broken, ready for somebody, waiting, going on by itself;
        among equals, what is due first.
        """
        standing = self._standing
        due = self.next.due.timestamp() if self.next and self.next.due else float("inf")
        if self.next is not None and self.next.late:
            return 0, due
        if self.under_way:
            return 4, due
        if self._broken:
            return 1, due
        if self.ready or self.retraction or standing is Standing.APPROVAL:
            return 2, due
        return (4 if standing in (Standing.RUNNING, Standing.EMBARGOED) else 3), due

    @property
    def _broken(self) -> bool:
        """Whether nothing goes on before somebody acts on what was refused, waits, stopped or went wrong."""
        bad = self._standing is not None and self._standing.tone == "bad"
        return bool(self.refused or self.stages[Stage.WAITING] or self.stopped or bad)

    @property
    def _standing(self) -> Standing | None:
        return self.newest.standing if self.newest else None

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
    def went_out(self) -> datetime | None:
        """When the version that is out was released, or the newest one, where it was retracted since."""
        return next(
            (each.released_at for each in (self.out, self.newest) if each and each.version is not None), None
        )

    @property
    def undecided(self) -> bool:
        """Whether the next run decides anew what to publish."""
        return self.newest is None or self.newest.newer or self.newest.standing is Standing.WAITING

    @property
    def settled(self) -> bool:
        """Whether its newest release is out, or was, or repeats what is out, and is made of what counts."""
        newest = self.stands
        return (
            newest is not None
            and (newest.version is not None or newest.standing is Standing.UNCHANGED)
            and not newest.newer
        )

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
class Records:
    """What the warehouse holds of one cycle, in the order of its queries."""

    domain: str
    period: str
    cycle: Mapping[str, Any] | None
    files: Sequence[Mapping[str, Any]]
    unread: Sequence[Mapping[str, Any]]
    releases: Sequence[Mapping[str, Any]]
    runs: Sequence[Mapping[str, Any]]
    alerts: Sequence[Mapping[str, Any]]

    @property
    def retraction(self) -> bool:
        """Whether an alert says that somebody asks to take a release back."""
        return any(each["kind"] == "retraction" for each in self.alerts)


def records_of(engine: Engine) -> list[Records]:
    """The records of every cycle, the newest period first."""
    cycles = {(each["domain"], each["period"]): each for each in reader.cycles(engine)}
    files = by_cycle(reader.delivery_states(engine))
    unread = by_cycle(reader.unread(engine))
    releases = by_cycle(reader.history(engine))
    alerts = by_cycle(reader.alerts(engine))
    runs = by_cycle(reader.release_runs(engine))
    known = sorted({*cycles, *files, *releases, *runs}, key=lambda each: each[1], reverse=True)
    return [
        Records(
            domain=key[0],
            period=key[1],
            cycle=cycles.get(key),
            files=files[key],
            unread=unread[key],
            releases=releases[key],
            runs=runs[key],
            alerts=alerts[key],
        )
        for key in known
    ]


def line_of(records: Records, labels: Labels, back: tuple[DagRun, ...], now: datetime) -> CycleLine:
    """The line of a cycle. `back`: its runs that take releases back, where somebody asks to."""
    cycle = records.cycle
    names = [each["file"] for each in records.unread]
    found = countries(cycle["areas"] if cycle else (), records.files, names)
    stages = tally(found)
    nameless = _nameless(records, [each.code for each in found])
    known = [dag_run_of(each) for each in records.runs]
    lines = cycle_lines(records.releases, known)
    newest = next(iter(lines), None)
    dates = _dates(cycle, stages, newest, now)
    return CycleLine(
        domain=records.domain,
        title=labels.title,
        period=records.period,
        stages=stages,
        awaited=sum(stages.values()),
        refused=sum(each.refused for each in found) + nameless,
        newest=newest,
        out=version_out(lines),
        run=next(iter(known), None),
        asking=asking(newest, known),
        takings=back,
        delivered=sum(map(_delivered, found)),
        unjudged=any(each["state"] == "received" for each in records.files),
        due=dates.due,
        embargo=dates.embargo,
        next=dates.next,
        alerts=_told_alerts(records.alerts),
        countries=tuple(labels.area(each.code) for each in sorted(found, key=lambda each: each.code)),
        refusals=tuple(labels.area(each.code) for each in found if each.stage is Stage.REFUSED),
    )


@dataclass(frozen=True)
class _Dates:
    """What the calendar says of a cycle, as `CycleLine` has it; nothing where it has no dates."""

    due: Deadline | None = None
    embargo: datetime | None = None
    next: Deadline | None = None


def _dates(
    cycle: Mapping[str, Any] | None,
    stages: Mapping[Stage, int],
    newest: ReleaseLine | None,
    now: datetime,
) -> _Dates:
    if not cycle:
        return _Dates()
    due = deadline("deliveries", cycle["delivery_due"], None, now)
    return _Dates(due, cycle["embargo"], _next(cycle, stages, newest, now))


def _delivered(country: Country) -> bool:
    """Whether an awaited country has a delivery that counts."""
    return country.awaited and (country.counts or country.stage is Stage.ACCEPTED)


def _nameless(records: Records, codes: Sequence[str]) -> int:
    """The number of files in the inbox of which nobody knows the country, read or not."""
    lying = [each for each in records.files if each["lying"] and each["state"] not in NOT_OPEN]
    read = sum(int(each["files"]) for each in lying if each["country"] is None)
    return read + sum(named_by(each["file"], codes) is None for each in records.unread)


def _told_alerts(alerts: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(f"{each['said']} ({_age(each['days'])})" for each in alerts if not _on_card(each))


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
            newest is not None and newest.seen,
        ),
    )
    return next(
        (deadline(name, due, None, now) for name, due, done in steps if due is not None and not done), None
    )
