"""A flag with an end: hidden without one, public where no release is out before it, and refused otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdc_tasks.domains import Domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake import Delivery, read_bytes
from sdc_tasks.model.findings import Severity
from support.deliveries import PERIOD, SECRET, codes, sdmx_1, small_domain

EMBARGO = "2026-03-01T12:00:00+01:00"
CALENDAR = f"calendar: {{cycles: {{'2024': {{opens: 2026-01-01T00:00:00Z, embargo: {EMBARGO}}}}}}}\n"
FLAG = "  E: {role: primary, rule: {kind: percent, percent: 10}, ends: EMBARGO_TIME}\n"


def domain(folder: Path, calendar: str = CALENDAR) -> Domain:
    return small_domain(folder, "flags:\n", f"{calendar}flags:\n{FLAG}")


def reads(of: Domain, end: str | None) -> Delivery:
    """The table in which the primary cell has flag E, and this end."""
    text = sdmx_1().replace(",A,A,,,", ",A,E,,,")
    if end is not None:
        head, *records = text.splitlines()
        records = [f"{each},{end if SECRET + ',' in each and ',E,' in each else ''}" for each in records]
        text = "\n".join([f"{head},EMBARGO_TIME", *records, ""])
    return read_bytes(text.encode(), "AT_2024.csv", of, PERIOD)


def flag_of(found: Delivery, of: Domain) -> str:
    assert found.table is not None
    return str(found.table.flag[of.space.national_keys.index(("TURNOVER", "D", "L"))])


@pytest.mark.parametrize("end", [None, "", "#N/A"])
def test_without_an_end_the_cell_stays_hidden(tmp_path, end):
    of = domain(tmp_path)
    found = reads(of, end)
    assert codes(found) == []
    assert flag_of(found, of) == "E"


@pytest.mark.parametrize(
    "end", ["2026-03-01T11:00:00Z", "2026-03-01T12:00+01:00", "2024-12-31T23:59:59-05:00"]
)
def test_a_cell_is_public_whose_flag_ends_before_anybody_sees_the_release(tmp_path, end):
    of = domain(tmp_path)
    found = reads(of, end)
    assert codes(found) == [("SDC/embargo", 10, None)]
    assert found.findings[0].severity is Severity.WARNING
    assert flag_of(found, of) == "F"


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (
            "2026-03-01T11:00:01Z",
            "E ends when everybody has the release: the release is out at 2026-03-01T12:00:00",
        ),
        ("2026-03-01", "EMBARGO_TIME is no instant with its offset"),
        ("2026-03-01T11:00:00", "EMBARGO_TIME is no instant with its offset"),
        ("2026-02-30T11:00:00Z", "EMBARGO_TIME is no instant with its offset"),
        ("soon", "EMBARGO_TIME is no instant with its offset"),
    ],
)
def test_another_end_refuses_the_delivery(tmp_path, end, said):
    found = reads(domain(tmp_path), end)
    assert codes(found) == [("SDC/embargo", 10, None)]
    assert said in found.findings[0].message
    assert not found.accepted


@pytest.mark.parametrize(
    "calendar",
    ["", "calendar: {cycles: {'2024': {opens: 2026-01-01T00:00:00Z}}}\n", CALENDAR.replace("2024", "2023")],
)
def test_an_end_is_refused_where_the_release_has_no_embargo(tmp_path, calendar):
    found = reads(domain(tmp_path, calendar), "2020-01-01T00:00:00Z")
    assert codes(found) == [("SDC/embargo", 10, None)]
    assert "the release has no embargo in the calendar of the domain" in found.findings[0].message


def test_an_end_beside_another_flag_says_nothing(tmp_path):
    of = domain(tmp_path)
    head, *records = sdmx_1().splitlines()
    text = "\n".join([f"{head},EMBARGO_TIME", *(f"{each},2030-01-01T00:00:00Z" for each in records), ""])
    assert codes(read_bytes(text.encode(), "AT_2024.csv", of, PERIOD)) == []


def test_a_flag_that_is_not_primary_has_no_end(tmp_path):
    with pytest.raises(InvalidInput, match="ends: a primary flag alone may have an end"):
        small_domain(tmp_path, "D: {role: secondary}", "D: {role: secondary, ends: EMBARGO_TIME}")


def test_a_flag_without_an_end_leaves_the_digest_of_a_domain_alone(tmp_path):
    plain = small_domain(tmp_path)
    assert "ends" not in str(plain.settings["flags"])
    assert domain(tmp_path, "").settings["flags"]["E"]["ends"] == "EMBARGO_TIME"
