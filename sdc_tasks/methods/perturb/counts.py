"""Perturbs the counts of a publication: each cell by itself, so that totals are not the sums of their
parts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sdc_tasks.methods.perturb.keys import CellKeying, Keys
from sdc_tasks.methods.perturb.ptable import PerturbationTable
from sdc_tasks.methods.rounding.small_count.dummy import Dummy
from sdc_tasks.model.table import Floats, Ints, read_only


@dataclass(frozen=True)
class PerturbedCells:
    """P published cells that occur: `noise` (P,) is that of each, 0 where nobody is in it."""

    dummy: Dummy = field(repr=False)
    table: PerturbationTable = field(repr=False)
    noise: Ints = field(repr=False)

    @property
    def published(self) -> Ints:
        """(P,): count + noise, at least 0."""
        return self.dummy.z + self.noise


def perturb_cells(dummy: Dummy, inner: Keys, keying: CellKeying, table: PerturbationTable) -> PerturbedCells:
    """`inner` (n,): the keys of the inner cells."""
    noise = keying.noise(table, dummy.z, keying.totals(dummy, inner))
    return PerturbedCells(dummy, table, read_only(noise))


def weighted(cells: PerturbedCells, weights: Floats) -> Floats:
    """(P,): the perturbed weighted counts: the perturbed count times the mean weight of the cell, as R
    cellKey 1.0.2 has it. `weights` (n,): the sum of the weights in each inner cell.
    """
    sums = np.zeros(cells.dummy.published)
    for j in range(len(cells.dummy.parent)):
        column = cells.dummy.column(j)
        there = column >= 0
        np.add.at(sums, column[there], weights[there])
    counts = cells.dummy.z
    return np.divide(cells.published * sums, counts, out=np.zeros(len(sums)), where=counts > 0)
