"""`make bench-cta ARGS="…"`: every instance × weights × method of the registry, each in a
process of its own; writes RESULTS.md.

What is finished is kept in var/bench and not measured again, unless the table, the limit, or the code it
depends on is another. So a run may be interrupted at any time, and RESULTS.md always shows everything that is
kept. A new clone begins with the records of results.json.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table as Printed

from benchmarks.measure import METHODS, OURS, Pair, Record, Setting, code_of
from benchmarks.process import command, run_python
from benchmarks.registry import ABSENT, CACHE, HERE, INSTANCES, REGISTRY, THREE, Instance

PAIRS = CACHE / "pairs"
PATIENCE = 180.0  # seconds past its limit after which a measurement is ended from outside
out = Console(highlight=False)


def main(arguments: list[str] | None = None) -> int:
    given = _parse(arguments)
    if given.list:
        _print_registry(given.chosen)
        return 0
    take_over(HERE / "results.json")
    failures: dict[str, tuple[int, str]] = {}
    pairs, interrupted = list(_pairs(given)), False
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:32}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=out) as progress:
        try:
            for pair in progress.track(pairs, description="CTA"):
                progress.update(progress.task_ids[0], description=pair.name)
                _settle(pair, _setting(pair, given), given.fresh, failures)
        except KeyboardInterrupt:
            interrupted = True
    _report(pairs, {name: reason for name, (_, reason) in failures.items()}, command("bench-cta", arguments))
    if interrupted:
        return 130
    return 1 if any(code != ABSENT for code, _ in failures.values()) else 0


def take_over(results: Path) -> None:
    """Keeps the records that a file holds, but for pairs that are kept already."""
    PAIRS.mkdir(parents=True, exist_ok=True)
    for found in json.loads(results.read_text(encoding="utf-8")):
        path = PAIRS / f"{Record.from_json(found).pair.name}.json"
        if not path.exists():
            path.write_text(json.dumps(found), encoding="utf-8")


def _settle(pair: Pair, setting: Setting, fresh: bool, failures: dict[str, tuple[int, str]]) -> None:
    """Measures a pair unless it is kept, or its table could not be made; a failure is noted under
    the name of the pair or the table.
    """
    if pair.instance in failures or (kept(pair, setting) and not fresh):
        return
    instance = REGISTRY[pair.instance]
    name, (code, reason) = instance.name, _prepared(instance)
    if code == 0:
        name, (code, reason) = pair.name, _measured(pair, setting)
    if code:
        failures[name] = code, reason


def _report(pairs: list[Pair], reasons: dict[str, str], command: str) -> None:
    from benchmarks import document  # only now: what draws takes memory, see _prepared

    for instance in INSTANCES:  # records that were taken over come without their table, which the plots need
        if not instance.path.exists() and (found := _prepared(instance))[0]:
            reasons[instance.name] = found[1]
    records = [record for record in _records() if record.pair.instance not in reasons]
    document.write(records, reasons, command, datetime.now(UTC))
    _print_records([record for record in records if record.pair in pairs])
    for name, reason in reasons.items():
        out.print(f"{name}: {reason}", markup=False)
    out.print(f"written: {document.RESULTS.relative_to(HERE.parents[1])}")


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make bench-cta", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        help="instances by name or pattern, such as sbs-20160 or 'sbs-*'",
    )
    parser.add_argument("--weights", action="append", choices=[str(weights) for weights in THREE])
    parser.add_argument("--method", action="append", choices=METHODS)
    parser.add_argument(
        "--limit", type=float, default=300.0, help="seconds for a peer, and at most for ours (300)"
    )
    parser.add_argument("--ours", type=float, default=60.0, help="seconds for ours (60)")
    parser.add_argument("--quick", action="store_true", help="--limit 30")
    parser.add_argument("--threads", type=int, default=2, help="threads for ours (2); peers run on one")
    parser.add_argument("--fresh", action="store_true", help="measure again what is kept")
    parser.add_argument("--list", action="store_true", help="the registry, and nothing else")
    given = parser.parse_args(arguments)
    given.chosen = [
        instance
        for instance in INSTANCES
        if any(fnmatch.fnmatch(instance.name, name) for name in given.only or ["*"])
    ]
    if not given.chosen:
        parser.error(f"no table is called {' or '.join(given.only)}; --list names them")
    given.limit = 30.0 if given.quick else given.limit
    return given


def _pairs(given: argparse.Namespace) -> Iterator[Pair]:
    for instance in given.chosen:
        for weights in instance.weights:
            for method in METHODS:
                if (not given.weights or weights in given.weights) and (
                    not given.method or method in given.method
                ):
                    yield Pair(instance.name, str(weights), method)


def _setting(pair: Pair, given: argparse.Namespace) -> Setting:
    ours = pair.method in OURS
    limit = min(given.ours, given.limit) if ours else given.limit
    return Setting(REGISTRY[pair.instance].digest, limit, given.threads if ours else 1, code_of(pair.method))


def kept(pair: Pair, setting: Setting) -> bool:
    path = PAIRS / f"{pair.name}.json"
    return path.exists() and _read(path).setting == setting


def _read(path: Path) -> Record:
    return Record.from_json(json.loads(path.read_text(encoding="utf-8")))


def _records() -> Iterator[Record]:
    """All that is kept of tables that are still in the registry, in its order."""
    for instance in INSTANCES:
        for weights in instance.weights:
            for method in METHODS:
                path = PAIRS / f"{Pair(instance.name, str(weights), method).name}.json"
                if path.exists() and (record := _read(path)).setting.digest == instance.digest:
                    yield record


def _prepared(instance: Instance) -> tuple[int, str]:
    """Makes the table. In a process of its own: the memory of this one would count as that of those it
    starts.
    """
    return run_python(["-m", "benchmarks.registry", instance.name], None)


def _measured(pair: Pair, setting: Setting) -> tuple[int, str]:
    """Measures and keeps the record."""
    PAIRS.mkdir(parents=True, exist_ok=True)
    for old in PAIRS.glob(f"{pair.name}.*"):
        old.unlink()
    what = ["-m", "benchmarks.measure", pair.instance, pair.weights, pair.method]
    how = ["--limit", str(setting.limit), "--threads", str(setting.threads), "--out", str(PAIRS / pair.name)]
    return run_python([*what, *how], setting.limit + PATIENCE)


def _print_registry(chosen: list[Instance]) -> None:
    table = Printed("instance", "weights", "what", box=None)
    for instance in chosen:
        table.add_row(instance.name, ", ".join(instance.weights), instance.about)
    out.print(table)


def _print_records(records: list[Record]) -> None:
    table = Printed("instance", "weights", "method", "objective", "bound", "seconds", "unprotected", box=None)
    for record in records:
        numbers = ["—" if number is None else f"{number:.6g}" for number in (record.objective, record.bound)]
        short = "—" if record.unprotected is None else str(record.unprotected)
        table.add_row(
            record.pair.instance,
            record.pair.weights,
            record.pair.method,
            *numbers,
            f"{record.seconds:.1f}",
            short,
        )
    out.print(table)


if __name__ == "__main__":
    sys.exit(main())
