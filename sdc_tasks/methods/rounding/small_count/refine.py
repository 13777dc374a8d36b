"""A refinement after the exchange of [4]: it lowers ‖z − z̃‖² over all rounded cells,
not only over those of one batch.

A move gives the base to one cell or takes it back. Sweeps go through all rounded cells in random order, in
blocks. c of a block is computed at once; the few cells whose move pays are handled in groups with their exact
cross-product, the best first, until none pays. So every move is judged by its real effect, conflicts within a
group included. A move pays when ‖z − z̃‖² falls by more than a threshold, which is random with scale `heat`
(Glauber's rule, which leaves local optima), and 0 in the last sweeps. No group makes the table more
sensitive: a move that would leave a published cell small is not made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from sdc_tasks.methods.rounding.small_count.cells import Codes
from sdc_tasks.methods.rounding.small_count.inner import cross_product
from sdc_tasks.methods.rounding.small_count.state import Filling
from sdc_tasks.model.table import Bools, Floats, Ints

BLOCK = 2048  # cells whose c is computed at once
GROUP = 64  # moves that are judged together


class Refiner:
    """Sweeps over `chosen` inner cells of a state, with their rows of X. `columns` are the
    crossings that show sensitive cells.
    """

    def __init__(self, state: Filling, chosen: Ints, rows: Codes, rng: np.random.Generator) -> None:
        self.state, self.chosen, self.rows, self.rng = state, chosen, rows, rng
        self.own = (rows >= 0).sum(axis=1) * state.base / 2.0  # half of M_kk
        self.scale = state.base * float(np.sqrt(rows.shape[1]))
        self.sources = list(state.dummy.sources)

    def run(self, heats: Iterable[float]) -> int:
        """One sweep per heat. Returns the number of moves."""
        return sum(self._sweep(heat) for heat in heats)

    def improve(
        self, heats: Sequence[float], runs: int, wanted: int, progress: Callable[[str], None]
    ) -> None:
        """Runs the sweeps several times, each from the end of the last one, balances, and keeps the best
        table, the initial one included.

        The best table is nearest to the sum `wanted`, and among such tables has the least ‖z − z̃‖².
        """
        touched = np.unique(self.rows)
        self.balance(wanted)
        best, kept = self._worth(wanted, touched), self.state.y[self.chosen]
        for run in range(runs):
            for sweep, heat in enumerate(heats, start=1):
                progress(f"refinement {run * len(heats) + sweep} of {runs * len(heats)}")
                self._sweep(heat)
            self.balance(wanted)
            if (found := self._worth(wanted, touched)) < best:
                best, kept = found, self.state.y[self.chosen]
        other = np.flatnonzero(self.state.y[self.chosen] != kept)
        self.state.move(self.chosen[other], self.rows[other], (kept - self.state.y[self.chosen])[other])

    def _worth(self, wanted: int, touched: Codes) -> tuple[int, float]:
        """The distance of the sum from `wanted`, and ‖z − z̃‖² of the published cells that moves touch."""
        return abs(wanted - int(self.state.y[self.chosen].sum())), float(
            np.sum(self.state.lack[touched] ** 2)
        )

    def balance(self, wanted: int) -> None:
        """Gives or takes the base, best first, until the chosen cells add up as closely
        to `wanted` as the base allows.
        """
        while (
            missing := int(np.floor((wanted - int(self.state.y[self.chosen].sum())) / self.state.base + 0.5))
        ) != 0:
            up = self._is_up()
            open_ = np.flatnonzero(~up if missing > 0 else up & ~self._leaves_small(np.arange(len(up))))
            if not len(open_):
                return
            c = self.state.gradient(self.rows[open_])
            worth = (c if missing > 0 else -c) - self.own[open_]
            best = open_[np.argsort(-worth, kind="stable")[: min(abs(missing), GROUP)]]
            if not self._apply(best):
                self._apply(best[:1])  # alone it is open

    def _is_up(self) -> Bools:
        return np.asarray(self.state.y[self.chosen] > self.state.floor[self.chosen])

    def _sweep(self, heat: float) -> int:
        order, moves = self.rng.permutation(len(self.chosen)), 0
        for begin in range(0, len(order), BLOCK):
            block = order[begin : begin + BLOCK]
            threshold = self.own[block]
            if heat:
                threshold = threshold + heat * self.scale * self.rng.logistic(size=len(block))
            cells = self.chosen[block]
            sign = np.where(self.state.y[cells] > self.state.floor[cells], -1.0, 1.0)
            paying = np.flatnonzero(sign * self.state.gradient(self.rows[block]) > threshold)
            for at in range(0, len(paying), GROUP):
                group = paying[at : at + GROUP]
                moves += self._judge(block[group], sign[group], threshold[group])
        return moves

    def _judge(self, which: Ints, sign: Floats, threshold: Floats) -> int:
        """Makes the moves of a group that pay, one after the other. Returns their number."""
        open_ = (sign > 0) | ~self._leaves_small(which)
        which, sign, threshold = which[open_], sign[open_], threshold[open_]
        if not len(which):
            return 0
        rows = self.rows[which]
        M = cross_product(rows, self.state.base)
        worth = sign * self.state.gradient(rows) - threshold
        moved = []
        while worth[k := int(worth.argmax())] > 0:
            worth -= sign[k] * sign * M[k]
            worth[k] = -np.inf  # and stays so
            moved.append(k)
        return self._apply(which[moved])

    def _apply(self, which: Ints) -> int:
        """Moves these cells, and takes back moves that leave a published cell small.
        Returns the number of moves that stay.
        """
        state, cells, rows = self.state, self.chosen[which], self.rows[which]
        amounts = np.where(state.y[cells] > state.floor[cells], -state.base, state.base)
        state.move(cells, rows, amounts)
        made = len(which)
        while len(
            down := np.flatnonzero(amounts < 0)
        ):  # two moves, each allowed alone, may leave a published cell small together
            wrong = down[state.is_small(rows[down][:, self.sources]).any(axis=1)]
            if not len(wrong):
                break
            state.move(cells[wrong], rows[wrong], -amounts[wrong])
            amounts[wrong] = state.base
            made -= len(wrong)
        return made

    def _leaves_small(self, which: Ints) -> Bools:
        """Which cells may not give their base back."""
        return np.asarray(
            self.state.is_small(self.rows[which][:, self.sources], less=self.state.base).any(axis=1)
        )
