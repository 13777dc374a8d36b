"""Which cells are confidential, and how much uncertainty each must keep.

Sources: [2] §4; METHOD §2. X is the value of a cell, x1 ≥ x2 are the contributions of its largest and second
largest unit, R = X − x1 − x2 is the contribution of all others.

    sensitivity   fewer units than the minimum frequency, or  p/100·x1 > R   (the second
    unit estimates the first too well)
    p%            level = p/100·x1 − R
    (p,q)         level = p/q·x1 − R
    (n,k)         level = 100/k·(x1 + … + xn) − X
    few units     level = percent % of X ≥ percent % of x1, or the largest level that the rule
                  gives to any cell, if that is more
    no shares     level = percent % of X: the choice of the domain for a flag without a reason

Shares arrive rounded: x1 = SHARE_1 % of X lies within `share_error[0]` percentage points of the truth, x2
within `share_error[1]`. Every level above grows with x1 *and* with x2 (a larger second unit leaves a smaller
R), so both are rounded up, and R is never below 0. The level is then at least the level of the exact
contributions; tests check this theorem on examples.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from sdc_tasks.model.strict import Strict
from sdc_tasks.model.table import Bools, Floats, Ints


class _Rule(Strict):
    """The options that all kinds of rules share.

    A cell without the shares that the rule needs gets `percent` % of the value. A cell of at most `few_units`
    units gets the largest of `percent` % of the value, `few_units_minimum`, and the largest level that the
    rule gives to any cell. No level is below `minimum` (both minima in the unit of the indicator).
    `share_error` percentage points are added to SHARE_1 and SHARE_2; under kind `percent` they are added to
    what the units know of one another.
    """

    percent: float = Field(
        default=10.0,
        gt=0,
        description="level of cells without shares, and of few units, in percent of the value",
    )
    share_error: tuple[float, float] = Field(
        default=(0.5, 0.5), description="percentage points added to SHARE_1, SHARE_2"
    )
    few_units: int = Field(
        default=2, ge=0, description="cells of so many units, or fewer, get at least `percent`"
    )
    few_units_minimum: float = Field(
        default=1.0, ge=0, description="least level of such a cell, in the unit of the indicator"
    )
    minimum: float = Field(
        default=0.001, gt=0, description="least level of any cell, in the unit of the indicator"
    )
    sliding: float = Field(default=0.0, ge=0, description="spl as a multiple of lpl + upl")


class PercentRule(_Rule):
    """Level `percent` % of the value."""

    kind: Literal["percent"] = Field(default="percent", description="a percentage of the value")

    @property
    def shares(self) -> int:
        """The number of shares that the rule needs."""
        return 0

    @property
    def most_percent(self) -> float:
        """The largest level of any cell, in percent of the value: the level of a cell with a single unit."""
        return self.percent

    def level(self, X: Floats, share_1: Floats, share_2: Floats) -> Floats:
        """(cells,): the level by the formula of the rule; NaN where a share that it needs was not sent."""
        return np.full(len(X), np.nan)


class PPercentRule(_Rule):
    """Level p/100·x1 − (X − x1 − x2)."""

    kind: Literal["p_percent"] = Field(default="p_percent", description="the p% rule")
    p: float = Field(
        default=10.0, gt=0, description="how closely, in percent, no unit may estimate the largest one"
    )

    @property
    def shares(self) -> int:
        return 2

    @property
    def most_percent(self) -> float:
        return self.p

    def level(self, X: Floats, share_1: Floats, share_2: Floats) -> Floats:
        x1, two = _largest(X, share_1, share_2, self.share_error)
        return np.asarray(self.p / 100 * x1 - np.maximum(X - two, 0.0))  # np.maximum keeps NaN


class PQRule(_Rule):
    """Level p/q·x1 − (X − x1 − x2)."""

    kind: Literal["pq"] = Field(default="pq", description="the (p, q) rule")
    p: float = Field(
        default=10.0, gt=0, description="how closely, in percent, no unit may estimate the largest one"
    )
    q: float = Field(
        default=100.0,
        gt=0,
        description="how closely, in percent, everybody can estimate the others beforehand",
    )

    @property
    def shares(self) -> int:
        return 2

    @property
    def most_percent(self) -> float:
        return 100 * self.p / self.q

    def level(self, X: Floats, share_1: Floats, share_2: Floats) -> Floats:
        x1, two = _largest(X, share_1, share_2, self.share_error)
        return np.asarray(self.p / self.q * x1 - np.maximum(X - two, 0.0))


class NKRule(_Rule):
    """Level 100/k·(x1 + … + xn) − X, n = 1 or 2."""

    kind: Literal["nk"] = Field(default="nk", description="the (n, k) rule: dominance")
    n: Literal[1, 2] = Field(default=1, description="number of largest units")
    k: float = Field(
        default=75.0, gt=0, le=100, description="percent of the value that they may hold together"
    )

    @property
    def shares(self) -> int:
        return self.n

    @property
    def most_percent(self) -> float:
        return 100 * (100 / self.k - 1)

    def level(self, X: Floats, share_1: Floats, share_2: Floats) -> Floats:
        x1, two = _largest(X, share_1, share_2, self.share_error)
        return np.asarray(100 / self.k * np.minimum(x1 if self.n == 1 else two, X) - X)


LevelRule = Annotated[PercentRule | PPercentRule | PQRule | NKRule, Field(discriminator="kind")]


def sensitive(
    x1: Floats | Ints, x2: Floats | Ints, X: Floats | Ints, units: Ints, p: float, minimum_frequency: int
) -> Bools:
    """(cells,): the primary cells of a table made from microdata. A cell without units is empty, hence
    public.
    """
    few = units < minimum_frequency
    dominated = p / 100 * x1 > X - x1 - x2
    return np.asarray((units > 0) & (few | dominated))


def protection_levels(
    value: Floats,
    units: Ints,
    share_1: Floats,
    share_2: Floats,
    rule: LevelRule,
) -> tuple[Floats, Floats, Floats]:
    """(lpl, upl, spl) of the cells of one rule, each (cells,), as distances in the unit of `value`.

    `units` is −1 where not sent; a share is in percent of the value, NaN where not sent. `lpl` is
    not yet cut at the external bound.
    """
    size = np.abs(value)
    known = rule.level(size, share_1, share_2)
    level = np.where(np.isnan(known), rule.percent / 100 * size, known)
    few = (units >= 1) & (units <= rule.few_units)
    most = max(rule.percent, rule.most_percent) / 100 * size
    level = np.where(few, np.maximum(most, rule.few_units_minimum), level)
    level = np.maximum(level, rule.minimum)
    return level, level.copy(), rule.sliding * 2 * level


def level_lines(units: Ints, share_1: Floats, share_2: Floats, rule: LevelRule) -> tuple[Floats, Floats]:
    """(slope, least) of the cells of one rule, each (cells,): the level of a cell with the
    value X is max(slope · |X|, least), if flags, units and shares stay as they are.
    Arguments as for `protection_levels`.
    """
    one = np.ones(len(units))
    few = (units >= 1) & (units <= rule.few_units)
    known = rule.level(one, share_1, share_2)
    slope = np.where(
        few, max(rule.percent, rule.most_percent) / 100, np.where(np.isnan(known), rule.percent / 100, known)
    )
    return np.maximum(slope, 0.0), np.maximum(np.where(few, rule.few_units_minimum, 0.0), rule.minimum)


def _largest(
    X: Floats, share_1: Floats, share_2: Floats, error: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Upper bounds of (x1, x1 + x2); NaN where a share was not sent."""
    x1 = (share_1 + error[0]) / 100 * X
    return x1, x1 + (share_2 + error[1]) / 100 * X
