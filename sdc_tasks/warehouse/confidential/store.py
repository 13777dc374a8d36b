"""The confidential store: files as they were received, and the arrays of the steps.

The address of content is its keyed digest (`secret.py`). The encryption is bound to the digest, so every read
checks the content. A delivery is received once (the same bytes again are the same delivery), then accepted or
refused together with the other files of its country; model/lifecycle.py has the table of its states. Of two
accepted files of one country and series (model/series.py) the one with the higher version counts, or else the
one received later, in whatever order they are judged; the other is superseded. A file that left the inbox and
is back counts as sent again: it is received again, so that a country can return to an earlier delivery.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Dialect,
    Engine,
    Row,
    Table,
    and_,
    delete,
    insert,
    select,
    update,
)

from sdc_tasks.errors import Retriable, SdcError
from sdc_tasks.model.findings import CheckResult, Finding
from sdc_tasks.model.lifecycle import Action, Event, FileState, after
from sdc_tasks.model.secret import Secret, name_of_delivery
from sdc_tasks.model.series import Series, series_of
from sdc_tasks.warehouse.confidential.secret import key_in_use, salt_of, secret_of
from sdc_tasks.warehouse.database.engine import keys_of, reading, relaxed, serialise, writing
from sdc_tasks.warehouse.database.schema import (
    DeliveryState,
    artefact,
    check_result,
    delivery,
    finding,
    inbox,
    payload,
    unread,
)
from sdc_tasks.warehouse.forms.canonical import digest_of
from sdc_tasks.warehouse.keyring import TamperedError
from sdc_tasks.warehouse.log import record

TOLD = ("position", "code", "severity", "line", "cell", "message")
TOLD_BY_RELEASE = 1_000_000  # position of the first finding of a release; those of intake are below


class CorruptedError(SdcError):
    """Stored bytes are missing or were changed. Remedy: run the step that made them again, or restore a
    backup.
    """


class ConcurrentModification(Retriable):
    """Concurrent modification: the country's files changed during validation. Remedy: judge them again."""


class DeliveryKey(NamedTuple):
    """The key of a delivery in the warehouse."""

    domain: str
    period: str
    digest: str


@dataclass(frozen=True)
class StoredDelivery:
    """A file as it was received, `times` times, last at `received_at`. `country` is None
    where the file does not say it.
    """

    key: DeliveryKey
    country: str | None
    file: str
    received_at: datetime
    state: DeliveryState
    superseded_by: str | None
    times: int
    series: Series

    @property
    def rank(self) -> tuple[int, datetime, str]:
        """The order within a series: the file with the higher rank counts."""
        return self.series.version, self.received_at, self.key.digest


@dataclass(frozen=True)
class Received:
    """What has come for a period: every delivery in the order of arrival, and the files in the inbox when it
    was last read, as (name, digest). Each file in the inbox is one of the deliveries.
    """

    deliveries: tuple[StoredDelivery, ...]
    lying: frozenset[tuple[str, str]]


def save_artefact(engine: Engine, kind: str, content: bytes) -> str:
    """Stores the bytes once. Returns their digest."""
    digest = secret_of(engine).derive("artefact", kind).digest(content)
    with writing(engine) as connection:
        _put(connection, kind, digest, content)
    return digest


def load_artefact(engine: Engine, digest: str) -> bytes:
    """The bytes with this digest. Raises CorruptedError when they are missing, purged or changed."""
    with reading(engine) as connection:
        row = connection.execute(
            select(payload.c.content, payload.c.key_id).where(payload.c.digest == digest)
        ).one_or_none()
        if row is None:
            purged = connection.execute(
                select(artefact.c.purged_at).where(artefact.c.digest == digest)
            ).scalar_one_or_none()
            when = (
                f"was purged on {purged:%Y-%m-%d}, after its retention ended"
                if purged
                else "is not in the warehouse"
            )
            raise CorruptedError(
                f"artefact {digest}: its content {when}; run the step that made it again, or put the "
                f"delivery into the inbox again"
            )
        return plain(connection, digest, row.content, row.key_id)


