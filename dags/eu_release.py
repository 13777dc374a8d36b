"""The release cycle of a domain, from the national deliveries to the protected European table: one DAG per domain file.

Domain files are those shipped with `sdc_tasks`, then those of the folders in SDC_DOMAINS; a later file with the same id wins.
The graph is at the end, in `release_dag`. Each task calls one step of `sdc_tasks.steps`; what a task says here is what the person
on call reads in the UI. Between tasks travel ids and digests, never a value. Parsing imports no solver and no Great Expectations.
"""

from __future__ import annotations

import logging
import os
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk import DAG, ExceptionRetryPolicy, Param, RetryAction, RetryRule, TaskGroup, chain, get_current_context, task, task_group
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from sdc_tasks.domains import schema
from sdc_tasks.errors import InvalidInput, Retriable

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
HOURS = {"execution_timeout": timedelta(hours=4)}  # the attacker's LPs of a large domain

ABOUT = """
**{title}**: takes in the national deliveries of a period, computes how much uncertainty the European cells need, rounds them to
safe bases, attacks the result, and publishes it only if the attack fails.

Trigger it with the period. A run over the same files, domain file and program is the same release: what is done already is not
done again, and no second version is published.

### When something is red
- **`discover`**: no inbox, or it is empty. Correct the parameter `inbox` and trigger again.
- **one `ingest` or `check`**: that country's file is refused, the others go on. The end of the log names file, line and rule. Ask the
  country for a corrected file, put it into the inbox, **trigger the DAG again**.
- **one `ingest` or `check` whose log shows a crash, or whose worker died**: nothing is wrong with the file. Re-run that country alone:
  *ingest* → *Task Instances* → the country → *Clear Task Instance*, with *Downstream* → *Confirm*.
- **`assemble`**: a country is missing, and the domain file says `missing_country: {missing}`. As above, then trigger again.
- **a rung, `cta_…`**: that strategy crashed or ran over its time. Nothing to do tonight: the next rung, or the bases alone, protect
  the table. Keep the log for the methodologist.
- **`baseline`, `bases`, `audit`**: a limit of the machine, or a defect. Clear the task; if it fails again, call the methodologist.
- **`publish`**: **the audit did not pass, nothing was published.** Open `report.html`. The methodologist changes the domain file;
  nobody publishes by hand.
- **`released`**: a task before it failed; look there.

Whether something was published is decided by the table of audits in the warehouse, not by the colour of the run: a run can be
green although one country is red, where the domain file publishes partial aggregates.
"""


def _desk(domain: str) -> Desk:
    """Where this run works. The warehouse is that of the deployment, not a parameter: its address may hold a password."""
    from sdc_tasks import steps

    warehouse = os.environ.get("SDC_WAREHOUSE_URL") or f"sqlite:///{VAR / 'warehouse.db'}"
    return steps.open_desk(warehouse, domain, get_current_context()["params"]["period"], log.info)


def _folder(name: str) -> Path:
    """The folder that a parameter of this run names."""
    params = get_current_context()["params"]
    return Path(params[name].replace("{period}", params["period"]))


def _release() -> str:
    """The id of this run's release, from `discover`."""
    return str(get_current_context()["ti"].xcom_pull(task_ids="discover", key="release_id"))


@task
def discover(domain: str) -> list[dict[str, str]]:
    """Receives every file of the inbox into the warehouse, and opens the release.

    **Red:** the inbox does not exist or is empty. Correct the parameter `inbox` and trigger the DAG again.
    """
    from sdc_tasks import steps

    release_id, received = steps.discover(_desk(domain), _folder("inbox"))
    get_current_context()["ti"].xcom_push(key="release_id", value=release_id)
    log.info("%s: %d deliveries", release_id, len(received))
    return [{"digest": each.digest, "label": each.label} for each in received]


@task(map_index_template="{{ task.op_kwargs['file']['label'] }}")
def ingest(domain: str, file: dict[str, str]) -> str:
    """Reads one received file; every record that cannot be read is a finding with its line.

    **Red:** the file is refused, and only this country stops. The last line of the log names the file, line and rule. Ask the
    country for a corrected file and trigger the DAG again. If the task crashed instead: *Clear Task Instance* with *Downstream*.
    """
    from sdc_tasks import steps

    return steps.ingest(_desk(domain), file["digest"])


