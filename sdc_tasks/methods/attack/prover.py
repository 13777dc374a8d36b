"""The order of the search, independent of the solver that finds the points (METHOD §5).

Cheap proofs come first: a joint search pushes all open targets at once, and its points count for every
target. Each target that is still open gets its own search. The joint searches find the same in every chunk of
an audit. Then the targets follow batch by batch; each batch starts from the end of the joint searches, as if
there were no other batch. So a mapped audit finds the same, however it is cut into chunks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from sdc_tasks.methods.attack.knowledge import Insiders
from sdc_tasks.methods.attack.proof_state import ProofState
from sdc_tasks.methods.attack.targets import Targets
from sdc_tasks.model.progress import Progress
from sdc_tasks.model.table import Bools, Ints

FOR_ALL = -1  # not the number of a batch: what the joint searches find is for all batches

Batches = Sequence[tuple[int, Ints]]


def report_proven(work: Progress, provers: Sequence[Prover], what: str) -> None:
    """Tells how many targets of these provers are shown or broken."""
    of = sum(len(prover.targets) for prover in provers)
    work.tell(of - sum(prover.left for prover in provers), of, what)


class Prover(ABC):
    """One profile's targets in one polyhedron. `profile`: its number in the requirements; `solves`:
    LPs or MILPs so far, of which `shared` were joint ones; `left`: targets that are neither shown
    nor broken yet, told by `tell`.
    """

    tell: Callable[[], None] = staticmethod(lambda: None)

    def __init__(
        self, profile: int, targets: Targets, insiders: Insiders, state: ProofState, seed: int
    ) -> None:
        self.profile, self.targets, self.insiders, self.state = profile, targets, insiders, state
        self.solves = self.shared = 0
        self._seed, self.left = seed, len(targets)

    def prove_all(self, batches: Batches | None = None) -> None:
        """Shows or breaks every target. With `batches` (number, primaries): after the joint searches,
        only the targets of these primaries.
        """
        self.prove_jointly()
        self.prove_each(batches)

    def prove_jointly(self) -> None:
        """Shows what the joint searches show."""
        before = self.solves
        self._jointly(np.random.default_rng(self._seed))
        self._now_left(int(self.state.waiting.sum()))
        self.shared += self.solves - before

    def prove_each(self, batches: Batches | None = None) -> None:
        """Shows or breaks the targets, or those of these batches, that the joint searches have left."""
        order = self._order()
        waiting = order[self.state.waiting[order]]
        self._now_left(
            len(waiting)
            if batches is None
            else sum(int(np.isin(self.targets.cell[waiting], own).sum()) for _, own in batches)
        )
        if batches is None:
            self._each(waiting, FOR_ALL)
            return
        mine = [
            (number, waiting[np.isin(self.targets.cell[waiting], primaries)]) for number, primaries in batches
        ]
        mine = [(number, targets) for number, targets in mine if len(targets)]
        settled = self.state.open.copy()
        for (_, targets), left in zip(mine, self._batch_by_batch(mine), strict=True):
            settled[targets] = left
        self.state.open = settled

    def _batch_by_batch(self, batches: Batches) -> Iterator[Bools]:
        """Searches for the targets of each batch (number, targets), as if it were alone. Yields
        which of them stay open, batch by batch.
        """
        shown = self.state.snapshot()
        for number, targets in batches:
            self.state.restore(shown)
            self._back()
            self._each(targets, number)
            yield self.state.open[targets]

    def _each(self, targets: Ints, batch: int) -> None:
        for target in targets.tolist():
            if self.state.open[target].any():
                self.attack(target, self.state.open[target].copy(), batch)
            self._now_left(self.left - 1)

    def _now_left(self, targets: int) -> None:
        self.left = targets
        self.tell()

    @abstractmethod
    def attack(self, target: int, attackers: Bools, batch: int) -> None:
        """Searches for one target against each of these attackers; records the attacks that succeed."""

    @abstractmethod
    def _jointly(self, rng: np.random.Generator) -> None:
        """Runs the joint searches, which close many targets at once."""

    def _order(self) -> Ints:
        """The order of the searches for single targets."""
        return np.arange(len(self.targets))

    @abstractmethod
    def _back(self) -> None:
        """Makes later results independent of earlier searches."""
