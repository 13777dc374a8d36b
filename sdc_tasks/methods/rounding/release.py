"""Rounds indicators of a release as whole tables, instead of cell by cell to safe bases: a method proposes, the attacker judges.

    small-count    [4]; `counts.py`
    controlled     [2] §3: all aggregates become multiples of one base; the reach is published, usually ± base; `aggregates.py`
    quadratic      [3]: aggregates that attacks use become multiples, those beside them are adjusted, margins are exact; `aggregates.py`

Each method proposes publications, the most precise first. The attacker of the audit attacks each of them, together with the decision for
the other indicators. The first publication that he cannot break is taken. If he breaks all, the indicator is withheld.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sdc_tasks.methods.attack import Attacker, Requirements, whole_attacks
from sdc_tasks.methods.parts import Part
from sdc_tasks.methods.rounding.aggregates import controlled_aggregates, quadratic_aggregates
from sdc_tasks.methods.rounding.counts import rounded_counts
from sdc_tasks.methods.rounding.options import Rounding
from sdc_tasks.model.progress import Say
from sdc_tasks.model.results import Publication


def round_part(
    part: Part,
    decided: Publication,
    requirements: Requirements,
    wanted: Rounding,
    seed: int,
    progress: Say,
    note: Say,
) -> Publication:
    """The publication of the part. `decided`: the publication of the whole, with the part withheld; `requirements`, `seed`: of the audit.

    `progress` receives the progress of the search, `note` each proposal and its result. The seed of the rounding is derived from the salt
    of the problem: nobody can repeat this rounding with the program alone.
    """
    judge, drawn = _Judge(part, decided, requirements, seed), part.problem.salt.seed("rounding", *part.problem.space.indicators)
    for what, publication in _proposals(part, requirements, wanted, drawn, seed, progress):
        broken = judge.broken(publication)
        note(f"{what}: {broken} requirements broken")
        if not broken:
            return publication
    note("withheld: no proposal of the method withstands the attack")
    return Publication.nothing(np.flatnonzero(part.problem.aggregate))


def _proposals(
    part: Part, requirements: Requirements, wanted: Rounding, drawn: int, seed: int, progress: Say
) -> Iterator[tuple[str, Publication]]:
    match wanted.method:
        case "small-count":
            return rounded_counts(part.problem, wanted.base, wanted.quality, drawn, progress).proposals()
        case "controlled":
            return controlled_aggregates(part.problem, wanted, drawn, progress)
        case "quadratic":
            return quadratic_aggregates(part.problem, part.requirements(requirements), wanted, drawn, seed, progress)


class _Judge:
    """The attacker of the audit, for one part of the table."""

    def __init__(self, part: Part, decided: Publication, requirements: Requirements, seed: int) -> None:
        self._part, self._decided, self._requirements, self._seed = part, decided, requirements, seed
        self._attacker = None if part.problem.integral.any() else Attacker(part.problem, part.requirements(requirements), seed)

    def broken(self, publication: Publication) -> int:
        """The number of requirements of the part that a publication of it breaks. For counts, requirements that no whole table shows count
        as broken, as in the audit: a requirement shown by whole tables also holds against every other attacker.
        """
        if self._attacker is not None:
            self._attacker.face(publication)
            self._attacker.settle()
            return len(self._attacker.broken)
        whole = self._part.into(self._decided, publication)
        short = whole_attacks(self._part.whole, whole, self._requirements, self._seed).short
        return int(np.isin(self._requirements.primaries[[each.row for each in short]], self._part.cells).sum())
