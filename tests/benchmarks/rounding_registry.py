"""What small count rounding is measured on: tables of counts by name.

- `sixway-*`: the seeded skewed six-way tables that the peers were measured on
  (shared/tools/sixway_generate.py, which is not part of this
  project), all crossings of at most four variables published;
- `census-hub`: as many inner cells as in [4] §7, the same 20 variables with the same numbers of
  categories, and as many crossings of each
  order as are counted there; persons from a seeded mixture, crossings from a seeded search;
- `tiny`: the same kind in small, for `--quick`.

Tables are written once, as CSV, and kept in var/bench/rounding: `python -m
benchmarks.rounding_registry NAME`.
"""

from __future__ import annotations

import csv
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.registry import ABSENT, CACHE, HERE, Absent

ROUNDING = CACHE / "rounding"
SIXWAY = HERE.parents[2] / "shared/tools/sixway_generate.py"
QUALITIES = ("paper", "fast", "best")
# [4] §7: the variables of the census hub and their numbers of categories; the coarse
# ones are groups of the fine ones.
CENSUS = {
    "AGE_L": 6,
    "AGE_M": 21,
    "CAS_H": 7,
    "CAS_L": 3,
    "COC_L": 5,
    "COC_M": 10,
    "EDU": 9,
    "FST_H": 6,
    "GEO_L": 8,
    "HST_H": 8,
    "IND_H": 23,
    "LMS": 4,
    "LOC": 12,
    "LPW_L": 10,
    "OCC": 12,
    "POB_L": 4,
    "POB_M": 9,
    "ROY": 5,
    "SEX": 2,
    "SIE": 4,
}
COARSE = {"AGE_L": "AGE_M", "CAS_L": "CAS_H", "COC_L": "COC_M", "POB_L": "POB_M"}
CROSSINGS = {1: 20, 2: 121, 3: 298, 4: 325, 5: 152, 6: 24}  # of each order
CELLS = 1_398_852
Crossings = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Instance:
    """One named table: `write` makes its CSV, with the columns `dimensions` and `freq`, or says why it
    cannot.
    """

    name: str
    about: str
    dimensions: tuple[str, ...]
    crossings: Callable[[], Crossings] = field(repr=False)
    write: Callable[[Path], None] = field(repr=False)
    qualities: tuple[str, ...] = QUALITIES

    @property
    def path(self) -> Path:
        return ROUNDING / f"{self.name}.csv"

    def prepare(self) -> None:
        """Raises Absent where the table cannot be made on this machine."""
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            draft = self.path.with_suffix(".draft")
            self.write(draft)
            draft.replace(self.path)


def up_to(dimensions: tuple[str, ...], order: int) -> Crossings:
    return tuple(crossing for k in range(order + 1) for crossing in combinations(dimensions, k))


def census_crossings(seed: int = 0) -> Crossings:
    """Crossings closed under sub-totals, as many of each order as wanted; no coarse variable beside its fine
    one.

    From the highest order down, crossings are drawn near those there already; of some draws
    that fit, the one that adds least.
    """
    draw, names = random.Random(seed), tuple(CENSUS)
    light = [1 / CENSUS[name] ** 1.2 for name in names]  # small variables are crossed more deeply
    nested = [{names.index(coarse), names.index(fine)} for coarse, fine in COARSE.items()]
    known: dict[int, dict[tuple[int, ...], None]] = {k: {} for k in CROSSINGS}

    def candidate(k: int) -> tuple[int, ...]:
        if known[k] and draw.random() < 0.8:
            near = list(draw.choice(list(known[k])))
            near[draw.randrange(k)] = draw.choices(range(len(names)), light)[0]
            return tuple(sorted(set(near)))
        return tuple(sorted(set(draw.choices(range(len(names)), light, k=k))))

    for k in sorted(CROSSINGS, reverse=True):
        while len(known[k]) < CROSSINGS[k]:
            best: tuple[float, dict[int, list[tuple[int, ...]]]] | None = None
            for _ in range(12 if k == max(CROSSINGS) else 40):
                new = candidate(k)
                if len(new) < k or any(pair <= set(new) for pair in nested):
                    continue
                added = {
                    j: [sub for sub in combinations(new, j) if sub not in known[j]] for j in range(1, k + 1)
                }
                left = {j: CROSSINGS[j] - len(known[j]) for j in added}
                if added[k] and all(len(added[j]) <= left[j] for j in added):
                    cost = sum(len(added[j]) / (left[j] + 1) for j in range(1, k))
                    best = (cost, added) if best is None or cost < best[0] else best
            for j, subs in best[1].items() if best else ():
                known[j] |= dict.fromkeys(subs)
    found = [tuple(names[v] for v in crossing) for k in sorted(known) for crossing in sorted(known[k])]
    return ((), *found)


