"""`make bench-suppression ARGS="…"`: every method of cell suppression on every table, each in a process of
its own; writes SUPPRESSION.md, suppression.json and suppression.svg. Costs are values. The limit is wall
time, so that the figures depend on the machine and its load.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import resource
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter
from rich.console import Console

from benchmarks.document import NONE, as_number, as_table, machine, not_measured, write_document
from benchmarks.process import command, run_python
from benchmarks.registry import HERE
from benchmarks.suppression_sample import not_shown
from benchmarks.suppression_tables import LARGE, TABLES, absent
from sdc_tasks.errors import InvalidInput
from sdc_tasks.judge.pattern import verify
from sdc_tasks.methods.suppression.engine import PatternOptions, suppress
from sdc_tasks.methods.suppression.names import METHODS, PatternMethod
from sdc_tasks.methods.suppression.pattern.attackers import attackers_of
from sdc_tasks.methods.suppression.pattern.presolve import presolve
from sdc_tasks.report.cta_figures import bare, picture

COMPARED: tuple[PatternMethod, ...] = tuple(name for name in METHODS if name != "auto")
COLOURS = ("#2a6fae", "#b4460f", "#c58a17", "#566472", "#a03050", "#7a3b8f", "#2f7d5b")
MINUTES_15 = 900.0
PATIENCE = 600.0  # seconds for reading and the attack beside the limit
RECORDS = HERE / "suppression.json"
SAMPLED = 200  # primaries of a larger table that programs of their own judge
MOST_ATTACKED = 50_000  # cells of a table up to which the attackers' own programs are asked as well
NOT_FOR_THIS = "not for this table"
OTHERS = """\
What others had on `tw_Var1` ([2] Table 2, their machines): Benders 18.7e6 (604 s, stopped), shortest paths 20.4e6 (1 s), HiTaS 25.7e6
(4 s), hypercube 54.2e6 (4 s). The tables of Castro have no published optimum for these costs."""  # noqa: E501
LEGEND = """\
*first* is when a pattern cheaper than hiding everything was verified, *best* when the last one was; *cpu* is all of the search. *audit* is
the CPU time in which the verifier judges the finished pattern anew, knowing nothing of how it was found. *at risk* counts requirements of
the best pattern that the attackers' own programs find not met: none are expected, since another program has verified it. Tables of
more than 50 000 cells have no audit: the verifier has judged each primary by a witness, and here some primaries, drawn by a fixed seed, are
judged by linear programs of their own in a neighbourhood, which know nothing of the witnesses. *withheld* is the share of
primaries and secondaries among all cells. *bound* is proven by `exact` alone.
`hypercube` and `hitas` are as published, then completed until the whole table is safe; *alone* is what they cost before, and how many
primaries they leave at risk. They and `cubes` need tables whose relations are those of dimensions. `paths` and `network` need networks;
there `network` and `cover` are the same. *all hidden*: no cheaper pattern was found in the time, and everything but the open cells is
hidden."""  # noqa: E501
out = Console(highlight=False)


@dataclass(frozen=True)
class Record:
    """One method on one table. Seconds are wall time from the start of the search."""

    table: str
    method: str
    limit: float
    cells: int
    primaries: int
    cost: float | None
    secondaries: int | None
    bound: float
    first: float | None
    best: float | None
    cpu: float
    peak_mib: float
    at_risk: int | None
    load: float
    history: list[list[float | None]]
    refused: str = ""
    alone: float | None = None
    alone_at_risk: int | None = None
    audit: float | None = None
    sampled: int | None = None

    def to_json(self) -> dict[str, object]:
        return asdict(self)


def measure(table: str, method: PatternMethod, limit: float) -> Record:
    load = os.getloadavg()[0]
    problem = TABLES[table]()
    about = (table, method, limit, len(problem.a), len(problem.primaries))
    began = time.process_time()
    try:
        result = suppress(problem, PatternOptions(method, limit))
    except InvalidInput:
        return Record(*about, None, None, 0.0, None, None, 0.0, 0.0, None, load, [], NOT_FOR_THIS)
    cpu = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = [moment for moment in result.history if moment.objective is not None]
    cheaper = [moment.seconds for moment in found if moment.method != "everything hidden"]
    last = next((moment.seconds for moment in found if moment.objective == result.cost), None)
    at_risk = audit = sampled = None
    if result.pattern is not None and len(problem.a) <= MOST_ATTACKED:
        began = time.process_time()
        verdict = verify(problem, result.pattern)
        audit = round(time.process_time() - began, 3)
        assert verdict.safe, "a finished pattern that its own verifier does not find safe"
    if result.pattern is not None and cheaper and len(problem.a) <= MOST_ATTACKED:
        reduced = presolve(problem)
        attackers, y = attackers_of(reduced), reduced.classes(result.pattern).astype(float)
        at_risk = sum(bool(attackers.cuts(item, y)) for item in range(len(reduced.item_need)))
    if result.pattern is not None and problem.grid is not None and len(problem.a) > MOST_ATTACKED:
        drawn, open_ones = not_shown(problem, result.pattern, SAMPLED)
        sampled, at_risk = len(drawn), len(open_ones)
    secondaries = None if result.pattern is None else int((result.pattern & ~problem.primary).sum())
    left = result.uncompleted
    alone = (None, None) if left is None else (left.cost, len(left.at_risk))
    history = [[round(moment.seconds, 2), moment.objective, moment.bound] for moment in result.history]
    return Record(
        *about,
        result.cost,
        secondaries,
        result.bound,
        min(cheaper, default=None),
        last,
        round(cpu, 2),
        round(peak, 1),
        at_risk,
        round(load, 2),
        history,
        "",
        *alone,
        audit,
        sampled,
    )


def page(records: Sequence[Record], reasons: dict[str, str], said: str, now: datetime) -> list[str]:
    rows = []
    for name in dict.fromkeys(record.table for record in records):
        mine = [record for record in records if record.table == name]
        bound = max(record.bound for record in mine)
        for record in mine:
            if record.refused:
                continue
            gap = NONE if not record.cost else f"{100 * (record.cost - bound) / record.cost:.2f} %"
            rows.append(
                [
                    name,
                    record.method + (", all hidden" if record.first is None else ""),
                    str(record.cells),
                    str(record.primaries),
                    as_number(record.cost),
                    NONE if record.secondaries is None else str(record.secondaries),
                    NONE
                    if record.secondaries is None
                    else f"{100 * (record.primaries + record.secondaries) / record.cells:.1f} %",
                    as_number(record.bound or None),
                    gap,
                    _seconds(record.first),
                    _seconds(record.best),
                    f"{record.cpu:.1f}",
                    f"{record.peak_mib:.0f}",
                    NONE if record.audit is None else f"{record.audit:.2f}",
                    _at_risk(record),
                    NONE
                    if record.alone is None
                    else f"{as_number(record.alone)}, {record.alone_at_risk} at risk",
                ]
            )
    head = [
        "table",
        "method",
        "cells",
        "primaries",
        "cost",
        "secondaries",
        "withheld",
        "bound",
        "gap to the best bound",
        "first s",
        "best s",
        "cpu s",
        "peak MiB",
        "audit s",
        "at risk",
        "alone",
    ]
    limits = ", ".join(sorted({f"{record.limit:g} s" for record in records}))
    return [
        "# Cell suppression",
        f"Written {now:%Y-%m-%d %H:%M} UTC by `{said}`; limit {limits} a pair.",
        machine("suppression.json"),
        LEGEND,
        as_table(head, rows, 2),
        "![pattern and bound over time](suppression.svg)",
        OTHERS,
        not_measured(reasons),
    ]


def _place(record: Record) -> tuple[int, int]:
    return list(TABLES).index(record.table), [*METHODS].index(record.method)  # type: ignore[call-overload]


def _at_risk(record: Record) -> str:
    if record.at_risk is None:
        return NONE
    return (
        str(record.at_risk) if record.sampled is None else f"{record.at_risk} of {record.sampled} primaries"
    )


def _seconds(value: float | None) -> str:
    return NONE if value is None else f"{value:.1f}"


def drawn(records: Sequence[Record]) -> bytes:
    """Pattern (solid) and bound (dashed) over time, one panel for each table."""
    names = list(dict.fromkeys(record.table for record in records))
    figure = Figure(figsize=(9.6, 2.2 * ((len(names) + 3) // 4)), layout="constrained")
    panels = np.ravel(figure.subplots((len(names) + 3) // 4, min(4, len(names)), squeeze=False))
    for axes in panels[len(names) :]:
        axes.set_axis_off()
    for axes, name in zip(panels, names, strict=False):
        bare(axes)
        axes.set_title(name, loc="left", fontsize=9)
        axes.set_xlabel("seconds", fontsize=8)
        axes.set_ylabel("cost of the secondaries", fontsize=7)
        axes.tick_params(labelsize=7)
        for colour, method in zip(COLOURS, COMPARED, strict=True):
            for record in records:
                if (record.table, record.method) == (name, method) and len(record.history) > 1:
                    told = np.array(
                        [
                            [np.nan if value is None else value for value in moment]
                            for moment in record.history
                        ]
                    )
                    seconds, cost, bound = told.T
                    axes.step(
                        seconds[1:], cost[1:], "-", where="post", color=colour, linewidth=1.2, label=method
                    )
                    axes.step(
                        seconds[1:],
                        np.where(bound > 0, bound, np.nan)[1:],
                        "--",
                        where="post",
                        color=colour,
                        linewidth=1.0,
                    )
        if axes.lines:
            axes.legend(fontsize=6, frameon=False)
            axes.yaxis.set_major_formatter(EngFormatter(sep=""))
        else:
            axes.text(
                0.5,
                0.5,
                "none cheaper than\nhiding everything",
                ha="center",
                va="center",
                fontsize=7,
                transform=axes.transAxes,
            )
            axes.set(xticks=(), yticks=())
    return picture(figure, "svg")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make bench-suppression", description=__doc__)
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        help="tables by name or pattern, such as tw_Var1 or 'hier*'",
    )
    parser.add_argument(
        "--limit", type=float, default=120.0, help="seconds of each search of the exact method"
    )
    parser.add_argument(
        "--others", type=float, default=30.0, help="seconds of each search of any other method"
    )
    parser.add_argument(
        "--large", action="store_true", help="the table of 792 120 cells alone, for 15 minutes at most"
    )
    parser.add_argument("--one", nargs=3, metavar=("TABLE", "METHOD", "FILE"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one:
        table, method, place = given.one
        Path(place).write_text(json.dumps(measure(table, method, given.limit).to_json()))
        return 0
    records: list[Record] = []
    reasons: dict[str, str] = {}
    for table in TABLES:
        if (
            not any(fnmatch.fnmatch(table, name) for name in given.only or ["*"])
            or (table in LARGE) != given.large
        ):
            continue
        if absent(table):
            reasons[table] = "the file is not part of this project and not here"
            continue
        for method in COMPARED if table not in LARGE else ("cubes",):
            limit = (
                MINUTES_15
                if table in LARGE
                else given.limit
                if method == "exact"
                else min(given.limit, given.others)
            )
            with tempfile.TemporaryDirectory() as folder:
                place = Path(folder) / "record.json"
                asked = [
                    "-m",
                    "benchmarks.suppression_run",
                    "--limit",
                    str(limit),
                    "--one",
                    table,
                    method,
                    str(place),
                ]
                status, reason = run_python(asked, limit + PATIENCE)
                if status:
                    reasons[f"{table}, {method}"] = reason or f"exit code {status}"
                    continue
                record = Record(**json.loads(place.read_text()))
            records.append(record)
            out.print(
                f"{table}, {method}: {record.refused or record.cost}, bound {record.bound:.6g}, "
                f"{record.cpu:.1f} CPU s"
            )
    if given.only or given.large:  # what is not measured now stays as it was
        again = {(record.table, record.method) for record in records}
        before = [Record(**each) for each in json.loads(RECORDS.read_text())] if RECORDS.is_file() else []
        records = sorted(
            [*(record for record in before if (record.table, record.method) not in again), *records],
            key=_place,
        )
    if records:
        (HERE / "suppression.svg").write_bytes(drawn(records))
        parts = page(records, reasons, command("bench-suppression", arguments), datetime.now(UTC))
        write_document(
            HERE / "SUPPRESSION.md", parts, {f"{record.table}-{record.method}": record for record in records}
        )
    return 1 if len(reasons) and not records else 0


if __name__ == "__main__":
    raise SystemExit(main())
