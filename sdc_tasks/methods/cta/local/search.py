"""Local search over senses, region by region, from a table that may still fall short of some levels.

    turns   changes a few senses of a region (`regions.py`) at a time: one whose level is expensive (the
            dual price of its level bounds the gain), often with some of its neighbours in a relation. The
            LP of the region gives the cost of the closest table; cells that fall short change too, once or
            twice (an ejection chain); a change without a gain is undone.
    milp    optimises all senses of a small region at once, up to a node limit: this finds changes that
            several turns would have to make together.

Several regions are improved at a time, each from the same table. Their moves are then added one by one; a
move is kept if the whole table is better with it. A z = 0 is linear, so moves of two regions add up, and the
result does not depend on the number of threads.

The search learns which kind of region to try next: from the gain of a kind per effort, in simplex
iterations, the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from sdc_tasks.judge.adjusted import short_of
from sdc_tasks.methods.cta.inequalities import Inequalities
from sdc_tasks.methods.cta.local.regions import Map
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.polygon import Relaxation
from sdc_tasks.methods.cta.run import Run, rested
from sdc_tasks.methods.cta.senses import FIRM, SenseLP
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import DUAL, FEASIBILITY, IMPROVEMENT
from sdc_tasks.solver.milp import LiveMilp

SIZES = {"turns": (400, 200), "milp": (150,)}  # cells of a region, about
REGIONS_AT_ONCE = 4  # regions improved from the same table, at least
CELLS_PER_REGION = 6000  # cells of a table for which there is one more
TWICE = 2  # how often every kind of region was tried before the search ends
REGION_ITERATIONS = 2000  # of turns in one region, in simplex iterations
TRIES = 4  # per sensitive cell of a region, at most
CHAIN = 2  # how often cells that fall short change too
LONGEST_LINK = 6  # senses that may change in a link of the chain
ONE_SENSE_SHARE = 0.4  # share of tries that turn one sense only
PAST_WEIGHT = 0.8  # weight of the past in the gain of a kind of region
SELDOM = 0.7  # factor on a cell's chance to be a centre again, after a visit
IDLE_CHANCE = 0.1  # of the mean cost per sensitive cell: a chance for cells without excess cost around them
# exponent of the gain per effort in the chance of a kind of region if time ends the search; 1 if rounds do
GREED = 2.0
CURIOUS_SHARE = 0.1  # share of regions whose kind is drawn independently of its gain
REGION_NODES, REGION_GAP = 20, 0.003  # of a region's MILP
# levels, or twice the present deviation: how far a region's MILP lets a sensitive cell move
REACH_LEVELS = 4.0
MILP_EFFORT = 8  # effort of an iteration inside a MILP, with its cuts, in iterations of an LP
MODEL_ITERATIONS = 1.0  # effort of building a region's model, in iterations per cell

Task = tuple[int, int, np.random.Generator]  # (kind, centre, a generator of its own)


@dataclass(frozen=True)
class Move:
    """The result of one region: the change of its cells' deviations, and the effort in simplex iterations."""

    cells: Ints = field(repr=False)
    step: Floats = field(repr=False)
    effort: int


@dataclass(frozen=True)
class SearchLimits:
    """When a local search ends, and by how many `threads` it runs. `rounds`: batches of regions; None: no
    limit. `repair`: it ends as soon as no cell falls short.
    """

    seed: int
    rounds: int | None
    threads: int
    repair: bool = False


def improve(
    problem: CtaProblem,
    run: Run,
    starts: Sequence[Floats],
    relaxation: Relaxation,
    dimension: Ints,
    limits: SearchLimits,
) -> Floats:
    """Improves the best of the tables `starts`, each (n,), until the run is over, a limit is reached, or as
    many regions in a row as there are sensitive cells bring no gain. Offers every better table, and returns
    the last.

    `dimension` (m,): the dimension of each relation (`regions.dimensions`). `relaxation`: its rows are valid
    inequalities for the MILPs; its sizes show where a table costs more than it may have to.
    """
    rounds = limits.rounds
    search = _Search(problem, starts, relaxation.t, dimension, limits.seed, GREED if rounds is None else 1.0)
    valid = Inequalities(*relaxation.cuts)
    most_stale, number = max(len(problem.sensitive), TWICE * len(search.kinds)), 0
    with ThreadPoolExecutor(limits.threads) as pool:
        while not (
            run.over()
            or number == rounds
            or search.stale > most_stale
            or (limits.repair and search.keeps_levels)
        ):
            run.at(number, rounds, "rounds of local search")
            tasks = search.batch()
            moves = list(pool.map(partial(search.improved, valid, run), tasks))
            for (kind, _, _), move in zip(tasks, moves, strict=True):
                if search.take(kind, move):
                    run.offer(search.z, "local search")
            number += 1
    run.work["rounds of local search"] = run.work.get("rounds of local search", 0) + number
    return search.z


