"""The secret of a warehouse: the key of the names under which people see confidential things, and
of all that is drawn at random.

It is made once, when the warehouse is migrated: at random, or from SDC_WAREHOUSE_SECRET. It is stored in the
confidential schema, encrypted like every payload. Two warehouses with the same secret give the same names to
the same deliveries, and so the same bytes. Two with different ones may draw different tables of the same
period, and whoever sees both learns what neither tells. So a secret has a public name, its fingerprint, which
stands in the log and beside all that is drawn by it; where the log tells of a secret, no other one is made;
and what is drawn goes out only where the office keeps the secret outside of the warehouse too (`kept`).

Its row also names the current encryption key. A writer locks this row, so that nobody replaces keys
meanwhile, and encrypts with that key or saves nothing. So a program that was started with old keys cannot
save payloads that the new keys do not open.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Engine, Row, insert, select, update

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.secret import Secret
from sdc_tasks.warehouse.database.engine import keys_of, reading, serialise, writing
from sdc_tasks.warehouse.database.schema import log, secret
from sdc_tasks.warehouse.keyring import TamperedError
from sdc_tasks.warehouse.log import record

VARIABLE = "SDC_WAREHOUSE_SECRET"
SEALED_AS = "the secret of this warehouse"
ROW = {"number": 1}
SUBJECT = "confidential.secret"  # of its entries in the log


def given_secret(text: str | None) -> Secret | None:
    """The secret of the environment variable. Raises InvalidInput, which does not show
    the text, if it is not a secret.
    """
    try:
        return Secret.of_hex(text.strip()) if text else None
    except ValueError as error:
        raise InvalidInput(
            f"{VARIABLE}: {error}. Remedy: make one with `openssl rand -hex 32`, or remove the variable"
        ) from None


def secret_of(engine: Engine) -> Secret:
    """The secret of the warehouse. It is made, named and noted as kept where that is not done yet (`settle`).

    Raises InvalidInput where the warehouse was opened with another one, and where the secret is lost.
    """
    with reading(engine) as connection:
        found = _row(connection)
        if found is not None and found.fingerprint is not None and (found.kept or _given(connection) is None):
            return _opened(connection, found)
    with writing(engine) as connection:
        return settle(connection)


def settle(connection: Connection) -> Secret:
    """The secret of a warehouse that has one from now on: named by its fingerprint in the log, and noted
    as kept where it was given, for then the office has it. Raises InvalidInput as `secret_of`, or where
    there are no keys to encrypt it by.
    """
    serialise(connection, "secret")
    found = _row(connection)
    if found is None:
        return _made(connection)
    opened = _opened(connection, found)
    kept = bool(found.kept)
    if found.fingerprint is None:
        kept = _kept(connection, opened.fingerprint)
        connection.execute(update(secret).values(fingerprint=opened.fingerprint, kept=kept))
        record(connection, "name", SUBJECT, fingerprint=opened.fingerprint)
    if _given(connection) is not None and not kept:
        _note_kept(connection, opened)
    return opened


def settle_migrated(connection: Connection) -> None:
    """Settles the secret of a warehouse that was just migrated. Without keys, one that is there already
    stays as it is, and gets its name when the pipeline opens it. Raises InvalidInput where there is
    none, and no key to encrypt one by.
    """
    if connection.get_execution_options().get("sdc_keys") is not None or _row(connection) is None:
        settle(connection)


def keep(engine: Engine, place: Callable[[str], None]) -> str:
    """Gives the secret, as 64 hexadecimal digits, to `place`, which keeps it outside of the warehouse; then
    notes that it is kept. Returns its fingerprint.
    """
    with writing(engine) as connection:
        found = settle(connection)
        place(found.hex)
        _note_kept(connection, found)
        return found.fingerprint


def named(engine: Engine) -> tuple[str, bool]:
    """The fingerprint of the secret, and whether the office keeps it outside of the warehouse too."""
    fingerprint = secret_of(engine).fingerprint
    with reading(engine) as connection:
        return fingerprint, bool(connection.execute(select(secret.c.kept)).scalar_one())


def salt_of(engine: Engine, domain: str, period: str) -> Secret:
    """The key for a period: of the digests of its releases, the names of its deliveries,
    and the seeds of its roundings.
    """
    return salt_by(secret_of(engine), domain, period)


def salt_by(own: Secret, domain: str, period: str) -> Secret:
    """The key for a period by this secret."""
    return own.derive("release", domain, period)


def key_in_use(connection: Connection) -> str:
    """The name of the encryption key, the same until this transaction ends. Raises
    InvalidInput if the key was not given.
    """
    name: str = connection.execute(select(secret.c.key_id).with_for_update(read=True)).scalar_one()
    if name not in keys_of(connection).keys:
        raise InvalidInput(
            f"the keys of this warehouse were replaced: its key is {name} now, which is not among the given "
            f"keys. Nothing was saved. "
            "Remedy: start this program again with the current keys; a release continues where it stopped"
        )
    return name


def seal_anew(connection: Connection) -> None:
    """Encrypts the secret with the newest key, which becomes the current key. Waits for writers that use
    another key.
    """
    serialise(connection, "secret")
    row = connection.execute(select(secret).with_for_update()).one()
    keys = keys_of(connection)
    if row.key_id != keys.newest:
        key_id, content = keys.seal(SEALED_AS, _opened(connection, row).key, keys.newest)
        connection.execute(update(secret).values(content=content, key_id=key_id))
        record(connection, "rotate", SUBJECT, key=key_id)


def _row(connection: Connection) -> Row[Any] | None:
    return connection.execute(select(secret)).one_or_none()


def _made(connection: Connection) -> Secret:
    """A new secret, or the given one. Raises InvalidInput where the log tells of a
    secret, unless just that is given.
    """
    given, keys = _given(connection), keys_of(connection)
    known = _known(connection)
    if known and (given is None or given.fingerprint not in known):
        which = " and ".join(sorted(filter(None, known))) or "one without a fingerprint"
        raise InvalidInput(
            f"{SEALED_AS} is lost: the log tells of {which}, and it is not there. Another one would draw "
            f"other tables of periods that are "
            "out, and two tables of a period tell what each alone does not. "
            f"Remedy: restore the table `secret` from a backup, or set {VARIABLE} to the one that was kept "
            f"(sdc keep-secret)"
        )
    made = given or Secret.fresh()
    key_id, content = keys.seal(SEALED_AS, made.key, keys.newest)
    row = {"content": content, "key_id": key_id, "fingerprint": made.fingerprint, "kept": given is not None}
    connection.execute(insert(secret).values(**ROW, **row))
    record(connection, "make", SUBJECT, key=key_id, fingerprint=made.fingerprint, kept=given is not None)
    return made


def _known(connection: Connection) -> set[str]:
    """The fingerprints of the secrets of which the log tells; an empty text for one that was made
    before there were fingerprints.
    """
    return {
        str(told.get("fingerprint", "")) for action, told in _logged(connection) if action in ("make", "name")
    }


def _kept(connection: Connection, fingerprint: str) -> bool:
    """Does the log tell that the office keeps the secret of this fingerprint? A row without a fingerprint
    does not.
    """
    return any(
        told.get("fingerprint") == fingerprint and (action == "deposit" or told.get("kept") is True)
        for action, told in _logged(connection)
    )


def _logged(connection: Connection) -> list[tuple[str, dict[str, Any]]]:
    """(action, details) of the entries about the secret."""
    told = select(log.c.action, log.c.details).where(log.c.subject == SUBJECT)
    return [(action, json.loads(details)) for action, details in connection.execute(told)]


def _note_kept(connection: Connection, found: Secret) -> None:
    connection.execute(update(secret).values(kept=True))
    record(connection, "deposit", SUBJECT, fingerprint=found.fingerprint)


def _opened(connection: Connection, row: Row[Any]) -> Secret:
    try:
        found = Secret(keys_of(connection).open(SEALED_AS, row.key_id, row.content))
    except (TamperedError, ValueError):
        raise _changed() from None
    if row.fingerprint is not None and row.fingerprint != found.fingerprint:
        raise _changed()
    given = _given(connection)
    if given is not None and given != found:
        raise InvalidInput(
            f"{VARIABLE} is not the secret of this warehouse. Remedy: remove the variable, or name the "
            f"warehouse that has this secret"
        )
    return found


def _changed() -> InvalidInput:
    return InvalidInput(
        f"{SEALED_AS} was changed since it was stored. Remedy: restore the table `secret` from a backup"
    )


def _given(connection: Connection) -> Secret | None:
    given: Secret | None = connection.get_execution_options().get("sdc_secret")
    return given
