"""The cell key method for sums of values: noise in proportion to the largest contributions.

Giessing & Tent, *Concepts for generalising tools implementing the cell key method to the case of continuous
variables*, UNECE work session 2019, as in R cellKey 1.0.2 (`top_contr`). A sum X whose k largest
contributions are x_1 ≥ x_2 ≥ … is published as

    X + Σ_j x_j m(x_j) ε_j v_j,

with v_j drawn by the cell key from one symmetric row of maximum entropy, mean 0 and variance 1. Contributions
of 0 have no key, so who gives nothing changes no noise. m is `share` up to the flex point f and falls to
`large` beyond:

    m(x) = large (1 + (share x − large f) / (large f) · (2 f / (f + x))^q),   at most share.

Two things differ from R: m is never more than its maximum, and D · share ≤ 1 is asked for, so that no noise
is larger than its sum and no second row is needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.perturb.design import NoiseDesign, is_number, is_whole, symmetric_row
from sdc_tasks.methods.perturb.keys import CellKeying, Keys
from sdc_tasks.methods.perturb.ptable import NoiseRow
from sdc_tasks.methods.rounding.small_count import Dummy
from sdc_tasks.model.table import Floats, Ints

GRAINS = 10  # steps of the noise in one standard deviation
MOST_CONTRIBUTIONS = 6  # k of R cellKey
NO_END = 1 << 48  # units of a sum to which the noise sets no end
HALF = Fraction(1, 2)  # of a unit, which the rounding of a sum may hide


@dataclass(frozen=True)
class ValueNoise:
    """How large the noise of a sum is. `share`: its standard deviation as a share of the largest
    contribution; `large` and `flex_point`: the share that it falls to for contributions beyond the flex
    point, in the unit of the values, and `q` ≥ 1 how fast; `max_step`: D, in standard deviations; `weights`:
    ε, one for each of the largest contributions, the first one 1, falling.

    Raises InvalidInput for numbers that are none of this kind.
    """

    share: float
    large: float | None = None
    flex_point: float | None = None
    q: float = 3.0
    max_step: int = 3
    weights: Sequence[float] = field(default=(1.0,))

    def __post_init__(self) -> None:
        if not (is_whole(self.max_step) and 2 <= self.max_step <= 10):
            raise InvalidInput("max_step is no whole number from 2 to 10. Remedy: give one such as 3")
        if not (is_number(self.share) and 0 < self.share <= 1 / self.max_step):
            raise InvalidInput(
                f"share is no number above 0 and at most 1 / {self.max_step}, the largest step, so the "
                f"noise might be larger than its sum. Remedy: a smaller share"
            )
        self._refuse_flex_point()
        if not (is_number(self.q) and self.q >= 1):
            raise InvalidInput("q is no number, at least 1. Remedy: give one such as 3")
        if not _are_weights(self.weights):
            raise InvalidInput(
                f"weights are no 1 to {MOST_CONTRIBUTIONS} numbers from 1 down to 0. Remedy: give some "
                f"such as (1, 0.5)"
            )

    def _refuse_flex_point(self) -> None:
        large, flex_point = self.large, self.flex_point
        if (large is None) != (flex_point is None):
            raise InvalidInput("large and flex_point belong together. Remedy: give both, or none")
        if large is not None and not (is_number(large) and 0 < large <= self.share):
            raise InvalidInput("large is no number above 0 and at most share. Remedy: give one")
        if flex_point is not None and not (is_number(flex_point) and flex_point > 0):
            raise InvalidInput("flex_point is no number above 0. Remedy: give one, in the unit of the values")

    def multiplier(self, x: Floats) -> Floats:
        """m(x) of contributions (n,)."""
        if self.large is None or self.flex_point is None:
            return np.full(len(x), self.share)
        f, large = self.flex_point, self.large
        beyond = large * (1 + (self.share * x - large * f) / (large * f) * (2 * f / (f + x)) ** self.q)
        return np.where(x < f, self.share, np.minimum(beyond, self.share))

    @property
    def reach(self) -> Fraction:
        """How large noise is at most, as a share of its sum: no contribution is larger than that."""
        return self.max_step * Fraction(self.share) * sum(map(Fraction, self.weights), Fraction(0))

    @cached_property
    def row(self) -> NoiseRow:
        """The distribution of v, in grains."""
        return symmetric_row(NoiseDesign(self.max_step * GRAINS, float(GRAINS**2)))


def _are_weights(told: object) -> bool:
    """Whether these are some numbers, the first one 1, that fall and end at 0 at the least."""
    if not (isinstance(told, tuple | list) and all(map(is_number, told))):
        return False
    return (
        1 <= len(told) <= MOST_CONTRIBUTIONS and told[0] == 1 and all(0 <= b <= a for a, b in pairwise(told))
    )


def sum_bounds(asked: ValueNoise, published: Ints) -> tuple[Ints, Ints]:
    """(n,), (n,): the least and the largest sum that can be published as each value, all in units of the last
    decimal; NO_END where there is none. Raises InvalidInput for values of so many units.
    """
    if len(published) and int(published.max()) >= NO_END:
        raise InvalidInput(
            "a sum has more than 14 digits, decimals too. Remedy: give values in a larger unit, or rounded"
        )
    reach = asked.reach
    low = [max(0, math.ceil((y - HALF) / (1 + reach))) for y in published.tolist()]
    high = [
        min(NO_END, math.floor((y + HALF) / (1 - reach))) if reach < 1 else NO_END for y in published.tolist()
    ]
    return np.array(low, dtype=np.int64), np.array(high, dtype=np.int64)


def value_noise(
    dummy: Dummy, which: Ints, values: Floats, keys: Keys, keying: CellKeying, asked: ValueNoise, column: str
) -> tuple[Floats, Floats]:
    """(P,), (P,): the sums of the published cells, and their noise. `which`, `values`, `keys` (records,): the
    inner cell, the value, at least 0, and the key of each record.
    """
    there = values > 0
    which, values, keys = which[there], values[there], keys[there]
    sums, noise = np.zeros(dummy.published), np.zeros(dummy.published)
    order = np.argsort(-values, kind="stable")
    for j in range(len(dummy.parent)):
        cell = dummy.column(j)[which]
        inside = np.flatnonzero(cell[order] >= 0)
        own = order[inside]
        own = own[np.argsort(cell[own], kind="stable")]  # by cell, the largest first
        if not len(own):
            continue
        starts = np.flatnonzero(np.diff(cell[own], prepend=-1))
        names, sizes = cell[own][starts], np.diff(np.append(starts, len(own)))
        sums[names] = np.add.reduceat(values[own], starts)
        total = keying.group_sums(keys[own], starts)
        for rank, weight in enumerate(asked.weights):
            has = sizes > rank
            largest = values[own][starts[has] + rank]
            v = asked.row.drawn(keying.placed(total[has], f"{column} {rank}"), keying.places) / GRAINS
            noise[names[has]] += largest * asked.multiplier(largest) * weight * v
    return sums, noise
