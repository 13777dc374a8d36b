"""The version of the DAG that made a release: from Airflow's own database, which only
the api-server's process reads.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select


@dataclass(frozen=True)
class Bundle:
    """The DAG bundle of a run. `version` is that of the bundle (such as a commit), None for a bundle without
    versions; `dag_version` is Airflow's number of the serialised DAG.
    """

    name: str | None
    version: str | None
    dag_version: int | None


def bundle_of(dag_id: str, run_id: str) -> Bundle | None:
    """The bundle of a run; None for a run that Airflow no longer knows."""
    from airflow.models.dag_version import DagVersion
    from airflow.models.dagrun import DagRun
    from airflow.utils.session import create_session

    wanted = (
        select(DagRun.bundle_version, DagVersion.bundle_name, DagVersion.version_number)
        .outerjoin(DagVersion, DagRun.created_dag_version_id == DagVersion.id)
        .where(DagRun.dag_id == dag_id, DagRun.run_id == run_id)
    )
    with create_session(scoped=False) as session:
        found = session.execute(wanted).one_or_none()
    return None if found is None else Bundle(found.bundle_name, found.bundle_version, found.version_number)
