"""Alerts, and the deadlines of a release run, which raise some of them. Each is sent once: to the
operator's desk, by e-mail and webhook.

`delivery`    the deliveries are due, and countries have no accepted one: one alert for each country
`solver`      the ladder and the audit take longer than all their limits together
`protection`  the table should be protected by now
`approval`    the approval is due; without an instant of its own, a day before the embargo
`ready`       a release can be run
`asked`       somebody is asked to agree to a publication
`own`         the answer of somebody who started a run of the release, or who agreed before, did not count
`answer`      an answer did not count, because newer deliveries wait
`retraction`  somebody is asked whether a release is taken back, or an answer did not count

Airflow calls `overdue` when an unfinished run passes such an instant, perhaps more than once. The
warehouse decides whether the alert is true and new, and shows it until its reason is gone. Nobody is late
before the inbox was read and its files were judged. SDC_ALERT_WEBHOOK is an address that accepts JSON.
SDC_ALERT_EMAIL lists the receivers of mail (separated by commas), sent through the server SDC_ALERT_SMTP
(host:port), from SDC_ALERT_FROM.
"""

from __future__ import annotations

import asyncio
import logging
import os
import smtplib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from typing import TYPE_CHECKING, Any

from airflow.sdk.definitions.callback import AsyncCallback
from airflow.sdk.definitions.deadline import BaseDeadlineReference, DeadlineAlert

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from sdc_tasks.domains.schema import Domain

log = logging.getLogger("sdc.alert")
BEFORE_EMBARGO = timedelta(days=1)
JUDGING = timedelta(minutes=15)  # for the files that arrived in time
BESIDE_SOLVERS = timedelta(minutes=30)  # for the work beside the solvers
LATER = {"delivery": JUDGING}
TOO_LONG = 10  # seconds that a webhook or mail may take
DONE = {"published", "blocked"}
LOOK = 60.0  # seconds between two looks whether the inbox was read
LOOKS = 60  # then the alert says that it was not
READ = {"discover", "arrived"}  # the tasks that read the inbox
NEARLY_OUT = "waits for an approval, and the embargo is near"
DUE = {"delivery": "delivery_due", "protection": "protection_due", "approval": "approval_due"}


@dataclass
class CycleDeadline(BaseDeadlineReference):
    """An instant of the release calendar for the period of the run. `due` holds period →
    [beginning, instant], as time stamps.
    """

    due: dict[str, list[float]] = field(default_factory=dict)
    required_kwargs = {"dag_id", "run_id"}  # noqa: RUF012

    def _evaluate_with(self, *, session: Any, dag_id: str, run_id: str) -> datetime | None:
        from airflow.models import DagRun
        from sqlalchemy import select

        run = session.execute(
            select(DagRun.conf, DagRun.data_interval_start).where(
                DagRun.dag_id == dag_id, DagRun.run_id == run_id
            )
        ).one_or_none()
        if run is None:
            return None
        given = (run.conf or {}).get("period")
        first = run.data_interval_start and run.data_interval_start.timestamp()
        found = [
            due
            for period, (begins, due) in self.due.items()
            if period == given or (given is None and begins == first)
        ]
        return datetime.fromtimestamp(found[0], UTC) if found else None

    def serialize_reference(self) -> dict[str, Any]:
        return {"reference_type": self.reference_name, "due": self.due}

    @classmethod
    def deserialize_reference(cls, reference_data: dict[str, Any]) -> CycleDeadline:
        return cls(reference_data["due"])

    def __hash__(self) -> int:
        return hash(tuple((period, *due) for period, due in self.due.items()))


class Queued(BaseDeadlineReference):
    """The instant when the run was queued. With Airflow's own reference no task can be cleared: Airflow 3.3.2
    reads its interval as a number.
    """

    required_kwargs = {"dag_id", "run_id"}  # noqa: RUF012

    def _evaluate_with(self, *, session: Any, dag_id: str, run_id: str) -> datetime | None:
        from airflow.models import DagRun
        from sqlalchemy import select

        queued: datetime | None = session.scalar(
            select(DagRun.queued_at).where(DagRun.dag_id == dag_id, DagRun.run_id == run_id)
        )
        return queued


