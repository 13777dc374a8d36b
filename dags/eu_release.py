"""The release cycle of a domain, from the national deliveries to the protected European
table: one DAG per domain file.

Domain files are those shipped with `sdc_tasks`, then those of the folders in SDC_DOMAINS; a later file with
the same id wins. A run starts by itself when the deliveries of a period are due (the calendar of the domain
file), or is triggered with a period. The graph is at the end, in `release_dag`. Each task calls one step of
`sdc_tasks.steps`. The person on call reads the docstrings of the tasks in the UI.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, Asset, TaskGroup, chain, get_current_context
from airflow.sdk.exceptions import AirflowSkipException
from sdc_alerts import deadlines
from sdc_dags.approval import approvals
from sdc_dags.assets import assets_of
from sdc_dags.domains import dags_of_domains
from sdc_dags.params import period_param, place_param
from sdc_dags.run import desk, measure, note_run, place
from sdc_dags.tasks import DEFAULTS, HEAVY, log, mapped, refused, step
from sdc_places import INBOX, OUT
from sdc_timetable import CycleTimetable

from sdc_tasks.domains import Domain
from sdc_tasks.methods.cta.options import RungOptions

# Airflow counts a run that waits for its approval among the active ones, so the limit is one that nobody
# reaches: a run that waits must not delay another period, or its own correction. Memory and processors are
# bounded by the pool `solver`, which a waiting run does not hold.
SIDE_BY_SIDE = 10_000

ABOUT = """
**{title}**: receives the national deliveries of a period, computes how much uncertainty the
European cells need, rounds them to
safe bases, attacks the result, and publishes it only if the attack fails.

It starts by itself when the deliveries of a period are due; or trigger it with the period. A run over
the same deliveries, domain file
and program is the same release: finished steps are not repeated, and no second version is published.

### When something is red
- **`discover`**: no inbox, or it is empty. Correct the parameter `inbox` and trigger again.
- **one `ingest`**: that country's delivery is refused, all its files together; the others go on. The
  end of the log names file, line
  and rule. Ask the country for a corrected file, put it into the inbox under the same name (or that
  name with `_v2`, `_v3` … before its
  suffix), and re-run that country alone: *ingest* → *Task Instances* →
  the country → *Clear Task Instance*, with *Downstream* → *Confirm*. The release follows with the corrected
  file.
- **one `ingest` whose log shows a crash, or whose worker died**: nothing is wrong with the
  file. Re-run that country alone.
- **`collect`, `assemble`**: a country is missing, and the domain file says `missing_country:
  {missing}`. As above; where the country
  had no file at all, trigger again.
- **one `suppress`**: nothing that the receiver may hide in the table of that country protects a
  primary. The log names cell and remedy;
  ask the country for a corrected file, as for `ingest`.
- **a rung, `cta_…`**: that strategy crashed, or did not end within the time of the domain file. The
  release stops, because its figures
  would be different without this rung. Clear the rung with *Downstream* when the machine is less
  busy. If it fails again, call the
  methodologist.
- **`baseline`, one `bases`, one `audit`**: a limit of the machine, or a defect. Clear the task, or that
  instance: others keep what they
  found. If it fails again, call the methodologist.
- **`approve_…`**: waits for the approval of somebody who did not trigger the run, see *Required
  Actions*. Pink: a later release of the
  period took its place. Red: rejected, the log says by
  whom; or the publication has changed since this run asked: trigger the DAG again.
- **`publish`**: **the audit did not pass, nothing was published.** Open `report.html`. The
  methodologist changes the domain file;
  nobody publishes by hand.
- **`released`**: a task before it failed; look there.

The table of audits in the warehouse decides whether something was published, not the
colour of the run: a run can be
green although one country is red, where the domain file publishes partial aggregates.
"""


def _release() -> str:
    """The id of this run's release, from `assemble`."""
    return str(get_current_context()["ti"].xcom_pull(task_ids="assemble"))


def _opened() -> str | None:
    """The id of the release that `collect` has opened in this run; None where the receiver sets
    nothing, so that `assemble` opens it.
    """
    tables = get_current_context()["ti"].xcom_pull(task_ids="collect")
    return str(tables[0]["release"]) if tables else None


