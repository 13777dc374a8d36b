"""From an audited publication to a published one: who must approve, the answers, and the one transaction that publishes."""

from __future__ import annotations

import time

from sqlalchemy import Engine

from sdc_tasks import pipeline
from sdc_tasks.confidential import keeps_to_itself
from sdc_tasks.errors import ReleaseBlocked, Superseded
from sdc_tasks.methods.attack import Requirements
from sdc_tasks.model.results import Publication
from sdc_tasks.steps.desk import Desk, by_account
from sdc_tasks.steps.identity import require_own, terms_of
from sdc_tasks.steps.memory import load
from sdc_tasks.steps.protection import decided
from sdc_tasks.steps.versions import known
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.database.engine import acting
from sdc_tasks.warehouse.database.schema import DeliveryState, RunState
from sdc_tasks.warehouse.dissemination import publisher
from sdc_tasks.warehouse.operations import decisions, journal


def awaiting(desk: Desk, release_id: str) -> tuple[str, list[str]]:
    """The digest of the publication that needs approval, and the people who approved it on its passed audit."""
    publication = load(desk, release_id, "bases", Publication).digest
    return publication, decisions.approvers(desk.engine, release_id, publication)


def newer(desk: Desk, release_id: str) -> list[str]:
    """The accepted files of the period that the release was not made of; none once it is out."""
    if any(each.release_id == release_id for each in reader.releases(desk.engine, desk.domain.id)):
        return []
    held = reader.made_of(desk.engine, release_id)
    now = store.deliveries(desk.engine, desk.domain.id, desk.period)
    return [each.file for each in now if each.state is DeliveryState.ACCEPTED and each.key.digest not in held]


def wait(desk: Desk, release_id: str) -> None:
    """Records that the run waits for an approval."""
    journal.finish_run(desk.engine, release_id, RunState.WAITING)


def answer(desk: Desk, release_id: str, publication: str, agreed: bool, person: str, note: str = "") -> None:
    """Records a person's answer about this publication under his name, through the account of SDC_APPROVER_URL where it is set.

    A rejection blocks the run. Raises OwnSubmission where the submitter himself answers.
    """
    engine = by_account(desk.engine, "SDC_APPROVER_URL", person) or acting(desk.engine, person)
    if agreed:
        decisions.approve(engine, release_id, publication, note)
        desk.say(f"{person} agrees to publication {publication[:12]}")
        return
    decisions.reject(engine, release_id, publication, note)
    journal.record_step(desk.engine, release_id, "approval", person, seconds=0.0, note=f"rejected: {note}" if note else "rejected")
    journal.finish_run(desk.engine, release_id, RunState.BLOCKED)
    desk.say(f"{person} rejects publication {publication[:12]}")


@keeps_to_itself
def publish(desk: Desk, release_id: str, although_newer: bool = False) -> int:
    """Publishes to the warehouse once, in one transaction. Returns the version. `although_newer`: somebody decided to publish although
    newer deliveries are accepted.

    Raises ReleaseBlocked if the audit did not pass, NotApproved while an approval is missing, Superseded where newer deliveries wait.
    """
    began = time.monotonic()
    require_own(desk, release_id)
    if not although_newer and (files := newer(desk, release_id)):
        journal.finish_run(desk.engine, release_id, RunState.WAITING)
        raise Superseded(
            f"{release_id}: newer deliveries are accepted: {', '.join(files)}. Nothing was published. "
            "Remedy: run the release again; it takes them in"
        )
    problem, publication, merged = decided(desk, release_id)
    try:
        requirements = load(desk, release_id, "baseline", Requirements)
        history = known(desk, release_id)
        profiles = pipeline.profiles_of(problem, desk.domain)
        approved = pipeline.release(release_id, problem, requirements, publication, merged, profiles)
        done = publisher.publish(
            desk.publishing or desk.engine,
            approved,
            space=problem.space,
            terms=terms_of(desk.domain),
            period=desk.period,
            after=[each.release_id for each in history],
        )
    except publisher.NotApproved:
        journal.finish_run(desk.engine, release_id, RunState.WAITING)
        raise
    except ReleaseBlocked:
        journal.finish_run(desk.engine, release_id, RunState.BLOCKED)
        raise
    journal.record_step(desk.engine, release_id, "publish", seconds=time.monotonic() - began)
    journal.finish_run(desk.engine, release_id, RunState.PUBLISHED)
    desk.say(f"version {done.version} {'published' if done.created else 'is already published'}")
    return done.version


def retract(office: Engine, release_id: str, reason: str, actor: str | None = None) -> None:
    """Takes a published release back, by the account of SDC_PUBLISHER_URL where there is one.

    Raises InvalidInput where it was not released, or was retracted for another reason.
    """
    decisions.retract(by_account(office, "SDC_PUBLISHER_URL", actor) or office, release_id, reason)
