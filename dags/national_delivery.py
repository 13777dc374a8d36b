"""Receives and judges a country's file as soon as it arrives, and marks a release as ready to be run (again).

One DAG per domain. It starts by itself when a file in the inbox is new or changed, or by hand with a period.
An accepted delivery is an event of the asset `accepted_<domain>` with the country as partition. When all
deliveries for a release are there, and no release of exactly these deliveries was run, the asset event
`ready_<domain>` follows, and an alert of kind `ready` on the board. Where a published release was not made of
what is accepted now, the asset event `stale_<domain>` follows, with the period as partition.
sdc_dags/assets.py says how a DAG waits for events with partitions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from airflow.sdk import DAG, Asset, AssetWatcher, chain, get_current_context
from sdc_dags.assets import assets_of
from sdc_dags.domains import dags_of_domains
from sdc_dags.params import period_param, place_param
from sdc_dags.run import desk, note_run, place
from sdc_dags.tasks import DEFAULTS, log, mapped, refused, step
from sdc_inbox import InboxTrigger
from sdc_places import INBOX

from sdc_tasks.domains import Domain

ABOUT = """
**{title}**: judges national deliveries as they arrive. Accepted deliveries wait for the next run of
`eu_release_{id}`; nothing is published
here.

### When something is red
- **one `judge`**: the file of that country is refused; the end of its log names file, line and rule.
  Ask the country for a corrected
  file and put it into the inbox: this DAG starts again by itself.
- **`arrived`**, and with it `ready` and `outdated`: the inbox cannot be read, or the parameter
  `period` is missing in a run that was
  triggered by hand.

A DAG of yours that waits for an event of these assets needs a timetable for partitions; see
`sdc_dags/assets.py`.
"""


@step
def arrived(domain: str) -> list[dict[str, str]]:
    """Receives new files in the inboxes of the periods of this run, in the order of the names.

    **Red:** the inbox cannot be read; correct the parameter, or clear the task when the inbox is back.
    """
    from sdc_tasks import steps

    found = []
    for at in _desks(domain):
        note_run(at)
        found += [
            {"period": at.period, "file": each.file, "label": each.label}
            for each in steps.news(at, place("inbox", at))
        ]
    log.info("%d files to judge", len(found))
    return found


@step(map_index_template="{{ task.op_kwargs['file']['label'] }}")
def judge(domain: str, file: dict[str, str], accepted: Asset) -> str:
    """Reads and checks the delivery of one file. Green: it counts from now on.

    **Red:** the delivery is refused, the log says why. The earlier delivery of the country stays.
    """
    from sdc_tasks import steps

    at = desk(domain, file["period"])
    country, digest = steps.ingest(at, place("inbox", at), file["file"])
    event = get_current_context()["outlet_events"][accepted]
    event.add_partitions(country)
    event.extra = {"period": at.period, "digest": digest}
    return country


@step(
    trigger_rule="all_done"
)  # also after a refused file, and where no file is new: what is accepted may be complete all the same
def ready(domain: str, files: Any, complete: Asset) -> list[str]:
    """Marks releases that can be run now and were never run. Pink: there is none. **Red:** as `arrived`."""
    from airflow.sdk.exceptions import AirflowSkipException
    from sdc_alerts import announce

    from sdc_tasks import steps

    _refuse_unread(files)
    found = []
    for at in _desks(domain):
        if told := steps.ready(at):
            announce(at.engine, at.domain.id, at.period, "ready", *told)
            found.append(told[0])
    if not found:
        raise AirflowSkipException("nothing new to release")
    get_current_context()["outlet_events"][complete].extra = {"releases": list(found)}
    return found


@step(trigger_rule="all_done")
def outdated(domain: str, files: Any, stale: Asset) -> list[str]:
    """Tells of published releases that were not made of what is accepted now. Pink: there
    is none. **Red:** as `arrived`.
    """
    from airflow.sdk.exceptions import AirflowSkipException

    from sdc_tasks import steps

    _refuse_unread(files)
    found = {at.period: release_id for at in _desks(domain) if (release_id := steps.outdated(at))}
    if not found:
        raise AirflowSkipException("no published release is out of date")
    event = get_current_context()["outlet_events"][stale]
    event.add_partitions(sorted(found))
    event.extra = {"releases": {**found}}
    log.info("out of date: %s", ", ".join(found.values()))
    return list(found.values())


def _refuse_unread(files: list[dict[str, str]] | None) -> None:
    """`all_done` alone would go on, and leave the run green, where `arrived` failed and lists
    nothing; the rules that ask for a success skip a task beside any that was skipped, as `judge` is
    where no file is new (Airflow 3.3).
    """
    if files is None:
        raise refused(
            "the inbox was not read. Remedy: see `arrived`, correct it, and clear it with Downstream"
        )


def _desks(domain: str) -> list[Any]:
    """A desk for each period of this run: the periods of the events that started it, or the period of its
    parameter.
    """
    context = get_current_context()
    events = [event for each in context["triggering_asset_events"].values() for event in each]
    payloads = [event.extra["payload"] for event in events if "payload" in event.extra]
    told = {
        period for each in payloads for period in each.get("periods") or [each["period"]]
    }  # one: told by a version before this one
    if context["params"].get("period") or not told:
        return [desk(domain)]
    return [desk(domain, period) for period in sorted(told)]


def delivery_dag(domain: Domain, file: Path) -> DAG:
    """The graph of the delivery DAG of a domain."""
    source, inbox = str(file), INBOX.replace("{domain}", domain.id)
    watched = (
        [AssetWatcher(name=f"inbox_{domain.id}", trigger=InboxTrigger(inbox))] if "{period}" in inbox else []
    )
    assets = assets_of(domain.id)
    with DAG(
        dag_id=f"national_delivery_{domain.id}",
        description=f"{domain.title}: deliveries as they arrive",
        doc_md=ABOUT.format(title=domain.title, id=domain.id),
        schedule=[Asset(f"inbox_{domain.id}", watchers=watched)] if watched else None,
        catchup=False,
        max_active_runs=1,
        default_args=DEFAULTS,
        tags=["delivery", domain.id],
        params={
            "period": period_param(),
            "inbox": place_param(
                "Inbox", INBOX, domain.id, "where the national deliveries of this period lie"
            ),
        },
    ) as dag:
        files = arrived(source)
        judged = mapped(
            judge.override(outlets=[assets.accepted]), domain=source, accepted=assets.accepted
        ).expand(file=files)
        marked = ready.override(inlets=[assets.accepted], outlets=[assets.ready])(source, files, assets.ready)
        stale = outdated.override(inlets=[assets.accepted, assets.published], outlets=[assets.stale])(
            source, files, assets.stale
        )
        chain(files, judged, [marked, stale])
    return dag


globals().update(dags_of_domains("national_delivery", delivery_dag))
