"""Decisions of people about a release: approval, retraction, and the agreement to one. All
are final, and all are in the log.
"""

from __future__ import annotations

import json
import os
import pwd
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Engine, false, insert, select, text

from sdc_tasks.errors import InvalidInput
from sdc_tasks.warehouse.database.engine import actor_of, reading, serialise, writing
from sdc_tasks.warehouse.database.schema import (
    LONGEST_REASON,
    approval,
    audit,
    dag_run,
    release,
    retraction,
    submission,
    terms,
    withdrawal,
)
from sdc_tasks.warehouse.forms.people import person
from sdc_tasks.warehouse.log import EMBEDDED, record

SHORTEST = 12  # least number of digits that name a publication


class OwnSubmission(InvalidInput):
    """Who submitted a release, or asked to take it back, tries to agree himself. Somebody else
    must decide.
    """


def approve(
    engine: Engine, release_id: str, publication: str, note: str = "", without: Collection[str] = ()
) -> str:
    """Approves a publication under the name with which the warehouse was opened. `publication` is its digest,
    or the beginning of it. `without`: digests of newer deliveries without which it goes out nevertheless.

    On PostgreSQL an account approves in its own name, except an account of the desk (`sdc_desk`), which
    vouches for the person it names. Returns the digest of the audit to which the approval belongs. The same
    approval again changes nothing. Raises InvalidInput where there is no such release, no passed audit of
    that publication, or a retraction; OwnSubmission where the submitter approves.
    """
    with writing(engine) as connection:
        submitter, found = _asked(connection, release_id, publication)
        approver = actor_of(connection)  # as `_asked` has established
        mine = (
            approval.c.release_id == release_id,
            approval.c.audit_digest == found.digest,
            approval.c.approver == approver,
        )
        if connection.execute(select(approval.c.approver).where(*mine)).one_or_none() is None:
            row = {
                "release_id": release_id,
                "audit_digest": found.digest,
                "approver": approver,
                "publication_digest": found.publication_digest,
                "audit_passed": True,
                "submitter": submitter,
                "note": note,
                "approved_at": datetime.now(UTC),
                "without": json.dumps(sorted(without)) if without else None,
                "account": None
                if connection.dialect.name == "postgresql"
                else EMBEDDED,  # PostgreSQL says so itself
            }
            connection.execute(insert(approval).values(**row))
            about = {
                "audit": found.digest,
                "publication": found.publication_digest,
                "note": note,
                "by": _accounts(connection),
            }
            about |= {"without": sorted(without)} if without else {}
            record(connection, "approve", release_id, **about)
        return str(found.digest)


def reject(engine: Engine, release_id: str, publication: str, note: str = "") -> None:
    """Rejects a publication under the name with which the warehouse was opened, and records it in the log.
    People may be asked again, and may approve then. Raises InvalidInput as `approve` does.
    """
    with writing(engine) as connection:
        _, found = _asked(connection, release_id, publication)
        about = {
            "audit": found.digest,
            "publication": found.publication_digest,
            "note": note,
            "by": _accounts(connection),
        }
        record(connection, "reject", release_id, **about)


def claimed(engine: Engine) -> str:
    """The name with which the warehouse was opened, and the known accounts: a name is typed, an account is
    not.
    """
    with reading(engine) as connection:
        return f"{actor_of(connection)} ({_accounts(connection)})"


def _accounts(connection: Connection) -> str:
    """The accounts of the database (if it has any) and of the operating system."""
    try:
        person = pwd.getpwuid(os.getuid()).pw_name  # LOGNAME could be set by anybody
    except KeyError:  # a container whose user has no name
        person = f"uid {os.getuid()}"
    system = f"account {person} on this machine"
    if connection.dialect.name != "postgresql":
        return system
    return f"database account {connection.execute(text('SELECT session_user')).scalar_one()}, {system}"


