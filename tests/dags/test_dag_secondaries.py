"""The receiver sets secondaries, through the DAG: a task for each country, what travels between
tasks, and what a red one says.
"""

from __future__ import annotations

from typing import Any

import pytest

from sdc_tasks.warehouse import reader
from support.dags.airflow_home import HOME, RECEIVER
from support.desk import FREE

BARE = """
            _T         S         L
    TOTAL   1500000 F  750000 F  750000 F
    C       750000 F   251409 F  498591 F
    D       750000 F   498591 F  251409 A
"""
INBOX = HOME / "inbox" / RECEIVER / "2024"


def test_each_country_is_looked_at_and_told(release: Any, deliver: Any, warehouse_of_run: Any) -> None:
    deliver(RECEIVER, "AT", BARE)
    deliver(RECEIVER, "BE", FREE)
    run = release(RECEIVER, INBOX)
    assert run.state == "success"
    assert {"collect", "suppress AT", "suppress BE", "assemble", "released"} <= set(run.tasks)
    assert sorted(file.name for file in (run.out / "secondaries").iterdir()) == ["AT.csv"]
    told = {
        each["country"]
        for each in reader.findings(warehouse_of_run, RECEIVER, "2024")
        if each["code"] == "SDC/secondary"
    }
    assert told == {"AT"}
    assert not [
        sent for sent in run.xcoms for secret in ("251409", "498591", "TURNOVER") if secret in repr(sent)
    ], "nor which cells"

    again = release(RECEIVER, INBOX)
    assert again.state == "success"
    assert len(reader.releases(warehouse_of_run)) == 1


def test_a_table_that_cannot_be_protected_stops_the_release_and_names_the_cell(
    release: Any, deliver: Any, warehouse_of_run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here nothing at all may be hidden."""
    from sdc_tasks.methods.receiver import secondaries

    kept = secondaries.may_hide
    monkeypatch.setattr(secondaries, "may_hide", lambda table, profiles: kept(table, profiles) & False)
    deliver(RECEIVER, "AT", BARE)
    deliver(RECEIVER, "BE", FREE)
    run = release(RECEIVER, INBOX)
    assert (run.state, run.failed()) == ("failed", {"suppress AT"})
    assert run.tasks["suppress BE"] == "success"
    assert run.tasks["assemble"] == "upstream_failed"
    (told,) = [
        each
        for each in reader.findings(warehouse_of_run, RECEIVER, "2024")
        if each["code"] == "SDC/unprotectable"
    ]
    assert "AT.TURNOVER.D.L" in told["message"]
    assert "Remedy" in told["message"]
    assert reader.releases(warehouse_of_run) == []
