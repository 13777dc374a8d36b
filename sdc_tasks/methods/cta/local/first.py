"""A first table, in about a second: starting senses by alternating projections, then elastic linear programs at a rising price.

The relaxation of `polygon.py` gives the size t of each deviation, not its sign. Alternating projections between {z: |z| = t} and
{z: A z = 0}, in a metric in which large deviations change most, find signs that nearly balance. The elastic LP of `senses.py` then starts
with a low price ρ for shortfalls: cells that are cheap to protect reach their level, cells that stay at z = 0 change to the side where the
duals of the relations make moving cheaper, and ρ rises. Random senses, in contrast, are almost never feasible.

Where a few sensitive cells cause most of the cost (weight 1), these are decided first, with all others free; then the next ones
join, each on the side to which it has moved. Their LPs are fast, and the heavy cells decide most of the cost: so their senses are exchanged
(`heavy.py`) before others join.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from sdc_tasks.methods.cta.local.heavy import exchange
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.methods.cta.senses import FIRM, Fixed, SenseLP, refined
from sdc_tasks.model.table import Bools, Floats, Ints

PROJECTIONS = 10
SOFT_SHARE = 0.1  # share of the median size by which any cell may change at least
PRICES = ((3.0, 6.0, 12.0), (1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 30.0))  # in steps of ρ, coarse and fine
HEAVY_SHARE = 2 / 3  # if a tenth of the sensitive cells has this share of all weight · level, these cells go first
SCALES = (0.01, 0.03, 0.1)  # of the sensitive cells, the heaviest
EXCHANGED = 0.03  # share of the sensitive cells up to which senses are exchanged (`heavy.py`): with more, each LP takes long
FEW_PRICES, REST_PRICES = (1.5, 2.0, 3.0, 4.0, 6.0, 8.0), (4.0, 8.0)  # while only the heaviest count; once all do
ALIKE = 100.0  # ratio of the largest to the smallest weight up to which weights count as alike; presolve adds up weights
STILL_SHARE = 0.999  # share of its level that a cell falls short by when it does not move
REPAIRS = 12
STARTS = 6
SIDE_BY_SIDE_STARTS = 2
START_ITERATIONS = 60_000  # iterations after which no further start is tried
NO_SHORTFALL = 1e-9  # share of a level
FRESH_ONE_IN = 100  # the LP starts from scratch if more than one sense in this number has changed
IMPATIENT = 8  # and also after this fraction (1 / 8) of the iterations of a solve from scratch


def all_up(problem: CtaProblem, run: Run) -> None:
    """Offers the closest table with every sense up, where bounds allow it: one LP, feasible without upper bounds.

    Where all weights are alike this LP is degenerate and slow. Then an LP comes first in which cells with room take more of the change: its
    table is poor, but found within seconds.
    """
    weighted = problem.w[problem.w > 0]
    if len(weighted) and weighted.max() <= ALIKE * weighted.min():
        room = np.minimum(problem.upper, -problem.lower)
        _all_up(replace(problem, w=problem.w / np.sqrt(1 + np.where(np.isfinite(room), room, 0.0))), run)
    if not run.out_of_time:  # whether the gap is reached depends on the other threads
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

    Returns the deviations (n,) of the best one, with shortfalls at the price `senses.FIRM`; None where time ran out first.
    """
    best: tuple[float, Floats] | None = None
    effort, balanced = 0, _balancer(problem, t)
    with ThreadPoolExecutor(threads) as pool:
        for first in range(0, STARTS, SIDE_BY_SIDE_STARTS):
            if run.over or effort > START_ITERATIONS:
                break
            tasks = [(balanced(rng), rng) for rng in (np.random.default_rng([seed, first + k]) for k in range(SIDE_BY_SIDE_STARTS))]
            for found, z, spent in pool.map(partial(_one, problem, run, PRICES[first // SIDE_BY_SIDE_STARTS % len(PRICES)]), tasks):
                effort += spent
                if found is None:
                    continue
                run.offer(z, "first table")  # offered here in order: which of two equal tables stays must not depend on the threads
                if best is None or found.cost < best[0]:
                    best = found.cost, z
    return None if best is None else best[1]


def _one(
    problem: CtaProblem, run: Run, prices: Sequence[float], task: tuple[Floats, np.random.Generator]
) -> tuple[Fixed | None, Floats, int]:
    """(last solution, its z without solver tolerances, effort) of one start."""
    balanced, rng = task
    model = SenseLP(problem, FIRM)
    found = _settled(problem, run, model, model.possible(balanced[problem.sensitive] > 0), prices, rng)
    return found, np.zeros(0) if found is None else refined(problem, found.z), model.effort


def _settled(problem: CtaProblem, run: Run, model: SenseLP, up: Bools, prices: Sequence[float], rng: np.random.Generator) -> Fixed | None:
    """The last solution, at the firm price; None where time ran out before any."""
    both, counts, found = model.can_rise & model.can_fall, np.zeros(len(up), dtype=bool), None
    model.ignore(np.arange(len(up)))
    for which, ladder, heavy in _schedule(problem, prices):
        if found is not None:
            up = model.possible(np.where(counts, up, _leaning(found, problem.sensitive, up)))
        model.set(which, up[which])
        firm = counts.copy()  # cells that joined before stay while these find their sides
        counts[which] = True
        many, patience = True, None
        for rho in ladder:
            model.penalise(rho, firm)
            before = model.effort
            solved = model.solve(run.left, many, patience)
            patience = (model.effort - before) // IMPATIENT if patience is None else patience  # in terms of a fresh solve
            if solved is None:
                return found
            found = solved
            level = np.where(counts, np.where(up, model.upl, model.lpl), np.inf)
            if rho == FIRM and not (found.short > NO_SHORTFALL * level).any():
                return found
            turn = _to_turn(found, level, both & ~firm if rho < FIRM else both, rho, rng)
            up = up ^ turn
            model.set(np.flatnonzero(turn), up[turn])
            many = int(turn.sum()) > counts.sum() / FRESH_ONE_IN
        if heavy:
            model.penalise(FIRM)
            exchanged, up = exchange(model, run, up, counts, rng)
            if exchanged is None:
                return found
            found = exchanged
    return found


def _schedule(problem: CtaProblem, prices: Sequence[float]) -> Iterator[tuple[Ints, Sequence[float], bool]]:
    """(positions of the sensitive cells that count from now on, prices to solve at, whether senses are exchanged then): the heaviest cells
    first, if a few have most of the cost.

    All cells at once if some have no weight, as in a release: there the cost is in other cells.
    """
    weight = problem.w[problem.sensitive] * np.minimum(problem.lpl, problem.upl)
    order = np.argsort(-weight, kind="stable")
    s = len(order)
    done = 0
    if s > 0 and weight.min() > 0 and weight[order[: s // 10]].sum() > HEAVY_SHARE * weight.sum():
        for share in SCALES:
            yield order[done : int(share * s)], FEW_PRICES, share <= EXCHANGED
            done = int(share * s)
        prices = REST_PRICES
    yield order[done:], [*prices, *[FIRM] * REPAIRS], False


def _balancer(problem: CtaProblem, t: Floats) -> Callable[[np.random.Generator], Floats]:
    """A function that finds z near both sets from random signs, by projections in the metric Σ z_i² / d_i with d = t: cells that move
    little change little.
    """
    A, positive = problem.A, t[t > 0]
    if len(positive) == 0 or A.shape[0] == 0:
        return lambda rng: np.asarray(rng.choice([-1.0, 1.0], len(t)))
    d = t + SOFT_SHARE * float(np.median(positive))
    normal = sp.csc_array(A @ sp.diags_array(d) @ A.T)
    ridge = sp.diags_array(1e-9 * normal.diagonal() + 1e-12)
    solve = splu(sp.csc_matrix(normal + ridge), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve

    def balanced(rng: np.random.Generator) -> Floats:
        near = z = t * rng.choice([-1.0, 1.0], len(t))
        for _ in range(PROJECTIONS):
            near = np.clip(z - d * (A.T @ solve(A @ z)), problem.lower, problem.upper)
            z = np.where(near >= 0, t, -t)
        return np.asarray(near)

    return balanced


def _leaning(found: Fixed, cells: Ints, up: Bools) -> Bools:
    """The side to which a cell whose level did not count has moved, or would move more cheaply; `up` where both are equal."""
    z, lean = found.z[cells], found.lean[cells]
    return np.where(np.abs(z) > NO_SHORTFALL, z > 0, np.where(np.abs(lean) > NO_SHORTFALL, lean > 0, up))


def _to_turn(found: Fixed, level: Floats, both: Bools, rho: float, rng: np.random.Generator) -> Bools:
    """The senses to change: cells that do not move while the price is low, and later some of the cells that fall short."""
    if rho < FIRM:
        return both & (found.short >= STILL_SHARE * level)
    short = both & (found.short > NO_SHORTFALL * level)
    return short & (rng.random(len(short)) < 0.5)
