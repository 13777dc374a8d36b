"""Every write of a process, counted, and a process that kills itself with SIGKILL, or stops, right before the
n-th.

A write is what changes the world outside: a statement that SQLite runs (rows of many-row inserts and
triggers each by themselves, the commit too), a statement, a COPY or a commit that the PostgreSQL driver
sends, and a file that is opened for writing, renamed, linked, removed, cut, or given other rights, a folder
that is made. They are heard where nobody can go past: SQLite's own trace, the methods of the driver,
Python's audit hook. Between two writes nothing changes, so that being killed before each write and before
the end is being killed before and after each.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import sqlite3.dbapi2
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

READS = re.compile(r"\s*(--|;|(SELECT|BEGIN|ROLLBACK|PRAGMA|SHOW|SET|EXPLAIN)\b)", re.IGNORECASE)
WRITING = os.O_WRONLY | os.O_RDWR
FILE_EVENTS = {
    "os.rename",
    "os.link",
    "os.symlink",
    "os.remove",
    "os.rmdir",
    "os.mkdir",
    "os.truncate",
    "os.chmod",
    "shutil.rmtree",
}


@dataclass
class Writes:
    """What was written so far, and what happens before write number `at` (None:
    nothing): SIGKILL, or another signal.
    """

    folders: tuple[str, ...]
    at: int | None = None
    signal: int = signal.SIGKILL
    seen: list[str] = field(default_factory=list)

    def arm(self) -> None:
        """From here on. Cannot be undone: for a process of its own."""
        sys.addaudithook(self._hear)
        self._listen_to_sqlite()
        self._listen_to_psycopg()

    def write(self, what: str) -> None:
        if self.at == len(self.seen):
            os.kill(os.getpid(), self.signal)
        self.seen.append(what)

    def end(self, tell: Path) -> None:
        """The end of the work: the last place to die. Tells what was written."""
        self.write("end")
        self.folders = ()
        tell.write_text(json.dumps(self.seen), encoding="utf-8")

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            if (flags or 0) & WRITING or (isinstance(mode, str) and set(mode) & set("wax+")):
                self._file("open", path)
        elif event in FILE_EVENTS:
            self._file(event, arguments[0])

    def _file(self, event: str, path: Any) -> None:
        if isinstance(path, str | bytes | os.PathLike) and (text := os.fsdecode(path)).startswith(
            self.folders
        ):
            self.write(f"{event} {Path(text).name}")

    def _statement(self, text: str) -> None:
        if not READS.match(text):
            self.write(" ".join(text.split()[:3]))

    def _listen_to_sqlite(self) -> None:
        connect = sqlite3.connect

        def traced(*arguments: Any, **named: Any) -> sqlite3.Connection:
            connection = connect(*arguments, **named)
            connection.set_trace_callback(self._statement)
            return connection

        sqlite3.connect = sqlite3.dbapi2.connect = traced

    def _listen_to_psycopg(self) -> None:
        import psycopg

        def before(owner: type, name: str, what: Callable[..., Iterable[str]]) -> None:
            original = getattr(owner, name)

            def heard(this: Any, *arguments: Any, **named: Any) -> Any:
                for text in what(*arguments):
                    self._statement(text)
                return original(this, *arguments, **named)

            setattr(owner, name, heard)

        def sent(query: Any, *_: Any) -> list[str]:
            return [
                query
                if isinstance(query, str)
                else query.decode()
                if isinstance(query, bytes)
                else query.as_string(None)
            ]

        before(psycopg.Cursor, "execute", sent)
        before(psycopg.Cursor, "executemany", sent)
        before(psycopg.Cursor, "copy", sent)
        before(psycopg.Connection, "commit", lambda *_: ["COMMIT"])
