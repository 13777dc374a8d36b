"""What several compositions of the same countries tell together (METHOD §2, profile composition).

The audit of a release always attacks all its compositions at once. This module also attacks each composition
alone, to show what the others add. For example, EU28 less a public United Kingdom and a rounded EU27_2020
together leave a narrower interval than each of them alone. The same attacker is asked for far more than is
required, so that he tells how far each cell reaches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.attack.lp.attacker import Attacker
from sdc_tasks.methods.attack.requirements import Requirements, promised
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import EXTERNAL
from sdc_tasks.model.progress import Progress, Say, silent
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Aggregate, Bools, Floats, Ints

MOST_WIDTH = 1000.0  # requirements: an interval that reaches further on one side counts as reaching this far
SAMPLE = 50  # primaries


@dataclass(frozen=True)
class Together:
    """The width of the external attacker's interval for each primary of `cells`, as a
    multiple of the required width.

    `aggregates`: positions of the compositions that share members with another one. `alone` (aggregates,
    cells): the widths if only that composition is published. `whole` (cells,): the widths if everything is
    published. The widths are confidential, because the required width follows from true values. The ratio of
    two widths is not: anybody can compute it from what is published.
    """

    aggregates: tuple[int, ...]
    cells: Ints = field(repr=False)
    alone: Floats = field(repr=False)
    whole: Floats = field(repr=False)


def together(
    problem: ProtectionProblem, publication: Publication, progress: Say = silent, most: int = SAMPLE
) -> Together | None:
    """The intervals of at most `most` primaries, evenly spaced in cell order; None if no two compositions
    share a member, or if an LP gives no reliable interval.
    """
    overlapping = _overlapping(problem.space.aggregates)
    if not overlapping:
        return None
    area = publication.cells // problem.space.national_size - len(problem.space.countries)
    faced = [publication, *(_only(publication, area == k) for k in overlapping)]
    needs = _sample(promised(problem, (EXTERNAL,)), most)
    far = replace(
        needs, down=MOST_WIDTH * needs.down, up=MOST_WIDTH * needs.up, slide=np.zeros(len(needs.primaries))
    )
    attacker, width = Attacker(problem, far, work=Progress(progress, "compositions")), list[Floats]()
    for each in faced:
        attacker.set_publication(each)
        try:
            attacker.prove_separately()
        except Unprotectable:
            return None
        reached = attacker.reached()
        width.append(
            (np.minimum(reached["down"], far.down) + np.minimum(reached["up"], far.up))
            / (needs.down + needs.up)
        )
    return Together(overlapping, needs.primaries, np.array(width[1:]), width[0])


def _overlapping(aggregates: Sequence[Aggregate]) -> tuple[int, ...]:
    """Positions of the aggregates that have a member in common with another one."""
    members = [set(aggregate.members) for aggregate in aggregates]
    return tuple(
        i for i, mine in enumerate(members) if any(mine & other for j, other in enumerate(members) if j != i)
    )


def _only(publication: Publication, kept: Bools) -> Publication:
    """The publication with every cell withheld that is not `kept`."""
    value, base = np.where(kept, publication.value, np.nan), np.where(kept, publication.base, np.inf)
    return Publication(publication.cells, value, base, np.where(kept, publication.covers, 0.0))


def _sample(needs: Requirements, most: int) -> Requirements:
    """Evenly spaced rows among those that require anything."""
    rows = np.flatnonzero(needs.down + needs.up > 0)
    return needs.rows(
        rows[np.unique(np.linspace(0, max(len(rows) - 1, 0), min(most, len(rows))).astype(np.int64))]
    )
