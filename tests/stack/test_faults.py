"""Real processes die during a release: it completes once they are back, and nothing is done twice."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from sqlalchemy import Engine, create_engine, text
from stack import StackError, kill, process, start_server, stop_server, up

from sdc_tasks.cli.terminal import Terminal
from sdc_tasks.warehouse.database.checks import run_checks
from support.stack_fixture import ENDED, Run, Running, wait_for

pytestmark = pytest.mark.stack
RUNG = "cta_1_milp"  # takes some 20 s in this domain


def the_worker_of_the_rung(stack: Running, queue: str) -> None:
    kill(stack.stack, f"worker-{queue}")
    assert process(stack.stack, f"worker-{queue}") is None


def the_scheduler(stack: Running, queue: str) -> None:
    kill(stack.stack, "scheduler")
    assert process(stack.stack, "scheduler") is None


def postgresql(stack: Running, queue: str) -> None:
    stop_server(stack.stack, "postgres")
    assert process(stack.stack, "postgres") is None
    start_server(stack.stack, "postgres")


def redis(stack: Running, queue: str) -> None:
    stop_server(stack.stack, "redis")
    assert process(stack.stack, "redis") is None
    start_server(stack.stack, "redis")


@pytest.mark.parametrize(
    ("period", "strike"),
    [("2021", the_worker_of_the_rung), ("2022", the_scheduler), ("2023", postgresql), ("2024", redis)],
    ids=["worker killed", "scheduler killed", "PostgreSQL restarted", "Redis restarted"],
)
def test_a_release_outlives_it(stack: Running, period: str, strike: Callable[[Running, str], None]) -> None:
    stack.deliver("faults", period)
    run = stack.trigger("faults", period=period)
    struck = run.wait_for(RUNG, "running")

    strike(stack, struck["queue"])

    def over() -> bool:
        try:
            up(stack.stack, Terminal(file=sys.stderr))  # whatever died of it, now or later, as a supervisor would
        except StackError:  # it was still dying when it was looked at
            return False
        return run.state in ENDED

    wait_for(over, lambda: f"the end of {run.path}: {run.states()}")
    assert run.state == "success", run.states()
    if strike is the_worker_of_the_rung:
        assert run.tasks()[RUNG]["try_number"] > 1, "it was lost, and done again"
    nothing_is_doubled(run, stack, period)


def nothing_is_doubled(run: Run, stack: Running, period: str) -> None:
    """One version, told of once; every step with one result; no check of the warehouse finds anything."""
    names = [(each["task_id"], each["map_index"]) for each in run._get(f"{run.path}/taskInstances?limit=1000")["task_instances"]]
    assert len(names) == len(set(names))
    engine = create_engine(stack.warehouse_url)
    where = "WHERE domain = 'faults' AND period = :period"
    released = rows(engine, f"SELECT release_id, version FROM dissemination.release {where}", period)
    assert [version for _, version in released] == [1]
    assert len(rows(engine, f"SELECT release_id FROM operations.run {where} AND state = 'published'", period)) == 1
    told = "SELECT number FROM operations.log WHERE action = 'release' AND subject = :period"
    assert len(rows(engine, told, released[0][0])) == 1
    assert {name: found for name, found in run_checks(engine).items() if found} == {}
    engine.dispose()


def rows(engine: Engine, query: str, period: str) -> list[tuple[object, ...]]:
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(query), {"period": period})]
