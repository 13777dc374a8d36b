"""The release calendar as a timetable: which run comes next, what a backfill makes, and that
three periods become three releases.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from sdc_tasks.domains.calendar import Calendar
from sdc_tasks.warehouse import reader
from support.dags.airflow_home import CYCLES, PERIODS, PLAIN
from support.dags.in_process import Flight, synced
from support.deliveries import HEALTHY

LUXEMBOURG = ZoneInfo("Europe/Luxembourg")
DAG = f"eu_release_{CYCLES}"
OTHER = (
    HEALTHY.replace("749391", "749392")
    .replace("700 ", "701 ")
    .replace("300 D", "301 D")
    .replace("400 F", "401 F")
)


def table(*days: int) -> Any:
    """A calendar of the years from 2001 on, whose deliveries are due this many days from now."""
    from sdc_timetable import CycleTimetable

    now = datetime.now(UTC)
    cycles = {
        str(2001 + i): {
            "opens": now + timedelta(days=day) - timedelta(hours=1),
            "deliveries": now + timedelta(days=day),
        }
        for i, day in enumerate(days)
    }
    return CycleTimetable.of(Calendar.model_validate({"cycles": cycles}))


def following(timetable: Any, last: int | None = None, catchup: bool = False) -> str | None:
    """The reference period of the run after that of year `last`."""
    from airflow.timetables.base import DataInterval, TimeRestriction

    before = (
        None
        if last is None
        else DataInterval(datetime(last, 1, 1, tzinfo=UTC), datetime(last + 1, 1, 1, tzinfo=UTC))
    )
    info = timetable.next_dagrun_info(
        last_automated_data_interval=before, restriction=TimeRestriction(None, None, catchup)
    )
    return None if info is None else str(info.data_interval.start.year)


def test_the_next_run_is_that_of_the_next_cycle(bag: Any) -> None:
    assert following(table(1, 30)) == "2001"
    assert following(table(1, 30), last=2001) == "2002"
    assert following(table(1, 30), last=2002) is None


def test_of_the_cycles_that_were_missed_only_the_last_is_run(bag: Any) -> None:
    missed = table(-400, -40, 300)
    assert following(missed) == "2002"
    assert following(missed, last=2002) == "2003"
    assert following(missed, catchup=True) == "2001"


def test_a_run_starts_when_deliveries_are_due_and_is_of_its_reference_period(bag: Any) -> None:
    first = next(iter(bag.dags[DAG].timetable.periods))
    assert first.info.run_after == datetime(2023, 4, 1, 6, tzinfo=LUXEMBOURG)
    assert first.info.data_interval == (
        datetime(2022, 1, 1, tzinfo=LUXEMBOURG),
        datetime(2023, 1, 1, tzinfo=LUXEMBOURG),
    )
    assert first.info.logical_date == datetime(2022, 1, 1, tzinfo=LUXEMBOURG)


def test_the_table_is_written_at_the_instant_when_the_embargo_ends(bag: Any) -> None:
    first = next(iter(bag.dags[f"after_embargo_{CYCLES}"].timetable.periods))
    assert first.info.run_after == datetime(2099, 1, 1, 11, tzinfo=LUXEMBOURG)
    assert first.info.data_interval == (
        datetime(2022, 1, 1, tzinfo=LUXEMBOURG),
        datetime(2023, 1, 1, tzinfo=LUXEMBOURG),
    )
    assert not bag.dags[f"after_embargo_{PLAIN}"].timetable.can_be_scheduled, "a domain without an embargo"


def test_a_run_by_hand_is_of_the_cycle_that_is_open(bag: Any) -> None:
    import pendulum

    timetable = bag.dags[DAG].timetable
    for at, year in (
        (datetime(2024, 7, 1, tzinfo=UTC), 2023),
        (datetime(2023, 1, 1, tzinfo=LUXEMBOURG), 2023),
        (datetime(2020, 1, 1, tzinfo=UTC), 2022),
    ):
        found = timetable.infer_manual_data_interval(run_after=pendulum.instance(at))
        assert found.start == datetime(year, 1, 1, tzinfo=LUXEMBOURG)


def test_it_comes_back_from_the_database_as_it_was(bag: Any) -> None:
    from airflow.serialization.serialized_objects import DagSerialization

    timetable = bag.dags[DAG].timetable
    again = DagSerialization.deserialize_dag(DagSerialization.serialize_dag(bag.dags[DAG])).timetable
    assert (again.periods, again.summary, again.description) == (
        timetable.periods,
        timetable.summary,
        timetable.description,
    )
    assert bag.dags["eu_release_sbs"].timetable.can_be_scheduled is False, (
        "without a calendar it is run by hand"
    )


def backfilled(bag: Any, reprocess: str) -> list[Flight]:
    """The runs that a backfill of all three years makes, flown one after the other."""
    from airflow.models.backfill import BackfillDagRun, ReprocessBehavior, _create_backfill
    from airflow.models.dagrun import DagRun
    from airflow.utils.session import create_session

    with create_session() as session:
        synced(bag, session)
    made = _create_backfill(
        dag_id=DAG,
        from_date=datetime(2021, 6, 1, tzinfo=UTC),
        to_date=datetime(2025, 1, 1, tzinfo=UTC),
        max_active_runs=1,
        reverse=False,
        dag_run_conf=None,
        triggering_user_name="anna",
        reprocess_behavior=ReprocessBehavior(reprocess),
    )
    with create_session() as session:
        rows = (
            session.query(BackfillDagRun).filter_by(backfill_id=made.id).order_by(BackfillDagRun.sort_ordinal)
        )
        runs = [session.get(DagRun, row.dag_run_id).run_id for row in rows if row.dag_run_id is not None]
    ended = [Flight(bag.dags[DAG], run_id).fly() for run_id in runs]
    with create_session() as session:
        from airflow.models.backfill import Backfill

        session.get(Backfill, made.id).completed_at = datetime.now(UTC)
    return ended


@pytest.mark.usefixtures("warehouse_of_run")
@pytest.mark.slow
def test_a_backfill_of_three_periods_gives_three_releases_and_again_their_next_vintages(
    bag: Any, deliver: Any, warehouse_of_run: Any
) -> None:
    for period in PERIODS:
        for country in ("AT", "BE"):
            deliver(CYCLES, country, period=period)
    runs = backfilled(bag, "none")
    assert [run.state for run in runs] == ["success"] * 3
    found = {(each.period, each.version): each for each in reader.releases(warehouse_of_run)}
    assert set(found) == {(period, 1) for period in PERIODS}
    assert {each.embargo for each in found.values()} == {datetime(2099, 1, 1, 10, tzinfo=UTC)}
    assert not any(each.visible for each in found.values())
    cycles = {each["period"]: each for each in reader.cycles(warehouse_of_run, CYCLES)}
    assert cycles["2023"]["delivery_due"] == datetime(2024, 4, 1, 6, tzinfo=LUXEMBOURG)
    assert cycles["2023"]["areas"] == ["AT", "BE"]
    for period in PERIODS:
        [known] = reader.dag_runs(warehouse_of_run, CYCLES, period)
        assert known["release_id"] == found[period, 1].release_id

    # one of them is revised: all three again, and only this one has another vintage
    deliver(CYCLES, "BE", OTHER, period="2023")
    assert [run.state for run in backfilled(bag, "completed")] == ["success"] * 3
    versions = sorted((each.period, each.version) for each in reader.releases(warehouse_of_run))
    assert versions == [("2022", 1), ("2023", 1), ("2023", 2), ("2024", 1)]
