"""CTA with the distance L2: min Σ w_i z_i² over the tables of `model.py`.

Where few cells are sensitive, branch and bound over all senses (`tree.py`) finds the optimum and
proves it. Otherwise the senses of a first table come from the distance L1 (`first.py`), from
`balance.py`, or are all up, whichever is best. Local search continues from there: branch and bound
over the senses of a few neighbouring cells, with the others fixed, repeatedly. The multipliers show
where to look: at cells whose level is expensive.

The bound: the rows R |z| ≥ r of `polygon.py` are valid for any distance. So min Σ w t² over R t ≥ r, t ≥
level bounds all tables, and so does its dual function at any multipliers ≥ 0. The dual function is reported.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.cta.cuts.benders import benders
from sdc_tasks.methods.cta.cuts.subproblem import refuse
from sdc_tasks.methods.cta.l2.tree import Node, SenseQP, branch
from sdc_tasks.methods.cta.local.balance import balanced
from sdc_tasks.methods.cta.local.first import first_tables
from sdc_tasks.methods.cta.model import FARTHEST, CtaProblem
from sdc_tasks.methods.cta.polygon import POLYGON_ROUNDS, Relaxation, least_sizes
from sdc_tasks.methods.cta.run import Run, rested
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import TIE_BREAK
from sdc_tasks.model.weights import Distance
from sdc_tasks.solver.lp import Status
from sdc_tasks.solver.qp import SeparableQP

METHOD = "quadratic"
ALL_AT_ONCE = 12  # sensitive cells of a table whose senses are searched all at once
TREE_SENSES, TREE_NODES = 10, 60  # senses of a neighbourhood, and nodes that its tree may take
STRAIN_OF_ANY = 0.1  # share of the mean strain that any cell has
ROW_CURVATURE = 1e-3  # curvature given to slacks of rows


def quadratic(problem: CtaProblem, run: Run, seed: int, rounds: int | None = None) -> None:
    """Offers tables and reports bounds until the run is over, the optimum is proven, or
    `rounds` neighbourhoods were searched.

    Without `rounds`, it also ends when no cell's neighbourhood gives a gain. Raises Unprotectable
    where no protected table exists.
    """
    refuse(problem, ~problem.can_rise & ~problem.can_fall)
    model = SenseQP(problem)
    unit = model.scale * problem.unit**2  # of a cost, in weight · data units²
    t = _lift_bound(problem, model, run)
    best = _first(problem, model, run, t, seed)
    if len(problem.sensitive) <= ALL_AT_ONCE:
        found, proven = branch(
            model,
            model.everywhere_open,
            math.inf if best is None else best.cost,
            math.inf,
            run.over,
        )
        if found is not None:
            run.offer(found.z, METHOD)
        if proven == math.inf:
            refuse(problem, np.ones(len(problem.sensitive), dtype=bool))
        run.raise_bound(proven * unit, METHOD)
    elif best is not None:
        _improve(problem, model, run, best, seed, rounds)


def _lift_bound(problem: CtaProblem, model: SenseQP, run: Run) -> Floats:
    """Reports the bound of the relaxation in sizes. Returns the sizes (n,)."""
    relaxation = Relaxation(problem)
    for _ in relaxation.tighten(POLYGON_ROUNDS, lambda: run.left):
        pass
    (R, r), w = relaxation.cuts, model.w
    m, n = R.shape
    far = FARTHEST * max(1.0, float(np.maximum(problem.lpl, problem.upl).sum()))
    least, most = least_sizes(problem), np.minimum(np.maximum(-problem.lower, problem.upper), far)
    most = np.maximum(most, least)
    found = SeparableQP(sp.csr_array(sp.hstack([R, -sp.eye_array(m)])), r).solve(
        # cells without weight get a little curvature: without any, the program has no dual
        np.concatenate([2 * np.maximum(w, TIE_BREAK / 100), np.full(m, ROW_CURVATURE)]), np.zeros(n + m),
        np.concatenate([least, np.zeros(m)]), np.concatenate([most, np.full(m, math.inf)]), np.zeros(m),
    )  # fmt: skip
    if found.status is Status.INFEASIBLE:
        return least  # no table at all: the search will name the cells
    mu = np.maximum(found.dual, 0.0)
    pull = R.T @ mu
    t = np.clip(np.divide(pull, 2 * w, out=np.where(pull > 0, most, least), where=w > 0), least, most)
    run.raise_bound(float(mu @ r + (w * t - pull) @ t) * model.scale * problem.unit**2, METHOD)
    return found.x[:n]


def _first(problem: CtaProblem, model: SenseQP, run: Run, t: Floats, seed: int) -> Node | None:
    """The best of three kinds of first senses; None where none has a table: the search over all senses will
    say why.
    """
    twin = replace(problem, distance=Distance.L1)
    beside = Run(twin, clock=run.clock)
    first_tables(twin, beside, t, seed)
    if beside.protected is None and len(problem.sensitive) > ALL_AT_ONCE:
        beside = Run(twin, gap=1.0, clock=run.clock)  # any protected table will do
        benders(twin, beside, seed)
    w, upl, lpl = model.w[problem.sensitive], problem.upl, problem.lpl
    y = np.divide(lpl, upl + lpl, out=np.zeros(len(w)), where=upl + lpl > 0)
    up = balanced(problem, model.w, y, w * (upl**2 - lpl**2))
    tried = [np.where(problem.can_rise, 1, -1), np.where(up, 1, -1)]
    if beside.protected is not None:
        tried.append(problem.senses(beside.protected.z))
    best: Node | None = None
    for senses in tried:
        node = model.solve(senses, np.zeros(problem.A.shape[0]), math.inf if best is None else best.cost)
        if node is not None and run.offer(node.z, METHOD):
            best = node
    return best


def _improve(
    problem: CtaProblem, model: SenseQP, run: Run, best: Node, seed: int, rounds: int | None
) -> None:
    rng = np.random.default_rng(seed)
    near = _Neighbours(problem)
    s = len(problem.sensitive)
    tries, in_vain, searched = np.zeros(s), np.zeros(s, dtype=bool), 0
    both = problem.can_rise & problem.can_fall
    while not (run.over() or in_vain.all() or searched == rounds):
        searched += 1
        strain = model.strain(best)
        likely = (strain + STRAIN_OF_ANY * strain.mean() if strain.any() else np.ones(s)) * rested(tries)
        left = np.where(in_vain, 0.0, likely)
        centre = int(rng.choice(s, p=left / left.sum()))
        cells = near.of(centre, likely, rng)
        senses = best.senses.copy()
        senses[cells[both[cells]]] = 0
        found, _ = branch(
            model, replace(best, senses=senses, cost=0.0), best.cost, TREE_NODES, lambda: run.over()
        )
        if found is None:
            tries[cells] += 1
            in_vain[centre] = True
        else:
            best, tries, in_vain = found, np.zeros(s), np.zeros(s, dtype=bool)
            run.offer(best.z, METHOD)


class _Neighbours:
    """Neighbours of a sensitive cell: sensitive cells that share a relation with it, or with a cell that
    does.
    """

    def __init__(self, problem: CtaProblem) -> None:
        self._by_relation, self._by_cell = sp.csr_array(problem.A), sp.csc_array(problem.A)
        self._sensitive = problem.sensitive
        self._rank = np.full(len(problem.cells), -1)
        self._rank[problem.sensitive] = np.arange(len(problem.sensitive))

    def of(self, centre: int, likely: Floats, rng: np.random.Generator) -> Ints:
        """The centre and up to TREE_SENSES − 1 neighbours, chosen with weights `likely`."""
        cells = self._sensitive[[centre]]
        for _ in range(2):
            cells = self._beside(cells)
            found = self._rank[cells]
            others = found[(found >= 0) & (found != centre)]
            if len(others) >= TREE_SENSES:
                break
        if len(others) >= TREE_SENSES:
            others = rng.choice(
                others, TREE_SENSES - 1, replace=False, p=likely[others] / likely[others].sum()
            )
        return np.append(others, centre)

    def _beside(self, cells: Ints) -> Ints:
        """All cells of all relations of these cells."""
        return _listed(self._by_relation, _listed(self._by_cell, cells))


def _listed(matrix: sp.csr_array | sp.csc_array, lines: Ints) -> Ints:
    """The columns (rows) in which these rows (columns) of a sparse matrix have entries."""
    return np.unique(np.concatenate([matrix.indices[matrix.indptr[k] : matrix.indptr[k + 1]] for k in lines]))
