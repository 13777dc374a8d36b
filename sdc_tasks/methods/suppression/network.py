"""Which tables are networks, and cell suppression by minimum-cost flows in them ([2] §2.2, §4.2;
Kelly et al. 1992, Castro 2002).

The relations are nodes and the cells arcs; what a primary needs is sent through its arc and back on the
cheapest way. The program that `cover` solves for a primary is exactly this flow where the table is a network:
the same costs, of which hidden cells have none, and the same limits. It tries one flow for both sides first,
then one for each side. So `network` is `cover`, for networks alone.
"""

from __future__ import annotations

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.suppression.covering.patterns import cover
from sdc_tasks.methods.suppression.pattern.presolve import ReducedProblem, presolve
from sdc_tasks.methods.suppression.pattern.run import SuppressionRun
from sdc_tasks.model.sensitive import SensitiveTable


def minimum_cost_flows(run: SuppressionRun, seed: int = 1) -> str:
    """Offers patterns to the run; returns "work" or "time". Raises InvalidInput if this is no
    network, Unprotectable if none is safe.
    """
    return cover(run, seed, network_of(run.problem, "network"))


def network_of(problem: SensitiveTable, method: str) -> ReducedProblem:
    """The reduced problem of a table that is a network. Raises InvalidInput, with a method to
    choose instead, for any other table.
    """
    table = presolve(problem)
    if not table.network:
        raise InvalidInput(
            f"{method}: the relations of this table are no network; those of two-dimensional tables, with "
            f"one hierarchy at most, are. "
            "Remedy: choose method auto, exact or cover"
        )
    return table