@task(map_index_template="{{ task.op_kwargs['file']['label'] }}")
def check(domain: str, file: dict[str, str]) -> str:
    """Checks the content of one delivery: additivity, signs, completeness, shares, and change against the previous file.

    **Red:** a check refuses the delivery; the log names check and cells. What to do is as for `ingest`. Checks that only warn
    leave the task green and are in the report.
    """
    from sdc_tasks import steps

    return steps.check(_desk(domain), file["digest"])


@task_group(prefix_group_id=False)
def delivery(domain: str, file: dict[str, str]) -> None:
    """One received file: read, then checked. A file that cannot be read is not checked; the others go on."""
    chain(ingest(domain=domain, file=file), check(domain=domain, file=file))


@task(trigger_rule="all_done_min_one_success")  # whatever became of the countries; not if `discover` failed
def assemble(domain: str) -> str:
    """Joins all accepted deliveries into one protection problem.

    **Red:** a country is missing and the domain file does not publish without it (`missing_country`); the log names it. Get its
    delivery and trigger the DAG again.
    """
    from sdc_tasks import steps

    return steps.assemble(_desk(domain), _release())


@task(**HOURS)
def baseline(domain: str) -> str:
    """Finds out what the national tables alone protect, and names the countries whose own tables leave primaries unprotected.

    **Red:** a defect or a limit of the machine; clear the task.
    """
    from sdc_tasks import steps

    return steps.baseline(_desk(domain), _release())


@task
def climb(domain: str, rung: int) -> bool:
    """One strategy of the CTA ladder: looks for the smallest adjustment that protects every primary. Returns whether a further
    rung is needed.

    **Pink:** not needed, an earlier rung was good enough; the log says which. **Red:** the solver crashed or ran over its time;
    the next rung follows, and the bases are safe without any. Keep the log for the methodologist.
    """
    from sdc_tasks import steps

    desk, release_id = _desk(domain), _release()
    enough, why = steps.climbed(desk, release_id, rung)
    if enough:
        log.info("not needed: %s", why)
        raise AirflowSkipException(f"not needed: {why}")
    return steps.adjust(desk, release_id, rung)


@task(trigger_rule="all_done")  # rungs may be skipped, and may fail
def cta_outcome(domain: str) -> None:
    """Says which rung's table the bases start from; where no rung left one, they are driven by the audit alone.

    **Pink:** the ladder was not reached; look at the tasks before it.
    """
    from sdc_tasks import steps

    if get_current_context()["ti"].xcom_pull(task_ids="baseline") is None:
        raise AirflowSkipException("the ladder was not reached")
    _, why = steps.climbed(_desk(domain), _release())
    log.info(why)


@task(**HOURS)
def bases(domain: str) -> str:
    """Decides for every European cell: exact, rounded to a base, or withheld. Attacks and repairs until the attacker breaks nothing.

    **Red:** a defect or a limit of the machine; clear the task.
    """
    from sdc_tasks import steps

    return steps.choose_bases(_desk(domain), _release())


@task(map_index_template="chunk {{ task.op_kwargs['chunk'] + 1 }}", **HOURS)
def audit(domain: str, chunk: int) -> str:
    """Attacks the chosen publication from outside, for one part of the primaries; knows nothing of how it was chosen.

    **Red:** a defect or a limit of the machine (broken protection does not turn this red); clear the instance.
    """
    from sdc_tasks import steps

    return steps.audit_chunk(_desk(domain), _release(), chunk)


@task
def verdict(domain: str) -> dict[str, str | bool]:
    """Joins the parts of the audit and stores its certificate. Green also when the audit did not pass: a verdict is data."""
    from sdc_tasks import steps

    digest, passed = steps.verdict(_desk(domain), _release())
    return {"certificate": digest, "passed": passed}


@task
def publish(domain: str) -> int:
    """Publishes to the warehouse in one transaction, only with a passed audit of exactly this publication. Returns the version.

    **Red:** *ReleaseBlocked*, nothing was published. Open `report.html`: it names the cells. A methodologist changes the domain
    file (bases, maximum relative base, compositions) and triggers the DAG again. Nobody publishes by hand.
    """
    from sdc_tasks import steps

    return steps.publish(_desk(domain), _release())


