"""The tables that fit a publication, from public figures alone (METHOD §9)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.solver.lp import LiveLP, Status

ENDS_PASSES = 10  # over all relations


@dataclass(frozen=True, repr=False)
class Public:
    """The tables x that fit a publication, from public figures: `row_lower ≤ A x ≤ row_upper`,
    `lower ≤ x ≤ upper`, over the suppressed cells, in `unit`s. `decided` (rows,): the position of
    the aggregate cell in the publication, −1 for a relation of a national table. `problem`: the problem
    with 0 in its hidden cells.
    """

    problem: ProtectionProblem
    cells: Ints
    A: sp.csr_array
    row_lower: Floats
    row_upper: Floats
    decided: Ints
    unit: float

    @classmethod
    def of(cls, problem: ProtectionProblem, publication: Publication) -> Public:
        space, cells = problem.space, np.flatnonzero(problem.suppressed)
        known = np.where(problem.public, problem.a, 0.0)
        inside = space.relations.shape[0] - space.aggregate_relations.shape[0]
        national = sp.csr_array(space.relations[:inside])
        members = sp.csr_array(space.aggregate_relations[:, : space.first_aggregate])
        rows = sp.csr_array(
            sp.vstack([sp.csc_array(national)[:, cells], sp.csc_array(members)[:, cells]], format="csr")
        )
        at = publication.cells - space.first_aggregate
        lower, upper = np.full(members.shape[0], -np.inf), np.full(members.shape[0], np.inf)
        lower[at], upper[at] = publication.lower, publication.upper
        decided = np.full(inside + members.shape[0], -1)
        decided[inside + at] = np.arange(len(at))
        sums = members @ known[: space.first_aggregate]
        fixed = -(national @ known)
        kept = np.flatnonzero(np.diff(rows.indptr) > 0)
        low, high = np.concatenate([fixed, lower - sums])[kept], np.concatenate([fixed, upper - sums])[kept]
        size = np.abs(low[np.isfinite(low)])
        unit = float(2.0 ** np.round(np.log2(np.median(size[size > 0])))) if (size > 0).any() else 1.0
        public_problem = replace(
            problem, a=known, lpl=np.zeros(space.size), upl=np.zeros(space.size), spl=np.zeros(space.size),
            lb=np.minimum(problem.lb, known), known=np.full(space.size, np.nan), deliveries=(), levels=None,
        )  # fmt: skip
        return cls(
            public_problem, cells, sp.csr_array(rows[kept]), low / unit, high / unit, decided[kept], unit
        )

    def among(self, cells: Ints) -> tuple[Floats, Floats]:
        """(lower, upper) bounds of some suppressed cells, from one relation after the
        other, in the unit of the data.
        """
        at = np.searchsorted(self.cells, cells)
        return self._box[0][at] * self.unit, self._box[1][at] * self.unit

    @cached_property
    def _box(self) -> tuple[Floats, Floats]:
        lower, upper = self.problem.lb[self.cells] / self.unit, np.full(len(self.cells), np.inf)
        by_row = sp.csr_array(self.A)
        row, cell, plus = (
            np.repeat(np.arange(by_row.shape[0]), np.diff(by_row.indptr)),
            by_row.indices,
            by_row.data > 0,
        )
        for _ in range(ENDS_PASSES):
            before = lower, upper
            least, most = np.where(plus, lower[cell], -upper[cell]), np.where(plus, upper[cell], -lower[cell])
            up, down = self.row_upper[row] - _others(row, least), self.row_lower[row] - _others(row, most)
            lower, upper = lower.copy(), upper.copy()
            np.minimum.at(upper, cell, np.where(plus, up, -down))
            np.maximum.at(lower, cell, np.where(plus, down, -up))
            if np.array_equal(before[0], lower) and np.array_equal(before[1], upper):
                break
        return lower, upper

    def middle(self, bounds: tuple[Ints, Floats, Floats] | None = None) -> ProtectionProblem | None:
        """The problem with a table in the middle of those that fit, within further `bounds` (cells,
        lower, upper); None if there is none.

        It is the mean of two: a table in which as many cells as possible are a share of their range above its
        lower end, and an interior point, in which a solver may set cells to an end. The share is what each
        cell of its longest relation can have at once, halved.
        """
        lower, upper = self.problem.lb[self.cells] / self.unit, np.full(len(self.cells), np.inf)
        if bounds is not None:
            column = np.searchsorted(self.cells, bounds[0])
            lower[column], upper[column] = (
                np.maximum(lower[column], bounds[1] / self.unit),
                bounds[2] / self.unit,
            )
        least, most = np.maximum(lower, self._box[0]), np.minimum(upper, self._box[1])
        span = np.where(np.isfinite(most), np.maximum(most - least, 0.0), 1.0) / (2 * self._together)
        start = np.minimum(least, upper)
        off = self.A @ start
        twice = sp.csr_array(sp.hstack([self.A, self.A]))
        cost = np.concatenate(
            [np.where(span > 0, -1 / np.where(span > 0, span, 1.0), 0.0), np.zeros(len(start))]
        )
        spread = LiveLP(
            cost,
            twice,
            self.row_lower - off,
            self.row_upper - off,
            np.concatenate([np.zeros(len(start)), lower - start]),
            np.concatenate([span, np.maximum(upper - start - span, 0.0)]),
        ).solve()
        if spread.status is not Status.OPTIMAL:
            return None
        found = [start + spread.x[: len(start)] + spread.x[len(start) :]]
        inner = LiveLP(np.zeros(len(start)), self.A, self.row_lower, self.row_upper, lower, upper)
        inner.interior()
        if (inside := inner.solve()).status is Status.OPTIMAL:
            found.append(inside.x)
        x = self.problem.a.copy()
        x[self.cells] = np.clip(np.mean(found, axis=0), lower, upper) * self.unit
        first = self.problem.space.first_aggregate
        x[first:] = sp.csr_array(self.problem.space.aggregate_relations[:, :first]) @ x[:first]
        return replace(self.problem, a=x)

    @cached_property
    def _together(self) -> Ints:
        """(cells,): how many cells the longest relation of each cell has."""
        by_row = sp.csr_array(self.A)
        count = np.diff(by_row.indptr)
        longest = np.ones(len(self.cells), dtype=np.int64)
        np.maximum.at(longest, by_row.indices, np.repeat(count, count))
        return longest


def _others(row: Ints, value: Floats) -> Floats:
    """For each entry the sum of the other entries of its row; infinite if one of them is."""
    endless = np.isinf(value)
    finite = np.where(endless, 0.0, value)
    count = int(row.max(initial=-1)) + 1
    rest, without = (
        np.bincount(row, finite, count)[row] - finite,
        np.bincount(row, endless, count)[row] - endless,
    )
    sign = np.where(np.bincount(row, np.where(endless, np.sign(value), 0.0), count)[row] < 0, -np.inf, np.inf)
    return np.where(without > 0, sign, rest)
