"""Reference periods, written as in SDMX: 2024, 2024-S1, 2024-Q3, 2024-M07 or 2024-07, 2024-W31."""

from __future__ import annotations

import re
from datetime import date, timedelta
from enum import StrEnum

MONTHS = {"S": 6, "T": 4, "Q": 3, "M": 1}  # SDMX: half-years, four-month periods, quarters, months
WRITTEN = re.compile(r"(\d{4})(?:-(?:A1|([STQM])?(\d{1,2})|W(\d{2})))?")


class PeriodRule(StrEnum):
    """What the figure of a period is to those of the periods within it: their sum (a flow), their mean (a
    stock), or nothing that anybody could compute.
    """

    SUM = "sum"
    MEAN = "mean"
    NONE = "none"


def bounds(period: str) -> tuple[date, date]:
    """The first day of a reference period, and the day after its last. Raises ValueError for what is no
    period.
    """
    found = WRITTEN.fullmatch(period)
    if found is None:
        raise ValueError(
            f"{period} is not a reference period; write it such as 2024, 2024-Q3, 2024-07, 2024-W31"
        )
    year, letter, number, week = found.groups()
    try:
        if week is not None:
            monday = date.fromisocalendar(int(year), int(week), 1)
            return monday, monday + timedelta(days=7)
        if number is None:
            return date(int(year), 1, 1), date(int(year) + 1, 1, 1)
        months = MONTHS[letter or "M"]
        first = (int(number) - 1) * months
        begins = date(int(year), first + 1, 1)
        return begins, date(int(year) + (first + months) // 12, (first + months) % 12 + 1, 1)
    except (ValueError, OverflowError):
        raise ValueError(f"period {period} is not in any calendar") from None


def overlap(one: str, other: str) -> bool:
    """Have two reference periods a day in common? Raises ValueError as `bounds`."""
    (first, after), (begins, ends) = bounds(one), bounds(other)
    return first < ends and begins < after


def holds(longer: str, shorter: str) -> bool:
    """Does each period of one SDMX frequency (A, S, T, Q or M) hold several whole ones of another? Never for
    weeks.
    """
    months, within = (12 if each == "A" else MONTHS.get(each, 0) for each in (longer, shorter))
    return months > within > 0 and months % within == 0


def around(period: str, frequency: str) -> str | None:
    """The period of an SDMX frequency (A, S, T, Q or M) that holds a shorter one; None where none does, as
    for a week of two years. Raises ValueError as `bounds`.
    """
    first, after = bounds(period)
    months = 12 if frequency == "A" else MONTHS[frequency]
    number = (first.month - 1) // months + 1
    found = canonical(f"{first.year:04}" if frequency == "A" else f"{first.year:04}-{frequency}{number}")
    begins, ends = bounds(found)
    return found if begins <= first and after <= ends and (begins, ends) != (first, after) else None


def months_of(period: str) -> int:
    """The length of a reference period in months; 0 for a week. Raises ValueError as `bounds`."""
    first, after = bounds(period)
    return 12 * (after.year - first.year) + after.month - first.month if after.day == first.day == 1 else 0


def canonical(period: str) -> str:
    """The one spelling of a reference period by which releases are known: 2024 and not
    2024-A1, 2024-07 and not 2024-M07.

    Raises ValueError as `bounds`.
    """
    bounds(period)
    found = WRITTEN.fullmatch(period)
    assert found is not None
    letter, (year, number, week) = found[2], (int(each or 0) for each in found.group(1, 3, 4))
    part = (
        f"-W{week:02}"
        if week
        else f"-{letter}{number}"
        if letter not in (None, "M")
        else f"-{number:02}"
        if number
        else ""
    )
    return f"{year:04}{part}"


def reference(period: str) -> tuple[date, date]:
    """`bounds` of a period that releases or cycles are known by. Raises ValueError for another spelling than
    its `canonical` one, under which nobody would find what is out of it, nor its embargo.
    """
    if (name := canonical(period)) != period:
        raise ValueError(
            f"period {period} is written {name} here: a period has one name. Remedy: write {name}"
        )
    return bounds(period)
