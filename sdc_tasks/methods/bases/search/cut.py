"""Cuts in the slacks of a ladder of bases (optimise/cuts.py).

`columns` are positions of aggregate cells in the publication, each named once for each sign of its
coefficient q, the price of an attack; v is the slack that the published interval leaves around the truth:

    Σ_{q_k > 0} q_k high_k + Σ_{q_k < 0} |q_k| low_k ≥ right.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdc_tasks.methods.attack import Attack, Requirements
from sdc_tasks.methods.bases.ladder import Ladder
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY
from sdc_tasks.optimise import Cut

ENDLESS = 1e30  # stands for the slack of a withheld cell


def apart_from(cut: Cut, exact: Bools) -> Cut:
    """The same cut for publications in which these cells leave no slack."""
    others = ~exact[cut.columns]
    return replace(cut, columns=cut.columns[others], coefficients=cut.coefficients[others])


def cut_of(attack: Attack, needs: Requirements, ladder: Ladder, choice: Ints) -> Cut:
    """The cut of an attack that succeeds against a choice."""
    cells, price = attack.decided, attack.price
    given = np.abs(price) @ slack_of(ladder, cells, price)[np.arange(len(cells)), choice[cells]]
    named, at = np.unique(2 * cells + (price > 0), return_inverse=True)
    summed = np.zeros(len(named))
    np.add.at(summed, at, price)
    return Cut(
        named // 2,
        summed,
        float(attack.need * (1 - FEASIBILITY) - attack.reach + given),
        int(needs.primaries[attack.requirement]),
    )


def slack_of(ladder: Ladder, cells: Ints, price: Floats) -> Floats:
    """(cells, options): the slack that each option leaves on the side of the price."""
    return np.asarray(
        np.minimum(np.where(price[:, None] > 0, ladder.high[cells], ladder.low[cells]), ENDLESS)
    )
