"""What the DAGs of this folder share: where a run works, which period it is of, retries, and which domains there are.

Between tasks travel ids, digests and names, never a value. Parsing imports no solver, no database and no Great Expectations.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk import DAG, ExceptionRetryPolicy, Param, RetryAction, RetryRule, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException

from sdc_tasks.domains import load_domain, schema
from sdc_tasks.domains.calendar import PERIOD
from sdc_tasks.errors import InvalidInput, Retriable
from sdc_tasks.untrusted import printable

if TYPE_CHECKING:
    from sdc_tasks.steps import Desk

log = logging.getLogger("sdc.release")
VAR = Path(__file__).resolve().parents[1] / "var"

# Airflow adds up to three retries where the error says that nothing is wrong with the input, or where the worker was lost.
PATIENCE = timedelta(seconds=float(os.environ.get("SDC_RETRY_SECONDS", "30")))
DEFAULTS: dict[str, Any] = {
    "owner": "statistical-disclosure-control",
    "retries": 3,
    "retry_delay": PATIENCE,
    "retry_policy": ExceptionRetryPolicy(
        [RetryRule(exception=Retriable, action=RetryAction.RETRY, retry_delay=PATIENCE)], default=RetryAction.FAIL
    ),
    "execution_timeout": timedelta(minutes=15),
}
# The heavy tasks: a worker with the solvers, as many at once as its memory holds, and hours for the attacker's LPs of a large domain.
HEAVY: dict[str, Any] = {"queue": "solver", "pool": "solver", "execution_timeout": timedelta(hours=4)}

INBOX = os.environ.get("SDC_INBOX") or str(VAR / "inbox" / "{domain}" / "{period}")
OUT = os.environ.get("SDC_OUT") or str(VAR / "out" / "{domain}" / "{period}")


def mapped(task: Any, **fixed: Any) -> Any:
    """The task to be expanded over a list, `fixed` the same for all; says what to do when red, which Airflow takes over for others only."""
    return task.override(doc_md=task.function.__doc__).partial(**fixed)


def period_param() -> Param:
    """The reference period; a run of the calendar, or a backfill, knows it from its data interval."""
    return Param(
        None,
        type=["null", "string"],
        pattern=PERIOD,
        title="Reference period",
        description="such as 2024; none: that of the run's data interval in the release calendar",
    )


def place_param(title: str, default: str, domain: str, what: str) -> Param:
    """A folder, here or in an object store."""
    return Param(
        default.replace("{domain}", domain),
        type="string",
        title=title,
        description=f"{what}; a folder, or an address such as s3://connection@bucket/folder; {{period}} stands for the period",
    )


def period_of(domain: schema.Domain) -> str:
    """The period that this run is of. Raises InvalidInput where nothing tells it."""
    context = get_current_context()
    if given := context["params"].get("period"):
        return str(given)
    first = context["dag_run"].data_interval_start
    known = None if first is None else domain.calendar.period_from(first)
    if known is None:
        raise InvalidInput(f"{domain.id}: no period. Remedy: trigger the DAG with the parameter `period`, such as 2024")
    return known


def desk(domain: str, period: str | None = None) -> Desk:
    """Where this run works, in the name of who triggered it; `period` where the run is of several. The warehouse is that of the
    deployment, not a parameter: its address may hold a password.
    """
    from sdc_tasks import steps

    who = None if os.environ.get("SDC_ONE_PROCESS") else get_current_context()["dag_run"].triggering_user_name
    return steps.open_desk(warehouse(), domain, period or period_of(load_domain(domain)), log.info, who)


def warehouse() -> str:
    """The address of the warehouse."""
    return os.environ.get("SDC_WAREHOUSE_URL") or f"sqlite:///{VAR / 'warehouse.db'}"


def place(name: str, at: Desk) -> Path:
    """The folder that the parameter `inbox` or `out` of this run names: here, or, with the methods of a path, in an object store.

    Whoever may trigger a DAG may give one, so it must lie where the deployment keeps what this domain receives or publishes (SDC_INBOX,
    SDC_OUT). Only `dags/run_here.py`, which somebody at a shell runs with his own rights, takes any. Raises InvalidInput.
    """
    address = str(get_current_context()["params"][name]).replace("{period}", at.period)
    if not os.environ.get("SDC_ONE_PROCESS"):
        confine(name, address, root(INBOX if name == "inbox" else OUT, at.domain.id))
    return folder(address)


def root(template: str, domain: str) -> str:
    """The folder in which those of all periods lie; the folder itself where it is the same for all."""
    above, period, _ = template.replace("{domain}", domain).partition("{period}")
    return above.rpartition("/")[0] if period else above


def confine(name: str, address: str, within: str) -> None:
    """Raises InvalidInput where the address leads out of that folder, by its name, by `..` or by a link."""
    if "://" in within or "://" in address:
        inside = ".." not in address.split("/") and f"{address.rstrip('/')}/".startswith(f"{within.rstrip('/')}/")
    else:
        inside = Path(address).resolve().is_relative_to(Path(within).resolve())
    if not inside:
        raise InvalidInput(
            f"parameter {name}: not inside {within}. Remedy: a folder in there; whoever runs the deployment sets SDC_{name.upper()}"
        )


def folder(address: str) -> Path:
    """A folder by its address."""
    if "://" not in address:
        return Path(address)
    from airflow.sdk import ObjectStoragePath

    return ObjectStoragePath(address)  # type: ignore[return-value]


def note_run(at: Desk, **known: object) -> None:
    """Tells the operator's desk what this run is about."""
    from sdc_tasks.warehouse import cycles
    from sdc_tasks.warehouse.engine import actor

    run = get_current_context()["dag_run"]
    who = actor(at.engine) if run.triggering_user_name else str(run.run_type)
    cycles.note_dag_run(at.engine, run.dag_id, run.run_id, domain=at.domain.id, period=at.period, triggered_by=who, **known)


