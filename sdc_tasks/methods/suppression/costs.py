"""The cost of suppressing a cell, for each choice in `names.py`: one number ≥ 0 for each of the n cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import get_args

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.suppression.names import CellCosts
from sdc_tasks.model.table import Bools, Floats


@dataclass(frozen=True)
class Priced:
    """The inputs of the costs: the relations M (m, n), the values, the primary cells, and the
    columns of a file (n), if it has them.
    """

    M: sp.csr_array = field(repr=False)
    a: Floats = field(repr=False)
    primary: Bools = field(repr=False)
    own: Floats | None = field(default=None, repr=False)
    frequency: Floats | None = field(default=None, repr=False)


def cell_costs(cells: Priced, costs: CellCosts) -> Floats:
    """(n): the cost of each cell. Raises InvalidInput if the cells lack an input of these costs."""
    return FORMULAS[costs](cells)


def _own(cells: Priced) -> Floats:
    if cells.own is None:
        raise InvalidInput(
            "costs of the file: it has none. Remedy: add a cost to each cell, or choose other costs"
        )
    return cells.own


def _frequency(cells: Priced) -> Floats:
    if cells.frequency is None:
        raise InvalidInput(
            "costs by frequency: the numbers of contributors are not given. Remedy: give the counts, or "
            "choose other costs"
        )
    return cells.frequency


def _distance(cells: Priced) -> Floats:
    """1 for cells that share a relation with a primary, 2 for cells that share one with
    those, and so on; all others cost n.
    """
    shares = sp.csr_array((np.ones(cells.M.nnz), cells.M.indices, cells.M.indptr), shape=cells.M.shape)
    steps = np.where(cells.primary, 0.0, float(len(cells.a)))
    reached, step = cells.primary.copy(), 0
    while True:
        step += 1
        fresh = (shares.T @ (shares @ reached.astype(float)) > 0) & ~reached
        if not fresh.any():
            return np.maximum(steps, 1.0)
        steps[fresh] = step
        reached = reached | fresh


FORMULAS: Mapping[CellCosts, Callable[[Priced], Floats]] = {
    "value": lambda cells: np.abs(cells.a),
    "one": lambda cells: np.ones(len(cells.a)),
    "file": _own,
    "frequency": _frequency,
    "log": lambda cells: np.log1p(np.abs(cells.a)),
    "distance": _distance,
}
assert set(FORMULAS) == set(get_args(CellCosts)), "costs without a name, or a name without a formula"