def deadlines(domain: Domain) -> list[DeadlineAlert]:
    """The deadlines of a domain's release runs."""
    due: dict[str, dict[str, list[float]]] = {"delivery": {}, "protection": {}, "approval": {}}
    for period in domain.calendar.cycles:
        cycle = domain.calendar.of(period)
        assert cycle is not None
        approval = domain.governance.approvals and approval_due(domain, period)
        instants = {"delivery": cycle.deliveries, "protection": cycle.protection, "approval": approval}
        for kind, instant in instants.items():
            if instant:
                due[kind][period] = [domain.calendar.interval(period)[0].timestamp(), instant.timestamp()]
    found = [
        DeadlineAlert(
            CycleDeadline(known),
            LATER.get(kind, timedelta(0)),
            AsyncCallback(overdue, {"kind": kind, "domain": domain.id}),
            name=kind,
        )
        for kind, known in due.items()
        if known
    ]
    budget = BESIDE_SOLVERS + sum(
        (timedelta(seconds=rung.seconds) for rung in domain.cta.ladder), timedelta(hours=1)
    )
    solver = AsyncCallback(overdue, {"kind": "solver", "domain": domain.id})
    return [*found, DeadlineAlert(Queued(), budget, solver, name="solver")]


def approval_due(domain: Domain, period: str) -> datetime | None:
    """When the approval of a period is due: by its calendar, or a day before the embargo
    ends; None where neither is known.
    """
    cycle = domain.calendar.of(period)
    if cycle is None:
        return None
    if cycle.approval is None and cycle.embargo is not None:
        return cycle.embargo - BEFORE_EMBARGO
    return cycle.approval


def asked_late(engine: Engine, domain: Domain, period: str, release_id: str) -> None:
    """Raises the alert of a release that begins to wait after its approval was due: the deadline has
    passed, and nothing waited then.
    """
    due = approval_due(domain, period)
    if due is not None and due <= datetime.now(UTC):
        announce(engine, domain.id, period, "approval", release_id, NEARLY_OUT, due)


async def overdue(kind: str, domain: str, context: dict[str, Any]) -> None:
    """The callback of Airflow for a deadline."""
    run = context["dag_run"]
    for look in range(LOOKS + 1):
        told = await asyncio.to_thread(alert, kind, domain, run["dag_id"], run["dag_run_id"], look == LOOKS)
        if told is not None:
            return
        await asyncio.sleep(LOOK)


def alert(kind: str, domain: str, dag_id: str, run_id: str, unread: bool = False) -> list[str] | None:
    """Records and sends the alerts that are true of the run and new. Returns their texts; None where the run
    has not begun or the inbox was not read yet, unless `unread`.
    """
    from sdc_places import warehouse

    from sdc_tasks.warehouse import reader
    from sdc_tasks.warehouse.database.engine import open_warehouse
    from sdc_tasks.warehouse.database.migrations import migrate

    engine = open_warehouse(
        warehouse(), None, os.environ.get("SDC_ACTOR", "airflow")
    )  # not by `steps`, whose solvers would stay
    migrate(engine)
    try:
        run = reader.dag_run(engine, dag_id, run_id)
        if (
            run is None or not run["period"]
        ):  # it began after the instant, and its first task has not said yet what it works on
            return [] if unread else None
        return _raised(engine, kind, domain, run, unread)
    finally:
        engine.dispose()


def _raised(engine: Engine, kind: str, domain: str, run: dict[str, Any], unread: bool) -> list[str] | None:
    """As `alert`, of a run that has begun."""
    due = _due(engine, kind, domain, run["period"])
    pending = kind == "delivery" and not inbox_judged(engine, domain, run["period"], due)
    if pending and not unread:
        return None
    told = []
    for subject, said in _late(engine, kind, domain, run):
        said = f"{said}; the inbox was not read since" if pending else said
        if announce(engine, domain, run["period"], kind, subject, said, due):
            log.warning("%s %s: %s", domain, run["period"], said)
            told.append(said)
    return told


def _due(engine: Engine, kind: str, domain: str, period: str) -> datetime | None:
    """The instant of the calendar after which something of this kind is late."""
    cycle = _cycle(engine, domain, period)
    due: datetime | None = cycle[DUE[kind]] if cycle and kind in DUE else None
    return due


