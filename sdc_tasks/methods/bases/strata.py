"""One base for each stratum, because the choice of a base also tells something (METHOD §4).

If the base of a cell is the smallest safe one, somebody who knows the rule learns that a smaller base would
have failed for *this* cell. If all cells of a stratum share the base, he learns only that it would have
failed for one of them. The domain file defines the strata: cells of one composition and one indicator, and of
one level or one code of a hierarchy, such as activity by level and size class by code.

Cells that anybody can add up from public countries, and cells that the domain wants exact, are in no stratum.
Each cell is withheld alone: a cell for which the base of its stratum is too coarse is withheld.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Bools, Ints

By = Literal["level", "code"]


def strata_of(problem: ProtectionProblem, by: Mapping[str, By], exact: Bools) -> Ints:
    """The stratum of each aggregate cell; −1 for a cell in no stratum. `by`: hierarchy → whether its
    levels or its codes separate strata.

    Raises InvalidInput for a name that is no hierarchy.
    """
    space = problem.space
    if unknown := sorted(set(by) - {hierarchy.dimension for hierarchy in space.hierarchies}):
        raise InvalidInput(
            f"bases.strata: {', '.join(unknown)} is no hierarchy of the domain. "
            f"Remedy: use {', '.join(hierarchy.dimension for hierarchy in space.hierarchies)}"
        )
    axes = [np.arange(len(space.aggregates)), np.arange(len(space.indicators))]
    for hierarchy in space.hierarchies:
        match by.get(hierarchy.dimension):
            case "level":
                axes.append(np.array(hierarchy.depth))
            case "code":
                axes.append(np.arange(len(hierarchy.codes)))
            case None:
                axes.append(np.zeros(len(hierarchy.codes), dtype=np.int64))
    keys = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    number = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    return np.where(hides_something(problem) & ~exact, number, -1)


def hides_something(problem: ProtectionProblem) -> Bools:
    """Aggregate cells with a member that is not public."""
    space = problem.space
    secret = problem.suppressed[: space.first_aggregate].reshape(len(space.countries), -1)
    position = {country: i for i, country in enumerate(space.countries)}
    members = [[position[member] for member in aggregate.members] for aggregate in space.aggregates]
    return np.concatenate([secret[rows].any(axis=0) for rows in members])
