"""What is in memory when a process fails does not come out: no core file, no local variables behind
an exception, no temporary file.
"""

from __future__ import annotations

import re
import resource
import signal
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

from sdc_tasks import intake, pipeline, steps
from sdc_tasks.confidential import forget_locals
from sdc_tasks.domains import load_domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.public_files import PUBLIC_FILES
from support.deliveries import PERIOD
from support.desk import FREE, PROTECTED, SECRETS, new_desk

ABORT = """
import os, resource, sys
secret = "core-" + "secret" * 50
if sys.argv[1] == "sdc":
    sys.argv = ["sdc", "--help"]
    from sdc_tasks import cli
    try:
        cli.main()
    except SystemExit:
        pass
print("limit", resource.getrlimit(resource.RLIMIT_CORE), flush=True)
os.abort()
"""


def aborted(folder: Path, who: str) -> tuple[int, str, list[str]]:
    """A process that aborts: how it ended, what it said, and the core files it left."""

    def allow() -> None:
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))

    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", ABORT, who],
        cwd=folder,
        preexec_fn=allow,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, [path.name for path in folder.iterdir()]


def test_a_process_that_crashes_leaves_no_core(tmp_path):
    code, said, left = aborted(tmp_path / "sdc", "sdc")
    assert code == -signal.SIGABRT
    assert left == []
    soft, hard = map(int, re.findall(r"limit \((-?\d+), (-?\d+)\)", said)[0])
    assert soft in (0, 1)
    assert hard in (0, 1), "what it starts cannot raise it"


def test_another_process_does_leave_one(tmp_path):
    """Else the test above could not fail."""
    if Path("/proc/sys/kernel/core_pattern").read_text().strip() not in ("core", "core.%p"):
        pytest.skip("this system keeps cores elsewhere")
    if resource.getrlimit(resource.RLIMIT_CORE)[1] in (0, 1):
        pytest.skip("this system allows no core to anybody")
    code, _, left = aborted(tmp_path / "other", "other")
    assert (code, len(left)) == (-signal.SIGABRT, 1)
    assert b"core-" + b"secret" * 50 in (tmp_path / "other" / left[0]).read_bytes()


def with_locals(error: BaseException) -> str:
    """A traceback as collectors of errors write it."""
    return "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.delenv("SDC_PAYLOAD_KEYS", raising=False)
    return new_desk(tmp_path, AT=PROTECTED, BE=FREE)


def test_a_failing_step_tells_files_and_lines_and_no_local_variable(desk, monkeypatch):
    """The step fails where the tables are its local variables, with an error of its own
    and with one that nobody expected.
    """
    where = f"sqlite:///{desk.folder / 'warehouse.db'}"
    domain = load_domain(desk.domain)
    tables = [intake.read(path, domain, PERIOD).table for path in sorted(desk.inbox.iterdir())]

    def fails(*_: object) -> None:
        value = [table.value.tolist() for table in tables]
        text = f"{value}"
        try:
            raise ZeroDivisionError
        except ZeroDivisionError as inner:
            raise InvalidInput(f"{len(text)} characters") from inner

    with pytest.raises(InvalidInput) as bare:
        fails()
    assert SECRETS[0] in with_locals(bare.value), "they are there to be told"

    monkeypatch.setattr(pipeline, "build_problem", fails)
    office = steps.open_desk(where, str(desk.domain), PERIOD)
    assert desk.release("out", "--warehouse", where).code == 2
    with pytest.raises(InvalidInput) as told:
        steps.assemble(office)
    text = with_locals(told.value)
    assert "in fails" in text
    assert "protection.py" in text
    assert [secret for secret in SECRETS if secret in text] == []
    office.engine.dispose()


STEPS = (
    "discover",
    "ingest",
    "assemble",
    "baseline",
    "adjust",
    "choose_bases",
    "audit_chunk",
    "verdict",
    "publish",
)


@pytest.mark.parametrize("step", STEPS)
def test_every_step_keeps_its_variables_to_itself(step):
    assert getattr(steps, step).__wrapped__.__name__ == step


def test_chains_and_circles_of_exceptions_are_forgotten():
    def deep(secret: np.ndarray) -> None:
        try:
            raise KeyError(len(secret))
        except KeyError as first:
            second = ValueError("second")
            second.__context__ = first
            first.__context__ = second
            raise second from first

    with pytest.raises(ValueError) as caught:
        deep(np.array([251409.0]))
    inner = [
        frame for frame, _ in traceback.walk_tb(caught.value.__traceback__) if frame.f_code.co_name == "deep"
    ]
    assert "secret" in inner[0].f_locals
    forget_locals(caught.value)
    assert inner[0].f_locals == {}


@pytest.mark.slow
def test_the_checks_of_a_delivery_write_no_file(desk, tmp_path):
    """Great Expectations, pandas, matplotlib: a process whose every write is heard (`writes.py`)
    makes files in the out folder alone.
    """
    from support.faults.nursery import Nursery

    scratch = tmp_path / "scratch"
    scratch.mkdir()
    nursery = Nursery(tmp_path / "nursery")
    where = ["--domain", desk.domain, "--period", PERIOD, "--inbox", desk.inbox, "--out", tmp_path / "out"]
    ended = nursery.run(
        ["release", *where], folders=["/"], environment={"TMPDIR": str(scratch), "TMP": str(scratch)}
    )
    nursery.close()
    assert ended.code == 0, ended.said
    opened = {what.removeprefix("open ") for what in ended.writes if what.startswith("open ")}
    told = "|".join(map(re.escape, ["audit.json", "report.html", "findings.csv", *PUBLIC_FILES]))
    ours = re.compile(rf"warehouse\.db.*|\.({told})\.\w+\.tmp|null|tty")
    assert {name for name in opened if not ours.fullmatch(name)} == set()
    assert list(scratch.iterdir()) == []
