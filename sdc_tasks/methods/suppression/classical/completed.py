"""A published method that judges parts of a table: what it leaves at risk is told, and cells are
added until the whole table is safe.

Nothing that the method hides is opened again, so that its cost can be compared with what offices get from it.
"""

from __future__ import annotations

from sdc_tasks.errors import InvalidInput
from sdc_tasks.judge.pattern import verify
from sdc_tasks.methods.suppression.covering.cover import Cover, LinearDirections
from sdc_tasks.methods.suppression.covering.patterns import Patterns
from sdc_tasks.methods.suppression.paths import PathDirections
from sdc_tasks.methods.suppression.pattern.attackers import attackers_of
from sdc_tasks.methods.suppression.pattern.presolve import presolve
from sdc_tasks.methods.suppression.pattern.result import Uncompleted
from sdc_tasks.methods.suppression.pattern.run import SuppressionRun
from sdc_tasks.model.grid import Grid, recognised
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools


def grid_for(problem: SensitiveTable, method: str) -> Grid:
    """The dimensions of a problem: those it came with, else those that its relations tell. Raises
    InvalidInput if they tell none.
    """
    grid = problem.grid or recognised(problem.M)
    if grid is None:
        raise InvalidInput(
            f"{method}: this method needs the dimensions of a table with one tree of codes each, and the "
            f"relations of this one are not those of crossed hierarchies. Remedy: give the table as CSV or "
            f"Parquet with --dims and one --hierarchy for each, or choose method auto, exact or cover"
        )
    return grid


def complete(run: SuppressionRun, alone: Bools, seed: int, method: str, finished: bool = True) -> str:
    """Offers `alone` (n) with the cells that are added to it until it is safe; returns "work" or "time".

    Tells the run the cost and the risk of `alone`, if the method `finished`: what it has before says nothing
    about it. Raises Unprotectable if no pattern is safe.
    """
    problem = run.problem
    finished = finished and run.left > 0
    method = method if finished else f"{method}, ended early"
    verdict = verify(problem, alone)
    if finished:
        run.uncompleted = Uncompleted(problem.cost_of(alone), verdict.unprotected)
    if verdict.safe:
        run.offer(alone, method)
        return "work"
    table = presolve(problem)
    directions = PathDirections if table.network else LinearDirections
    patterns = Patterns(run, table, attackers_of(table), seed, directions)
    patterns.hide_everything()
    grown = Cover(table, directions).grown(table.classes(alone), table.cost, run.over)
    if grown is not None:
        run.offer(alone | table.pattern(grown, problem), f"{method}, completed")
    return "time" if run.left <= 0 else "work"
