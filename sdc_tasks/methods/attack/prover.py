"""How requirements are settled, whatever solver finds the points (METHOD §5).

Cheap proofs first: points that are pushed for all open items at once, and count for every one of them. What is still open gets a search of
its own. What the joint searches find is the same for every chunk of an audit; then the items go lot by lot, and each lot starts from where
the joint searches ended, as if no other were asked for. So a mapped audit finds the same however it is cut.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from sdc_tasks.methods.attack.items import Items
from sdc_tasks.methods.attack.knowledge import Insiders
from sdc_tasks.methods.attack.ledger import Ledger
from sdc_tasks.model.table import Bools, Ints

FOR_ALL = -1  # the number of no lot: what the joint searches find is for all lots

Lots = Sequence[tuple[int, Ints]]


class Prover(ABC):
    """One profile's items in one polyhedron. `profile`: its number in the requirements; `solves`: LPs or MILPs so far, of which `shared`
    were joint ones.
    """

    def __init__(self, profile: int, items: Items, insiders: Insiders, ledger: Ledger, seed: int) -> None:
        self.profile, self.items, self.insiders, self.ledger = profile, items, insiders, ledger
        self.solves = self.shared = 0
        self._seed = seed

    def settle(self, lots: Lots | None = None) -> None:
        """Shows or breaks every item; or, after the joint searches, those of the primaries of each (number, primaries)."""
        before = self.solves
        self._jointly(np.random.default_rng(self._seed))
        self.shared += self.solves - before
        order = self._order()
        waiting = order[self.ledger.waiting[order]]
        self._begin()
        if lots is None:
            self._each(waiting, FOR_ALL)
            return
        shown, settled = self.ledger.snapshot(), self.ledger.open.copy()
        for number, primaries in lots:
            mine = waiting[np.isin(self.items.cell[waiting], primaries)]
            if len(mine):
                self.ledger.restore(shown)
                self._back()
                self._each(mine, number)
                settled[mine] = self.ledger.open[mine]
        self.ledger.open = settled

    def _each(self, items: Ints, lot: int) -> None:
        for item in items.tolist():
            if self.ledger.open[item].any():
                self.attack(item, self.ledger.open[item].copy(), lot)

    @abstractmethod
    def attack(self, item: int, knowers: Bools, lot: int) -> None:
        """Searches for one item alone, against each of these attackers; notes where they succeed."""

    @abstractmethod
    def _jointly(self, rng: np.random.Generator) -> None:
        """Closes what joint searches can."""

    def _order(self) -> Ints:
        """In which items are searched for one by one."""
        return np.arange(len(self.items))

    @abstractmethod
    def _begin(self) -> None:
        """Searches for single items begin."""

    @abstractmethod
    def _back(self) -> None:
        """What is found from here on does not depend on what was searched for before."""