def _cycle(engine: Engine, domain: str, period: str) -> Mapping[str, Any] | None:
    from sdc_tasks.warehouse import reader

    return next((each for each in reader.cycles(engine, domain) if each["period"] == period), None)


def inbox_judged(engine: Engine, domain: str, period: str, due: datetime | None) -> bool:
    """Whether the inbox was read since the instant, and all its files were judged."""
    from sdc_tasks.warehouse import reader

    if any(each["state"] == "received" for each in reader.deliveries(engine, domain, period)):
        return False
    reads = (each for each in reader.intakes(engine, domain, period, READ) if each["state"] == "success")
    return any(due is None or each["finished_at"] >= due for each in reads)


def _late(engine: Engine, kind: str, domain: str, run: dict[str, Any]) -> list[tuple[str, str]]:
    """(subject, text) of everything that is late now."""
    from sdc_tasks.warehouse import reader

    period, release_id = run["period"], run["release_id"]
    if kind == "delivery":
        return [
            (country, f"no accepted delivery from {country}, and deliveries are due")
            for country in _undelivered(engine, domain, period)
        ]
    state = _state(engine, domain, release_id)
    if state in DONE:
        return []
    if kind == "approval":
        return [(release_id, NEARLY_OUT)] if state == "waiting" else []
    if release_id and any(each["passed"] for each in reader.audits(engine, release_id)):
        return []
    if kind == "solver":
        return [(run["run_id"], f"run {run['run_id']} takes longer than all limits of its solvers together")]
    return [(period, "the table should be protected by now")]


def _undelivered(engine: Engine, domain: str, period: str) -> list[str]:
    """The awaited countries without an accepted delivery."""
    from sdc_tasks.warehouse import reader

    files = reader.deliveries(engine, domain, period)
    accepted = {each["country"] for each in files if each["state"] == "accepted"}
    cycle = _cycle(engine, domain, period)
    return [country for country in cycle["areas"] if country not in accepted] if cycle else []


def _state(engine: Engine, domain: str, release_id: str | None) -> str:
    """The state of the run of a release, empty where there is none."""
    from sdc_tasks.warehouse import reader

    return next(
        (str(each["state"]) for each in reader.runs(engine, domain) if each["release_id"] == release_id), ""
    )


def announce(
    engine: Engine, domain: str, period: str, kind: str, subject: str, said: str, due: datetime | None = None
) -> bool:
    """Records an alert, and sends it where it is new. Returns whether it is new. `due` is the instant that
    passed.
    """
    from sdc_tasks.warehouse.operations import cycles

    if not cycles.raise_alert(engine, domain, period, kind, subject, said):
        return False
    details = {
        "domain": domain,
        "period": period,
        "kind": kind,
        "subject": subject,
        "country": subject if kind == "delivery" else "",
    }
    _send(f"{domain} {period}: {said}", details | {"days": str((datetime.now(UTC) - due).days if due else 0)})
    return True


def _send(text: str, details: dict[str, str]) -> None:
    """Sends by webhook and e-mail, the same text and details. A failure of one is
    logged, and does not stop the other.
    """
    if address := os.environ.get("SDC_ALERT_WEBHOOK"):
        try:
            import httpx

            httpx.post(address, json={"text": text, **details}, timeout=TOO_LONG).raise_for_status()
        except Exception as error:
            log.error("webhook not reached (%s)", type(error).__name__)
    if people := os.environ.get("SDC_ALERT_EMAIL"):
        try:
            _mail(text, details, people)
        except Exception as error:
            log.error("mail not sent (%s)", type(error).__name__)


def _mail(text: str, details: dict[str, str], people: str) -> None:
    message = EmailMessage()
    message["Subject"], message["To"] = text.splitlines()[0], people
    message["From"] = os.environ.get("SDC_ALERT_FROM", "sdc@localhost")
    message.set_content("\n".join([text, "", *(f"{name}: {value}" for name, value in details.items()), ""]))
    host, _, port = os.environ.get("SDC_ALERT_SMTP", "localhost:25").partition(":")
    with smtplib.SMTP(host, int(port or 25), timeout=TOO_LONG) as server:
        server.send_message(message)