@task(trigger_rule="all_done_min_one_success")  # also of a blocked release; not without a verdict
def report(domain: str) -> str:
    """Writes `report.html` and `audit.json`, and `table.csv` if the audit passed, to the folder `out`.

    **Red:** most often the folder cannot be written; correct it and clear the task.
    """
    from sdc_tasks import outputs

    page = outputs.write_out(_desk(domain), _release(), _folder("out"))
    log.info("report: %s", page)
    return str(page)


@task
def released() -> None:
    """Green only when the release is published and reported; carries the colour of `publish` to the run, whatever `report` did."""


def release_dag(domain: schema.Domain, file: Path) -> DAG:
    """The graph."""
    source = str(file)
    with DAG(
        dag_id=f"eu_release_{domain.id}",
        description=domain.title,
        doc_md=ABOUT.format(title=domain.title, missing=domain.missing_country),
        schedule=None,
        max_active_runs=1,
        default_args=DEFAULTS,
        tags=["release", domain.id],
        params={
            "period": Param(type="string", pattern=r"^\d{4}([-A-Z0-9]{0,8})$", title="Reference period", description="such as 2024"),
            "inbox": Param(
                os.environ.get("SDC_INBOX") or str(VAR / "inbox" / domain.id / "{period}"),
                type="string",
                title="Inbox",
                description="folder with the national deliveries of this period; {period} stands for the period",
            ),
            "out": Param(
                os.environ.get("SDC_OUT") or str(VAR / "out" / domain.id / "{period}"),
                type="string",
                title="Output folder",
                description="folder for table.csv, audit.json and report.html; {period} stands for the period",
            ),
        },
    ) as dag:
        files = discover(source)
        countries = delivery.partial(domain=source).expand(file=files)
        problem = assemble(source)
        requirements = baseline(source)
        ladder = cta(source, domain.cta.ladder, requirements)
        chosen = bases(source)
        attacks = audit.override(doc_md=audit.function.__doc__).partial(domain=source).expand(chunk=list(range(domain.audit.chunks)))
        judged, published, page, done = verdict(source), publish(source), report(source), released()

        chain(files, countries, problem, requirements, ladder, chosen, attacks, judged, published, page, done)
        chain(files, problem)
        chain(requirements, chosen)
        chain(judged, page)
        chain(published, done)
    return dag


def cta(source: str, rungs: tuple[schema.RungOptions, ...], requirements: Any) -> TaskGroup:
    """The ladder of strategies, a task each: one is skipped when an earlier one was good enough, and none can stop the release."""
    with TaskGroup("cta", prefix_group_id=False, tooltip="strategies of controlled tabular adjustment, tried in order") as ladder:
        before = None
        outcome = cta_outcome(source)
        for position, rung in enumerate(rungs):
            this = climb.override(
                task_id=f"cta_{position + 1}_{rung.method}",
                execution_timeout=timedelta(minutes=5, seconds=3 * rung.seconds),  # above the solver's own limit
                trigger_rule="all_success" if before is None else "all_done_min_one_success",  # `requirements` must be there
            )(source, position)
            chain(requirements, this, outcome)
            if before is not None:
                chain(before, this)
            before = this
    return ladder


def refused_dag(dag_id: str, file: Path, error: InvalidInput) -> DAG:
    """A domain file that cannot be read takes no other domain's DAG with it, and is not overlooked either."""
    with DAG(dag_id=dag_id, description=f"{file.name} is refused", doc_md=str(error), schedule=None, tags=["release", "refused"]) as dag:

        @task(doc_md=f"**Red:** the domain file `{file}` must be corrected.")
        def domain_file() -> None:
            raise AirflowFailException(str(error))

        domain_file()
    return dag


def domain_files() -> list[Path]:
    """The shipped domain files, then those of the folders in SDC_DOMAINS."""
    folders = [schema.HERE, *(Path(each) for each in os.environ.get("SDC_DOMAINS", "").split(os.pathsep) if each)]
    return [file.resolve() for folder in folders for file in sorted(folder.glob("*.yaml"))]


dags: dict[str, DAG] = {}
for path in domain_files():
    try:
        spec = schema.load_domain(path)
        dags[f"eu_release_{spec.id}"] = release_dag(spec, path)
    except InvalidInput as problem:
        name = f"eu_release_{path.stem}"
        dags.setdefault(name, refused_dag(name, path, problem))
globals().update(dags)
