"""Seconds of CPU and the peak of memory of every reader on one table of a million records. Writes READERS.md.

PYTHONPATH=tests .venv/bin/python -m benchmarks.readers_run [--share 0.01] [--only NAME …] [--before FOLDER]

Each reader works in a process of its own, which reads the file, finds its records and checks them,
as the intake of a release does. Beside it stands what the machine takes to read the same bytes
without making records of them, and with --before what the program in another folder takes, such as that of
`git worktree add FOLDER COMMIT`: it reads the same files in turn with this one, in the same environment.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import resource
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

from benchmarks.readers_files import FILES, PERIOD, SEED, domain, table

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "var" / "bench" / "readers"
DOCUMENT = Path(__file__).with_name("READERS.md")
MEGABYTE = 1 << 20
RUNS = 2  # of each version, where two are compared


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--share",
        type=float,
        default=1.0,
        help="of the table; with less, the document goes to var/bench/readers",
    )
    parser.add_argument("--only", nargs="*", choices=list(FILES), default=list(FILES))
    parser.add_argument("--before", type=Path, help="the folder of an earlier version of the program")
    parser.add_argument("--measure", nargs=2, metavar=("FILE", "PART"), help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    folder = KEPT / f"{wanted.share:g}"
    folder.mkdir(parents=True, exist_ok=True)
    if wanted.measure:
        print(json.dumps(_measured(folder, Path(wanted.measure[0]), wanted.measure[1])))
        return
    load = os.getloadavg()
    files = _files(folder, wanted.share, wanted.only)
    found = {}
    for name, path in files.items():
        found[name] = {part: _apart(wanted.share, path, part) for part in ("nothing", "bytes")}
        runs: dict[str, list[dict[str, float]]] = {"intake": [], "before": []}
        for _ in range(RUNS if wanted.before else 1):
            runs["intake"].append(_apart(wanted.share, path, "intake"))
            if wanted.before:
                runs["before"].append(_apart(wanted.share, path, "intake", wanted.before.resolve()))
        found[name] |= {part: _least(each) for part, each in runs.items() if each}
    text = _document(found, files, load, wanted.share, wanted.before)
    (DOCUMENT if wanted.share == 1 and wanted.only == list(FILES) else folder / "READERS.md").write_text(
        text, encoding="utf-8"
    )
    print(text)


def _files(folder: Path, share: float, names: list[str]) -> dict[str, Path]:
    """The file of each format; written anew where what writes them has changed."""
    of = domain(folder, share)
    source = hashlib.sha256(Path(__file__).with_name("readers_files.py").read_bytes()).hexdigest()[:12]
    found, drawn = {}, None
    for name in names:
        suffix, write, _, _ = FILES[name]
        path = folder / f"AT_{name.replace(' ', '_').replace('.', '')}_{source}{suffix}"
        if not path.exists():
            drawn = table(of) if drawn is None else drawn
            part = path.with_suffix(".part")
            write(drawn, part)
            part.rename(path)
        found[name] = path
    return found


def _least(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: min(each[name] for each in runs) for name in runs[0]}


def _apart(share: float, path: Path, part: str, program: Path = ROOT) -> dict[str, float]:
    command = [
        sys.executable,
        "-P",  # else the folder of this process would come before that of the program
        "-m",
        "benchmarks.readers_run",
        "--share",
        str(share),
        "--measure",
        str(path),
        part,
    ]
    told = subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{program}{os.pathsep}{ROOT / 'tests'}"},
    )
    return dict(json.loads(told.stdout))


def _measured(folder: Path, path: Path, part: str) -> dict[str, float]:
    """CPU of this process and of those that it starts, and the larger of their peaks;
    `nothing` is the program alone.
    """
    from sdc_tasks import intake

    of = domain(folder, float(folder.name))
    _ = of.space.national_keys, of.units, intake.read_sheet  # which imports the readers
    began, at = _cpu(), time.perf_counter()
    records = 0
    if part == "bytes":
        _only_bytes(path)
    elif part == "intake":
        by_pieces = hasattr(intake, "file_content")  # an earlier version reads the whole file first
        content = intake.file_content(path, path.stat().st_size) if by_pieces else path.read_bytes()
        sheet = intake.read_sheet(content, f"AT_2024{path.suffix}", of, PERIOD)
        errors = [each.message for each in sheet.findings if each.severity == "error"]
        if sheet.entries is None or errors:
            raise SystemExit(f"{path}: {errors[:3]}")
        records = len(sheet.entries.cell)
    mine = int(
        re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[0]
    )  # ru_maxrss would hold that of our parent
    peak = max(mine, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) * 1024
    return {"cpu": _cpu() - began, "wall": time.perf_counter() - at, "peak": peak, "records": records}


def _cpu() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _only_bytes(path: Path) -> None:
    """What a library does with these bytes when nobody asks for records."""
    data = path.read_bytes()
    match path.suffix:
        case ".xml":
            from pyexpat import ParserCreate

            ParserCreate(namespace_separator=" ").Parse(data, True)
        case ".json":
            json.loads(data)
        case ".parquet":
            import io

            import pyarrow.parquet as pq

            pq.read_table(io.BytesIO(data), use_threads=False)
        case ".xlsx":
            import io
            import zipfile
            from pyexpat import ParserCreate

            with (
                zipfile.ZipFile(io.BytesIO(data)) as archive,
                archive.open("xl/worksheets/sheet1.xml") as sheet,
            ):
                ParserCreate(namespace_separator=" ").ParseFile(sheet)
        case _:
            import io

            import pandas as pd

            pd.read_csv(
                io.BytesIO(data), sep="\t" if path.suffix == ".tsv" else ",", dtype=str, na_filter=False
            )


def _document(
    found: dict[str, dict[str, dict[str, float]]],
    files: dict[str, Path],
    load: tuple[float, ...],
    share: float,
    before: Path | None,
) -> str:
    records = max(int(each["intake"]["records"]) for each in found.values())
    told = ", ".join(f"{name} {version(name)}" for name in ("numpy", "pandas", "pyarrow"))
    said = [*(["--before FOLDER"] if before else []), *([f"--share {share:g}"] if share != 1 else [])]
    given = f" ARGS='{' '.join(said)}'" if said else ""
    told_before = (
        f"\n- *before*: intake by version {_version(before)}, in turn with this one, the least of "
        f"{RUNS} runs each; and *new / before*."
        if before
        else ""
    )
    machine = (
        f"{platform.machine()}, {os.cpu_count()} cores, Linux "
        f"{platform.release().split('-')[0]}, Python {platform.python_version()}"
    )
    lines = f"""# Readers

