"""Writes the public files (`table.csv` and those beside it) at the instant when an embargo ends. One DAG per
domain; its runs start by the calendar: nothing waits meanwhile.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from airflow.sdk import DAG, get_current_context
from airflow.sdk.exceptions import AirflowSkipException
from sdc_dags.domains import dags_of_domains
from sdc_dags.params import period_param, place_param
from sdc_dags.run import desk, place
from sdc_dags.tasks import DEFAULTS, log, step
from sdc_places import OUT
from sdc_timetable import CycleTimetable

from sdc_tasks.domains import Domain

ABOUT = """
**{title}**: writes `table.csv`, and the files beside it that the world may see, into the output folder
when the embargo of a period ends.
It starts by itself at that instant, or by hand
with a period.

### When something is red
- **`table`**: most often the folder cannot be written; correct it and clear the task.
"""


@step
def table(domain: str) -> str:
    """Writes the table of the version that the world may see now. Pink: there is none, or its table is there
    already.

    **Red:** most often the folder cannot be written; clear the task.
    """
    from sdc_tasks import outputs
    from sdc_tasks.errors import Retriable
    from sdc_tasks.warehouse import reader

    at, out = desk(domain), place("out", desk(domain))
    mine = [
        each
        for each in reader.releases(at.engine, at.domain.id)
        if each.period == at.period and each.retracted is None
    ]
    if any(not each.visible for each in mine) and get_current_context()["dag_run"].run_type == "scheduled":
        raise Retriable(
            f"{at.domain.id} {at.period}: by the clock of the database the embargo has not ended. Remedy: "
            f"try again"
        )
    current = reader.current_release(at.engine, at.domain.id, at.period)
    if current is None or (out / "table.csv").exists():
        raise AirflowSkipException(
            "the world may see no version of the period" if current is None else "table.csv is there already"
        )
    outputs.write_out(at, current.release_id, out)
    log.info("table.csv of version %d, %s", current.version, current.release_id)
    return current.release_id


def embargo_dag(domain: Domain, file: Path) -> DAG:
    """The DAG of a domain."""
    with DAG(
        dag_id=f"after_embargo_{domain.id}",
        description=f"{domain.title}: the table at the end of the embargo",
        doc_md=ABOUT.format(title=domain.title),
        schedule=CycleTimetable.of(domain.calendar, "embargo"),
        start_date=datetime(1990, 1, 1, tzinfo=UTC),  # before every reference period: catch-up asks for one
        # it does nothing before an embargo ends, and then the table must be written
        is_paused_upon_creation=False,
        catchup=True,  # also of an embargo that ended while the scheduler was down
        default_args=DEFAULTS,
        tags=["release", domain.id],
        params={
            "period": period_param(),
            "out": place_param("Output folder", OUT, domain.id, "for table.csv, audit.json and report.html"),
        },
    ) as dag:
        table(str(file))
    return dag


globals().update(dags_of_domains("after_embargo", embargo_dag))
