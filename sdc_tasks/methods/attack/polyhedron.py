"""The attacker's problem (METHOD §2; [2] eq. 5–6; [3] eq. 2.1–2.5).

The attacker knows every public cell, the relations `M x = 0`, the external bounds and what is published of
the aggregates. Written in deviations `z = x − a` of the suppressed national cells, he knows

    A z = 0            each relation inside a country, restricted to its suppressed cells
    s⁻ ≤ B z ≤ s⁺      each aggregate cell, s⁻ = lower − a_k, s⁺ = upper − a_k (both 0
                       where exact, ∓∞ where withheld)
    lb − a ≤ z ≤ ub − a

Public cells have z = 0 and are left out; relations between aggregates follow from the rest. The truth is `z =
0`. A primary `p` reaches down to `min z_p` and up to `max z_p`.

For LPs everything is divided by a `unit` near the protection levels, and no deviation is followed beyond
`FARTHEST_UNITS`. So solver tolerances stay small against the levels. A witness inside this box is a witness,
so the box errs on the safe side only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import EXTERNAL, Adversary
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import EPSILON, FEASIBILITY, ROUNDING, SAME
from sdc_tasks.presolve import distinct_rows, fix_and_tie

PUBLIC = Adversary(EXTERNAL)
FARTHEST_UNITS = 1e4  # units: no deviation of the LP attacker is followed further
FEW_MOVED = 0.1  # share of the columns up to which a check of a point reads only the columns that move
Ends = tuple[Floats, Floats]  # lower and upper


@dataclass(frozen=True, repr=False)
class Polyhedron(ABC):
    """The tables that one attacker cannot tell from the truth: rows `row_lower ≤ A z ≤
    row_upper`, columns `lower ≤ z ≤ upper`.

    `cells` (columns,): flat indices of suppressed cells; columns of earlier deliveries follow them (see
    vintage.py). `decided` (rows,): the position of the aggregate cell in the publication, −1 for any
    other row. `area`, `code` (columns,): where a column stands. Solvers get the core, z = R u (see
    presolve): the rows `core_rows` of A R.
    """

    cells: Ints
    A: sp.csr_array
    row_lower: Floats
    row_upper: Floats
    lower: Floats
    upper: Floats
    decided: Ints
    R: sp.csr_array
    core: sp.csr_array
    core_rows: Ints
    area: Ints
    code: Ints

    @abstractmethod
    def are_witnesses(self, z: Floats) -> tuple[bool, bool]:
        """Are `a + z` and its mirror image `a − z` tables that the attacker cannot tell from the
        truth? Checked by plain arithmetic.
        """

    @abstractmethod
    def own(self, columns: Ints, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Converts bounds on columns of z from the unit of the data to that of this polyhedron."""

    def columns_of(self, cells: Ints) -> Ints:
        """Columns of suppressed cells given by flat index."""
        return np.searchsorted(self.cells, cells)

    def place(self, columns: Ints) -> tuple[Ints, Floats]:
        """(core column, sign) of columns of z; sign 0 for a fixed column."""
        picked = sp.csr_array(self.R[columns])
        core, sign = np.zeros(len(columns), dtype=np.int64), np.zeros(len(columns))
        at, u = picked.nonzero()
        core[at], sign[at] = u, picked.data
        return core, sign

    def core_bounds(self) -> tuple[Floats, Floats]:
        """(lower, upper) of u."""
        (lower, _), (upper, _) = self.core_ends()
        return lower, upper

    def core_ends(self) -> tuple[tuple[Floats, Ints], tuple[Floats, Ints]]:
        """The lower bounds of u, and the columns of z that give them; the same of the upper bounds."""
        entries = sp.coo_array(self.R)
        cell, u, plus = entries.row, entries.col, entries.data > 0
        lowest, highest = (
            np.where(plus, self.lower[cell], -self.upper[cell]),
            np.where(plus, self.upper[cell], -self.lower[cell]),
        )
        lower, upper = np.full(self.R.shape[1], -np.inf), np.full(self.R.shape[1], np.inf)
        np.maximum.at(lower, u, lowest)
        np.minimum.at(upper, u, highest)
        ends = []
        for bound, each in ((lower, lowest), (upper, highest)):
            gives, by = each == bound[u], np.full(len(bound), -1)
            by[u[gives]] = cell[gives]
            ends.append((bound, by))
        return ends[0], ends[1]

    @cached_property
    def first(self) -> Ints:
        """The first column of z in each column of the core: its place in the table
        stands for that of the core column.
        """
        R = sp.csc_array(self.R)
        R.sort_indices()
        return np.asarray(R.indices[R.indptr[:-1]], dtype=np.int64)


