"""`make bench-rival ARGS="…"`: cell suppression, ours beside pytauargus, each call in a process of its own;
writes SUPPRESSION_RIVAL.md and suppression_rival.json.

The rival gets microdata and a p% rule, or a table with primaries and levels, and its optimal or its modular
method as it is by default. Ours gets the table that the rival printed, with its primaries and levels, and the
options of `sdc.suppress` by default: once against outsiders, once against all who are alone in a cell. So all
protect the same cells by the same levels. A call is timed within its process, after imports. All patterns are
judged by the verifier of this project, against outsiders and against respondents who are alone in a cell.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from benchmarks.document import NONE, as_number, as_seconds, as_table, machine, not_measured, write_document
from benchmarks.process import run_python
from benchmarks.registry import HERE
from benchmarks.suppression_rival_tables import TOTAL, Input, WithLevels, public, tables

RECORDS = HERE / "suppression_rival.json"
METHODS = ("OPT", "MOD")  # of the rival
PATIENCE = 900.0  # seconds after which a call is ended from outside
SECONDS = 60.0  # of our search against lone respondents
LONE_CELLS = 1_100  # of the largest table that is searched against them
LEGEND = """\
*cells* of the table, *primaries*, and of these those with one *lone* respondent. *cost*: the sum of the
values of secondary cells. *at risk*: primaries that our verifier does not find protected against outsiders,
and against all lone respondents together; *hopeless*: those of the latter that no pattern protects. *CPU s*
of the whole call, and until ours was as cheap as the rival's. Ours twice: against outsiders, and, up to 1 100
cells, within 60 s against lone respondents, with `attainable=True`. The rival's attacker knows the smallest
and the largest cell of the table as bounds: 0 in tables with empty cells, and the grand total. Ours knows
that values are 0 or more. The tables named R… are public: twelve regions of τ-ARGUS's demonstration file,
which is not a part of this project (`--public FOLDER`)."""
out = Console(highlight=False)


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """What one call gave. `at_risk`: primaries at risk from outsiders, and from all lone respondents."""

    cost: float
    at_risk: int
    at_risk_lone: int
    wall: float
    cpu: float


@dataclass(frozen=True, kw_only=True)
class Record:
    """One table, all calls: `theirs` by method, without those that did not end; `ours` against outsiders,
    with its bound; `reached`: CPU seconds until it cost no more than the rival's, by method, None where it
    never did; `lone` against lone respondents; `hopeless`: primaries that all of these learn too much
    of whatever is hidden. Costs in units of the value, times in seconds.
    """

    name: str
    cells: int
    primaries: int
    alone: int
    theirs: Mapping[str, Pattern]
    ours: Pattern
    bound: float
    reached: Mapping[str, float | None]
    lone: Pattern | None
    hopeless: int
    load: float

    def to_json(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> Record:
        theirs = {name: Pattern(**each) for name, each in kept["theirs"].items()}
        lone = None if kept["lone"] is None else Pattern(**kept["lone"])
        return cls(**{**kept, "theirs": theirs, "ours": Pattern(**kept["ours"]), "lone": lone})


def rival(table: Input, python: str, folder: Path, method: str) -> dict[str, Any]:
    """What the call of the rival gave. Raises CalledProcessError, TimeoutExpired."""
    asked, answer = folder / "asked.json", folder / f"{method}.json"
    asked.write_text(json.dumps({**table.asked(), "suppress": f"{method}(1)"}))
    script = [python, str(HERE / "suppression_rival.py"), str(asked), str(answer)]
    subprocess.run(script, check=True, capture_output=True, timeout=PATIENCE, cwd=folder)  # it leaves logs
    return dict(json.loads(answer.read_text()))


class Called:
    """Our calls on the table that the rival printed, and all its patterns judged: `answers` by method."""

    def __init__(self, table: Input, answers: Mapping[str, Mapping[str, Any]]) -> None:
        import sdc_tasks as sdc
        from sdc_tasks.one_thread import one_thread

        self._suppress, self._table, self._answers = sdc.suppress, table, answers
        self._frames = {method: pd.DataFrame(answer["rows"]) for method, answer in answers.items()}
        given = next(iter(self._frames.values()))
        given = given.assign(SECRET=(given["status"] == "U").astype(int))
        given["LONE"] = [int(table.alone(row) and row["SECRET"]) for row in given.to_dict("records")]
        self.alone = int(given["LONE"].sum())
        self._given = given[[*table.dims, "V", "SECRET", "lower", "upper", "LONE"]]
        few = pd.DataFrame(
            {"A": list("aabb"), "B": list("xyxy"), "V": [5, 6, 7, 8], "SECRET": [1, 0, 0, 0], "L": [1] * 4}
        )
        sdc.suppress(few, ["A", "B"], "V", primary="SECRET", level="L", progress=False)  # imports all
        one_thread()

    def suppressed(self, **more: Any) -> tuple[Any, float, float]:
        """The result, seconds of wall and of CPU. `moments` has the CPU seconds of each step."""
        table = self._table
        roots = table.roots if isinstance(table, WithLevels) else dict.fromkeys(table.dims, TOTAL)
        asked: dict[str, Any] = {"primary": "SECRET", "lpl": "lower", "upl": "upper"}
        asked["total"] = {name: root for name, root in roots.items() if name not in table.trees}
        asked["hierarchy"] = {name: dict(tree) for name, tree in table.trees.items()}
        self.moments = list[float]()
        wall, cpu = time.perf_counter(), time.process_time()

        def note(_: str) -> None:
            self.moments.append(time.process_time() - cpu)

        found = self._suppress(self._given, table.dims, "V", progress=note, **asked, **more)
        return found, time.perf_counter() - wall, time.process_time() - cpu

    def judged(self, found: Any, hidden: Any, wall: float, cpu: float) -> Pattern:
        """A pattern over the cells of our result."""
        from sdc_tasks.judge.pattern import verify

        problem = found._crossed.problem
        lone = np.zeros(len(problem.a), dtype=bool)
        lone[self._places(found)] = self._given["LONE"] == 1
        against_lone = replace(problem, singleton=lone, attained=(), attainable=False)
        outsiders = replace(problem, singleton=np.zeros_like(lone), attained=(), attainable=False)
        return Pattern(
            cost=problem.cost_of(hidden),
            at_risk=len(verify(outsiders, hidden).unprotected),
            at_risk_lone=len(verify(against_lone, hidden).unprotected),
            wall=wall,
            cpu=cpu,
        )

    def _places(self, found: Any) -> list[int]:
        place = {key: i for i, key in enumerate(found.cells.keys)}
        return [place[key] for key in self._given[self._table.dims].itertuples(index=False, name=None)]

    def outsiders(self) -> Record:
        """All but the call against lone respondents."""
        load = os.getloadavg()[0]
        found, wall, cpu = self.suppressed()
        problem = found._crossed.problem
        theirs = {}
        for method, frame in self._frames.items():
            hidden = np.zeros(len(problem.a), dtype=bool)
            hidden[self._places(found)] = frame["status"].isin(["U", "M"])
            answer = self._answers[method]
            theirs[method] = self.judged(found, hidden, answer["wall"], answer["cpu"])
        return Record(
            name=self._table.name,
            cells=len(problem.a),
            primaries=len(problem.primaries),
            alone=self.alone,
            hopeless=self.judged(found, problem.a != 0, 0.0, 0.0).at_risk_lone,
            theirs=theirs,
            ours=self.judged(found, found._hidden, wall, cpu),
            bound=found.bound,
            reached={method: self._reached(found, its.cost) for method, its in theirs.items()},
            lone=None,
            load=load,
        )

    def _reached(self, found: Any, cost: float) -> float | None:
        moments = zip(self.moments, found.search.history, strict=True)
        good = (at for at, step in moments if step.objective is not None and step.objective <= cost)
        return next(good, None)

    def lone(self) -> Pattern:
        """Against lone respondents, as far as a pattern can."""
        found, wall, cpu = self.suppressed(singleton="LONE", attainable=True, seconds=SECONDS)
        return self.judged(found, found._hidden, wall, cpu)


def page(records: Sequence[Record], reasons: dict[str, str], said: str, now: datetime) -> list[str]:
    head = ["table", "cells", "primaries", "lone"]
    for method in METHODS:
        head += [f"{method}: cost", "at risk", "CPU s"]
    head += [
        "ours: cost",
        "at risk",
        "gap",
        "CPU s",
        "× OPT's",
        "against lone: cost",
        "at risk",
        "CPU s",
        "hopeless",
    ]
    return [
        "# Cell suppression beside pytauargus",
        f"Written {now:%Y-%m-%d %H:%M} UTC by `{said}`.",
        machine("suppression_rival.json"),
        LEGEND,
        "## In short",
        summary(records),
        "## Each table",
        as_table(head, [_row(each) for each in records], 1),
        not_measured(reasons),
    ]


def _row(record: Record) -> list[str]:
    def told(pattern: Pattern | None) -> list[str]:
        if pattern is None:
            return [NONE] * 3
        return [
            as_number(pattern.cost),
            f"{pattern.at_risk}, {pattern.at_risk_lone}",
            as_seconds(pattern.cpu),
        ]

    ours = record.ours
    gap = 0.0 if ours.cost <= 0 else 100 * (1 - record.bound / ours.cost)
    cost, risk, cpu = told(ours)
    return [
        record.name,
        str(record.cells),
        str(record.primaries),
        str(record.alone),
        *(cell for method in METHODS for cell in told(record.theirs.get(method))),
        *(cost, risk, f"{gap:.1f} %", cpu),
        *(as_seconds(record.reached.get(method)) for method in METHODS),
        *told(record.lone),
        str(record.hopeless),
    ]


def summary(records: Sequence[Record]) -> str:
    """How often the rival is safe, and ours cheaper at equal protection; and the sums of times."""
    rows = []
    for method in METHODS:
        for against, risk, our in _AGAINST:
            pairs = [
                (each, each.theirs[method], mine)
                for each in records
                if method in each.theirs and (mine := our(each)) is not None
            ]
            fair = [(each, its, mine) for each, its, mine in pairs if risk(each, its) <= 0]
            rows.append(
                [
                    method,
                    against,
                    f"{len(pairs) - len(fair)} of {len(pairs)}",
                    str(sum(risk(each, mine) > 0 for each, _, mine in pairs)),
                    f"{sum(mine.cost < its.cost for _, its, mine in fair)} of {len(fair)}",
                    ", ".join(each.name for each, its, mine in fair if mine.cost > its.cost) or "none",
                    _times([(its, mine) for _, its, mine in pairs]),
                    _until_as_cheap(records, method) if our(records[0]) is records[0].ours else NONE,
                ]
            )
    head = [
        "rival's method",
        "against",
        "its unsafe tables",
        "our unsafe tables",
        "ours cheaper, where its is safe",
        "ours dearer, where its is safe",
        "CPU s, its: ours",
        "its: ours until as cheap",
    ]
    return as_table(head, rows, 2)


def _times(pairs: Sequence[tuple[Pattern, Pattern]]) -> str:
    theirs, ours = (sum(pair[who].cpu for pair in pairs) for who in (0, 1))
    slower = sum(mine.cpu > its.cpu for its, mine in pairs)
    return (
        f"{theirs:.0f}: {ours:.0f} (× {ours / theirs:.2f}), slower on {slower} of {len(pairs)}"
        if pairs
        else NONE
    )


def _until_as_cheap(records: Sequence[Record], method: str) -> str:
    """CPU seconds of the rival, and of ours until its pattern cost no more, where it came to that."""
    pairs = [
        (each.theirs[method].cpu, at)
        for each in records
        if method in each.theirs and (at := each.reached.get(method)) is not None
    ]
    if not pairs:
        return NONE
    theirs, ours = (sum(each) for each in zip(*pairs, strict=True))
    later = sum(at > its for its, at in pairs)
    return f"{theirs:.0f}: {ours:.0f} (× {ours / theirs:.2f}), later on {later} of {len(pairs)}"


_AGAINST: tuple[tuple[str, Callable[[Record, Pattern], int], Callable[[Record], Pattern | None]], ...] = (
    ("outsiders", lambda record, pattern: pattern.at_risk, lambda record: record.ours),
    (
        "lone respondents",
        lambda record, pattern: pattern.at_risk_lone - record.hopeless,
        lambda record: record.lone,
    ),
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make bench-rival", description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="a Python that has pytauargus")
    parser.add_argument("--public", type=Path, help="the folder of the twelve public tables")
    parser.add_argument("--every", type=int, default=1, help="each so manieth random table only")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    parser.add_argument(
        "--without-lone", action="store_true", help="not against lone respondents: what was measured stays"
    )
    parser.add_argument(
        "--one", nargs=4, metavar=("KIND", "NAME", "ANSWERS", "RECORD"), help=argparse.SUPPRESS
    )
    given = parser.parse_args(arguments)
    drawn: list[Input] = [
        *(public(given.public) if given.public else ()),
        *tables()[given.first :: given.every],
    ]
    if given.one:
        kind, name, answers, place = given.one
        table = next(each for each in drawn if each.name == name)
        called = Called(table, json.loads(Path(answers).read_text()))
        made = called.lone() if kind == "lone" else called.outsiders()
        Path(place).write_text(json.dumps(asdict(made)))
        return 0
    before = [Record.read(each) for each in json.loads(RECORDS.read_text())] if RECORDS.is_file() else []
    records = {each.name: each for each in before}
    reasons: dict[str, str] = {}
    for table in drawn:
        with tempfile.TemporaryDirectory() as folder:
            found = _measured(table, given, Path(folder), reasons)
        if found is None:
            continue
        if given.without_lone and table.name in records:
            found = replace(found, lone=records[table.name].lone)
        records[table.name] = found
        out.print(f"{table.name}: {' | '.join(_row(found)[1:])}")
        _write(records, reasons)
    _write(records, reasons)
    return 0


def _write(records: dict[str, Record], reasons: dict[str, str]) -> None:
    ordered = sorted(records.values(), key=lambda each: (each.cells, each.name))
    waiting = [each.name for each in tables() if each.name not in records and each.name not in reasons]
    left = {**reasons, **dict.fromkeys(waiting, "not asked for yet")}
    parts = page(ordered, left, "make bench-rival", datetime.now(UTC))
    write_document(HERE / "SUPPRESSION_RIVAL.md", parts, records)


def _measured(
    table: Input, given: argparse.Namespace, folder: Path, reasons: dict[str, str]
) -> Record | None:
    """None, and a reason, where no method of the rival ended, or we did not."""
    answers = {}
    for method in METHODS:
        try:
            answers[method] = rival(table, given.python, folder, method)
        except subprocess.TimeoutExpired:
            reasons[f"{table.name}, {method}"] = f"the rival had not ended after {PATIENCE:g} s"
        except subprocess.CalledProcessError as error:
            last = error.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            reasons[f"{table.name}, {method}"] = f"the rival: {last[:120]}"
    if not answers:
        return None
    (folder / "answers.json").write_text(json.dumps(answers))
    ours = _ours("outsiders", table, given, folder, reasons)
    if ours is None:
        return None
    if ours["cells"] > LONE_CELLS or given.without_lone:
        return Record.read(ours)
    return Record.read({**ours, "lone": _ours("lone", table, given, folder, reasons)})


def _ours(
    kind: str, table: Input, given: argparse.Namespace, folder: Path, reasons: dict[str, str]
) -> dict[str, Any] | None:
    made = folder / f"{kind}.json"
    asked = ["-m", "benchmarks.suppression_rival_run", "--one", kind, table.name]
    asked += [str(folder / "answers.json"), str(made)]
    if given.public:
        asked += ["--public", str(given.public)]
    status, reason = run_python(asked, PATIENCE)
    if status:
        reasons[f"{table.name}, ours against {kind}"] = reason or f"exit code {status}"
        return None
    return dict(json.loads(made.read_text()))


if __name__ == "__main__":
    raise SystemExit(main())
