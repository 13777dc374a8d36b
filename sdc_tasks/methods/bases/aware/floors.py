"""The finest option that a secret key leaves each aggregate cell (METHOD §9, Theorem 3).

A cell that hides a national cell keeps its exact figure with the chance 1 − `removed`. Otherwise the key
draws the finest base that is left: the first step of the ladder that is at least FINEST_SHARE of a public
estimate of the cell (finer bases are not offered), or a coarser step, each NEXT_STEP times as likely as the
one before it; or, with the chance `removed` again, only to withhold. So each option of the cell has a chance
above 0, which is public: coarse bases and withheld cells cost most, and are drawn least.

A draw depends on the key, the epoch and the cell: not on values, and not on the version.
The same key gives the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sdc_tasks.methods.attack.replay.public import Public
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.methods.bases.strata import hides_something
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, read_only
from sdc_tasks.model.tolerances import ROUNDING

FINEST_SHARE = 1e-3  # relative to the estimate: finer bases are not offered
NEXT_STEP = 2 / 3  # chance of a step, relative to the step before it


@dataclass(frozen=True)
class Floors:
    """What the key leaves, by aggregate cell. `finest`: the finest base that is left; 0 with the exact
    figure, ∞ if only to withhold is left. `first`: the finest base that is offered at all; 0 for a cell about
    which the key decides nothing. `down`: a value half-way between two multiples goes down.
    """

    first: Floats = field(repr=False)
    finest: Floats = field(repr=False)
    down: Bools = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("first", "finest", "down"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


@dataclass(frozen=True)
class CellBases:
    """The bases of one cell: number i stands for mantissas[i mod m] · 10^(i div m) · smallest.
    `first`: the number of the finest one.
    """

    options: BasesOptions
    first: int

    @classmethod
    def of(cls, options: BasesOptions, size: float) -> CellBases:
        """`size`: about the value of the cell."""
        return cls(options, _number(options, FINEST_SHARE * size))

    def base(self, number: int) -> float:
        mantissas = sorted(self.options.mantissas)
        decade, at = divmod(number, len(mantissas))
        return float(mantissas[at] * 10.0**decade * self.options.smallest)

    def finest(self, drawn: float) -> float:
        """The finest base that a draw in [0, 1) leaves a cell without its exact figure."""
        if drawn < self.options.removed:
            return np.inf
        above = (1 - drawn) / (1 - self.options.removed)
        return self.base(self.first + int(np.floor(np.log(above) / np.log(NEXT_STEP))))

    def chance(self, base: float) -> float:
        """The chance of this draw."""
        if np.isinf(base):
            return self.options.removed
        return (
            (1 - self.options.removed)
            * (1 - NEXT_STEP)
            * NEXT_STEP ** (_number(self.options, base) - self.first)
        )


def floors_of(problem: ProtectionProblem, options: BasesOptions, exact: Bools) -> Floors:
    """What the key leaves each cell. `exact` cells keep their exact figure, and so do cells that hide
    nothing: anybody can add them up.
    """
    cells = np.flatnonzero(problem.aggregate)
    free = hides_something(problem) & ~exact
    size = sizes_of(problem)
    first, finest, down = np.zeros(len(cells)), np.zeros(len(cells)), np.zeros(len(cells), dtype=bool)
    for k in np.flatnonzero(free).tolist():
        key = problem.salt.derive("finest base", str(options.epoch), problem.space.key(int(cells[k]))).key
        exact_too, base = (int.from_bytes(key[at : at + 6], "big") / 2**48 for at in (0, 6))
        down[k] = bool(key[12] & 1)
        steps = CellBases.of(options, float(size[k]))
        first[k] = steps.base(steps.first)
        if exact_too < options.removed:
            finest[k] = steps.finest(base)
    return Floors(first, finest, down)


def sizes_of(problem: ProtectionProblem) -> Floats:
    """(aggregate cells,): about the values, from public figures alone: with nothing published, in
    the middle of what is possible.
    """
    cells = np.flatnonzero(problem.aggregate)
    middle = Public.of(problem, Publication.nothing(cells)).middle()
    return np.zeros(len(cells)) if middle is None else middle.a[cells]


def _number(options: BasesOptions, base: float) -> int:
    """The number of the first step whose base is at least this one."""
    mantissas = np.sort(np.array(options.mantissas))
    if base <= options.smallest * mantissas[0]:
        return 0
    decade = int(np.floor(np.log10(base / options.smallest * (1 + ROUNDING))))
    at = int(np.searchsorted(mantissas, base / options.smallest / 10.0**decade * (1 - ROUNDING)))
    return decade * len(mantissas) + at
