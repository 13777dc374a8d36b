"""A country's file comes: it is judged at once, told with its country, and the release is
marked as ready once all is there.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sdc_tasks.warehouse import reader
from support.dags.airflow_home import HOME, PLAIN
from support.dags.in_process import Flight
from support.deliveries import HEALTHY, sdmx_1

DAG = f"national_delivery_{PLAIN}"
OTHER = (
    HEALTHY.replace("749391", "749392")
    .replace("700 ", "701 ")
    .replace("300 D", "301 D")
    .replace("400 F", "401 F")
)


def events(name: str) -> list[tuple[str | None, dict[str, Any]]]:
    """(partition, what is told) of the events of an asset so far."""
    from airflow.models.asset import AssetEvent, AssetModel
    from airflow.utils.session import create_session

    with create_session() as session:
        asset = session.query(AssetModel).filter_by(name=name).one()
        found = session.query(AssetEvent).filter_by(asset_id=asset.id).order_by(AssetEvent.id)
        return [(each.partition_key, each.extra) for each in found]


def ready(engine: Any) -> list[str]:
    return [each["subject"] for each in reader.alerts(engine, PLAIN, "2024") if each["kind"] == "ready"]


def test_deliveries_are_judged_as_they_come_and_the_release_is_marked(
    bag: Any, deliver: Any, warehouse_of_run: Any
) -> None:
    deliver(PLAIN, "AT")
    run = Flight.start(bag, DAG, period="2024")
    assert run.state == "success"
    assert run.tasks == {
        "arrived": "success",
        "judge AT_2024": "success",
        "outdated": "skipped",
        "ready": "skipped",
    }
    assert ready(warehouse_of_run) == [], "BE is missing, and the domain blocks"
    assert events(f"accepted_{PLAIN}")[-1][0] == "AT"
    assert events(f"accepted_{PLAIN}")[-1][1]["period"] == "2024"

    broken = deliver(PLAIN, "BE")
    broken.write_bytes(broken.read_bytes()[:-40])
    run = Flight.start(bag, DAG, period="2024")
    assert run.in_state("failed") == {"judge BE_2024"}, "AT is not judged once more"
    deliver(PLAIN, "BE")
    run = Flight.start(bag, DAG, period="2024")
    assert run.state == "success"
    assert events(f"accepted_{PLAIN}")[-1][0] == "BE"
    [marked] = ready(warehouse_of_run)
    assert events(f"ready_{PLAIN}")[-1][1] == {"releases": [marked]}

    # nothing new: nothing is done, nobody is told again
    before = len(events(f"accepted_{PLAIN}"))
    run = Flight.start(bag, DAG, period="2024")
    assert run.state == "success"
    assert (len(events(f"accepted_{PLAIN}")), ready(warehouse_of_run)) == (before, [marked])
    assert run.tasks == {
        "arrived": "success",
        "judge": "skipped",
        "outdated": "skipped",
        "ready": "success",
    }, "asked, and it still can be run"

    # the release that is run then is the one that was marked
    assert Flight.start(bag, f"eu_release_{PLAIN}", period="2024").state == "success"
    assert [each.release_id for each in reader.releases(warehouse_of_run)] == [marked]
    partition, told = events(f"published_{PLAIN}")[-1]
    assert (partition, told["release"], told["version"]) == ("2024", marked, 1)
    assert sorted(told["made_of"].values()) == ["AT: AT_2024.csv", "BE: BE_2024.csv"]
    assert Flight.start(bag, DAG, period="2024").tasks["ready"] == "skipped"
    assert ready(warehouse_of_run) == [], "it was run: the alert has closed"
    deliver(PLAIN, "AT", OTHER)
    Flight.start(bag, DAG, period="2024")
    assert len(ready(warehouse_of_run)) == 1
    assert events(f"stale_{PLAIN}") == [("2024", {"releases": {"2024": marked}})]
    run = Flight.start(bag, DAG, period="2024")
    assert run.tasks == {
        "arrived": "success",
        "judge": "skipped",
        "outdated": "success",
        "ready": "success",
    }, "no file is new"
    assert events(f"stale_{PLAIN}")[1:] == [("2024", {"releases": {"2024": marked}})]


def test_an_inbox_that_cannot_be_read_is_red_to_the_end(bag: Any, warehouse_of_run: Any) -> None:
    """The states of the last tasks are the state of the run: none of them may be green. There is no folder of
    2031.
    """
    run = Flight.start(bag, DAG, period="2031")
    assert run.state == "failed"
    assert run.tasks == {
        "arrived": "failed",
        "judge": "upstream_failed",
        "outdated": "failed",
        "ready": "failed",
    }


LISTENING = """
from airflow.sdk import DAG, Asset, PartitionedAssetTimetable, task

