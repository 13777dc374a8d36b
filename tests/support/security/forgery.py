"""Forged chains: one valid chain of rows, written again with one thing changed. What can be
changed comes from the schema itself.

A forged chain is written row by row, each by the account that writes it in a deployment, in one
transaction that is rolled back. It is judged like this: `refused` by the database; `found` by a check of
`sql/checks`, by the digests of the log, or by who opens a payload; `corrected`, where the database stores
something of its own; else it `passed`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import nextafter
from typing import Any

from sqlalchemy import Engine, Table, and_, bindparam, delete, select, text, update
from sqlalchemy.exc import DBAPIError, StatementError

from sdc_tasks.warehouse.confidential.secret import SEALED_AS
from sdc_tasks.warehouse.confidential.store import plain
from sdc_tasks.warehouse.database.checks import known_checks, rows_of_check
from sdc_tasks.warehouse.database.engine import keys_of
from sdc_tasks.warehouse.database.schema import UtcTime, log, metadata, payload, secret
from sdc_tasks.warehouse.forms.canonical import digest_of_entry
from sdc_tasks.warehouse.keyring import Keyring
from sdc_tasks.warehouse.log import Entry, broken
from support.security.chain import Row, Written

LEFT_OUT = None
WRITERS = ("sdc_pipeline", "sdc_publisher", "sdc_approver", "sdc_desk")
# What PostgreSQL sets itself in an entry of the log, and takes from nobody.
OF_THE_DATABASE = ("number", "recorded_at", "account", "previous", "digest")


@dataclass(frozen=True)
class Forgery:
    """`rows`: position in the chain → the row in its place, None where it is left out. `column`
    is empty where rows are left out.
    """

    table: str
    column: str
    how: str
    rows: dict[int, Row | None]

    @property
    def name(self) -> str:
        return f"{self.table}.{self.column}" if self.column else self.table


def forgeries(chain: Sequence[Written]) -> Iterator[Forgery]:
    """Every one of them: each column of each row changed, emptied, taken from another row,
    swapped with it; each row left out.
    """
    for position, each in enumerate(chain):
        table = each.table
        yield Forgery(table.fullname, "", "left out", {position: LEFT_OUT})
        others = [(i, other) for i, other in enumerate(chain) if other.table is table and i != position]
        for column in table.columns:
            name, value = column.name, each.row[column.name]
            values = dict(changes(column.type, value))
            if value is not None:
                values["emptied"] = None
            for how, other in values.items():
                yield Forgery(table.fullname, name, how, {position: {**each.row, name: other}})
            differing = [(i, other) for i, other in others if other.row[name] != value]
            for i, other in differing[:1] + differing[-1:]:
                yield Forgery(table.fullname, name, "copied", {position: {**each.row, name: other.row[name]}})
                if position < i:
                    swapped = {position: {**each.row, name: other.row[name]}, i: {**other.row, name: value}}
                    yield Forgery(table.fullname, name, "swapped", swapped)


def changes(type_: Any, value: Any) -> Iterator[tuple[str, Any]]:
    """Other values of a column of this type: as near as they can be, and, in JSON, one for each thing that it
    says.
    """
    if isinstance(type_, UtcTime):
        moved = value or datetime.now(UTC)
        yield from (("later", moved + timedelta(days=1)), ("earlier", moved - timedelta(microseconds=1)))
    elif isinstance(value, bool):
        yield "turned round", not value
    elif isinstance(value, bytes):
        yield "last bit", value[:-1] + bytes([value[-1] ^ 1])
    elif type_.python_type is int:
        yield from (("more", (value or 0) + 1), ("less", (value or 0) - 1))
    elif type_.python_type is float:
        yield "last bit", 1.0 if value is None else nextafter(value, 1e300)
    else:
        yield "longer", f"{value or ''}x"
        if isinstance(value, str) and value[:1] in ("{", "["):
            yield from (
                (f"another {where}", json.dumps(other)) for where, other in documents(json.loads(value))
            )


def documents(document: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """The JSON document with one thing in it changed, and with one thing left out."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield f"{where}/{key} left out", {other: kept for other, kept in document.items() if other != key}
            yield from (
                (told, {**document, key: other}) for told, other in documents(value, f"{where}/{key}")
            )
    elif isinstance(document, list):
        yield f"{where} longer", [*document, "x"]
        for i, value in enumerate(document):
            yield from (
                (told, [*document[:i], other, *document[i + 1 :]])
                for told, other in documents(value, f"{where}/{i}")
            )
    elif isinstance(document, bool):
        yield where, not document
    elif isinstance(document, int):
        yield where, document + 1
    else:
        yield where, f"{document or ''}x"


