"""`make bench-attack ARGS="…"`: every job of every release, each in a process of its own;
writes ATTACK.md and attack.json.

What is finished is kept in var/bench/attack and not measured again, unless our sources have changed. So a run
may be interrupted at any time, and ATTACK.md always shows everything that is kept.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
from datetime import UTC, datetime

from rich.console import Console

from benchmarks import attack_document
from benchmarks.attack_measure import FORM, Job, Record, code, jobs
from benchmarks.attack_registry import ATTACK, RELEASES, TINY, Release
from benchmarks.process import command, run_python
from benchmarks.registry import ABSENT, HERE

RECORDS = ATTACK / "records"
PATIENCE = 7200.0  # seconds after which a job is ended from outside
out = Console(highlight=False)


def main(arguments: list[str] | None = None) -> int:
    given = _parse(arguments)
    todo, now = jobs(given.chosen), code()
    failures: dict[str, str] = {}
    if given.list:
        for job in todo:
            out.print(job.name, markup=False)
        return 0
    interrupted, absent = False, False
    try:
        for number, job in enumerate(todo, start=1):
            if job.release in failures or (not given.fresh and _is_kept(job, now)):
                continue
            out.print(f"[{number}/{len(todo)}] {job.name} …", markup=False)
            name, (status, reason) = (
                job.release,
                run_python(["-m", "benchmarks.attack_registry", job.release], PATIENCE),
            )
            absent |= status == ABSENT
            if status == 0:
                name, (status, reason) = job.name, _measured(job)
            if status:
                failures[name] = reason or f"exit code {status}"
            out.print(f"    {failures[name]}" if status else f"    {_read(job).seconds:.2f} s", markup=False)
    except KeyboardInterrupt:
        interrupted = True
    folder = ATTACK if given.quick else HERE  # quick figures are for looking at, not for keeping
    path = attack_document.write(
        folder,
        _kept(given.releases),
        given.releases,
        failures,
        command("bench-attack", arguments),
        datetime.now(UTC),
    )
    out.print(f"written: {path.relative_to(HERE.parents[1])}")
    return 130 if interrupted else 1 if len(failures) > absent else 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make bench-attack", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        help="releases by name or pattern, such as demo or 'demo-*'",
    )
    parser.add_argument("--quick", action="store_true", help="tiny releases; results to var/bench/attack")
    parser.add_argument("--fresh", action="store_true", help="measure again what is kept")
    parser.add_argument("--list", action="store_true", help="the jobs, and nothing else")
    given = parser.parse_args(arguments)
    given.releases = TINY if given.quick else RELEASES
    given.chosen = tuple(
        release
        for release in given.releases
        if any(fnmatch.fnmatch(release.name, name) for name in given.only or ["*"])
    )
    if not given.chosen:
        parser.error(
            f"no release is called {' or '.join(given.only)}: there are "
            f"{', '.join(release.name for release in given.releases)}"
        )
    return given


def _is_kept(job: Job, now: str) -> bool:
    return _is_readable(job) and _read(job).code == now


def _is_readable(job: Job) -> bool:
    path = RECORDS / f"{job.name}.json"
    return path.exists() and json.loads(path.read_text(encoding="utf-8")).get("form") == FORM


def _read(job: Job) -> Record:
    return Record.from_json(json.loads((RECORDS / f"{job.name}.json").read_text(encoding="utf-8")))


def _kept(releases: tuple[Release, ...]) -> dict[str, Record]:
    return {job.name: _read(job) for job in jobs(releases) if _is_readable(job)}


def _measured(job: Job) -> tuple[int, str]:
    """Measures and keeps the record."""
    RECORDS.mkdir(parents=True, exist_ok=True)
    path = RECORDS / f"{job.name}.json"
    path.unlink(missing_ok=True)
    what = [job.release, job.kind, *([job.detail] if job.detail else [])]
    return run_python(["-m", "benchmarks.attack_measure", *what, "--out", str(path)], PATIENCE)


if __name__ == "__main__":
    sys.exit(main())
