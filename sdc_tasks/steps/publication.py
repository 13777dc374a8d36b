"""From an audited publication to a published one: who must approve, the answers, and the
one transaction that publishes.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Engine

from sdc_tasks import pipeline
from sdc_tasks.confidential import keeps_to_itself
from sdc_tasks.errors import ReleaseBlocked, Superseded
from sdc_tasks.methods.attack import Requirements
from sdc_tasks.model.results import Publication
from sdc_tasks.steps.answering import second
from sdc_tasks.steps.desk import Desk, by_account
from sdc_tasks.steps.identity import require_own, terms_of
from sdc_tasks.steps.memory import load
from sdc_tasks.steps.protection import decided
from sdc_tasks.steps.second_files import ASK
from sdc_tasks.steps.versions import known
from sdc_tasks.telemetry import span
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.database.engine import acting
from sdc_tasks.warehouse.database.schema import DeliveryState, RunState
from sdc_tasks.warehouse.dissemination import publisher
from sdc_tasks.warehouse.operations import decisions, journal


def awaiting(desk: Desk, release_id: str) -> tuple[str, list[str]]:
    """The digest of the publication that needs approval, and the people who approved it on its
    passed audit.
    """
    publication = load(desk, release_id, "bases", Publication).digest
    return publication, decisions.approvers(desk.engine, release_id, publication)


@dataclass(frozen=True)
class Newer:
    """What came after a release was opened, digest → file: `accepted` files that it was not made of, and
    `second` files of countries, which wait for an answer. `dropped`: files that it was made of and that do
    not count any more, because somebody said so or they were refused; nobody can agree to publish them.
    """

    accepted: Mapping[str, str]
    second: Mapping[str, str]
    dropped: Mapping[str, str]

    def __bool__(self) -> bool:
        return bool(self.files or self.dropped)

    @property
    def files(self) -> dict[str, str]:
        """Those without which somebody may agree to publish."""
        return {**self.accepted, **self.second}

    @property
    def told(self) -> str:
        parts = {
            "files of it do not count any more": self.dropped,
            "newer deliveries are accepted": self.accepted,
            "second files of countries wait for an answer": self.second,
        }
        return "; ".join(
            f"{said}: {', '.join(sorted(files.values()))}" for said, files in parts.items() if files
        )

    @property
    def remedy(self) -> str:
        return f"{f'{ASK}; then run' if self.second else 'Remedy: run'} the release again"

    def beyond(self, digests: Collection[str]) -> Newer:
        """Without the files of these digests."""
        accepted, second = (
            {digest: file for digest, file in files.items() if digest not in digests}
            for files in (self.accepted, self.second)
        )
        return Newer(accepted, second, self.dropped)


def newer(desk: Desk, release_id: str) -> Newer:
    """What the release was made without, and what it should not have been made of; nothing once it is out."""
    if any(each.release_id == release_id for each in reader.releases(desk.engine, desk.domain.id)):
        return Newer({}, {}, {})
    held = reader.made_of(desk.engine, release_id)
    now = store.deliveries(desk.engine, desk.domain.id, desk.period)
    counts = [each for each in now if each.state is DeliveryState.ACCEPTED]
    came = [each for each in counts if each.key.digest not in held]
    stands = {each.key.digest for each in [*counts, *_superseded_by_newer(now, came)]}
    dropped = {digest: file for digest, file in held.items() if digest not in stands}
    return Newer(_names(came), _names(second(desk)), dropped)


def _superseded_by_newer(
    known: Sequence[store.StoredDelivery], came: Sequence[store.StoredDelivery]
) -> list[store.StoredDelivery]:
    """The superseded files of the countries from which newer ones came."""
    countries = {each.country for each in came}
    return [each for each in known if each.state is DeliveryState.SUPERSEDED and each.country in countries]


def _names(files: Sequence[store.StoredDelivery]) -> dict[str, str]:
    return {each.key.digest: each.file for each in files}


def followed(desk: Desk, release_id: str) -> str | None:
    """The release that took the place of this one before it was published (`reader.history`)."""
    known = reader.of_release(desk.engine, release_id)
    return known["followed"] if known else None


def _require_in_place(desk: Desk, release_id: str) -> None:
    if later := followed(desk, release_id):
        raise Superseded(
            f"{release_id}: {later} took its place. Nothing was published. Remedy: none is needed here, "
            f"{later} goes on"
        )


def _require_up_to_date(desk: Desk, release_id: str, publication: Publication) -> None:
    if came := newer(desk, release_id).beyond(decisions.without(desk.engine, release_id, publication.digest)):
        journal.finish_run(desk.engine, release_id, RunState.WAITING)
        raise Superseded(f"{release_id}: {came.told}. Nothing was published. {came.remedy}")


def close(desk: Desk, release_id: str) -> str | None:
    """Records that nobody is asked about the release any more, where another one took its place. Returns that
    one.
    """
    later = followed(desk, release_id)
    if later is not None:
        journal.finish_run(desk.engine, release_id, RunState.FAILED)
    return later


def rejections(desk: Desk, release_id: str) -> int:
    """How often the release was rejected."""
    return sum(each["action"] == "reject" for each in reader.log_of(desk.engine, release_id))


def outdated(desk: Desk) -> str | None:
    """The published release of the period that was not made of what is accepted now; None where
    there is none, or it was retracted.
    """
    known = (each for each in reader.history(desk.engine, desk.domain.id) if each["period"] == desk.period)
    return next(
        (
            each["release_id"]
            for each in known
            if each["version"] and each["newer"] and each["retracted"] is None
        ),
        None,
    )


def wait(desk: Desk, release_id: str) -> None:
    """Records that the run waits for an approval."""
    journal.finish_run(desk.engine, release_id, RunState.WAITING)


def answer(
    desk: Desk,
    release_id: str,
    publication: str,
    agreed: bool,
    person: str,
    note: str = "",
    without: Collection[str] = (),
) -> None:
    """Records a person's answer about this publication under his name, through the
    account of SDC_APPROVER_URL where it is set. `without`: digests of the newer
    deliveries without which he lets it go out.

    A rejection blocks the run. Raises OwnSubmission where the submitter himself answers, Superseded where he
    agrees to a release whose place another one took.
    """
    if agreed:
        _require_in_place(desk, release_id)
    engine = by_account(desk.engine, "SDC_APPROVER_URL", person) or acting(desk.engine, person)
    if agreed:
        decisions.approve(engine, release_id, publication, note, without)
        desk.say(f"{person} agrees to publication {publication[:12]}")
        return
    decisions.reject(engine, release_id, publication, note)
    journal.record_step(
        desk.engine,
        release_id,
        "approval",
        person,
        seconds=0.0,
        note=f"rejected: {note}" if note else "rejected",
    )
    journal.finish_run(desk.engine, release_id, RunState.BLOCKED)
    desk.say(f"{person} rejects publication {publication[:12]}")


@keeps_to_itself
def publish(desk: Desk, release_id: str) -> int:
    """Publishes to the warehouse once, in one transaction. Returns the version.

    Raises ReleaseBlocked if the audit did not pass, NotApproved while an approval is missing,
    Superseded where other deliveries came meanwhile, accepted ones or second files of countries,
    without which nobody agreed to publish, where files of it do not count any more, and where another
    release took the place of this one.
    """
    began = time.monotonic()
    require_own(desk, release_id)
    problem, publication, merged = decided(desk, release_id)
    _require_up_to_date(desk, release_id, publication)
    try:
        requirements = load(desk, release_id, "baseline", Requirements)
        history = known(desk, release_id)
        profiles = pipeline.profiles_of(problem, desk.domain)
        approved = pipeline.release(
            release_id,
            problem,
            requirements,
            publication,
            merged,
            profiles,
            desk.domain.audit.unjudged == "refused",
        )
        _require_up_to_date(desk, release_id, publication)  # again: what came while the release was read
        _require_in_place(desk, release_id)
        with span("sdc.step", release=release_id, step="publish"):
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

    Raises InvalidInput where it was not released, was retracted for another reason, or its terms ask for
    approvals and nobody else agreed.
    """
    decisions.retract(by_account(office, "SDC_PUBLISHER_URL", actor) or office, release_id, reason)


def withdraw(office: Engine, release_id: str, reason: str, person: str) -> None:
    """Records that this person agrees to take a published release back for this reason, through the account
    of SDC_APPROVER_URL where it is set. Raises InvalidInput where there is nothing to take back,
    OwnSubmission where he asked for it himself.
    """
    decisions.withdraw(
        by_account(office, "SDC_APPROVER_URL", person) or acting(office, person), release_id, reason
    )