def plain(connection: Connection, digest: str, content: bytes, key_id: str | None) -> bytes:
    """The content of a stored payload. Raises CorruptedError where it does not match its digest."""
    if (
        key_id is None and digest_of(content) == digest
    ):  # stored by a version before encryption, under its plain digest
        return content
    if key_id is not None:
        with suppress(TamperedError):
            return keys_of(connection).open(digest, key_id, content)
    raise CorruptedError(
        f"artefact {digest}: the stored content does not match its digest; run the step that made it again"
    )


def receive(
    engine: Engine,
    domain: str,
    period: str,
    file: str,
    content: bytes,
    again: bool = False,
    country: str | None = None,
) -> StoredDelivery:
    """Stores a file before it is read. The same bytes again change nothing, under any file name,
    unless they were sent `again` after another file counted: then they are received again. `country`:
    the likely country of the file.
    """
    salt = salt_of(engine, domain, period)
    with writing(engine) as connection:
        relaxed(connection)  # the file is still in the inbox
        return _receive(
            connection, _known_as(connection, domain, period, content, salt), file, content, again, country
        )


def take(
    engine: Engine, domain: str, period: str, file: str, content: bytes, country: str | None = None
) -> StoredDelivery:
    """Receives a file of the inbox, and records that it is there. Bytes that had left the inbox under this
    name and are back are received again.
    """
    salt = salt_of(engine, domain, period)
    here = (inbox.c.domain == domain, inbox.c.period == period, inbox.c.file == file)
    with reading(engine) as connection:  # most often it lies there as it did: nothing is to be written
        key = _known_as(connection, domain, period, content, salt)
        lay = connection.execute(select(inbox.c.digest).where(*here)).scalars().all()
        if lay == [key.digest] and _is_kept(connection, key.digest, content):
            return _one(connection, key)
    with writing(engine) as connection:
        relaxed(connection)
        key = _known_as(connection, domain, period, content, salt)
        serialise(connection, "inbox", domain, period)
        before = set(connection.execute(select(inbox.c.digest).where(*here)).scalars())
        found = _receive(connection, key, file, content, again=key.digest not in before, country=country)
        if before != {key.digest}:
            connection.execute(delete(inbox).where(*here))
            connection.execute(
                insert(inbox).values(domain=domain, period=period, file=file, digest=key.digest)
            )
        return found


def note_unread(engine: Engine, domain: str, period: str, why: Mapping[str, str]) -> None:
    """Records the unread files of the inbox, name → reason. Replaces the earlier record."""
    with writing(engine) as connection:
        serialise(connection, "inbox", domain, period)
        connection.execute(delete(unread).where(unread.c.domain == domain, unread.c.period == period))
        if why:
            rows = [
                {"domain": domain, "period": period, "file": file, "why": told}
                for file, told in sorted(why.items())
            ]
            connection.execute(insert(unread), rows)


def not_read(engine: Engine, domain: str, period: str) -> dict[str, str]:
    """The unread files in the inbox when it was last read: name → reason."""
    with reading(engine) as connection:
        here = (unread.c.domain == domain, unread.c.period == period)
        rows = connection.execute(select(unread.c.file, unread.c.why).where(*here).order_by(unread.c.file))
        return {row.file: row.why for row in rows}


def left(engine: Engine, domain: str, period: str, files: Sequence[str]) -> None:
    """Records that all files except these have left the inbox."""
    with writing(engine) as connection:
        serialise(connection, "inbox", domain, period)
        connection.execute(
            delete(inbox).where(
                inbox.c.domain == domain, inbox.c.period == period, inbox.c.file.not_in(files)
            )
        )


def accept_together(
    engine: Engine,
    keys: Sequence[DeliveryKey],
    country: str,
    instead: Mapping[DeliveryKey, str] | None = None,
    seen: Sequence[StoredDelivery] | None = None,
) -> list[DeliveryState]:
    """Makes these files of one domain and period the delivery of the country, in one
    transaction. Returns their states.

    A file replaces the accepted file of its series, and is superseded where a higher one is accepted. A
    superseded file stays superseded: judging an inbox again does not bring it back. `instead`: accepted
    files of other series that people decided to replace → the digest of the file that counts instead.
    `seen`: the deliveries of the period as they were when these were judged; raises ConcurrentModification
    where those of the country are not so any more.
    """
    with writing(engine) as connection:
        if seen is None:
            serialise(connection, "delivery", keys[0].domain, keys[0].period, country)
        else:
            hold(connection, keys[0].domain, keys[0].period, country, seen)
        for key, by in (instead or {}).items():
            _supersede(connection, _one(connection, key), country, by)
        return [_accept(connection, key, country) for key in keys]


