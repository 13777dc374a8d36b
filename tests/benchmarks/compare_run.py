"""`make compare`: methods of this program and of others on the same seeded tables, judged alike. Writes
comparison.json, and from it docs/comparison.md with its pictures.

    PYTHONPATH=tests .venv/bin/python -m benchmarks.compare_run [--only FAMILY …] [--page]

The programs of others are installed from a package index in a temporary folder, at pinned versions. A method
works in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.compare_apart import apart
from benchmarks.compare_document import RECORDS, write_page
from benchmarks.compare_judge import Judge
from benchmarks.compare_methods import METHODS, MOVED, SECONDS, base_of
from benchmarks.compare_tables import FAMILIES, cases
from sdc_tasks.report.files import write_whole
from support.supply.lock import uv

RIVALS = Path(__file__).with_name("compare_rivals")
PATIENCE = 60  # seconds of a method on a table
out = Console(highlight=False)
Answers = dict[str, dict[str, Any]]


def of_others(judges: list[Judge]) -> dict[str, Answers]:
    """Table → method → answer of the programs of others; all refused where they can not be installed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = folder / "env" / "bin" / "python"
        steps = (
            ("venv", "--python", sys.executable, folder / "env"),
            ("pip", "install", "--python", python, "-r", RIVALS / "requirements.txt"),
        )
        for step in steps:
            done = uv(*step, cwd=folder)
            if done.returncode:
                raise SystemExit(f"the programs of others are not to be had: {done.stderr.strip()[-300:]}")
        told = [
            {
                "name": judge.case.name,
                "dims": judge.case.dims,
                "tables": judge.case.tables,
                "records": judge.case.records.to_dict("list"),
                "parents": judge.case.parents,
                "counted": judge.case.counted,
                "base": base_of(judge),
            }
            for judge in judges
        ]
        (folder / "cases.json").write_text(json.dumps(told))
        environment = {**os.environ, "PYTHONPATH": str(RIVALS.parent)}
        command = [python, RIVALS / "run.py", folder / "cases.json", folder / "answers.json"]
        subprocess.run(
            command,
            cwd=folder,
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return dict(json.loads((folder / "answers.json").read_text()))


def of_ours(judge: Judge) -> Answers:
    """As cells in a list, the form in which others answer."""

    def cells(method: str) -> list[tuple[Any, ...]]:
        return [(list(key), *told) for key, told in METHODS[method](judge).items()]

    return {method: apart(lambda method=method: cells(method), PATIENCE) for method in METHODS}


def judged(judge: Judge, answers: Answers) -> list[dict[str, Any]]:
    """A record for each method. No solver runs in this process, which is forked."""

    def verdicts() -> list[dict[str, Any]]:
        found = []
        for method, answer in answers.items():
            record = {"table": judge.case.name, "family": judge.case.family, "method": method}
            record |= {
                "cells": int(judge.told.sum()),
                "primaries": int(judge.primary.sum()),
                "lone": len(judge.lone),
            }
            record |= {name: value for name, value in answer.items() if name != "answer"}
            if "answer" in answer:
                cells = {tuple(key): (low, high, shown) for key, low, high, shown in answer["answer"]}
                record |= asdict(judge.judge(judge.published(cells, method in MOVED)))
            found.append(record)
        return found

    told = apart(verdicts, 10 * PATIENCE)
    if "answer" not in told:
        raise SystemExit(f"{judge.case.name}: the judge ended ({told['refused']})")
    return list(told["answer"])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make compare", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=list(FAMILIES), default=list(FAMILIES), help="families")
    parser.add_argument("--page", action="store_true", help="the page alone, from comparison.json")
    given = parser.parse_args(arguments)
    for family in () if given.page else given.only:
        load = os.getloadavg()[0]
        made = publications(family)
        kept = _kept()  # as it is now: several families may be measured at a time
        kept["records"] = [each for each in kept["records"] if each["family"] != family] + made
        run: dict[str, Any] = {
            "load": round(load, 1),
            "limit": SECONDS,
            "cores": os.cpu_count(),
            "python": platform.python_version(),
        }
        kept["runs"][family] = run
        write_whole(RECORDS, json.dumps(kept, indent=1) + "\n")
        out.print(f"{family}: {len(made)} publications")
    write_page(_kept())
    return 0


def publications(family: str) -> list[dict[str, Any]]:
    """A record for each table of a family and each method."""
    judges = [Judge(case) for case in cases(family)]
    others = of_others(judges)
    return [each for judge in judges for each in judged(judge, of_ours(judge) | others[judge.case.name])]


def _kept() -> dict[str, Any]:
    return (
        dict(json.loads(RECORDS.read_text(encoding="utf-8")))
        if RECORDS.is_file()
        else {"records": [], "runs": {}}
    )


if __name__ == "__main__":
    raise SystemExit(main())