for name, schedule in (("plain", [Asset("{asset}")]), ("partitioned", PartitionedAssetTimetable(assets=Asset("{asset}")))):
    with DAG(f"listens_{{name}}", schedule=schedule) as dag:
        task(lambda: None, task_id="hear")()
    globals()[name] = dag
"""  # noqa: E501


def test_a_dag_hears_of_partitions_with_the_timetable_that_the_pages_name(
    bag: Any, deliver: Any, warehouse_of_run: Any, tmp_path: Path
) -> None:
    from airflow.dag_processing.dagbag import DagBag, sync_bag_to_db
    from airflow.models.asset import AssetDagRunQueue, AssetPartitionDagRun
    from airflow.utils.session import create_session

    from support.dags.in_process import BUNDLE, synced

    (tmp_path / "listens.py").write_text(LISTENING.format(asset=f"accepted_{PLAIN}"))
    listening = DagBag(str(tmp_path))
    assert listening.import_errors == {}
    with create_session() as session:
        synced(bag, session)
        sync_bag_to_db(listening, BUNDLE, None, session=session)
        session.commit()
        from airflow.models.dag import DagModel

        for each in session.query(DagModel).filter(DagModel.dag_id.startswith("listens_")):
            each.is_paused = False
    deliver(PLAIN, "AT")
    assert Flight.start(bag, DAG, period="2024").in_state("success") >= {"judge AT_2024"}
    with create_session() as session:
        heard = {(each.target_dag_id, each.partition_key) for each in session.query(AssetPartitionDagRun)}
        queued = {each.target_dag_id for each in session.query(AssetDagRunQueue)}
    assert ("listens_partitioned", "AT") in heard
    assert not queued & {"listens_plain", "listens_partitioned"}


def test_a_second_file_waits_for_the_answer_of_a_person(
    bag: Any, deliver: Any, warehouse_of_run: Any
) -> None:
    from sdc_tasks.warehouse.log import entries

    deliver(PLAIN, "BE")
    first = deliver(PLAIN, "AT")
    assert Flight.start(bag, DAG, period="2024").state == "success"
    new = first.with_name("AT_new.csv")
    new.write_text(sdmx_1(OTHER))
    assert Flight.start(bag, DAG, period="2024").in_state("failed") == {"judge AT_2024 + AT_new"}
    assert Flight.start(bag, f"eu_release_{PLAIN}", period="2024").in_state("failed") >= {
        "ingest AT_2024 + AT_new",
        "assemble",
    }
    asked = {"domain": PLAIN, "period": "2024", "files": ["AT_new.csv"], "answer": "replace"}
    assert Flight.start(bag, "second_file", **asked | {"files": ["AT_2024.csv"]}).state == "failed"
    assert Flight.start(bag, "second_file", user="dora", **asked).state == "success"
    assert [each.actor for each in entries(warehouse_of_run) if each.action == "replace"] == ["dora"]
    states = {each["file"]: each["state"] for each in reader.deliveries(warehouse_of_run, PLAIN, "2024")}
    assert states == {"AT_2024.csv": "superseded", "AT_new.csv": "accepted", "BE_2024.csv": "accepted"}


def heard(inbox: str, *moves: Callable[[], object]) -> list[tuple[str, list[str]]]:
    """What is told while somebody works in the inbox, which is looked into three times after each move."""
    from sdc_inbox import Looks, marks

    looks, found = Looks(), []
    for move in moves:
        move()
        for _ in range(3):
            found.extend(looks.news(marks(inbox)))
    return found


def test_the_inbox_tells_of_new_and_of_corrected_files_alone(bag: Any, tmp_path: Path) -> None:
    inbox = tmp_path / "sbs" / "{period}" / "in"

    def put(period: str, name: str, text: str, at: int = 1) -> None:
        file = Path(str(inbox).replace("{period}", period)) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, (at, at))

    found = heard(
        str(inbox),
        lambda: put("2024", "BE.csv", "b"),
        lambda: put("2024", "AT.csv", "a"),
        lambda: put("2024", "notes.pdf", "?"),
        lambda: put("2023", "AT.csv", "a"),
        lambda: put("2024", "AT.csv", "A", at=2),
        lambda: put("nothing", "AT.csv", "a"),
    )
    assert found == [("2024", ["BE.csv"]), ("2024", ["AT.csv"]), ("2023", ["AT.csv"]), ("2024", ["AT.csv"])]


def test_a_file_counts_once_it_is_the_same_at_two_looks(bag: Any) -> None:
    from sdc_inbox import Looks

    looks = Looks()
    assert [
        list(looks.news({"2024": {"AT.csv": mark}})) for mark in ("1 byte", "2 bytes", "2 bytes", "2 bytes")
    ] == [
        [],
        [],
        [("2024", ["AT.csv"])],
        [],
    ]


def test_the_trigger_looks_until_there_is_something(
    bag: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look that fails is no second look: a file may have grown in between. Of two events at a time Airflow
    can lose the second, so there is one for all periods.
    """
    import sdc_inbox

    settled = {"2023": {"BE.csv": "1"}, "2024": {"AT.csv": "2"}}
    looked = iter([OSError("away"), {}, {"2024": {"AT.csv": "1"}}, OSError("away"), settled, settled])

    def marks(inbox: str) -> Any:
        found = next(looked)
        if isinstance(found, OSError):
            raise found
        return found

    async def first() -> Any:
        return await anext(sdc_inbox.InboxTrigger("{period}", seconds=0).run())

    monkeypatch.setattr(sdc_inbox, "marks", marks)
    assert asyncio.run(first()).payload == {"periods": {"2023": ["BE.csv"], "2024": ["AT.csv"]}}, (
        "all that came, in one event"
    )
    assert list(looked) == []


