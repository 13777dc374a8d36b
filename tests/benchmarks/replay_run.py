"""How much a rule tells somebody who runs the program for every hidden table: random small tables, all tables enumerated.

    .venv/bin/python tests/benchmarks/replay_run.py --tables 300            the default rule
    .venv/bin/python tests/benchmarks/replay_run.py --tables 300 --aware    bases.rule_aware, with another key for each table

With a key, a table counts if some key gives the publication for it: by Theorem 3 the one that leaves its options as the finest, or none.
Each decision is made once where it is the same for all tables: the ladder rounds all totals at once, the test of the width is a function of
the publication, and the audit is run for each table. The whole program is then run for the truth, for the two tables at the ends of each
support and for CHECKED others; it must say the same. The tables of METHOD §9 with x = 60, 97, 143, 201 come first.

It prints one line a table, and the figures of METHOD §9 at the end. A table with more than `--most` hidden tables is left out. `--out`
writes the figures to a file, with the machine and its load.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sdc_tasks.errors import SdcError
from sdc_tasks.methods.attack import Attacker, baseline, promised
from sdc_tasks.methods.attack.replay import Fitting, Support, support
from sdc_tasks.methods.bases.aware.floors import CellBases, sizes_of
from sdc_tasks.methods.bases.aware.rule import Tests
from sdc_tasks.methods.bases.ladder import nearest_multiple
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.secret import Secret
from sdc_tasks.model.weights import aggregate_weights
from support.hidden_tables import drawn, gives, key_of, keyed, moved, pair, publish, publish_aware

lost = {"default": 0.0, "rule_aware": 0.0}
odds: list[float] = []  # of each cell that is not exact: the inverse of the chance of its draw
NAMED = (60, 97, 143, 201)
CHECKED = 3  # tables drawn, besides the ends and the truth, for which the whole program is run


def loss_of(problem: ProtectionProblem, publication: Publication) -> float:
    """As the search counts it."""
    options = BasesOptions()
    total = problem.a[publication.cells]
    size = aggregate_weights(problem, options.weights) * np.maximum(total, options.smallest)
    base = np.where(publication.rounded, publication.base / np.maximum(total, options.smallest) / 2, 0.0)
    base[publication.withheld] = options.maximum_relative_base
    return float((size * (base + options.rounding_charge * ~publication.exact)).sum())


class Keyed:
    """Whether some key gives a publication for a table, as `gives` says, but with each decision made once."""

    def __init__(self, problem: ProtectionProblem, publication: Publication, options: BasesOptions) -> None:
        self.problem, self.publication, self.options = problem, publication, options
        case = keyed(problem, key_of(problem, publication, options), options)
        finest = case.ladder.at_least(np.zeros(len(publication.cells)))
        self.wide = not Tests(case, [0]).narrow(finest).any()

    def chances(self, tables: np.ndarray) -> np.ndarray:
        """(tables,): 1 or 0. `tables` (tables, hidden cells): deviations."""
        return np.array([float(self.wide and self._rounds(z) and self._withstands(z)) for z in tables])

    def _rounds(self, z: np.ndarray) -> bool:
        """Does the ladder of this table print the same, and allow it?"""
        told, total = self.publication, moved(self.problem, z).a[self.publication.cells]
        down = key_of(moved(self.problem, z), told, self.options).down
        base = np.where(told.rounded, told.base, 1.0)
        printed = nearest_multiple(total, base, down)
        allowed = told.base <= self.options.maximum_relative_base * np.abs(printed)
        same = np.where(told.rounded, (printed == told.value) & allowed, np.where(told.exact, total == told.value, True))
        return bool(same.all())

    def _withstands(self, z: np.ndarray) -> bool:
        """Does the publication pass the audit for this table?"""
        problem = moved(self.problem, z)
        attacker = Attacker(problem, baseline(problem, ("external",))[0], 1)
        attacker.face(self.publication)
        attacker.settle()
        return not attacker.broken


def aware(seed: int, most: int, options: BasesOptions, problem: ProtectionProblem | None = None) -> Support | None:
    """What bases.rule_aware leaves; None if too many tables fit. Raises AssertionError where the whole program says something else."""
    problem = replace(problem or drawn(seed), salt=Secret(seed.to_bytes(32, "big")))
    publication = publish_aware(problem, None, options)
    tables = Fitting.of(problem, publication, np.ones(int(problem.suppressed.sum()))).every(most)
    if tables is None:
        return None
    lost["default"] += loss_of(problem, publish(problem))
    lost["rule_aware"] += loss_of(problem, publication)
    chance = Keyed(problem, publication, options).chances(tables)
    told = {z.tobytes(): each for z, each in zip(tables, chance, strict=True)}
    columns = np.flatnonzero(problem.primary[problem.suppressed])
    kept = np.flatnonzero(chance)
    ends = [int(kept[side(tables[kept, column])]) for column in columns for side in (np.argmin, np.argmax)] if len(kept) else []
    others = np.random.default_rng(seed).permutation(len(tables))[:CHECKED].tolist()
    for at in sorted({*ends, *others, int(np.flatnonzero((tables == 0).all(axis=1))[0])}):
        assert gives(moved(problem, tables[at]), publication, options) == bool(chance[at]), f"table {seed}: the program says something else"
    size = sizes_of(problem)
    odds.extend(
        1 / (options.removed * CellBases.of(options, float(size[k])).chance(float(publication.base[k])))
        for k in np.flatnonzero(~publication.exact).tolist()
    )
    return support(problem, promised(problem, ("external",)), tables, lambda z: told[z.tobytes()])


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
    parser.add_argument("--removed", type=float, default=0.05, help="with --aware: the chance that the key takes an exact figure")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    options = BasesOptions(rule_aware=True, removed=given.removed)
    found: list[Support] = []
    left_out: list[int] = []
    started, load = time.process_time(), os.getloadavg()
    for x in NAMED if given.aware else ():
        each = aware(x, 400, options, pair(x))
        assert each is not None
        found.append(each)
        print(f"x = {x}: {x + each.low[0]:.0f} to {x + each.high[0]:.0f} left of {x + each.low_fit[0]:.0f} to {x + each.high_fit[0]:.0f}, "
              f"narrow {bool(each.narrow[0])}", flush=True)  # fmt: skip
    seed = 0
    while len(found) < given.tables:
        each = aware(seed, given.most, options) if given.aware else replayed(seed, given.most)
        seed += 1
        if each is None:
            left_out.append(seed - 1)
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
    figures = {
        "rule": f"rule_aware, removed {given.removed}" if given.aware else "default",
        "tables": len(found),
        "named": list(NAMED) if given.aware else [],
        "left_out": left_out,
        "most_hidden_tables": given.most,
        "hidden_tables": sum(each.fit for each in found),
        "hidden_tables_with_a_chance": sum(each.tables for each in found),
        "primaries": primaries,
        "less_than_a_level_on_one_side": broken,
        "less_than_both_levels_together": narrow,
        "single_value": known,
        "median_share_of_the_audited": round(float(np.median(left)), 3),
    }
    if given.aware:
        figures |= {
            "loss_times_default": round(lost["rule_aware"] / lost["default"], 3),
            "odds_of_one_exact_figure_at_most": round(1 / (1 - given.removed), 3),
            "odds_of_one_other_cell_at_most": round(max(odds, default=1.0), 1),
            "odds_of_one_other_cell_median": round(float(np.median(odds)), 1) if odds else 1.0,
        }
    figures |= {
        "cpu_seconds": round(time.process_time() - started),
        "load_at_start": round(load[0], 1),
        "load_at_end": round(os.getloadavg()[0], 1),
        "machine": f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}",
        "command": " ".join(["tests/benchmarks/replay_run.py", *sys.argv[1:]]),
    }
    for name, figure in figures.items():
        print(f"{name}: {figure}")
    if given.out:
        given.out.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
