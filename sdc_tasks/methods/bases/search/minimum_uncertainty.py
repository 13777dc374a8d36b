"""The minimum-uncertainty rule (METHOD §4; interval protection, [2] §6): the least
half-widths that keep every requirement.

    min Σ_k w_k h_k  over h ≥ 0  such that each requirement has a witness z with |B z| ≤ h

is one linear program with a copy of z for each requirement. Cutting planes solve it. Only requirements that
the exact publication breaks can be active: wider intervals never help the attacker. A pass takes some of
them one by one, widens h by what each lacks (`extension.py`) and keeps the cuts; its final h meets them
all. The master LP over all cuts gives the lower bound. While this bound is far from the best h, the next
pass starts from the master's optimum within a box around the best h (Marsten's boxstep). Later it starts
half-way between the two (in-out separation, Ben-Ameur and Neto). Few requirements are active, so two kinds
of pass alternate: passes over the requirements that lacked something in one of the last two passes, and
rounds over all requirements, which make h safe and give the upper bound. Weak duality recomputes the lower
bound from the master's prices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.bases.search.extension import Demand, Extension, order
from sdc_tasks.model.progress import Say
from sdc_tasks.model.table import Bools, Floats
from sdc_tasks.optimise import Cut
from sdc_tasks.solver.lp import LiveLP, LPResult, Status

WIDEST = 1.0
FIRST_BOX = 0.5  # the box at first, as a share of the half-widths
BOXED_GAP = 0.15  # gap beyond which a step stays in the box
FIRST_GAP = 0.03  # gap of the first round; a quarter of it in the next, and so on
LATELY = 1  # passes after which a demand that lacked nothing waits for the next round
DEMAND_ROUNDS, ACTIVE_PASSES = (
    30,
    60,
)  # at most; rounds over all demands, passes over the active ones in a round
FLOOR = 1e-3  # a half-width counts at least as this share of the mean one


@dataclass(frozen=True)
class HalfWidths:
    """Safe `half`-widths of the aggregate cells, their `loss` Σ w h, and a proven lower `bound` on
    the loss of any safe half-widths.

    `prices` λ ≥ 0 belong to the first of the `cuts`: the bound is Σ λ rhs.
    """

    half: Floats = field(repr=False)
    loss: float
    bound: float
    cuts: tuple[Cut, ...] = field(repr=False)
    prices: Floats = field(repr=False)

    @property
    def gap(self) -> float:
        """(loss − bound) / loss; 0 without loss."""
        return (self.loss - self.bound) / self.loss if self.loss > 0 else 0.0

    def blame(self) -> dict[int, float]:
        """The share of the bound that is due to each primary (flat index), by the dual
        values of the master; adds up to 1.
        """
        shares: dict[int, float] = {}
        for cut, price in zip(self.cuts, self.prices.tolist(), strict=False):
            if price > 0:
                shares[cut.primary] = shares.get(cut.primary, 0.0) + price * cut.right
        total = sum(shares.values())
        return {primary: share / total for primary, share in shares.items()}

    def blame_in(self, parts: Bools) -> dict[int, Floats]:
        """(parts,) for each primary of `blame`: what of its share is for aggregate cells of each part.
        `parts` (parts, aggregate cells), which may overlap.
        """
        shares = self.blame()
        spread = {primary: np.zeros(len(parts)) for primary in shares}
        every = dict.fromkeys(shares, 0.0)
        for cut, price in zip(self.cuts, self.prices.tolist(), strict=False):
            if price > 0:
                paid = price * np.abs(cut.coefficients) * self.half[cut.columns]
                spread[cut.primary] += parts[:, cut.columns] @ paid
                every[cut.primary] += float(paid.sum())
        return {primary: share * spread[primary] / every[primary] for primary, share in shares.items()}


def minimum_uncertainty(
    extension: Extension, weights: Floats, gap: float, progress: Say, cuts: Sequence[Cut] = ()
) -> HalfWidths:
    """Half-widths within `gap` of the least loss, or the best of `DEMAND_ROUNDS` rounds. `weights`
    (aggregate cells,) > 0: loss per unit.

    `cuts`: known cuts, which save the first steps.
    """
    master = _Master(weights, [_scaled(cut, weights) for cut in cuts if len(cut.columns)])
    best, active = widen(extension, extension.demands, master.least().half, master.cuts)
    near = best
    for number in range(DEMAND_ROUNDS):
        near, least, recent = _least_for(active, extension, near, max(gap / 2, FIRST_GAP / 4**number), master)
        near, unmet = widen(extension, extension.demands, near, master.cuts)
        active = sorted({*recent, *unmet}, key=order)
        best = min(best, near, key=weights.__matmul__)
        loss = float(weights @ best)
        progress(
            f"minimum uncertainty, round {number}: loss {loss:.5g}, bound {least.bound:.5g}, {len(unmet)} "
            f"requirements lacked something, "
            f"{len(master.cuts)} cuts, {extension.lps} LPs"
        )
        if loss - least.bound <= gap * loss:
            break
    return HalfWidths(best, float(weights @ best), least.bound, tuple(master.cuts), least.prices)


def _least_for(
    active: Sequence[Demand], extension: Extension, best: Floats, gap: float, master: _Master
) -> tuple[Floats, _Least, list[Demand]]:
    """The least half-widths for these demands alone, from `best`, which meets them; and the
    demands that lately lacked something.

    A demand that lacks nothing for a while is ignored until the next round. Until then,
    the half-widths may not meet it.
    """
    weights, box, last = master.weights, FIRST_BOX, dict.fromkeys(active, 0)
    for number in range(ACTIVE_PASSES):
        least, loss = master.least(), float(weights @ best)
        if loss - least.bound <= gap * loss:
            break
        far = loss - least.bound > BOXED_GAP * loss
        start = master.near(best, box) if far else (best + least.half) / 2
        wanted = [demand for demand in active if last[demand] >= number - LATELY]
        wider, unmet = widen(extension, wanted, start, master.cuts)
        last |= dict.fromkeys(unmet, number)
        better = weights @ wider < loss
        if better:
            best = wider
        if far:
            box = min(2 * box, WIDEST) if better else box / 2
    return best, least, [demand for demand in active if last[demand] >= number - LATELY]


def widen(
    extension: Extension, demands: Sequence[Demand], half: Floats, cuts: list[Cut]
) -> tuple[Floats, list[Demand]]:
    """Half-widths at least `half` that meet every demand, and the demands that lacked something;
    what they lacked goes to `cuts`.
    """
    extension.set_slacks(half, half)
    unmet = []
    for demand in demands:
        if (deficit := extension.deficit(demand)) is not None:
            unmet.append(demand)
            cuts.append(deficit.cut)
            half = half + deficit.below + deficit.above
            extension.set_slacks(half, half)
    return half, unmet


def _scaled(cut: Cut, weights: Floats) -> Cut:
    """The same cut with |price| ≤ weight, as in `extension.py`: prices and right-hand sides near 1 for the
    master.
    """
    size = float((np.abs(cut.coefficients) / weights[cut.columns]).max())
    return replace(cut, coefficients=cut.coefficients / size, right=cut.right / size)


@dataclass(frozen=True)
class _Least:
    """The master's optimum: half-widths, proven bound, and the price λ ≥ 0 of each cut."""

    half: Floats = field(repr=False)
    bound: float
    prices: Floats = field(repr=False)