def hold(
    connection: Connection, domain: str, period: str, country: str, seen: Sequence[StoredDelivery]
) -> None:
    """Keeps others from judging files of the country until the transaction ends. Raises
    ConcurrentModification where they are not as they were `seen`.
    """
    serialise(connection, "delivery", domain, period, country)

    def states(known: Sequence[StoredDelivery]) -> set[tuple[str, str, str | None, int]]:
        return {
            (each.key.digest, each.state, each.superseded_by, each.times)
            for each in known
            if each.country == country
        }

    if states(_deliveries(connection, domain, period)) != states(seen):
        raise ConcurrentModification(
            f"{domain} {period}: files of {country} came meanwhile, or somebody answered about them; try "
            f"again"
        )


def _accept(connection: Connection, key: DeliveryKey, country: str) -> DeliveryState:
    mine = _one(connection, key)
    if after(FileState(mine.state), Event.PASSED).action is Action.LEAVE:
        return mine.state
    other = _accepted_of_series(connection, mine, country)
    if other and other.rank > mine.rank:
        return _supersede(connection, mine, country, other.key.digest)
    if other:
        _move(connection, other, Event.OVERTAKEN, country, by=key.digest)
    _move(connection, mine, Event.PASSED, country)
    if (mine.state, mine.country) != (DeliveryState.ACCEPTED, country):
        instead = other.key.digest if other else None
        record(
            connection,
            "accept",
            key.digest,
            domain=key.domain,
            period=key.period,
            country=country,
            instead_of=instead,
        )
    return DeliveryState.ACCEPTED


def _accepted_of_series(connection: Connection, mine: StoredDelivery, country: str) -> StoredDelivery | None:
    """The other accepted file of the country in the series of this one; None where there is none."""
    same = and_(
        delivery.c.domain == mine.key.domain,
        delivery.c.period == mine.key.period,
        delivery.c.country == country,
        delivery.c.series == mine.series.name,
        delivery.c.state == DeliveryState.ACCEPTED,
        ~_is(mine.key),
    )
    rows = connection.execute(select(delivery).where(same)).all()
    return _delivery(rows[0]) if rows else None


def supersede(engine: Engine, key: DeliveryKey, country: str, by: str) -> None:
    """Marks a file as superseded that arrived together with the file that replaces it, and was
    never judged.
    """
    with writing(engine) as connection:
        serialise(connection, "delivery", key.domain, key.period, country)
        _supersede(connection, _one(connection, key), country, by)


def _supersede(connection: Connection, file: StoredDelivery, country: str, by: str) -> DeliveryState:
    key = file.key
    state = _move(connection, file, Event.OVERTAKEN, country, by=by)
    record(connection, "supersede", key.digest, domain=key.domain, period=key.period, country=country, by=by)
    return state


def refuse(
    engine: Engine, key: DeliveryKey, country: str | None = None, event: Event = Event.FAILED
) -> DeliveryState:
    """Marks a delivery as refused, because it failed or an answer kept it out. The earlier delivery of the
    country stays. Returns the state.
    """
    with writing(engine) as connection:
        mine = _delivery(connection.execute(select(delivery).where(_is(key)).with_for_update()).one())
        country = country or mine.country
        state = _move(connection, mine, event, country)
        if state is DeliveryState.REFUSED and (mine.state, mine.country) != (state, country):
            record(connection, "refuse", key.digest, domain=key.domain, period=key.period, country=country)
        return state


def deliveries(engine: Engine, domain: str, period: str) -> list[StoredDelivery]:
    """Every delivery of the period, in the order of arrival."""
    with reading(engine) as connection:
        return _deliveries(connection, domain, period)


def last_accepted(engine: Engine, domain: str, country: str, before: str) -> str | None:
    """The last period before this one in which the country has an accepted delivery; None where there is
    none.
    """
    mine = and_(
        delivery.c.domain == domain,
        delivery.c.country == country,
        delivery.c.state == DeliveryState.ACCEPTED,
    )
    with reading(engine) as connection:
        known = connection.execute(select(delivery.c.period).where(mine).distinct()).scalars()
        # Not by the database, whose order of texts depends on its language.
        return max((period for period in known if period < before), default=None)


