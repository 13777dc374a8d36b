"""What people decide about a release: to let it out, and to take it back. Both are final, and both are in the log."""

from __future__ import annotations

import os
import pwd
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Engine, insert, select, text

from sdc_tasks.errors import InvalidInput
from sdc_tasks.warehouse.database.engine import actor_of, reading, serialise, writing
from sdc_tasks.warehouse.database.schema import approval, audit, release, retraction, submission
from sdc_tasks.warehouse.forms.people import person
from sdc_tasks.warehouse.log import EMBEDDED, record

SHORTEST = 12  # digits of a digest that name a publication


class OwnSubmission(InvalidInput):
    """The submitter of a release wants to decide about it: somebody else has to."""


def approve(engine: Engine, release_id: str, publication: str, note: str = "") -> str:
    """Agrees, in the name in which the warehouse was opened, that this publication goes out; `publication` is its digest, or the beginning.

    On PostgreSQL an account agrees in its own name, unless it is one of the desk (`sdc_desk`), which vouches for whom it names.
    Returns the digest of the audit that the approval is tied to. The same approval again changes nothing. Raises InvalidInput where
    there is no such release, no passed audit of that publication, where it was retracted, or where the submitter wants to agree.
    """
    with writing(engine) as connection:
        submitter, found = _asked(connection, release_id, publication)
        approver = actor_of(connection)  # as `_asked` has established
        mine = (approval.c.release_id == release_id, approval.c.audit_digest == found.digest, approval.c.approver == approver)
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
                "account": None if connection.dialect.name == "postgresql" else EMBEDDED,  # PostgreSQL says so itself
            }
            connection.execute(insert(approval).values(**row))
            about = {"audit": found.digest, "publication": found.publication_digest, "note": note, "by": _accounts(connection)}
            record(connection, "approve", release_id, **about)
        return str(found.digest)


def reject(engine: Engine, release_id: str, publication: str, note: str = "") -> None:
    """Refuses, in the name in which the warehouse was opened, that this publication goes out: an entry of the log. People may be asked
    again, and may agree then. Raises InvalidInput as `approve` does.
    """
    with writing(engine) as connection:
        _, found = _asked(connection, release_id, publication)
        about = {"audit": found.digest, "publication": found.publication_digest, "note": note, "by": _accounts(connection)}
        record(connection, "reject", release_id, **about)


def claimed(engine: Engine) -> str:
    """The name in which the warehouse was opened, and the accounts that are known: a name is typed, an account is not."""
    with reading(engine) as connection:
        return f"{actor_of(connection)} ({_accounts(connection)})"


def _accounts(connection: Connection) -> str:
    """The account of the database, where it has accounts, and of the operating system."""
    try:
        person = pwd.getpwuid(os.getuid()).pw_name  # not what LOGNAME says
    except KeyError:  # a container whose user has no name
        person = f"uid {os.getuid()}"
    system = f"account {person} on this machine"
    if connection.dialect.name != "postgresql":
        return system
    return f"database account {connection.execute(text('SELECT session_user')).scalar_one()}, {system}"


def approvers(engine: Engine, release_id: str, publication: str) -> list[str]:
    """Who agreed to this publication on its newest passed audit, in order."""
    with reading(engine) as connection:
        found = _passed(connection, release_id, publication)
        if found is None:
            return []
        mine = (approval.c.release_id == release_id, approval.c.audit_digest == found.digest)
        return list(connection.execute(select(approval.c.approver).where(*mine).order_by(approval.c.approved_at)).scalars())


def _asked(connection: Connection, release_id: str, publication: str) -> tuple[str, Any]:
    """The submitter, and the passed audit that a decision of somebody else is about."""
    if len(publication) < SHORTEST:
        raise InvalidInput(f"a publication is named by at least {SHORTEST} digits of its digest: see audit.json or the report")
    serialise(connection, "approval", release_id)
    typed = actor_of(connection)
    who = _vouched_for(connection)
    submitter = connection.execute(select(submission.c.submitter).where(submission.c.release_id == release_id)).scalar_one_or_none()
    if submitter is None:
        raise InvalidInput(f"release {release_id}: nobody submitted it; see its id in the report or in the log of `assemble`")
    if submitter in (typed, who):
        raise OwnSubmission(f"release {release_id}: {submitter} submitted it. Remedy: somebody else has to agree")
    gone = connection.execute(select(retraction.c.reason).where(retraction.c.release_id == release_id)).scalar_one_or_none()
    if gone is not None:
        raise InvalidInput(f"release {release_id} was retracted: {gone}. Remedy: nothing; a corrected release has an id of its own")
    found = _passed(connection, release_id, publication)
    if found is None:
        raise InvalidInput(f"release {release_id}: no passed audit of publication {publication}. Remedy: read the report once more")
    return str(submitter), found


def _vouched_for(connection: Connection) -> str:
    """The name in which this transaction decides: the account's, whatever was typed, unless it is one of the desk (it vouches for people).

    Raises InvalidInput for a name that could pass for that of somebody else.
    """
    who = person(actor_of(connection))
    if connection.dialect.name == "postgresql":
        account, desk = connection.execute(text("SELECT lower(session_user), pg_has_role(session_user, 'sdc_desk', 'MEMBER')")).one()
        who = who if desk else str(account)
    connection.execution_options(sdc_actor=who)
    return who


def _passed(connection: Connection, release_id: str, publication: str) -> Any:
    """The newest passed audit of a publication that begins like this."""
    return connection.execute(
        select(audit.c.digest, audit.c.publication_digest)
        .where(audit.c.release_id == release_id, audit.c.passed, audit.c.publication_digest.startswith(publication, autoescape=True))
        .order_by(audit.c.audited_at.desc(), audit.c.digest)
    ).first()


def retract(engine: Engine, release_id: str, reason: str) -> None:
    """Takes a release back: nobody outside sees its cells any more, only the reason. The attacker of profile vintage still knows
    its cells. Raises InvalidInput where it was not released, or was retracted for another reason.
    """
    if not reason.strip():
        raise InvalidInput("a retraction needs a reason: it is shown in place of the table")
    with writing(engine) as connection:
        by = person(actor_of(connection))
        serialise(connection, "retraction", release_id)
        if connection.execute(select(release.c.version).where(release.c.release_id == release_id)).one_or_none() is None:
            raise InvalidInput(f"release {release_id} was not published; there is nothing to take back")
        known = connection.execute(select(retraction.c.reason).where(retraction.c.release_id == release_id)).scalar_one_or_none()
        if known is not None and known != reason:
            raise InvalidInput(f"release {release_id} was retracted already: {known}")
        if known is None:
            row = {"release_id": release_id, "reason": reason, "retracted_by": by, "retracted_at": datetime.now(UTC)}
            connection.execute(insert(retraction).values(**row))
            record(connection, "retract", release_id, reason=reason)
