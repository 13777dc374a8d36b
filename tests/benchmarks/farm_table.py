"""A synthetic table like Eurostat's farm statistics: region × type of farming × labour × economic
size, 792 120 cells with all totals.

    PYTHONPATH=tests .venv/bin/python -m benchmarks.farm_table FARMS.csv      # the table for
    `sdc suppress`, with its code lists

The real tables are confidential, so the farms are drawn, from a fixed seed: 9 million of them, as in the EU.
What matters for protection is chosen after what is published about such tables:

- Region and type of farming are hierarchies of three levels; classes of labour and of economic size
  add up to their total directly.
- Farms are spread unevenly: some farming is at home in some regions, large farms have many workers, most
  farms have few. So some cells hold
  hundreds of farms, many hold a few or none. How unevenly is a choice: with a narrower band of labour and
  size (`BAND` 0.115) 39 % of the
  cells are empty, and totals are primary too; such a table needs more secondaries.
- Standard output is lognormal around what its size class says, so that in small cells one farm is often
  larger than all others together.
- A cell is primary if fewer than three farms contribute, or by the p% rule with p = 10. Both follow from
  the farms themselves; totals are
  judged like inner cells. About a twelfth of all cells become primary, two fifths of them with one farm.
- The attackers are outsiders. With `singletons` all farms that are alone in a cell attack as well; who
  they are is known from the farms. A
  total that holds only one farm is then his too, and a level protects the largest farm of a cell.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sdc_tasks.methods.contributions import ContributionRules, Contributions, levels, usual_of
from sdc_tasks.model.grid import grid_of
from sdc_tasks.model.respondents import NOBODY
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, CellSpace, Floats, Hierarchy, Ints, inside

FARMS = 9e6
RULES = ContributionRules(p=10.0, minimum=3)
AT_HOME, OF_CELLS = (
    0.4,
    0.1,
)  # deviations of the logarithm of the expected number: of regions and types together, of cells
BAND, FEWER = 0.5, 1.5  # how far labour strays from size; how much fewer farms there are with much labour
OUTPUT = 0.9  # deviation of the logarithm of standard output within a cell


def tree(name: str, groups: Sequence[int]) -> Hierarchy:
    """A total, its groups, and so many codes in each group; without groups below it, a group is a code itself
    (0).
    """
    tops = [f"{name[0]}{group:02}" for group in range(len(groups))]
    inner = [f"{top}.{part:02}" for top, size in zip(tops, groups, strict=True) for part in range(size)]
    return Hierarchy(
        name,
        ("TOTAL", *tops, *inner),
        (None, *["TOTAL"] * len(tops), *(code.partition(".")[0] for code in inner)),
    )


LARGE = (
    tree("REGION", [9] * 4),
    tree("TYPE", [12] * 3),
    tree("LABOUR", [0] * 22),
    tree("SIZE", [0] * 20),
)  # 41 × 40 × 23 × 21
MIDDLE = (
    tree("REGION", [4] * 3),
    tree("TYPE", [6] * 2),
    tree("LABOUR", [0] * 9),
    tree("SIZE", [0] * 8),
)  # 16 × 15 × 10 × 9


@dataclass(frozen=True)
class FarmTable:
    """The table. `count` (n): farms in each cell."""

    axes: tuple[Hierarchy, ...]
    problem: SensitiveTable
    count: Ints = field(repr=False)


def farm_table(
    axes: tuple[Hierarchy, ...] = LARGE, farms: float = FARMS, seed: int = 2020, singletons: bool = False
) -> FarmTable:
    rng = np.random.default_rng(seed)
    shape = tuple(len(axis.codes) for axis in axes)
    leaves = np.flatnonzero(inside(axes))
    expected = _expected([len(axis.codes) - len(axis.families) for axis in axes], farms, rng)
    home = np.repeat(leaves, rng.poisson(expected))  # of each farm: its inner cell
    size_class = np.unravel_index(home, shape)[-1]
    output = np.maximum(
        np.round(np.exp(8.0 + 0.35 * (size_class - shape[-1] / 2) + OUTPUT * rng.standard_normal(len(home)))),
        1.0,
    )
    cells = _contributions(axes, home, output)
    level = np.max(list(levels(cells, RULES).values()), axis=0)
    primary, a, n = level > 0, cells.size, len(cells.size)
    farm = cells.respondent if singletons else np.full(n, NOBODY)

    def label(cell: int) -> str:
        return ".".join(axis.codes[i] for axis, i in zip(axes, np.unravel_index(cell, shape), strict=True))

    M = CellSpace(("table",), (), ("value",), axes).national_relations
    none = np.zeros(n)
    problem = SensitiveTable(
        M,
        a,
        none,
        none + np.inf,
        level,
        level,
        none,
        cost=a,
        primary=primary,
        fixed=a == 0,
        singleton=primary & (farm != NOBODY),
        label=label,
        grid=grid_of(axes),
        respondent=np.where(primary, farm, NOBODY),
        guarded=cells.protected if singletons else None,
        count=cells.count.astype(float),
    )
    return FarmTable(axes, problem, cells.count)


def _expected(inner: Sequence[int], farms: float, rng: np.random.Generator) -> Floats:
    """(inner cells): how many farms each holds on average."""
    regions, types, labour, sizes = inner
    spread = AT_HOME * rng.standard_normal((regions, types, 1, 1)) + 0.5 * rng.standard_normal(
        (regions, 1, 1, 1)
    )
    spread = (
        spread
        + 0.5 * rng.standard_normal((1, types, 1, sizes))
        + OF_CELLS * rng.standard_normal((regions, types, labour, sizes))
    )
    workers, size = (np.arange(labour) + 0.5) / labour, (np.arange(sizes) + 0.5) / sizes
    spread = spread - (workers[:, None] - size) ** 2 / (2 * BAND**2) - FEWER * workers[:, None]
    weight = np.exp(spread).ravel()
    return np.asarray(farms * weight / weight.sum())


def _contributions(axes: Sequence[Hierarchy], home: Ints, output: Floats) -> Contributions:
    """What every cell is made of: of inner cells the farms themselves; of totals what their parts hold."""
    shape = tuple(len(axis.codes) for axis in axes)
    n = int(np.prod(shape))
    order = np.lexsort((np.arange(len(home)), -output, home))  # numbers of farms settle ties
    where, first = np.unique(home[order], return_index=True)
    count = np.bincount(home, minlength=n)
    size = np.bincount(home, weights=output, minlength=n)
    top, farm = np.zeros((2, n)), np.full(n, NOBODY)
    top[0, where], farm[where] = output[order][first], order[first]
    second = first[count[where] > 1] + 1
    top[1, home[order][second]] = output[order][second]
    whole = [each.reshape(shape) for each in (count, size, top[0], top[1], farm)]
    for axis, hierarchy in enumerate(axes):
        lines = [np.moveaxis(each, axis, 0) for each in whole]
        for total, parts in sorted(hierarchy.families, key=lambda family: -hierarchy.depth[family[0]]):
            mine = [each[list(parts)] for each in lines]
            lines[0][total], lines[1][total] = mine[0].sum(axis=0), mine[1].sum(axis=0)
            largest = np.argmax(mine[2], axis=0)[None]
            lines[2][total] = np.take_along_axis(mine[2], largest, axis=0)[0]
            lines[4][total] = np.take_along_axis(mine[4], largest, axis=0)[0]
            np.put_along_axis(mine[2], largest, np.take_along_axis(mine[3], largest, axis=0), axis=0)
            lines[3][total] = mine[2].max(axis=0)
    count, size, first_size, second_size, farm = (each.ravel() for each in whole)
    waived: Bools = np.zeros((n, RULES.most), dtype=bool)
    return Contributions(
        size,
        count,
        np.column_stack([first_size, second_size]),
        first_size,
        waived,
        np.zeros(n, dtype=bool),
        np.zeros(n),
        np.where(count == 1, farm, NOBODY),
        farm,
        usual_of(output),
        np.zeros((0, n)),
        np.zeros((0, n), dtype=np.int64),
    )


def main(place: Path) -> None:
    """Writes the table, and a code list of each dimension beside it."""
    table = farm_table()
    problem = table.problem
    for axis in table.axes:
        with place.with_name(f"{axis.dimension}.csv").open("w", newline="") as file:
            csv.writer(file).writerows(
                [
                    ("code", "parent"),
                    *((code, parent or "") for code, parent in zip(axis.codes, axis.parent, strict=True)),
                ]
            )
    at = np.unravel_index(np.arange(len(problem.a)), [len(axis.codes) for axis in table.axes])
    codes = [np.array(axis.codes)[each].tolist() for axis, each in zip(table.axes, at, strict=True)]
    with place.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(axis.dimension for axis in table.axes), "VALUE", "STATUS", "LPL", "UPL", "COUNT"])
        status = np.where(problem.primary, "u", np.where(problem.fixed, "z", "s"))
        columns = (problem.a, status, problem.lpl, problem.upl, table.count)
        writer.writerows(zip(*codes, *(column.tolist() for column in columns), strict=True))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
