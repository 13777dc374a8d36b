"""Who may do what over REST, and that nothing confidential is to be had by anybody, or left anywhere,
after a release with a refusal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import MetaData, create_engine, select

from support.deliveries import scaled
from support.stack_fixture import PERIOD, Run, Running

pytestmark = pytest.mark.stack
PRIME = 104_729
SPOILT = "918273645"
YES = {"chosen_options": ["Approve"], "params_input": {}}


def test_nothing_is_told_without_a_token(stack: Running) -> None:
    with httpx.Client(base_url=stack.url, trust_env=False) as nobody:
        for path in (
            "/api/v2/dags",
            "/api/v2/dags/eu_release_open/dagRuns",
            "/api/v2/eventLogs",
            "/api/v2/connections",
            "/api/v2/config",
        ):
            assert nobody.get(path).status_code == 401, path
        assert (
            nobody.post("/api/v2/dags/eu_release_open/dagRuns", json={"logical_date": None}).status_code
            == 401
        )
        forged = {"Authorization": "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9."}
        assert nobody.get("/api/v2/dags", headers=forged).status_code in (401, 403)


def test_a_viewer_sees_and_does_nothing(stack: Running) -> None:
    stack.deliver("open", countries=())
    run = stack.trigger("open")  # over an empty inbox: it fails at once
    assert run.wait() == "failed"
    with stack.client("viewer") as viewer:
        for path in (
            "/dags",
            run.path,
            f"{run.path}/taskInstances",
            f"{run.path}/taskInstances/discover/logs/1",
        ):
            assert viewer.get(path).status_code == 200, path
        dag = f"/dags/{run.dag_id}"
        clear = {"dry_run": False, "dag_run_id": run.id, "task_ids": ["discover"]}
        tried = {
            "trigger": viewer.post(f"{dag}/dagRuns", json={"logical_date": None, "conf": {"period": PERIOD}}),
            "pause": viewer.patch(dag, json={"is_paused": True}),
            "clear": viewer.post(f"{dag}/clearTaskInstances", json=clear),
            "call it a success": viewer.patch(run.path, json={"state": "success"}),
            "delete": viewer.delete(run.path),
            "approve": viewer.patch(f"{run.path}/taskInstances/approve_1/-1/hitlDetails", json=YES),
            "write a connection": viewer.post(
                "/connections", json={"connection_id": "mine", "conn_type": "http"}
            ),
            "widen the pool": viewer.patch(
                "/pools/solver", json={"name": "solver", "slots": 99, "include_deferred": False}
            ),
            "read connections": viewer.get("/connections"),
        }
    assert {what: answer.status_code for what, answer in tried.items()} == dict.fromkeys(tried, 403)
    assert run.state == "failed"


def test_no_answer_no_log_and_no_row_of_airflow_holds_a_confidential_value(stack: Running) -> None:
    """AT's values are unmistakable, a value of CY is spoilt so that a refusal has something to
    quote; then everything is searched.
    """
    inbox = stack.deliver("partial")
    austria, cyprus = inbox / f"AT_{PERIOD}.csv", inbox / f"CY_{PERIOD}.csv"
    secrets = plant(austria)
    cyprus.write_text(
        re.sub(r"([,;]2024[,;])\d+", rf"\g<1>{SPOILT}x", cyprus.read_text(encoding="utf-8"), count=1),
        encoding="utf-8",
    )
    assert len(secrets) > 10
    assert leaks(austria.read_bytes(), secrets), "the search finds what is there"
    assert leaks(cyprus.read_bytes(), secrets)

    run = stack.trigger("partial")
    assert run.wait() == "success", run.states()
    assert run.states()[f"ingest CY_{PERIOD}"] == "failed"

    answers = dict(everything(run, stack))
    assert len(answers) > 60
    assert any(
        b"CY_2024.csv" in content and b"refused" in content
        for path, content in answers.items()
        if "/logs/" in path
    )
    assert {path for path, content in answers.items() if leaks(content, secrets)} == set()

    files = [
        path
        for name in ("logs", "airflow", "redis")
        for path in (stack.stack.home / name).rglob("*")
        if path.is_file()
    ]
    assert {"scheduler.log", "postgres.log", "worker-default.log"} <= {path.name for path in files}
    assert {path.name for path in files if leaks(path.read_bytes(), secrets)} == set()

    for database in ("airflow", "airflow_results"):
        content = tables(stack.stack.address("postgres", database))
        assert any(content.values())
        assert {name for name, rows in content.items() if leaks(rows, secrets)} == set(), database


def plant(delivery: Path) -> list[str]:
    """Makes the values of a delivery unmistakable. Returns those of its suppressed cells."""
    return [
        row["OBS_VALUE"]
        for row in scaled(delivery, PRIME)
        if row["CONF_STATUS"] != "F" and row["OBS_VALUE"] != "0"
    ]


def leaks(content: bytes, secrets: list[str]) -> set[str]:
    """What of the secrets the bytes hold: plain, grouped, or in scientific notation."""
    text = content.decode("latin-1")
    joined = re.sub(r"(?<=\d)[ '_,.\u00a0](?=\d{3}(?!\d))", "", text)
    return {
        each for each in (SPOILT, *secrets) if each in text or each in joined or f"{int(each):.6e}" in text
    }


def everything(run: Run, stack: Running) -> Iterator[tuple[str, bytes]]:
    """path → answer: all that the REST API and the pages tell the operator of this run."""
    dag = f"/dags/{run.dag_id}"
    fixed = [
        "/dags",
        f"{dag}/details",
        f"{dag}/tasks",
        f"{dag}/dagRuns",
        run.path,
        f"{run.path}/taskInstances?limit=1000",
        "/eventLogs?limit=1000",
        "/importErrors",
        "/assets",
        "/assets/events",
        "/pools",
        "/plugins",
        "/providers",
        "/jobs",
        "/dagWarnings",
        "/config",
        f"{dag}/dagRuns/~/taskInstances/~/xcomEntries?limit=1000",
        f"/dagSources/{run.dag_id}",
    ]
    with stack.client("operator") as api:
        for path in fixed:
            yield path, api.get(path).content
        for task in api.get(f"{run.path}/taskInstances?limit=1000").json()["task_instances"]:
            one = f"{run.path}/taskInstances/{task['task_id']}"
            index = task["map_index"]
            yield f"{one} {index}", api.get(one if index < 0 else f"{one}/{index}").content
            for attempt in range(1, max(task["try_number"], 1) + 1):
                yield (
                    f"{one}/logs/{attempt} {index}",
                    api.get(f"{one}/logs/{attempt}", params={"map_index": index}).content,
                )
            sent = api.get(f"{one}/xcomEntries", params={"map_index": index}).json().get("xcom_entries", ())
            for key in (each["key"] for each in sent):
                yield (
                    f"{one}/xcomEntries/{key} {index}",
                    api.get(f"{one}/xcomEntries/{key}", params={"map_index": index}).content,
                )


def tables(address: str) -> dict[str, bytes]:
    """Every table of a database as bytes."""
    engine = create_engine(address)
    known = MetaData()
    known.reflect(engine)
    with engine.connect() as connection:
        found = {
            name: b"\n".join(
                bytes(value) if isinstance(value, bytes | memoryview) else repr(value).encode()
                for row in connection.execute(select(table))
                for value in row
            )
            for name, table in known.tables.items()
        }
    engine.dispose()
    return found
