"""The release calendar of a domain: for each reference period the instants that its cycle goes by.

opens ≤ deliveries ≤ protection ≤ approval ≤ embargo. From `opens` on deliveries are taken in. They
must be there at `deliveries`, the table must be protected at `protection` and agreed to at `approval`;
the world may see it from `embargo` on. A release starts by itself when the deliveries are due; without
that instant, when the cycle opens.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sdc_tasks.model.time.periods import bounds, reference

PERIOD = r"^\d{4}([-A-Z0-9]{0,8})$(?!\n)"  # also in JavaScript


class Cycle(BaseModel):
    """The instants of one cycle, all but the first optional; as local time of the calendar,
    or with an offset of their own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    opens: datetime = Field(description="the cycle begins: deliveries are taken in")
    deliveries: datetime | None = Field(
        default=None, description="deliveries must be there; a release starts by itself"
    )
    protection: datetime | None = Field(default=None, description="the table must be protected")
    approval: datetime | None = Field(default=None, description="those who approve must have agreed")
    embargo: datetime | None = Field(default=None, description="before it nobody outside sees the release")

    @property
    def starts(self) -> datetime:
        """When a release of the period starts by itself."""
        return self.deliveries or self.opens


class Calendar(BaseModel):
    """period → cycle. Instants without an offset are local time of `time_zone`; `of` returns them aware."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    time_zone: str = Field(
        default="UTC", description="of instants without an offset, such as Europe/Luxembourg"
    )
    priority: int = Field(
        default=1,
        ge=1,
        le=1000,
        description="of tasks that wait for workers, those of the larger number go first",
    )
    cycles: dict[str, Cycle] = Field(
        default_factory=dict, description="reference period, such as 2024 or 2024-Q3, to its instants"
    )

    @model_validator(mode="after")
    def _instants(self) -> Calendar:
        try:
            zone = ZoneInfo(self.time_zone)
        except (ZoneInfoNotFoundError, ValueError):
            raise ValueError(f"time_zone: {self.time_zone} is none; such as Europe/Luxembourg") from None
        for period, cycle in self.cycles.items():
            reference(period)
            for name, local in _given(cycle).items():
                if local.tzinfo is None and _clocks_change(local, zone):
                    raise ValueError(
                        f"{name} of {period}: the clocks of {self.time_zone} change then; give an offset, "
                        f"such as +01:00"
                    )
            for (before, first), (after, second) in pairwise(_given(self._aware(cycle)).items()):
                if first > second:
                    raise ValueError(f"{after} of {period} is before {before}")
        if len({bounds(period)[0] for period in self.cycles}) < len(self.cycles):
            raise ValueError("two periods begin on the same day: their runs could not be told apart")
        return self

    def of(self, period: str) -> Cycle | None:
        """The cycle of a period, its instants aware; None where the calendar does not know the period."""
        cycle = self.cycles.get(period)
        return None if cycle is None else self._aware(cycle)

    def period_from(self, first: datetime) -> str | None:
        """The reference period that begins at this instant; None where the calendar knows none."""
        return next((period for period in self.cycles if self.interval(period)[0] == first), None)

    def interval(self, period: str) -> tuple[datetime, datetime]:
        """The reference period as instants: from its first day to the day after its
        last, at midnight of `time_zone`.
        """
        first, after = (
            datetime(each.year, each.month, each.day, tzinfo=ZoneInfo(self.time_zone))
            for each in bounds(period)
        )
        return first, after

    def _aware(self, cycle: Cycle) -> Cycle:
        zone = ZoneInfo(self.time_zone)
        local = {
            name: instant.replace(tzinfo=zone)
            for name, instant in _given(cycle).items()
            if instant.tzinfo is None
        }
        return cycle.model_copy(update=local)


def _clocks_change(local: datetime, zone: ZoneInfo) -> bool:
    """Whether a local time is two instants, or none."""
    return len({local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)}) > 1


def _given(cycle: Cycle) -> dict[str, datetime]:
    """The instants that are given, in their order."""
    return {name: instant for name in Cycle.model_fields if (instant := getattr(cycle, name)) is not None}