def census_persons(
    persons: int, seed: int = 20_110, classes: int = 8, skew: float = 2.8
) -> npt.NDArray[np.int8]:
    """(persons × variables) categories: in each class of a mixture every variable
    follows a Zipf law of its own order.
    """
    rng = np.random.default_rng(seed)
    size = 1 / np.arange(1, classes + 1) ** 0.7
    own = np.searchsorted(np.cumsum(size / size.sum()), rng.random(persons)).clip(0, classes - 1)
    drawn = {}
    for name, categories in CENSUS.items():
        if name in COARSE:
            continue
        law = np.cumsum(1 / np.arange(1, categories + 1) ** skew)
        rank = np.searchsorted(law / law[-1], rng.random(persons)).clip(0, categories - 1)
        order = np.array([np.arange(categories), *(rng.permutation(categories) for _ in range(classes - 1))])
        drawn[name] = order[own, rank].astype(np.int8)
    for coarse, fine in COARSE.items():
        drawn[coarse] = (drawn[fine].astype(np.int64) * CENSUS[coarse] // CENSUS[fine]).astype(np.int8)
    return np.stack([drawn[name] for name in CENSUS], axis=1)


def _write_census(cells: int, persons: int, path: Path) -> None:
    """As many persons as make that many inner cells, of at most `persons`."""
    drawn = census_persons(persons)
    fine = [i for i, name in enumerate(CENSUS) if name not in COARSE]
    keys = np.ravel_multi_index(
        drawn[:, fine].T.astype(np.int64), list(np.array(list(CENSUS.values()))[fine])
    )
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) < cells:
        raise ValueError(f"{persons} persons make {len(first)} inner cells only")
    last = np.sort(first)[cells - 1]
    counts = np.bincount(which[: last + 1], minlength=len(first))
    there = np.flatnonzero(counts)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*CENSUS, "freq"])
        writer.writerows(np.column_stack([drawn[first[there]], counts[there]]).tolist())


def _write_sixway(cells: int, path: Path) -> None:
    if not SIXWAY.is_file():
        raise Absent(f"the generator is not on this machine ({SIXWAY})")
    subprocess.run(
        [sys.executable, str(SIXWAY), str(cells), str(path)], check=True, stdout=subprocess.DEVNULL
    )


def _sixway(cells: int) -> Instance:
    dimensions = tuple(f"v{i}" for i in range(1, 7))
    about = f"{cells} inner cells of a skewed six-way table, all crossings of at most four"
    return Instance(
        f"sixway-{cells}", about, dimensions, partial(up_to, dimensions, 4), partial(_write_sixway, cells)
    )


INSTANCES = (
    _sixway(10_000),
    _sixway(40_000),
    _sixway(138_809),
    Instance(
        "census-hub", "20 variables, the numbers of crossings of [4] §7", tuple(CENSUS), census_crossings,
        partial(_write_census, CELLS, 5_000_000), ("fast", "best"),
    ),
)  # fmt: skip
TINY = (
    Instance(
        "tiny",
        "2 000 inner cells of the census variables",
        tuple(CENSUS),
        partial(up_to, ("EDU", "GEO_L", "LOC", "SEX"), 3),
        partial(_write_census, 2000, 20_000),
    ),
)
REGISTRY = {instance.name: instance for instance in (*INSTANCES, *TINY)}


if __name__ == "__main__":
    try:
        REGISTRY[sys.argv[1]].prepare()
    except Absent as reason:
        print(reason, file=sys.stderr)
        sys.exit(ABSENT)
