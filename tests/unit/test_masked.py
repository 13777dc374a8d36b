"""A protected table that may leave the house: equal tables give equal bytes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest

import sdc_tasks as sdc
from sdc_tasks.api import SuppressResult
from sdc_tasks.errors import InvalidInput

FLOW = "OFFICE:TOWNS(1.0)"


@pytest.fixture
def found() -> SuppressResult:
    frame = pd.DataFrame(
        {
            "TOWN": [*"NNSSWW"],
            "JOB": [*"ababab"],
            "VALUE": [20, 24, 38, 39, 40, 41],
            "SECRET": [0, 0, 0, 1, 0, 0],
            "LEVEL": 5,
        }
    )
    return sdc.suppress(frame, ["TOWN", "JOB"], primary="SECRET", level="LEVEL", progress=False)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.xml", "t.json"])
def test_a_table_is_written_alike_at_any_time(found, name, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    class Later(datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2031, 5, 4, tzinfo=tz)

    flow = FLOW if name in ("t.xml", "t.json") else None
    before = found.published(tmp_path / name, flow).read_bytes()
    monkeypatch.setattr("sdc_tasks.api.masked.datetime", Later)
    assert found.published(tmp_path / f"later_{name}", flow).read_bytes() == before


def test_a_message_says_the_time_that_it_is_told(found, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    when = datetime(2026, 11, 30, 12, tzinfo=UTC)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(when.timestamp())))
    written = found.published(tmp_path / "t.xml", FLOW).read_text()
    assert "<mes:Prepared>2026-11-30T12:00:00Z</mes:Prepared>" in written
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(InvalidInput, match=r"SOURCE_DATE_EPOCH is 'yesterday'. Remedy: seconds since 1970"):
        found.published(tmp_path / "t.xml", FLOW)
