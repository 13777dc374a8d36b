"""The periods in which a composition or a country belongs to a domain, so that one file serves many years.

`from` and `until` are reference periods as in SDMX (2013, 2020-Q1), both included; a
bound that is left out is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Annotated, Any

from pydantic import BeforeValidator

from sdc_tasks.model.time.periods import bounds


def _text(bound: Any) -> Any:
    """YAML reads 2013 as a number."""
    return str(bound) if isinstance(bound, int) and not isinstance(bound, bool) else bound


Bound = Annotated[str, BeforeValidator(_text)]


@dataclass(frozen=True)
class Span:
    """Days from `first` to the day before `after`."""

    first: date = date.min
    after: date = date.max

    @classmethod
    def of(cls, since: str | None, until: str | None) -> Span:
        """From the first day of a period to the last of another. Raises ValueError where one is no
        period, or they are in no order.
        """
        span = cls(bounds(since)[0] if since else date.min, bounds(until)[1] if until else date.max)
        if span.first >= span.after:
            raise ValueError(f"from {since} is after until {until}")
        return span

    @property
    def endless(self) -> bool:
        return self == Span()

    def covers(self, other: Span) -> bool:
        return self.first <= other.first and other.after <= self.after

    def meets(self, other: Span) -> bool:
        return self.first < other.after and other.first < self.after

    def __str__(self) -> str:
        begins = "ever" if self.first == date.min else f"{self.first}"
        return f"from {begins} on" if self.after == date.max else f"from {begins} until before {self.after}"


def stretches(spans: Iterable[Span]) -> list[Span]:
    """All of time, cut wherever one of the spans begins or ends."""
    cuts = {date.min, date.max}.union(*((span.first, span.after) for span in spans))
    return [Span(first, after) for first, after in pairwise(sorted(cuts))]