class Court:
    """Writes chains into an empty warehouse, and judges them."""

    def __init__(self, engine: Engine, keys: Keyring, accounts: str = "") -> None:
        """`engine` may write as everybody: PostgreSQL's superuser, or a SQLite file. `accounts`
        begins the names of the accounts.
        """
        self.connection = engine.connect().execution_options(sdc_keys=keys)
        self.sqlite, self.accounts = engine.dialect.name == "sqlite", accounts
        self.checks = known_checks(engine.dialect.name)
        self._forget_the_secret()

    def _forget_the_secret(self) -> None:
        """A chain tells of the secret itself, which a migrated warehouse has already."""
        tables = ("secret", "log") if self.sqlite else ("confidential.secret", "operations.log")
        with self.connection.begin():
            if self.sqlite:
                guards = (
                    "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name IN "
                    "('secret_stays', 'log_delete')"
                )
                kept = self.connection.exec_driver_sql(guards).all()
                before = [f"DROP TRIGGER {name}" for name, _ in kept]
                after = [statement for _, statement in kept]
            else:
                before, after = (
                    ["SET session_replication_role = replica"],
                    ["SET session_replication_role = DEFAULT"],
                )
            for statement in (*before, *(f"DELETE FROM {table}" for table in tables), *after):
                self.connection.exec_driver_sql(statement)

    def try_all(self, chain: Sequence[Written], wanted: Sequence[Forgery]) -> Iterator[tuple[Forgery, str]]:
        """Each forgery with what became of it. The genuine rows before it are written once for
        all of them.
        """
        by_place: dict[int, list[Forgery]] = {}
        for forgery in wanted:
            by_place.setdefault(min(forgery.rows), []).append(forgery)
        with self.connection.begin() as transaction:
            for position, each in enumerate(chain):
                for forgery in by_place.get(position, []):
                    yield forgery, self._attempt(lambda forgery=forgery: self._forge(chain, forgery))
                self.write(each)
            assert self.findings() == [], "the genuine chain is a good one"
            for forgery in wanted:
                for account in ("",) if self.sqlite else WRITERS:
                    verdict = self._attempt(
                        lambda forgery=forgery, account=account: self._change(chain, forgery, account)
                    )
                    yield forgery, f"afterwards {verdict}"
            transaction.rollback()

    def _attempt(self, doing: Any) -> str:
        nested = self.connection.begin_nested()
        try:
            return str(doing())
        except (DBAPIError, StatementError) as error:
            return f"refused: {str(error.orig if isinstance(error, DBAPIError) else error).splitlines()[0]}"
        finally:
            nested.rollback()

    def _forge(self, chain: Sequence[Written], forgery: Forgery) -> str:
        first = min(forgery.rows)
        for position, each in enumerate(chain[first:], start=first):
            row = forgery.rows.get(position, each.row)
            if row is not None:
                self.write(
                    Written(each.account, each.table, row),
                    forged=forgery.column if position in forgery.rows else "",
                )
        return self._verdict(chain, forgery)

    def _change(self, chain: Sequence[Written], forgery: Forgery, account: str) -> str:
        """The same on rows that stand there already."""
        self._become(account)
        for position, row in forgery.rows.items():
            each = chain[position]
            here = _is(each.table, each.key)
            if row is None:
                self.connection.execute(delete(each.table).where(here))
            else:
                self.connection.execute(
                    update(each.table).where(here).values({forgery.column: row[forgery.column]})
                )
        return self._verdict(chain, forgery)

    def _verdict(self, chain: Sequence[Written], forgery: Forgery) -> str:
        self._become("")
        if found := self.findings():
            return f"found: {', '.join(found)}"
        for position, row in forgery.rows.items():
            if row is not None:
                table = chain[position].table
                key = {column.name: row[column.name] for column in table.primary_key.columns}
                stored = self.connection.execute(
                    select(table.c[forgery.column]).where(_is(table, key))
                ).first()
                if stored is None or stored[0] != row[forgery.column]:
                    return "corrected"
        return "passed"

    def write(self, each: Written, forged: str = "") -> None:
        """As its account. What the database sets by itself is left to it, unless it is what is forged."""
        row = dict(each.row)
        if each.table is log:
            row = self._entry(row, forged)
        if each.table.name == "delivery" and forged != "received_at":
            row["received_at"] = datetime.now(UTC)
        self._become(each.account)
        names, places = (", ".join(form.format(name) for name in row) for form in ('"{0}"', ":_{0}"))
        into = each.table.name if self.sqlite else each.table.fullname
        types = [bindparam(f"_{name}", type_=each.table.c[name].type) for name in row]
        statement = text(f"INSERT INTO {into} ({names}) VALUES ({places})").bindparams(*types)
        self.connection.execute(statement, {f"_{name}": value for name, value in row.items()})

    def _entry(self, row: Row, forged: str) -> Row:
        """The next entry of the log: who forges what it says, takes the digest anew."""
        if not self.sqlite:
            return {
                name: value for name, value in row.items() if name not in OF_THE_DATABASE or name == forged
            }
        last = self.connection.execute(
            select(log.c.number, log.c.digest).order_by(log.c.number.desc()).limit(1)
        ).one_or_none()
        own = {"number": last.number + 1 if last else 1, "previous": last.digest if last else ""}
        entry = {name: value for name, value in {**row, **own}.items() if name != "digest"}
        if forged in ("number", "previous"):
            entry[forged] = row[forged]
        return {
            **entry,
            "digest": row["digest"]
            if forged == "digest" or None in entry.values()
            else digest_of_entry(**entry),
        }

    def _become(self, account: str) -> None:
        if not self.sqlite:
            self.connection.execute(
                text(f"SET SESSION AUTHORIZATION {f'{self.accounts}_{account}' if account else 'DEFAULT'}")
            )

    def findings(self) -> list[str]:
        """What is wrong with the warehouse as it stands."""
        self._become("")
        found = [name for name in self.checks if rows_of_check(self.connection, name)]
        chain = [
            Entry(**row) for row in self.connection.execute(select(log).order_by(log.c.number)).mappings()
        ]
        if broken(chain):
            found.append("verify-log")
        for digest, content, key_id in self.connection.execute(select(payload)).all():
            try:
                plain(self.connection, digest, content, key_id)
            except Exception:  # whatever it is, who reads it is told
                found.append("payload")
        for row in self.connection.execute(select(secret)).all():
            try:
                keys_of(self.connection).open(SEALED_AS, row.key_id, row.content)
            except Exception:
                found.append("secret")
        return found


def _is(table: Table, key: Row) -> Any:
    return and_(*(table.c[name] == value for name, value in key.items()))


def columns() -> set[str]:
    """Every column there is."""
    return {
        f"{table.fullname}.{column.name}" for table in metadata.tables.values() for column in table.columns
    }
