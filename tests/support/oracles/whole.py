"""Integer knowledge by two MILPs of scipy for each cell, over all cells of all areas;
shares no code with the attacker.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from support.oracles.attack import DOWN, UP, Draw, one_cell_release, published, relations


def whole(problem: ProtectionProblem) -> ProtectionProblem:
    """The same release in counts: small whole values, and everybody knows it."""
    return replace(problem, integral=np.ones(problem.space.size, dtype=bool))


def whole_slack(problem: ProtectionProblem, publication: Publication | None) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of the aggregate cells: how many whole steps down and up each may be; the
    upper end of a tie is excluded.
    """
    truth = problem.a[problem.aggregate]
    if publication is None:
        return np.full(len(truth), np.inf), np.full(len(truth), np.inf)
    low, high = np.zeros(len(truth)), np.zeros(len(truth))
    for k, (a, value, base) in enumerate(zip(truth, publication.value, publication.base, strict=True)):
        if np.isinf(base):
            low[k] = high[k] = np.inf
        elif base > 0:
            while a - low[k] - 1 >= value - base / 2 - 1e-9:
                low[k] += 1
            while a + high[k] + 1 < value + base / 2 - 1e-9:
                high[k] += 1
    return low, high


def whole_reaches(
    problem: ProtectionProblem, publication: Publication | None, known: np.ndarray | None = None
) -> np.ndarray:
    """(primaries, 2): how far down and up an attacker with integer knowledge gets;
    `known` cells do not move for him.
    """
    low, high = whole_slack(problem, publication)
    lower = np.where(problem.public, 0.0, problem.lb - problem.a)
    upper = np.where(problem.public, 0.0, problem.ub - problem.a)
    lower[problem.aggregate], upper[problem.aggregate] = -low, high
    if known is not None:
        lower[known] = upper[known] = 0.0
    lower, upper = np.maximum(np.ceil(lower - 1e-9), -50_000), np.minimum(np.floor(upper + 1e-9), 50_000)
    M = relations(problem.space)
    found = []
    for p in np.flatnonzero(problem.primary):
        for side in (DOWN, UP):
            cost = np.zeros(len(lower))
            cost[p] = -side
            result = milp(
                cost,
                constraints=LinearConstraint(M, 0, 0),
                integrality=np.ones(len(lower)),
                bounds=Bounds(lower, upper),
                options={"mip_rel_gap": 0.0},
            )
            assert result.status == 0, result.message
            found.append(round(side * result.x[p]))
    return np.array(found, dtype=float).reshape(-1, 2)


def whole_shares(problem: ProtectionProblem, publication: Publication) -> np.ndarray:
    """(primaries, 3): what is reached as a share of what is needed, cut at the bounds and at what
    the national tables alone reach.
    """
    p = np.flatnonzero(problem.primary)
    needed = np.ceil(np.column_stack([problem.lpl[p], problem.upl[p], problem.spl[p]]) - 1e-9)
    for limit in (
        np.column_stack([problem.a[p] - problem.lb[p], problem.ub[p] - problem.a[p]]),
        whole_reaches(problem, None),
    ):
        needed = np.minimum(needed, np.floor(np.column_stack([limit, limit.sum(axis=1)])))
    reached = whole_reaches(problem, publication)
    reached = np.column_stack([reached, reached.sum(axis=1)])
    return np.where(needed > 0, np.minimum(reached / np.maximum(needed, 1), 1.0), 1.0)


def counts(draw: Draw) -> tuple[ProtectionProblem, Publication]:
    """A drawn release in which integrality matters: levels of one or two, bases from 1 to 5 around the
    totals.
    """
    p, rng = draw.problem, draw.rng
    level = np.where(p.primary, rng.choice([0.4, 1.0, 1.6, 2.0], p.space.size), 0.0)
    problem = whole(replace(p, lpl=level, upl=level.copy(), spl=np.where(p.spl > 0, 3 * level, 0.0)))
    cells = np.flatnonzero(p.aggregate)
    kind = rng.choice(["exact", "rounded", "withheld"], len(cells), p=[0.3, 0.6, 0.1])
    base = rng.choice([1.0, 2.0, 3.0, 4.0, 5.0], len(cells))
    value = base * np.floor(p.a[cells] / base + 0.5)
    return problem, Publication(
        cells,
        np.select([kind == "exact", kind == "rounded"], [p.a[cells], value], np.nan),
        np.select([kind == "exact", kind == "rounded"], [0.0, base], np.inf),
    )


def parity() -> tuple[ProtectionProblem, Publication]:
    """AT = 20 is tied to BE + CY by an exact total, and BE = −FI = CY as deviations by two more,
    so AT moves by even steps only.

    Its own total with DE (public) is 51 on a base of 3: [49.5, 52.5], so AT is 20 ± 1.
    """
    problem = one_cell_release(
        "AT 20 secret 1 | BE 30 hidden | CY 40 hidden | FI 50 hidden | DE 31 public",
        ONE="AT BE CY", TWO="BE FI", THREE="CY FI", OWN="AT DE",
    )  # fmt: skip
    return problem, published(problem, "exact", "exact", "exact", (51, 3))
