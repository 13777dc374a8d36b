"""One rounding of one table in a process of its own, so that its memory is its own: `python -m
benchmarks.rounding_measure NAME QUALITY …`.

The clock starts once everything is imported. `read` is the CSV, `publish` the published cells, `round` the
rest. Quality is computed from the rounded inner cells by plain sums, written here.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.rounding_registry import REGISTRY
from sdc_tasks import pipeline
from sdc_tasks.intake.tables.counts import read_counts
from sdc_tasks.methods.rounding.small_count import CountOptions, by_list, dummy_of, round_counts

DENSE = 1 << 22  # keys that are counted without sorting them
SOURCES = Path(pipeline.__file__).parent
FORM = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[
    :12
]  # of this file: a record made by another one is not read


@dataclass(frozen=True)
class Record:
    """What came out; seconds are wall time, `cpu` that of the process from the first clock on."""

    instance: str
    quality: str
    code: str
    inner: int
    published: int
    crossings: int
    read: float
    publish: float
    round: float
    cpu: float
    peak_mib: float
    maximum: int
    mean: float
    rms: float
    utility: float
    small_left: int
    rounded: int
    rounds: int
    load: float
    made: str
    form: str = FORM

    @property
    def name(self) -> str:
        return f"{self.instance}-{self.quality}"

    @property
    def seconds(self) -> float:
        return self.read + self.publish + self.round

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class Score:
    """Differences of published cells, added up crossing by crossing."""

    base: int
    cells: int = 0
    small_left: int = 0
    maximum: int = 0
    absolute: int = 0
    squared: int = 0
    hellinger: float = 0.0
    total: int = field(default=0)

    def add(
        self, keys: npt.NDArray[np.int64], original: npt.NDArray[np.int64], rounded: npt.NDArray[np.int64]
    ) -> None:
        """`keys` tell which inner cells are together in a crossing."""
        which = keys if keys.max() < DENSE else np.unique(keys, return_inverse=True)[1]
        there = np.bincount(which) > 0
        o, r = (np.bincount(which, weights=values).astype(np.int64)[there] for values in (original, rounded))
        off = np.abs(o - r)
        self.cells += len(o)
        self.small_left += int(((r > 0) & (r < self.base)).sum())
        self.maximum = max(self.maximum, int(off.max()))
        self.absolute += int(off.sum())
        self.squared += int((off * off).sum())
        self.hellinger += float(((np.sqrt(o) - np.sqrt(r)) ** 2).sum())
        self.total += int(o.sum())

    @property
    def mean(self) -> float:
        return self.absolute / self.cells

    @property
    def rms(self) -> float:
        return float(np.sqrt(self.squared / self.cells))

    @property
    def utility(self) -> float:
        return float(1 - np.sqrt(self.hellinger / 2) / np.sqrt(self.total))


def code() -> str:
    """What all figures depend on beside the tables: our sources."""
    files = sorted([SOURCES / "intake/tables/counts.py", *SOURCES.glob("methods/rounding/small_count/*.py")])
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def measure(name: str, quality: str, base: int = 3) -> Record:
    load, instance = os.getloadavg()[0], REGISTRY[name]
    crossings = instance.crossings()
    began, cpu = time.perf_counter(), time.process_time()
    cells = read_counts(instance.path, instance.dimensions, "freq").cells
    read = time.perf_counter()
    dummy = dummy_of(cells, by_list(cells, crossings))
    published = time.perf_counter()
    result = round_counts(dummy, CountOptions(1, base=base, quality=quality))  # type: ignore[arg-type]
    ended, cpu = time.perf_counter(), time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    score = Score(base)
    for crossing in crossings:
        at = [instance.dimensions.index(dimension) for dimension in crossing]
        sizes = [len(cells.labels[d]) for d in at]
        keys = (
            np.ravel_multi_index([cells.codes[d] for d in at], sizes)
            if at
            else np.zeros(len(cells), dtype=np.int64)
        )
        score.add(keys, cells.y, result.inner)
    return Record(
        instance=name,
        quality=quality,
        code=code(),
        inner=len(cells),
        published=score.cells,
        crossings=len(crossings),
        read=read - began,
        publish=published - read,
        round=ended - published,
        cpu=cpu,
        peak_mib=peak,
        maximum=score.maximum,
        mean=score.mean,
        rms=score.rms,
        utility=score.utility,
        small_left=score.small_left,
        rounded=int(result.rounded.sum()),
        rounds=result.rounds,
        load=load,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("quality")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.write_text(
        json.dumps(measure(given.name, given.quality).to_json(), indent=1) + "\n", encoding="utf-8"
    )
