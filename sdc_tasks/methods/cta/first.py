"""A first table, in about a second: starting senses by alternating projections, then elastic linear programs at a rising price.

The relaxation of `polygon.py` says how far each cell moves (t), not which way. Alternating projections between {z: |z| = t} and
{z: A z = 0}, in a metric that lets large deviations bend most, find signs that nearly balance. The elastic LP of `senses.py` then starts at
a low price ρ for shortfalls: cells that are cheap to protect settle, cells that stand still at z = 0 are turned to the side where the
duals of the relations make moving cheaper, and ρ rises. Random senses, in contrast, are next to never feasible.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.methods.cta.senses import FIRM, Fixed, SenseLP, refined
from sdc_tasks.model.table import Bools, Floats

PROJECTIONS = 10
SOFT = 0.1  # share of the median size that any cell may bend at least
PRICES = ((3.0, 6.0, 12.0), (1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 30.0))  # in steps of ρ, coarse and fine
STILL = 0.999  # share of its level that a cell falls short by when it does not move
REPAIRS = 12
STARTS = 6
EFFORT = 60_000  # iterations after which no further start is tried
NOTHING = 1e-9  # share of a level
MANY = 100  # more than one sense in so many turned: the LP starts afresh
IMPATIENT = 8  # and also after this part of the iterations that a fresh solve takes


def all_up(problem: CtaProblem, run: Run) -> None:
    """The closest table with every sense up, where bounds allow it: feasible without upper bounds, and one LP away."""
    model = SenseLP(problem, FIRM)
    up = model.possible(np.ones(len(problem.sensitive), dtype=bool))
    model.set(np.arange(len(up)), up)
    found = model.solve(run.left)
    if found is not None:
        run.offer(refined(problem, found.z), "all up")


def first_tables(problem: CtaProblem, run: Run, t: Floats, seed: int) -> Floats | None:
    """Offers the tables of senses that the sizes t suggest, from several random signs while that is cheap.

    Returns the one to go on from, counting what it falls short by at the price of `senses.FIRM`; None where time ran out first.
    """
    model = SenseLP(problem, FIRM)
    best: tuple[float, Floats] | None = None
    for start in range(STARTS):
        found = _one(problem, run, model, t, PRICES[start % len(PRICES)], np.random.default_rng([seed, start]))
        if found is None:
            break
        z = refined(problem, found.z)
        run.offer(z, "first table")
        if best is None or found.cost < best[0]:
            best = found.cost, z
        if run.over or model.effort > EFFORT:
            break
    return None if best is None else best[1]


def _one(problem: CtaProblem, run: Run, model: SenseLP, t: Floats, prices: Sequence[float], rng: np.random.Generator) -> Fixed | None:
    """The last solution, at the firm price."""
    up = model.possible(_balanced(problem, t, rng)[problem.sensitive] > 0)
    model.set(np.arange(len(up)), up)
    both = model.can_rise & model.can_fall
    many, found, patience = True, None, None
    for rho in [*prices, *[FIRM] * REPAIRS]:
        model.penalise(rho)
        before = model.effort
        solved = model.solve(run.left, many, patience)
        patience = (model.effort - before) // IMPATIENT if patience is None else patience  # in terms of a fresh solve
        if solved is None:
            return found
        found = solved
        level = np.where(up, model.upl, model.lpl)
        if not (found.short > NOTHING * level).any():
            return found
        turn = _to_turn(found, level, both, rho, rng)
        up = up ^ turn
        model.set(np.flatnonzero(turn), up[turn])
        many = int(turn.sum()) > len(turn) / MANY
    return found


def _balanced(problem: CtaProblem, t: Floats, rng: np.random.Generator) -> Floats:
    """z near both sets, from random signs: orthogonal in the metric Σ z_i² / d_i with d = t, so that what moves little bends little."""
    A, positive = problem.A, t[t > 0]
    if len(positive) == 0 or A.shape[0] == 0:
        return rng.choice([-1.0, 1.0], len(t))
    d = t + SOFT * float(np.median(positive))
    normal = sp.csc_array(A @ sp.diags_array(d) @ A.T)
    ridge = sp.diags_array(1e-9 * normal.diagonal() + 1e-12)
    solve = splu(sp.csc_matrix(normal + ridge), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve
    z = t * rng.choice([-1.0, 1.0], len(t))
    for _ in range(PROJECTIONS):
        near = np.clip(z - d * (A.T @ solve(A @ z)), problem.lower, problem.upper)
        z = np.where(near >= 0, t, -t)
    return np.asarray(near)


def _to_turn(found: Fixed, level: Floats, both: Bools, rho: float, rng: np.random.Generator) -> Bools:
    """Which senses to try the other way: those that do not move at all while the price is low, and some of any that are short later."""
    if rho < FIRM:
        return both & (found.short >= STILL * level)
    short = both & (found.short > NOTHING * level)
    return short & (rng.random(len(short)) < 0.5)