@step
def discover(domain: str) -> list[dict[str, str]]:
    """Receives every file of the inbox into the warehouse. Lists the deliveries that must be judged.

    **Red:** the inbox does not exist or is empty. Correct the parameter `inbox` and trigger the DAG again.
    """
    from sdc_tasks import steps

    at = desk(domain)
    note_run(at)
    found = steps.discover(at, place("inbox", at))
    log.info("%d deliveries", len(found))
    return [{"file": each.file, "label": each.label} for each in found]


@step(map_index_template="{{ task.op_kwargs['file']['label'] }}")
def ingest(domain: str, file: dict[str, str]) -> str:
    """Reads the files of a country that are in the inbox now (each unreadable record is a finding
    with its line), and checks them together for completeness, additivity, signs, shares, and
    change against the previous delivery.

    **Red:** the delivery is refused, and only this country stops. The last line of the log names the file,
    and line and rule, or check and cells. Ask the country for a corrected file, put it into the inbox under
    the same name, and *Clear Task Instance* here with *Downstream*: the release continues with the corrected
    file. Checks that only warn leave the task green and are in the report.
    """
    from sdc_tasks import steps

    at = desk(domain)
    _, digest = steps.ingest(at, place("inbox", at), file["file"])
    return digest


@step(trigger_rule="all_done_min_one_success")  # whatever became of the countries; not if `discover` failed
def collect(domain: str) -> list[dict[str, str]]:
    """Opens the release of all accepted deliveries, and lists the countries whose tables the receiver
    examines.

    **Red:** as `assemble`: a country is missing, or something in the inbox is not read. The log says which.
    """
    from sdc_tasks import outputs, steps

    at = desk(domain)
    try:
        release_id, countries = steps.collect(at)
    finally:  # what is wrong with the countries beside each other is found here
        outputs.write_findings(at, place("out", at))
    note_run(at, release_id=release_id)
    return [{"release": release_id, "country": country} for country in countries]


@step(map_index_template="{{ task.op_kwargs['table']['country'] }}", **HEAVY)
def suppress(domain: str, table: dict[str, str]) -> str:
    """Checks whether the national table protects its primaries. Where it does not, and the
    domain file asks for it, sets secondaries: these cells are confidential in the release, and a
    finding lists them for the NSI.

    **Red:** *Unprotectable*: no secondaries that may be set protect a primary; the log and the findings of
    the country name cell and remedy. Put a corrected file into the inbox and clear *ingest* of the country
    with *Downstream*. *TimeUp*: clear the instance when the machine is less busy.
    """
    from sdc_tasks import steps

    return steps.suppress(desk(domain), table["release"], table["country"])


@step(trigger_rule="all_done_min_one_success")  # whatever became of the countries; not if `discover` failed
def assemble(domain: str) -> str:
    """Joins the deliveries of the release into one protection problem: those with which `collect` opened it,
    or, where the receiver sets no secondaries, all that are accepted now. The same deliveries, domain file
    and program are the same release, under the same id.

    **Red:** a country is missing and the domain file does not publish without it (`missing_country`); the log
    names it. Put its delivery into the inbox, and clear *its* `ingest` with *Downstream*; trigger the DAG
    again where it has none. Or something in the inbox is not read: send it as CSV, or remove it, and trigger
    again. Or a country is out of proportion to the others (check `proportion`), and its delivery is refused
    now: ask the NSI for unit and multiplier. `findings.csv` in the output folder lists all findings.
    """
    from sdc_tasks import outputs, steps

    at = desk(domain)
    try:
        release_id = steps.assemble(at, _opened())
    finally:  # what is wrong with the countries beside each other is found here
        outputs.write_findings(at, place("out", at))
    note_run(at, release_id=release_id)
    log.info(release_id)
    return release_id


@step(**HEAVY)
def baseline(domain: str) -> str:
    """Computes what the national tables alone protect, and names the countries whose own
    tables leave primaries unprotected.

    **Red:** a defect or a limit of the machine; clear the task.
    """
    from sdc_tasks import steps

    return steps.baseline(desk(domain), _release())


