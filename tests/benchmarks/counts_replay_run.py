"""How many values a hidden count may have for somebody who has the program: small count rounding of all 2 × 2 tables with margins.

    .venv/bin/python tests/benchmarks/counts_replay_run.py --largest 4 --keys 40

Every table of inner counts from 0 to `--largest` is rounded to base 3 with each of `--keys` seeds; the seed is the secret key. All 9
cells are published. The candidates of a hidden count (an inner cell with less than the base, and not 0) are its values in the tables that
give the same publication for some key.

`--drawn`: the same where the key also fixes, for each hidden count, whether it is rounded up, rounded down, or left to the method: each of
these choices is tried. It shows what such a rule would reach; the program does not offer it.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sdc_tasks.methods.rounding.small_count import CountOptions, InnerCells, by_order, dummy_of, round_counts

BASE, SIDE = 3, 2
Counts = tuple[int, ...]


def publications(counts: Counts, keys: int, drawn: bool) -> Iterator[Counts]:
    """What the program prints for a table, key by key."""
    codes = np.indices((SIDE, SIDE)).reshape(2, -1).astype(np.int32)
    labels = tuple(tuple(f"{name}{i}" for i in range(SIDE)) for name in "RC")
    cells = InnerCells(("R", "C"), labels, codes, np.array(counts))
    dummy = dummy_of(cells, by_order(cells, 2))
    choices = [(-1, 0, BASE) if drawn and 0 < n < BASE else (-1,) for n in counts]
    for fixed in product(*choices):
        for seed in range(keys):
            yield tuple(round_counts(dummy, CountOptions(seed, base=BASE), given=np.array(fixed)).published.tolist())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=4)
    parser.add_argument("--keys", type=int, default=40)
    parser.add_argument("--drawn", action="store_true")
    given = parser.parse_args()
    tables = defaultdict[Counts, set[Counts]](set)
    for counts in product(range(given.largest + 1), repeat=SIDE**2):
        for printed in publications(counts, given.keys, given.drawn):
            tables[printed].add(counts)
    number = few = 0
    least, example = BASE + 1, ""
    for printed, those in sorted(tables.items()):
        for i in range(SIDE**2):
            candidates = sorted({counts[i] for counts in those})
            hidden = sum(0 < counts[i] < BASE for counts in those)
            number += hidden
            few += hidden if len(candidates) < BASE else 0
            if hidden and len(candidates) < least:
                least, example = len(candidates), f"printed {printed}: inner cell {i} is one of {candidates}"
    print(
        f"{len(tables)} publications, {number} hidden counts of tables, {few} with fewer than {BASE} candidates ({few / number:.0%}); "
        f"fewest: {least} ({example})"
    )


if __name__ == "__main__":
    main()
