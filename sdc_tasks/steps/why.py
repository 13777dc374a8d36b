"""Why a cell of a release is not exact. It reads the confidential results of the release's steps."""

from __future__ import annotations

from sqlalchemy import Engine

from sdc_tasks.confidential import keeps_to_itself
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.attack import Requirements
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.releases.why import Why, why_not_exact
from sdc_tasks.steps.memory import load_from


@keeps_to_itself
def why(engine: Engine, release_id: str, cell: str) -> Why:
    """Which attack keeps an aggregate cell from being exact, through whose cells, and what
    would free it; keys, no values.

    Raises InvalidInput where the release was not decided, its confidential content was
    purged, or it has no such cell.
    """
    problem = load_from(engine, release_id, "assemble", ProtectionProblem)
    requirements = load_from(engine, release_id, "baseline", Requirements)
    publication = load_from(engine, release_id, "bases", Publication)
    place = next((int(each) for each in publication.cells if problem.space.key(int(each)) == cell), None)
    if place is None:
        raise InvalidInput(
            f"release {release_id} has no cell {cell}; a cell is written as in audit.json, such as "
            f"EU.TURNOVER.TOTAL._T"
        )
    return why_not_exact(problem, requirements, publication, place)
