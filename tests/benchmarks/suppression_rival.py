"""One call of pytauargus, in a process of its own and by a Python that has it: microdata or a table with
levels in, a table with its pattern out, with the time that the call took. It knows nothing of this project.

python suppression_rival.py ASKED.json RESULT.json
"""

from __future__ import annotations

import csv
import json
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytauargus
from pytauargus.engine import Engine

STATUSES = {"9": "U", "12": "M"}  # manually unsafe, and secondary, among those of a file with AS+FL+
Asked = Mapping[str, Any]
Rows = list[dict[str, Any]]


def main(asked: Path, answer: Path) -> None:
    told = json.loads(asked.read_text())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trees = {}
        for dimension, lines in told["trees"].items():
            tree = folder / f"{dimension}.hrc"
            tree.write_text("".join(f"{line}\n" for line in lines))
            trees[dimension] = tree
        call = _of_table(told, folder, trees) if "cells" in told else _of_records(told, folder, trees)
        wall, cpu = time.perf_counter(), time.process_time()
        found = call()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        rows = _read(told, folder) if "cells" in told else found.tables[0].rows
    answer.write_text(json.dumps({"wall": wall, "cpu": cpu, "rows": rows}))


def _of_records(told: Asked, folder: Path, trees: Mapping[str, Path]) -> Any:
    given = {"hrc": {name: str(path) for name, path in trees.items()}, "hierleadstring": "@"} if trees else {}
    return lambda: pytauargus.protect(
        told["records"],
        told["dims"],
        "V",
        told["rule"],
        told["suppress"],
        workdir=str(folder / "work"),
        **given,
    )


def _of_table(told: Asked, folder: Path, trees: Mapping[str, Path]) -> Any:
    """A batch whose statuses and levels are those of the table."""
    with (folder / "given.tab").open("w", newline="") as file:
        columns = [told["cells"][name] for name in (*told["dims"], "V", "SECRET", "LEVEL")]
        for *codes, value, secret, level in zip(*columns, strict=True):
            csv.writer(file).writerow([*codes, f"{value:g}", "U" if secret else "S", level, level])
    lines = ['<SEPARATOR> ","', '<SAFE> "S"', '<UNSAFE> "U"', '<PROTECT> "Z"']
    for name in told["dims"]:
        lines += [name, "<RECODEABLE>", f'<TOTCODE> "{told["roots"][name]}"']
        if name in trees:
            lines += [f'<HIERCODELIST> "{trees[name].name}"', '<HIERLEADSTRING> "@"', "<HIERARCHICAL>"]
    lines += ["V", "<NUMERIC>", "ST", "<STATUS>", "L", "<NUMERIC> <LOWERPL>", "U", "<NUMERIC> <UPPERPL>"]
    (folder / "given.rda").write_text("\n".join(lines) + "\n")
    crossed = "".join(f'"{name}"' for name in told["dims"])
    batch = folder / "given.arb"
    batch.write_text(
        f'<OPENTABLEDATA> "given.tab"\n<OPENMETADATA> "given.rda"\n<SPECIFYTABLE> {crossed}|"V"|""|""\n'
        f"<SAFETYRULE>\n<READTABLE> 1\n<SOLVER> FREE\n<SUPPRESS> {told['suppress']}\n"
        '<WRITETABLE> (1, 3, AS+FL+, "found.txt")\n'
    )
    return lambda: Engine().run_batch(batch)


def _read(told: Asked, folder: Path) -> Rows:
    """The rows of the answer, those of empty cells too, with the levels that were given."""
    columns = [told["cells"][name] for name in told["dims"]]
    levels = dict(zip(zip(*columns, strict=True), told["cells"]["LEVEL"], strict=True))
    rows: Rows = []
    with (folder / "found.txt").open(newline="") as file:
        for *codes, value, status in csv.reader(file):
            level = levels.get(tuple(codes), 0.0)
            row = dict(zip(told["dims"], codes, strict=True))
            shown = 0.0 if value.strip() == "-" else float(value)
            row |= {"V": shown, "status": STATUSES.get(status.strip(), "S"), "lower": level, "upper": level}
            rows.append(row)
    return rows


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
