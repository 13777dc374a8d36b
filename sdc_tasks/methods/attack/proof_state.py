"""What has been shown so far about the targets of a prover."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdc_tasks.methods.attack.knowledge import Insiders
from sdc_tasks.methods.attack.targets import DOWN, SLIDE, UP, Targets
from sdc_tasks.model.table import Bools, Floats, Ints


@dataclass(frozen=True, repr=False)
class Shown:
    """A snapshot of a `ProofState`."""

    open: Bools
    low: Floats
    high: Floats


@dataclass(frozen=True)
class News:
    """What a new point has shown: whether it `closed` a target, and whether it made a sliding
    level `wider`.
    """

    closed: bool
    wider: bool


class ProofState:
    """`open` (targets, attackers): not shown yet. `low`, `high` (targets,): the least and the largest
    deviation of the cell in points that fool every attacker.

    `enough` (targets,): the reach from which a need counts as met. `asked` (targets, attackers): against
    whom each target must hold. `skip_proven`: ignore insiders against whom the target is already proven
    (only where insiders act alone).
    """

    def __init__(
        self, targets: Targets, insiders: Insiders, asked: Bools, enough: Floats, skip_proven: bool
    ) -> None:
        self._targets, self._insiders, self._asked, self._enough = targets, insiders, asked, enough
        self._skip_proven = skip_proven and insiders.alone
        self.forget()

    def forget(self) -> None:
        """Forgets everything that was shown."""
        n = len(self._targets)
        self.open, self.low, self.high = self._asked.copy(), np.zeros(n), np.zeros(n)

    def snapshot(self) -> Shown:
        """The present state, in arrays that later points do not change."""
        return Shown(self.open.copy(), self.low, self.high)

    def restore(self, shown: Shown) -> None:
        """As it was then."""
        self.open, self.low, self.high = shown.open.copy(), shown.low, shown.high

    @property
    def waiting(self) -> Bools:
        """(targets,): open against some attacker."""
        return np.asarray(self.open.any(axis=1))

    @property
    def reach(self) -> Floats:
        """(targets,): how far each target reaches in the points that fool every attacker."""
        side = self._targets.side
        return np.where(side == DOWN, -self.low, np.where(side == UP, self.high, self.high - self.low))

    def count(self, z: Floats, sound: tuple[bool, bool]) -> News:
        """Counts a point z and its mirror image −z for all targets. `sound` says which of the two is a
        witness; the other one is ignored.
        """
        moved = np.flatnonzero(z[self._targets.column])  # a point shows nothing of other targets
        column, side, enough = self._targets.column[moved], self._targets.side[moved], self._enough[moved]
        sliding, closed, wider = side == SLIDE, False, False
        for point, ok in zip((z, -z), sound, strict=True):
            if not ok:
                continue
            seen, fooled, open_ = point[column], self._insiders.fooled(point), self.open[moved]
            fooled = fooled if len(fooled) == 1 else fooled[moved]
            everybody = (fooled | ~open_).all(axis=1) if self._skip_proven else fooled.all(axis=1)
            low, high, waiting = self.low[moved], self.high[moved], open_.any(axis=1)
            lower = np.where(everybody, np.minimum(low, seen), low)
            higher = np.where(everybody, np.maximum(high, seen), high)
            self.low, self.high = _with(self.low, moved, lower), _with(self.high, moved, higher)
            met = np.where(sliding, everybody & (higher - lower >= enough), side * seen >= enough)
            wider = wider or bool((sliding & waiting & ((lower < low) | (higher > high))).any())
            closing = np.flatnonzero(met & waiting)
            if len(closing):
                was, now = (
                    open_[closing],
                    (fooled if len(fooled) == 1 else fooled[closing]) | sliding[closing, None],
                )
                self.open[moved[closing]] = was & ~now
                closed = closed or bool((was & now).any())
        return News(closed, wider)


def _with(values: Floats, at: Ints, new: Floats) -> Floats:
    """A copy with other values at some places: a snapshot may hold the array."""
    values = values.copy()
    values[at] = new
    return values
