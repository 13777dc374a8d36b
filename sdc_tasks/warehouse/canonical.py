"""Digests that the program and the database take of the same things, each by itself, and that must agree.

PostgreSQL has them as SQL (`sql/migrations`). SQLite has no sha256: the functions of this module are registered with every connection of
the program, and its triggers call them. At a prompt without them such a statement fails, which refuses it.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import numpy as np

from sdc_tasks.warehouse.people import is_person

PORTION = 10_000  # rows: no more of a publication is in memory at a time
NUMBERS = ("value", "rounding_base", "visible_share")
NOTHING = "x" * 16
# What is printed of a cell.
PRINTED = ("position", "cell", "area", "indicator", "value", "obs_status", "conf_status", "rounding_base", "visible_share")


Columns = tuple[Sequence[Any], ...]  # of some rows, in the order of `PRINTED`


def digest_of_printed(rows: Iterable[Sequence[Any]]) -> str:
    """sha256 over everything that is printed: rows in the columns `PRINTED`, by position."""
    remaining, told = iter(rows), Printed()
    while portion := list(islice(remaining, PORTION)):
        told.add(tuple([row[place] for row in portion] for place in range(len(PRINTED))))
    return told.digest


class Printed:
    """The digest of rows, 10 000 at a time.

    Of these each column has a digest of its own: texts one to a line, numbers as the 16 hexadecimal digits of their IEEE 754 form (zero
    without a sign), x for each digit where there is none. These digests, after the number of rows, are digested again, and so are the
    portions. With the number of rows that of the lines is known: no text can hold the end of one, and no other rows give the same bytes.
    """

    def __init__(self) -> None:
        self._portions: list[str] = []

    def add(self, columns: Columns) -> None:
        told = (_sha256(_text(name, column)) for name, column in zip(PRINTED, columns, strict=True))
        self._portions.append(_sha256("\n".join([str(len(columns[0])), *told])))

    @property
    def digest(self) -> str:
        return _sha256("\n".join(self._portions))


def digest_of_entry(
    number: int, recorded_at: datetime, actor: str, account: str, action: str, subject: str, details: str, previous: str
) -> str:
    """sha256 of the fields of an entry of the log as a JSON list, in the form of PostgreSQL's json_build_array."""
    instant = recorded_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    fields = [number, instant, actor, account, action, subject, details, previous]
    return hashlib.sha256(json.dumps(fields, ensure_ascii=False).encode()).hexdigest()


Inserted = dict[tuple[str, str, str], tuple[str, int]]


def register(connection: sqlite3.Connection) -> Inserted:
    """Gives a connection of SQLite the functions that its triggers and checks call.

    What the publisher has inserted just now is not read again: it notes digest and `total_changes` of the connection under the key of the
    publication in the dictionary that is returned. That is used once, and only while nothing has been changed since.
    """
    inserted: Inserted = {}

    def printed_digest(domain: str, period: str, publication: str) -> str:
        """Of the stored rows. Asks the same connection, so within its transaction."""
        known, changes = inserted.pop((domain, period, publication), ("", -1))
        if changes == connection.total_changes:
            return known
        query = (
            f"SELECT {', '.join(PRINTED)} FROM eu_cell WHERE domain = ? AND period = ? AND publication_digest = ? ORDER BY position, cell"
        )
        return digest_of_printed(connection.execute(query, (domain, period, publication)))

    def entry_digest(number: int, recorded_at: str, *rest: str) -> str:
        return digest_of_entry(number, datetime.fromisoformat(recorded_at).replace(tzinfo=UTC), *rest)

    connection.create_function("printed_digest", 3, printed_digest)
    connection.create_function("entry_digest", 8, entry_digest, deterministic=True)
    connection.create_function("sha256_hex", 1, _sha256, deterministic=True)
    connection.create_function("is_person", 1, is_person, deterministic=True)
    return inserted


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _text(name: str, column: Sequence[Any]) -> str:
    """A column of some rows in one text."""
    if name not in NUMBERS:
        return "\n".join(map(str, column) if name == "position" else column)
    missing = column.count(None)
    if missing == len(column):
        return NOTHING * missing
    digits = (np.array(column, dtype=float) + 0.0).astype(">f8").tobytes().hex()  # what is missing is no number, and written over below
    if not missing:
        return digits
    told = np.frombuffer(digits.encode(), dtype=f"S{len(NOTHING)}").copy()
    told[[number is None for number in column]] = NOTHING
    return told.tobytes().decode()