@step
def climb(domain: str, rung: int) -> bool:
    """One strategy of the CTA ladder: searches for the smallest adjustment that protects every primary.
    Returns whether the next rung is needed.

    It ends by counted work, the same on any machine. **Pink:** not needed, an earlier rung was good
    enough; the log says which. **Red:** the solver crashed, or did not end in time. The release stops,
    because its figures would be different without this rung: clear the rung with *Downstream*. If it
    fails again, call the methodologist.
    """
    from sdc_tasks import steps

    at, release_id = desk(domain), _release()
    enough, why = steps.climbed(at, release_id, rung)
    if enough:
        log.info("not needed: %s", why)
        raise AirflowSkipException(f"not needed: {why}")
    return steps.adjust(at, release_id, rung)


@step(trigger_rule="none_failed_min_one_success")  # rungs may be skipped; a failed rung stops the release
def cta_outcome(domain: str) -> None:
    """Reports which rung's table is the start for the bases. If no rung returned a table,
    the audit alone drives the bases.
    """
    from sdc_tasks import steps

    _, why = steps.climbed(desk(domain), _release())
    log.info(why)


@step(map_index_template="{{ task.op_kwargs['group']['indicators'] }}", **HEAVY)
def bases(domain: str, group: dict[str, Any]) -> str:
    """Decides for every European cell of linked indicators: exact, rounded to a base, or withheld. Attacks
    and repairs until the attacker breaks nothing. The last group joins what is decided.

    **Red:** a defect or a limit of the machine; clear the instance.
    """
    from sdc_tasks import steps

    return steps.choose_bases(desk(domain), _release(), group["number"])


@step(map_index_template="chunk {{ task.op_kwargs['chunk'] + 1 }}", **HEAVY)
def audit(domain: str, chunk: int) -> str:
    """Attacks the chosen publication from outside, for one part of the primaries. It does not know how the
    publication was chosen. It tries the tables that `bases` found, and checks each by arithmetic before it
    counts. The first part stores what all have in common.

    **Red:** a defect or a limit of the machine (broken protection does not turn this red); clear the
    instance.
    """
    from sdc_tasks import steps

    return steps.audit_chunk(desk(domain), _release(), chunk)


@step
def verdict(domain: str) -> dict[str, str | bool]:
    """Joins the parts of the audit and stores its certificate. Green also when the audit
    did not pass: a verdict is data.
    """
    from sdc_tasks import steps

    at, release_id = desk(domain), _release()
    digest, passed = steps.verdict(at, release_id)
    measure(at, release_id)
    return {"certificate": digest, "passed": passed}


@step
def publish(domain: str, published: Asset) -> int:
    """Publishes to the warehouse in one transaction, only with a passed audit of exactly this
    publication. Returns the version, and tells it as an event of the asset `published_<domain>`, with the
    deliveries that it was made of.

    **Red:** *NotApproved*: the publication has changed since people were asked; clear `approve_1` with
    *Downstream*. *Superseded*: newer deliveries are accepted, or second files of countries wait for an
    answer, and nobody decided to publish without them; the log says which. Answer what the second files are,
    and trigger the DAG again. *ReleaseBlocked*: nothing was published. Open `report.html`: it names the
    cells. A methodologist changes the domain file (bases, maximum relative base, compositions) and triggers
    the DAG again. Nobody publishes by hand.
    """
    from sdc_tasks import steps
    from sdc_tasks.errors import Superseded
    from sdc_tasks.warehouse import reader
    from sdc_tasks.warehouse.dissemination.publisher import NotApproved

    at = desk(domain)
    try:
        version = steps.publish(at, _release())
    except (
        NotApproved,
        Superseded,
    ) as refusal:  # a retry does not help: somebody must be asked, or the release made again
        raise refused(f"{type(refusal).__name__}: {refusal}") from None
    event = get_current_context()["outlet_events"][published]
    event.add_partitions(at.period)
    event.extra = {
        "release": _release(),
        "version": version,
        "made_of": {**reader.made_of(at.engine, _release())},
    }
    return version