def approvers(engine: Engine, release_id: str, publication: str) -> list[str]:
    """The people who approved this publication on its newest passed audit, in order."""
    with reading(engine) as connection:
        found = _passed(connection, release_id, publication)
        if found is None:
            return []
        mine = (approval.c.release_id == release_id, approval.c.audit_digest == found.digest)
        return list(
            connection.execute(
                select(approval.c.approver).where(*mine).order_by(approval.c.approved_at)
            ).scalars()
        )


def without(engine: Engine, release_id: str, publication: str) -> set[str]:
    """Digests of the newer deliveries without which those who approved this publication, on its
    newest passed audit, let it go out.
    """
    with reading(engine) as connection:
        found = _passed(connection, release_id, publication)
        mine = (
            (approval.c.release_id == release_id, approval.c.audit_digest == found.digest)
            if found
            else (false(),)
        )
        told = connection.execute(select(approval.c.without).where(*mine)).scalars()
        return {digest for each in told if each for digest in json.loads(each)}


def _asked(connection: Connection, release_id: str, publication: str) -> tuple[str, Any]:
    """The submitter, and the passed audit, for a decision by somebody who neither submitted the
    release nor started a run of it.
    """
    if len(publication) < SHORTEST:
        raise InvalidInput(
            f"a publication needs at least {SHORTEST} digits of its digest: see audit.json or the report"
        )
    serialise(connection, "approval", release_id)
    typed = actor_of(connection)
    who = _vouched_for(connection)
    submitter = connection.execute(
        select(submission.c.submitter).where(submission.c.release_id == release_id)
    ).scalar_one_or_none()
    if submitter is None:
        raise InvalidInput(
            f"release {release_id}: not submitted. Remedy: take the id from the report or from the log of "
            f"`assemble`"
        )
    started = select(dag_run.c.triggered_by).where(
        dag_run.c.release_id == release_id, dag_run.c.dag_id.startswith("eu_release_")
    )
    if own := sorted({typed, who} & {submitter, *connection.execute(started).scalars()}):
        did = "submitted it" if own[0] == submitter else "started a run of it"
        raise OwnSubmission(f"release {release_id}: {own[0]} {did}. Remedy: somebody else must approve it")
    gone = connection.execute(
        select(retraction.c.reason).where(retraction.c.release_id == release_id)
    ).scalar_one_or_none()
    if gone is not None:
        raise InvalidInput(
            f"release {release_id} was retracted: {gone}. Remedy: none; a corrected release gets a new id"
        )
    found = _passed(connection, release_id, publication)
    if found is None:
        raise InvalidInput(
            f"release {release_id}: no passed audit of publication {publication}. Remedy: take the digest "
            f"from the report"
        )
    return str(submitter), found


def _vouched_for(connection: Connection) -> str:
    """The name under which this transaction decides: the name of the account, whatever was typed. An account
    of the desk vouches for the typed name.

    Raises InvalidInput for a name that could be taken for somebody else's.
    """
    who = person(actor_of(connection))
    if connection.dialect.name == "postgresql":
        account, desk = connection.execute(
            text("SELECT lower(session_user), pg_has_role(session_user, 'sdc_desk', 'MEMBER')")
        ).one()
        who = who if desk else str(account)
    connection.execution_options(sdc_actor=who)
    return who


def _passed(connection: Connection, release_id: str, publication: str) -> Any:
    """The newest passed audit of a publication whose digest begins with these digits."""
    return connection.execute(
        select(audit.c.digest, audit.c.publication_digest)
        .where(
            audit.c.release_id == release_id,
            audit.c.passed,
            audit.c.publication_digest.startswith(publication, autoescape=True),
        )
        .order_by(audit.c.audited_at.desc(), audit.c.digest)
    ).first()


