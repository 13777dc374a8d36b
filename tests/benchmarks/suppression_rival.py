"""One call of pytauargus, in a process of its own and by a Python that has it: microdata in, a table with its
pattern out, with the time that the call took. It knows nothing of this project.

python suppression_rival.py MICRODATA.json RESULT.json
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import pytauargus


def main(asked: Path, answer: Path) -> None:
    told = json.loads(asked.read_text())
    with tempfile.TemporaryDirectory() as folder:
        trees = {}
        for name, lines in told["trees"].items():
            tree = Path(folder) / f"{name}.hrc"
            tree.write_text("".join(f"{line}\n" for line in lines))
            trees[name] = str(tree)
        wall, cpu = time.perf_counter(), time.process_time()
        found = pytauargus.protect(
            told["records"],
            told["dims"],
            told["value"],
            told["rule"],
            told["suppress"],
            hrc=trees or None,
            hierleadstring="@" if trees else None,
            workdir=str(Path(folder) / "work"),
        )
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        rows = found.tables[0].rows
    answer.write_text(json.dumps({"wall": wall, "cpu": cpu, "rows": rows}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
