"""The CTA objective and its weights, and those of the loss by rounding ([1] §4 and §5): the cost of
one unit of uncertainty in a cell.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import CellSpace, Floats


class Distance(StrEnum):
    """What an adjustment minimises, for deviations z and weights w. L1: Σ w|z|. L2: Σ w z²."""

    L1 = "l1"
    L2 = "l2"


class Weights(StrEnum):
    """one: 1. inverse: 1/a. inverse_sqrt: 1/√a. depth: 1/a^(1/γ_i) with γ_i = γ + depth
    of the cell in its hierarchies.
    """

    ONE = "one"
    INVERSE = "inverse"
    INVERSE_SQRT = "inverse_sqrt"
    DEPTH = "depth"


def aggregate_weights(problem: ProtectionProblem, weights: Weights, gamma: float = 2.0) -> Floats:
    """(aggregate cells,): the weight w of every aggregate cell, in cell order."""
    space = problem.space
    return weights_of(
        problem.a[problem.aggregate], weights, np.tile(depth_of(space), len(space.aggregates)), gamma
    )


def weights_of(a: Floats, weights: Weights, depth: Floats | float = 0.0, gamma: float = 2.0) -> Floats:
    """The weights w of cells with the values a, at that depth; shape of `a`. A value below one unit
    counts as one unit, which bounds w.
    """
    size = np.maximum(np.abs(a), 1.0)
    match weights:
        case Weights.ONE:
            return np.ones_like(size)
        case Weights.INVERSE:
            return 1.0 / size
        case Weights.INVERSE_SQRT:
            return 1.0 / np.sqrt(size)
        case Weights.DEPTH:
            return np.asarray(size ** (-1.0 / (gamma + depth)))


def depth_of(space: CellSpace) -> Floats:
    """(national_size,): depth of every cell of one area, the steps from the root summed over the
    hierarchies.
    """
    depth = np.zeros(space.national_shape)
    for axis, hierarchy in enumerate(space.hierarchies, start=1):
        steps = np.array(hierarchy.depth, dtype=float)
        depth += steps.reshape([-1 if k == axis else 1 for k in range(depth.ndim)])
    return depth.ravel()
