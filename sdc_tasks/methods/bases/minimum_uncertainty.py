"""The minimum-uncertainty rule (METHOD §4; interval protection, [2] §6): the least half-widths that keep every requirement.

    min Σ_k w_k h_k  over h ≥ 0  such that each requirement has a witness z with |B z| ≤ h

is one linear program with a copy of z for each requirement. It is solved by cutting planes. Only requirements that the exact publication
breaks can ever be active: wider intervals never help the attacker. A pass takes them one by one, widens h by what each lacks
(`extension.py`), and keeps the cuts: it ends with a safe h, an upper bound. The master LP over all cuts gives the lower bound; the next
pass starts from the master's optimum within a box around the best safe h (Marsten's boxstep), whose size follows its success. The
lower bound is recomputed from the master's prices by weak duality.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.bases.cut import Cut
from sdc_tasks.methods.bases.extension import Demand, Extension, order
from sdc_tasks.model.table import Floats
from sdc_tasks.solver.lp import LiveLP, LPResult, Status

Progress = Callable[[str], None]
WIDEST = 1.0
BOX = 0.5  # the box at first, as a share of the half-widths
INNER = 10  # passes over the demands that lacked something lately, between two passes over all
RENEW = 3  # after so many passes over all, only those that lacked something in the last one count as such
FLOOR = 1e-3  # a half-width counts at least as this share of the mean one


@dataclass(frozen=True)
class HalfWidths:
    """Safe `half`-widths of the aggregate cells, their `loss` Σ w h, and a proven lower `bound` on the loss of any.

    `prices` λ ≥ 0 belong to the first of the `cuts`: the bound is Σ λ rhs.
    """

    half: Floats = field(repr=False)
    loss: float
    bound: float
    cuts: tuple[Cut, ...] = field(repr=False)
    prices: Floats = field(repr=False)

    @property
    def gap(self) -> float:
        """(loss − bound) / loss; 0 where nothing is lost."""
        return (self.loss - self.bound) / self.loss if self.loss > 0 else 0.0

    def blame(self) -> dict[int, float]:
        """The share of the bound that is due to each primary (flat index), by the dual values of the master; adds up to 1."""
        shares: dict[int, float] = {}
        for cut, price in zip(self.cuts, self.prices.tolist(), strict=False):
            if price > 0:
                shares[cut.primary] = shares.get(cut.primary, 0.0) + price * cut.rhs
        total = sum(shares.values())
        return {primary: share / total for primary, share in shares.items()}


def minimum_uncertainty(extension: Extension, weights: Floats, gap: float, rounds: int, progress: Progress) -> HalfWidths:
    """Half-widths within `gap` of the least loss, or what `rounds` passes leave. `weights` > 0: loss per unit, (aggregate cells,)."""
    cuts: list[Cut] = []
    master, bound, prices, box = _Master(weights), 0.0, np.zeros(0), BOX
    best, lacking = widen(extension, extension.demands, np.zeros(len(weights)), cuts)
    for number in range(rounds):
        master.add(cuts)
        found, prices = master.bound()
        bound, loss = max(bound, found), float(weights @ best)
        progress(f"minimum uncertainty, pass {number}: loss {loss:.5g}, bound {bound:.5g}, {len(cuts)} cuts, {extension.lps} LPs")
        if loss - bound <= gap * loss:
            break
        start = master.near(best, box)
        for _ in range(INNER):  # the demands that lacked something lately first: few, and they lack most
            wider, _ = widen(extension, lacking, start, cuts)
            if weights @ (wider - start) <= max(gap * loss, loss - bound) / 4:
                break
            master.add(cuts)
            start = master.near(best, box)
        wider, found_lacking = widen(extension, extension.demands, start, cuts)
        lacking = sorted({*found_lacking, *lacking}, key=order) if number % RENEW else found_lacking
        if weights @ wider < loss:
            best, box = wider, min(2 * box, WIDEST)
        else:
            box /= 2
    return HalfWidths(best, float(weights @ best), bound, tuple(cuts), prices)


def widen(extension: Extension, demands: Sequence[Demand], half: Floats, cuts: list[Cut]) -> tuple[Floats, list[Demand]]:
    """Half-widths at least `half` that meet every demand, and the demands that lacked something; what they lacked goes to `cuts`."""
    extension.face(half, half)
    lacking = []
    for demand in demands:
        if (lack := extension.lack(demand)) is not None:
            lacking.append(demand)
            cuts.append(lack.cut)
            half = half + lack.below + lack.above
            extension.face(half, half)
    return half, lacking


def least_possible(cuts: Sequence[Cut], weights: Floats) -> float:
    """A lower bound on Σ w h of any half-widths that meet these cuts, so of all safe ones."""
    master = _Master(weights)
    master.add([_scaled(cut, weights) for cut in cuts if len(cut.cells)])
    return master.bound()[0]


def _scaled(cut: Cut, weights: Floats) -> Cut:
    """The same cut with |price| ≤ weight, as those of `extension.py` are: prices and right-hand sides near 1 for the master."""
    size = float((np.abs(cut.price) / weights[cut.cells]).max())
    return replace(cut, price=cut.price / size, rhs=cut.rhs / size)


class _Master:
    """min Σ y over the cuts, y_k = w_k h_k: all cost and prices are near 1 then."""

    def __init__(self, weights: Floats) -> None:
        self._weights, self.count = weights, 0
        n = len(weights)
        self._everything = np.arange(n)
        self._rows: list[sp.csr_array] = []
        self._rhs = np.zeros(0)
        self._live = LiveLP(np.ones(n), sp.csr_array((0, n)), np.zeros(0), np.zeros(0), np.zeros(n), np.full(n, np.inf))
        self._live.method("dual")

    def add(self, cuts: Sequence[Cut]) -> None:
        """Takes in the cuts that are new since the last call."""
        cuts = cuts[self.count :]
        if not cuts:
            return
        rows = symmetric(cuts, self._weights)
        rhs = np.array([cut.rhs for cut in cuts])
        self._live.add_rows(rows, rhs, np.full(len(rhs), np.inf))
        self._rows.append(rows)
        self._rhs = np.concatenate([self._rhs, rhs])
        self.count += len(cuts)

    def bound(self) -> tuple[float, Floats]:
        """A proven lower bound on the loss, and the price λ ≥ 0 of each cut: Σ λ rhs, with λ scaled down to Σ λ |q| ≤ w."""
        if not self.count:
            return 0.0, np.zeros(0)
        n = len(self._weights)
        result = self._solve(np.zeros(n), np.full(n, np.inf))
        prices = np.maximum(result.dual, 0.0)
        load = sp.csr_array(sp.vstack(self._rows, format="csr")).T @ prices
        prices /= max(1.0, float(load.max(initial=0.0)))
        return float(prices @ self._rhs), prices

    def near(self, half: Floats, box: float) -> Floats:
        """The best half-widths for the cuts within a box around the given ones."""
        y = self._weights * half
        size = box * np.maximum(y, FLOOR * y.mean())
        return np.maximum(self._solve(np.maximum(y - size, 0.0), y + size).x, 0.0) / self._weights

    def _solve(self, lower: Floats, upper: Floats) -> LPResult:
        self._live.set_bounds(self._everything, lower, upper)
        result = self._live.solve()
        return result if result.status is Status.OPTIMAL else self._live.solve(fresh=True)


def symmetric(cuts: Sequence[Cut], weights: Floats) -> sp.csr_array:
    """(cuts, aggregate cells): |price| / weight, what a unit of loss in a cell gives to each cut where low = high."""
    starts = np.concatenate([[0], np.cumsum([len(cut.cells) for cut in cuts])])
    cells = np.concatenate([cut.cells for cut in cuts])
    shares = np.abs(np.concatenate([cut.price for cut in cuts])) / weights[cells]
    rows = sp.csr_array((shares, cells, starts), shape=(len(cuts), len(weights)))
    rows.sum_duplicates()  # a cell may be named on both sides
    return rows
