"""The full algorithm of [4] §5: it fills in rounds until no published cell is sensitive.

    ỹ = y, z̃ = z
    until no published cell is sensitive:
        the inner cells that cause the sensitive ones, in random batches:
            X*, z* = X*ᵀ ỹ* + (z − z̃), n_b = (Σ ỹ* + Σ (y − ỹ)) / b rounded
            the inner algorithm fills b into n_b of them, 0 into the others
        z̃ = Xᵀ ỹ

`paper` is this algorithm alone. `fast` and `best` add `refine` after each round, and at the end over all
rounded cells together. Inner cells that share no published cell, directly or through others, do not influence
each other. Such parts are rounded one by one, each with random numbers derived from its cells: a part is
rounded in the same way alone and within the whole. n_b keeps the sum of each part within half a base.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput, SdcError
from sdc_tasks.methods.rounding.names import DRAWN, Quality
from sdc_tasks.methods.rounding.small_count.cells import Codes
from sdc_tasks.methods.rounding.small_count.drawn import UNDRAWN, directions
from sdc_tasks.methods.rounding.small_count.dummy import Dummy
from sdc_tasks.methods.rounding.small_count.inner import Steps, cross_product, fill
from sdc_tasks.methods.rounding.small_count.leverage import told_by_the_publication
from sdc_tasks.methods.rounding.small_count.refine import Refiner
from sdc_tasks.methods.rounding.small_count.state import Filling
from sdc_tasks.model.table import Bools, Ints, read_only

BATCHES = {"paper": 1000, "fast": 128, "best": 128}  # inner cells in a batch; paper: as in the R package
COOLING = {
    "paper": ((), ()),
    "fast": ((0.0, 0.0), (0.2, 0.0, 0.0)),
    "best": ((0.0, 0.0), (*np.geomspace(0.8, 0.08, 60).tolist(), 0.0, 0.0, 0.0)),
}  # heats of the sweeps after each round, and at the end
ENOUGH, MOST_RUNS, REPEATED = (
    64,
    10,
    20_000,
)  # `best`: cells from which a table is cooled repeatedly, most times, cells swept at most


@dataclass(frozen=True)
class CountOptions:
    """What is rounded, and how. Raises InvalidInput for values out of range.

    `seed` decides ties between inner cells. With it, an attacker may reconstruct the values before
    rounding, so it is secret and has no default. `base` b; `max_round`: the largest published count that is
    sensitive, b − 1 by default; `batch`: inner cells filled at once. `zero_candidates`: empty inner cells
    of sensitive published cells may get the base. `protect_zeros`: empty inner cells of empty published
    cells may get it too, so that a published zero is not certain. `leverage`: small inner cells that can be
    computed from the published cells are rounded too. `rule_aware`: every inner count of 1 … b − 1 is
    rounded, and `seed` decides for each with the chance `drawn` where it goes, so that it keeps b
    candidates for somebody who has the program (METHOD §9).
    """

    seed: int
    base: int = 3
    quality: Quality = "fast"
    max_round: int | None = None
    zero_candidates: bool = False
    protect_zeros: bool = False
    leverage: bool = False
    steps: Steps = field(default_factory=Steps)
    batch: int | None = None
    rule_aware: bool = False
    drawn: float = DRAWN

    def __post_init__(self) -> None:
        if self.base < 2:
            raise InvalidInput(f"base {self.base}: rounds nothing. Remedy: give a base of 2 or more")
        if self.max_round is not None and self.max_round < 1:
            raise InvalidInput(
                f"largest value to round {self.max_round}: rounds nothing. Remedy: give 1 or more"
            )
        if self.batch is not None and self.batch < 1:
            raise InvalidInput(f"batch {self.batch}: fills nothing. Remedy: give 1 or more")
        if not 0 < self.drawn <= 1:
            raise InvalidInput(
                f"drawn {self.drawn}: no chance. Remedy: give a number above 0 and not above 1"
            )
        if self.rule_aware:
            self._refuse_beside_rule_aware()

    def _refuse_beside_rule_aware(self) -> None:
        taken = {
            "a largest value to round other than base − 1": self.largest != self.base - 1,
            "zero candidates": self.zero_candidates,
            "protected zeros": self.protect_zeros,
            "leverage": self.leverage,
        }
        if wrong := [name for name, is_set in taken.items() if is_set]:
            raise InvalidInput(
                f"rule_aware: not offered with {', '.join(wrong)}, because what that tells somebody who has "
                f"the program is not known. "
                f"Remedy: leave out {', '.join(wrong)}, or rule_aware"
            )

    @property
    def largest(self) -> int:
        return self.base - 1 if self.max_round is None else self.max_round

    @property
    def filled_at_once(self) -> int:
        return BATCHES[self.quality] if self.batch is None else self.batch


@dataclass(frozen=True)
class RoundedCells:
    """A rounded table: ỹ (n,) of the inner cells and z̃ = Xᵀ ỹ (P,) of the published cells. `rounds`:
    the most rounds that a part took.
    """

    dummy: Dummy = field(repr=False)
    options: CountOptions
    inner: Ints = field(repr=False)
    published: Ints = field(repr=False)
    rounded: Bools = field(repr=False)
    parts: int
    rounds: int

    def __post_init__(self) -> None:
        for name in ("inner", "published", "rounded"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


def round_counts(
    dummy: Dummy,
    options: CountOptions,
    force: Bools | None = None,
    given: Ints | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> RoundedCells:
    """Rounds the inner cells of `dummy` so that no published cell is sensitive ([4] §5).

    `force` (n,): inner cells that are always rounded. `given` (n,): rounded values that are fixed beforehand,
    UNDRAWN (−1) elsewhere. Raises InvalidInput where the fixed values leave a published cell sensitive, or
    where either is asked for with `rule_aware`.
    """
    cells = dummy.cells
    if options.rule_aware:
        if force is not None or given is not None:
            raise InvalidInput(
                "rule_aware: cells that are forced or given are not drawn. Remedy: leave out force and "
                "given, or rule_aware"
            )
        force = (cells.y > 0) & (cells.y < options.base)
        given = directions(cells, force, options.base, options.drawn, options.seed)
    fixed = np.zeros(len(cells), dtype=bool) if given is None else given != UNDRAWN
    start = cells.y if given is None else np.where(fixed, given, cells.y)
    state = Filling(dummy, options.base, options.largest, start)
    forced = np.zeros(len(cells), dtype=bool) if force is None else force.copy()
    if options.leverage:
        progress("leverage")
        forced |= state.is_sensitive(cells.y) & told_by_the_publication(dummy, options.seed)
    parts = list(_parts(dummy))
    hashes, rounds = cells.hashes(), 0
    concerned = np.zeros(len(cells), dtype=bool)
    concerned[_Part(state, options, np.arange(len(cells)), forced, fixed).causes(first=True)] = True
    for number, part in enumerate(parts, start=1):
        if concerned[part].any():
            rng = np.random.default_rng([options.seed, int(hashes[part[0]])])
            told = progress if len(parts) == 1 else _numbered(progress, number, len(parts))
            rounds = max(rounds, _Part(state, options, part, forced, fixed).round(rng, told))
    published = dummy.totals(state.y)
    _refuse_sensitive(state, published, fixed)
    return RoundedCells(dummy, options, state.y, published, state.rounded, len(parts), rounds)


class _Part:
    """The rounding of one part; `part` are its inner cells in order."""

    def __init__(
        self, state: Filling, options: CountOptions, part: Ints, forced: Bools, fixed: Bools
    ) -> None:
        self.state, self.options = state, options
        self.whole = len(part) == len(state.y)
        self.part, self.forced = part, forced[part]
        self.true = state.dummy.cells.y[part]
        self.open = ~fixed[part] & (self.true % options.base != 0)
        self.candidates = ~fixed[part] & (self.true % options.base == 0) & (self.true <= options.largest)
        self.chosen = np.empty(0, dtype=np.int64)
        self.rows = np.empty((0, len(state.dummy.parent)), dtype=np.int32)

    def round(self, rng: np.random.Generator, progress: Callable[[str], None]) -> int:
        """Rounds until no published cell is sensitive. Returns the number of rounds."""
        during, after = COOLING[self.options.quality]
        rounds = 0
        while len(new := self.causes(first=rounds == 0)):
            rounds += 1
            progress(f"round {rounds}: {len(new)} inner cells")
            rows = self.state.dummy.rows(new)
            self._fill(new, rows, rng)
            self.chosen, self.rows = np.concatenate([self.chosen, new]), np.concatenate([self.rows, rows])
            Refiner(self.state, new, rows, rng).run(during)
        if len(after) and len(self.chosen) > 1:
            refiner = Refiner(self.state, self.chosen, self.rows, rng)
            missing = int(self.true.sum() - self.state.y[self.part].sum())
            refiner.improve(after, self._runs(), int(self.state.y[self.chosen].sum()) + missing, progress)
        return rounds

    def _runs(self) -> int:
        """How often the last refinement is repeated: once where that is enough, or where it takes
        long. It depends on the part alone.
        """
        if self.options.quality != "best" or len(self.chosen) < ENOUGH:
            return 1
        return max(1, min(MOST_RUNS, REPEATED // len(self.chosen)))

    def causes(self, first: bool) -> Ints:
        """The inner cells that cause a sensitive published cell and are not rounded yet; in the first
        round also those that options add.
        """
        state, zeros = self.state, first and self.options.protect_zeros
        hit = np.zeros(len(self.part), dtype=bool)
        for j, ids in zip(state.dummy.sources, state.dummy.ids, strict=True):
            if self.whole:  # fewer published cells than inner cells
                begin, end = int(state.dummy.offsets[j]), int(state.dummy.offsets[j + 1])
                small = state.is_small(np.arange(begin, end), zeros=zeros)
                if small.any():
                    hit |= small[np.maximum(ids - begin, 0)] & (ids >= 0)
            else:
                hit |= state.is_small(ids[self.part], zeros=zeros)
        wanted = self.open & hit
        if first:
            wanted |= self.open & self.forced
            if self.options.zero_candidates or self.options.protect_zeros:
                wanted |= self.candidates & hit
        causes: Ints = self.part[wanted & ~state.rounded[self.part]]
        return causes

    def _fill(self, new: Ints, rows: Codes, rng: np.random.Generator) -> None:
        """Fills the new cells in random batches."""
        state, b = self.state, self.options.base
        left = int(self.true.sum() - state.y[self.part].sum())  # Σ (y − ỹ) of this part
        order = rng.permutation(len(new))
        for begin in range(0, len(order), self.options.filled_at_once):
            at = order[begin : begin + self.options.filled_at_once]
            batch, own = new[at], rows[at]
            out = state.y[batch] - state.floor[batch]
            state.move(batch, own, -out)
            count = int(np.floor((int(out.sum()) + left) / b + 0.5))
            up = fill(
                state.gradient(own), cross_product(own, b), min(max(count, 0), len(batch)), self.options.steps
            )
            state.move(batch, own, np.where(up, b, 0))
            left += int(out.sum()) - b * int(up.sum())
        state.rounded[new] = True


def _numbered(progress: Callable[[str], None], number: int, count: int) -> Callable[[str], None]:
    return lambda what: progress(f"part {number} of {count}, {what}")


def _parts(dummy: Dummy) -> Iterator[Ints]:
    """Inner cells that share published cells, directly or through others. Inner cells in no
    published cell belong to no part.
    """
    n = len(dummy.cells)
    if any(len(crossing) == 0 for crossing in dummy.publication.crossings):  # the grand total
        if n:
            yield np.arange(n)
        return
    rows = np.stack([dummy.column(j) for j in _coarsest(dummy)], axis=1)
    there = rows >= 0
    cell, column = np.nonzero(there)
    graph = sp.coo_array(
        (np.ones(len(cell), dtype=np.int8), (cell, n + rows[cell, column])), shape=(n + dummy.published,) * 2
    )
    _, label = sp.csgraph.connected_components(graph, directed=False)
    own = np.where(there.any(axis=1), label[:n], -1)
    order = np.argsort(own, kind="stable")
    ends = np.flatnonzero(np.diff(own[order], append=-2))
    found = [part for part in np.split(order, ends[:-1] + 1) if len(part) and own[part[0]] >= 0]
    yield from sorted(found, key=lambda part: int(part[0]))


def _coarsest(dummy: Dummy) -> list[int]:
    """Crossings from which no other is derived: cells that share a finer cell share one of these."""
    parents = set(dummy.parent)
    return [j for j in range(len(dummy.parent)) if j not in parents]


def _refuse_sensitive(state: Filling, published: Ints, fixed: Bools) -> None:
    """Checks, from the rounded inner cells, that no published cell is sensitive. Raises InvalidInput or
    SdcError.
    """
    left = np.flatnonzero(state.is_sensitive(published))
    if len(left) and fixed.any():
        raise InvalidInput(
            f"{state.dummy.key(int(left[0]))}: the values fixed beforehand leave this published cell small "
            f"({len(left)} in all). "
            "Remedy: fix multiples of the base, or fewer values"
        )
    if len(left):
        raise SdcError(
            f"{state.dummy.key(int(left[0]))}: this published cell stayed small. This is a defect of the "
            f"program"
        )
