"""Suppression of aggregates: each one is published exactly or withheld, and as little as possible is
withheld ([2] §4, cutting planes).

On a ladder of two options a cut (`search/cut.py`) says that at least one of its cells is withheld:
a withheld cell leaves the attacker any slack, an exact cell leaves none. So the cheapest choice
that meets all cuts is a set cover,

    min Σ_k loss_k y_k   such that   Σ_{k in cut} y_k ≥ 1 for every cut,   y ∈ {0, 1}

HiGHS solves it. The attacker is then asked about the result: attacks that succeed give new cuts, and repair
completes the choice to a safe one. The optimum of the cover is a lower bound on the loss of every safe
choice. If no attack succeeds against the cover, the cover is the least; otherwise the search ends by counted
work. Finally, each withheld cell that can be published again is published.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack import integer_attacks
from sdc_tasks.methods.bases.ladder import Ladder
from sdc_tasks.methods.bases.rules import Case, tighten
from sdc_tasks.model.table import Ints
from sdc_tasks.model.tolerances import OPTIMALITY
from sdc_tasks.optimise import Cut
from sdc_tasks.solver.milp import LiveMilp, Milp

COVERS, NODES = 20, 200  # set covers, and nodes of each: counted work, no clock
CLOSE_TO_BOUND = 0.01  # relative: a choice this close to the bound is good enough


def by_suppression(case: Case, safe: Ints) -> tuple[Ints, float]:
    """A safe choice from exact and withheld that loses no more than the given safe one, and from which no
    withheld cell can be published again; and a bound below the loss of every safe choice.
    """
    best, bound = safe, 0.0
    for number in range(COVERS):
        cover, least = _cover(case.ladder, case.cuts, best)
        bound = max(bound, least)
        if bound >= case.ladder.loss_of(best) * (1 - CLOSE_TO_BOUND):
            break
        found = case.safe(cover)
        case.progress(
            f"search {number}: proposed loss {case.ladder.loss_for_log(cover)}, after repair "
            f"{case.ladder.loss_for_log(found)}"
        )
        if case.ladder.loss_of(found) < case.ladder.loss_of(best):
            best = found
        if np.array_equal(found, cover):
            break
    return tighten(case, best), bound


def published_again(case: Case, choice: Ints) -> Ints:
    """The choice with each withheld cell published again that the attacks allow, the dearest first,
    also against integer knowledge.
    """
    order = np.flatnonzero(choice > 0)
    for k in order[np.argsort(-case.ladder.loss[order, choice[order]], kind="stable")].tolist():
        lower = choice.copy()
        lower[k] = 0
        if not np.isfinite(case.ladder.loss[k, 0]) or not _meets(case, lower):
            continue
        publication = case.ladder.publication(lower)
        if (
            not case.broken(publication)
            and not integer_attacks(case.problem, publication, case.requirements, case.seed).short
        ):
            choice = lower
    return choice


def _meets(case: Case, choice: Ints) -> bool:
    """Is a cell of each cut withheld? Otherwise an attack is known to succeed."""
    return all((choice[cut.columns] > 0).any() for cut in case.cuts if cut.right > 0)


def _cover(ladder: Ladder, cuts: list[Cut], start: Ints) -> tuple[Ints, float]:
    """The cheapest choice of which each cut has a withheld cell, and a bound below its
    loss; `start` is such a choice.
    """
    named = (np.unique(cut.columns[cut.coefficients != 0]) for cut in cuts if cut.right > 0)
    sets = list(dict.fromkeys(tuple(cells.tolist()) for cells in named))
    if not sets:
        return np.zeros_like(start), 0.0
    columns, column = np.unique(np.concatenate([np.array(each) for each in sets]), return_inverse=True)
    lengths = [len(each) for each in sets]
    rows = sp.csr_array(
        (np.ones(len(column)), column, np.concatenate([[0], np.cumsum(lengths)])),
        shape=(len(sets), len(columns)),
    )
    loss = ladder.loss[columns, ladder.withheld]
    may = np.isfinite(loss)
    model = Milp(
        cost=np.where(may, loss, 0.0),
        A=rows,
        row_lower=np.ones(len(sets)),
        row_upper=np.full(len(sets), np.inf),
        lower=np.zeros(len(columns)),
        upper=may.astype(float),
        binary=np.arange(len(columns)),
    )
    solved = LiveMilp(model).solve((start[columns] > 0).astype(float), np.inf, OPTIMALITY, NODES)
    bound = 0.0 if solved.bound is None else solved.bound
    if solved.x is None:
        return start, bound
    choice = np.zeros_like(start)
    choice[columns[solved.x > 0.5]] = ladder.withheld
    return choice, bound


def two_options(ladder: Ladder) -> Ladder:
    """The ladder with exact and withheld alone."""
    kept = [0, ladder.withheld]
    return replace(
        ladder, **{name: getattr(ladder, name)[:, kept] for name in ("value", "base", "low", "high", "loss")}
    )
