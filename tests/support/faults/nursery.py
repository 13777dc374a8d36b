"""`sdc` in processes of their own that need not load anything: forked from one that has loaded
all, and has run a release already.

Started as a program it reads orders (JSON, one a line), forks a child for each that carries it
out, and answers how the child ended. No solver has threads in it (HiGHS runs single-threaded),
so that its children are whole.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from support import ROOT

KILLED = "killed while CBC works"
CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000  # sched.h


@dataclass(frozen=True)
class Died:
    """How a child ended: its exit code, or minus the number of a signal; what it printed; what it wrote,
    where it got to its end; the copy of its own small disk.
    """

    code: int
    said: str
    writes: tuple[str, ...]
    disk: Path


class Nursery:
    """The process that has loaded everything."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.faults.nursery", str(folder)],
            env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def start(self, argv: Sequence[object], **order: Any) -> int:
        """Starts `sdc` with these arguments, and returns its process id. The order is that of `child`."""
        self._send({"argv": [*map(str, argv)], **order})
        return int(self._answer()["pid"])

    def wait(self, pid: int) -> Died:
        """How that child ended."""
        self._send({"wait": pid})
        return Died(
            int(self._answer()["code"]),
            self._read(f"{pid}.out"),
            tuple(json.loads(self._read(f"{pid}.writes") or "[]")),
            self._folder / f"{pid}.disk",
        )

    def wait_until_stopped(self, pid: int) -> bool:
        """Whether that child stopped, as it was ordered to; False where it ended."""
        process = psutil.Process(pid)
        while (status := process.status()) not in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE):
            time.sleep(0.01)
        return status == psutil.STATUS_STOPPED

    def run(self, argv: Sequence[object], **order: Any) -> Died:
        return self.wait(self.start(argv, **order))

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _send(self, order: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        print(json.dumps(order), file=self._process.stdin, flush=True)

    def _answer(self) -> Mapping[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the nursery has ended"
        answer: Mapping[str, Any] = json.loads(line)
        return answer

    def _read(self, name: str) -> str:
        path = self._folder / name
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


# --- the process itself -------------------------------------------------------------------------------------


def main(folder: Path) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(folder / "nursery.out", os.O_CREAT | os.O_WRONLY), 1)
    warm_up(folder / "first")
    print("{}", file=answers, flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        if "wait" in order:
            status = os.waitpid(order["wait"], 0)[1]
            print(json.dumps({"code": os.waitstatus_to_exitcode(status)}), file=answers, flush=True)
        elif pid := os.fork():
            print(json.dumps({"pid": pid}), file=answers, flush=True)
        else:
            child(folder, **order)


def warm_up(folder: Path) -> None:
    """A release that loads all that a release loads."""
    from support.faults.office import new_office

    new_office(folder).desk.release()


def child(
    folder: Path,
    argv: Sequence[str],
    folders: Sequence[str] = (),
    at: int | None = None,
    stop: bool = False,
    environment: Mapping[str, str] | None = None,
    limits: Mapping[str, int] | None = None,
    small_disk: tuple[str, int] | None = None,
    cbc: str = "",
) -> None:
    """Carries out one order; never returns. Before write number `at` in these folders or in the warehouse it
    dies, or stops to be waited for. `limits`: soft limits of resources. `small_disk`: a folder that is a
    disk of so many bytes of its own; what is in it at the end is copied to `PID.disk`. `cbc`: who is killed
    once CBC works, "cbc" or "parent".
    """
    code = 1
    try:
        os.dup2(os.open(folder / f"{os.getpid()}.out", os.O_CREAT | os.O_WRONLY, 0o600), 1)
        os.dup2(1, 2)
        os.environ.update(environment or {})
        if small_disk is not None:
            mount(*small_disk)
        if cbc:
            kill_once_cbc_works(cbc)
        for name, soft in (limits or {}).items():
            number = getattr(resource, name)
            resource.setrlimit(number, (soft, resource.getrlimit(number)[1]))
        from sdc_tasks import cli
        from support.faults.writes import Writes

        writes = Writes((*folders,), at, signal.SIGSTOP if stop else signal.SIGKILL)
        writes.arm()
        sys.argv = ["sdc", *argv]
        try:
            cli.main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        sys.stdout.flush()
        for name in limits or {}:  # they are the program's, not those of what we note of it
            hard = resource.getrlimit(number := getattr(resource, name))[1]
            resource.setrlimit(number, (hard, hard))
        writes.end(folder / f"{os.getpid()}.writes")
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        if small_disk is not None:
            shutil.copytree(small_disk[0], folder / f"{os.getpid()}.disk")
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):  # no room for what is left to say
                stream.flush()
        os._exit(code)


def mount(folder: str, size: int) -> None:
    """A disk in memory, which only this process sees; root of a namespace of its own may mount one."""
    libc, me = ctypes.CDLL(None, use_errno=True), (os.getuid(), os.getgid())
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "unshare")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {me[0]} 1")
    Path("/proc/self/gid_map").write_text(f"0 {me[1]} 1")
    if libc.mount(b"none", folder.encode(), b"tmpfs", 0, f"size={size}".encode()):
        raise OSError(ctypes.get_errno(), "mount")


def kill_once_cbc_works(whom: str) -> None:
    start = subprocess.Popen.__init__

    def started(process: subprocess.Popen[str], arguments: Sequence[str], *rest: Any, **named: Any) -> None:
        start(process, arguments, *rest, **named)
        if Path(arguments[0]).name.startswith("cbc"):
            print(KILLED, flush=True)
            os.kill(process.pid if whom == "cbc" else os.getpid(), signal.SIGKILL)

    subprocess.Popen.__init__ = started  # type: ignore[method-assign,assignment]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
