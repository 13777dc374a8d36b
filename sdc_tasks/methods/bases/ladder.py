"""The ladder of rounding bases, `mantissas × 10^k`, and rounding to the nearest multiple of a base.

The options of an aggregate cell are the rungs of this ladder: 0 is exact, 1 … are its bases in ascending
order up to the maximum relative base, the last one is withheld.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints, read_only
from sdc_tasks.model.tolerances import ROUNDING

HIDING_TERMS = 10  # cells: a sum over this many tells none of its terms


def nearest_multiple(value: Floats, base: Floats, down: Bools | None = None) -> Floats:
    """The multiple of the base nearest to the value; a tie goes up, or down where `down` says so."""
    up = base * np.floor(value / base + 0.5)
    return up if down is None else np.where(down, base * np.ceil(value / base - 0.5), up)


@dataclass(frozen=True)
class Ladder:
    """Every option of every aggregate cell; all arrays (cells, options).

    `low`, `high`: the distances from the true value down and up to the ends of the published interval: 0 for
    exact, ∞ for withheld. `base`: inf for withheld and for rungs beyond the maximum relative base. `loss` =
    weight · (base/2 + charge · value), 0 for exact; a withheld cell loses twice as much as with its largest
    allowed base. The charge makes repair round a few cells instead of many cells a little. Cells of one
    `stratum` (cells,) ≥ 0 rise together; each cell is withheld alone. If the problem has `withheld` a cell,
    each of its options is withheld and loses nothing.
    """

    cells: Ints = field(repr=False)
    value: Floats = field(repr=False)
    base: Floats = field(repr=False)
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    loss: Floats = field(repr=False)
    stratum: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)

    def __post_init__(self) -> None:
        if not len(self.stratum):
            object.__setattr__(self, "stratum", np.full(len(self.cells), -1))
        for name in ("cells", "value", "base", "low", "high", "loss", "stratum"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def withheld(self) -> int:
        """The option that withholds."""
        return int(self.base.shape[1]) - 1

    def publication(self, choice: Ints) -> Publication:
        """The publication that takes `choice[k]` for cell k."""
        rows = np.arange(len(self.cells))
        return Publication(self.cells, self.value[rows, choice], self.base[rows, choice])

    def loss_of(self, choice: Ints) -> float:
        """Information lost by the choice, over all cells."""
        return float(self.loss[np.arange(len(choice)), choice].sum())

    def loss_for_log(self, choice: Ints) -> str:
        """The loss as a log may tell it: to three digits, and only if many cells lose. The loss of
        a few cells, together with the published bases, would tell their values, because the
        weights follow from the values.
        """
        if int((choice > 0).sum()) < HIDING_TERMS:
            return f"not told (fewer than {HIDING_TERMS} cells)"
        return f"{float(f'{self.loss_of(choice):.3g}'):.12g}"  # 1600, not 1.6e+03

    def keeping(self, exact: Bools, published: Bools) -> Ladder:
        """The ladder without the options that are not allowed: their loss becomes infinite."""
        loss = self.loss.copy()
        loss[exact, 1:] = np.inf
        loss[published & ~exact] = np.where(
            np.isfinite(self.base[published & ~exact]), loss[published & ~exact], np.inf
        )
        return replace(self, loss=loss)

    def in_strata(self, stratum: Ints) -> Ladder:
        """The ladder in which the cells of one stratum share an option, unless they are withheld."""
        return replace(self, stratum=stratum)

    def together(self, k: int, option: int, choice: Ints) -> Ints:
        """The cells that take an option together with cell k: the cells of its stratum that are
        not withheld.
        """
        if self.stratum[k] < 0 or option == self.withheld:
            return np.array([k])
        return np.flatnonzero((self.stratum == self.stratum[k]) & (choice < self.withheld))

    def dearer(self, k: int, choice: Ints) -> Floats:
        """The additional loss of each option of cell k compared with the choice, over
        all cells that take it together.
        """
        if self.stratum[k] < 0:
            return np.asarray(self.loss[k] - self.loss[k, choice[k]])
        with_it = self.together(k, 0, choice)
        more = np.asarray((self.loss[with_it] - self.loss[with_it, choice[with_it]][:, None]).sum(axis=0))
        more[-1] = self.loss[k, -1] - self.loss[k, choice[k]]
        return more

    def even(self, choice: Ints) -> Ints:
        """The choice with each stratum at the highest option of its cells, but no higher than all of them may
        take.
        """
        choice = choice.copy()
        for number in np.unique(self.stratum[self.stratum >= 0]):
            mates = np.flatnonzero((self.stratum == number) & (choice < self.withheld))
            if len(mates):
                allowed = np.flatnonzero(np.isfinite(self.loss[mates, : self.withheld]).all(axis=0))
                choice[mates] = allowed[allowed <= choice[mates].max()][-1]
        return choice

    def at_least(self, half: Floats) -> Ints:
        """For each cell the lowest allowed option whose interval reaches `half` to both sides; if
        there is none, the last option.
        """
        enough = (
            (self.low >= half[:, None] * (1 - ROUNDING))
            & (self.high >= half[:, None] * (1 - ROUNDING))
            & np.isfinite(self.loss)
        )
        last = self.loss.shape[1] - 1 - np.isfinite(self.loss[:, ::-1]).argmax(axis=1)
        return np.asarray(np.where(enough.any(axis=1), enough.argmax(axis=1), last))


def ladder_of(
    problem: ProtectionProblem, weights: Floats, options: BasesOptions, down: Bools | None = None
) -> Ladder:
    """All options of the aggregate cells. `weights` is the loss per unit of half-width, one for each
    aggregate cell.

    `down` (cells,): a tie goes down there. With it, what is allowed depends on the printed value,
    not on the true one (METHOD §9).
    """
    cells = np.flatnonzero(problem.aggregate)
    truth = problem.a[cells]
    highest = float(np.abs(truth).max(initial=0.0)) * (
        1 if down is None else 2
    )  # a printed value is at most twice the true one
    bases = _bases(options, options.maximum_relative_base * highest)
    rounded = nearest_multiple(truth[:, None], bases[None, :], None if down is None else down[:, None])
    size = np.broadcast_to(np.abs(truth)[:, None], rounded.shape) if down is None else np.abs(rounded)
    allowed = bases[None, :] <= options.maximum_relative_base * size
    nothing, never = np.zeros((len(cells), 1)), np.full((len(cells), 1), np.inf)
    base = np.hstack([nothing, np.where(allowed, bases, np.inf), never])
    value = np.hstack([truth[:, None], np.where(allowed, rounded, np.nan), np.full((len(cells), 1), np.nan)])
    half = np.where(np.isfinite(base), base / 2, 0.0)
    low = np.where(np.isfinite(base), truth[:, None] - (np.nan_to_num(value) - half), np.inf)
    high = np.where(np.isfinite(base), np.nan_to_num(value) + half - truth[:, None], np.inf)
    low[:, 0] = high[:, 0] = 0.0
    size = weights * np.maximum(np.abs(truth), options.smallest)
    loss = np.where(
        np.isfinite(base), weights[:, None] * half, (size * options.maximum_relative_base)[:, None]
    )
    loss[:, 1:] += (size * options.rounding_charge)[:, None]
    never_published = problem.withheld[cells]
    value[never_published], loss[never_published] = np.nan, 0.0
    for array in (base, low, high):
        array[never_published] = np.inf
    return Ladder(cells, value, base, low, high, loss)


def _bases(options: BasesOptions, largest: float) -> Floats:
    """mantissas × 10^k from `smallest` to `largest`."""
    if largest < options.smallest:
        return np.zeros(0)
    decades = 10.0 ** np.arange(0, np.floor(np.log10(largest / options.smallest)) + 1)
    bases = np.sort(np.outer(decades, options.mantissas).ravel()) * options.smallest
    return bases[bases <= largest]
