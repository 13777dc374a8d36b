"""Maintenance by Airflow: what is overdue is purged, and a warehouse that is not sound turns the run red."""

from __future__ import annotations

from typing import Any

from sqlalchemy import text

from sdc_tasks.warehouse.database.engine import writing
from support.dags.airflow_home import PLAIN
from support.dags.in_process import Flight


def test_a_sound_warehouse_is_green_and_one_that_was_tampered_with_is_red(
    bag: Any, deliver: Any, warehouse_of_run: Any
) -> None:
    for country in ("AT", "BE"):
        deliver(PLAIN, country)
    assert Flight.start(bag, f"eu_release_{PLAIN}", period="2024").state == "success"
    run = Flight.start(bag, "maintenance")
    assert run.tasks == {"purge": "success", "checks": "success", "log_chain": "success"}
    with writing(warehouse_of_run) as connection:
        connection.execute(text("DROP TRIGGER log_update"))
        connection.execute(text("UPDATE log SET actor = 'nobody' WHERE number = 1"))
    run = Flight.start(bag, "maintenance")
    assert run.in_state("failed") == {"log_chain"}
    assert run.state == "failed"
