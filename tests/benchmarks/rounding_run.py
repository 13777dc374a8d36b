"""`make bench-rounding ARGS="…"`: every quality on every table, each in a process of its own;
writes ROUNDING.md and rounding.json. Then controlled and quadratic rounding
(rounding_controlled_run.py): ROUNDING_CONTROLLED.md.

What is finished is kept in var/bench and not measured again, unless our sources have changed.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from benchmarks import rounding_controlled_run, rounding_document
from benchmarks.process import command, run_python
from benchmarks.registry import ABSENT, HERE
from benchmarks.rounding_measure import FORM, Record, code
from benchmarks.rounding_registry import INSTANCES, ROUNDING, TINY, Instance

RECORDS = ROUNDING / "records"
PATIENCE = 3600.0  # seconds after which a measurement is ended from outside
out = Console(highlight=False)


def main(arguments: list[str] | None = None) -> int:
    given = _parse(arguments)
    only, said = given.only or ["*"], command("bench-rounding", arguments)
    failed = _small_counts(only, given.quick, given.fresh, said)
    failed += rounding_controlled_run.run(only, given.quick, given.fresh, said)
    return 1 if failed else 0


def _small_counts(only: list[str], quick: bool, fresh: bool, said: str) -> int:
    """Measures and writes; how many failed that had their data."""
    instances, now = TINY if quick else INSTANCES, code()
    if not any(fnmatch.fnmatch(instance.name, name) for instance in instances for name in only):
        return 0
    failures: dict[str, str] = {}
    absent = 0
    for instance in instances:
        if not any(fnmatch.fnmatch(instance.name, name) for name in only):
            continue
        status, reason = run_python(["-m", "benchmarks.rounding_registry", instance.name], PATIENCE)
        absent += status == ABSENT
        if status:
            failures[instance.name] = reason or f"exit code {status}"
            continue
        for quality in instance.qualities:
            kept = _record(instance, quality)
            if kept is not None and kept.code == now and not fresh:
                continue
            out.print(f"{instance.name}, {quality} …", markup=False)
            path = _path(instance, quality)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            status, reason = run_python(
                ["-m", "benchmarks.rounding_measure", instance.name, quality, "--out", str(path)], PATIENCE
            )
            found = _record(instance, quality)
            if status or found is None:
                failures[f"{instance.name}-{quality}"] = reason or f"exit code {status}"
            else:
                out.print(
                    f"    {found.seconds:.2f} s, max {found.maximum}, mean {found.mean:.4f}, RMS "
                    f"{found.rms:.4f}"
                )
    records = {
        r.name: r for i in instances for quality in i.qualities if (r := _record(i, quality)) is not None
    }
    folder = ROUNDING if quick else HERE  # quick figures are for looking at, not for keeping
    path = rounding_document.write(folder, records, instances, failures, said, datetime.now(UTC))
    out.print(f"written: {path.relative_to(HERE.parents[1])}")
    return len(failures) - absent


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make bench-rounding", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        help="tables by name or pattern, such as census-hub or 'sixway-*'",
    )
    parser.add_argument("--quick", action="store_true", help="tiny tables; results to var/bench")
    parser.add_argument("--fresh", action="store_true", help="measure again what is kept")
    return parser.parse_args(arguments)


def _path(instance: Instance, quality: str) -> Path:
    return RECORDS / f"{instance.name}-{quality}.json"


def _record(instance: Instance, quality: str) -> Record | None:
    path = _path(instance, quality)
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return Record(**found) if found.get("form") == FORM else None


if __name__ == "__main__":
    sys.exit(main())
