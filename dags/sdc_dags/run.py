"""The run of a task: its period, desk and folders, and reports on the run.

Tasks pass ids, digests and names to each other, never a value.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import sdc_places
from airflow.sdk import get_current_context

from sdc_dags.tasks import log
from sdc_tasks.domains import load_domain, schema
from sdc_tasks.errors import InvalidInput

if TYPE_CHECKING:
    from sdc_tasks.steps import Desk


def period_of(domain: schema.Domain) -> str:
    """The period of this run. Raises InvalidInput where neither parameter nor data interval gives one."""
    context = get_current_context()
    if given := context["params"].get("period"):
        return str(given)
    first = context["dag_run"].data_interval_start
    known = None if first is None else domain.calendar.period_from(first)
    if known is None:
        raise InvalidInput(
            f"{domain.id}: no period. Remedy: trigger the DAG with the parameter `period`, such as 2024"
        )
    return known


def desk(domain: str, period: str | None = None) -> Desk:
    """The desk of this run, under the name of the person who triggered it; `period` where the run has
    several. The warehouse is that of the deployment, not a parameter: its address may hold a password.
    """
    from sdc_tasks import steps

    who = None if os.environ.get("SDC_ONE_PROCESS") else get_current_context()["dag_run"].triggering_user_name
    return steps.open_desk(
        sdc_places.warehouse(), domain, period or period_of(load_domain(domain)), log.info, who
    )


def place(name: str, at: Desk) -> Path:
    """The folder in the parameter `inbox` or `out` of this run: local, or in an object
    store with the methods of a path.

    Everybody who may trigger a DAG can set it, so it must be inside the folders of the deployment for this
    domain (SDC_INBOX, SDC_OUT); otherwise InvalidInput is raised. Only `dags/run_here.py`, which runs with
    the rights of its caller, accepts any folder.
    """
    address = str(get_current_context()["params"][name]).replace("{period}", at.period)
    if not os.environ.get("SDC_ONE_PROCESS"):
        within = sdc_places.INBOX if name == "inbox" else sdc_places.OUT
        sdc_places.confine(name, address, sdc_places.root(within, at.domain.id))
    return sdc_places.folder(address)


def note_run(at: Desk, **known: object) -> None:
    """Records this run for the operator's desk."""
    from sdc_tasks.warehouse.database.engine import actor
    from sdc_tasks.warehouse.operations import cycles

    run = get_current_context()["dag_run"]
    who = actor(at.engine) if run.triggering_user_name else run.run_type.value
    cycles.note_dag_run(
        at.engine, run.dag_id, run.run_id, domain=at.domain.id, period=at.period, triggered_by=who, **known
    )


def measure(at: Desk, release_id: str) -> None:
    """Sends figures of the release to Airflow's metrics: losses and times. Nothing confidential."""
    from airflow.sdk.observability import stats

    from sdc_tasks import outputs
    from sdc_tasks.warehouse import reader

    tags = {"domain": at.domain.id}
    told = outputs.summary(at, release_id)
    for name in (
        "accepted",
        "refused",
        "exact",
        "rounded",
        "withheld",
        "relative_loss",
        "primaries",
        "short",
        "broken",
        "lps",
    ):
        stats.gauge(f"sdc.release.{name}", float(getattr(told, name)), tags=tags)
    for step, seconds in told.seconds.items():
        stats.gauge("sdc.step.seconds", seconds, tags={**tags, "step": step})
    for rung in reader.rungs(at.engine, release_id):
        if rung["gap"] is not None:
            stats.gauge("sdc.rung.gap", rung["gap"], tags={**tags, "method": rung["method"]})
