"""The attacker's problem (METHOD §2; [2] eq. 5–6; [3] eq. 2.1–2.5).

The attacker knows every public cell, the relations `M x = 0`, the external bounds and what was published of the aggregates. In
deviations `z = x − a` of the suppressed national cells alone that is

    A z = 0            each relation inside a country, restricted to its suppressed cells
    s⁻ ≤ B z ≤ s⁺      each aggregate cell, s⁻ = lower − a_k, s⁺ = upper − a_k (both 0 where exact, ∓∞ where withheld)
    lb − a ≤ z ≤ ub − a

Public cells have z = 0 and are gone; relations between aggregates follow from the rest. The truth is `z = 0`. A primary `p` reaches
down to `min z_p` and up to `max z_p`.

Everything is divided by a `unit` near the protection levels at stake, and no deviation is followed beyond `BOX` units: a witness
inside the box is a witness, so the box errs on the safe side only, and solver tolerances stay small against the levels.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.presolve import distinct_rows, tie
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints

BOX = 1e4
FEASIBLE = 1e-6  # units by which a witness may miss a row or a bound


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
    whole: str = ""

    @cached_property
    def digest(self) -> str:
        """sha256 of what was required, for a part that of the whole: an audit says against what it was done."""
        if self.whole:
            return self.whole
        h = hashlib.sha256()
        for name in ("primaries", "down", "up", "slide", "cut"):
            h.update(name.encode() + np.ascontiguousarray(getattr(self, name)).tobytes())
        return h.hexdigest()

    def keeps(self, promise: Requirements) -> bool:
        """Is nothing less than the promise required, but of the primaries that are openly cut to the national baseline?"""
        if not np.array_equal(self.primaries, promise.primaries):
            return False
        whole = all(np.array_equal(getattr(self, s)[~self.cut], getattr(promise, s)[~self.cut]) for s in ("down", "up", "slide"))
        return whole and bool((np.minimum(np.minimum(self.down, self.up), self.slide) >= 0).all())

    def part(self, chosen: Ints) -> Requirements:
        """The requirements of some primaries, by position."""
        k = chosen
        return Requirements(self.primaries[k], self.down[k], self.up[k], self.slide[k], self.cut[k], whole=self.digest)


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
    publication, −1 for a national relation. Solvers get its core, z = R u (see presolve): the rows `core_rows`
    of A R. `magnitude` is |A|, for the tolerance of a check.
    """

    unit: float
    cells: Ints = field(repr=False)
    A: sp.csr_array = field(repr=False)
    row_lower: Floats = field(repr=False)
    row_upper: Floats = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)
    decided: Ints = field(repr=False)
    R: sp.csr_array = field(repr=False)
    core: sp.csr_array = field(repr=False)
    core_rows: Ints = field(repr=False)
    magnitude: sp.csr_array = field(repr=False)

    def core_bounds(self) -> tuple[Floats, Floats]:
        """(lower, upper) of u."""
        cell, u = self.R.nonzero()
        sign = self.R.data
        lower, upper = np.full(self.R.shape[1], -np.inf), np.full(self.R.shape[1], np.inf)
        np.maximum.at(lower, u, np.where(sign > 0, self.lower[cell], -self.upper[cell]))
        np.minimum.at(upper, u, np.where(sign > 0, self.upper[cell], -self.lower[cell]))
        return lower, upper

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


def attack_system(problem: ProtectionProblem, unit: float = 1.0) -> AttackSystem:
    """The polyhedron of the external attacker before anything is published of the aggregates: their rows are there, unbounded."""
    cells = np.flatnonzero(problem.suppressed)
    national = problem.space.relations[: problem.space.relations.shape[0] - problem.space.aggregate_relations.shape[0]]
    A, _ = _restrict(national, cells)
    B, decided = _restrict(problem.space.aggregate_relations, cells)
    R = tie(A)
    whole = sp.csr_array(sp.vstack([A, B], format="csr"))
    reduced = _nonzero(whole @ R)
    relations = distinct_rows(sp.csr_array(reduced[: A.shape[0]]))
    aggregates = A.shape[0] + np.flatnonzero(np.diff(reduced.indptr)[A.shape[0] :] > 0)
    core_rows = np.concatenate([relations, aggregates])
    return AttackSystem(
        unit=unit,
        cells=cells,
        A=whole,
        row_lower=np.concatenate([np.zeros(A.shape[0]), np.full(len(decided), -np.inf)]),
        row_upper=np.concatenate([np.zeros(A.shape[0]), np.full(len(decided), np.inf)]),
        lower=np.maximum((problem.lb - problem.a)[cells] / unit, -BOX),
        upper=np.minimum((problem.ub - problem.a)[cells] / unit, BOX),
        decided=np.concatenate([np.full(A.shape[0], -1, dtype=np.int64), decided]),
        R=R,
        core=sp.csr_array(reduced[core_rows]),
        core_rows=core_rows,
        magnitude=sp.csr_array(abs(whole)),
    )


def facing(system: AttackSystem, problem: ProtectionProblem, publication: Publication) -> AttackSystem:
    """The same attacker once the publication is out.

    A published interval that excludes the true value is left out: see `contradicted`.
    """
    if not np.array_equal(publication.cells, np.flatnonzero(problem.aggregate)):
        raise ValueError("the publication is not over the aggregate cells of this problem, in their order")
    low, high = slacks(problem, publication)
    unknown = publication.withheld | contradicted(problem, publication)
    low, high = np.where(unknown, -np.inf, low), np.where(unknown, np.inf, high)
    told = system.decided >= 0
    at = system.decided[told]
    row_lower, row_upper = system.row_lower.copy(), system.row_upper.copy()
    row_lower[told], row_upper[told] = low[at] / system.unit, high[at] / system.unit
    return replace(system, row_lower=row_lower, row_upper=row_upper)


def slacks(problem: ProtectionProblem, publication: Publication) -> tuple[Floats, Floats]:
    """(lower − a, upper − a) of every aggregate cell, in the unit of the data; exactly 0 for exact cells."""
    truth = problem.a[publication.cells]
    exact = publication.exact
    return np.where(exact, 0.0, publication.lower - truth), np.where(exact, 0.0, publication.upper - truth)


def contradicted(problem: ProtectionProblem, publication: Publication) -> Bools:
    """Aggregate cells whose published interval excludes the true value: such a table is not of these deliveries."""
    truth = problem.a[publication.cells]
    tolerance = 1e-14 * (1 + np.abs(truth))  # the noise of adding up, nothing more
    return (publication.lower > truth + tolerance) | (publication.upper < truth - tolerance)


def _nonzero(A: sp.csr_array) -> sp.csr_array:
    A = sp.csr_array(A)
    A.eliminate_zeros()
    return A


def _restrict(relations: sp.csr_array, cells: Ints) -> tuple[sp.csr_array, Ints]:
    """Relations on some cells only, without the rows that became empty; and which rows stayed."""
    columns = sp.csr_array(sp.csc_array(relations)[:, cells])
    kept = np.flatnonzero(np.diff(columns.indptr) > 0)
    return sp.csr_array(columns[kept]), kept
