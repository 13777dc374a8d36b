"""The perturbation table of the cell key method: which noise a count gets, by the place of its cell key.

Fraser & Wooton (2005) and Marley & Leaver (2011) of the Australian Bureau of Statistics; the form with
probabilities, and its maximum entropy design, are of Giessing, *Computational issues in the design of
transition probabilities and disclosure risk estimation for additive noise*, PSD 2016. A row belongs to a true
count: its steps v and how likely each is. A cell key in [0, 1) chooses the step into whose interval it falls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.table import Floats, Ints, read_only
from sdc_tasks.model.tolerances import FEASIBILITY

MOST_FLOAT_PLACES = 10**9  # beyond, the product of a float and these is off by whole places


@dataclass(frozen=True)
class NoiseRow:
    """The noise of one count: `steps` (m,) in the order of their intervals, and the upper ends `upper` (m,)
    of these, increasing, the last one 1. A step may have several intervals.

    Raises ValueError, which says what is wrong, for anything else.
    """

    steps: Ints = field(repr=False)
    upper: Floats = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", read_only(np.asarray(self.steps, dtype=np.int64)))
        upper = np.array(self.upper, dtype=np.float64)
        if len(upper) == 0 or upper.shape != self.steps.shape:
            raise ValueError("a row has as many probabilities as steps, at least one")
        if not np.isfinite(upper).all() or (np.diff(upper, prepend=0.0) < 0).any():
            raise ValueError("a probability is below 0")
        if abs(upper[-1] - 1) > FEASIBILITY:  # files tell probabilities in 8 digits
            raise ValueError("the probabilities of the row do not sum to 1")
        upper[upper > 1] = 1.0
        upper[-1] = 1.0
        object.__setattr__(self, "upper", read_only(upper))

    @classmethod
    def likely(cls, steps: Sequence[int] | Ints, p: Sequence[float] | Floats) -> NoiseRow:
        """The row of steps with these probabilities, in this order."""
        return cls(np.asarray(steps), np.cumsum(np.asarray(p, dtype=np.float64)))

    @property
    def p(self) -> Floats:
        """(m,): the probability of each interval."""
        return np.diff(self.upper, prepend=0.0)

    def ends(self, of: int) -> Ints:
        """(m,): upper · of, rounded up: a cell key below it is below the end."""
        if of > MOST_FLOAT_PLACES:
            return np.array([math.ceil(Fraction(repr(end)) * of) for end in self.upper.tolist()])
        # nearest first: a decimal such as 0.36648551 is no binary fraction
        return np.ceil(np.round(self.upper * of, 4)).astype(np.int64)

    def drawn(self, places: npt.NDArray[np.uint64], of: int) -> Ints:
        """(n,): the step of each cell key, place / of."""
        return self.steps[np.searchsorted(self.ends(of), places.astype(np.int64), side="right")]

    @property
    def support(self) -> Ints:
        """The steps that occur, increasing, each once."""
        return np.unique(self.steps[self.p > 0])

    @property
    def mean(self) -> float:
        """Σ p v: the bias."""
        return math.fsum(self.p * self.steps)

    @property
    def variance(self) -> float:
        """Σ p v² − mean²."""
        return math.fsum(self.p * self.steps.astype(float) ** 2) - self.mean**2


@dataclass(frozen=True)
class PerturbationTable:
    """A row for each count 0 … top. A larger count uses the last `repeat` rows in turn: 1 in tables whose
    last row is symmetric, 250 in those of the English office, which round.

    Raises ValueError for a row that lets a count fall below 0, or moves an empty cell: nobody is in it, so it
    has no key.
    """

    rows: tuple[NoiseRow, ...] = field(repr=False)
    repeat: int = 1
    keys: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.repeat <= len(self.rows):
            raise ValueError("as many rows at least as are used in turn")
        for count, row in enumerate(self.rows):
            if row.support[0] < -count:
                raise ValueError(f"the row of count {count} falls below 0")
        if self.rows[0].support.tolist() != [0]:
            raise ValueError("the row of count 0 moves an empty cell")

    @property
    def top(self) -> int:
        """The largest count with a row of its own."""
        return len(self.rows) - 1

    @property
    def largest(self) -> int:
        """D: no count moves farther."""
        return max(int(np.abs(row.support).max()) for row in self.rows)

    def row_of(self, counts: Ints) -> Ints:
        """(n,): the row of each count."""
        first = len(self.rows) - self.repeat
        if self.repeat == 1:
            return np.minimum(counts, first)
        return np.where(counts <= self.top, counts, first + (counts - first) % self.repeat)

    def noise(self, counts: Ints, places: npt.NDArray[np.uint64], of: int) -> Ints:
        """(n,): the step of each count whose cell key is place / of: that of the first interval whose upper
        end is larger than the key, as in R cellKey 1.0.2 and τ-ARGUS. Raises InvalidInput where rows and keys
        are too many together.
        """
        thresholds, steps = self._flat(of)
        rows = self.row_of(counts)
        at = np.searchsorted(thresholds, rows * of + places.astype(np.int64), side="right")
        return steps[at]

    def _flat(self, of: int) -> tuple[Ints, Ints]:
        """Rows one after the other: the upper ends, row · of + ⌈upper · of⌉, and the steps."""
        known = self._flattened
        if of not in known:
            if len(self.rows) * of >= 2**63:
                raise InvalidInput(
                    f"a perturbation table of {len(self.rows)} rows, and keys of so many digits. Remedy: "
                    f"round the keys to 12 decimals"
                )
            ends = np.concatenate([k * of + row.ends(of) for k, row in enumerate(self.rows)])
            steps = np.concatenate([row.steps for row in self.rows])
            known[of] = ends, steps
        return known[of]

    @cached_property
    def _flattened(self) -> dict[int, tuple[Ints, Ints]]:
        return {}

    def origins(self, published: int) -> Ints:
        """The true counts that may be published as this one, increasing: count + step of its support."""
        found = [
            count
            for count in range(max(0, published - self.largest), published + self.largest + 1)
            if published - count in self._supports[int(self.row_of(np.array([count]))[0])]
        ]
        return np.array(found, dtype=np.int64)

    @cached_property
    def _supports(self) -> tuple[frozenset[int], ...]:
        return tuple(frozenset(row.support.tolist()) for row in self.rows)
