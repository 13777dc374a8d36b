"""The result of every suppression method: a verified pattern, its cost, and the proven bound on the least
cost.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sdc_tasks.model.table import Bools, Ints, read_only
from sdc_tasks.model.time.moment import Moment


@dataclass(frozen=True)
class Pattern:
    """A verified pattern: `hidden` (n) is True at primaries and secondaries; `cost` is that of the
    secondaries.
    """

    hidden: Bools = field(repr=False)
    cost: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", read_only(self.hidden))

    def gap(self, bound: float) -> float:
        """(cost − bound) / cost; 0 where nothing is suppressed."""
        return 0.0 if self.cost <= 0 else max(0.0, (self.cost - bound) / self.cost)


@dataclass(frozen=True)
class Uncompleted:
    """What a published method left before it was completed: the cost of its secondaries, and the
    positions of primaries `at_risk`.
    """

    cost: float
    at_risk: Ints = field(repr=False)


@dataclass(frozen=True)
class SuppressionResult:
    """The best verified pattern of a method, and the proven bound: no safe pattern costs less.

    `best` is None if no safe pattern was found. `ended` says why the method stopped: proven, gap, work or
    time. `uncompleted`: of a method that is completed (hypercube, hitas), what it left without that.
    """

    best: Pattern | None = field(repr=False)
    bound: float
    method: str
    ended: str
    seconds: float
    history: tuple[Moment, ...] = field(repr=False)
    uncompleted: Uncompleted | None = field(default=None, repr=False)

    @property
    def pattern(self) -> Bools | None:
        """(n): True where hidden; None without a safe pattern."""
        return None if self.best is None else self.best.hidden

    @property
    def cost(self) -> float | None:
        """The cost of the best pattern; None without a pattern."""
        return None if self.best is None else self.best.cost

    @property
    def gap(self) -> float | None:
        """(cost − bound) / cost; None without a pattern."""
        return None if self.best is None else self.best.gap(self.bound)
