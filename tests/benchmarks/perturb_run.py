"""All frequency tables of a census hypercube, perturbed and audited for first differences.

    PYTHONPATH=tests .venv/bin/python -m benchmarks.perturb_run [--records 300000] [--rounds 1]

The hypercube has six dimensions with 9, 8, 7, 9, 9 and 14 codes: with its totals 1 080 000 cells, empty ones
too. Codes of every second dimension are drawn with geometric chances, so most cells are small. Measured are
the noise of every published cell (cell keys, the pseudo-random function, the perturbation table), the grid
that a reader sees, and one round of bounds through all its 192 kinds of differences; not the reading and
counting of the records.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from sdc_tasks.methods.perturb.audit import narrowed
from sdc_tasks.methods.perturb.counts import perturb_cells
from sdc_tasks.methods.perturb.design import NoiseDesign, design_table
from sdc_tasks.methods.perturb.grid import grid_of
from sdc_tasks.methods.perturb.keys import CellKeying
from sdc_tasks.methods.rounding.small_count import by_order, dummy_of, inner_cells
from sdc_tasks.model.secret import Secret

CODES = (9, 8, 7, 9, 9, 14)
SECRET = Secret.of_hex("5e" * 31 + "01")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--records", type=int, default=300_000)
    asked.add_argument("--rounds", type=int, default=1)
    told = asked.parse_args()
    chance = np.random.default_rng(1)
    codes = [
        chance.integers(0, size, told.records).astype(np.int32)
        if place % 2
        else np.minimum(chance.geometric(0.3, told.records) - 1, size - 1).astype(np.int32)
        for place, size in enumerate(CODES)
    ]
    columns = [(own, [f"{k:02}" for k in range(size)]) for own, size in zip(codes, CODES, strict=True)]
    cells, which = inner_cells([f"D{i}" for i in range(len(CODES))], columns, None)
    dummy = dummy_of(cells, by_order(cells, len(CODES)))
    keying, table = CellKeying.of_secret(SECRET), design_table(NoiseDesign(5, 3.0, 2)).table
    keys = keying.record_keys([str(i) for i in range(told.records)])
    began = time.perf_counter()
    perturbed = perturb_cells(dummy, keying.summed(which, keys, len(cells)), keying, table)
    noise = time.perf_counter()
    grid = grid_of(dummy, perturbed.published)
    seen = time.perf_counter()
    bounds = narrowed(grid, table, told.rounds)
    ended = time.perf_counter()
    size = len(grid.published)
    for name, seconds in (("noise", noise - began), ("grid", seen - noise), ("audit", ended - seen)):
        print(f"{name:6} {seconds:7.3f} s  {1e6 * seconds / size:6.3f} µs a cell")
    print(f"whole  {ended - began:7.3f} s  {1e6 * (ended - began) / size:6.3f} µs a cell, {size} cells")
    print(f"told exactly: {int(bounds.told.sum())} cells, after {bounds.rounds} rounds")
    print(f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
