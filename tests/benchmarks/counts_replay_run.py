"""How many values a hidden count may have for somebody who has the program: small count rounding
of all 2 × 2 tables with margins.

    .venv/bin/python tests/benchmarks/counts_replay_run.py --largest 4 --keys 40
    .venv/bin/python tests/benchmarks/counts_replay_run.py --largest 4 --aware

Every table of inner counts from 0 to `--largest` is rounded to base 3 with each of `--keys` seeds; the seed
is the secret key. All 9 cells are published; with `--margins` the four inner cells are not. The candidates
of a hidden count (an inner cell with less than the base, and not 0) are its values in the tables that give
the same publication for some key.

`--aware`: the same with the option `rule_aware`. What a key sends up, sends down and leaves to the method
depends on the codes alone, so there are 81 patterns of the four inner cells, and each table is rounded with a
key of each. More keys could only add candidates.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count, product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sdc_tasks.methods.rounding.small_count import CountOptions, InnerCells, by_order, dummy_of, round_counts
from sdc_tasks.methods.rounding.small_count.drawn import directions

BASE, SIDE = 3, 2
OFTEN = 0.6  # chance that a key decides about a count: every pattern is found soon
Counts = tuple[int, ...]


def inner_cells_of(counts: Counts) -> InnerCells:
    codes = np.indices((SIDE, SIDE)).reshape(2, -1).astype(np.int32)
    labels = tuple(tuple(f"{name}{i}" for i in range(SIDE)) for name in "RC")
    return InnerCells(("R", "C"), labels, codes, np.array(counts))


@cache
def key_of_every_pattern() -> tuple[CountOptions, ...]:
    """Options with the first seed of each pattern: which inner cells the key sends up, which down,
    and about which it says nothing.
    """
    cells, found = inner_cells_of((1,) * SIDE**2), dict[Counts, CountOptions]()
    every = np.ones(SIDE**2, dtype=bool)
    for seed in count():
        pattern = tuple(directions(cells, every, BASE, OFTEN, seed).tolist())
        found.setdefault(pattern, CountOptions(seed, BASE, rule_aware=True, drawn=OFTEN))
        if len(found) == 3**SIDE**2:
            return tuple(found.values())
    raise AssertionError


def publications(counts: Counts, options: Iterable[CountOptions], margins: bool = False) -> Iterator[Counts]:
    """What the program prints for a table, key by key."""
    cells = inner_cells_of(counts)
    dummy = dummy_of(cells, by_order(cells, 1 if margins else 2))
    for each in options:
        yield tuple(round_counts(dummy, each).published.tolist())


@dataclass(frozen=True)
class Left:
    """What is left of all hidden counts of all tables. `few`: hidden counts with fewer candidates than the
    base.
    """

    publications: int
    hidden: int
    few: int
    least: int
    example: str


def left_of(largest: int, options: Iterable[CountOptions], margins: bool = False) -> Left:
    """Rounds every table of inner counts from 0 to `largest` with every key."""
    keys, tables = tuple(options), defaultdict[Counts, set[Counts]](set)
    for counts in product(range(largest + 1), repeat=SIDE**2):
        for printed in publications(counts, keys, margins):
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
    return Left(len(tables), number, few, least, example)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=4)
    parser.add_argument("--keys", type=int, default=40)
    parser.add_argument("--margins", action="store_true")
    parser.add_argument("--aware", action="store_true")
    given = parser.parse_args()
    keys = key_of_every_pattern() if given.aware else [CountOptions(seed, BASE) for seed in range(given.keys)]
    left = left_of(given.largest, keys, given.margins)
    print(
        f"{left.publications} publications, {left.hidden} hidden counts of tables, {left.few} with fewer "
        f"than {BASE} candidates "
        f"({left.few / left.hidden:.0%}); fewest: {left.least} ({left.example})"
    )


if __name__ == "__main__":
    main()
