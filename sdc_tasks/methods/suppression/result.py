"""What every method of this room returns: a pattern that was verified, what it costs, and how much better one could be."""

from __future__ import annotations

from dataclasses import dataclass, field

from sdc_tasks.model.table import Bools, Ints, read_only


@dataclass(frozen=True)
class Moment:
    """What was known after so many seconds: the cost of the best verified pattern (None: none yet), the bound, which step said so."""

    seconds: float
    cost: float | None
    bound: float
    step: str


@dataclass(frozen=True)
class SuppressionResult:
    """The best verified pattern of a method, and the proven bound: no safe pattern costs less.

    `pattern` (n) is True at primaries and secondaries; None where no safe pattern was found before the end. `unprotected` are the
    positions of primaries that the verifier could not show to be protected; empty for every pattern that is offered as safe.
    `ended` says why the method stopped: proven, gap, work, time.
    """

    pattern: Bools | None = field(repr=False)
    cost: float | None
    bound: float
    method: str
    ended: str
    unprotected: Ints = field(repr=False)
    seconds: float
    history: tuple[Moment, ...] = field(repr=False)

    def __post_init__(self) -> None:
        if self.pattern is not None:
            object.__setattr__(self, "pattern", read_only(self.pattern))
        object.__setattr__(self, "unprotected", read_only(self.unprotected))

    @property
    def safe(self) -> bool:
        return self.pattern is not None and not len(self.unprotected)

    @property
    def gap(self) -> float | None:
        """(cost − bound) / cost; None without a pattern."""
        if self.cost is None:
            return None
        return 0.0 if self.cost <= 0 else max(0.0, (self.cost - self.bound) / self.cost)