def withdraw(engine: Engine, release_id: str, reason: str) -> None:
    """Records that the person under whose name the warehouse was opened agrees to take a release back for
    this reason.

    Accounts agree as in `approve`. The same agreement again changes nothing. Raises InvalidInput where the
    release was not published or is retracted; OwnSubmission where the same person asked for it, by a run of
    the DAG `retract_release` with this reason.
    """
    with writing(engine) as connection:
        reason, known = _to_take_back(connection, release_id, reason)
        typed, who = actor_of(connection), _vouched_for(connection)
        if known is not None:
            raise InvalidInput(f"release {release_id} is already retracted: {known}")
        asked = (
            dag_run.c.dag_id == "retract_release",
            dag_run.c.release_id == release_id,
            dag_run.c.reason == reason,
        )
        if own := sorted(
            {typed, who} & set(connection.execute(select(dag_run.c.triggered_by).where(*asked)).scalars())
        ):
            raise OwnSubmission(
                f"release {release_id}: {own[0]} asked to take it back. Remedy: somebody else must agree"
            )
        if who not in _agreed(connection, release_id, reason):
            account = (
                None if connection.dialect.name == "postgresql" else EMBEDDED
            )  # PostgreSQL says so itself
            row = {
                "release_id": release_id,
                "reason": reason,
                "agreed_by": who,
                "agreed_at": datetime.now(UTC),
                "account": account,
            }
            connection.execute(insert(withdrawal).values(**row))
            record(connection, "agree", release_id, reason=reason)


def withdrawers(engine: Engine, release_id: str, reason: str) -> list[str]:
    """The people who agreed to take a release back for exactly this reason, in order."""
    with reading(engine) as connection:
        return _agreed(connection, release_id, reason.strip())


def retract(engine: Engine, release_id: str, reason: str) -> None:
    """Retracts a release: the public sees only the reason from now on. The attacker of
    profile vintage still knows its cells.

    Raises InvalidInput where it was not published, or was retracted for another reason, and where its terms
    ask for approvals and nobody else agreed to take it back for this reason (`withdraw`).
    """
    with writing(engine) as connection:
        by = person(actor_of(connection))
        reason, known = _to_take_back(connection, release_id, reason)
        if known is not None and known != reason:
            raise InvalidInput(f"release {release_id} is already retracted: {known}")
        if known is None:
            _require_another(connection, release_id, reason, by)
            row = {
                "release_id": release_id,
                "reason": reason,
                "retracted_by": by,
                "retracted_at": datetime.now(UTC),
            }
            connection.execute(insert(retraction).values(**row))
            record(connection, "retract", release_id, reason=reason)


def _to_take_back(connection: Connection, release_id: str, reason: str) -> tuple[str, str | None]:
    """The reason as it is stored, and that for which a published release is retracted
    already. Others wait meanwhile.
    """
    reason = reason.strip()
    if not reason:
        raise InvalidInput("a retraction needs a reason: it is shown in place of the table")
    if len(reason) > LONGEST_REASON:
        raise InvalidInput(
            f"the reason has {len(reason)} characters; at most {LONGEST_REASON} are shown in place of the "
            f"table"
        )
    serialise(connection, "retraction", release_id)
    if (
        connection.execute(select(release.c.version).where(release.c.release_id == release_id)).one_or_none()
        is None
    ):
        raise InvalidInput(f"release {release_id} was not published; there is nothing to retract")
    return reason, connection.execute(
        select(retraction.c.reason).where(retraction.c.release_id == release_id)
    ).scalar_one_or_none()


def _agreed(connection: Connection, release_id: str, reason: str) -> list[str]:
    mine = (withdrawal.c.release_id == release_id, withdrawal.c.reason == reason)
    return list(
        connection.execute(
            select(withdrawal.c.agreed_by).where(*mine).order_by(withdrawal.c.agreed_at)
        ).scalars()
    )


def _require_another(connection: Connection, release_id: str, reason: str, by: str) -> None:
    under = (submission.c.domain == terms.c.domain) & (submission.c.terms_digest == terms.c.digest)
    asked = select(terms.c.approvals).join(submission, under).where(submission.c.release_id == release_id)
    if connection.execute(asked).scalar_one_or_none() and not {*_agreed(connection, release_id, reason)} - {
        by
    }:
        raise InvalidInput(
            f"release {release_id}: nobody but {by} agreed to take it back for this reason, and its terms "
            f"ask for approvals. Nothing was "
            "taken back. Remedy: somebody else answers in Required Actions, or runs `sdc retract --agree` "
            "with exactly this reason; then "
            "take it back again"
        )