class _Search:
    """The table, and the statistics that choose the next regions."""

    def __init__(
        self,
        problem: CtaProblem,
        starts: Sequence[Floats],
        t: Floats,
        dimension: Ints,
        seed: int,
        greed: float,
    ) -> None:
        self._problem, self._t, self._greed = problem, t, greed
        size = 1.0 / np.maximum(np.diff(problem.A.indptr), 1)
        self._near = sp.csr_array(sp.diags_array(np.sqrt(size)) @ problem.A.astype(bool).astype(float))
        self._map = Map(problem.A, dimension)
        self.kinds = [
            (along, by, size)
            for along in range(self._map.count)
            for by, sizes in SIZES.items()
            for size in sizes
        ]
        self._rng = np.random.default_rng(seed)
        self._won = np.full(len(self.kinds), np.inf)  # gain per effort; untried kinds come first
        self._visits = np.zeros(len(problem.sensitive))
        self.stale = 0  # regions in a row without a gain
        self._penalty = FIRM * float(np.median(problem.w[problem.w > 0])) if (problem.w > 0).any() else FIRM
        everything = np.arange(len(problem.cells))
        self.z = min(starts, key=lambda z: self._cost(z, everything))

    def batch(self) -> list[Task]:
        """The next regions: around cells that fall short of their level, otherwise where the table is
        expensive.
        """
        some = REGIONS_AT_ONCE + len(self._problem.cells) // CELLS_PER_REGION
        return [
            (self._kind(), self._centre(), np.random.default_rng(self._rng.integers(2**63)))
            for _ in range(some)
        ]

    @property
    def keeps_levels(self) -> bool:
        return not short_of(self._problem, self.z).any()

    def improved(self, valid: Inequalities, run: Run, task: Task) -> Move:
        """The move that one region finds from the present table. Cells outside keep their
        deviations. It does not change the search.
        """
        kind, centre, rng = task
        along, by, size = self.kinds[kind]
        cells = self._map.region(centre, size, along, rng)
        if len(cells) == 0 or run.over():
            return Move(cells, np.zeros(len(cells)), 1)
        return (
            _by_milp(self._problem, self.z, cells, valid, run)
            if by == "milp"
            else _by_turns(self._problem, self.z, cells, run, rng)
        )

    def take(self, kind: int, move: Move) -> bool:
        """Adds the move of a region if the whole table is better with it."""
        self._visits[np.isin(self._problem.sensitive, move.cells)] += 1
        old, new, gain = self.z, self.z.copy(), 0.0
        new[move.cells] += move.step
        before = self._cost(old, move.cells)
        if move.step.any() and self._within(new, move.cells):
            gain = max(0.0, before - self._cost(new, move.cells))
        better = gain > IMPROVEMENT * before
        if better:
            self.z = new
        self.stale = 0 if better else self.stale + 1
        won = gain / max(1, move.effort)
        self._won[kind] = (
            won if np.isinf(self._won[kind]) else PAST_WEIGHT * self._won[kind] + (1 - PAST_WEIGHT) * won
        )
        return better

    def _kind(self) -> int:
        untried = np.flatnonzero(np.isinf(self._won))
        if len(untried):
            return int(untried[self._rng.integers(len(untried))])
        some = len(self.kinds)
        won = self._won**self._greed
        chance = won / won.sum() if won.sum() > 0 else np.full(some, 1 / some)
        return int(self._rng.choice(some, p=(1 - CURIOUS_SHARE) * chance + CURIOUS_SHARE / some))

    def _centre(self) -> int:
        p = self._problem
        short = np.flatnonzero(short_of(p, self.z))
        if len(short):
            return int(p.sensitive[self._rng.choice(short)])
        excess = p.w * np.maximum(np.abs(self.z) - self._t, 0.0)
        around = (self._near.T @ (self._near @ excess))[p.sensitive] + IDLE_CHANCE * float(
            p.w @ np.abs(self.z)
        ) / len(p.sensitive)
        chance = around * rested(self._visits, SELDOM)
        return int(p.sensitive[self._rng.choice(len(chance), p=chance / chance.sum())])

    def _cost(self, z: Floats, cells: Ints) -> float:
        short = self._short(z, cells)
        return float(self._problem.w[cells] @ np.abs(z[cells]) + self._penalty * short.sum())

    def _short(self, z: Floats, cells: Ints) -> Floats:
        p = self._problem
        here = np.isin(p.sensitive, cells)
        moved = z[p.sensitive[here]]
        level = np.where(moved > 0, p.upl[here], p.lpl[here])
        short = np.minimum(p.upl[here] - moved, moved + p.lpl[here])
        return np.where(short > FEASIBILITY * level, short, 0.0)

    def _within(self, z: Floats, cells: Ints) -> bool:
        p = self._problem
        slack = FEASIBILITY / 10 * np.maximum(np.abs(z[cells]), p.smallest_level)
        return bool(((z[cells] >= p.lower[cells] - slack) & (z[cells] <= p.upper[cells] + slack)).all())


