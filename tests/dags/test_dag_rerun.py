"""One country is corrected and re-run alone: the release follows with the corrected file, in
the right order, under its own id.
"""

from __future__ import annotations

from typing import Any

import pytest

from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.database.checks import run_checks
from support.dags.airflow_home import PLAIN
from support.dags.in_process import Flight
from support.deliveries import HEALTHY

DAG = f"eu_release_{PLAIN}"
OTHER = (
    HEALTHY.replace("749391", "749392")
    .replace("700 ", "701 ")
    .replace("300 D", "301 D")
    .replace("400 F", "401 F")
)


def states(engine: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in reader.deliveries(engine, PLAIN, "2024"):
        found.setdefault(each["country"] or "", []).append(each["state"])
    return found


def test_the_corrected_file_of_one_country_is_taken_in_by_clearing_it(
    bag: Any, deliver: Any, warehouse_of_run: Any, caplog: pytest.LogCaptureFixture
) -> None:
    deliver(PLAIN, "AT")
    broken = deliver(PLAIN, "BE")
    broken.write_bytes(broken.read_bytes()[:-40])
    run = Flight.start(bag, DAG, period="2024")
    assert run.state == "failed"
    assert run.in_state("failed") == {"ingest BE_2024", "assemble"}
    assert reader.releases(warehouse_of_run) == []
    seen = reader.task_runs(warehouse_of_run, DAG, run.run_id)
    [told] = [each for each in seen if (each["task_id"], each["state"]) == ("ingest", "failed")]
    assert (told["label"], told["said"].startswith("BE_2024.csv refused")) == ("BE_2024", True)
    errors = [each.getMessage() for each in caplog.records if each.levelname == "ERROR"]
    assert [each for each in errors if "BE_2024.csv" in each] == [told["said"]]
    assert "sdc_tasks/steps" not in caplog.text, "the sentence of the operator, without the frames below it"

    deliver(PLAIN, "BE")
    run.clear(("ingest", run.index_of("ingest", "BE_2024")), only_failed=True)
    assert run.state == "success"
    assert set(run.tasks.values()) == {"success"}
    [published] = reader.releases(warehouse_of_run)
    assert published.version == 1
    known = reader.dag_run(warehouse_of_run, DAG, run.run_id)
    assert known is not None
    assert (known["release_id"], known["state"], known["triggered_by"]) == (
        published.release_id,
        "success",
        "anna",
    )
    assert reader.submissions(warehouse_of_run, published.release_id)[0]["submitter"] == "anna"
    assert {country: sorted(found) for country, found in states(warehouse_of_run).items()} == {
        "AT": ["accepted"],
        "BE": ["accepted", "refused"],
    }

    # the run of yesterday, the file of today: another release, the next version
    deliver(PLAIN, "BE", OTHER)
    run.clear(("ingest", run.index_of("ingest", "BE_2024")))
    assert run.state == "success"
    versions = reader.releases(warehouse_of_run)
    assert [each.version for each in versions] == [2, 1]
    assert versions[0].release_id != versions[1].release_id
    assert reader.dag_run(warehouse_of_run, DAG, run.run_id)["release_id"] == versions[0].release_id  # type: ignore[index]
    assert sorted(states(warehouse_of_run)["BE"]) == ["accepted", "refused", "superseded"]
    assert not any(run_checks(warehouse_of_run).values())


def test_a_refused_file_sent_again_unchanged_makes_no_other_release(
    bag: Any, deliver: Any, warehouse_of_run: Any
) -> None:
    """The id is that of what is accepted."""
    deliver(PLAIN, "AT")
    deliver(PLAIN, "BE")
    assert Flight.start(bag, DAG, period="2024").state == "success"
    wrong = deliver(PLAIN, "AT", HEALTHY.replace("700 F", "701 F"))
    content = wrong.read_bytes()
    for _ in range(2):
        run = Flight.start(bag, DAG, period="2024")
        assert run.in_state("failed") == {"ingest AT_2024"}
        wrong.unlink()
        assert Flight.start(bag, DAG, period="2024").state == "success"
        wrong.write_bytes(content)
    assert [(each.version) for each in reader.releases(warehouse_of_run)] == [1]
    assert len(reader.runs(warehouse_of_run)) == 1


@pytest.mark.slow
def test_a_file_that_has_left_the_inbox_still_counts(bag: Any, deliver: Any, warehouse_of_run: Any) -> None:
    file = deliver(PLAIN, "AT")
    deliver(PLAIN, "BE")
    assert Flight.start(bag, DAG, period="2024").state == "success"
    file.unlink()
    run = Flight.start(bag, DAG, period="2024")
    assert run.state == "success"
    assert "ingest AT_2024" in run.tasks, "it is judged by the domain file of today all the same"
    assert len(reader.releases(warehouse_of_run)) == 1
