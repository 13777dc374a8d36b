"""Issue: one broken country fails alone, is corrected and re-run by REST, a second person agrees, and the world sees the table."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import create_engine, text

from support.stack_fixture import COUNTRIES, PERIOD, Running, wait_for

pytestmark = pytest.mark.stack
ASKED = ("deferred", "awaiting_input")


def test_a_broken_country_is_corrected_and_re_run_alone_and_the_release_goes_out_when_a_second_person_agrees(stack: Running) -> None:
    inbox = stack.deliver("story")
    broken = inbox / f"CY_{PERIOD}.csv"
    good = broken.read_bytes()
    broken.write_bytes(re.sub(rb"(?m)^(.*?[,;]2024[,;])\d+", rb"\g<1>?", good, count=1))
    assert broken.read_bytes() != good

    run = stack.trigger("story")
    assert run.wait() == "failed"
    before = run.tasks()
    broken_one = before[f"ingest CY_{PERIOD}"]["map_index"]
    delivered = {name: each["state"] for name, each in before.items() if name.startswith("ingest ")}
    expected = {f"ingest {country}_{PERIOD}": "success" for country in COUNTRIES if country != "CY"}
    assert delivered == {**expected, f"ingest CY_{PERIOD}": "failed"}
    assert before["assemble"]["state"] == "failed"

    broken.write_bytes(good)
    clear = {"dry_run": False, "dag_run_id": run.id, "include_downstream": True, "only_failed": False, "reset_dag_runs": True}
    clear["task_ids"] = [["ingest", broken_one]]
    with stack.client("viewer") as viewer:
        assert viewer.post(f"/dags/{run.dag_id}/clearTaskInstances", json=clear).status_code == 403
    with stack.client("operator") as operator:
        cleared = operator.post(f"/dags/{run.dag_id}/clearTaskInstances", json=clear)
        assert cleared.status_code == 200, cleared.text

    asked = run.wait_for("approve_1", *ASKED)
    hitl = f"{run.path}/taskInstances/{asked['task_id']}/-1/hitlDetails"
    yes = {"chosen_options": ["Approve"], "params_input": {}}
    assert published(stack) == []
    with stack.client("viewer") as viewer:
        assert viewer.patch(hitl, json=yes).status_code == 403
    with stack.client("operator") as submitter:
        assert submitter.patch(hitl, json=yes).status_code == 200
        # His answer does not count: the same is asked again.
        wait_for(lambda: submitter.get(hitl).json()["response_received"] is False, lambda: f"a second question: {run.states()}")
    run.wait_for("approve_1", *ASKED)
    assert published(stack) == []
    with stack.client("approver") as approver:
        agreed = approver.patch(hitl, json=yes)
        assert agreed.status_code == 200, agreed.text

    assert run.wait() == "success", run.states()
    after = run.tasks()
    again = {name for name in delivered if after[name]["start_date"] != before[name]["start_date"]}
    assert again == {f"ingest CY_{PERIOD}"}, "nobody else's delivery was touched"
    assert published(stack) == [1]
    assert approvers(stack) == ["approver"]


def published(stack: Running) -> list[int]:
    """The versions that the world sees of the story's release."""
    engine = create_engine(stack.public_url)
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT version FROM dissemination.public_release WHERE domain = 'story' ORDER BY version"))
        found = [row.version for row in rows]
    engine.dispose()
    return found


def approvers(stack: Running) -> list[str]:
    """Who agreed to it."""
    engine = create_engine(stack.warehouse_url)
    with engine.connect() as connection:
        query = "SELECT approver FROM operations.approval JOIN operations.run USING (release_id) WHERE domain = 'story' ORDER BY approver"
        found = list(connection.execute(text(query)).scalars())
    engine.dispose()
    return found
