"""Which cells are confidential, and how far from the truth the world must be kept.

Sources: [2] §4; METHOD §2. X is the value of a cell, x1 ≥ x2 the contributions of its largest and second largest unit,
R = X − x1 − x2 what the others contribute.

    sensitivity   fewer units than the minimum frequency, or  p/100·x1 > R   (the second unit estimates the first too well)
    p%            level = p/100·x1 − R
    (p,q)         level = p/q·x1 − R
    (n,k)         level = 100/k·(x1 + … + xn) − X
    few units     level = percent % of X ≥ percent % of x1, or the most that the rule can ask of any cell where that is more
    no shares     level = percent % of X: what the domain decides for a flag without a reason

Shares arrive rounded: x1 = SHARE_1 % of X lies within `share_error[0]` percentage points of the truth, x2 within `share_error[1]`.
Every level above grows with x1 *and* with x2 (a larger second unit leaves a smaller R), so the safe side of both is up, and R is
never below 0. The level is then at least the level of the exact contributions: a theorem that the tests check on hand-made ones.
"""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np

from sdc_tasks.model.table import Bools, Floats, Ints


class RuleProtocol(Protocol):
    """The level rule of one primary flag; the fields as a domain file gives them."""

    @property
    def kind(self) -> Literal["percent", "p_percent", "pq", "nk"]: ...
    @property
    def percent(self) -> float: ...
    @property
    def p(self) -> float: ...
    @property
    def q(self) -> float: ...
    @property
    def n(self) -> Literal[1, 2]: ...
    @property
    def k(self) -> float: ...
    @property
    def share_error(self) -> tuple[float, float]: ...
    @property
    def few_units(self) -> int: ...
    @property
    def few_units_minimum(self) -> float: ...
    @property
    def minimum(self) -> float: ...
    @property
    def sliding(self) -> float: ...


def sensitive(x1: Floats | Ints, x2: Floats | Ints, X: Floats | Ints, units: Ints, p: float, minimum_frequency: int) -> Bools:
    """The primary cells of a table made from microdata. A cell without units is empty, hence public."""
    few = units < minimum_frequency
    dominated = p / 100 * x1 > X - x1 - x2
    return np.asarray((units > 0) & (few | dominated))


def protection_levels(
    value: Floats,
    units: Ints,
    share_1: Floats,
    share_2: Floats,
    rule: RuleProtocol,
) -> tuple[Floats, Floats, Floats]:
    """(lpl, upl, spl) of the cells of one rule, as distances in the unit of `value`.

    `units` is −1 and a share NaN (percent of the value) where not sent. `lpl` is not cut at the external bound here.
    """
    size = np.abs(value)
    known = _share_level(size, share_1, share_2, rule)
    level = np.where(np.isnan(known), rule.percent / 100 * size, known)
    few = (units >= 1) & (units <= rule.few_units)
    most = max(rule.percent, _most_percent(rule)) / 100 * size
    level = np.where(few, np.maximum(most, rule.few_units_minimum), level)
    level = np.maximum(level, rule.minimum)
    return level, level.copy(), rule.sliding * 2 * level


def _share_level(X: Floats, share_1: Floats, share_2: Floats, rule: RuleProtocol) -> Floats:
    """The level by the rule's own formula; NaN where it needs a share that was not sent."""
    x1 = (share_1 + rule.share_error[0]) / 100 * X
    two = x1 + (share_2 + rule.share_error[1]) / 100 * X
    rest = np.maximum(X - two, 0.0)  # keeps NaN
    match rule.kind:
        case "p_percent":
            return np.asarray(rule.p / 100 * x1 - rest)
        case "pq":
            return np.asarray(rule.p / rule.q * x1 - rest)
        case "nk":
            return np.asarray(100 / rule.k * np.minimum(x1 if rule.n == 1 else two, X) - X)
        case "percent":
            return np.full(len(X), np.nan)


def _most_percent(rule: RuleProtocol) -> float:
    """The largest level the rule's formula gives to any cell, in percent of its value: one unit holds everything."""
    match rule.kind:
        case "p_percent":
            return rule.p
        case "pq":
            return 100 * rule.p / rule.q
        case "nk":
            return 100 * (100 / rule.k - 1)
        case "percent":
            return rule.percent