@dataclass(frozen=True, repr=False)
class AttackSystem(Polyhedron):
    """The polyhedron in units, for LPs. `source` (rows,): the number of the row in `space.relations`; the
    rows of earlier releases follow. `magnitude`: |A|, for the tolerance of a check. `by_column`: A.
    """

    unit: float
    magnitude: sp.csr_array
    by_column: sp.csc_array
    source: Ints

    def own(self, columns: Ints, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        return lower / self.unit, upper / self.unit

    def scaled(self, unit: float, box: float = FARTHEST_UNITS) -> AttackSystem:
        """The polyhedron in units of `unit`, a power of two times the present ones. No deviation is
        followed further than `box` of them.
        """
        return replace(
            self,
            unit=self.unit * unit,
            row_lower=self.row_lower / unit,
            row_upper=self.row_upper / unit,
            lower=np.maximum(self.lower / unit, -box),
            upper=np.minimum(self.upper / unit, box),
        )

    def is_witness(self, z: Floats) -> bool:
        """Is `a + z` a table that the attacker cannot tell from the truth?"""
        return self.are_witnesses(z)[0]

    def are_witnesses(self, z: Floats) -> tuple[bool, bool]:
        moved = np.flatnonzero(z)
        if len(moved) > FEW_MOVED * len(z) or not self._holds_truth:
            rows, columns = (self.row_lower, self.row_upper), (self.lower, self.upper)
            return _fit(self.A @ z, self.magnitude @ np.abs(z), rows, z, columns)
        A, z = sp.csc_array(self.by_column[:, moved]), z[moved]
        at = np.unique(A.indices)  # in all other rows nothing moves
        rows, columns = (self.row_lower[at], self.row_upper[at]), (self.lower[moved], self.upper[moved])
        return _fit((A @ z)[at], (abs(A) @ np.abs(z))[at], rows, z, columns)

    @cached_property
    def _holds_truth(self) -> bool:
        within = (self.row_lower <= FEASIBILITY) & (self.row_upper >= -FEASIBILITY)
        return bool(within.all() and (self.lower <= FEASIBILITY).all() and (self.upper >= -FEASIBILITY).all())


def _fit(row: Floats, size: Floats, rows: Ends, z: Floats, columns: Ends) -> tuple[bool, bool]:
    """Is z within its ends, and A z = `row`? Is −z? `size`: |A| |z|."""
    slack = FEASIBILITY + ROUNDING * size
    low, high, lower, upper = (
        rows[0] - slack,
        rows[1] + slack,
        columns[0] - FEASIBILITY,
        columns[1] + FEASIBILITY,
    )

    def fits(row: Floats, z: Floats) -> bool:
        return bool((row >= low).all() and (row <= high).all() and (z >= lower).all() and (z <= upper).all())

    return fits(row, z), fits(-row, -z)


def attack_system(problem: ProtectionProblem, adversary: Adversary = PUBLIC) -> AttackSystem:
    """The attacker's polyhedron before any aggregate is published: the rows of the aggregates are unbounded.
    It includes what these attackers know from earlier releases. It is in the unit of the data, and follows
    every deviation as far as the bounds allow.
    """
    space, cells = problem.space, np.flatnonzero(problem.suppressed)
    inside = space.relations.shape[0] - space.aggregate_relations.shape[0]
    national, kept = _restrict(space.relations[:inside], cells)
    above, decided = _restrict(space.aggregate_relations, cells)
    earlier = problem.earlier.known_to(adversary)
    more = len(earlier.lower)
    before = sp.csr_array(
        sp.csc_array(earlier.rows)[:, np.concatenate([cells, space.size + np.arange(more)])]
        if more or earlier.rows.nnz
        else sp.csr_array((0, len(cells)))
    )
    whole = sp.csr_array(
        sp.vstack(
            [
                sp.hstack([sp.vstack([national, above]), sp.csr_array((len(kept) + len(decided), more))]),
                before,
            ]
        )
    )
    row_lower = np.concatenate([np.zeros(len(kept)), np.full(len(decided), -np.inf), earlier.row_lower])
    row_upper = np.concatenate([np.zeros(len(kept)), np.full(len(decided), np.inf), earlier.row_upper])
    equal = (row_lower == 0) & (row_upper == 0)
    R = fix_and_tie(sp.csr_array(whole[equal]), exact=True).T
    reduced = _nonzero(whole @ R)
    relations = np.flatnonzero(equal)[distinct_rows(sp.csr_array(reduced[equal]), exact=True)]
    core_rows = np.concatenate([relations, np.flatnonzero(~equal & (np.diff(reduced.indptr) > 0))])
    lower = np.concatenate([(problem.lb - problem.a)[cells], earlier.lower])
    upper = np.concatenate([(problem.ub - problem.a)[cells], earlier.upper])
    return AttackSystem(
        unit=1.0,
        cells=cells,
        A=whole,
        row_lower=row_lower,
        row_upper=row_upper,
        lower=lower,
        upper=upper,
        decided=np.concatenate([np.full(len(kept), -1), decided, np.full(before.shape[0], -1)]).astype(
            np.int64
        ),
        R=R,
        core=sp.csr_array(reduced[core_rows]),
        core_rows=core_rows,
        magnitude=sp.csr_array(abs(whole)),
        by_column=sp.csc_array(whole),
        source=np.concatenate(
            [kept, inside + decided, space.relations.shape[0] + np.arange(before.shape[0])]
        ).astype(np.int64),
        area=np.concatenate([space.stands[0][cells], earlier.area]),
        code=np.concatenate([space.stands[1][cells], earlier.code]),
    )


def facing(system: AttackSystem, problem: ProtectionProblem, publication: Publication) -> AttackSystem:
    """The same attacker after this publication. `slacks` explains what happens to a published
    interval that excludes the true value.
    """
    if not np.array_equal(publication.cells, np.flatnonzero(problem.aggregate)):
        raise ValueError("the publication is not over the aggregate cells of this problem, in their order")
    low, high = slacks(problem, publication)
    aggregates = system.decided >= 0
    at = system.decided[aggregates]
    row_lower, row_upper = system.row_lower.copy(), system.row_upper.copy()
    row_lower[aggregates], row_upper[aggregates] = low[at] / system.unit, high[at] / system.unit
    return replace(system, row_lower=row_lower, row_upper=row_upper)


def slacks(problem: ProtectionProblem, publication: Publication) -> tuple[Floats, Floats]:
    """(lower − a, upper − a) of every aggregate cell, in the unit of the data; exactly 0 for
    exact cells, ∓∞ for withheld cells.

    An interval that excludes the true value is moved until it just contains it. So the attacker gets
    more than is printed, not less.
    """
    truth = problem.a[publication.cells]
    exact = publication.exact
    low, high = (
        np.where(exact, 0.0, publication.lower - truth),
        np.where(exact, 0.0, publication.upper - truth),
    )
    off = np.maximum(low, 0) + np.minimum(high, 0)
    return low - off, high - off


def contradicted(problem: ProtectionProblem, publication: Publication) -> Bools:
    """Aggregate cells whose published interval excludes the true value: this table was
    not made from these deliveries.
    """
    truth = problem.a[publication.cells]
    tolerance = EPSILON * (1 + np.abs(truth))  # numerical noise of sums
    return (publication.lower > truth + tolerance) | (publication.upper < truth - tolerance)


def mislabelled(problem: ProtectionProblem, publication: Publication) -> Bools:
    """Cells that the publication calls sums of visible countries although they are not."""
    total = np.nan_to_num(problem.visible_sums[publication.cells - problem.space.first_aggregate], nan=-1.0)
    return publication.visible & ~(
        np.abs(np.nan_to_num(publication.value) - total) <= SAME * (1 + np.abs(total))
    )


def refuse_mislabelled(problem: ProtectionProblem, publication: Publication) -> None:
    """Raises InvalidInput for a publication with such cells."""
    if (wrong := mislabelled(problem, publication)).any():
        keys = ", ".join(problem.space.key(int(cell)) for cell in publication.cells[wrong][:5])
        raise InvalidInput(
            f"{keys} ({int(wrong.sum())} in all): VISIBLE_SHARE is for the sum of the members that are "
            f"public, where no hidden one can be "
            "negative; this is another value. Remedy: publish that sum, or withhold the cell"
        )


def _nonzero(A: sp.csr_array) -> sp.csr_array:
    A = sp.csr_array(A)
    A.eliminate_zeros()
    return A


def _restrict(relations: sp.csr_array, cells: Ints) -> tuple[sp.csr_array, Ints]:
    """The relations restricted to some cells, without empty rows; and the numbers of the rows that remain."""
    columns = sp.csr_array(sp.csc_array(relations)[:, cells])
    kept = np.flatnonzero(np.diff(columns.indptr) > 0)
    return sp.csr_array(columns[kept]), kept
