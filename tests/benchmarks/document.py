"""RESULTS.md, results.json and the plots, from the records that are kept."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pulp

from benchmarks import plots
from benchmarks.measure import OURS, Pair, Record, code_of
from benchmarks.registry import CACHE, HERE, INSTANCES, Instance, Table
from sdc_tasks.report.cta_figures import plot_deviations
from sdc_tasks.report.files import write_whole

RESULTS = HERE / "RESULTS.md"
MOMENTS = (2.0, 20.0, 60.0)  # seconds
FIGURE_1 = Pair("sbs-20160", "one", "auto")
NONE = "—"
LEGEND = """\
Objective and bound in weight · data units; `verify` recomputes the objective. **ratio** = objective / the best bound that any method on
this page proved for the same table and weights; at 2, 20 and 60 s that of the best table by then. **first** = seconds to the first table
that protects every cell. **short** = sensitive cells that the table leaves unprotected; **violation** = largest relative miss of a
relation or bound (at most 1e-6 in a table). What fails either counts for nothing in the ratios. **MiB** = peak of the largest process.
Peers are given the classical model as it is, on one thread. HiGHS tells its tables as it finds them, CBC at its end only. Where a peer's
table holds only within the solver's own tolerances it is *cleaned*: replaced by the closest table with its senses. CPU seconds count all
threads.
A † marks a record made by other code than today's."""  # noqa: E501


def write(records: Sequence[Record], reasons: dict[str, str], command: str, now: datetime) -> None:
    """All files of the results, in this folder."""
    _remove_old_plots()
    bounds = best_bounds(records)
    parts = [_head(command, now), summary(records, bounds), LEGEND, _growth(records, bounds)]
    parts += [_section(instance, records, bounds) for instance in INSTANCES]
    parts += [not_measured(reasons)]
    write_whole(RESULTS, "\n\n".join(part for part in parts if part) + "\n")
    write_whole(HERE / "results.json", json.dumps([record.to_json() for record in records], indent=1) + "\n")


def best_bounds(records: Sequence[Record]) -> dict[tuple[str, str], float]:
    """The best bound that any method proved, by instance and weights."""
    found: dict[tuple[str, str], float] = {}
    for record in records:
        key = record.pair.instance, record.pair.weights
        found[key] = max(found.get(key, 0.0), record.bound or 0.0)
    return found


def _head(command: str, now: datetime) -> str:
    return f"""\
# CTA: what was measured

Generated on {now:%Y-%m-%d %H:%M} UTC from all records that are kept, the last of them made by `{command}`;
do not edit. What the tables are: `registry.py`; how they are measured: `measure.py`.

{machine("results.json")}"""


def machine(records: str) -> str:
    """Versions, machine and load, as a table; `records` is the file that holds the load of each
    measurement.
    """
    libraries = ", ".join(f"{name} {version(name)}" for name in ("cylp", "highspy", "pulp", "numpy", "scipy"))
    memory = f"{psutil.virtual_memory().total / 2**30:.0f} GiB"
    load = " ".join(f"{part:.2f}" for part in os.getloadavg())
    return f"""\
| | |
|---|---|
| software | Python {platform.python_version()}, {libraries}, {_cbc()} |
| machine | {_cpu_model()}, {os.cpu_count()} cores, {memory}, {platform.system()} {platform.release()} |
| load average when written | {load}; that at the start of each measurement is in `{records}` |"""


def _cpu_model() -> str:
    lines = (
        Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        if Path("/proc/cpuinfo").exists()
        else []
    )
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
        platform.processor(),
    )


def _cbc() -> str:
    done = subprocess.run([pulp.PULP_CBC_CMD().path, "-quit"], capture_output=True, text=True, check=False)
    line = next((line for line in done.stdout.splitlines() if line.startswith("Version")), "Version unknown")
    return "CBC " + line.split()[-1]


def summary(records: Sequence[Record], bounds: dict[tuple[str, str], float]) -> str:
    """Ours beside the best peer, line by line."""
    rows = []
    for (instance, weights), bound in bounds.items():
        here = [
            record for record in records if (record.pair.instance, record.pair.weights) == (instance, weights)
        ]
        auto = next((record for record in here if record.pair.method == "auto"), None)
        peers = [record for record in here if record.pair.method not in OURS]
        if auto is None or not peers:
            continue
        peer = min(
            (record for record in peers if record.protected),
            key=lambda record: record.objective or 0.0,
            default=None,
        )
        reached = None if peer is None or peer.objective is None else auto.reached(peer.objective)
        theirs = (
            [NONE, NONE, NONE]
            if peer is None
            else [peer.pair.method, _ratio(peer.objective, bound), as_seconds(peer.seconds)]
        )
        rows.append(
            [instance, weights, as_seconds(auto.first), *_at(auto, bound), *theirs, as_seconds(reached)]
        )
    head = [
        "table",
        "weights",
        "first",
        *(f"ratio {at:g} s" for at in MOMENTS),
        "best peer",
        "its ratio",
        "its s",
        "ours as good after s",
    ]
    return "## Ours (`auto`) beside the best plain solver\n\n" + as_table(head, rows, left=2) if rows else ""