def measure(at: Desk, release_id: str) -> None:
    """Gives the release in figures to Airflow's metrics: what is lost, what it took. Nothing confidential."""
    from airflow.sdk.observability import stats

    from sdc_tasks import outputs
    from sdc_tasks.warehouse import reader

    tags = {"domain": at.domain.id}
    told = outputs.summary(at, release_id)
    for name in ("accepted", "refused", "exact", "rounded", "withheld", "relative_loss", "primaries", "broken", "lps"):
        stats.gauge(f"sdc.release.{name}", float(getattr(told, name)), tags=tags)
    for step, seconds in told.seconds.items():
        stats.gauge("sdc.step.seconds", seconds, tags={**tags, "step": step})
    for rung in reader.rungs(at.engine, release_id):
        if rung["gap"] is not None:
            stats.gauge("sdc.rung.gap", rung["gap"], tags={**tags, "method": rung["method"]})


def domain_files() -> list[Path]:
    """The shipped domain files, then those of the folders in SDC_DOMAINS."""
    folders = [schema.HERE, *(Path(each) for each in os.environ.get("SDC_DOMAINS", "").split(os.pathsep) if each)]
    return [file.resolve() for folder in folders for file in sorted(folder.glob("*.yaml"))]


def dags_of_domains(prefix: str, build: Callable[[schema.Domain, Path], DAG]) -> dict[str, DAG]:
    """A DAG for each domain file, by id; a later file with the same id wins, one that cannot be used has a DAG that says so.

    Whatever is wrong with a file, it takes no other domain's DAG with it. A file that is refused takes the place of the DAG of its own
    name: it was meant to replace that domain, which must not run on as it was.
    """
    dags: dict[str, DAG] = {}
    for path in domain_files():
        try:
            domain = load_domain(path)
            dags[f"{prefix}_{domain.id}"] = build(domain, path)
        except InvalidInput as problem:
            refused = refused_dag(f"{prefix}_{dag_name(path)}", path, str(problem))
            dags[refused.dag_id] = refused
        except Exception as problem:
            log.exception("%s", path)
            said = f"{path}: cannot be used ({type(problem).__name__}). Remedy: correct the file; tell the maintainers"
            refused = refused_dag(f"{prefix}_{dag_name(path)}", path, said)
            dags[refused.dag_id] = refused
    return dags


def dag_name(file: Path) -> str:
    """The name of a file, as far as a DAG may be called so."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", file.stem)[:100]


def refused_dag(dag_id: str, file: Path, said: str) -> DAG:
    """A domain file that cannot be used is not overlooked."""
    said = printable(said)
    name = printable(str(file))
    with DAG(
        dag_id=dag_id, description=f"{printable(file.name)} is refused", doc_md=said, schedule=None, tags=["release", "refused"]
    ) as dag:

        @task(doc_md=f"**Red:** the domain file `{name}` must be corrected.")
        def domain_file() -> None:
            raise AirflowFailException(said)

        domain_file()
    return dag
