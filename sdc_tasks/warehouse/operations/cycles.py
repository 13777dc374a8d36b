"""Records for the operator's desk: cycles with their instants, runs and tasks of the
DAGs, alerts. They hold no value.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from sqlalchemy import Engine, select

from sdc_tasks.warehouse.confidential.store import put_rows
from sdc_tasks.warehouse.database.engine import reading, serialise, writing
from sdc_tasks.warehouse.database.schema import alert, cycle, dag_run, task_run
from sdc_tasks.warehouse.operations.journal import Terms, know_terms

LONGEST = 500  # characters of a task's message that are stored
FINISHED = {"success", "failed", "skipped", "upstream_failed", "removed"}


def open_cycle(
    engine: Engine, asked: Terms, period: str, areas: Sequence[str], instants: dict[str, datetime | None]
) -> None:
    """Opens the cycle of a period, or updates it. `areas` are the countries that must deliver,
    `instants` the instants of the calendar by column. Without an opening instant in the calendar, a
    cycle opens with the first call.

    Raises InvalidInput when the warehouse holds other terms under the same digest.
    """
    with writing(engine) as connection:
        serialise(connection, "cycle", asked.domain, period)
        know_terms(connection, asked)
        before = connection.execute(
            select(cycle.c.opened_at).where(cycle.c.domain == asked.domain, cycle.c.period == period)
        ).scalar_one_or_none()
        row = {
            "domain": asked.domain,
            "period": period,
            "terms_digest": asked.digest,
            "areas": json.dumps(list(areas)),
            **instants,
        }
        put_rows(
            connection,
            cycle,
            [{**row, "opened_at": instants.get("opened_at") or before or datetime.now(UTC)}],
        )


def note_dag_run(engine: Engine, dag_id: str, run_id: str, **known: object) -> None:
    """Records a run of a DAG. A field that is not given keeps its value."""
    first = {"domain": "", "period": "", "state": "running", "triggered_by": ""}
    key = {"dag_id": dag_id, "run_id": run_id}
    with writing(engine) as connection:
        put_rows(connection, dag_run, [{**key, **first}], keep=True)
        if known:
            here = (dag_run.c.dag_id == dag_id, dag_run.c.run_id == run_id)
            connection.execute(dag_run.update().where(*here).values(**known))


@dataclass(frozen=True)
class TaskState:
    """How a task instance stands: its Airflow `state`, the `label` of its mapped input, how many `tries`, for
    how many `seconds`, and its last message.
    """

    state: str
    label: str = ""
    tries: int = 0
    seconds: float | None = None
    said: str = ""


def note_task_run(
    engine: Engine, dag_id: str, run_id: str, task_id: str, map_index: int, now: TaskState
) -> None:
    """Records the state of a task instance, and its last message."""
    row = asdict(now) | {
        "dag_id": dag_id,
        "run_id": run_id,
        "task_id": task_id,
        "map_index": map_index,
        "said": now.said[:LONGEST],
        "finished_at": datetime.now(UTC) if now.state in FINISHED else None,
    }
    with writing(engine) as connection:
        put_rows(connection, task_run, [row])


def raised(engine: Engine, domain: str, period: str, kind: str, subject: str) -> str | None:
    """The text of an alert that was ever raised, also where its reason is gone; None where it was not."""
    key = {"domain": domain, "period": period, "kind": kind, "subject": subject}
    with reading(engine) as connection:
        return connection.execute(select(alert.c.said).filter_by(**key)).scalar_one_or_none()


def raise_alert(engine: Engine, domain: str, period: str, kind: str, subject: str, said: str) -> bool:
    """Records an alert. Returns whether it is new: only a new alert is sent."""
    key = {"domain": domain, "period": period, "kind": kind, "subject": subject}
    with writing(engine) as connection:
        serialise(connection, "alert", *key.values())
        if connection.execute(select(alert.c.kind).filter_by(**key)).one_or_none() is not None:
            return False
        connection.execute(alert.insert().values(**key, raised_at=datetime.now(UTC), said=said[:LONGEST]))
        return True
