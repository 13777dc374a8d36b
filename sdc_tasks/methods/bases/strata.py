"""One base for each stratum: the answer to what the choice of a base itself says (METHOD §4).

A base chosen as the smallest that works tells somebody who knows the rule that a smaller one would have failed for *this* cell. Where all
cells of a stratum share it, it only tells that it would have failed for one of them. A stratum is all that a domain calls alike: cells
of one composition and one indicator, of one level of a hierarchy or one of its codes, such as activity by level and size class by code.

Cells that anybody can add up from public countries, and those that the domain wants exact, stay out of it. Withholding stays a matter
of the single cell: a cell for which the base of its stratum is too coarse to be published is withheld.
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
    """The stratum of each aggregate cell, −1 for those in none, from the hierarchies that tell strata apart and how they do.

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
    return np.where(_hides_something(problem) & ~exact, number, -1)


def _hides_something(problem: ProtectionProblem) -> Bools:
    """Aggregate cells with a member that is not public."""
    space = problem.space
    secret = problem.suppressed[: space.first_aggregate].reshape(len(space.countries), -1)
    position = {country: i for i, country in enumerate(space.countries)}
    members = [[position[member] for member in aggregate.members] for aggregate in space.aggregates]
    return np.concatenate([secret[rows].any(axis=0) for rows in members])
