"""What a publication that leaves too little would need (METHOD §9): by how much, and which aggregate cells would give it.

How wide a primary is in S (`left.py`) is a concave function of the slacks that the publication leaves: S grows with the published intervals
and with W, and W with the published intervals. So the multipliers of the linear programs, with those of the attacks that end W at the ends
of S, are a tangent: one more inequality for the search, as an attack that succeeds gives one. Some width also comes from levels that grow
with W, and that is counted. A tangent is a hint for a search, not a proof: the test decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.lp.models import NO_PRICE
from sdc_tasks.methods.attack.lp.prover import MET
from sdc_tasks.methods.attack.replay.left import Left, Public, Window
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.solver.lp import LiveLP, LPResult, Status

ROUNDED_STEPS = 2  # steps of a value by which rounding to steps may have made S narrower


@dataclass(frozen=True)
class Shortage:
    """One primary (row of the needs; −1 for all together) that is narrower than the `need` by `missing`, unit of the data. `decided`,
    `price`: as in an attack, by how much the width grows per unit of slack given to these aggregate cells.
    """

    primary: int
    need: float = field(repr=False)
    missing: float = field(repr=False)
    decided: Ints = field(repr=False)
    price: Floats = field(repr=False)


def lacks(problem: ProtectionProblem, found: Left, narrow: Bools, step: Floats) -> list[Shortage]:
    """What `narrow` primaries lack. If some ends of S cross, those of single primaries; if no table fits S, one lack of all together; else
    that of each narrow primary by linear programs of its own. `step` (primaries,): as in `left`.
    """
    window = found.window
    if window is None:
        return []
    room = window.upper - window.lower
    alone = np.flatnonzero((room < window.width) & narrow)
    if len(alone):
        return [_alone(window, row, float(window.width[row] - room[row] + ROUNDED_STEPS * step[row])) for row in alone.tolist()]
    return list(_within(Public.of(problem, window.told), found, narrow, step))


def _alone(window: Window, row: int, missing: float) -> Shortage:
    """Where W ends on both sides, S is too narrow for the primary without any other."""
    weights = [(row, 1.0 - _more_needed(window, row)), (row, -1.0)]
    return _lack(window, row, missing, weights, np.zeros(0, dtype=np.int64), np.zeros(0))


def _within(public: Public, found: Left, narrow: Bools, step: Floats) -> Iterator[Shortage]:
    window = found.window
    assert window is not None
    n, m = len(public.cells), len(found.primaries)
    columns, unit = np.searchsorted(public.cells, found.primaries), public.unit
    pick = sp.csr_array((np.ones(m), (np.arange(m), columns)), shape=(m, n))
    A = sp.csr_array(sp.vstack([public.A, pick], format="csr"))
    row_lower, row_upper = np.append(public.row_lower, window.lower / unit), np.append(public.row_upper, window.upper / unit)
    free = public.told.lb[public.cells] / unit, np.full(n, np.inf)
    live = LiveLP(np.zeros(n), A, row_lower, row_upper, *free)
    if live.solve().status is not Status.OPTIMAL:
        slack = sp.csr_array(sp.vstack([sp.csr_array((len(public.row_lower), m)), sp.eye_array(m)]))
        elastic = LiveLP(
            np.concatenate([np.zeros(n), np.repeat(unit / window.width, 2)[np.r_[0 : 2 * m : 2, 1 : 2 * m : 2]]]),
            sp.csr_array(sp.hstack([A, slack, -slack])), row_lower, row_upper,
            np.concatenate([free[0], np.zeros(2 * m)]), np.concatenate([free[1], np.full(2 * m, np.inf)]),
        ).solve()  # fmt: skip
        if elastic.status is Status.OPTIMAL:
            yield _from(public, window, -1, float(elastic.objective), [elastic])
        return
    for row in np.flatnonzero(narrow).tolist():
        at, halves = columns[[row]], list[LPResult]()
        for way in (1.0, -1.0):
            live.set_cost(at, np.array([-way]))
            halves.append(live.solve(reduced=False))
        live.set_cost(at, np.zeros(1))
        if all(half.status is Status.OPTIMAL for half in halves):
            width = -sum(half.objective for half in halves) * unit
            yield _from(public, window, row, float(window.width[row] - width + ROUNDED_STEPS * step[row]), halves)


def _from(public: Public, window: Window, row: int, missing: float, results: list[LPResult]) -> Shortage:
    """The lack by the multipliers of linear programs over S, whose last rows are the ends of S."""
    split = len(public.row_lower)
    price = -np.concatenate([result.dual[:split] for result in results])
    decided = np.tile(public.decided, len(results))
    told = (decided >= 0) & (np.abs(price) > NO_PRICE)
    ends = -np.sum([result.dual[split:] for result in results], axis=0)
    weights = [(int(end), float(ends[end])) for end in np.flatnonzero(np.abs(ends) > NO_PRICE)]
    if row >= 0:
        weights.append((row, -_more_needed(window, row)))
    return _lack(window, row, missing, weights, decided[told], price[told])


def _lack(window: Window, row: int, missing: float, weights: list[tuple[int, float]], decided: Ints, price: Floats) -> Shortage:
    """`weights`: how much the width grows with the upper end (positive) or the lower end (negative) of S at some primaries."""
    at, prices = [decided], [price]
    for end, weight in weights:
        if attack := window.ended.get((1 if weight > 0 else -1, end)):
            at.append(attack.decided)
            prices.append(abs(weight) * _grows(window, end, attack.side) * attack.price)
    need = float(window.width[row]) if row >= 0 else 1.0
    return Shortage(row, need * (1 + MET), missing, np.concatenate(at), np.concatenate(prices))


def _grows(window: Window, row: int, side: int) -> float:
    """How much an end of S moves with that of W."""
    slope, least = float(window.level.slope[row]), float(window.level.least[row])
    end = float(window.upper[row] if side > 0 else window.lower[row])
    if slope * end <= least:
        return 1.0
    return 1 / (1 + slope) if side > 0 else 1 / max(1 - slope, MET)


def _more_needed(window: Window, row: int) -> float:
    """How much more width is asked per unit that S grows at its upper end: both levels grow with the value."""
    slope, least = float(window.level.slope[row]), float(window.level.least[row])
    return 2 * slope if slope * float(window.upper[row]) > least else 0.0
