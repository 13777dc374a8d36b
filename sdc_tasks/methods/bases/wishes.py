"""Wishes of a domain for single aggregate cells: which must be exact or published, and which cost more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.bases.options import CellRule
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Bools, Floats


@dataclass(frozen=True)
class Wishes:
    """For every aggregate cell, in cell order: whether it must be `exact`, whether it must be
    `published`, and its `cost` factor.
    """

    exact: Bools = field(repr=False)
    published: Bools = field(repr=False)
    cost: Floats = field(repr=False)


def wishes_of(problem: ProtectionProblem, rules: Sequence[CellRule]) -> Wishes:
    """The wishes of all rules for the aggregate cells of a problem; costs multiply. A cell with a member that
    is not available is withheld: it can be neither exact nor published.
    """
    possible = ~problem.withheld[problem.aggregate]
    exact, published, cost = (
        np.zeros(len(possible), dtype=bool),
        np.zeros(len(possible), dtype=bool),
        np.ones(len(possible)),
    )
    for rule, fits in zip(rules, _fitting(problem, rules), strict=True):
        exact |= fits & (rule.must == "exact")
        published |= fits & (rule.must is not None)
        cost *= np.where(fits, rule.cost, 1.0)
    return Wishes(exact & possible, published & possible, cost)


def require_fitting(problem: ProtectionProblem, rules: Sequence[CellRule]) -> None:
    """Raises InvalidInput for a pattern that fits no aggregate cell."""
    for rule, fits in zip(rules, _fitting(problem, rules), strict=True):
        if not fits.any():
            example = problem.space.key(problem.space.first_aggregate)
            raise InvalidInput(
                f"bases.cells: {rule.cells} fits no aggregate cell. Remedy: write it as a key, such as "
                f"{example}, with * for any"
            )


def _fitting(problem: ProtectionProblem, rules: Sequence[CellRule]) -> list[Bools]:
    """For each rule, the aggregate cells that its pattern fits."""
    keys = [problem.space.key(int(cell)) for cell in np.flatnonzero(problem.aggregate)] if rules else []
    return [np.array([fnmatchcase(key, rule.cells) for key in keys]) for rule in rules]