def _growth(records: Sequence[Record], bounds: dict[tuple[str, str], float]) -> str:
    picture = plots.growth([record for record in records if record.pair.method == "auto"], bounds)
    if picture is None:
        return ""
    (HERE / "growth.svg").write_bytes(picture)
    return (
        "## How time grows with the table\n\n![time to a fixed ratio against the number of cells](growth.svg)"
    )


def _section(instance: Instance, records: Sequence[Record], bounds: dict[tuple[str, str], float]) -> str:
    here = [record for record in records if record.pair.instance == instance.name]
    if not here:
        return ""
    table = Table.load(instance.path)
    name = f"{instance.name}.svg"
    (HERE / name).write_bytes(plots.progress(here, bounds))
    head = ["weights", "method", "limit", "objective", "bound", "ratio", *(f"{at:g} s" for at in MOMENTS)]
    head += ["first", "s", "CPU s", "MiB", "short", "violation", ""]
    parts = [
        f"## {instance.name}",
        (
            f"{instance.about}: n {len(table.a)}, {table.A.shape[0]} relations, {len(table.sensitive)} "
            f"sensitive; digest `{instance.digest}`"
        ),
        as_table(
            head, [_row(record, bounds[record.pair.instance, record.pair.weights]) for record in here], left=2
        ),
        "\n".join(f"- published: {text}" for text in instance.published),
        f"![best table and bound over time]({name})",
        _figure_1(instance, table),
    ]
    return "\n\n".join(part for part in parts if part)


def _row(record: Record, bound: float) -> list[str]:
    return [
        record.pair.weights,
        record.pair.method + ("" if record.setting.code == code_of(record.pair.method) else "†"),
        f"{record.setting.limit:g}",
        as_number(record.objective),
        as_number(record.bound),
        _ratio(record.objective if record.protected else None, bound),
        *_at(record, bound),
        as_seconds(record.first),
        as_seconds(record.seconds),
        as_seconds(record.cpu),
        f"{record.peak_mib:.0f}",
        NONE if record.unprotected is None else str(record.unprotected),
        NONE if record.violation is None else f"{record.violation:.0e}",
        record.note,
    ]


def _figure_1(instance: Instance, table: Table) -> str:
    stored = CACHE / "pairs" / f"{FIGURE_1.name}.npz"
    if instance.name != FIGURE_1.instance or not stored.exists():
        return ""
    with np.load(stored) as found:
        z = found["z"].reshape(len(table.areas), -1)
    text = f"{z.shape[1]} cells of one area (activity × size class)"
    (HERE / "deviations.svg").write_bytes(plot_deviations(z, table.areas, text, "thousand euro"))
    return (
        "Figure 1 of [1] for this table (`auto`, w = 1):\n\n![absolute deviations by "
        "area and cell](deviations.svg)"
    )


def not_measured(reasons: Mapping[str, str]) -> str:
    return (
        "## Not measured\n\n" + "\n".join(f"- {name}: {reason}" for name, reason in reasons.items())
        if reasons
        else ""
    )


def _remove_old_plots() -> None:
    for name in ("growth", "deviations", *(instance.name for instance in INSTANCES)):
        (HERE / f"{name}.svg").unlink(missing_ok=True)


def _at(record: Record, bound: float) -> list[str]:
    return [_ratio(record.best_at(at), bound) for at in MOMENTS]


def _ratio(objective: float | None, bound: float) -> str:
    return NONE if objective is None or bound <= 0 else f"{objective / bound:.4f}"


def as_number(value: float | None) -> str:
    return (
        NONE
        if value is None
        else f"{value:,.0f}".replace(",", " ")
        if abs(value) >= 10_000
        else f"{value:.6g}"
    )


def as_seconds(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def as_table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    """The first `left` columns to the left, the others to the right."""
    rule = [":--" if i < left else "--:" for i in range(len(head))]
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, rule, *rows))


def write_document(path: Path, parts: Sequence[str], records: Mapping[str, Any]) -> Path:
    """The page, of the parts that say something, and its records beside it as JSON, by name; returns the
    page.
    """
    write_whole(path, "\n\n".join(part for part in parts if part) + "\n")
    ordered = [records[name].to_json() for name in sorted(records)]
    write_whole(
        path.with_name(f"{path.stem.lower()}.json"), json.dumps(ordered, indent=1, ensure_ascii=False) + "\n"
    )
    return path
