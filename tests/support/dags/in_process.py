"""Runs of DAGs in this process, as the scheduler would make them, with what people do in between:
clear a task, answer a question.

`dag.test` waits for an answer from another process; this stops there, so that a test can give it. Clearing
and answering go through the functions behind the REST API.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from functools import cached_property
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

BUNDLE = "dags-folder"


class Flight:
    """One run of a DAG."""

    def __init__(self, dag: Any, run_id: str) -> None:
        self.dag, self.run_id = dag, run_id

    @classmethod
    def start(cls, bag: Any, dag_id: str, user: str | None = "anna", **conf: Any) -> Flight:
        """Triggered by this user, over the REST API."""
        from airflow.utils.session import create_session
        from airflow.utils.state import DagRunState
        from airflow.utils.types import DagRunTriggeredByType, DagRunType

        flight = cls(bag.dags[dag_id], f"manual__{uuid4().hex}")
        with create_session() as session:
            synced(bag, session)
            flight.scheduled.create_dagrun(
                run_id=flight.run_id,
                run_type=DagRunType.MANUAL,
                conf=conf,
                triggered_by=DagRunTriggeredByType.REST_API,
                triggering_user_name=user,
                state=DagRunState.RUNNING,
                run_after=datetime.now(UTC),
                logical_date=None,
                session=session,
            )
        return flight.fly()

    @cached_property
    def scheduled(self) -> Any:
        """The DAG as the scheduler reads it from the database."""
        from airflow.serialization.serialized_objects import DagSerialization

        return DagSerialization.deserialize_dag(DagSerialization.serialize_dag(self.dag))

    def fly(self) -> Flight:
        """Until the run has ended, or somebody is asked."""
        from airflow.models.dagrun import DagRun
        from airflow.sdk.definitions.dag import _run_task
        from airflow.utils.session import create_session
        from airflow.utils.state import DagRunState, TaskInstanceState
        from sqlalchemy import select

        with create_session() as session:
            run = session.scalars(
                select(DagRun).where(DagRun.dag_id == self.dag.dag_id, DagRun.run_id == self.run_id)
            ).one()
            run.dag = self.scheduled
            if run.state == DagRunState.QUEUED:
                run.state, run.start_date = DagRunState.RUNNING, datetime.now(UTC)
                session.commit()
            before: dict[Any, Any] = {}
            while run.state == DagRunState.RUNNING:
                session.expire_all()
                run.dag = self.scheduled
                ready, _ = run.update_state(session=session)
                for each in ready:
                    each.try_number += 1
                    each.state = TaskInstanceState.SCHEDULED
                session.commit()
                known = run.get_task_instances(session=session)
                now = [each for each in known if each.state == TaskInstanceState.SCHEDULED]
                states = {each.id: each.state for each in known}
                if not now and states == before:
                    break  # somebody is asked, or nothing can go on
                before = states
                for each in now:
                    _run_task(ti=each, task=self.dag.task_dict[each.task_id])
                session.commit()
        return self

    @property
    def state(self) -> str:
        from airflow.models.dagrun import DagRun
        from airflow.utils.session import create_session

        with create_session() as session:
            return str(
                session.query(DagRun).filter_by(dag_id=self.dag.dag_id, run_id=self.run_id).one().state
            )

    @property
    def tasks(self) -> dict[str, str]:
        """Name and label → state."""
        from airflow.models.taskinstance import TaskInstance
        from airflow.utils.session import create_session

        with create_session() as session:
            found = session.query(TaskInstance).filter_by(dag_id=self.dag.dag_id, run_id=self.run_id)
            return {
                f"{each.task_id} {each.rendered_map_index or ''}".rstrip(): str(each.state) for each in found
            }

    def in_state(self, state: str) -> set[str]:
        return {name for name, found in self.tasks.items() if found == state}

    def index_of(self, task_id: str, label: str) -> int:
        from airflow.models.taskinstance import TaskInstance
        from airflow.utils.session import create_session

        with create_session() as session:
            found = session.query(TaskInstance).filter_by(
                dag_id=self.dag.dag_id, run_id=self.run_id, task_id=task_id
            )
            return next(each.map_index for each in found if each.rendered_map_index == label)

    def clear(self, *tasks: Any, only_failed: bool = False, downstream: bool = True) -> Flight:
        """*Clear Task Instance*, as `POST …/clearTaskInstances` does it; the run goes on."""
        from airflow.api_fastapi.core_api.datamodels.task_instances import ClearTaskInstancesBody
        from airflow.api_fastapi.core_api.routes.public.task_instances import post_clear_task_instances
        from airflow.models.dagbag import DBDagBag
        from airflow.utils.session import create_session

        body = ClearTaskInstancesBody(
            dry_run=False,
            dag_run_id=self.run_id,
            task_ids=[*tasks],
            only_failed=only_failed,
            include_downstream=downstream,
            reset_dag_runs=True,
        )
        with create_session() as session:
            post_clear_task_instances(self.dag.dag_id, DBDagBag(), body, session, user=None)  # type: ignore[arg-type]
        return self.fly()

    def answer(self, task_id: str, user: str, option: str = "Approve", **given: Any) -> Flight:
        """As `PATCH …/hitlDetails` does it; the run goes on."""
        from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
        from airflow.api_fastapi.core_api.datamodels.hitl import UpdateHITLDetailPayload
        from airflow.api_fastapi.core_api.routes.public.hitl import update_hitl_detail
        from airflow.utils.session import create_session

        payload = UpdateHITLDetailPayload(chosen_options=[option], params_input=given)
        with create_session() as session:
            update_hitl_detail(
                self.dag.dag_id,
                self.run_id,
                task_id,
                payload,
                SimpleAuthManagerUser(username=user, role="op"),
                session,
            )
        return self.fly()

    def rewrite(self, task_id: str, key: str, value: Any) -> None:
        """As `PATCH …/xcomEntries/KEY` and `POST …/xcomEntries` do it, which the role of operators may."""
        from airflow.models.xcom import XComModel
        from airflow.utils.session import create_session

        where = {"dag_id": self.dag.dag_id, "run_id": self.run_id, "task_id": task_id, "map_index": -1}
        with create_session() as session:
            XComModel.set(key=key, value=value, session=session, serialize=False, **where)

    def mark(self, task_id: str, state: str = "success") -> Flight:
        """*Mark success*, as `PATCH …/taskInstances/TASK` does it, which the role of
        operators may; the run goes on.
        """
        from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
        from airflow.api_fastapi.core_api.datamodels.task_instances import PatchTaskInstanceBody
        from airflow.api_fastapi.core_api.routes.public.task_instances import patch_task_instance
        from airflow.models.dagbag import DBDagBag
        from airflow.utils.session import create_session

        body, user = (
            PatchTaskInstanceBody(new_state=state),
            SimpleAuthManagerUser(username="operator", role="op"),
        )  # type: ignore[arg-type]
        with create_session() as session:
            patch_task_instance(
                self.dag.dag_id, self.run_id, task_id, DBDagBag(), body, user, session, -1, None
            )
        return self.fly()

    def look(self) -> Flight:
        """So much later that the questions of the run look whether their answers still matter; the run goes
        on.
        """
        from airflow.jobs.scheduler_job_runner import SchedulerJobRunner
        from airflow.models.taskinstance import TaskInstance
        from airflow.utils.session import create_session
        from airflow.utils.state import TaskInstanceState

        with create_session() as session:
            waiting = session.query(TaskInstance).filter_by(
                dag_id=self.dag.dag_id, run_id=self.run_id, state=TaskInstanceState.AWAITING_INPUT
            )
            for each in waiting:
                assert each.trigger_timeout is not None, f"{each.task_id} waits for ever"
                each.trigger_timeout = datetime.now(UTC) - timedelta(seconds=1)
            session.commit()
            SchedulerJobRunner.check_awaiting_input_timeouts(
                SimpleNamespace(log=logging.getLogger("scheduler")), session=session
            )
        return self.fly()

    def asked(self, task_id: str) -> str:
        """What whoever is asked reads."""
        from airflow.models.hitl import HITLDetail
        from airflow.models.taskinstance import TaskInstance
        from airflow.utils.session import create_session

        with create_session() as session:
            ti = (
                session.query(TaskInstance)
                .filter_by(dag_id=self.dag.dag_id, run_id=self.run_id, task_id=task_id)
                .one()
            )
            return str(session.query(HITLDetail).filter_by(ti_id=UUID(str(ti.id))).one().body)


_IN_THE_DATABASE: list[Any] = []  # the bag that was written last


def synced(bag: Any, session: Any) -> None:
    """The DAGs are in Airflow's database, as the DAG processor writes them. To write them all
    takes seconds: not twice in a row.
    """
    if bag in _IN_THE_DATABASE:
        return
    from airflow.dag_processing.bundles.manager import DagBundlesManager
    from airflow.dag_processing.dagbag import sync_bag_to_db

    DagBundlesManager().sync_bundles_to_db(session=session)
    session.commit()
    sync_bag_to_db(bag, BUNDLE, None, session=session)
    session.commit()
    _IN_THE_DATABASE[:] = [bag]
