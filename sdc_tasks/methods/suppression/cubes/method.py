"""The method `cubes`: hypercubes through all levels, each a witness; linear programs only for a
primary that no hypercube protects.
"""

from __future__ import annotations

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.suppression.classical.completed import grid_for
from sdc_tasks.methods.suppression.covering.cover import Cover, LinearDirections
from sdc_tasks.methods.suppression.covering.patterns import Patterns
from sdc_tasks.methods.suppression.cubes.search import CubeSearch
from sdc_tasks.methods.suppression.paths import PathDirections
from sdc_tasks.methods.suppression.pattern.attackers import attackers_of
from sdc_tasks.methods.suppression.pattern.presolve import presolve
from sdc_tasks.methods.suppression.pattern.run import SuppressionRun
from sdc_tasks.model.grid import Grid, recognised
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Ints

ROUNDS = 2  # in which primaries choose anew
MOST_PROGRAMMED = 50_000  # cells of a table for which linear programs of the whole table are written down
MOST_NAMED = 5  # cells in a message
MOST_EXACT = 12_000  # cells of a table that is no network up to which `auto` is the exact method


def large_grid(problem: SensitiveTable) -> Grid | None:
    """The dimensions of a table that is so large, and so crossed, that hypercubes are the way
    to a pattern; None for any other.
    """
    if len(problem.a) <= MOST_EXACT:
        return None
    grid = problem.grid or recognised(problem.M)
    if grid is None:
        return None
    crossed = [families for size, families in zip(grid.sizes, grid.families, strict=True) if size > 1]
    return grid if len(crossed) > 2 or sum(len(families) > 1 for families in crossed) > 1 else None


def cubes(run: SuppressionRun, seed: int = 1, grid: Grid | None = None) -> str:
    """Offers a first pattern and cheaper ones; returns "work" or "time". Raises InvalidInput if the table has
    no dimensions that are known, or is too large for linear programs and has primaries without a hypercube;
    Unprotectable if no pattern is safe.
    """
    problem = run.problem

    def tell(what: str) -> None:
        run.doing = f"hypercubes for {what}"

    search = CubeSearch(problem, grid or grid_for(problem, "cubes"), tell, lambda: run.left <= 0)
    search.cover()
    if len(left := search.lacking()):
        run.doing = f"{len(left)} primaries without a hypercube"
        if run.left <= 0:
            return "time"
        if len(problem.a) > MOST_PROGRAMMED:
            raise InvalidInput(_without(problem, left))
        _completed(run, search, seed)
        return "time" if run.left <= 0 else "work"
    run.doing = "verifying"
    run.offer(search.hidden, "hypercubes", witnesses=search.witnesses())
    for _ in range(ROUNDS):
        if run.over():
            break
        before = search.hidden.copy()
        search.improve()
        if np.array_equal(before, search.hidden):
            break
        run.doing = "verifying"
        run.offer(search.hidden, "hypercubes, chosen anew", witnesses=search.witnesses())
    run.doing = ""
    return "time" if run.left <= 0 else "work"


def _without(problem: SensitiveTable, left: Ints) -> str:
    named = ", ".join(problem.name(cell) for cell in left[:MOST_NAMED]) + (
        ", …" if len(left) > MOST_NAMED else ""
    )
    return (
        f"{len(left)} of {len(problem.primaries)} primary cells have no hypercube, and {len(problem.a)} "
        f"cells are too many for linear "
        f"programs: {named}. Remedy: join their codes with others (sdc recode), or give another method, "
        f"which may take days"
    )


def _completed(run: SuppressionRun, search: CubeSearch, seed: int) -> None:
    """Offers what the hypercubes hide with what linear programs add for the rest. Raises
    Unprotectable if no pattern is safe.
    """
    problem, table = run.problem, presolve(run.problem)
    directions = PathDirections if table.network else LinearDirections
    Patterns(run, table, attackers_of(table), seed, directions).hide_everything()
    grown = Cover(table, directions).grown(table.classes(search.hidden), table.cost, run.over)
    if grown is not None:
        run.offer(
            search.hidden | table.pattern(grown, problem),
            "hypercubes and linear programs",
            witnesses=search.witnesses(),
        )