def received(engine: Engine, domain: str, period: str) -> Received:
    """The deliveries and the files in the inbox as they were at one instant: another
    task may receive files at any time.
    """
    with reading(engine) as connection:
        rows = connection.execute(
            select(inbox.c.file, inbox.c.digest).where(inbox.c.domain == domain, inbox.c.period == period)
        )
        lying = frozenset((row.file, row.digest) for row in rows)
        return Received(tuple(_deliveries(connection, domain, period)), lying)


def save_findings(engine: Engine, key: DeliveryKey, findings: Iterable[Finding]) -> None:
    """Replaces the findings of intake on a delivery. The findings of a release stay."""
    _replace(engine, finding, key, _as_rows(findings, 0), finding.c.position < TOLD_BY_RELEASE)


def tell(engine: Engine, told: Mapping[DeliveryKey, Sequence[Finding]]) -> None:
    """Replaces the findings of a release on deliveries of a period, for their senders."""
    mine = finding.c.position >= TOLD_BY_RELEASE
    known: dict[str, list[dict[str, Any]]] = {}
    with reading(engine) as connection:
        for domain, period in {(key.domain, key.period) for key in told}:
            here = (finding.c.domain == domain, finding.c.period == period, mine)
            columns = [finding.c[name] for name in TOLD]
            for digest, *row in connection.execute(
                select(finding.c.digest, *columns).where(*here).order_by(finding.c.position)
            ):
                known.setdefault(digest, []).append(dict(zip(TOLD, row, strict=True)))
    for key, findings in told.items():
        rows = _as_rows(findings, TOLD_BY_RELEASE)
        if known.get(key.digest, []) != rows:
            _replace(engine, finding, key, rows, mine)


def _as_rows(findings: Iterable[Finding], first: int) -> list[dict[str, Any]]:
    return [
        {
            "position": i,
            "code": f.code,
            "severity": str(f.severity),
            "line": f.line,
            "cell": f.cell,
            "message": f.message,
        }
        for i, f in enumerate(findings, first)
    ]


def save_checks(engine: Engine, key: DeliveryKey, checks: Iterable[CheckResult]) -> None:
    """Replaces the results of the content checks of a delivery."""
    rows = [
        {
            "check": c.check,
            "severity": str(c.severity),
            "passed": bool(c.passed),
            "checked": int(c.checked),
            "failed": int(c.failed),
            "cells": json.dumps(list(c.cells)),
        }
        for c in checks
    ]
    _replace(engine, check_result, key, rows)


def _insert_of(dialect: Dialect) -> Callable[[Table], Any]:
    """The INSERT of an engine, which knows ON CONFLICT: that of the other engine is not loaded."""
    if dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as of_postgresql

        return of_postgresql
    from sqlalchemy.dialects.sqlite import insert as of_sqlite

    return of_sqlite


def put_rows(
    connection: Connection, table: Table, rows: Sequence[dict[str, Any]], *, keep: bool = False
) -> None:
    """Inserts the rows. A row with an existing key replaces it, or, with `keep`, is skipped."""
    new = _insert_of(connection.dialect)(table)
    keys = list(table.primary_key.columns)
    if keep:
        statement = new.on_conflict_do_nothing(index_elements=keys)
    else:
        others = [name for name in rows[0] if name not in table.primary_key.columns]
        statement = new.on_conflict_do_update(
            index_elements=keys, set_={name: new.excluded[name] for name in others}
        )
    connection.execute(statement, rows)


def _deliveries(connection: Connection, domain: str, period: str) -> list[StoredDelivery]:
    mine = (delivery.c.domain == domain, delivery.c.period == period)
    rows = connection.execute(
        select(delivery).where(*mine).order_by(delivery.c.received_at, delivery.c.digest)
    )
    return [_delivery(row) for row in rows]


def _known_as(connection: Connection, domain: str, period: str, content: bytes, salt: Secret) -> DeliveryKey:
    """The key of these bytes. A delivery that an older version received keeps its plain digest."""
    before = DeliveryKey(domain, period, digest_of(content))
    if connection.execute(select(delivery.c.digest).where(_is(before))).one_or_none():
        return before
    return DeliveryKey(domain, period, name_of_delivery(content, salt))


