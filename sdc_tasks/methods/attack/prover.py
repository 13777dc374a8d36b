"""The order of the search, for any solver that finds the points (METHOD §5).

Cheap proofs come first: a joint search pushes all open items at once, and its points count for every item.
Each item that is still open gets its own search. The joint searches find the same in every chunk of an audit.
Then the items follow lot by lot; each lot starts from the end of the joint searches, as if there were no
other lot. So a mapped audit finds the same, however it is cut into chunks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from sdc_tasks.methods.attack.items import Items
from sdc_tasks.methods.attack.knowledge import Insiders
from sdc_tasks.methods.attack.ledger import Ledger
from sdc_tasks.model.progress import Progress
from sdc_tasks.model.table import Bools, Ints

FOR_ALL = -1  # not the number of a lot: what the joint searches find is for all lots

Lots = Sequence[tuple[int, Ints]]


def tell_settled(work: Progress, provers: Sequence[Prover], what: str) -> None:
    """Tells how many items of these provers are shown or broken."""
    of = sum(len(prover.items) for prover in provers)
    work.tell(of - sum(prover.left for prover in provers), of, what)


class Prover(ABC):
    """One profile's items in one polyhedron. `profile`: its number in the requirements; `solves`:
    LPs or MILPs so far, of which `shared` were joint ones; `left`: items that are neither shown
    nor broken yet, told by `tell`.
    """

    tell: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, profile: int, items: Items, insiders: Insiders, ledger: Ledger, seed: int) -> None:
        self.profile, self.items, self.insiders, self.ledger = profile, items, insiders, ledger
        self.solves = self.shared = 0
        self._seed, self.left = seed, len(items)

    def settle(self, lots: Lots | None = None) -> None:
        """Shows or breaks every item. With `lots` (number, primaries): after the joint searches,
        only the items of these primaries.
        """
        self.settle_jointly()
        self.settle_each(lots)

    def settle_jointly(self) -> None:
        """Shows what the joint searches show."""
        before = self.solves
        self._jointly(np.random.default_rng(self._seed))
        self._now_left(int(self.ledger.waiting.sum()))
        self.shared += self.solves - before

    def settle_each(self, lots: Lots | None = None) -> None:
        """Shows or breaks the items, or those of these lots, that the joint searches have left."""
        order = self._order()
        waiting = order[self.ledger.waiting[order]]
        self._now_left(
            len(waiting)
            if lots is None
            else sum(int(np.isin(self.items.cell[waiting], own).sum()) for _, own in lots)
        )
        if lots is None:
            self._each(waiting, FOR_ALL)
            return
        mine = [(number, waiting[np.isin(self.items.cell[waiting], primaries)]) for number, primaries in lots]
        mine = [(number, items) for number, items in mine if len(items)]
        settled = self.ledger.open.copy()
        for (_, items), left in zip(mine, self._lot_by_lot(mine), strict=True):
            settled[items] = left
        self.ledger.open = settled

    def _lot_by_lot(self, lots: Lots) -> Iterator[Bools]:
        """Searches for the items of each lot (number, items), as if it were alone. Yields
        which of them stay open, lot by lot.
        """
        shown = self.ledger.snapshot()
        for number, items in lots:
            self.ledger.restore(shown)
            self._back()
            self._each(items, number)
            yield self.ledger.open[items]

    def _each(self, items: Ints, lot: int) -> None:
        for item in items.tolist():
            if self.ledger.open[item].any():
                self.attack(item, self.ledger.open[item].copy(), lot)
            self._now_left(self.left - 1)

    def _now_left(self, items: int) -> None:
        self.left = items
        self.tell()

    @abstractmethod
    def attack(self, item: int, knowers: Bools, lot: int) -> None:
        """Searches for one item alone, against each of these attackers; records the attacks that succeed."""

    @abstractmethod
    def _jointly(self, rng: np.random.Generator) -> None:
        """Runs the joint searches, which close many items at once."""

    def _order(self) -> Ints:
        """The order of the searches for single items."""
        return np.arange(len(self.items))

    @abstractmethod
    def _back(self) -> None:
        """Makes later results independent of earlier searches."""
