"""The inner part of the algorithm of [4] §5: it chooses the inner cells that get the base, so that
the published cells stay close.

    M = b X Xᵀ        c = X z        z: what the published cells lack when all cells of the batch are 0

Giving b to cell k subtracts row k of M from c, and changes ‖z‖² by b (M_kk − 2 c_k); taking it back changes
it by b (M_kk + 2 c_k). Where all cells are in equally many crossings, filling the largest c is the steepest
descent in ‖z‖², and the exchange of the paper continues exactly while ‖z‖² falls. Here it continues only
while ‖z‖² falls, so it always ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.rounding.small_count.cells import Codes
from sdc_tasks.model.table import Bools, Floats


@dataclass(frozen=True)
class Steps:
    """How fillings and removals alternate. After every `forward` fillings (0: never) follow up to `backward`
    removals that each lower ‖z‖². The last phase exchanges up to `final` cells at once. The algorithm of [4]
    is (0, 0, 1). Raises InvalidInput for other combinations.
    """

    forward: int = 0
    backward: int = 0
    final: int = 1

    def __post_init__(self) -> None:
        if min(self.forward, self.backward, self.final) < 0 or (
            self.backward and self.backward >= self.forward
        ):
            raise InvalidInput(
                "steps: no number may be negative, and BACK must be below FORWARD. Remedy: give them as "
                "FORWARD,BACK,FINAL"
            )


def cross_product(rows: Codes, base: int) -> Floats:
    """M = b X Xᵀ (k, k) of k rows of a `Dummy`: b times the number of published cells that two rows share."""
    by_crossing = np.ascontiguousarray(rows.T)
    M = np.zeros((len(rows), len(rows)), dtype=np.float32)
    for numbers in by_crossing:
        if numbers.min(initial=0) < 0:
            numbers = np.where(numbers < 0, -1 - np.arange(len(numbers)), numbers)
            np.add(M, (numbers[:, None] == numbers) & (numbers >= 0), out=M)
        else:
            np.add(M, numbers[:, None] == numbers, out=M)
    return np.multiply(M, base, dtype=np.float64)


def fill(c: Floats, M: Floats, count: int, steps: Steps = Steps()) -> Bools:
    """(k,): the `count` cells that get the base. `c` (k,) and `M` (k, k) as above. Ties go to
    the first cell, so shuffle before.
    """
    c, chosen = c.astype(np.float64), np.zeros(len(c), dtype=bool)
    diagonal = M.diagonal()
    filled, since = 0, 0
    while filled < count:
        _add(c, M, chosen)
        filled, since = filled + 1, since + 1
        if steps.forward and since == steps.forward and filled < count:
            removed = 0
            while removed < steps.backward and _worth_removing(c, diagonal, chosen):
                _remove(c, M, chosen)
                removed += 1
            filled, since = filled - removed, 0
    while (
        0 < count < len(c)
        and steps.final
        and _exchange(c, M, chosen, min(steps.final, count, len(c) - count))
    ):
        pass
    return chosen


def _add(c: Floats, M: Floats, chosen: Bools) -> float:
    """Fills the cell with the largest c. Returns the change of ‖z‖² / b."""
    k = int(np.where(chosen, -np.inf, c).argmax())
    change = float(M[k, k] - 2 * c[k])
    c -= M[k]
    chosen[k] = True
    return change


def _remove(c: Floats, M: Floats, chosen: Bools) -> float:
    k = int(np.where(chosen, c, np.inf).argmin())
    change = float(M[k, k] + 2 * c[k])
    c += M[k]
    chosen[k] = False
    return change


def _worth_removing(c: Floats, diagonal: Floats, chosen: Bools) -> bool:
    k = int(np.where(chosen, c, np.inf).argmin())
    return bool(diagonal[k] + 2 * c[k] < 0)


def _exchange(c: Floats, M: Floats, chosen: Bools, most: int) -> bool:
    """Takes the base from up to `most` cells and gives it to others; fewer at a time where ‖z‖²
    does not fall. Whether ‖z‖² fell.
    """
    before = c.copy(), chosen.copy()
    while most:
        change = sum(_remove(c, M, chosen) for _ in range(most))
        change += sum(_add(c, M, chosen) for _ in range(most))
        if change < 0:
            return True
        c[:], chosen[:] = before
        most //= 2
    return False