def _receive(
    connection: Connection,
    key: DeliveryKey,
    file: str,
    content: bytes,
    again: bool,
    country: str | None = None,
) -> StoredDelivery:
    series = series_of(file)
    named = {"file": file, "series": series.name, "version": series.version}
    serialise(connection, "delivery", *key)
    known = connection.execute(select(delivery).where(_is(key))).one_or_none()
    _put(connection, "delivery", key.digest, content)
    now = datetime.now(UTC)
    if known is None:
        state = after(FileState.NEW, Event.ARRIVED).to
        row = {**key._asdict(), **named, "country": country, "received_at": now, "state": state}
        connection.execute(insert(delivery).values(**row))
    elif again and (then := after(FileState(known.state), Event.SENT_AGAIN)).action is Action.RECEIVE:
        anew = {
            **named,
            "received_at": now,
            "state": then.to,
            "superseded_by": None,
            "times": known.times + 1,
        }
        connection.execute(update(delivery).where(_is(key)).values(**anew))
    found = _one(connection, key)
    if known is None or known.times != found.times:
        record(
            connection,
            "receive",
            key.digest,
            domain=key.domain,
            period=key.period,
            file=file,
            times=found.times,
        )
    return found


def _put(connection: Connection, kind: str, digest: str, content: bytes) -> None:
    row = {"digest": digest, "kind": kind, "size": len(content), "stored_at": datetime.now(UTC)}
    put_rows(connection, artefact, [row], keep=True)
    purged = (artefact.c.digest == digest, artefact.c.purged_at.is_not(None))
    connection.execute(update(artefact).where(*purged).values(purged_at=None, stored_at=row["stored_at"]))
    key_id, sealed = keys_of(connection).seal(digest, content, key_in_use(connection))
    put_rows(
        connection, payload, [{"digest": digest, "content": sealed, "key_id": key_id}]
    )  # repairs damaged content


def _is_kept(connection: Connection, digest: str, content: bytes) -> bool:
    """Is this content stored, intact, and under a key that was given?"""
    row = connection.execute(
        select(payload.c.content, payload.c.key_id).where(payload.c.digest == digest)
    ).one_or_none()
    if row is None or row.key_id not in keys_of(connection).keys:
        return False
    with suppress(CorruptedError):
        return plain(connection, digest, row.content, row.key_id) == content
    return False


def _move(
    connection: Connection, file: StoredDelivery, event: Event, country: str | None, by: str | None = None
) -> DeliveryState:
    """Moves a file as the table of states says (model/lifecycle.py). Returns its state then."""
    then = after(FileState(file.state), event)
    if then.action is Action.LEAVE:
        return file.state
    state = DeliveryState(then.to)
    connection.execute(
        update(delivery).where(_is(file.key)).values(country=country, state=state, superseded_by=by)
    )
    return state


def _one(connection: Connection, key: DeliveryKey) -> StoredDelivery:
    return _delivery(connection.execute(select(delivery).where(_is(key))).one())


def _replace(
    engine: Engine, table: Table, key: DeliveryKey, rows: list[dict[str, Any]], *which: ColumnElement[bool]
) -> None:
    """Replaces the rows of a delivery, or `which` of them."""
    with writing(engine) as connection:
        serialise(connection, table.name, *key)
        connection.execute(
            delete(table).where(
                and_(*(table.c[name] == value for name, value in key._asdict().items()), *which)
            )
        )
        if rows:
            connection.execute(insert(table), [{**key._asdict(), **row} for row in rows])


def _is(key: DeliveryKey) -> Any:
    return and_(
        delivery.c.domain == key.domain, delivery.c.period == key.period, delivery.c.digest == key.digest
    )


def _delivery(row: Row[Any]) -> StoredDelivery:
    return StoredDelivery(
        key=DeliveryKey(row.domain, row.period, row.digest),
        country=row.country,
        file=row.file,
        received_at=row.received_at,
        state=DeliveryState(row.state),
        superseded_by=row.superseded_by,
        times=row.times,
        series=Series(row.series, row.version),
    )
