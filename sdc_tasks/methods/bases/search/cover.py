"""The least loss on the ladder that meets every cut known: local search on a covering problem (METHOD §4).

    min Σ_k loss(o_k)  over options o_k  such that  Σ_k q⁺_k high(o_k) + q⁻_k low(o_k) ≥ rhs  for every cut
    (`cut.py`)

Repair raises bases for one attack at a time, so the sum may be too high. A move here lowers one to three
random cells, preferably those with much loss. Then it raises other cells, at least loss per unit of what
is missing, until every cut holds again, and lowers cells that are now higher than needed. The move is kept
if the loss does not grow. No linear program is solved: repair attacks the result, and successful attacks
give new cuts for the next search.

Every safe choice meets the cuts, so the relaxation of this problem is a lower bound on the
loss of any safe choice (`least`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.bases.ladder import Ladder
from sdc_tasks.methods.bases.search.cut import slack_of
from sdc_tasks.model.progress import Progress, Say, silent
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import ROUNDING, ZERO
from sdc_tasks.optimise import Cut
from sdc_tasks.solver.lp import LiveLP, Status

MOVES, AT_LEAST = 5, 200  # for each cell; in all
MOST_LOWERED = 3  # cells and options that a move lowers
TO_EXACT = 0.4  # chance of lowering a cell as far as it goes
NEAR_CUTS, NEAR_CELLS = (
    30,
    40,
)  # cuts around a move, and cells in these cuts, that are checked for being higher than needed


def cover(ladder: Ladder, cuts: Sequence[Cut], choice: Ints, seed: int, say: Say = silent) -> Ints:
    """A choice that meets the cuts and loses no more than the given choice, which also meets them."""
    work, moves = Progress(say, "search"), AT_LEAST + MOVES * len(choice)
    search = _Search(ladder, [cut for cut in cuts if cut.right > 0], choice)
    rng = np.random.default_rng(seed)
    for number in range(moves):
        if not search.choice.any():
            break
        work.tell(number, moves, "moves")
        search.move(rng)
    return search.choice


def spare(ladder: Ladder, cuts: Sequence[Cut], choice: Ints) -> Ints:
    """Lowers every cell as far as all cuts still hold, cells with much loss first. Then no cell can be
    lowered alone.
    """
    search = _Search(ladder, [cut for cut in cuts if cut.right > 0], choice)
    search.spare(np.flatnonzero(choice), {})
    return search.choice


def least(ladder: Ladder, cuts: Sequence[Cut]) -> float:
    """A lower bound on the loss of every choice that meets the cuts, and so of every safe choice; 0 without
    cuts.

    It is the linear relaxation, each gain counted only as far as the cut needs it. Its dual
    has a price λ ≥ 0 for each cut:

        max Σ λ − Σ_k μ_k  such that  Σ λ gain_ko − loss_ko ≤ μ_k  for every option o of cell k,  μ ≥ 0

    Few options bind, so the program gets the row of an option when prices break it. Only these prices come
    from the solver: with μ_k = max_o (Σ λ gain_ko − loss_ko)⁺, computed here over all options, any λ ≥ 0
    gives a bound, and the best one is returned.
    """
    cuts = [cut for cut in cuts if cut.right > 0]
    if not cuts:
        return 0.0
    cell, cut, gain = _gains(ladder, cuts)
    first = _first(cell)
    loss, start, m, n = ladder.loss[cell[first]], np.append(first, len(cell)), len(cuts), len(first)
    allowed = np.isfinite(loss)
    scale = float(np.median(loss[allowed & (loss > 0)])) if (allowed & (loss > 0)).any() else 1.0
    live = LiveLP(
        np.repeat([-1.0, 1.0], [m, n]),
        sp.csr_array((0, m + n)),
        np.zeros(0),
        np.zeros(0),
        np.zeros(m + n),
        np.full(m + n, np.inf),
    )
    live.method("dual")
    known, owner, best = ~allowed, np.flatnonzero(allowed.any(axis=1)), 0.0
    option = (
        loss.shape[1] - 1 - allowed[owner, ::-1].argmax(axis=1)
    )  # at first the widest, without which a price could be endless
    while len(owner):
        known[owner, option] = True
        of = _Entries.of(start, owner)
        rows = sp.coo_array((-gain[of.at, option[of.owner]], (of.owner, cut[of.at])), shape=(len(owner), m))
        excesses = sp.coo_array((np.ones(len(owner)), (np.arange(len(owner)), owner)), shape=(len(owner), n))
        live.add_rows(
            sp.csr_array(sp.hstack([rows, excesses])),
            -loss[owner, option] / scale,
            np.full(len(owner), np.inf),
        )
        result = live.solve()
        if result.status is not Status.OPTIMAL:
            break
        price, excess = np.maximum(result.x[:m], 0.0) * scale, np.maximum(result.x[m:], 0.0) * scale
        over = sp.csr_array((price[cut], np.arange(len(cut)), start), shape=(n, len(cut))) @ gain - loss
        best = max(best, float(price.sum() * (1 - ROUNDING) - np.maximum(over.max(axis=1), 0.0).sum()))
        over[known] = -np.inf  # the solver keeps its rows to a tolerance
        owner = np.flatnonzero(over.max(axis=1) > excess + ZERO * scale)
        option = over[owner].argmax(axis=1)
    return best


def _gains(ladder: Ladder, cuts: Sequence[Cut]) -> tuple[Ints, Ints, Floats]:
    """(cell, cut) of each entry, cell by cell, and the share of the cut (entries, options)
    that each option of the cell gives.
    """
    cut = np.repeat(np.arange(len(cuts)), [len(each.columns) for each in cuts])
    cell, price = (
        np.concatenate([each.columns for each in cuts]),
        np.concatenate([each.coefficients / each.right for each in cuts]),
    )
    named, at = np.unique(cell * len(cuts) + cut, return_inverse=True)  # a cell may be named on both sides
    gain = np.zeros((len(named), ladder.loss.shape[1]))
    np.add.at(gain, at, np.abs(price)[:, None] * slack_of(ladder, cell, price))
    return *np.divmod(named, len(cuts)), np.minimum(gain, 1.0, out=gain)


@dataclass(frozen=True, repr=False)
class _Entries:
    """Entries `at` of some cells, cell by cell; `owner`: the position of their cell among these cells."""

    at: Ints
    owner: Ints

    @classmethod
    def of(cls, start: Ints, cells: Ints) -> _Entries:
        count = start[cells + 1] - start[cells]
        owner = np.repeat(np.arange(len(cells)), count)
        return cls(np.arange(len(owner)) + np.repeat(start[cells] - np.cumsum(count) + count, count), owner)


class _Search:
    """The present choice. `_given` (cuts,): the share of the right-hand side that the choice gives; each cell
    counts at most 1. `_futile`: lowerings that were taken back from this choice; a small table has few, and
    would try them again and again.

    An entry is a cell named by a cut. The entries of a cell follow each other, from `_start[cell]` on: `_cut`
    (entries,), and `_gives` (entries, options), the share that each option of the cell gives to that cut.
    """

    def __init__(self, ladder: Ladder, cuts: Sequence[Cut], choice: Ints) -> None:
        self.choice = choice.copy()
        self._ladder, self._loss, self._options = ladder, ladder.loss, np.arange(ladder.loss.shape[1])
        cut = np.repeat(np.arange(len(cuts)), [len(each.columns) for each in cuts])
        cells = np.concatenate([np.zeros(0, dtype=np.int64), *(each.columns for each in cuts)])
        price = np.concatenate([np.zeros(0), *(each.coefficients / each.right for each in cuts)])
        order = np.lexsort((cut, cells))
        cells, price, self._cut = cells[order], price[order], cut[order]
        self._start = np.searchsorted(cells, np.arange(len(choice) + 1))
        self._gives = np.minimum(1.0, np.abs(price)[:, None] * slack_of(ladder, cells, price))
        self._cells_of: list[Ints] = [np.unique(each.columns) for each in cuts]
        self._entries_of: dict[int, _Entries] = {}
        self._futile: set[tuple[tuple[int, int], ...]] = set()
        self._given = np.zeros(len(cuts))
        np.add.at(self._given, self._cut, self._gives[np.arange(len(cells)), choice[cells]])

    def move(self, rng: np.random.Generator) -> None:
        lowered = tuple((k, self._lower(k, rng)) for k in self._some(rng).tolist())
        if lowered in self._futile:
            return
        before: dict[int, int] = {}
        cost = self._total()
        for k, option in lowered:
            self._take(k, option, before)
        if self._repaired(cost, before):
            cuts = np.unique(np.concatenate([self._cut[self._of(k)] for k in sorted(before)]))[:NEAR_CUTS]
            self.spare(self._in_cuts(cuts), before, NEAR_CELLS)
            if self._total() <= cost:
                if any(self.choice[k] != option for k, option in before.items()):
                    self._futile.clear()
                return
        for k, option in before.items():
            self._take(k, option, {})
        self._futile.add(lowered)

    def _some(self, rng: np.random.Generator) -> Ints:
        """A raised cell, and perhaps other cells in the same cuts."""
        raised = np.flatnonzero(self.choice)
        dear = self._loss[raised, self.choice[raised]]
        first = int(raised[drawn(dear, rng)] if dear.sum() > 0 else rng.choice(raised))
        more = int(rng.integers(0, MOST_LOWERED))
        cuts = self._cut[self._of(first)]
        if rng.random() < 0.5 or more == 0 or not len(cuts):
            return np.array([first])
        around = self._in_cuts(np.array([rng.choice(cuts)]))
        around = around[(self.choice[around] > 0) & (around != first)]
        return np.append(first, rng.choice(around, min(more, len(around)), replace=False))

    def _lower(self, k: int, rng: np.random.Generator) -> int:
        """An allowed option below the present one of the cell, if there is one."""
        allowed = np.flatnonzero(np.isfinite(self._loss[k, : self.choice[k]]))
        if not len(allowed):
            return int(self.choice[k])
        steps = len(allowed) if rng.random() < TO_EXACT else int(rng.integers(1, MOST_LOWERED + 1))
        return int(allowed[max(0, len(allowed) - steps)])

    def _repaired(self, limit: float, before: dict[int, int]) -> bool:
        """Raises cells until every cut holds; False where that would lose as much as `limit`."""
        cost = self._total()
        while True:
            missing = 1 - self._given
            missing[missing <= ZERO] = 0.0
            if not missing.any():
                return True
            worst = int(missing.argmax())
            cells = self._cells_of[worst]
            now = self.choice[cells]
            more = np.maximum(self._loss[cells] - self._loss[cells, now][:, None], 0.0)
            affordable = (self._options > now[:, None]) & (cost + more < limit)
            if not affordable.any():
                return False
            entries = self._entries(worst)
            lacks = missing[self._cut[entries.at]]
            of_use = np.asarray(affordable.any(axis=1))[entries.owner] & (lacks > 0)
            at, owner, lacks = entries.at[of_use], entries.owner[of_use], lacks[of_use]
            first = _first(owner)  # the cut itself is missing, so each cell that is of use has an entry
            low = int(affordable.any(axis=0).argmax())
            gain = np.minimum(lacks[:, None], self._gives[at, low:] - self._gives[at, now[owner]][:, None])
            gain, cells, affordable = (
                np.add.reduceat(gain, first, axis=0),
                cells[owner[first]],
                affordable[owner[first], low:],
            )
            may = affordable & (gain > ZERO)
            ratio = np.divide(more[owner[first], low:], gain, out=np.full(gain.shape, np.inf), where=may)
            best = int(ratio.argmin())
            if not may.flat[best]:
                return False
            i, option = divmod(best, ratio.shape[1])
            option += low
            k = int(cells[i])
            cost += max(0.0, float(self._loss[k, option] - self._loss[k, self.choice[k]]))
            self._take(k, option, before)

    def spare(self, near: Ints, before: dict[int, int], most: int | None = None) -> None:
        """Lowers these cells as far as every cut still holds, cells with much loss first."""
        near = near[self.choice[near] > 0]
        near = near[np.argsort(-self._loss[near, self.choice[near]], kind="stable")][:most]
        while len(near):
            may = self._lowerable(near)
            found = np.flatnonzero(may.any(axis=1))
            if not len(found):
                break
            k, options = int(near[found[0]]), np.flatnonzero(may[found[0]])
            self._take(k, int(options[self._loss[k, options].argmin()]), before)
            near = near[found[0] + 1 :]

    def _lowerable(self, cells: Ints) -> Bools:
        """(cells, options): the options that lose less than the present one of the cell, and
        with which every cut still holds.
        """
        now = self.choice[cells]
        may = (self._options < now[:, None]) & (self._loss[cells] < self._loss[cells, now][:, None])
        entries = _Entries.of(self._start, cells)
        if not len(entries.at):
            return may
        gives = self._gives[entries.at]
        less = gives[np.arange(len(gives)), now[entries.owner]][:, None] - gives
        enough = less <= (self._given[self._cut[entries.at]] - 1 + ZERO)[:, None]
        first = _first(entries.owner)
        may[entries.owner[first]] &= np.logical_and.reduceat(enough, first, axis=0)
        return may

    def _take(self, k: int, option: int, before: dict[int, int]) -> None:
        before.setdefault(k, int(self.choice[k]))
        of = self._of(k)
        np.add.at(self._given, self._cut[of], self._gives[of, option] - self._gives[of, self.choice[k]])
        self.choice[k] = option

    def _of(self, k: int) -> slice:
        """The entries of a cell."""
        return slice(self._start[k], self._start[k + 1])

    def _entries(self, cut: int) -> _Entries:
        """The entries of all cells that a cut names."""
        if cut not in self._entries_of:
            self._entries_of[cut] = _Entries.of(self._start, self._cells_of[cut])
        return self._entries_of[cut]

    def _in_cuts(self, cuts: Ints) -> Ints:
        """The cells that these cuts name."""
        if len(cuts) == 1:
            return self._cells_of[int(cuts[0])]
        return np.unique(
            np.concatenate([np.zeros(0, dtype=np.int64), *(self._cells_of[i] for i in cuts.tolist())])
        )

    def _total(self) -> float:
        return self._ladder.loss_of(self.choice)


def drawn(weight: Floats, rng: np.random.Generator) -> int:
    """A position, with chances in proportion to the weights: what `rng.choice` draws, without its
    checks, which take longer than a draw.
    """
    ends = (weight / weight.sum()).cumsum()
    return int((ends / ends[-1]).searchsorted(rng.random(), side="right"))


def _first(owner: Ints) -> Ints:
    """Where each owner begins, in an array in which equal owners follow each other."""
    begins = np.ones(len(owner), dtype=bool)
    np.not_equal(owner[1:], owner[:-1], out=begins[1:])
    return np.flatnonzero(begins)