def test_an_inbox_may_lie_in_an_object_store(bag: Any, tmp_path: Path) -> None:
    """By an address, here of the file system as fsspec sees it: watched and read as a folder is."""
    from sdc_inbox import marks
    from sdc_places import folder

    from sdc_tasks import steps
    from support.deliveries import sdmx_1, small_domain

    domain = small_domain(tmp_path)
    (tmp_path / "inbox" / "2024").mkdir(parents=True)
    for country in ("AT", "BE"):
        (tmp_path / "inbox" / "2024" / f"{country}.csv").write_text(sdmx_1(HEALTHY, country))
    address = f"file://{tmp_path}/inbox/{{period}}"
    assert {period: sorted(files) for period, files in marks(address).items()} == {
        "2024": ["AT.csv", "BE.csv"]
    }
    desk = steps.open_desk(f"sqlite:///{tmp_path / 'warehouse.db'}", domain.folder / "small.yaml", "2024")
    inbox = folder(address.replace("{period}", "2024"))
    assert [each.file for each in steps.discover(desk, inbox)] == ["AT.csv", "BE.csv"]
    assert steps.ingest(desk, inbox, "BE.csv")[0] == "BE"
    desk.engine.dispose()


def test_the_trigger_survives_the_way_through_the_database(bag: Any) -> None:
    from airflow._shared.module_loading import import_string

    [asset] = bag.dags[DAG].timetable.asset_condition.objects
    [watcher] = asset.watchers
    path, arguments = watcher.trigger.serialize()
    again = import_string(path)(**arguments)
    assert (again.inbox, again.seconds) == (str(HOME / "inbox" / PLAIN / "{period}"), 10.0)
