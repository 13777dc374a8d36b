"""Cuts: what a successful attack says about every safe publication.

Every publication gives each cell an interval around the truth. For a fixed primary the attacker's reach is
concave in the ends v ≥ 0 of these intervals (below and above, or whether a cell is hidden, or the printed
value). So the dual values of one attack bound the reach from above for any other publication, and

    Σ coefficients · v[columns] ≥ right

holds for every publication against which the attack fails. What v is, each treatment says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Floats, Ints

DIGITS = 9  # coefficients that agree in so many digits after the point are equal


@dataclass(frozen=True)
class Cut:
    """Σ coefficients · v[columns] ≥ right, from an attack on one `primary` (−1: of no single one)."""

    columns: Ints = field(repr=False)
    coefficients: Floats = field(repr=False)
    right: float = field(default=1.0, repr=False)
    primary: int = -1

    def value(self, v: Floats) -> float:
        """The left-hand side at a point."""
        return float(self.coefficients @ v[self.columns])

    @property
    def key(self) -> bytes:
        """Equal for equal cuts, whatever their scale."""
        scale = self.right if self.right > 0 else 1.0
        rounded = np.round(np.append(self.coefficients, self.right) / scale, DIGITS) + 0.0
        return self.columns.tobytes() + rounded.tobytes()


def rows_of(cuts: Sequence[Cut], n: int) -> sp.csr_array:
    """(cuts, n): the coefficients of cuts over n columns."""
    if not cuts:
        return sp.csr_array((0, n))
    return sp.csr_array(
        (
            np.concatenate([cut.coefficients for cut in cuts]),
            np.concatenate([cut.columns for cut in cuts]),
            np.concatenate([[0], np.cumsum([len(cut.columns) for cut in cuts])]),
        ),
        shape=(len(cuts), n),
    )


class CutPool:
    """All cuts of a search, each once: rows · v ≥ right. It may begin with other rows ≥ 0."""

    def __init__(self, n: int, rows: sp.csr_array | None = None) -> None:
        self.rows: sp.csr_array = sp.csr_array((0, n)) if rows is None else rows
        self.right = np.zeros(self.rows.shape[0])
        self.cuts: list[Cut] = []
        self._keys: set[bytes] = set()

    def add(self, cuts: Sequence[Cut]) -> list[Cut]:
        """Adds cuts; returns those that are new."""
        fresh = []
        for cut in cuts:
            if cut.key not in self._keys:
                self._keys.add(cut.key)
                fresh.append(cut)
        if fresh:
            self.cuts += fresh
            self.rows = sp.csr_array(sp.vstack([self.rows, self.matrix(fresh)], format="csr"))
            self.right = np.concatenate([self.right, [cut.right for cut in fresh]])
        return fresh

    def matrix(self, cuts: Sequence[Cut]) -> sp.csr_array:
        """(cuts, n): their coefficients."""
        return rows_of(cuts, self.rows.shape[1])
