"""Tables that the attacker cannot tell from the truth, stored compactly: most of them move only a
few cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Bools, Floats, Ints


@dataclass(frozen=True)
class Witness:
    """Deviations `value` of the `columns` of z (ascending), 0 elsewhere. `batch`: the part of an audit
    that found it, −1 for all batches.

    `sound`: whether the table is a witness, and whether its mirror image is.
    """

    columns: Ints = field(repr=False)
    value: Floats = field(repr=False)
    batch: int = -1
    sound: tuple[bool, bool] = (True, True)

    @classmethod
    def of(cls, z: Floats, batch: int, sound: tuple[bool, bool]) -> Witness:
        columns = np.flatnonzero(z)
        return cls(columns, z[columns], batch, sound)

    def dense(self, n: int) -> Floats:
        """All n deviations."""
        z = np.zeros(n)
        z[self.columns] = self.value
        return z


def fewest(proven: Sequence[Bools]) -> list[int]:
    """Positions of a few witnesses that together prove as much as all. `proven`: the targets that each one
    proves. A greedy choice: the next witness is the one that proves most of the remaining targets.
    """
    if not proven:
        return []
    what = _as_rows(proven)
    by_target = sp.csc_array(what)
    left, chosen = np.diff(by_target.indptr) > 0, list[int]()
    more: Ints = np.asarray(what.sum(axis=1)).ravel()
    while left.any():
        best = int(more.argmax())
        chosen.append(best)
        mine = what.indices[what.indptr[best] : what.indptr[best + 1]]
        mine = mine[left[mine]]
        left[mine] = False
        more -= np.bincount(by_target[:, mine].indices, minlength=len(proven))
    return sorted(chosen)


def _as_rows(proven: Sequence[Bools]) -> sp.csr_array:
    targets = [np.flatnonzero(each) for each in proven]
    start = np.cumsum([0, *map(len, targets)])
    return sp.csr_array(
        (np.ones(start[-1], dtype=np.int64), np.concatenate(targets), start),
        shape=(len(proven), len(proven[0])),
    )


def stacked(witnesses: Sequence[Witness]) -> sp.csr_array:
    """(witnesses, columns): as wide as the last column that any of them moves."""
    width = max((int(each.columns[-1]) + 1 for each in witnesses if len(each.columns)), default=0)
    return of_rows([(each.columns, each.value) for each in witnesses], width)


def of_rows(rows: Sequence[tuple[Ints, Floats]], width: int) -> sp.csr_array:
    """The matrix of these rows, each given by its columns and their values. They are copied once: those
    of an audit may fill a gigabyte.
    """
    start = np.cumsum([0, *(len(columns) for columns, _ in rows)])
    index = sp.get_index_dtype(maxval=max(int(start[-1]), width))
    columns = np.concatenate(
        [np.zeros(0, dtype=index), *(columns for columns, _ in rows)], dtype=index, casting="same_kind"
    )
    values = np.concatenate([np.zeros(0), *(values for _, values in rows)])
    return sp.csr_array((values, columns, start.astype(index)), shape=(len(rows), width))
