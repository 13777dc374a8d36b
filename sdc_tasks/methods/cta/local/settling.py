"""Settles senses by elastic linear programs at a rising price, wave after wave of sensitive cells.

The elastic LP of `senses.py` starts with a low price ρ for shortfalls: cells that are cheap to protect reach
their level, cells that stay at z = 0 change to the side where the duals of the relations make moving cheaper,
and ρ rises. Random senses, in contrast, are almost never feasible.

Where a few sensitive cells cause most of the cost (weight 1), these are decided first; then the next ones
join, each on the side to which it has moved. A cell that has not joined moves for nothing as far as its
level, because it must move anyway. The LPs of the first waves are fast, and the heavy cells decide most of
the cost: so their senses are exchanged (`heavy.py`) before others join.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sdc_tasks.methods.cta.local.heavy import exchange
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.methods.cta.senses import FIRM, Fixed, SenseLP
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import ZERO

PRICES = ((3.0, 6.0, 12.0), (1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 30.0))  # in steps of ρ, coarse and fine
HEAVY_SHARE = (
    2 / 3
)  # if a tenth of the sensitive cells has this share of all weight · level, these cells go first
SCALES = (0.01, 0.03, 0.1, 0.3)  # of the sensitive cells, the heaviest
# share of the sensitive cells up to which senses are exchanged (`heavy.py`): with more, each LP takes long
EXCHANGED = 0.03
FEW_PRICES, REST_PRICES = (2.0, 4.0, 8.0), (4.0, 8.0)  # while only the heaviest count; once all do
STILL_SHARE = 0.999  # share of its level that a cell falls short by when it does not move
REPAIRS = 12
FRESH_ONE_IN = 100  # the LP starts from scratch if more than one sense in this number has changed
IMPATIENT = 8  # and also after this fraction (1 / 8) of the iterations of a solve from scratch


@dataclass(frozen=True)
class Wave:
    """Positions of the sensitive cells that join, the prices to solve at, and whether senses are exchanged
    then.
    """

    which: Ints = field(repr=False)
    prices: tuple[float, ...]
    exchanged: bool = False


def heavy_first(problem: CtaProblem, real: int | None = None) -> bool:
    """Whether a tenth of the sensitive cells (of the first `real` of them) has most of the
    cost, and each of them has a weight.
    """
    cost = _costs(problem, real)
    return (
        len(cost) > 0
        and cost.min() > 0
        and bool(np.sort(cost)[::-1][: len(cost) // 10].sum() > HEAVY_SHARE * cost.sum())
    )


def waves(problem: CtaProblem, prices: tuple[float, ...], real: int | None = None) -> Iterator[Wave]:
    """The heaviest cells first, if a few have most of the cost; only the first `real` sensitive cells ever
    join.

    All cells at once if some have no weight, as in a release: there the cost is in other cells.
    """
    order, done = np.argsort(-_costs(problem, real), kind="stable"), 0
    s = len(order)
    if heavy_first(problem, real):
        for share in SCALES:
            if int(share * s) > done:
                yield Wave(order[done : int(share * s)], FEW_PRICES, share <= EXCHANGED)
            done = int(share * s)
        prices = REST_PRICES
    yield Wave(order[done:], (*prices, *[FIRM] * REPAIRS))


def _costs(problem: CtaProblem, real: int | None) -> Floats:
    """What the smaller level of each sensitive cell costs, of the first `real` of them."""
    return np.asarray((problem.w[problem.sensitive] * np.minimum(problem.lpl, problem.upl))[:real])


class Settling:
    """The senses `up` (s,) of a model while waves join. `found`: the last solution; None where time ran out
    before any.
    """

    def __init__(
        self, problem: CtaProblem, run: Run, model: SenseLP, up: Bools, rng: np.random.Generator
    ) -> None:
        """Nothing counts yet. `up`: the senses of the first wave, and of cells that do
        not show a side when they join.
        """
        self._problem, self._run, self.model, self._rng = problem, run, model, rng
        self.up = model.possible(up)
        self.found: Fixed | None = None
        self._counts = np.zeros(len(up), dtype=bool)
        model.ignore(np.arange(len(up)))

    def lean(self) -> None:
        """Solves with no sense set, so that the first wave too joins on the side to which it moves."""
        self.model.penalise(FIRM)
        self.found = self.model.solve(self._run.left, fresh=True)

    def join(self, wave: Wave) -> bool:
        """Lets a wave join. Returns False where time ran out, or the solver returned no point."""
        model, run, both = self.model, self._run, self.model.can_rise & self.model.can_fall
        if self.found is not None:
            leaning = _leaning(self.found, self._problem.sensitive, self.up)
            self.up = model.possible(np.where(self._counts, self.up, leaning))
        model.set(wave.which, self.up[wave.which])
        firm = self._counts.copy()  # cells that joined before stay while these find their sides
        self._counts[wave.which] = True
        many, patience = True, None
        for rho in wave.prices:
            model.penalise(rho, firm)
            before = model.effort
            solved = model.solve(run.left, many, patience)
            patience = (
                (model.effort - before) // IMPATIENT if patience is None else patience
            )  # in terms of a fresh solve
            if solved is None:
                return False
            self.found = solved
            level = np.where(self._counts, np.where(self.up, model.upl, model.lpl), np.inf)
            if rho == FIRM and not (solved.short > ZERO * level).any():
                break
            turn = _to_turn(solved, level, both & ~firm if rho < FIRM else both, rho, self._rng)
            self.up = self.up ^ turn
            model.set(np.flatnonzero(turn), self.up[turn])
            many = int(turn.sum()) > self._counts.sum() / FRESH_ONE_IN
        if wave.exchanged:
            model.penalise(FIRM)
            exchanged, self.up = exchange(model, run, self.up, self._counts, self._rng)
            if exchanged is None:
                return False
            self.found = exchanged
        return True


def _leaning(found: Fixed, cells: Ints, up: Bools) -> Bools:
    """The side to which a cell whose level did not count has moved, or would move more
    cheaply; `up` where both are equal.
    """
    z, lean = found.z[cells], found.lean[cells]
    return np.where(np.abs(z) > ZERO, z > 0, np.where(np.abs(lean) > ZERO, lean > 0, up))


def _to_turn(found: Fixed, level: Floats, both: Bools, rho: float, rng: np.random.Generator) -> Bools:
    """The senses to change: cells that do not move while the price is low, and later
    some of the cells that fall short.
    """
    if rho < FIRM:
        return both & (found.short >= STILL_SHARE * level)
    short = both & (found.short > ZERO * level)
    return short & (rng.random(len(short)) < 0.5)
