"""Every night: confidential bytes past their retention are purged, every check of the
warehouse is run, the log is verified.
"""

from __future__ import annotations

from typing import Any

import sdc_places
from airflow.sdk import DAG, chain, task
from sdc_dags.tasks import DEFAULTS, log, refused

ABOUT = """
Keeps the warehouse in order. Nothing here changes what is published.

### When something is red
- **`purge`**: somebody is reading the bytes that must be purged; clear the task.
- **`checks`**: a check of the warehouse fails; the log names the check and the first row. Release nothing
  until the owner of the warehouse
  has found the reason (`sql/checks/<name>.sql`).
- **`log_chain`**: an entry of the log was changed or is missing. Tell the owner of the data;
  compare with the digests noted earlier
  (`sdc verify-log --head`).
"""


def _office() -> Any:
    from sdc_tasks import steps

    return steps.open_office(sdc_places.warehouse(), "maintenance")


@task
def purge() -> int:
    """Deletes every payload whose retention has ended. **Red:** somebody reads the warehouse;
    clear the task.
    """
    from sdc_tasks.warehouse.confidential.maintenance import purge

    done = purge(_office())
    log.info("%d payloads purged", done)
    return done


@task(trigger_rule="all_done")
def checks() -> None:
    """Opens the secret, looks for damage in the database, and runs every file of `sql/checks`.
    **Red:** the secret was changed, a page or an index is damaged, or a check returns rows; release
    nothing until the reason is known.
    """
    from sdc_tasks.warehouse.confidential.maintenance import damage
    from sdc_tasks.warehouse.confidential.secret import secret_of
    from sdc_tasks.warehouse.database.checks import failures

    office = _office()
    secret_of(office)
    _require(damage(office) or failures(office))
    log.info("every check passes")


@task(trigger_rule="all_done")
def log_chain() -> str:
    """Verifies the chain of the log. Returns its newest digest: keep it elsewhere. **Red:** the log was
    changed.
    """
    from sdc_tasks.warehouse.log import broken, entries

    chain_ = entries(_office())
    _require(broken(chain_))
    newest = chain_[-1].digest if chain_ else "none"
    log.info("%d entries, newest %s", len(chain_), newest)
    return newest


def _require(wrong: list[str]) -> None:
    for line in wrong:
        log.error("%s", line)
    if wrong:
        raise refused(f"{len(wrong)} wrong, first: {wrong[0]}")


with DAG(
    dag_id="maintenance",
    description="retention, checks, log",
    doc_md=ABOUT,
    schedule="30 2 * * *",
    catchup=False,
    max_active_runs=1,
    default_args=DEFAULTS,
    tags=["maintenance"],
) as dag:
    chain(purge(), checks(), log_chain())
