"""The release calendar of a domain as a timetable: one run for each reference period, when its deliveries are
due.

The data interval of a run is its reference period, which ended long before: a backfill of 2022 to 2024 makes
the runs of these periods. Without catch-up, only the last one starts of the cycles that are already due.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pendulum
from airflow.timetables.base import DagRunInfo, DataInterval, Timetable

if TYPE_CHECKING:
    from airflow.timetables.base import TimeRestriction

    from sdc_tasks.domains.calendar import Calendar


class Period(NamedTuple):
    """A reference period: its `first` instant, the instant `after` it, and the instants when its cycle
    `opens` and its release `starts`.
    """

    period: str
    first: pendulum.DateTime
    after: pendulum.DateTime
    opens: pendulum.DateTime
    starts: pendulum.DateTime

    @property
    def info(self) -> DagRunInfo:
        return DagRunInfo(run_after=self.starts, data_interval=DataInterval(self.first, self.after))


class CycleTimetable(Timetable):
    """Runs according to the release calendar. `periods` are in the order of their first instants."""

    run_ordering = ("data_interval_end", "run_after")

    def __init__(self, periods: list[Period]) -> None:
        self.periods = sorted(periods, key=lambda each: each.first)
        self.description = f"release calendar: {', '.join(each.period for each in self.periods)}"

    @classmethod
    def of(
        cls, calendar: Calendar, instant: Literal["starts", "embargo"] = "starts"
    ) -> CycleTimetable | None:
        """The timetable of a calendar, with a run for each cycle at its start, or when its embargo ends; None
        for a calendar without such an instant, where runs are triggered by hand.
        """
        periods = []
        for period in calendar.cycles:
            cycle = calendar.of(period)
            assert cycle is not None
            if starts := getattr(cycle, instant):
                periods.append(
                    Period(period, *map(_instant, (*calendar.interval(period), cycle.opens, starts)))
                )
        return cls(periods) if periods else None

    @property
    def summary(self) -> str:
        return f"calendar of {len(self.periods)} cycles"

    def next_dagrun_info(
        self, *, last_automated_data_interval: DataInterval | None, restriction: TimeRestriction
    ) -> DagRunInfo | None:
        """The cycle after the last one, within the restriction, which concerns the
        beginning of the reference period.
        """
        last = last_automated_data_interval
        behind = [each for each in self.periods if last is None or each.first > last.start]
        left = [each for each in behind if _within(restriction, each.first)]
        if not restriction.catchup:
            while len(left) > 1 and left[1].starts <= pendulum.now("UTC"):
                left.pop(0)
        return left[0].info if left else None

    def infer_manual_data_interval(self, *, run_after: pendulum.DateTime) -> DataInterval:
        """The period that begins at this instant; else the period whose cycle opened last before it."""
        exact = [each for each in self.periods if each.first == run_after]
        opened = sorted(
            (each for each in self.periods if each.opens <= run_after), key=lambda each: each.opens
        )
        return (exact or opened[-1:] or self.periods[:1])[0].info.data_interval or DataInterval.exact(
            run_after
        )

    def serialize(self) -> dict[str, Any]:
        return {
            "periods": [
                [each.period, *(instant.isoformat() for instant in each[1:])] for each in self.periods
            ]
        }

    @classmethod
    def deserialize(cls, data: dict[str, Any]) -> CycleTimetable:
        return cls(
            [
                Period(period, *(_instant(datetime.fromisoformat(each)) for each in rest))
                for period, *rest in data["periods"]
            ]
        )


def _within(restriction: TimeRestriction, instant: pendulum.DateTime) -> bool:
    earliest, latest = restriction.earliest, restriction.latest
    return (earliest is None or instant >= earliest) and (latest is None or instant <= latest)


def _instant(aware: datetime) -> pendulum.DateTime:
    return pendulum.instance(aware).in_timezone("UTC")
