"""How much a rule tells somebody who runs the program for every hidden table: random small tables, all tables enumerated.

    .venv/bin/python tests/benchmarks/replay_run.py --tables 300            the default rule
    .venv/bin/python tests/benchmarks/replay_run.py --tables 300 --aware    bases.rule_aware, with another key for each table

With a key, a table counts if some key gives the publication for it: by Theorem 3 the one that leaves its options as the finest, or none.

It prints one line a table, and the figures of METHOD §9 at the end. A table with more than `--most` hidden tables is left out.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sdc_tasks.errors import SdcError
from sdc_tasks.methods.attack import promised
from sdc_tasks.methods.attack.replay import Fitting, Support, support
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.secret import Secret
from sdc_tasks.model.weights import aggregate_weights
from support.hidden_tables import drawn, gives, moved, publish, publish_aware

lost = {"default": 0.0, "rule_aware": 0.0}


def loss_of(problem: ProtectionProblem, publication: Publication) -> float:
    """As the search counts it."""
    options = BasesOptions()
    total = problem.a[publication.cells]
    size = aggregate_weights(problem, options.weights) * np.maximum(total, options.smallest)
    base = np.where(publication.rounded, publication.base / np.maximum(total, options.smallest) / 2, 0.0)
    base[publication.withheld] = options.maximum_relative_base
    return float((size * (base + options.rounding_charge * ~publication.exact)).sum())


def aware(seed: int, most: int) -> Support | None:
    """What bases.rule_aware leaves; None if too many tables fit."""
    problem = replace(drawn(seed), salt=Secret(seed.to_bytes(32, "big")))
    publication = publish_aware(problem)
    tables = Fitting.of(problem, publication, np.ones(int(problem.suppressed.sum()))).every(most)
    if tables is None:
        return None
    lost["default"] += loss_of(problem, publish(problem))
    lost["rule_aware"] += loss_of(problem, publication)
    return support(problem, promised(problem, ("external",)), tables, lambda z: float(gives(moved(problem, z), publication)))


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
    parser.add_argument("--aware", action="store_true")
    given = parser.parse_args()
    found: list[Support] = []
    seed = left_out = 0
    while len(found) < given.tables:
        each = (aware if given.aware else replayed)(seed, given.most)
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
    if given.aware:
        print(f"loss: {lost['rule_aware'] / lost['default']:.2f} times that of the default rule on the same tables")


if __name__ == "__main__":
    main()
