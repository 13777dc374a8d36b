"""Is a publication wide (METHOD §9, Theorem 4)? By cold linear programs of scipy, two for each primary and
polytope; it shares no code with the program. For one hierarchy of totals and their parts, levels of a
percentage, and primaries that the national tables protect.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication

NOISE = 1e-6


class Oracle:
    """The tables that fit a publication, and those that pass the audit; in the values of the
    hidden cells, unit of the data.
    """

    def __init__(self, problem: ProtectionProblem, publication: Publication, share: float) -> None:
        space, known = problem.space, np.where(problem.public, problem.a, 0.0)
        first, self.share = space.first_aggregate, share
        self.hidden = np.flatnonzero(problem.suppressed)
        self.columns = np.searchsorted(self.hidden, np.flatnonzero(problem.primary))
        inside = space.relations[: space.relations.shape[0] - space.aggregate_relations.shape[0]].toarray()
        members = space.aggregate_relations.toarray()[:, :first]
        self.equal, self.sums = inside[:, self.hidden], -(inside @ known)
        self.rows, rest = members[:, self.hidden], members @ known[:first]
        self.low, self.high = publication.lower - rest, publication.upper - rest
        self.free = [(0.0, None)] * len(self.hidden)

    def end(
        self, column: int, side: float, bounds: list[tuple[float, float | None]], published: bool = True
    ) -> float | None:
        """The largest (side 1) or least (−1) value of a hidden cell; None if nothing fits."""
        rows, least = np.vstack([self.rows, -self.rows]), np.concatenate([self.high, -self.low])
        told = np.isfinite(least) & (np.abs(rows).sum(axis=1) > 0) & published
        cost = np.zeros(len(self.hidden))
        cost[column] = -side
        found = linprog(
            cost, A_ub=rows[told], b_ub=least[told], A_eq=self.equal, b_eq=self.sums, bounds=bounds
        )
        return -side * found.fun if found.status == 0 else None

    def passing(self) -> list[tuple[float, float | None]]:
        """The bounds of the hidden cells in the tables that pass the audit."""
        bounds = list(self.free)
        for column in self.columns.tolist():
            low, high = self.end(column, -1, self.free), self.end(column, 1, self.free)
            least, most = self.end(column, -1, self.free, False), self.end(column, 1, self.free, False)
            assert None not in (low, high, least, most)
            bounds[column] = (
                low / (1 - self.share) if low > least + NOISE else 0.0,
                high / (1 + self.share) if high < most - NOISE else None,
            )
        return bounds

    def wide(self) -> bool:
        """Do the tables that pass leave each primary both its levels together, whatever its value
        among them?
        """
        bounds = self.passing()
        for column in self.columns.tolist():
            low, high = self.end(column, -1, bounds), self.end(column, 1, bounds)
            if low is None or high is None:
                return False
            most = self.end(column, 1, self.free, False)
            dearest = min(
                high, most / (1 + self.share)
            )  # above it the national tables leave less than a level, and less is asked
            if high - low < self.share * dearest + min(self.share * dearest, most - dearest) - NOISE:
                return False
        return True

    def passes(self, problem: ProtectionProblem) -> bool:
        """Does the publication pass the audit for these true values?"""
        return all(
            (low <= value + NOISE) and (high is None or value <= high + NOISE)
            for value, (low, high) in zip(problem.a[self.hidden], self.passing(), strict=True)
        )
