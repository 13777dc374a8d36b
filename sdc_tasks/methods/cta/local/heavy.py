"""Exchanges the senses of heavy cells while all light cells are free.

Where a few sensitive cells have most of the cost, their senses decide most of it, and they depend on each
other across the whole table: no region is large enough for them. With only these senses set the LP of the
whole table is small in effect. Solved from scratch it takes hundreds of iterations, from the last basis
thousands, because the new detour of a heavy cell touches everything. Most changes are no gain, and the dual
simplex stops as soon as that is known.
"""

from __future__ import annotations

import numpy as np

from sdc_tasks.methods.cta.run import Run, rested
from sdc_tasks.methods.cta.senses import Fixed, SenseLP
from sdc_tasks.model.table import Bools
from sdc_tasks.model.tolerances import DUAL, IMPROVEMENT

EXCHANGE_ITERATIONS = 15_000  # of all exchanges of a wave of cells
MISSES = 1.0  # exchanges in a row without a gain, per cell, after which the search ends
ONE_SHARE = 0.6  # share of exchanges that change one sense; the others change two
RESTED = 0.8  # after a gain, factor on how often the cells were tried in vain


def exchange(
    model: SenseLP, run: Run, up: Bools, counts: Bools, rng: np.random.Generator
) -> tuple[Fixed | None, Bools]:
    """(closest table, its senses (s,)) after changes of the senses `up` (s,) of the cells that
    count (s,), one or two at a time.

    The model has these senses, and ignores all other cells. No table where time ran out before any solution.
    """
    best = model.solve(run.left, fresh=True)
    if best is None:
        return None, up
    level, open_ = model.upl + model.lpl, model.can_rise & model.can_fall & counts
    tired, vain, until = np.zeros(len(up)), 0, model.effort + EXCHANGE_ITERATIONS
    while vain < MISSES * open_.sum() and model.effort < until and not run.out_of_time:
        chance = (level * np.maximum(best.price, 0) + DUAL) * open_ * rested(tired)
        chosen = rng.choice(len(up), 1 + int(rng.random() > ONE_SHARE), p=chance / chance.sum())
        turned = np.unique(chosen)
        tired[chosen[0]] += 1
        trial = up.copy()
        trial[turned] = ~trial[turned]
        model.set(turned, trial[turned])
        cost = model.cost(run.left, best.cost * (1 - IMPROVEMENT), fresh=True)
        found = model.solve(run.left) if np.isfinite(cost) else None
        if found is None:
            model.set(turned, up[turned])
            vain += 1
        else:
            best, up, tired, vain = found, trial, tired * RESTED, 0
    return best, up
