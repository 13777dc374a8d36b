"""A first table: starting senses by alternating projections, settled by elastic linear programs.

The relaxation of `polygon.py` gives the size t of each deviation, not its sign. Alternating projections
between {z: |z| = t} and {z: A z = 0}, in a metric in which large deviations change most, find signs that
nearly balance. `settling.py` makes a table of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.cta.local.settling import PRICES, Settling, Wave, waves
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.methods.cta.senses import FIRM, Fixed, SenseLP, refined
from sdc_tasks.model.table import Bools, Floats
from sdc_tasks.model.tolerances import RIDGE, ROUNDING

PROJECTIONS = 10
SOFT_SHARE = 0.1  # share of the median size by which any cell may change at least
# ratio of the largest to the smallest weight up to which weights count as alike; presolve adds up weights
ALIKE = 100.0
STARTS = 6
SIDE_BY_SIDE_STARTS = 2
START_ITERATIONS = 60_000  # iterations after which no further start is tried


def all_up(problem: CtaProblem, run: Run, closest: bool = True) -> None:
    """Offers the closest table with every sense up, where bounds allow it: one LP, feasible without upper
    bounds.

    Where all weights are alike this LP is degenerate and slow. Then an LP comes first in which
    cells with room take more of the change: its table is poor, but found within seconds. It is all
    unless the `closest` is asked for.
    """
    weighted = problem.w[problem.w > 0]
    alike = len(weighted) > 0 and bool(weighted.max() <= ALIKE * weighted.min())
    if alike:
        room = np.minimum(problem.upper, -problem.lower)
        _all_up(replace(problem, w=problem.w / np.sqrt(1 + np.where(np.isfinite(room), room, 0.0))), run)
    if (
        closest or not alike
    ) and not run.out_of_time:  # whether the gap is reached depends on the other threads
        _all_up(problem, run)


def _all_up(problem: CtaProblem, run: Run) -> None:
    model = SenseLP(problem, FIRM)
    up = model.possible(np.ones(len(problem.sensitive), dtype=bool))
    model.set(np.arange(len(up)), up)
    found = model.solve(run.left)
    if found is not None:
        run.offer(refined(problem, found.z), "all up")


def first_tables(problem: CtaProblem, run: Run, t: Floats, seed: int, threads: int = 1) -> Floats | None:
    """Offers tables for senses that the sizes t (n,) suggest, from several random signs while that is cheap.

    Where heavy cells go first they decide most of the cost: all starts settle these, and the best start goes
    on, or several while that is cheap. Returns the deviations (n,) of the best table, with shortfalls at the
    price `senses.FIRM`; None where time ran out first.
    """
    tables, waiting = _Tables(problem, run), []
    balanced, effort = _balancer(problem, t), 0
    with ThreadPoolExecutor(threads) as pool:
        for first in range(0, STARTS, SIDE_BY_SIDE_STARTS):
            if run.over() or effort > START_ITERATIONS:
                break
            rngs = [np.random.default_rng([seed, first + k]) for k in range(SIDE_BY_SIDE_STARTS)]
            signs = [balanced(rng)[problem.sensitive] > 0 for rng in rngs]
            prices = PRICES[first // SIDE_BY_SIDE_STARTS % len(PRICES)]
            for start in pool.map(partial(_begun, problem, run, prices), signs, rngs):
                effort += start.settling.model.effort
                if start.rest:
                    waiting.append(start)
                else:  # offered here in order: which of two equal tables stays must not depend on the threads
                    tables.add(start.settling.found)
    _settle_rest(sorted(waiting, key=lambda start: start.cost), tables)
    return tables.best


def _settle_rest(waiting: list[_Start], tables: _Tables) -> None:
    """Settles the remaining waves of the first start, and of further ones while that is cheap."""
    effort = 0
    for start in waiting:
        if tables.best is None or effort <= START_ITERATIONS:
            before = start.settling.model.effort
            all(start.settling.join(wave) for wave in start.rest)
            effort += start.settling.model.effort - before
            tables.add(start.settling.found)


class _Tables:
    """Offers tables, and keeps the deviations of the `best`."""

    def __init__(self, problem: CtaProblem, run: Run) -> None:
        self._problem, self._run, self._cost = problem, run, math.inf
        self.best: Floats | None = None

    def add(self, found: Fixed | None) -> None:
        if found is None:
            return
        z = refined(self._problem, found.z)
        self._run.offer(z, "first table")
        if self.best is None or found.cost < self._cost:
            self.best, self._cost = z, found.cost


@dataclass(frozen=True)
class _Start:
    """Senses whose first wave is settled, and the waves that have not joined."""

    settling: Settling
    rest: tuple[Wave, ...]

    @property
    def cost(self) -> float:
        return math.inf if self.settling.found is None else self.settling.found.cost


def _begun(
    problem: CtaProblem, run: Run, prices: tuple[float, ...], up: Bools, rng: np.random.Generator
) -> _Start:
    first, *rest = waves(problem, prices)
    settling = Settling(problem, run, SenseLP(problem, FIRM), up, rng)
    return _Start(settling, tuple(rest) if settling.join(first) else ())


def _balancer(problem: CtaProblem, t: Floats) -> Callable[[np.random.Generator], Floats]:
    """A function that finds z near both sets from random signs, by projections in the metric Σ z_i² / d_i
    with d = t: cells that move little change little.
    """
    A, positive = problem.A, t[t > 0]
    if len(positive) == 0 or A.shape[0] == 0:
        return lambda rng: np.asarray(rng.choice([-1.0, 1.0], len(t)))
    d = t + SOFT_SHARE * float(np.median(positive))
    normal = sp.csc_array(A @ sp.diags_array(d) @ A.T)
    ridge = sp.diags_array(RIDGE * normal.diagonal() + ROUNDING)
    solve = sp.linalg.splu(
        sp.csc_matrix(normal + ridge), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}
    ).solve

    def balanced(rng: np.random.Generator) -> Floats:
        near = z = t * rng.choice([-1.0, 1.0], len(t))
        for _ in range(PROJECTIONS):
            near = np.clip(z - d * (A.T @ solve(A @ z)), problem.lower, problem.upper)
            z = np.where(near >= 0, t, -t)
        return np.asarray(near)

    return balanced
