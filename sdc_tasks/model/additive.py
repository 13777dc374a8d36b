"""An additive table: any cells with any linear relations. No cross product is needed.

    M a = rhs,   lb ≤ a ≤ ub

A table of two dimensions, a hierarchy, several linked tables and the aggregates of a release are all of this
form; what the dimensions were matters to a few methods only, which read `grid`. Units are those of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput, and_more
from sdc_tasks.model.grid import Grid
from sdc_tasks.model.table import Bools, Floats, read_only
from sdc_tasks.model.tolerances import FEASIBILITY, TINY


def absent() -> Any:
    """An array that nobody gave; the table puts its default there."""
    return np.zeros(0)


@dataclass(frozen=True)
class AdditiveTable:
    """n cells and m relations: M (m, n) without stored zeros, `a lb ub fixed` (n), `rhs` (m), 0 by default.

    `fixed` cells keep their value, and everybody can read it: public zeros, cells published before. `label`
    names a cell in messages. `grid`: where each cell stands, if the table is known to be crossed from
    dimensions. `within`: by how much a relation may be missed, as a share of its largest value.

    Raises InvalidInput, with cell or relation and a remedy, if the table contradicts itself; no message
    contains a value.
    """

    M: sp.csr_array = field(repr=False)
    a: Floats = field(repr=False)
    lb: Floats = field(repr=False)
    ub: Floats = field(repr=False)
    rhs: Floats = field(default_factory=absent, repr=False, kw_only=True)
    fixed: Bools = field(default_factory=absent, repr=False, kw_only=True)
    label: Callable[[int], str] | None = field(default=None, repr=False, compare=False, kw_only=True)
    grid: Grid | None = field(default=None, repr=False, compare=False, kw_only=True)
    within: float = field(default=FEASIBILITY, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        M = sp.csr_array(self.M, copy=True).astype(float)
        M.sum_duplicates()
        M.eliminate_zeros()
        m, n = M.shape
        object.__setattr__(self, "M", M)
        self._numbers("a", "lb", "ub")
        self._numbers("rhs", missing=m)
        self._masks("fixed", missing=n)
        if n == 0:
            raise InvalidInput("a table without cells. Remedy: give the whole table")
        unlike = self._unlike(("a", "lb", "ub", "fixed"))
        if unlike or self.rhs.shape != (m,):
            raise InvalidInput(
                f"a table of {n} cells needs {n} entries in each array; not so in "
                f"{', '.join(unlike) or 'rhs'}"
            )
        self._refuse(
            ("the value is not a finite number", ~np.isfinite(self.a), "give every cell a value"),
            (
                "a bound is not a number",
                np.isnan(self.lb) | np.isnan(self.ub),
                "give bounds, infinite ones where there are none",
            ),
            (
                "the value lies outside its bounds",
                (self.a < self.lb) | (self.a > self.ub),
                "correct the value or the bounds",
            ),
        )
        self._require_additive()

    def name(self, cell: int) -> str:
        """The name of a cell in messages."""
        return f"cell {int(cell)}" if self.label is None else self.label(int(cell))

    @property
    def totals(self) -> Bools:
        """(n): cells that are the sum of others.

        The total of a relation is the one cell whose sign differs from all others; of two cells with
        opposite signs, the negative one. A relation whose cells all have one sign has no total. Raises
        InvalidInput for any other relation.
        """
        M = self.M
        row = np.repeat(np.arange(M.shape[0]), np.diff(M.indptr))
        negative = np.bincount(row[M.data < 0], minlength=M.shape[0])
        positive = np.bincount(row[M.data > 0], minlength=M.shape[0])
        odd = (negative > 1) & (positive > 1)
        if odd.any():
            first = int(np.flatnonzero(odd)[0])
            cells = ", ".join(self.name(int(i)) for i in M.indices[M.indptr[first] : M.indptr[first + 1]][:4])
            raise InvalidInput(
                f"relation {first} ({cells}, …): no cell is the sum of the others. Remedy: write each "
                f"relation as a total and its parts"
            )
        total = np.zeros(len(self.a), dtype=bool)
        total[M.indices[(M.data < 0) & (negative == 1)[row]]] = True
        total[M.indices[(M.data > 0) & ((positive == 1) & (negative > 1))[row]]] = True
        return total

    # --- for subclasses --------------------------------------------------------------------------------

    def _numbers(self, *names: str, missing: int = 0) -> None:
        """Makes these fields read-only arrays of floats; an absent one becomes `missing` zeros."""
        for name in names:
            array = np.asarray(getattr(self, name), dtype=float)
            object.__setattr__(self, name, read_only(array if array.size else np.zeros(missing)))

    def _masks(self, *names: str, missing: int = 0) -> None:
        """The same for masks."""
        for name in names:
            array = np.asarray(getattr(self, name), dtype=bool)
            object.__setattr__(self, name, read_only(array if array.size else np.zeros(missing, dtype=bool)))

    def _unlike(self, names: tuple[str, ...]) -> list[str]:
        """Those of these arrays that do not have one entry for each cell."""
        return [name for name in names if getattr(self, name).shape != (self.M.shape[1],)]

    def _refuse(self, *faults: tuple[str, Bools, str]) -> None:
        """Raises InvalidInput for the first fault, (what, mask of cells, remedy), that some cell has."""
        for name, wrong, remedy in faults:
            cells = np.flatnonzero(wrong)
            if len(cells):
                more = and_more(len(cells) - 1)
                raise InvalidInput(f"{self.name(cells[0])}{more}: {name}. Remedy: {remedy}")

    def _require_additive(self) -> None:
        size = abs(self.M) @ np.abs(self.a)
        miss = np.abs(self.M @ self.a - self.rhs)
        missed = np.flatnonzero(miss > self.within * np.maximum(size, TINY))
        if len(missed):
            row = int(missed[0])
            members = self.M.indices[self.M.indptr[row] : self.M.indptr[row + 1]]
            about = ", ".join(self.name(cell) for cell in members[:5]) + (" …" if len(members) > 5 else "")
            share = miss[row] / size[row] if size[row] > 0 else 1.0
            do = "do" if len(missed) > 1 else "does"
            raise InvalidInput(
                f"relation {row} ({about}){and_more(len(missed) - 1)} {do} not add up: off by {share:.2g} of "
                f"its values. Remedy: correct the cells or the relation"
            )
