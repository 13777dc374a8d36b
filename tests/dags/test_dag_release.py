"""Whole runs of the DAG, in this process: what is published, what is not, and which task says why."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from sdc_tasks.errors import Retriable
from sdc_tasks.warehouse import reader
from support.dags.airflow_home import PARTIAL, Run

COUNTRIES = ("AT", "CY", "BG", "CY")


def outputs(run: Run) -> dict[str, bytes]:
    return {name: (run.out / name).read_bytes() for name in ("table.csv", "audit.json")}


def is_id(sent: Any) -> bool:
    """Is this all that may travel between tasks: names, digests, yes or no, a version?"""
    match sent:
        case bool() | str():
            return True
        case int():
            return sent == 1
        case dict():
            return all(is_id(each) for each in sent.values())
        case list():
            return all(is_id(each) for each in sent)
    return False


def of_bases(run: Run) -> set[str]:
    """The states of the groups of indicators."""
    return {state for name, state in run.tasks.items() if name.split()[0] == "bases"}


@pytest.fixture
def broken_inbox(inbox: Path, tmp_path: Path) -> Path:
    """The file of CY is cut in the middle of a line."""
    folder = tmp_path / "inbox"
    shutil.copytree(inbox, folder)
    file = folder / "CY_2024.csv"
    file.write_bytes(file.read_bytes()[:-40])
    return folder


def test_a_release_is_published_once(release: Any, warehouse_of_run: Any) -> None:
    first = release()
    assert first.state == "success"
    assert {f"ingest {country}_2024" for country in COUNTRIES} <= set(first.tasks)
    assert {"bases TURNOVER", *(f"audit chunk {n}" for n in (1, 2))} <= set(first.tasks)
    assert {"cta_1_auto", "cta_2_bcd", "cta_3_milp"} <= set(first.tasks)
    assert set(first.tasks.values()) == {"success", "skipped"}
    (published,) = reader.releases(warehouse_of_run)
    assert published.version == 1
    assert (first.out / "report.html").is_file()

    assert first.xcoms
    assert all(is_id(sent) for sent in first.xcoms)

    made = outputs(first)
    again = release()
    assert again.state == "success"
    assert outputs(again) == made
    assert reader.releases(warehouse_of_run) == [published]


def test_a_broken_file_fails_alone_and_the_domain_blocks(
    release: Any, broken_inbox: Path, warehouse_of_run: Any
) -> None:
    run = release(inbox=broken_inbox)
    assert run.state == "failed"
    assert run.failed() == {"ingest CY_2024", "assemble"}
    assert all(run.tasks[f"ingest {country}_2024"] == "success" for country in COUNTRIES if country != "CY")
    not_run = ("verdict", "publish", "report", "released")
    assert {run.tasks[name] for name in not_run} | of_bases(run) == {"upstream_failed"}
    assert reader.releases(warehouse_of_run) == []
    assert [path.name for path in run.out.iterdir()] == ["findings.csv"], (
        "what to ask the country for, and nothing else"
    )


def test_a_broken_file_fails_alone_and_the_domain_goes_on(
    release: Any, broken_inbox: Path, warehouse_of_run: Any
) -> None:
    run = release(PARTIAL, broken_inbox)
    assert run.state == "success"
    assert run.failed() == {"ingest CY_2024"}
    (published,) = reader.releases(warehouse_of_run)
    cells = reader.released_cells(warehouse_of_run, PARTIAL, "2024")
    assert {cell.area for cell in cells} == {"EU27_2020_PARTIAL"}
    assert published.version == 1


def test_an_empty_inbox_fails_where_it_is_seen(release: Any, tmp_path: Path) -> None:
    run = release(inbox=tmp_path / "nowhere")
    assert run.state == "failed"
    assert run.failed() == {"discover"}
    assert run.tasks["assemble"] == "upstream_failed"


def test_a_blocked_release_is_reported_and_the_run_failed(
    release: Any, warehouse_of_run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numpy as np

    from sdc_tasks import pipeline
    from sdc_tasks.model.results import Publication

    def publish_everything(problem: Any, *_: Any) -> Publication:
        cells = np.arange(len(problem.space.countries) * problem.space.national_size, problem.space.size)
        return Publication(cells, problem.a[cells], np.zeros(len(cells)))

    monkeypatch.setattr(pipeline, "choose_bases", publish_everything)
    run = release()
    assert run.state == "failed"
    assert run.failed() == {"publish"}
    assert run.tasks["verdict"] == run.tasks["report"] == "success"
    assert run.tasks["released"] == "upstream_failed"
    assert (run.out / "report.html").is_file()
    assert (run.out / "audit.json").is_file()
    assert not (run.out / "table.csv").exists()
    assert reader.releases(warehouse_of_run) == []


def test_no_rung_is_climbed_after_one_that_was_good_enough(
    release: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sdc_tasks import pipeline
    from sdc_tasks.model.results import Adjustment, Outcome, Rung

    climbed = []

    def climb(
        problem: Any, requirements: Any, domain: Any, rung: int, before: Adjustment, progress: Any
    ) -> Adjustment:
        climbed.append(rung)
        found = Rung(
            "stub", Outcome.OPTIMAL, 0.0, 0.0, 0.0, 0.0, "by hand", accepted=rung == 0, chosen=rung == 0
        )
        return Adjustment(problem.a, (*before.rungs, found))

    monkeypatch.setattr(pipeline, "climb", climb)
    run = release()
    assert climbed == [0]
    assert [run.tasks[name] for name in ("cta_1_auto", "cta_2_bcd", "cta_3_milp")] == [
        "success",
        "skipped",
        "skipped",
    ]
    assert run.tasks["cta_outcome"] == run.state == "success"


def test_a_rung_that_crashes_stops_the_release_for_going_on_would_make_another(
    release: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sdc_tasks import pipeline

    def crash(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(pipeline, "climb", crash)
    run = release()
    assert run.failed() == {"cta_1_auto"}
    after = ("cta_2_bcd", "cta_3_milp", "cta_outcome", "publish", "released")
    assert {run.tasks[name] for name in after} | of_bases(run) == {"upstream_failed"}
    assert run.state == "failed"


def test_only_what_is_worth_a_retry_is_tried_again(release: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from sdc_tasks import steps

    tries = {"baseline": 0, "verdict": 0}
    real = steps.baseline

    def away_once(*arguments: Any) -> str:
        tries["baseline"] += 1
        if tries["baseline"] == 1:
            raise Retriable("the warehouse is away")
        return real(*arguments)

    def defect(*_: Any) -> None:
        tries["verdict"] += 1
        raise ZeroDivisionError

    monkeypatch.setattr(steps, "baseline", away_once)
    monkeypatch.setattr(steps, "verdict", defect)
    run = release()
    assert tries == {"baseline": 2, "verdict": 1}
    assert run.failed() == {"verdict"}
    assert run.tasks["baseline"] == "success"
    assert run.tasks["report"] == "upstream_failed"
    assert run.state == "failed"
