"""Measurements run in Python processes of their own, and end with us."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys

from benchmarks.registry import HERE


def run_python(arguments: list[str], timeout: float | None) -> tuple[int, str]:
    """Exit code and last line of what Python said; the process and those it started are ended
    when time is up, or when we are.
    """
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    process = subprocess.Popen(
        [sys.executable, *arguments],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        _, errors = process.communicate(timeout=timeout)
    except BaseException as reason:
        os.killpg(process.pid, signal.SIGKILL)  # the session that we started
        process.wait()
        if isinstance(reason, subprocess.TimeoutExpired):
            return 1, f"ended from outside after {timeout:.0f} s"
        raise
    return process.returncode, errors.strip().rpartition("\n")[2]


def command(target: str, arguments: list[str] | None) -> str:
    """How to call this again."""
    given = sys.argv[1:] if arguments is None else arguments
    return f"make {target}" + (f" ARGS={shlex.quote(shlex.join(given))}" if given else "")
