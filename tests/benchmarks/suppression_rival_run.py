"""`make bench-rival ARGS="…"`: cell suppression of three-dimensional tables, ours beside pytauargus, each
call in a process of its own; writes SUPPRESSION_RIVAL.md and suppression_rival.json.

The rival gets microdata and a p% rule, and its own optimal method as it is by default. Ours gets the table
that the rival printed, with its primaries and levels, and the options of `sdc.suppress` by default. So both
protect the same cells by the same levels. A call is timed within its process, after imports. Both patterns
are judged by the verifier of this project, for outsiders: the rival's method knows no singletons.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.document import NONE, as_number, as_seconds, as_table, machine, not_measured, write_document
from benchmarks.process import command, run_python
from benchmarks.registry import HERE
from benchmarks.suppression_rival_tables import RULE, Microdata, tables

RECORDS = HERE / "suppression_rival.json"
PATIENCE = 900.0  # seconds after which a call is ended from outside
TOTAL = "Total"  # the rival's code of totals
LEGEND = """\
*cells* of the table, *primaries* by the rule P(10,1). *cost*: the sum of the values of secondary cells.
*s* and *CPU s*: wall time and CPU time of the whole call. *reached*: when ours had a pattern that costs no
more than the rival's, from the start of the call, and its share of the rival's time. *at risk*: primaries
of the rival's pattern that our verifier does not find protected; of ours there are none. The rival's
attacker knows the smallest and the largest cell of the table as bounds, ours knows that values are 0 or
more."""
out = Console(highlight=False)


@dataclass(frozen=True)
class Record:
    """One table, both calls. Costs in units of the value, times in seconds; `reached` None: never."""

    name: str
    cells: int
    primaries: int
    theirs: float
    their_wall: float
    their_cpu: float
    at_risk: int
    ours: float
    bound: float
    ended: str
    wall: float
    cpu: float
    reached: float | None
    reached_cpu: float | None
    load: float

    def to_json(self) -> dict[str, object]:
        return asdict(self)


def rival(table: Microdata, python: str, folder: Path, suppress: str) -> dict[str, Any]:
    """What the call of the rival gave. Raises CalledProcessError, TimeoutExpired."""
    asked, answer = folder / "asked.json", folder / "answer.json"
    told = {
        "records": {**table.codes, "V": table.values},
        "dims": table.dims,
        "value": "V",
        "rule": RULE,
        "suppress": suppress,
        "trees": table.as_hrc(),
    }
    asked.write_text(json.dumps(told))
    script = [python, str(HERE / "suppression_rival.py"), str(asked), str(answer)]
    subprocess.run(script, check=True, capture_output=True, timeout=PATIENCE, cwd=folder)  # it leaves logs
    return dict(json.loads(answer.read_text()))


def ours(table: Microdata, answer: dict[str, Any]) -> Record:
    """Our call on the table that the rival printed."""
    import numpy as np
    import pandas as pd

    import sdc_tasks as sdc
    from sdc_tasks.judge.pattern import verify
    from sdc_tasks.one_thread import one_thread

    load = os.getloadavg()[0]
    frame = pd.DataFrame(answer["rows"])
    theirs = frame["status"].to_numpy()
    frame["SECRET"] = (theirs == "U").astype(int)
    trees = {
        name: {TOTAL: None, **dict.fromkeys(sorted(set(parents.values())), TOTAL), **parents}
        for name, parents in table.parents.items()
    }
    asked = {
        "primary": "SECRET",
        "lpl": "lower",
        "upl": "upper",
        "total": TOTAL,
        "hierarchy": trees or None,
    }
    given = frame[[*table.dims, "V", "SECRET", "lower", "upper"]]
    few = pd.DataFrame(
        {"A": list("aabb"), "B": list("xyxy"), "V": [5, 6, 7, 8], "SECRET": [1, 0, 0, 0], "L": [1] * 4}
    )
    sdc.suppress(few, ["A", "B"], "V", primary="SECRET", level="L", progress=False)  # imports what it needs
    one_thread()
    moments: list[float] = []
    wall, cpu = time.perf_counter(), time.process_time()
    found = sdc.suppress(
        given, table.dims, "V", progress=lambda line: moments.append(time.process_time() - cpu), **asked
    )
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    place = {key: i for i, key in enumerate(found.cells.keys)}
    pattern = np.zeros(len(place), dtype=bool)
    for row, status in zip(given[table.dims].itertuples(index=False), theirs, strict=True):
        pattern[place[tuple(row)]] = status in ("U", "M")
    problem = found._crossed.problem
    cost = problem.cost_of(pattern)
    first = next(
        (
            i
            for i, each in enumerate(found.search.history)
            if each.objective is not None and each.objective <= cost
        ),
        None,
    )
    began = wall - found.search.seconds  # reading, and making the result
    return Record(
        table.name,
        len(problem.a),
        len(problem.primaries),
        cost,
        answer["wall"],
        answer["cpu"],
        len(verify(problem, pattern).unprotected),
        found.loss,
        found.bound,
        found.search.ended,
        wall,
        cpu,
        None if first is None else began + found.search.history[first].seconds,
        None if first is None else moments[first],
        load,
    )


def page(records: Sequence[Record], reasons: dict[str, str], said: str, now: datetime) -> list[str]:
    rows = [
        [
            each.name,
            str(each.cells),
            str(each.primaries),
            as_number(each.theirs),
            as_seconds(each.their_wall),
            as_seconds(each.their_cpu),
            str(each.at_risk),
            as_number(each.ours),
            NONE if each.ours <= 0 else f"{100 * (1 - each.bound / each.ours):.1f} %",
            as_seconds(each.wall),
            as_seconds(each.cpu),
            as_seconds(each.reached),
            as_seconds(each.reached_cpu),
            NONE if each.reached is None else f"{each.reached / each.their_wall:.2f}",
            NONE if each.reached_cpu is None else f"{each.reached_cpu / each.their_cpu:.2f}",
        ]
        for each in records
    ]
    head = [
        "table, records, seed",
        "cells",
        "primaries",
        "rival's cost",
        "s",
        "CPU s",
        "at risk",
        "our cost",
        "gap",
    ]
    head += ["s", "CPU s", "reached s", "reached CPU s", "× its s", "× its CPU s"]
    return [
        "# Cell suppression beside pytauargus",
        f"Written {now:%Y-%m-%d %H:%M} UTC by `{said}`.",
        machine("suppression_rival.json"),
        LEGEND,
        summary(records),
        as_table(head, rows, 1),
        not_measured(reasons),
    ]


def summary(records: Sequence[Record]) -> str:
    """How often ours is no dearer, and the sums of times."""
    reached = [each for each in records if each.reached is not None and each.reached_cpu is not None]
    sooner = sum((each.reached or 0.0) <= each.their_wall for each in reached)
    sooner_cpu = sum((each.reached_cpu or 0.0) <= each.their_cpu for each in reached)
    theirs, theirs_cpu = (
        sum(getattr(each, name) for each in reached) for name in ("their_wall", "their_cpu")
    )
    mine, mine_cpu = (
        sum(getattr(each, name) or 0.0 for each in reached) for name in ("reached", "reached_cpu")
    )
    whole, whole_cpu = (sum(getattr(each, name) for each in records) for name in ("wall", "cpu"))
    cheaper = sum(each.ours < each.theirs for each in records)
    if not reached:
        return f"Of {len(records)} tables ours cost no more on none."
    return (
        f"Of {len(records)} tables ours cost no more on {len(reached)}, less on {cheaper}. A pattern that "
        f"costs no more was there within the rival's wall time on {sooner}, within its CPU time on "
        f"{sooner_cpu}. In the sum it took {mine:.0f} s of {theirs:.0f} s (× {mine / theirs:.2f}), "
        f"{mine_cpu:.0f} of {theirs_cpu:.0f} CPU s (× {mine_cpu / theirs_cpu:.2f}); the whole calls of ours "
        f"{whole:.0f} s, {whole_cpu:.0f} CPU s. The rival leaves primaries at risk on "
        f"{sum(each.at_risk > 0 for each in records)}."
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make bench-rival", description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="a Python that has pytauargus")
    parser.add_argument("--suppress", default="OPT(1)", help="the rival's method")
    parser.add_argument("--every", type=int, default=1, help="each so manieth table only")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    parser.add_argument("--one", nargs=3, metavar=("NUMBER", "ANSWER", "RECORD"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    drawn = tables()
    if given.one:
        number, answer, place = given.one
        record = ours(drawn[int(number)], json.loads(Path(answer).read_text()))
        Path(place).write_text(json.dumps(record.to_json()))
        return 0
    before = [Record(**each) for each in json.loads(RECORDS.read_text())] if RECORDS.is_file() else []
    records = {each.name: each for each in before}
    reasons: dict[str, str] = {}
    for number in range(given.first, len(drawn), given.every):
        table = drawn[number]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            try:
                answer = rival(table, given.python, folder, given.suppress)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                reasons[table.name] = f"the rival: {type(error).__name__}"
                continue
            (folder / "answer.json").write_text(json.dumps(answer))
            asked = ["-m", "benchmarks.suppression_rival_run", "--one", str(number)]
            status, reason = run_python(
                [*asked, str(folder / "answer.json"), str(folder / "one.json")], PATIENCE
            )
            if status:
                reasons[table.name] = reason or f"exit code {status}"
                continue
            records[table.name] = Record(**json.loads((folder / "one.json").read_text()))
        out.print(records[table.name])
        ordered = [records[each.name] for each in drawn if each.name in records]
        parts = page(ordered, reasons, command("bench-rival", arguments), datetime.now(UTC))
        write_document(HERE / "SUPPRESSION_RIVAL.md", parts, {each.name: each for each in ordered})
    return 1 if reasons else 0


if __name__ == "__main__":
    raise SystemExit(main())
