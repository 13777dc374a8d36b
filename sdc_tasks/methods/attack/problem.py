"""The attacker's problem (METHOD §2; [2] eq. 5–6; [3] eq. 2.1–2.5).

The attacker knows every public cell, the relations `M x = 0`, the external bounds and what was published of the aggregates. In
deviations `z = x − a` of the suppressed national cells alone that is

    A z = 0            each relation inside a country, restricted to its suppressed cells
    s⁻ ≤ B z ≤ s⁺      each published aggregate cell, s⁻ = lower − a_k, s⁺ = upper − a_k (both 0 where exact)
    lb − a ≤ z ≤ ub − a

Public cells have z = 0 and withheld aggregates constrain nothing, so both are gone; relations between aggregates follow from
the rest. The truth is `z = 0`. A primary `p` reaches down to `min z_p` and up to `max z_p`.

Everything is divided by a `unit` near the protection levels at stake, and no deviation is followed beyond `BOX` units: a witness
inside the box is a witness, so the box errs on the safe side only, and solver tolerances stay small against the levels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints

BOX = 1e6
FEASIBLE = 1e-7  # units by which a witness may miss a row or a bound


@dataclass(frozen=True)
class Requirements:
    """What each primary needs, as distances ≥ 0 in the unit of the data; ascending cell order, all of shape (primaries,).

    `down up slide` are the levels cut at the external bounds and at what the national tables alone protect; `cut` says where the
    latter happened: an under-protection that no treatment of the aggregates can mend, to be reported to its NSI.
    """

    primaries: Ints = field(repr=False)
    down: Floats = field(repr=False)
    up: Floats = field(repr=False)
    slide: Floats = field(repr=False)
    cut: Bools = field(repr=False)

    def part(self, chosen: Ints) -> Requirements:
        """The requirements of some primaries, by position."""
        return Requirements(self.primaries[chosen], self.down[chosen], self.up[chosen], self.slide[chosen], self.cut[chosen])


def promised(problem: ProtectionProblem) -> Requirements:
    """The protection levels as promised, cut at the external bounds (METHOD §2)."""
    p = np.flatnonzero(problem.primary)
    below, above = problem.a[p] - problem.lb[p], problem.ub[p] - problem.a[p]
    return Requirements(
        primaries=p,
        down=np.minimum(problem.lpl[p], below),
        up=np.minimum(problem.upl[p], above),
        slide=np.minimum(problem.spl[p], below + above),
        cut=np.zeros(len(p), dtype=bool),
    )


@dataclass(frozen=True)
class AttackSystem:
    """The attacker's polyhedron in units: rows `row_lower ≤ A z ≤ row_upper`, columns `lower ≤ z ≤ upper`.

    `cells` (columns) are flat indices of suppressed cells; `decided` (rows) is the position of the aggregate cell in the
    publication, −1 for a national relation.
    """

    unit: float
    cells: Ints = field(repr=False)
    A: sp.csr_array = field(repr=False)
    row_lower: Floats = field(repr=False)
    row_upper: Floats = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)
    decided: Ints = field(repr=False)

    @cached_property
    def magnitude(self) -> sp.csr_array:
        return abs(self.A)

    def columns_of(self, cells: Ints) -> Ints:
        """Columns of suppressed cells given by flat index."""
        return np.searchsorted(self.cells, cells)

    def is_witness(self, z: Floats) -> bool:
        """Is `a + z` a table that the attacker cannot tell from the truth? Plain arithmetic: no solver is asked."""
        row, slack = self.A @ z, FEASIBLE + 1e-12 * (self.magnitude @ np.abs(z))
        return bool(
            (row >= self.row_lower - slack).all()
            and (row <= self.row_upper + slack).all()
            and (z >= self.lower - FEASIBLE).all()
            and (z <= self.upper + FEASIBLE).all()
        )


def attack_system(problem: ProtectionProblem, publication: Publication | None, unit: float = 1.0) -> AttackSystem:
    """The polyhedron of the external attacker; `publication=None` is the baseline, every aggregate cell withheld.

    A published interval that excludes the true value is left out: see `contradictions`.
    """
    cells = np.flatnonzero(problem.suppressed)
    national = problem.space.relations[: problem.space.relations.shape[0] - problem.space.aggregate_relations.shape[0]]
    A, _ = _restrict(national, cells)
    rows, decided = [A], [np.full(A.shape[0], -1, dtype=np.int64)]
    row_lower, row_upper = [np.zeros(A.shape[0])], [np.zeros(A.shape[0])]
    if publication is not None:
        B, kept = _restrict(problem.space.aggregate_relations, cells)
        told = ~publication.withheld[kept] & ~contradicted(problem, publication)[kept]
        B, kept = B[told], kept[told]
        low, high = slacks(problem, publication)
        rows.append(B)
        decided.append(kept)
        row_lower.append(low[kept] / unit)
        row_upper.append(high[kept] / unit)
    return AttackSystem(
        unit=unit,
        cells=cells,
        A=sp.csr_array(sp.vstack(rows, format="csr")),
        row_lower=np.concatenate(row_lower),
        row_upper=np.concatenate(row_upper),
        lower=np.maximum((problem.lb - problem.a)[cells] / unit, -BOX),
        upper=np.minimum((problem.ub - problem.a)[cells] / unit, BOX),
        decided=np.concatenate(decided),
    )


def slacks(problem: ProtectionProblem, publication: Publication) -> tuple[Floats, Floats]:
    """(lower − a, upper − a) of every aggregate cell, in the unit of the data; exactly 0 for exact cells."""
    truth = problem.a[publication.cells]
    exact = publication.exact
    return np.where(exact, 0.0, publication.lower - truth), np.where(exact, 0.0, publication.upper - truth)


def contradicted(problem: ProtectionProblem, publication: Publication) -> Bools:
    """Aggregate cells whose published interval excludes the true value: such a table is not of these deliveries."""
    truth = problem.a[publication.cells]
    tolerance = 1e-9 * (1 + np.abs(truth))
    return (publication.lower > truth + tolerance) | (publication.upper < truth - tolerance)


def _restrict(relations: sp.csr_array, cells: Ints) -> tuple[sp.csr_array, Ints]:
    """Relations on some cells only, without the rows that became empty; and which rows stayed."""
    columns = sp.csr_array(sp.csc_array(relations)[:, cells])
    kept = np.flatnonzero(np.diff(columns.indptr) > 0)
    return sp.csr_array(columns[kept]), kept
