"""The attackers of all profiles at once, by linear programs, for one publication after another."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from sdc_tasks.methods.attack.knowledge import knowledge_of
from sdc_tasks.methods.attack.lp.prover import Attack, LpProver, sizes_of
from sdc_tasks.methods.attack.polyhedron import attack_system
from sdc_tasks.methods.attack.prover import Batches, report_proven
from sdc_tasks.methods.attack.requirements import Requirements
from sdc_tasks.methods.attack.targets import SIDES
from sdc_tasks.methods.attack.witness import Witness
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.progress import Progress
from sdc_tasks.model.results import CandidateWitnesses, Publication, SharedWitnesses
from sdc_tasks.model.table import Bools, Floats

Result = TypeVar("Result")


class Attacker:
    """All attackers that `needs` names. No aggregate is published until `set_publication` is called."""

    def __init__(
        self, problem: ProtectionProblem, needs: Requirements, seed: int = 1, work: Progress | None = None
    ) -> None:
        self.needs, self._work = needs, work or Progress()
        self._provers: list[LpProver] = []
        for adversary, numbers in needs.worlds:
            if not (sizes := list(sizes_of(needs, numbers))):
                continue
            knowledge, system = knowledge_of(problem, adversary.profile), attack_system(problem, adversary)
            self._provers += [
                LpProver(problem, system, needs, knowledge, numbers[0], size, seed) for size in sizes
            ]
        for prover in self._provers:
            prover.tell = self._tell

    def _tell(self) -> None:
        report_proven(self._work, self._provers, "requirements settled")

    @property
    def provers(self) -> Sequence[LpProver]:
        """The provers, each with the requirements of one profile and of similar size."""
        return self._provers

    @property
    def lps(self) -> int:
        """LPs solved so far."""
        return sum(prover.solves for prover in self._provers)

    @property
    def shared_lps(self) -> int:
        """The number of LPs that every chunk of an audit solves."""
        return sum(prover.shared for prover in self._provers)

    @property
    def broken(self) -> list[Attack]:
        """The attacks that succeed."""
        return [attack for prover in self._provers for attack in prover.broken]

    @property
    def failed(self) -> list[Attack]:
        """The attacks that an LP has shown to fail. Their prices say what would make them succeed."""
        return [attack for prover in self._provers for attack in prover.failed]

    @property
    def by_lp(self) -> Bools:
        """(rows of the requirements,): whether the row got LPs of its own."""
        own = np.zeros(len(self.needs.primaries), dtype=bool)
        own[[row for prover in self._provers for row in prover.own_rows]] = True
        return own

    def set_publication(self, publication: Publication) -> None:
        """Attacks another publication from now on. Proofs against the last one are dropped; its witnesses
        are tried first.
        """
        for prover in self._provers:
            prover.set_publication(publication)

    def shown(self, attack: Attack) -> bool:
        """Was a witness found, since this attack succeeded, that makes it fail?"""
        return self._prover_of(attack).is_shown(attack)

    def again(self, attack: Attack, publication: Publication) -> Attack | None:
        """The same attack on a publication for which everything shown so far still
        holds; None if it no longer succeeds.

        The other provers get this publication at the next `set_publication`.
        """
        for prover in self._provers:
            prover.clear()
        prover = self._prover_of(attack)
        prover.shift(publication)
        prover.again(attack)
        return prover.broken[0] if prover.broken else None

    def _prover_of(self, attack: Attack) -> LpProver:
        return next(prover for prover in self._provers if prover.holds(attack))

    def prove_all(self, batches: Batches | None = None) -> None:
        """Proves or breaks every requirement, or only those of some batches of primaries, each batch as
        if it were alone (see prover.py).

        No prover reads what another one finds, and joint searches let other threads run, so the provers share
        the processors. The result is that of one prover after the other.
        """
        self._side_by_side(lambda prover: prover.prove_all(batches))

    def breaks(self) -> bool:
        """Is any requirement broken? A publication that breaks many is told from a few attacks."""
        if not any(prover.breaks_some() for prover in self._provers):
            self.prove_all()
        return bool(self.broken)

    def prove_separately(self) -> None:
        """As `settle`, where joint searches would show nothing."""
        self._side_by_side(lambda prover: prover.prove_each())

    def propose(self) -> tuple[list[list[Witness]], list[int]]:
        """Runs the joint searches alone. For each prover: the witnesses that they found, in
        units, and the LPs that they took.
        """
        before = [prover.solves for prover in self._provers]
        found = self._side_by_side(LpProver.propose)
        return found, [prover.solves - solved for prover, solved in zip(self._provers, before, strict=True)]

    def prove_from(self, joint: SharedWitnesses, batches: Batches) -> None:
        """As `settle`, where the joint searches were run elsewhere. Their points are
        checked again, like all others.
        """
        for number, prover in enumerate(self._provers):
            prover.recount(joint.of(number, prover.width), int(joint.lps[number]))
        self._side_by_side(lambda prover: prover.prove_each(batches))

    def _side_by_side(self, search: Callable[[LpProver], Result]) -> list[Result]:
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            most_first = sorted(
                self._provers, key=lambda prover: -int(prover.state.waiting.sum())
            )  # they end last
            searches = {prover: threads.submit(search, prover) for prover in most_first}
            try:
                return [searches[prover].result() for prover in self._provers]
            except (
                BaseException
            ):  # an interruption, or a prover without an answer: the other searches end as well
                for prover in self._provers:
                    prover.stop()
                raise

    def reached(self, by_tables: bool = False) -> dict[str, Floats]:
        """For each side, by name: how far each row reaches against its strongest
        attacker, in the unit of the data.

        If a requirement is met, this is at least its need; or, `by_tables`, as far as a table
        was found, within the tolerance.
        """
        found = {side: np.zeros(len(self.needs.primaries)) for side in SIDES}
        for prover in self._provers:
            reached = prover.reached(by_tables)
            for side, target in found.items():
                chosen = prover.targets.side == side
                target[prover.targets.row[chosen]] = reached[chosen]
        return {SIDES[side]: each for side, each in found.items()}

    def at_most(self, attacks: Sequence[Attack], lower: Floats, upper: Floats) -> Floats:
        """(attacks,): no table goes farther than this, by weak duality with the multipliers of the attack;
        unit of the data. It may be more than the attack reaches, which follows no deviation too far. `lower`,
        `upper` (suppressed cells,): bounds of all deviations.
        """
        return np.array([self._prover_of(attack).at_most(attack, lower, upper) for attack in attacks])

    def active_bounds(self, attacks: Sequence[Attack]) -> list[tuple[tuple[int, float], ...]]:
        """For each attack, which must be on the whole table: (position among the suppressed cells, by how
        much the reach grows with the upper bound of that cell if positive, with its lower bound if
        negative). A cell may be named twice.
        """
        found = dict[int, tuple[tuple[int, float], ...]]()
        for prover in self._provers:
            mine = [number for number, attack in enumerate(attacks) if prover.holds(attack)]
            found |= dict(zip(mine, prover.active_bounds([attacks[number] for number in mine]), strict=True))
        return [found[number] for number in range(len(attacks))]

    def witnesses(self) -> Iterator[tuple[int, Witness]]:
        """(profile, witness in the unit of the data): witnesses that prove everything proven; only a
        few of those that all batches share.
        """
        for prover in self._provers:
            yield from ((prover.profile, witness) for witness in prover.witnesses())

    def tables(self, publication: Publication) -> CandidateWitnesses:
        """The tables among those found lately that show what they can against this publication; no LP is
        solved. Deviations of the suppressed cells, in the unit of the data.
        """
        self.set_publication(publication)
        n, found = (
            len(self._provers[0].cells) if self._provers else 0,
            [witness for _, witness in self.witnesses()],
        )
        own = [
            each.columns < n for each in found
        ]  # without unknown values of earlier deliveries, which not every attacker has
        return CandidateWitnesses(
            **CandidateWitnesses.rows(
                [(each.columns[mine], each.value[mine]) for each, mine in zip(found, own, strict=True)]
            )
        )

    def try_witnesses(self, witnesses: Iterable[Floats], only_if_useful: bool = False) -> None:
        """Counts tables found elsewhere (z of the suppressed cells, unit of the data) and their mirror
        images, if they are witnesses. `only_if_useful`: only those that may prove a target that is still
        open; then `reached` gives no more than the need of every other target.
        """
        for z in witnesses:
            for prover in self._provers:
                prover.try_witness(z, only_if_useful)
