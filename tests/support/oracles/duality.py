"""Protection of a rounded table by LP duality: the protection equations of [3], eq. 2.6–2.11. A second
way to a verdict on small tables.

The attacker knows the relations `M y = b`, that every cell lies within a base of what was printed, and his
own bounds (2.2). By duality the highest `y_s` he cannot exclude is the least value of the dual (2.6) over its
polyhedron (2.7); in deviations from the truth `γ` drops out of the objective, because M a = b, and what is
left of it is the left side of the protection equation (2.8), for (2.9) that of the mirrored problem (2.10).
Nothing here is shared with the attacker's LPs, which solve the primal.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Floats
from sdc_tasks.solver.lp import LiveLP, Status


@dataclass(frozen=True)
class Rounded:
    """A rounded table of n cells: relations M (rows, n), truth `a`, printed `x`, `base` of each cell (0:
    printed exactly; ∞: not printed), and the attacker's own bounds `lower ≤ a ≤ upper`.
    """

    M: sp.csr_array
    a: Floats = field(repr=False)
    x: Floats = field(repr=False)
    base: Floats = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)


def reach(table: Rounded, cell: int) -> tuple[float, float]:
    """(down, up): how far below and above the truth the attacker cannot exclude a cell: the minima of (2.9)
    and (2.8).

    Infinite where nothing holds it. Raises ValueError where the printed table excludes the truth.
    """
    over, under = table.x + table.base - table.a, table.a - (table.x - table.base)
    if (over < 0).any() or (under < 0).any():
        raise ValueError("a printed cell is further than its base from the truth")
    cost = np.concatenate(
        [table.upper - table.a, over, table.a - table.lower, under]
    )  # of α¹, α², β¹, β²: never negative
    used = np.flatnonzero(np.isfinite(cost))
    n, relations = len(table.a), table.M.shape[0]
    sides = sp.csr_array(
        sp.hstack([sp.eye_array(n), sp.eye_array(n), -sp.eye_array(n), -sp.eye_array(n)], format="csc")[
            :, used
        ]
    )
    A = sp.csr_array(sp.hstack([sides, table.M.T], format="csr"))
    free = np.full(relations, np.inf)
    found = []
    for side in (-1.0, 1.0):
        wanted = np.zeros(n)
        wanted[cell] = side
        dual = LiveLP(
            np.concatenate([cost[used], np.zeros(relations)]), A, wanted, wanted,
            np.concatenate([np.zeros(len(used)), -free]), np.concatenate([np.full(len(used), np.inf), free]),
        )  # fmt: skip
        result = dual.solve()
        found.append(result.objective if result.status is Status.OPTIMAL else np.inf)
    return found[0], found[1]


def protected(table: Rounded, cell: int, lpl: float, upl: float, spl: float) -> tuple[bool, bool, bool]:
    """Are lower, upper and sliding protection of a cell kept: (2.9), (2.8) and (2.11)?"""
    down, up = reach(table, cell)
    return down >= lpl - 1e-6 * (1 + lpl), up >= upl - 1e-6 * (1 + upl), down + up >= spl - 1e-6 * (1 + spl)
