"""A cut: what a successful attack says about every safe publication.

For a fixed primary the attacker's reach is concave in the slacks `low_k, high_k ≥ 0` that the published
intervals leave around the true values. So the prices of an attack (the dual values of the aggregate rows)
bound the reach from above for any other publication, and

    Σ_{q_k > 0} q_k high_k + Σ_{q_k < 0} |q_k| low_k ≥ rhs

holds for every publication against which the attack fails, whatever its bases.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from sdc_tasks.methods.attack import Attack, Requirements
from sdc_tasks.methods.bases.ladder import Ladder
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY

ENDLESS = 1e30  # stands for the slack of a withheld cell


@dataclass(frozen=True)
class Cut:
    """An inequality that every safe publication satisfies, from one `primary`: Σ price⁺ high + Σ price⁻
    low ≥ rhs over aggregate `cells`.

    `primary` is a cell of the space, `cells` are positions in the publication, each named
    once for each sign of its prices.
    """

    primary: int
    cells: Ints = field(repr=False)
    price: Floats = field(repr=False)
    rhs: float = field(repr=False)

    def apart_from(self, exact: Bools) -> Cut:
        """The same cut for publications in which these cells leave no slack."""
        others = ~exact[self.cells]
        return replace(self, cells=self.cells[others], price=self.price[others])


def cut_of(attack: Attack, needs: Requirements, ladder: Ladder, choice: Ints) -> Cut:
    """The cut of an attack that succeeds against a choice."""
    cells, price = attack.decided, attack.price
    given = np.abs(price) @ slack_of(ladder, cells, price)[np.arange(len(cells)), choice[cells]]
    named, at = np.unique(2 * cells + (price > 0), return_inverse=True)
    summed = np.zeros(len(named))
    np.add.at(summed, at, price)
    return Cut(
        int(needs.primaries[attack.primary]),
        named // 2,
        summed,
        float(attack.need * (1 - FEASIBILITY) - attack.reach + given),
    )


def slack_of(ladder: Ladder, cells: Ints, price: Floats) -> Floats:
    """(cells, options): the slack that each option leaves on the side of the price."""
    return np.asarray(
        np.minimum(np.where(price[:, None] > 0, ladder.high[cells], ladder.low[cells]), ENDLESS)
    )
