"""Access to the pages: Airflow's own users, by token or cookie, who may see the runs of the release DAG of a
domain.

Without a valid token every address answers 401, without the right 403. A page shows nothing about
domains that its reader may not see.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Literal

from airflow.api.common.airflow_health import get_airflow_health
from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.base_user import BaseUser
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity, DagDetails
from airflow.api_fastapi.core_api.security import GetUserDep, requires_access_dag
from airflow.models.dag import DagModel
from airflow.models.taskinstance import TaskInstance
from airflow.utils.session import create_session
from airflow.utils.state import TaskInstanceState
from fastapi import Depends, HTTPException, status
from markupsafe import Markup
from sqlalchemy import func, select

from sdc_ui.shared.actions import Rights
from sdc_ui.shared.words import counted, instant

__all__ = ["SIGNED_IN", "GetUserDep", "readable", "require", "rights", "services", "unopened"]

PREFIX = "eu_release_"
SERVICES = {"scheduler": "the scheduler", "triggerer": "the triggerer", "dag_processor": "the DAG processor"}
PATIENCE = timedelta(minutes=5)  # so long may a task wait for a worker
SIGNED_IN = Depends(
    requires_access_dag("GET", DagAccessEntity.RUN)
)  # for the DAG in the address, or for any DAG


def readable(domain: str, user: BaseUser) -> bool:
    """Whether this user may see the release runs of the domain."""
    return _may("GET", DagAccessEntity.RUN, f"{PREFIX}{domain}", user)


def rights(domain: str, user: BaseUser) -> Rights:
    """What this user may do to the release runs of the domain. Airflow's API asks the same again when he does
    it.
    """
    dag_id = f"{PREFIX}{domain}"
    dag = DagModel.get_dagmodel(dag_id)
    return Rights(
        run=_may("POST", DagAccessEntity.RUN, dag_id, user),
        clear=_may("PUT", DagAccessEntity.TASK_INSTANCE, dag_id, user),
        answer=_may("POST", DagAccessEntity.RUN, "second_file", user),
        retract=_may("POST", DagAccessEntity.RUN, "retract_release", user),
        approve=_may("PUT", DagAccessEntity.HITL_DETAIL, dag_id, user),
        gone=dag is not None and _gone(dag),
        paused=dag is not None and bool(dag.is_paused),
        unwatched=(watch := DagModel.get_dagmodel(f"national_delivery_{domain}")) is not None
        and bool(watch.is_paused),
        agree=_may("PUT", DagAccessEntity.HITL_DETAIL, "retract_release", user),
    )


def services(now: datetime) -> tuple[str, ...]:
    """What holds Airflow up now, in sentences: services that do not answer, tasks that wait for a worker."""
    found, health = list[str](), get_airflow_health()
    for key, name in SERVICES.items():
        if health[key]["status"] == "unhealthy":
            last = health[key][f"latest_{key}_heartbeat"]
            since = (
                Markup("not answered since {}").format(instant(datetime.fromisoformat(last)))
                if last
                else "never answered"
            )
            found.append(Markup("{} has {}").format(name, since))
    with create_session() as session:
        waits = (TaskInstance.state == TaskInstanceState.QUEUED, TaskInstance.queued_dttm < now - PATIENCE)
        number, first = session.execute(
            select(func.count(), func.min(TaskInstance.queued_dttm)).where(*waits)
        ).one()
    if first is not None:
        wait = Markup("{} for a worker, the first since {}; workers are busy, or none runs")
        found.append(wait.format(counted(number, "task waits", "tasks wait"), instant(first)))
    return tuple(found)


def unopened(known: Iterable[str], user: BaseUser) -> tuple[str, ...]:
    """The domains that this user may see and of which nothing is known yet: nobody has switched their DAGs
    on.
    """
    with create_session() as session:
        found = session.scalars(
            select(DagModel).where(DagModel.dag_id.startswith(PREFIX, autoescape=True))
        ).all()
    domains = sorted({each.dag_id.removeprefix(PREFIX) for each in found if not _gone(each)} - set(known))
    return tuple(domain for domain in domains if readable(domain, user))


def _gone(dag: DagModel) -> bool:
    """Whether Airflow no longer finds the DAG, or finds a refused domain file in its place."""
    return bool(dag.is_stale) or (dag.description or "").endswith(" is refused")


def _may(method: Literal["GET", "POST", "PUT"], entity: DagAccessEntity, dag_id: str, user: BaseUser) -> bool:
    details = DagDetails(id=dag_id, team_name=DagModel.get_team_name(dag_id))
    return get_auth_manager().is_authorized_dag(
        method=method, access_entity=entity, details=details, user=user
    )


def require(domains: Iterable[str], user: BaseUser) -> None:
    """Raises HTTP 403 unless the user may see all of these domains."""
    if not all(readable(domain, user) for domain in sorted(set(domains))):
        raise HTTPException(status.HTTP_403_FORBIDDEN, "not among the domains that you may see")
