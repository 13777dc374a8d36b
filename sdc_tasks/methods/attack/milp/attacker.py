"""The attackers of all profiles at once with integer knowledge, facing one publication."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sdc_tasks.methods.attack.knowledge import knowledge_of
from sdc_tasks.methods.attack.milp.prover import IntegerWitness, MilpProver, Shortfall
from sdc_tasks.methods.attack.milp.system import integer_system
from sdc_tasks.methods.attack.prover import Batches, report_proven
from sdc_tasks.methods.attack.requirements import Requirements
from sdc_tasks.methods.attack.targets import SIDES
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.progress import Progress
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Ints


class IntegerAttacker:
    """The attackers of all profiles of `needs`, for the integral cells. Without a
    publication: the national tables alone.

    Tables that were `tried` against another publication are tried first.
    """

    def __init__(
        self,
        problem: ProtectionProblem,
        publication: Publication | None,
        needs: Requirements,
        seed: int = 1,
        tried: Sequence[IntegerWitness] = (),
        work: Progress | None = None,
    ) -> None:
        self._provers: list[MilpProver] = []
        self._work = work or Progress()
        implied = needs.implied & (publication is not None)  # a baseline must know each level
        asked = np.flatnonzero(problem.integral[needs.primaries] & ~implied)
        for adversary, numbers in needs.worlds:
            rows = asked[np.isin(needs.profile[asked], numbers)]
            if len(rows):
                furthest = max(float(getattr(needs, side)[rows].max()) for side in SIDES.values())
                system = integer_system(problem, publication, adversary, furthest)
                self._provers.append(
                    MilpProver(
                        system, needs, knowledge_of(problem, adversary.profile), numbers[0], rows, seed
                    )
                )
        for prover in self._provers:
            prover.try_witnesses(tried)
            prover.tell = self._tell

    def _tell(self) -> None:
        report_proven(self._work, self._provers, "requirements settled by whole tables")

    @property
    def milps(self) -> int:
        """MILPs solved so far."""
        return sum(prover.solves for prover in self._provers)

    @property
    def shared_milps(self) -> int:
        """The number of MILPs that every chunk of an audit solves."""
        return sum(prover.shared for prover in self._provers)

    @property
    def own_rows(self) -> Ints:
        """The rows of the requirements that needed a MILP of their own, ascending."""
        return np.array(sorted(row for prover in self._provers for row in prover.own_rows), dtype=np.int64)

    @property
    def short(self) -> list[Shortfall]:
        """The requirements for which no whole table was found."""
        return sorted(
            (each for prover in self._provers for each in prover.short),
            key=lambda s: (s.row, s.side, s.insider),
        )

    def prove_all(self, batches: Batches) -> None:
        """Shows or breaks the requirements of the primaries of each (number, primaries), as
        if no other batch were asked for.
        """
        for prover in self._provers:
            prover.prove_all(batches)

    def witnesses(self) -> Iterator[IntegerWitness]:
        """The whole tables that prove what was shown: first those that all batches share, then batch by
        batch.
        """
        for prover in self._provers:
            yield from prover.useful

    def prover_of(self, row: int) -> MilpProver:
        """The prover of a row of the requirements."""
        return next(prover for prover in self._provers if row in prover.targets.row)