@step(trigger_rule="all_done_min_one_success")  # also of a blocked release; not without a verdict
def report(domain: str) -> str:
    """Writes `report.html` and `audit.json`, and `table.csv` if the audit passed, to the folder `out`.

    **Pink:** a later release of the period took the place of this one; the folder holds what that one wrote.
    **Red:** most often the folder cannot be written; correct it and clear the task.
    """
    from sdc_tasks import outputs, steps

    at = desk(domain)
    if later := steps.followed(at, _release()):
        at.say(f"not written: {later} took the place of this release, and wrote its own")
        raise AirflowSkipException("superseded")
    page = outputs.write_out(at, _release(), place("out", at))
    log.info("report: %s", page)
    return str(page)


@step
def released() -> None:
    """Green only when the release is published and reported. It gives the run the colour of
    `publish`, whatever `report` did.
    """


def release_dag(domain: Domain, file: Path) -> DAG:
    """The graph of the release DAG of a domain."""
    source, assets = str(file), assets_of(domain.id)
    with DAG(
        dag_id=f"eu_release_{domain.id}",
        description=domain.title,
        doc_md=ABOUT.format(title=domain.title, missing=domain.missing_country),
        schedule=CycleTimetable.of(domain.calendar),
        catchup=False,
        max_active_runs=SIDE_BY_SIDE,
        default_args=DEFAULTS | {"priority_weight": domain.calendar.priority, "weight_rule": "absolute"},
        deadline=deadlines(domain),
        tags=["release", domain.id],
        params={
            "period": period_param(),
            "inbox": place_param(
                "Inbox", INBOX, domain.id, "where the national deliveries of this period lie"
            ),
            "out": place_param("Output folder", OUT, domain.id, "for table.csv, audit.json and report.html"),
        },
    ) as dag:
        files = discover(source)
        countries = mapped(ingest, domain=source).expand(file=files)
        if domain.suppression.active:
            tables = collect(source)
            looked_at = mapped(suppress, domain=source).expand(table=tables)
            problem = assemble.override(trigger_rule="all_success")(source)
            chain(files, tables, looked_at, problem)
            chain(countries, tables)
        else:
            problem = assemble(source)
            chain(files, problem)
            chain(countries, problem)
        requirements = baseline(source)
        ladder = cta(source, domain.cta.ladder, requirements)
        groups = [
            {"number": number, "indicators": ", ".join(domain.groups[number])}
            for number in domain.largest_first
        ]
        chosen = mapped(bases, domain=source).expand(group=groups)
        attacks = mapped(audit, domain=source).expand(chunk=list(range(domain.audit.chunks)))
        judged, page, done = verdict(source), report(source), released()
        published = publish.override(inlets=[assets.accepted], outlets=[assets.published])(
            source, assets.published
        )

        agreed = [approvals(source, domain.governance.approvals)] if domain.governance.approvals else []

        chain(files, countries)
        chain(problem, requirements, ladder, chosen, attacks, judged, *agreed, published, page, done)
        chain(requirements, chosen)
        chain(judged, page)
        chain(published, done)
    return dag


def cta(source: str, rungs: tuple[RungOptions, ...], requirements: Any) -> TaskGroup:
    """The ladder of strategies, one task each. A rung is skipped when an earlier one was good enough;
    a failed rung stops the release.
    """
    with TaskGroup(
        "cta", prefix_group_id=False, tooltip="strategies of controlled tabular adjustment, tried in order"
    ) as ladder:
        before = None
        outcome = cta_outcome(source)
        chain(requirements, outcome)
        for position, rung in enumerate(rungs):
            this = climb.override(
                task_id=f"cta_{position + 1}_{rung.method}",
                queue=HEAVY["queue"],
                pool=HEAVY["pool"],
                execution_timeout=timedelta(
                    minutes=15, seconds=rung.seconds
                ),  # for a solver that does not look at the clock
                # the rung before may be skipped, `requirements` must be there
                trigger_rule="none_failed_min_one_success",
            )(source, position)
            chain(requirements, this, outcome)
            if before is not None:
                chain(before, this)
            before = this
    return ladder


globals().update(dags_of_domains("eu_release", release_dag))
