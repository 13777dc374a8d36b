"""Real processes are killed in the middle of a release: it ends green once they are
back, and nothing is done twice.

Each of four services is killed in each of four steps, in the transaction that keeps what the step made. A
release is struck once in each step, each time at another service: four releases meet all sixteen. The first
one is in `make test-stack`, the others in `make test-faults`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from sqlalchemy import Connection, Engine, NullPool, create_engine, text
from sqlalchemy.exc import SQLAlchemyError
from stack import StackError, kill, process, start_server, up

from sdc_tasks.cli.terminal import Terminal
from sdc_tasks.warehouse.database.checks import run_checks
from support.stack_fixture import ENDED, PATIENCE, Run, Running, wait_for
from support.waiting import until

pytestmark = pytest.mark.stack
# every step ends with a record of itself; a publication is a record of the other
KEPT_IN = "operations.step, dissemination.release"


class Gate:
    """Holds up every transaction that keeps what a step made. PostgreSQL serves who waits
    in turn, so one passes at a time.
    """

    def __init__(self, stack: Running) -> None:
        self.engine: Engine = create_engine(stack.stack.address("postgres"), poolclass=NullPool)
        self.held: Connection | None = None

    def shut(self) -> None:
        self.held = self.engine.connect()
        self.held.execute(text(f"LOCK TABLE {KEPT_IN} IN EXCLUSIVE MODE"))

    def open(self) -> None:
        if self.held is not None:
            with suppress(SQLAlchemyError):  # PostgreSQL was killed, and the lock is gone with it
                self.held.close()
        self.held = None

    def waiting(self) -> bool:
        """Whether a step waits to keep what it made."""
        asked = (
            f"SELECT count(*) FROM pg_locks WHERE NOT granted AND relation IN "
            f"({', '.join(map(_oid, KEPT_IN.split(', ')))})"
        )
        with self.engine.connect() as connection:
            return bool(connection.execute(text(asked)).scalar_one())


def _oid(table: str) -> str:
    return f"'{table}'::regclass"


def the_worker(stack: Running, gate: Gate, queue: str) -> None:
    killed(stack, f"worker-{queue}")


def the_scheduler(stack: Running, gate: Gate, queue: str) -> None:
    killed(stack, "scheduler")


def the_database(stack: Running, gate: Gate, queue: str) -> None:
    killed(stack, "postgres")
    back(stack, "postgres")
    gate.open()
    gate.shut()


def the_queue(stack: Running, gate: Gate, queue: str) -> None:
    killed(stack, "redis")
    back(stack, "redis")


def killed(stack: Running, name: str) -> None:
    kill(stack.stack, name)
    assert process(stack.stack, name) is None


def back(stack: Running, name: str) -> None:
    """Starts a server again; PostgreSQL refuses while processes of the killed one end."""

    def started() -> bool:
        with suppress(StackError):
            start_server(stack.stack, name)
        return process(stack.stack, name) is not None

    assert until(started, 60, pause=0.5), f"{name} does not start again"


STEPS = ("assemble", "bases", "audit", "publish")
SERVICES: tuple[Callable[[Running, Gate, str], None], ...] = (
    the_worker,
    the_scheduler,
    the_database,
    the_queue,
)
PERIODS = ("2021", "2022", "2023", "2024")


@pytest.mark.parametrize(
    "turn",
    [0, *(pytest.param(turn, marks=pytest.mark.exhaustive) for turn in (1, 2, 3))],
    ids=lambda turn: f"turn {turn}",
)
def test_a_release_outlives_a_kill_in_each_of_its_steps(stack: Running, turn: int) -> None:
    period = PERIODS[turn]
    stack.deliver("faults", period)
    gate = Gate(stack)
    gate.shut()
    try:
        run = stack.trigger("faults", period=period)
        for number, step in enumerate(STEPS):
            strike = SERVICES[(number + turn) % len(SERVICES)]
            queue = reached(run, stack, gate, step)
            print(f"{step}: {strike.__name__}", file=sys.stderr)
            strike(stack, gate, queue)
    finally:
        gate.open()
        gate.engine.dispose()

    def over() -> bool:
        return supervised(stack) and run.state in ENDED

    wait_for(over, lambda: f"the end of {run.path}: {run.states()}")
    assert run.state == "success", run.states()
    nothing_is_doubled(run, stack, period)


def reached(run: Run, stack: Running, gate: Gate, step: str) -> str:
    """Lets the steps before this one pass. Returns the queue of this one when it is about to keep what it
    made.
    """
    began = time.monotonic()
    found: list[str] = []

    def there() -> bool:
        supervised(stack)
        state = run.state
        assert state not in ENDED, f"{run.path} is {state} before {step} was struck: {run.states()}"
        if not gate.waiting():
            return False
        found[:] = [
            each["queue"]
            for each in run.tasks().values()
            if (each["task_id"], each["state"]) == (step, "running")
        ]
        if not found:
            gate.open()
            gate.shut()
        return bool(found)

    wait_for(there, lambda: f"{step} of {run.path}: {run.states()}", PATIENCE - (time.monotonic() - began))
    return found[0]


def supervised(stack: Running) -> bool:
    """Starts whatever died, as a supervisor would. Whether all of it answers."""
    try:
        up(stack.stack, Terminal(file=sys.stderr))
    except StackError:  # it was still dying when it was looked at
        return False
    return True


def nothing_is_doubled(run: Run, stack: Running, period: str) -> None:
    """One version, told of once; every step with one result; no check of the warehouse finds anything."""
    names = [
        (each["task_id"], each["map_index"])
        for each in run._get(f"{run.path}/taskInstances?limit=1000")["task_instances"]
    ]
    assert len(names) == len(set(names))
    engine = create_engine(stack.warehouse_url)
    where = "WHERE domain = 'faults' AND period = :period"
    released = rows(engine, f"SELECT release_id, version FROM dissemination.release {where}", period)
    assert [version for _, version in released] == [1]
    assert (
        len(rows(engine, f"SELECT release_id FROM operations.run {where} AND state = 'published'", period))
        == 1
    )
    told = "SELECT number FROM operations.log WHERE action = 'release' AND subject = :period"
    assert len(rows(engine, told, released[0][0])) == 1
    assert {name: found for name, found in run_checks(engine).items() if found} == {}
    engine.dispose()


def rows(engine: Engine, query: str, period: str) -> list[tuple[object, ...]]:
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(query), {"period": period})]
