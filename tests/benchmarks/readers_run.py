"""Seconds of CPU and the peak of memory of every reader on one table of a million records. Writes READERS.md.

PYTHONPATH=tests .venv/bin/python -m benchmarks.readers_run [--share 0.01] [--only NAME …]

Each reader works in a process of its own, which reads the file, finds its records and checks them,
as the intake of a release does. Beside it stands what the machine takes to read the same bytes
without making records of them.
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
    parser.add_argument("--measure", nargs=2, metavar=("FILE", "PART"), help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    folder = KEPT / f"{wanted.share:g}"
    folder.mkdir(parents=True, exist_ok=True)
    if wanted.measure:
        print(json.dumps(_measured(folder, Path(wanted.measure[0]), wanted.measure[1])))
        return
    load = os.getloadavg()
    files = _files(folder, wanted.share, wanted.only)
    found = {
        name: {part: _apart(wanted.share, path, part) for part in ("nothing", "bytes", "intake")}
        for name, path in files.items()
    }
    text = _document(found, files, load, wanted.share)
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


def _apart(share: float, path: Path, part: str) -> dict[str, float]:
    command = [
        sys.executable,
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
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
    )
    return dict(json.loads(told.stdout))


def _measured(folder: Path, path: Path, part: str) -> dict[str, float]:
    """CPU of this process and of those that it starts, and the larger of their peaks;
    `nothing` is the program alone.
    """
    from sdc_tasks.intake import read_sheet

    of = domain(folder, float(folder.name))
    _ = of.space.national_keys, of.units
    began, at = _cpu(), time.perf_counter()
    records = 0
    if part == "bytes":
        _only_bytes(path)
    elif part == "intake":
        sheet = read_sheet(path.read_bytes(), f"AT_2024{path.suffix}", of, PERIOD)
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
) -> str:
    records = max(int(each["intake"]["records"]) for each in found.values())
    told = ", ".join(f"{name} {version(name)}" for name in ("numpy", "pandas", "pyarrow"))
    given = "" if share == 1 else f" ARGS='--share {share:g}'"
    machine = (
        f"{platform.machine()}, {os.cpu_count()} cores, Linux "
        f"{platform.release().split('-')[0]}, Python {platform.python_version()}"
    )
    lines = f"""# Readers

`make bench-readers{given}`: one national table of {records} records, seed {SEED}.

- *intake*: seconds of CPU from the bytes of a file to its checked records (`read_sheet`). *peak*: the most memory that this process, or one
  that it starts, held, the program included. *program*: the same without a file.
- *bytes*: seconds of CPU of a library on the same bytes, without records: expat without handlers, `json.loads`, pyarrow on one thread,
  pandas with texts. *ratio*: intake over bytes.
- *allowed*: what a million records may take.

Machine: {machine}, {told}.
Load when it began: {load[0]:.1f}. On a loaded machine, seconds of CPU are up to a half more than on a quiet one.

| format | file MB | intake CPU s | allowed | bytes CPU s | ratio | peak MB | allowed | program MB |
|---|---:|---:|---:|---:|---:|---:|---:|---:|""".splitlines()  # noqa: E501
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
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
