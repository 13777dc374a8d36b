"""The polyhedron of an attacker who knows that all values of an indicator are whole numbers
(counts of persons, of enterprises).

He knows more than the attacker of `lp`. Only the whole tables in that polyhedron are possible:

    z ∈ Z on the integral cells,  A z = 0,  ⌈s⁻⌉ ≤ B z ≤ ⌊s⁺⌋,  ⌈lb − a⌉ ≤ z ≤ ⌊ub − a⌋

A base of 5 around 25 leaves him 23 … 27. A base of 10 around 20, the interval [15, 25], leaves him
15 … 24: 25 would have been printed as 30, because a tie goes up. No deviation is followed beyond a
box, which errs on the safe side.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.polyhedron import Polyhedron, attack_system, slacks
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import Adversary
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY, INTEGRALITY, ROUNDING

BOX_NEEDS = 1e3  # times the largest need: the box
LEAST_BOX, MOST_BOX = 1e4, 1e9  # whole numbers: its least and largest size


@dataclass(frozen=True, repr=False)
class IntegerSystem(Polyhedron):
    """The polyhedron of the whole tables, in the unit of the data: z is whole where `integral`. A row of
    integral columns has whole ends.

    The core contains only rows with a finite end; `stretch` is the rank of each of its
    columns in the first code list.
    """

    integral: Bools
    stretch: Ints

    def are_witnesses(self, z: Floats) -> tuple[bool, bool]:
        return self.holds(z), self.holds(-z)

    def holds(self, z: Floats) -> bool:
        """Is this a whole table that the attacker cannot tell from the truth? Checked by plain
        arithmetic, exact on whole numbers.
        """
        row = self.A @ z
        slack = np.where(
            self.integral_rows, 0.0, FEASIBILITY + ROUNDING * np.asarray(abs(self.A) @ np.abs(z))
        )
        edge = np.where(self.integral, 0.0, FEASIBILITY)
        return bool(
            (z[self.integral] == np.rint(z[self.integral])).all()
            and (row >= self.row_lower - slack).all()
            and (row <= self.row_upper + slack).all()
            and (z >= self.lower - edge).all()
            and (z <= self.upper + edge).all()
        )

    def own(self, columns: Ints, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        return np.where(self.integral[columns], np.ceil(lower - INTEGRALITY), lower), upper

    @cached_property
    def integral_rows(self) -> Bools:
        """Whether a row has integral columns only."""
        return np.asarray(abs(self.A) @ (~self.integral).astype(float) == 0)

    @cached_property
    def integral_core(self) -> Bools:
        """(columns of the core,): whether the column is known to be whole."""
        whole = np.zeros(self.R.shape[1], dtype=bool)
        entries = sp.coo_array(self.R)
        whole[entries.col[self.integral[entries.row]]] = True
        return whole

    @cached_property
    def core_area(self) -> Ints:
        """(columns of the core,): the area of each column."""
        return self.area[self.first]


def integer_slacks(problem: ProtectionProblem, publication: Publication) -> tuple[Floats, Floats]:
    """(below, above): the slack that a publication leaves around each true aggregate value;
    whole numbers for integral cells.
    """
    low, high = slacks(problem, publication)
    whole = problem.integral[publication.cells]
    low, most = (
        np.where(whole, np.ceil(low - INTEGRALITY), low),
        np.where(whole, np.floor(high + INTEGRALITY), high),
    )
    tie = whole & publication.rounded & (most > 0) & _is_whole(high)
    return low + 0.0, np.where(tie, most - 1, most) + 0.0


def _is_whole(x: Floats) -> Bools:
    finite = np.where(np.isfinite(x), x, 0.5)
    return np.asarray(np.abs(finite - np.rint(finite)) <= INTEGRALITY)


def integer_system(
    problem: ProtectionProblem, publication: Publication | None, adversary: Adversary, furthest: float
) -> IntegerSystem:
    """The attacker's polyhedron. Without a publication: no aggregate is published. `furthest`: the largest
    need.
    """
    base = attack_system(problem, adversary).scaled(
        1.0, box=min(max(LEAST_BOX, BOX_NEEDS * furthest), MOST_BOX)
    )
    earlier = problem.earlier.known_to(adversary)
    integral = np.concatenate([problem.integral[base.cells], earlier.integral])
    low, high = base.row_lower.copy(), base.row_upper.copy()
    aggregates = base.decided >= 0
    if publication is not None:
        below, above = integer_slacks(problem, publication)
        low[aggregates], high[aggregates] = below[base.decided[aggregates]], above[base.decided[aggregates]]
    integral_row = np.asarray(abs(base.A) @ (~integral).astype(float) == 0)
    rounded = np.concatenate([np.zeros(len(aggregates) - len(earlier.rounded), dtype=bool), earlier.rounded])
    tie = (
        integral_row & rounded & (high > INTEGRALITY) & _is_whole(high)
    )  # intervals of earlier releases, read in the same way
    high = np.where(tie, high - 1, high)
    low, high = (
        np.where(integral_row, np.ceil(low - INTEGRALITY), low),
        np.where(integral_row, np.floor(high + INTEGRALITY), high),
    )
    kept = np.flatnonzero(np.isfinite(low[base.core_rows]) | np.isfinite(high[base.core_rows]))
    shape = problem.space.national_shape
    return IntegerSystem(
        cells=base.cells,
        A=base.A,
        row_lower=low,
        row_upper=high,
        lower=np.where(integral, np.ceil(base.lower - INTEGRALITY), base.lower) + 0.0,
        upper=np.where(integral, np.floor(base.upper + INTEGRALITY), base.upper) + 0.0,
        decided=base.decided,
        R=base.R,
        core=sp.csr_array(base.core[kept]),
        core_rows=base.core_rows[kept],
        area=base.area,
        code=base.code,
        integral=integral,
        stretch=np.unravel_index(base.code[base.first], shape)[min(1, len(shape) - 1)],
    )
