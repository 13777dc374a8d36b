"""The attacker of a table of codes × sizes whose codes add up in several ways: two dense linear programs a
cell, over relations written down from the sums alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from scipy.optimize import linprog

Sums = Mapping[str, Sequence[str]]  # total → parts
Key = tuple[str, str]  # code and size


def reach(
    sums: Sequence[Sums], sizes: Sums, value: Mapping[Key, float], hidden: set[Key]
) -> dict[Key, tuple[float, float]]:
    """The interval of each hidden cell of codes × sizes, by two dense linear programs a cell."""
    keys = list(value)
    at = {key: i for i, key in enumerate(keys)}
    codes, classes = dict.fromkeys(code for code, _ in keys), dict.fromkeys(size for _, size in keys)
    rows = [
        [(at[total, size], -1)] + [(at[part, size], 1) for part in parts]
        for each in sums
        for (total, parts), size in product(each.items(), classes)
    ]
    rows += [
        [(at[code, total], -1)] + [(at[code, part], 1) for part in parts]
        for (total, parts), code in product(sizes.items(), codes)
    ]
    M = np.zeros((len(rows), len(keys)))
    for i, row in enumerate(rows):
        for cell, sign in row:
            M[i, cell] = sign
    a = np.array([value[key] for key in keys], dtype=float)
    assert np.allclose(M @ a, 0), "the table adds up in every way"
    bounds = [(0, None) if key in hidden else (value[key], value[key]) for key in keys]
    found = {}
    for key in sorted(hidden):
        ends = []
        for sign in (1, -1):
            cost = np.zeros(len(keys))
            cost[at[key]] = sign
            lp = linprog(cost, A_eq=M, b_eq=np.zeros(len(M)), bounds=bounds, method="highs")
            ends.append(np.inf if lp.status == 3 else sign * lp.fun)
        found[key] = ends[0], ends[1]
    return found