def _by_milp(problem: CtaProblem, z: Floats, cells: Ints, valid: Inequalities, run: Run) -> Move:
    """Optimises all senses of the region at once."""
    rank = np.full(len(problem.cells), -1)
    rank[problem.sensitive] = np.arange(len(problem.sensitive))
    own = rank[cells]
    at, which = np.flatnonzero(own >= 0), own[own >= 0]
    A = sp.csr_array(problem.by_cell[:, cells])
    A = sp.csr_array(A[np.flatnonzero(np.diff(A.indptr) > 0)])
    here = z[cells]
    reach = np.full(len(cells), REACH_LEVELS * np.abs(here).max(initial=1.0))
    reach[at] = np.maximum(REACH_LEVELS * np.maximum(problem.lpl, problem.upl)[which], 2 * np.abs(here[at]))
    part = replace(
        problem,
        cells=problem.cells[cells],
        A=A,
        w=problem.w[cells],
        sensitive=at,
        lpl=problem.lpl[which],
        upl=problem.upl[which],
        lower=np.maximum(problem.lower[cells], -reach),
        upper=np.minimum(problem.upper[cells], reach),
    )
    r = np.zeros(part.milp.A.shape[0])
    r[: A.shape[0]] = A @ here
    model = replace(part.milp, row_lower=part.milp.row_lower + r, row_upper=part.milp.row_upper + r)
    found = LiveMilp(valid.within(cells).added_to(model)).solve(
        part.columns(here), run.left, REGION_GAP, REGION_NODES
    )
    step = np.zeros(len(cells)) if found.x is None else part.deviation(found.x) - here
    return Move(cells, step, MILP_EFFORT * found.iterations + int(MODEL_ITERATIONS * len(cells)))


def _by_turns(problem: CtaProblem, z: Floats, cells: Ints, run: Run, rng: np.random.Generator) -> Move:
    """Changes a few senses at a time."""
    model = SenseLP(problem, FIRM, cells, z)
    s = len(model.at)
    up = z[cells[model.at]] > 0
    model.set(np.arange(s), up)
    both = model.can_rise & model.can_fall
    start = model.solve(run.left)
    if start is None or both.sum() < 2:
        return Move(cells, np.zeros(len(cells)), _effort(model))
    best = start
    shared = abs(model.A)[:, model.at]
    near = sp.csr_array(shared.T @ shared)
    level, tired = model.upl + model.lpl, np.zeros(s)
    for _ in range(TRIES * s):
        if run.out_of_time or model.effort > REGION_ITERATIONS:
            break
        chance = (level * np.maximum(best.price, 0) + DUAL) * both * rested(tired)
        centre = int(rng.choice(s, p=chance / chance.sum()))
        tired[centre] += 1
        turned = np.array([centre])
        if rng.random() > ONE_SENSE_SHARE:
            around = near.indices[near.indptr[centre] : near.indptr[centre + 1]]
            around = around[both[around]]
            turned = np.unique(np.append(rng.choice(around, rng.integers(1, 4)), centre))
        trial = up.copy()
        turned, cost = _ejection_chain(model, trial, turned, both, best.cost, run)
        found = model.solve(run.left) if cost < best.cost * (1 - IMPROVEMENT) else None
        if found is None:
            model.set(turned, up[turned])
        else:
            best, up, tired = found, trial, tired * PAST_WEIGHT
    return Move(cells, best.z - z[cells], _effort(model))


def _ejection_chain(
    model: SenseLP, trial: Bools, turned: Ints, both: Bools, best: float, run: Run
) -> tuple[Ints, float]:
    """Changes the senses `turned` of `trial` (s,), in place, and up to CHAIN times those of cells that then
    fall short. `both` (s,): the cells that can rise and fall. Returns the senses changed, and the cost.
    """
    trial[turned] = ~trial[turned]
    model.set(turned, trial[turned])
    cost = model.cost(run.left)
    for _ in range(CHAIN):
        if cost < best or not np.isfinite(cost):
            break
        found = model.solve(run.left)
        if found is None:
            break
        short = np.flatnonzero((found.short > FEASIBILITY * np.where(trial, model.upl, model.lpl)) & both)
        short = np.setdiff1d(short, turned)
        if not 0 < len(short) <= LONGEST_LINK:
            break
        trial[short] = ~trial[short]
        model.set(short, trial[short])
        turned = np.union1d(turned, short)
        cost = model.cost(run.left)
    return turned, cost


def _effort(model: SenseLP) -> int:
    return model.effort + int(MODEL_ITERATIONS * len(model.cells))
