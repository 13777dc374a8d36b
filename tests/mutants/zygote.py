"""Runs pytest in forks of one process, which has imported what no mutant touches: most of the
time of a short test goes there.

A line of JSON in (`arguments` of pytest, `limit` in seconds, `out`: the file for what it tells), a line
out: its code, null where it hung.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import time

OTHERS = (
    "pytest",
    "hypothesis.strategies",
    "numpy",
    "scipy.sparse.linalg",
    "scipy.optimize",
    "pandas",
    "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite",
    "alembic.command",
    "alembic.autogenerate",
    "psycopg",
    "cryptography.hazmat.primitives.ciphers.aead",
    "pydantic",
    "yaml",
    "highspy",
    "pulp",
    "jinja2",
    "typer",
    "rich.table",
    "multiprocessing.context",
)


def main() -> None:
    sys.path.pop(0)  # the folder of this file
    for name in OTHERS:
        importlib.import_module(name)
    assert not [name for name in sys.modules if name.startswith("sdc_tasks")], (
        "the code that is mutated is imported by the tests alone"
    )
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            _test(asked["arguments"], asked["out"])
        print(json.dumps(_code(child, asked["limit"])), flush=True)


def _test(arguments: list[str], out: str) -> None:
    """In a session of its own, so that whatever it starts ends with it. Does not return."""
    os.setsid()
    for number in (1, 2):
        os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    import pytest

    code = pytest.main(arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(code))


def _code(child: int, limit: float) -> int | None:
    deadline = time.monotonic() + limit
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        late = time.monotonic() > deadline
        if ended or late:
            break
        time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if not ended:
        os.waitpid(child, 0)
        return None
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    main()
