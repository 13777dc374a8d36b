"""Weights of the CTA objective and of the loss by rounding ([1] §4 and §5): what a unit of uncertainty in a cell costs."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Floats


class Weights(StrEnum):
    """one: 1. inverse: 1/a. inverse_sqrt: 1/√a. depth: 1/a^(1/γ_i) with γ_i = γ + depth of the cell in its hierarchies."""

    ONE = "one"
    INVERSE = "inverse"
    INVERSE_SQRT = "inverse_sqrt"
    DEPTH = "depth"


def aggregate_weights(problem: ProtectionProblem, weights: Weights, gamma: float = 2.0) -> Floats:
    """w of every aggregate cell, in cell order. A value below one unit counts as one unit, so that no weight explodes."""
    a = np.maximum(np.abs(problem.a[problem.aggregate]), 1.0)
    match weights:
        case Weights.ONE:
            return np.ones_like(a)
        case Weights.INVERSE:
            return 1.0 / a
        case Weights.INVERSE_SQRT:
            return 1.0 / np.sqrt(a)
        case Weights.DEPTH:
            return a ** (-1.0 / (gamma + _depth(problem)))


def _depth(problem: ProtectionProblem) -> Floats:
    """Depth of every aggregate cell: the steps from the root, summed over the hierarchies."""
    space = problem.space
    depth = np.zeros(space.national_shape)
    for axis, hierarchy in enumerate(space.hierarchies, start=1):
        shape = [1] * depth.ndim
        shape[axis] = -1
        depth = depth + np.array(hierarchy.depth, dtype=float).reshape(shape)
    return np.tile(depth.ravel(), len(space.aggregates))
