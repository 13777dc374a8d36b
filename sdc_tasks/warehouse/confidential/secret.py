"""The secret of a warehouse: the key of the names under which people see confidential things.

It is made once, when the pipeline first opens the warehouse: at random, or from SDC_WAREHOUSE_SECRET. It is stored in the confidential
schema, encrypted like every payload. Two warehouses with the same secret give the same names to the same deliveries, and so the same bytes.

Its row also names the current encryption key. A writer locks this row, so that nobody replaces keys meanwhile, and encrypts with that
key or saves nothing. So a program that was started with old keys cannot save payloads that the new keys do not open.
"""

from __future__ import annotations

from sqlalchemy import Connection, Engine, Row, insert, select, update

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.secret import Secret
from sdc_tasks.warehouse.database.engine import keys_of, reading, serialise, writing
from sdc_tasks.warehouse.database.schema import secret
from sdc_tasks.warehouse.keyring import TamperedError
from sdc_tasks.warehouse.log import record

VARIABLE = "SDC_WAREHOUSE_SECRET"
SEALED_AS = "the secret of this warehouse"
ROW = {"number": 1}


def given_secret(text: str | None) -> Secret | None:
    """The secret of the environment variable. Raises InvalidInput, which does not show the text, if it is not a secret."""
    try:
        return Secret.of_hex(text.strip()) if text else None
    except ValueError as error:
        raise InvalidInput(f"{VARIABLE}: {error}. Remedy: make one with `openssl rand -hex 32`, or remove the variable") from None


def secret_of(engine: Engine) -> Secret:
    """The secret of the warehouse, made now if there is none yet. Raises InvalidInput where the warehouse was opened with another one."""
    with reading(engine) as connection:
        found = _row(connection)
        if found is not None:
            return _opened(connection, found)
    with writing(engine) as connection:
        serialise(connection, "secret")
        found = _row(connection)
        return _made(connection) if found is None else _opened(connection, found)


def salt_of(engine: Engine, domain: str, period: str) -> Secret:
    """The key for a period: of the digests of its releases, the names of its deliveries, and the seeds of its roundings."""
    return secret_of(engine).derive("release", domain, period)


def key_in_use(connection: Connection) -> str:
    """The name of the encryption key, the same until this transaction ends. Raises InvalidInput if the key was not given."""
    name: str = connection.execute(select(secret.c.key_id).with_for_update(read=True)).scalar_one()
    if name not in keys_of(connection).keys:
        raise InvalidInput(
            f"the keys of this warehouse were replaced: its key is {name} now, which is not among the given keys. Nothing was saved. "
            "Remedy: start this program again with the current keys; a release continues where it stopped"
        )
    return name


def seal_anew(connection: Connection) -> None:
    """Encrypts the secret with the newest key, which becomes the current key. Waits for writers that use another key."""
    serialise(connection, "secret")
    row = connection.execute(select(secret).with_for_update()).one()
    keys = keys_of(connection)
    if row.key_id != keys.newest:
        key_id, content = keys.seal(SEALED_AS, _opened(connection, row).key, keys.newest)
        connection.execute(update(secret).values(content=content, key_id=key_id))
        record(connection, "rotate", "confidential.secret", key=key_id)


def _row(connection: Connection) -> Row[tuple[int, bytes, str]] | None:
    return connection.execute(select(secret)).one_or_none()


def _made(connection: Connection) -> Secret:
    made, keys = _given(connection) or Secret.fresh(), keys_of(connection)
    key_id, content = keys.seal(SEALED_AS, made.key, keys.newest)
    connection.execute(insert(secret).values(**ROW, content=content, key_id=key_id))
    record(connection, "make", "confidential.secret", key=key_id)
    return made


def _opened(connection: Connection, row: Row[tuple[int, bytes, str]]) -> Secret:
    try:
        found = Secret(keys_of(connection).open(SEALED_AS, row.key_id, row.content))
    except (TamperedError, ValueError):
        raise InvalidInput(f"{SEALED_AS} was changed since it was stored. Remedy: restore the table `secret` from a backup") from None
    given = _given(connection)
    if given is not None and given != found:
        raise InvalidInput(
            f"{VARIABLE} is not the secret of this warehouse. Remedy: remove the variable, or name the warehouse that has this secret"
        )
    return found


def _given(connection: Connection) -> Secret | None:
    given: Secret | None = connection.get_execution_options().get("sdc_secret")
    return given
