"""From half-widths to bases: the least loss on the ladder that keeps every requirement (METHOD §4).

The cuts of `extension.py` hold for the slacks (low, high) of any publication, so also for those of rounded values, which lie off the
middle of their intervals. Here they are rows of a covering problem over the options of the ladder:

    min Σ_k loss(o_k)  such that  Σ_k q⁺_k high(o_k) + q⁻_k low(o_k) ≥ rhs  for every cut.

`settle` raises options, at least loss for each cut, until the live LPs find nothing lacking.
"""

from __future__ import annotations

import numpy as np

from sdc_tasks.methods.bases.extension import Cut, Extension
from sdc_tasks.methods.bases.ladder import Ladder
from sdc_tasks.model.table import Ints

ENDLESS = 1e30  # stands for the slack of a withheld cell
EVEN = 1e-9  # relative: a cut holds


def settle(extension: Extension, ladder: Ladder, choice: Ints) -> Ints:
    """A choice nowhere cheaper than the given one that meets every demand."""
    choice, every = choice.copy(), np.arange(len(choice))
    extension.face(ladder.low[every, choice], ladder.high[every, choice])
    done = False
    while not done:  # again, because a raised interval need not contain the one before; it ends, because options only rise
        done = True
        for demand in extension.demands:
            while (lack := extension.lack(demand)) is not None:
                if not _raise(ladder, choice, lack.cut):
                    break  # the cut holds but for the solver's noise: the audit has the last word
                done = False
                extension.face(ladder.low[every, choice], ladder.high[every, choice])
    return choice


def _raise(ladder: Ladder, choice: Ints, cut: Cut) -> bool:
    """Raises options until the cut holds, each time the one that costs least per unit of what is missing. Was there any to raise?"""
    raised = False
    at, price = cut.cells, np.abs(cut.price)[:, None]
    given = price * np.minimum(np.where(cut.price[:, None] > 0, ladder.high[at], ladder.low[at]), ENDLESS)
    each = np.arange(len(at))
    while (missing := cut.rhs - given[each, choice[at]].sum()) > EVEN * abs(cut.rhs):
        gain = np.minimum(given - given[each, choice[at], None], missing)
        more = ladder.loss[at] - ladder.loss[at, choice[at]][:, None]
        upwards = (np.arange(given.shape[1]) > choice[at][:, None]) & (gain > 0)
        ratio = np.where(upwards, np.maximum(more, 0.0) / np.where(upwards, gain, 1.0), np.inf)
        i, option = np.unravel_index(int(ratio.argmin()), ratio.shape)
        if not np.isfinite(ratio[i, option]):
            break  # nothing may be raised any further: repair says what that means
        choice[at[i]], raised = option, True
    return raised