class _Master:
    """min Σ y over the `cuts`, to which callers may append; y_k = w_k h_k, so all costs and prices are near
    1.
    """

    def __init__(self, weights: Floats, cuts: Sequence[Cut] = ()) -> None:
        self.weights, self.cuts = weights, list(cuts)
        n = len(weights)
        self._everything = np.arange(n)
        self._rows: list[sp.csr_array] = []
        self._rhs = np.zeros(0)
        self._live = LiveLP(
            np.ones(n), sp.csr_array((0, n)), np.zeros(0), np.zeros(0), np.zeros(n), np.full(n, np.inf)
        )
        self._live.method("dual")

    def least(self) -> _Least:
        """The optimum over the cuts; its prices are scaled down to Σ λ |q| ≤ w, which makes Σ λ rhs a proven
        bound.
        """
        n = len(self.weights)
        result = self._solve(np.zeros(n), np.full(n, np.inf))
        prices = np.maximum(result.dual, 0.0)
        load = sp.csr_array(sp.vstack(self._rows, format="csr")).T @ prices if self._rows else np.zeros(n)
        prices /= max(1.0, float(load.max(initial=0.0)))
        return _Least(np.maximum(result.x, 0.0) / self.weights, float(prices @ self._rhs), prices)

    def near(self, half: Floats, box: float) -> Floats:
        """The best half-widths for the cuts within a box around the given ones."""
        y = self.weights * half
        size = box * np.maximum(y, FLOOR * y.mean())
        return np.maximum(self._solve(np.maximum(y - size, 0.0), y + size).x, 0.0) / self.weights

    def _solve(self, lower: Floats, upper: Floats) -> LPResult:
        self._take()
        self._live.set_bounds(self._everything, lower, upper)
        result = self._live.solve()
        return result if result.status is Status.OPTIMAL else self._live.solve(fresh=True)

    def _take(self) -> None:
        """Takes in the cuts that are new."""
        if cuts := self.cuts[len(self._rhs) :]:
            rows = _symmetric(cuts, self.weights)
            rhs = np.array([cut.right for cut in cuts])
            self._live.add_rows(rows, rhs, np.full(len(rhs), np.inf))
            self._rows.append(rows)
            self._rhs = np.concatenate([self._rhs, rhs])


def _symmetric(cuts: Sequence[Cut], weights: Floats) -> sp.csr_array:
    """(cuts, aggregate cells): |price| / weight, what a unit of loss in a cell gives to each cut if low =
    high.
    """
    starts = np.concatenate([[0], np.cumsum([len(cut.columns) for cut in cuts])])
    cells = np.concatenate([cut.columns for cut in cuts])
    shares = np.abs(np.concatenate([cut.coefficients for cut in cuts])) / weights[cells]
    rows = sp.csr_array((shares, cells, starts), shape=(len(cuts), len(weights)))
    rows.sum_duplicates()  # a cell may be named on both sides
    return rows
