"""How much a rule tells somebody who runs the program for every hidden table: random
small tables, all tables enumerated.

    .venv/bin/python tests/benchmarks/replay_run.py --tables 300            the default rule
    .venv/bin/python tests/benchmarks/replay_run.py --tables 300 --aware    bases.rule_aware,
    with another key for each table

With a key, a table counts if some key gives the publication for it: by Theorem 3 the one that leaves its
options as the finest, or none. Each decision is made once where it is the same for all tables: the ladder
rounds all totals at once, the test of the width is a function of the publication, and whether a table passes
the audit follows from the ends that cold linear programs of another library leave each primary. The whole
program is then run for the truth, for the two tables at the ends of each support and for CHECKED others; it
must say the same. The tables of METHOD §9 with x = 60, 97, 143, 201 come first.

It prints one line a table, and the figures of METHOD §9 at the end. A table with more than `--most` hidden
tables is left out. `--out` writes the figures to a file, with the machine and its load.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import sys
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sdc_tasks.errors import SdcError
from sdc_tasks.methods.attack import promised
from sdc_tasks.methods.attack.replay import Fitting, Support, support
from sdc_tasks.methods.bases.aware.floors import CellBases, sizes_of
from sdc_tasks.methods.bases.aware.rule import Tests
from sdc_tasks.methods.bases.ladder import nearest_multiple
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.secret import Secret
from sdc_tasks.model.tolerances import FEASIBILITY
from sdc_tasks.model.weights import aggregate_weights
from support.hidden_tables import PERCENT, drawn, gives, key_of, keyed, moved, pair, publish, publish_aware
from support.oracles.wide import Oracle

NAMED = (60, 97, 143, 201)
MOST_SEEDS = 10_000
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
        self.wide = not Tests(case, [0]).narrow(case.ladder.at_least(np.zeros(len(publication.cells)))).any()
        oracle = Oracle(problem, publication, PERCENT / 100)
        self.columns, free = oracle.columns, oracle.free
        ends = [
            [oracle.end(int(c), side, free, told) for c in self.columns]
            for told in (True, False)
            for side in (-1, 1)
        ]
        self.low, self.high, self.least, self.most = (
            np.array([np.inf if e is None else e for e in each]) for each in ends
        )

    def chances(self, tables: np.ndarray) -> np.ndarray:
        """(tables,): 1 or 0. `tables` (tables, hidden cells): deviations."""
        y = self.problem.a[self.problem.suppressed][self.columns] + tables[:, self.columns]
        level = PERCENT / 100 * y
        down, up = np.minimum(level, y - self.least), np.minimum(level, self.most - y)
        met = 1 - FEASIBILITY
        safe = ((y - self.low >= down * met) & (self.high - y >= up * met)).all(axis=1)
        return np.array(
            [float(self.wide and ok and self._rounds(z)) for z, ok in zip(tables, safe, strict=True)]
        )

    def _rounds(self, z: np.ndarray) -> bool:
        """Does the ladder of this table print the same, and allow it?"""
        problem = moved(self.problem, z)
        told, total = self.publication, problem.a[self.publication.cells]
        down = told.rounded & np.isclose(total, told.upper)
        base = np.where(told.rounded, told.base, 1.0)
        printed = nearest_multiple(total, base, down)
        allowed = told.base <= self.options.maximum_relative_base * np.abs(printed)
        same = np.where(
            told.rounded, (printed == told.value) & allowed, np.where(told.exact, total == told.value, True)
        )
        return bool(same.all())


@dataclass(frozen=True)
class Replayed:
    """A table that was replayed. `loss`, `default`: of its publication, and by the default rule. `odds`: of
    each cell that is not exact, the inverse of the chance of its draw.
    """

    support: Support
    loss: float = 0.0
    default: float = 0.0
    odds: tuple[float, ...] = ()


def aware(seed: int, most: int, options: BasesOptions, x: int | None = None) -> Replayed | None:
    """What bases.rule_aware leaves; None if too many tables fit. Raises AssertionError where the
    whole program says something else.
    """
    problem = replace(drawn(seed) if x is None else pair(x), salt=Secret(seed.to_bytes(32, "big")))
    publication = publish_aware(problem, None, options)
    tables = Fitting.of(problem, publication, np.ones(int(problem.suppressed.sum()))).every(most)
    if tables is None:
        return None
    chance = Keyed(problem, publication, options).chances(tables)
    told = {z.tobytes(): each for z, each in zip(tables, chance, strict=True)}
    columns = np.flatnonzero(problem.primary[problem.suppressed])
    kept = np.flatnonzero(chance)
    ends = (
        [int(kept[side(tables[kept, column])]) for column in columns for side in (np.argmin, np.argmax)]
        if len(kept)
        else []
    )
    others = np.random.default_rng(seed).permutation(len(tables))[:CHECKED].tolist()
    for at in sorted({*ends, *others, int(np.flatnonzero((tables == 0).all(axis=1))[0])}):
        assert gives(moved(problem, tables[at]), publication, options) == bool(chance[at]), (
            f"table {seed}: the program says something else"
        )
    size = sizes_of(problem)
    odds = [
        1 / (options.removed * CellBases.of(options, float(size[k])).chance(float(publication.base[k])))
        for k in np.flatnonzero(~publication.exact).tolist()
    ]
    found = support(problem, promised(problem, ("external",)), tables, lambda z: told[z.tobytes()])
    return Replayed(found, loss_of(problem, publication), loss_of(problem, publish(problem)), tuple(odds))


def replayed(seed: int, most: int) -> Replayed | None:
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

    return Replayed(support(problem, promised(problem, ("external",)), tables, chance))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=300)
    parser.add_argument(
        "--first", type=int, default=0, help="the first random table; after 0, without those of METHOD §9"
    )
    parser.add_argument("--most", type=int, default=200)
    parser.add_argument("--aware", action="store_true")
    parser.add_argument(
        "--removed",
        type=float,
        default=0.05,
        help="with --aware: the chance that the key takes an exact figure",
    )
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    options = BasesOptions(rule_aware=True, removed=given.removed)
    every: list[Replayed] = []
    left_out: list[int] = []
    load = os.getloadavg()
    for x in NAMED if given.aware and not given.first else ():
        each = aware(x, 400, options, x)
        assert each is not None
        every.append(each)
        at = each.support
        print(
            f"x = {x}: {x + at.low[0]:.0f} to {x + at.high[0]:.0f} left of {x + at.low_fit[0]:.0f} to "
            f"{x + at.high_fit[0]:.0f}, "
            f"narrow {bool(at.narrow[0])}",
            flush=True,
        )
    replay = (
        partial(aware, most=given.most, options=options)
        if given.aware
        else partial(replayed, most=given.most)
    )
    with Pool(given.processes) as processes:
        for seed, each in enumerate(processes.imap(replay, range(given.first, MOST_SEEDS)), given.first):
            if each is None:
                left_out.append(seed)
                continue
            every.append(each)
            at = each.support
            print(
                f"{seed}: {at.tables} of {at.fit} tables, broken {at.broken.tolist()}, narrow "
                f"{at.narrow.tolist()}",
                flush=True,
            )
            if len(every) >= given.tables:
                break
        processes.terminate()
        processes.join()
    found = [each.support for each in every]
    sound = [
        (-each.low_fit >= each.down) & (each.high_fit >= each.up) for each in found
    ]  # also in whole numbers, which the audit ignores

    def count(name: str) -> int:
        return sum(int((getattr(each, name) & those).sum()) for each, those in zip(found, sound, strict=True))

    primaries, broken, narrow = sum(int(those.sum()) for those in sound), count("broken"), count("narrow")
    known = sum(int(((each.width == 0) & those).sum()) for each, those in zip(found, sound, strict=True))
    left = np.concatenate(
        [
            ((each.width + 1) / (each.high_fit - each.low_fit + 1))[those]
            for each, those in zip(found, sound, strict=True)
        ]
    )
    figures = {
        "rule": f"rule_aware, removed {given.removed}" if given.aware else "default",
        "tables": len(found),
        "first": given.first,
        "named": list(NAMED) if given.aware and not given.first else [],
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
        odds = [one for each in every for one in each.odds]
        figures |= {
            "loss_times_default": round(
                sum(each.loss for each in every) / sum(each.default for each in every), 3
            ),
            "odds_of_one_exact_figure_at_most": round(1 / (1 - given.removed), 3),
            "odds_of_one_other_cell_at_most": round(max(odds, default=1.0), 1),
            "odds_of_one_other_cell_median": round(float(np.median(odds)), 1) if odds else 1.0,
        }
    figures |= {
        "cpu_seconds": round(
            sum(resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        ),
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
