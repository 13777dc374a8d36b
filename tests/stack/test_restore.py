"""Backup and restore as docs/deploy.md has them: the warehouse is lost, and comes back with
what was published, log and grants.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import ProgrammingError
from stack import program, surroundings
from topology import ONCE, as_process

from sdc_tasks.warehouse.database.checks import run_checks
from sdc_tasks.warehouse.log import entries
from support.stack_fixture import ROOT, Running

pytestmark = pytest.mark.stack
PERIOD = "2020"


def test_a_lost_warehouse_comes_back(stack: Running, tmp_path: Path) -> None:
    stack.deliver("open", PERIOD)
    run = stack.trigger("open", period=PERIOD)
    assert run.wait() == "success", run.states()
    published = rows(
        stack.public_url, "SELECT * FROM dissemination.public_cell ORDER BY domain, period, cell"
    )
    assert published
    engine = create_engine(stack.warehouse_url)
    head = entries(engine)[-1].digest
    engine.dispose()

    server = ["--host", "127.0.0.1", "--port", str(stack.stack.postgres), "--username", "postgres"]
    said(
        stack,
        program("pg_dump"),
        *server,
        "--format",
        "custom",
        "--file",
        str(tmp_path / "warehouse.dump"),
        "warehouse",
    )
    said(stack, program("dropdb"), *server, "--force", "warehouse")
    said(stack, program("createdb"), *server, "--owner", "release_owner", "warehouse")
    said(
        stack,
        program("pg_restore"),
        *server,
        "--dbname",
        "warehouse",
        "--exit-on-error",
        str(tmp_path / "warehouse.dump"),
    )
    command, environment = as_process(stack.stack.services()[ONCE], stack.stack.secrets)
    said(stack, *command, **environment)

    assert (
        rows(stack.public_url, "SELECT * FROM dissemination.public_cell ORDER BY domain, period, cell")
        == published
    )
    sdc = str(Path(sys.executable).with_name("sdc"))
    assert "verified" in said(stack, sdc, "verify-log", "--warehouse", stack.warehouse_url, "--head", head)
    engine = create_engine(stack.warehouse_url)
    assert {name: found for name, found in run_checks(engine).items() if found} == {}
    engine.dispose()
    with pytest.raises(ProgrammingError, match="permission denied"):
        rows(stack.stack.address("release_pages"), "SELECT * FROM confidential.payload")


def said(stack: Running, *command: str, **environment: str) -> str:
    """What a command printed that must succeed."""
    place = {"PGPASSFILE": str(stack.stack.secrets / "pgpass.prepare"), **environment}
    done = subprocess.run(
        command, env={**surroundings(), **place}, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{os.path.basename(command[0])}: {done.stdout}{done.stderr}"
    return done.stdout


def rows(address: str, query: str) -> list[tuple[object, ...]]:
    engine = create_engine(address)
    try:
        with engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(query))]
    finally:
        engine.dispose()
