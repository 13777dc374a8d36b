"""A table to be rounded: its cells, the relations between them, and what must be protected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.table import SUM_SHARE, Bools, Floats, Ints, read_only


def _numbered(cell: int) -> str:
    return f"cell {cell}"


@dataclass(frozen=True)
class RoundingTable:
    """n cells with `A a = rhs`, A (relations, n). `lb ub` (n,) are the external bounds of each cell, and
    the bounds of its printed value.

    `primary` (primaries,) are flat indices, ascending; `lpl upl spl` ≥ 0 are their levels, distances in the
    unit of the data. `fixed` (n,) cells keep their value. `label` names a cell in messages. Raises ValueError
    where the arrays do not fit together.
    """

    A: sp.csr_array
    rhs: Floats = field(repr=False)
    a: Floats = field(repr=False)
    lb: Floats = field(repr=False)
    ub: Floats = field(repr=False)
    fixed: Bools = field(repr=False)
    primary: Ints = field(repr=False)
    lpl: Floats = field(repr=False)
    upl: Floats = field(repr=False)
    spl: Floats = field(repr=False)
    label: Callable[[int], str] = field(default=_numbered, repr=False)

    def __post_init__(self) -> None:
        n, m, p = len(self.a), len(self.rhs), len(self.primary)
        if (
            self.A.shape != (m, n)
            or {len(self.lb), len(self.ub), len(self.fixed)} != {n}
            or {len(self.lpl), len(self.upl), len(self.spl)} != {p}
        ):
            raise ValueError("the arrays of a table do not fit together")
        if (self.a < self.lb).any() or (self.a > self.ub).any():
            raise ValueError("a true value is outside its bounds")
        if len(self.primary) and (np.diff(self.primary) <= 0).any():
            raise ValueError("primary cells ascend, each once")
        if p and min(self.lpl.min(), self.upl.min(), self.spl.min()) < 0:
            raise ValueError("protection levels are distances, at least 0")
        for name in ("rhs", "a", "lb", "ub", "fixed", "primary", "lpl", "upl", "spl"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def down(self) -> Floats:
        """(primaries,): `lpl` cut at the bounds (METHOD §2). `up` and `slide` are cut in the same way."""
        return np.minimum(self.lpl, (self.a - self.lb)[self.primary])

    @property
    def up(self) -> Floats:
        return np.minimum(self.upl, (self.ub - self.a)[self.primary])

    @property
    def slide(self) -> Floats:
        return np.minimum(self.spl, (self.ub - self.lb)[self.primary])

    @property
    def totals(self) -> Bools:
        """(n,): cells that are the sum of others. The total of a relation is the one cell whose sign
        differs from all others; of two cells with opposite signs, the negative one. A relation whose cells
        all have one sign has no total.

        Raises InvalidInput for any other relation.
        """
        A = self.A
        row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        negative = np.bincount(row[A.data < 0], minlength=A.shape[0])
        positive = np.bincount(row[A.data > 0], minlength=A.shape[0])
        odd = (negative > 1) & (positive > 1)
        if odd.any():
            first = int(np.flatnonzero(odd)[0])
            cells = ", ".join(
                self.label(int(i)) for i in A.indices[A.indptr[first] : A.indptr[first + 1]][:4]
            )
            raise InvalidInput(
                f"relation {first} ({cells}, …): no cell is the sum of the others. Remedy: write each "
                f"relation as a total and its parts"
            )
        total = np.zeros(len(self.a), dtype=bool)
        total[A.indices[(A.data < 0) & (negative == 1)[row]]] = True
        total[A.indices[(A.data > 0) & ((positive == 1) & (negative > 1))[row]]] = True
        return total


def multiples(values: Floats, base: float) -> tuple[Floats, Bools]:
    """(values / base rounded down, whether a value is a multiple of the base), each of the shape of
    `values`, up to rounding noise.
    """
    near = np.rint(values / base)
    whole = np.abs(values - near * base) <= SUM_SHARE * np.maximum(np.abs(values), base)
    return np.where(whole, near, np.floor(values / base)), whole
