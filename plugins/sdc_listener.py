"""Records the work of Airflow for the operator's desk: runs of our DAGs, their tasks, and the last message of
each task. The times of tasks go to Airflow's own metrics.

It must never break or delay a task: an error in it is logged by its type only. It stores the text of a task's
error only if this project wrote the text. Other errors may hold values, so it stores their type alone.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from pluggy import HookimplMarker

if TYPE_CHECKING:
    from sqlalchemy import Engine

hookimpl = HookimplMarker("airflow")
log = logging.getLogger("sdc.listener")
OURS = (
    "eu_release_",
    "national_delivery_",
    "second_file",
    "maintenance",
    "retract_release",
)  # which are recorded
MINE = (*OURS, "after_embargo_")  # whose logs end with the operator's sentence


class Last(logging.Handler):
    """Keeps the last message of the steps."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.said, self.began = "", time.monotonic()

    def emit(self, record: logging.LogRecord) -> None:
        self.said = record.getMessage()

    def reset(self) -> None:
        self.said, self.began = "", time.monotonic()


last = Last()


def quietly(hook: Callable[..., None]) -> Callable[..., None]:
    """The hook, without its exceptions: none may reach the task."""

    @wraps(hook)
    def call(*arguments: Any, **named: Any) -> None:
        try:
            hook(*arguments, **named)
        except Exception as error:
            log.warning("not written to the operator's desk (%s)", type(error).__name__)

    return call


@hookimpl
def on_task_instance_running(previous_state: Any, task_instance: Any) -> None:
    last.reset()
    steps = logging.getLogger("sdc.release")
    if last not in steps.handlers:
        steps.addHandler(last)
        steps.setLevel(min(steps.level or logging.INFO, logging.INFO))
    _note_task(task_instance, "running")


@hookimpl
def on_task_instance_success(previous_state: Any, task_instance: Any) -> None:
    _note_task(task_instance, "success", last.said)


@hookimpl
def on_task_instance_skipped(previous_state: Any, task_instance: Any) -> None:
    _note_task(task_instance, "skipped", last.said)


@hookimpl
def on_task_instance_failed(previous_state: Any, task_instance: Any, error: Any) -> None:
    again = "up_for_retry" in str(getattr(task_instance, "state", ""))
    said = _worded(error)
    _note_task(task_instance, "up_for_retry" if again else "failed", said)
    if task_instance.dag_id.startswith(MINE):
        steps = logging.getLogger("sdc.release")
        for _ in range(
            2
            # the groups that its pages fold: one opened by Airflow, one by the task; one end too many does
            # nothing
        ):
            steps.info("::endgroup::")
        steps.error("%s", said)  # after Airflow's traceback, so that it is the end of the log


@hookimpl
def on_dag_run_running(dag_run: Any, msg: str) -> None:
    _note_run(dag_run, "running")


@hookimpl
def on_dag_run_success(dag_run: Any, msg: str) -> None:
    _note_run(dag_run, "success")


@hookimpl
def on_dag_run_failed(dag_run: Any, msg: str) -> None:
    _note_run(dag_run, "failed")


@quietly
def _note_task(task_instance: Any, state: str, said: str = "") -> None:
    if not _ours(task_instance.dag_id):
        return
    from sdc_tasks.warehouse.operations import cycles

    seconds = None if state == "running" else time.monotonic() - last.began
    with _Office() as engine:
        cycles.note_task_run(
            engine,
            task_instance.dag_id,
            task_instance.run_id,
            task_instance.task_id,
            task_instance.map_index,
            cycles.TaskState(
                state,
                label=str(getattr(task_instance, "rendered_map_index", None) or ""),
                tries=task_instance.try_number,
                seconds=seconds,
                said=said,
            ),
        )
    if seconds is not None:
        from airflow.sdk.observability import stats

        stats.timing(
            "sdc.task.seconds",
            1000 * seconds,
            tags={"dag_id": task_instance.dag_id, "task_id": task_instance.task_id},
        )


@quietly
def _note_run(dag_run: Any, state: str) -> None:
    """Records a run, and also tasks that never started: no other hook reports them."""
    if not _ours(dag_run.dag_id):
        return
    from sdc_tasks.warehouse.operations import cycles

    known = {"state": state, "started_at": dag_run.start_date}
    if state != "running":
        known["finished_at"] = dag_run.end_date
    with _Office() as engine:
        cycles.note_dag_run(engine, dag_run.dag_id, dag_run.run_id, **known)
        for each in _never_started(dag_run) if state != "running" else ():
            cycles.note_task_run(
                engine,
                dag_run.dag_id,
                dag_run.run_id,
                each.task_id,
                each.map_index,
                cycles.TaskState(str(each.state)),
            )


def _never_started(dag_run: Any) -> list[Any]:
    """The task instances that never started, read in the scheduler's session of the run where there is one:
    opening the shared session again would close it while the scheduler uses it.
    """
    from airflow.utils.session import create_session
    from sqlalchemy.orm import object_session

    def read(session: Any) -> list[Any]:
        found = dag_run.get_task_instances(session=session)
        never = {"upstream_failed", "removed"}
        return [
            each
            for each in found
            if str(each.state) in never or (str(each.state) == "skipped" and each.start_date is None)
        ]

    if (mine := object_session(dag_run)) is not None:
        return read(mine)
    with create_session(scoped=False) as session:
        found = read(session)
        session.expunge_all()
        return found


def _ours(dag_id: str) -> bool:
    return dag_id.startswith(OURS) and "SDC_WAREHOUSE_URL" in os.environ


def _worded(error: Any) -> str:
    """The text of an error, if this project wrote it; else its type."""
    from airflow.sdk.exceptions import AirflowFailException

    from sdc_tasks.errors import SdcError

    if isinstance(error, AirflowFailException):
        return str(error)
    if isinstance(error, SdcError):
        return f"{type(error).__name__}: {error}"
    return type(error).__name__ if isinstance(error, BaseException) else "failed"


class _Office:
    """The warehouse, opened for a moment: a process that is forked later must not share a connection."""

    def __enter__(self) -> Engine:
        from sqlalchemy import make_url

        from sdc_tasks.warehouse.database.engine import open_warehouse

        url = make_url(os.environ["SDC_WAREHOUSE_URL"])
        if (
            url.get_backend_name() == "postgresql"
        ):  # the scheduler does not wait for a server that does not answer
            url = url.update_query_dict({"connect_timeout": "3"})
        self.engine = open_warehouse(url.render_as_string(hide_password=False), None, "airflow")
        return self.engine

    def __exit__(self, *_: object) -> None:
        self.engine.dispose()
