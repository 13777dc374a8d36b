"""How much the default rule tells somebody who runs the program for every hidden table: random small tables, all tables enumerated.

    .venv/bin/python tests/benchmarks/replay_run.py --tables 300

It prints one line a table, and the figures of METHOD §9 at the end. A table with more than `--most` hidden tables is left out.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sdc_tasks.errors import SdcError
from sdc_tasks.methods.attack import promised
from sdc_tasks.methods.attack.replay import Fitting, Support, support
from support.hidden_tables import drawn, moved, publish


def replayed(seed: int, most: int) -> Support | None:
    """What the default rule leaves; None if too many tables fit."""
    problem = drawn(seed)
    publication = publish(problem)
    tables = Fitting.of(problem, publication, np.ones(int(problem.suppressed.sum()))).every(most)
    if tables is None:
        return None

    def chance(z: np.ndarray) -> float:
        try:
            return float(publish(moved(problem, z)).digest == publication.digest)
        except SdcError:
            return 0.0

    return support(problem, promised(problem, ("external",)), tables, chance)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=300)
    parser.add_argument("--most", type=int, default=200)
    given = parser.parse_args()
    found: list[Support] = []
    seed = left_out = 0
    while len(found) < given.tables:
        each = replayed(seed, given.most)
        seed += 1
        if each is None:
            left_out += 1
            continue
        found.append(each)
        print(f"{seed - 1}: {each.tables} of {each.fit} tables, broken {each.broken.tolist()}, narrow {each.narrow.tolist()}", flush=True)
    sound = [(-each.low_fit >= each.down) & (each.high_fit >= each.up) for each in found]  # also in whole numbers, which the audit ignores

    def count(name: str) -> int:
        return sum(int((getattr(each, name) & those).sum()) for each, those in zip(found, sound, strict=True))

    primaries, broken, narrow = sum(int(those.sum()) for those in sound), count("broken"), count("narrow")
    known = sum(int(((each.width == 0) & those).sum()) for each, those in zip(found, sound, strict=True))
    left = np.concatenate(
        [((each.width + 1) / (each.high_fit - each.low_fit + 1))[those] for each, those in zip(found, sound, strict=True)]
    )
    print(
        f"{len(found)} tables ({left_out} with more than {given.most} hidden tables left out), {primaries} primaries that the audit "
        "protects: "
        f"{broken} are left less than a level on one side ({broken / primaries:.0%}), "
        f"{narrow} less than both levels together ({narrow / primaries:.0%}), {known} a single value; "
        f"the median support is {np.median(left):.0%} of what the audit promises"
    )


if __name__ == "__main__":
    main()
