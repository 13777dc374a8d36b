"""A second opinion on CTA that shares no code with the methods: every sense vector is
tried, each by one cold LP of scipy.

Below it: small problems for that opinion and the methods to differ on. Of the project only the
frozen type `CtaProblem` is used.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from scipy.optimize import linprog

from sdc_tasks.methods.cta.model import CtaProblem

SHAPES = ("line", "grid", "tree", "tree × line", "cube")


# --- the oracle ---------------------------------------------------------------------------------------------


def enumerate_senses(
    A: np.ndarray,
    w: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    sensitive: np.ndarray,
    lpl: np.ndarray,
    upl: np.ndarray,
) -> float | None:
    """The least Σ w|z| over A z = 0, lower ≤ z ≤ upper, z_p ≥ upl_p or z_p ≤ −lpl_p for
    each sensitive p; None: no such z.

    `A` dense or sparse. 2^s linear programs: for s up to 8 or so.
    """
    dense = A.toarray() if sp.issparse(A) else np.asarray(A)
    found = [
        _closest(dense, w, lower, upper, sensitive, lpl, upl, rises)
        for rises in product((False, True), repeat=len(sensitive))
    ]
    return min((value for value in found if value is not None), default=None)


def optimum(problem: CtaProblem) -> float | None:
    """The oracle's word on a problem, in weight · data units as the engine gives it."""
    best = enumerate_senses(
        problem.A, problem.w, problem.lower, problem.upper, problem.sensitive, problem.lpl, problem.upl
    )
    return None if best is None else best * problem.unit


def _closest(A, w, lower, upper, sensitive, lpl, upl, rises) -> float | None:
    """One linear program in (z, t) with t ≥ |z|."""
    n = A.shape[1]
    low, high = lower.astype(float), upper.astype(float)
    for p, down, up, rise in zip(sensitive, lpl, upl, rises, strict=True):
        low[p], high[p] = (max(low[p], up), high[p]) if rise else (low[p], min(high[p], -down))
    if (low > high).any():
        return None
    eye = np.eye(n)
    result = linprog(
        np.concatenate([np.zeros(n), w]),
        A_ub=np.block([[eye, -eye], [-eye, -eye]]),
        b_ub=np.zeros(2 * n),
        A_eq=np.hstack([A, np.zeros((len(A), n))]),
        b_eq=np.zeros(len(A)),
        bounds=np.column_stack(
            [np.concatenate([low, np.zeros(n)]), np.concatenate([high, np.full(n, np.inf)])]
        ),
        method="highs",
    )
    if result.status == 2:
        return None
    assert result.status == 0, f"the oracle's LP ended with: {result.message}"
    return float(result.fun)


# --- small problems -----------------------------------------------------------------------------------------


def table(shape: str, sizes: tuple[int, int, int]) -> np.ndarray:
    """Relations of a small table, dense: −1 at a total, +1 at its parts. Every cell of a margin is there.

    line: parts and their total. grid: two lines crossed. tree: a total, groups, leaves. cube: three lines
    crossed.
    """
    first, second, third = sizes
    line = [(first, list(range(first)))]
    lines = {
        "line": [(first + 1, line)],
        "grid": [(first + 1, line), (second + 1, [(second, list(range(second)))])],
        "tree": [_tree(second, third)],
        "tree × line": [_tree(2, second), (3, [(2, [0, 1])])],
        "cube": [(3, [(2, [0, 1])])] * 3,
    }[shape]
    extents = [length for length, _ in lines]
    cells = np.arange(int(np.prod(extents))).reshape(extents)
    rows = []
    for axis, (_, sums) in enumerate(lines):
        across = np.moveaxis(cells, axis, 0).reshape(extents[axis], -1)
        for fibre in across.T:
            for total, parts in sums:
                row = np.zeros(cells.size)
                row[fibre[total]], row[fibre[parts]] = -1, 1
                rows.append(row)
    return np.array(rows)


def _tree(groups: int, leaves: int) -> tuple[int, list[tuple[int, list[int]]]]:
    """Codes and sums of a total over `groups` groups of `leaves` leaves each."""
    total = groups * (leaves + 1)
    heads = [g * (leaves + 1) for g in range(groups)]
    return total + 1, [(total, heads), *((head, list(range(head + 1, head + 1 + leaves))) for head in heads)]


@st.composite
def small_problems(draw: st.DrawFn, most: int = 6, shapes: tuple[str, ...] = SHAPES) -> CtaProblem:
    """1-D, 2-D, 3-D and hierarchical tables with up to `most` sensitive cells: signed or not,
    with and without upper bounds, fixed cells, levels that differ by side, weights of zero,
    and many that nothing can protect.
    """
    A = table(
        draw(st.sampled_from(shapes)),
        (draw(st.integers(2, 4)), draw(st.integers(2, 3)), draw(st.integers(2, 3))),
    )
    n = A.shape[1]
    each = lambda values: np.array(draw(st.lists(values, min_size=n, max_size=n)), dtype=float)  # noqa: E731
    room = each(st.integers(0, 12))
    bounds = draw(st.sampled_from(["not negative", "not negative", "signed", "both sides", "some"]))
    lower = {"signed": np.full(n, -np.inf)}.get(bounds, -room)
    upper = each(st.integers(0, 12)) if bounds == "both sides" else np.full(n, np.inf)
    if bounds == "some":
        bounded = each(st.booleans()) > 0
        upper[bounded] = room[::-1][bounded]
    fixed = each(st.integers(0, 9)) == 0
    lower[fixed] = upper[fixed] = 0.0
    weights = draw(st.sampled_from(["one", "inverse", "any"]))
    w = {"one": np.ones(n), "inverse": 1 / (1 + room)}.get(weights)
    sensitive = np.array(sorted(draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=min(most, n)))))
    levels = each(st.integers(0, 8)), each(st.integers(1, 8))
    upl = levels[1][sensitive]
    return CtaProblem(
        unit=draw(st.sampled_from([1.0, 0.25, 1024.0])),
        cells=np.arange(n),
        A=sp.csr_array(A),
        w=each(st.sampled_from([0.0, 1.0, 2.0, 0.125])) if w is None else w,
        lower=lower,
        upper=upper,
        sensitive=sensitive,
        lpl=upl if draw(st.booleans()) else levels[0][sensitive],
        upl=upl,
    )