`make bench-readers{given}`: one national table of {records} records, seed {SEED}.

- *intake*: seconds of CPU from a file to its checked records (`read_sheet`). *peak*: the most memory that this process, or one
  that it starts, held, the program included. *program*: the same without a file.
- *bytes*: seconds of CPU of a library on the same bytes, without records: expat without handlers, `json.loads`, pyarrow on one thread,
  pandas with texts. *ratio*: intake over bytes.
- *allowed*: what a million records may take.{told_before}

Machine: {machine}, {told}.
Load when it began: {load[0]:.1f}. On a loaded machine, seconds of CPU are up to a half more than on a quiet one.

| format | file MB | intake CPU s | allowed | bytes CPU s | ratio | peak MB | allowed | program MB |
|---|---:|---:|---:|---:|---:|---:|---:|---:|""".splitlines()  # noqa: E501
    if before:
        lines[-2] += " before CPU s | new / before | before peak MB | new / before |"
        lines[-1] += "---:|" * 4
    for name, parts in found.items():
        _, _, seconds, memory = FILES[name]
        cells = [
            name,
            f"{files[name].stat().st_size / MEGABYTE:.0f}",
            f"{parts['intake']['cpu']:.1f}",
            "" if seconds is None else f"{seconds:g}",
            f"{parts['bytes']['cpu']:.1f}",
            f"{parts['intake']['cpu'] / max(parts['bytes']['cpu'], 0.01):.1f}",
            f"{parts['intake']['peak'] / 1e6:.0f}",
            "" if memory is None else f"{memory / 1e6:.0f}",
            f"{parts['nothing']['peak'] / 1e6:.0f}",
        ]
        if before:
            mine, theirs = parts["intake"], parts["before"]
            cells += [f"{theirs['cpu']:.1f}", f"{mine['cpu'] / theirs['cpu']:.2f}"]
            cells += [f"{theirs['peak'] / 1e6:.0f}", f"{mine['peak'] / theirs['peak']:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _version(folder: Path) -> str:
    """The commit of a folder."""
    asked = ["git", "-C", str(folder), "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
