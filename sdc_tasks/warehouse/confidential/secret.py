"""The secret of a warehouse: the key of the names under which people see confidential things.

It is made once, when the pipeline first opens the warehouse, at random or as SDC_WAREHOUSE_SECRET says. It lies in the confidential
schema, encrypted as every payload is. Two warehouses of one secret give the same names to the same deliveries, and so the same bytes.

Its row also names the key that encrypts at present. A writer locks this row, so that nobody replaces keys meanwhile, and encrypts by that
key or saves nothing. So a program that was started with the old keys cannot leave payloads that the new keys do not open.
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
    """The secret that the environment gives. Raises InvalidInput, without it, where it is none."""
    try:
        return Secret.of_hex(text.strip()) if text else None
    except ValueError as error:
        raise InvalidInput(f"{VARIABLE}: {error}. Remedy: `openssl rand -hex 32` makes one; or take the variable away") from None


def secret_of(engine: Engine) -> Secret:
    """The secret, made now where there is none yet. Raises InvalidInput where another was given when the warehouse was opened."""
    with reading(engine) as connection:
        found = _row(connection)
        if found is not None:
            return _opened(connection, found)
    with writing(engine) as connection:
        serialise(connection, "secret")
        found = _row(connection)
        return _made(connection) if found is None else _opened(connection, found)


def salt_of(engine: Engine, domain: str, period: str) -> Secret:
    """The key of the digests of the releases of a period, of the names of its deliveries, and of the seeds of its roundings."""
    return secret_of(engine).derive("release", domain, period)


def key_in_use(connection: Connection) -> str:
    """The name of the key that encrypts; it stays the same until this transaction ends. Raises InvalidInput where the key was not given."""
    name: str = connection.execute(select(secret.c.key_id).with_for_update(read=True)).scalar_one()
    if name not in keys_of(connection).keys:
        raise InvalidInput(
            f"the keys of this warehouse were replaced: it is encrypted by {name} now, which is not among those given. Nothing was saved. "
            "Remedy: start this program again, with the keys of today; a release goes on where it stopped"
        )
    return name


def seal_anew(connection: Connection) -> None:
    """Encrypts the secret by the newest key, which is the key in use from here on; waits for writers that use another."""
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
        raise InvalidInput(f"{SEALED_AS} is not what was stored. Remedy: restore the table `secret` from a backup") from None
    given = _given(connection)
    if given is not None and given != found:
        raise InvalidInput(
            f"{VARIABLE} is not the secret of this warehouse, which was made with another. Remedy: take the variable away, or name the "
            "warehouse that has this secret"
        )
    return found


def _given(connection: Connection) -> Secret | None:
    given: Secret | None = connection.get_execution_options().get("sdc_secret")
    return given
