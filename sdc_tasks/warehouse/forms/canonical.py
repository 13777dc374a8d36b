"""Digests that the program and the database compute independently of the same things, and that must agree.

PostgreSQL has them as SQL (`sql/migrations`). SQLite has no sha256: the functions of this module are
registered with every connection of the program, and its triggers call them. A connection without these
functions cannot execute such a statement, and so cannot publish.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from sdc_tasks.warehouse.forms.people import is_person
from sdc_tasks.warehouse.forms.related import akin, belongs, knew, links, reaches, same_time

PORTION = 10_000  # rows of a publication that are in memory at a time
NUMBERS = ("value", "rounding_base", "visible_share")
NO_NUMBER = "x" * 16
# The printed columns of a cell.
PRINTED = (
    "position",
    "cell",
    "area",
    "indicator",
    "value",
    "obs_status",
    "conf_status",
    "rounding_base",
    "visible_share",
)


Columns = tuple[Sequence[Any], ...]  # the columns of some rows, in the order of `PRINTED`


def digest_of_printed(rows: Iterable[Sequence[Any]]) -> str:
    """SHA-256 over everything printed: rows with the columns `PRINTED`, by position."""
    remaining, told = iter(rows), Printed()
    while portion := list(islice(remaining, PORTION)):
        told.add(tuple([row[place] for row in portion] for place in range(len(PRINTED))))
    return told.digest


class Printed:
    """The digest of rows, in portions of 10 000.

    Within a portion, each column has its own digest: one text per line; numbers as the 16 hexadecimal digits
    of their IEEE 754 form (zero without a sign), with x for each digit of a missing number. The number of
    rows and these digests are digested again, and so are the portions. The number of rows fixes the number of
    lines: no text can contain the end of a line, and no other rows give the same bytes.
    """

    def __init__(self) -> None:
        self._portions: list[str] = []

    def add(self, columns: Columns) -> None:
        told = (sha256_hex(_text(name, column)) for name, column in zip(PRINTED, columns, strict=True))
        self._portions.append(sha256_hex("\n".join([str(len(columns[0])), *told])))

    @property
    def digest(self) -> str:
        return sha256_hex("\n".join(self._portions))


def digest_of_entry(
    number: int,
    recorded_at: datetime,
    actor: str,
    account: str,
    action: str,
    subject: str,
    details: str,
    previous: str,
) -> str:
    """SHA-256 of the fields of a log entry as a JSON list, in the form of PostgreSQL's json_build_array."""
    fields = [number, instant(recorded_at), actor, account, action, subject, details, previous]
    return sha256_hex(json.dumps(fields, ensure_ascii=False))


def instant(at: datetime) -> str:
    """An instant in the form of the log."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def told(document: str | None, *path: str) -> str | None:
    """The text of a JSON document at a path, as by PostgreSQL's `jsonb #>> path`; None for text that is
    not JSON, or without that path.
    """
    found = _json(document)
    for step in path:
        found = found.get(step) if isinstance(found, dict) else None
    if found is None or isinstance(found, str):
        return found
    return json.dumps(found, ensure_ascii=False)


def tells(document: str | None, keys: str) -> bool:
    """Whether the document is a JSON object with all these keys (separated by commas)."""
    found = _json(document)
    return isinstance(found, dict) and all(key in found for key in keys.split(",") if key)


def is_list(document: str | None) -> bool:
    """Whether the document is a JSON list of texts."""
    found = _json(document)
    return isinstance(found, list) and all(isinstance(item, str) for item in found)


def _json(document: str | None) -> Any:
    try:
        return json.loads(document or "")
    except (ValueError, RecursionError, TypeError):
        return None


def _aware(stored: str) -> datetime:
    """An instant as SQLite stores it: UTC, without a time zone."""
    return datetime.fromisoformat(stored).replace(tzinfo=UTC)


Inserted = dict[tuple[str, str, str], tuple[str, int]]


def register(connection: sqlite3.Connection) -> Inserted:
    """Registers the functions that triggers and checks call with a connection of SQLite.

    Rows that the publisher has just inserted are not read again: it stores their digest and the
    `total_changes` of the connection under the key of the publication in the returned dictionary. This entry
    is used once, and only while nothing else was changed.
    """
    inserted: Inserted = {}

    def printed_digest(domain: str, period: str, publication: str) -> str:
        """Digest of the stored rows, read through the same connection and so within its transaction."""
        known, changes = inserted.pop((domain, period, publication), ("", -1))
        if changes == connection.total_changes:
            return known
        query = (
            f"SELECT {', '.join(PRINTED)} FROM eu_cell WHERE domain = ? AND period = ? AND "
            f"publication_digest = ? ORDER BY position, cell"
        )
        return digest_of_printed(connection.execute(query, (domain, period, publication)))

    def entry_digest(number: int, recorded_at: str, *rest: str) -> str:
        return digest_of_entry(number, _aware(recorded_at), *rest)

    connection.create_function("printed_digest", 3, printed_digest)
    connection.create_function("entry_digest", 8, entry_digest, deterministic=True)
    connection.create_function(
        "sha256_hex", 1, lambda told: None if told is None else sha256_hex(told), deterministic=True
    )
    connection.create_function("is_person", 1, is_person, deterministic=True)
    connection.create_function("told", -1, told, deterministic=True)
    connection.create_function("tells", 2, tells, deterministic=True)
    connection.create_function("is_list", 1, is_list, deterministic=True)
    connection.create_function("same_time", 2, same_time, deterministic=True)
    connection.create_function("akin", 2, akin, deterministic=True)
    connection.create_function("links", 3, links, deterministic=True)
    connection.create_function("knew", 5, knew, deterministic=True)
    connection.create_function("belongs", 4, belongs, deterministic=True)
    connection.create_function("reaches", 3, reaches, deterministic=True)
    connection.create_function(
        "instant", 1, lambda at: None if at is None else instant(_aware(at)), deterministic=True
    )
    return inserted


def digest_of(content: bytes) -> str:
    """SHA-256 of the bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def sha256_hex(text: str) -> str:
    """SHA-256 of a text in UTF-8, in hexadecimal."""
    return digest_of(text.encode())


def _text(name: str, column: Sequence[Any]) -> str:
    """A column of some rows as one text."""
    if name not in NUMBERS:
        return "\n".join(map(str, column) if name == "position" else column)
    missing = column.count(None)
    if missing == len(column):
        return NO_NUMBER * missing
    import numpy as np  # here, because the pages and Airflow's own servers digest no table

    digits = (
        (np.array(column, dtype=float) + 0.0).astype(">f8").tobytes().hex()
    )  # missing numbers are overwritten below
    if not missing:
        return digits
    told = np.frombuffer(digits.encode(), dtype=f"S{len(NO_NUMBER)}").copy()
    told[[number is None for number in column]] = NO_NUMBER
    return told.tobytes().decode()
