"""The tables of `make bench-suppression`: files that are not part of this project, and tables that are made
here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.farm_table import farm_table
from benchmarks.registry import HERE
from sdc_tasks.demo.enterprises import Economy, microtables
from sdc_tasks.demo.shape import write_domain
from sdc_tasks.domains import load_domain
from sdc_tasks.intake.tables.jj import read_jj
from sdc_tasks.intake.tables.suppression import suppression_of
from sdc_tasks.methods.primary import sensitive
from sdc_tasks.model.grid import grid_of
from sdc_tasks.model.sensitive import SensitiveTable

P_PERCENT, FEWEST = 10.0, 3  # a cell is primary by the p% rule, or with fewer units
DATA = HERE.parents[2] / "shared/data/jj"
FILES = {
    "tw_Var1": DATA / "tw_Var1_one.jj.gz",
    **{
        name: DATA / f"castro/{name}.jj.gz"
        for name in ("dale", "osorio", "hie1327d", "hier13", "hier133a", "two5in6", "ninenew")
    },
}


def national(activities: int = 1200) -> SensitiveTable:
    """The table of the first country of the demonstration, with ten times as many activities;
    levels of a tenth of the value.
    """
    with tempfile.TemporaryDirectory() as folder:
        domain = load_domain(write_domain(Path(folder), 27, activities, 5))
    axes = (domain.space.hierarchies[0], domain.space.hierarchies[1])
    table = microtables(Economy(seed=1), 0, domain.space.areas[0], axes)["TURNOVER"]
    primary = sensitive(
        *(each.ravel() for each in (table.x1, table.x2, table.value, table.units)), P_PERCENT, FEWEST
    )
    a = table.value.ravel().astype(float)
    none, level = np.zeros(len(a)), np.where(primary, 0.1 * a, 0.0)
    return SensitiveTable(
        domain.space.national_relations,
        a,
        none,
        none + np.inf,
        level,
        level,
        none,
        cost=a,
        primary=primary,
        fixed=a == 0,
        grid=grid_of(axes),
    )


def _from_file(path: Path) -> SensitiveTable:
    return suppression_of(read_jj(path))


TABLES: Mapping[str, Callable[[], SensitiveTable]] = {
    **{name: partial(_from_file, path) for name, path in FILES.items()},
    "national": national,
    "farms": lambda: farm_table().problem,
}
LARGE = {"farms"}  # only when asked for, and only by the method for large tables


def absent(name: str) -> bool:
    """Whether the file of a table is not here."""
    return name in FILES and not FILES[name].is_file()
