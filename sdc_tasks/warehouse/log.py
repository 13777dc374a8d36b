"""The log: who did what to which release or delivery. A later change of its order or content is visible.

An entry holds the digest of the previous entry; its own digest is the SHA-256 of the JSON list of all its
fields. It is written last, in the transaction of the action that it records, so there is never one without
the other. PostgreSQL sets number, instant, account and digests itself. The owner of the database can still
rewrite the whole log: keep the newest digest elsewhere from time to time (`sdc verify-log` prints it), and
check later whether it is still part of the chain.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Engine, insert, select, text

from sdc_tasks.warehouse.database.engine import actor_of, reading
from sdc_tasks.warehouse.database.schema import log
from sdc_tasks.warehouse.forms.canonical import digest_of_entry

EMBEDDED = "file"  # the account in a SQLite warehouse: anybody who may write the file


@dataclass(frozen=True)
class Entry:
    """One line of the log; `details` is JSON of digests, counts, states and reasons, never a value."""

    number: int
    recorded_at: datetime
    actor: str
    account: str
    action: str
    subject: str
    details: str
    previous: str
    digest: str


def record(connection: Connection, action: str, subject: str, **details: object) -> None:
    """Adds an entry as the last write of the transaction. All other writers of the log wait from here on.

    PostgreSQL sets number, instant, account and digests itself, and accepts none from a client.
    """
    said = {"actor": actor_of(connection), "action": action, "subject": subject}
    said["details"] = json.dumps(details, sort_keys=True, ensure_ascii=False)
    if connection.dialect.name == "postgresql":
        connection.execute(
            text(
                "INSERT INTO operations.log (actor, action, subject, details) VALUES (:actor, :action, "
                ":subject, :details)"
            ),
            said,
        )
        return
    last = connection.execute(
        select(log.c.number, log.c.digest).order_by(log.c.number.desc()).limit(1)
    ).one_or_none()
    entry: dict[str, Any] = {
        **said,
        "number": last.number + 1 if last else 1,
        "recorded_at": datetime.now(UTC),
        "account": EMBEDDED,
        "previous": last.digest if last else "",
    }
    connection.execute(insert(log).values(**entry, digest=digest_of_entry(**entry)))


def entries(engine: Engine, subject: str | None = None) -> list[Entry]:
    """The log, or its entries on one release or delivery, in order."""
    wanted = select(log).order_by(log.c.number)
    if subject is not None:
        wanted = wanted.where(log.c.subject == subject)
    with reading(engine) as connection:
        return [Entry(**row) for row in connection.execute(wanted).mappings()]


def broken(chain: Sequence[Entry], head: str | None = None) -> list[str]:
    """The faults of the chain. Empty when it is whole and, if `head` is given, still
    holds the entry with that digest.
    """
    wrong, previous = [], ""
    for number, entry in enumerate(chain, start=1):
        own = {name: value for name, value in vars(entry).items() if name != "digest"}
        if entry.number != number:
            wrong.append(f"entry {number} is missing: entry {entry.number} follows")
            break
        if entry.previous != previous:
            wrong.append(f"entry {number} does not follow the one before it")
        if entry.digest != digest_of_entry(**own):
            wrong.append(f"entry {number} was changed: its digest is another")
        previous = entry.digest
    if head is not None and head not in {entry.digest for entry in chain}:
        wrong.append(
            f"no entry has the digest {head}: the log was rewritten, or cut, since this digest was noted"
        )
    return wrong
