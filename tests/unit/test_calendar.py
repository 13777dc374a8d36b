"""The release calendar: which instants are meant, and what cannot be meant."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import yaml

from sdc_tasks.domains import load_domain
from sdc_tasks.domains.schema import Domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.time.periods import bounds, canonical
from support.deliveries import small_domain

LUXEMBOURG = ZoneInfo("Europe/Luxembourg")
CYCLE = {
    "opens": "2026-03-01T06:00",
    "deliveries": "2026-03-31T18:00",
    "approval": "2026-04-28T18:00",
    "embargo": "2026-04-30T11:00",
}


@pytest.fixture
def domain(tmp_path: Path) -> Any:
    """Reads the small domain with this calendar."""

    def read(**calendar: Any) -> Domain:
        small_domain(tmp_path)
        file = tmp_path / "small.yaml"
        settings = yaml.safe_load(file.read_text("utf-8"))
        file.write_text(yaml.safe_dump({**settings, "calendar": calendar}, sort_keys=False), "utf-8")
        return load_domain(file)

    return read


def test_instants_are_local_time_of_the_calendar(domain):
    found = domain(time_zone="Europe/Luxembourg", cycles={"2024": CYCLE}).calendar.of("2024")
    assert found.opens == datetime(2026, 3, 1, 5, tzinfo=UTC)  # winter
    assert found.starts == found.deliveries == datetime(2026, 3, 31, 16, tzinfo=UTC)  # summer
    assert found.embargo == datetime(2026, 4, 30, 9, tzinfo=UTC)
    assert found.protection is None


def test_an_instant_may_have_an_offset_of_its_own(domain):
    found = domain(
        time_zone="Europe/Luxembourg", cycles={"2024": {"opens": "2026-03-01T06:00-05:00"}}
    ).calendar.of("2024")
    assert found.opens == found.starts == datetime(2026, 3, 1, 11, tzinfo=UTC)


def test_the_reference_period_is_of_the_time_zone(domain):
    calendar = domain(time_zone="Europe/Luxembourg", cycles={"2024": CYCLE}).calendar
    assert calendar.interval("2024") == (
        datetime(2024, 1, 1, tzinfo=LUXEMBOURG),
        datetime(2025, 1, 1, tzinfo=LUXEMBOURG),
    )
    assert calendar.of("2023") is None


@pytest.mark.parametrize(
    ("period", "first", "after"),
    [
        ("2024", date(2024, 1, 1), date(2025, 1, 1)),
        ("2024-A1", date(2024, 1, 1), date(2025, 1, 1)),
        ("2024-S2", date(2024, 7, 1), date(2025, 1, 1)),
        ("2024-T2", date(2024, 5, 1), date(2024, 9, 1)),
        ("2024-Q4", date(2024, 10, 1), date(2025, 1, 1)),
        ("2024-M12", date(2024, 12, 1), date(2025, 1, 1)),
        ("2024-02", date(2024, 2, 1), date(2024, 3, 1)),
        ("2024-W01", date(2024, 1, 1), date(2024, 1, 8)),
        ("2020-W53", date(2020, 12, 28), date(2021, 1, 4)),
    ],
)
def test_reference_periods_are_those_of_sdmx(period, first, after):
    assert bounds(period) == (first, after)


@pytest.mark.parametrize(
    ("period", "name"),
    [
        ("2024", "2024"),
        ("2024-A1", "2024"),
        ("\uff12\uff10\uff12\uff14", "2024"),
        ("2024-S2", "2024-S2"),
        ("2024-Q04", "2024-Q4"),
        ("2024-M7", "2024-07"),
        ("2024-7", "2024-07"),
        ("2024-07", "2024-07"),
        ("2020-W53", "2020-W53"),
    ],
)
def test_a_period_has_one_name(period, name):
    assert canonical(period) == name
    assert bounds(period) == bounds(name)


@pytest.mark.parametrize(
    "period",
    ["24", "2024-Q5", "2024-Q0", "2024-13", "2024-S3", "2024-W54", "2024-X1", "2024-Q", "2024-A2", "spring"],
)
def test_what_is_no_period_is_refused(period):
    with pytest.raises(ValueError, match="period"):
        bounds(period)


@pytest.mark.parametrize(
    ("calendar", "named"),
    [
        (
            {"time_zone": "Europe/Luxembourg", "cycles": {"2024": {"opens": "2026-10-25T02:30:00"}}},
            "give an offset",
        ),  # there twice
        (
            {"time_zone": "Europe/Luxembourg", "cycles": {"2024": {"opens": "2026-03-29T02:30:00"}}},
            "give an offset",
        ),  # not there at all
        ({"time_zone": "Europe/Atlantis"}, "Europe/Atlantis"),
        (
            {"cycles": {"2024": {**CYCLE, "deliveries": "2026-02-01T00:00"}}},
            "deliveries of 2024 is before opens",
        ),
        (
            {"cycles": {"2024": {**CYCLE, "embargo": "2026-04-28T17:00"}}},
            "embargo of 2024 is before approval",
        ),
        ({"cycles": {"2024": {"deliveries": "2026-02-01T00:00"}}}, "opens"),
        ({"cycles": {"2024": {**CYCLE, "emargo": "2026-02-01T00:00"}}}, "emargo"),
        ({"cycles": {"2024-Q7": CYCLE}}, "2024-Q7"),
        ({"cycles": {"2024-M07": CYCLE}}, "period 2024-M07 is written 2024-07 here"),
    ],
)
def test_a_calendar_that_cannot_be_meant_is_refused(domain, calendar, named):
    with pytest.raises(InvalidInput, match=named):
        domain(**calendar)


def test_next_years_dates_make_no_other_domain(domain):
    """A release of 2024 stays the same release when the cycle of 2025 is added."""
    before = domain(cycles={"2024": CYCLE})
    after = domain(cycles={"2024": CYCLE, "2025": {"opens": "2027-03-01T06:00"}})
    assert (before.digest, before.settings) == (after.digest, after.settings)
    assert "calendar" not in before.settings


def test_settings_hold_the_code_lists(domain):
    settings = domain().settings
    assert settings["codelists"]["SIZECLASS"] == [["_T", "", "_T"], ["S", "_T", "S"], ["L", "_T", "L"]]
    assert set(settings["codelists"]) == {"REF_AREA", "ACTIVITY", "SIZECLASS"}
